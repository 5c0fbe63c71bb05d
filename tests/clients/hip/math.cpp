// Functions of mathematics in float and double against the host's in a wider type. The limits are OpenCL's for its full
// profile (OpenCL C 3.0, section 7.4), which the device library keeps.
#include "check.hpp"

#include <hip/hip_fp16.h>

#include <cmath>

enum { COUNT = 2000 };

template <class T, class F> __global__ void apply(F function, const T *x, const T *y, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        out[i] = function(x[i], y[i]);
}

template <class T> struct Wider;
template <> struct Wider<float> {
    using Type = double;
};
template <> struct Wider<double> {
    using Type = long double;
};

// How far a value is from the exact one, in units of the last place of the exact one.
template <class T> double distance(T got, typename Wider<T>::Type exact)
{
    using W = typename Wider<T>::Type;
    T rounded = static_cast<T>(exact);
    if (std::isnan(rounded) || std::isinf(rounded) || std::isnan(got) || std::isinf(got))
        return (std::isnan(rounded) && std::isnan(got)) || rounded == got ? 0 : INFINITY;
    T size = std::fabs(rounded);
    W unit = static_cast<W>(std::nextafter(size, static_cast<T>(INFINITY))) - static_cast<W>(size);
    return static_cast<double>(std::fabs(static_cast<W>(got) - exact) / unit);
}

template <class T, class F, class H>
void compare(const char *name, F device, H host, double low, double high, double limit)
{
    using W = typename Wider<T>::Type;
    Numbers numbers(7);
    auto between = [&](size_t) { return static_cast<T>(low + (high - low) * (numbers.unit() + 1.0) / 2); };
    std::vector<T> x = made(COUNT, between), y = made(COUNT, between);
    x[0] = static_cast<T>(low), x[1] = static_cast<T>(high);
    Array<T> a(x), b(y), out(COUNT);
    apply<T><<<(COUNT + 255) / 256, 256>>>(device, a, b, out);
    std::vector<T> got = out.values();
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < COUNT; i++) {
        double far = distance<T>(got[i], host(static_cast<W>(x[i]), static_cast<W>(y[i])));
        if (!(far <= worst))
            worst = far, where = i;
    }
    CHECK(worst <= limit, "%s of %zu bytes: %g ulp at (%.17g, %.17g): %.17g", name, sizeof(T), worst,
          static_cast<double>(x[where]), static_cast<double>(y[where]), static_cast<double>(got[where]));
}

// A function of the device and of the host by one expression.
#define BOTH(name, expression, low, high, limit)                                                                                \
    do {                                                                                                                        \
        compare<float>(                                                                                                         \
            name, [] __device__(float x, float y) -> float { return (void)x, (void)y, expression; },                            \
            [](double x, double y) -> double { return (void)x, (void)y, expression; }, low, high, limit);                       \
        compare<double>(                                                                                                        \
            name, [] __device__(double x, double y) -> double { return (void)x, (void)y, expression; },                         \
            [](long double x, long double y) -> long double { return (void)x, (void)y, expression; }, low, high, limit);        \
    } while (false)

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cbrt, std::ceil, std::copysign;
using std::cos, std::cosh, std::erf, std::erfc, std::exp, std::exp2, std::expm1, std::fabs, std::fdim, std::floor, std::fma;
using std::fmax, std::fmin, std::fmod, std::hypot, std::lgamma, std::log, std::log10, std::log1p, std::log2, std::pow;
using std::remainder, std::rint, std::round, std::sin, std::sinh, std::sqrt, std::tan, std::tanh, std::tgamma, std::trunc;

