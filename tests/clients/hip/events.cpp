// Events: their order, their times, and what they answer before they have happened.
#include "check.hpp"

#include <chrono>
#include <thread>

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(10);
}

__global__ void work(int *value, int rounds)
{
    for (int i = 0; i < rounds; i++)
        atomicAdd(value, 1);
}

static double now()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The time between two events is the time that lay between them.
static void elapsed_time()
{
    hipEvent_t start, stop;
    NEED_OK(hipEventCreate(&start));
    NEED_OK(hipEventCreate(&stop));
    int *flag = nullptr;
    NEED_OK(hipHostMalloc(&flag, sizeof(int), hipHostMallocCoherent));
    *flag = 0;
    OK(hipEventRecord(start, nullptr));
    OK(hipEventSynchronize(start));
    wait_for<<<1, 1>>>(flag);
    OK(hipEventRecord(stop, nullptr));
    CHECK(hipEventQuery(stop) == hipErrorNotReady, "%s", "the event is not there yet");
    (void)hipGetLastError();
    float milliseconds = -1;
    FAILS(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    double before = now();
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    OK(hipEventSynchronize(stop));
    double waited = now() - before;
    OK(hipEventQuery(stop));
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds > 50, "%f ms", milliseconds);
    CHECK(milliseconds < 60 + waited + 5000, "%f ms", milliseconds);
    float negative = 0;
    OK(hipEventElapsedTime(&negative, stop, start));
    CHECK(negative == -milliseconds, "%f, %f", negative, milliseconds);
    OK(hipEventElapsedTime(&negative, start, start));
    CHECK(negative == 0, "%f", negative);
    OK(hipHostFree(flag));
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
}

// Times of consecutive events of a stream never go backwards and add up.
static void times_add_up()
{
    const int count = 10;
    std::vector<hipEvent_t> events(count);
    Array<int> value(std::vector<int>{0});
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    for (hipEvent_t &event : events)
        NEED_OK(hipEventCreate(&event));
    for (int i = 0; i < count; i++) {
        OK(hipEventRecord(events[i], stream));
        work<<<1, 64, 0, stream>>>(value, 50);
    }
    OK(hipStreamSynchronize(stream));
    float sum = 0, whole = 0, part = 0;
    for (int i = 1; i < count; i++) {
        OK(hipEventElapsedTime(&part, events[i - 1], events[i]));
        CHECK(part >= 0, "%f", part);
        sum += part;
    }
    OK(hipEventElapsedTime(&whole, events[0], events[count - 1]));
    CHECK(whole > 0 && whole > 0.99f * sum - 0.01f && whole < 1.01f * sum + 0.01f, "%f, %f", whole, sum);
    SAME(value.values(), std::vector<int>{count * 64 * 50});
    for (hipEvent_t event : events)
        OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
}

static void flags()
{
    Array<int> value(std::vector<int>{0});
    for (unsigned flag : {unsigned{hipEventDefault}, unsigned{hipEventBlockingSync}, unsigned{hipEventDisableTiming},
                          unsigned{hipEventBlockingSync | hipEventDisableTiming}, unsigned{hipEventReleaseToDevice},
                          unsigned{hipEventReleaseToSystem}}) {
        hipEvent_t event;
        NEED_OK(hipEventCreateWithFlags(&event, flag));
        work<<<4, 64>>>(value, 10);
        OK(hipEventRecord(event, nullptr));
        OK(hipEventSynchronize(event));
        OK(hipEventQuery(event));
        OK(hipEventDestroy(event));
    }
    SAME(value.values(), std::vector<int>{6 * 4 * 64 * 10});
    hipEvent_t timed, untimed;
    NEED_OK(hipEventCreate(&timed));
    NEED_OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    // An event that was never recorded has happened, and has no time.
    OK(hipEventQuery(timed));
    OK(hipEventSynchronize(timed));
    float milliseconds = 0;
    FAILS(hipEventElapsedTime(&milliseconds, timed, timed), hipErrorInvalidHandle);
    OK(hipEventRecord(timed, nullptr));
    OK(hipEventRecord(untimed, nullptr));
    OK(hipDeviceSynchronize());
    FAILS(hipEventElapsedTime(&milliseconds, timed, untimed), hipErrorInvalidHandle);
    FAILS(hipEventElapsedTime(nullptr, timed, timed), hipErrorInvalidValue);
    FAILS(hipEventElapsedTime(&milliseconds, nullptr, timed), hipErrorInvalidHandle);
    FAILS(hipEventCreate(nullptr), hipErrorInvalidValue);
    FAILS(hipEventCreateWithFlags(&timed, 0x1000), hipErrorInvalidValue);
    FAILS(hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
    OK(hipEventDestroy(timed));
    OK(hipEventDestroy(untimed));
}

// An event can be recorded again and then means the last time.
static void recorded_again()
{
    hipEvent_t first, again;
    NEED_OK(hipEventCreate(&first));
    NEED_OK(hipEventCreate(&again));
    Array<int> value(std::vector<int>{0});
    OK(hipEventRecord(first, nullptr));
    for (int i = 0; i < 200; i++) {
        work<<<1, 1>>>(value, 1);
        OK(hipEventRecord(again, nullptr));
    }
    OK(hipEventSynchronize(again));
    SAME(value.values(), std::vector<int>{200});
    float milliseconds = -1;
    OK(hipEventElapsedTime(&milliseconds, first, again));
    CHECK(milliseconds > 0, "%f", milliseconds);
    OK(hipEventDestroy(first));
    OK(hipEventDestroy(again));
}

int main()
{
    elapsed_time();
    times_add_up();
    flags();
    recorded_again();
    return summary();
}
