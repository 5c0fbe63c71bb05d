/* Bins in group memory by LDS atomics, added to the bins of the grid by global atomics. */
#include "host.h"

enum { BINS = 256 };

__kernel void histogram(__global const uchar *data, __global uint *bins, uint count)
{
    LOCAL_ARRAY(uint, group_bins, BINS);
    for (uint bin = (uint)get_local_id(0); bin < BINS; bin += (uint)get_local_size(0))
        group_bins[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&group_bins[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = (uint)get_local_id(0); bin < BINS; bin += (uint)get_local_size(0))
        if (group_bins[bin] != 0)
            atomic_add(&bins[bin], group_bins[bin]);
}
HOST_ENTRY_BARRIERS(histogram, PTR(0), PTR(1), VAL(2, uint))
