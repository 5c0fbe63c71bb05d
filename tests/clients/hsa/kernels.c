/* Runs every kernel of tests/kernels, without optimisation, with some and with all, and compares all of its memory with
 * what the same source computed on the host. Without optimisation the buffers lie in host memory, with all of it in the
 * memory of the GPU, with some in the one or the other. Use: kernels KERNELS [CASE...]; linked with host_kernels.o. */
#include "machine.h"

#include "cases.h"
#include "host_run.h"

#include <math.h>

enum { GUARD = 256 }; /* bytes behind every buffer that nobody may touch */

/* ---- data ---- */

static uint64_t random_state;

static uint32_t random_u32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(random_state >> 32);
    x ^= x >> 15;
    return x * 2246822519u;
}

static double random_between(double low, double high)
{
    return low + (high - low) * ((double)random_u32() + 0.5) / 4294967296.0;
}

/* Bit patterns in which the interesting ones are frequent; no signalling NaNs, which operations may or may not quiet. */
static uint32_t any_float(void)
{
    static const uint32_t special[] = { 0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                                        0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x3effffff, 0x3f000000, 0x4b000000,
                                        0x4affffff, 0xcb7fffff };
    uint32_t bits = random_u32();
    if (bits % 8 == 0)
        return special[random_u32() % (sizeof special / sizeof *special)];
    if (bits % 8 == 1)
        bits = (bits & 0x807fffff) | (100 + random_u32() % 60) << 23; /* magnitudes around 1 */
    return (bits & 0x7f800000) == 0x7f800000 ? bits | 0x00400000 : bits;
}

static uint64_t any_double(void)
{
    static const uint64_t special[] = { 0, 0x8000000000000000, 1, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
                                        0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x3ff0000000000000,
                                        0xbfe0000000000000, 0x4330000000000000, 0xc32fffffffffffff };
    uint64_t bits = (uint64_t)random_u32() << 32 | random_u32();
    if (bits % 8 == 0)
        return special[random_u32() % (sizeof special / sizeof *special)];
    if (bits % 8 == 1)
        bits = (bits & 0x800fffffffffffff) | (uint64_t)(980 + random_u32() % 90) << 52;
    return (bits & 0x7ff0000000000000) == 0x7ff0000000000000 ? bits | 0x0008000000000000 : bits;
}

static size_t element_size(enum type type)
{
    switch (type) {
    case U8: return 1;
    case U16: case F16: return 2;
    case U32: case F32: return 4;
    case U64: case F64: return 8;
    }
    abort();
}

static void fill_element(const struct argument *a, void *at)
{
    uint64_t bits = 0;
    switch (a->fill) {
    case ZERO: break;
    case ONES: bits = UINT64_MAX; break;
    case ANY:
        bits = a->type == F32 ? any_float() : a->type == F64 ? any_double() : (uint64_t)random_u32() << 32 | random_u32();
        break;
    case BETWEEN:
    case WHOLE: {
        double value = random_between(a->low, a->high);
        if (a->fill == WHOLE)
            value = floor(value);
        if (a->type == F64) {
            memcpy(&bits, &value, 8);
        } else if (a->type == F32) {
            float single = (float)value;
            memcpy(&bits, &single, 4);
        } else if (a->type == F16) {
            _Float16 half = (_Float16)value;
            memcpy(&bits, &half, 2);
        } else {
            bits = (uint64_t)(int64_t)floor(value);
        }
    }
    }
    memcpy(at, &bits, element_size(a->type));
}

/* ---- comparison ---- */

/* The place of a float on a scale on which neighbours differ by 1, and the way from one place to another. */
static int64_t place32(float x)
{
    int32_t bits;
    memcpy(&bits, &x, 4);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static int64_t place64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, 8);
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static uint64_t distance(int64_t a, int64_t b) { return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a; }

