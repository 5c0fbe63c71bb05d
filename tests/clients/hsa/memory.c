/* Memory: regions and pools, allocations side by side, access, copies between every pair of places, fills, locked host
 * memory, and what the runtime knows about an address. Use: memory KERNELS. */
#include "advance.h"

#include <pthread.h>
#include <sys/mman.h>

static struct worker worker;

enum { WORDS = 10000 };

static void copy(void *to, const struct agent *to_agent, const void *from, const struct agent *from_agent, size_t size)
{
    hsa_signal_t done = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy(to, to_agent->handle, from, from_agent->handle, size, 0, NULL, done));
    CHECK(wait_zero(done, WAIT_LIMIT), "a copy of %zu bytes does not end", size);
    CHECK_OK(hsa_signal_destroy(done));
}

/* ---- allocation ---- */

static void regions(void)
{
    hsa_region_t usable[] = { cpu->fine_region, cpu->coarse_region, cpu->kernarg_region };
    for (size_t r = 0; r < sizeof usable / sizeof *usable; r++) {
        if (usable[r].handle == 0)
            continue;
        size_t granule = 0, alignment = 0;
        NEED_OK(hsa_region_get_info(usable[r], HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE, &granule));
        NEED_OK(hsa_region_get_info(usable[r], HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT, &alignment));
        NEED(granule > 0 && alignment > 0);
        static const size_t sizes[] = { 1, 3, 64, 4095, 4096, 4097, 100000, 1 << 20, 5 << 20 };
        enum { SIZES = sizeof sizes / sizeof *sizes };
        unsigned char *blocks[SIZES];
        for (int i = 0; i < SIZES; i++) {
            NEED_OK(hsa_memory_allocate(usable[r], sizes[i], (void **)&blocks[i]));
            CHECK((uintptr_t)blocks[i] % alignment == 0, "%p is not aligned to %zu", (void *)blocks[i], alignment);
            memset(blocks[i], i + 1, sizes[i]);
        }
        for (int i = 0; i < SIZES; i++) {
            size_t wrong = 0;
            for (size_t k = 0; k < sizes[i]; k++)
                wrong += blocks[i][k] != i + 1;
            CHECK(wrong == 0, "block of %zu bytes: %zu bytes belong to another", sizes[i], wrong);
            CHECK_OK(hsa_memory_free(blocks[i]));
        }
    }
}

/* A kernel works in memory of every pool that the GPU may use. */
static void kernels_use_every_pool(void)
{
    hsa_amd_memory_pool_t pools[] = { cpu->fine, cpu->kernarg, cpu->coarse, gpu->coarse, gpu->fine };
    uint32_t *host = shared_alloc(WORDS * 4);
    for (size_t p = 0; p < sizeof pools / sizeof *pools; p++) {
        if (pools[p].handle == 0)
            continue;
        const struct agent *owner = p < 3 ? cpu : gpu;
        uint32_t *memory = pool_alloc(pools[p], WORDS * 4);
        fill_pattern(host, WORDS);
        copy(memory, owner, host, cpu, WORDS * 4);
        run(&worker, memory, WORDS);
        memset(host, 0, WORDS * 4);
        copy(host, cpu, memory, owner, WORDS * 4);
        CHECK(wrong_words(host, WORDS, 3, 1) == 0, "pool %zu: %u of %u words are wrong", p, wrong_words(host, WORDS, 3, 1),
              WORDS);
        CHECK_OK(hsa_amd_memory_pool_free(memory));
    }
    CHECK_OK(hsa_amd_memory_pool_free(host));
}

static void region_memory_in_a_kernel(void)
{
    uint32_t *memory = NULL;
    NEED_OK(hsa_memory_allocate(cpu->fine_region, WORDS * 4, (void **)&memory));
    fill_pattern(memory, WORDS);
    run(&worker, memory, WORDS);
    CHECK(wrong_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(memory, WORDS, 3, 1));
    CHECK_OK(hsa_memory_assign_agent(memory, gpu->handle, HSA_ACCESS_PERMISSION_RW));
    CHECK_OK(hsa_memory_free(memory));
}

