/* Everything that the runtime maps is whole pages of the system, whatever their size: pools, rings, shared signals, reserved
 * addresses. Needs one GPU. */
#include "machine.h"

#define WHOLE(what, value)                                                                                                     \
    CHECK((uint64_t)(value) % PAGE == 0, "%s: %#llx with pages of %#llx", what, (unsigned long long)(value), (unsigned long long)PAGE)

static void pools_of(const struct agent *agent)
{
    for (unsigned p = 0; p < agent->pool_count; p++) {
        bool allowed = false;
        size_t granule = 0, alignment = 0;
        NEED_OK(hsa_amd_memory_pool_get_info(agent->pools[p], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
        if (!allowed)
            continue;
        NEED_OK(hsa_amd_memory_pool_get_info(agent->pools[p], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule));
        NEED_OK(hsa_amd_memory_pool_get_info(agent->pools[p], HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, &alignment));
        WHOLE("a granule", granule);
        WHOLE("an alignment", alignment);
        for (size_t bytes = 1; bytes < 16 << 20; bytes = bytes * 5 + 3) {
            char *memory = NULL;
            NEED_OK(hsa_amd_memory_pool_allocate(agent->pools[p], bytes, 0, (void **)&memory));
            WHOLE("an allocation", memory);
            memory[0] = 1;
            memory[(bytes + granule - 1) / granule * granule - 1] = 1;
            CHECK_OK(hsa_amd_memory_pool_free(memory));
        }
    }
}

static void rings(void)
{
    for (uint32_t size = 64; size <= 4096; size *= 4) {
        hsa_queue_t *queue = NULL;
        NEED_OK(hsa_queue_create(gpu->handle, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
        WHOLE("a ring", queue->base_address);
        CHECK_OK(hsa_queue_destroy(queue));
    }
}

static void shared_signals(void)
{
    hsa_signal_t signals[5];
    hsa_amd_ipc_signal_t name;
    for (unsigned i = 0; i < 5; i++) {
        NEED_OK(hsa_amd_signal_create(i, 0, NULL, HSA_AMD_SIGNAL_IPC, &signals[i]));
        WHOLE("a shared signal", signals[i].handle);
        CHECK_OK(hsa_amd_ipc_signal_create(signals[i], &name));
    }
    for (unsigned i = 0; i < 5; i++) {
        CHECK(hsa_signal_load_scacquire(signals[i]) == i, "signal %u", i);
        CHECK_OK(hsa_signal_destroy(signals[i]));
    }
}

static void reserved_addresses(void)
{
    char *first = NULL, *second = NULL;
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&first, PAGE, 0, 0));
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&second, 3 * PAGE, 0, 0));
    WHOLE("reserved addresses", first);
    WHOLE("reserved addresses", second);
    CHECK_OK(hsa_amd_vmem_address_free(first, PAGE));
    CHECK_OK(hsa_amd_vmem_address_free(second, 3 * PAGE));
}

int main(void)
{
    printf("pages of %llu bytes\n", (unsigned long long)PAGE);
    NEED_OK(hsa_init());
    find_agents();
    NEED(gpu != NULL);
    for (unsigned a = 0; a < agent_count; a++)
        pools_of(&agents[a]);
    rings();
    shared_signals();
    reserved_addresses();
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
