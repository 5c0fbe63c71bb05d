// Mixed work from many threads for a while: results stay right, and memory, descriptors and threads do not grow.
// Argument: the seconds; 5 if there is none.
#include "check.hpp"

#include <chrono>
#include <fstream>
#include <thread>

#include <dirent.h>
#include <unistd.h>

__global__ void mix(unsigned *values, int count, unsigned factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = values[i] * factor + static_cast<unsigned>(i);
}

__global__ void total(const unsigned *values, int count, unsigned *sum)
{
    unsigned mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine += values[i];
    atomicAdd(sum, mine);
}

struct Usage {
    long kib = 0, descriptors = 0, threads = 0;
};

static Usage usage()
{
    Usage now;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmRSS:")
            status >> now.kib;
        if (word == "Threads:")
            status >> now.threads;
    }
    if (DIR *directory = opendir("/proc/self/fd")) {
        while (readdir(directory))
            now.descriptors++;
        closedir(directory);
    }
    return now;
}

using Clock = std::chrono::steady_clock;

static void work(unsigned seed, Clock::time_point end, std::atomic<long> *rounds)
{
    Numbers numbers(seed);
    // One for all rounds: HIP 5.2.3 loses some 600 bytes with each stream that is destroyed.
    hipStream_t own = nullptr;
    NEED_OK(hipStreamCreateWithFlags(&own, hipStreamNonBlocking));
    while (Clock::now() < end) {
        int count = 1 + static_cast<int>(numbers.below(20000));
        bool pinned = numbers.below(2);
        hipStream_t stream = numbers.below(3) != 0 ? own : nullptr;
        hipEvent_t event = nullptr;
        NEED_OK(hipEventCreate(&event));
        std::vector<unsigned> values = made(count, [&](size_t) { return static_cast<unsigned>(numbers.next()); });
        unsigned *device = nullptr, *sum = nullptr, *host = values.data(), got = 0, want = 0;
        size_t size = count * sizeof(unsigned);
        NEED_OK(hipMalloc(&device, size));
        NEED_OK(hipMalloc(&sum, sizeof *sum));
        if (pinned) {
            NEED_OK(hipHostMalloc(&host, size, 0));
            memcpy(host, values.data(), size);
        }
        OK(hipMemsetAsync(sum, 0, sizeof *sum, stream));
        OK(hipMemcpyAsync(device, host, size, hipMemcpyHostToDevice, stream));
        unsigned launches = 1 + numbers.below(6);
        for (unsigned i = 0; i < launches; i++)
            mix<<<(count + 255) / 256, 256, 0, stream>>>(device, count, 3 + i);
        total<<<4, 128, 0, stream>>>(device, count, sum);
        OK(hipEventRecord(event, stream));
        OK(hipMemcpyAsync(&got, sum, sizeof got, hipMemcpyDeviceToHost, stream));
        OK(hipStreamSynchronize(stream));
        OK(hipEventQuery(event));
        for (int i = 0; i < count; i++) {
            for (unsigned k = 0; k < launches; k++)
                values[i] = values[i] * (3 + k) + static_cast<unsigned>(i);
            want += values[i];
        }
        CHECK(got == want, "%u, expected %u", got, want);
        if (pinned)
            OK(hipHostFree(host));
        OK(hipFree(device));
        OK(hipFree(sum));
        OK(hipEventDestroy(event));
        ++*rounds;
    }
    OK(hipStreamDestroy(own));
}

static long all_threads(unsigned seed, double seconds)
{
    std::atomic<long> rounds{0};
    auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 8; i++)
        threads.emplace_back(work, seed * 100 + i, end, &rounds);
    for (std::thread &thread : threads)
        thread.join();
    return rounds;
}

// The first calls come from one thread: when several make them at once, HIP 5.2.3 reads its list of devices while it
// grows (FatBinaryInfo::ExtractFatBinary), and crashes now and then.
static void load_kernels()
{
    unsigned *memory = nullptr;
    NEED_OK(hipMalloc(&memory, 2 * sizeof *memory));
    mix<<<1, 64>>>(memory, 1, 1);
    total<<<1, 64>>>(memory, 1, memory + 1);
    OK(hipDeviceSynchronize());
    OK(hipFree(memory));
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    unsigned seed = argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 1;
    load_kernels();
    all_threads(seed, seconds / 5);
    Usage before = usage();
    long rounds = all_threads(seed + 1, seconds * 4 / 5);
    Usage after = usage();
    CHECK(rounds > 0, "%ld", rounds);
    CHECK(after.kib < before.kib + before.kib / 5 + 16384, "%ld KiB, before %ld", after.kib, before.kib);
    CHECK(after.descriptors <= before.descriptors, "%ld descriptors, before %ld", after.descriptors, before.descriptors);
    CHECK(after.threads <= before.threads + 1, "%ld threads, before %ld", after.threads, before.threads);
    fprintf(stderr, "%ld rounds; %ld -> %ld KiB, %ld -> %ld descriptors, %ld -> %ld threads\n", rounds, before.kib, after.kib,
            before.descriptors, after.descriptors, before.threads, after.threads);
    return summary();
}
