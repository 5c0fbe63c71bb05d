/* A little of everything that a trace shows: calls, waits, dispatches and copies, from two threads. Ends without shutting the
 * runtime down when it is told `abandon`. Use: traced KERNELS [abandon]. */
#include "machine.h"

#include <pthread.h>
#include <unistd.h>

enum { DISPATCHES = 8, BYTES = 1 << 20 };

static struct kernel add_one;
static hsa_queue_t *queue;

static void *dispatch_some(void *data)
{
    void **kernarg = data;
    hsa_signal_t done = new_signal(DISPATCHES);
    for (int i = 0; i < DISPATCHES; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 256, 64, done);
        submit(queue, &packet);
    }
    CHECK(wait_zero(done, WAIT_LIMIT), "the kernels are not over");
    CHECK_OK(hsa_signal_destroy(done));
    return NULL;
}

int main(int argc, char **argv)
{
    NEED(argc >= 2);
    NEED_OK(hsa_init());
    find_agents();
    struct module module = load_module(kernel_path(argv[1], gpu, "O3", "control"), gpu->handle);
    add_one = find_kernel(&module, gpu->handle, "add_one.kd");
    queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    *kernarg = value;

    pthread_t thread;
    NEED(pthread_create(&thread, NULL, dispatch_some, kernarg) == 0);
    dispatch_some(kernarg);
    NEED(pthread_join(thread, NULL) == 0);
    CHECK(*value == 2 * DISPATCHES * 256, "%u", *value);

    char *from = shared_alloc(BYTES), *to = pool_alloc(gpu->coarse, BYTES);
    hsa_signal_t copied = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy(to, gpu->handle, from, cpu->handle, BYTES, 0, NULL, copied));
    CHECK(wait_zero(copied, WAIT_LIMIT), "the copy is not over");
    CHECK_OK(hsa_amd_memory_fill(to, 7, BYTES / 4));
    int end = check_summary();
    if (argc > 2)
        _exit(end);
    CHECK_OK(hsa_shut_down());
    return end;
}
