/* A dense switch, a sparse one, and a small machine whose program differs from lane to lane. */
#include "host.h"

__kernel void switches(__global const uint *in, __global uint *out)
{
    size_t i = get_global_id(0);
    uint x = in[i], r = 0;
    switch (x % 11) {
    case 0: r = x + 1; break;
    case 1: r = x * 3; break;
    case 2: r = x ^ 0x5555; break;
    case 3: r = x << 3; /* fall through */
    case 4: r += x >> 2; break;
    case 5: r = ~x; break;
    case 6: r = x % 1000; break;
    case 7: r = x * x; break;
    case 8: r = 88; break;
    default: r = x - 5; break;
    }
    switch (r & 0xfff) {
    case 3: r = 1; break;
    case 1000: r += 2; break;
    case 0xabc: r = 3; break;
    case 0x8: case 0x80: case 0x800: r ^= 4; break;
    }
    uint a = x, b = r;
    for (uint pc = 0, steps = 0; pc < 16 && steps < 64; steps++) {
        switch ((x >> (2 * pc)) & 3) {
        case 0: a += b; pc++; break;
        case 1: b = b * 5 + 1; pc += 1 + (b & 1); break;
        case 2: { uint t = a; a = b; b = t; pc++; break; }
        case 3: a ^= steps; pc += (a & 4) ? 1 : 2; break;
        }
    }
    out[i] = a ^ b ^ r;
}
HOST_ENTRY(switches, PTR(0), PTR(1))
