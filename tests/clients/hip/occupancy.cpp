// What HIP computes about occupancy and attributes of functions.
#include "check.hpp"

__global__ void plain(int *out)
{
    out[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(64) small_blocks(int *out)
{
    out[threadIdx.x] = 2;
}

__global__ void half_of_the_memory(int *out)
{
    __shared__ int memory[8192];
    memory[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = memory[255 - threadIdx.x % 256];
}

template <class K> static int blocks_per_unit(K kernel, int block, size_t shared)
{
    int blocks = -1;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, shared));
    return blocks;
}

int main()
{
    hipDeviceProp_t properties{};
    NEED_OK(hipGetDeviceProperties(&properties, 0));
    // By threads: HIP counts on eight waves in each of the four SIMDs of a compute unit, though ten fit.
    int threads = 8 * 4 * 64;
    CHECK(threads <= properties.maxThreadsPerMultiProcessor, "%d", properties.maxThreadsPerMultiProcessor);
    CHECK(blocks_per_unit(plain, 256, 0) == threads / 256, "%d", blocks_per_unit(plain, 256, 0));
    CHECK(blocks_per_unit(plain, 1024, 0) == threads / 1024, "%d", blocks_per_unit(plain, 1024, 0));
    // By shared memory, of both kinds.
    CHECK(blocks_per_unit(half_of_the_memory, 256, 0) == 2, "%d", blocks_per_unit(half_of_the_memory, 256, 0));
    CHECK(blocks_per_unit(plain, 64, 20 << 10) == 3, "%d", blocks_per_unit(plain, 64, 20 << 10));
    CHECK(blocks_per_unit(half_of_the_memory, 256, 20 << 10) == 1, "%d", blocks_per_unit(half_of_the_memory, 256, 20 << 10));
    int grid = 0, block = 0;
    OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    CHECK(block == properties.maxThreadsPerBlock, "%d", block);
    CHECK(grid == properties.multiProcessorCount * (threads / block), "%d", grid);
    OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 128));
    CHECK(block == 128, "%d", block);
    int blocks = 0;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, plain, 256, 0, hipOccupancyDefault));
    CHECK(blocks == threads / 256, "%d", blocks);

    hipFuncAttributes attributes{};
    OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(plain)));
    CHECK(attributes.sharedSizeBytes == 0, "%zu", attributes.sharedSizeBytes);
    CHECK(attributes.numRegs > 0, "%d", attributes.numRegs);
    CHECK(attributes.maxThreadsPerBlock == 1024, "%d", attributes.maxThreadsPerBlock);
    OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(half_of_the_memory)));
    CHECK(attributes.sharedSizeBytes == 32768, "%zu", attributes.sharedSizeBytes);
    OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void *>(small_blocks)));
    CHECK(attributes.maxThreadsPerBlock == 64, "%d", attributes.maxThreadsPerBlock);
    OK(hipFuncSetCacheConfig(reinterpret_cast<const void *>(plain), hipFuncCachePreferL1));

    // The grid that was computed runs.
    Array<int> out(std::vector<int>(1024, 0));
    OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    plain<<<grid, block>>>(out);
    SAME(out.values(), std::vector<int>(1024, 1));
    FAILS(hipOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 64, 0), hipErrorInvalidValue);
    return summary();
}
