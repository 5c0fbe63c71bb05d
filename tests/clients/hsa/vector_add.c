/* A million floats are added on the GPU, twice: with what the standard alone offers (regions, hsa_memory_allocate), and
 * with AMD's pools, where the data goes to the memory of the GPU and back by asynchronous copies.
 * Use: vector_add KERNELS, the directory that tests/kernels/build filled. */
#include "machine.h"

enum { COUNT = 1000000, GROUP = 256 };

static float value_a(uint32_t i) { return (float)(i % 1000) * 0.25f - 100.0f; }
static float value_b(uint32_t i) { return (float)(i * 7 % 4099) * 0.125f; }

struct arguments {
    const float *a, *b;
    float *sum;
    uint64_t hidden[8]; /* what the compiler adds for OpenCL; zero where the kernel does not ask for it */
};

static void check_sums(const float *sum, const char *what)
{
    uint32_t wrong = 0, first = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        if (sum[i] != value_a(i) + value_b(i) && wrong++ == 0)
            first = i;
    CHECK(wrong == 0, "%s: %u of %u sums are wrong, the first is [%u] = %g instead of %g", what, wrong, COUNT, first,
          (double)sum[first], (double)(value_a(first) + value_b(first)));
}

static void run(hsa_queue_t *queue, const struct kernel *kernel, void *kernarg, const float *a, const float *b, float *sum)
{
    NEED(kernel->kernarg_size >= 3 * sizeof(void *) && kernel->kernarg_size <= sizeof(struct arguments));
    struct arguments arguments = { .a = a, .b = b, .sum = sum };
    memcpy(kernarg, &arguments, kernel->kernarg_size);
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(kernel, kernarg, COUNT, GROUP, done);
    submit(queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK_OK(hsa_signal_destroy(done));
}

static void with_regions(hsa_queue_t *queue, const struct kernel *kernel)
{
    /* A region from which both sides may use memory: the fine-grained one of the host. */
    float *a = NULL, *b = NULL, *sum = NULL;
    void *kernarg = NULL;
    NEED_OK(hsa_memory_allocate(cpu->fine_region, COUNT * sizeof *a, (void **)&a));
    NEED_OK(hsa_memory_allocate(cpu->fine_region, COUNT * sizeof *b, (void **)&b));
    NEED_OK(hsa_memory_allocate(cpu->fine_region, COUNT * sizeof *sum, (void **)&sum));
    NEED_OK(hsa_memory_allocate(cpu->kernarg_region, kernel->kernarg_size, &kernarg));
    for (uint32_t i = 0; i < COUNT; i++) {
        a[i] = value_a(i);
        b[i] = value_b(i);
        sum[i] = -1.0f;
    }
    run(queue, kernel, kernarg, a, b, sum);
    check_sums(sum, "regions");
    CHECK_OK(hsa_memory_free(a));
    CHECK_OK(hsa_memory_free(b));
    CHECK_OK(hsa_memory_free(sum));
    CHECK_OK(hsa_memory_free(kernarg));
}

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size)
{
    hsa_signal_t done = new_signal(1);
    NEED_OK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, 0, NULL, done));
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK_OK(hsa_signal_destroy(done));
}

static void with_pools(hsa_queue_t *queue, const struct kernel *kernel)
{
    NEED(gpu->coarse.handle != 0);
    const size_t size = COUNT * sizeof(float);
    float *host = pool_alloc(cpu->fine, size);
    float *a = NULL, *b = NULL, *sum = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, size, 0, (void **)&a));
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, size, 0, (void **)&b));
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, size, 0, (void **)&sum));
    void *kernarg = pool_alloc(cpu->kernarg, kernel->kernarg_size);
    for (uint32_t i = 0; i < COUNT; i++)
        host[i] = value_a(i);
    copy(a, gpu->handle, host, cpu->handle, size);
    for (uint32_t i = 0; i < COUNT; i++)
        host[i] = value_b(i);
    copy(b, gpu->handle, host, cpu->handle, size);
    run(queue, kernel, kernarg, a, b, sum);
    memset(host, 0, size);
    copy(host, cpu->handle, sum, gpu->handle, size);
    check_sums(host, "pools");
    CHECK_OK(hsa_amd_memory_pool_free(host));
    CHECK_OK(hsa_amd_memory_pool_free(a));
    CHECK_OK(hsa_amd_memory_pool_free(b));
    CHECK_OK(hsa_amd_memory_pool_free(sum));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    uint32_t queue_size = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &queue_size));
    hsa_queue_t *queue = new_queue(gpu->handle, queue_size < 1024 ? queue_size : 1024);
    for (int level = 0; level <= 3; level += 3) {
        const char *path = kernel_path(argv[1], gpu, level == 0 ? "O0" : "O3", "vector_add");
        struct module module = load_module(path, gpu->handle);
        struct kernel kernel = find_kernel(&module, gpu->handle, "vector_add.kd");
        with_regions(queue, &kernel);
        with_pools(queue, &kernel);
        unload_module(&module);
    }
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
