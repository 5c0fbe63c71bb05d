/* Prints every answer of the runtime about the machine, one a line, for comparing runtimes with each other. Checks only that
 * the machine can be walked. Handles, times and addresses are left out: they are nobody's business. */
#include "machine.h"

#include <ctype.h>

enum { ROOM = 512 };

/* How a value is printed. */
enum form { TEXT, U8, U16, U32, U64, BYTES };

struct attribute {
    const char *name;
    int number;
    enum form form;
    size_t size;
};

static char place[256];

static void print(const char *name, hsa_status_t status, const unsigned char *answer, enum form form, size_t size)
{
    printf("%s.%s = ", place, name);
    if (status != HSA_STATUS_SUCCESS) {
        printf("status %#x\n", status);
        return;
    }
    uint64_t value = 0;
    switch (form) {
    case TEXT:
        putchar('"');
        for (const unsigned char *c = answer; c < answer + size && *c; c++)
            putchar(isprint(*c) ? *c : '?');
        puts("\"");
        return;
    case BYTES:
        for (size_t i = 0; i < size; i++)
            printf("%02x", answer[i]);
        putchar('\n');
        return;
    default:
        memcpy(&value, answer, size);
        printf("%lu\n", (unsigned long)value);
    }
}

#define ASK_ALL(list, call)                                                                                   \
    for (size_t i_ = 0; i_ < sizeof(list) / sizeof *(list); i_++) {                                           \
        const struct attribute *a = &(list)[i_];                                                              \
        unsigned char answer[ROOM] = { 0 };                                                                   \
        hsa_status_t status = (call);                                                                         \
        print(a->name, status, answer, a->form, a->size);                                                     \
    }

#define S(n, form, size) { #n, HSA_SYSTEM_INFO_##n, form, size }
static const struct attribute of_system[] = {
    S(VERSION_MAJOR, U16, 2), S(TIMESTAMP_FREQUENCY, U64, 8), S(SIGNAL_MAX_WAIT, U64, 8),
    S(ENDIANNESS, U32, 4), S(MACHINE_MODEL, U32, 4), S(EXTENSIONS, BYTES, 128),
    { "SVM_SUPPORTED", HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED, U8, 1 },
    { "SVM_ACCESSIBLE_BY_DEFAULT", HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, U8, 1 },
};

#define A(n, form, size) { #n, HSA_AGENT_INFO_##n, form, size }
#define AMD(n, form, size) { "AMD_" #n, HSA_AMD_AGENT_INFO_##n, form, size }
static const struct attribute of_agent[] = {
    A(NAME, TEXT, 64), A(VENDOR_NAME, TEXT, 64), A(FEATURE, U32, 4), A(MACHINE_MODEL, U32, 4), A(PROFILE, U32, 4),
    A(DEFAULT_FLOAT_ROUNDING_MODE, U32, 4), A(BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, U32, 4),
    A(FAST_F16_OPERATION, U8, 1), A(WAVEFRONT_SIZE, U32, 4), A(WORKGROUP_MAX_DIM, BYTES, 6), A(WORKGROUP_MAX_SIZE, U32, 4),
    A(GRID_MAX_DIM, BYTES, 12), A(GRID_MAX_SIZE, U32, 4), A(FBARRIER_MAX_SIZE, U32, 4), A(QUEUES_MAX, U32, 4),
    A(QUEUE_MIN_SIZE, U32, 4), A(QUEUE_MAX_SIZE, U32, 4), A(QUEUE_TYPE, U32, 4), A(NODE, U32, 4), A(DEVICE, U32, 4),
    A(CACHE_SIZE, BYTES, 16), A(EXTENSIONS, BYTES, 128), A(VERSION_MAJOR, U16, 2), A(VERSION_MINOR, U16, 2),
    AMD(CHIP_ID, U32, 4), AMD(CACHELINE_SIZE, U32, 4), AMD(COMPUTE_UNIT_COUNT, U32, 4), AMD(MAX_CLOCK_FREQUENCY, U32, 4),
    AMD(DRIVER_NODE_ID, U32, 4), AMD(MAX_ADDRESS_WATCH_POINTS, U32, 4), AMD(BDFID, U32, 4), AMD(MEMORY_WIDTH, U32, 4),
    AMD(MEMORY_MAX_FREQUENCY, U32, 4), AMD(PRODUCT_NAME, TEXT, 64), AMD(MAX_WAVES_PER_CU, U32, 4),
    AMD(NUM_SIMDS_PER_CU, U32, 4), AMD(NUM_SHADER_ENGINES, U32, 4), AMD(NUM_SHADER_ARRAYS_PER_SE, U32, 4),
    AMD(HDP_FLUSH, BYTES, 0), AMD(DOMAIN, U32, 4), AMD(COOPERATIVE_QUEUES, U8, 1), AMD(UUID, TEXT, 21),
    AMD(ASIC_REVISION, U32, 4), AMD(SVM_DIRECT_HOST_ACCESS, U8, 1), AMD(COOPERATIVE_COMPUTE_UNIT_COUNT, U32, 4),
};

#define P(n, form, size) { #n, HSA_AMD_MEMORY_POOL_INFO_##n, form, size }
static const struct attribute of_pool[] = {
    P(SEGMENT, U32, 4), P(GLOBAL_FLAGS, U32, 4), P(SIZE, U64, 8), P(RUNTIME_ALLOC_ALLOWED, U8, 1),
    P(RUNTIME_ALLOC_GRANULE, U64, 8), P(RUNTIME_ALLOC_ALIGNMENT, U64, 8), P(ACCESSIBLE_BY_ALL, U8, 1),
    P(ALLOC_MAX_SIZE, U64, 8),
};

