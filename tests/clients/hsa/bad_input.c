/* What a program may do wrong with code objects, memory, queues and signals: every mistake has its answer, and nothing but
 * the mistaken call suffers. Every case is a process of its own. Use: bad_input KERNELS. */
#include "mistakes.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

/* ---- code objects ---- */

/* Loads `size` bytes that end where the readable memory ends, so that reading behind them is a crash. */
static hsa_status_t load_bytes(const void *bytes, size_t size)
{
    size_t page = PAGE, room = (size + page - 1) / page * page;
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(memory != MAP_FAILED);
    NEED(mprotect(memory + room, page, PROT_NONE) == 0);
    char *copy = memory + room - size;
    memcpy(copy, bytes, size);
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_status_t status = hsa_code_object_reader_create_from_memory(copy, size, &reader);
    if (status == HSA_STATUS_SUCCESS) {
        NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
        status = hsa_executable_load_agent_code_object(executable, gpu->handle, reader, NULL, NULL);
        if (status == HSA_STATUS_SUCCESS)
            status = hsa_executable_freeze(executable, NULL);
        NEED_OK(hsa_executable_destroy(executable));
        NEED_OK(hsa_code_object_reader_destroy(reader));
    }
    munmap(memory, room + page);
    return status;
}

static void whole_code_object(const void *data)
{
    (void)data;
    start();
    size_t size;
    void *bytes = read_file(vector_add_path(), &size);
    CHECK_OK(load_bytes(bytes, size));
}

