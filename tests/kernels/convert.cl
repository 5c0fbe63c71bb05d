/* Numbers of every width: loads that extend, stores that cut, saturation, rounding, and half precision. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

enum { CONVERSIONS = 16 };

__kernel void convert_integers(__global const int *in, __global const char *bytes, __global const ushort *shorts,
                               __global long *out)
{
    size_t i = get_global_id(0);
    int x = in[i];
    __global long *o = out + i * CONVERSIONS;
    o[0] = (char)x;
    o[1] = (uchar)x;
    o[2] = (short)x;
    o[3] = (ushort)x;
    o[4] = convert_char_sat(x);
    o[5] = convert_uchar_sat(x);
    o[6] = convert_short_sat(x);
    o[7] = convert_ushort_sat(x);
    o[8] = bytes[i];
    o[9] = (uchar)bytes[i];
    o[10] = (short)shorts[i];
    o[11] = shorts[i];
    o[12] = bytes[i] * (short)shorts[i];
    o[13] = (uint)x;
    o[14] = (char)(bytes[i] + x);
    o[15] = (long)(uchar)bytes[i] << 40 | shorts[i];
}
HOST_ENTRY(convert_integers, PTR(0), PTR(1), PTR(2), PTR(3))

__kernel void store_narrow(__global const int *in, __global char *bytes, __global short *shorts)
{
    size_t i = get_global_id(0);
    bytes[i] = (char)in[i];
    bytes[i] = (char)(bytes[i] ^ (char)(in[i] >> 8));
    shorts[i] = (short)(in[i] >> 4);
    shorts[i] = (short)(shorts[i] * 3);
}
HOST_ENTRY(store_narrow, PTR(0), PTR(1), PTR(2))

/* Input: floats whose magnitude an int holds. */
__kernel void convert_floats(__global const float *in, __global double *out)
{
    size_t i = get_global_id(0);
    float x = in[i];
    __global double *o = out + i * CONVERSIONS;
    o[0] = (int)x;
    o[1] = (uint)fabs(x);
    o[2] = convert_int_rte(x);
    o[3] = convert_int_rtp(x);
    o[4] = convert_int_rtn(x);
    o[5] = (double)(long)(x * 1000.0f);
    o[6] = (double)(ulong)(fabs(x) * 1000.0f);
    o[7] = (float)(int)as_uint(x);
    o[8] = (float)as_uint(x);
    o[9] = (double)((long)as_uint(x) * -77777);
    o[10] = (float)((ulong)as_uint(x) * 12345678901ul);
    o[11] = (float)((long)as_int(x) * 12345678901l);
    o[12] = (double)((ulong)as_uint(x) * 0x1000000020001ul);
    o[13] = (uchar)fabs(fmod(x, 200.0f));
    o[14] = (short)fmod(x, 30000.0f);
    o[15] = (double)x;
}
HOST_ENTRY(convert_floats, PTR(0), PTR(1))

/* Every step is one operation, rounded to half. */
__kernel void halves(__global const half *a, __global const half *b, __global half *out, __global const float *in,
                     __global half *rounded)
{
    size_t i = get_global_id(0);
    half x = a[i], y = b[i];
    half sum = x + y, product = x * y, quotient = x / y;
    half difference = sum - product;
    out[i * 4] = sum;
    out[i * 4 + 1] = product;
    out[i * 4 + 2] = quotient;
    out[i * 4 + 3] = x < y ? difference : (half)(int)x;
    vstore_half_rte(in[i] + vload_half(i, a), i, rounded);
}
HOST_ENTRY(halves, PTR(0), PTR(1), PTR(2), PTR(3), PTR(4))
