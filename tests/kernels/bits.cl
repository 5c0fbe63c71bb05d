/* Bit counting, rotation, bit fields, 24-bit products, saturating sums. */
#include "host.h"

enum { BIT_RESULTS = 20 };

__kernel void bits(__global const uint *a, __global const uint *b, __global uint *out)
{
    size_t i = get_global_id(0);
    uint x = a[i], y = b[i];
    ulong wide = (ulong)x << 32 | y;
    __global uint *o = out + i * BIT_RESULTS;
    o[0] = popcount(x);
    o[1] = clz(x & (y >> 3));
    o[2] = ctz(x);
    o[3] = rotate(x, y);
    o[4] = bitselect(x, y, x ^ (y << 7));
    o[5] = (x >> 5) & 0x3ff;
    o[6] = (uint)((int)(x << 9) >> 21);
    o[7] = (uint)mul24((int)x >> 9, (int)y >> 9);
    o[8] = (uint)mad24((int)x >> 9, (int)y >> 9, (int)x);
    o[9] = mul_hi(x, y);
    o[10] = (uint)mul_hi((int)x, (int)y);
    o[11] = abs_diff((int)x, (int)y);
    o[12] = add_sat(x, y);
    o[13] = (uint)add_sat((int)x, (int)y);
    o[14] = hadd(x, y);
    o[15] = rhadd(x, y);
    o[16] = (uint)popcount(wide);
    o[17] = (uint)clz(wide >> (y & 63));
    o[18] = (uint)(rotate(wide, (ulong)(x & 63)) >> 16);
    o[19] = min(x, y) ^ (uint)max((int)x, (int)y);
}
HOST_ENTRY(bits, PTR(0), PTR(1), PTR(2))
