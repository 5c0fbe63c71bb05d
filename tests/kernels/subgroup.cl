/* Sub-group functions of OpenCL. LLVM 15 cannot select the code of the device library's scans without optimisation:
 * at least -O1 */
#include "host.h"

enum { SUBGROUP_RESULTS = 9 };

__kernel void subgroup(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    int x = in[i] % 1000;
    __global int *o = out + i * SUBGROUP_RESULTS;
    o[0] = (int)get_sub_group_size();
    o[1] = (int)get_sub_group_local_id();
    o[2] = (int)get_sub_group_id();
    o[3] = sub_group_broadcast(x, 3);
    o[4] = sub_group_reduce_add(x);
    o[5] = sub_group_scan_inclusive_add(x);
    o[6] = sub_group_scan_exclusive_add(x);
    o[7] = sub_group_any(x == 7);
    o[8] = sub_group_all(x < 990);
}
HOST_ENTRY_BARRIERS(subgroup, PTR(0), PTR(1))
