#include "cases.h"

#include <math.h>

/* Values by address, as the table wants them. */
#define U(x) { .role = VALUE, .value = &(const uint32_t){ x }, .size = 4 }
#define F(x) { .role = VALUE, .value = &(const float){ x }, .size = 4 }
#define OF(type, x) { .role = VALUE, .value = &(const type){ x }, .size = sizeof(type) }

#define ANY_IN(t, n) { .role = IN, .type = t, .count = n, .fill = ANY }
#define RANGE_IN(t, n, from, to) { .role = IN, .type = t, .count = n, .fill = BETWEEN, .low = from, .high = to }
#define WHOLE_IN(n) { .role = IN, .type = F32, .count = n, .fill = WHOLE, .low = -50, .high = 50 }
#define OUTPUT(t, n) { .role = OUT, .type = t, .count = n, .fill = ONES }
#define NEAR(t, n, ulp) { .role = OUT, .type = t, .count = n, .fill = ONES, .tolerance = ulp }
#define CELLS(t, n) { .role = BOTH, .type = t, .count = n, .fill = ZERO }

#define LINE(n, by) { 1, { n, 1, 1 }, { by, 1, 1 } }
#define PLANE(x, y, bx, by) { 2, { x, y, 1 }, { bx, by, 1 } }
#define SPACE(x, y, z, bx, by, bz) { 3, { x, y, z }, { bx, by, bz } }

/* As in args.cl. */
struct parameters {
    char tag;
    short step;
    int table[5];
    double factor;
};

enum { N = 10000, M = 2048 };

