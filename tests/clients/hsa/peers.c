/* Two GPUs and who of them may use what: device memory, locked host memory, memory without an address, and the memory of
 * another process. Use: peers KERNELS, with at least two GPUs of one kind; the program starts itself again as another
 * process. */
#include "child.h"
#include "machine.h"

static const char *kernels_root;

enum { WORDS = 1 << 14, BYTES = WORDS * 4 };

/* A GPU with what it needs to run the kernel: value[i] = value[i] * 3 + 1. */
struct worker {
    struct agent *agent;
    struct module module;
    struct kernel advance;
    hsa_queue_t *queue;
};

static struct worker first, second;
static hsa_status_t queue_status;

static uint32_t pattern(uint32_t i) { return i * 2654435761u ^ 0x5bd1e995; }

static void remember_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    (void)source;
    (void)data;
    __atomic_store_n(&queue_status, status, __ATOMIC_RELEASE);
}

static void prepare(struct worker *worker, struct agent *agent)
{
    worker->agent = agent;
    worker->module = load_module(kernel_path(kernels_root, agent, "O3", "control"), agent->handle);
    worker->advance = find_kernel(&worker->module, agent->handle, "advance.kd");
    worker->queue = new_queue(agent->handle, 64);
}

static void begin(void)
{
    NEED_OK(hsa_init());
    find_agents();
    struct agent *found[2] = { NULL, NULL };
    unsigned gpus = 0;
    for (unsigned i = 0; i < agent_count && gpus < 2; i++)
        if (agents[i].type == HSA_DEVICE_TYPE_GPU)
            found[gpus++] = &agents[i];
    NEED(gpus == 2);
    prepare(&first, found[0]);
    prepare(&second, found[1]);
}

static void end(void)
{
    struct worker *workers[] = { &first, &second };
    for (int i = 0; i < 2; i++) {
        CHECK_OK(hsa_queue_destroy(workers[i]->queue));
        unload_module(&workers[i]->module);
    }
    CHECK_OK(hsa_shut_down());
}

static bool run_on(struct worker *worker, hsa_queue_t *queue, uint32_t *value)
{
    void **kernarg = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(cpu->kernarg, 4096, 0, (void **)&kernarg));
    NEED_OK(hsa_amd_agents_allow_access(1, &worker->agent->handle, NULL, kernarg));
    memset(kernarg, 0, 4096);
    *kernarg = value;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&worker->advance, kernarg, WORDS, 64, done);
    submit(queue, &packet);
    bool ended = false;
    for (double until = seconds() + WAIT_LIMIT; !ended && seconds() < until;)
        ended = hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, ticks_per_second() / 20, HSA_WAIT_STATE_BLOCKED) == 0 ||
                __atomic_load_n(&queue_status, __ATOMIC_ACQUIRE) != 0;
    ended = hsa_signal_load_scacquire(done) == 0;
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
    return ended;
}

static void run(struct worker *worker, uint32_t *value) { NEED(run_on(worker, worker->queue, value)); }

static bool is_refused(struct worker *worker, uint32_t *value)
{
    hsa_queue_t *other = NULL;
    queue_status = 0;
    NEED_OK(hsa_queue_create(worker->agent->handle, 64, HSA_QUEUE_TYPE_MULTI, remember_error, NULL, UINT32_MAX, UINT32_MAX, &other));
    bool ended = run_on(worker, other, value);
    CHECK_OK(hsa_queue_destroy(other));
    hsa_status_t status = queue_status;
    queue_status = 0;
    return !ended && status == (hsa_status_t)HSA_STATUS_ERROR_MEMORY_FAULT;
}

static uint32_t *device_pattern(struct worker *worker)
{
    uint32_t *memory = NULL, *host = malloc(BYTES);
    NEED(host != NULL);
    NEED_OK(hsa_amd_memory_pool_allocate(worker->agent->coarse, BYTES, 0, (void **)&memory));
    for (uint32_t i = 0; i < WORDS; i++)
        host[i] = pattern(i);
    NEED_OK(hsa_memory_copy(memory, host, BYTES));
    free(host);
    return memory;
}

