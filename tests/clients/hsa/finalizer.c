/* The finalizer: programs of modules in BRIG, and what the code that it makes computes on the GPU. Both ways to the
 * functions are used: the exported ones, and the extension's table.
 * Use: finalizer MODULES, the directory with the modules that HSAILasm made of tests/kernels/hsail. */
#include "machine.h"

#include <hsa/hsa_ext_finalize.h>

#include <pthread.h>

/* A status of the extension, which C has in another enumeration. */
#define EXT(name) ((hsa_status_t)HSA_EXT_STATUS_ERROR_##name)

enum { COUNT = 1000, THREADS = 16, HEADER = 104 };

static const char *modules;
static hsa_isa_t isa;
static hsa_queue_t *queue;
static hsa_ext_finalizer_1_00_pfn_t table;

static hsa_ext_module_t read_module(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.brig", modules, name);
    size_t size;
    return read_file(path, &size);
}

static hsa_ext_program_t new_program(hsa_machine_model_t model)
{
    hsa_ext_program_t program = { 0 };
    NEED_OK(hsa_ext_program_create(model, HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &program));
    NEED(program.handle != 0);
    return program;
}

static hsa_status_t finalize_with(hsa_ext_program_t program, hsa_ext_control_directives_t directives,
                                  hsa_code_object_t *object)
{
    return hsa_ext_program_finalize(program, isa, HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO, directives, NULL,
                                    HSA_CODE_OBJECT_TYPE_PROGRAM, object);
}

static hsa_status_t finalize(hsa_ext_program_t program, hsa_code_object_t *object)
{
    return finalize_with(program, (hsa_ext_control_directives_t){ 0 }, object);
}

/* The code object of a program of some modules, up to NULL. */
static hsa_code_object_t code_of(const char *const *names)
{
    hsa_ext_program_t program = new_program(HSA_MACHINE_MODEL_LARGE);
    hsa_ext_module_t added[8] = { 0 };
    for (int i = 0; names[i]; i++) {
        added[i] = read_module(names[i]);
        NEED_OK(hsa_ext_program_add_module(program, added[i]));
    }
    hsa_code_object_t object = { 0 };
    NEED_OK(finalize(program, &object));
    NEED(object.handle != 0);
    /* What was made stays when what it was made of goes. */
    CHECK_OK(hsa_ext_program_destroy(program));
    for (int i = 0; names[i]; i++)
        free(added[i]);
    return object;
}

static hsa_executable_t new_executable(void)
{
    hsa_executable_t executable = { 0 };
    NEED_OK(hsa_executable_create(HSA_PROFILE_FULL, HSA_EXECUTABLE_STATE_UNFROZEN, NULL, &executable));
    return executable;
}

static hsa_executable_t loaded(hsa_code_object_t object)
{
    hsa_executable_t executable = new_executable();
    NEED_OK(hsa_executable_load_code_object(executable, gpu->handle, object, NULL));
    NEED_OK(hsa_executable_freeze(executable, NULL));
    return executable;
}

static struct kernel kernel_of(hsa_executable_t executable, const char *module, const char *name)
{
    hsa_executable_symbol_t symbol = { 0 };
    NEED_OK(hsa_executable_get_symbol(executable, module, name, gpu->handle, HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO, &symbol));
    struct kernel kernel = { 0 };
    NEED_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object));
    NEED_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
                                           &kernel.kernarg_size));
    NEED_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_size));
    NEED_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                                           &kernel.private_size));
    return kernel;
}

/* Runs a kernel; the arguments are copied as they are, for HSAIL has no hidden ones. */
static void run(const struct kernel *kernel, const void *arguments, size_t size, uint32_t grid, uint16_t group)
{
    NEED(size <= kernel->kernarg_size && kernel->kernarg_size % 16 == 0);
    void *kernarg = pool_alloc(cpu->kernarg, kernel->kernarg_size ? kernel->kernarg_size : 16);
    memcpy(kernarg, arguments, size);
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(kernel, kernarg, grid, group, done);
    submit(queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(kernarg));
}

