/* The dispatches of kernels.c as a table: which kernels, which grid, and what every argument is. */
#ifndef CASES_H
#define CASES_H

#include "host_run.h"

#include <stddef.h>
#include <stdint.h>

enum role { NONE, IN, OUT, BOTH, VALUE, LOCAL };
enum type { U8, U16, U32, U64, F16, F32, F64 };
enum fill { ZERO, ONES, ANY, BETWEEN, WHOLE };
enum { MAX_ARGUMENTS = 14, MAX_RUNS = 3 };

/* A buffer of `count` elements, a value of `size` bytes, or `size` bytes of group memory. Results are compared bit by bit
 * unless there is a tolerance, in units of the last place. */
struct argument {
    enum role role;
    enum type type;
    size_t count;
    enum fill fill;
    double low, high;
    uint64_t tolerance;
    const void *value;
    size_t size, align;
};

struct test_case {
    const char *name, *file;
    const char *run[MAX_RUNS]; /* kernels in sequence, all with the same arguments */
    struct host_grid grid;
    uint32_t stack;            /* bytes of private memory, where the compiler cannot know how deep the calls go */
    int versions;              /* built for all versions of the code object */
    struct argument arguments[MAX_ARGUMENTS];
};

extern const struct test_case test_cases[];
extern const size_t test_case_count;

#endif