static bool is_nan16(uint16_t bits) { return (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0; }

/* Equal, or both NaN, or nearer than the tolerance in units of the last place; -0 and 0 are equal with a tolerance. */
static bool same(const struct argument *a, const void *got, const void *want)
{
    if (memcmp(got, want, element_size(a->type)) == 0)
        return true;
    if (a->type == F32) {
        float g, w;
        memcpy(&g, got, 4);
        memcpy(&w, want, 4);
        return (isnan(g) && isnan(w)) || (!isnan(g) && !isnan(w) && distance(place32(g), place32(w)) <= a->tolerance);
    }
    if (a->type == F64) {
        double g, w;
        memcpy(&g, got, 8);
        memcpy(&w, want, 8);
        return (isnan(g) && isnan(w)) || (!isnan(g) && !isnan(w) && distance(place64(g), place64(w)) <= a->tolerance);
    }
    if (a->type == F16) {
        uint16_t g, w;
        memcpy(&g, got, 2);
        memcpy(&w, want, 2);
        return is_nan16(g) && is_nan16(w);
    }
    return false;
}

static const char *show(enum type type, const void *at, char text[64])
{
    uint64_t bits = 0;
    memcpy(&bits, at, element_size(type));
    double value = 0;
    if (type == F32) {
        float single;
        memcpy(&single, at, 4);
        value = (double)single;
    } else if (type == F64) {
        memcpy(&value, at, 8);
    } else if (type == F16) {
        _Float16 half;
        memcpy(&half, at, 2);
        value = (double)half;
    } else {
        snprintf(text, 64, "%#lx", (unsigned long)bits);
        return text;
    }
    snprintf(text, 64, "%.17g (%#lx)", value, (unsigned long)bits);
    return text;
}

/* ---- one case ---- */

struct buffer {
    unsigned char *host;   /* what the host's run works on, and the expected values after it */
    unsigned char *shared; /* the GPU's copy where the host can see it */
    void *device;          /* where the kernel finds it */
    size_t size, padded;
};

static bool is_buffer(const struct argument *a) { return a->role == IN || a->role == OUT || a->role == BOTH; }

static void copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size)
{
    hsa_signal_t done = new_signal(1);
    NEED_OK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, 0, NULL, done));
    NEED(wait_zero(done, WAIT_LIMIT));
    NEED_OK(hsa_signal_destroy(done));
}

static struct buffer make_buffer(const struct argument *a, bool vram)
{
    struct buffer b = { .size = a->count * element_size(a->type) };
    b.padded = b.size + GUARD;
    b.host = malloc(b.padded);
    NEED(b.host != NULL);
    for (size_t i = 0; i < a->count; i++)
        fill_element(a, b.host + i * element_size(a->type));
    memset(b.host + b.size, 0xa5, GUARD);
    b.shared = pool_alloc(cpu->fine, b.padded);
    memcpy(b.shared, b.host, b.padded);
    b.device = b.shared;
    if (vram) {
        NEED_OK(hsa_amd_memory_pool_allocate(gpu->coarse, b.padded, 0, &b.device));
        copy(b.device, gpu->handle, b.shared, cpu->handle, b.padded);
        memset(b.shared, 0x5a, b.padded);
    }
    return b;
}

static void free_buffer(struct buffer *b)
{
    if (b->device != b->shared)
        NEED_OK(hsa_amd_memory_pool_free(b->device));
    NEED_OK(hsa_amd_memory_pool_free(b->shared));
    free(b->host);
}

/* True when the buffer holds what the host computed; otherwise `why` tells the first difference. */
static bool compare(const struct argument *a, const struct buffer *b, int index, char *why, size_t room)
{
    size_t size = element_size(a->type), wrong = 0, first = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!same(a, b->shared + i * size, b->host + i * size) && wrong++ == 0)
            first = i;
    char got[64], want[64];
    if (wrong != 0)
        snprintf(why, room, "argument %d: %zu of %zu elements differ, the first is [%zu] = %s instead of %s", index, wrong,
                 a->count, first, show(a->type, b->shared + first * size, got), show(a->type, b->host + first * size, want));
    else if (memcmp(b->shared + b->size, b->host + b->size, GUARD) != 0)
        snprintf(why, room, "argument %d: bytes behind the end of the buffer have changed", index);
    else
        return true;
    return false;
}

