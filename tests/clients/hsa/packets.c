/* Queues and packets: order, dependencies, several queues and several dispatches at once, the ring's end, completion
 * signals, time stamps, and a kernel that waits for the host while everything else goes on.
 * Use: packets KERNELS. */
#include "machine.h"

#include <pthread.h>

static struct kernel wait_flag, append, advance, add_one, busy, nothing;

enum { UNMET_MS = 60 }; /* how long something that must not happen is watched */

/* Memory for kernel arguments, handed out in pieces and never reused, so that packets in flight keep theirs. */
static char *kernarg_memory;
static atomic_size_t kernarg_used;
enum { KERNARG_BYTES = 4 << 20, KERNARG_PIECE = 128 };

static void *new_kernarg(const struct kernel *kernel, const void *arguments, size_t size)
{
    size_t at = atomic_fetch_add(&kernarg_used, KERNARG_PIECE);
    NEED(at + KERNARG_PIECE <= KERNARG_BYTES && kernel->kernarg_size <= KERNARG_PIECE && size <= kernel->kernarg_size);
    memset(kernarg_memory + at, 0, KERNARG_PIECE);
    memcpy(kernarg_memory + at, arguments, size);
    return kernarg_memory + at;
}

static uint64_t dispatch(hsa_queue_t *queue, const struct kernel *kernel, const void *arguments, size_t size, uint32_t grid,
                         bool barrier, hsa_signal_t done)
{
    hsa_kernel_dispatch_packet_t packet =
        dispatch_packet(kernel, new_kernarg(kernel, arguments, size), grid, grid < 64 ? (uint16_t)grid : 64, done);
    packet.header = packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, barrier);
    return submit(queue, &packet);
}

struct append_arguments {
    uint32_t *length, *log;
    uint32_t number;
};

static void dispatch_append(hsa_queue_t *queue, uint32_t *log, uint32_t number, bool barrier, hsa_signal_t done)
{
    struct append_arguments arguments = { log, log + 1, number };
    dispatch(queue, &append, &arguments, sizeof arguments, 1, barrier, done);
}

static void dispatch_add(hsa_queue_t *queue, uint32_t *value, hsa_signal_t done)
{
    dispatch(queue, &add_one, &value, sizeof value, 1, false, done);
}

struct wait_arguments {
    uint32_t *flag, *running, *out;
};

static bool wait_value(const uint32_t *value, uint32_t want, double limit)
{
    for (double end = seconds() + limit; seconds() < end; pause_ms(1))
        if (__atomic_load_n(value, __ATOMIC_ACQUIRE) == want)
            return true;
    return __atomic_load_n(value, __ATOMIC_ACQUIRE) == want;
}

static const hsa_signal_t none = { 0 };

/* ---- order ---- */

static void barrier_bit_keeps_order(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 256);
    uint32_t *value = shared_alloc(4096), want = 5;
    hsa_signal_t done = new_signal(1);
    *value = 5;
    for (int i = 0; i < 100; i++) {
        dispatch(queue, &advance, &value, sizeof value, 1, true, i == 99 ? done : none);
        want = want * 3 + 1;
    }
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(*value == want, "%u instead of %u", *value, want);

    uint32_t *log = shared_alloc(4096);
    hsa_signal_store_relaxed(done, 1);
    for (uint32_t i = 0; i < 100; i++)
        dispatch_append(queue, log, i, true, i == 99 ? done : none);
    NEED(wait_zero(done, WAIT_LIMIT));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 100; i++)
        wrong += log[1 + i] != i;
    CHECK(log[0] == 100 && wrong == 0, "%u entries, %u out of order", log[0], wrong);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
    CHECK_OK(hsa_amd_memory_pool_free(log));
}

static void without_barrier_bit_everything_runs_once(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 256);
    uint32_t *log = shared_alloc(4096), seen[100] = { 0 }, wrong = 0;
    hsa_signal_t done = new_signal(100);
    for (uint32_t i = 0; i < 100; i++)
        dispatch_append(queue, log, i, false, done);
    NEED(wait_zero(done, WAIT_LIMIT));
    for (uint32_t i = 0; i < 100 && log[0] == 100; i++)
        if (log[1 + i] >= 100 || seen[log[1 + i]]++)
            wrong++;
    CHECK(log[0] == 100 && wrong == 0, "%u entries, %u of them twice or unknown", log[0], wrong);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(log));
}

