// Running this program again as a child, for what ends a process or needs two of them.
#pragma once

#include <string>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// How a child ended, and what it wrote to both of its outputs.
struct Outcome {
    int status = -1;
    std::string text;
    bool exited(int code) const
    {
        return WIFEXITED(status) && WEXITSTATUS(status) == code;
    }
    bool killed(int signal) const
    {
        return WIFSIGNALED(status) && WTERMSIG(status) == signal;
    }
    bool says(const char *part) const
    {
        return text.find(part) != std::string::npos;
    }
};

class Child {
  public:
    // Starts this program with these arguments. The child is killed when it takes longer than a minute and a half.
    explicit Child(const char *first, const char *second = nullptr)
    {
        int out[2], in[2];
        if (pipe(out) != 0 || pipe(in) != 0)
            return;
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            dup2(out[1], STDERR_FILENO);
            for (int fd : {in[0], in[1], out[0], out[1]})
                close(fd);
            alarm(90);
            execl("/proc/self/exe", "child", first, second, static_cast<char *>(nullptr));
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    pid_t pid() const
    {
        return pid_;
    }
    // Hands bytes to the child's standard input.
    bool send(const void *bytes, size_t size)
    {
        return write(to_, bytes, size) == static_cast<ssize_t>(size);
    }
    // Reads bytes of the child's output.
    bool receive(void *bytes, size_t size)
    {
        auto at = static_cast<char *>(bytes);
        for (size_t done = 0; done < size;) {
            ssize_t got = read(from_, at + done, size - done);
            if (got <= 0)
                return false;
            done += static_cast<size_t>(got);
        }
        return true;
    }
    // Waits for the end of the child.
    Outcome wait()
    {
        Outcome outcome;
        close(to_);
        char part[4096];
        for (ssize_t got; (got = read(from_, part, sizeof part)) > 0;)
            outcome.text.append(part, static_cast<size_t>(got));
        close(from_);
        waitpid(pid_, &outcome.status, 0);
        return outcome;
    }

  private:
    pid_t pid_ = -1;
    int to_ = -1, from_ = -1;
};
