// Cooperative groups: blocks, tiles of waves, and whole grids that wait for each other.
#include "check.hpp"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void block_group(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ int memory[256];
    memory[block.thread_rank()] = static_cast<int>(block.size());
    block.sync();
    out[blockIdx.x * 256 + block.thread_rank()] =
        memory[255 - block.thread_rank()] + static_cast<int>(block.group_index().x) * 1000;
}

template <unsigned Size> __global__ void tiles(int *out)
{
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    int value = static_cast<int>(threadIdx.x);
    for (unsigned step = Size / 2; step > 0; step /= 2)
        value += tile.shfl_down(value, step);
    int sum = tile.shfl(value, 0);
    int exchanged = tile.shfl_xor(static_cast<int>(threadIdx.x), 1);
    tile.sync();
    out[threadIdx.x] = sum * 1000 + exchanged * 2 + (tile.thread_rank() == threadIdx.x % Size && tile.size() == Size);
}

template <unsigned Size> static void check_tiles()
{
    Array<int> out(128);
    tiles<Size><<<1, 128>>>(out);
    SAME(out.values(), made(128, [](size_t i) {
             int first = static_cast<int>(i / Size * Size), size = static_cast<int>(Size);
             int sum = size * first + size * (size - 1) / 2;
             return sum * 1000 + static_cast<int>(i ^ 1) * 2 + 1;
         }));
}

__global__ void coalesced(int *out)
{
    out[threadIdx.x] = -1;
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        out[threadIdx.x] = static_cast<int>(group.thread_rank() * 100 + group.size());
    }
}

// Each step needs all blocks of the step before: a wrong barrier of the grid gives a wrong number.
__global__ void grid_steps(int *values, int steps)
{
    cg::grid_group grid = cg::this_grid();
    int count = static_cast<int>(grid.size()), mine = static_cast<int>(grid.thread_rank());
    int *from = values, *to = values + count;
    for (int step = 0; step < steps; step++) {
        to[mine] = from[(mine + 77) % count] + 1;
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
}

static void whole_grid(int blocks, int threads, int steps)
{
    int count = blocks * threads;
    Array<int> values(made(2 * count, [](size_t i) { return static_cast<int>(i); }));
    int *p = values;
    void *arguments[] = {&p, &steps};
    OK(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(grid_steps), dim3(blocks), dim3(threads), arguments, 0,
                                  nullptr));
    OK(hipDeviceSynchronize());
    std::vector<int> got = values.values();
    std::vector<int> last(got.begin() + (steps % 2) * count, got.begin() + (steps % 2 + 1) * count);
    SAME(last, made(count, [&](size_t i) { return (static_cast<int>(i) + 77 * steps) % count + steps; }));
}

__global__ void across_devices(int *shared, int *out)
{
    cg::multi_grid_group all = cg::this_multi_grid();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        __hip_atomic_fetch_add(shared, 1 << all.grid_rank(), __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
    all.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *out = __hip_atomic_load(shared, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM) * 10 + static_cast<int>(all.num_grids());
}

static void several_devices(int devices)
{
    std::vector<hipStream_t> streams(devices);
    std::vector<int *> out(devices);
    std::vector<std::vector<void *>> arguments(devices);
    std::vector<hipLaunchParams> launches(devices);
    int *shared = nullptr;
    NEED_OK(hipHostMalloc(&shared, sizeof(int), hipHostMallocCoherent | hipHostMallocPortable));
    *shared = 0;
    for (int device = 0; device < devices; device++) {
        OK(hipSetDevice(device));
        NEED_OK(hipStreamCreate(&streams[device]));
        NEED_OK(hipHostMalloc(&out[device], sizeof(int), hipHostMallocCoherent));
        *out[device] = 0;
        arguments[device] = {&shared, &out[device]};
        launches[device].func = reinterpret_cast<void *>(across_devices);
        launches[device].gridDim = dim3(2);
        launches[device].blockDim = dim3(64);
        launches[device].args = arguments[device].data();
        launches[device].sharedMem = 0;
        launches[device].stream = streams[device];
    }
    OK(hipLaunchCooperativeKernelMultiDevice(launches.data(), devices, 0));
    for (int device = 0; device < devices; device++) {
        OK(hipSetDevice(device));
        OK(hipStreamSynchronize(streams[device]));
        CHECK(*out[device] == ((1 << devices) - 1) * 10 + devices, "device %d: %d", device, *out[device]);
        OK(hipStreamDestroy(streams[device]));
        OK(hipHostFree(out[device]));
    }
    OK(hipHostFree(shared));
    OK(hipSetDevice(0));
}

int main()
{
    Array<int> out(3 * 256);
    block_group<<<3, 256>>>(out);
    SAME(out.values(), made(3 * 256, [](size_t i) { return 256 + static_cast<int>(i / 256) * 1000; }));
    check_tiles<2>();
    check_tiles<4>();
    check_tiles<8>();
    check_tiles<16>();
    check_tiles<32>();
    check_tiles<64>();
    Array<int> some(64);
    coalesced<<<1, 64>>>(some);
    SAME(some.values(),
         made(64, [](size_t i) { return i % 3 ? -1 : static_cast<int>(i / 3) * 100 + 22; }));
    whole_grid(1, 64, 3);
    whole_grid(4, 64, 10);
    whole_grid(16, 128, 7);
    whole_grid(7, 100, 5);
    int devices = 0;
    OK(hipGetDeviceCount(&devices));
    several_devices(devices);

    // More blocks than fit at once cannot wait for each other.
    hipDeviceProp_t properties{};
    OK(hipGetDeviceProperties(&properties, 0));
    int blocks = properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor / 1024 + 1, steps = 1;
    int *p = nullptr;
    void *arguments[] = {&p, &steps};
    FAILS(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(grid_steps), dim3(blocks), dim3(1024), arguments, 0,
                                     nullptr),
          hipErrorCooperativeLaunchTooLarge);
    return summary();
}
