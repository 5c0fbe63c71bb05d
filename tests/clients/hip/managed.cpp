// Hints and questions about managed memory, and memory that comes and goes in the order of a stream.
#include "check.hpp"

__global__ void add_one(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += 1;
}

enum { COUNT = 10000 };

static void managed(int device)
{
    int *memory = nullptr;
    const size_t size = COUNT * sizeof(int);
    NEED_OK(hipMallocManaged(reinterpret_cast<void **>(&memory), size, hipMemAttachGlobal));
    for (int i = 0; i < COUNT; i++)
        memory[i] = i;
    int concurrent = 0;
    OK(hipDeviceGetAttribute(&concurrent, hipDeviceAttributeConcurrentManagedAccess, device));
    if (concurrent) {
        OK(hipMemAdvise(memory, size, hipMemAdviseSetReadMostly, device));
        int read_mostly = 0;
        OK(hipMemRangeGetAttribute(&read_mostly, sizeof read_mostly, hipMemRangeAttributeReadMostly, memory, size));
        CHECK(read_mostly == 1, "%d", read_mostly);
        OK(hipMemAdvise(memory, size, hipMemAdviseUnsetReadMostly, device));
        OK(hipMemAdvise(memory, size, hipMemAdviseSetPreferredLocation, device));
        OK(hipMemPrefetchAsync(memory, size, device, nullptr));
        OK(hipStreamSynchronize(nullptr));
    }
    add_one<<<(COUNT + 255) / 256, 256>>>(memory, COUNT);
    OK(hipDeviceSynchronize());
    if (concurrent) {
        OK(hipMemPrefetchAsync(memory, size, hipCpuDeviceId, nullptr));
        OK(hipStreamSynchronize(nullptr));
    }
    SAME(std::vector<int>(memory, memory + COUNT), made(COUNT, [](size_t i) { return static_cast<int>(i) + 1; }));
    OK(hipFree(memory));
}

static void in_stream_order()
{
    int pools = 0;
    OK(hipDeviceGetAttribute(&pools, hipDeviceAttributeMemoryPoolsSupported, 0));
    if (!pools)
        return;
    // On the null stream: Debian's HIP hangs when a stream is destroyed that has freed memory.
    for (int round = 0; round < 5; round++) {
        int *memory = nullptr;
        NEED_OK(hipMallocAsync(reinterpret_cast<void **>(&memory), COUNT * sizeof(int), nullptr));
        OK(hipMemsetAsync(memory, 0, COUNT * sizeof(int), nullptr));
        add_one<<<(COUNT + 255) / 256, 256>>>(memory, COUNT);
        std::vector<int> got(COUNT);
        OK(hipMemcpyAsync(got.data(), memory, COUNT * sizeof(int), hipMemcpyDeviceToHost, nullptr));
        OK(hipFreeAsync(memory, nullptr));
        OK(hipStreamSynchronize(nullptr));
        SAME(got, std::vector<int>(COUNT, 1));
    }
    hipMemPool_t pool = nullptr;
    NEED_OK(hipDeviceGetDefaultMemPool(&pool, 0));
    OK(hipMemPoolTrimTo(pool, 0));
}

int main()
{
    managed(0);
    in_stream_order();
    return summary();
}
