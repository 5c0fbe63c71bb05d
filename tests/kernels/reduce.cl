/* A sum per group: a strided loop, then a tree in group memory with a barrier on every level. The order of the float
 * additions is fixed by the tree, so the result is exact. */
#include "host.h"

enum { REDUCE_GROUP = 256 };

__kernel void reduce(__global const int *in, __global int *sums, uint count)
{
    LOCAL_ARRAY(int, part, REDUCE_GROUP);
    uint me = (uint)get_local_id(0);
    uint sum = 0;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        sum += (uint)in[i];
    part[me] = (int)sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = REDUCE_GROUP / 2; half_way > 0; half_way /= 2) {
        if (me < half_way)
            part[me] = (int)((uint)part[me] + (uint)part[me + half_way]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        sums[get_group_id(0)] = part[0];
}
HOST_ENTRY_BARRIERS(reduce, PTR(0), PTR(1), VAL(2, uint))

__kernel void reduce_float(__global const float *in, __global float *sums, uint count)
{
    LOCAL_ARRAY(float, float_part, REDUCE_GROUP);
    uint me = (uint)get_local_id(0);
    float sum = 0;
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        sum += in[i];
    float_part[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = REDUCE_GROUP / 2; half_way > 0; half_way /= 2) {
        if (me < half_way)
            float_part[me] += float_part[me + half_way];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        sums[get_group_id(0)] = float_part[0];
}
HOST_ENTRY_BARRIERS(reduce_float, PTR(0), PTR(1), VAL(2, uint))

#ifdef __OPENCL_C_VERSION__
#define GROUP_UP_TO(items) __attribute__((amdgpu_flat_work_group_size(1, items)))
#else
#define GROUP_UP_TO(items)
#endif

/* The largest group there is: sixteen waves that meet at the barriers. */
GROUP_UP_TO(1024) __kernel void reduce_large(__global const int *in, __global int *sums)
{
    LOCAL_ARRAY(int, large_part, 1024);
    uint me = (uint)get_local_id(0);
    large_part[me] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_way = 512; half_way > 0; half_way /= 2) {
        if (me < half_way)
            large_part[me] = (int)((uint)large_part[me] + (uint)large_part[me + half_way]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        sums[get_group_id(0)] = large_part[0];
}
HOST_ENTRY_BARRIERS(reduce_large, PTR(0), PTR(1))
