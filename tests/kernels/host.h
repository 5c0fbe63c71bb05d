/* One source, two machines: every kernel here is OpenCL C for the GPU and plain C for the host, and the host's result is
 * the expected value. As OpenCL this header adds nothing but names. As C it gives the OpenCL names the meaning that they
 * have for one work-item; host.c runs the work-items of a group as fibers, so that a barrier is a switch of fibers.
 *
 * A kernel keeps to what both languages share: no vector types, no local pointers but those of LOCAL_ARRAY and of a
 * kernel argument, sub-group operations only where the whole group takes part. */
#ifndef KERNELS_HOST_H
#define KERNELS_HOST_H

#ifdef __OPENCL_C_VERSION__

#define LOCAL_ARRAY(type, name, count) __local type name[count]
#define HOST_ENTRY(name, ...)
#define HOST_ENTRY_BARRIERS(name, ...)

/* Operations across the lanes of a wave, from the instructions themselves. */
#define lane_id() __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))
#define lane_read(value, lane) __builtin_amdgcn_ds_bpermute((int)(((lane) & 63) * 4), (value))
#define lane_first(value) __builtin_amdgcn_readfirstlane(value)
#define lane_fixed(value, lane) __builtin_amdgcn_readlane((value), (lane))
#define lane_xor(value, mask) __builtin_amdgcn_ds_swizzle((value), ((mask) << 10) | 0x1f)
#define lane_quad_reverse(value) __builtin_amdgcn_mov_dpp((value), 0x1b, 0xf, 0xf, true)
#define lane_ballot_greater(value, limit) __builtin_amdgcn_sicmp((value), (limit), 38)

#else /* C on the host */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <tgmath.h>

typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef _Float16 half;

#define __kernel
#define __global
#define __local
#define __private
#define __constant static const
#define LOCAL_ARRAY(type, name, count) static type name[count]

/* Where the running work-item stands, per dimension. */
struct host_item {
    size_t global_id[3], local_id[3], group_id[3], local_size[3], enqueued_size[3], global_size[3], groups[3];
    uint dims;
};
extern struct host_item host_item;

static inline size_t get_global_id(uint d) { return d < 3 ? host_item.global_id[d] : 0; }
static inline size_t get_local_id(uint d) { return d < 3 ? host_item.local_id[d] : 0; }
static inline size_t get_group_id(uint d) { return d < 3 ? host_item.group_id[d] : 0; }
static inline size_t get_local_size(uint d) { return d < 3 ? host_item.local_size[d] : 1; }
static inline size_t get_enqueued_local_size(uint d) { return d < 3 ? host_item.enqueued_size[d] : 1; }
static inline size_t get_global_size(uint d) { return d < 3 ? host_item.global_size[d] : 1; }
static inline size_t get_num_groups(uint d) { return d < 3 ? host_item.groups[d] : 1; }
static inline size_t get_global_offset(uint d) { (void)d; return 0; }
static inline uint get_work_dim(void) { return host_item.dims; }
static inline size_t get_local_linear_id(void)
{
    const struct host_item *i = &host_item;
    return (i->local_id[2] * i->local_size[1] + i->local_id[1]) * i->local_size[0] + i->local_id[0];
}

/* Barriers and what is built from them (host.c). */
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
void host_barrier(void);
#define barrier(flags) host_barrier()
#define mem_fence(flags) ((void)0)

/* The lanes of a wave: 64 work-items in the order of their linear id. Every work-item of the group has to take part. */
#define HOST_WAVE 64
int host_lane_exchange(int value, uint lane);
uint host_lanes(void);
static inline uint lane_id(void) { return (uint)get_local_linear_id() % HOST_WAVE; }
static inline int lane_read(int value, uint lane) { return host_lane_exchange(value, lane % HOST_WAVE); }
static inline int lane_first(int value) { return host_lane_exchange(value, 0); }
static inline int lane_fixed(int value, uint lane) { return host_lane_exchange(value, lane); }
static inline int lane_xor(int value, uint mask) { return host_lane_exchange(value, lane_id() ^ mask); }
static inline int lane_quad_reverse(int value) { return host_lane_exchange(value, lane_id() ^ 3); }
ulong host_ballot(int bit);
#define lane_ballot_greater(value, limit) host_ballot((value) > (limit))
int host_scan(int value, int inclusive);
static inline uint get_sub_group_size(void) { return host_lanes(); }
static inline uint get_sub_group_local_id(void) { return lane_id(); }
static inline uint get_sub_group_id(void) { return (uint)get_local_linear_id() / HOST_WAVE; }
static inline int sub_group_broadcast(int value, uint lane) { return host_lane_exchange(value, lane); }
static inline int sub_group_scan_inclusive_add(int value) { return host_scan(value, 1); }
static inline int sub_group_scan_exclusive_add(int value) { return host_scan(value, 0); }
static inline int sub_group_reduce_add(int value) { return host_lane_exchange(host_scan(value, 1), host_lanes() - 1); }
static inline int sub_group_all(int value) { return host_ballot(value == 0) == 0; }
static inline int sub_group_any(int value) { return host_ballot(value != 0) != 0; }