/* ---- what code computes ---- */

static void check_vector(const struct kernel *kernel)
{
    uint32_t *in = shared_alloc(COUNT * sizeof *in), *out = shared_alloc((COUNT + 24) * sizeof *out);
    for (uint32_t i = 0; i < COUNT; i++)
        in[i] = i * 2654435761u;
    struct {
        void *a, *b;
        uint32_t n;
    } arguments = { in, out, COUNT };
    run(kernel, &arguments, sizeof arguments, COUNT + 24, 64);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < COUNT + 24; i++)
        wrong += out[i] != (i < COUNT ? 2 * in[i] + COUNT : 0);
    CHECK(wrong == 0, "%u of %d are wrong", wrong, COUNT);
    CHECK_OK(hsa_amd_memory_pool_free(in));
    CHECK_OK(hsa_amd_memory_pool_free(out));
}

static uint32_t one_word(const struct kernel *kernel)
{
    uint32_t *out = shared_alloc(sizeof *out);
    run(kernel, &out, sizeof out, 1, 1);
    uint32_t word = *out;
    CHECK_OK(hsa_amd_memory_pool_free(out));
    return word;
}

static void vectors(void)
{
    hsa_code_object_t object = code_of((const char *[]){ "vector", NULL });
    hsa_executable_t executable = loaded(object);
    struct kernel vector = kernel_of(executable, NULL, "&vector");
    CHECK(vector.kernarg_size == 32, "%u", vector.kernarg_size);
    check_vector(&vector);

    struct kernel with_suffix = kernel_of(executable, NULL, "&vector.kd");
    CHECK(with_suffix.object == vector.object, "%#lx and %#lx", (long)with_suffix.object, (long)vector.object);
    hsa_executable_symbol_t symbol;
    CHECK_STATUS(hsa_executable_get_symbol(executable, NULL, "vector", gpu->handle, 0, &symbol),
                 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);

    /* Of module linkage: found through its module only. */
    CHECK_STATUS(hsa_executable_get_symbol(executable, NULL, "&own", gpu->handle, 0, &symbol),
                 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    struct kernel own = kernel_of(executable, "&vectors", "&own");
    CHECK(one_word(&own) == 7, "%u", one_word(&own));
    NEED_OK(hsa_executable_get_symbol_by_name(executable, "&vectors::&own", &gpu->handle, &symbol));
    hsa_symbol_linkage_t linkage = 99;
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE, &linkage));
    CHECK(linkage == HSA_SYMBOL_LINKAGE_MODULE, "%d", linkage);
    char module[16] = "";
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME, module));
    CHECK(strncmp(module, "&vectors", 8) == 0, "%s", module);

    struct kernel aligned = kernel_of(executable, NULL, "&aligned");
    struct {
        uint8_t bytes[8];
        uint32_t *out;
    } arguments = { { 1, 2, 3, 4, 250 }, shared_alloc(4) };
    CHECK(aligned.kernarg_size == 16, "%u", aligned.kernarg_size);
    run(&aligned, &arguments, sizeof arguments, 1, 1);
    CHECK(*arguments.out == 250, "%u", *arguments.out);
    CHECK_OK(hsa_amd_memory_pool_free(arguments.out));

    CHECK_OK(hsa_executable_destroy(executable));
    CHECK_OK(hsa_code_object_destroy(object));
}

static void groups(void)
{
    hsa_code_object_t object = code_of((const char *[]){ "group", NULL });
    hsa_executable_t executable = loaded(object);
    struct kernel mirror = kernel_of(executable, NULL, "&mirror");
    CHECK(mirror.group_size >= 256, "%u", mirror.group_size);
    enum { GROUPS = 20, SIZE = GROUPS * 64 };
    uint32_t *in = shared_alloc(SIZE * 4), *out = shared_alloc(SIZE * 4), *count = shared_alloc(4);
    for (uint32_t i = 0; i < SIZE; i++)
        in[i] = i * i;
    void *arguments[] = { in, out, count };
    run(&mirror, arguments, sizeof arguments, SIZE, 64);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < SIZE; i++)
        wrong += out[i] != in[i / 64 * 64 + 63 - i % 64];
    CHECK(wrong == 0, "%u of %d are wrong", wrong, SIZE);
    CHECK(*count == GROUPS, "%u", *count);
    CHECK_OK(hsa_amd_memory_pool_free(in));
    CHECK_OK(hsa_amd_memory_pool_free(out));
    CHECK_OK(hsa_amd_memory_pool_free(count));
    CHECK_OK(hsa_executable_destroy(executable));
    CHECK_OK(hsa_code_object_destroy(object));
}

