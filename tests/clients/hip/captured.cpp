// Graphs of graphs, and graphs that are captured from two streams with events between them.
#include "check.hpp"

enum { COUNT = 64, BYTES = COUNT * sizeof(int) };

__global__ void add(int *values, int amount)
{
    values[threadIdx.x] += amount;
}

static void count_call(void *counter)
{
    ++*static_cast<int *>(counter);
}

static void nested()
{
    Array<int> device(COUNT);
    int *values = device, small = 5, large = 100, other = 7, calls = 0;
    std::vector<int> in(COUNT, 10), out(COUNT);
    void *with_small[] = {&values, &small}, *with_large[] = {&values, &large}, *with_other[] = {&values, &other};
    hipKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(COUNT);
    hipGraph_t graph, inner;
    hipGraphNode_t up, first, second, child, down, host;
    NEED_OK(hipGraphCreate(&graph, 0));
    NEED_OK(hipGraphCreate(&inner, 0));
    NEED_OK(hipGraphAddMemcpyNode1D(&up, graph, nullptr, 0, values, in.data(), BYTES, hipMemcpyHostToDevice));
    kernel.kernelParams = with_small;
    NEED_OK(hipGraphAddKernelNode(&first, graph, &up, 1, &kernel));
    kernel.kernelParams = with_large;
    NEED_OK(hipGraphAddKernelNode(&second, inner, nullptr, 0, &kernel));
    NEED_OK(hipGraphAddChildGraphNode(&child, graph, &first, 1, inner));
    NEED_OK(hipGraphAddMemcpyNode1D(&down, graph, &child, 1, out.data(), values, BYTES, hipMemcpyDeviceToHost));
    hipHostNodeParams call{count_call, &calls};
    NEED_OK(hipGraphAddHostNode(&host, graph, &down, 1, &call));
    hipGraphExec_t executable;
    NEED_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    hipStream_t stream;
    NEED_OK(hipStreamCreate(&stream));
    for (int i = 0; i < 5; i++)
        OK(hipGraphLaunch(executable, stream));
    OK(hipStreamSynchronize(stream));
    SAME(out, std::vector<int>(COUNT, 115));
    CHECK(calls == 5, "%d", calls);
    kernel.kernelParams = with_other;
    OK(hipGraphExecKernelNodeSetParams(executable, first, &kernel));
    OK(hipGraphLaunch(executable, stream));
    OK(hipStreamSynchronize(stream));
    SAME(out, std::vector<int>(COUNT, 117));
    OK(hipGraphExecDestroy(executable));
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(inner));
    OK(hipStreamDestroy(stream));
}

static void of_two_streams()
{
    hipStream_t first, second;
    hipEvent_t forked, joined;
    NEED_OK(hipStreamCreate(&first));
    NEED_OK(hipStreamCreate(&second));
    NEED_OK(hipEventCreate(&forked));
    NEED_OK(hipEventCreate(&joined));
    Array<int> a(std::vector<int>(COUNT, 0)), b(std::vector<int>(COUNT, 0));
    std::vector<int> out(COUNT);
    OK(hipDeviceSynchronize());
    hipGraph_t graph;
    NEED_OK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
    add<<<1, COUNT, 0, first>>>(a, 1);
    OK(hipEventRecord(forked, first));
    OK(hipStreamWaitEvent(second, forked, 0));
    add<<<1, COUNT, 0, second>>>(b, 2);
    OK(hipEventRecord(joined, second));
    OK(hipStreamWaitEvent(first, joined, 0));
    OK(hipMemcpyAsync(out.data(), b, BYTES, hipMemcpyDeviceToHost, first));
    NEED_OK(hipStreamEndCapture(first, &graph));
    size_t nodes = 0;
    OK(hipGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 3, "%zu", nodes);
    SAME(a.values(), std::vector<int>(COUNT, 0));
    hipGraphExec_t executable;
    NEED_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 10; i++)
        OK(hipGraphLaunch(executable, first));
    OK(hipStreamSynchronize(first));
    SAME(out, std::vector<int>(COUNT, 20));
    SAME(a.values(), std::vector<int>(COUNT, 10));
    OK(hipGraphExecDestroy(executable));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(forked));
    OK(hipEventDestroy(joined));
    OK(hipStreamDestroy(first));
    OK(hipStreamDestroy(second));
}

int main()
{
    nested();
    of_two_streams();
    return summary();
}
