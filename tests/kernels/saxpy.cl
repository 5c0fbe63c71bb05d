/* A grid that is larger than the data: the tail of the last group has nothing to do. */
#include "host.h"

__kernel void saxpy(__global float *y, __global const float *x, float a, uint count)
{
    size_t i = get_global_id(0);
    if (i < count)
        y[i] = fma(a, x[i], y[i]);
}
HOST_ENTRY(saxpy, PTR(0), PTR(1), VAL(2, float), VAL(3, uint))
