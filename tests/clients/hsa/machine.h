/* What every client needs before it can test anything: the agents with their memory, kernels from files, and packets on
 * queues. Only the headers of the standard and of AMD's extension. */
#ifndef MACHINE_H
#define MACHINE_H

#include "check.h"

#include <hsa/hsa_ext_amd.h>

#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)sysconf(_SC_PAGESIZE)) /* the system's, 4096 bytes or more */

enum { MAX_AGENTS = 16, MAX_POOLS = 16 };

/* An agent with the memory that tests use; handle 0 where it has none of a kind. */
struct agent {
    hsa_agent_t handle;
    char name[64];
    hsa_device_type_t type;
    hsa_amd_memory_pool_t pools[MAX_POOLS];
    unsigned pool_count;
    hsa_amd_memory_pool_t fine, kernarg, coarse, group;
    hsa_region_t regions[MAX_POOLS];
    unsigned region_count;
    hsa_region_t fine_region, kernarg_region, coarse_region, group_region;
};

static struct agent agents[MAX_AGENTS];
static unsigned agent_count;
static struct agent *cpu, *gpu; /* the first of each */

static inline hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct agent *agent = data;
    NEED(agent->pool_count < MAX_POOLS);
    agent->pools[agent->pool_count++] = pool;
    hsa_amd_segment_t segment;
    NEED_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment == HSA_AMD_SEGMENT_GROUP)
        agent->group = pool;
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    uint32_t flags = 0;
    NEED_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
        agent->kernarg = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
        agent->fine = pool;
    else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
        agent->coarse = pool;
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t add_region(hsa_region_t region, void *data)
{
    struct agent *agent = data;
    NEED(agent->region_count < MAX_POOLS);
    agent->regions[agent->region_count++] = region;
    hsa_region_segment_t segment;
    NEED_OK(hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment));
    if (segment == HSA_REGION_SEGMENT_GROUP)
        agent->group_region = region;
    if (segment != HSA_REGION_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    uint32_t flags = 0;
    NEED_OK(hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags));
    if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG)
        agent->kernarg_region = region;
    else if (flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED)
        agent->fine_region = region;
    else if (flags & HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED)
        agent->coarse_region = region;
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t add_agent(hsa_agent_t handle, void *data)
{
    (void)data;
    NEED(agent_count < MAX_AGENTS);
    struct agent *agent = &agents[agent_count++];
    *agent = (struct agent){ .handle = handle };
    NEED_OK(hsa_agent_get_info(handle, HSA_AGENT_INFO_NAME, agent->name));
    NEED_OK(hsa_agent_get_info(handle, HSA_AGENT_INFO_DEVICE, &agent->type));
    NEED_OK(hsa_amd_agent_iterate_memory_pools(handle, add_pool, agent));
    NEED_OK(hsa_agent_iterate_regions(handle, add_region, agent));
    if (agent->type == HSA_DEVICE_TYPE_CPU && !cpu)
        cpu = agent;
    if (agent->type == HSA_DEVICE_TYPE_GPU && !gpu)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

/* Finds the agents; the runtime has to be initialised. */
static inline void find_agents(void)
{
    agent_count = 0;
    cpu = gpu = NULL;
    NEED_OK(hsa_iterate_agents(add_agent, NULL));
    NEED(cpu != NULL);
    NEED(gpu != NULL);
    NEED(cpu->fine.handle != 0);
    NEED(cpu->kernarg.handle != 0);
}

/* Memory of a pool that the GPU may use as well. */
static inline void *pool_alloc(hsa_amd_memory_pool_t pool, size_t size)
{
    void *memory = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(pool, size, 0, &memory));
    NEED(memory != NULL);
    NEED_OK(hsa_amd_agents_allow_access(1, &gpu->handle, NULL, memory));
    return memory;
}

/* Zeroed memory that host and GPU see coherently. */
static inline void *shared_alloc(size_t size)
{
    void *memory = pool_alloc(cpu->fine, size);
    memset(memory, 0, size);
    return memory;
}

static inline uint64_t ticks_per_second(void)
{
    uint64_t frequency = 0;
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
    NEED(frequency != 0);
    return frequency;
}

static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void pause_ms(long ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

static inline hsa_signal_t new_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal = { 0 };
    NEED_OK(hsa_signal_create(value, 0, NULL, &signal));
    NEED(signal.handle != 0);
    return signal;
}

/* Waits until the signal is 0, at most `limit` seconds; a wait may end early, so it is repeated. */
static inline bool wait_zero(hsa_signal_t signal, double limit)
{
    uint64_t ticks = ticks_per_second();
    for (double end = seconds() + limit; seconds() < end;)
        if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, ticks, HSA_WAIT_STATE_BLOCKED) == 0)
            return true;
    return hsa_signal_load_scacquire(signal) == 0;
}

enum { WAIT_LIMIT = 60 }; /* seconds; far more than any dispatch of the tests takes */

/* ---- code objects ---- */

struct module {
    void *bytes;
    size_t size;
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
};