/* The host writes into the memory of the GPU, once it is allowed to. */
static void host_uses_gpu_memory(void)
{
    hsa_amd_memory_pool_access_t access;
    NEED_OK(hsa_amd_agent_memory_pool_get_info(cpu->handle, gpu->coarse, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    if (access == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED) {
        CHECK(true, " ");
        return;
    }
    uint32_t *memory = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, WORDS * 4, 0, (void **)&memory));
    CHECK_OK(hsa_amd_agents_allow_access(2, (hsa_agent_t[]){ cpu->handle, gpu->handle }, NULL, memory));
    fill_pattern(memory, WORDS);
    run(&worker, memory, WORDS);
    CHECK(wrong_words(memory, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(memory, WORDS, 3, 1));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
}

/* ---- copies ---- */

static void copies_of_every_size(void)
{
    static const size_t sizes[] = { 1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 65, 255, 4095, 4096, 4097, 65537, 1 << 20, (4 << 20) + 13 };
    static const size_t offsets[] = { 0, 1, 2, 3, 5, 8 };
    const size_t room = 5 << 20;
    unsigned char *from = shared_alloc(room), *to = shared_alloc(room), *vram = pool_alloc(gpu->coarse, room),
                  *vram2 = pool_alloc(gpu->coarse, room);
    for (size_t i = 0; i < room; i++)
        from[i] = (unsigned char)(pattern((uint32_t)i) >> 13);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            if (sizes[s] > 4097 && o > 1)
                continue;
            size_t at = 64 + offsets[o], size = sizes[s];
            memset(to, 0xee, at + size + 64);
            copy(vram + at, gpu, from + 7, cpu, size);
            copy(vram2 + 3, gpu, vram + at, gpu, size);
            copy(to + at, cpu, vram2 + 3, gpu, size);
            bool good = memcmp(to + at, from + 7, size) == 0;
            bool around = to[at - 1] == 0xee && to[at + size] == 0xee;
            CHECK(good && around, "%zu bytes at offset %zu: %s", size, offsets[o], good ? "bytes around changed" : "wrong bytes");
        }
    CHECK_OK(hsa_amd_memory_pool_free(from));
    CHECK_OK(hsa_amd_memory_pool_free(to));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK_OK(hsa_amd_memory_pool_free(vram2));
}

static void blocking_copies(void)
{
    enum { SIZE = 300000 };
    uint32_t *vram = pool_alloc(gpu->coarse, SIZE * 4), *pageable = malloc(SIZE * 4), *back = malloc(SIZE * 4);
    NEED(pageable && back);
    fill_pattern(pageable, SIZE);
    CHECK_OK(hsa_memory_copy(vram, pageable, SIZE * 4));
    CHECK_OK(hsa_memory_copy(back, vram, SIZE * 4));
    CHECK(wrong_words(back, SIZE, 1, 0) == 0, "%u words are wrong", wrong_words(back, SIZE, 1, 0));
    CHECK_OK(hsa_memory_copy(back, pageable + 1, 4000));
    CHECK(back[0] == pattern(1) && back[999] == pattern(1000) && back[1000] == pattern(1000), "host to host");
    CHECK_OK(hsa_memory_copy(back, pageable, 0));
    free(pageable);
    free(back);
    CHECK_OK(hsa_amd_memory_pool_free(vram));
}

/* A copy waits for its dependencies, and others may depend on it. */
static void copies_depend(void)
{
    uint32_t *a = shared_alloc(WORDS * 4), *b = shared_alloc(WORDS * 4), *vram = pool_alloc(gpu->coarse, WORDS * 4);
    hsa_signal_t gate = new_signal(1), gate2 = new_signal(1), first = new_signal(1), second = new_signal(1);
    fill_pattern(a, WORDS);
    CHECK_OK(hsa_amd_memory_async_copy(vram, gpu->handle, a, cpu->handle, WORDS * 4, 2, (hsa_signal_t[]){ gate, gate2 }, first));
    CHECK_OK(hsa_amd_memory_async_copy(b, cpu->handle, vram, gpu->handle, WORDS * 4, 1, &first, second));
    pause_ms(40);
    hsa_signal_store_screlease(gate2, 0);
    pause_ms(20);
    CHECK(hsa_signal_load_relaxed(first) == 1 && hsa_signal_load_relaxed(second) == 1 && b[0] == 0 && b[WORDS - 1] == 0,
          "a copy ran before its dependencies");
    hsa_signal_store_screlease(gate, 0);
    CHECK(wait_zero(second, WAIT_LIMIT), "the copies do not end");
    CHECK(wrong_words(b, WORDS, 1, 0) == 0, "%u words are wrong", wrong_words(b, WORDS, 1, 0));
    hsa_signal_t signals[] = { gate, gate2, first, second };
    for (int i = 0; i < 4; i++)
        CHECK_OK(hsa_signal_destroy(signals[i]));
    CHECK_OK(hsa_amd_memory_pool_free(a));
    CHECK_OK(hsa_amd_memory_pool_free(b));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
}

