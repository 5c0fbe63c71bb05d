/* This program again as another process, which talks with its parent over its standard input and output. */
#ifndef CHILD_H
#define CHILD_H

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t process;
    int to, from;
};

static inline bool send_all(int to, const void *bytes, size_t size)
{
    return write(to, bytes, size) == (ssize_t)size;
}

static inline bool receive_all(int from, void *bytes, size_t size)
{
    char *at = bytes;
    for (size_t done = 0; done < size;) {
        ssize_t got = read(from, at + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Starts this program with up to three arguments; it is killed when it takes longer than a minute and a half. What it
 * prints besides what it says to its parent goes to standard error. */
static inline struct child start_child(const char *kernels, const char *role, const char *argument)
{
    int out[2], in[2];
    NEED(pipe(out) == 0 && pipe(in) == 0);
    fflush(stdout);
    struct child child = { .process = fork(), .to = in[1], .from = out[0] };
    NEED(child.process >= 0);
    if (child.process == 0) {
        dup2(in[0], 3);
        dup2(out[1], 4);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        for (int fd = 5; fd < 64; fd++)
            if (argument == NULL || fd != atoi(argument))
                close(fd);
        alarm(90);
        execl("/proc/self/exe", "child", kernels, role, argument, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return child;
}

/* What the child reads from and writes to. */
enum { FROM_PARENT = 3, TO_PARENT = 4 };

static inline bool send_child(struct child *child, const void *bytes, size_t size)
{
    return send_all(child->to, bytes, size);
}

static inline bool receive_child(struct child *child, void *bytes, size_t size)
{
    return receive_all(child->from, bytes, size);
}

/* Waits for the end of a child and answers its status as waitpid(2) has it. */
static inline int end_child(struct child *child)
{
    int status = 0;
    close(child->to);
    while (waitpid(child->process, &status, 0) < 0)
        NEED(errno == EINTR);
    close(child->from);
    return status;
}

static inline bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

static inline bool killed(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

#endif
