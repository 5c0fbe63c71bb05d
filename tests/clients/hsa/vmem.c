/* Addresses and memory apart: reserving, creating, mapping, access, passing on, and every way to get it wrong. Use: vmem
 * KERNELS; the program starts itself again as another process. */
#include "advance.h"
#include "child.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/mman.h>

static const char *kernels_root;
static struct worker worker;
static size_t granule;

enum { WORDS = 1 << 14, BYTES = WORDS * 4 };

static const hsa_access_permission_t NONE = HSA_ACCESS_PERMISSION_NONE, RO = HSA_ACCESS_PERMISSION_RO,
                                     RW = HSA_ACCESS_PERMISSION_RW;

static void begin(void)
{
    NEED_OK(hsa_init());
    find_agents();
    NEED(gpu->coarse.handle != 0);
    bool supported = false;
    NEED_OK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, &supported));
    CHECK(supported, "virtual memory is not supported");
    NEED_OK(hsa_amd_memory_pool_get_info(gpu->coarse, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule));
    NEED(granule != 0 && BYTES % granule == 0);
    worker = new_worker(kernels_root, gpu);
}

static void end(void)
{
    end_worker(&worker);
    CHECK_OK(hsa_shut_down());
}

static sigjmp_buf landing;

static void land(int signal) { siglongjmp(landing, signal); }

/* Whether the host may load from an address. */
static bool host_reads(const volatile uint32_t *address)
{
    struct sigaction ours = { .sa_handler = land, .sa_flags = SA_NODEFER }, before;
    sigaction(SIGSEGV, &ours, &before);
    bool good = sigsetjmp(landing, 1) == 0;
    if (good)
        (void)*address;
    sigaction(SIGSEGV, &before, NULL);
    return good;
}

static bool host_writes(volatile uint32_t *address)
{
    struct sigaction ours = { .sa_handler = land, .sa_flags = SA_NODEFER }, before;
    sigaction(SIGSEGV, &ours, &before);
    bool good = sigsetjmp(landing, 1) == 0;
    if (good)
        *address = *address;
    sigaction(SIGSEGV, &before, NULL);
    return good;
}

static uint32_t *reserve(size_t size)
{
    void *address = NULL;
    NEED_OK(hsa_amd_vmem_address_reserve(&address, size, 0, 0));
    NEED(address != NULL);
    return address;
}

static hsa_amd_vmem_alloc_handle_t create(hsa_amd_memory_pool_t pool, size_t size)
{
    hsa_amd_vmem_alloc_handle_t handle = { 0 };
    NEED_OK(hsa_amd_vmem_handle_create(pool, size, MEMORY_TYPE_PINNED, 0, &handle));
    NEED(handle.handle != 0);
    return handle;
}

static hsa_status_t access_of(void *address, size_t size, hsa_access_permission_t gpus, hsa_access_permission_t hosts)
{
    hsa_amd_memory_access_desc_t desc[] = { { gpus, gpu->handle }, { hosts, cpu->handle } };
    return hsa_amd_vmem_set_access(address, size, desc, 2);
}

static hsa_amd_pointer_info_t info_of(const void *pointer)
{
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(pointer, &info, NULL, NULL, NULL));
    return info;
}

/* ---- what works ---- */

/* A pointer's memory says how it was allocated and whether the host reaches it. */
static void how_it_was_allocated(void)
{
    static const struct {
        uint32_t wish, bits;
    } cases[] = { { 0, 0 },
                  { HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, HSA_AMD_POINTER_INFO_ALLOC_FLAG_EXECUTABLE },
                  { HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG, HSA_AMD_POINTER_INFO_ALLOC_FLAG_CONTIGUOUS } };
    for (int device = 0; device < 2; device++) {
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
            void *memory = NULL;
            NEED_OK(hsa_amd_memory_pool_allocate(device ? gpu->coarse : cpu->fine, PAGE, cases[i].wish, &memory));
            hsa_amd_pointer_info_t info = info_of(memory);
            uint32_t place = device ? HSA_AMD_POINTER_INFO_ALLOC_FLAG_NONPAGED : HSA_AMD_POINTER_INFO_ALLOC_FLAG_HOST_ACCESS;
            uint32_t host = info.hostBaseAddress ? HSA_AMD_POINTER_INFO_ALLOC_FLAG_HOST_ACCESS : 0;
            CHECK(info.alloc_flags == (cases[i].bits | place | host), "flags %#x with %#x", info.alloc_flags, cases[i].wish);
            CHECK_OK(hsa_amd_memory_pool_free(memory));
        }
    }
}