static uint32_t wrong_words(const uint32_t *memory, uint32_t times, uint32_t plus)
{
    uint32_t wrong = 0, *host = malloc(BYTES);
    NEED(host != NULL);
    NEED_OK(hsa_memory_copy(host, memory, BYTES));
    for (uint32_t i = 0; i < WORDS; i++)
        wrong += host[i] != pattern(i) * times + plus;
    free(host);
    return wrong;
}

/* Whether exactly these agents are said to have an address's memory. */
static bool is_for(const void *pointer, bool with_first, bool with_second)
{
    uint32_t count = 0;
    hsa_agent_t *accessible = NULL;
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(pointer, &info, malloc, &count, &accessible));
    bool has_first = false, has_second = false;
    for (uint32_t i = 0; i < count; i++) {
        has_first |= accessible[i].handle == first.agent->handle.handle;
        has_second |= accessible[i].handle == second.agent->handle.handle;
    }
    free(accessible);
    return has_first == with_first && has_second == with_second && count == (unsigned)with_first + with_second;
}

static void device_memory_is_its_own_until_it_is_granted(void)
{
    uint32_t *memory = device_pattern(&first);
    hsa_amd_memory_pool_access_t access;
    CHECK_OK(hsa_amd_agent_memory_pool_get_info(second.agent->handle, first.agent->coarse, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                                &access));
    CHECK(access == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, "access %d", access);
    CHECK(is_for(memory, true, false), "memory is its device's");
    CHECK(is_refused(&second, memory), "the other GPU uses memory that it was not given");
    run(&first, memory);
    CHECK_OK(hsa_amd_agents_allow_access(1, &second.agent->handle, NULL, memory));
    CHECK(is_for(memory, true, true), "memory was given to the other GPU");
    run(&second, memory);
    run(&first, memory);
    CHECK(wrong_words(memory, 27, 13) == 0, "%u words are wrong", wrong_words(memory, 27, 13));
    /* The list is all there is: who is not in it has access no more, but for the owner. */
    CHECK_OK(hsa_amd_agents_allow_access(1, &first.agent->handle, NULL, memory));
    CHECK(is_for(memory, true, false), "memory was taken from the other GPU");
    CHECK(is_refused(&second, memory), "the other GPU uses what was taken from it");
    hsa_agent_t both[] = { second.agent->handle, first.agent->handle, second.agent->handle };
    CHECK_OK(hsa_amd_agents_allow_access(3, both, NULL, memory));
    run(&second, memory);
    /* A copy needs no permission: whoever copies is a device that has it. */
    uint32_t *other = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(second.agent->coarse, BYTES, 0, (void **)&other));
    hsa_signal_t done = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy(other, second.agent->handle, memory, first.agent->handle, BYTES, 0, NULL, done));
    CHECK(wait_zero(done, WAIT_LIMIT), "a copy between devices does not end");
    CHECK(wrong_words(other, 81, 40) == 0, "%u words are wrong", wrong_words(other, 81, 40));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(other));
    /* Memory that comes to lie there later is not the other GPU's. */
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK(is_refused(&second, memory), "the other GPU uses what was freed");
    memory = device_pattern(&first);
    CHECK(is_refused(&second, memory), "the other GPU uses memory that it was not given");
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

static void locked_memory_is_for_those_it_was_locked_for(void)
{
    uint32_t *memory = malloc(BYTES), *seen = NULL, *again = NULL;
    NEED(memory != NULL);
    for (uint32_t i = 0; i < WORDS; i++)
        memory[i] = pattern(i);
    NEED_OK(hsa_amd_memory_lock(memory, BYTES, &second.agent->handle, 1, (void **)&seen));
    CHECK(is_for(seen, false, true) && is_for(memory, false, true), "memory was locked for one GPU");
    CHECK(is_refused(&first, seen), "a GPU uses what was locked for another");
    run(&second, seen);
    NEED_OK(hsa_amd_memory_lock(memory, BYTES, NULL, 0, (void **)&again));
    run(&first, again);
    CHECK(wrong_words(memory, 9, 4) == 0, "%u words are wrong", wrong_words(memory, 9, 4));
    CHECK_OK(hsa_amd_memory_unlock(memory));
    run(&second, seen);
    CHECK_OK(hsa_amd_memory_unlock(memory));
    CHECK(is_refused(&second, seen), "a GPU uses what was unlocked");
    free(memory);
}

