// Variables of the device: constant and global ones, reached by name, by address and from kernels.
#include "check.hpp"

__constant__ int coefficients[64];
__constant__ float scale = 2.5f;
__device__ int table[256];
__device__ long long counter = 1000;
__device__ int initialised[5] = {10, 20, 30, 40, 50};
__device__ double *pointer;
static __device__ short hidden = -7;
template <int N> __device__ int per_template;

struct Record {
    char name[8];
    int number;
    double weight;
};
__constant__ Record records[3] = {{"one", 1, 1.5}, {"two", 2, 2.5}, {"three", 3, 3.5}};

__global__ void use_constants(float *out)
{
    out[threadIdx.x] = static_cast<float>(coefficients[threadIdx.x]) * scale;
}

__global__ void change_globals(int rounds)
{
    table[threadIdx.x] = static_cast<int>(threadIdx.x * threadIdx.x);
    if (threadIdx.x < 5)
        initialised[threadIdx.x] += rounds;
    if (threadIdx.x == 0) {
        counter += rounds;
        hidden -= 1;
        per_template<3> += 3;
    }
}

__global__ void follow_pointer(int count)
{
    for (int i = 0; i < count; i++)
        pointer[i] *= 2;
}

__global__ void read_records(int *out)
{
    const Record &record = records[threadIdx.x];
    out[threadIdx.x] = record.name[0] * 1000 + record.number * 100 + static_cast<int>(record.weight * 2);
}

int main()
{
    auto numbers = made(64, [](size_t i) { return static_cast<int>(i * 3) - 50; });
    OK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), numbers.data(), sizeof coefficients));
    Array<float> out(64);
    use_constants<<<1, 64>>>(out);
    SAME(out.values(), made(64, [&](size_t i) { return static_cast<float>(numbers[i]) * 2.5f; }));
    float half = 0.5f;
    OK(hipMemcpyToSymbol(HIP_SYMBOL(scale), &half, sizeof half));
    // A part, at an offset.
    int changed[2] = {7000, 8000};
    OK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), changed, sizeof changed, 10 * sizeof(int)));
    numbers[10] = 7000, numbers[11] = 8000;
    use_constants<<<1, 64>>>(out);
    SAME(out.values(), made(64, [&](size_t i) { return static_cast<float>(numbers[i]) * 0.5f; }));

    change_globals<<<1, 256>>>(3);
    std::vector<int> got(256);
    OK(hipMemcpyFromSymbol(got.data(), HIP_SYMBOL(table), sizeof table));
    SAME(got, made(256, [](size_t i) { return static_cast<int>(i * i); }));
    std::vector<int> five(5);
    OK(hipMemcpyFromSymbol(five.data(), HIP_SYMBOL(initialised), sizeof initialised));
    SAME(five, (std::vector<int>{13, 23, 33, 43, 53}));
    int last = 0;
    OK(hipMemcpyFromSymbol(&last, HIP_SYMBOL(initialised), sizeof last, 4 * sizeof(int)));
    CHECK(last == 53, "%d", last);
    long long count = 0;
    OK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
    CHECK(count == 1003, "%lld", count);
    short small = 0;
    OK(hipMemcpyFromSymbol(&small, HIP_SYMBOL(hidden), sizeof small));
    CHECK(small == -8, "%d", small);
    int number = 0;
    OK(hipMemcpyFromSymbol(&number, HIP_SYMBOL(per_template<3>), sizeof number));
    CHECK(number == 3, "%d", number);

    // By address: a pointer like any other.
    void *address = nullptr;
    size_t size = 0;
    OK(hipGetSymbolAddress(&address, HIP_SYMBOL(table)));
    OK(hipGetSymbolSize(&size, HIP_SYMBOL(table)));
    CHECK(address != nullptr && size == sizeof table, "%p %zu", address, size);
    OK(hipMemset(address, 0, size));
    OK(hipMemcpyFromSymbol(got.data(), HIP_SYMBOL(table), sizeof table));
    SAME(got, std::vector<int>(256, 0));
    Array<double> doubles(made(10, [](size_t i) { return i + 0.5; }));
    double *target = doubles;
    OK(hipMemcpyToSymbol(HIP_SYMBOL(pointer), &target, sizeof target));
    follow_pointer<<<1, 1>>>(10);
    SAME(doubles.values(), made(10, [](size_t i) { return 2 * i + 1.0; }));

    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    long long *pinned = nullptr;
    NEED_OK(hipHostMalloc(&pinned, 2 * sizeof(long long), 0));
    pinned[0] = 5;
    OK(hipMemcpyToSymbolAsync(HIP_SYMBOL(counter), pinned, sizeof *pinned, 0, hipMemcpyHostToDevice, stream));
    change_globals<<<1, 256, 0, stream>>>(6);
    OK(hipMemcpyFromSymbolAsync(pinned + 1, HIP_SYMBOL(counter), sizeof *pinned, 0, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(pinned[1] == 11, "%lld", pinned[1]);
    OK(hipHostFree(pinned));
    OK(hipStreamDestroy(stream));

    Array<int> texts(3);
    read_records<<<1, 3>>>(texts);
    SAME(texts.values(), (std::vector<int>{'o' * 1000 + 103, 't' * 1000 + 205, 't' * 1000 + 307}));

    int local = 0;
    FAILS(hipMemcpyToSymbol(&local, &number, sizeof number), hipErrorInvalidSymbol);
    FAILS(hipGetSymbolAddress(&address, &local), hipErrorInvalidSymbol);
    FAILS(hipMemcpyFromSymbol(got.data(), HIP_SYMBOL(table), sizeof table + 4), hipErrorInvalidValue);
    return summary();
}
