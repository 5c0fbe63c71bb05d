// Graphs: captured from streams and built by hand, instantiated, launched again, changed.
#include "check.hpp"

__global__ void add(int *values, int amount)
{
    values[threadIdx.x] += amount;
}

__global__ void scale(const int *in, int *out, int factor)
{
    out[threadIdx.x] = in[threadIdx.x] * factor;
}

enum { COUNT = 64 };

static std::vector<int> expected(int base, int factor)
{
    return made(COUNT, [=](size_t i) { return (static_cast<int>(i) + base) * factor; });
}

static void captured()
{
    hipStream_t stream, other;
    hipEvent_t fork, join;
    NEED_OK(hipStreamCreate(&stream));
    NEED_OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    NEED_OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    NEED_OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
    Array<int> values(made(COUNT, [](size_t i) { return static_cast<int>(i); })), result(COUNT), side(std::vector<int>(COUNT, 5));
    OK(hipMemset(result, 0, result.bytes()));
    OK(hipDeviceSynchronize());

    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hipStreamCaptureStatus status{};
    OK(hipStreamIsCapturing(stream, &status));
    CHECK(status == hipStreamCaptureStatusActive, "%d", status);
    add<<<1, COUNT, 0, stream>>>(values, 10);
    OK(hipEventRecord(fork, stream));
    OK(hipStreamWaitEvent(other, fork, 0));
    add<<<1, COUNT, 0, other>>>(side, 1);
    OK(hipEventRecord(join, other));
    scale<<<1, COUNT, 0, stream>>>(values, result, 3);
    OK(hipStreamWaitEvent(stream, join, 0));
    add<<<1, COUNT, 0, stream>>>(side, 1);
    hipGraph_t graph = nullptr;
    NEED_OK(hipStreamEndCapture(stream, &graph));
    NEED(graph != nullptr);
    // Nothing has run yet.
    SAME(result.values(), std::vector<int>(COUNT, 0));
    size_t nodes = 0;
    OK(hipGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes >= 4, "%zu", nodes);

    hipGraphExec_t executable = nullptr;
    NEED_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int round = 1; round <= 5; round++) {
        OK(hipGraphLaunch(executable, stream));
        OK(hipStreamSynchronize(stream));
        SAME(result.values(), expected(10 * round, 3));
        SAME(side.values(), std::vector<int>(COUNT, 5 + 2 * round));
    }
    // Many launches without waiting.
    for (int round = 0; round < 20; round++)
        OK(hipGraphLaunch(executable, stream));
    OK(hipStreamSynchronize(stream));
    SAME(result.values(), expected(250, 3));
    OK(hipGraphExecDestroy(executable));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(stream));
    OK(hipStreamDestroy(other));
}

static int called;
static void host_node(void *data)
{
    called += *static_cast<int *>(data);
}

static void built_by_hand()
{
    Array<int> values(COUNT), result(COUNT);
    std::vector<int> in = made(COUNT, [](size_t i) { return static_cast<int>(i); }), out(COUNT);
    int *p = values, *q = result, amount = 5, factor = 2, step = 7;
    hipGraph_t graph = nullptr;
    NEED_OK(hipGraphCreate(&graph, 0));
    hipGraphNode_t upload, first, second, download, host, empty, clear;

    OK(hipGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, values, in.data(), values.bytes(), hipMemcpyHostToDevice));
    void *first_arguments[] = {&p, &amount};
    hipKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(COUNT);
    kernel.kernelParams = first_arguments;
    OK(hipGraphAddKernelNode(&first, graph, &upload, 1, &kernel));
    hipMemsetParams set{};
    set.dst = result;
    set.elementSize = 4;
    set.width = COUNT;
    set.height = 1;
    set.value = 0;
    OK(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    OK(hipGraphAddEmptyNode(&empty, graph, &clear, 1));
    void *second_arguments[] = {&p, &q, &factor};
    hipKernelNodeParams scaling = kernel;
    scaling.func = reinterpret_cast<void *>(scale);
    scaling.kernelParams = second_arguments;
    hipGraphNode_t both[] = {first, empty};
    OK(hipGraphAddKernelNode(&second, graph, both, 2, &scaling));
    OK(hipGraphAddMemcpyNode1D(&download, graph, &second, 1, out.data(), result, result.bytes(), hipMemcpyDeviceToHost));
    hipHostNodeParams host_parameters{host_node, &step};
    OK(hipGraphAddHostNode(&host, graph, &download, 1, &host_parameters));

    size_t count = 0;
    OK(hipGraphGetNodes(graph, nullptr, &count));
    CHECK(count == 7, "%zu", count);
    OK(hipGraphGetRootNodes(graph, nullptr, &count));
    CHECK(count == 2, "%zu", count);
    OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
    CHECK(count == 6, "%zu", count);
    hipGraphNodeType type{};
    OK(hipGraphNodeGetType(second, &type));
    CHECK(type == hipGraphNodeTypeKernel, "%d", type);
    OK(hipGraphNodeGetDependencies(second, nullptr, &count));
    CHECK(count == 2, "%zu", count);

    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    hipGraphExec_t executable = nullptr;
    NEED_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int round = 1; round <= 3; round++) {
        OK(hipGraphLaunch(executable, stream));
        OK(hipStreamSynchronize(stream));
        SAME(out, expected(5, 2));
        CHECK(called == 7 * round, "%d", called);
    }
    // Another argument for the instance; the graph keeps its own.
    factor = -3;
    OK(hipGraphExecKernelNodeSetParams(executable, second, &scaling));
    OK(hipGraphLaunch(executable, stream));
    OK(hipStreamSynchronize(stream));
    SAME(out, expected(5, -3));

    hipGraph_t copy = nullptr;
    NEED_OK(hipGraphClone(&copy, graph));
    hipGraphExec_t from_copy = nullptr;
    NEED_OK(hipGraphInstantiate(&from_copy, copy, nullptr, nullptr, 0));
    std::fill(out.begin(), out.end(), 0);
    OK(hipGraphLaunch(from_copy, stream));
    OK(hipStreamSynchronize(stream));
    SAME(out, expected(5, 2));
    OK(hipGraphExecDestroy(from_copy));
    OK(hipGraphDestroy(copy));
    OK(hipGraphExecDestroy(executable));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
}

int main()
{
    captured();
    built_by_hand();
    FAILS(hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
    FAILS(hipGraphLaunch(nullptr, nullptr), hipErrorInvalidValue);
    return summary();
}