/* A queue is processed in the order of its slots: a packet behind one that is not valid yet has to wait. */
static void invalid_packet_holds_the_queue(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *log = shared_alloc(4096);
    hsa_signal_t first_done = new_signal(1), second_done = new_signal(1);
    struct append_arguments a = { log, log + 1, 1 }, b = { log, log + 1, 2 };
    hsa_kernel_dispatch_packet_t first = dispatch_packet(&append, new_kernarg(&append, &a, sizeof a), 1, 1, first_done);
    hsa_kernel_dispatch_packet_t second = dispatch_packet(&append, new_kernarg(&append, &b, sizeof b), 1, 1, second_done);
    second.header = packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, true);
    uint64_t first_index = write_packet(queue, &first), second_index = write_packet(queue, &second);
    publish_packet(queue, second_index, &second);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)second_index);
    pause_ms(UNMET_MS);
    CHECK(hsa_signal_load_relaxed(second_done) == 1 && log[0] == 0, "the second packet ran before the first was there");
    publish_packet(queue, first_index, &first);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)second_index);
    CHECK(wait_zero(second_done, WAIT_LIMIT), "the packets never ran");
    CHECK(log[0] == 2 && log[1] == 1 && log[2] == 2, "log of %u: %u %u", log[0], log[1], log[2]);
    CHECK_OK(hsa_signal_destroy(first_done));
    CHECK_OK(hsa_signal_destroy(second_done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(log));
}

/* ---- dependencies ---- */

static hsa_barrier_and_packet_t barrier_packet(hsa_packet_type_t type, int count, const hsa_signal_t *deps, hsa_signal_t done)
{
    hsa_barrier_and_packet_t packet = { .header = packet_header(type, false), .completion_signal = done };
    for (int i = 0; i < count; i++)
        packet.dep_signal[i] = deps[i];
    return packet;
}

static void barrier_and_waits_for_all(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    hsa_signal_t deps[5], barrier_done = new_signal(1), done = new_signal(1);
    for (int i = 0; i < 5; i++)
        deps[i] = new_signal(1);
    hsa_barrier_and_packet_t packet = barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, 5, deps, barrier_done);
    submit(queue, &packet);
    dispatch_add(queue, value, done);
    for (int i = 0; i < 5; i++) {
        pause_ms(i == 0 || i == 4 ? UNMET_MS : 2);
        CHECK(hsa_signal_load_relaxed(barrier_done) == 1, "the barrier ended with %d of 5 dependencies met", i);
        CHECK(hsa_signal_load_relaxed(done) == 1 && *value == 0, "the dispatch behind ran with %d of 5 met", i);
        hsa_signal_store_screlease(deps[(i + 2) % 5], 0);
    }
    CHECK(wait_zero(barrier_done, WAIT_LIMIT), "all dependencies are met and the barrier still waits");
    CHECK(wait_zero(done, WAIT_LIMIT) && *value == 1, "value %u", *value);
    for (int i = 0; i < 5; i++)
        CHECK_OK(hsa_signal_destroy(deps[i]));
    CHECK_OK(hsa_signal_destroy(barrier_done));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

