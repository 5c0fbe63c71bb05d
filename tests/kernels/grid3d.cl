/* Three dimensions of odd sizes, so that the groups at the upper edges are partial: every work-item writes where it is. */
#include "host.h"

enum { PLACE = 17 };

__kernel void grid3d(__global uint *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    __global uint *o = out + ((z * get_global_size(1) + y) * get_global_size(0) + x) * PLACE;
    for (uint d = 0; d < 3; d++) {
        o[d] = (uint)get_local_id(d);
        o[3 + d] = (uint)get_group_id(d);
        o[6 + d] = (uint)get_local_size(d);
        o[9 + d] = (uint)get_num_groups(d);
        o[12 + d] = (uint)get_enqueued_local_size(d);
    }
    o[15] = get_work_dim();
    o[16] = (uint)get_global_offset(0);
}
HOST_ENTRY(grid3d, PTR(0))
