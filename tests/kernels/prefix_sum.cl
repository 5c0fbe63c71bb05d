/* An exclusive prefix sum in two dispatches: every group scans its block and leaves the block's sum, then every group
 * adds the sums of the blocks before its own. */
#include "host.h"

enum { BLOCK = 256 };

__kernel void prefix_sum_blocks(__global const int *in, __global int *out, __global int *sums, uint count)
{
    LOCAL_ARRAY(uint, scan, 2 * BLOCK);
    uint me = (uint)get_local_id(0), from = 0;
    size_t i = get_global_id(0);
    uint own = i < count ? (uint)in[i] : 0;
    scan[me] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < BLOCK; step *= 2) {
        uint to = BLOCK - from;
        scan[to + me] = scan[from + me] + (me >= step ? scan[from + me - step] : 0);
        from = to;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < count)
        out[i] = (int)(scan[from + me] - own);
    if (me == BLOCK - 1)
        sums[get_group_id(0)] = (int)scan[from + me];
}
HOST_ENTRY_BARRIERS(prefix_sum_blocks, PTR(0), PTR(1), PTR(2), VAL(3, uint))

__kernel void prefix_sum_add(__global const int *in, __global int *out, __global const int *sums, uint count)
{
    size_t i = get_global_id(0);
    uint before = 0;
    (void)in;
    for (size_t block = 0; block < get_group_id(0); block++)
        before += (uint)sums[block];
    if (i < count)
        out[i] = (int)((uint)out[i] + before);
}
HOST_ENTRY(prefix_sum_add, PTR(0), PTR(1), PTR(2), VAL(3, uint))
