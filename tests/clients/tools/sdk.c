/* A profiler of the newer kind, loaded as rocprofiler-register's library, in C and built against this project's headers, which
 * are those of the version that the runtime offers. It looks at every table before it takes any, and then does what such
 * profilers do:
 *   - queues become intercept queues whose dispatches get a completion signal of the profiler's, with a packet behind each that
 *     waits for nothing, and whose times it reads in a handler before it completes the program's signal;
 *   - copies get a signal of the profiler's in the same way;
 *   - frozen executables are looked into through the loader's extension.
 *
 * TOOL_LOG names the file for its lines: `table NAME MAJOR BYTES STEP`, `empty NAME INDEX` for a member that is NULL,
 * `dispatch NANOSECONDS`, `copy BYTES NANOSECONDS`, `code OBJECTS`, and `wrong WHAT` for what must not be. */
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static CoreApiTable core;
static AmdExtTable amd;
static FILE *log_file;
static double nanoseconds_per_tick;

static void wrong(const char *what) { fprintf(log_file, "wrong %s\n", what); }

static uint64_t now(void)
{
    uint64_t ticks = 0;
    if (core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP, &ticks) != HSA_STATUS_SUCCESS)
        wrong("no clock");
    return ticks;
}

/* ---- what is being timed ---- */

struct timed {
    hsa_agent_t agent;
    hsa_signal_t own, theirs;
    uint64_t submitted, bytes; /* no bytes: a dispatch */
};

/* The program may want to know the times as well. */
static void complete_theirs(const struct timed *timed)
{
    if (timed->theirs.handle == 0)
        return;
    const amd_signal_t *own = (const amd_signal_t *)timed->own.handle;
    amd_signal_t *theirs = (amd_signal_t *)timed->theirs.handle;
    theirs->start_ts = own->start_ts;
    theirs->end_ts = own->end_ts;
    core.hsa_signal_subtract_screlease_fn(timed->theirs, 1);
}

static bool completed(hsa_signal_value_t value, void *data)
{
    struct timed *timed = data;
    uint64_t start = 0, end = 0;
    if (value != 0)
        wrong("the value of a signal");
    if (timed->bytes == 0) {
        hsa_amd_profiling_dispatch_time_t time = { 0, 0 };
        if (amd.hsa_amd_profiling_get_dispatch_time_fn(timed->agent, timed->own, &time) != HSA_STATUS_SUCCESS)
            wrong("no time of a dispatch");
        start = time.start;
        end = time.end;
    } else {
        hsa_amd_profiling_async_copy_time_t time = { 0, 0 };
        if (amd.hsa_amd_profiling_get_async_copy_time_fn(timed->own, &time) != HSA_STATUS_SUCCESS)
            wrong("no time of a copy");
        start = time.start;
        end = time.end;
    }
    if (start < timed->submitted || end < start || now() < end)
        wrong("a time outside of the program's");
    if (timed->bytes == 0)
        fprintf(log_file, "dispatch %.0f\n", (double)(end - start) * nanoseconds_per_tick);
    else
        fprintf(log_file, "copy %llu %.0f\n", (unsigned long long)timed->bytes, (double)(end - start) * nanoseconds_per_tick);
    complete_theirs(timed);
    core.hsa_signal_destroy_fn(timed->own);
    free(timed);
    return false;
}

static struct timed *new_timed(hsa_agent_t agent, hsa_signal_t theirs, uint64_t bytes)
{
    struct timed *timed = malloc(sizeof *timed);
    if (!timed)
        abort();
    *timed = (struct timed){ .agent = agent, .theirs = theirs, .submitted = now(), .bytes = bytes };
    if (amd.hsa_amd_signal_create_fn(1, 0, NULL, 0, &timed->own) != HSA_STATUS_SUCCESS)
        abort();
    if (amd.hsa_amd_signal_async_handler_fn(timed->own, HSA_SIGNAL_CONDITION_LT, 1, completed, timed) != HSA_STATUS_SUCCESS)
        abort();
    return timed;
}

/* ---- dispatches ---- */

/* Each dispatch is passed on with a packet behind it, so there may be twice as many packets as there were. */
static void packets(const void *from, uint64_t count, uint64_t index, void *data, hsa_amd_queue_intercept_packet_writer writer)
{
    hsa_agent_t agent = { (uint64_t)(uintptr_t)data };
    const hsa_kernel_dispatch_packet_t *theirs = from;
    hsa_kernel_dispatch_packet_t *ours = calloc(2 * count, sizeof *ours);
    uint64_t made = 0;
    (void)index;
    if (!ours)
        abort();
    for (uint64_t i = 0; i < count; i++) {
        hsa_kernel_dispatch_packet_t *packet = &ours[made++];
        *packet = theirs[i];
        if (((packet->header >> HSA_PACKET_HEADER_TYPE) & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH)
            continue;
        packet->completion_signal = new_timed(agent, packet->completion_signal, 0)->own;
        hsa_barrier_and_packet_t *barrier = (hsa_barrier_and_packet_t *)&ours[made++];
        barrier->header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
    }
    writer(ours, made);
    free(ours);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data, uint32_t private_size,
                                 uint32_t group_size, hsa_queue_t **queue)
{
    hsa_status_t status = amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data, private_size, group_size,
                                                                queue);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (amd.hsa_amd_profiling_set_profiler_enabled_fn(*queue, 1) != HSA_STATUS_SUCCESS)
        wrong("no times of a queue");
    if (amd.hsa_amd_queue_intercept_register_fn(*queue, packets, (void *)(uintptr_t)agent.handle) != HSA_STATUS_SUCCESS)
        wrong("no handler of a queue");
    return HSA_STATUS_SUCCESS;
}

