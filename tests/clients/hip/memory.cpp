// Every kind of memory that HIP allocates, and what it says about pointers.
#include "check.hpp"

#include <sys/mman.h>
#include <unistd.h>

__global__ void add_one(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += 1;
}

static void run_add_one(int *device, int count)
{
    add_one<<<(count + 255) / 256, 256>>>(device, count);
    OK(hipGetLastError());
    OK(hipDeviceSynchronize());
}

// The GPU adds one to memory that the host wrote and reads.
static void shared_with_host(int *host, int *device, int count)
{
    for (int i = 0; i < count; i++)
        host[i] = i;
    run_add_one(device, count);
    SAME(std::vector<int>(host, host + count), made(count, [](size_t i) { return static_cast<int>(i) + 1; }));
}

static void device_memory()
{
    // Sizes down to one byte; each is writable to its end and apart from the others.
    std::vector<char *> all;
    std::vector<size_t> sizes = {1, 2, 3, 64, 255, 256, 4095, 4096, 4097, 65536, 1 << 20, (8 << 20) + 1};
    for (size_t i = 0; i < sizes.size(); i++) {
        char *memory = nullptr;
        NEED_OK(hipMalloc(&memory, sizes[i]));
        CHECK(reinterpret_cast<uintptr_t>(memory) % 256 == 0, "%p", static_cast<void *>(memory));
        OK(hipMemset(memory, static_cast<int>(i) + 1, sizes[i]));
        all.push_back(memory);
    }
    for (size_t i = 0; i < sizes.size(); i++) {
        char first = 0, last = 0;
        OK(hipMemcpy(&first, all[i], 1, hipMemcpyDeviceToHost));
        OK(hipMemcpy(&last, all[i] + sizes[i] - 1, 1, hipMemcpyDeviceToHost));
        CHECK(first == static_cast<char>(i) + 1 && last == first, "%zu bytes: %d, %d", sizes[i], first, last);
        hipDeviceptr_t base = nullptr;
        size_t size = 0;
        OK(hipMemGetAddressRange(&base, &size, all[i] + sizes[i] / 2));
        CHECK(base == all[i] && size == sizes[i], "%p %zu", base, size);
        size = 0;
        OK(hipMemPtrGetInfo(all[i], &size));
        CHECK(size == sizes[i], "%zu, expected %zu", size, sizes[i]);
    }
    for (char *memory : all)
        OK(hipFree(memory));
    OK(hipFree(nullptr));

    // What is freed can be used again, many times over the size of the device.
    size_t free = 0, total = 0;
    OK(hipMemGetInfo(&free, &total));
    for (int i = 0; i < 40; i++) {
        void *memory = nullptr;
        OK(hipMalloc(&memory, total / 16));
        OK(hipFree(memory));
    }
    size_t after = 0;
    OK(hipMemGetInfo(&after, &total));
    CHECK(after == free, "%zu free, %zu before", after, free);
    void *memory = nullptr;
    NEED_OK(hipMalloc(&memory, 32 << 20));
    OK(hipMemGetInfo(&after, &total));
    CHECK(free - after >= 32u << 20 && free - after < 40u << 20, "%zu", free - after);
    OK(hipFree(memory));
    memory = &free;
    OK(hipMalloc(&memory, 0));
    CHECK(memory == nullptr, "%p", memory);
    FAILS(hipMalloc(nullptr, 8), hipErrorInvalidValue);
}

// HIP aligns rows as the device's images are; without images it has no alignment, and no such memory.
static void pitched_memory()
{
    int images = 0;
    OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
    if (!images) {
        void *none = nullptr;
        size_t pitch = 0;
        FAILS(hipMallocPitch(&none, &pitch, 100, 7), hipErrorInvalidValue);
        return;
    }
    char *memory = nullptr;
    size_t pitch = 0;
    NEED_OK(hipMallocPitch(reinterpret_cast<void **>(&memory), &pitch, 100, 7));
    CHECK(pitch >= 100 && pitch % 64 == 0, "%zu", pitch);
    OK(hipMemset2D(memory, pitch, 5, 100, 7));
    std::vector<char> rows(700);
    OK(hipMemcpy2D(rows.data(), 100, memory, pitch, 100, 7, hipMemcpyDeviceToHost));
    SAME(rows, std::vector<char>(700, 5));
    OK(hipFree(memory));
    hipPitchedPtr pointer{};
    NEED_OK(hipMalloc3D(&pointer, make_hipExtent(50, 6, 3)));
    CHECK(pointer.pitch >= 50 && pointer.xsize >= 50 && pointer.ysize == 6, "%zu %zu %zu", pointer.pitch, pointer.xsize,
          pointer.ysize);
    OK(hipMemset(pointer.ptr, 1, pointer.pitch * 6 * 3));
    OK(hipFree(pointer.ptr));
}