/* Atomic operations. Work-items are fibers of one thread, so a plain operation would do; the built-ins keep the types. */
typedef int atomic_int;
typedef uint atomic_uint;
#define memory_order_relaxed __ATOMIC_RELAXED
#define memory_order_acquire __ATOMIC_ACQUIRE
#define memory_order_release __ATOMIC_RELEASE
#define memory_order_acq_rel __ATOMIC_ACQ_REL
#define memory_scope_work_group 0
#define memory_scope_device 1
#define memory_scope_all_svm_devices 2
#define atomic_load_explicit(p, order, scope) __atomic_load_n((p), order)
#define atomic_store_explicit(p, value, order, scope) __atomic_store_n((p), (value), order)
#define atomic_fetch_add_explicit(p, value, order, scope) __atomic_fetch_add((p), (value), order)
#define atomic_compare_exchange_strong_explicit(p, expected, value, success, failure, scope) \
    __atomic_compare_exchange_n((p), (expected), (value), 0, success, failure)
#define atomic_add(p, value) __atomic_fetch_add((p), (value), __ATOMIC_RELAXED)
#define atomic_sub(p, value) __atomic_fetch_sub((p), (value), __ATOMIC_RELAXED)
#define atomic_inc(p) __atomic_fetch_add((p), 1, __ATOMIC_RELAXED)
#define atomic_dec(p) __atomic_fetch_sub((p), 1, __ATOMIC_RELAXED)
#define atomic_and(p, value) __atomic_fetch_and((p), (value), __ATOMIC_RELAXED)
#define atomic_or(p, value) __atomic_fetch_or((p), (value), __ATOMIC_RELAXED)
#define atomic_xor(p, value) __atomic_fetch_xor((p), (value), __ATOMIC_RELAXED)
#define atomic_xchg(p, value) __atomic_exchange_n((p), (value), __ATOMIC_RELAXED)
#define atomic_min(p, value) ({ __typeof__(*(p)) was_ = *(p), new_ = (value); if (new_ < was_) *(p) = new_; was_; })
#define atomic_max(p, value) ({ __typeof__(*(p)) was_ = *(p), new_ = (value); if (new_ > was_) *(p) = new_; was_; })
#define atomic_cmpxchg(p, want, value) ({ __typeof__(*(p)) was_ = *(p); if (was_ == (want)) *(p) = (value); was_; })
#define atom_add atomic_add
#define atom_sub atomic_sub
#define atom_and atomic_and
#define atom_or atomic_or
#define atom_xor atomic_xor
#define atom_min atomic_min
#define atom_max atomic_max
#define atom_cmpxchg atomic_cmpxchg