static void barrier_or_waits_for_one(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    hsa_signal_t deps[3] = { new_signal(1), new_signal(2), new_signal(-1) }, barrier_done = new_signal(1), done = new_signal(1);
    hsa_barrier_and_packet_t packet = barrier_packet(HSA_PACKET_TYPE_BARRIER_OR, 3, deps, barrier_done);
    submit(queue, &packet);
    dispatch_add(queue, value, done);
    pause_ms(UNMET_MS);
    CHECK(hsa_signal_load_relaxed(barrier_done) == 1 && *value == 0, "the barrier ended with nothing met");
    hsa_signal_store_screlease(deps[1], 1);
    pause_ms(5);
    CHECK(hsa_signal_load_relaxed(barrier_done) == 1 && *value == 0, "1 is not 0");
    hsa_signal_store_screlease(deps[1], 0);
    CHECK(wait_zero(barrier_done, WAIT_LIMIT), "a dependency is met and the barrier still waits");
    CHECK(wait_zero(done, WAIT_LIMIT) && *value == 1, "value %u", *value);
    for (int i = 0; i < 3; i++)
        CHECK_OK(hsa_signal_destroy(deps[i]));
    CHECK_OK(hsa_signal_destroy(barrier_done));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

static void barrier_and_without_dependencies_ends(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    hsa_signal_t done = new_signal(2), met = new_signal(0);
    hsa_barrier_and_packet_t packet = barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, 0, NULL, done);
    submit(queue, &packet);
    packet = barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, 2, (hsa_signal_t[]){ none, met }, done);
    submit(queue, &packet);
    CHECK(wait_zero(done, WAIT_LIMIT), "a handle of 0 counts as met");
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_signal_destroy(met));
    CHECK_OK(hsa_queue_destroy(queue));
}

/* The second queue waits for the dispatch of the first, back and forth. */
static void queues_depend_on_each_other(void)
{
    hsa_queue_t *queues[2] = { new_queue(gpu->handle, 64), new_queue(gpu->handle, 64) };
    uint32_t *value = shared_alloc(4096), want = 1;
    *value = 1;
    enum { LINKS = 12 };
    hsa_signal_t done[LINKS];
    for (int i = 0; i < LINKS; i++)
        done[i] = new_signal(1);
    for (int i = LINKS - 1; i >= 0; i--)
        want = want * 3 + 1;
    for (int i = 0; i < LINKS; i++) {
        if (i > 0) {
            hsa_barrier_and_packet_t packet = barrier_packet(HSA_PACKET_TYPE_BARRIER_AND, 1, &done[i - 1], none);
            submit(queues[i % 2], &packet);
        }
        dispatch(queues[i % 2], &advance, &value, sizeof value, 1, true, done[i]);
    }
    NEED(wait_zero(done[LINKS - 1], WAIT_LIMIT));
    CHECK(*value == want, "%u instead of %u", *value, want);
    for (int i = 0; i < LINKS; i++)
        CHECK_OK(hsa_signal_destroy(done[i]));
    CHECK_OK(hsa_queue_destroy(queues[0]));
    CHECK_OK(hsa_queue_destroy(queues[1]));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* AMD's packet that compares a part of a signal's value. */
static void barrier_value_compares(void)
{
    static const struct {
        uint32_t condition;
        hsa_signal_value_t unmet, met, value, mask;
    } rows[] = {
        { HSA_SIGNAL_CONDITION_EQ, 7, 5, 5, -1 },    { HSA_SIGNAL_CONDITION_NE, 5, 6, 5, -1 },
        { HSA_SIGNAL_CONDITION_LT, 5, -9, 5, -1 },   { HSA_SIGNAL_CONDITION_GTE, 4, 5, 5, -1 },
        { HSA_SIGNAL_CONDITION_EQ, 0x12, 0xf3, 3, 0xf },
    };
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hsa_signal_t signal = new_signal(rows[i].unmet), done = new_signal(1);
        hsa_amd_barrier_value_packet_t packet = { .signal = signal, .value = rows[i].value, .mask = rows[i].mask,
                                                  .cond = rows[i].condition, .completion_signal = done };
        packet.header.header = packet_header(HSA_PACKET_TYPE_VENDOR_SPECIFIC, true);
        packet.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
        submit(queue, &packet);
        pause_ms(20);
        CHECK(hsa_signal_load_relaxed(done) == 1, "row %zu: ended with the condition unmet", i);
        hsa_signal_store_screlease(signal, rows[i].met);
        CHECK(wait_zero(done, WAIT_LIMIT), "row %zu: the condition is met and it still waits", i);
        CHECK_OK(hsa_signal_destroy(signal));
        CHECK_OK(hsa_signal_destroy(done));
    }
    CHECK_OK(hsa_queue_destroy(queue));
}