const struct test_case test_cases[] = {
    { "vector_add", "vector_add", { "vector_add" }, LINE(100003, 256), .versions = 1,
      .arguments = { RANGE_IN(F32, 100003, -1000, 1000), RANGE_IN(F32, 100003, -1, 1), OUTPUT(F32, 100003) } },
    { "vector_add of one", "vector_add", { "vector_add" }, LINE(1, 1),
      .arguments = { RANGE_IN(F32, 1, -1000, 1000), RANGE_IN(F32, 1, -1, 1), OUTPUT(F32, 1) } },
    { "saxpy", "saxpy", { "saxpy" }, LINE(50176, 256),
      .arguments = { { .role = BOTH, .type = F32, .count = 50001, .fill = BETWEEN, .low = -10, .high = 10 },
                     RANGE_IN(F32, 50001, -10, 10), F(1.7f), U(50001) } },
    { "saxpy, odd groups", "saxpy", { "saxpy" }, LINE(7033, 100),
      .arguments = { { .role = BOTH, .type = F32, .count = 7033, .fill = BETWEEN, .low = -10, .high = 10 },
                     RANGE_IN(F32, 7033, -10, 10), F(-0.3f), U(7000) } },
    { "reduce", "reduce", { "reduce" }, LINE(16 * 256, 256),
      .arguments = { ANY_IN(U32, 30011), OUTPUT(U32, 16), U(30011) } },
    { "reduce_float", "reduce", { "reduce_float" }, LINE(8 * 256, 256),
      .arguments = { RANGE_IN(F32, 9999, -1, 1), OUTPUT(F32, 8), U(9999) } },
    { "reduce_large", "reduce", { "reduce_large" }, LINE(4 * 1024, 1024),
      .arguments = { ANY_IN(U32, 4096), OUTPUT(U32, 4) } },
    { "matmul", "matmul", { "matmul" }, PLANE(112, 112, 16, 16),
      .arguments = { RANGE_IN(F32, 101 * 101, -1, 1), RANGE_IN(F32, 101 * 101, -1, 1), OUTPUT(F32, 101 * 101), U(101) } },
    { "histogram", "histogram", { "histogram" }, LINE(8 * 192, 192),
      .arguments = { ANY_IN(U8, 40009), CELLS(U32, 256), U(40009) } },
    { "prefix_sum", "prefix_sum", { "prefix_sum_blocks", "prefix_sum_add" }, LINE(40 * 256, 256),
      .arguments = { ANY_IN(U32, 10001), OUTPUT(U32, 10001), OUTPUT(U32, 40), U(10001) } },
    { "divergent", "divergent", { "divergent" }, LINE(M, 256),
      .arguments = { RANGE_IN(U32, M, 0, 5000), OUTPUT(U32, M) } },
    { "mandelbrot", "divergent", { "mandelbrot" }, PLANE(96, 80, 16, 4),
      .arguments = { OUTPUT(U32, 96 * 96), U(96), F(0.03f) } },
    { "private_array", "spill", { "private_array" }, LINE(M, 128),
      .arguments = { ANY_IN(U32, M), OUTPUT(U32, M) } },
    { "spill", "spill", { "spill" }, LINE(M, 64),
      .arguments = { ANY_IN(U32, M), OUTPUT(U32, M), U(9) } },
    { "calls", "calls", { "calls" }, LINE(M, 256),
      .arguments = { ANY_IN(U32, M), OUTPUT(U64, M) } },
    { "recursion", "recursion", { "recursion" }, LINE(512, 64), .stack = 16384,
      .arguments = { RANGE_IN(U32, 512, 0, 1000), OUTPUT(U32, 512) } },
    { "function_pointers", "recursion", { "function_pointers" }, LINE(M, 64), .stack = 16384,
      .arguments = { ANY_IN(U32, M), OUTPUT(U32, M) } },
    { "math32_exact", "math32", { "math32_exact" }, LINE(N, 64),
      .arguments = { ANY_IN(F32, N), ANY_IN(F32, N), OUTPUT(F32, N * 20) } },
    /* OpenCL allows 16 units for pow, 5 for tan, 6 for atan2, less for the others. */
    { "math32_library", "math32", { "math32_library" }, LINE(M, 64),
      .arguments = { RANGE_IN(F32, M, -80, 80), RANGE_IN(F32, M, -80, 80), NEAR(F32, M * 22, 16) } },
    { "math32_native", "math32", { "math32_native" }, LINE(M, 64),
      .arguments = { RANGE_IN(F32, M, 0.1, 1.4), RANGE_IN(F32, M, 0.1, 10), NEAR(F32, M * 8, 128) } },
    { "math64_exact", "math64", { "math64_exact" }, LINE(N, 64),
      .arguments = { ANY_IN(F64, N), ANY_IN(F64, N), OUTPUT(F64, N * 16) } },
    { "math64_library", "math64", { "math64_library" }, LINE(M, 64),
      .arguments = { RANGE_IN(F64, M, -500, 500), RANGE_IN(F64, M, -80, 80), NEAR(F64, M * 12, 16) } },
    { "convert_integers", "convert", { "convert_integers" }, LINE(M, 64),
      .arguments = { ANY_IN(U32, M), ANY_IN(U8, M), ANY_IN(U16, M), OUTPUT(U64, M * 16) } },
    { "store_narrow", "convert", { "store_narrow" }, LINE(M, 64),
      .arguments = { ANY_IN(U32, M), OUTPUT(U8, M), OUTPUT(U16, M) } },
    { "convert_floats", "convert", { "convert_floats" }, LINE(M, 64),
      .arguments = { RANGE_IN(F32, M, -1e6, 1e6), OUTPUT(F64, M * 16) } },
    { "halves", "convert", { "halves" }, LINE(M, 64),
      .arguments = { RANGE_IN(F16, M, -300, 300), RANGE_IN(F16, M, -40, 40), OUTPUT(F16, M * 4), RANGE_IN(F32, M, -9, 9),
                     OUTPUT(F16, M) } },
    { "half_blocks", "narrow", { "half_blocks" }, LINE(1024, 64),
      .arguments = { RANGE_IN(F16, 8192, -20, 20), RANGE_IN(F16, 8192, -2, 2), OUTPUT(F16, 8192) } },
    { "shorts", "narrow", { "shorts" }, LINE(M, 64),
      .arguments = { ANY_IN(U16, M), ANY_IN(U16, M), OUTPUT(U16, M * 12) } },
    { "bytes", "narrow", { "bytes" }, LINE(M, 64),
      .arguments = { ANY_IN(U8, M * 8), ANY_IN(U8, M * 8), OUTPUT(U32, M * 3) } },
    { "matrix_16x16x4", "matrix", { "matrix_16x16x4" }, LINE(256, 64),
      .arguments = { WHOLE_IN(256), WHOLE_IN(256), OUTPUT(F32, 1024) } },
    { "matrix_32x32x2", "matrix", { "matrix_32x32x2" }, LINE(256, 64),
      .arguments = { WHOLE_IN(256), WHOLE_IN(256), OUTPUT(F32, 4096) } },
    { "matrix_bytes", "matrix", { "matrix_bytes" }, LINE(256, 64),
      .arguments = { ANY_IN(U32, 256), ANY_IN(U32, 256), OUTPUT(U32, 1024) } },
    { "int64", "int64", { "int64" }, LINE(M, 64),
      .arguments = { ANY_IN(U64, M), ANY_IN(U64, M), OUTPUT(U64, M * 14) } },
    { "int64, small divisors", "int64", { "int64" }, LINE(M, 64),
      .arguments = { ANY_IN(U64, M), RANGE_IN(U64, M, 0, 1000), OUTPUT(U64, M * 14) } },
    { "int32_division", "int64", { "int32_division" }, LINE(N, 64),
      .arguments = { ANY_IN(U32, N), RANGE_IN(U32, N, 0, 70000), OUTPUT(U32, N * 4) } },
    { "bits", "bits", { "bits" }, LINE(N, 256),
      .arguments = { ANY_IN(U32, N), ANY_IN(U32, N), OUTPUT(U32, N * 20) } },
    { "switches", "switch", { "switches" }, LINE(N, 256),
      .arguments = { ANY_IN(U32, N), OUTPUT(U32, N) } },
    { "subgroup", "subgroup", { "subgroup" }, LINE(M, 256),
      .arguments = { RANGE_IN(U32, M, 0, 1000), OUTPUT(U32, M * 9) } },
    { "cross_lane", "cross_lane", { "cross_lane" }, LINE(M, 128),
      .arguments = { ANY_IN(U32, M), OUTPUT(U32, M * 8) } },
    { "grid3d", "grid3d", { "grid3d" }, SPACE(37, 11, 7, 16, 4, 2), .versions = 1,
      .arguments = { OUTPUT(U32, 37 * 11 * 7 * 17) } },
    { "grid3d, odd groups", "grid3d", { "grid3d" }, SPACE(13, 17, 5, 5, 3, 7),
      .arguments = { OUTPUT(U32, 13 * 17 * 5 * 17) } },
    { "grid3d in two dimensions", "grid3d", { "grid3d" }, PLANE(65, 3, 64, 1),
      .arguments = { OUTPUT(U32, 65 * 3 * 17) } },
    { "args", "args", { "args" }, LINE(65, 32),
      .arguments = { OF(signed char, -7), OF(uint8_t, 250), OF(int16_t, -30000), OF(uint16_t, 65000), OF(int32_t, -2000000000),
                     OF(uint32_t, 4000000000u), OF(int64_t, -5000000000000), OF(uint64_t, 9000000000000000000u), F(1.5f),
                     OF(double, 2.71828),
                     { .role = VALUE,
                       .value = &(const struct parameters){ 42, -999, { 1, -2, 3, -4, 5 }, 0.125 },
                       .size = sizeof(struct parameters), .align = 8 },
                     OUTPUT(F64, 65 * 16), OF(signed char, 99) } },
    { "globals", "globals", { "globals", "globals_visits" }, LINE(1000, 250),
      .arguments = { ANY_IN(U32, 1000), OUTPUT(U32, 1000) } },
    { "local_arg", "local_arg", { "local_arg" }, LINE(M, 256),
      .arguments = { ANY_IN(U32, M), OUTPUT(U32, M), { .role = LOCAL, .size = 1024 }, { .role = LOCAL, .size = 512 } } },
    { "transpose", "transpose", { "transpose" }, PLANE(96, 16, 32, 8),
      .arguments = { ANY_IN(F32, 70 * 50), OUTPUT(F32, 70 * 50), U(70), U(50) } },
    { "quads", "transpose", { "quads" }, LINE(M, 256),
      .arguments = { RANGE_IN(F32, M * 4, -100, 100), OUTPUT(F32, M * 4), ANY_IN(U32, M) } },
    { "quads_in_group", "transpose", { "quads_in_group" }, LINE(1024, 128),
      .arguments = { RANGE_IN(F32, 4096, -100, 100), OUTPUT(F32, 4096) } },
    { "scatter_bytes", "transpose", { "scatter_bytes" }, LINE(M, 256),
      .arguments = { ANY_IN(U32, M), CELLS(U8, 4096), U(4096) } },
    { "sort", "sort", { "sort" }, LINE(4 * 256, 256),
      .arguments = { { .role = BOTH, .type = U32, .count = 4 * 512, .fill = ANY } } },
    { "atomics", "atomics", { "atomics" }, LINE(M, 256),
      .arguments = { ANY_IN(U32, M), CELLS(U32, 16), CELLS(U64, 8) } },
    { "atomics_ordered", "atomics", { "atomics_ordered" }, LINE(M, 64),
      .arguments = { CELLS(U32, 1), CELLS(U32, 1), CELLS(U32, 2) } },
    { "advance", "control", { "advance", "advance", "advance" }, LINE(777, 64),
      .arguments = { { .role = BOTH, .type = U32, .count = 777, .fill = ANY } } },
    { "busy", "control", { "busy" }, LINE(256, 256),
      .arguments = { OUTPUT(U32, 256), U(100) } },
};

const size_t test_case_count = sizeof test_cases / sizeof *test_cases;