/* Bits and integers. */
#define as_uint(x) ({ __typeof__(x) from_ = (x); uint to_; memcpy(&to_, &from_, sizeof to_); to_; })
#define as_int(x) ({ __typeof__(x) from_ = (x); int to_; memcpy(&to_, &from_, sizeof to_); to_; })
#define as_float(x) ({ __typeof__(x) from_ = (x); float to_; memcpy(&to_, &from_, sizeof to_); to_; })
#define as_ulong(x) ({ __typeof__(x) from_ = (x); ulong to_; memcpy(&to_, &from_, sizeof to_); to_; })
#define popcount(x) _Generic((x), uint: __builtin_popcount, ulong: __builtin_popcountl)(x)
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
static inline uint clz_uint(uint x) { return x ? (uint)__builtin_clz(x) : 32; }
static inline ulong clz_ulong(ulong x) { return x ? (ulong)__builtin_clzl(x) : 64; }
#define clz(x) _Generic((x), uint: clz_uint, ulong: clz_ulong)(x)
static inline uint ctz(uint x) { return x ? (uint)__builtin_ctz(x) : 32; }
static inline uint rotate_uint(uint x, uint n) { n &= 31; return n ? x << n | x >> (32 - n) : x; }
static inline ulong rotate_ulong(ulong x, ulong n) { n &= 63; return n ? x << n | x >> (64 - n) : x; }
#define rotate(x, n) _Generic((x), uint: rotate_uint, ulong: rotate_ulong)(x, n)
static inline uint bitselect(uint a, uint b, uint c) { return (a & ~c) | (b & c); }
static inline uint mul_hi_uint(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
static inline int mul_hi_int(int a, int b) { return (int)((long)a * b >> 32); }
static inline ulong mul_hi_ulong(ulong a, ulong b) { return (ulong)((unsigned __int128)a * b >> 64); }
static inline long mul_hi_long(long a, long b) { return (long)((__int128)a * b >> 64); }
#define mul_hi(a, b) \
    _Generic((a), uint: mul_hi_uint, int: mul_hi_int, ulong: mul_hi_ulong, long: mul_hi_long)(a, b)
static inline int low24(int x) { return (int)((uint)x << 8) >> 8; }
static inline int mul24(int a, int b) { return (int)((uint)low24(a) * (uint)low24(b)); }
static inline int mad24(int a, int b, int c) { return (int)((uint)mul24(a, b) + (uint)c); }
static inline uint abs_diff(int a, int b) { return a > b ? (uint)a - (uint)b : (uint)b - (uint)a; }
static inline uint add_sat_uint(uint a, uint b) { return a + b < a ? ~0u : a + b; }
static inline int add_sat_int(int a, int b)
{
    long sum = (long)a + b;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int)sum;
}
#define add_sat(a, b) _Generic((a), uint: add_sat_uint, int: add_sat_int)(a, b)
static inline uint hadd(uint a, uint b) { return (uint)(((ulong)a + b) >> 1); }
static inline uint rhadd(uint a, uint b) { return (uint)(((ulong)a + b + 1) >> 1); }

/* Conversions. C converts towards zero; the saturating ones and the rounding ones say so. */
static inline char convert_char_sat(int x) { return (char)(x < -128 ? -128 : x > 127 ? 127 : x); }
static inline uchar convert_uchar_sat(int x) { return (uchar)(x < 0 ? 0 : x > 255 ? 255 : x); }
static inline short convert_short_sat(int x) { return (short)(x < -32768 ? -32768 : x > 32767 ? 32767 : x); }
static inline ushort convert_ushort_sat(int x) { return (ushort)(x < 0 ? 0 : x > 65535 ? 65535 : x); }
static inline int convert_int_rte(float x) { return (int)rint(x); }
static inline int convert_int_rtp(float x) { return (int)ceil(x); }
static inline int convert_int_rtn(float x) { return (int)floor(x); }
static inline float vload_half(size_t i, const half *p) { return (float)p[i]; }
static inline void vstore_half_rte(float x, size_t i, half *p) { p[i] = (half)x; }

/* Mathematics that <tgmath.h> lacks. */
#define rsqrt(x) ((__typeof__(x))(1.0 / sqrt((double)(x))))
#define mad(a, b, c) fma(a, b, c)
#define native_exp(x) exp(x)
#define native_log(x) log(x)
#define native_sin(x) sin(x)
#define native_cos(x) cos(x)
#define native_sqrt(x) sqrt(x)
#define native_rsqrt(x) rsqrt(x)
#define native_recip(x) (1.0f / (x))
#define native_divide(x, y) ((x) / (y))

/* The door by which host.c finds a kernel: its name, whether it has barriers, and a call with its arguments taken from
 * an array of addresses. PTR(i) is argument i as a pointer, VAL(i, type) the value that lies at argument i. */
struct host_kernel {
    const char *name;
    void (*call)(void *const *arg);
    bool barriers;
    struct host_kernel *next;
};
void host_register(struct host_kernel *kernel);
#define PTR(i) arg[i]
#define VAL(i, type) (*(const type *)arg[i])
#define HOST_KERNEL(name_, barriers_, ...) \
    static void host_call_##name_(void *const *arg) { (void)arg; name_(__VA_ARGS__); } \
    __attribute__((constructor)) static void host_register_##name_(void) \
    { \
        static struct host_kernel kernel = { #name_, host_call_##name_, barriers_, 0 }; \
        host_register(&kernel); \
    }
#define HOST_ENTRY(name, ...) HOST_KERNEL(name, false, __VA_ARGS__)
#define HOST_ENTRY_BARRIERS(name, ...) HOST_KERNEL(name, true, __VA_ARGS__)

#endif
#endif
