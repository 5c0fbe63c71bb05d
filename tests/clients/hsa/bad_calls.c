/* Calls before the runtime is there and after it has gone, and calls with handles that are stale, foreign or invented. Every
 * case is a process of its own. Use: bad_calls KERNELS. */
#include "mistakes.h"

/* ---- calls at the wrong time ---- */

static hsa_agent_t some_agent;
static hsa_region_t some_region;
static hsa_amd_memory_pool_t some_pool;
static hsa_isa_t some_isa;
static hsa_signal_t some_signal;
static hsa_queue_t *some_queue;
static hsa_executable_t some_executable;
static hsa_code_object_reader_t some_reader;
static hsa_executable_symbol_t some_symbol;
static hsa_cache_t some_cache;
static void *some_memory;
static char answer[4096], static_array[8192];

static hsa_status_t no_agent(hsa_agent_t agent, void *data) { (void)agent; (void)data; return HSA_STATUS_SUCCESS; }
static hsa_status_t no_region(hsa_region_t region, void *data) { (void)region; (void)data; return HSA_STATUS_SUCCESS; }
static hsa_status_t no_pool(hsa_amd_memory_pool_t pool, void *data) { (void)pool; (void)data; return HSA_STATUS_SUCCESS; }
static hsa_status_t no_isa(hsa_isa_t isa, void *data) { (void)isa; (void)data; return HSA_STATUS_SUCCESS; }
static hsa_status_t no_cache(hsa_cache_t cache, void *data) { (void)cache; (void)data; return HSA_STATUS_SUCCESS; }
static hsa_status_t no_symbol(hsa_executable_t e, hsa_agent_t a, hsa_executable_symbol_t s, void *data)
{
    (void)e;
    (void)a;
    (void)s;
    (void)data;
    return HSA_STATUS_SUCCESS;
}
static hsa_status_t no_event(const hsa_amd_event_t *event, void *data) { (void)event; (void)data; return HSA_STATUS_SUCCESS; }
static void no_async(void *data) { (void)data; }