/* ---- many ---- */

static void ring_wraps_around(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    const uint32_t count = 3 * queue->size + 5;
    hsa_signal_t done = new_signal(count);
    for (uint32_t i = 0; i < count; i++)
        dispatch_add(queue, value, done);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(*value == count, "%u of %u dispatches", *value, count);
    CHECK(hsa_queue_load_write_index_relaxed(queue) == count, "write index %lu",
          (unsigned long)hsa_queue_load_write_index_relaxed(queue));
    /* The read index may lag behind the completion signal, but not for ever. */
    double end = seconds() + WAIT_LIMIT;
    while (hsa_queue_load_read_index_scacquire(queue) != count && seconds() < end)
        pause_ms(1);
    CHECK(hsa_queue_load_read_index_relaxed(queue) == count, "read index %lu",
          (unsigned long)hsa_queue_load_read_index_relaxed(queue));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* Many packets and one ring of the doorbell. */
static void one_doorbell_for_many(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 128);
    uint32_t *value = shared_alloc(4096);
    hsa_signal_t done = new_signal(100);
    void *kernarg = new_kernarg(&add_one, &value, sizeof value);
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 1, 1, done);
        last = write_packet(queue, &packet);
        publish_packet(queue, last, &packet);
    }
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)last);
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(*value == 100, "%u of 100 dispatches", *value);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

struct producer {
    hsa_queue_t *queue;
    uint32_t *value;
    hsa_signal_t done;
};

enum { PRODUCERS = 4, PER_PRODUCER = 150 };

static void *produce(void *data)
{
    struct producer *p = data;
    for (int i = 0; i < PER_PRODUCER; i++)
        dispatch_add(p->queue, p->value, p->done);
    return NULL;
}

static void run_producers(bool one_queue)
{
    struct producer producers[PRODUCERS];
    pthread_t threads[PRODUCERS];
    uint32_t *values = shared_alloc(4096);
    hsa_queue_t *shared = one_queue ? new_queue(gpu->handle, 64) : NULL;
    for (int i = 0; i < PRODUCERS; i++)
        producers[i] = (struct producer){ one_queue ? shared : new_queue(gpu->handle, 64), values + i * 16,
                                          new_signal(PER_PRODUCER) };
    for (int i = 0; i < PRODUCERS; i++)
        NEED(pthread_create(&threads[i], NULL, produce, &producers[i]) == 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PRODUCERS; i++) {
        NEED(wait_zero(producers[i].done, WAIT_LIMIT));
        CHECK(*producers[i].value == PER_PRODUCER, "producer %d: %u of %d dispatches", i, *producers[i].value, PER_PRODUCER);
        CHECK_OK(hsa_signal_destroy(producers[i].done));
        if (!one_queue)
            CHECK_OK(hsa_queue_destroy(producers[i].queue));
    }
    if (one_queue)
        CHECK_OK(hsa_queue_destroy(shared));
    CHECK_OK(hsa_amd_memory_pool_free(values));
}

static void several_queues_at_once(void) { run_producers(false); }
static void several_threads_on_one_queue(void) { run_producers(true); }

static void single_producer_queue(void)
{
    hsa_queue_t *queue = NULL;
    NEED_OK(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_SINGLE, unexpected_error, NULL, UINT32_MAX, UINT32_MAX, &queue));
    uint32_t *value = shared_alloc(4096);
    hsa_signal_t done = new_signal(10);
    void *kernarg = new_kernarg(&add_one, &value, sizeof value);
    for (uint64_t i = 0; i < 10; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 1, 1, done);
        memcpy((char *)queue->base_address + i * PACKET_BYTES + 4, (char *)&packet + 4, PACKET_BYTES - 4);
        publish_packet(queue, i, &packet);
        hsa_queue_store_write_index_screlease(queue, i + 1);
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)i);
    }
    NEED(wait_zero(done, WAIT_LIMIT));
    CHECK(*value == 10, "%u of 10 dispatches", *value);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* A kernel without arguments, in grids of every shape; all of them count on one signal. */
