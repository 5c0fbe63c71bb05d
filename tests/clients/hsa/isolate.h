/* Cases in child processes: a crash or a hang is the failure of one case. The parent never initialises the runtime. */
#ifndef ISOLATE_H
#define ISOLATE_H

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CASE_SECONDS = 60 };

/* Runs the case in a child and prints its name with the outcome. `run` counts failures with CHECK; returning is enough. */
static inline void isolate(const char *name, void (*run)(const void *), const void *data)
{
    fflush(stdout);
    pid_t child = fork();
    NEED(child >= 0);
    if (child == 0) {
        alarm(CASE_SECONDS);
        checks_passed = checks_failed = 0;
        run(data);
        fflush(stdout);
        _exit(checks_failed != 0 ? 1 : checks_passed == 0 ? 3 : 0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        NEED(errno == EINTR);
    char outcome[64];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(outcome, sizeof outcome, "HUNG for %d seconds", CASE_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(outcome, sizeof outcome, "CRASHED with SIG%s", sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == 3)
        snprintf(outcome, sizeof outcome, "CHECKED NOTHING");
    else
        snprintf(outcome, sizeof outcome, WEXITSTATUS(status) == 0 ? "ok" : "FAILED");
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", name, outcome);
    check_at(name, 0, good, "case", "%s", outcome);
}

#endif