static void reservations(void)
{
    char *first = (char *)reserve(16 * PAGE), *second = NULL;
    hsa_amd_pointer_info_t info = info_of(first + 5000);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_RESERVED_ADDR && info.agentBaseAddress == first && info.sizeInBytes == 16 * PAGE,
          "type %d, %zu bytes at %p", info.type, info.sizeInBytes, info.agentBaseAddress);
    CHECK(!host_reads((uint32_t *)first), "the host reads what is only reserved");
    /* A wish that cannot be met is no error. */
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&second, PAGE, (uint64_t)(uintptr_t)first, 0));
    CHECK(second != first, "the same addresses twice");
    CHECK_OK(hsa_amd_vmem_address_free(second, PAGE));
    uint64_t wish = UINT64_C(0x234500000000);
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&second, 1 << 20, wish, HSA_AMD_VMEM_ADDRESS_NO_REGISTER));
    CHECK((uint64_t)(uintptr_t)second == wish, "%p", (void *)second);
    CHECK_OK(hsa_amd_vmem_address_free(second, 1 << 20));
    for (uint64_t alignment = PAGE; alignment <= UINT64_C(1) << 34; alignment <<= 3) {
        NEED_OK(hsa_amd_vmem_address_reserve_align((void **)&second, PAGE, 0, alignment, 0));
        CHECK((uintptr_t)second % alignment == 0, "%p is not aligned to %#lx", (void *)second, (unsigned long)alignment);
        CHECK_OK(hsa_amd_vmem_address_free(second, PAGE));
    }
    CHECK_OK(hsa_amd_vmem_address_free(first, 16 * PAGE));
    CHECK(info_of(first).type == HSA_EXT_POINTER_TYPE_UNKNOWN, "type %d of what was given back", info_of(first).type);
    /* Far more addresses than there is memory. */
    NEED_OK(hsa_amd_vmem_address_reserve((void **)&first, (size_t)1 << 42, 0, 0));
    CHECK_OK(hsa_amd_vmem_address_free(first, (size_t)1 << 42));
}

