/* Kernels that do what they must not; they have no meaning on the host. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__

__kernel void wild_read(__global int *out, ulong address)
{
    out[get_global_id(0)] = *(volatile __global int *)address;
}

__kernel void wild_write(__global int *out, ulong address)
{
    *(volatile __global int *)address = 5;
    out[get_global_id(0)] = 1;
}

/* A word that is no instruction of any chip of the family. */
__kernel void illegal_instruction(__global int *out)
{
    __asm__ volatile(".long 0xffffffff");
    out[get_global_id(0)] = 1;
}

__kernel void trap(__global int *out)
{
    if (out[0] == 0)
        __builtin_trap();
    out[get_global_id(0)] = 1;
}

/* Needs all the group memory that a group can have. */
__kernel void local_hog(__global int *out)
{
    LOCAL_ARRAY(int, all, 64 * 1024 / 4);
    for (uint k = (uint)get_local_id(0); k < 64 * 1024 / 4; k += (uint)get_local_size(0))
        all[k] = (int)k;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = all[(get_global_id(0) * 977) % (64 * 1024 / 4)];
}

#endif
