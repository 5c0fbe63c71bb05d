// Small programs of the kind that people bring: a hash of known values, a hash table, a search in a graph, sorting by
// recursion, and a product with a sparse matrix.
#include "check.hpp"

#include <algorithm>
#include <cmath>

__constant__ uint32_t round_constants[64];

__host__ __device__ static uint32_t rotated(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

// SHA-256 (FIPS 180-4) of one block.
__host__ __device__ static void hash_block(const uint32_t *k, uint32_t *hash, const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = static_cast<uint32_t>(block[4 * i]) << 24 | block[4 * i + 1] << 16 | block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 8; i++)
        s[i] = hash[i];
    for (int i = 0; i < 64; i++) {
        uint32_t first = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                         ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        uint32_t second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                          ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += s[i];
}

__host__ __device__ static void hash_of(const uint32_t *k, const uint8_t *bytes, int count, uint32_t *hash)
{
    const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 8; i++)
        hash[i] = start[i];
    int at = 0;
    for (; at + 64 <= count; at += 64)
        hash_block(k, hash, bytes + at);
    uint8_t last[128] = {};
    int left = count - at, blocks = left + 9 > 64 ? 2 : 1;
    for (int i = 0; i < left; i++)
        last[i] = bytes[at + i];
    last[left] = 0x80;
    for (int i = 0; i < 8; i++)
        last[blocks * 64 - 1 - i] = static_cast<uint8_t>(8ull * count >> (8 * i));
    for (int i = 0; i < blocks; i++)
        hash_block(k, hash, last + 64 * i);
}

// Each lane hashes as many bytes as its number.
__global__ void hashes(const uint8_t *bytes, uint32_t *out)
{
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    hash_of(round_constants, bytes + lane, lane, out + 8 * lane);
}

static void known_hashes()
{
    enum { COUNT = 256 };
    uint32_t k[64];
    int found = 0;
    for (int p = 2; found < 64; p++) {
        bool prime = true;
        for (int d = 2; d * d <= p; d++)
            prime = prime && p % d != 0;
        if (prime) {
            long double root = cbrtl(p);
            k[found++] = static_cast<uint32_t>((root - floorl(root)) * 4294967296.0L);
        }
    }
    NEED_OK(hipMemcpyToSymbol(HIP_SYMBOL(round_constants), k, sizeof k));
    Numbers numbers;
    auto bytes = made(2 * COUNT, [&](size_t) { return static_cast<uint8_t>(numbers.next()); });
    Array<uint8_t> device(bytes);
    Array<uint32_t> out(8 * COUNT);
    hashes<<<COUNT / 64, 64>>>(device, out);
    std::vector<uint32_t> want(8 * COUNT);
    for (int i = 0; i < COUNT; i++)
        hash_of(k, &bytes[i], i, &want[8 * i]);
    auto got = out.values();
    SAME(got, want);
    // The standard's value for no bytes at all.
    CHECK(got[0] == 0xe3b0c442 && got[7] == 0x7852b855, "%x %x", got[0], got[7]);
}

__global__ void insert(const unsigned *keys, int count, unsigned *table, unsigned mask, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned key = keys[i];
    for (unsigned at = key * 2654435761u & mask;; at = (at + 1) & mask) {
        unsigned old = atomicCAS(&table[at], 0, key);
        if (old == 0 || old == key) {
            atomicAdd(&counts[at], 1);
            return;
        }
    }
}

static void hash_table()
{
    enum { COUNT = 5000, KEYS = 2000, SLOTS = 4096 };
    Numbers numbers;
    auto keys = made(COUNT, [&](size_t) { return 1 + numbers.below(KEYS); });
    Array<unsigned> device(keys), table(std::vector<unsigned>(SLOTS, 0));
    Array<int> counts(std::vector<int>(SLOTS, 0));
    insert<<<(COUNT + 255) / 256, 256>>>(device, COUNT, table, SLOTS - 1, counts);
    std::vector<int> want(KEYS + 1), got(KEYS + 1);
    for (unsigned key : keys)
        want[key]++;
    auto slots = table.values();
    auto values = counts.values();
    bool twice = false;
    for (int i = 0; i < SLOTS; i++)
        if (slots[i] != 0) {
            twice = twice || got[slots[i]] != 0;
            got[slots[i]] = values[i];
        }
    SAME(got, want);
    CHECK(!twice, "%s", "a key has one slot");
}