static inline void *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("cannot open %s\n", path);
        NEED(file != NULL);
    }
    NEED(fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    NEED(length > 0);
    rewind(file);
    void *bytes = malloc((size_t)length);
    NEED(bytes != NULL && fread(bytes, 1, (size_t)length, file) == (size_t)length);
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

static inline struct module load_module(const char *path, hsa_agent_t agent)
{
    struct module module = { 0 };
    module.bytes = read_file(path, &module.size);
    NEED_OK(hsa_code_object_reader_create_from_memory(module.bytes, module.size, &module.reader));
    NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &module.executable));
    NEED_OK(hsa_executable_load_agent_code_object(module.executable, agent, module.reader, NULL, NULL));
    NEED_OK(hsa_executable_freeze(module.executable, NULL));
    return module;
}

static inline void unload_module(struct module *module)
{
    CHECK_OK(hsa_executable_destroy(module->executable));
    CHECK_OK(hsa_code_object_reader_destroy(module->reader));
    free(module->bytes);
    *module = (struct module){ 0 };
}

struct kernel {
    uint64_t object;
    uint32_t kernarg_size, group_size, private_size;
};

/* `symbol` is the name of the symbol: that of the kernel with ".kd" behind it since version 3 of the code object. */
static inline struct kernel find_kernel(const struct module *module, hsa_agent_t agent, const char *symbol)
{
    hsa_executable_symbol_t found = { 0 };
    hsa_status_t status = hsa_executable_get_symbol_by_name(module->executable, symbol, &agent, &found);
    if (status != HSA_STATUS_SUCCESS)
        printf("no symbol %s\n", symbol);
    NEED_OK(status);
    struct kernel kernel = { 0 };
    NEED_OK(hsa_executable_symbol_get_info(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
    NEED_OK(hsa_executable_symbol_get_info(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                                           &kernel.kernarg_size));
    NEED_OK(hsa_executable_symbol_get_info(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_size));
    NEED_OK(hsa_executable_symbol_get_info(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                           &kernel.private_size));
    NEED(kernel.object != 0);
    return kernel;
}

/* ---- queues and packets ---- */

enum { PACKET_BYTES = 64 };

/* The header of a packet whose effects everyone sees. */
static inline uint16_t packet_header(hsa_packet_type_t type, bool barrier)
{
    return (uint16_t)((unsigned)type << HSA_PACKET_HEADER_TYPE | (unsigned)barrier << HSA_PACKET_HEADER_BARRIER |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                      HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

/* Takes the next slot of the queue and writes everything but the first four bytes, which make the packet valid. */
static inline uint64_t write_packet(hsa_queue_t *queue, const void *packet)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    double end = seconds() + WAIT_LIMIT;
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        NEED(seconds() < end);
    char *slot = (char *)queue->base_address + index % queue->size * PACKET_BYTES;
    memcpy(slot + 4, (const char *)packet + 4, PACKET_BYTES - 4);
    return index;
}

static inline void publish_packet(hsa_queue_t *queue, uint64_t index, const void *packet)
{
    uint32_t first;
    memcpy(&first, packet, sizeof first);
    uint32_t *slot = (uint32_t *)((char *)queue->base_address + index % queue->size * PACKET_BYTES);
    __atomic_store_n(slot, first, __ATOMIC_RELEASE);
}

/* Submits any packet of 64 bytes and returns its index. */
static inline uint64_t submit(hsa_queue_t *queue, const void *packet)
{
    uint64_t index = write_packet(queue, packet);
    publish_packet(queue, index, packet);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    return index;
}

/* A dispatch in one dimension; change what should differ before it is submitted. */
static inline hsa_kernel_dispatch_packet_t dispatch_packet(const struct kernel *kernel, void *kernarg, uint32_t grid,
                                                           uint16_t group, hsa_signal_t done)
{
    return (hsa_kernel_dispatch_packet_t){
        .header = packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, false),
        .setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
        .workgroup_size_x = group,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = grid,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .private_segment_size = kernel->private_size,
        .group_segment_size = kernel->group_size,
        .kernel_object = kernel->object,
        .kernarg_address = kernarg,
        .completion_signal = done,
    };
}

/* Says a queue's error and counts it as a failure; for queues on which nothing may go wrong. */
static inline void unexpected_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)data;
    check_at(__FILE__, __LINE__, false, "no error on the queue", "queue %lu: %#x (%s)", (unsigned long)queue->id, status,
             status_text(status));
}

static inline hsa_queue_t *new_queue(hsa_agent_t agent, uint32_t size)
{
    hsa_queue_t *queue = NULL;
    NEED_OK(hsa_queue_create(agent, size, HSA_QUEUE_TYPE_MULTI, unexpected_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    NEED(queue != NULL);
    return queue;
}

/* The directory with the kernels of an agent: ROOT/NAME-OF-THE-AGENT/LEVEL/KERNEL.co. */
static inline const char *kernel_path(const char *root, const struct agent *agent, const char *level, const char *name)
{
    static _Thread_local char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s/%s.co", root, agent->name, level, name);
    return path;
}

#endif
