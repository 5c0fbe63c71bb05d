// Textures and surfaces: arrays of one to three dimensions and their layers, linear and pitched memory, objects and
// references, against filtering done by the host.
#include "check.hpp"

#include <algorithm>
#include <cmath>

using Float4 = HIP_vector_type<float, 4>;

// One result for each point, through the object.
template <class T> __global__ void read_1d(hipTextureObject_t object, const Float4 *at, T *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1D<T>(object, at[i].x);
}
template <class T> __global__ void read_2d(hipTextureObject_t object, const Float4 *at, T *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<T>(object, at[i].x, at[i].y);
}
template <class T> __global__ void read_3d(hipTextureObject_t object, const Float4 *at, T *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex3D<T>(object, at[i].x, at[i].y, at[i].z);
}
template <class T> __global__ void read_layers(hipTextureObject_t object, const Float4 *at, T *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DLayered<T>(object, at[i].x, at[i].y, (int)at[i].z);
}
__global__ void read_lod(hipTextureObject_t object, const Float4 *at, float *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DLod<float>(object, at[i].x, at[i].y, 0.0f);
}
__global__ void read_grad(hipTextureObject_t object, const Float4 *at, float *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2DGrad<float>(object, at[i].x, at[i].y, float2(0.01f, 0.0f), float2(0.0f, 0.01f));
}
__global__ void read_gather(hipTextureObject_t object, const Float4 *at, float4 *out)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    // HIP 5.2.3 counts components from 1.
    out[i] = tex2Dgather<float4>(object, at[i].x, at[i].y, 1);
}
template <class T> __global__ void fetch(hipTextureObject_t object, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<T>(object, i);
}

template <class T> static hipTextureObject_t texture_of(const hipResourceDesc &resource, hipTextureAddressMode mode,
                                                        hipTextureFilterMode filter, bool normalized,
                                                        hipTextureReadMode read = hipReadModeElementType)
{
    hipTextureDesc description{};
    for (auto &axis : description.addressMode)
        axis = mode;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = normalized;
    hipTextureObject_t object = nullptr;
    NEED_OK(hipCreateTextureObject(&object, &resource, &description, nullptr));
    NEED(object != nullptr);
    return object;
}

