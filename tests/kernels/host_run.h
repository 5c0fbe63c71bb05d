/* What a test program sees of the host build of the kernels. */
#ifndef KERNELS_HOST_RUN_H
#define KERNELS_HOST_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* The shape of a dispatch; unused dimensions are 1. */
struct host_grid {
    unsigned dims;
    size_t grid[3];
    size_t group[3];
};

/* Runs the kernel of that name to its end. args[i] is the address that a pointer argument has, or the address of the
 * value of any other argument. False when there is no such kernel. */
bool host_run(const char *name, const struct host_grid *grid, void *const *args);

#endif
