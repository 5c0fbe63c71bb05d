// What waits for what: the null stream and the others, and chains and joins of events.
#include "check.hpp"

enum { STREAMS = 6, LANES = 64 };

// A counter of 100 MHz, as HIP expects it.
__global__ void pause_ms(unsigned long long ms)
{
    unsigned long long start = __builtin_amdgcn_s_memrealtime();
    while (__builtin_amdgcn_s_memrealtime() - start < ms * 100000) {}
}

__global__ void wait_for(int *flag)
{
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0) {
    }
}

__global__ void raise_flag(int *flag)
{
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void append(int *log, int what)
{
    log[1 + atomicAdd(&log[0], 1)] = what;
}

__global__ void step(unsigned *values, unsigned factor, unsigned more)
{
    values[threadIdx.x] = values[threadIdx.x] * factor + more;
}

static void null_stream()
{
    hipStream_t a, b, apart;
    NEED_OK(hipStreamCreate(&a));
    NEED_OK(hipStreamCreate(&b));
    NEED_OK(hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
    {
        Array<int> log(std::vector<int>(4));
        pause_ms<<<1, 1, 0, a>>>(20);
        append<<<1, 1, 0, a>>>(log, 1);
        append<<<1, 1>>>(log, 2);
        append<<<1, 1, 0, b>>>(log, 3);
        OK(hipDeviceSynchronize());
        SAME(log.values(), (std::vector<int>{3, 1, 2, 3}));
    }
    // Only that one goes past a kernel that waits in the null stream.
    int *flag = nullptr;
    NEED_OK(hipHostMalloc(&flag, sizeof *flag, hipHostMallocCoherent));
    *flag = 0;
    wait_for<<<1, 1>>>(flag);
    CHECK(hipStreamQuery(nullptr) == hipErrorNotReady, "%s", "it waits");
    raise_flag<<<1, 1, 0, apart>>>(flag);
    OK(hipDeviceSynchronize());
    OK(hipHostFree(flag));
    Array<unsigned> values(std::vector<unsigned>(LANES, 1));
    step<<<1, LANES, 0, hipStreamPerThread>>>(values, 0, 7);
    OK(hipStreamSynchronize(hipStreamPerThread));
    SAME(values.values(), std::vector<unsigned>(LANES, 7));
    for (hipStream_t stream : {a, b, apart})
        OK(hipStreamDestroy(stream));
}

static void events()
{
    hipStream_t streams[STREAMS];
    hipEvent_t done[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        NEED_OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        NEED_OK(hipEventCreateWithFlags(&done[i], hipEventDisableTiming));
    }
    // Round and round: each stream goes on where the one before it ended.
    Array<unsigned> values(std::vector<unsigned>(LANES, 1));
    unsigned want = 1;
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < STREAMS; i++) {
            if (round > 0 || i > 0)
                OK(hipStreamWaitEvent(streams[i], done[(i + STREAMS - 1) % STREAMS], 0));
            step<<<1, LANES, 0, streams[i]>>>(values, 3, i + round);
            want = want * 3 + i + round;
            OK(hipEventRecord(done[i], streams[i]));
        }
    OK(hipDeviceSynchronize());
    SAME(values.values(), std::vector<unsigned>(LANES, want));
    // One stream waits for all the others.
    Array<unsigned> parts(std::vector<unsigned>(LANES * STREAMS));
    for (int i = 0; i < STREAMS; i++) {
        for (int k = 0; k < 50; k++)
            step<<<1, LANES, 0, streams[i]>>>(parts + LANES * i, 1, 1);
        OK(hipEventRecord(done[i], streams[i]));
        if (i > 0)
            OK(hipStreamWaitEvent(streams[0], done[i], 0));
    }
    std::vector<unsigned> all(LANES * STREAMS);
    OK(hipMemcpyAsync(all.data(), parts, parts.bytes(), hipMemcpyDeviceToHost, streams[0]));
    OK(hipStreamSynchronize(streams[0]));
    SAME(all, std::vector<unsigned>(LANES * STREAMS, 50));
    for (int i = 0; i < STREAMS; i++) {
        OK(hipStreamDestroy(streams[i]));
        OK(hipEventDestroy(done[i]));
    }
}

int main()
{
    null_stream();
    events();
    return summary();
}