static hipResourceDesc resource_of(hipArray *array)
{
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

// What an array holds: a number for each place that looks random and is small, exact in float.
static float value(int x, int y, int z)
{
    return static_cast<float>((x * 37 + y * 101 + z * 59 + x * y) % 97 - 40);
}

struct Size {
    int width, height, depth;
    int dimensions() const
    {
        return depth ? 3 : height ? 2 : 1;
    }
    size_t count() const
    {
        return size_t(width) * std::max(height, 1) * std::max(depth, 1);
    }
};

static std::vector<float> values_of(Size size)
{
    std::vector<float> values;
    for (int z = 0; z < std::max(size.depth, 1); z++)
        for (int y = 0; y < std::max(size.height, 1); y++)
            for (int x = 0; x < size.width; x++)
                values.push_back(value(x, y, z));
    return values;
}

static bool inside(hipTextureAddressMode mode, int &index, int size)
{
    int twice = ((index % (2 * size)) + 2 * size) % (2 * size);
    switch (mode) {
    case hipAddressModeWrap: index = ((index % size) + size) % size; break;
    case hipAddressModeMirror: index = twice < size ? twice : 2 * size - 1 - twice; break;
    case hipAddressModeClamp: index = std::clamp(index, 0, size - 1); break;
    default: break;
    }
    return index >= 0 && index < size;
}

// Filtering of values at a point in elements, in double precision.
static double model(Size size, hipTextureAddressMode mode, bool linear, const double at[3])
{
    const int sizes[3] = {size.width, size.height, size.depth};
    double sum = 0;
    for (int corner = 0; corner < (linear ? 1 << size.dimensions() : 1); corner++) {
        double weight = 1;
        int place[3] = {0, 0, 0};
        bool border = false;
        for (int axis = 0; axis < size.dimensions(); axis++) {
            double from = linear ? at[axis] - 0.5 : at[axis];
            double first = std::floor(from);
            int upper = linear ? corner >> axis & 1 : 0;
            if (linear)
                weight *= upper ? from - first : 1 - (from - first);
            place[axis] = static_cast<int>(first) + upper;
            border |= !inside(mode, place[axis], sizes[axis]);
        }
        if (!border)
            sum += weight * value(place[0], place[1], place[2]);
    }
    return sum;
}

// Points in and around an array, away from where a rounding decides.
static std::vector<Float4> points_of(Size size)
{
    Numbers numbers(size.count());
    return made(512, [&](size_t) {
        auto along = [&](int extent) {
            return extent ? (static_cast<float>(numbers.below(extent * 32)) - extent * 8.0f) / 16.0f + 0.02f : 0.0f;
        };
        float x = along(size.width), y = along(size.height), z = along(size.depth);
        return Float4(x, y, z, 0.0f);
    });
}

static void filter(Size size, hipArray *array, const char *what)
{
    std::vector<Float4> points = points_of(size);
    for (auto mode : {hipAddressModeWrap, hipAddressModeMirror, hipAddressModeClamp, hipAddressModeBorder})
        for (bool linear : {false, true})
            for (bool normalized : {false, true}) {
                // The others are defined for normalised coordinates only.
                if (!normalized && (mode == hipAddressModeWrap || mode == hipAddressModeMirror))
                    continue;
                hipTextureObject_t object =
                    texture_of<float>(resource_of(array), mode, linear ? hipFilterModeLinear : hipFilterModePoint, normalized);
                auto given = points;
                if (normalized)
                    for (auto &point : given) {
                        point.x /= size.width;
                        point.y /= std::max(size.height, 1);
                        point.z /= std::max(size.depth, 1);
                    }
                Array<Float4> at(given);
                Array<float> out(points.size());
                auto *kernel = size.dimensions() == 1 ? read_1d<float> : size.dimensions() == 2 ? read_2d<float> : read_3d<float>;
                kernel<<<points.size() / 64, 64>>>(object, at, out);
                OK(hipGetLastError());
                std::vector<float> got = out.values();
                size_t wrong = 0, first = 0;
                // Weights have eight bits; values differ by at most 96.
                const double bound = linear ? size.dimensions() * 96.0 / 256.0 : 0.0;
                for (size_t i = 0; i < points.size(); i++) {
                    const double place[3] = {points[i].x, points[i].y, points[i].z};
                    double want = model(size, mode, linear, place);
                    if (!(std::fabs(got[i] - want) <= bound) && wrong++ == 0)
                        first = i;
                }
                const double place[3] = {points[first].x, points[first].y, points[first].z};
                CHECK(wrong == 0, "%s, mode %d, linear %d, normalized %d: %zu wrong, the first at %g %g %g is %g, not %g", what,
                      mode, linear, normalized, wrong, place[0], place[1], place[2], got[first],
                      model(size, mode, linear, place));
                OK(hipDestroyTextureObject(object));
            }
}

static void arrays()
{
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    {
        Size size{100, 0, 0};
        hipArray *array = nullptr;
        NEED_OK(hipMallocArray(&array, &format, size.width, 0, hipArrayDefault));
        auto values = values_of(size);
        OK(hipMemcpy2DToArray(array, 0, 0, values.data(), size.width * 4, size.width * 4, 1, hipMemcpyHostToDevice));
        filter(size, array, "1D");
        OK(hipFreeArray(array));
    }
    {
        Size size{33, 17, 0};
        hipArray *array = nullptr;
        NEED_OK(hipMallocArray(&array, &format, size.width, size.height, hipArrayDefault));
        auto values = values_of(size);
        OK(hipMemcpy2DToArray(array, 0, 0, values.data(), size.width * 4, size.width * 4, size.height, hipMemcpyHostToDevice));
        std::vector<float> back(values.size());
        OK(hipMemcpy2DFromArray(back.data(), size.width * 4, array, 0, 0, size.width * 4, size.height, hipMemcpyDeviceToHost));
        SAME(back, values);
        filter(size, array, "2D");

        // A part, with another pitch in memory of the host, and from memory of the device.
        std::vector<float> part(40 * 5, -7.0f);
        OK(hipMemcpy2DToArray(array, 8 * 4, 3, part.data(), 40 * 4, 10 * 4, 5, hipMemcpyHostToDevice));
        Array<float> device(std::vector<float>(64 * 2, 5.0f));
        OK(hipMemcpy2DToArray(array, 0, 15, device, 64 * 4, 33 * 4, 2, hipMemcpyDeviceToDevice));
        auto want = values;
        for (int y = 3; y < 8; y++)
            std::fill_n(want.begin() + y * 33 + 8, 10, -7.0f);
        std::fill(want.begin() + 15 * 33, want.end(), 5.0f);
        OK(hipMemcpy2DFromArray(back.data(), size.width * 4, array, 0, 0, size.width * 4, size.height, hipMemcpyDeviceToHost));
        SAME(back, want);
        Array<float> out(33 * 17);
        OK(hipMemcpy2DFromArray(out, 33 * 4, array, 0, 0, 33 * 4, 17, hipMemcpyDeviceToDevice));
        SAME(out.values(), want);
        OK(hipFreeArray(array));
    }
    {
        Size size{20, 9, 5};
        hipArray *array = nullptr;
        NEED_OK(hipMalloc3DArray(&array, &format, make_hipExtent(size.width, size.height, size.depth), hipArrayDefault));
        auto values = values_of(size);
        hipMemcpy3DParms copy{};
        copy.srcPtr = make_hipPitchedPtr(values.data(), size.width * 4, size.width, size.height);
        copy.dstArray = array;
        copy.extent = make_hipExtent(size.width, size.height, size.depth);
        copy.kind = hipMemcpyHostToDevice;
        OK(hipMemcpy3D(&copy));
        filter(size, array, "3D");
        OK(hipFreeArray(array));
    }
    {
        hipArray *array = nullptr;
        NEED_OK(hipMalloc3DArray(&array, &format, make_hipExtent(16, 8, 3), hipArrayLayered));
        auto values = values_of(Size{16, 8, 3});
        hipMemcpy3DParms copy{};
        copy.srcPtr = make_hipPitchedPtr(values.data(), 16 * 4, 16, 8);
        copy.dstArray = array;
        copy.extent = make_hipExtent(16, 8, 3);
        copy.kind = hipMemcpyHostToDevice;
        OK(hipMemcpy3D(&copy));
        auto object = texture_of<float>(resource_of(array), hipAddressModeClamp, hipFilterModePoint, false);
        auto points = made(16 * 8 * 3, [](size_t i) { return Float4(i % 16 + 0.5f, i / 16 % 8 + 0.5f, float(i / 128), 0.0f); });
        Array<Float4> at(points);
        Array<float> out(points.size());
        read_layers<float><<<6, 64>>>(object, at, out);
        SAME(out.values(), values);
        OK(hipDestroyTextureObject(object));
        OK(hipFreeArray(array));
    }
}

static void formats()
{
    // Bytes as fractions and as they are.
    auto bytes = made(16 * 16, [](size_t i) {
        auto part = [&](size_t step) { return static_cast<unsigned char>(i * step); };
        return make_uchar4(part(1), part(3), part(7), part(13));
    });
    hipChannelFormatDesc format = hipCreateChannelDesc(8, 8, 8, 8, hipChannelFormatKindUnsigned);
    hipArray *array = nullptr;
    NEED_OK(hipMallocArray(&array, &format, 16, 16, hipArrayDefault));
    OK(hipMemcpy2DToArray(array, 0, 0, bytes.data(), 16 * 4, 16 * 4, 16, hipMemcpyHostToDevice));
    auto points = made(16 * 16, [](size_t i) { return Float4(i % 16 + 0.5f, i / 16 + 0.5f, 0.0f, 0.0f); });
    Array<Float4> at(points);

    auto object = texture_of<float4>(resource_of(array), hipAddressModeClamp, hipFilterModePoint, false,
                                     hipReadModeNormalizedFloat);
    Array<float4> fractions(256);
    read_2d<float4><<<4, 64>>>(object, at, fractions);
    std::vector<float> got, want;
    for (float4 fraction : fractions.values())
        for (float part : {fraction.x, fraction.y, fraction.z, fraction.w})
            got.push_back(part);
    for (uchar4 byte : bytes)
        for (unsigned part : {byte.x, byte.y, byte.z, byte.w})
            want.push_back(static_cast<float>(part / 255.0));
    SAME(got, want);
    OK(hipDestroyTextureObject(object));

    object = texture_of<uchar4>(resource_of(array), hipAddressModeClamp, hipFilterModePoint, false);
    Array<uchar4> raw(256);
    read_2d<uchar4><<<4, 64>>>(object, at, raw);
    auto back = raw.values();
    CHECK(memcmp(back.data(), bytes.data(), 1024) == 0, "the first is %u %u", back[0].x, back[0].y);
    OK(hipDestroyTextureObject(object));
    OK(hipFreeArray(array));

    hipChannelFormatDesc shorts = hipCreateChannelDesc<short2>();
    NEED_OK(hipMallocArray(&array, &shorts, 16, 16, hipArrayDefault));
    auto numbers = made(16 * 16, [](size_t i) { return make_short2(static_cast<short>(i * 257 - 30000), static_cast<short>(-i)); });
    OK(hipMemcpy2DToArray(array, 0, 0, numbers.data(), 16 * 4, 16 * 4, 16, hipMemcpyHostToDevice));
    object = texture_of<short2>(resource_of(array), hipAddressModeClamp, hipFilterModePoint, false);
    Array<short2> read(256);
    read_2d<short2><<<4, 64>>>(object, at, read);
    auto again = read.values();
    CHECK(memcmp(again.data(), numbers.data(), 1024) == 0, "the first is %d %d", again[0].x, again[0].y);
    OK(hipDestroyTextureObject(object));
    OK(hipFreeArray(array));
}

static void special_reads()
{
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray *array = nullptr;
    NEED_OK(hipMallocArray(&array, &format, 16, 16, hipArrayDefault));
    auto values = values_of(Size{16, 16, 0});
    OK(hipMemcpy2DToArray(array, 0, 0, values.data(), 16 * 4, 16 * 4, 16, hipMemcpyHostToDevice));
    auto object = texture_of<float>(resource_of(array), hipAddressModeClamp, hipFilterModePoint, true);
    auto points = made(256, [](size_t i) { return Float4((i % 16 + 0.5f) / 16, (i / 16 + 0.5f) / 16, 0.0f, 0.0f); });
    Array<Float4> at(points);
    Array<float> out(256);
    read_lod<<<4, 64>>>(object, at, out);
    SAME(out.values(), values, "tex2DLod");
    read_grad<<<4, 64>>>(object, at, out);
    SAME(out.values(), values, "tex2DGrad");
    // Between four elements.
    auto corners = made(64, [](size_t i) { return Float4((i % 8 + 1) / 16.0f, (i / 8 + 1) / 16.0f, 0.0f, 0.0f); });
    Array<Float4> between(corners);
    Array<float4> four(64);
    read_gather<<<1, 64>>>(object, between, four);
    std::vector<float> got, want;
    auto quads = four.values();
    for (int i = 0; i < 64; i++) {
        int x = i % 8, y = i / 8;
        for (float part : {quads[i].x, quads[i].y, quads[i].z, quads[i].w})
            got.push_back(part);
        for (float part : {value(x, y + 1, 0), value(x + 1, y + 1, 0), value(x + 1, y, 0), value(x, y, 0)})
            want.push_back(part);
    }
    SAME(got, want, "tex2Dgather");
    OK(hipDestroyTextureObject(object));
    OK(hipFreeArray(array));
}

static void linear_memory()
{
    auto numbers = made(1000, [](size_t i) { return static_cast<int>(i * 7 - 3000); });
    Array<int> memory(numbers);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = hipCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = memory.bytes();
    auto object = texture_of<int>(resource, hipAddressModeClamp, hipFilterModePoint, false);
    Array<int> out(1000);
    fetch<int><<<10, 100>>>(object, out);
    SAME(out.values(), numbers);
    OK(hipDestroyTextureObject(object));

    // Rows with a pitch.
    float *rows = nullptr;
    size_t pitch = 0;
    NEED_OK(hipMallocPitch(reinterpret_cast<void **>(&rows), &pitch, 33 * 4, 17));
    CHECK(pitch >= 33 * 4 && pitch % 4 == 0, "%zu", pitch);
    auto values = values_of(Size{33, 17, 0});
    OK(hipMemcpy2D(rows, pitch, values.data(), 33 * 4, 33 * 4, 17, hipMemcpyHostToDevice));
    hipResourceDesc pitched{};
    pitched.resType = hipResourceTypePitch2D;
    pitched.res.pitch2D.devPtr = rows;
    pitched.res.pitch2D.desc = hipCreateChannelDesc<float>();
    pitched.res.pitch2D.width = 33;
    pitched.res.pitch2D.height = 17;
    pitched.res.pitch2D.pitchInBytes = pitch;
    object = texture_of<float>(pitched, hipAddressModeClamp, hipFilterModePoint, false);
    auto points = made(576, [](size_t i) { return Float4(i % 33 + 0.5f, i / 33 % 17 + 0.5f, 0.0f, 0.0f); });
    Array<Float4> at(points);
    Array<float> read(576);
    read_2d<float><<<9, 64>>>(object, at, read);
    auto got = read.values();
    got.resize(33 * 17);
    SAME(got, values);
    OK(hipDestroyTextureObject(object));
    OK(hipFree(rows));
}

__global__ void draw(hipSurfaceObject_t surface, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width)
        surf2Dwrite<float>(x * 1000 + y, surface, x * 4, y);
}
__global__ void add(hipSurfaceObject_t surface, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    float old = 0;
    surf2Dread(&old, surface, x * 4, y);
    surf2Dwrite<float>(old + 500, surface, x * 4, y);
}