static void empty_kernels_of_every_shape(void)
{
    static const struct {
        uint16_t dims, group[3];
        uint32_t grid[3];
    } shapes[] = {
        { 1, { 1, 1, 1 }, { 1, 1, 1 } },      { 1, { 256, 1, 1 }, { 100000, 1, 1 } }, { 1, { 256, 1, 1 }, { 3, 1, 1 } },
        { 2, { 7, 5, 1 }, { 100, 3, 1 } },    { 2, { 64, 1, 1 }, { 1, 500, 1 } },     { 3, { 4, 4, 4 }, { 5, 6, 7 } },
        { 3, { 1, 1, 256 }, { 2, 2, 300 } },  { 1, { 64, 1, 1 }, { 0, 1, 1 } },       { 1, { 0, 1, 1 }, { 0, 64, 64 } },
        { 2, { 64, 0, 1 }, { 64, 0, 64 } },   { 3, { 64, 1, 0 }, { 64, 64, 0 } },     { 1, { 64, 0, 0 }, { 64, 0, 0 } },
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    hsa_signal_t done = new_signal(SHAPES + 100);
    void *kernarg = new_kernarg(&nothing, "", 0);
    for (size_t i = 0; i < SHAPES; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&nothing, kernarg, shapes[i].grid[0], shapes[i].group[0], done);
        packet.setup = (uint16_t)(shapes[i].dims << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
        packet.workgroup_size_y = shapes[i].group[1];
        packet.workgroup_size_z = shapes[i].group[2];
        packet.grid_size_y = shapes[i].grid[1];
        packet.grid_size_z = shapes[i].grid[2];
        submit(queue, &packet);
    }
    CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 100, WAIT_LIMIT * ticks_per_second(),
                                    HSA_WAIT_STATE_BLOCKED) == 100,
          "%ld of %d dispatches are left", (long)hsa_signal_load_relaxed(done) - 100, (int)SHAPES);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
}

/* ---- a kernel that waits ---- */

static void kernel_waits_for_the_host(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64), *other = new_queue(gpu->handle, 64);
    uint32_t *memory = shared_alloc(4096), *value = shared_alloc(4096);
    struct wait_arguments arguments = { memory, memory + 16, memory + 32 };
    hsa_signal_t waited = new_signal(1), beside = new_signal(5), behind = new_signal(1), elsewhere = new_signal(20);
    dispatch(queue, &wait_flag, &arguments, sizeof arguments, 64, false, waited);
    NEED(wait_value(arguments.running, 1, WAIT_LIMIT));

    /* Other queues go on, and so do later dispatches of the same queue as long as they have no barrier bit. */
    for (int i = 0; i < 20; i++)
        dispatch_add(other, value, elsewhere);
    CHECK(wait_zero(elsewhere, WAIT_LIMIT), "another queue stands still");
    for (int i = 0; i < 5; i++)
        dispatch_add(queue, value + 16, beside);
    CHECK(wait_zero(beside, WAIT_LIMIT), "dispatches of one queue do not run at once");
    dispatch(queue, &add_one, &(uint32_t *){ value + 32 }, sizeof(uint32_t *), 1, true, behind);
    pause_ms(UNMET_MS);
    CHECK(hsa_signal_load_relaxed(waited) == 1, "the kernel ended before the flag was set");
    CHECK(hsa_signal_load_relaxed(behind) == 1 && value[32] == 0, "the barrier bit did not hold the packet back");

    __atomic_store_n(arguments.flag, 1, __ATOMIC_RELEASE);
    CHECK(wait_zero(waited, WAIT_LIMIT), "the kernel does not see the flag");
    CHECK(wait_zero(behind, WAIT_LIMIT), "the packet behind never ran");
    CHECK(value[0] == 20 && value[16] == 5 && value[32] == 1, "%u %u %u", value[0], value[16], value[32]);
    uint32_t wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += arguments.out[i] != 42;
    CHECK(wrong == 0, "%u of 64 work-items did not write", wrong);
    hsa_signal_t signals[] = { waited, beside, behind, elsewhere };
    for (int i = 0; i < 4; i++)
        CHECK_OK(hsa_signal_destroy(signals[i]));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_queue_destroy(other));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* ---- time ---- */

