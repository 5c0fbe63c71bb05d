// Kernel launches: grids and blocks of every shape, arguments of every kind, shared memory.
#include "check.hpp"

#include <hip/hip_ext.h>

__global__ void vector_add(const float *a, const float *b, float *c, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        c[i] = a[i] + b[i];
}

static void adding(int count, int block)
{
    auto a = made(count, [](size_t i) { return 0.5f * i; });
    auto b = made(count, [](size_t i) { return 3.0f - i; });
    auto want = made(count, [&](size_t i) { return a[i] + b[i]; });
    Array<float> x(a), y(b), z(count);
    OK(hipMemset(z, 0xff, z.bytes()));
    vector_add<<<(count + block - 1) / block, block>>>(x, y, z, count);
    OK(hipGetLastError());
    SAME(z.values(), want);
}

__global__ void coordinates(uint32_t *out)
{
    uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
    uint32_t z = blockIdx.z * blockDim.z + threadIdx.z;
    uint32_t index = (z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x;
    out[index] = x | y << 10 | z << 20;
}

static void shape(dim3 grid, dim3 block)
{
    uint32_t nx = grid.x * block.x, ny = grid.y * block.y, nz = grid.z * block.z;
    Array<uint32_t> out(size_t{nx} * ny * nz);
    coordinates<<<grid, block>>>(out);
    OK(hipGetLastError());
    auto want = made(size_t{nx} * ny * nz, [&](size_t i) {
        return static_cast<uint32_t>(i % nx | i / nx % ny << 10 | i / nx / ny << 20);
    });
    SAME(out.values(), want);
}

struct Mixed {
    char small;
    double number;
    short pair[2];
    int *out;
    long long wide;
};

__global__ void arguments(char a, Mixed mixed, short b, float3 c, uint8_t d, const int *e, double f, bool g, int4 h)
{
    mixed.out[0] = a + mixed.small;
    mixed.out[1] = static_cast<int>(mixed.number * 4);
    mixed.out[2] = mixed.pair[0] * 1000 + mixed.pair[1];
    mixed.out[3] = static_cast<int>(mixed.wide >> 32);
    mixed.out[4] = b;
    mixed.out[5] = static_cast<int>(c.x + 10 * c.y + 100 * c.z);
    mixed.out[6] = d;
    mixed.out[7] = *e;
    mixed.out[8] = static_cast<int>(f * 8);
    mixed.out[9] = g;
    mixed.out[10] = h.x + h.y + h.z + h.w;
}

struct Large {
    int values[960];
};

__global__ void large_argument(Large large, int *out)
{
    out[threadIdx.x] = large.values[threadIdx.x] + large.values[959 - threadIdx.x];
}

template <class T, int N> __global__ void scaled(T *values)
{
    values[threadIdx.x] = values[threadIdx.x] * static_cast<T>(N);
}

// Reverses each block through dynamic shared memory, behind a static one.
__global__ void reversed(int *values)
{
    __shared__ int base;
    extern __shared__ int dynamic[];
    if (threadIdx.x == 0)
        base = blockIdx.x * blockDim.x;
    dynamic[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    values[base + threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

// Uses all shared memory that a block can have.
__global__ void whole_shared_memory(unsigned *out, unsigned words)
{
    extern __shared__ unsigned memory[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        memory[i] = i * 2654435761u;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        sum += memory[words - 1 - i];
    atomicAdd(out, sum);
}

// Steps through a barrier many times, all waves of the block in step.
__global__ void many_barriers(int *out)
{
    __shared__ int steps[1024];
    steps[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < 20; i++) {
        __syncthreads();
        int next = steps[(threadIdx.x + 65) % blockDim.x];
        __syncthreads();
        steps[threadIdx.x] = next;
    }
    out[threadIdx.x] = steps[threadIdx.x];
}

__global__ void __launch_bounds__(128) barrier_votes(int *out)
{
    int odd = threadIdx.x & 1;
    int count = __syncthreads_count(odd);
    int any = __syncthreads_or(threadIdx.x == 77);
    int all = __syncthreads_and(threadIdx.x != 77);
    out[threadIdx.x] = count * 4 + any * 2 + all;
}

int main()
{
    for (int count : {1, 63, 64, 65, 1000, 4096, 100000})
        adding(count, 256);
    for (int block : {1, 17, 64, 100, 512, 1024})
        adding(3000, block);

    shape({1, 1, 1}, {1, 1, 1});
    shape({3, 5, 7}, {4, 2, 3});
    shape({1, 1, 9}, {8, 8, 16});
    shape({2, 3, 1}, {1, 1024, 1});
    shape({700, 1, 1}, {1, 1, 1});
    shape({5, 1, 1}, {33, 3, 5});

    Array<int> out(1024), value(std::vector<int>{-5});
    Mixed mixed{7, 2.25, {-3, 21}, out, 0x1234500000000ll};
    arguments<<<1, 1>>>(-100, mixed, -321, float3{1, 2, 3}, 200, value, -1.5, true, int4{1, 20, 300, 4000});
    std::vector<int> got = out.values();
    got.resize(11);
    SAME(got, (std::vector<int>{-93, 9, -2979, 0x12345, -321, 321, 200, -5, -12, 1, 4321}));

    Large large;
    for (int i = 0; i < 960; i++)
        large.values[i] = i * i;
    large_argument<<<1, 960>>>(large, out);
    got = out.values();
    got.resize(960);
    SAME(got, made(960, [](size_t i) { return static_cast<int>(i * i + (959 - i) * (959 - i)); }));

    Array<double> doubles(made(64, [](size_t i) { return i * 0.25; }));
    scaled<double, 3><<<1, 64>>>(doubles);
    SAME(doubles.values(), made(64, [](size_t i) { return i * 0.75; }));
    Array<short> shorts(made(64, [](size_t i) { return static_cast<short>(i); }));
    hipLaunchKernelGGL((scaled<short, -7>), dim3(1), dim3(64), 0, nullptr, shorts);
    SAME(shorts.values(), made(64, [](size_t i) { return static_cast<short>(-7 * static_cast<int>(i)); }));

    Array<int> numbers(made(10 * 192, [](size_t i) { return static_cast<int>(i); }));
    reversed<<<10, 192, 192 * sizeof(int)>>>(numbers);
    SAME(numbers.values(), made(10 * 192, [](size_t i) { return static_cast<int>(i / 192 * 192 + 191 - i % 192); }));

    Array<unsigned> sum(std::vector<unsigned>{0});
    whole_shared_memory<<<3, 256, 65536>>>(sum, 16384);
    OK(hipGetLastError());
    unsigned want = 0;
    for (unsigned i = 0; i < 16384; i++)
        want += 3 * (i * 2654435761u);
    SAME(sum.values(), std::vector<unsigned>{want});

    many_barriers<<<1, 1024>>>(out);
    SAME(out.values(), made(1024, [](size_t i) { return static_cast<int>((i + 20 * 65) % 1024); }));
    Array<int> votes(128);
    barrier_votes<<<1, 128>>>(votes);
    SAME(votes.values(), std::vector<int>(128, 64 * 4 + 2));

    // The other ways to launch.
    int count = 100;
    auto ones = made(count, [](size_t) { return 1.0f; });
    Array<float> a(ones), b(ones), c(count);
    float *pa = a, *pb = b, *pc = c;
    void *pointers[] = {&pa, &pb, &pc, &count};
    OK(hipLaunchKernel(reinterpret_cast<const void *>(vector_add), dim3(1), dim3(128), pointers, 0, nullptr));
    SAME(c.values(), std::vector<float>(count, 2.0f));
    hipEvent_t start, stop;
    NEED_OK(hipEventCreate(&start));
    NEED_OK(hipEventCreate(&stop));
    OK(hipMemset(c, 0, c.bytes()));
    OK(hipExtLaunchKernel(reinterpret_cast<const void *>(vector_add), dim3(1), dim3(128), pointers, 0, nullptr, start, stop,
                          0));
    OK(hipEventSynchronize(stop));
    float milliseconds = -1;
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 0 && milliseconds < 60000, "%f", milliseconds);
    SAME(c.values(), std::vector<float>(count, 2.0f));
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));

    // More launches than a queue has slots, without waiting in between.
    Array<int> counter(std::vector<int>{0});
    for (int i = 0; i < 10000; i++)
        scaled<int, 1><<<1, 1>>>(counter);
    OK(hipDeviceSynchronize());
    return summary();
}
