/* Arguments of every size: their places in the kernarg segment, and a structure by value. */
#include "host.h"

struct parameters {
    char tag;
    short step;
    int table[5];
    double factor;
};

__kernel void args(char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i, double j,
                   struct parameters p, __global double *out, char last)
{
    size_t id = get_global_id(0);
    __global double *o = out + id * 16;
    o[0] = a;
    o[1] = b;
    o[2] = c;
    o[3] = d;
    o[4] = e;
    o[5] = f;
    o[6] = (double)g;
    o[7] = (double)h;
    o[8] = i;
    o[9] = j;
    o[10] = p.tag;
    o[11] = p.step;
    o[12] = p.table[id % 5];
    o[13] = p.factor * (double)id;
    o[14] = last;
    o[15] = (double)(a + b + c + d);
}
HOST_ENTRY(args, VAL(0, char), VAL(1, uchar), VAL(2, short), VAL(3, ushort), VAL(4, int), VAL(5, uint), VAL(6, long),
           VAL(7, ulong), VAL(8, float), VAL(9, double), VAL(10, struct parameters), PTR(11), VAL(12, char))
