// Many host threads at once: on streams of their own, on the null stream, with allocation, copies and callbacks.
#include "check.hpp"

#include <thread>

enum { THREADS = 8, COUNT = 3000 };

__global__ void step(int *values, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        values[i] = values[i] * 3 + amount;
}

static void launch(int *values, int amount, hipStream_t stream)
{
    step<<<(COUNT + 127) / 128, 128, 0, stream>>>(values, amount);
}

static void own_stream(int thread, int rounds)
{
    hipStream_t stream;
    NEED_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (int round = 0; round < rounds; round++) {
        std::vector<int> values = made(COUNT, [=](size_t i) { return static_cast<int>(i) * thread; }), back(COUNT);
        int *device = nullptr;
        NEED_OK(hipMalloc(&device, COUNT * sizeof(int)));
        OK(hipMemcpyAsync(device, values.data(), COUNT * sizeof(int), hipMemcpyHostToDevice, stream));
        for (int i = 0; i < 5; i++)
            launch(device, i + round, stream);
        OK(hipMemcpyAsync(back.data(), device, COUNT * sizeof(int), hipMemcpyDeviceToHost, stream));
        OK(hipStreamSynchronize(stream));
        for (int i = 0; i < 5; i++)
            for (int &value : values)
                value = static_cast<int>(static_cast<unsigned>(value) * 3 + static_cast<unsigned>(i + round));
        SAME(back, values);
        OK(hipFree(device));
    }
    OK(hipStreamDestroy(stream));
}

static void null_stream(int thread, int rounds)
{
    Array<int> device(std::vector<int>(COUNT, thread));
    int want = thread;
    for (int round = 0; round < rounds; round++) {
        launch(device, round, nullptr);
        want = static_cast<int>(static_cast<unsigned>(want) * 3 + static_cast<unsigned>(round));
    }
    SAME(device.values(), std::vector<int>(COUNT, want));
}

static void all(void (*work)(int, int), int rounds)
{
    std::vector<std::thread> threads;
    for (int thread = 0; thread < THREADS; thread++)
        threads.emplace_back(work, thread, rounds);
    for (std::thread &thread : threads)
        thread.join();
}

int main()
{
    // The first calls of all threads come at the same time.
    all(own_stream, 6);
    all(null_stream, 10);
    std::thread([] { NEED_OK(hipDeviceSynchronize()); }).join();
    // Errors are each thread's own.
    std::thread([] { (void)hipSetDevice(-1); }).join();
    OK(hipGetLastError());
    return summary();
}
