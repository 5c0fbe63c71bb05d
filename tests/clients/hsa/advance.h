/* GPUs that run one kernel on words with a pattern in them: value[i] = value[i] * 3 + 1. That tells who may use memory,
 * and that nobody else changed it. */
#ifndef ADVANCE_H
#define ADVANCE_H

#include "machine.h"

/* A GPU with what it needs to run the kernel. */
struct worker {
    struct agent *agent;
    struct module module;
    struct kernel advance;
    hsa_queue_t *queue;
};

static inline struct worker new_worker(const char *kernels, struct agent *agent)
{
    struct worker worker = { .agent = agent };
    worker.module = load_module(kernel_path(kernels, agent, "O3", "control"), agent->handle);
    worker.advance = find_kernel(&worker.module, agent->handle, "advance.kd");
    worker.queue = new_queue(agent->handle, 64);
    return worker;
}

static inline void end_worker(struct worker *worker)
{
    CHECK_OK(hsa_queue_destroy(worker->queue));
    unload_module(&worker->module);
}

static inline void remember_error(hsa_status_t status, hsa_queue_t *source, void *remembered)
{
    (void)source;
    __atomic_store_n((hsa_status_t *)remembered, status, __ATOMIC_RELEASE);
}

/* Runs the kernel on a queue until it ends or the queue's error is there; answers whether it came to its end. */
static inline bool run_on(const struct worker *worker, hsa_queue_t *queue, const hsa_status_t *error, uint32_t *value,
                          uint32_t count)
{
    void **kernarg = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(cpu->kernarg, 4096, 0, (void **)&kernarg));
    NEED_OK(hsa_amd_agents_allow_access(1, &worker->agent->handle, NULL, kernarg));
    memset(kernarg, 0, 4096);
    *kernarg = value;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&worker->advance, kernarg, count, 64, done);
    submit(queue, &packet);
    uint64_t ticks = ticks_per_second() / 20;
    for (double until = seconds() + WAIT_LIMIT; seconds() < until && __atomic_load_n(error, __ATOMIC_ACQUIRE) == 0;)
        if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, ticks, HSA_WAIT_STATE_BLOCKED) == 0)
            break;
    bool ended = hsa_signal_load_scacquire(done) == 0;
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
    return ended;
}

static inline void run(const struct worker *worker, uint32_t *value, uint32_t count)
{
    static const hsa_status_t none = HSA_STATUS_SUCCESS; /* an error on the worker's own queue is a failure by itself */
    NEED(run_on(worker, worker->queue, &none, value, count));
}

/* Whether the kernel's access to memory is refused. */
static inline bool is_refused(const struct worker *worker, uint32_t *value, uint32_t count)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t error = HSA_STATUS_SUCCESS;
    NEED_OK(hsa_queue_create(worker->agent->handle, 64, HSA_QUEUE_TYPE_MULTI, remember_error, &error, UINT32_MAX, UINT32_MAX,
                             &queue));
    bool ended = run_on(worker, queue, &error, value, count);
    CHECK_OK(hsa_queue_destroy(queue));
    return !ended && error == (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
}

static inline uint32_t pattern(uint32_t i) { return i * 2654435761u ^ 0x5bd1e995; }

static inline void fill_pattern(uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = pattern(i);
}

/* Words that are not pattern * times + plus, which is what so many runs make of it: 3 and 1, 9 and 4, 27 and 13. */
static inline uint32_t wrong_words(const uint32_t *words, uint32_t count, uint32_t times, uint32_t plus)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong += words[i] != pattern(i) * times + plus;
    return wrong;
}

/* Memory of the worker's device with the pattern in it. */
static inline uint32_t *device_pattern(const struct worker *worker, uint32_t count)
{
    uint32_t *memory = NULL, *host = malloc(count * sizeof *host);
    NEED(host != NULL);
    NEED_OK(hsa_amd_memory_pool_allocate(worker->agent->coarse, count * sizeof *host, 0, (void **)&memory));
    fill_pattern(host, count);
    NEED_OK(hsa_memory_copy(memory, host, count * sizeof *host));
    free(host);
    return memory;
}

/* The same as wrong_words() of memory that the host has to copy. */
static inline uint32_t wrong_device_words(const uint32_t *memory, uint32_t count, uint32_t times, uint32_t plus)
{
    uint32_t *host = malloc(count * sizeof *host);
    NEED(host != NULL);
    NEED_OK(hsa_memory_copy(host, memory, count * sizeof *host));
    uint32_t wrong = wrong_words(host, count, times, plus);
    free(host);
    return wrong;
}

#endif