static void truncated_code_object(const void *data)
{
    (void)data;
    start();
    size_t size, accepted = 0, wrong = 0;
    char *bytes = read_file(vector_add_path(), &size);
    for (size_t length = 1; length < size; length += length < 256 ? 1 : 13) {
        hsa_status_t status = load_bytes(bytes, length);
        accepted += status == HSA_STATUS_SUCCESS;
        wrong += status != HSA_STATUS_SUCCESS && status != HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    }
    CHECK(accepted == 0, "%zu truncated code objects were accepted", accepted);
    CHECK(wrong == 0, "%zu were refused with another status than INVALID_CODE_OBJECT", wrong);
    CHECK_STATUS(load_bytes(bytes, size - 1), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    CHECK_OK(load_bytes(bytes, size));
}

/* Flipped bits may give a code object that still loads. What counts is that the process lives and the next load works. */
static void damaged_code_object(const void *data)
{
    (void)data;
    start();
    size_t size, refused = 0;
    unsigned char *bytes = read_file(vector_add_path(), &size), *damaged = malloc(size);
    NEED(damaged != NULL);
    uint32_t random = 1;
    for (int round = 0; round < 3000; round++) {
        memcpy(damaged, bytes, size);
        for (int k = 0; k < 1 + round % 4; k++) {
            random = random * 1664525u + 1013904223u;
            uint32_t at = random % (round % 2 ? (uint32_t)size : 1024u);
            random = random * 1664525u + 1013904223u;
            damaged[at] ^= (unsigned char)(random >> 24);
        }
        refused += load_bytes(damaged, size) != HSA_STATUS_SUCCESS;
    }
    CHECK(refused > 0, "not one of 3000 damaged code objects was refused");
    CHECK_OK(load_bytes(bytes, size));
}

struct elf_change {
    const char *name;
    size_t offset, size;
    uint64_t value;
    hsa_status_t want;
};

static const struct elf_change elf_changes[] = {
#define FIELD(field, value, want) \
    { #field " = " #value, offsetof(Elf64_Ehdr, field), sizeof((Elf64_Ehdr *)0)->field, value, want }
#define IDENT(at, value, want) { "e_ident[" #at "] = " #value, at, 1, value, want }
    IDENT(EI_MAG0, 'X', HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    IDENT(EI_CLASS, ELFCLASS32, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    IDENT(EI_DATA, ELFDATA2MSB, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    IDENT(EI_OSABI, ELFOSABI_LINUX, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    IDENT(EI_ABIVERSION, 99, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_machine, EM_X86_64, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_machine, EM_AARCH64, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_flags, 0, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_flags, 0x1ff, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_phoff, 0xfffffffffffffff0, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_phnum, 0, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_phnum, 0xfff0, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
    FIELD(e_shoff, 0x7fffffffffffffff, HSA_STATUS_ERROR_INVALID_CODE_OBJECT),
#undef FIELD
#undef IDENT
};

static void changed_elf_header(const void *data)
{
    const struct elf_change *change = data;
    start();
    size_t size;
    char *bytes = read_file(vector_add_path(), &size);
    memcpy(bytes + change->offset, &change->value, change->size);
    CHECK_STATUS(load_bytes(bytes, size), change->want);
}

static void host_program_as_code_object(const void *data)
{
    (void)data;
    start();
    size_t size;
    void *bytes = read_file("/proc/self/exe", &size);
    CHECK_STATUS(load_bytes(bytes, size), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    char text[] = "this is not a code object; it is longer than the header of one, which has sixty-four bytes";
    CHECK_STATUS(load_bytes(text, sizeof text), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    char zeros[4096] = { 0 };
    CHECK_STATUS(load_bytes(zeros, sizeof zeros), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

static void code_object_for_another_gpu(const void *data)
{
    (void)data;
    start();
    static const char *const others[] = { "gfx900", "gfx906", "gfx908", "gfx90a" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct agent other = *gpu;
        snprintf(other.name, sizeof other.name, "%s", others[i]);
        size_t size;
        void *bytes = read_file(kernel_path(root, &other, "O3", "vector_add"), &size);
        hsa_status_t want =
            strcmp(others[i], gpu->name) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
        CHECK_STATUS(load_bytes(bytes, size), want);
    }
}

static void gpu_code_on_the_cpu_agent(const void *data)
{
    (void)data;
    start();
    size_t size;
    void *bytes = read_file(vector_add_path(), &size);
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    NEED_OK(hsa_code_object_reader_create_from_memory(bytes, size, &reader));
    NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK_STATUS(hsa_executable_load_agent_code_object(executable, cpu->handle, reader, NULL, NULL),
                 HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
}

static void undefined_variable(const void *data)
{
    (void)data;
    start();
    size_t size;
    void *bytes = read_file(kernel_path(root, gpu, "O3", "external"), &size);
    CHECK_STATUS(load_bytes(bytes, size), HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
}

static void reader_arguments(const void *data)
{
    (void)data;
    start();
    hsa_code_object_reader_t reader;
    char byte = 0;
    CHECK_STATUS(hsa_code_object_reader_create_from_memory(NULL, 64, &reader), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_code_object_reader_create_from_memory(&byte, 0, &reader), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_code_object_reader_create_from_memory(&byte, 1, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_code_object_reader_create_from_file(-1, &reader), HSA_STATUS_ERROR_INVALID_FILE);
    CHECK_STATUS(hsa_code_object_reader_create_from_file(987, &reader), HSA_STATUS_ERROR_INVALID_FILE);
    int directory = open("/", O_RDONLY), null = open("/dev/null", O_RDONLY), good = open(vector_add_path(), O_RDONLY);
    NEED(directory >= 0 && null >= 0 && good >= 0);
    CHECK_STATUS(hsa_code_object_reader_create_from_file(directory, &reader), HSA_STATUS_ERROR_INVALID_FILE);
    CHECK_STATUS(hsa_code_object_reader_create_from_file(null, &reader), HSA_STATUS_ERROR_INVALID_FILE);
    CHECK_STATUS(hsa_code_object_reader_create_from_file(good, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_code_object_reader_create_from_file(good, &reader));
    CHECK_OK(hsa_code_object_reader_destroy(reader));
    CHECK_STATUS(hsa_code_object_reader_destroy(reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
}

static void unknown_kernel_name(const void *data)
{
    (void)data;
    start();
    struct module module = load_module(vector_add_path(), gpu->handle);
    hsa_executable_symbol_t symbol = { 0 };
    static const char *const names[] = { "nothing.kd", "vector_add", "&vector_add", "Vector_add.kd", "", "vector_add.kd " };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STATUS(hsa_executable_get_symbol_by_name(module.executable, names[i], &gpu->handle, &symbol),
                     HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    CHECK_STATUS(hsa_executable_get_symbol_by_name(module.executable, NULL, &gpu->handle, &symbol),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_get_symbol_by_name(module.executable, "vector_add.kd", &gpu->handle, NULL),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_get_symbol_by_name(module.executable, "vector_add.kd", &cpu->handle, &symbol),
                 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    CHECK_OK(hsa_executable_get_symbol_by_name(module.executable, "vector_add.kd", &gpu->handle, &symbol));
}

static void executable_states(const void *data)
{
    (void)data;
    start();
    struct module module = load_module(vector_add_path(), gpu->handle);
    CHECK_STATUS(hsa_executable_freeze(module.executable, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    CHECK_STATUS(hsa_executable_load_agent_code_object(module.executable, gpu->handle, module.reader, NULL, NULL),
                 HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    int variable;
    CHECK_STATUS(hsa_executable_agent_global_variable_define(module.executable, gpu->handle, "x", &variable),
                 HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
    hsa_executable_t executable;
    NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK_OK(hsa_executable_agent_global_variable_define(executable, gpu->handle, "x", &variable));
    CHECK_STATUS(hsa_executable_agent_global_variable_define(executable, gpu->handle, "x", &variable),
                 HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
    CHECK_OK(hsa_executable_destroy(executable));
    CHECK_STATUS(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    CHECK_STATUS(hsa_executable_create_alt((hsa_profile_t)7, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_create_alt(HSA_PROFILE_BASE, (hsa_default_float_rounding_mode_t)9, NULL, &executable),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, NULL),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* ---- memory ---- */

static void region_sizes(const void *data)
{
    (void)data;
    start();
    hsa_region_t regions[] = { cpu->fine_region, cpu->kernarg_region, gpu->coarse_region };
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        void *memory = &memory;
        size_t limit = 0;
        NEED_OK(hsa_region_get_info(regions[i], HSA_REGION_INFO_ALLOC_MAX_SIZE, &limit));
        CHECK_STATUS(hsa_memory_allocate(regions[i], 0, &memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(hsa_memory_allocate(regions[i], 64, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        size_t sizes[] = { limit + 1, limit + 4096, SIZE_MAX, SIZE_MAX - 4095, (size_t)1 << 47 };
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            CHECK_EITHER(hsa_memory_allocate(regions[i], sizes[k], &memory), HSA_STATUS_ERROR_INVALID_ALLOCATION,
                         HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        CHECK(memory == (void *)&memory, "a failed allocation wrote an address");
    }
    void *memory = NULL;
    if (gpu->group_region.handle)
        CHECK_STATUS(hsa_memory_allocate(gpu->group_region, 64, &memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_OK(hsa_memory_allocate(cpu->fine_region, 1, &memory));
    CHECK_OK(hsa_memory_free(memory));
}

static void pool_sizes(const void *data)
{
    (void)data;
    start();
    hsa_amd_memory_pool_t pools[] = { cpu->fine, cpu->kernarg, gpu->coarse };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        void *memory = &memory;
        size_t limit = 0;
        NEED_OK(hsa_amd_memory_pool_get_info(pools[i], (hsa_amd_memory_pool_info_t)HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE,
                                             &limit));
        CHECK_STATUS(hsa_amd_memory_pool_allocate(pools[i], 0, 0, &memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(hsa_amd_memory_pool_allocate(pools[i], 64, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(hsa_amd_memory_pool_allocate(pools[i], 64, 0x80000000, &memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        size_t sizes[] = { limit + 1, limit + 4096, SIZE_MAX, SIZE_MAX - 4095, (size_t)1 << 47 };
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            CHECK_EITHER(hsa_amd_memory_pool_allocate(pools[i], sizes[k], 0, &memory), HSA_STATUS_ERROR_INVALID_ALLOCATION,
                         HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        CHECK(memory == (void *)&memory, "a failed allocation wrote an address");
    }
    void *memory = NULL;
    if (gpu->group.handle)
        CHECK_STATUS(hsa_amd_memory_pool_allocate(gpu->group, 64, 0, &memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void memory_runs_out(const void *data)
{
    (void)data;
    start();
    size_t size = 0, taken = 0;
    NEED_OK(hsa_amd_memory_pool_get_info(gpu->coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
    size_t piece = size / 4 / PAGE * PAGE;
    void *pieces[8];
    hsa_status_t status = HSA_STATUS_SUCCESS;
    while (taken < 8 && status == HSA_STATUS_SUCCESS) {
        status = hsa_amd_memory_pool_allocate(gpu->coarse, piece, 0, &pieces[taken]);
        taken += status == HSA_STATUS_SUCCESS;
    }
    CHECK(taken <= 4, "%zu quarters of the memory fit", taken);
    CHECK(status == HSA_STATUS_ERROR_OUT_OF_RESOURCES, "status %#x", status);
    for (size_t i = 0; i < taken; i++)
        CHECK_OK(hsa_amd_memory_pool_free(pieces[i]));
    void *again = NULL;
    CHECK_OK(hsa_amd_memory_pool_allocate(gpu->coarse, piece, 0, &again));
    CHECK_OK(hsa_amd_memory_pool_free(again));
}

static char static_array[8192];

static void frees(const void *data)
{
    (void)data;
    start();
    void *region = NULL, *vram = NULL, *host = malloc(64);
    char *pool = pool_alloc(cpu->fine, 16384);
    NEED_OK(hsa_memory_allocate(cpu->fine_region, 4096, &region));
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, 4096, 0, &vram));
    CHECK_OK(hsa_memory_free(NULL));
    CHECK_OK(hsa_amd_memory_pool_free(NULL));
    void *wrong[] = { host, static_array, pool + 1, pool + 4096, (void *)1, (char *)region + 8, &region };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(hsa_memory_free(wrong[i]), HSA_STATUS_ERROR_INVALID_ALLOCATION);
        CHECK_STATUS(hsa_amd_memory_pool_free(wrong[i]), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    }
    CHECK_OK(hsa_memory_free(region));
    CHECK_STATUS(hsa_memory_free(region), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_OK(hsa_amd_memory_pool_free(pool));
    CHECK_STATUS(hsa_amd_memory_pool_free(pool), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK_STATUS(hsa_amd_memory_pool_free(vram), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    free(host);
}

static void copies_and_fills(const void *data)
{
    (void)data;
    start();
    uint32_t *memory = pool_alloc(cpu->fine, 4096), host[4] = { 0 };
    CHECK_STATUS(hsa_memory_copy(NULL, host, 16), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_memory_copy(host, NULL, 16), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_fill(NULL, 1, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_fill((char *)memory + 1, 1, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_fill((char *)memory + 2, 1, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_fill(host, 1, 1), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_memory_fill(memory, 1, PAGE / 2), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_memory_fill(memory, 1, SIZE_MAX / 2), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    hsa_signal_t done = new_signal(1), no_signal = { 0 };
    hsa_agent_t no_agent = { 7 }; /* newer headers let 0 mean that the runtime finds out by itself */
    CHECK_STATUS(hsa_amd_memory_async_copy(NULL, cpu->handle, memory, cpu->handle, 64, 0, NULL, done),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_async_copy(memory, cpu->handle, NULL, cpu->handle, 64, 0, NULL, done),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_async_copy(memory, no_agent, memory + 64, cpu->handle, 64, 0, NULL, done),
                 HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_memory_async_copy(memory, cpu->handle, memory + 64, no_agent, 64, 0, NULL, done),
                 HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_memory_async_copy(memory, cpu->handle, memory + 64, cpu->handle, 64, 1, NULL, done),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_EITHER(hsa_amd_memory_async_copy(memory, cpu->handle, memory + 64, cpu->handle, 64, 0, NULL, no_signal),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK(hsa_signal_load_relaxed(done) == 1, "a refused copy touched its signal");
}

static void access_and_locks(const void *data)
{
    (void)data;
    start();
    char *memory = pool_alloc(cpu->fine, 8192);
    uint32_t flags = 0;
    CHECK_STATUS(hsa_amd_agents_allow_access(0, &gpu->handle, NULL, memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_agents_allow_access(1, NULL, NULL, memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_agents_allow_access(1, &gpu->handle, &flags, memory), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    /* The header lists one error, the runtime that everybody has says ERROR. */
    CHECK_EITHER(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, static_array), HSA_STATUS_ERROR_INVALID_ARGUMENT,
                 HSA_STATUS_ERROR);
    void *locked = NULL;
    CHECK_STATUS(hsa_amd_memory_lock(NULL, 4096, &gpu->handle, 1, &locked), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(static_array, 0, &gpu->handle, 1, &locked), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(static_array, 4096, &gpu->handle, 1, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(static_array, 4096, &gpu->handle, -1, &locked), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK_EITHER(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, memory), HSA_STATUS_ERROR_INVALID_ARGUMENT,
                 HSA_STATUS_ERROR);
}

/* ---- queues and signals ---- */

static void queue_arguments(const void *data)
{
    (void)data;
    start();
    hsa_queue_t *queue = NULL;
    uint32_t most = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &most));
    const uint32_t odd[] = { 0, 3, 63, 65, 100, 1000, most - 1, most + 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK_STATUS(hsa_queue_create(gpu->handle, odd[i], HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_EITHER(hsa_queue_create(gpu->handle, 2 * most, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK_STATUS(hsa_queue_create(gpu->handle, 64, 77, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, NULL),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_queue_create(cpu->handle, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue),
                 HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
    CHECK(queue == NULL, "a failed creation wrote a queue");
    CHECK_STATUS(hsa_queue_destroy(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_queue_inactivate(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    queue = new_queue(gpu->handle, 64);
    hsa_queue_t copy = *queue;
    static uint64_t zeros[512];
    CHECK_STATUS(hsa_queue_destroy(&copy), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_STATUS(hsa_queue_destroy((hsa_queue_t *)zeros), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_STATUS(hsa_queue_destroy(queue), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_STATUS(hsa_queue_inactivate(queue), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_STATUS(hsa_amd_profiling_set_profiler_enabled(queue, 1), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_STATUS(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_LOW), HSA_STATUS_ERROR_INVALID_QUEUE);
}

static void queues_run_out(const void *data)
{
    (void)data;
    start();
    uint32_t limit = 0, made = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_QUEUES_MAX, &limit));
    NEED(limit > 0 && limit <= 4096);
    hsa_queue_t *queues[4100];
    hsa_status_t status = HSA_STATUS_SUCCESS;
    while (made < limit + 1 && status == HSA_STATUS_SUCCESS) {
        status = hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queues[made]);
        made += status == HSA_STATUS_SUCCESS;
    }
    CHECK(made > 0 && made <= limit, "%u queues, and the agent says %u", made, limit);
    CHECK(status == HSA_STATUS_ERROR_OUT_OF_RESOURCES, "status %#x", status);
    for (uint32_t i = 0; i < made; i++)
        CHECK_OK(hsa_queue_destroy(queues[i]));
    CHECK_OK(hsa_queue_destroy(new_queue(gpu->handle, 64)));
}

static void signal_arguments(const void *data)
{
    (void)data;
    start();
    hsa_signal_t signal = { 0 };
    hsa_agent_t twice[2] = { gpu->handle, gpu->handle };
    CHECK_STATUS(hsa_signal_create(1, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_signal_create(1, 1, NULL, &signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_signal_create(1, 2, twice, &signal), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_signal_destroy((hsa_signal_t){ 0 }), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    static uint64_t zeros[512];
    CHECK_STATUS(hsa_signal_destroy((hsa_signal_t){ (uintptr_t)zeros }), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_STATUS(hsa_signal_destroy((hsa_signal_t){ 1 }), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_STATUS(hsa_signal_destroy((hsa_signal_t){ gpu->handle.handle }), HSA_STATUS_ERROR_INVALID_SIGNAL);
    signal = new_signal(5);
    CHECK_OK(hsa_signal_destroy(signal));
    CHECK_STATUS(hsa_signal_destroy(signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_STATUS(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, never, NULL),
                 HSA_STATUS_ERROR_INVALID_SIGNAL);
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    CHECK_STATUS(hsa_signal_destroy(queue->doorbell_signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_OK(hsa_queue_destroy(queue));
}

/* ---- NULL and what is no attribute ---- */

static char answer[4096];

static void null_and_unknown_arguments(const void *data)
{
    (void)data;
    start();
    CHECK_STATUS(hsa_iterate_agents(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_system_get_info((hsa_system_info_t)0x7777, answer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)0x7777, answer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_NAME, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_agent_iterate_regions(gpu->handle, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_region_get_info(cpu->fine_region, (hsa_region_info_t)0x7777, answer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_region_get_info(cpu->fine_region, HSA_REGION_INFO_SEGMENT, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_pool_get_info(cpu->fine, (hsa_amd_memory_pool_info_t)0x7777, answer),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_pool_get_info(cpu->fine, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, NULL),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx0", (hsa_isa_t *)answer), HSA_STATUS_ERROR_INVALID_ISA_NAME);
    CHECK_STATUS(hsa_isa_from_name(NULL, (hsa_isa_t *)answer), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx900", NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    const char *text = "untouched";
    CHECK_STATUS(hsa_status_string((hsa_status_t)0x7777, &text), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_status_string(HSA_STATUS_SUCCESS, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_register_system_event_handler(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_pointer_info(NULL, &(hsa_amd_pointer_info_t){ .size = sizeof(hsa_amd_pointer_info_t) }, NULL, NULL,
                                      NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_pointer_info(answer, NULL, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_pointer_info(answer, &(hsa_amd_pointer_info_t){ .size = 0 }, NULL, NULL, NULL),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    root = argv[1];
    static const struct {
        const char *name;
        void (*run)(const void *);
    } cases[] = {
#define TEST(f) { #f, f }
        TEST(whole_code_object), TEST(truncated_code_object), TEST(damaged_code_object), TEST(host_program_as_code_object),
        TEST(code_object_for_another_gpu), TEST(gpu_code_on_the_cpu_agent), TEST(undefined_variable), TEST(reader_arguments),
        TEST(unknown_kernel_name), TEST(executable_states), TEST(region_sizes), TEST(pool_sizes), TEST(memory_runs_out),
        TEST(frees), TEST(copies_and_fills), TEST(access_and_locks), TEST(queue_arguments), TEST(queues_run_out),
        TEST(signal_arguments), TEST(null_and_unknown_arguments),
#undef TEST
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        isolate(cases[i].name, cases[i].run, NULL);
    for (size_t i = 0; i < sizeof elf_changes / sizeof *elf_changes; i++)
        isolate(elf_changes[i].name, changed_elf_header, &elf_changes[i]);
    return check_summary();
}
