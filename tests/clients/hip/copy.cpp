// hipMemcpy in every direction and kind, at the sizes where HIP changes its way of copying (64 bytes, 255, 8 KiB, 1 MiB,
// 32 MiB), at odd offsets, and in streams.
#include "check.hpp"

using Bytes = std::vector<uint8_t>;

static Bytes pattern(size_t size, unsigned seed)
{
    return made(size, [=](size_t i) { return static_cast<uint8_t>((i * 2654435761u + seed * 97) >> 11); });
}

// Host to device and back, through ordinary or pinned memory; the neighbours must not change.
static void round_trip(size_t size, size_t offset, bool pinned)
{
    const size_t guard = 64;
    Bytes data = pattern(size, static_cast<unsigned>(size)), back(size);
    uint8_t *device = nullptr, *host = data.data(), *host_back = back.data();
    NEED_OK(hipMalloc(&device, size + offset + guard));
    OK(hipMemset(device, 0xee, size + offset + guard));
    if (pinned) {
        NEED_OK(hipHostMalloc(&host, size, 0));
        NEED_OK(hipHostMalloc(&host_back, size, 0));
        memcpy(host, data.data(), size);
    }
    OK(hipMemcpy(device + offset, host, size, hipMemcpyHostToDevice));
    OK(hipMemcpy(host_back, device + offset, size, hipMemcpyDeviceToHost));
    SAME(Bytes(host_back, host_back + size), data);
    Bytes around(guard), before(offset);
    OK(hipMemcpy(around.data(), device + offset + size, guard, hipMemcpyDeviceToHost));
    SAME(around, Bytes(guard, 0xee));
    OK(hipMemcpy(before.data(), device, offset, hipMemcpyDeviceToHost));
    SAME(before, Bytes(offset, 0xee));
    if (pinned) {
        OK(hipHostFree(host));
        OK(hipHostFree(host_back));
    }
    OK(hipFree(device));
}

static void on_device(size_t size, size_t from, size_t to)
{
    Bytes data = pattern(size + from, 3);
    Array<uint8_t> source(data), target(size + to + 16);
    OK(hipMemset(target, 0x11, target.bytes()));
    OK(hipMemcpy(target + to, source + from, size, hipMemcpyDeviceToDevice));
    Bytes want(size + to + 16, 0x11);
    std::copy(data.begin() + static_cast<long>(from), data.end(), want.begin() + static_cast<long>(to));
    SAME(target.values(), want);
}

static void kinds()
{
    const size_t size = 1000;
    Bytes data = pattern(size, 8), back(size);
    Array<uint8_t> device(size), other(size);
    OK(hipMemcpy(device, data.data(), size, hipMemcpyDefault));
    OK(hipMemcpy(other, device, size, hipMemcpyDefault));
    OK(hipMemcpy(back.data(), other, size, hipMemcpyDefault));
    SAME(back, data);
    Bytes copy(size);
    OK(hipMemcpy(copy.data(), data.data(), size, hipMemcpyHostToHost));
    SAME(copy, data);
    OK(hipMemcpyHtoD(hipDeviceptr_t(static_cast<uint8_t *>(other)), data.data() + 1, size - 1));
    OK(hipMemcpyDtoD(hipDeviceptr_t(static_cast<uint8_t *>(device)), hipDeviceptr_t(static_cast<uint8_t *>(other)), size));
    OK(hipMemcpyDtoH(back.data(), hipDeviceptr_t(static_cast<uint8_t *>(device)), size - 1));
    CHECK(memcmp(back.data(), data.data() + 1, size - 1) == 0, "%s", "");
    // Nothing to copy is success.
    OK(hipMemcpy(device, data.data(), 0, hipMemcpyHostToDevice));
    FAILS(hipMemcpy(nullptr, data.data(), size, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(device, nullptr, size, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(device, data.data(), size + 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
}

__global__ void twice(uint32_t *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= 2;
}

// Copies and kernels in one stream keep their order, whatever they wait for.
static void in_streams()
{
    const int count = 300000;
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    Array<uint32_t> device(count), second(count);
    uint32_t *pinned = nullptr, *result = nullptr;
    NEED_OK(hipHostMalloc(&pinned, device.bytes(), 0));
    NEED_OK(hipHostMalloc(&result, device.bytes(), 0));
    for (int i = 0; i < count; i++)
        pinned[i] = static_cast<uint32_t>(i);
    for (int round = 1; round <= 3; round++) {
        OK(hipMemcpyAsync(device, pinned, device.bytes(), hipMemcpyHostToDevice, stream));
        twice<<<(count + 255) / 256, 256, 0, stream>>>(device, count);
        OK(hipMemcpyAsync(second, device, device.bytes(), hipMemcpyDeviceToDevice, stream));
        twice<<<(count + 255) / 256, 256, 0, stream>>>(second, count);
        OK(hipMemcpyAsync(result, second, device.bytes(), hipMemcpyDeviceToHost, stream));
        OK(hipStreamSynchronize(stream));
        SAME(std::vector<uint32_t>(result, result + count),
             made(count, [](size_t i) { return static_cast<uint32_t>(4 * i); }));
    }
    std::vector<uint32_t> pageable(count, 5), back(count);
    OK(hipMemcpyAsync(device, pageable.data(), device.bytes(), hipMemcpyHostToDevice, stream));
    twice<<<(count + 255) / 256, 256, 0, stream>>>(device, count);
    OK(hipMemcpyAsync(back.data(), device, device.bytes(), hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    SAME(back, std::vector<uint32_t>(count, 10));
    OK(hipMemcpyWithStream(back.data(), second, second.bytes(), hipMemcpyDeviceToHost, stream));
    CHECK(back[count - 1] == 4u * (count - 1), "%u", back[count - 1]);
    OK(hipHostFree(pinned));
    OK(hipHostFree(result));
    OK(hipStreamDestroy(stream));
}

int main()
{
    for (size_t size : {1, 2, 3, 4, 15, 63, 64, 65, 254, 255, 256, 257, 4095, 4096, 8191, 8192, 8193, 100000, 1048575,
                        1048576, 1048577, 5000001})
        for (bool pinned : {false, true})
            round_trip(size, size % 7, pinned);
    // More than one chunk of the pinned staging that HIP uses.
    round_trip((33 << 20) + 5, 3, false);
    round_trip((33 << 20) + 5, 3, true);
    for (size_t size : {1, 3, 4, 16, 255, 4096, 65537, 3000000})
        for (size_t shift : {0, 1, 4, 13})
            on_device(size, shift, shift == 4 ? 2 : shift);
    kinds();
    in_streams();
    return summary();
}