/* Two modules that need each other, in either order, and variables that the program defines. */
static void linked(void)
{
    for (int order = 0; order < 2; order++) {
        const char *names[] = { order ? "square" : "main", order ? "main" : "square", NULL };
        hsa_code_object_t object = code_of(names);
        hsa_executable_t executable = new_executable();
        CHECK_STATUS(hsa_executable_load_code_object(executable, gpu->handle, object, NULL),
                     HSA_STATUS_ERROR_VARIABLE_UNDEFINED);
        uint32_t *given = shared_alloc(4), *fixed = shared_alloc(4);
        *given = 9;
        *fixed = 1000;
        CHECK_OK(hsa_executable_global_variable_define(executable, "&given", given));
        CHECK_OK(hsa_executable_readonly_variable_define(executable, gpu->handle, "&fixed", fixed));
        NEED_OK(hsa_executable_load_code_object(executable, gpu->handle, object, NULL));
        NEED_OK(hsa_executable_freeze(executable, NULL));
        struct kernel sum = kernel_of(executable, NULL, "&sum");
        CHECK(one_word(&sum) == 81 + 1000 + 5, "%u", one_word(&sum));
        *given = 3;
        CHECK(one_word(&sum) == 9 + 1000 + 5, "%u", one_word(&sum));
        struct kernel own = kernel_of(executable, "&squares", "&own");
        CHECK(one_word(&own) == 8, "%u", one_word(&own));
        hsa_executable_symbol_t kept;
        NEED_OK(hsa_executable_get_symbol(executable, NULL, "&kept", gpu->handle, 0, &kept));
        uint32_t size = 0;
        CHECK_OK(hsa_executable_symbol_get_info(kept, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &size));
        CHECK(size == 4, "%u", size);
        CHECK_OK(hsa_executable_destroy(executable));
        CHECK_OK(hsa_code_object_destroy(object));
        CHECK_OK(hsa_amd_memory_pool_free(given));
        CHECK_OK(hsa_amd_memory_pool_free(fixed));
    }
}

/* ---- the code object ---- */

static hsa_status_t count_symbol(hsa_code_object_t object, hsa_code_symbol_t symbol, void *data)
{
    (void)object;
    (void)symbol;
    ++*(int *)data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t allocate(size_t size, hsa_callback_data_t data, void **address)
{
    (void)data;
    *address = malloc(size);
    return *address ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void code_objects(void)
{
    hsa_code_object_t object = code_of((const char *[]){ "vector", NULL });
    hsa_isa_t of = { 0 };
    CHECK_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_ISA, &of));
    bool fits = false;
    CHECK_OK(hsa_isa_compatible(of, isa, &fits));
    CHECK(fits, "the code object is not for the instruction set it was made for");
    hsa_profile_t profile = 99;
    CHECK_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_PROFILE, &profile));
    CHECK(profile == HSA_PROFILE_FULL, "%d", profile);
    hsa_machine_model_t model = 99;
    CHECK_OK(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_MACHINE_MODEL, &model));
    CHECK(model == HSA_MACHINE_MODEL_LARGE, "%d", model);

    hsa_code_symbol_t symbol = { 0 };
    NEED_OK(hsa_code_object_get_symbol(object, "&aligned", &symbol));
    hsa_symbol_kind_t kind = 99;
    uint32_t align = 0, length = 0;
    CHECK_OK(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_TYPE, &kind));
    CHECK_OK(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT, &align));
    CHECK_OK(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_NAME_LENGTH, &length));
    CHECK(kind == HSA_SYMBOL_KIND_KERNEL && align == 64 && length == 8, "%d %u %u", kind, align, length);
    CHECK_OK(hsa_code_object_get_symbol_from_name(object, "&vectors", "&own", &symbol));
    CHECK_OK(hsa_code_object_get_symbol(object, "&vectors::&own", &symbol));
    CHECK_STATUS(hsa_code_object_get_symbol(object, "&nowhere", &symbol), HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    int count = 0;
    CHECK_OK(hsa_code_object_iterate_symbols(object, count_symbol, &count));
    CHECK(count == 3, "%d", count);

    void *bytes = NULL;
    size_t size = 0;
    CHECK_OK(hsa_code_object_serialize(object, allocate, (hsa_callback_data_t){ 0 }, NULL, &bytes, &size));
    CHECK_OK(hsa_code_object_destroy(object));
    NEED_OK(hsa_code_object_deserialize(bytes, size, NULL, &object));
    free(bytes);
    hsa_executable_t executable = loaded(object);
    struct kernel vector = kernel_of(executable, NULL, "&vector");
    check_vector(&vector);
    CHECK_OK(hsa_executable_destroy(executable));
    CHECK_OK(hsa_code_object_destroy(object));
}

