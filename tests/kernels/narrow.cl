/* Arithmetic on 16 bits, which the chips do natively and in pairs: half precision, and short integers. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

enum { HALF_BLOCK = 8, SHORT_RESULTS = 12 };

/* Neighbours are computed alike, so that they can share an instruction. Every step is rounded to half. */
__kernel void half_blocks(__global const half *a, __global const half *b, __global half *out)
{
    size_t at = get_global_id(0) * HALF_BLOCK;
    half x[HALF_BLOCK], y[HALF_BLOCK];
    for (uint k = 0; k < HALF_BLOCK; k++) {
        x[k] = a[at + k];
        y[k] = b[at + k];
    }
    for (uint round = 0; round < 3; round++)
        for (uint k = 0; k < HALF_BLOCK; k++) {
            half product = x[k] * y[k];
            half sum = product + x[k];
            half smaller = sum < y[k] ? sum : y[k];
            half larger = smaller > x[k] ? smaller : x[k];
            x[k] = larger - product;
        }
    for (uint k = 0; k < HALF_BLOCK; k++)
        out[at + k] = x[k];
}
HOST_ENTRY(half_blocks, PTR(0), PTR(1), PTR(2))

__kernel void shorts(__global const short *a, __global const short *b, __global short *out)
{
    size_t i = get_global_id(0);
    short x = a[i], y = b[i];
    ushort ux = (ushort)x, uy = (ushort)y;
    __global short *o = out + i * SHORT_RESULTS;
    o[0] = (short)(x + y);
    o[1] = (short)(x - y);
    o[2] = (short)(x * y);
    o[3] = (short)(x * y + x);
    o[4] = (short)(ux << (uy & 15));
    o[5] = (short)(ux >> (uy & 15));
    o[6] = (short)(x >> (uy & 15));
    o[7] = min(x, y);
    o[8] = max(x, y);
    o[9] = (short)min(ux, uy);
    o[10] = (short)max(ux, uy);
    o[11] = (short)(x < -1000 ? -1000 : x > 1000 ? 1000 : x);
}
HOST_ENTRY(shorts, PTR(0), PTR(1), PTR(2))

/* Sums of products of bytes, and differences of bytes. */
__kernel void bytes(__global const uchar *a, __global const uchar *b, __global uint *out)
{
    size_t at = get_global_id(0) * 8;
    uint dot = 0, difference = 0;
    int mixed = 0;
    for (uint k = 0; k < 8; k++) {
        dot += (uint)a[at + k] * b[at + k];
        mixed += (char)a[at + k] * (char)b[at + k];
        difference += a[at + k] > b[at + k] ? a[at + k] - b[at + k] : b[at + k] - a[at + k];
    }
    out[get_global_id(0) * 3] = dot;
    out[get_global_id(0) * 3 + 1] = (uint)mixed;
    out[get_global_id(0) * 3 + 2] = difference;
}
HOST_ENTRY(bytes, PTR(0), PTR(1), PTR(2))
