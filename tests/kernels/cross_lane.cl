/* Instructions that move values between the lanes of a wave: ds_bpermute, ds_swizzle, DPP, v_readlane, v_readfirstlane,
 * and a comparison's mask of lanes. */
#include "host.h"

enum { LANE_RESULTS = 8 };

__kernel void cross_lane(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    int x = in[i];
    uint lane = lane_id();
    __global int *o = out + i * LANE_RESULTS;
    o[0] = lane_read(x, lane + 1);
    o[1] = lane_read(x, 63 - lane);
    o[2] = lane_first(x);
    o[3] = lane_fixed(x, 5);
    o[4] = lane_xor(x, 1);
    o[5] = lane_xor(x, 16);
    o[6] = lane_quad_reverse(x);
    ulong above = lane_ballot_greater(x, 0);
    o[7] = (int)popcount(above & ((1ul << lane) - 1));
}
HOST_ENTRY_BARRIERS(cross_lane, PTR(0), PTR(1))