/* ---- copies ---- */

static hsa_status_t async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size,
                               uint32_t dependencies, const hsa_signal_t *list, hsa_signal_t signal)
{
    if (size == 0)
        return amd.hsa_amd_memory_async_copy_fn(to, to_agent, from, from_agent, size, dependencies, list, signal);
    struct timed *timed = new_timed(to_agent, signal, size);
    hsa_status_t status = amd.hsa_amd_memory_async_copy_fn(to, to_agent, from, from_agent, size, dependencies, list, timed->own);
    /* The handler still has to be called, and to leave the program's signal alone. */
    if (status != HSA_STATUS_SUCCESS)
        wrong("a copy that was refused");
    return status;
}

/* ---- code ---- */

static hsa_status_t count_object(hsa_executable_t executable, hsa_loaded_code_object_t object, void *data)
{
    (void)executable;
    (void)object;
    (*(unsigned *)data)++;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t freeze(hsa_executable_t executable, const char *options)
{
    hsa_status_t status = core.hsa_executable_freeze_fn(executable, options);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    hsa_ven_amd_loader_1_01_pfn_t loader;
    unsigned objects = 0;
    if (core.hsa_system_get_major_extension_table_fn(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader) != HSA_STATUS_SUCCESS ||
        loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, count_object, &objects) !=
            HSA_STATUS_SUCCESS)
        wrong("no look into an executable");
    fprintf(log_file, "code %u\n", objects);
    return status;
}

/* ---- the tables ---- */

/* A table is as large as its header says, and every function in it can be called. `events`: its members are for tools to set. */
static bool good_table(const char *name, const ApiTableVersion *version, uint32_t major, size_t bytes, uint32_t step, bool events)
{
    if (!version) {
        wrong(name);
        return false;
    }
    fprintf(log_file, "table %s %u %u %u\n", name, version->major_id, version->minor_id, version->step_id);
    void *const *members = (void *const *)(version + 1);
    for (size_t i = 0; !events && i < (version->minor_id - sizeof *version) / sizeof *members; i++)
        if (!members[i])
            fprintf(log_file, "empty %s %zu\n", name, i);
    return version->major_id == major && version->minor_id == bytes && version->step_id == step && version->reserved == 0;
}

EXPORT uint32_t rocprofiler_register_library_api_table(const char *name, uint32_t (*library_version)(void), uint32_t version,
                                                       void **tables, uint64_t count, uint64_t *identifier)
{
    enum { TAKEN = 0, NOBODY = 1 };
    const char *path = getenv("TOOL_LOG");
    log_file = path ? fopen(path, "a") : NULL;
    if (!log_file)
        return NOBODY;
    setvbuf(log_file, NULL, _IOLBF, 0);
    if (strcmp(name, "hsa") != 0 || library_version() != version || count != 1)
        wrong("the registration");
    HsaApiTable *root = tables[0];
#define GOOD(what, table, type, id, events)                                                                              \
    good_table(what, (const ApiTableVersion *)(table), HSA_##id##_API_TABLE_MAJOR_VERSION, sizeof(type),                      \
               HSA_##id##_API_TABLE_STEP_VERSION, events)
    bool good = good_table("root", &root->version, HSA_API_TABLE_MAJOR_VERSION, sizeof *root, HSA_API_TABLE_STEP_VERSION, false);
    good &= GOOD("core", root->core_, CoreApiTable, CORE, false);
    good &= GOOD("amd", root->amd_ext_, AmdExtTable, AMD_EXT, false);
    good &= GOOD("finalizer", root->finalizer_ext_, FinalizerExtTable, FINALIZER, false);
    good &= GOOD("image", root->image_ext_, ImageExtTable, IMAGE, false);
    good &= GOOD("tools", root->tools_, ToolsApiTable, TOOLS, true);
    good &= GOOD("sampling", root->pc_sampling_ext_, PcSamplingExtTable, PC_SAMPLING, false);
    if (!good)
        wrong("a table of another version");
    core = *root->core_;
    amd = *root->amd_ext_;
    uint64_t frequency = 0;
    if (core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) != HSA_STATUS_SUCCESS || !frequency)
        wrong("no frequency");
    nanoseconds_per_tick = 1e9 / (double)frequency;
    if (amd.hsa_amd_profiling_async_copy_enable_fn(true) != HSA_STATUS_SUCCESS ||
        amd.hsa_amd_enable_high_precision_timestamps_fn() != HSA_STATUS_SUCCESS)
        wrong("no times");
    root->core_->hsa_queue_create_fn = queue_create;
    root->core_->hsa_executable_freeze_fn = freeze;
    root->amd_ext_->hsa_amd_memory_async_copy_fn = async_copy;
    *identifier = 1;
    return TAKEN;
}