/* ---- indirect functions ---- */

static hsa_executable_symbol_t symbol_of(hsa_executable_t executable, const char *module, const char *name)
{
    hsa_executable_symbol_t symbol = { 0 };
    NEED_OK(hsa_executable_get_symbol(executable, module, name, gpu->handle, 0, &symbol));
    return symbol;
}

static uint64_t address_of_function(hsa_executable_symbol_t symbol, hsa_symbol_linkage_t expected)
{
    hsa_symbol_kind_t kind = 99;
    hsa_symbol_linkage_t linkage = 99;
    bool defined = false;
    uint32_t convention = 99;
    uint64_t address = 0;
    hsa_agent_t agent = { 0 };
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE, &linkage));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION, &defined));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_AGENT, &agent));
    CHECK_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION, &convention));
    NEED_OK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT, &address));
    CHECK(kind == HSA_SYMBOL_KIND_INDIRECT_FUNCTION && linkage == expected && defined && convention == 0, "%d %d %d %u",
          kind, linkage, defined, convention);
    CHECK(agent.handle == gpu->handle.handle && address != 0 && address % 4 == 0, "%#lx", (long)address);
    uint64_t other;
    CHECK_STATUS(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &other),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, &other),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE, &other),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION, &other),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    return address;
}

static hsa_status_t count_kind(hsa_code_object_t object, hsa_code_symbol_t symbol, void *data)
{
    (void)object;
    hsa_symbol_kind_t kind = 99;
    uint32_t convention = 99;
    CHECK_OK(hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_TYPE, &kind));
    hsa_status_t status = hsa_code_symbol_get_info(symbol, HSA_CODE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION, &convention);
    if (kind == HSA_SYMBOL_KIND_INDIRECT_FUNCTION)
        CHECK(status == HSA_STATUS_SUCCESS && convention == 0, "%#x %u", status, convention);
    else
        CHECK(status == HSA_STATUS_ERROR_INVALID_ARGUMENT, "%#x", status);
    NEED(kind <= HSA_SYMBOL_KIND_INDIRECT_FUNCTION);
    ((int *)data)[kind]++;
    return HSA_STATUS_SUCCESS;
}