static void memory_of_pool(hsa_amd_memory_pool_t pool)
{
    hsa_amd_vmem_alloc_handle_t handle = create(pool, BYTES);
    hsa_amd_memory_pool_t from = { 0 };
    hsa_amd_memory_type_t type = MEMORY_TYPE_NONE;
    CHECK_OK(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &from, &type));
    CHECK(from.handle == pool.handle && type == MEMORY_TYPE_PINNED, "type %d", type);
    uint32_t *first = reserve(BYTES), *second = reserve(2 * BYTES) + WORDS;
    NEED_OK(hsa_amd_vmem_map(first, BYTES, 0, handle, 0));
    CHECK(!host_reads(first), "the host reads what nobody may use");
    CHECK(is_refused(&worker, first, WORDS), "the GPU uses what nobody may use");
    NEED_OK(access_of(first, BYTES, RW, RW));
    CHECK(first[0] == 0 && first[WORDS - 1] == 0, "new memory is %#x", first[0]);
    fill_pattern(first, WORDS);
    run(&worker, first, WORDS);
    CHECK(wrong_words(first, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(first, WORDS, 3, 1));

    /* The same memory somewhere else. */
    NEED_OK(hsa_amd_vmem_map(second, BYTES, 0, handle, 0));
    NEED_OK(access_of(second, BYTES, RO, RO));
    CHECK(wrong_words(second, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(second, WORDS, 3, 1));
    CHECK(is_refused(&worker, second, WORDS), "the GPU writes what it may only read");
    CHECK(!host_writes(second), "the host writes what it may only read");
    hsa_access_permission_t permission = NONE;
    CHECK_OK(hsa_amd_vmem_get_access(second + 5, &permission, gpu->handle));
    CHECK(permission == RO, "%d", permission);
    hsa_amd_pointer_info_t info = info_of(second + 100);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA_VMEM && info.agentBaseAddress == second && info.sizeInBytes == BYTES,
          "type %d, %zu bytes at %p", info.type, info.sizeInBytes, info.agentBaseAddress);
    CHECK(info_of(second - WORDS).type == HSA_EXT_POINTER_TYPE_RESERVED_ADDR, "type %d", info_of(second - WORDS).type);

    /* Access is taken from one agent and the other keeps it. */
    hsa_amd_memory_access_desc_t none = { NONE, gpu->handle };
    CHECK_OK(hsa_amd_vmem_set_access(first, BYTES, &none, 1));
    CHECK_OK(hsa_amd_vmem_get_access(first, &permission, gpu->handle));
    CHECK(permission == NONE, "%d", permission);
    CHECK_OK(hsa_amd_vmem_get_access(first, &permission, cpu->handle));
    CHECK(permission == RW, "%d", permission);
    CHECK(is_refused(&worker, first, WORDS), "the GPU uses what was taken from it");
    CHECK(wrong_words(first, WORDS, 3, 1) == 0, "%u words changed", wrong_words(first, WORDS, 3, 1));
    NEED_OK(access_of(first, BYTES, RW, RW));

    /* Memory lives as long as it is mapped; what is mapped has a handle again. */
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    hsa_amd_vmem_alloc_handle_t again = { 0 };
    CHECK_OK(hsa_amd_vmem_retain_alloc_handle(&again, (char *)first + 77));
    CHECK_OK(hsa_amd_vmem_get_alloc_properties_from_handle(again, &from, &type));
    CHECK(from.handle == pool.handle, "another pool");
    CHECK_OK(hsa_amd_vmem_handle_release(again));
    CHECK_OK(hsa_amd_vmem_unmap(second, BYTES));
    CHECK(!host_reads(second), "the host reads what was unmapped");
    run(&worker, first, WORDS);
    CHECK(wrong_words(first, WORDS, 9, 4) == 0, "%u words are wrong", wrong_words(first, WORDS, 9, 4));
    CHECK_OK(hsa_amd_vmem_unmap(first, BYTES));
    CHECK(is_refused(&worker, first, WORDS), "the GPU uses what was unmapped");
    CHECK_OK(hsa_amd_vmem_address_free(first, BYTES));
    CHECK_OK(hsa_amd_vmem_address_free(second - WORDS, 2 * BYTES));
}

static void memory_of_every_pool(void)
{
    hsa_amd_memory_pool_t pools[] = { gpu->coarse, gpu->fine, cpu->fine, cpu->coarse, cpu->kernarg };
    for (size_t p = 0; p < sizeof pools / sizeof *pools; p++)
        if (pools[p].handle != 0)
            memory_of_pool(pools[p]);
}