static void functions()
{
    BOTH("add", x + y, -10, 10, 0.5);
    BOTH("multiply", x * y, -10, 10, 0.5);
    BOTH("divide", x / y, -10, 10, 0.5);
    BOTH("sqrt", sqrt(x), 0, 1e6, 0.5);
    BOTH("fma", fma(x, y, x), -3, 3, 0.5);
    BOTH("sin", sin(x), -100, 100, 4);
    BOTH("cos", cos(x), -100, 100, 4);
    BOTH("sin of large numbers", sin(x), 1e5, 1e9, 4);
    BOTH("tan", tan(x), -10, 10, 5);
    BOTH("asin", asin(x), -1, 1, 4);
    BOTH("acos", acos(x), -1, 1, 4);
    BOTH("atan", atan(x), -50, 50, 5);
    BOTH("atan2", atan2(x, y), -5, 5, 6);
    BOTH("sinh", sinh(x), -20, 20, 4);
    BOTH("cosh", cosh(x), -20, 20, 4);
    BOTH("tanh", tanh(x), -8, 8, 5);
    BOTH("asinh", asinh(x), -100, 100, 4);
    BOTH("acosh", acosh(x), 1, 100, 4);
    BOTH("atanh", atanh(x), -0.99, 0.99, 5);
    BOTH("exp", exp(x), -80, 80, 3);
    BOTH("exp2", exp2(x), -120, 120, 3);
    BOTH("expm1", expm1(x), -5, 5, 3);
    BOTH("log", log(x), 1e-6, 1e6, 3);
    BOTH("log2", log2(x), 1e-6, 1e6, 3);
    BOTH("log10", log10(x), 1e-6, 1e6, 3);
    BOTH("log1p", log1p(x), -0.9, 10, 2);
    BOTH("pow", pow(x, y), 0.01, 9, 16);
    BOTH("cbrt", cbrt(x), -1000, 1000, 2);
    BOTH("hypot", hypot(x, y), -1000, 1000, 4);
    BOTH("erf", erf(x), -4, 4, 16);
    BOTH("erfc", erfc(x), -3, 5, 16);
    BOTH("tgamma", tgamma(x), 0.1, 20, 16);
    BOTH("lgamma", lgamma(x), 3, 50, 16);
    BOTH("fmod", fmod(x, y), -50, 50, 0);
    BOTH("remainder", remainder(x, y), -50, 50, 0);
    BOTH("floor", floor(x), -50, 50, 0);
    BOTH("ceil", ceil(x), -50, 50, 0);
    BOTH("trunc", trunc(x), -50, 50, 0);
    BOTH("round", round(x), -50, 50, 0);
    BOTH("rint", rint(x), -50, 50, 0);
    BOTH("fabs", fabs(x), -50, 50, 0);
    BOTH("fmin", fmin(x, y), -50, 50, 0);
    BOTH("fmax", fmax(x, y), -50, 50, 0);
    BOTH("fdim", fdim(x, y), -50, 50, 0.5);
    BOTH("copysign", copysign(x, y), -50, 50, 0);
}

__global__ void special_values(float *out)
{
    float zero = out[0], one = out[1];
    out[0] = one / zero;
    out[1] = -one / zero;
    out[2] = zero / zero;
    out[3] = sqrtf(-one);
    out[4] = logf(zero);
    out[5] = expf(1000 * one);
    out[6] = expf(-1000 * one);
    out[7] = fminf(NAN, one);
    out[8] = one / INFINITY;
    out[9] = 1e-40f * one;       // no number is too small: denormals are kept
    out[10] = 1e-40f * (2 * one);
    out[11] = powf(-2 * one, 3);
    out[12] = powf(zero, zero);
    out[13] = __builtin_isnan(out[2]) ? 5 : 6;
}

