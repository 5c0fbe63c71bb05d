/* Variables of the program: a constant table, an initialised variable, one that is zero, and a pointer that the loader
 * has to relocate. */
#include "host.h"

/* Seen by name from outside; other variables of a program are hidden. */
#ifdef __OPENCL_C_VERSION__
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

__constant int primes[16] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53 };
EXPORTED __global int bias = 1000;
EXPORTED __global uint visits[4];
__global int *bias_address = &bias;

__kernel void globals(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = primes[in[i] & 15] + *bias_address + bias;
    atomic_inc(&visits[in[i] & 3]);
}
HOST_ENTRY(globals, PTR(0), PTR(1))

/* Hands the counters out and leaves them empty for the next run. */
__kernel void globals_visits(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    (void)in;
    if (i < 4) {
        out[i] = (int)visits[i];
        visits[i] = 0;
    }
}
HOST_ENTRY(globals_visits, PTR(0), PTR(1))
