// printf and assert in kernels: the host prints while the kernel runs.
#include "check.hpp"
#include "child.hpp"

#include <set>

__global__ void hello()
{
    printf("hello from %d\n", static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

// A width that is longer than the text stands last: Debian's HIP loses what follows it.
__global__ void formats(const char *text)
{
    printf("int %d %5d|%-5d|%05d %+d %x %X %o %u\n", -42, 7, 7, 7, 7, 255, 255, 8, 4000000000u);
    printf("wide %lld %llu %llx %ld\n", -5000000000ll, 18446744073709551615ull, 0x123456789abcdefull, -1l);
    printf("float %f %.3f %e %g %10.2f|\n", 1.5, 3.14159265, 12345.678, 0.0001, -2.5);
    printf("char %c%c string %s|%.3s|%s|%-10s|\n", 'o', 'k', "text", "abcdef", "more", "left");
    printf("from the device: %s\n", text);
    printf("percent %% star %*d|%.*f\n", 6, 42, 2, 2.71828);
    printf("pointer %p\n", static_cast<void *>(nullptr));
    printf("no arguments\n");
    printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
}

__global__ void result_of_printf(int *out)
{
    out[0] = printf("twelve bytes\n");
}

__global__ void divergent(int limit)
{
    int i = threadIdx.x;
    if (i % 2 == 0 && i < limit)
        printf("even %d\n", i);
    else if (i < limit)
        printf("odd %d\n", i);
}

__global__ void asserting(int bad)
{
    assert(static_cast<int>(threadIdx.x) != bad && "the bad thread");
}

// Prints and works in turns; the kernel goes on after the host has printed.
__global__ void in_turns(int *out)
{
    int value = 0;
    for (int i = 0; i < 20; i++) {
        value += i;
        if (threadIdx.x == 0)
            printf("turn %d\n", i);
    }
    out[threadIdx.x] = value;
}

// The child: prints, and ends as the kernel makes it.
static int child(const std::string &what)
{
    if (what == "hello")
        hello<<<3, 100>>>();
    if (what == "formats") {
        Array<char> text(std::vector<char>{'d', 'e', 'v', 'i', 'c', 'e', 0});
        formats<<<1, 1>>>(text);
        OK(hipDeviceSynchronize());
    }
    if (what == "result") {
        Array<int> out(1);
        result_of_printf<<<1, 1>>>(out);
        printf("result %d\n", out.values()[0]);
    }
    if (what == "divergent")
        divergent<<<2, 128>>>(100);
    if (what == "assert" || what == "no assert")
        asserting<<<2, 64>>>(what == "assert" ? 33 : -1);
    if (what == "turns") {
        Array<int> out(64);
        in_turns<<<1, 64>>>(out);
        SAME(out.values(), std::vector<int>(64, 190));
    }
    bool good = hipDeviceSynchronize() == hipSuccess && checks_failed == 0;
    fflush(stdout);
    return good ? 0 : 1;
}

static Outcome run(const char *what)
{
    Child child(what);
    return child.wait();
}

// The lines of a text, in order; a kernel's lanes print in any.
static std::multiset<std::string> lines(const std::string &text)
{
    std::multiset<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.insert(line);
    return lines;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);

    Outcome outcome = run("hello");
    std::multiset<std::string> want;
    for (int i = 0; i < 300; i++)
        want.insert("hello from " + std::to_string(i));
    CHECK(outcome.exited(0), "status %d", outcome.status);
    CHECK(lines(outcome.text) == want, "%zu lines: %.200s", lines(outcome.text).size(), outcome.text.c_str());

    outcome = run("formats");
    CHECK(outcome.exited(0), "status %d", outcome.status);
    for (const char *line : {
             "int -42     7|7    |00007 +7 ff FF 10 4000000000\n",
             "wide -5000000000 18446744073709551615 123456789abcdef -1\n",
             "float 1.500000 3.142 1.234568e+04 0.0001      -2.50|\n",
             "char ok string text|abc|more|left      |\n",
             "from the device: device\n",
             "percent % star     42|2.72\n",
             "no arguments\n",
             "many 1 2 3 4 5 6 7 8 9 10 11 12\n",
         })
        CHECK(outcome.says(line), "%s in: %s", line, outcome.text.c_str());

    outcome = run("result");
    CHECK(outcome.exited(0) && outcome.says("twelve bytes\n"), "%d %s", outcome.status, outcome.text.c_str());
    CHECK(outcome.says("result 13\n"), "%s", outcome.text.c_str());

    outcome = run("divergent");
    want.clear();
    for (int block = 0; block < 2; block++)
        for (int i = 0; i < 100; i++)
            want.insert((i % 2 ? "odd " : "even ") + std::to_string(i));
    CHECK(outcome.exited(0), "status %d", outcome.status);
    CHECK(lines(outcome.text) == want, "%zu lines: %.200s", lines(outcome.text).size(), outcome.text.c_str());

    outcome = run("turns");
    CHECK(outcome.exited(0), "status %d %s", outcome.status, outcome.text.c_str());
    CHECK(lines(outcome.text).size() == 20 && outcome.says("turn 19\n"), "%s", outcome.text.c_str());

    outcome = run("no assert");
    CHECK(outcome.exited(0), "status %d", outcome.status);
    CHECK(outcome.text.empty(), "%s", outcome.text.c_str());
    outcome = run("assert");
    CHECK(outcome.killed(SIGABRT), "status %d", outcome.status);
    CHECK(outcome.says("the bad thread") && outcome.says("printf.cpp"), "%s", outcome.text.c_str());
    return summary();
}
