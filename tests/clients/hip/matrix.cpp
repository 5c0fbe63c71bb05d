// Products by the instructions that some chips have for them: packed dot products and matrix units. The others compute
// the same in the usual way, so the results must be equal everywhere.
#include "check.hpp"

enum { SIDE = 16, LANES = 64 };

#if defined(__gfx908__) || defined(__gfx90a__)
#define MATRIX_UNITS 1
#endif

typedef float Floats __attribute__((ext_vector_type(4)));
typedef double Doubles __attribute__((ext_vector_type(4)));
typedef _Float16 Halves __attribute__((ext_vector_type(4)));
typedef _Float16 Pair __attribute__((ext_vector_type(2)));

__global__ void dots(const int *a, const int *b, int *integers, float *floats)
{
    int lane = static_cast<int>(threadIdx.x);
#if defined(MATRIX_UNITS) || defined(__gfx906__)
    integers[lane] = __builtin_amdgcn_sdot4(a[lane], b[lane], 100, false);
    Pair x = {static_cast<_Float16>(lane), static_cast<_Float16>(0.5f)}, y = {static_cast<_Float16>(2), x[0]};
    floats[lane] = __builtin_amdgcn_fdot2(x, y, 1.0f, false);
#else
    int sum = 100;
    for (int k = 0; k < 32; k += 8)
        sum += static_cast<signed char>(a[lane] >> k) * static_cast<signed char>(b[lane] >> k);
    integers[lane] = sum;
    floats[lane] = 2.5f * lane + 1;
#endif
}

// The plain product of a, SIDE rows of `inner`, and b, `inner` rows of SIDE; each lane computes four of its elements.
template <class T> __device__ void plain(const T *a, const T *b, T *product, int inner)
{
    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += LANES) {
        T sum = 0;
        for (int k = 0; k < inner; k++)
            sum += a[i / SIDE * inner + k] * b[k * SIDE + i % SIDE];
        product[i] = sum;
    }
}

__global__ void of_floats(const float *a, const float *b, float *product)
{
#ifdef MATRIX_UNITS
    unsigned column = threadIdx.x % SIDE, quarter = threadIdx.x / SIDE;
    Floats sum = {0, 0, 0, 0};
    sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[column * 4 + quarter], b[quarter * SIDE + column], sum, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        product[(quarter * 4 + i) * SIDE + column] = sum[i];
#else
    plain(a, b, product, 4);
#endif
}

__global__ void of_halves(const float *a, const float *b, float *product)
{
#ifdef MATRIX_UNITS
    unsigned column = threadIdx.x % SIDE, quarter = threadIdx.x / SIDE;
    Halves x, y;
    for (int i = 0; i < 4; i++) {
        x[i] = static_cast<_Float16>(a[column * SIDE + quarter * 4 + i]);
        y[i] = static_cast<_Float16>(b[(quarter * 4 + i) * SIDE + column]);
    }
    Floats sum = {0, 0, 0, 0};
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        product[(quarter * 4 + i) * SIDE + column] = sum[i];
#else
    plain(a, b, product, SIDE);
#endif
}

__global__ void of_doubles(const double *a, const double *b, double *product)
{
#ifdef __gfx90a__
    unsigned column = threadIdx.x % SIDE, quarter = threadIdx.x / SIDE;
    Doubles sum = {0, 0, 0, 0};
    sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[column * 4 + quarter], b[quarter * SIDE + column], sum, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        product[(i * 4 + quarter) * SIDE + column] = sum[i];
#else
    plain(a, b, product, 4);
#endif
}

// Small whole numbers, so that no order of the sums changes a result.
template <class T> static void product(void (*kernel)(const T *, const T *, T *), int inner)
{
    Numbers numbers(inner);
    auto random = [&](size_t) { return static_cast<T>(numbers.below(17)) - 8; };
    auto a = made(SIDE * inner, random), b = made(SIDE * inner, random);
    Array<T> device_a(a), device_b(b), out(SIDE * SIDE);
    kernel<<<1, LANES>>>(device_a, device_b, out);
    std::vector<T> want(SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int k = 0; k < inner; k++)
            want[i] += a[i / SIDE * inner + k] * b[k * SIDE + i % SIDE];
    SAME(out.values(), want);
}

int main()
{
    Numbers numbers;
    auto random = [&](size_t) { return static_cast<int>(numbers.next()); };
    auto a = made(LANES, random), b = made(LANES, random);
    Array<int> device_a(a), device_b(b), integers(LANES);
    Array<float> floats(LANES);
    dots<<<1, LANES>>>(device_a, device_b, integers, floats);
    SAME(integers.values(), made(LANES, [&](size_t i) {
             int sum = 100;
             for (int k = 0; k < 32; k += 8)
                 sum += static_cast<signed char>(a[i] >> k) * static_cast<signed char>(b[i] >> k);
             return sum;
         }));
    SAME(floats.values(), made(LANES, [](size_t i) { return 2.5f * static_cast<float>(i) + 1; }));
    product(of_floats, 4);
    product(of_halves, SIDE);
    product(of_doubles, 4);
    return summary();
}
