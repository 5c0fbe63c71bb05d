// Memory and events of one process, used in another.
#include "check.hpp"
#include "child.hpp"

enum { COUNT = 5000 };

__global__ void add(int *values, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT)
        values[i] += amount;
}

static void run_add(int *values, int amount)
{
    add<<<(COUNT + 255) / 256, 256>>>(values, amount);
    OK(hipGetLastError());
    OK(hipDeviceSynchronize());
}

// What the child is told; it answers with one byte after each step.
struct Message {
    hipIpcMemHandle_t memory;
};

static bool read_all(void *bytes, size_t size)
{
    auto at = static_cast<char *>(bytes);
    for (size_t done = 0; done < size;) {
        ssize_t got = read(STDIN_FILENO, at + done, size - done);
        if (got <= 0)
            return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

static int child()
{
    Message message;
    NEED(read_all(&message, sizeof message));
    int *memory = nullptr;
    NEED_OK(hipIpcOpenMemHandle(reinterpret_cast<void **>(&memory), message.memory, hipIpcMemLazyEnablePeerAccess));
    std::vector<int> got(COUNT);
    OK(hipMemcpy(got.data(), memory, COUNT * sizeof(int), hipMemcpyDeviceToHost));
    SAME(got, made(COUNT, [](size_t i) { return static_cast<int>(i); }));
    run_add(memory, 1000);
    char step = 'a';
    NEED(write(STDOUT_FILENO, &step, 1) == 1);
    NEED(read_all(&step, 1));
    OK(hipMemcpy(got.data(), memory, COUNT * sizeof(int), hipMemcpyDeviceToHost));
    SAME(got, made(COUNT, [](size_t i) { return static_cast<int>(i) + 1700; }));
    OK(hipIpcCloseMemHandle(memory));
    // Opened again after it was closed.
    NEED_OK(hipIpcOpenMemHandle(reinterpret_cast<void **>(&memory), message.memory, hipIpcMemLazyEnablePeerAccess));
    run_add(memory, -1);
    OK(hipIpcCloseMemHandle(memory));
    return summary();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child();
    if (argc > 1 && strcmp(argv[1], "idle") == 0) {
        // Takes a handle's memory and is killed.
        Message message;
        NEED(read_all(&message, sizeof message));
        void *memory = nullptr;
        NEED_OK(hipIpcOpenMemHandle(&memory, message.memory, hipIpcMemLazyEnablePeerAccess));
        raise(SIGKILL);
    }
    Array<int> memory(made(COUNT, [](size_t i) { return static_cast<int>(i); }));
    Message message{};
    NEED_OK(hipIpcGetMemHandle(&message.memory, memory));
    Child other("child");
    NEED(other.send(&message, sizeof message));
    char step = 0;
    NEED(other.receive(&step, 1));
    CHECK(step == 'a', "%c", step);
    SAME(memory.values(), made(COUNT, [](size_t i) { return static_cast<int>(i) + 1000; }));
    run_add(memory, 700);
    NEED(other.send(&step, 1));
    Outcome outcome = other.wait();
    CHECK(outcome.exited(0), "status %d: %s", outcome.status, outcome.text.c_str());
    SAME(memory.values(), made(COUNT, [](size_t i) { return static_cast<int>(i) + 1699; }));

    // The owner lives on when another process that has its memory is killed.
    Child killed("idle");
    NEED(killed.send(&message, sizeof message));
    outcome = killed.wait();
    CHECK(outcome.killed(SIGKILL), "status %d: %s", outcome.status, outcome.text.c_str());
    run_add(memory, 1);
    SAME(memory.values(), made(COUNT, [](size_t i) { return static_cast<int>(i) + 1700; }));
    hipIpcMemHandle_t handle;
    FAILS(hipIpcGetMemHandle(&handle, nullptr), hipErrorInvalidValue);
    return summary();
}
