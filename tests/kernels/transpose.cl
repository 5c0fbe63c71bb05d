/* Strided memory through padded tiles, structures of 16 bytes in one access, and scattered single bytes. */
#include "host.h"

enum { SIDE = 32, ROWS = 8 };

__kernel void transpose(__global const float *in, __global float *out, uint width, uint height)
{
    LOCAL_ARRAY(float, tile, SIDE * (SIDE + 1));
    uint lx = (uint)get_local_id(0), ly = (uint)get_local_id(1);
    uint x = (uint)get_group_id(0) * SIDE + lx, y = (uint)get_group_id(1) * SIDE + ly;
    for (uint k = 0; k < SIDE; k += ROWS)
        if (x < width && y + k < height)
            tile[(ly + k) * (SIDE + 1) + lx] = in[(y + k) * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = (uint)get_group_id(1) * SIDE + lx;
    y = (uint)get_group_id(0) * SIDE + ly;
    for (uint k = 0; k < SIDE; k += ROWS)
        if (x < height && y + k < width)
            out[(y + k) * height + x] = tile[lx * (SIDE + 1) + ly + k];
}
HOST_ENTRY_BARRIERS(transpose, PTR(0), PTR(1), VAL(2, uint), VAL(3, uint))

struct quad {
    float x, y, z, w;
};

__kernel void quads(__global const struct quad *in, __global struct quad *out, __global const uint *order)
{
    size_t i = get_global_id(0);
    struct quad q = in[order[i] % get_global_size(0)];
    struct quad r;
    r.x = q.w;
    r.y = q.z + 1.0f;
    r.z = q.y * 2.0f;
    r.w = q.x - 3.0f;
    out[i] = r;
}
HOST_ENTRY(quads, PTR(0), PTR(1), PTR(2))

__kernel void scatter_bytes(__global const uint *order, __global uchar *out, uint count)
{
    size_t i = get_global_id(0);
    atomic_or((__global uint *)(out + (order[i] % count & ~3u)), 1u << (order[i] % 32));
}
HOST_ENTRY(scatter_bytes, PTR(0), PTR(1), VAL(2, uint))

/* The same structures through group memory. */
__kernel void quads_in_group(__global const struct quad *in, __global struct quad *out)
{
    LOCAL_ARRAY(struct quad, shared, 128);
    uint me = (uint)get_local_id(0);
    shared[me] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    struct quad left = shared[(me + 1) % 128], right = shared[(me * 5 + 3) % 128];
    struct quad sum;
    sum.x = left.x + right.y;
    sum.y = left.y - right.x;
    sum.z = left.z + right.w;
    sum.w = left.w - right.z;
    out[get_global_id(0)] = sum;
}
HOST_ENTRY_BARRIERS(quads_in_group, PTR(0), PTR(1))