/* Every call gets arguments that would be right at the right time. */
#define UNTIMELY_CALLS(X) \
    X(hsa_shut_down()) \
    X(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, answer)) \
    X(hsa_system_major_extension_supported(HSA_EXTENSION_AMD_LOADER, 1, (uint16_t *)answer, (bool *)answer + 8)) \
    X(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, 24, answer)) \
    X(hsa_iterate_agents(no_agent, NULL)) \
    X(hsa_agent_get_info(some_agent, HSA_AGENT_INFO_NAME, answer)) \
    X(hsa_agent_iterate_caches(some_agent, no_cache, NULL)) \
    X(hsa_agent_iterate_isas(some_agent, no_isa, NULL)) \
    X(hsa_agent_iterate_regions(some_agent, no_region, NULL)) \
    X(hsa_agent_major_extension_supported(HSA_EXTENSION_AMD_LOADER, some_agent, 1, (uint16_t *)answer, (bool *)answer + 8)) \
    X(hsa_cache_get_info(some_cache, HSA_CACHE_INFO_LEVEL, answer)) \
    X(hsa_signal_create(1, 0, NULL, (hsa_signal_t *)answer)) \
    X(hsa_signal_destroy(some_signal)) \
    X(hsa_signal_group_create(1, &some_signal, 1, &some_agent, (hsa_signal_group_t *)answer)) \
    X(hsa_queue_create(some_agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, (hsa_queue_t **)answer)) \
    X(hsa_soft_queue_create(some_region, 64, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, some_signal, \
                            (hsa_queue_t **)answer)) \
    X(hsa_queue_destroy(some_queue)) \
    X(hsa_queue_inactivate(some_queue)) \
    X(hsa_region_get_info(some_region, HSA_REGION_INFO_SEGMENT, answer)) \
    X(hsa_memory_allocate(some_region, 64, (void **)answer)) \
    X(hsa_memory_free(some_memory)) \
    X(hsa_memory_copy(answer, answer + 64, 64)) \
    X(hsa_memory_assign_agent(some_memory, some_agent, HSA_ACCESS_PERMISSION_RW)) \
    X(hsa_memory_register(static_array, 4096)) \
    X(hsa_memory_deregister(static_array, 4096)) \
    X(hsa_isa_from_name("amdgcn-amd-amdhsa--gfx900", (hsa_isa_t *)answer)) \
    X(hsa_isa_get_info_alt(some_isa, HSA_ISA_INFO_NAME_LENGTH, answer)) \
    X(hsa_code_object_reader_create_from_memory(answer, 64, (hsa_code_object_reader_t *)answer)) \
    X(hsa_code_object_reader_create_from_file(0, (hsa_code_object_reader_t *)answer)) \
    X(hsa_code_object_reader_destroy(some_reader)) \
    X(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, (hsa_executable_t *)answer)) \
    X(hsa_executable_destroy(some_executable)) \
    X(hsa_executable_load_agent_code_object(some_executable, some_agent, some_reader, NULL, NULL)) \
    X(hsa_executable_freeze(some_executable, NULL)) \
    X(hsa_executable_get_info(some_executable, HSA_EXECUTABLE_INFO_STATE, answer)) \
    X(hsa_executable_validate(some_executable, (uint32_t *)answer)) \
    X(hsa_executable_agent_global_variable_define(some_executable, some_agent, "x", answer)) \
    X(hsa_executable_get_symbol_by_name(some_executable, "x", &some_agent, (hsa_executable_symbol_t *)answer)) \
    X(hsa_executable_symbol_get_info(some_symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, answer)) \
    X(hsa_executable_iterate_agent_symbols(some_executable, some_agent, no_symbol, NULL)) \
    X(hsa_amd_agent_iterate_memory_pools(some_agent, no_pool, NULL)) \
    X(hsa_amd_memory_pool_get_info(some_pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, answer)) \
    X(hsa_amd_memory_pool_allocate(some_pool, 64, 0, (void **)answer)) \
    X(hsa_amd_memory_pool_free(some_memory)) \
    X(hsa_amd_agent_memory_pool_get_info(some_agent, some_pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, answer)) \
    X(hsa_amd_agents_allow_access(1, &some_agent, NULL, some_memory)) \
    X(hsa_amd_memory_async_copy(answer, some_agent, answer + 64, some_agent, 64, 0, NULL, some_signal)) \
    X(hsa_amd_memory_lock(static_array, 4096, &some_agent, 1, (void **)answer)) \
    X(hsa_amd_memory_unlock(static_array)) \
    X(hsa_amd_memory_fill(some_memory, 1, 16)) \
    X(hsa_amd_pointer_info(some_memory, &(hsa_amd_pointer_info_t){ .size = sizeof(hsa_amd_pointer_info_t) }, NULL, NULL, NULL)) \
    X(hsa_amd_signal_create(1, 0, NULL, 0, (hsa_signal_t *)answer)) \
    X(hsa_amd_signal_async_handler(some_signal, HSA_SIGNAL_CONDITION_EQ, 0, never, NULL)) \
    X(hsa_amd_async_function(no_async, NULL)) \
    X(hsa_amd_register_system_event_handler(no_event, NULL)) \
    X(hsa_amd_profiling_set_profiler_enabled(some_queue, 1)) \
    X(hsa_amd_profiling_async_copy_enable(true)) \
    X(hsa_amd_profiling_get_dispatch_time(some_agent, some_signal, (hsa_amd_profiling_dispatch_time_t *)answer)) \
    X(hsa_amd_queue_set_priority(some_queue, HSA_AMD_QUEUE_PRIORITY_LOW)) \
    X(hsa_amd_queue_cu_set_mask(some_queue, 32, (uint32_t *)answer))

#define NAME(call) #call,
static const char *const untimely_names[] = { UNTIMELY_CALLS(NAME) };
#undef NAME

