/* Group memory whose size only the dispatch knows, behind group memory of the kernel's own. */
#include "host.h"

__kernel void local_arg(__global const int *in, __global int *out, __local int *scratch, __local short *small)
{
    LOCAL_ARRAY(int, own, 64);
    uint me = (uint)get_local_id(0), size = (uint)get_local_size(0);
    size_t i = get_global_id(0);
    scratch[me] = in[i];
    small[me] = (short)(in[i] >> 3);
    if (me < 64)
        own[me] = in[i] * 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = scratch[size - 1 - me] + small[(me + 17) % size] + own[me % 64];
}
HOST_ENTRY_BARRIERS(local_arg, PTR(0), PTR(1), PTR(2), PTR(3))
