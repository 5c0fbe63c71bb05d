/* Runs a kernel of this folder on the host: group after group, the work-items of a group in the order of their linear
 * id. A kernel with barriers gets one fiber per work-item; a barrier hands the processor back, and all fibers reach it
 * before the first goes on. A group in which some work-items meet a barrier and others return is an error, as it is in
 * OpenCL. */
#include "host.h"
#include "host_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { MAX_GROUP = 1024, STACK_BYTES = 64 * 1024 };

struct host_item host_item;

static struct host_kernel *kernels;
static struct host_item items[MAX_GROUP];
static ucontext_t contexts[MAX_GROUP], scheduler;
static bool finished[MAX_GROUP];
static uint group_items, running;
static bool fibers;
static int exchange[2][MAX_GROUP];
static uint exchange_turn[MAX_GROUP];
static void (*current_call)(void *const *);
static void *const *current_args;

static void fail(const char *what)
{
    fprintf(stderr, "host kernels: %s\n", what);
    abort();
}

void host_register(struct host_kernel *kernel)
{
    kernel->next = kernels;
    kernels = kernel;
}

void host_barrier(void)
{
    if (!fibers)
        fail("a kernel without HOST_ENTRY_BARRIERS reached a barrier");
    uint me = running;
    swapcontext(&contexts[me], &scheduler);
    host_item = items[me];
}

static uint wave_base(void) { return running / HOST_WAVE * HOST_WAVE; }

uint host_lanes(void)
{
    uint left = group_items - wave_base();
    return left < HOST_WAVE ? left : HOST_WAVE;
}

/* Publishes value for the wave and returns the slots of the wave. Two sets take turns, so a fast lane's next value never
 * overwrites what a slow lane has yet to read. */
static const int *publish(int value)
{
    int *slots = exchange[exchange_turn[running]++ & 1];
    slots[running] = value;
    host_barrier();
    return slots + wave_base();
}

int host_lane_exchange(int value, uint lane)
{
    const int *slots = publish(value);
    return lane < host_lanes() ? slots[lane] : 0;
}

ulong host_ballot(int bit)
{
    const int *slots = publish(bit);
    ulong mask = 0;
    for (uint lane = 0; lane < host_lanes(); lane++)
        mask |= (ulong)(slots[lane] != 0) << lane;
    return mask;
}

int host_scan(int value, int inclusive)
{
    const int *slots = publish(value);
    uint end = lane_id() + (inclusive ? 1 : 0), sum = 0;
    for (uint lane = 0; lane < end; lane++)
        sum += (uint)slots[lane];
    return (int)sum;
}

static void fiber(void)
{
    host_item = items[running];
    current_call(current_args);
    finished[running] = true;
}

static void run_fibers(void)
{
    static char *stacks;
    if (!stacks && !(stacks = malloc((size_t)MAX_GROUP * STACK_BYTES)))
        fail("no memory for the stacks of a group");
    for (uint i = 0; i < group_items; i++) {
        finished[i] = false;
        exchange_turn[i] = 0;
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = &scheduler;
        makecontext(&contexts[i], fiber, 0);
    }
    for (uint done = 0; done < group_items;) {
        done = 0;
        for (uint i = 0; i < group_items; i++) {
            running = i;
            swapcontext(&scheduler, &contexts[i]);
            done += finished[i];
        }
        if (done != 0 && done != group_items)
            fail("only a part of a group reached a barrier");
    }
}

/* Fills items[] with the work-items of one group; a group at the upper edge of the grid may be smaller. */
static void place_group(const struct host_grid *grid, const size_t group[3])
{
    struct host_item at = { .dims = grid->dims };
    for (int d = 0; d < 3; d++) {
        size_t first = group[d] * grid->group[d], left = grid->grid[d] - first;
        at.group_id[d] = group[d];
        at.enqueued_size[d] = grid->group[d];
        at.local_size[d] = left < grid->group[d] ? left : grid->group[d];
        at.global_size[d] = grid->grid[d];
        at.groups[d] = (grid->grid[d] + grid->group[d] - 1) / grid->group[d];
    }
    group_items = 0;
    for (size_t z = 0; z < at.local_size[2]; z++)
        for (size_t y = 0; y < at.local_size[1]; y++)
            for (size_t x = 0; x < at.local_size[0]; x++) {
                const size_t local[3] = { x, y, z };
                if (group_items == MAX_GROUP)
                    fail("a group has more than 1024 work-items");
                for (int d = 0; d < 3; d++) {
                    at.local_id[d] = local[d];
                    at.global_id[d] = group[d] * grid->group[d] + local[d];
                }
                items[group_items++] = at;
            }
}

bool host_run(const char *name, const struct host_grid *grid, void *const *args)
{
    const struct host_kernel *kernel = kernels;
    while (kernel && strcmp(kernel->name, name) != 0)
        kernel = kernel->next;
    if (!kernel)
        return false;
    current_call = kernel->call;
    current_args = args;
    fibers = kernel->barriers;
    size_t groups[3];
    for (int d = 0; d < 3; d++)
        groups[d] = (grid->grid[d] + grid->group[d] - 1) / grid->group[d];
    for (size_t z = 0; z < groups[2]; z++)
        for (size_t y = 0; y < groups[1]; y++)
            for (size_t x = 0; x < groups[0]; x++) {
                place_group(grid, (const size_t[3]){ x, y, z });
                if (fibers) {
                    run_fibers();
                    continue;
                }
                for (uint i = 0; i < group_items; i++) {
                    host_item = items[i];
                    kernel->call(args);
                }
            }
    return true;
}
