// Debian's librocrand, whose kernels somebody else compiled for every chip: its streams are those of the documented
// generators. Philox and Sobol are written down here; the engines of the others are rocRAND's own, on the host.
#define FQUALIFIERS __host__ __device__ inline
#include "check.hpp"

#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>
#include <rocrand/rocrand_sobol32_precomputed.h>

#include <cmath>

static void fine_at(int line, rocrand_status got, const char *what)
{
    check_at(__FILE__, line, got == ROCRAND_STATUS_SUCCESS, what, "status %d", static_cast<int>(got));
}
#define FINE(call) fine_at(__LINE__, (call), #call)

class Generator {
  public:
    Generator(rocrand_rng_type type, unsigned long long seed)
    {
        FINE(rocrand_create_generator(&generator_, type));
        if (type < ROCRAND_RNG_QUASI_DEFAULT)
            FINE(rocrand_set_seed(generator_, seed));
    }
    Generator(const Generator &) = delete;
    Generator &operator=(const Generator &) = delete;
    ~Generator()
    {
        FINE(rocrand_destroy_generator(generator_));
    }
    operator rocrand_generator() const
    {
        return generator_;
    }
    std::vector<unsigned> bits(size_t count)
    {
        Array<unsigned> numbers(count);
        FINE(rocrand_generate(generator_, numbers, count));
        return numbers.values();
    }

