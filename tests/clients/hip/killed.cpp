// A program that is killed in the middle of its work leaves no file behind.
#include "check.hpp"
#include "child.hpp"

#include <cctype>
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

// Whether a name has this process's number in it, and not as a part of another number or word.
static bool is_of(const std::string &name, pid_t pid)
{
    const std::string number = std::to_string(pid);
    auto ends = [&](size_t at) { return at >= name.size() || !std::isalnum(static_cast<unsigned char>(name[at])); };
    for (size_t at = 0; (at = name.find(number, at)) != std::string::npos; at++)
        if ((at == 0 || ends(at - 1)) && ends(at + number.size()))
            return true;
    return false;
}

// The names in a directory that have this process's number in them.
static std::set<std::string> names(const char *directory, pid_t pid)
{
    std::set<std::string> names;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(directory, none))
        if (std::string name = entry.path().filename(); is_of(name, pid))
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

// Files that a process has open or mapped, have a name among the temporary ones and were written since: the program and
// the runtime may lie there as well.
static std::set<std::string> temporary_files(pid_t pid, fs::file_time_type since)
{
    std::set<std::string> files;
    std::error_code none;
    for (const char *part : {"fd", "map_files"}) {
        fs::path directory = fs::path("/proc") / std::to_string(pid) / part;
        for (const auto &entry : fs::directory_iterator(directory, none)) {
            std::string path = fs::read_symlink(entry.path(), none);
            if (is_temporary(path) && fs::last_write_time(path, none) >= since && !none)
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
    const fs::path temporary = fs::temp_directory_path() / ("killed-client-" + std::to_string(getpid()));
    // Another process may have had our number.
    fs::remove_all(temporary);
    NEED(fs::create_directory(temporary));
    setenv("TMPDIR", temporary.c_str(), 1);
    for (int delay_ms : {0, 3, 40}) {
        // The clock of files goes in steps.
        const auto since = fs::file_time_type::clock::now() - std::chrono::milliseconds(20);
        Child child("busy");
        char ready = 0;
        NEED(child.receive(&ready, 1) && ready == 'r');
        std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
        std::set<std::string> made = temporary_files(child.pid(), since);
        // This program itself may have been made just now.
        made.erase(fs::read_symlink("/proc/self/exe"));
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
