/* A bitonic sort of 512 numbers per group, with a barrier between the steps. */
#include "host.h"

enum { SORTED = 512 };

__kernel void sort(__global int *data)
{
    LOCAL_ARRAY(int, values, SORTED);
    uint me = (uint)get_local_id(0);
    __global int *block = data + get_group_id(0) * SORTED;
    values[me] = block[me];
    values[me + SORTED / 2] = block[me + SORTED / 2];
    for (uint run = 2; run <= SORTED; run *= 2)
        for (uint gap = run / 2; gap > 0; gap /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = me / gap * gap * 2 + me % gap, high = low + gap;
            bool up = (low & run) == 0;
            int a = values[low], b = values[high];
            if ((a > b) == up) {
                values[low] = b;
                values[high] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    block[me] = values[me];
    block[me + SORTED / 2] = values[me + SORTED / 2];
}
HOST_ENTRY_BARRIERS(sort, PTR(0))
