// Kernels with which the device model is tested. Compiled by the tests (rig/kernels.rs).

typedef __global volatile atomic_uint *flag_t;

__kernel void empty(void) {}

__kernel void store_id(__global uint *out) {
    out[get_global_id(0)] = 3 * (uint)get_global_id(0) + 1;
}

// A slot per work-item of a grid with three dimensions.
__kernel void store_place(__global uint *out) {
    size_t at = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
    out[at] = (uint)(get_local_id(0) + 16 * get_local_id(1) + 256 * get_local_id(2) + 4096 * get_group_id(0) +
                     65536 * get_group_id(1) + 1048576 * get_group_id(2));
}

static uint peek(__global uint *flag) {
    return atomic_load_explicit((flag_t)flag, memory_order_acquire, memory_scope_all_svm_devices);
}

static void poke(__global uint *flag, uint value) {
    atomic_store_explicit((flag_t)flag, value, memory_order_release, memory_scope_all_svm_devices);
}

// Says that it runs, waits until the host lets it go on, says that it is over.
__kernel void wait_for_host(__global uint *flags) {
    poke(&flags[0], 1);
    while (peek(&flags[1]) == 0) {
    }
    poke(&flags[2], 1);
}

__kernel void forever(__global uint *flags) {
    poke(&flags[0], 1);
    while (peek(&flags[1]) != 12345) {
    }
}

// Never looks at memory again, so nothing tells it apart from work.
__kernel void forever_busy(__global uint *flags) {
    poke(&flags[0], 1);
    uint stop = flags[1];
    while (stop == 0) {
        __asm__ volatile("s_nop 0" : "+s"(stop));
    }
}

// All work-groups of the dispatch meet.
__kernel void meet(__global uint *counter, uint groups) {
    if (get_local_id(0) == 0) {
        atomic_fetch_add_explicit((flag_t)counter, 1, memory_order_acq_rel, memory_scope_all_svm_devices);
        while (peek(counter) < groups) {
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_fetch_add_explicit((flag_t)(counter + 1), 1, memory_order_acq_rel, memory_scope_all_svm_devices);
}

__kernel void write_at(ulong address, uint value) {
    *(volatile uint *)address = value;
}

__kernel void read_at(ulong address, __global uint *out) {
    out[0] = *(volatile uint *)address;
}

__kernel void count_at(ulong address) {
    atomic_fetch_add_explicit((flag_t)address, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}

// A private array of 1 KiB that cannot live in registers.
__kernel void use_private(__global uint *out, uint stride) {
    volatile uint values[256];
    uint id = get_global_id(0);
    for (uint i = 0; i < 256; i++) values[(i * stride) & 255] = id + i;
    uint sum = 0;
    for (uint i = 0; i < 256; i++) sum += values[i];
    out[id] = sum;
}

// Sums a work-group's ids through group memory.
__kernel void use_group(__global uint *out) {
    __local uint values[256];
    uint id = get_local_id(0);
    values[id] = get_global_id(0);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step) values[id] += values[id + step];
    }
    if (id == 0) out[get_group_id(0)] = values[0];
}

// Sets a word of group memory, or none, and one of the host's behind it.
__kernel void set_group(uint index, __global uint *out) {
    __local uint values[64];
    ((volatile __local uint *)values)[index] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_local_id(0)] = ((volatile __local uint *)values)[index] + 1;
}

// Goes where there is no code.
__kernel void leave(ulong address) {
    __asm__ volatile("s_setpc_b64 %0" ::"s"(address));
}

__kernel void trap(void) { __builtin_trap(); }

// Bits that no encoding has.
__kernel void illegal(void) { __asm__ volatile(".long 0xbfff0000"); }

__kernel void raise(uint event) {
    __asm__ volatile("s_mov_b32 m0, %0\n s_nop 0\n s_sendmsg sendmsg(MSG_INTERRUPT)" : : "s"(event));
}

// Works for a while.
__kernel void work(__global uint *out, uint rounds) {
    uint x = get_global_id(0);
    for (uint i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}

// Counts how many work-groups are under way, and keeps the most.
__kernel void most_at_once(__global uint *counters, uint rounds) {
    uint x = get_global_id(0);
    if (get_local_id(0) == 0) {
        uint now = 1 + atomic_fetch_add_explicit((flag_t)counters, 1, memory_order_acq_rel,
                                                 memory_scope_all_svm_devices);
        atomic_fetch_max_explicit((flag_t)(counters + 1), now, memory_order_acq_rel, memory_scope_all_svm_devices);
    }
    for (uint i = 0; i < rounds; i++) x = x * 1664525u + 1013904223u;
    if (x == 1) counters[2] = x;
    if (get_local_id(0) == 0)
        atomic_fetch_sub_explicit((flag_t)counters, 1, memory_order_acq_rel, memory_scope_all_svm_devices);
}

// The first kernel of a cooperative launch: makes the barrier.
__kernel void make_barrier(uint others) {
    __builtin_amdgcn_ds_gws_init(others, 0);
}

// All work-groups meet again and again at the global barrier; each sees what the others did before it.
__kernel void meet_globally(__global uint *counters, uint groups, uint rounds) {
    for (uint round = 0; round < rounds; round++) {
        if (get_local_id(0) == 0) {
            atomic_fetch_add_explicit((flag_t)&counters[round], 1, memory_order_acq_rel, memory_scope_device);
            __builtin_amdgcn_ds_gws_barrier(0, 0);
            if (peek(&counters[round]) != groups)
                atomic_fetch_add_explicit((flag_t)&counters[rounds], 1, memory_order_relaxed, memory_scope_device);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

__kernel void halve(__global float *values) {
    values[get_global_id(0)] *= 0.5f;
}

// Many barriers and no other branch that takes long, until the host ends it.
__kernel void meet_until_host(__global uint *flags) {
    __local uint stop;
    if (get_local_id(0) == 0)
        poke(&flags[0], 1);
    do {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0)
            stop = peek(&flags[1]);
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (stop == 0);
}

// Says once that it ran to the end of a very large grid: all other work-groups of 1024 end at once.
__attribute__((reqd_work_group_size(1024, 1, 1))) __kernel void vast(__global uint *out) {
    if (__builtin_amdgcn_workgroup_id_x() % 262144 == 262143)
        atomic_fetch_add_explicit((flag_t)out, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}
