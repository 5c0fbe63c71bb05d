/* Two GPUs and who of them may use what: device memory, locked host memory, memory without an address, and the memory of
 * another process. Use: peers KERNELS, with at least two GPUs of one kind; the program starts itself again as another
 * process. */
#include "advance.h"
#include "child.h"

static const char *kernels_root;

enum { WORDS = 1 << 14, BYTES = WORDS * 4 };

static struct worker first, second;

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
    first = new_worker(kernels_root, found[0]);
    second = new_worker(kernels_root, found[1]);
}

static void end(void)
{
    end_worker(&first);
    end_worker(&second);
    CHECK_OK(hsa_shut_down());
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
    uint32_t *memory = device_pattern(&first, WORDS);
    hsa_amd_memory_pool_access_t access;
    CHECK_OK(hsa_amd_agent_memory_pool_get_info(second.agent->handle, first.agent->coarse, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                                &access));
    CHECK(access == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, "access %d", access);
    CHECK(is_for(memory, true, false), "memory is its device's");
    CHECK(is_refused(&second, memory, WORDS), "the other GPU uses memory that it was not given");
    run(&first, memory, WORDS);
    CHECK_OK(hsa_amd_agents_allow_access(1, &second.agent->handle, NULL, memory));
    CHECK(is_for(memory, true, true), "memory was given to the other GPU");
    run(&second, memory, WORDS);
    run(&first, memory, WORDS);
    CHECK(wrong_device_words(memory, WORDS, 27, 13) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 27, 13));
    /* The list is all there is: who is not in it has access no more, but for the owner. */
    CHECK_OK(hsa_amd_agents_allow_access(1, &first.agent->handle, NULL, memory));
    CHECK(is_for(memory, true, false), "memory was taken from the other GPU");
    CHECK(is_refused(&second, memory, WORDS), "the other GPU uses what was taken from it");
    hsa_agent_t both[] = { second.agent->handle, first.agent->handle, second.agent->handle };
    CHECK_OK(hsa_amd_agents_allow_access(3, both, NULL, memory));
    run(&second, memory, WORDS);
    /* A copy needs no permission: whoever copies is a device that has it. */
    uint32_t *other = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(second.agent->coarse, BYTES, 0, (void **)&other));
    hsa_signal_t done = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy(other, second.agent->handle, memory, first.agent->handle, BYTES, 0, NULL, done));
    CHECK(wait_zero(done, WAIT_LIMIT), "a copy between devices does not end");
    CHECK(wrong_device_words(other, WORDS, 81, 40) == 0, "%u words are wrong", wrong_device_words(other, WORDS, 81, 40));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(other));
    /* Memory that comes to lie there later is not the other GPU's. */
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK(is_refused(&second, memory, WORDS), "the other GPU uses what was freed");
    memory = device_pattern(&first, WORDS);
    CHECK(is_refused(&second, memory, WORDS), "the other GPU uses memory that it was not given");
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

static void locked_memory_is_for_those_it_was_locked_for(void)
{
    uint32_t *memory = malloc(BYTES), *seen = NULL, *again = NULL;
    NEED(memory != NULL);
    fill_pattern(memory, WORDS);
    NEED_OK(hsa_amd_memory_lock(memory, BYTES, &second.agent->handle, 1, (void **)&seen));
    CHECK(is_for(seen, false, true) && is_for(memory, false, true), "memory was locked for one GPU");
    CHECK(is_refused(&first, seen, WORDS), "a GPU uses what was locked for another");
    run(&second, seen, WORDS);
    NEED_OK(hsa_amd_memory_lock(memory, BYTES, NULL, 0, (void **)&again));
    run(&first, again, WORDS);
    CHECK(wrong_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_words(memory, WORDS, 9, 4));
    CHECK_OK(hsa_amd_memory_unlock(memory));
    run(&second, seen, WORDS);
    CHECK_OK(hsa_amd_memory_unlock(memory));
    CHECK(is_refused(&second, seen, WORDS), "a GPU uses what was unlocked");
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
    fill_pattern(memory, WORDS);
    run(&second, memory, WORDS);
    CHECK(is_refused(&first, memory, WORDS), "a GPU uses what is another's");
    desc[0].agent_handle = first.agent->handle;
    desc[0].permissions = HSA_ACCESS_PERMISSION_RO;
    NEED_OK(hsa_amd_vmem_set_access(memory, BYTES, desc, 1));
    CHECK(is_refused(&first, memory, WORDS), "a GPU writes what it may only read");
    run(&second, memory, WORDS);
    CHECK(wrong_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_words(memory, WORDS, 9, 4));
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
    run(&second, memory, WORDS);
    CHECK(is_refused(&first, memory, WORDS), "a GPU uses what was taken for another");
    hsa_agent_t both[] = { first.agent->handle, second.agent->handle };
    CHECK_OK(hsa_amd_agents_allow_access(2, both, NULL, memory));
    CHECK(is_for(memory, true, true), "memory was given to the other GPU");
    run(&first, memory, WORDS);
    CHECK_OK(hsa_amd_agents_allow_access(1, both, NULL, memory));
    CHECK(is_refused(&second, memory, WORDS), "a GPU uses what was taken from it");
    CHECK_OK(hsa_amd_ipc_memory_detach(memory));
}

static void memory_of_a_gpu_is_used_by_another_in_another_process(void)
{
    uint32_t *memory = device_pattern(&first, WORDS);
    hsa_amd_ipc_memory_t handle;
    NEED_OK(hsa_amd_ipc_memory_create(memory, BYTES, &handle));
    struct child other = start_child(kernels_root, "taker", NULL);
    NEED(send_child(&other, &handle, sizeof handle));
    int status = end_child(&other);
    CHECK(exited(status, 0), "the other process ended with %#x", status);
    CHECK(wrong_device_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_device_words(memory, WORDS, 9, 4));
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
