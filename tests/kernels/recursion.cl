/* Calls whose depth or target only the data knows: recursion on the stack, and functions called through pointers, which
 * differ from lane to lane. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#endif
#define APART __attribute__((noinline))

APART static uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

APART static uint ackermann(uint m, uint n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__kernel void recursion(__global const uint *in, __global uint *out)
{
    size_t i = get_global_id(0);
    uint x = in[i];
    out[i] = fibonacci(x % 9) * 1000 + ackermann(x % 3, x / 3 % 4);
}
HOST_ENTRY(recursion, PTR(0), PTR(1))

APART static uint twice(uint x) { return x * 2; }
APART static uint square(uint x) { return x * x; }
APART static uint invert(uint x) { return ~x; }

__kernel void function_pointers(__global const uint *in, __global uint *out)
{
    size_t i = get_global_id(0);
    uint x = in[i];
    uint (*steps[3])(uint) = { twice, square, invert };
    for (uint k = 0; k < 5; k++)
        x = steps[(x + k) % 3](x);
    out[i] = x;
}
HOST_ENTRY(function_pointers, PTR(0), PTR(1))
