/* Function calls that stay calls: arguments in registers and on the stack, structures by value, pointers to private
 * memory, a call chain, a call under a condition that only some lanes meet. */
#include "host.h"

#define APART __attribute__((noinline))

struct pair {
    int first;
    float second;
    long third;
};

APART static int add_mul(int a, int b, int c) { return a * b + c; }

APART static struct pair make_pair(int a, float b)
{
    struct pair p;
    p.first = a + 1;
    p.second = b * 2.0f;
    p.third = (long)a << 33;
    return p;
}

APART static long use_pair(struct pair p) { return p.third + p.first + (long)p.second; }

APART static void fill(int *values, int count, int start)
{
    for (int k = 0; k < count; k++)
        values[k] = add_mul(k, start, k + 1);
}

APART static int many(int a, int b, int c, int d, int e, int f, int g, int h, long i, long j, long k, long l, int m, int n,
                      int o, int p, int q, int r, int s, int t, int u, int v, int w, int x, int y, int z)
{
    long tail = i * 3 + j * 5 + k * 7 + l * 11;
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (int)tail + 13 * m + 14 * n + 15 * o + 16 * p +
           17 * q + 18 * r + 19 * s + 20 * t + 21 * u + 22 * v + 23 * w + 24 * x + 25 * y + 26 * z;
}

__kernel void calls(__global const int *in, __global long *out)
{
    size_t i = get_global_id(0);
    int x = in[i] & 0xffff;
    int values[8];
    fill(values, 8, x);
    long sum = use_pair(make_pair(x, (float)x));
    for (int k = 0; k < 8; k++)
        sum += values[k];
    if (x % 3 == 1)
        sum += add_mul(x, 3, (int)i);
    else
        sum -= many(x, 1, 2, 3, 4, 5, 6, x + 7, 8, 9, x + 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, x + 25);
    out[i] = sum;
}
HOST_ENTRY(calls, PTR(0), PTR(1))
