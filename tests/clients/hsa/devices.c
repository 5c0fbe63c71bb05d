/* Uses every GPU once: memory, copies, a queue, a packet that is waited for, code. A step that fails is made once more, as a
 * careful program does, and has to go well then; its first status is printed. Arguments: the directory of kernels, the
 * number of GPUs there should be, and "storm" for a signal every millisecond meanwhile. */
#include "machine.h"

#include <signal.h>
#include <sys/time.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 4 };

static unsigned refused;

/* Makes a step, once more when it fails. */
static bool settle(hsa_status_t first, const char *what)
{
    if (first == HSA_STATUS_SUCCESS)
        return true;
    refused++;
    printf("refused: %s: %#x\n", what, first);
    /* A refusal is a status that says something. */
    CHECK(first != HSA_STATUS_ERROR_NOT_INITIALIZED && first < 0x2000, "%s: status %#x", what, first);
    return false;
}
#define STEP(call)                                                                                            \
    do {                                                                                                      \
        if (!settle(call, #call))                                                                             \
            NEED_OK(call);                                                                                    \
    } while (0)

static void one_signal(int number) { (void)number; }

static void storm(void)
{
    struct sigaction action = { .sa_handler = one_signal };
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
    setitimer(ITIMER_REAL, &every, NULL);
}

static unsigned queue_errors;

static void note_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    printf("refused: the queue stopped: %#x\n", status);
    queue_errors++;
}

/* Copies and waits; a copy that fails tells by a negative value. */
static bool copied(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent)
{
    hsa_signal_t done;
    STEP(hsa_signal_create(1, 0, NULL, &done));
    hsa_status_t status = hsa_amd_memory_async_copy(to, to_agent, from, from_agent, BYTES, 0, NULL, done);
    bool good = settle(status, "hsa_amd_memory_async_copy");
    if (good) {
        hsa_signal_value_t left = 1;
        for (double end = seconds() + WAIT_LIMIT; seconds() < end && left == 1;)
            left = hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, ticks_per_second(), HSA_WAIT_STATE_BLOCKED);
        good = left == 0;
        if (!good) {
            printf("refused: a copy ended with %ld\n", (long)left);
            refused++;
        }
    }
    CHECK_OK(hsa_signal_destroy(done));
    return good;
}
#define COPY(to, to_agent, from, from_agent)                                                                  \
    do {                                                                                                      \
        if (!copied(to, to_agent, from, from_agent))                                                          \
            NEED(copied(to, to_agent, from, from_agent));                                                     \
    } while (0)

static void copies(void)
{
    uint32_t *up = NULL, *down = NULL, *device = NULL, *locked = NULL;
    STEP(hsa_amd_memory_pool_allocate(cpu->fine, BYTES, 0, (void **)&up));
    STEP(hsa_amd_memory_pool_allocate(cpu->fine, BYTES, 0, (void **)&down));
    STEP(hsa_amd_memory_pool_allocate(gpu->coarse, BYTES, 0, (void **)&device));
    STEP(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, up));
    STEP(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, down));
    for (uint32_t i = 0; i < WORDS; i++)
        up[i] = i * 2654435761u;
    COPY(device, gpu->handle, up, cpu->handle);
    COPY(down, cpu->handle, device, gpu->handle);
    CHECK(memcmp(up, down, BYTES) == 0, "the copy and back is not what was sent");
    /* The program's own memory. */
    uint32_t *own = aligned_alloc(4096, BYTES);
    NEED(own != NULL);
    memset(own, 0, BYTES);
    STEP(hsa_amd_memory_lock(own, BYTES, &gpu->handle, 1, (void **)&locked));
    COPY(locked, cpu->handle, device, gpu->handle);
    CHECK(memcmp(up, own, BYTES) == 0, "the copy to locked memory is not what was sent");
    STEP(hsa_amd_memory_unlock(own));
    memset(own, 0, BYTES);
    STEP(hsa_memory_copy(own, device, BYTES));
    CHECK(memcmp(up, own, BYTES) == 0, "the copy to the program's memory is not what was sent");
    free(own);
    STEP(hsa_amd_memory_fill(device, 0x5a5a5a5a, WORDS));
    COPY(down, cpu->handle, device, gpu->handle);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        wrong += down[i] != 0x5a5a5a5a;
    CHECK(wrong == 0, "%u words were not filled", wrong);
    CHECK_OK(hsa_amd_memory_pool_free(up));
    CHECK_OK(hsa_amd_memory_pool_free(down));
    CHECK_OK(hsa_amd_memory_pool_free(device));
}

