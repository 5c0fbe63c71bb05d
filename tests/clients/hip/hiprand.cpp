// libhiprand: the portable interface gives the same numbers as librocrand under it.
#include "check.hpp"

#include <hiprand/hiprand.h>
#include <rocrand/rocrand.h>

enum { COUNT = 5000, SEED = 1234 };

static void same_numbers(hiprandRngType_t portable, rocrand_rng_type own, const char *name)
{
    Array<unsigned> a(COUNT), b(COUNT);
    hiprandGenerator_t first;
    rocrand_generator second;
    NEED(hiprandCreateGenerator(&first, portable) == HIPRAND_STATUS_SUCCESS);
    NEED(rocrand_create_generator(&second, own) == ROCRAND_STATUS_SUCCESS);
    CHECK(hiprandSetPseudoRandomGeneratorSeed(first, SEED) == HIPRAND_STATUS_SUCCESS, "%s", name);
    CHECK(rocrand_set_seed(second, SEED) == ROCRAND_STATUS_SUCCESS, "%s", name);
    CHECK(hiprandGenerate(first, a, COUNT) == HIPRAND_STATUS_SUCCESS, "%s", name);
    CHECK(rocrand_generate(second, b, COUNT) == ROCRAND_STATUS_SUCCESS, "%s", name);
    auto got = a.values();
    SAME(got, b.values());
    size_t distinct = 0;
    for (size_t i = 1; i < got.size(); i++)
        distinct += got[i] != got[i - 1];
    CHECK(distinct > COUNT - 10, "%s: %zu", name, distinct);
    CHECK(hiprandDestroyGenerator(first) == HIPRAND_STATUS_SUCCESS, "%s", name);
    CHECK(rocrand_destroy_generator(second) == ROCRAND_STATUS_SUCCESS, "%s", name);
}

static void distributions()
{
    Array<float> device(2 * COUNT);
    hiprandGenerator_t generator;
    NEED(hiprandCreateGenerator(&generator, HIPRAND_RNG_PSEUDO_PHILOX4_32_10) == HIPRAND_STATUS_SUCCESS);
    CHECK(hiprandGenerateUniform(generator, device, 2 * COUNT) == HIPRAND_STATUS_SUCCESS, "%s", "uniform");
    double sum = 0;
    for (float value : device.values()) {
        sum += value;
        if (value <= 0 || value > 1)
            CHECK(false, "%g is not in (0, 1]", value);
    }
    CHECK(sum / COUNT > 0.97 && sum / COUNT < 1.03, "%g", sum / COUNT);
    CHECK(hiprandGenerateNormal(generator, device, 2 * COUNT, 3, 2) == HIPRAND_STATUS_SUCCESS, "%s", "normal");
    double squares = sum = 0;
    for (float value : device.values()) {
        sum += value;
        squares += (value - 3) * (value - 3);
    }
    CHECK(sum / COUNT > 5.9 && sum / COUNT < 6.1, "%g", sum / COUNT);
    CHECK(squares / COUNT > 7.6 && squares / COUNT < 8.4, "%g", squares / COUNT);
    CHECK(hiprandDestroyGenerator(generator) == HIPRAND_STATUS_SUCCESS, "%s", "");
}

int main()
{
    same_numbers(HIPRAND_RNG_PSEUDO_XORWOW, ROCRAND_RNG_PSEUDO_XORWOW, "xorwow");
    same_numbers(HIPRAND_RNG_PSEUDO_PHILOX4_32_10, ROCRAND_RNG_PSEUDO_PHILOX4_32_10, "philox");
    same_numbers(HIPRAND_RNG_PSEUDO_MRG32K3A, ROCRAND_RNG_PSEUDO_MRG32K3A, "mrg32k3a");
    distributions();
    return summary();
}