static void memory_without_an_address_is_for_those_that_are_named(void)
{
    hsa_amd_vmem_alloc_handle_t handle = { 0 };
    uint32_t *memory = NULL;
    NEED_OK(hsa_amd_vmem_handle_create(first.agent->coarse, BYTES, MEMORY_TYPE_PINNED, 0, &handle));
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&memory, BYTES, 0, 0));
    NEED_OK(hsa_amd_vmem_map(memory, BYTES, 0, handle, 0));
    hsa_amd_memory_access_desc_t desc[] = { { HSA_ACCESS_PERMISSION_RW, second.agent->handle },
                                            { HSA_ACCESS_PERMISSION_RW, cpu->handle } };
    NEED_OK(hsa_amd_vmem_set_access(memory, BYTES, desc, 2));
    for (uint32_t i = 0; i < WORDS; i++)
        memory[i] = pattern(i);
    run(&second, memory);
    CHECK(is_refused(&first, memory), "a GPU uses what is another's");
    desc[0].agent_handle = first.agent->handle;
    desc[0].permissions = HSA_ACCESS_PERMISSION_RO;
    NEED_OK(hsa_amd_vmem_set_access(memory, BYTES, desc, 1));
    CHECK(is_refused(&first, memory), "a GPU writes what it may only read");
    run(&second, memory);
    CHECK(wrong_words(memory, 9, 4) == 0, "%u words are wrong", wrong_words(memory, 9, 4));
    CHECK_OK(hsa_amd_vmem_unmap(memory, BYTES));
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    CHECK_OK(hsa_amd_vmem_address_free(memory, BYTES));
}

/* ---- another process ---- */

static void taker(void)
{
    hsa_amd_ipc_memory_t handle;
    NEED(receive_all(FROM_PARENT, &handle, sizeof handle));
    uint32_t *memory = NULL;
    NEED_OK(hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &second.agent->handle, (void **)&memory));
    CHECK(is_for(memory, false, true), "memory was taken for one GPU");
    run(&second, memory);
    CHECK(is_refused(&first, memory), "a GPU uses what was taken for another");
    hsa_agent_t both[] = { first.agent->handle, second.agent->handle };
    CHECK_OK(hsa_amd_agents_allow_access(2, both, NULL, memory));
    CHECK(is_for(memory, true, true), "memory was given to the other GPU");
    run(&first, memory);
    CHECK_OK(hsa_amd_agents_allow_access(1, both, NULL, memory));
    CHECK(is_refused(&second, memory), "a GPU uses what was taken from it");
    CHECK_OK(hsa_amd_ipc_memory_detach(memory));
}

static void memory_of_a_gpu_is_used_by_another_in_another_process(void)
{
    uint32_t *memory = device_pattern(&first);
    hsa_amd_ipc_memory_t handle;
    NEED_OK(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    struct child other = start_child(kernels_root, "taker", NULL);
    NEED(send_child(&other, &handle, sizeof handle));
    int status = end_child(&other);
    CHECK(exited(status, 0), "the other process ended with %#x", status);
    CHECK(wrong_words(memory, 9, 4) == 0, "%u words are wrong", wrong_words(memory, 9, 4));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

int main(int argc, char **argv)
{
    NEED(argc > 1);
    kernels_root = argv[1];
    begin();
    if (argc > 2 && strcmp(argv[2], "taker") == 0) {
        taker();
    } else {
        device_memory_is_its_own_until_it_is_granted();
        locked_memory_is_for_those_it_was_locked_for();
        memory_without_an_address_is_for_those_that_are_named();
        memory_of_a_gpu_is_used_by_another_in_another_process();
    }
    end();
    return check_summary();
}
