// Textures need the image extension; a device without it says so, and goes on.
#include "check.hpp"

__global__ void one(int *out)
{
    out[threadIdx.x] = 1;
}

int main()
{
    int supported = -1;
    OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeImageSupport, 0));
    hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
    hipArray *array = nullptr;
    hipError_t error = hipMallocArray(&array, &format, 64, 64, hipArrayDefault);
    if (supported) {
        CHECK(error == hipSuccess && array != nullptr, "%s", hipGetErrorName(error));
        OK(hipFreeArray(array));
    } else {
        CHECK(error != hipSuccess, "%s", hipGetErrorName(error));
        (void)hipGetLastError();
        Array<float> memory(64);
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeLinear;
        resource.res.linear.devPtr = memory;
        resource.res.linear.desc = format;
        resource.res.linear.sizeInBytes = memory.bytes();
        hipTextureDesc texture{};
        texture.readMode = hipReadModeElementType;
        hipTextureObject_t object = nullptr;
        FAILS(hipCreateTextureObject(&object, &resource, &texture, nullptr), hipErrorNotSupported);
    }
    Array<int> out(64);
    one<<<1, 64>>>(out);
    SAME(out.values(), std::vector<int>(64, 1));
    return summary();
}
