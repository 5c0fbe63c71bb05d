// Two devices at work together: kernels on the other's memory, events across devices, counters that both count.
#include "check.hpp"

#include <thread>

enum { COUNT = 100000, BLOCKS = (COUNT + 255) / 256 };

__global__ void add_one(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        to[i] = from[i] + 1;
}

__global__ void count(int *counter)
{
    atomicAdd_system(counter, 1);
}

static std::vector<int> numbers_from(int first)
{
    return made(COUNT, [=](size_t i) { return static_cast<int>(i) + first; });
}

int main()
{
    int devices = 0, can = 0;
    NEED_OK(hipGetDeviceCount(&devices));
    NEED(devices >= 2);
    OK(hipDeviceCanAccessPeer(&can, 0, 1));
    NEED(can == 1);
    int *memory[2] = {};
    for (int device : {0, 1}) {
        OK(hipSetDevice(device));
        NEED_OK(hipMalloc(&memory[device], COUNT * sizeof(int)));
        OK(hipDeviceEnablePeerAccess(1 - device, 0));
    }
    int *a = memory[0], *b = memory[1];
    std::vector<int> got(COUNT), start = numbers_from(0);
    OK(hipMemcpy(a, start.data(), COUNT * sizeof(int), hipMemcpyHostToDevice));
    add_one<<<BLOCKS, 256>>>(a, b);
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(0));
    add_one<<<BLOCKS, 256>>>(b, a);
    OK(hipDeviceSynchronize());
    OK(hipMemcpy(got.data(), a, COUNT * sizeof(int), hipMemcpyDeviceToHost));
    SAME(got, numbers_from(2));

    // A stream of one device waits for an event of the other.
    hipStream_t streams[2];
    NEED_OK(hipStreamCreate(&streams[0]));
    hipEvent_t done;
    NEED_OK(hipEventCreateWithFlags(&done, hipEventDisableTiming));
    OK(hipMemcpyPeerAsync(b, 1, a, 0, COUNT * sizeof(int), streams[0]));
    for (int i = 0; i < 20; i++)
        add_one<<<BLOCKS, 256, 0, streams[0]>>>(b, b);
    OK(hipEventRecord(done, streams[0]));
    OK(hipSetDevice(1));
    NEED_OK(hipStreamCreate(&streams[1]));
    OK(hipStreamWaitEvent(streams[1], done, 0));
    add_one<<<BLOCKS, 256, 0, streams[1]>>>(b, b);
    OK(hipMemcpyAsync(got.data(), b, COUNT * sizeof(int), hipMemcpyDeviceToHost, streams[1]));
    OK(hipStreamSynchronize(streams[1]));
    SAME(got, numbers_from(23));

    // Both count at once, in memory of the host and of one of them.
    int *shared = nullptr;
    NEED_OK(hipHostMalloc(&shared, sizeof *shared, hipHostMallocPortable | hipHostMallocCoherent));
    *shared = 0;
    OK(hipMemset(b, 0, sizeof(int)));
    OK(hipDeviceSynchronize());
    std::vector<std::thread> threads;
    for (int device : {0, 1})
        threads.emplace_back([=] {
            OK(hipSetDevice(device));
            for (int i = 0; i < 20; i++) {
                count<<<8, 64>>>(shared);
                count<<<8, 64>>>(b);
            }
            OK(hipDeviceSynchronize());
        });
    for (std::thread &each : threads)
        each.join();
    const int total = 2 * 20 * 8 * 64;
    CHECK(*shared == total, "%d, expected %d", *shared, total);
    OK(hipMemcpy(got.data(), b, sizeof(int), hipMemcpyDeviceToHost));
    CHECK(got[0] == total, "%d, expected %d", got[0], total);
    OK(hipHostFree(shared));
    for (int device : {0, 1}) {
        OK(hipSetDevice(device));
        OK(hipFree(memory[device]));
        OK(hipStreamDestroy(streams[device]));
    }
    OK(hipEventDestroy(done));
    return summary();
}
