// What a HIP program pays: run by `hansa bench`, which reads the lines `name value` and compares.
//   program start            prints when the first kernel is done, by the monotonic clock
//   program work FILE        FILE is a code object with vector_add
#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <time.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        hipError_t error = (call);                                                                                     \
        if (error != hipSuccess) {                                                                                     \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error));                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void empty() {}

// The best of seven times, in milliseconds.
template <class F> static double best(F f)
{
    double best = 1e9;
    for (int i = 0; i < 7; i++) {
        auto start = std::chrono::steady_clock::now();
        f();
        std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
        best = std::min(best, time.count());
    }
    return best;
}

static void copies()
{
    const size_t bytes = 64 << 20;
    std::vector<char> from(bytes, 1), to(bytes, 2);
    void *device;
    OK(hipMalloc(&device, bytes));
    printf("memcpy %f\n", best([&] { memcpy(to.data(), from.data(), bytes); }));
    printf("up %f\n", best([&] { OK(hipMemcpy(device, from.data(), bytes, hipMemcpyHostToDevice)); }));
    printf("down %f\n", best([&] { OK(hipMemcpy(to.data(), device, bytes, hipMemcpyDeviceToHost)); }));
    OK(hipFree(device));
}

static void launches()
{
    const int count = 10000;
    double time = best([&] {
        for (int i = 0; i < count; i++)
            empty<<<1, 64>>>();
        OK(hipDeviceSynchronize());
    });
    printf("launch %f\n", time * 1000 / count);
}

static void stream(const char *file)
{
    const unsigned group = 256;
    hipModule_t module;
    hipFunction_t add;
    OK(hipModuleLoad(&module, file));
    OK(hipModuleGetFunction(&add, module, "vector_add"));
    float *data;
    OK(hipMalloc(&data, 3 * group * sizeof *data));
    OK(hipMemset(data, 0, 3 * group * sizeof *data));
    float *a = data, *b = data + group, *sum = b + group;
    unsigned count = group;
    void *arguments[] = {&a, &b, &sum, &count};
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    double time = best([&] {
        for (int i = 0; i < 1000; i++)
            OK(hipModuleLaunchKernel(add, 1, 1, 1, group, 1, 1, 0, stream, arguments, nullptr));
        OK(hipStreamSynchronize(stream));
    });
    printf("stream %f\n", time);
}

int main(int argc, char **argv)
{
    empty<<<1, 64>>>();
    OK(hipDeviceSynchronize());
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("first %f\n", now.tv_sec * 1e3 + now.tv_nsec / 1e6);
    if (argc < 3)
        return 0;
    copies();
    launches();
    stream(argv[2]);
    return 0;
}