static size_t align_up(size_t value, size_t alignment) { return (value + alignment - 1) / alignment * alignment; }

/* Version 5 of the code object passes the shape of the grid behind the arguments, where version 4 has offsets of the
 * grid, which are 0 here. */
static void hidden_arguments_v5(unsigned char *at, const struct host_grid *grid)
{
    for (unsigned d = 0; d < 3; d++) {
        uint32_t blocks = (uint32_t)(grid->grid[d] / grid->group[d]);
        uint16_t size = (uint16_t)grid->group[d], rest = (uint16_t)(grid->grid[d] % grid->group[d]);
        memcpy(at + 4 * d, &blocks, 4);
        memcpy(at + 12 + 2 * d, &size, 2);
        memcpy(at + 18 + 2 * d, &rest, 2);
    }
    uint16_t dims = (uint16_t)grid->dims;
    memcpy(at + 64, &dims, 2);
}

/* The error of a queue, 0 while there is none. */
static atomic_int queue_error;

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    (void)queue;
    (void)data;
    atomic_store(&queue_error, (int)status);
}

static hsa_queue_t *queue;

static void start_queue(void)
{
    atomic_store(&queue_error, 0);
    NEED_OK(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, on_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
}

/* Waits for the end of the dispatches; false when the queue stopped instead. */
static bool wait_end(hsa_signal_t done)
{
    uint64_t slice = ticks_per_second() / 50;
    for (double end = seconds() + WAIT_LIMIT; seconds() < end && atomic_load(&queue_error) == 0;)
        if (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, slice, HSA_WAIT_STATE_BLOCKED) == 0)
            return true;
    return false;
}

static bool run_on_gpu(const struct module *module, const struct test_case *test, const char *suffix,
                       const struct buffer *buffers, bool v5)
{
    hsa_signal_t done = new_signal(1);
    void *kernargs[MAX_RUNS] = { 0 };
    for (int run = 0; run < MAX_RUNS && test->run[run]; run++) {
        char symbol[128];
        snprintf(symbol, sizeof symbol, "%s%s", test->run[run], suffix);
        struct kernel kernel = find_kernel(module, gpu->handle, symbol);
        unsigned char *kernarg = kernargs[run] = pool_alloc(cpu->kernarg, align_up(kernel.kernarg_size + 1, 64));
        memset(kernarg, 0, kernel.kernarg_size);
        size_t at = 0;
        uint32_t group = (uint32_t)align_up(kernel.group_size, 16);
        for (int i = 0; i < MAX_ARGUMENTS && test->arguments[i].role != NONE; i++) {
            const struct argument *a = &test->arguments[i];
            size_t size = a->role == VALUE ? a->size : a->role == LOCAL ? 4 : 8;
            const void *from = a->role == VALUE ? a->value : a->role == LOCAL ? (const void *)&group
                                                                             : (const void *)&buffers[i].device;
            at = align_up(at, a->align ? a->align : size);
            NEED(at + size <= kernel.kernarg_size);
            memcpy(kernarg + at, from, size);
            at += size;
            if (a->role == LOCAL)
                group = (uint32_t)align_up(group + a->size, 16);
        }
        if (v5)
            hidden_arguments_v5(kernarg + align_up(at, 8), &test->grid);
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&kernel, kernarg, (uint32_t)test->grid.grid[0],
                                                              (uint16_t)test->grid.group[0], (hsa_signal_t){ 0 });
        packet.header = packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
        packet.setup = (uint16_t)(test->grid.dims << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
        packet.workgroup_size_y = (uint16_t)test->grid.group[1];
        packet.workgroup_size_z = (uint16_t)test->grid.group[2];
        packet.grid_size_y = (uint32_t)test->grid.grid[1];
        packet.grid_size_z = (uint32_t)test->grid.grid[2];
        packet.group_segment_size = group;
        if (packet.private_segment_size < test->stack)
            packet.private_segment_size = test->stack;
        if (run + 1 == MAX_RUNS || !test->run[run + 1])
            packet.completion_signal = done;
        submit(queue, &packet);
    }
    bool ended = wait_end(done);
    NEED_OK(hsa_signal_destroy(done));
    for (int run = 0; run < MAX_RUNS; run++)
        if (kernargs[run])
            NEED_OK(hsa_amd_memory_pool_free(kernargs[run]));
    return ended;
}

