// Well-known algorithms, each against the host: reduction, prefix sum, matrix product, transpose, histogram, sort, stencil.
#include "check.hpp"

#include <algorithm>
#include <numeric>

enum { BLOCK = 256, TILE = 16 };

__global__ void reduce(const int *in, int count, long long *sum)
{
    __shared__ long long part[BLOCK];
    long long mine = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK)
        mine += in[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned step = BLOCK / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(sum), static_cast<unsigned long long>(part[0]));
}

static void reduction(int count)
{
    Numbers numbers(count);
    auto in = made(count, [&](size_t) { return static_cast<int>(numbers.next()); });
    Array<int> device(in);
    Array<long long> sum(std::vector<long long>{0});
    reduce<<<std::min(40, (count + BLOCK - 1) / BLOCK), BLOCK>>>(device, count, sum);
    SAME(sum.values(), std::vector<long long>{std::accumulate(in.begin(), in.end(), 0ll)});
}

// Sums of each block; a second launch adds the sums of the blocks before.
__global__ void scan_blocks(unsigned *values, unsigned *totals)
{
    __shared__ unsigned memory[2][BLOCK];
    int t = threadIdx.x, from = 0;
    memory[0][t] = values[blockIdx.x * BLOCK + t];
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2, from ^= 1) {
        memory[from ^ 1][t] = memory[from][t] + (t >= step ? memory[from][t - step] : 0);
        __syncthreads();
    }
    values[blockIdx.x * BLOCK + t] = memory[from][t];
    if (t == BLOCK - 1)
        totals[blockIdx.x] = memory[from][t];
}

__global__ void add_totals(unsigned *values, const unsigned *totals)
{
    unsigned before = 0;
    for (unsigned i = 0; i < blockIdx.x; i++)
        before += totals[i];
    values[blockIdx.x * BLOCK + threadIdx.x] += before;
}

static void prefix_sum()
{
    const int blocks = 23;
    Numbers numbers;
    auto in = made(blocks * BLOCK, [&](size_t) { return static_cast<unsigned>(numbers.next()); });
    Array<unsigned> values(in), totals(blocks);
    scan_blocks<<<blocks, BLOCK>>>(values, totals);
    add_totals<<<blocks, BLOCK>>>(values, totals);
    std::partial_sum(in.begin(), in.end(), in.begin());
    SAME(values.values(), in);
}