static void indirect_functions(void)
{
    hsa_code_object_t object = code_of((const char *[]){ "indirect", NULL });
    int kinds[3] = { 0 };
    CHECK_OK(hsa_code_object_iterate_symbols(object, count_kind, kinds));
    CHECK(kinds[HSA_SYMBOL_KIND_VARIABLE] == 0 && kinds[HSA_SYMBOL_KIND_KERNEL] == 1 &&
              kinds[HSA_SYMBOL_KIND_INDIRECT_FUNCTION] == 2,
          "%d %d %d", kinds[0], kinds[1], kinds[2]);
    hsa_executable_t executable = loaded(object);
    uint64_t twice = address_of_function(symbol_of(executable, NULL, "&double"), HSA_SYMBOL_LINKAGE_PROGRAM);
    uint64_t number = address_of_function(symbol_of(executable, "&indirect", "&number"), HSA_SYMBOL_LINKAGE_MODULE);
    CHECK(twice != number, "both are at %#lx", (long)twice);
    hsa_executable_symbol_t none;
    CHECK_STATUS(hsa_executable_get_symbol(executable, NULL, "&direct", gpu->handle, 0, &none),
                 HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    struct kernel pick = kernel_of(executable, NULL, "&pick");
    uint32_t *out = shared_alloc(COUNT * sizeof *out);
    for (uint32_t named = 0; named < 2; named++) {
        struct {
            uint64_t even, odd;
            uint32_t *out;
            uint32_t named;
        } arguments = { twice, number, out, named };
        run(&pick, &arguments, sizeof arguments, COUNT, 64);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < COUNT; i++)
            wrong += out[i] != (i % 2 == 0 ? 2 * i : named ? 7 : 1001 * i);
        CHECK(wrong == 0, "%u of %d are wrong", wrong, COUNT);
    }
    CHECK_OK(hsa_amd_memory_pool_free(out));
    CHECK_OK(hsa_executable_destroy(executable));
    CHECK_OK(hsa_code_object_destroy(object));
}

/* ---- programs ---- */

struct seen {
    hsa_ext_program_t program;
    hsa_ext_module_t modules[4];
    int count;
    hsa_status_t answer;
};

static hsa_status_t see(hsa_ext_program_t program, hsa_ext_module_t module, void *data)
{
    struct seen *seen = data;
    CHECK(program.handle == seen->program.handle, "another program");
    if (seen->count < 4)
        seen->modules[seen->count] = module;
    seen->count++;
    return seen->answer;
}