__global__ void integers(const unsigned *in, unsigned *out)
{
    unsigned a = in[0], b = in[1];
    unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
    unsigned n = 0;
    out[n++] = __brev(a);
    out[n++] = static_cast<unsigned>(__clz(static_cast<int>(b)));
    out[n++] = static_cast<unsigned>(__ffs(a));
    out[n++] = static_cast<unsigned>(__popc(a));
    out[n++] = static_cast<unsigned>(__popcll(wide));
    out[n++] = static_cast<unsigned>(__clzll(static_cast<long long>(wide)));
    out[n++] = __umulhi(a, b);
    out[n++] = static_cast<unsigned>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
    out[n++] = __umul24(a, b);
    out[n++] = static_cast<unsigned>(__mul24(static_cast<int>(a), static_cast<int>(b)));
    out[n++] = __byte_perm(a, b, 0x3715);
    out[n++] = __usad(a, b, 3);
    out[n++] = a / b;
    out[n++] = a % b;
    out[n++] = static_cast<unsigned>(static_cast<int>(a) / 7);
    out[n++] = static_cast<unsigned>(static_cast<int>(a) % 7);
    out[n++] = static_cast<unsigned>(wide / 1000000007u);
    out[n++] = static_cast<unsigned>(wide % 1000000007u);
    out[n++] = static_cast<unsigned>(static_cast<long long>(wide) / -1234567ll);
    out[n++] = static_cast<unsigned>(__umul64hi(wide, wide) >> 32);
    out[n++] = a << (b & 31) | a >> (32 - (b & 31));
}

static void integer_functions()
{
    const unsigned a = 0xdeadbeef, b = 0x00123457;
    const int sa = static_cast<int>(a), sb = static_cast<int>(b);
    const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
    auto signed24 = [](int v) { return static_cast<long long>(static_cast<int>(static_cast<unsigned>(v) << 8) >> 8); };
    Array<unsigned> in(std::vector<unsigned>{a, b}), out(21);
    integers<<<1, 1>>>(in, out);
    SAME(out.values(),
         (std::vector<unsigned>{
             0xf77db57b, 11, 1, 24, 34, 0, static_cast<unsigned>(1ull * a * b >> 32),
             static_cast<unsigned>(static_cast<long long>(sa) * sb >> 32),
             static_cast<unsigned>(1ull * (a & 0xffffff) * (b & 0xffffff)),
             static_cast<unsigned>(signed24(sa) * signed24(sb)), 0xde00be34, a - b + 3,
             a / b, a % b,
             static_cast<unsigned>(sa / 7), static_cast<unsigned>(sa % 7), static_cast<unsigned>(wide / 1000000007u),
             static_cast<unsigned>(wide % 1000000007u),
             static_cast<unsigned>(static_cast<long long>(wide) / -1234567ll),
             static_cast<unsigned>((static_cast<unsigned __int128>(wide) * wide) >> 96), a << 23 | a >> 9}));
}

__global__ void halves(const float *in, float *out)
{
    __half a = __float2half(in[threadIdx.x]), b = __float2half(0.75f);
    out[threadIdx.x * 4] = __half2float(a);
    out[threadIdx.x * 4 + 1] = __half2float(__hadd(a, b));
    out[threadIdx.x * 4 + 2] = __half2float(__hmul(a, b));
    __half2 pair = __hfma2(__halves2half2(a, b), __halves2half2(b, b), __halves2half2(a, a));
    out[threadIdx.x * 4 + 3] = __low2float(pair) + __high2float(pair);
}

static void half_precision()
{
    // Small multiples of 1/16: all results are exact in 16 bits.
    auto in = made(64, [](size_t i) { return (static_cast<float>(i) - 32) / 16; });
    Array<float> from(in), to(256);
    halves<<<1, 64>>>(from, to);
    SAME(to.values(), made(256, [&](size_t i) {
             float a = in[i / 4];
             const float want[] = {a, a + 0.75f, a * 0.75f, a * 0.75f + a + 0.5625f + a};
             return want[i % 4];
         }));
}

int main()
{
    functions();
    Array<float> out(std::vector<float>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    special_values<<<1, 1>>>(out);
    std::vector<float> got = out.values();
    CHECK(std::isnan(got[2]) && std::isnan(got[3]), "%f %f", got[2], got[3]);
    got[2] = got[3] = 0;
    SAME(got, (std::vector<float>{INFINITY, -INFINITY, 0, 0, -INFINITY, INFINITY, 0, 1, 0, 1e-40f, 1e-40f * 2, -8, 1, 5}));
    integer_functions();
    half_precision();
    return summary();
}
