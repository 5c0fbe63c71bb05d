// Contexts, the current device of each thread, and a device that is reset.
// HIP calls contexts deprecated, and programs ported from CUDA use them.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#include "check.hpp"

#include <thread>

enum { COUNT = 64 };

__global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

static void works(int value)
{
    Array<int> out(COUNT);
    fill<<<1, COUNT>>>(out, value);
    OK(hipGetLastError());
    SAME(out.values(), std::vector<int>(COUNT, value));
}

static void contexts()
{
    OK(hipInit(0));
    hipDevice_t device = -1;
    OK(hipDeviceGet(&device, 0));
    FAILS(hipDeviceGet(&device, 99), hipErrorInvalidDevice);
    hipCtx_t context = nullptr, current = nullptr;
    NEED_OK(hipCtxCreate(&context, 0, 0));
    OK(hipCtxGetCurrent(&current));
    CHECK(current == context, "%p, expected %p", static_cast<void *>(current), static_cast<void *>(context));
    OK(hipCtxGetDevice(&device));
    CHECK(device == 0, "%d", device);
    works(1);
    OK(hipCtxPopCurrent(&current));
    OK(hipCtxPushCurrent(context));
    OK(hipCtxSetCurrent(context));
    works(2);
    OK(hipCtxDestroy(context));
    unsigned flags = 0;
    int active = -1;
    OK(hipDevicePrimaryCtxGetState(0, &flags, &active));
    OK(hipDevicePrimaryCtxRetain(&context, 0));
    OK(hipDevicePrimaryCtxRelease(0));
    hipUUID id{};
    OK(hipDeviceGetUuid(&id, 0));
    works(3);
}

static void threads(int devices)
{
    std::vector<std::thread> all;
    for (int i = 0; i < 8; i++)
        all.emplace_back([i, devices] {
            OK(hipSetDevice(i % devices));
            int is = -1;
            OK(hipGetDevice(&is));
            CHECK(is == i % devices, "%d", is);
            works(i);
        });
    for (std::thread &each : all)
        each.join();
    int is = -1;
    OK(hipGetDevice(&is));
    CHECK(is == 0, "%d", is);
}

static void reset()
{
    for (int i = 0; i < 3; i++) {
        hipStream_t left_open = nullptr;
        OK(hipStreamCreate(&left_open));
        OK(hipDeviceReset());
        works(i);
    }
}

int main()
{
    contexts();
    int devices = 0;
    NEED_OK(hipGetDeviceCount(&devices));
    threads(devices);
    reset();
    return summary();
}