static void host_memory()
{
    const int count = 5000;
    for (unsigned flags : {unsigned{hipHostMallocDefault}, unsigned{hipHostMallocPortable}, unsigned{hipHostMallocMapped},
                           unsigned{hipHostMallocWriteCombined}, unsigned{hipHostMallocCoherent},
                           unsigned{hipHostMallocNonCoherent}, unsigned{hipHostMallocNumaUser}}) {
        int *host = nullptr, *device = nullptr;
        if (!OK(hipHostMalloc(&host, count * sizeof(int), flags)))
            continue;
        OK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
        shared_with_host(host, device, count);
        unsigned got = 0, common = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined;
        OK(hipHostGetFlags(&got, host));
        CHECK((got & common) == (flags & common), "%#x, expected %#x", got, flags);
        OK(hipHostFree(host));
    }
}

static void registered_memory()
{
    const int count = 100000;
    std::vector<int> memory(count + 8);
    int *host = memory.data() + 3, *device = nullptr;
    NEED_OK(hipHostRegister(host, count * sizeof(int), hipHostRegisterDefault));
    OK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    shared_with_host(host, device, count);
    // A copy uses the registered pages directly.
    Array<int> copy(count);
    OK(hipMemcpy(copy, host, copy.bytes(), hipMemcpyHostToDevice));
    SAME(copy.values(), std::vector<int>(host, host + count));
    OK(hipHostUnregister(host));
    // A mapping of its own.
    size_t size = 1 << 20;
    void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(pages != MAP_FAILED);
    OK(hipHostRegister(pages, size, hipHostRegisterMapped));
    OK(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), pages, 0));
    shared_with_host(static_cast<int *>(pages), device, 1000);
    OK(hipHostUnregister(pages));
    munmap(pages, size);
}

__managed__ int managed_variable = 41;

static void managed_memory()
{
    const int count = 3000;
    int *memory = nullptr;
    NEED_OK(hipMallocManaged(reinterpret_cast<void **>(&memory), count * sizeof(int), hipMemAttachGlobal));
    shared_with_host(memory, memory, count);
    // Twice in turn: each side sees what the other wrote.
    for (int i = 0; i < count; i++)
        memory[i] *= 2;
    run_add_one(memory, count);
    SAME(std::vector<int>(memory, memory + count), made(count, [](size_t i) { return 2 * (static_cast<int>(i) + 1) + 1; }));
    OK(hipFree(memory));
    run_add_one(&managed_variable, 1);
    CHECK(managed_variable == 42, "%d", managed_variable);
    managed_variable = 1000;
    run_add_one(&managed_variable, 1);
    CHECK(managed_variable == 1001, "%d", managed_variable);
}

static void pointer_information()
{
    Array<int> device(100);
    int *host = nullptr, local = 0;
    NEED_OK(hipHostMalloc(&host, 400, 0));
    hipPointerAttribute_t attributes{};
    OK(hipPointerGetAttributes(&attributes, static_cast<int *>(device) + 10));
    CHECK(attributes.memoryType == hipMemoryTypeDevice && attributes.device == 0, "%d %d", attributes.memoryType,
          attributes.device);
    CHECK(attributes.devicePointer == static_cast<int *>(device) + 10, "%p", attributes.devicePointer);
    OK(hipPointerGetAttributes(&attributes, host));
    CHECK(attributes.memoryType == hipMemoryTypeHost, "%d", attributes.memoryType);
    CHECK(attributes.hostPointer == host && attributes.devicePointer != nullptr, "%p", attributes.hostPointer);
    FAILS(hipPointerGetAttributes(&attributes, &local), hipErrorInvalidValue);
    OK(hipHostFree(host));
}

int main()
{
    device_memory();
    pitched_memory();
    host_memory();
    registered_memory();
    managed_memory();
    pointer_information();
    return summary();
}
