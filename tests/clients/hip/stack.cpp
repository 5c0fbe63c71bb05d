// Calls in kernels: recursion, pointers to functions, virtual functions, and large stacks.
#include "check.hpp"

__device__ __attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recursion(int *out)
{
    out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x % 13)) * 100 + static_cast<int>(ackermann(2, threadIdx.x % 4));
}

static int host_fibonacci(int n)
{
    return n < 2 ? n : host_fibonacci(n - 1) + host_fibonacci(n - 2);
}

__device__ __attribute__((noinline)) int add(int a, int b)
{
    return a + b;
}
__device__ __attribute__((noinline)) int subtract(int a, int b)
{
    return a - b;
}
__device__ __attribute__((noinline)) int product(int a, int b)
{
    return a * b;
}
using Operation = int (*)(int, int);
__device__ Operation operations[3] = {add, subtract, product};

// Each lane takes its own function.
__global__ void function_pointers(int *out)
{
    int i = threadIdx.x;
    out[i] = operations[i % 3](i, 5);
}

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int side) : side(side) {}
    __device__ int area() const override
    {
        return side * side;
    }
};
struct Box : Shape {
    int width, height;
    __device__ Box(int width, int height) : width(width), height(height) {}
    __device__ int area() const override
    {
        return width * height;
    }
};

__global__ void virtual_functions(int *out)
{
    int i = threadIdx.x;
    Square square(i);
    Box box(i, i + 1);
    const Shape *shape = i % 2 ? static_cast<const Shape *>(&square) : &box;
    out[i] = shape->area();
}

template <int Words> __global__ void large_stack(unsigned *out, unsigned stride)
{
    unsigned memory[Words];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < Words; k++)
        memory[k * stride % Words] = k * 2654435761u + i;
    unsigned sum = 0;
    for (unsigned k = 0; k < Words; k++)
        sum = sum * 31 + memory[k];
    out[i] = sum;
}

enum { STRIDE = 7 };

template <int Words> static std::vector<unsigned> sums_of_stack(size_t count)
{
    return made(count, [](size_t i) {
        std::vector<unsigned> memory(Words);
        for (unsigned k = 0; k < Words; k++)
            memory[k * STRIDE % Words] = k * 2654435761u + static_cast<unsigned>(i);
        unsigned sum = 0;
        for (unsigned value : memory)
            sum = sum * 31 + value;
        return sum;
    });
}

template <int Words> static void stack_of(int blocks, int threads)
{
    size_t count = static_cast<size_t>(blocks) * threads;
    Array<unsigned> out(count);
    large_stack<Words><<<blocks, threads>>>(out, STRIDE);
    OK(hipGetLastError());
    SAME(out.values(), sums_of_stack<Words>(count));
}

// Streams of every priority, so that all of HIP's queues have large stacks at once; memory is left for data.
static void stacks_of_many_queues()
{
    enum { STREAMS = 12, LANES = 64, WORDS = 5000 };
    int lowest = 0, highest = 0;
    OK(hipDeviceGetStreamPriorityRange(&lowest, &highest));
    hipStream_t streams[STREAMS];
    std::vector<unsigned *> outs;
    for (int i = 0; i < STREAMS; i++) {
        unsigned *out = nullptr;
        NEED_OK(hipMalloc(&out, LANES * sizeof *out));
        outs.push_back(out);
        int priority = highest + i % (lowest - highest + 1);
        NEED_OK(hipStreamCreateWithPriority(&streams[i], hipStreamNonBlocking, priority));
        large_stack<WORDS><<<1, LANES, 0, streams[i]>>>(out, STRIDE);
        OK(hipGetLastError());
    }
    const auto want = sums_of_stack<WORDS>(LANES);
    for (int i = 0; i < STREAMS; i++) {
        std::vector<unsigned> got(LANES);
        OK(hipStreamSynchronize(streams[i]));
        OK(hipMemcpy(got.data(), outs[i], LANES * sizeof(unsigned), hipMemcpyDeviceToHost));
        SAME(got, want);
        OK(hipFree(outs[i]));
    }
    size_t free = 0, total = 0;
    OK(hipMemGetInfo(&free, &total));
    void *data = nullptr;
    if (OK(hipMalloc(&data, total / 8)))
        OK(hipFree(data));
    for (hipStream_t stream : streams)
        OK(hipStreamDestroy(stream));
}

