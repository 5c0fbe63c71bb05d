// Atomic operations on all types, in global, shared and host memory. Every result is the same in any order.
#include "check.hpp"

enum { BLOCKS = 6, THREADS = 200, ALL = BLOCKS * THREADS };

__device__ unsigned index_of_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

template <class T> __global__ void add(T *values)
{
    unsigned i = index_of_thread();
    atomicAdd(&values[0], static_cast<T>(i));
    atomicAdd(&values[1 + i % 3], static_cast<T>(2));
}

template <class T> static void adding()
{
    Array<T> values(std::vector<T>(4, T(1)));
    add<T><<<BLOCKS, THREADS>>>(values);
    // All sums are whole numbers that float holds exactly.
    T third = static_cast<T>(ALL / 3 * 2 + 1);
    SAME(values.values(), (std::vector<T>{static_cast<T>(ALL * (ALL - 1) / 2 + 1), third, third, third}));
}

template <class T> __global__ void bitwise(T *values)
{
    unsigned i = index_of_thread();
    atomicOr(&values[0], static_cast<T>(T(1) << (i % (8 * sizeof(T)))));
    atomicAnd(&values[1], static_cast<T>(~(T(1) << (i % 7 * 2))));
    atomicXor(&values[2], static_cast<T>(i) * T(0x10001));
    atomicMin(&values[3], static_cast<T>(5000 - i));
    atomicMax(&values[4], static_cast<T>(i + 3));
}

template <class T> static void bits()
{
    Array<T> values(std::vector<T>{0, static_cast<T>(~T(0)), 0, 10000, 2});
    bitwise<T><<<BLOCKS, THREADS>>>(values);
    T cleared = static_cast<T>(~T(0)), mixed = 0;
    for (unsigned i = 0; i < ALL; i++) {
        cleared &= static_cast<T>(~(T(1) << (i % 7 * 2)));
        mixed ^= static_cast<T>(i) * T(0x10001);
    }
    SAME(values.values(), (std::vector<T>{static_cast<T>(~T(0)), cleared, mixed, static_cast<T>(5000 - ALL + 1), ALL + 2}));
}

