// The module and function API. Argument: the code object made of module_kernels.hip.
#include "check.hpp"

#include <fstream>
#include <iterator>

static hipFunction_t function_of(hipModule_t module, const char *name)
{
    hipFunction_t function = nullptr;
    NEED_OK(hipModuleGetFunction(&function, module, name));
    NEED(function != nullptr);
    return function;
}

// The factor is what the module's variable holds.
static void launch_forms(hipModule_t module, float factor)
{
    // By pointers to the arguments.
    Array<float> values(made(100, [](size_t i) { return 1.0f * i; }));
    float *p = values;
    int count = 100;
    void *pointers[] = {&p, &count};
    OK(hipModuleLaunchKernel(function_of(module, "scale"), 2, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr));
    SAME(values.values(), made(100, [=](size_t i) { return factor * i; }));

    // By a block of memory, laid out as the kernel has them.
    Array<int> out(2);
    struct {
        char a;
        double b;
        short c;
        int *out;
        float d;
    } block = {-3, 2.5, 77, out, 0.25f};
    size_t size = sizeof block;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    OK(hipModuleLaunchKernel(function_of(module, "mixed"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    SAME(out.values(), (std::vector<int>{-2923, 50}));

    Array<int> in(made(4 * 96, [](size_t i) { return static_cast<int>(i); })), sums(4);
    int *from = in, *to = sums;
    void *both[] = {&from, &to};
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    OK(hipModuleLaunchKernel(function_of(module, "shared_sum"), 4, 1, 1, 96, 1, 1, 96 * sizeof(int), stream, both, nullptr));
    OK(hipStreamSynchronize(stream));
    SAME(sums.values(), made(4, [](size_t b) { return static_cast<int>(96 * 96 * b + 95 * 48); }));
    OK(hipStreamDestroy(stream));
}

static void globals(hipModule_t module)
{
    hipDeviceptr_t address = nullptr;
    size_t size = 0;
    NEED_OK(hipModuleGetGlobal(&address, &size, module, "module_factor"));
    CHECK(size == sizeof(float), "%zu", size);
    float factor = -2;
    OK(hipMemcpyHtoD(address, &factor, sizeof factor));
    Array<float> values(made(10, [](size_t i) { return 1.0f * i; }));
    float *p = values;
    int count = 10;
    void *pointers[] = {&p, &count};
    OK(hipModuleLaunchKernel(function_of(module, "scale"), 1, 1, 1, 64, 1, 1, 0, nullptr, pointers, nullptr));
    SAME(values.values(), made(10, [](size_t i) { return -2.0f * i; }));
    NEED_OK(hipModuleGetGlobal(&address, &size, module, "module_table"));
    CHECK(size == 32 * sizeof(int), "%zu", size);
    std::vector<int> table(32);
    OK(hipMemcpyDtoH(table.data(), address, size));
    SAME(table, made(32, [](size_t i) { return static_cast<int>(i) + 1; }));
    FAILS(hipModuleGetGlobal(&address, &size, module, "no_such_variable"), hipErrorNotFound);
}

static void attributes(hipModule_t module)
{
    hipFunction_t function = function_of(module, "with_resources");
    int value = 0;
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    CHECK(value == 4000, "%d", value);
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    CHECK(value >= 200, "%d", value);
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, function));
    CHECK(value > 0 && value <= 256, "%d", value);
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CHECK(value == 256, "%d", value);
    Array<int> out(256);
    int *p = out;
    void *pointers[] = {&p};
    OK(hipModuleLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, nullptr, pointers, nullptr));
    SAME(out.values(), made(256, [](size_t i) { return static_cast<int>(255 - i) % 50; }));
    FAILS(hipModuleLaunchKernel(function, 1, 1, 1, 512, 1, 1, 0, nullptr, pointers, nullptr), hipErrorLaunchFailure);
}

int main(int argc, char **argv)
{
    NEED(argc > 1);
    hipModule_t from_file = nullptr;
    NEED_OK(hipModuleLoad(&from_file, argv[1]));
    launch_forms(from_file, 1.5f);
    globals(from_file);
    attributes(from_file);

    // From memory; a module of its own, with its own variables.
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    NEED(!bytes.empty());
    hipModule_t from_memory = nullptr, with_options = nullptr;
    NEED_OK(hipModuleLoadData(&from_memory, bytes.data()));
    launch_forms(from_memory, 1.5f);
    hipDeviceptr_t one = nullptr, other = nullptr;
    size_t size = 0;
    OK(hipModuleGetGlobal(&one, &size, from_file, "module_counter"));
    OK(hipModuleGetGlobal(&other, &size, from_memory, "module_counter"));
    CHECK(one != other, "%p", one);
    int first = 0, second = 0;
    OK(hipMemcpyDtoH(&first, one, sizeof first));
    OK(hipMemcpyDtoH(&second, other, sizeof second));
    CHECK(first == 6 && second == 6, "%d %d", first, second);
    NEED_OK(hipModuleLoadDataEx(&with_options, bytes.data(), 0, nullptr, nullptr));
    OK(hipModuleGetGlobal(&other, &size, with_options, "module_counter"));
    OK(hipMemcpyDtoH(&second, other, sizeof second));
    CHECK(second == 5, "%d", second);
    OK(hipModuleUnload(with_options));
    OK(hipModuleUnload(from_memory));

    // Loaded and unloaded many times.
    for (int i = 0; i < 30; i++) {
        hipModule_t module = nullptr;
        NEED_OK(hipModuleLoadData(&module, bytes.data()));
        function_of(module, "scale");
        OK(hipModuleUnload(module));
    }
    launch_forms(from_file, -2);
    hipFunction_t function = nullptr;
    FAILS(hipModuleGetFunction(&function, from_file, "no_such_kernel"), hipErrorNotFound);
    FAILS(hipModuleGetFunction(&function, from_file, nullptr), hipErrorInvalidValue);
    OK(hipModuleUnload(from_file));
    FAILS(hipModuleUnload(from_file), hipErrorNotFound);
    hipModule_t module = nullptr;
    FAILS(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
    FAILS(hipModuleLoad(&module, argv[0]), hipErrorSharedObjectInitFailed);
    FAILS(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
    return summary();
}