// Counts from the end of an array, each lane at places of its own: a negative register and the array's size as immediate.
__global__ void from_the_end(double *out, int rounds)
{
    enum { SIZE = 17 };
    double values[SIZE];
    for (int i = 0; i < SIZE; i++)
        values[i] = 0.0;
    for (int k = threadIdx.x + 1; k < rounds; k += blockDim.x)
        values[SIZE - static_cast<unsigned>(log2f(static_cast<float>(k & -k)) + 1)] += k;
    double sum = 0.0;
    for (int i = 0; i < SIZE; i++)
        sum += values[i] * (i + 1);
    out[threadIdx.x] = sum;
}

static std::vector<double> sums_from_the_end(int lanes, int rounds)
{
    return made(static_cast<size_t>(lanes), [&](size_t lane) {
        double sum = 0.0;
        for (int k = static_cast<int>(lane) + 1; k < rounds; k += lanes)
            sum += static_cast<double>(k) * (18 - __builtin_ffs(k));
        return sum;
    });
}

struct Pair {
    double first;
    int second[5];
};

// Structures by value and by pointer into a caller's stack.
__device__ __attribute__((noinline)) Pair combine(Pair a, const Pair &b, int *counter)
{
    Pair result;
    result.first = a.first * b.first;
    for (int i = 0; i < 5; i++)
        result.second[i] = a.second[i] + b.second[4 - i];
    *counter += 1;
    return result;
}

__global__ void structures(double *out)
{
    Pair a{threadIdx.x * 0.5, {1, 2, 3, 4, static_cast<int>(threadIdx.x)}}, b{4, {10, 20, 30, 40, 50}};
    int counter = 0;
    for (int i = 0; i < 3; i++)
        a = combine(a, b, &counter);
    out[threadIdx.x] = a.first + a.second[4] * 1000.0 + counter * 1e6;
}

// The barrier is in a function that all threads call.
__device__ __attribute__((noinline)) int neighbour(int *memory, int value)
{
    memory[threadIdx.x] = value;
    __syncthreads();
    int result = memory[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return result;
}

__global__ void barriers_in_calls(int *out)
{
    __shared__ int memory[256];
    int value = threadIdx.x;
    for (int i = 0; i < 5; i++)
        value = neighbour(memory, value) + 1;
    out[threadIdx.x] = value;
}

int main()
{
    Array<int> out(64);
    recursion<<<1, 64>>>(out);
    SAME(out.values(), made(64, [](size_t i) {
             return host_fibonacci(static_cast<int>(i % 13)) * 100 + 2 * static_cast<int>(i % 4) + 3;
         }));
    Array<double> sums(128);
    from_the_end<<<1, 128>>>(sums, 65536);
    SAME(sums.values(), sums_from_the_end(128, 65536));
    function_pointers<<<1, 64>>>(out);
    SAME(out.values(), made(64, [](size_t i) {
             int n = static_cast<int>(i);
             return n % 3 == 0 ? n + 5 : n % 3 == 1 ? n - 5 : n * 5;
         }));
    virtual_functions<<<1, 64>>>(out);
    SAME(out.values(), made(64, [](size_t i) { return static_cast<int>(i % 2 ? i * i : i * (i + 1)); }));
    stack_of<50>(2, 100);
    stack_of<1000>(3, 64);
    stack_of<5000>(1, 128);
    stack_of<20000>(1, 64);
    stack_of<100>(2, 64);
    stacks_of_many_queues();
    Array<double> doubles(64);
    structures<<<1, 64>>>(doubles);
    SAME(doubles.values(), made(64, [](size_t i) { return i * 0.5 * 64 + (i + 30.0) * 1000 + 3e6; }));
    Array<int> many(256);
    barriers_in_calls<<<1, 256>>>(many);
    SAME(many.values(), made(256, [](size_t i) { return static_cast<int>((i + 5) % 256) + 5; }));
    return summary();
}