static void time_stamps(void)
{
    enum { COUNT = 6, LONG = 1 };
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *out = shared_alloc(64 * 4);
    CHECK_OK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
    hsa_amd_profiling_dispatch_time_t times[COUNT];
    uint64_t before = 0, after = 0;
    hsa_signal_t done[COUNT];
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &before));
    for (int i = 0; i < COUNT; i++) {
        struct {
            uint32_t *out, rounds;
        } arguments = { out, i == LONG ? 200000 : 200 };
        done[i] = new_signal(1);
        dispatch(queue, &busy, &arguments, 12, 64, true, done[i]);
    }
    NEED(wait_zero(done[COUNT - 1], WAIT_LIMIT));
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &after));
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(hsa_amd_profiling_get_dispatch_time(gpu->handle, done[i], &times[i]));
        CHECK(times[i].start < times[i].end, "dispatch %d: %lu to %lu", i, (unsigned long)times[i].start,
              (unsigned long)times[i].end);
        /* A clock that is converted may be off by a little: half a millisecond. */
        uint64_t slack = ticks_per_second() / 2000;
        CHECK(times[i].start + slack >= before && times[i].end <= after + slack, "dispatch %d is outside of the time it had", i);
    }
    /* A device that others take the processor from may be long at little work, but not each time. */
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < COUNT; i++) {
        CHECK(i == 0 || times[i - 1].end <= times[i].start, "dispatch %d overlaps the one before", i);
        if (i != LONG && times[i].end - times[i].start < least)
            least = times[i].end - times[i].start;
    }
    CHECK(times[LONG].end - times[LONG].start > 10 * least, "1000 times the work took %lu instead of %lu ticks",
          (unsigned long)(times[LONG].end - times[LONG].start), (unsigned long)least);
    CHECK_OK(hsa_amd_profiling_set_profiler_enabled(queue, 0));
    for (int i = 0; i < COUNT; i++)
        CHECK_OK(hsa_signal_destroy(done[i]));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(out));
}

/* ---- the queue itself ---- */

static void index_operations(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t least = 0;
    CHECK_OK(hsa_agent_get_info(gpu->handle, HSA_AGENT_INFO_QUEUE_MIN_SIZE, &least));
    CHECK(queue->size == (least > 64 ? least : 64) && queue->base_address && (uintptr_t)queue->base_address % 64 == 0 && queue->doorbell_signal.handle,
          "size %u, base %p", queue->size, queue->base_address);
    CHECK(queue->features & HSA_QUEUE_FEATURE_KERNEL_DISPATCH, "features %#x", queue->features);
    /* Nothing is rung, so nothing is processed: the indices are plain numbers here. */
    CHECK(hsa_queue_load_write_index_scacquire(queue) == 0, "a new queue is not empty");
    CHECK(hsa_queue_load_read_index_scacquire(queue) == 0, "a new queue is not empty");
    CHECK(hsa_queue_add_write_index_relaxed(queue, 1) == 0, "add gives the value before");
    CHECK(hsa_queue_add_write_index_scacquire(queue, 2) == 1, "add gives the value before");
    CHECK(hsa_queue_add_write_index_screlease(queue, 3) == 3, "add gives the value before");
    CHECK(hsa_queue_add_write_index_scacq_screl(queue, 4) == 6, "add gives the value before");
    CHECK(hsa_queue_cas_write_index_relaxed(queue, 99, 1) == 10, "cas gives the value that it saw");
    CHECK(hsa_queue_cas_write_index_scacquire(queue, 10, 11) == 10, "cas gives the value that it saw");
    CHECK(hsa_queue_cas_write_index_screlease(queue, 11, 12) == 11, "cas gives the value that it saw");
    CHECK(hsa_queue_cas_write_index_scacq_screl(queue, 12, 13) == 12, "cas gives the value that it saw");
    hsa_queue_store_write_index_relaxed(queue, 14);
    CHECK(hsa_queue_load_write_index_relaxed(queue) == 14, "store is seen by load");
    hsa_queue_store_write_index_screlease(queue, 0);
    CHECK(hsa_queue_load_write_index_relaxed(queue) == 0, "store is seen by load");
    CHECK_OK(hsa_queue_destroy(queue));
}

