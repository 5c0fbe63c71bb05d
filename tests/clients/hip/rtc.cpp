// Compilation at run time: hiprtc makes code objects that the module API runs.
#include "check.hpp"

#include <hip/hiprtc.h>

#define RTC(call) CHECK((call) == HIPRTC_SUCCESS, "%s", #call)

static const char source[] = R"(
#include "numbers.h"
extern "C" __global__ void axpy(float a, const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = a * x[i] + y[i] + OFFSET + FROM_HEADER;
}
template <class T, int N> __global__ void power(T *values)
{
    T value = values[threadIdx.x], result = 1;
    for (int i = 0; i < N; i++)
        result *= value;
    values[threadIdx.x] = result;
}
__device__ int variable = 12;
)";

static std::vector<char> compile(hiprtcProgram program, const char *chip)
{
    std::string arch = std::string("--gpu-architecture=") + chip;
    const char *options[] = {arch.c_str(), "-DOFFSET=100", "-O3"};
    hiprtcResult result = hiprtcCompileProgram(program, 3, options);
    size_t size = 0;
    RTC(hiprtcGetProgramLogSize(program, &size));
    std::string log(size, 0);
    if (size)
        RTC(hiprtcGetProgramLog(program, log.data()));
    CHECK(result == HIPRTC_SUCCESS, "%s %s", hiprtcGetErrorString(result), log.c_str());
    NEED(result == HIPRTC_SUCCESS);
    RTC(hiprtcGetCodeSize(program, &size));
    NEED(size > 0);
    std::vector<char> code(size);
    RTC(hiprtcGetCode(program, code.data()));
    return code;
}

int main()
{
    int major = 0, minor = 0;
    RTC(hiprtcVersion(&major, &minor));
    hipDeviceProp_t properties{};
    NEED_OK(hipGetDeviceProperties(&properties, 0));

    const char *headers[] = {"#define FROM_HEADER 1000\n"}, *names[] = {"numbers.h"};
    hiprtcProgram program = nullptr;
    RTC(hiprtcCreateProgram(&program, source, "own.cpp", 1, headers, names));
    NEED(program != nullptr);
    const char *expression = "power<double, 3>";
    RTC(hiprtcAddNameExpression(program, expression));
    RTC(hiprtcAddNameExpression(program, "&variable"));
    std::vector<char> code = compile(program, properties.gcnArchName);
    const char *lowered = nullptr, *lowered_variable = nullptr;
    RTC(hiprtcGetLoweredName(program, expression, &lowered));
    RTC(hiprtcGetLoweredName(program, "&variable", &lowered_variable));
    NEED(lowered != nullptr && lowered_variable != nullptr);

    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    NEED_OK(hipModuleLoadData(&module, code.data()));
    NEED_OK(hipModuleGetFunction(&function, module, "axpy"));
    Array<float> x(made(1000, [](size_t i) { return 1.0f * i; })), y(made(1000, [](size_t) { return 0.5f; }));
    float a = 3, *px = x, *py = y;
    int count = 1000;
    void *arguments[] = {&a, &px, &py, &count};
    OK(hipModuleLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    SAME(y.values(), made(1000, [](size_t i) { return 3.0f * i + 1100.5f; }));

    NEED_OK(hipModuleGetFunction(&function, module, lowered));
    Array<double> values(made(64, [](size_t i) { return i * 0.5; }));
    double *pv = values;
    void *pointer[] = {&pv};
    OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, pointer, nullptr));
    SAME(values.values(), made(64, [](size_t i) { return i * 0.5 * (i * 0.5) * (i * 0.5); }));
    hipDeviceptr_t address = nullptr;
    size_t size = 0;
    OK(hipModuleGetGlobal(&address, &size, module, lowered_variable));
    int variable = 0;
    OK(hipMemcpyDtoH(&variable, address, sizeof variable));
    CHECK(variable == 12, "%d", variable);
    OK(hipModuleUnload(module));
    RTC(hiprtcDestroyProgram(&program));

    // What does not compile says so, with the place.
    RTC(hiprtcCreateProgram(&program, "__global__ void broken() { no_such_thing(); }", "broken.cpp", 0, nullptr, nullptr));
    CHECK(hiprtcCompileProgram(program, 0, nullptr) == HIPRTC_ERROR_COMPILATION, "%s", "");
    RTC(hiprtcGetProgramLogSize(program, &size));
    std::string log(size, 0);
    RTC(hiprtcGetProgramLog(program, log.data()));
    CHECK(log.find("no_such_thing") != std::string::npos, "%s", log.c_str());
    RTC(hiprtcDestroyProgram(&program));
    CHECK(hiprtcCreateProgram(nullptr, "", "", 0, nullptr, nullptr) == HIPRTC_ERROR_INVALID_PROGRAM, "%s", "");
    return summary();
}
