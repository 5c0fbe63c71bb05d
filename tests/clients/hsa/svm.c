/* Shared virtual memory: attributes of the program's own memory, and moving it. Use: svm KERNELS. */
#include "advance.h"

#include <sys/mman.h>

static struct worker worker;

enum { WORDS = 1 << 16, BYTES = WORDS * 4 };

static uint32_t *fresh(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(memory != MAP_FAILED);
    return memory;
}

static void set(void *memory, size_t size, uint64_t attribute, uint64_t value)
{
    hsa_amd_svm_attribute_pair_t pair = { attribute, value };
    CHECK_OK(hsa_amd_svm_attributes_set(memory, size, &pair, 1));
}

static hsa_amd_svm_attribute_pair_t get(void *memory, size_t size, uint64_t attribute, uint64_t value)
{
    hsa_amd_svm_attribute_pair_t pair = { attribute, value };
    CHECK_OK(hsa_amd_svm_attributes_get(memory, size, &pair, 1));
    return pair;
}

static void kernels_use_what_they_are_given(void)
{
    uint32_t *memory = fresh(BYTES);
    fill_pattern(memory, WORDS);
    CHECK(get(memory, BYTES, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu->handle.handle).attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
          "memory that nobody spoke of");
    CHECK(is_refused(&worker, memory, WORDS), "the GPU uses memory that it was not given");
    set(memory, BYTES, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu->handle.handle);
    CHECK(get(memory, BYTES, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu->handle.handle).attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
          "memory that the GPU was given");
    run(&worker, memory, WORDS);
    CHECK(wrong_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(memory, WORDS, 3, 1));

    set(memory, BYTES, HSA_AMD_SVM_ATTRIB_READ_ONLY, 1);
    CHECK(is_refused(&worker, memory, WORDS), "the GPU writes what it may only read");
    set(memory, BYTES, HSA_AMD_SVM_ATTRIB_READ_ONLY, 0);
    set((char *)memory + PAGE, PAGE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu->handle.handle);
    CHECK(is_refused(&worker, memory, WORDS), "the GPU uses a page that was taken from it");
    CHECK(get(memory, BYTES, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu->handle.handle).attribute == HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS,
          "one page of it was taken");
    set(memory, BYTES, HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu->handle.handle);
    run(&worker, memory, WORDS);
    set(memory, BYTES, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu->handle.handle);
    CHECK(is_refused(&worker, memory, WORDS), "the GPU uses what was taken from it");
    CHECK(get(memory, BYTES, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, cpu->handle.handle).attribute == HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE,
          "the host uses its own memory");
    munmap(memory, BYTES);
}

static void attributes_are_kept(void)
{
    char *memory = (char *)fresh(4 * PAGE);
    hsa_amd_svm_attribute_pair_t all[] = {
        { HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED },
        { HSA_AMD_SVM_ATTRIB_HIVE_LOCAL, 1 },
        { HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 3 },
        { HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, gpu->handle.handle },
        { HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1 },
        { HSA_AMD_SVM_ATTRIB_GPU_EXEC, 1 },
    };
    enum { COUNT = sizeof all / sizeof *all };
    CHECK_OK(hsa_amd_svm_attributes_set(memory + 5, 2 * PAGE, all, COUNT));
    hsa_amd_svm_attribute_pair_t got[COUNT];
    for (int i = 0; i < COUNT; i++)
        got[i] = (hsa_amd_svm_attribute_pair_t){ all[i].attribute, 77 };
    CHECK_OK(hsa_amd_svm_attributes_get(memory, 3 * PAGE, got, COUNT));
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i].attribute == all[i].attribute && got[i].value == all[i].value, "attribute %#lx is %#lx",
              (unsigned long)got[i].attribute, (unsigned long)got[i].value);
    uint64_t value = get(memory, 4 * PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 0).value;
    CHECK(value == HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE, "%lu", (unsigned long)value);
    value = get(memory + 3 * PAGE, PAGE, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 0).value;
    CHECK(value == HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED, "%lu", (unsigned long)value);
    CHECK(get(memory, 4 * PAGE, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, 0).value == 0, "half of it prefers nothing");
    munmap(memory, 4 * PAGE);
}

