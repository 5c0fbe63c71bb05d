/* How much scratch queues keep: what is beyond the limit goes back when its dispatch is over, and a limit that becomes lower
 * takes what queues have. Compiled against our own headers. Use: scratch KERNELS. */
#include "advance.h"

#include <pthread.h>

enum { PRIVATE = 8192, COUNT = 4096 };

static struct worker worker;
static uint32_t *words;

static uint64_t limit_now(hsa_amd_agent_info_t which)
{
    uint64_t bytes = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)which, &bytes));
    return bytes;
}

static uint64_t free_memory(void)
{
    uint64_t bytes = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &bytes));
    return bytes;
}

/* Whether that much memory is free within a while. */
static bool becomes_free(uint64_t bytes)
{
    for (double until = seconds() + WAIT_LIMIT; seconds() < until; pause_ms(1))
        if (free_memory() == bytes)
            return true;
    return false;
}

/* Runs the kernel as one with much private memory, so often. */
static void run_large(unsigned times)
{
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg[0] = words;
    fill_pattern(words, COUNT);
    hsa_signal_t done = new_signal(times);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&worker.advance, kernarg, COUNT, 64, done);
    packet.header |= 1 << HSA_PACKET_HEADER_BARRIER;
    packet.private_segment_size = PRIVATE;
    for (unsigned i = 0; i < times; i++)
        submit(worker.queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    uint32_t factor = 1, plus = 0;
    for (unsigned i = 0; i < times; i++, factor *= 3)
        plus = plus * 3 + 1;
    CHECK(wrong_words(words, COUNT, factor, plus) == 0, "%u words are wrong", wrong_words(words, COUNT, factor, plus));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
}

static void limits(void)
{
    uint64_t most = limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX);
    CHECK(most > 0 && limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT) == most, "%llu bytes", (unsigned long long)most);
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most / 2));
    CHECK(limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT) == most / 2, "the limit is not the new one");
    CHECK(limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX) == most, "the highest limit has changed");
    CHECK_STATUS(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most + 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT) == most / 2, "a refused limit holds");
    CHECK_STATUS(hsa_amd_agent_set_async_scratch_limit(cpu->handle, 0), HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most));
}

/* A queue keeps its scratch, loses it to a lower limit, and has it for one dispatch at a time then. */
static void kept_and_taken(void)
{
    uint64_t most = limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX), before = free_memory();
    run_large(2);
    uint64_t kept = before - free_memory();
    CHECK(kept >= (uint64_t)PRIVATE * 64, "%llu bytes are kept", (unsigned long long)kept);
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, kept));
    CHECK(before - free_memory() == kept, "what a queue may keep was taken");
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, kept - 1));
    CHECK(free_memory() == before, "%llu bytes are missing", (unsigned long long)(before - free_memory()));
    run_large(3);
    CHECK(becomes_free(before), "scratch of one dispatch was not given back");
    run_large(1);
    CHECK(becomes_free(before), "scratch of one dispatch was not given back");
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most));
    run_large(1);
    CHECK(before - free_memory() == kept, "nothing is kept again");
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, 0));
    CHECK(free_memory() == before, "%llu bytes are missing", (unsigned long long)(before - free_memory()));
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most));
}

static atomic_bool taken;

static void *lower(void *data)
{
    (void)data;
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, 0));
    taken = true;
    return NULL;
}

/* What a kernel that runs uses stays until it is over. */
static void taken_while_it_runs(void)
{
    uint64_t most = limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX), before = free_memory();
    struct kernel wait_flag = find_kernel(&worker.module, gpu->handle, "wait_flag.kd");
    volatile uint32_t *flags = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg[0] = (void *)flags;
    kernarg[1] = (void *)(flags + 1);
    kernarg[2] = (void *)(flags + 16);
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&wait_flag, kernarg, 64, 64, done);
    packet.private_segment_size = PRIVATE;
    submit(worker.queue, &packet);
    for (double until = seconds() + WAIT_LIMIT; flags[1] == 0 && seconds() < until;)
        pause_ms(1);
    NEED(flags[1] == 1);
    uint64_t held = free_memory();
    CHECK(held < before, "the kernel has no scratch");
    pthread_t thread;
    taken = false;
    NEED(pthread_create(&thread, NULL, lower, NULL) == 0);
    pause_ms(50);
    CHECK(!taken && free_memory() == held, "scratch was taken from a kernel that runs");
    __atomic_store_n(flags, 1, __ATOMIC_RELEASE);
    CHECK(wait_zero(done, WAIT_LIMIT), "the kernel does not end");
    pthread_join(thread, NULL);
    CHECK(free_memory() == before, "%llu bytes are missing", (unsigned long long)(before - free_memory()));
    run_large(4);
    CHECK(becomes_free(before), "scratch of one dispatch was not given back");
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
    CHECK_OK(hsa_amd_memory_pool_free((void *)flags));
}

static atomic_bool over;

static void *change_limits(void *data)
{
    uint64_t most = *(uint64_t *)data;
    for (unsigned i = 0; !over; i++)
        CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, i % 2 ? most : i % 4 ? most / 1024 : 0));
    return NULL;
}

/* No dispatch is lost or wrong while the limit changes all the time. */
static void changing_limits(void)
{
    uint64_t most = limit_now(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX);
    pthread_t thread;
    over = false;
    NEED(pthread_create(&thread, NULL, change_limits, &most) == 0);
    for (unsigned i = 0; i < 200; i++)
        run_large(1 + i % 5);
    over = true;
    pthread_join(thread, NULL);
    CHECK_OK(hsa_amd_agent_set_async_scratch_limit(gpu->handle, most));
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    worker = new_worker(argv[1], gpu);
    words = shared_alloc(COUNT * sizeof *words);
    limits();
    kept_and_taken();
    taken_while_it_runs();
    changing_limits();
    end_worker(&worker);
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