#define R(n, form, size) { #n, HSA_REGION_INFO_##n, form, size }
static const struct attribute of_region[] = {
    R(SEGMENT, U32, 4), R(GLOBAL_FLAGS, U32, 4), R(SIZE, U64, 8), R(ALLOC_MAX_SIZE, U64, 8),
    R(RUNTIME_ALLOC_ALLOWED, U8, 1), R(RUNTIME_ALLOC_GRANULE, U64, 8), R(RUNTIME_ALLOC_ALIGNMENT, U64, 8),
    { "AMD_HOST_ACCESSIBLE", HSA_AMD_REGION_INFO_HOST_ACCESSIBLE, U8, 1 },
};

#define I(n, form, size) { #n, HSA_ISA_INFO_##n, form, size }
static const struct attribute of_isa[] = {
    I(NAME_LENGTH, U32, 4), I(NAME, TEXT, 256), I(MACHINE_MODELS, BYTES, 2), I(PROFILES, BYTES, 2),
    I(DEFAULT_FLOAT_ROUNDING_MODES, BYTES, 3), I(BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES, BYTES, 3),
    I(FAST_F16_OPERATION, U8, 1), I(WORKGROUP_MAX_DIM, BYTES, 6), I(WORKGROUP_MAX_SIZE, U32, 4), I(GRID_MAX_DIM, BYTES, 12),
    I(GRID_MAX_SIZE, U64, 8), I(FBARRIER_MAX_SIZE, U32, 4),
};

#define C(n, form, size) { #n, HSA_CACHE_INFO_##n, form, size }
static const struct attribute of_cache[] = {
    C(NAME_LENGTH, U32, 4), C(NAME, TEXT, 128), C(LEVEL, U8, 1), C(SIZE, U32, 4),
};

static hsa_status_t each_isa(hsa_isa_t isa, void *data)
{
    unsigned *index = data;
    char before[sizeof place];
    memcpy(before, place, sizeof place);
    snprintf(place + strlen(place), sizeof place - strlen(place), ".isa %u", (*index)++);
    ASK_ALL(of_isa, hsa_isa_get_info_alt(isa, (hsa_isa_info_t)a->number, answer));
    memcpy(place, before, sizeof place);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t each_cache(hsa_cache_t cache, void *data)
{
    unsigned *index = data;
    char before[sizeof place];
    memcpy(before, place, sizeof place);
    snprintf(place + strlen(place), sizeof place - strlen(place), ".cache %u", (*index)++);
    ASK_ALL(of_cache, hsa_cache_get_info(cache, (hsa_cache_info_t)a->number, answer));
    memcpy(place, before, sizeof place);
    return HSA_STATUS_SUCCESS;
}

/* The way from an agent to a pool. */
static void link_to(const struct agent *from, const struct agent *owner, hsa_amd_memory_pool_t pool)
{
    uint32_t hops = 0, access = 0;
    hsa_status_t status = hsa_amd_agent_memory_pool_get_info(from->handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access);
    print("ACCESS", status, (unsigned char *)&access, U32, 4);
    status = hsa_amd_agent_memory_pool_get_info(from->handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops);
    print("NUM_LINK_HOPS", status, (unsigned char *)&hops, U32, 4);
    if (status != HSA_STATUS_SUCCESS || hops == 0 || hops > 4 || from == owner)
        return;
    hsa_amd_memory_pool_link_info_t links[4];
    memset(links, 0, sizeof links);
    status = hsa_amd_agent_memory_pool_get_info(from->handle, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, links);
    for (uint32_t i = 0; i < hops; i++) {
        char name[64];
        const struct { const char *name; uint64_t value; } fields[] = {
            { "type", links[i].link_type }, { "min_latency", links[i].min_latency }, { "max_latency", links[i].max_latency },
            { "min_bandwidth", links[i].min_bandwidth }, { "max_bandwidth", links[i].max_bandwidth },
            { "atomics_32", links[i].atomic_support_32bit }, { "atomics_64", links[i].atomic_support_64bit },
            { "coherent", links[i].coherent_support }, { "numa_distance", links[i].numa_distance },
        };
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            snprintf(name, sizeof name, "link %u.%s", i, fields[k].name);
            print(name, status, (const unsigned char *)&fields[k].value, U64, 8);
        }
    }
}

int main(void)
{
    NEED_OK(hsa_init());
    find_agents();
    strcpy(place, "system");
    ASK_ALL(of_system, hsa_system_get_info((hsa_system_info_t)a->number, answer));
    for (unsigned i = 0; i < agent_count; i++) {
        const struct agent *agent = &agents[i];
        snprintf(place, sizeof place, "agent %u", i);
        ASK_ALL(of_agent, hsa_agent_get_info(agent->handle, (hsa_agent_info_t)a->number, answer));
        unsigned isas = 0, caches = 0;
        CHECK_OK(hsa_agent_iterate_isas(agent->handle, each_isa, &isas));
        CHECK_OK(hsa_agent_iterate_caches(agent->handle, each_cache, &caches));
        for (unsigned k = 0; k < agent->region_count; k++) {
            snprintf(place, sizeof place, "agent %u.region %u", i, k);
            ASK_ALL(of_region, hsa_region_get_info(agent->regions[k], (hsa_region_info_t)a->number, answer));
        }
        for (unsigned k = 0; k < agent->pool_count; k++) {
            snprintf(place, sizeof place, "agent %u.pool %u", i, k);
            ASK_ALL(of_pool, hsa_amd_memory_pool_get_info(agent->pools[k], (hsa_amd_memory_pool_info_t)a->number, answer));
            for (unsigned n = 0; n < agent_count; n++) {
                snprintf(place, sizeof place, "agent %u.pool %u.from %u", i, k, n);
                link_to(&agents[n], agent, agent->pools[k]);
            }
        }
    }
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
