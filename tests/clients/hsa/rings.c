/* Kernels that submit packets and that change signals, as ROCm's device library does both: with a store and an interrupt.
 * Use: rings KERNELS. */
#include "machine.h"

static struct kernel ring;

/* What the kernel takes. */
struct arguments {
    void *header;
    uint32_t valid;
    hsa_signal_t signal;
    int64_t value;
};

static struct arguments *new_arguments(void)
{
    struct arguments *arguments = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(cpu->kernarg, 4096, 0, (void **)&arguments));
    NEED_OK(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, arguments));
    memset(arguments, 0, 4096);
    return arguments;
}

static bool is_over(hsa_signal_t signal, int64_t value)
{
    uint64_t ticks = (uint64_t)(ticks_per_second() * WAIT_LIMIT);
    return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, value, ticks, HSA_WAIT_STATE_BLOCKED) == value;
}

/* A kernel on one queue makes packets of another one valid, or of its own, and rings. */
static void kernels_submit(hsa_queue_t *from, hsa_queue_t *to)
{
    struct arguments *arguments = new_arguments();
    hsa_signal_t rung = new_signal(1), done = new_signal(1);
    for (int turn = 0; turn < 100; turn++) {
        hsa_signal_store_relaxed(rung, 1);
        hsa_signal_store_relaxed(done, 1);
        hsa_barrier_and_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true),
                                            .completion_signal = done };
        hsa_kernel_dispatch_packet_t dispatch = dispatch_packet(&ring, arguments, 64, 64, rung);
        uint64_t index = 0;
        if (from != to) {
            index = write_packet(to, &packet);
        } else {
            /* The slot behind the dispatch's own. */
            index = write_packet(from, &dispatch) + 1;
            NEED(write_packet(to, &packet) == index);
        }
        arguments->header = (char *)to->base_address + index % to->size * PACKET_BYTES;
        memcpy(&arguments->valid, &packet, sizeof arguments->valid);
        arguments->signal = to->doorbell_signal;
        arguments->value = (int64_t)index;
        if (from != to) {
            submit(from, &dispatch);
        } else {
            publish_packet(from, index - 1, &dispatch);
            hsa_signal_store_screlease(from->doorbell_signal, (hsa_signal_value_t)(index - 1));
        }
        NEED(is_over(rung, 0));
        CHECK(is_over(done, 0), "turn %d: the kernel's packet is not processed", turn);
    }
    CHECK_OK(hsa_signal_destroy(rung));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(arguments));
}

/* Whoever sleeps on a signal that a kernel stores to wakes up, however many signals there are. */
static void kernels_wake_sleepers(hsa_queue_t *queue)
{
    enum { SIGNALS = 700 };
    struct arguments *arguments = new_arguments();
    hsa_signal_t signals[SIGNALS];
    for (int i = 0; i < SIGNALS; i++)
        signals[i] = new_signal(1);
    uint32_t nothing = 0, *header = NULL;
    NEED_OK(hsa_amd_memory_lock(&nothing, sizeof nothing, &gpu->handle, 1, (void **)&header));
    hsa_signal_t begun = new_signal(1);
    for (int i = 0; i < SIGNALS; i += 31) {
        *arguments = (struct arguments){ header, 0, signals[i], 77 };
        /* It starts when the host is about to sleep. */
        hsa_signal_store_relaxed(begun, 1);
        hsa_barrier_and_packet_t first = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true), .dep_signal[0] = begun };
        hsa_kernel_dispatch_packet_t dispatch = dispatch_packet(&ring, arguments, 64, 64, (hsa_signal_t){ 0 });
        submit(queue, &first);
        submit(queue, &dispatch);
        hsa_signal_store_screlease(begun, 0);
        CHECK(is_over(signals[i], 77), "signal %d", i);
    }
    CHECK_OK(hsa_signal_destroy(begun));
    for (int i = 0; i < SIGNALS; i++)
        CHECK_OK(hsa_signal_destroy(signals[i]));
    CHECK_OK(hsa_amd_memory_unlock(&nothing));
    CHECK_OK(hsa_amd_memory_pool_free(arguments));
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    struct module module = load_module(kernel_path(argv[1], gpu, "O3", "ring"), gpu->handle);
    ring = find_kernel(&module, gpu->handle, "ring.kd");
    hsa_queue_t *one = new_queue(gpu->handle, 64), *other = new_queue(gpu->handle, 64);
    kernels_submit(one, other);
    kernels_submit(other, one);
    kernels_submit(one, one);
    kernels_wake_sleepers(one);
    CHECK_OK(hsa_queue_destroy(one));
    CHECK_OK(hsa_queue_destroy(other));
    unload_module(&module);
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