struct Sparse {
    std::vector<int> rows{0}, columns;
};

__global__ void expand(const int *rows, const int *columns, int *level, int count, int now, int *more)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= count || level[node] != now)
        return;
    for (int k = rows[node]; k < rows[node + 1]; k++)
        if (atomicCAS(&level[columns[k]], -1, now + 1) == -1)
            *more = 1;
}

static void breadth_first()
{
    enum { COUNT = 2000 };
    Numbers numbers;
    std::vector<std::vector<int>> neighbours(COUNT);
    for (int i = 1; i < COUNT; i++) {
        int other = i < 300 ? i - 1 : i - 1 - static_cast<int>(numbers.below(300));
        neighbours[i].push_back(other);
        neighbours[other].push_back(i);
    }
    Sparse graph;
    for (const auto &each : neighbours) {
        graph.columns.insert(graph.columns.end(), each.begin(), each.end());
        graph.rows.push_back(static_cast<int>(graph.columns.size()));
    }
    std::vector<int> level(COUNT, -1), next{0};
    level[0] = 0;
    for (size_t at = 0; at < next.size(); at++)
        for (int node : neighbours[next[at]])
            if (level[node] < 0) {
                level[node] = level[next[at]] + 1;
                next.push_back(node);
            }
    std::vector<int> start(COUNT, -1);
    start[0] = 0;
    Array<int> rows(graph.rows), columns(graph.columns), levels(start), more(1);
    for (int now = 0;; now++) {
        OK(hipMemset(more, 0, more.bytes()));
        expand<<<(COUNT + 127) / 128, 128>>>(rows, columns, levels, COUNT, now, more);
        if (more.values()[0] == 0)
            break;
    }
    SAME(levels.values(), level);
}

__device__ static void quick_sort(int *values, int low, int high)
{
    while (low < high) {
        int pivot = values[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                int kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        }
        // The shorter part by recursion, which bounds its depth.
        if (j - low < high - i) {
            quick_sort(values, low, j);
            low = i;
        } else {
            quick_sort(values, i, high);
            high = j;
        }
    }
}

__global__ void sort_all(int *values, int each)
{
    quick_sort(values + (blockIdx.x * blockDim.x + threadIdx.x) * each, 0, each - 1);
}

static void sorting()
{
    enum { LISTS = 128, EACH = 40 };
    Numbers numbers;
    auto values = made(LISTS * EACH, [&](size_t) { return static_cast<int>(numbers.below(100)); });
    Array<int> device(values);
    sort_all<<<2, LISTS / 2>>>(device, EACH);
    for (auto at = values.begin(); at != values.end(); at += EACH)
        std::sort(at, at + EACH);
    SAME(device.values(), values);
}

// A wave for each row.
__global__ void multiply(const int *rows, const int *columns, const double *values, const double *x, double *y,
                         int count)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64, lane = threadIdx.x % 64;
    if (row >= count)
        return;
    double sum = 0;
    for (int k = rows[row] + lane; k < rows[row + 1]; k += 64)
        sum += values[k] * x[columns[k]];
    for (int step = 32; step > 0; step /= 2)
        sum += __shfl_xor(sum, step);
    if (lane == 0)
        y[row] = sum;
}

static void sparse_product()
{
    enum { COUNT = 300 };
    Numbers numbers;
    Sparse matrix;
    std::vector<double> values, x(COUNT), want(COUNT);
    for (double &value : x)
        value = numbers.below(1000);
    for (int row = 0; row < COUNT; row++) {
        unsigned count = numbers.below(200);
        for (unsigned k = 0; k < count; k++) {
            int column = static_cast<int>(numbers.below(COUNT));
            double value = numbers.below(1000);
            matrix.columns.push_back(column);
            values.push_back(value);
            want[row] += value * x[column];
        }
        matrix.rows.push_back(static_cast<int>(matrix.columns.size()));
    }
    Array<int> rows(matrix.rows), columns(matrix.columns);
    Array<double> device(values), in(x), out(COUNT);
    multiply<<<COUNT / 4, 256>>>(rows, columns, device, in, out, COUNT);
    SAME(out.values(), want);
}

int main()
{
    known_hashes();
    hash_table();
    breadth_first();
    sorting();
    sparse_product();
    return summary();
}