static hsa_status_t untimely_call(size_t number)
{
#define CASE(call) \
    if (number-- == 0) \
        return call;
    UNTIMELY_CALLS(CASE)
#undef CASE
    abort();
}

struct untimely {
    size_t number;
    bool after;
};

static hsa_status_t first_isa(hsa_isa_t isa, void *data) { *(hsa_isa_t *)data = isa; return HSA_STATUS_INFO_BREAK; }
static hsa_status_t first_cache(hsa_cache_t cache, void *data) { *(hsa_cache_t *)data = cache; return HSA_STATUS_INFO_BREAK; }

/* Real objects of every kind, which keep their values when the runtime is gone. */
static void make_objects(void)
{
    some_agent = gpu->handle;
    some_region = cpu->fine_region;
    some_pool = cpu->fine;
    some_memory = pool_alloc(cpu->fine, 4096);
    some_signal = new_signal(1);
    some_queue = new_queue(gpu->handle, 64);
    struct module module = load_module(vector_add_path(), gpu->handle);
    some_executable = module.executable;
    some_reader = module.reader;
    NEED_OK(hsa_executable_get_symbol_by_name(module.executable, "vector_add.kd", &gpu->handle, &some_symbol));
    hsa_agent_iterate_isas(gpu->handle, first_isa, &some_isa);
    hsa_agent_iterate_caches(gpu->handle, first_cache, &some_cache);
}

static void call_at_the_wrong_time(const void *data)
{
    const struct untimely *untimely = data;
    if (untimely->after) {
        start();
        make_objects();
        NEED_OK(hsa_shut_down());
    } else {
        static uint64_t zeros[512];
        some_memory = zeros;
        some_queue = (hsa_queue_t *)zeros;
        some_agent.handle = some_signal.handle = some_region.handle = some_pool.handle = (uintptr_t)zeros;
    }
    hsa_status_t status = untimely_call(untimely->number);
    check_at(__FILE__, __LINE__, status == HSA_STATUS_ERROR_NOT_INITIALIZED, untimely_names[untimely->number],
             "status %#x (%s)", status, status_text(status));
}

/* ---- stale and foreign handles ---- */