static void surfaces()
{
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray *array = nullptr;
    NEED_OK(hipMallocArray(&array, &format, 50, 20, hipArrayDefault));
    hipResourceDesc resource = resource_of(array);
    hipSurfaceObject_t surface = nullptr;
    NEED_OK(hipCreateSurfaceObject(&surface, &resource));
    draw<<<dim3(1, 20), 64>>>(surface, 50);
    add<<<dim3(1, 20), 64>>>(surface, 50);
    std::vector<float> back(50 * 20), want;
    OK(hipMemcpy2DFromArray(back.data(), 50 * 4, array, 0, 0, 50 * 4, 20, hipMemcpyDeviceToHost));
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 50; x++)
            want.push_back(x * 1000 + y + 500);
    SAME(back, want);
    OK(hipDestroySurfaceObject(surface));
    OK(hipFreeArray(array));
}

texture<float, hipTextureType2D, hipReadModeElementType> plane;
texture<int, hipTextureType1D, hipReadModeElementType> line;

__global__ void through_references(const Float4 *at, float *out, int *fetched)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D(plane, at[i].x, at[i].y);
    fetched[i] = tex1Dfetch(line, i);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static void references()
{
    hipChannelFormatDesc format = hipCreateChannelDesc<float>();
    hipArray *array = nullptr;
    NEED_OK(hipMallocArray(&array, &format, 16, 16, hipArrayDefault));
    auto values = values_of(Size{16, 16, 0});
    OK(hipMemcpy2DToArray(array, 0, 0, values.data(), 16 * 4, 16 * 4, 16, hipMemcpyHostToDevice));
    plane.addressMode[0] = plane.addressMode[1] = hipAddressModeWrap;
    plane.filterMode = hipFilterModePoint;
    plane.normalized = true;
    OK(hipBindTextureToArray(plane, array, format));
    auto numbers = made(256, [](size_t i) { return static_cast<int>(i * i); });
    Array<int> memory(numbers);
    size_t offset = 1;
    OK(hipBindTexture(&offset, line, static_cast<int *>(memory), hipCreateChannelDesc<int>(), memory.bytes()));
    CHECK(offset == 0, "%zu", offset);
    // One image to the right of the array.
    auto points = made(256, [](size_t i) { return Float4((i % 16 + 16.5f) / 16, (i / 16 + 0.5f) / 16, 0.0f, 0.0f); });
    Array<Float4> at(points);
    Array<float> out(256);
    Array<int> fetched(256);
    through_references<<<4, 64>>>(at, out, fetched);
    SAME(out.values(), values);
    SAME(fetched.values(), numbers);
    OK(hipUnbindTexture(plane));
    OK(hipUnbindTexture(line));
    OK(hipFreeArray(array));
}
#pragma clang diagnostic pop

int main()
{
    int supported = -1;
    OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeImageSupport, 0));
    CHECK(supported == 1, "%d", supported);
    hipDeviceProp_t properties{};
    OK(hipGetDeviceProperties(&properties, 0));
    CHECK(properties.maxTexture2D[0] == 16384 && properties.maxTexture2D[1] == 16384 && properties.maxTexture3D[2] == 8192,
          "%d %d %d", properties.maxTexture2D[0], properties.maxTexture2D[1], properties.maxTexture3D[2]);
    arrays();
    formats();
    special_reads();
    linear_memory();
    surfaces();
    references();
    return summary();
}