static void copy_times(void)
{
    CHECK_OK(hsa_amd_profiling_async_copy_enable(true));
    uint32_t *a = shared_alloc(4 << 20), *vram = pool_alloc(gpu->coarse, 4 << 20);
    hsa_signal_t done = new_signal(1);
    uint64_t before = 0, after = 0, slack = ticks_per_second() / 2000;
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
    NEED_OK(hsa_amd_memory_async_copy(vram, gpu->handle, a, cpu->handle, 4 << 20, 0, NULL, done));
    NEED(wait_zero(done, WAIT_LIMIT));
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
    hsa_amd_profiling_async_copy_time_t time = { 0 };
    CHECK_OK(hsa_amd_profiling_get_async_copy_time(done, &time));
    CHECK(time.start < time.end && time.start + slack >= before && time.end <= after + slack, "%lu to %lu within %lu to %lu",
          (unsigned long)time.start, (unsigned long)time.end, (unsigned long)before, (unsigned long)after);
    CHECK_OK(hsa_amd_profiling_async_copy_enable(false));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(a));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
}

static void rectangles(void)
{
    enum { PITCH = 256, ROWS = 20, LAYERS = 3, SLICE = PITCH * ROWS };
    unsigned char *from = shared_alloc(SLICE * LAYERS), *to = shared_alloc(SLICE * LAYERS),
                  *vram = pool_alloc(gpu->coarse, SLICE * LAYERS);
    for (size_t i = 0; i < SLICE * LAYERS; i++)
        from[i] = (unsigned char)(pattern((uint32_t)i) >> 9);
    copy(vram, gpu, to, cpu, SLICE * LAYERS);
    hsa_pitched_ptr_t source = { from, PITCH, SLICE }, middle = { vram, PITCH, SLICE }, target = { to, PITCH, SLICE };
    hsa_dim3_t zero = { 0, 0, 0 }, at = { 16, 2, 1 }, range = { 64, 10, 2 };
    hsa_signal_t done = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy_rect(&middle, &at, &source, &zero, &range, gpu->handle, hsaHostToDevice, 0, NULL, done));
    CHECK(wait_zero(done, WAIT_LIMIT), "the copy of a box does not end");
    hsa_signal_store_relaxed(done, 1);
    CHECK_OK(hsa_amd_memory_async_copy_rect(&target, &at, &middle, &at, &range, gpu->handle, hsaDeviceToHost, 0, NULL, done));
    CHECK(wait_zero(done, WAIT_LIMIT), "the copy of a box does not end");
    size_t wrong = 0;
    for (size_t z = 0; z < LAYERS; z++)
        for (size_t y = 0; y < ROWS; y++)
            for (size_t x = 0; x < PITCH; x++) {
                bool inside = x >= 16 && x < 80 && y >= 2 && y < 12 && z >= 1;
                unsigned char want = inside ? from[(z - 1) * SLICE + (y - 2) * PITCH + x - 16] : 0;
                wrong += to[z * SLICE + y * PITCH + x] != want;
            }
    CHECK(wrong == 0, "%zu bytes are wrong", wrong);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(from));
    CHECK_OK(hsa_amd_memory_pool_free(to));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
}