  private:
    rocrand_generator generator_ = nullptr;
};

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
static std::vector<unsigned> philox(unsigned long long seed, size_t count)
{
    std::vector<unsigned> numbers;
    for (unsigned long long block = 0; numbers.size() < count; block++) {
        unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
        unsigned c[4] = {static_cast<unsigned>(block), static_cast<unsigned>(block >> 32), 0, 0};
        for (int round = 0; round < 10; round++) {
            unsigned long long a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
            unsigned next[4] = {static_cast<unsigned>(b >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(b),
                                static_cast<unsigned>(a >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(a)};
            memcpy(c, next, sizeof c);
            key[0] += 0x9e3779b9;
            key[1] += 0xbb67ae85;
        }
        numbers.insert(numbers.end(), c, c + 4);
    }
    numbers.resize(count);
    return numbers;
}

// The first dimension of Sobol's sequence in the order of the Gray code.
static std::vector<unsigned> sobol(unsigned dimension, size_t count)
{
    const unsigned *directions = h_sobol32_direction_vectors + 32 * dimension;
    std::vector<unsigned> numbers(count);
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 32; bit++)
            if ((i ^ i >> 1) >> bit & 1)
                numbers[i] ^= directions[bit];
    return numbers;
}

// Streams of many engines, one number of each in turn.
static const size_t engines = 512 * 256;

template <class Engine, class Finish>
static void engines_take_turns(rocrand_rng_type type, unsigned long long seed, Finish finish, const char *name)
{
    size_t count = 2 * engines + 1000;
    std::vector<unsigned> got = Generator(type, seed).bits(count);
    size_t wrong = 0, looked = 0;
    for (size_t i = 0; i < engines; i += 997) {
        Engine engine(seed, i, 0);
        for (size_t at = i; at < count; at += engines, looked++)
            wrong += got[at] != finish(engine.next());
    }
    CHECK(wrong == 0 && looked > 250, "%s: %zu of %zu are wrong", name, wrong, looked);
}

static void streams()
{
    for (unsigned long long seed : {0ull, 20260101ull, 0xfedcba9876543210ull}) {
        std::vector<unsigned> got = Generator(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, seed).bits(100003);
        SAME(got, philox(seed, got.size()));
        engines_take_turns<rocrand_device::xorwow_engine>(
            ROCRAND_RNG_PSEUDO_XORWOW, seed, [](unsigned value) { return value; }, "XORWOW");
    }
    for (unsigned long long seed : {1ull, 12345678901ull})
        engines_take_turns<rocrand_device::mrg32k3a_engine>(
            ROCRAND_RNG_PSEUDO_MRG32K3A, seed,
            [](unsigned value) { return rocrand_device::detail::mrg_uniform_distribution_uint(value); }, "MRG32k3a");
    std::vector<unsigned> twister = Generator(ROCRAND_RNG_PSEUDO_MTGP32, 7).bits(100000);
    SAME(Generator(ROCRAND_RNG_PSEUDO_MTGP32, 7).bits(100000), twister);
    CHECK(Generator(ROCRAND_RNG_PSEUDO_MTGP32, 8).bits(100000) != twister, "two seeds, one stream");
}

static void quasi_random()
{
    const unsigned dimensions = 5;
    const size_t each = 20000;
    Generator generator(ROCRAND_RNG_QUASI_SOBOL32, 0);
    FINE(rocrand_set_quasi_random_generator_dimensions(generator, dimensions));
    std::vector<unsigned> got = generator.bits(each * dimensions), want;
    for (unsigned dimension = 0; dimension < dimensions; dimension++) {
        std::vector<unsigned> one = sobol(dimension, each);
        want.insert(want.end(), one.begin(), one.end());
    }
    SAME(got, want);
}

// A stream goes on where it stopped, and an offset skips.
static void parts()
{
    std::vector<unsigned> whole = philox(5, 4096);
    Generator generator(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 5);
    std::vector<unsigned> first = generator.bits(1024), second = generator.bits(1024);
    SAME(first, std::vector<unsigned>(whole.begin(), whole.begin() + 1024));
    SAME(second, std::vector<unsigned>(whole.begin() + 1024, whole.begin() + 2048));
    FINE(rocrand_set_offset(generator, 2048));
    SAME(generator.bits(2048), std::vector<unsigned>(whole.begin() + 2048, whole.end()));
}

template <class T> static void moments(const std::vector<T> &values, double mean, double variance, const char *name)
{
    double sum = 0, squares = 0, count = static_cast<double>(values.size());
    for (T value : values)
        sum += static_cast<double>(value);
    for (T value : values)
        squares += (static_cast<double>(value) - sum / count) * (static_cast<double>(value) - sum / count);
    double deviation = std::sqrt(variance / count);
    CHECK(std::fabs(sum / count - mean) < 5 * deviation, "%s: mean %g, expected %g", name, sum / count, mean);
    CHECK(std::fabs(squares / count - variance) < 0.05 * variance, "%s: variance %g, expected %g", name, squares / count,
          variance);
}

static void distributions()
{
    const size_t count = 100000;
    for (rocrand_rng_type type : {ROCRAND_RNG_PSEUDO_PHILOX4_32_10, ROCRAND_RNG_PSEUDO_XORWOW, ROCRAND_RNG_PSEUDO_MRG32K3A,
                                  ROCRAND_RNG_PSEUDO_MTGP32}) {
        Generator generator(type, 99);
        Array<float> floats(count);
        Array<double> doubles(count);
        Array<unsigned> counts(count);
        FINE(rocrand_generate_uniform(generator, floats, count));
        moments(floats.values(), 0.5, 1.0 / 12, "uniform");
        FINE(rocrand_generate_uniform_double(generator, doubles, count));
        moments(doubles.values(), 0.5, 1.0 / 12, "uniform, double");
        FINE(rocrand_generate_normal(generator, floats, count, 3, 2));
        moments(floats.values(), 3, 4, "normal");
        FINE(rocrand_generate_normal_double(generator, doubles, count, -1, 0.5));
        moments(doubles.values(), -1, 0.25, "normal, double");
        FINE(rocrand_generate_log_normal(generator, floats, count, 0, 0.25f));
        moments(floats.values(), std::exp(0.03125), (std::exp(0.0625) - 1) * std::exp(0.0625), "log-normal");
        FINE(rocrand_generate_poisson(generator, counts, count, 12.5));
        moments(counts.values(), 12.5, 12.5, "Poisson");
        FINE(rocrand_generate_poisson(generator, counts, count, 2000));
        moments(counts.values(), 2000, 2000, "Poisson of many");
    }
    // What a uniform number is made of, as the documentation has it: in (0, 1], bits times 2^-32.
    Array<float> floats(count);
    FINE(rocrand_generate_uniform(Generator(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, 3), floats, count));
    std::vector<float> got = floats.values(), want;
    for (unsigned bits : philox(3, count))
        want.push_back(rocrand_device::detail::uniform_distribution(bits));
    SAME(got, want);
}

int main()
{
    streams();
    quasi_random();
    parts();
    distributions();
    return summary();
}
