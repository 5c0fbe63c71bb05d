// Streams: order within one, independence of several, priorities, waiting for events, the null stream, callbacks, memory
// operations in streams, and masks of compute units.
#include "check.hpp"

#include <hip/hip_ext.h>

#include <chrono>
#include <thread>

__global__ void add(int *value, int amount)
{
    *value += amount;
}

__global__ void multiply(int *value, int factor)
{
    *value *= factor;
}

// Waits until the host (or another stream) sets the flag.
__global__ void wait_for(volatile int *flag, int *done)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(10);
    *done += 1;
}

struct Pinned {
    int *value = nullptr;
    explicit Pinned(size_t count = 1)
    {
        NEED_OK(hipHostMalloc(&value, count * sizeof(int), hipHostMallocCoherent));
        memset(value, 0, count * sizeof(int));
    }
    ~Pinned()
    {
        OK(hipHostFree(value));
    }
};

static void order_in_a_stream()
{
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    Array<int> value(std::vector<int>{1});
    int want = 1;
    for (int i = 0; i < 40; i++) {
        add<<<1, 1, 0, stream>>>(value, i);
        multiply<<<1, 1, 0, stream>>>(value, 3);
        want = static_cast<int>((static_cast<unsigned>(want) + static_cast<unsigned>(i)) * 3u);
    }
    OK(hipStreamSynchronize(stream));
    SAME(value.values(), std::vector<int>{want});
    OK(hipStreamQuery(stream));
    OK(hipStreamDestroy(stream));
}

static void many_streams()
{
    const int count = 12;
    std::vector<hipStream_t> streams(count);
    std::vector<int> want;
    Array<int> values(std::vector<int>(count, 0));
    for (int i = 0; i < count; i++)
        NEED_OK(hipStreamCreateWithFlags(&streams[i], i % 2 ? hipStreamNonBlocking : hipStreamDefault));
    for (int round = 0; round < 30; round++)
        for (int i = 0; i < count; i++)
            add<<<1, 1, 0, streams[i]>>>(values + i, i + round);
    OK(hipDeviceSynchronize());
    for (int i = 0; i < count; i++)
        want.push_back(30 * i + 29 * 30 / 2);
    SAME(values.values(), want);
    for (hipStream_t stream : streams)
        OK(hipStreamDestroy(stream));
}

// A stream that is held up does not hold up another; it is busy until it is let go.
static void streams_are_independent()
{
    hipStream_t held, free;
    NEED_OK(hipStreamCreateWithFlags(&held, hipStreamNonBlocking));
    NEED_OK(hipStreamCreateWithFlags(&free, hipStreamNonBlocking));
    Pinned flag, done, other;
    wait_for<<<1, 1, 0, held>>>(flag.value, done.value);
    add<<<1, 1, 0, free>>>(other.value, 5);
    OK(hipStreamSynchronize(free));
    CHECK(*other.value == 5, "%d", *other.value);
    CHECK(hipStreamQuery(held) == hipErrorNotReady, "%s", "the held stream is busy");
    (void)hipGetLastError();
    CHECK(*done.value == 0, "%d", *done.value);
    __atomic_store_n(flag.value, 1, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(held));
    CHECK(*done.value == 1, "%d", *done.value);
    OK(hipStreamQuery(held));
    OK(hipStreamDestroy(held));
    OK(hipStreamDestroy(free));
}

static void waiting_for_an_event()
{
    hipStream_t first, second;
    hipEvent_t event;
    NEED_OK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    NEED_OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    NEED_OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    Pinned flag, value;
    wait_for<<<1, 1, 0, first>>>(flag.value, value.value);
    OK(hipEventRecord(event, first));
    OK(hipStreamWaitEvent(second, event, 0));
    multiply<<<1, 1, 0, second>>>(value.value, 7);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(*static_cast<volatile int *>(value.value) == 0, "%d", *value.value);
    __atomic_store_n(flag.value, 1, __ATOMIC_SEQ_CST);
    OK(hipStreamSynchronize(second));
    CHECK(*value.value == 7, "%d", *value.value);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(first));
    OK(hipStreamDestroy(second));
}

// The null stream waits for the others, and they for it.
static void null_stream()
{
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    Pinned flag, value;
    wait_for<<<1, 1, 0, stream>>>(flag.value, value.value);
    add<<<1, 1>>>(value.value, 10);
    multiply<<<1, 1, 0, stream>>>(value.value, 4);
    __atomic_store_n(flag.value, 1, __ATOMIC_SEQ_CST);
    OK(hipDeviceSynchronize());
    CHECK(*value.value == 44, "%d", *value.value);
    OK(hipStreamDestroy(stream));
}

static void priorities()
{
    int least = 0, greatest = 0;
    NEED_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    for (int priority = greatest; priority <= least; priority++) {
        hipStream_t stream;
        NEED_OK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority));
        int got = 99;
        OK(hipStreamGetPriority(stream, &got));
        CHECK(got == priority, "%d, expected %d", got, priority);
        unsigned flags = 99;
        OK(hipStreamGetFlags(stream, &flags));
        CHECK(flags == hipStreamNonBlocking, "%u", flags);
        Array<int> value(std::vector<int>{2});
        add<<<1, 1, 0, stream>>>(value, 40);
        OK(hipStreamSynchronize(stream));
        SAME(value.values(), std::vector<int>{42});
        OK(hipStreamDestroy(stream));
    }
}

