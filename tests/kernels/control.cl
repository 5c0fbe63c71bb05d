/* Kernels for the tests of queues: one that waits for the host, ones that leave traces of the order in which they ran,
 * and one that does nothing. */
#include "host.h"

/* Says that it runs, then spins until the host sets the flag. */
__kernel void wait_flag(volatile __global atomic_uint *flag, volatile __global atomic_uint *running, __global uint *out)
{
    atomic_store_explicit(running, 1u, memory_order_release, memory_scope_all_svm_devices);
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_all_svm_devices) == 0u)
        ;
    out[get_global_id(0)] = 42;
}
HOST_ENTRY(wait_flag, PTR(0), PTR(1), PTR(2))

/* Appends its number to the log. */
__kernel void append(volatile __global atomic_uint *length, __global uint *log, uint number)
{
    if (get_global_id(0) == 0)
        log[atomic_fetch_add_explicit(length, 1u, memory_order_relaxed, memory_scope_all_svm_devices)] = number;
}
HOST_ENTRY(append, PTR(0), PTR(1), VAL(2, uint))

/* value = value * 3 + 1: only dispatches in sequence give the right result. */
__kernel void advance(__global uint *value)
{
    size_t i = get_global_id(0);
    value[i] = value[i] * 3u + 1u;
}
HOST_ENTRY(advance, PTR(0))

__kernel void add_one(volatile __global uint *value)
{
    atomic_inc(value);
}
HOST_ENTRY(add_one, PTR(0))

/* Works for a while, so that its time can be measured. */
__kernel void busy(__global uint *out, uint rounds)
{
    uint x = (uint)get_global_id(0);
    for (uint k = 0; k < rounds; k++)
        x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}
HOST_ENTRY(busy, PTR(0), VAL(1, uint))

__kernel void nothing(void) {}
HOST_ENTRY(nothing)
