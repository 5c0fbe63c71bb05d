// Processes that fork, and processes that end in every way with work under way.
#include "check.hpp"
#include "child.hpp"

#include <sys/resource.h>

__global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

static bool works(int value)
{
    int *out = nullptr;
    std::vector<int> got(64);
    if (hipMalloc(&out, got.size() * sizeof(int)) != hipSuccess)
        return false;
    fill<<<1, 64>>>(out, value);
    bool good = hipMemcpy(got.data(), out, got.size() * sizeof(int), hipMemcpyDeviceToHost) == hipSuccess;
    return hipFree(out) == hipSuccess && good && got == std::vector<int>(64, value);
}

static int child(const std::string &way)
{
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    printf("%s\n", works(3) ? "good" : "bad");
    fflush(stdout);
    int *out = nullptr;
    NEED_OK(hipMalloc(&out, 256));
    for (int i = 0; i < 100; i++)
        fill<<<100, 64>>>(out, i);
    if (way == "exit")
        exit(5);
    if (way == "_exit")
        _exit(6);
    if (way == "reset")
        return hipDeviceReset() == hipSuccess ? 8 : 1;
    if (way == "quick_exit")
        quick_exit(9);
    if (way == "abort")
        abort();
    return 7;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    // Children that were forked before the first call, and their parent, each have their own runtime.
    std::vector<pid_t> children;
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(works(i) ? 0 : 1);
        children.push_back(pid);
    }
    CHECK(works(77), "%s", "the parent");
    for (pid_t pid : children) {
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
    }
    struct {
        const char *way;
        int code;
    } const ways[] = {{"exit", 5}, {"_exit", 6}, {"return", 7}, {"reset", 8}, {"quick_exit", 9}};
    for (auto [way, code] : ways) {
        Child leaving(way);
        Outcome outcome = leaving.wait();
        CHECK(outcome.exited(code) && outcome.says("good"), "%s: status %#x: %s", way, outcome.status,
              outcome.text.c_str());
    }
    Child aborting("abort");
    Outcome outcome = aborting.wait();
    CHECK(outcome.killed(SIGABRT) && outcome.says("good"), "status %#x: %s", outcome.status, outcome.text.c_str());
    // A child that is forked after the first call may become another program; its parent goes on.
    pid_t pid = fork();
    if (pid == 0) {
        execlp("true", "true", static_cast<char *>(nullptr));
        _exit(127);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK(status == 0, "status %#x", status);
    CHECK(works(78), "%s", "after a child");
    return summary();
}