struct Called {
    hipStream_t stream;
    hipError_t status = hipErrorUnknown;
    int seen = -1;
    int *value;
    std::atomic<int> count{0};
};

static void callback(hipStream_t stream, hipError_t status, void *data)
{
    auto called = static_cast<Called *>(data);
    called->status = stream == called->stream ? status : hipErrorUnknown;
    called->seen = *static_cast<volatile int *>(called->value);
    called->count++;
}

// A callback sees what was before it, and holds up what comes after.
static void callbacks()
{
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    Pinned value;
    Called first{stream, hipErrorUnknown, -1, value.value}, second{stream, hipErrorUnknown, -1, value.value};
    add<<<1, 1, 0, stream>>>(value.value, 3);
    OK(hipStreamAddCallback(stream, callback, &first, 0));
    add<<<1, 1, 0, stream>>>(value.value, 4);
    OK(hipStreamAddCallback(stream, callback, &second, 0));
    OK(hipStreamSynchronize(stream));
    CHECK(first.count == 1 && second.count == 1, "%d, %d", first.count.load(), second.count.load());
    CHECK(first.status == hipSuccess && second.status == hipSuccess, "%d, %d", first.status, second.status);
    CHECK(first.seen == 3, "%d", first.seen);
    CHECK(second.seen == 7, "%d", second.seen);
    Called many{stream, hipErrorUnknown, -1, value.value};
    for (int i = 0; i < 100; i++) {
        add<<<1, 1, 0, stream>>>(value.value, 1);
        OK(hipStreamAddCallback(stream, callback, &many, 0));
    }
    OK(hipStreamSynchronize(stream));
    CHECK(many.count == 100, "%d", many.count.load());
    CHECK(*value.value == 107, "%d", *value.value);
    OK(hipStreamDestroy(stream));
}

static void values_in_streams()
{
    hipStream_t writer, waiter;
    NEED_OK(hipStreamCreateWithFlags(&writer, hipStreamNonBlocking));
    NEED_OK(hipStreamCreateWithFlags(&waiter, hipStreamNonBlocking));
    uint64_t *memory = nullptr;
    NEED_OK(hipExtMallocWithFlags(reinterpret_cast<void **>(&memory), 8, hipMallocSignalMemory));
    *memory = 0;
    Pinned value;
    OK(hipStreamWaitValue64(waiter, memory, 5, hipStreamWaitValueGte, ~0ull));
    add<<<1, 1, 0, waiter>>>(value.value, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(*static_cast<volatile int *>(value.value) == 0, "%d", *value.value);
    OK(hipStreamWriteValue64(writer, memory, 5, 0));
    OK(hipStreamSynchronize(writer));
    OK(hipStreamSynchronize(waiter));
    CHECK(*value.value == 1, "%d", *value.value);
    CHECK(*memory == 5, "%llu", static_cast<unsigned long long>(*memory));
    Array<uint32_t> word(std::vector<uint32_t>{1});
    OK(hipStreamWriteValue32(writer, word, 77, 0));
    OK(hipStreamSynchronize(writer));
    SAME(word.values(), std::vector<uint32_t>{77});
    OK(hipFree(memory));
    OK(hipStreamDestroy(writer));
    OK(hipStreamDestroy(waiter));
}

static void masks_of_compute_units()
{
    const uint32_t mask[2] = {0x0f, 0};
    hipStream_t stream;
    NEED_OK(hipExtStreamCreateWithCUMask(&stream, 2, mask));
    uint32_t got[2] = {};
    OK(hipExtStreamGetCUMask(stream, 2, got));
    CHECK(got[0] == mask[0] && got[1] == mask[1], "%#x %#x", got[0], got[1]);
    Array<int> value(std::vector<int>{1});
    add<<<1, 1, 0, stream>>>(value, 1);
    OK(hipStreamSynchronize(stream));
    SAME(value.values(), std::vector<int>{2});
    OK(hipStreamDestroy(stream));
}

// Streams come and go; each is used, some are destroyed while busy.
static void short_lives()
{
    Array<int> value(std::vector<int>{0});
    for (int i = 0; i < 60; i++) {
        hipStream_t stream;
        NEED_OK(hipStreamCreate(&stream));
        add<<<1, 1, 0, stream>>>(value, 1);
        if (i % 2)
            OK(hipStreamSynchronize(stream));
        OK(hipStreamDestroy(stream));
    }
    OK(hipDeviceSynchronize());
    SAME(value.values(), std::vector<int>{60});
}

int main()
{
    order_in_a_stream();
    many_streams();
    streams_are_independent();
    waiting_for_an_event();
    null_stream();
    priorities();
    callbacks();
    values_in_streams();
    masks_of_compute_units();
    short_lives();
    FAILS(hipStreamCreate(nullptr), hipErrorInvalidValue);
    FAILS(hipStreamCreateWithFlags(nullptr, 0), hipErrorInvalidValue);
    return summary();
}
