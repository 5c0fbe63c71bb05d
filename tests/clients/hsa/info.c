/* Asks everything that can be asked, of the system and of every agent, instruction set, cache, region and pool, and checks
 * that the answers make sense and agree with each other. */
#include "machine.h"

/* ---- answers with guards: nothing is written behind the type of an attribute ---- */

enum { ROOM = 512 };
static unsigned char answer[ROOM];

static void poison(void) { memset(answer, 0xcd, ROOM); }

static bool intact(size_t size)
{
    for (size_t i = size; i < ROOM; i++)
        if (answer[i] != 0xcd)
            return false;
    return true;
}

static uint64_t number(size_t size)
{
    uint64_t value = 0;
    memcpy(&value, answer, size < 8 ? size : 8);
    return value;
}

/* Asks for an attribute of `size` bytes. */
#define ASK(call, size) (poison(), CHECK_OK(call) && CHECK(intact(size), "more than %zu bytes were written", (size_t)(size)))

static bool is_text(const char *text, size_t room)
{
    const char *end = memchr(text, 0, room);
    if (!end || end == text)
        return false;
    for (const char *c = text; c < end; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            return false;
    return true;
}

/* ---- system ---- */

static void system_info(void)
{
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, answer), 2);
    CHECK(number(2) == 1, "major version %lu", (unsigned long)number(2));
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, answer), 2);
    CHECK(number(2) <= 2, "minor version %lu", (unsigned long)number(2));
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, answer), 8);
    uint64_t frequency = number(8);
    CHECK(frequency >= 1000000 && frequency <= 10000000000ull, "frequency %lu", (unsigned long)frequency);
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT, answer), 8);
    CHECK(number(8) >= frequency, "longest wait %lu", (unsigned long)number(8));
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_ENDIANNESS, answer), 4);
    CHECK(number(4) == HSA_ENDIANNESS_LITTLE, "%lu", (unsigned long)number(4));
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_MACHINE_MODEL, answer), 4);
    CHECK(number(4) == HSA_MACHINE_MODEL_LARGE, "%lu", (unsigned long)number(4));
    ASK(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, answer), 128);

    /* The clock runs at its frequency. */
    uint64_t first = 0, second = 0, last = 0;
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &first));
    double start = seconds();
    pause_ms(200);
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &second));
    double measured = (double)(second - first) / (double)frequency, took = seconds() - start;
    CHECK(measured > 0.8 * took && measured < 1.2 * took, "%.3f s by the clock of HSA, %.3f s by the host's", measured, took);
    for (int i = 0; i < 10000; i++) {
        uint64_t now = 0;
        NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
        if (now < last) {
            CHECK(now >= last, "the clock ran backwards");
            break;
        }
        last = now;
    }
}

static void extensions(void)
{
    uint16_t minor = 77;
    bool there = false;
    CHECK_OK(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, &minor, &there));
    CHECK(there && minor < 10, "AMD's loader extension: %d, minor version %u", there, minor);
    void *table[8] = { 0 };
    CHECK_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 3 * sizeof(void *), table));
    CHECK(table[0] && table[1] && table[2] && !table[3], "the table of the loader has holes or is too long");
    const char *name = NULL;
    CHECK_OK(hsa_extension_get_name(HSA_EXTENSION_IMAGES, &name));
    CHECK(name && strstr(name, "IMAGES"), "name %s", name ? name : "(none)");
}

/* A program that knows fewer functions of an extension, or more, gets those that it has room for and nothing beyond. */
static void extension_tables_of_every_length(void)
{
    enum { MOST = 40 };
    static const uint16_t extensions[] = { HSA_EXTENSION_FINALIZER, HSA_EXTENSION_IMAGES, HSA_EXTENSION_AMD_LOADER };
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
        void *all[MOST] = { 0 };
        CHECK_OK(hsa_system_get_major_extension_table(extensions[e], 1, sizeof all, all));
        size_t known = 0;
        while (known < MOST && all[known] != NULL)
            known++;
        CHECK(known >= 5 && known < MOST, "extension %#x: %zu functions", extensions[e], known);
        unsigned wrong = 0;
        for (size_t length = 1; length <= sizeof all; length++) {
            union {
                void *functions[MOST + 2];
                unsigned char bytes[(MOST + 2) * sizeof(void *)];
            } room;
            memset(room.bytes, 0xee, sizeof room);
            hsa_status_t status = hsa_system_get_major_extension_table(extensions[e], 1, length, room.functions);
            wrong += status != HSA_STATUS_SUCCESS;
            for (size_t f = 0; f < length / sizeof(void *) && f < known; f++)
                wrong += room.functions[f] != all[f];
            for (size_t b = length; b < sizeof room; b++)
                wrong += room.bytes[b] != 0xee;
        }
        CHECK(wrong == 0, "extension %#x: %u lengths or bytes are wrong", extensions[e], wrong);
    }
}