__global__ void limits_of_signed(int *words, long long *wide)
{
    int i = static_cast<int>(index_of_thread()) - ALL / 2;
    atomicMin(&words[0], i);
    atomicMax(&words[1], i);
    __hip_atomic_fetch_min(&wide[0], static_cast<long long>(i) << 33, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_max(&wide[1], static_cast<long long>(i) << 33, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    atomicSub(&words[2], i);
}

// Every value that the operations return is taken exactly once.
__global__ void tickets(unsigned *next, unsigned *taken, unsigned *wrapped)
{
    taken[atomicAdd(next, 1u)] += 1;
    atomicAdd(&wrapped[atomicInc(&next[1], 9)], 1u);
    atomicAdd(&wrapped[10 + atomicDec(&next[2], 4)], 1u);
}

__global__ void exchange(unsigned long long *cell, unsigned long long *sum)
{
    // What goes in comes out once, but for the last.
    unsigned long long before = atomicExch(cell, static_cast<unsigned long long>(index_of_thread()) + 1);
    atomicAdd(sum, before);
}

template <class T> __global__ void compare_and_swap(T *cell)
{
    for (int round = 0; round < 3; round++) {
        T old = *cell, seen;
        do {
            seen = old;
            old = atomicCAS(cell, seen, static_cast<T>(seen + 1));
        } while (old != seen);
    }
}

// A lock; each holder changes what it protects in two steps. One lane of a wave only: lanes of one wave that wait for
// each other stand still on real hardware too.
__global__ void locked(int *lock, volatile int *protected_values)
{
    if (threadIdx.x % 64 != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        __builtin_amdgcn_s_sleep(1);
    __threadfence();
    int value = protected_values[0];
    protected_values[1] = value + 1;
    __threadfence();
    protected_values[0] = protected_values[1];
    __threadfence();
    atomicExch(lock, 0);
}

template <class T> __global__ void in_shared_memory(T *out)
{
    __shared__ T sum, largest;
    if (threadIdx.x == 0)
        sum = largest = 0;
    __syncthreads();
    atomicAdd(&sum, static_cast<T>(threadIdx.x));
    atomicMax(&largest, static_cast<T>(threadIdx.x * 7 % 101));
    __syncthreads();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = sum;
        out[2 * blockIdx.x + 1] = largest;
    }
}

template <class T> __global__ void sum_in_shared_memory(T *out)
{
    __shared__ T sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, static_cast<T>(threadIdx.x) / 4);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

template <class T> __global__ void float_limits(T *values)
{
    T value = static_cast<T>(static_cast<int>(index_of_thread()) - 700) / 8;
    atomicMin(&values[0], value);
    atomicMax(&values[1], value);
}

__global__ void with_the_host(int *flag, int *value)
{
    __hip_atomic_store(value, 123, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 2)
        __builtin_amdgcn_s_sleep(10);
    atomicAdd_system(value, 1000);
}

int main()
{
    adding<int>();
    adding<unsigned>();
    adding<unsigned long long>();
    adding<float>();
    adding<double>();
    bits<unsigned>();
    bits<unsigned long long>();

    Array<int> words(std::vector<int>{0, 0, 0});
    Array<long long> wide(std::vector<long long>{0, 0});
    limits_of_signed<<<BLOCKS, THREADS>>>(words, wide);
    SAME(words.values(), (std::vector<int>{-ALL / 2, ALL / 2 - 1, ALL / 2}));
    SAME(wide.values(), (std::vector<long long>{-(static_cast<long long>(ALL / 2) << 33),
                                                static_cast<long long>(ALL / 2 - 1) << 33}));

    Array<unsigned> next(std::vector<unsigned>{0, 0, 4}), taken(std::vector<unsigned>(ALL, 0)),
        wrapped(std::vector<unsigned>(15, 0));
    tickets<<<BLOCKS, THREADS>>>(next, taken, wrapped);
    SAME(taken.values(), std::vector<unsigned>(ALL, 1));
    SAME(wrapped.values(), made(15, [](size_t i) { return i < 10 ? ALL / 10u : ALL / 5u; }));
    Array<unsigned long long> cells(std::vector<unsigned long long>{0, 0});
    exchange<<<BLOCKS, THREADS>>>(cells, cells + 1);
    std::vector<unsigned long long> left = cells.values();
    CHECK(left[0] + left[1] == static_cast<unsigned long long>(ALL) * (ALL + 1) / 2, "%llu %llu", left[0], left[1]);

    Array<unsigned> small(std::vector<unsigned>{7});
    compare_and_swap<unsigned><<<BLOCKS, THREADS>>>(small);
    SAME(small.values(), std::vector<unsigned>{7 + 3 * ALL});
    Array<unsigned long long> large(std::vector<unsigned long long>{1ull << 40});
    compare_and_swap<unsigned long long><<<BLOCKS, THREADS>>>(large);
    SAME(large.values(), std::vector<unsigned long long>{(1ull << 40) + 3 * ALL});
    Array<int> lock(std::vector<int>{0, 0, 0});
    locked<<<50, 256>>>(lock, lock + 1);
    SAME(lock.values(), (std::vector<int>{0, 200, 200}));

    Array<unsigned> shared(4);
    in_shared_memory<unsigned><<<2, THREADS>>>(shared);
    SAME(shared.values(), (std::vector<unsigned>{19900, 100, 19900, 100}));
    Array<unsigned long long> shared_wide(4);
    in_shared_memory<unsigned long long><<<2, THREADS>>>(shared_wide);
    SAME(shared_wide.values(), (std::vector<unsigned long long>{19900, 100, 19900, 100}));
    Array<float> floats(2);
    sum_in_shared_memory<float><<<2, THREADS>>>(floats);
    SAME(floats.values(), (std::vector<float>{4975, 4975}));
    Array<double> doubles(2);
    sum_in_shared_memory<double><<<2, THREADS>>>(doubles);
    SAME(doubles.values(), (std::vector<double>{4975, 4975}));
    Array<float> float_range(std::vector<float>{0, 0});
    float_limits<float><<<BLOCKS, THREADS>>>(float_range);
    SAME(float_range.values(), (std::vector<float>{-87.5f, 62.375f}));
    Array<double> double_range(std::vector<double>{0, 0});
    float_limits<double><<<BLOCKS, THREADS>>>(double_range);
    SAME(double_range.values(), (std::vector<double>{-87.5, 62.375}));

    int *host = nullptr;
    NEED_OK(hipHostMalloc(&host, 2 * sizeof(int), hipHostMallocCoherent));
    host[0] = host[1] = 0;
    with_the_host<<<1, 1>>>(host, host + 1);
    while (__atomic_load_n(&host[0], __ATOMIC_ACQUIRE) != 1)
        ;
    CHECK(__atomic_load_n(&host[1], __ATOMIC_RELAXED) == 123, "%d", host[1]);
    __atomic_fetch_add(&host[1], 7, __ATOMIC_SEQ_CST);
    __atomic_store_n(&host[0], 2, __ATOMIC_RELEASE);
    OK(hipDeviceSynchronize());
    CHECK(host[1] == 1130, "%d", host[1]);
    OK(hipHostFree(host));
    return summary();
}
