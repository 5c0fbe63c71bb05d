// Written for the variety of their code, not for what they compute.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef half half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));

static uint lane(void) { return __builtin_amdgcn_workitem_id_x(); }
static uint item(void) { return __builtin_amdgcn_workgroup_id_x() * 256 + lane(); }

__kernel void floats(__global float *out, __global const float *in, float factor, int count)
{
    uint i = item();
    float sum = 0.0f;
    for (int n = 0; n < count; n++) {
        float x = in[i + n];
        sum += __builtin_fmaf(x, factor, __builtin_fabsf(x));
        if (x > 2.0f)
            sum = -sum * 0.5f;
        sum += __builtin_floorf(x) + __builtin_amdgcn_rcpf(x) + __builtin_amdgcn_fractf(x);
    }
    out[i] = sum + (float)count + (sum != sum ? 1.0f : 4.0f);
}

__kernel void doubles(__global double *out, __global const double *in, long count)
{
    uint i = item();
    double sum = 1.0;
    for (long n = 0; n < count; n++)
        sum = sum * in[i] + in[i + n] / sum;
    out[i] = sum > 3.0 ? sum : (double)(long)sum;
}

__kernel void halves(__global half2 *out, __global const half2 *in, __global half *single)
{
    uint i = item();
    out[i] = in[i] * in[i + 1] + in[i + 2];
    single[i] = single[i] * single[i + 1] - (half)0.5f;
}

__kernel void integers(__global ulong *out, __global const ulong *in, __global short2 *pairs, uint shift)
{
    uint i = item();
    ulong a = in[i], b = in[i + 1];
    out[i] = a * b + (a << shift) + (b >> shift) + (ulong)((long)a >> shift) + a / (b | 1);
    pairs[i] = pairs[i] * pairs[i + 1] + pairs[i + 2];
    out[i + 1] = __builtin_popcountl(a) + __builtin_clzl(b | 1) + (a < b ? a : b);
}

__kernel void bytes(__global uchar *out, __global const char *in, __global ushort *wide)
{
    uint i = item();
    out[i] = in[i] + in[i + 1] * 3;
    wide[i] = (ushort)(in[i] * wide[i + 1]);
    out[i + 7] = (uchar)((uint)wide[i] >> 8);
}

__kernel void shared_memory(__global int *out, __global const int *in)
{
    __local int row[256];
    __local double wide[256];
    uint l = lane();
    row[l] = in[item()];
    wide[l] = (double)in[item() + 3];
    __builtin_amdgcn_s_barrier();
    for (uint step = 128; step > 0; step >>= 1) {
        if (l < step)
            row[l] += row[l + step];
        __builtin_amdgcn_s_barrier();
    }
    out[item()] = row[l ^ 1] + (int)wide[255 - l];
}

__kernel void atomics(__global int *counter, __local int *inside, int value)
{
    int old = __atomic_fetch_add(counter, value, __ATOMIC_SEQ_CST);
    __atomic_fetch_xor(counter + 1, old, __ATOMIC_RELAXED);
    __atomic_fetch_max(inside, value, __ATOMIC_RELAXED);
    int expected = old;
    __atomic_compare_exchange_n(counter + 2, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    counter[3] = expected + __atomic_exchange_n(inside + 1, value, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static int called(int n, int *where)
{
    where[n & 7] = n;
    return n * n + where[(n + 3) & 7];
}

__kernel void private_memory(__global int *out, int n)
{
    int array[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += called(i + (int)item(), array);
    out[item()] = sum;
}

__kernel void lanes(__global int *out, __global const int *in)
{
    int value = in[item()];
    int first = __builtin_amdgcn_readfirstlane(value);
    int other = __builtin_amdgcn_ds_bpermute((int)(lane() ^ 5) * 4, value);
    int moved = __builtin_amdgcn_update_dpp(0, value, 0x111, 0xf, 0xf, true);
    int swizzled = __builtin_amdgcn_ds_swizzle(value, 0x041f);
    ulong set = __builtin_amdgcn_uicmp((uint)value, (uint)other, 33);
    out[item()] = first + other + moved + swizzled + (int)set;
}

__kernel void vectors(__global float4 *out, __global const float4 *in, __constant float4 *table)
{
    uint i = item();
    switch (i & 3) {
    case 0: out[i] = in[i] + table[0]; break;
    case 1: out[i] = in[i] * table[1]; break;
    case 2: out[i] = in[i].wzyx; break;
    default: out[i] = (float4)(__builtin_amdgcn_cubeid(in[i].x, in[i].y, in[i].z), 1, 2, 3); break;
    }
}
