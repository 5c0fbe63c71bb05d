// Several devices: each computes, memory is copied between them, and one reads the memory of another.
#include "check.hpp"

#include <thread>

__global__ void fill(int *values, int count, int seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = i * 3 + seed;
}

__global__ void sum_of(const int *a, const int *b, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = a[i] + b[i];
}

__device__ int per_device = 100;
__global__ void bump(int amount)
{
    per_device += amount;
}

static const int count = 20000, blocks = (count + 255) / 256;
static const size_t bytes = count * sizeof(int);

static std::vector<int> filled(int seed)
{
    return made(count, [=](size_t i) { return static_cast<int>(i) * 3 + seed; });
}

static std::vector<int> values_of(const int *memory)
{
    std::vector<int> values(count);
    OK(hipMemcpy(values.data(), memory, bytes, hipMemcpyDeviceToHost));
    return values;
}

int main()
{
    int devices = 0;
    NEED_OK(hipGetDeviceCount(&devices));
    NEED(devices >= 2);
    std::vector<int *> memory(devices);
    for (int device = 0; device < devices; device++) {
        OK(hipSetDevice(device));
        NEED_OK(hipMalloc(&memory[device], bytes));
        fill<<<blocks, 256>>>(memory[device], count, device * 1000);
        bump<<<1, 1>>>(device + 1);
    }
    for (int device = 0; device < devices; device++) {
        OK(hipSetDevice(device));
        OK(hipDeviceSynchronize());
        SAME(values_of(memory[device]), filled(device * 1000));
        // A variable is each device's own.
        int value = 0;
        OK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(per_device), sizeof value));
        CHECK(value == 101 + device, "device %d: %d", device, value);
        hipPointerAttribute_t attributes{};
        OK(hipPointerGetAttributes(&attributes, memory[device]));
        CHECK(attributes.device == device, "%d, expected %d", attributes.device, device);
    }

    for (int from = 0; from < devices; from++)
        for (int to = 0; to < devices; to++) {
            int can = -1;
            OK(hipDeviceCanAccessPeer(&can, to, from));
            CHECK(can == (from != to), "%d from %d: %d", to, from, can);
        }

    // Without access enabled HIP still copies.
    OK(hipSetDevice(0));
    int *second = nullptr;
    NEED_OK(hipMalloc(&second, bytes));
    OK(hipMemcpyPeer(second, 0, memory[1], 1, bytes));
    SAME(values_of(second), filled(1000));

    OK(hipDeviceEnablePeerAccess(1, 0));
    FAILS(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
    FAILS(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
    // A kernel of device 0 reads what device 1 has.
    sum_of<<<blocks, 256>>>(memory[0], memory[1], second, count);
    OK(hipDeviceSynchronize());
    SAME(values_of(second), made(count, [](size_t i) { return static_cast<int>(i) * 6 + 1000; }));
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    fill<<<blocks, 256, 0, stream>>>(second, count, 77);
    OK(hipMemcpyPeerAsync(memory[1], 1, second, 0, bytes, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipSetDevice(1));
    SAME(values_of(memory[1]), filled(77));
    OK(hipSetDevice(0));
    OK(hipMemcpy(memory[0], memory[1], bytes, hipMemcpyDefault));
    SAME(values_of(memory[0]), filled(77));
    OK(hipMemcpyDtoDAsync(hipDeviceptr_t(second), hipDeviceptr_t(memory[1]), bytes, stream));
    OK(hipStreamSynchronize(stream));
    SAME(values_of(second), filled(77));
    OK(hipStreamDestroy(stream));
    OK(hipDeviceDisablePeerAccess(1));
    FAILS(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);

    // A stream of one device waits for an event of the other.
    hipStream_t first_stream, second_stream;
    hipEvent_t event;
    OK(hipSetDevice(0));
    NEED_OK(hipStreamCreateWithFlags(&first_stream, hipStreamNonBlocking));
    NEED_OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    OK(hipSetDevice(1));
    NEED_OK(hipStreamCreateWithFlags(&second_stream, hipStreamNonBlocking));
    int *shared = nullptr;
    NEED_OK(hipHostMalloc(&shared, bytes, hipHostMallocPortable | hipHostMallocCoherent));
    OK(hipSetDevice(0));
    fill<<<blocks, 256, 0, first_stream>>>(shared, count, 5);
    OK(hipEventRecord(event, first_stream));
    OK(hipSetDevice(1));
    OK(hipStreamWaitEvent(second_stream, event, 0));
    sum_of<<<blocks, 256, 0, second_stream>>>(shared, shared, memory[1], count);
    OK(hipStreamSynchronize(second_stream));
    SAME(values_of(memory[1]), made(count, [](size_t i) { return static_cast<int>(i) * 6 + 10; }));
    OK(hipStreamDestroy(second_stream));
    OK(hipHostFree(shared));

    // A thread for each device.
    std::vector<std::thread> threads;
    for (int device = 0; device < devices; device++)
        threads.emplace_back([&, device] {
            OK(hipSetDevice(device));
            for (int round = 0; round < 10; round++) {
                fill<<<blocks, 256>>>(memory[device], count, round * 10 + device);
                SAME(values_of(memory[device]), filled(round * 10 + device));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    int current = -1;
    OK(hipGetDevice(&current));
    CHECK(current == 1, "%d", current);
    OK(hipSetDevice(0));
    OK(hipStreamDestroy(first_stream));
    OK(hipEventDestroy(event));
    OK(hipFree(second));
    for (int device = 0; device < devices; device++)
        OK(hipFree(memory[device]));
    return summary();
}
