// The code object that module.cpp loads from a file.
#include <hip/hip_runtime.h>

extern "C" {
__device__ int module_counter = 5;
__constant__ float module_factor = 1.5f;
__device__ int module_table[32];

__global__ void scale(float *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= module_factor;
}

__global__ void mixed(char a, double b, short c, int *out, float d)
{
    out[0] = a * 1000 + c;
    out[1] = static_cast<int>(b * 10 + d * 100);
    module_counter += 1;
    module_table[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
}

__global__ void shared_sum(const int *in, int *out)
{
    extern __shared__ int memory[];
    memory[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < blockDim.x; i++)
            sum += memory[i];
        out[blockIdx.x] = sum;
    }
}

__global__ void __launch_bounds__(256) with_resources(int *out)
{
    __shared__ int fixed[1000];
    volatile int stack[50];
    for (int i = 0; i < 50; i++)
        stack[i] = i;
    fixed[threadIdx.x] = stack[threadIdx.x % 50];
    __syncthreads();
    out[threadIdx.x] = fixed[255 - threadIdx.x];
}
}
