// Rectangles and boxes: hipMemcpy2D, hipMemcpy3D and their driver forms, in every direction.
#include "check.hpp"

using Bytes = std::vector<uint8_t>;

static Bytes pattern(size_t size)
{
    return made(size, [](size_t i) { return static_cast<uint8_t>(i * 31 + (i >> 8) * 7 + 1); });
}

struct Box {
    size_t width, height, depth;          // what is copied, in bytes, rows, slices
    size_t x, y, z;                       // where it begins
    size_t pitch, rows, slices;           // the memory around it
    size_t size() const
    {
        return pitch * rows * slices;
    }
    size_t at(size_t row, size_t slice) const
    {
        return ((z + slice) * rows + y + row) * pitch + x;
    }
};

// What a copy of a box makes of a target.
static void expect(Bytes &target, const Box &to, const Bytes &source, const Box &from)
{
    for (size_t slice = 0; slice < from.depth; slice++)
        for (size_t row = 0; row < from.height; row++)
            memcpy(&target[to.at(row, slice)], &source[from.at(row, slice)], from.width);
}

static void copy_2d(size_t width, size_t height, size_t from_pitch, size_t to_pitch, bool pinned)
{
    Box from{width, height, 1, 0, 0, 0, from_pitch, height, 1}, to{width, height, 1, 0, 0, 0, to_pitch, height, 1};
    Bytes source = pattern(from.size()), target(to.size(), 0x77), back(from.size(), 0x55);
    Array<uint8_t> device(to.size()), second(to.size());
    uint8_t *host = source.data(), *host_back = back.data();
    if (pinned) {
        NEED_OK(hipHostMalloc(&host, from.size(), 0));
        NEED_OK(hipHostMalloc(&host_back, from.size(), 0));
        memcpy(host, source.data(), from.size());
        memcpy(host_back, back.data(), from.size());
    }
    OK(hipMemset(device, 0x77, device.bytes()));
    OK(hipMemset(second, 0x77, second.bytes()));
    OK(hipMemcpy2D(device, to_pitch, host, from_pitch, width, height, hipMemcpyHostToDevice));
    expect(target, to, source, from);
    SAME(device.values(), target);
    OK(hipMemcpy2D(second, to_pitch, device, to_pitch, width, height, hipMemcpyDeviceToDevice));
    SAME(second.values(), target);
    OK(hipMemcpy2DAsync(host_back, from_pitch, second, to_pitch, width, height, hipMemcpyDeviceToHost, nullptr));
    OK(hipStreamSynchronize(nullptr));
    Bytes want(from.size(), 0x55);
    expect(want, from, target, to);
    SAME(Bytes(host_back, host_back + from.size()), want);
    if (pinned) {
        OK(hipHostFree(host));
        OK(hipHostFree(host_back));
    }
}

static hipMemcpy3DParms parameters(const Box &to, uint8_t *target, const Box &from, uint8_t *source, hipMemcpyKind kind)
{
    hipMemcpy3DParms parameters{};
    parameters.srcPtr = make_hipPitchedPtr(source, from.pitch, from.pitch, from.rows);
    parameters.dstPtr = make_hipPitchedPtr(target, to.pitch, to.pitch, to.rows);
    parameters.srcPos = make_hipPos(from.x, from.y, from.z);
    parameters.dstPos = make_hipPos(to.x, to.y, to.z);
    parameters.extent = make_hipExtent(from.width, from.height, from.depth);
    parameters.kind = kind;
    return parameters;
}

static void copy_3d(const Box &from, const Box &to)
{
    Bytes source = pattern(from.size()), target(to.size(), 0x77), back(from.size(), 0x55);
    Array<uint8_t> device(to.size()), second(to.size());
    OK(hipMemset(device, 0x77, device.bytes()));
    OK(hipMemset(second, 0x77, second.bytes()));
    hipMemcpy3DParms there = parameters(to, device, from, source.data(), hipMemcpyHostToDevice);
    OK(hipMemcpy3D(&there));
    expect(target, to, source, from);
    SAME(device.values(), target);
    hipMemcpy3DParms between = parameters(to, second, to, device, hipMemcpyDeviceToDevice);
    between.extent = there.extent;
    OK(hipMemcpy3DAsync(&between, nullptr));
    OK(hipStreamSynchronize(nullptr));
    SAME(second.values(), target);
    hipMemcpy3DParms home = parameters(from, back.data(), to, second, hipMemcpyDeviceToHost);
    home.extent = there.extent;
    OK(hipMemcpy3D(&home));
    Bytes want(from.size(), 0x55);
    Box part = to;
    part.width = from.width, part.height = from.height, part.depth = from.depth;
    expect(want, from, target, part);
    SAME(back, want);
}

