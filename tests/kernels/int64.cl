/* 64-bit integers on 32-bit lanes: carries, wide products, shifts, and division, which is a long routine. */
#include "host.h"

enum { RESULTS64 = 14 };

__kernel void int64(__global const ulong *a, __global const ulong *b, __global ulong *out)
{
    size_t i = get_global_id(0);
    ulong x = a[i], y = b[i] | 1;
    long sx = (long)(x >> 1) - (long)(y >> 3), sy = (long)(y >> 2) - (long)(x >> 5) | 1;
    __global ulong *o = out + i * RESULTS64;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = x % y;
    o[5] = (ulong)(sx / sy);
    o[6] = (ulong)(sx % sy);
    o[7] = x << (y & 63);
    o[8] = x >> (y & 63);
    o[9] = (ulong)(sx >> (y & 63));
    o[10] = mul_hi(x, y);
    o[11] = (ulong)mul_hi(sx, sy);
    o[12] = x / 1000000007ul + x % 10;
    o[13] = sx < sy ? x : y;
}
HOST_ENTRY(int64, PTR(0), PTR(1), PTR(2))

__kernel void int32_division(__global const uint *a, __global const uint *b, __global uint *out)
{
    size_t i = get_global_id(0);
    uint x = a[i], y = b[i] | 1;
    int sx = (int)(x >> 1) - (int)(y >> 2), sy = (int)(y >> 2) - (int)(x >> 4) | 1;
    out[i * 4] = x / y;
    out[i * 4 + 1] = x % y;
    out[i * 4 + 2] = (uint)(sx / sy);
    out[i * 4 + 3] = (uint)(sx % sy);
}
HOST_ENTRY(int32_division, PTR(0), PTR(1), PTR(2))