static void packets(void)
{
    hsa_queue_t *queue = NULL;
    STEP(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, note_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    hsa_signal_t gate, done;
    STEP(hsa_signal_create(1, 0, NULL, &gate));
    STEP(hsa_signal_create(1, 0, NULL, &done));
    hsa_barrier_and_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true), .completion_signal = done };
    packet.dep_signal[0] = gate;
    submit(queue, &packet);
    pause_ms(2);
    CHECK(hsa_signal_load_scacquire(done) == 1, "the barrier did not wait");
    hsa_signal_store_screlease(gate, 0);
    CHECK(wait_zero(done, WAIT_LIMIT), "the barrier never opened");
    STEP(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_LOW));
    CHECK_OK(hsa_signal_destroy(gate));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
}

/* A kernel with private memory, which the queue gets while it runs. */
static bool run_kernel(const struct module *module)
{
    struct kernel kernel = find_kernel(module, gpu->handle, "add_one.kd");
    hsa_queue_t *queue = NULL;
    STEP(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, note_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    uint32_t *value = NULL, **kernarg = NULL;
    hsa_signal_t done;
    STEP(hsa_signal_create(1, 0, NULL, &done));
    STEP(hsa_amd_memory_pool_allocate(cpu->fine, 4096, 0, (void **)&value));
    STEP(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, value));
    STEP(hsa_amd_memory_pool_allocate(cpu->kernarg, 4096, 0, (void **)&kernarg));
    STEP(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, kernarg));
    memset(kernarg, 0, 4096);
    *value = 0;
    *kernarg = value;
    unsigned errors = queue_errors;
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, kernarg, 64, 64, done);
    submit(queue, &packet);
    bool ended = false;
    for (double end = seconds() + WAIT_LIMIT; !ended && errors == queue_errors && seconds() < end;)
        ended = wait_zero(done, 0.2);
    if (ended)
        CHECK(*value == 64, "%u instead of 64", *value);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(value));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
    return ended;
}

static void code(const char *root)
{
    struct module module = { 0 };
    module.bytes = read_file(kernel_path(root, gpu, "O0", "control"), &module.size);
    NEED_OK(hsa_code_object_reader_create_from_memory(module.bytes, module.size, &module.reader));
    for (int attempt = 0;; attempt++) {
        NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &module.executable));
        hsa_status_t status = hsa_executable_load_agent_code_object(module.executable, gpu->handle, module.reader, NULL, NULL);
        if (status == HSA_STATUS_SUCCESS)
            status = hsa_executable_freeze(module.executable, NULL);
        if (settle(status, "loading code"))
            break;
        NEED(attempt == 0);
        CHECK_OK(hsa_executable_destroy(module.executable));
    }
    if (!run_kernel(&module)) {
        refused++;
        NEED(run_kernel(&module));
    }
    unload_module(&module);
}

static unsigned find_gpus(void)
{
    unsigned gpus = 0;
    agent_count = 0;
    cpu = gpu = NULL;
    NEED_OK(hsa_iterate_agents(add_agent, NULL));
    for (unsigned i = 0; i < agent_count; i++)
        gpus += agents[i].type == HSA_DEVICE_TYPE_GPU;
    return gpus;
}

int main(int argc, char **argv)
{
    NEED(argc >= 3);
    unsigned wanted = (unsigned)atoi(argv[2]);
    if (argc > 3 && strcmp(argv[3], "storm") == 0)
        storm();
    for (int attempt = 0;; attempt++) {
        hsa_status_t status = hsa_init();
        if (settle(status, "hsa_init")) {
            if (find_gpus() == wanted)
                break;
            refused++;
            printf("refused: a GPU is missing\n");
            NEED_OK(hsa_shut_down());
        }
        NEED(attempt == 0);
    }
    for (unsigned i = 0; i < agent_count; i++) {
        if (agents[i].type != HSA_DEVICE_TYPE_GPU)
            continue;
        gpu = &agents[i];
        copies();
        packets();
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/O0/control.co", argv[1], gpu->name);
        FILE *file = fopen(path, "rb");
        if (file) {
            fclose(file);
            code(argv[1]);
        }
    }
    CHECK_OK(hsa_shut_down());
    printf("%u refused\n", refused + queue_errors);
    return check_summary();
}