/* Calls with a handle in `h`, and the answer when `h` is nothing of the kind. */
#define HANDLE_CALLS(X) \
    X(AGENT, hsa_agent_get_info((hsa_agent_t){ h }, HSA_AGENT_INFO_NAME, answer), INVALID_AGENT) \
    X(AGENT, hsa_agent_iterate_regions((hsa_agent_t){ h }, no_region, NULL), INVALID_AGENT) \
    X(AGENT, hsa_agent_iterate_isas((hsa_agent_t){ h }, no_isa, NULL), INVALID_AGENT) \
    X(AGENT, hsa_agent_iterate_caches((hsa_agent_t){ h }, no_cache, NULL), INVALID_AGENT) \
    X(AGENT, hsa_amd_agent_iterate_memory_pools((hsa_agent_t){ h }, no_pool, NULL), INVALID_AGENT) \
    X(AGENT, hsa_queue_create((hsa_agent_t){ h }, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, (hsa_queue_t **)answer), \
      INVALID_AGENT) \
    X(AGENT, hsa_memory_assign_agent(some_memory, (hsa_agent_t){ h }, HSA_ACCESS_PERMISSION_RW), INVALID_AGENT) \
    X(AGENT, hsa_amd_agents_allow_access(1, &(hsa_agent_t){ h }, NULL, some_memory), INVALID_AGENT) \
    X(AGENT, hsa_amd_memory_lock(static_array, 4096, &(hsa_agent_t){ h }, 1, (void **)answer), INVALID_AGENT) \
    X(AGENT, hsa_executable_load_agent_code_object(empty_executable(), (hsa_agent_t){ h }, some_reader, NULL, NULL), \
      INVALID_AGENT) \
    X(COPY_AGENT, hsa_amd_memory_async_copy(some_memory, (hsa_agent_t){ h }, (char *)some_memory + 64, cpu->handle, 64, 0, \
                                            NULL, some_signal), INVALID_AGENT) \
    X(REGION, hsa_region_get_info((hsa_region_t){ h }, HSA_REGION_INFO_SEGMENT, answer), INVALID_REGION) \
    X(REGION, hsa_memory_allocate((hsa_region_t){ h }, 64, (void **)answer), INVALID_REGION) \
    X(POOL, hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){ h }, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, answer), \
      INVALID_MEMORY_POOL) \
    X(POOL, hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){ h }, 64, 0, (void **)answer), INVALID_MEMORY_POOL) \
    X(ISA, hsa_isa_get_info_alt((hsa_isa_t){ h }, HSA_ISA_INFO_NAME_LENGTH, answer), INVALID_ISA) \
    X(CACHE, hsa_cache_get_info((hsa_cache_t){ h }, HSA_CACHE_INFO_LEVEL, answer), INVALID_CACHE) \
    X(SIGNAL, hsa_amd_signal_async_handler((hsa_signal_t){ h }, HSA_SIGNAL_CONDITION_EQ, 0, never, NULL), INVALID_SIGNAL) \
    X(SIGNAL, hsa_amd_profiling_get_dispatch_time(gpu->handle, (hsa_signal_t){ h }, \
                                                  (hsa_amd_profiling_dispatch_time_t *)answer), INVALID_SIGNAL) \
    X(SIGNAL, hsa_amd_memory_async_copy(some_memory, cpu->handle, (char *)some_memory + 64, cpu->handle, 64, 1, \
                                        &(hsa_signal_t){ h }, some_signal), INVALID_SIGNAL) \
    X(EXECUTABLE, hsa_executable_destroy((hsa_executable_t){ h }), INVALID_EXECUTABLE) \
    X(EXECUTABLE, hsa_executable_freeze((hsa_executable_t){ h }, NULL), INVALID_EXECUTABLE) \
    X(EXECUTABLE, hsa_executable_get_info((hsa_executable_t){ h }, HSA_EXECUTABLE_INFO_STATE, answer), INVALID_EXECUTABLE) \
    X(EXECUTABLE, hsa_executable_get_symbol_by_name((hsa_executable_t){ h }, "vector_add.kd", &gpu->handle, \
                                                    (hsa_executable_symbol_t *)answer), INVALID_EXECUTABLE) \
    X(EXECUTABLE, hsa_executable_load_agent_code_object((hsa_executable_t){ h }, gpu->handle, some_reader, NULL, NULL), \
      INVALID_EXECUTABLE) \
    X(READER, hsa_code_object_reader_destroy((hsa_code_object_reader_t){ h }), INVALID_CODE_OBJECT_READER) \
    X(READER, hsa_executable_load_agent_code_object(empty_executable(), gpu->handle, (hsa_code_object_reader_t){ h }, NULL, \
                                                    NULL), INVALID_CODE_OBJECT_READER) \
    X(SYMBOL, hsa_executable_symbol_get_info((hsa_executable_symbol_t){ h }, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, answer), \
      INVALID_EXECUTABLE_SYMBOL)

enum handle_kind { AGENT, COPY_AGENT, REGION, POOL, ISA, CACHE, SIGNAL, EXECUTABLE, READER, SYMBOL, QUEUE };

static hsa_executable_t empty_executable(void)
{
    hsa_executable_t executable;
    NEED_OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    return executable;
}

#define ROW(kind, call, status) { #call, kind, (hsa_status_t)HSA_STATUS_ERROR_##status },
static const struct {
    const char *name;
    enum handle_kind kind;
    hsa_status_t want;
} handle_calls[] = { HANDLE_CALLS(ROW) };
#undef ROW

static hsa_status_t handle_call(size_t number, uint64_t h)
{
#define CASE(kind, call, status) \
    if (number-- == 0) \
        return call;
    HANDLE_CALLS(CASE)
#undef CASE
    abort();
}

