// What C++ has beyond numbers and arrays: integers of 128 bits, bit fields, tables of functions, addresses in initial
// values, packs of parameters, captured values, and control flow that is hard to structure.
#include "check.hpp"

enum { LANES = 64 };

__global__ void wide(const __int128 *in, __int128 *products, long long *quotients)
{
    int i = static_cast<int>(threadIdx.x);
    products[i] = in[i] * in[LANES - 1 - i];
    quotients[i] = static_cast<long long>(in[i] >> 3) / (i + 1) + static_cast<long long>(in[i]) % (i + 7);
}

static void integers_of_128_bits()
{
    Numbers numbers;
    std::vector<__int128> in(LANES);
    for (__int128 &value : in)
        value = static_cast<__int128>(static_cast<long long>(numbers.next())) * (numbers.below(1 << 24) + 1);
    Array<__int128> device(in), products(LANES);
    Array<long long> quotients(LANES);
    wide<<<1, LANES>>>(device, products, quotients);
    auto got = products.values();
    bool equal = true;
    for (int i = 0; i < LANES; i++)
        equal = equal && got[i] == in[i] * in[LANES - 1 - i];
    CHECK(equal, "%s", "products");
    SAME(quotients.values(), made(LANES, [&](size_t n) {
             int i = static_cast<int>(n);
             return static_cast<long long>(in[n] >> 3) / (i + 1) + static_cast<long long>(in[n]) % (i + 7);
         }));
}

struct Fields {
    unsigned a : 3, b : 7, c : 22;
    long long d : 40;
};

__host__ __device__ static void change(Fields &fields, unsigned i)
{
    fields.a = i;
    fields.b += 3;
    fields.c ^= i * 77;
    fields.d -= static_cast<long long>(i) * 4;
}

__global__ void change_all(Fields *fields)
{
    change(fields[threadIdx.x], threadIdx.x);
}

static void bit_fields()
{
    std::vector<Fields> want(LANES);
    for (unsigned i = 0; i < LANES; i++) {
        want[i].b = i * 2;
        want[i].c = i * 9999;
    }
    Array<Fields> device(want);
    change_all<<<1, LANES>>>(device);
    auto got = device.values();
    for (unsigned i = 0; i < LANES; i++) {
        change(want[i], i);
        CHECK(got[i].a == want[i].a && got[i].b == want[i].b && got[i].c == want[i].c && got[i].d == want[i].d, "%u",
              i);
    }
}

__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int square(int x)
{
    return x * x;
}
__device__ int minus(int x)
{
    return -x;
}
__device__ int (*const table[])(int) = {twice, square, minus};
__device__ int global = 5;
__device__ int *pointer = &global;
__constant__ const char *text = "constant text";

__global__ void tables(int *out)
{
    int i = static_cast<int>(threadIdx.x);
    out[i] = table[i % 3](i) + *pointer + text[i % 13];
}

template <class T> __device__ T total(T first)
{
    return first;
}
template <class T, class... Rest> __device__ auto total(T first, Rest... rest)
{
    return first + total(rest...);
}

template <class F> __global__ void apply(F f, int count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(count);
         i += gridDim.x * blockDim.x)
        f(i);
}

static void functions()
{
    Array<int> out(LANES);
    tables<<<1, LANES>>>(out);
    const char *same = "constant text";
    SAME(out.values(), made(LANES, [&](size_t n) {
             int i = static_cast<int>(n);
             return (i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : -i) + 5 + same[i % 13];
         }));
    Array<double> sums(1000);
    double *at = sums, quarter = 0.25;
    apply<<<3, 100>>>([=] __device__(unsigned i) { at[i] = total(1, quarter, static_cast<float>(i), i * 2ull); }, 1000);
    SAME(sums.values(), made(1000, [](size_t i) { return 1.25 + 3.0 * static_cast<double>(i); }));
}

__host__ __device__ static int jumps(int i)
{
    int r = 0;
    for (int k = 0; k < 40; k++)
        switch ((i * 7 + k) % 11) {
        case 0:
            r += 1;
            [[fallthrough]];
        case 1:
            r ^= 5;
            break;
        case 2:
            if (k > 20)
                goto end;
            r -= 3;
            break;
        case 5:
            continue;
        case 9:
            r *= 3;
            break;
        default:
            r += k;
        }
end:
    return r;
}

__global__ void jump(int *out)
{
    out[threadIdx.x] = jumps(static_cast<int>(threadIdx.x));
}

int main()
{
    integers_of_128_bits();
    bit_fields();
    functions();
    Array<int> out(LANES);
    jump<<<1, LANES>>>(out);
    SAME(out.values(), made(LANES, [](size_t i) { return jumps(static_cast<int>(i)); }));
    return summary();
}
