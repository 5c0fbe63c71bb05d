// Devices, their properties and attributes. Arguments: the number of devices and the chip that the test has set up.
#include "check.hpp"

// The attribute that is the same number as a member of the properties.
struct Pair {
    hipDeviceAttribute_t attribute;
    long long member;
    const char *name;
};
#define PAIR(attribute, member) Pair{attribute, static_cast<long long>(properties.member), #member}

static void check_device(int device, const char *chip)
{
    hipDeviceProp_t properties{};
    NEED_OK(hipGetDeviceProperties(&properties, device));
    CHECK(properties.name[0] != 0, "device %d", device);
    CHECK(strncmp(properties.gcnArchName, chip, strlen(chip)) == 0, "%s", properties.gcnArchName);
    CHECK(properties.warpSize == 64, "%d", properties.warpSize);
    CHECK(properties.maxThreadsPerBlock == 1024, "%d", properties.maxThreadsPerBlock);
    CHECK(properties.sharedMemPerBlock == 64 << 10, "%zu", properties.sharedMemPerBlock);
    CHECK(properties.totalGlobalMem >= 64u << 20, "%zu", properties.totalGlobalMem);
    CHECK(properties.multiProcessorCount > 0, "%d", properties.multiProcessorCount);
    CHECK(properties.clockRate > 0, "%d kHz", properties.clockRate);
    CHECK(properties.memoryClockRate > 0, "%d kHz", properties.memoryClockRate);
    CHECK(properties.memoryBusWidth > 0, "%d", properties.memoryBusWidth);
    CHECK(properties.maxThreadsPerMultiProcessor >= 1024, "%d", properties.maxThreadsPerMultiProcessor);
    CHECK(properties.cooperativeLaunch == 1, "%d", properties.cooperativeLaunch);
    CHECK(properties.canMapHostMemory == 1, "%d", properties.canMapHostMemory);
    CHECK(properties.arch.hasGlobalInt64Atomics && properties.arch.hasDoubles, "device %d", device);
    // gfx900 is 9.0; the stepping is not a part of what HIP calls the capability.
    CHECK(properties.major == 9 && properties.minor == 0, "%d.%d", properties.major, properties.minor);

    const Pair pairs[] = {
        PAIR(hipDeviceAttributeWarpSize, warpSize),
        PAIR(hipDeviceAttributeMaxThreadsPerBlock, maxThreadsPerBlock),
        PAIR(hipDeviceAttributeMaxBlockDimX, maxThreadsDim[0]),
        PAIR(hipDeviceAttributeMaxBlockDimY, maxThreadsDim[1]),
        PAIR(hipDeviceAttributeMaxBlockDimZ, maxThreadsDim[2]),
        PAIR(hipDeviceAttributeMaxGridDimX, maxGridSize[0]),
        PAIR(hipDeviceAttributeMaxGridDimY, maxGridSize[1]),
        PAIR(hipDeviceAttributeMaxGridDimZ, maxGridSize[2]),
        PAIR(hipDeviceAttributeMaxSharedMemoryPerBlock, sharedMemPerBlock),
        PAIR(hipDeviceAttributeTotalConstantMemory, totalConstMem),
        PAIR(hipDeviceAttributeClockRate, clockRate),
        PAIR(hipDeviceAttributeMemoryClockRate, memoryClockRate),
        PAIR(hipDeviceAttributeMemoryBusWidth, memoryBusWidth),
        PAIR(hipDeviceAttributeMultiprocessorCount, multiProcessorCount),
        PAIR(hipDeviceAttributeL2CacheSize, l2CacheSize),
        PAIR(hipDeviceAttributeMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
        PAIR(hipDeviceAttributeComputeCapabilityMajor, major),
        PAIR(hipDeviceAttributeComputeCapabilityMinor, minor),
        PAIR(hipDeviceAttributePciBusId, pciBusID),
        PAIR(hipDeviceAttributePciDeviceId, pciDeviceID),
        PAIR(hipDeviceAttributeCooperativeLaunch, cooperativeLaunch),
        PAIR(hipDeviceAttributeIntegrated, integrated),
        PAIR(hipDeviceAttributeManagedMemory, managedMemory),
    };
    for (const Pair &pair : pairs) {
        int value = -1;
        OK(hipDeviceGetAttribute(&value, pair.attribute, device));
        CHECK(value == pair.member, "%s: %d, %lld", pair.name, value, pair.member);
    }

    size_t total = 0;
    OK(hipDeviceTotalMem(&total, device));
    CHECK(total == properties.totalGlobalMem, "%zu, %zu", total, properties.totalGlobalMem);
    char name[256];
    OK(hipDeviceGetName(name, sizeof name, device));
    CHECK(strcmp(name, properties.name) == 0, "%s, %s", name, properties.name);
    int major = 0, minor = 0;
    OK(hipDeviceComputeCapability(&major, &minor, device));
    CHECK(major == properties.major && minor == properties.minor, "%d.%d", major, minor);
    char bus[64];
    OK(hipDeviceGetPCIBusId(bus, sizeof bus, device));
    int by_bus = -1;
    OK(hipDeviceGetByPCIBusId(&by_bus, bus));
    CHECK(by_bus == device, "%s is device %d, expected %d", bus, by_bus, device);
}

int main(int argc, char **argv)
{
    int expected = argc > 1 ? atoi(argv[1]) : 1;
    const char *chip = argc > 2 ? argv[2] : "gfx900";
    int count = 0;
    NEED_OK(hipGetDeviceCount(&count));
    CHECK(count == expected, "%d devices, expected %d", count, expected);
    for (int device = 0; device < count; device++)
        check_device(device, chip);

    int current = -1;
    OK(hipGetDevice(&current));
    CHECK(current == 0, "device %d", current);
    for (int device = 0; device < count; device++) {
        OK(hipSetDevice(device));
        OK(hipGetDevice(&current));
        CHECK(current == device, "device %d", current);
        OK(hipDeviceSynchronize());
        size_t free = 0, total = 0;
        OK(hipMemGetInfo(&free, &total));
        CHECK(free > 0 && free <= total, "%zu of %zu", free, total);
    }
    FAILS(hipSetDevice(count), hipErrorInvalidDevice);
    FAILS(hipSetDevice(-1), hipErrorInvalidDevice);
    OK(hipSetDevice(0));
    hipDeviceProp_t properties{};
    FAILS(hipGetDeviceProperties(&properties, count), hipErrorInvalidDevice);
    FAILS(hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);
    int value = 0;
    FAILS(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count), hipErrorInvalidDevice);
    FAILS(hipGetDeviceCount(nullptr), hipErrorInvalidValue);

    int version = 0;
    OK(hipRuntimeGetVersion(&version));
    CHECK(version >= 50000000, "%d", version);
    OK(hipDriverGetVersion(&version));
    CHECK(version > 0, "%d", version);
    int least = 0, greatest = 0;
    OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(greatest < least, "%d, %d", greatest, least);
    size_t limit = 0;
    OK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
    CHECK(limit > 0, "%zu", limit);
    int chosen = -1;
    OK(hipGetDeviceProperties(&properties, 0));
    OK(hipChooseDevice(&chosen, &properties));
    CHECK(chosen >= 0 && chosen < count, "%d", chosen);
    unsigned flags = 99;
    OK(hipGetDeviceFlags(&flags));
    OK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    OK(hipGetDeviceFlags(&flags));
    CHECK((flags & hipDeviceScheduleMask) == hipDeviceScheduleBlockingSync, "%#x", flags);
    OK(hipDeviceReset());
    // Usable after the reset.
    void *memory = nullptr;
    OK(hipMalloc(&memory, 64));
    OK(hipFree(memory));
    return summary();
}
