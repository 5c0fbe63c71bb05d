/* A kernel that does what it must not, in a program that has a callback for errors of its queue and nothing else.
 * Use: faults KERNELS KERNEL [STATUS [ADDRESS]]: the status that the callback has to get, and where the kernel goes. */
#include "machine.h"

static atomic_int errors;
static hsa_status_t expected;

static void failed(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    CHECK(status != HSA_STATUS_SUCCESS, "the callback was called without an error");
    CHECK(expected == HSA_STATUS_SUCCESS || status == expected, "status %#x and not %#x", status, expected);
    errors++;
}

int main(int argc, char **argv)
{
    NEED(argc >= 3 && argc <= 5);
    expected = argc > 3 ? (hsa_status_t)strtoul(argv[3], NULL, 0) : HSA_STATUS_SUCCESS;
    NEED_OK(hsa_init());
    find_agents();
    struct module module = load_module(kernel_path(argv[1], gpu, "O3", "faults"), gpu->handle);
    char name[64];
    snprintf(name, sizeof name, "%s.kd", argv[2]);
    struct kernel kernel = find_kernel(&module, gpu->handle, name);
    hsa_queue_t *queue;
    NEED_OK(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, failed, NULL, UINT32_MAX, UINT32_MAX, &queue));
    uint64_t *kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg[0] = (uint64_t)shared_alloc(4096);
    kernarg[1] = argc > 4 ? strtoull(argv[4], NULL, 0) : 0xdead0000;
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, kernarg, 1, 1, new_signal(1));
    submit(queue, &packet);
    for (double end = seconds() + 10; seconds() < end && errors == 0;)
        pause_ms(1);
    CHECK(errors == 1, "the queue's callback was called %d times", errors);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
