/* A wave multiplies two small matrices whose elements lie in its lanes. gfx908 and gfx90a have instructions for it; the
 * others, and the host, fetch the elements from the lanes. The numbers are small and whole, so every order of the sums
 * gives the same result. */
#include "host.h"

#if defined(__gfx908__) || defined(__gfx90a__)
#define HAS_MATRIX_UNIT 1
typedef float quad_f32 __attribute__((ext_vector_type(4)));
typedef float sixteen_f32 __attribute__((ext_vector_type(16)));
typedef int quad_i32 __attribute__((ext_vector_type(4)));
typedef _Float16 quad_f16 __attribute__((ext_vector_type(4)));
#endif

#define FLOAT_OF_LANE(value, lane) as_float(lane_read(as_int(value), (lane)))

/* c = a * b, 16 x 16, over 4: lane l has a[l % 16][l / 16] and b[l / 16][l % 16], and of c the column l % 16. */
__kernel void matrix_16x16x4(__global const float *a, __global const float *b, __global float *c)
{
    uint lane = lane_id();
    size_t wave = get_global_id(0) / 64;
    float x = a[wave * 64 + lane], y = b[wave * 64 + lane];
    __global float *o = c + wave * 256;
#ifdef HAS_MATRIX_UNIT
    quad_f32 sum = __builtin_amdgcn_mfma_f32_16x16x4f32(x, y, (quad_f32)(0.0f), 0, 0, 0);
    for (uint r = 0; r < 4; r++)
        o[(4 * (lane / 16) + r) * 16 + lane % 16] = sum[r];
#else
    for (uint r = 0; r < 4; r++) {
        uint row = 4 * (lane / 16) + r;
        float sum = 0;
        for (uint k = 0; k < 4; k++) {
            float left = FLOAT_OF_LANE(x, 16 * k + row), right = FLOAT_OF_LANE(y, 16 * k + lane % 16);
            sum += left * right;
        }
        o[row * 16 + lane % 16] = sum;
    }
#endif
}
HOST_ENTRY_BARRIERS(matrix_16x16x4, PTR(0), PTR(1), PTR(2))

/* c = a * b, 32 x 32, over 2: lane l has a[l % 32][l / 32] and b[l / 32][l % 32]. */
__kernel void matrix_32x32x2(__global const float *a, __global const float *b, __global float *c)
{
    uint lane = lane_id();
    size_t wave = get_global_id(0) / 64;
    float x = a[wave * 64 + lane], y = b[wave * 64 + lane];
    __global float *o = c + wave * 1024;
#ifdef HAS_MATRIX_UNIT
    sixteen_f32 sum = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, (sixteen_f32)(0.0f), 0, 0, 0);
    for (uint r = 0; r < 16; r++)
        o[(8 * (r / 4) + 4 * (lane / 32) + r % 4) * 32 + lane % 32] = sum[r];
#else
    for (uint r = 0; r < 16; r++) {
        uint row = 8 * (r / 4) + 4 * (lane / 32) + r % 4;
        float sum = 0;
        for (uint k = 0; k < 2; k++) {
            float left = FLOAT_OF_LANE(x, 32 * k + row), right = FLOAT_OF_LANE(y, 32 * k + lane % 32);
            sum += left * right;
        }
        o[row * 32 + lane % 32] = sum;
    }
#endif
}
HOST_ENTRY_BARRIERS(matrix_32x32x2, PTR(0), PTR(1), PTR(2))

/* c = a * b, 16 x 16, over 16, of bytes: lane l has a[l % 16][4 * (l / 16) + 0..3] and b[4 * (l / 16) + 0..3][l % 16]. */
__kernel void matrix_bytes(__global const int *a, __global const int *b, __global int *c)
{
    uint lane = lane_id();
    size_t wave = get_global_id(0) / 64;
    int x = a[wave * 64 + lane], y = b[wave * 64 + lane];
    __global int *o = c + wave * 256;
#ifdef HAS_MATRIX_UNIT
    quad_i32 sum = __builtin_amdgcn_mfma_i32_16x16x16i8(x, y, (quad_i32)(0), 0, 0, 0);
    for (uint r = 0; r < 4; r++)
        o[(4 * (lane / 16) + r) * 16 + lane % 16] = sum[r];
#else
    for (uint r = 0; r < 4; r++) {
        uint row = 4 * (lane / 16) + r;
        int sum = 0;
        for (uint k = 0; k < 4; k++) {
            int left = lane_read(x, 16 * k + row), right = lane_read(y, 16 * k + lane % 16);
            for (uint e = 0; e < 4; e++)
                sum += (char)(left >> (8 * e)) * (char)(right >> (8 * e));
        }
        o[row * 16 + lane % 16] = sum;
    }
#endif
}
HOST_ENTRY_BARRIERS(matrix_bytes, PTR(0), PTR(1), PTR(2))