static void statuses(void)
{
    static const int all[] = {
        HSA_STATUS_SUCCESS, HSA_STATUS_INFO_BREAK, HSA_STATUS_ERROR, HSA_STATUS_ERROR_INVALID_ARGUMENT,
        HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, HSA_STATUS_ERROR_INVALID_ALLOCATION, HSA_STATUS_ERROR_INVALID_AGENT,
        HSA_STATUS_ERROR_INVALID_REGION, HSA_STATUS_ERROR_INVALID_SIGNAL, HSA_STATUS_ERROR_INVALID_QUEUE,
        HSA_STATUS_ERROR_OUT_OF_RESOURCES, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, HSA_STATUS_ERROR_RESOURCE_FREE,
        HSA_STATUS_ERROR_NOT_INITIALIZED, HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
        HSA_STATUS_ERROR_INVALID_INDEX, HSA_STATUS_ERROR_INVALID_ISA, HSA_STATUS_ERROR_INVALID_ISA_NAME,
        HSA_STATUS_ERROR_INVALID_CODE_OBJECT, HSA_STATUS_ERROR_INVALID_EXECUTABLE, HSA_STATUS_ERROR_FROZEN_EXECUTABLE,
        HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, HSA_STATUS_ERROR_VARIABLE_UNDEFINED,
        HSA_STATUS_ERROR_EXCEPTION, HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL,
        HSA_STATUS_ERROR_INVALID_FILE, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, HSA_STATUS_ERROR_INVALID_CACHE,
        HSA_STATUS_ERROR_INVALID_WAVEFRONT, HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, HSA_STATUS_ERROR_INVALID_RUNTIME_STATE,
        HSA_STATUS_ERROR_FATAL, HSA_STATUS_ERROR_INVALID_MEMORY_POOL, HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION,
        HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, HSA_STATUS_ERROR_MEMORY_FAULT, HSA_STATUS_CU_MASK_REDUCED,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *text = NULL;
        CHECK_OK(hsa_status_string((hsa_status_t)all[i], &text));
        CHECK(text && strncmp(text, "HSA_STATUS", 10) == 0, "status %#x: %s", all[i], text ? text : "(none)");
    }
}

/* ---- instruction sets and caches ---- */

static unsigned isa_count, cache_count;