static void programs(void)
{
    hsa_ext_program_t program = { 0 };
    for (int model = -1; model < 3; model++)
        for (int profile = -1; profile < 3; profile++)
            for (int rounding = -1; rounding < 4; rounding++) {
                bool good = model >= 0 && model < 2 && profile >= 0 && profile < 2 && rounding >= 0 && rounding < 3;
                hsa_status_t status = hsa_ext_program_create(model, profile, rounding, "", &program);
                CHECK(status == (good ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT), "%d %d %d: %#x", model,
                      profile, rounding, status);
                if (!good)
                    continue;
                int got[3] = { 99, 99, 99 };
                for (int attribute = 0; attribute < 3; attribute++)
                    CHECK_OK(hsa_ext_program_get_info(program, attribute, &got[attribute]));
                CHECK(got[0] == model && got[1] == profile && got[2] == rounding, "%d %d %d", got[0], got[1], got[2]);
                CHECK_OK(hsa_ext_program_destroy(program));
            }
    CHECK_STATUS(hsa_ext_program_create(1, 0, 0, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    /* No program, whatever the handle. */
    hsa_code_object_t object;
    char value[16];
    for (int i = 0; i < 3; i++) {
        hsa_ext_program_t wrong = i == 2 ? program : (hsa_ext_program_t){ i ? UINT64_MAX : 0 };
        CHECK_STATUS(hsa_ext_program_destroy(wrong), EXT(INVALID_PROGRAM));
        CHECK_STATUS(hsa_ext_program_add_module(wrong, NULL), EXT(INVALID_PROGRAM));
        CHECK_STATUS(hsa_ext_program_iterate_modules(wrong, NULL, NULL), EXT(INVALID_PROGRAM));
        CHECK_STATUS(hsa_ext_program_get_info(wrong, 0, value), EXT(INVALID_PROGRAM));
        CHECK_STATUS(finalize(wrong, &object), EXT(INVALID_PROGRAM));
    }

    program = new_program(HSA_MACHINE_MODEL_LARGE);
    CHECK_STATUS(hsa_ext_program_get_info(program, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_program_get_info(program, 3, value), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_program_iterate_modules(program, NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    hsa_ext_module_t vector = read_module("vector"), square = read_module("square");
    CHECK_OK(hsa_ext_program_add_module(program, vector));
    CHECK_STATUS(hsa_ext_program_add_module(program, vector), EXT(MODULE_ALREADY_INCLUDED));
    CHECK_OK(hsa_ext_program_add_module(program, square));
    struct seen seen = { .program = program };
    CHECK_OK(hsa_ext_program_iterate_modules(program, see, &seen));
    CHECK(seen.count == 2 && seen.modules[0] == vector && seen.modules[1] == square, "%d modules", seen.count);
    seen = (struct seen){ .program = program, .answer = HSA_STATUS_INFO_BREAK };
    CHECK_STATUS(hsa_ext_program_iterate_modules(program, see, &seen), HSA_STATUS_INFO_BREAK);
    CHECK(seen.count == 1, "%d", seen.count);

    /* The same contents once more, elsewhere: everything in it is defined twice. */
    hsa_ext_module_t again = read_module("square");
    CHECK_STATUS(hsa_ext_program_add_module(program, again), EXT(SYMBOL_MISMATCH));
    hsa_ext_module_t small = read_module("small");
    CHECK_STATUS(hsa_ext_program_add_module(program, small), EXT(INCOMPATIBLE_MODULE));
    seen = (struct seen){ .program = program };
    CHECK_OK(hsa_ext_program_iterate_modules(program, see, &seen));
    CHECK(seen.count == 2, "%d", seen.count);
    CHECK_OK(hsa_ext_program_destroy(program));
    CHECK_STATUS(hsa_ext_program_destroy(program), EXT(INVALID_PROGRAM));

    program = new_program(HSA_MACHINE_MODEL_SMALL);
    CHECK_OK(hsa_ext_program_add_module(program, small));
    CHECK_STATUS(finalize(program, &object), EXT(FINALIZATION_FAILED));
    CHECK_OK(hsa_ext_program_destroy(program));
    free(vector);
    free(square);
    free(again);
    free(small);
}

/* Nothing that a program hands over as a module may do more than be refused. */
static void bad_modules(void)
{
    hsa_ext_program_t program = new_program(HSA_MACHINE_MODEL_LARGE);
    static const uintptr_t nowhere[] = { 0, 1, 0x1000, UINTPTR_MAX - 200, UINTPTR_MAX / 2, 0xffff800000000000u };
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        CHECK_STATUS(hsa_ext_program_add_module(program, (hsa_ext_module_t)nowhere[i]), EXT(INVALID_MODULE));
    char path[1024];
    snprintf(path, sizeof path, "%s/vector.brig", modules);
    size_t size;
    unsigned char *good = read_file(path, &size);
    unsigned char *bad = malloc(size);
    NEED(bad != NULL);
    /* Lengths that reach out of the memory, and other words of the header. */
    static const uint64_t words[] = { 0, 1, 16, 4096, UINT32_MAX - 15, UINT64_MAX - 15, UINT64_MAX };
    for (size_t at = 0; at < HEADER; at += 8)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            memcpy(bad, good, size);
            memcpy(bad + at, &words[i], 8);
            /* The hash and the upper half of what is 0 may be anything. */
            bool same = (at >= 24 && at < 88) || memcmp(bad, good, HEADER) == 0;
            hsa_status_t status = hsa_ext_program_add_module(program, (hsa_ext_module_t)bad);
            CHECK(status == (same ? HSA_STATUS_SUCCESS : EXT(INVALID_MODULE)), "word %zu = %#lx: %#x", at,
                  (unsigned long)words[i], status);
            if (status == HSA_STATUS_SUCCESS) {
                CHECK_OK(hsa_ext_program_destroy(program));
                program = new_program(HSA_MACHINE_MODEL_LARGE);
            }
        }
    free(good);
    free(bad);
    CHECK_OK(hsa_ext_program_destroy(program));
}

static void bad_finalizations(void)
{
    hsa_ext_program_t program = new_program(HSA_MACHINE_MODEL_LARGE);
    hsa_ext_module_t main_module = read_module("main");
    CHECK_OK(hsa_ext_program_add_module(program, main_module));
    hsa_code_object_t object = { 0 };
    const hsa_ext_control_directives_t none = { 0 };
    CHECK_STATUS(hsa_ext_program_finalize(program, isa, 0, none, NULL, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (int convention = -2; convention < 2; convention += 3)
        CHECK_STATUS(hsa_ext_program_finalize(program, isa, convention, none, NULL, 0, &object),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(hsa_ext_program_finalize(program, isa, 0, none, NULL, 1, &object), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_STATUS(hsa_ext_program_finalize(program, (hsa_isa_t){ i == 2 ? UINT64_MAX : i }, 0, none, NULL, 0, &object),
                     HSA_STATUS_ERROR_INVALID_ISA);
    /* It calls what nobody defines. */
    CHECK_STATUS(finalize(program, &object), EXT(FINALIZATION_FAILED));
    CHECK(object.handle == 0, "%#lx", (long)object.handle);
    /* Now somebody does. */
    hsa_ext_module_t square = read_module("square");
    CHECK_OK(hsa_ext_program_add_module(program, square));
    CHECK_OK(finalize(program, &object));
    CHECK_OK(hsa_code_object_destroy(object));
    CHECK_OK(hsa_ext_program_finalize(program, isa, 0, none, "-O0", 0, &object));
    CHECK_OK(hsa_code_object_destroy(object));
    CHECK_OK(hsa_ext_program_destroy(program));
    free(main_module);
    free(square);
}

static void directives(void)
{
    hsa_ext_program_t program = new_program(HSA_MACHINE_MODEL_LARGE);
    hsa_ext_module_t module = read_module("directives");
    CHECK_OK(hsa_ext_program_add_module(program, module));
    hsa_code_object_t object;
    const hsa_ext_control_directives_t none = { 0 };
#define EXPECT(field, status)                                                                   \
    do {                                                                                        \
        hsa_ext_control_directives_t given = none;                                              \
        given.field;                                                                            \
        hsa_status_t got = finalize_with(program, given, &object);                              \
        CHECK(got == (status), #field ": %#x", got);                                            \
        if (got == HSA_STATUS_SUCCESS)                                                          \
            CHECK_OK(hsa_code_object_destroy(object));                                          \
    } while (0)
    EXPECT(required_dim = 0, HSA_STATUS_SUCCESS);
    EXPECT(max_dynamic_group_size = 4096, HSA_STATUS_SUCCESS);
    EXPECT(max_dynamic_group_size = 8192, EXT(DIRECTIVE_MISMATCH));
    EXPECT(max_flat_grid_size = 1000, HSA_STATUS_SUCCESS);
    EXPECT(max_flat_grid_size = 500, HSA_STATUS_SUCCESS);
    EXPECT(max_flat_grid_size = 1001, EXT(DIRECTIVE_MISMATCH));
    EXPECT(max_flat_workgroup_size = 100, HSA_STATUS_SUCCESS);
    EXPECT(max_flat_workgroup_size = 101, EXT(DIRECTIVE_MISMATCH));
    EXPECT(required_dim = 3, HSA_STATUS_SUCCESS);
    EXPECT(required_dim = 2, EXT(DIRECTIVE_MISMATCH));
    EXPECT(required_dim = 4, EXT(DIRECTIVE_MISMATCH));
    EXPECT(required_grid_size[0] = 10, EXT(DIRECTIVE_MISMATCH));
    EXPECT(required_workgroup_size.x = 5, EXT(DIRECTIVE_MISMATCH));
    hsa_ext_control_directives_t given = none;
    given.control_directives_mask = 1 << 7 | 1 << 8;
    for (int i = 0; i < 3; i++)
        given.required_grid_size[i] = 10;
    given.required_workgroup_size = (hsa_dim3_t){ 5, 5, 4 };
    CHECK_OK(finalize_with(program, given, &object));
    CHECK_OK(hsa_code_object_destroy(object));
    given.required_workgroup_size.z = 5;
    CHECK_STATUS(finalize_with(program, given, &object), EXT(DIRECTIVE_MISMATCH));
    CHECK_OK(hsa_ext_program_destroy(program));
    free(module);
}

/* ---- the extension ---- */

static void announced(void)
{
    uint8_t mask[128] = { 0 };
    bool supported = false;
    uint16_t minor = 99;
    CHECK_OK(hsa_system_get_info(HSA_SYSTEM_INFO_EXTENSIONS, mask));
    CHECK(mask[0] & 1 << HSA_EXTENSION_FINALIZER, "%#x", mask[0]);
    CHECK_OK(hsa_system_major_extension_supported(HSA_EXTENSION_FINALIZER, 1, &minor, &supported));
    CHECK(supported && minor == 0, "%d %u", supported, minor);
    CHECK_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_EXTENSIONS, mask));
    CHECK(mask[0] & 1 << HSA_EXTENSION_FINALIZER, "%#x", mask[0]);
    CHECK_OK(hsa_agent_get_info(cpu->handle, HSA_AGENT_INFO_EXTENSIONS, mask));
    CHECK(!(mask[0] & 1 << HSA_EXTENSION_FINALIZER), "%#x", mask[0]);
    NEED_OK(hsa_system_get_major_extension_table(HSA_EXTENSION_FINALIZER, 1, sizeof table, &table));
    hsa_ext_program_t program = { 0 };
    CHECK_OK(table.hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_BASE, 0, NULL, &program));
    hsa_profile_t profile = 99;
    CHECK_OK(hsa_ext_program_get_info(program, HSA_EXT_PROGRAM_INFO_PROFILE, &profile));
    CHECK(profile == HSA_PROFILE_BASE, "%d", profile);
    CHECK_OK(table.hsa_ext_program_destroy(program));
}

static void *finalize_often(void *data)
{
    hsa_ext_program_t program = *(hsa_ext_program_t *)data;
    for (int i = 0; i < 8; i++) {
        hsa_code_object_t object = { 0 };
        if (!CHECK_OK(table.hsa_ext_program_finalize(program, isa, -1, (hsa_ext_control_directives_t){ 0 }, NULL, 0, &object)))
            continue;
        hsa_executable_t executable = loaded(object);
        struct kernel vector = kernel_of(executable, NULL, "&vector");
        CHECK(vector.object != 0, "no kernel");
        CHECK_OK(hsa_executable_destroy(executable));
        CHECK_OK(hsa_code_object_destroy(object));
    }
    return NULL;
}

static void at_once(void)
{
    hsa_ext_program_t program = new_program(HSA_MACHINE_MODEL_LARGE);
    hsa_ext_module_t module = read_module("vector");
    CHECK_OK(hsa_ext_program_add_module(program, module));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&threads[i], NULL, finalize_often, &program) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_OK(hsa_ext_program_destroy(program));
    free(module);
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    modules = argv[1];
    hsa_ext_program_t program = { 0 };
    CHECK_STATUS(hsa_ext_program_create(1, 1, 0, NULL, &program), HSA_STATUS_ERROR_NOT_INITIALIZED);
    NEED_OK(hsa_init());
    find_agents();
    NEED_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_ISA, &isa));
    queue = new_queue(gpu->handle, 64);
    announced();
    programs();
    bad_modules();
    bad_finalizations();
    directives();
    vectors();
    groups();
    linked();
    code_objects();
    indirect_functions();
    at_once();
    program = new_program(HSA_MACHINE_MODEL_LARGE);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    CHECK_STATUS(hsa_ext_program_destroy(program), HSA_STATUS_ERROR_NOT_INITIALIZED);
    CHECK_STATUS(table.hsa_ext_program_destroy(program), HSA_STATUS_ERROR_NOT_INITIALIZED);
    NEED_OK(hsa_init());
    CHECK_STATUS(hsa_ext_program_destroy(program), EXT(INVALID_PROGRAM));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
