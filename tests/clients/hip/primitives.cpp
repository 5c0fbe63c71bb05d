// rocPRIM's algorithms, which are the inner loops of most ROCm libraries: look-back scans, radix sorts, DPP reductions.
#include "check.hpp"

#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

// Asks an algorithm for its temporary memory, and runs it.
template <class Algorithm> static void run(Algorithm algorithm)
{
    size_t bytes = 0;
    OK(algorithm(nullptr, bytes));
    Array<char> memory(std::max<size_t>(bytes, 1));
    OK(algorithm(static_cast<void *>(static_cast<char *>(memory)), bytes));
    OK(hipDeviceSynchronize());
}

static unsigned *address(const Array<unsigned> &array)
{
    return array;
}

struct ThirdsOnly {
    __host__ __device__ bool operator()(unsigned value) const
    {
        return value % 3 == 0;
    }
};

static void algorithms(size_t count, unsigned range)
{
    Numbers numbers(static_cast<unsigned>(count));
    std::vector<unsigned> keys = made(count, [&](size_t) { return static_cast<unsigned>(numbers.next()) % range; });
    std::vector<unsigned> order(count), sorted = keys, sums(count), thirds;
    std::iota(order.begin(), order.end(), 0);
    Array<unsigned> in(keys), places(order), out(count), out_places(count), one(1);

    run([&](void *memory, size_t &bytes) {
        return rocprim::radix_sort_pairs(memory, bytes, address(in), address(out), address(places), address(out_places), count);
    });
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    std::sort(sorted.begin(), sorted.end());
    SAME(out.values(), sorted);
    SAME(out_places.values(), order);

    run([&](void *memory, size_t &bytes) { return rocprim::merge_sort(memory, bytes, address(in), address(out), count); });
    SAME(out.values(), sorted);

    run([&](void *memory, size_t &bytes) {
        return rocprim::inclusive_scan(memory, bytes, address(in), address(out), count, rocprim::plus<unsigned>());
    });
    std::partial_sum(keys.begin(), keys.end(), sums.begin());
    SAME(out.values(), sums);

    run([&](void *memory, size_t &bytes) {
        return rocprim::reduce(memory, bytes, address(in), address(one), count, rocprim::maximum<unsigned>());
    });
    CHECK(one.values()[0] == sorted.back(), "%u, expected %u", one.values()[0], sorted.back());

    run([&](void *memory, size_t &bytes) {
        return rocprim::select(memory, bytes, address(in), address(out), address(one), count, ThirdsOnly());
    });
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(thirds), ThirdsOnly());
    std::vector<unsigned> got = out.values();
    CHECK(one.values()[0] == thirds.size(), "%u, expected %zu", one.values()[0], thirds.size());
    got.resize(thirds.size());
    SAME(got, thirds);
}

int main()
{
    for (size_t count : {size_t(1), size_t(63), size_t(1000), size_t(4097), size_t(200003)})
        algorithms(count, count % 2 ? 0xffffffff : 100);
    return summary();
}