static void fills(void)
{
    uint32_t *host = shared_alloc(WORDS * 4), *vram = pool_alloc(gpu->coarse, WORDS * 4);
    CHECK_OK(hsa_amd_memory_fill(host, 0xabcdef01, 100));
    CHECK(host[0] == 0xabcdef01 && host[99] == 0xabcdef01 && host[100] == 0, "%#x %#x %#x", host[0], host[99], host[100]);
    CHECK_OK(hsa_amd_memory_fill(host + 50, 7, 0));
    CHECK(host[50] == 0xabcdef01, "a fill of nothing wrote");
    CHECK_OK(hsa_amd_memory_fill(vram, 0x01020304, WORDS));
    CHECK_OK(hsa_amd_memory_fill(vram + 10, 0x55555555, 20));
    copy(host, cpu, vram, gpu, WORDS * 4);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        wrong += host[i] != (i >= 10 && i < 30 ? 0x55555555 : 0x01020304);
    CHECK(wrong == 0, "%u of %u words are wrong", wrong, WORDS);
    CHECK_OK(hsa_amd_memory_pool_free(host));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
}

/* ---- locked host memory ---- */

static void locked_memory(void)
{
    uint32_t *memory = malloc(WORDS * 4 + 64), *seen = NULL;
    NEED(memory != NULL);
    uint32_t *odd = memory + 3; /* nothing has to be aligned */
    fill_pattern(odd, WORDS);
    CHECK_OK(hsa_amd_memory_lock(odd, WORDS * 4, &gpu->handle, 1, (void **)&seen));
    if (CHECK(seen != NULL, "no address for the GPU")) {
        run(&worker, seen, WORDS);
        CHECK(wrong_words(odd, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(odd, WORDS, 3, 1));
    }
    /* The address that agents use is good for copies and fills on the host as well. */
    uint32_t word = 7;
    CHECK_OK(hsa_memory_copy(seen, &word, 4));
    CHECK(odd[0] == 7, "%u", odd[0]);
    CHECK_OK(hsa_memory_copy(&word, seen + 1, 4));
    CHECK(word == pattern(1) * 3 + 1, "%#x", word);
    CHECK_OK(hsa_amd_memory_fill(seen + 2, 0x01020304, 2));
    CHECK(odd[2] == 0x01020304 && odd[3] == 0x01020304 && odd[4] == pattern(4) * 3 + 1, "%#x %#x", odd[2], odd[4]);
    uint32_t *vram = pool_alloc(gpu->coarse, WORDS * 4);
    copy(vram, gpu, seen, cpu, WORDS * 4);
    copy(seen + WORDS / 2, cpu, vram, gpu, WORDS * 2);
    CHECK(memcmp(odd + WORDS / 2, odd, WORDS * 2) == 0, "a copy through locked memory");
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK_OK(hsa_amd_memory_unlock(odd));

    /* Locked again and again, more of it, less of it, and without agents, which is for all of them. */
    uint32_t *inner = NULL, *again = NULL;
    CHECK_OK(hsa_amd_memory_lock(odd, WORDS * 4, NULL, 0, (void **)&seen));
    CHECK_OK(hsa_amd_memory_lock(odd + 2000, 4000, &gpu->handle, 1, (void **)&inner));
    CHECK_OK(hsa_amd_memory_lock(odd, WORDS * 4, &gpu->handle, 1, (void **)&again));
    CHECK_OK(hsa_amd_memory_unlock(odd + 2000));
    CHECK_OK(hsa_amd_memory_unlock(odd));
    fill_pattern(odd, WORDS);
    run(&worker, seen, WORDS);
    CHECK(wrong_words(odd, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(odd, WORDS, 3, 1));
    CHECK_OK(hsa_amd_memory_unlock(odd));
    CHECK_OK(hsa_amd_memory_unlock(odd));
    CHECK_STATUS(hsa_amd_memory_lock(odd, 4, &(hsa_agent_t){ 0 }, 1, (void **)&seen), HSA_STATUS_ERROR_INVALID_AGENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, 4, &gpu->handle, 0, (void **)&seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, 4, NULL, 1, (void **)&seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, 4, &gpu->handle, -1, (void **)&seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, 0, &gpu->handle, 1, (void **)&seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(NULL, 4, &gpu->handle, 1, (void **)&seen), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, 4, &gpu->handle, 1, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_memory_lock(odd, SIZE_MAX, &gpu->handle, 1, (void **)&seen), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    free(memory);
}

/* Memory that is not there cannot be locked, however little of it is missing, and none of it is touched to find out. */
static void locked_holes(void)
{
    size_t page = PAGE, bytes = 4096 * page;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *seen = NULL;
    NEED(memory != MAP_FAILED);
    char *hole = memory + bytes / 2;
    NEED(munmap(hole, page) == 0);
    for (unsigned to_pool = 0; to_pool < 2; to_pool++) {
#define LOCK(address, size)                                                                                                    \
    (to_pool ? hsa_amd_memory_lock_to_pool(address, size, &gpu->handle, 1, cpu->fine, 0, (void **)&seen)                       \
             : hsa_amd_memory_lock(address, size, &gpu->handle, 1, (void **)&seen))
#define REFUSED(address, size) CHECK_STATUS(LOCK(address, size), HSA_STATUS_ERROR_OUT_OF_RESOURCES)
        REFUSED(memory, bytes);
        REFUSED(hole, page);
        REFUSED(hole, 1);
        REFUSED(hole + page - 1, 1);
        REFUSED(hole - 1, 2);
        REFUSED(hole + page - 1, 2);
        REFUSED(memory + 5, SIZE_MAX - 5);
        REFUSED(memory + 5, SIZE_MAX - (uintptr_t)memory);
        REFUSED((void *)(UINTPTR_MAX - page + 1), page - 1);
        REFUSED((void *)(UINTPTR_MAX - 5), 4);
    }
    unsigned char *resident = malloc(bytes / 2 / page);
    NEED(resident != NULL && mincore(memory, bytes / 2, resident) == 0);
    for (size_t i = 0; i < bytes / 2 / page; i++)
        NEED((resident[i] & 1) == 0);
    free(resident);
    for (unsigned to_pool = 0; to_pool < 2; to_pool++)
        for (unsigned side = 0; side < 2; side++) {
            char *good = side ? hole + page : memory;
            size_t size = side ? bytes / 2 - page : bytes / 2;
            CHECK_OK(LOCK(good, size));
            CHECK_OK(hsa_amd_memory_unlock(good));
        }
    munmap(memory, bytes / 2);
    munmap(hole + page, bytes / 2 - page);
}

/* ---- what an address is ---- */

static hsa_amd_pointer_info_t info_of(const void *pointer)
{
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(pointer, &info, NULL, NULL, NULL));
    CHECK(info.size <= sizeof info && info.size >= 56, "size field %u", info.size);
    return info;
}

/* A program that knows less of the structure, or more, gets the members that it has room for and nothing beyond. */
static void info_of_every_size(const void *pointer)
{
    static const uint32_t sizes[] = { 4, 8, 15, 16, 24, 32, 40, 48, 52, 56, 60, 64, 100, 200 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        union {
            unsigned char bytes[256];
            hsa_amd_pointer_info_t info;
        } room;
        memset(room.bytes, 0xee, sizeof room);
        room.info.size = sizes[s];
        CHECK_OK(hsa_amd_pointer_info(pointer, &room.info, NULL, NULL, NULL));
        uint32_t known = room.info.size, changed = 0;
        CHECK(known <= sizes[s] && known <= 64 && (known == sizes[s] || known == 64), "%u of %u bytes", known, sizes[s]);
        for (uint32_t i = sizes[s]; i < sizeof room; i++)
            changed += room.bytes[i] != 0xee;
        CHECK(changed == 0, "%u bytes behind %u were written", changed, sizes[s]);
        if (sizes[s] >= 8)
            CHECK(room.info.type == HSA_EXT_POINTER_TYPE_HSA, "type %d with %u bytes", room.info.type, sizes[s]);
        if (sizes[s] >= 32)
            CHECK(room.info.sizeInBytes == 65536, "%zu bytes with %u", room.info.sizeInBytes, sizes[s]);
    }
    hsa_amd_pointer_info_t none = { .size = 0 };
    CHECK_STATUS(hsa_amd_pointer_info(pointer, &none, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_pointer_info(NULL, &none, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_pointer_info(pointer, NULL, NULL, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* How many agents an address's memory was given to, and the first of them. */
static uint32_t agents_of(const void *pointer, hsa_agent_t *first)
{
    uint32_t count = 77;
    hsa_agent_t *accessible = NULL;
    hsa_amd_pointer_info_t info = { .size = sizeof info };
    CHECK_OK(hsa_amd_pointer_info(pointer, &info, malloc, &count, &accessible));
    CHECK(accessible != NULL, "no list");
    if (first && count > 0)
        *first = accessible[0];
    free(accessible);
    return count;
}

static bool only_gpu_has(const void *pointer)
{
    hsa_agent_t first = { 0 };
    return agents_of(pointer, &first) == 1 && first.handle == gpu->handle.handle;
}

static void pointer_infos(void)
{
    char *fine = pool_alloc(cpu->fine, 65536), *vram = NULL, *host = malloc(5000), *locked = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, 65536, 0, (void **)&vram));

    hsa_amd_pointer_info_t info = info_of(fine);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.sizeInBytes == 65536 && info.agentBaseAddress == fine &&
              info.hostBaseAddress == fine && info.agentOwner.handle == cpu->handle.handle,
          "type %d, size %zu, base %p", info.type, info.sizeInBytes, info.agentBaseAddress);
    CHECK(info.global_flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, "flags %#x", info.global_flags);
    info = info_of(fine + 65535);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == fine, "the last byte belongs to it");
    info = info_of(vram + 4000);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == vram && info.sizeInBytes == 65536 &&
              info.agentOwner.handle == gpu->handle.handle,
          "type %d, size %zu, base %p", info.type, info.sizeInBytes, info.agentBaseAddress);
    info = info_of(host);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN, "type %d of memory that nobody knows", info.type);

    NEED_OK(hsa_amd_memory_lock(host, 5000, &gpu->handle, 1, (void **)&locked));
    info = info_of(host + 100);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.hostBaseAddress == host && info.agentBaseAddress == locked &&
              info.sizeInBytes == 5000,
          "type %d, size %zu, base %p", info.type, info.sizeInBytes, info.hostBaseAddress);
    info = info_of(locked + 4999);
    CHECK(info.type == HSA_EXT_POINTER_TYPE_LOCKED && info.hostBaseAddress == host && info.agentBaseAddress == locked,
          "type %d, base %p", info.type, info.hostBaseAddress);
    CHECK(info_of(locked + 5000).type == HSA_EXT_POINTER_TYPE_UNKNOWN, "one past the end");
    CHECK_OK(hsa_amd_memory_unlock(host));
    CHECK(info_of(host).type == HSA_EXT_POINTER_TYPE_UNKNOWN, "unlocked memory is still known");

    CHECK_OK(hsa_amd_pointer_info_set_userdata(fine, &info));
    CHECK(info_of(fine + 8).userData == &info, "the user's data is lost");

    info_of_every_size(fine + 9);

    /* The agents that were given it, and the device that owns it; the host needs no permission and is never listed. */
    CHECK(only_gpu_has(fine), "the GPU alone was given the memory");
    CHECK(only_gpu_has(vram), "the GPU alone has its memory");
    CHECK_OK(hsa_amd_agents_allow_access(2, (hsa_agent_t[]){ cpu->handle, gpu->handle }, NULL, vram));
    CHECK(only_gpu_has(vram), "the GPU alone is listed");
    CHECK_OK(hsa_amd_agents_allow_access(1, &cpu->handle, NULL, fine));
    CHECK(agents_of(fine, NULL) == 0, "%u agents have what the GPU had", agents_of(fine, NULL));
    char *own = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(cpu->fine, 4096, 0, (void **)&own));
    CHECK(agents_of(own, NULL) == 0, "%u agents have what nobody was given", agents_of(own, NULL));
    CHECK_OK(hsa_amd_memory_pool_free(own));
    NEED_OK(hsa_memory_allocate(cpu->fine_region, 4096, (void **)&own));
    CHECK(only_gpu_has(own), "a region's memory is for all agents");
    CHECK_OK(hsa_memory_free(own));

    CHECK_OK(hsa_amd_memory_pool_free(fine));
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK(info_of(fine).type == HSA_EXT_POINTER_TYPE_UNKNOWN, "freed memory is still known");
    free(host);
}

