// Mistakes of a program end in the errors that HIP has for them; what ends the process says why.
#include "check.hpp"
#include "child.hpp"

#include <sys/resource.h>

__global__ void one(int *out)
{
    out[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(64) at_most_64(int *out)
{
    out[threadIdx.x] = 1;
}

__global__ void write_to(int *where)
{
    *where = 1;
}

__global__ void trap()
{
    __builtin_trap();
}

__global__ void read_far(const int *from, int *out, long long distance)
{
    *out = from[distance];
}

static void bad_launches()
{
    Array<int> out(1024);
    hipError_t error;
    one<<<0, 64>>>(out);
    error = hipGetLastError();
    CHECK(error == hipErrorInvalidValue, "no blocks: %s", hipGetErrorName(error));
    one<<<1, 0>>>(out);
    error = hipGetLastError();
    CHECK(error == hipErrorInvalidValue, "no threads: %s", hipGetErrorName(error));
    one<<<1, 1025>>>(out);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration, "%s", "too many threads");
    one<<<1, dim3(64, 64)>>>(out);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration, "%s", "too many threads in two dimensions");
    one<<<1, 64, 65537>>>(out);
    error = hipGetLastError();
    CHECK(error != hipSuccess, "%s", hipGetErrorName(error));
    at_most_64<<<1, 128>>>(out);
    error = hipGetLastError();
    CHECK(error == hipErrorLaunchFailure, "%s", hipGetErrorName(error));
    // The device works after all of them.
    one<<<1, 1024>>>(out);
    OK(hipGetLastError());
    SAME(out.values(), std::vector<int>(1024, 1));
}

static void last_error()
{
    CHECK(hipSetDevice(-1) == hipErrorInvalidDevice, "%s", "");
    CHECK(hipPeekAtLastError() == hipErrorInvalidDevice, "%s", hipGetErrorName(hipPeekAtLastError()));
    CHECK(hipGetLastError() == hipErrorInvalidDevice, "%s", "");
    OK(hipGetLastError());
    CHECK(strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0, "%s", "");
    CHECK(strlen(hipGetErrorString(hipErrorOutOfMemory)) > 0, "%s", "");
}

static void out_of_memory()
{
    size_t free = 0, total = 0;
    OK(hipMemGetInfo(&free, &total));
    void *memory = nullptr;
    FAILS(hipMalloc(&memory, total * 2), hipErrorOutOfMemory);
    FAILS(hipMalloc(&memory, SIZE_MAX / 2), hipErrorOutOfMemory);
    FAILS(hipMalloc(&memory, SIZE_MAX), hipErrorOutOfMemory);
    // Until nothing is left; then everything is given back.
    std::vector<void *> all;
    hipError_t error = hipSuccess;
    while (all.size() < 100) {
        error = hipMalloc(&memory, total / 8);
        if (error != hipSuccess)
            break;
        all.push_back(memory);
    }
    CHECK(error == hipErrorOutOfMemory, "%s", hipGetErrorName(error));
    (void)hipGetLastError();
    CHECK(all.size() >= 6 && all.size() <= 8, "%zu", all.size());
    for (void *each : all)
        OK(hipFree(each));
    size_t after = 0;
    OK(hipMemGetInfo(&after, &total));
    CHECK(after == free, "%zu, before %zu", after, free);
    Array<int> out(64);
    one<<<1, 64>>>(out);
    SAME(out.values(), std::vector<int>(64, 1));
}

static void bad_pointers()
{
    int local = 0;
    FAILS(hipFree(&local), hipErrorInvalidValue);
    FAILS(hipHostFree(&local), hipErrorInvalidValue);
    void *memory = nullptr;
    NEED_OK(hipMalloc(&memory, 100));
    OK(hipFree(memory));
    FAILS(hipFree(memory), hipErrorInvalidValue);
}

// What ends the process; run as a child.
static int child(const std::string &what)
{
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    Array<int> out(64);
    if (what == "null")
        write_to<<<1, 64>>>(nullptr);
    if (what == "wild")
        write_to<<<1, 1>>>(reinterpret_cast<int *>(0x123456789000));
    if (what == "far")
        read_far<<<1, 1>>>(out, out, 1ll << 40);
    if (what == "trap")
        trap<<<1, 64>>>();
    hipError_t error = hipDeviceSynchronize();
    printf("survived with %s\n", hipGetErrorName(error));
    return error == hipSuccess ? 0 : 3;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    bad_launches();
    last_error();
    out_of_memory();
    bad_pointers();
    // On AMD GPUs a fault of the device ends the program; it must say what happened, and where.
    for (const char *what : {"null", "wild", "far", "trap"}) {
        Child faulty(what);
        Outcome outcome = faulty.wait();
        CHECK(outcome.killed(SIGABRT), "%s: status %#x: %s", what, outcome.status, outcome.text.c_str());
        CHECK(!outcome.says("survived"), "%s: %s", what, outcome.text.c_str());
        CHECK(!outcome.text.empty(), "%s says nothing", what);
        if (strcmp(what, "wild") == 0)
            CHECK(outcome.says("0x123456789000"), "%s", outcome.text.c_str());
    }
    return summary();
}
