/* Every atomic operation, on global and on group memory, 32 and 64 bits. What a cell holds in the end does not depend on
 * the order of the operations. */
#include "host.h"

#ifdef __OPENCL_C_VERSION__
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

__kernel void atomics(__global const int *in, volatile __global int *cells, volatile __global long *wide)
{
    LOCAL_ARRAY(int, group_cells, 8);
    uint me = (uint)get_local_id(0);
    int x = in[get_global_id(0)];
    if (me < 8)
        group_cells[me] = me == 3 ? -1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    atomic_add(&group_cells[0], x);
    atomic_min(&group_cells[1], x);
    atomic_max(&group_cells[2], x);
    atomic_and(&group_cells[3], x | 0xffff);
    atomic_or(&group_cells[4], x & 0xff00);
    atomic_xor(&group_cells[5], x);
    atomic_inc(&group_cells[6]);
    /* Add by compare and exchange, with a retry as long as another lane was faster. */
    int seen = group_cells[7], want;
    do {
        want = seen;
        seen = atomic_cmpxchg(&group_cells[7], want, (int)((uint)want + ((uint)x & 0xff)));
    } while (seen != want);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (me == 0) {
        atomic_add(&cells[0], group_cells[0]);
        atomic_min(&cells[1], group_cells[1]);
        atomic_max(&cells[2], group_cells[2]);
        atomic_and(&cells[3], group_cells[3]);
        atomic_or(&cells[4], group_cells[4]);
        atomic_xor(&cells[5], group_cells[5]);
        atomic_add(&cells[6], group_cells[6]);
        atomic_add(&cells[7], group_cells[7]);
    }
    atomic_sub(&cells[8], x >> 8);
    atomic_dec(&cells[9]);
    atomic_min((volatile __global uint *)&cells[10], (uint)x);
    atomic_max((volatile __global uint *)&cells[11], (uint)x);
    seen = cells[12];
    do {
        want = seen;
        seen = atomic_cmpxchg(&cells[12], want, (int)((uint)want + ((uint)x & 0xfff)));
    } while (seen != want);
    atomic_xchg(&cells[13], 77);

    atom_add(&wide[0], (long)x << 7);
    atom_sub(&wide[1], (long)x);
    atom_min(&wide[2], (long)x << 20);
    atom_max(&wide[3], (long)x << 20);
    atom_and(&wide[4], (long)x << 16 | 0xffffffff);
    atom_or(&wide[5], (long)(x & 0x7ff) << 30);
    atom_xor(&wide[6], (long)x << 3);
    long was = wide[7], wish;
    do {
        wish = was;
        was = atom_cmpxchg(&wide[7], wish, wish + (x & 0xffff));
    } while (was != wish);
}
HOST_ENTRY_BARRIERS(atomics, PTR(0), PTR(1), PTR(2))

/* C11 atomics with orders and scopes, and a lock that one lane of every group takes. */
__kernel void atomics_ordered(volatile __global atomic_int *counter, volatile __global atomic_uint *lock, __global int *guarded)
{
    atomic_fetch_add_explicit(counter, 3, memory_order_relaxed, memory_scope_device);
    if (get_local_id(0) != 0)
        return;
    bool mine = false;
    while (!mine) {
        uint open = 0;
        mine = atomic_compare_exchange_strong_explicit(lock, &open, 1u, memory_order_acq_rel, memory_order_relaxed,
                                                       memory_scope_device);
        if (mine) {
            guarded[0] += 1;
            guarded[1] += guarded[0];
            atomic_store_explicit(lock, 0u, memory_order_release, memory_scope_device);
        }
    }
}
HOST_ENTRY(atomics_ordered, PTR(0), PTR(1), PTR(2))