static void prefetches(void)
{
    char *memory = (char *)fresh(BYTES);
    hsa_signal_t gate = new_signal(1), done = new_signal(1);
    CHECK_OK(hsa_amd_svm_prefetch_async(memory, BYTES, gpu->handle, 1, &gate, done));
    pause_ms(30);
    CHECK(hsa_signal_load_relaxed(done) == 1, "memory moved before its time");
    hsa_signal_store_screlease(gate, 0);
    CHECK(wait_zero(done, WAIT_LIMIT), "memory does not move");
    uint64_t where = get(memory, BYTES, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, 0).value;
    CHECK(where == gpu->handle.handle, "%#lx", (unsigned long)where);
    CHECK_OK(hsa_amd_svm_prefetch_async(memory, BYTES, cpu->handle, 0, NULL, (hsa_signal_t){ 0 }));
    CHECK_STATUS(hsa_amd_svm_prefetch_async(memory, BYTES, (hsa_agent_t){ 1 }, 0, NULL, done), HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_svm_prefetch_async(NULL, BYTES, gpu->handle, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_prefetch_async(memory, 0, gpu->handle, 0, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_prefetch_async(memory, BYTES, gpu->handle, 1, NULL, done), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_prefetch_async(memory, BYTES, gpu->handle, 1, &(hsa_signal_t){ 8 }, done), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_OK(hsa_signal_destroy(gate));
    CHECK_OK(hsa_signal_destroy(done));
    munmap(memory, BYTES);
}

static void what_is_none_is_refused(void)
{
    char *memory = (char *)fresh(PAGE);
    hsa_amd_svm_attribute_pair_t pair = { HSA_AMD_SVM_ATTRIB_READ_ONLY, 1 };
    CHECK_STATUS(hsa_amd_svm_attributes_set(NULL, PAGE, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_attributes_set(memory, 0, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_attributes_set(memory, PAGE, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_svm_attributes_get(memory, PAGE, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    static const uint64_t cannot_be_set[] = { HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, 8, 0x204, UINT64_MAX };
    for (size_t i = 0; i < sizeof cannot_be_set / sizeof *cannot_be_set; i++) {
        pair.attribute = cannot_be_set[i];
        CHECK_STATUS(hsa_amd_svm_attributes_set(memory, PAGE, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    static const uint64_t cannot_be_asked[] = { HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, 8, 0x204 };
    for (size_t i = 0; i < sizeof cannot_be_asked / sizeof *cannot_be_asked; i++) {
        pair.attribute = cannot_be_asked[i];
        CHECK_STATUS(hsa_amd_svm_attributes_get(memory, PAGE, &pair, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    pair = (hsa_amd_svm_attribute_pair_t){ HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, 12345 };
    CHECK_STATUS(hsa_amd_svm_attributes_set(memory, PAGE, &pair, 1), HSA_STATUS_ERROR_INVALID_AGENT);
    pair = (hsa_amd_svm_attribute_pair_t){ HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, 12345 };
    CHECK_STATUS(hsa_amd_svm_attributes_get(memory, PAGE, &pair, 1), HSA_STATUS_ERROR_INVALID_AGENT);
    /* No device repeats an access that faulted, so contents cannot be dropped. */
    void *range = NULL;
    size_t size = PAGE;
    NEED_OK(hsa_amd_vmem_address_reserve(&range, PAGE, 0, 0));
    CHECK_STATUS(hsa_amd_svm_discard_batch_async(&range, &size, 1, 0, NULL, (hsa_signal_t){ 0 }),
                 (hsa_status_t)HSA_STATUS_ERROR_XNACK_DISABLED);
    CHECK_OK(hsa_amd_vmem_address_free(range, PAGE));
    munmap(memory, PAGE);
}

/* What the runtime allocated has no such attributes, whatever part of a range it is; locked memory is the program's own. */
static void memory_of_the_runtime_has_none(void)
{
    hsa_amd_memory_pool_t pools[] = { cpu->fine, cpu->coarse, gpu->coarse };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        char *memory = pool_alloc(pools[i], 4 * PAGE);
        hsa_amd_svm_attribute_pair_t pair = { HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1 };
        CHECK_STATUS(hsa_amd_svm_attributes_set(memory, PAGE, &pair, 1), HSA_STATUS_ERROR);
        CHECK_STATUS(hsa_amd_svm_attributes_get(memory, PAGE, &pair, 1), HSA_STATUS_ERROR);
        CHECK_STATUS(hsa_amd_svm_attributes_get(memory + 2 * PAGE, PAGE, &pair, 1), HSA_STATUS_ERROR);
        CHECK_STATUS(hsa_amd_svm_attributes_get(memory - PAGE, 2 * PAGE, &pair, 1), HSA_STATUS_ERROR);
        CHECK_OK(hsa_amd_svm_attributes_set(memory, PAGE, &pair, 0)); /* nothing is said and nothing asked */
        CHECK_OK(hsa_amd_svm_attributes_get(memory, PAGE, &pair, 0));
        CHECK_OK(hsa_amd_memory_pool_free(memory));
    }
    char *memory = (char *)fresh(PAGE);
    void *seen = NULL;
    CHECK_OK(hsa_amd_memory_lock(memory, PAGE, &gpu->handle, 1, &seen));
    set(memory, PAGE, HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1);
    CHECK_OK(hsa_amd_memory_unlock(memory));
    munmap(memory, PAGE);
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    bool supported = false;
    NEED_OK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, &supported));
    CHECK(supported, "shared virtual memory is not supported");
    worker = new_worker(argv[1], gpu);
    kernels_use_what_they_are_given();
    attributes_are_kept();
    prefetches();
    what_is_none_is_refused();
    memory_of_the_runtime_has_none();
    end_worker(&worker);
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