static hsa_status_t each_wavefront(hsa_wavefront_t wavefront, void *data)
{
    uint32_t size = 0;
    CHECK_OK(hsa_wavefront_get_info(wavefront, HSA_WAVEFRONT_INFO_SIZE, &size));
    CHECK(size == 64 || size == 32, "wavefront of %u", size);
    (*(unsigned *)data)++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_isa(hsa_isa_t isa, void *data)
{
    const struct agent *agent = data;
    uint32_t length = 0;
    char name[256] = { 0 };
    isa_count++;
    CHECK_OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &length));
    NEED(length > 0 && length < sizeof name);
    CHECK_OK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
    CHECK(strstr(name, agent->name) != NULL, "instruction set %s of agent %s", name, agent->name);
    CHECK(strlen(name) <= length, "length %u of %s", length, name);
    hsa_isa_t found = { 0 };
    CHECK_OK(hsa_isa_from_name(name, &found));
    CHECK(found.handle == isa.handle, "the name %s leads to another instruction set", name);
    bool compatible = false;
    CHECK_OK(hsa_isa_compatible(isa, isa, &compatible));
    CHECK(compatible, "%s does not fit itself", name);

    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_MACHINE_MODELS, answer), 2);
    CHECK(answer[HSA_MACHINE_MODEL_LARGE] == 1 && answer[HSA_MACHINE_MODEL_SMALL] == 0, "machine models");
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_PROFILES, answer), 2);
    CHECK(answer[HSA_PROFILE_BASE] == 1 || answer[HSA_PROFILE_FULL] == 1, "no profile");
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES, answer), 3);
    CHECK(answer[HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR] == 1, "no rounding to nearest");
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_FAST_F16_OPERATION, answer), 1);
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_WORKGROUP_MAX_DIM, answer), 6);
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_WORKGROUP_MAX_SIZE, answer), 4);
    CHECK(number(4) >= 256 && number(4) <= 4096, "%lu", (unsigned long)number(4));
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_DIM, answer), 12);
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_GRID_MAX_SIZE, answer), 8);
    CHECK(number(8) >= UINT32_MAX, "%lu", (unsigned long)number(8));
    ASK(hsa_isa_get_info_alt(isa, HSA_ISA_INFO_FBARRIER_MAX_SIZE, answer), 4);
    unsigned wavefronts = 0;
    CHECK_OK(hsa_isa_iterate_wavefronts(isa, each_wavefront, &wavefronts));
    CHECK(wavefronts >= 1, "no wavefront");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_cache(hsa_cache_t cache, void *data)
{
    (void)data;
    uint32_t length = 0, size = 0;
    uint8_t level = 0;
    cache_count++;
    CHECK_OK(hsa_cache_get_info(cache, HSA_CACHE_INFO_NAME_LENGTH, &length));
    CHECK(length > 0 && length < 128, "length %u", length);
    CHECK_OK(hsa_cache_get_info(cache, HSA_CACHE_INFO_LEVEL, &level));
    CHECK(level >= 1 && level <= 4, "level %u", level);
    CHECK_OK(hsa_cache_get_info(cache, HSA_CACHE_INFO_SIZE, &size));
    CHECK(size > 0, "a cache of nothing");
    return HSA_STATUS_SUCCESS;
}

/* ---- agents ---- */

static uint32_t agent_u32(const struct agent *agent, int attribute)
{
    ASK(hsa_agent_get_info(agent->handle, (hsa_agent_info_t)attribute, answer), 4);
    return (uint32_t)number(4);
}

static void common_info(const struct agent *agent)
{
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_NAME, answer), 64);
    CHECK(is_text((char *)answer, 64), "name");
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_VENDOR_NAME, answer), 64);
    CHECK(is_text((char *)answer, 64), "vendor");
    ASK(hsa_agent_get_info(agent->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, answer), 64);
    CHECK(is_text((char *)answer, 64), "product");
    ASK(hsa_agent_get_info(agent->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, answer), 21);
    CHECK(is_text((char *)answer, 21) && strstr((char *)answer, agent->type == HSA_DEVICE_TYPE_CPU ? "CPU-" : "GPU-"), "UUID");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_MACHINE_MODEL) == HSA_MACHINE_MODEL_LARGE, "machine model");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_PROFILE) <= HSA_PROFILE_FULL, "profile");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE) <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, "rounding");
    agent_u32(agent, HSA_AGENT_INFO_NODE);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_CACHE_SIZE, answer), 16);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_EXTENSIONS, answer), 128);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_VERSION_MAJOR, answer), 2);
    CHECK(number(2) == 1, "version");
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_VERSION_MINOR, answer), 2);
    CHECK(agent_u32(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT) > 0, "no compute units");
    agent_u32(agent, HSA_AMD_AGENT_INFO_CHIP_ID);
    agent_u32(agent, HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
    agent_u32(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
    agent_u32(agent, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
    agent_u32(agent, HSA_AMD_AGENT_INFO_BDFID);
    agent_u32(agent, HSA_AMD_AGENT_INFO_DOMAIN);
    isa_count = cache_count = 0;
    CHECK_OK(hsa_agent_iterate_caches(agent->handle, each_cache, NULL));
    CHECK_OK(hsa_agent_iterate_isas(agent->handle, each_isa, (void *)(uintptr_t)agent));
}

static void cpu_info(const struct agent *agent)
{
    common_info(agent);
    CHECK(agent_u32(agent, HSA_AGENT_INFO_FEATURE) == 0, "a CPU agent with features");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_QUEUES_MAX) == 0, "a CPU agent with queues");
    CHECK(agent->fine.handle && agent->kernarg.handle, "no fine-grained pool, or none for kernel arguments");
    CHECK(isa_count == 0, "%u instruction sets", isa_count);
}

