/* Private memory: an array with computed indices, and more live values than the registers that the kernel may have. */
#include "host.h"

__kernel void private_array(__global const uint *in, __global uint *out)
{
    uint bins[64];
    size_t i = get_global_id(0);
    uint seed = in[i];
    for (uint k = 0; k < 64; k++)
        bins[k] = k * seed;
    for (uint k = 0; k < 200; k++) {
        seed = seed * 1664525u + 1013904223u;
        bins[seed >> 26] += bins[(seed >> 10) & 63] ^ k;
    }
    uint sum = 0;
    for (uint k = 0; k < 64; k++)
        sum = sum * 33 + bins[k];
    out[i] = sum;
}
HOST_ENTRY(private_array, PTR(0), PTR(1))

/* Small enough for registers, which are then chosen by a computed number, one lane after the other or all alike. */
__kernel void small_array(__global const uint *in, __global uint *out, uint shift)
{
    uint bins[8];
    size_t i = get_global_id(0);
    uint seed = in[i];
    for (uint k = 0; k < 8; k++)
        bins[k] = k * seed + 1;
    for (uint k = 0; k < 20; k++) {
        seed = seed * 1664525u + 1013904223u;
        bins[seed >> 29] += bins[(seed >> 10) & 7] ^ k;
        bins[(k + shift) & 7] ^= bins[(k * shift) & 7] << 1;
    }
    uint sum = 0;
    for (uint k = 0; k < 8; k++)
        sum = sum * 33 + bins[k];
    out[i] = sum;
}
HOST_ENTRY(small_array, PTR(0), PTR(1), VAL(2, uint))

#ifdef __OPENCL_C_VERSION__
#define FEW_REGISTERS __attribute__((amdgpu_num_vgpr(24)))
#define UNROLL _Pragma("unroll")
#else
#define FEW_REGISTERS
#define UNROLL
#endif

/* 48 values per work-item, all alive in every round, in 24 vector registers. */
FEW_REGISTERS __kernel void spill(__global const uint *in, __global uint *out, uint rounds)
{
    uint v[48];
    size_t i = get_global_id(0);
    uint seed = in[i];
    UNROLL
    for (uint k = 0; k < 48; k++)
        v[k] = seed * (k + 1);
    for (uint round = 0; round < rounds; round++) {
        UNROLL
        for (uint k = 0; k < 48; k++)
            v[k] = (v[k] ^ v[(k + 7) % 48]) * 2654435761u + v[(k + 13) % 48];
    }
    uint sum = 0;
    UNROLL
    for (uint k = 0; k < 48; k++)
        sum = sum * 31 + v[k];
    out[i] = sum;
}
HOST_ENTRY(spill, PTR(0), PTR(1), VAL(2, uint))
