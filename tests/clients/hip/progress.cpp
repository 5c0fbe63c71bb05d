// Work-groups, streams and the host wait for each other while kernels run.
#include "check.hpp"

__device__ int load(int *from)
{
    return __hip_atomic_load(from, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

__device__ void store(int *to, int value)
{
    __hip_atomic_store(to, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Groups take tickets, and each waits for the sum of the one before it: a prefix sum in one pass.
__global__ void chain(int *ticket, int *sums, int *done)
{
    __shared__ int block;
    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (block > 0) {
            while (load(&done[block - 1]) == 0) {}
            before = sums[block - 1];
        }
        sums[block] = before + block;
        store(&done[block], 1);
    }
}

// Each group waits for the one after it. All fit the device at once.
__global__ void backwards(int *done, int *order, int *next)
{
    unsigned block = blockIdx.x;
    if (threadIdx.x == 0) {
        while (block + 1 < gridDim.x && load(&done[block + 1]) == 0)
            __builtin_amdgcn_s_sleep(1);
        order[block] = atomicAdd(next, 1);
        store(&done[block], 1);
    }
}

__global__ void answer(int *question, int *reply, int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        while (load(question) != i) {}
        store(reply, i * i);
    }
}

__global__ void wait_for(int *flag)
{
    while (load(flag) == 0) {}
}

__global__ void raise_flag(int *flag)
{
    store(flag, 1);
}

static void groups()
{
    enum { MANY = 3000, RESIDENT = 32 };
    Array<int> ticket(std::vector<int>(1, 0)), sums(MANY), done(std::vector<int>(MANY, 0));
    chain<<<MANY, 128>>>(ticket, sums, done);
    SAME(sums.values(), made(MANY, [](size_t i) { return static_cast<int>(i * (i + 1) / 2); }));
    Array<int> flags(std::vector<int>(RESIDENT, 0)), order(RESIDENT), next(std::vector<int>(1, 0));
    backwards<<<RESIDENT, 64>>>(flags, order, next);
    SAME(order.values(), made(RESIDENT, [](size_t i) { return RESIDENT - 1 - static_cast<int>(i); }));
}

// A kernel answers the host again and again.
static void conversation()
{
    int *words = nullptr;
    NEED_OK(hipHostMalloc(&words, 256, hipHostMallocCoherent));
    int *question = words, *reply = words + 32;
    *question = *reply = 0;
    answer<<<1, 1>>>(question, reply, 100);
    for (int i = 1; i <= 100; i++) {
        __atomic_store_n(question, i, __ATOMIC_RELEASE);
        while (__atomic_load_n(reply, __ATOMIC_ACQUIRE) != i * i) {}
    }
    OK(hipDeviceSynchronize());
    OK(hipHostFree(words));
}

static void streams()
{
    hipStream_t waiting, working;
    NEED_OK(hipStreamCreateWithFlags(&waiting, hipStreamNonBlocking));
    NEED_OK(hipStreamCreateWithFlags(&working, hipStreamNonBlocking));
    int *flag = nullptr;
    NEED_OK(hipHostMalloc(&flag, sizeof *flag, hipHostMallocCoherent));
    // More waves than the device has room for wait for a kernel of another stream.
    *flag = 0;
    wait_for<<<2000, 256, 0, waiting>>>(flag);
    CHECK(hipStreamQuery(waiting) == hipErrorNotReady, "%s", "it waits");
    raise_flag<<<1, 1, 0, working>>>(flag);
    OK(hipStreamSynchronize(working));
    OK(hipStreamSynchronize(waiting));
    // Copies go on beside a kernel that waits.
    *flag = 0;
    wait_for<<<1, 64, 0, waiting>>>(flag);
    std::vector<int> from(1 << 20, 5), to(1 << 20);
    Array<int> device(1 << 20);
    OK(hipMemcpyAsync(device, from.data(), device.bytes(), hipMemcpyHostToDevice, working));
    OK(hipMemcpyAsync(to.data(), device, device.bytes(), hipMemcpyDeviceToHost, working));
    OK(hipStreamSynchronize(working));
    SAME(to, from);
    CHECK(hipStreamQuery(waiting) == hipErrorNotReady, "%s", "it waits");
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    OK(hipStreamSynchronize(waiting));
    OK(hipHostFree(flag));
    OK(hipStreamDestroy(waiting));
    OK(hipStreamDestroy(working));
}

int main()
{
    groups();
    conversation();
    streams();
    return summary();
}
