/* Single precision: operations that IEEE 754 defines to the last bit, functions of the device library with an error of
 * a few units in the last place, and the native functions, which are the hardware's own approximations. */
#include "host.h"

enum { EXACT32 = 20, LIBRARY32 = 22, NATIVE32 = 8 };

/* Any bit patterns as input: infinities, NaNs, subnormal numbers. */
__kernel void math32_exact(__global const float *a, __global const float *b, __global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    __global float *o = out + i * EXACT32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = sqrt(x);
    o[5] = fma(x, y, x);
    o[6] = floor(x);
    o[7] = ceil(x);
    o[8] = trunc(x);
    o[9] = rint(x);
    o[10] = round(x);
    o[11] = fmod(x, y);
    o[12] = remainder(x, y);
    o[13] = fabs(x);
    o[14] = -y;
    o[15] = copysign(x, y);
    o[16] = x < y ? 1.0f : x == y ? 2.0f : x > y ? 3.0f : 4.0f;
    o[17] = ldexp(x, (int)(i % 61) - 30);
    o[18] = isnan(x) ? 1.0f : isinf(x) ? 2.0f : isnormal(x) ? 3.0f : 4.0f;
    o[19] = fdim(x, y);
}
HOST_ENTRY(math32_exact, PTR(0), PTR(1), PTR(2))

__kernel void math32_library(__global const float *a, __global const float *b, __global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    __global float *o = out + i * LIBRARY32;
    o[0] = exp(x);
    o[1] = exp2(x);
    o[2] = expm1(x);
    o[3] = log(fabs(x));
    o[4] = log2(fabs(x));
    o[5] = log10(fabs(x));
    o[6] = log1p(fabs(x));
    o[7] = sin(x);
    o[8] = cos(x);
    o[9] = tan(x);
    o[10] = asin(x * 0.01f);
    o[11] = acos(x * 0.01f);
    o[12] = atan(x);
    o[13] = atan2(x, y);
    o[14] = sinh(x * 0.1f);
    o[15] = cosh(x * 0.1f);
    o[16] = tanh(x * 0.1f);
    o[17] = pow(fabs(x), y * 0.1f);
    o[18] = cbrt(x);
    o[19] = hypot(x, y);
    o[20] = rsqrt(fabs(x));
    o[21] = sin(x * 1.0e6f);
}
HOST_ENTRY(math32_library, PTR(0), PTR(1), PTR(2))

__kernel void math32_native(__global const float *a, __global const float *b, __global float *out)
{
    size_t i = get_global_id(0);
    float x = a[i], y = b[i];
    __global float *o = out + i * NATIVE32;
    o[0] = native_exp(x);
    o[1] = native_log(x + 2.0f);
    o[2] = native_sin(x);
    o[3] = native_cos(x);
    o[4] = native_sqrt(x);
    o[5] = native_rsqrt(x);
    o[6] = native_recip(x);
    o[7] = native_divide(x, y);
}
HOST_ENTRY(math32_native, PTR(0), PTR(1), PTR(2))