static void call_with_foreign_handles(const void *data)
{
    size_t number = *(const size_t *)data;
    start();
    make_objects();
    static uint64_t zeros[512];
    const struct {
        enum handle_kind kind;
        uint64_t handle;
    } handles[] = {
        { AGENT, some_agent.handle },   { REGION, some_region.handle }, { ISA, some_isa.handle },
        { SIGNAL, some_signal.handle }, { EXECUTABLE, some_executable.handle }, { READER, some_reader.handle },
        { SYMBOL, some_symbol.handle }, { QUEUE, (uintptr_t)some_queue },
    };
    const uint64_t garbage[] = { 0, 1, 7, UINT64_MAX, 0xdeadbeefdeadbeef, 0x0000700000000000, (uintptr_t)zeros,
                                 (uintptr_t)some_memory };
    const enum handle_kind kind = handle_calls[number].kind;
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        if (garbage[i] == 0 && kind == COPY_AGENT) /* newer headers give 0 a meaning here */
            continue;
        hsa_status_t status = handle_call(number, garbage[i]);
        /* Nothing but a signal has a text of its own for handle 0. */
        bool good = status == handle_calls[number].want ||
                    (garbage[i] == 0 && kind == SIGNAL && status == HSA_STATUS_ERROR_INVALID_ARGUMENT);
        check_at(__FILE__, __LINE__, good, handle_calls[number].name, "handle %#lx: status %#x (%s)",
                 (unsigned long)garbage[i], status, status_text(status));
    }
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        /* AMD's pools are its regions; nobody promises that their handles differ. */
        bool same = handles[i].kind == kind || (handles[i].kind == REGION && kind == POOL) ||
                    (handles[i].kind == AGENT && kind == COPY_AGENT);
        if (same)
            continue;
        hsa_status_t status = handle_call(number, handles[i].handle);
        check_at(__FILE__, __LINE__, status == handle_calls[number].want, handle_calls[number].name,
                 "the handle of another kind (%d): status %#x (%s)", handles[i].kind, status, status_text(status));
    }
    check_alive();
}

/* Handles of an earlier life of the runtime mean nothing in the next. */
static void handles_of_an_earlier_life(const void *data)
{
    (void)data;
    start();
    make_objects();
    hsa_signal_t old_signal = some_signal;
    hsa_queue_t *old_queue = some_queue;
    hsa_executable_t old_executable = some_executable;
    hsa_code_object_reader_t old_reader = some_reader;
    hsa_executable_symbol_t old_symbol = some_symbol;
    NEED_OK(hsa_shut_down());
    NEED_OK(hsa_init());
    find_agents();
    CHECK_STATUS(hsa_signal_destroy(old_signal), HSA_STATUS_ERROR_INVALID_SIGNAL);
    CHECK_STATUS(hsa_queue_destroy(old_queue), HSA_STATUS_ERROR_INVALID_QUEUE);
    CHECK_STATUS(hsa_executable_destroy(old_executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
    CHECK_STATUS(hsa_code_object_reader_destroy(old_reader), HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
    CHECK_STATUS(hsa_executable_symbol_get_info(old_symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, answer),
                 HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
    CHECK_STATUS(hsa_amd_memory_pool_free(some_memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    check_alive();
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    root = argv[1];
    isolate("handles_of_an_earlier_life", handles_of_an_earlier_life, NULL);
    for (int after = 0; after < 2; after++)
        for (size_t i = 0; i < sizeof untimely_names / sizeof *untimely_names; i++) {
            char name[256];
            snprintf(name, sizeof name, "%s %.200s", after ? "after the last shut-down" : "before hsa_init", untimely_names[i]);
            isolate(name, call_at_the_wrong_time, &(struct untimely){ i, after });
        }
    for (size_t i = 0; i < sizeof handle_calls / sizeof *handle_calls; i++) {
        char name[256];
        snprintf(name, sizeof name, "foreign handle %.200s", handle_calls[i].name);
        isolate(name, call_with_foreign_handles, &i);
    }
    return check_summary();
}
