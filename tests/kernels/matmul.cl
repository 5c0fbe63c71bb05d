/* Square matrices by tiles of 16 x 16 in group memory; the size need not be a multiple of the tile. */
#include "host.h"

enum { TILE = 16 };

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, uint n)
{
    LOCAL_ARRAY(float, a_tile, TILE * TILE);
    LOCAL_ARRAY(float, b_tile, TILE * TILE);
    uint column = (uint)get_global_id(0), row = (uint)get_global_id(1);
    uint x = (uint)get_local_id(0), y = (uint)get_local_id(1);
    float sum = 0;
    for (uint at = 0; at < n; at += TILE) {
        a_tile[y * TILE + x] = row < n && at + x < n ? a[row * n + at + x] : 0;
        b_tile[y * TILE + x] = column < n && at + y < n ? b[(at + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum = fma(a_tile[y * TILE + k], b_tile[k * TILE + x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}
HOST_ENTRY_BARRIERS(matmul, PTR(0), PTR(1), PTR(2), VAL(3, uint))
