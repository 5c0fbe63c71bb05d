/* Loops within loops whose trip counts, breaks and continues differ from lane to lane. */
#include "host.h"

__kernel void divergent(__global const uint *in, __global uint *out)
{
    size_t i = get_global_id(0);
    uint seed = in[i], sum = 0;
    for (uint outer = 0; outer < seed % 23; outer++) {
        if ((outer ^ seed) % 7 == 3)
            continue;
        uint x = seed + outer;
        while (x != 1) {
            if (x > 100000)
                break;
            if (x & 1) {
                x = 3 * x + 1;
                for (uint inner = x % 5; inner < 4; inner++) {
                    sum += inner * x;
                    if ((sum & 0x3f) == 0x21)
                        goto next_outer;
                }
            } else {
                x /= 2;
            }
            sum = sum * 31 + x;
            if (x == 0)
                break;
        }
        sum ^= outer;
    next_outer:;
    }
    out[i] = sum;
}
HOST_ENTRY(divergent, PTR(0), PTR(1))

/* Iterations until the point leaves the circle; every lane leaves at its own time. */
__kernel void mandelbrot(__global uint *iterations, uint width, float scale)
{
    uint column = (uint)get_global_id(0), row = (uint)get_global_id(1), count = 0;
    float cx = (float)(int)(column - width / 2) * scale - 0.5f, cy = (float)(int)(row - width / 2) * scale;
    float x = 0, y = 0;
    while (count < 200 && fma(x, x, y * y) < 4.0f) {
        float next = fma(x, x, cx) - y * y;
        y = fma(2.0f * x, y, cy);
        x = next;
        count++;
    }
    iterations[row * width + column] = count;
}
HOST_ENTRY(mandelbrot, PTR(0), VAL(1, uint), VAL(2, float))