/* One allocation that grows: pieces side by side are one range for access and unmapping. */
static void pieces_side_by_side(void)
{
    enum { PIECES = 8 };
    uint32_t *base = reserve(PIECES * BYTES);
    for (int i = 0; i < PIECES; i++) {
        hsa_amd_vmem_alloc_handle_t handle = create(gpu->coarse, BYTES);
        NEED_OK(hsa_amd_vmem_map(base + i * WORDS, BYTES, 0, handle, 0));
        CHECK_OK(hsa_amd_vmem_handle_release(handle));
    }
    NEED_OK(access_of(base, PIECES * BYTES, RW, RW));
    for (int i = 0; i < PIECES; i++)
        fill_pattern(base + i * WORDS, WORDS);
    /* Across the seam of two pieces. */
    uint32_t *seam = base + WORDS / 2;
    run(&worker, seam, WORDS);
    CHECK(seam[0] == pattern(WORDS / 2) * 3 + 1 && seam[WORDS - 1] == pattern(WORDS / 2 - 1) * 3 + 1, "%#x", seam[0]);
    CHECK(base[0] == pattern(0), "%#x", base[0]);
    uint32_t *vram = pool_alloc(gpu->coarse, 2 * BYTES);
    CHECK_OK(hsa_memory_copy(vram, base, 2 * BYTES));
    CHECK(memcmp(vram, base, 2 * BYTES) == 0, "a copy across pieces");
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK_STATUS(hsa_amd_vmem_unmap(base, BYTES / 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_free(base, PIECES * BYTES), HSA_STATUS_ERROR_RESOURCE_FREE);
    CHECK_OK(hsa_amd_vmem_unmap(base + WORDS, 3 * BYTES));
    CHECK(!host_reads(base + 3 * WORDS) && host_reads(base) && host_reads(base + 4 * WORDS), "the wrong pieces are gone");
    CHECK_OK(hsa_amd_vmem_unmap(base, BYTES));
    CHECK_OK(hsa_amd_vmem_unmap(base + 4 * WORDS, 4 * BYTES));
    CHECK_OK(hsa_amd_vmem_address_free(base, PIECES * BYTES));
}

/* ---- passing on ---- */

static void map_descriptor(int descriptor)
{
    hsa_amd_vmem_alloc_handle_t handle = { 0 };
    NEED_OK(hsa_amd_vmem_import_shareable_handle(descriptor, &handle));
    uint32_t *memory = reserve(BYTES);
    NEED_OK(hsa_amd_vmem_map(memory, BYTES, 0, handle, 0));
    NEED_OK(access_of(memory, BYTES, RW, RW));
    run(&worker, memory, WORDS);
    CHECK_OK(hsa_amd_vmem_unmap(memory, BYTES));
    CHECK_OK(hsa_amd_vmem_address_free(memory, BYTES));
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
}

static void a_descriptor_passes_memory_on(void)
{
    hsa_amd_vmem_alloc_handle_t handle = create(gpu->coarse, BYTES);
    uint32_t *memory = reserve(BYTES);
    NEED_OK(hsa_amd_vmem_map(memory, BYTES, 0, handle, 0));
    NEED_OK(access_of(memory, BYTES, RW, RW));
    fill_pattern(memory, WORDS);
    int descriptor = -1;
    NEED_OK(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 0));
    NEED(descriptor >= 0);
    map_descriptor(descriptor);
    CHECK(wrong_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(memory, WORDS, 3, 1));
    int inherited = fcntl(descriptor, F_DUPFD, 50);
    char number[16];
    snprintf(number, sizeof number, "%d", inherited);
    struct child other = start_child(kernels_root, "map-descriptor", number);
    int status = end_child(&other);
    CHECK(exited(status, 0), "the other process ended with %#x", status);
    close(inherited);
    CHECK(wrong_words(memory, WORDS, 9, 4) == 0, "%u words are wrong", wrong_words(memory, WORDS, 9, 4));
    /* An imported handle says what it is of. */
    hsa_amd_vmem_alloc_handle_t imported = { 0 };
    hsa_amd_memory_pool_t pool = { 0 };
    hsa_amd_memory_type_t type = MEMORY_TYPE_NONE;
    CHECK_OK(hsa_amd_vmem_import_shareable_handle(descriptor, &imported));
    CHECK_OK(hsa_amd_vmem_get_alloc_properties_from_handle(imported, &pool, &type));
    CHECK(pool.handle == gpu->coarse.handle && type == MEMORY_TYPE_PINNED, "type %d", type);
    CHECK_OK(hsa_amd_vmem_handle_release(imported));
    /* It is a dma-buf as well. */
    size_t size = 0;
    uint32_t *buffer = NULL;
    CHECK_OK(hsa_amd_interop_map_buffer(1, &gpu->handle, descriptor, 0, &size, (void **)&buffer, NULL, NULL));
    CHECK(size == BYTES && wrong_words(buffer, WORDS, 9, 4) == 0, "%zu bytes", size);
    CHECK_OK(hsa_amd_interop_unmap_buffer(buffer));
    close(descriptor);
    uint64_t offset = 1;
    CHECK_OK(hsa_amd_portable_export_dmabuf(memory, BYTES, &descriptor, &offset));
    CHECK(offset == 0, "offset %lu", (unsigned long)offset);
    close(descriptor);
    CHECK_OK(hsa_amd_vmem_unmap(memory, BYTES));
    CHECK_OK(hsa_amd_vmem_address_free(memory, BYTES));
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
}