static void queue_settings(void)
{
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    CHECK_OK(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH));
    CHECK_OK(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_LOW));
    uint32_t cus = 0;
    NEED_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &cus));
    NEED(cus > 0);
    uint32_t words = (cus + 31) / 32, mask[32] = { 0 };
    NEED(words <= 32);
    mask[0] = 0x1;
    CHECK_OK(hsa_amd_queue_cu_set_mask(queue, words * 32, mask));
    uint32_t *value = shared_alloc(4096);
    hsa_signal_t done = new_signal(1);
    dispatch_add(queue, value, done);
    CHECK(wait_zero(done, WAIT_LIMIT) && *value == 1, "value %u", *value);
    CHECK_OK(hsa_queue_inactivate(queue));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* Ids are unique, queues with packets of their own can come and go. */
static void queues_come_and_go(void)
{
    uint64_t ids[24];
    uint32_t *value = shared_alloc(4096), twice = 0;
    hsa_signal_t done = new_signal(24);
    for (int i = 0; i < 24; i++) {
        hsa_queue_t *queue = new_queue(gpu->handle, i % 2 ? 64 : 1024);
        ids[i] = queue->id;
        for (int k = 0; k < i; k++)
            twice += ids[k] == ids[i];
        dispatch_add(queue, value, done);
        CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 24 - i, WAIT_LIMIT * ticks_per_second(),
                                        HSA_WAIT_STATE_BLOCKED) == 23 - i, "queue %d never ran its packet", i);
        CHECK_OK(hsa_queue_destroy(queue));
    }
    CHECK(*value == 24 && twice == 0, "%u of 24 dispatches, %u ids twice", *value, twice);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* A queue may go as soon as its packet ran, also while the runtime is still answering its wish for scratch: signals that come
   into the place of its own are not touched by that. */
static void *make_queues_that_go_at_once(void *data)
{
    for (int i = 0; i < 60; i++) {
        hsa_queue_t *queue = new_queue(gpu->handle, 64);
        hsa_signal_t done = new_signal(1), next[8];
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, new_kernarg(&add_one, &data, sizeof data), 1, 1, done);
        packet.private_segment_size += 256;
        submit(queue, &packet);
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, WAIT_LIMIT * ticks_per_second(), HSA_WAIT_STATE_ACTIVE);
        CHECK(hsa_signal_load_relaxed(done) == 0, "queue %d never ran its packet", i);
        CHECK_OK(hsa_queue_destroy(queue));
        for (int k = 0; k < 8; k++)
            next[k] = new_signal(1);
        for (int k = 0; k < 8; k++) {
            CHECK(hsa_signal_load_relaxed(next[k]) == 1, "a new signal is %ld", (long)hsa_signal_load_relaxed(next[k]));
            CHECK_OK(hsa_signal_destroy(next[k]));
        }
        CHECK_OK(hsa_signal_destroy(done));
    }
    return NULL;
}

static void queues_go_at_once(void)
{
    pthread_t threads[4];
    uint32_t *value = shared_alloc(4096);
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, make_queues_that_go_at_once, value) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(*value == 240, "%u of 240 dispatches", *value);
    CHECK_OK(hsa_amd_memory_pool_free(value));
}

