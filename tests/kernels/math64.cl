/* Double precision, exact operations and the device library. */
#include "host.h"

enum { EXACT64 = 16, LIBRARY64 = 12 };

__kernel void math64_exact(__global const double *a, __global const double *b, __global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    __global double *o = out + i * EXACT64;
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
    o[11] = copysign(x, y);
    o[12] = ldexp(x, (int)(i % 201) - 100);
    o[13] = x < y ? 1.0 : x == y ? 2.0 : x > y ? 3.0 : 4.0;
    o[14] = (double)(float)x;
    o[15] = isnan(x) ? 1.0 : isinf(x) ? 2.0 : isnormal(x) ? 3.0 : 4.0;
}
HOST_ENTRY(math64_exact, PTR(0), PTR(1), PTR(2))

__kernel void math64_library(__global const double *a, __global const double *b, __global double *out)
{
    size_t i = get_global_id(0);
    double x = a[i], y = b[i];
    __global double *o = out + i * LIBRARY64;
    o[0] = exp(x);
    o[1] = log(fabs(x));
    o[2] = sin(x);
    o[3] = cos(x);
    o[4] = tan(x);
    o[5] = atan2(x, y);
    o[6] = pow(fabs(x), y * 0.1);
    o[7] = tanh(x * 0.1);
    o[8] = cbrt(x);
    o[9] = hypot(x, y);
    o[10] = log2(fabs(x));
    o[11] = exp2(x);
}
HOST_ENTRY(math64_library, PTR(0), PTR(1), PTR(2))