static void run_on_host(const struct test_case *test, const struct buffer *buffers)
{
    void *args[MAX_ARGUMENTS] = { 0 };
    for (int i = 0; i < MAX_ARGUMENTS && test->arguments[i].role != NONE; i++) {
        const struct argument *a = &test->arguments[i];
        args[i] = a->role == VALUE ? (void *)(uintptr_t)a->value : a->role == LOCAL ? calloc(1, a->size) : buffers[i].host;
        NEED(args[i] != NULL);
    }
    for (int run = 0; run < MAX_RUNS && test->run[run]; run++)
        NEED(host_run(test->run[run], &test->grid, args));
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        if (test->arguments[i].role == LOCAL)
            free(args[i]);
}

static void run_case(const char *root, const struct test_case *test, const char *level, bool vram)
{
    double start = seconds();
    bool v2 = strcmp(level, "V2") == 0, v5 = strcmp(level, "V5") == 0;
    struct module module = load_module(kernel_path(root, gpu, level, test->file), gpu->handle);
    random_state = 0x9e3779b97f4a7c15u;
    struct buffer buffers[MAX_ARGUMENTS] = { 0 };
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        if (is_buffer(&test->arguments[i]))
            buffers[i] = make_buffer(&test->arguments[i], vram);
    bool good = run_on_gpu(&module, test, v2 ? "" : ".kd", buffers, v5);
    double gpu_time = seconds() - start;
    char why[400] = "";
    if (good) {
        run_on_host(test, buffers);
    } else {
        int error = atomic_load(&queue_error);
        snprintf(why, sizeof why, "%s (%#x)", error ? status_text((hsa_status_t)error) : "the kernel does not end", error);
        NEED_OK(hsa_queue_destroy(queue));
        start_queue();
    }
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        if (is_buffer(&test->arguments[i])) {
            if (good && vram)
                copy(buffers[i].shared, cpu->handle, buffers[i].device, gpu->handle, buffers[i].padded);
            if (good)
                good = compare(&test->arguments[i], &buffers[i], i, why, sizeof why);
            free_buffer(&buffers[i]);
        }
    unload_module(&module);
    printf("%-8s %-3s %-24s %6.3f s\n", gpu->name, level, test->name, gpu_time);
    check_at(test->file, 0, good, test->name, "%s on %s: %s", level, gpu->name, why);
}

static bool wanted(const struct test_case *test, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], test->name) == 0)
            return true;
    return argc == 2;
}

int main(int argc, char **argv)
{
    NEED(argc >= 2);
    NEED_OK(hsa_init());
    find_agents();
    for (unsigned n = 0; n < agent_count; n++) {
        if (agents[n].type != HSA_DEVICE_TYPE_GPU)
            continue;
        gpu = &agents[n];
        NEED(gpu->coarse.handle != 0);
        start_queue();
        for (size_t i = 0; i < test_case_count; i++) {
            const struct test_case *test = &test_cases[i];
            if (!wanted(test, argc, argv))
                continue;
            run_case(argv[1], test, "O0", false);
            run_case(argv[1], test, "O1", i % 2 == 0);
            run_case(argv[1], test, "O3", true);
            /* The other versions of the code object, for the kernels that were built for them. */
            if (test->versions) {
                /* Version 2 is older than the chips with error correction, and has no word for it. */
                if (strcmp(gpu->name, "gfx900") == 0)
                    run_case(argv[1], test, "V2", false);
                run_case(argv[1], test, "V3", false);
                run_case(argv[1], test, "V5", false);
            }
        }
        NEED_OK(hsa_queue_destroy(queue));
    }
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