/* A queue that the host itself processes, here with one agent dispatch. */
static void *serve(void *data)
{
    hsa_queue_t *queue = data;
    uint64_t ticks = ticks_per_second();
    while (hsa_signal_wait_scacquire(queue->doorbell_signal, HSA_SIGNAL_CONDITION_GTE, 0, ticks, HSA_WAIT_STATE_BLOCKED) < 0)
        ;
    hsa_agent_dispatch_packet_t *packet = queue->base_address;
    uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);
    if ((header >> HSA_PACKET_HEADER_TYPE & 0xff) == HSA_PACKET_TYPE_AGENT_DISPATCH) {
        *(uint64_t *)packet->return_address = packet->arg[0] * packet->arg[1] + packet->type;
        __atomic_store_n(&packet->header, HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
        hsa_queue_store_read_index_screlease(queue, 1);
        hsa_signal_subtract_screlease(packet->completion_signal, 1);
    }
    return NULL;
}

static void soft_queue_serves_the_host(void)
{
    hsa_signal_t doorbell = new_signal(-1), done = new_signal(1);
    hsa_queue_t *queue = NULL;
    NEED_OK(hsa_soft_queue_create(cpu->fine_region, 16, HSA_QUEUE_TYPE_MULTI, HSA_QUEUE_FEATURE_AGENT_DISPATCH, doorbell,
                                  &queue));
    CHECK(queue->size == 16 && queue->doorbell_signal.handle == doorbell.handle, "size %u", queue->size);
    CHECK(queue->features == HSA_QUEUE_FEATURE_AGENT_DISPATCH, "features %#x", queue->features);
    pthread_t server;
    NEED(pthread_create(&server, NULL, serve, queue) == 0);
    uint64_t result = 0;
    hsa_agent_dispatch_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_AGENT_DISPATCH, false),
                                           .type = 0x8001, .return_address = &result, .arg = { 6, 7 },
                                           .completion_signal = done };
    submit(queue, &packet);
    CHECK(wait_zero(done, WAIT_LIMIT), "nobody served the packet");
    pthread_join(server, NULL);
    CHECK(result == 42 + 0x8001, "result %lu", (unsigned long)result);
    CHECK(hsa_queue_load_read_index_relaxed(queue) == 1, "the host's read index is lost");
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_signal_destroy(doorbell));
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    NEED_OK(hsa_init());
    find_agents();
    kernarg_memory = pool_alloc(cpu->kernarg, KERNARG_BYTES);
    for (int level = 0; level <= 3; level += 3) {
        struct module module = load_module(kernel_path(argv[1], gpu, level == 0 ? "O0" : "O3", "control"), gpu->handle);
        wait_flag = find_kernel(&module, gpu->handle, "wait_flag.kd");
        append = find_kernel(&module, gpu->handle, "append.kd");
        advance = find_kernel(&module, gpu->handle, "advance.kd");
        add_one = find_kernel(&module, gpu->handle, "add_one.kd");
        busy = find_kernel(&module, gpu->handle, "busy.kd");
        nothing = find_kernel(&module, gpu->handle, "nothing.kd");
        atomic_store(&kernarg_used, 0);
        static const struct {
            const char *name;
            void (*run)(void);
        } tests[] = {
#define TEST(f) { #f, f }
            TEST(barrier_bit_keeps_order), TEST(without_barrier_bit_everything_runs_once), TEST(invalid_packet_holds_the_queue),
            TEST(barrier_and_waits_for_all), TEST(barrier_or_waits_for_one), TEST(barrier_and_without_dependencies_ends),
            TEST(queues_depend_on_each_other), TEST(barrier_value_compares), TEST(ring_wraps_around),
            TEST(one_doorbell_for_many), TEST(several_queues_at_once), TEST(several_threads_on_one_queue),
            TEST(single_producer_queue), TEST(empty_kernels_of_every_shape),
            TEST(kernel_waits_for_the_host), TEST(time_stamps), TEST(index_operations),
            TEST(queue_settings), TEST(queues_come_and_go), TEST(queues_go_at_once), TEST(soft_queue_serves_the_host),
#undef TEST
        };
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
            int failed = checks_failed;
            double start = seconds();
            tests[i].run();
            printf("%-44s %s (%.3f s)\n", tests[i].name, checks_failed == failed ? "ok" : "FAILED", seconds() - start);
            fflush(stdout);
        }
        unload_module(&module);
    }
    CHECK_OK(hsa_amd_memory_pool_free(kernarg_memory));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
