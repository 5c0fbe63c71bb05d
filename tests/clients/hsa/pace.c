/* Times what programs do often, one line each: name, microseconds (the median of many, or the best of several). For
 * comparing runtimes on one machine. The argument is the directory of kernels. */
#include "machine.h"

#include <pthread.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, double *times, unsigned count)
{
    qsort(times, count, sizeof *times, by_value);
    printf("%s %.3f\n", name, times[count / 2] * 1e6);
}

/* The median of COUNT runs of a statement, each of EACH repetitions. */
#define TIME(name, COUNT, EACH, statement)                                                                    \
    do {                                                                                                      \
        static double times_[COUNT];                                                                          \
        for (unsigned i_ = 0; i_ < (COUNT); i_++) {                                                           \
            double start_ = seconds();                                                                        \
            for (unsigned k_ = 0; k_ < (EACH); k_++) {                                                        \
                statement;                                                                                    \
            }                                                                                                 \
            times_[i_] = (seconds() - start_) / (EACH);                                                       \
        }                                                                                                     \
        report(name, times_, COUNT);                                                                          \
    } while (0)

static hsa_signal_t done;

static void round_trip(hsa_queue_t *queue, hsa_wait_state_t state)
{
    hsa_signal_store_relaxed(done, 1);
    hsa_barrier_and_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true), .completion_signal = done };
    submit(queue, &packet);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, state) != 0)
        ;
}

static void copy(void *to, struct agent *to_agent, void *from, struct agent *from_agent, size_t bytes)
{
    hsa_signal_store_relaxed(done, 1);
    NEED_OK(hsa_amd_memory_async_copy(to, to_agent->handle, from, from_agent->handle, bytes, 0, NULL, done));
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0)
        ;
}

static double opened_at;

static void *open_gate(void *data)
{
    const hsa_signal_t *gate = data;
    pause_ms(20);
    opened_at = seconds();
    hsa_signal_store_screlease(*gate, 0);
    return NULL;
}

/* From the moment a dependency is met until the sleeper is awake. */
static double woken_after(void)
{
    hsa_signal_t gate = new_signal(1);
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    hsa_signal_store_relaxed(done, 1);
    hsa_barrier_and_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true), .completion_signal = done };
    packet.dep_signal[0] = gate;
    submit(queue, &packet);
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, open_gate, &gate) == 0);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != 0)
        ;
    double awake = seconds();
    NEED(pthread_join(thread, NULL) == 0);
    NEED_OK(hsa_queue_destroy(queue));
    NEED_OK(hsa_signal_destroy(gate));
    return awake - opened_at;
}

int main(int argc, char **argv)
{
    NEED(argc >= 2);
    double up[15];
    for (unsigned i = 0; i < 15; i++) {
        double start = seconds();
        NEED_OK(hsa_init());
        up[i] = seconds() - start;
        if (i < 14)
            NEED_OK(hsa_shut_down());
    }
    report("hsa_init", up, 15);
    find_agents();
    done = new_signal(1);

    hsa_signal_t signal;
    TIME("signal_create", 21, 2000, NEED_OK(hsa_signal_create(1, 0, NULL, &signal)); NEED_OK(hsa_signal_destroy(signal)));
    void *memory;
    TIME("pool_allocate_host", 21, 50, NEED_OK(hsa_amd_memory_pool_allocate(cpu->fine, 65536, 0, &memory));
         NEED_OK(hsa_amd_memory_pool_free(memory)));
    TIME("pool_allocate_device", 21, 50, NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, 65536, 0, &memory));
         NEED_OK(hsa_amd_memory_pool_free(memory)));
    hsa_queue_t *queue;
    TIME("queue_create", 15, 1, NEED_OK(hsa_queue_create(gpu->handle, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
         NEED_OK(hsa_queue_destroy(queue)));

    queue = new_queue(gpu->handle, 1024);
    round_trip(queue, HSA_WAIT_STATE_ACTIVE);
    TIME("round_trip", 2001, 1, round_trip(queue, HSA_WAIT_STATE_ACTIVE));
    double woken[31];
    for (unsigned i = 0; i < 31; i++)
        woken[i] = woken_after();
    report("wake_up", woken, 31);

    uint8_t *host = shared_alloc(64 << 20), *device = pool_alloc(gpu->coarse, 64 << 20);
    memset(host, 1, 64 << 20);
    copy(device, gpu, host, cpu, 64 << 20);
    copy(host, cpu, device, gpu, 64 << 20);
    TIME("copy_4k_to_device", 501, 1, copy(device, gpu, host, cpu, 4096));
    TIME("copy_4k_to_host", 501, 1, copy(host, cpu, device, gpu, 4096));
    TIME("copy_64m_to_device", 7, 1, copy(device, gpu, host, cpu, 64 << 20));
    TIME("copy_64m_to_host", 7, 1, copy(host, cpu, device, gpu, 64 << 20));

    uint32_t value;
    TIME("agent_get_info", 21, 20000, hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_WAVEFRONT_SIZE, &value));
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    TIME("pointer_info", 21, 2000, NEED_OK(hsa_amd_pointer_info(device + 4096, &info, NULL, NULL, NULL)));
    TIME("signal_load", 21, 100000, hsa_signal_load_relaxed(done));
    TIME("signal_store", 21, 100000, hsa_signal_store_relaxed(done, 1));
    TIME("signal_add", 21, 100000, hsa_signal_add_relaxed(done, 1));

    struct module module = load_module(kernel_path(argv[1], gpu, "O3", "control"), gpu->handle);
    unload_module(&module);
    TIME("code_load", 31, 1, module = load_module(kernel_path(argv[1], gpu, "O3", "control"), gpu->handle); unload_module(&module));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
