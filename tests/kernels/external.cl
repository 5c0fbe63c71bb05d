/* A variable that the program does not have: whoever loads it gives the address. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__

__attribute__((visibility("default"))) extern __global int outside[];

__kernel void external(__global int *out)
{
    size_t i = get_global_id(0);
    out[i] = outside[i] + 1;
    outside[i] = (int)i;
}

#endif
