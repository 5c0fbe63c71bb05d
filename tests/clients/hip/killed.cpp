// A program that is killed in the middle of its work leaves no file behind.
#include "check.hpp"
#include "child.hpp"

#include <filesystem>
#include <set>
#include <thread>

#include <fcntl.h>

namespace fs = std::filesystem;

__global__ void work(int *values, int rounds)
{
    for (int i = 0; i < rounds; i++)
        values[threadIdx.x] = values[threadIdx.x] * 5 + i;
}

__global__ void say()
{
    if (threadIdx.x == 0)
        printf("%s", "");
}

// Every kind of memory, streams, a handle for other processes and printf from a kernel; then work without end.
static int busy()
{
    int *device = nullptr, *host = nullptr, *managed = nullptr;
    NEED_OK(hipMalloc(&device, 64 << 20));
    NEED_OK(hipHostMalloc(&host, 1 << 20));
    NEED_OK(hipMallocManaged(&managed, 1 << 20));
    std::vector<int> own(1 << 18);
    NEED_OK(hipHostRegister(own.data(), own.size() * sizeof(int), hipHostRegisterDefault));
    hipIpcMemHandle_t handle;
    NEED_OK(hipIpcGetMemHandle(&handle, device));
    say<<<1, 64>>>();
    NEED_OK(hipDeviceSynchronize());
    std::vector<std::thread> threads;
    for (int *memory : {device, host, managed})
        threads.emplace_back([memory, device, &own] {
            hipStream_t stream;
            NEED_OK(hipStreamCreate(&stream));
            for (;;) {
                work<<<4, 256, 0, stream>>>(memory, 10000);
                NEED_OK(hipMemcpyAsync(own.data(), device, own.size() * sizeof(int), hipMemcpyDeviceToHost, stream));
                NEED_OK(hipStreamSynchronize(stream));
            }
        });
    char ready = 'r';
    NEED(write(STDOUT_FILENO, &ready, 1) == 1);
    for (std::thread &thread : threads)
        thread.join();
    return 0;
}

// The names in a directory that have this process's number in them.
static std::set<std::string> names(const char *directory, pid_t pid)
{
    std::set<std::string> names;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(directory, none))
        if (std::string name = entry.path().filename(); name.find(std::to_string(pid)) != std::string::npos)
            names.insert(name);
    return names;
}

static bool is_temporary(const std::string &path)
{
    for (const char *directory : {"/tmp/", "/var/tmp/", "/dev/shm/", "/run/"})
        if (path.rfind(directory, 0) == 0)
            return true;
    return false;
}

// Files that a process has open or mapped and that have a name among the temporary ones.
static std::set<std::string> temporary_files(pid_t pid)
{
    std::set<std::string> files;
    std::error_code none;
    for (const char *part : {"fd", "map_files"}) {
        fs::path directory = fs::path("/proc") / std::to_string(pid) / part;
        for (const auto &entry : fs::directory_iterator(directory, none)) {
            std::string path = fs::read_symlink(entry.path(), none);
            if (is_temporary(path) && path.find(" (deleted)") == std::string::npos)
                files.insert(path);
        }
    }
    return files;
}

static std::string joined(const std::set<std::string> &names)
{
    std::string all;
    for (const std::string &name : names)
        all += name + " ";
    return all;
}

int main(int argc, char **)
{
    if (argc > 1)
        return busy();
    // What is mapped because this program or the runtime lies there is not made by it.
    std::set<std::string> before = temporary_files(getpid());
    std::string temporary = fs::temp_directory_path() / "killed-client-XXXXXX";
    NEED(mkdtemp(temporary.data()));
    setenv("TMPDIR", temporary.c_str(), 1);
    for (int delay_ms : {0, 3, 40}) {
        Child child("busy");
        char ready = 0;
        NEED(child.receive(&ready, 1) && ready == 'r');
        std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
        std::set<std::string> made = temporary_files(child.pid());
        for (const std::string &file : before)
            made.erase(file);
        kill(child.pid(), SIGKILL);
        Outcome outcome = child.wait();
        CHECK(outcome.killed(SIGKILL), "status %#x: %s", outcome.status, outcome.text.c_str());
        for (const std::string &file : made)
            CHECK(!fs::exists(file), "%s is left", file.c_str());
        for (const char *directory : {"/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock"}) {
            std::set<std::string> left = names(directory, child.pid());
            CHECK(left.empty(), "left in %s: %s", directory, joined(left).c_str());
        }
        CHECK(fs::is_empty(temporary), "%s", "a temporary file is left");
    }
    fs::remove_all(temporary);
    return summary();
}