static void gpu_info(const struct agent *agent)
{
    common_info(agent);
    CHECK(isa_count >= 1, "no instruction set");
    CHECK(cache_count >= 1, "no cache");
    CHECK(strncmp(agent->name, "gfx", 3) == 0, "name %s", agent->name);
    CHECK(agent_u32(agent, HSA_AGENT_INFO_FEATURE) & HSA_AGENT_FEATURE_KERNEL_DISPATCH, "cannot dispatch kernels");
    uint32_t wave = agent_u32(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
    CHECK(wave == 32 || wave == 64, "wavefront of %u", wave);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_WORKGROUP_MAX_DIM, answer), 6);
    uint16_t group[3];
    memcpy(group, answer, 6);
    uint32_t group_size = agent_u32(agent, HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
    for (int d = 0; d < 3; d++)
        CHECK(group[d] >= 1 && group[d] <= group_size, "dimension %d: %u of %u", d, group[d], group_size);
    CHECK(group_size >= 256, "group of %u", group_size);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_GRID_MAX_DIM, answer), 12);
    CHECK(number(4) >= 1u << 20, "grid of %lu", (unsigned long)number(4));
    CHECK(agent_u32(agent, HSA_AGENT_INFO_GRID_MAX_SIZE) >= 1u << 20, "grid");
    agent_u32(agent, HSA_AGENT_INFO_FBARRIER_MAX_SIZE);
    uint32_t least = agent_u32(agent, HSA_AGENT_INFO_QUEUE_MIN_SIZE), most = agent_u32(agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
    CHECK(least >= 1 && least <= most && (least & (least - 1)) == 0 && (most & (most - 1)) == 0, "queues of %u to %u packets",
          least, most);
    CHECK(agent_u32(agent, HSA_AGENT_INFO_QUEUES_MAX) >= 1, "no queues");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_QUEUE_TYPE) == HSA_QUEUE_TYPE_MULTI, "queue type");
    CHECK(agent_u32(agent, HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES) != 0, "rounding modes");
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_FAST_F16_OPERATION, answer), 1);
    ASK(hsa_agent_get_info(agent->handle, HSA_AGENT_INFO_ISA, answer), 8);
    CHECK(number(8) != 0, "no instruction set");
    uint32_t simds = agent_u32(agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
    CHECK(simds >= 1 && agent_u32(agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU) >= simds, "%u SIMDs", simds);
    CHECK(agent_u32(agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES) >= 1, "no shader engine");
    CHECK(agent_u32(agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE) >= 1, "no shader array");
    agent_u32(agent, HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS);
    agent_u32(agent, HSA_AMD_AGENT_INFO_MEMORY_WIDTH);
    agent_u32(agent, HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY);
    agent_u32(agent, HSA_AMD_AGENT_INFO_ASIC_REVISION);
    ASK(hsa_agent_get_info(agent->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES, answer), 1);
    CHECK(agent_u32(agent, HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT) <=
              agent_u32(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), "more cooperative units than units");
    CHECK(agent->coarse.handle != 0, "no memory of its own");
    CHECK(agent->group.handle != 0, "no group memory");
}

/* ---- regions and pools ---- */

static void region_info(hsa_region_t region)
{
    ASK(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, answer), 4);
    uint32_t segment = (uint32_t)number(4);
    CHECK(segment <= HSA_REGION_SEGMENT_KERNARG, "segment %u", segment);
    ASK(hsa_region_get_info(region, HSA_REGION_INFO_SIZE, answer), 8);
    uint64_t size = number(8);
    CHECK(size > 0, "a region of nothing");
    ASK(hsa_region_get_info(region, HSA_REGION_INFO_ALLOC_MAX_SIZE, answer), 8);
    CHECK(number(8) <= size, "%lu of %lu bytes can be allocated", (unsigned long)number(8), (unsigned long)size);
    ASK(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED, answer), 1);
    bool allocatable = answer[0];
    CHECK(answer[0] <= 1 && allocatable == (segment == HSA_REGION_SEGMENT_GLOBAL), "allocatable %u", answer[0]);
    if (segment == HSA_REGION_SEGMENT_GLOBAL) {
        ASK(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, answer), 4);
        bool fine = number(4) & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED, coarse = number(4) & HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED;
        CHECK(fine != coarse, "flags %#lx", (unsigned long)number(4));
        ASK(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE, answer), 8);
        CHECK(number(8) > 0, "granule %lu", (unsigned long)number(8));
        ASK(hsa_region_get_info(region, HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT, answer), 8);
        CHECK(number(8) >= 16 && (number(8) & (number(8) - 1)) == 0, "alignment %lu", (unsigned long)number(8));
    }
    ASK(hsa_region_get_info(region, (hsa_region_info_t)HSA_AMD_REGION_INFO_HOST_ACCESSIBLE, answer), 1);
}