static void no_fabric(void)
{
    hsa_amd_vmem_alloc_handle_t handle = create(gpu->coarse, BYTES), other = { 0 };
    hsa_fabric_handle_t name = { { 0 } };
    bool supported = true;
    CHECK_OK(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_FABRIC_HANDLES_SUPPORTED, &supported));
    CHECK(!supported, "a fabric of one software GPU");
    hsa_status_t status = hsa_amd_vmem_export_fabric_handle(&name, handle, 0);
    CHECK(status != HSA_STATUS_SUCCESS, "memory is on a fabric that there is not");
    status = hsa_amd_vmem_import_fabric_handle(name, &other);
    CHECK(status != HSA_STATUS_SUCCESS && other.handle == 0, "a fabric gives memory");
    CHECK_STATUS(hsa_amd_vmem_export_fabric_handle(NULL, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_export_fabric_handle(&name, handle, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_import_fabric_handle(name, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
}

/* ---- what does not ---- */

static void wrong_reservations(void)
{
    void *address = NULL;
    CHECK_STATUS(hsa_amd_vmem_address_reserve(NULL, PAGE, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_reserve(&address, 0, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_reserve(&address, 4097, 0, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_reserve(&address, PAGE, 0, 8), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_reserve_align(&address, PAGE, 0, 3 * PAGE, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_reserve(&address, (size_t)1 << 62, 0, 0), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(address == NULL, "%p was written", address);
    address = reserve(2 * PAGE);
    CHECK_STATUS(hsa_amd_vmem_address_free(address, PAGE), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_free(address, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_address_free((char *)address + PAGE, PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_address_free(&address, PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_address_free(NULL, PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_OK(hsa_amd_vmem_address_free(address, 2 * PAGE));
    CHECK_STATUS(hsa_amd_vmem_address_free(address, 2 * PAGE), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

static void wrong_memory(void)
{
    hsa_amd_vmem_alloc_handle_t handle = { 0 };
    hsa_amd_memory_pool_t pool = gpu->coarse, none = { 12345 };
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, BYTES, MEMORY_TYPE_PINNED, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, 0, MEMORY_TYPE_PINNED, 0, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, granule + 1, MEMORY_TYPE_PINNED, 0, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, BYTES, (hsa_amd_memory_type_t)7, 0, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, BYTES, MEMORY_TYPE_PINNED, UINT64_C(1) << 40, &handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_handle_create(none, BYTES, MEMORY_TYPE_PINNED, 0, &handle), (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
    CHECK_STATUS(hsa_amd_vmem_handle_create(gpu->group, BYTES, MEMORY_TYPE_PINNED, 0, &handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_handle_create(pool, (size_t)1 << 50, MEMORY_TYPE_PINNED, 0, &handle), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    CHECK(handle.handle == 0, "%#lx was written", (unsigned long)handle.handle);
    CHECK_STATUS(hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){ 0 }), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){ 0x1234567890 }), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    handle = create(pool, BYTES);
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    hsa_amd_memory_type_t type;
    int descriptor = -1;
    CHECK_STATUS(hsa_amd_vmem_handle_release(handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, &type), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    handle = create(pool, BYTES);
    CHECK_STATUS(hsa_amd_vmem_get_alloc_properties_from_handle(handle, NULL, &type), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_get_alloc_properties_from_handle(handle, &pool, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_export_shareable_handle(NULL, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_export_shareable_handle(&descriptor, handle, 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    int null = open("/dev/null", O_RDWR);
    CHECK_STATUS(hsa_amd_vmem_import_shareable_handle(null, &handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_import_shareable_handle(-1, &handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_import_shareable_handle(null, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    close(null);
}

static void wrong_mappings(void)
{
    hsa_amd_vmem_alloc_handle_t handle = create(gpu->coarse, BYTES), none = { 0 };
    char *base = (char *)reserve(3 * BYTES);
    CHECK_STATUS(hsa_amd_vmem_map(NULL, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base, 0, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base, BYTES + PAGE, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base, BYTES, PAGE, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base, BYTES, 0, handle, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base, BYTES, 0, none, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_map(base + 2 * BYTES + PAGE, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base + 100, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(&handle, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(access_of(base, BYTES, RW, RW), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_unmap(base, BYTES), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    NEED_OK(hsa_amd_vmem_map(base + BYTES, BYTES, 0, handle, 0));
    CHECK_STATUS(hsa_amd_vmem_map(base + BYTES, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_map(base + BYTES / 2, BYTES, 0, handle, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_access_permission_t permission = RW;
    CHECK_OK(hsa_amd_vmem_get_access(base + BYTES, &permission, gpu->handle));
    CHECK(permission == HSA_ACCESS_PERMISSION_NONE, "nobody spoke of the agent, which may do %d", permission);
    CHECK_STATUS(hsa_amd_vmem_get_access(base, &permission, gpu->handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_get_access(NULL, &permission, gpu->handle), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_get_access(base + BYTES, NULL, gpu->handle), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_amd_memory_access_desc_t desc[] = { { RW, gpu->handle }, { RW, { 12345 } } };
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, BYTES, desc, 2), HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, BYTES, desc, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, BYTES, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, BYTES / 2, desc, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, 2 * BYTES, desc, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    desc[0].permissions = (hsa_access_permission_t)64;
    CHECK_STATUS(hsa_amd_vmem_set_access(base + BYTES, BYTES, desc, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_pool_free(base + BYTES), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, base + BYTES), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_amd_vmem_alloc_handle_t again = { 0 };
    CHECK_STATUS(hsa_amd_vmem_retain_alloc_handle(&again, base), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_retain_alloc_handle(&again, NULL), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_vmem_retain_alloc_handle(NULL, base + BYTES), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_unmap(base + BYTES, 2 * BYTES), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_vmem_unmap(NULL, BYTES), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_OK(hsa_amd_vmem_unmap(base + BYTES, BYTES));
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    CHECK_OK(hsa_amd_vmem_address_free(base, 3 * BYTES));
}

/* What a device has is spent by memory without an address as by any other, and given back. */
/* HIP 6 keeps handles in one map with addresses, each as long as its memory, and ends the process where two meet. */
static void handles_are_as_far_apart_as_memory_is_long(void)
{
    enum { HANDLES = 6 };
    const size_t sizes[HANDLES] = { BYTES, 16 << 20, BYTES, 4 << 20, 4 << 20, BYTES };
    hsa_amd_vmem_alloc_handle_t handles[HANDLES];
    for (int i = 0; i < HANDLES - 1; i++)
        handles[i] = create(gpu->coarse, sizes[i]);
    int descriptor = -1;
    NEED_OK(hsa_amd_vmem_export_shareable_handle(&descriptor, handles[0], 0));
    NEED_OK(hsa_amd_vmem_import_shareable_handle(descriptor, &handles[HANDLES - 1]));
    close(descriptor);
    for (int i = 0; i < HANDLES; i++)
        for (int k = 0; k < HANDLES; k++)
            CHECK(i == k || handles[k].handle - handles[i].handle >= sizes[i], "%#lx lies in the %zu bytes of %#lx",
                  (unsigned long)handles[k].handle, sizes[i], (unsigned long)handles[i].handle);
    for (int i = 0; i < HANDLES; i++)
        CHECK_OK(hsa_amd_vmem_handle_release(handles[i]));
}

static void memory_adds_up(void)
{
    uint64_t before = 0, meanwhile = 0, after = 0;
    size_t whole = 0, part = 64 << 20;
    CHECK_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &before));
    CHECK_OK(hsa_amd_memory_pool_get_info(gpu->coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &whole));
    hsa_amd_vmem_alloc_handle_t handle = create(gpu->coarse, part), second = { 0 };
    CHECK_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &meanwhile));
    CHECK(before - meanwhile == part, "%lu bytes were spent", (unsigned long)(before - meanwhile));
    CHECK_STATUS(hsa_amd_vmem_handle_create(gpu->coarse, whole, MEMORY_TYPE_PINNED, 0, &second), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    uint32_t *memory = reserve(part);
    NEED_OK(hsa_amd_vmem_map(memory, part, 0, handle, 0));
    CHECK_OK(hsa_amd_vmem_handle_release(handle));
    CHECK_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &meanwhile));
    CHECK(before - meanwhile == part, "%lu bytes are spent", (unsigned long)(before - meanwhile));
    CHECK_OK(hsa_amd_vmem_unmap(memory, part));
    CHECK_OK(hsa_amd_vmem_address_free(memory, part));
    CHECK_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MEMORY_AVAIL, &after));
    CHECK(after == before, "%lu bytes, %lu before", (unsigned long)after, (unsigned long)before);
}

int main(int argc, char **argv)
{
    NEED(argc > 1);
    kernels_root = argv[1];
    begin();
    if (argc > 3 && strcmp(argv[2], "map-descriptor") == 0) {
        map_descriptor(atoi(argv[3]));
    } else {
        how_it_was_allocated();
        reservations();
        memory_of_every_pool();
        pieces_side_by_side();
        a_descriptor_passes_memory_on();
        no_fabric();
        wrong_reservations();
        wrong_memory();
        wrong_mappings();
        handles_are_as_far_apart_as_memory_is_long();
        memory_adds_up();
    }
    end();
    return check_summary();
}