/* ---- registered host memory ---- */

/* Kernels use buffers of the program that it registered, where they lie, as often as they are still registered. */
static void registered_memory(void)
{
    static uint32_t variable[WORDS];
    uint32_t *heap = malloc(WORDS * 4 + 64), on_stack[256];
    NEED(heap != NULL);
    struct { uint32_t *at, words; } buffers[] = { { heap + 1, WORDS }, { variable, WORDS }, { on_stack, 256 } };
    for (unsigned i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        uint32_t *at = buffers[i].at, words = buffers[i].words;
        CHECK_OK(hsa_memory_register(at, words * 4));
        CHECK_OK(hsa_memory_register(at, words * 4));
        CHECK_OK(hsa_memory_register(at, 4));
        CHECK_OK(hsa_memory_deregister(at, 4));
        CHECK_OK(hsa_memory_deregister(at, words * 4));
        CHECK_OK(hsa_memory_deregister(at, words * 2)); /* never registered: nothing happens */
        fill_pattern(at, words);
        run(&worker, at, words);
        CHECK(wrong_words(at, words, 3, 1) == 0, "buffer %u: %u words are wrong", i, wrong_words(at, words, 3, 1));
        CHECK_OK(hsa_memory_deregister(at, words * 4));
    }
    /* A registration is none of the things that runtimes know of addresses, and memory can be locked besides. */
    CHECK_OK(hsa_memory_register(heap, WORDS * 4));
    CHECK(info_of(heap).type == HSA_EXT_POINTER_TYPE_UNKNOWN, "type %u", info_of(heap).type);
    uint32_t *seen = NULL;
    CHECK_OK(hsa_amd_memory_lock(heap, WORDS * 4, &gpu->handle, 1, (void **)&seen));
    fill_pattern(heap, WORDS);
    run(&worker, seen, WORDS / 2);
    CHECK_OK(hsa_amd_memory_unlock(heap));
    run(&worker, heap + WORDS / 2, WORDS / 2);
    CHECK(wrong_words(heap, WORDS, 3, 1) == 0, "%u words are wrong", wrong_words(heap, WORDS, 3, 1));
    CHECK_OK(hsa_memory_deregister(heap, WORDS * 4));
    free(heap);
}