template <class T> __global__ void multiply(const T *a, const T *b, T *c, int n)
{
    __shared__ T left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Small whole numbers, so that sums are exact in every order.
template <class T> static void matrix_product(int n)
{
    Numbers numbers;
    auto random = [&](size_t) { return static_cast<T>(static_cast<int>(numbers.below(17)) - 8); };
    auto a = made(static_cast<size_t>(n) * n, random), b = made(static_cast<size_t>(n) * n, random);
    std::vector<T> want(a.size());
    for (int row = 0; row < n; row++)
        for (int k = 0; k < n; k++)
            for (int column = 0; column < n; column++)
                want[row * n + column] += a[row * n + k] * b[k * n + column];
    Array<T> x(a), y(b), z(a.size());
    multiply<T><<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(x, y, z, n);
    SAME(z.values(), want);
}

__global__ void transpose(const uint16_t *in, uint16_t *out, int width, int height)
{
    __shared__ uint16_t tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

static void transposition(int width, int height)
{
    auto in = made(static_cast<size_t>(width) * height, [](size_t i) { return static_cast<uint16_t>(i * 40503u >> 3); });
    Array<uint16_t> from(in), to(in.size());
    transpose<<<dim3((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), dim3(TILE, TILE)>>>(from, to, width, height);
    SAME(to.values(), made(in.size(), [&](size_t i) { return in[i % height * width + i / height]; }));
}

__global__ void histogram(const uint8_t *in, int count, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    if (mine[threadIdx.x])
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

static void counting()
{
    Numbers numbers;
    auto in = made(50001, [&](size_t) { return static_cast<uint8_t>(numbers.below(16) * numbers.below(16)); });
    std::vector<unsigned> want(256);
    for (uint8_t byte : in)
        want[byte]++;
    Array<uint8_t> device(in);
    Array<unsigned> bins(std::vector<unsigned>(256, 0));
    histogram<<<8, 256>>>(device, static_cast<int>(in.size()), bins);
    SAME(bins.values(), want);
}

__global__ void bitonic_sort(int *values)
{
    __shared__ int memory[1024];
    int t = threadIdx.x;
    memory[t] = values[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t && (memory[t] > memory[other]) == ((t & size) == 0)) {
                int swap = memory[t];
                memory[t] = memory[other];
                memory[other] = swap;
            }
            __syncthreads();
        }
    values[blockIdx.x * 1024 + t] = memory[t];
}

static void sorting()
{
    Numbers numbers(5);
    auto in = made(3 * 1024, [&](size_t) { return static_cast<int>(numbers.next()); });
    Array<int> values(in);
    bitonic_sort<<<3, 1024>>>(values);
    for (int block = 0; block < 3; block++)
        std::sort(in.begin() + block * 1024, in.begin() + (block + 1) * 1024);
    SAME(values.values(), in);
}

__global__ void stencil(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x <= 0 || y <= 0 || x >= n - 1 || y >= n - 1)
        return;
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

// Exact while the values are multiples of a power of two that float can hold.
static void heat()
{
    const int n = 70;
    auto grid = made(n * n, [](size_t i) { return static_cast<float>(i % 13 * 1024); });
    Array<float> a(grid), b(grid);
    float *from = a, *to = b;
    auto next = grid;
    for (int round = 0; round < 5; round++) {
        stencil<<<dim3(5, 5), dim3(16, 16)>>>(from, to, n);
        std::swap(from, to);
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                next[y * n + x] =
                    0.25f * (grid[y * n + x - 1] + grid[y * n + x + 1] + grid[(y - 1) * n + x] + grid[(y + 1) * n + x]);
        grid = next;
    }
    std::vector<float> got(n * n);
    OK(hipMemcpy(got.data(), from, got.size() * sizeof(float), hipMemcpyDeviceToHost));
    SAME(got, grid);
}

__global__ void mandelbrot(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    // Fixed point, so that the host computes the same numbers.
    long long cr = (3ll << 24) * x / width - (2ll << 24), ci = (2ll << 24) * y / height - (1ll << 24), zr = 0, zi = 0;
    int round = 0;
    for (; round < 60 && zr * zr + zi * zi < 4ll << 48; round++) {
        long long t = ((zr * zr - zi * zi) >> 24) + cr;
        zi = (2 * zr * zi >> 24) + ci;
        zr = t;
    }
    out[y * width + x] = round;
}

static void fractal()
{
    const int width = 90, height = 60;
    Array<int> out(width * height);
    mandelbrot<<<dim3(6, 4), dim3(16, 16)>>>(out, width, height);
    auto want = made(width * height, [](size_t i) {
        int x = static_cast<int>(i) % width, y = static_cast<int>(i) / width, round = 0;
        long long cr = (3ll << 24) * x / width - (2ll << 24), ci = (2ll << 24) * y / height - (1ll << 24), zr = 0, zi = 0;
        for (; round < 60 && zr * zr + zi * zi < 4ll << 48; round++) {
            long long t = ((zr * zr - zi * zi) >> 24) + cr;
            zi = (2 * zr * zi >> 24) + ci;
            zr = t;
        }
        return round;
    });
    SAME(out.values(), want);
}

int main()
{
    for (int count : {1, 255, 1000, 100003})
        reduction(count);
    prefix_sum();
    matrix_product<float>(64);
    matrix_product<double>(48);
    matrix_product<int>(32);
    transposition(64, 64);
    transposition(100, 37);
    counting();
    sorting();
    heat();
    fractal();
    return summary();
}