static void driver_forms()
{
    Box from{40, 5, 3, 8, 1, 0, 64, 7, 4}, to{40, 5, 3, 16, 2, 1, 128, 8, 5};
    Bytes source = pattern(from.size()), target(to.size(), 0);
    Array<uint8_t> device(to.size());
    OK(hipMemset(device, 0, device.bytes()));
    hip_Memcpy2D flat{};
    flat.srcMemoryType = hipMemoryTypeHost;
    flat.srcHost = source.data();
    flat.srcPitch = from.pitch;
    flat.srcXInBytes = from.x;
    flat.srcY = from.y;
    flat.dstMemoryType = hipMemoryTypeDevice;
    flat.dstDevice = hipDeviceptr_t(static_cast<uint8_t *>(device));
    flat.dstPitch = to.pitch;
    flat.dstXInBytes = to.x;
    flat.dstY = to.y;
    flat.WidthInBytes = 40;
    flat.Height = 5;
    OK(hipMemcpyParam2D(&flat));
    Box from_flat = from, to_flat = to;
    from_flat.depth = to_flat.depth = 1;
    from_flat.z = to_flat.z = 0;
    expect(target, to_flat, source, from_flat);
    SAME(device.values(), target);
    HIP_MEMCPY3D box{};
    box.srcMemoryType = hipMemoryTypeHost;
    box.srcHost = source.data();
    box.srcPitch = static_cast<unsigned>(from.pitch);
    box.srcHeight = static_cast<unsigned>(from.rows);
    box.srcXInBytes = static_cast<unsigned>(from.x);
    box.srcY = static_cast<unsigned>(from.y);
    box.srcZ = static_cast<unsigned>(from.z);
    box.dstMemoryType = hipMemoryTypeDevice;
    box.dstDevice = hipDeviceptr_t(static_cast<uint8_t *>(device));
    box.dstPitch = static_cast<unsigned>(to.pitch);
    box.dstHeight = static_cast<unsigned>(to.rows);
    box.dstXInBytes = static_cast<unsigned>(to.x);
    box.dstY = static_cast<unsigned>(to.y);
    box.dstZ = static_cast<unsigned>(to.z);
    box.WidthInBytes = 40;
    box.Height = 5;
    box.Depth = 3;
    OK(hipDrvMemcpy3D(&box));
    expect(target, to, source, from);
    SAME(device.values(), target);
}

int main()
{
    for (bool pinned : {false, true}) {
        copy_2d(100, 7, 100, 100, pinned);
        copy_2d(100, 7, 128, 256, pinned);
        copy_2d(33, 50, 35, 64, pinned);
        copy_2d(4096, 300, 5000, 8192, pinned);
        copy_2d(1, 100, 4, 4, pinned);
    }
    copy_3d({16, 4, 3, 0, 0, 0, 16, 4, 3}, {16, 4, 3, 0, 0, 0, 16, 4, 3});
    copy_3d({20, 3, 2, 4, 1, 1, 64, 5, 4}, {20, 3, 2, 8, 2, 1, 96, 6, 3});
    copy_3d({31, 9, 5, 1, 0, 2, 40, 10, 8}, {31, 9, 5, 3, 1, 0, 37, 11, 5});
    driver_forms();
    Array<uint8_t> device(100);
    uint8_t host[100] = {};
    FAILS(hipMemcpy2D(device, 5, host, 10, 10, 2, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
    FAILS(hipMemcpy2D(nullptr, 10, host, 10, 10, 2, hipMemcpyHostToDevice), hipErrorInvalidValue);
    OK(hipMemcpy2D(device, 10, host, 10, 0, 2, hipMemcpyHostToDevice));
    return summary();
}
