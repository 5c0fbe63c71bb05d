// Numbers of 16 bits and complex numbers.
#include "check.hpp"

#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>

#include <cmath>

enum { COUNT = 200, RESULTS = 10, LANES = 64 };

__global__ void halves(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= COUNT)
        return;
    __half h = __float2half(in[i]);
    float *to = out + i * RESULTS;
    to[0] = __half2float(__hadd(h, h));
    to[1] = __half2float(__hmul(h, h));
    to[2] = __half2float(__hfma(h, h, h));
    to[3] = __half2float(__hneg(h));
    to[4] = __hlt(h, __float2half(1.0f)) ? 1.0f : 0.0f;
    to[5] = __half2float(hfloor(h));
    to[6] = __half2float(hsqrt(__habs(h)));
    to[7] = __half2float(__hdiv(h, __float2half(3.0f)));
    __half2 both = __hadd2(__halves2half2(h, __hneg(h)), __halves2half2(h, h));
    to[8] = __low2float(both);
    to[9] = __high2float(both);
}

static float half_of(double value)
{
    return static_cast<float>(static_cast<_Float16>(value));
}

static void of_16_bits()
{
    auto in = made(COUNT, [](size_t i) { return (static_cast<float>(i) - 100) / 8; });
    Array<float> device(in), out(COUNT * RESULTS);
    halves<<<(COUNT + 127) / 128, 128>>>(device, out);
    auto got = out.values();
    for (int i = 0; i < COUNT; i++) {
        double v = in[i];
        float *r = &got[i * RESULTS];
        CHECK(r[0] == half_of(2 * v) && r[1] == half_of(v * v) && r[2] == half_of(v * v + v) && r[3] == -in[i],
              "%g: %g %g %g %g", v, r[0], r[1], r[2], r[3]);
        CHECK(r[4] == (v < 1 ? 1 : 0) && r[5] == std::floor(in[i]), "%g: %g %g", v, r[4], r[5]);
        // A unit in the last place is a thousandth.
        CHECK(std::fabs(r[6] - std::sqrt(std::fabs(v))) <= 0.001 * std::sqrt(std::fabs(v)), "%g: %g", v, r[6]);
        CHECK(std::fabs(r[7] - v / 3) <= 0.001 * std::fabs(v / 3), "%g: %g", v, r[7]);
        CHECK(r[8] == 2 * in[i] && r[9] == 0, "%g: %g %g", v, r[8], r[9]);
    }
}

__global__ void brains(const float *in, float *out)
{
    hip_bfloat16 value(in[threadIdx.x]);
    value = value * value + value;
    out[threadIdx.x] = static_cast<float>(value);
}

__global__ void rotate(hipFloatComplex *floats, hipDoubleComplex *doubles)
{
    unsigned i = threadIdx.x;
    floats[i] = hipCmulf(floats[i], make_hipFloatComplex(0, 1));
    floats[i] = hipCaddf(floats[i], hipConjf(floats[i]));
    doubles[i] = hipCdiv(doubles[i], make_hipDoubleComplex(3, 4));
}

static void others()
{
    auto in = made(LANES, [](size_t i) { return (static_cast<float>(i) - 20) / 8; });
    Array<float> device(in), out(LANES);
    brains<<<1, LANES>>>(device, out);
    auto got = out.values();
    for (int i = 0; i < LANES; i++) {
        float want = in[i] * in[i] + in[i];
        CHECK(std::fabs(got[i] - want) <= 0.01f * (in[i] * in[i] + std::fabs(in[i])), "%g: %g", want, got[i]);
    }
    std::vector<hipFloatComplex> floats;
    std::vector<hipDoubleComplex> doubles;
    for (int i = 0; i < LANES; i++) {
        floats.push_back(make_hipFloatComplex(i, 2 * i));
        doubles.push_back(make_hipDoubleComplex(5 * i, 10 * i));
    }
    Array<hipFloatComplex> device_floats(floats);
    Array<hipDoubleComplex> device_doubles(doubles);
    rotate<<<1, LANES>>>(device_floats, device_doubles);
    floats = device_floats.values();
    doubles = device_doubles.values();
    for (int i = 0; i < LANES; i++) {
        CHECK(floats[i].x == -4.0f * i && floats[i].y == 0, "%g %g", floats[i].x, floats[i].y);
        CHECK(std::fabs(doubles[i].x - 2.2 * i) < 1e-9 && std::fabs(doubles[i].y - 0.4 * i) < 1e-9, "%g %g",
              doubles[i].x, doubles[i].y);
    }
}

int main()
{
    of_16_bits();
    others();
    return summary();
}