static void on_free(void *pointer, void *data) { *(void **)data = pointer; }

static void deallocation_callbacks(void)
{
    char *memory = pool_alloc(cpu->fine, 8192);
    void *freed = NULL, *never = NULL;
    CHECK_OK(hsa_amd_register_deallocation_callback(memory, on_free, &freed));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK(freed == memory, "%p instead of %p", freed, (void *)memory);
    memory = pool_alloc(cpu->fine, 8192);
    CHECK_OK(hsa_amd_register_deallocation_callback(memory, on_free, &never));
    CHECK_OK(hsa_amd_deregister_deallocation_callback(memory, on_free));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK(never == NULL, "called after it was taken back");

    /* Several functions, also for addresses inside, each for itself; freeing what failed to be freed calls nobody. */
    void *first = NULL, *second = NULL;
    char *vram = pool_alloc(gpu->coarse, 8192);
    CHECK_OK(hsa_amd_register_deallocation_callback(vram, on_free, &first));
    CHECK_OK(hsa_amd_register_deallocation_callback(vram + 100, on_free, &second));
    CHECK_STATUS(hsa_amd_memory_pool_free(vram + 4096), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK(first == NULL && second == NULL, "called before it was freed");
    CHECK_OK(hsa_amd_memory_pool_free(vram));
    CHECK(first == vram && second == vram + 100, "%p and %p instead of %p", first, second, (void *)vram);
    CHECK_STATUS(hsa_amd_register_deallocation_callback(vram, on_free, &first), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_register_deallocation_callback(&first, on_free, &first), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    CHECK_STATUS(hsa_amd_register_deallocation_callback(NULL, on_free, &first), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_amd_deregister_deallocation_callback(vram, on_free), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

/* ---- many ---- */

static void *churn(void *data)
{
    uint32_t random = (uint32_t)(uintptr_t)data * 7919 + 1;
    unsigned char *blocks[32] = { 0 };
    size_t sizes[32] = { 0 };
    for (int round = 0; round < 600; round++) {
        random = random * 1664525u + 1013904223u;
        uint32_t slot = random >> 27;
        if (blocks[slot]) {
            unsigned char mark = (unsigned char)((uintptr_t)data * 32 + slot);
            CHECK(blocks[slot][0] == mark && blocks[slot][sizes[slot] - 1] == mark, "another thread wrote here");
            CHECK_OK(hsa_amd_memory_pool_free(blocks[slot]));
            blocks[slot] = NULL;
        } else {
            sizes[slot] = 1 + random % 100000;
            if (CHECK_OK(hsa_amd_memory_pool_allocate(cpu->fine, sizes[slot], 0, (void **)&blocks[slot])))
                memset(blocks[slot], (int)((uintptr_t)data * 32 + slot), sizes[slot]);
        }
    }
    for (int i = 0; i < 32; i++)
        if (blocks[i])
            CHECK_OK(hsa_amd_memory_pool_free(blocks[i]));
    return NULL;
}

static void threads_allocate(void)
{
    pthread_t threads[6];
    for (uintptr_t i = 0; i < 6; i++)
        NEED(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

/* ---- variables of a program ---- */

static void program_variables(const char *root)
{
    struct module module = load_module(kernel_path(root, gpu, "O3", "globals"), gpu->handle);
    hsa_executable_symbol_t symbol;
    uint64_t address = 0;
    uint32_t size = 0;
    hsa_symbol_kind_t kind;
    NEED_OK(hsa_executable_get_symbol_by_name(module.executable, "bias", &gpu->handle, &symbol));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &address));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size));
    CHECK(kind == HSA_SYMBOL_KIND_VARIABLE && size == 4 && address != 0, "kind %d, size %u", kind, size);
    int bias = 0, new_bias = -500;
    CHECK_OK(hsa_memory_copy(&bias, (void *)address, 4));
    CHECK(bias == 1000, "the initial value is %d", bias);
    CHECK_OK(hsa_memory_copy((void *)address, &new_bias, 4));

    struct kernel kernel = find_kernel(&module, gpu->handle, "globals.kd");
    int *in = shared_alloc(4096), *out = in + 64;
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    for (int i = 0; i < 64; i++)
        in[i] = i;
    kernarg[0] = in;
    kernarg[1] = out;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, kernarg, 64, 64, done);
    submit(worker.queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(out[0] == 2 - 1000 && out[15] == 53 - 1000 && out[16] == 2 - 1000, "%d %d %d", out[0], out[15], out[16]);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(in));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
    unload_module(&module);
}

/* A variable that the program lacks, in memory that this side gives. */
static void external_variable(const char *root)
{
    size_t size;
    void *bytes = read_file(kernel_path(root, gpu, "O3", "external"), &size);
    struct module module = { .bytes = bytes, .size = size };
    int *outside = shared_alloc(4096), *out = outside + 64;
    NEED_OK(hsa_code_object_reader_create_from_memory(bytes, size, &module.reader));
    NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &module.executable));
    CHECK_OK(hsa_executable_agent_global_variable_define(module.executable, gpu->handle, "outside", outside));
    NEED_OK(hsa_executable_load_agent_code_object(module.executable, gpu->handle, module.reader, NULL, NULL));
    NEED_OK(hsa_executable_freeze(module.executable, NULL));
    struct kernel kernel = find_kernel(&module, gpu->handle, "external.kd");
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    for (int i = 0; i < 64; i++)
        outside[i] = i * 100;
    kernarg[0] = out;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, kernarg, 64, 64, done);
    submit(worker.queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(out[63] == 6301 && outside[63] == 63, "%d %d", out[63], outside[63]);
    CHECK_OK(hsa_signal_destroy(done));
    unload_module(&module);
    CHECK_OK(hsa_amd_memory_pool_free(outside));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    NEED(gpu->coarse.handle != 0);
    worker = new_worker(argv[1], gpu);
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
#define TEST(f) { #f, f }
        TEST(regions), TEST(kernels_use_every_pool), TEST(region_memory_in_a_kernel), TEST(host_uses_gpu_memory),
        TEST(copies_of_every_size), TEST(blocking_copies), TEST(copies_depend), TEST(copy_times), TEST(rectangles),
        TEST(fills), TEST(locked_memory), TEST(locked_holes), TEST(pointer_infos), TEST(registered_memory),
        TEST(deallocation_callbacks), TEST(threads_allocate),
#undef TEST
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int failed = checks_failed;
        double start = seconds();
        tests[i].run();
        printf("%-32s %s (%.3f s)\n", tests[i].name, checks_failed == failed ? "ok" : "FAILED", seconds() - start);
        fflush(stdout);
    }
    program_variables(argv[1]);
    external_variable(argv[1]);
    end_worker(&worker);
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