static void pool_info(const struct agent *owner, hsa_amd_memory_pool_t pool)
{
    ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, answer), 4);
    uint32_t segment = (uint32_t)number(4);
    CHECK(segment <= HSA_AMD_SEGMENT_GROUP, "segment %u", segment);
    ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, answer), 8);
    CHECK(number(8) > 0, "a pool of nothing");
    ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, answer), 1);
    CHECK((answer[0] == 1) == (segment == HSA_AMD_SEGMENT_GLOBAL), "allocatable %u", answer[0]);
    ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL, answer), 1);
    bool by_all = answer[0];
    ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, answer), 8);
    if (segment == HSA_AMD_SEGMENT_GLOBAL) {
        ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, answer), 4);
        bool fine = number(4) & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
             coarse = number(4) & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
             kernarg = number(4) & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
        /* What HIP insists on. */
        CHECK(fine != coarse && !(coarse && kernarg), "flags %#lx", (unsigned long)number(4));
        ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, answer), 8);
        CHECK(number(8) > 0, "granule");
        ASK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT, answer), 8);
        CHECK(number(8) >= 16 && (number(8) & (number(8) - 1)) == 0, "alignment");
    }
    for (unsigned i = 0; i < agent_count; i++) {
        ASK(hsa_amd_agent_memory_pool_get_info(agents[i].handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, answer), 4);
        uint32_t access = (uint32_t)number(4);
        CHECK(access <= HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, "access %u", access);
        if (by_all)
            CHECK(access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, "accessible by all, but not by %s", agents[i].name);
        if (&agents[i] == owner && segment == HSA_AMD_SEGMENT_GLOBAL)
            CHECK(access == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, "%s may not use its own pool", owner->name);
        ASK(hsa_amd_agent_memory_pool_get_info(agents[i].handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, answer), 4);
        uint32_t hops = (uint32_t)number(4);
        CHECK(hops < 8 && (&agents[i] != owner || hops == 0), "%u hops from %s", hops, agents[i].name);
    }
}

/* ---- iteration ---- */

static hsa_status_t stop_with(hsa_agent_t agent, void *data)
{
    (void)agent;
    hsa_status_t *status = data;
    return *status;
}

static void iteration_stops(void)
{
    static const int statuses_to_stop[] = { HSA_STATUS_INFO_BREAK, HSA_STATUS_ERROR, HSA_STATUS_ERROR_INVALID_INDEX };
    for (size_t i = 0; i < sizeof statuses_to_stop / sizeof *statuses_to_stop; i++) {
        hsa_status_t status = (hsa_status_t)statuses_to_stop[i];
        CHECK_STATUS(hsa_iterate_agents(stop_with, &status), status);
    }
    /* The same agents in the same order every time. */
    unsigned count = agent_count;
    struct agent before[MAX_AGENTS];
    memcpy(before, agents, sizeof before);
    find_agents();
    CHECK(agent_count == count, "%u agents, then %u", count, agent_count);
    for (unsigned i = 0; i < count; i++)
        CHECK(agents[i].handle.handle == before[i].handle.handle && agents[i].pool_count == before[i].pool_count,
              "agent %u is another one", i);
}

int main(void)
{
    NEED_OK(hsa_init());
    find_agents();
    system_info();
    extensions();
    extension_tables_of_every_length();
    statuses();
    for (unsigned i = 0; i < agent_count; i++) {
        const struct agent *agent = &agents[i];
        printf("agent %u: %s, %u pools, %u regions\n", i, agent->name, agent->pool_count, agent->region_count);
        if (agent->type == HSA_DEVICE_TYPE_CPU)
            cpu_info(agent);
        else if (agent->type == HSA_DEVICE_TYPE_GPU)
            gpu_info(agent);
        for (unsigned k = 0; k < agent->region_count; k++)
            region_info(agent->regions[k]);
        for (unsigned k = 0; k < agent->pool_count; k++)
            pool_info(agent, agent->pools[k]);
    }
    iteration_stops();
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
