/* Packets that no packet processor accepts, and kernels that do what they must not: the error reaches the queue's callback
 * or the handler of memory faults, the queue is dead, the process and the runtime are not. Every case is a process of its
 * own. Use: bad_packets KERNELS. */
#include "mistakes.h"

struct queue_error {
    atomic_int count;
    hsa_status_t status;
    hsa_queue_t *queue;
};

static void record_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    struct queue_error *error = data;
    error->status = status;
    error->queue = queue;
    atomic_fetch_add(&error->count, 1);
}

static hsa_queue_t *watched_queue(struct queue_error *error)
{
    hsa_queue_t *queue = NULL;
    NEED_OK(hsa_queue_create(gpu->handle, 64, HSA_QUEUE_TYPE_MULTI, record_error, error, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

static bool wait_count(atomic_int *count, double limit)
{
    for (double end = seconds() + limit; seconds() < end && atomic_load(count) == 0;)
        pause_ms(1);
    return atomic_load(count) != 0;
}

/* The queue that failed stays silent; the packets behind the bad one never run. */
static void check_dead(hsa_queue_t *queue, hsa_signal_t behind)
{
    pause_ms(30);
    CHECK(hsa_signal_load_relaxed(behind) == 1, "the queue went on after its error");
    CHECK_OK(hsa_queue_destroy(queue));
    check_alive();
}

/* What is wrong with a packet, and the status that its queue's callback gets. */
struct bad_packet {
    const char *name;
    hsa_status_t want;
    void (*spoil)(hsa_kernel_dispatch_packet_t *packet);
};

static void set_type(hsa_kernel_dispatch_packet_t *p, unsigned type) { p->header = (uint16_t)((p->header & 0xff00) | type); }
static void unknown_type(hsa_kernel_dispatch_packet_t *p) { set_type(p, 6); }
static void wild_type(hsa_kernel_dispatch_packet_t *p) { set_type(p, 0xee); }
static void no_dimensions(hsa_kernel_dispatch_packet_t *p) { p->setup = 0; }
static void zero_group(hsa_kernel_dispatch_packet_t *p) { p->workgroup_size_x = 0; }
static void zero_group_y(hsa_kernel_dispatch_packet_t *p) { p->setup = 2, p->workgroup_size_y = 0; }
static void large_group(hsa_kernel_dispatch_packet_t *p) { p->workgroup_size_x = 1025; }
static void large_group_in_all(hsa_kernel_dispatch_packet_t *p)
{
    p->setup = 3;
    p->workgroup_size_x = p->workgroup_size_y = p->workgroup_size_z = 16;
}
static void local_too_large(hsa_kernel_dispatch_packet_t *p) { p->group_segment_size = 64 * 1024 + 1; }
static void local_huge(hsa_kernel_dispatch_packet_t *p) { p->group_segment_size = UINT32_MAX; }
static void no_kernel_object(hsa_kernel_dispatch_packet_t *p) { p->kernel_object = 0; }
static void vendor_packet_of_nobody(hsa_kernel_dispatch_packet_t *p)
{
    set_type(p, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    p->setup = 0x77; /* the format of AMD's vendor packets */
}

static const struct bad_packet bad_packets[] = {
    { "packet of an unknown type", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, unknown_type },
    { "packet of a wild type", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, wild_type },
    { "packet of an unknown vendor format", HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, vendor_packet_of_nobody },
    { "packet without dimensions", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, no_dimensions },
    { "packet with a group of 0", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, zero_group },
    { "packet with a group of 0 in y", HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, zero_group_y },
    { "packet with a group of 1025", HSA_STATUS_ERROR_INVALID_ARGUMENT, large_group },
    { "packet with a group of 16 x 16 x 16", HSA_STATUS_ERROR_INVALID_ARGUMENT, large_group_in_all },
    { "packet with a byte too much of group memory", HSA_STATUS_ERROR_INVALID_ALLOCATION, local_too_large },
    { "packet with 4 GiB of group memory", HSA_STATUS_ERROR_INVALID_ALLOCATION, local_huge },
    { "packet without a kernel object", HSA_STATUS_ERROR_INVALID_CODE_OBJECT, no_kernel_object },
};

static void run_bad_packet(const void *data)
{
    const struct bad_packet *bad = data;
    start();
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    struct kernel add_one = find_kernel(&module, gpu->handle, "add_one.kd");
    struct queue_error error = { 0 };
    hsa_queue_t *queue = watched_queue(&error);
    uint32_t *value = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    *kernarg = value;
    hsa_signal_t done = new_signal(1), bad_done = new_signal(1), behind = new_signal(1);
    /* One good dispatch shows that it is the packet and not the queue. */
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 64, 64, done);
    submit(queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    NEED(*value == 64 && error.count == 0);

    packet.completion_signal = bad_done;
    bad->spoil(&packet);
    submit(queue, &packet);
    CHECK(wait_count(&error.count, 10), "the queue's callback was not called");
    CHECK(error.status == bad->want, "the callback got %#x (%s), expected %#x (%s)", error.status, status_text(error.status),
          bad->want, status_text(bad->want));
    CHECK(error.queue == queue, "the callback got another queue");
    packet = dispatch_packet(&add_one, kernarg, 64, 64, behind);
    submit(queue, &packet);
    check_dead(queue, behind);
    CHECK(error.count == 1, "the callback was called %d times", error.count);
    CHECK(*value == 64, "the bad packet or the one behind it ran");
    CHECK_OK(hsa_shut_down());
}

/* ---- kernels that do what they must not ---- */

struct fault {
    atomic_int count;
    hsa_amd_event_t event;
};

static hsa_status_t record_fault(const hsa_amd_event_t *event, void *data)
{
    struct fault *fault = data;
    fault->event = *event;
    atomic_fetch_add(&fault->count, 1);
    return HSA_STATUS_SUCCESS;
}

/* A dispatch of a kernel of faults.cl with (out, address). Its completion signal is 1. */
static hsa_kernel_dispatch_packet_t fault_packet(const char *level, const char *name, uint64_t address, uint32_t *out)
{
    struct module module = load_module(kernel_path(root, gpu, level, "faults"), gpu->handle);
    struct kernel kernel = find_kernel(&module, gpu->handle, name);
    struct {
        uint32_t *out;
        uint64_t address;
    } *kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg->out = out;
    kernarg->address = address;
    return dispatch_packet(&kernel, kernarg, 64, 64, new_signal(1));
}

/* Runs such a dispatch; answers its completion signal. */
static hsa_signal_t run_fault_kernel(hsa_queue_t *queue, const char *level, const char *name, uint64_t address, uint32_t *out)
{
    hsa_kernel_dispatch_packet_t packet = fault_packet(level, name, address, out);
    submit(queue, &packet);
    return packet.completion_signal;
}

struct wild {
    const char *name, *kernel, *level;
    uint64_t address;
};

static const struct wild wilds[] = {
    { "kernel reads a wild address", "wild_read.kd", "O3", 0x0000123456789000 },
    { "kernel reads a wild address without optimisation", "wild_read.kd", "O0", 0x0000123456789abc & ~3ull },
    { "kernel writes a wild address", "wild_write.kd", "O3", 0x00007ffffffff000 },
    { "kernel reads the null page", "wild_read.kd", "O3", 0x40 },
};

static void wild_address(const void *data)
{
    const struct wild *wild = data;
    start();
    struct fault fault = { 0 };
    struct queue_error error = { 0 };
    NEED_OK(hsa_amd_register_system_event_handler(record_fault, &fault));
    hsa_queue_t *queue = watched_queue(&error);
    uint32_t *out = shared_alloc(4096);
    hsa_signal_t behind = run_fault_kernel(queue, wild->level, wild->kernel, wild->address, out);
    CHECK(wait_count(&fault.count, 10), "no memory fault event");
    CHECK(fault.event.event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT, "event type %d", fault.event.event_type);
    /* Hardware knows the page, a model may know the byte. */
    CHECK((fault.event.memory_fault.virtual_address & ~0xfffull) == (wild->address & ~0xfffull), "address %#lx",
          (unsigned long)fault.event.memory_fault.virtual_address);
    CHECK(fault.event.memory_fault.agent.handle == gpu->handle.handle, "another agent");
    CHECK(fault.event.memory_fault.fault_reason_mask & HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "reason %#x",
          fault.event.memory_fault.fault_reason_mask);
    check_dead(queue, behind);
    CHECK(fault.count == 1, "%d events", fault.count);
    CHECK_OK(hsa_shut_down());
}

/* Memory that was freed is as wild as memory that never was. */
static void freed_memory(const void *data)
{
    (void)data;
    start();
    struct fault fault = { 0 };
    struct queue_error error = { 0 };
    NEED_OK(hsa_amd_register_system_event_handler(record_fault, &fault));
    hsa_queue_t *queue = watched_queue(&error);
    uint32_t *out = shared_alloc(4096);
    char *freed = pool_alloc(cpu->fine, 64 << 20);
    hsa_kernel_dispatch_packet_t packet = fault_packet("O3", "wild_read.kd", (uintptr_t)freed + 8192, out);
    /* Nothing is allocated from here on that could take its place. */
    CHECK_OK(hsa_amd_memory_pool_free(freed));
    submit(queue, &packet);
    CHECK(wait_count(&fault.count, 10), "no memory fault event");
    check_dead(queue, packet.completion_signal);
}

struct broken_kernel {
    const char *name, *kernel, *level;
    hsa_status_t want;
};

/* AMD's statuses are of an enumeration of their own. */
#define ILLEGAL_INSTRUCTION ((hsa_status_t)HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION)

static const struct broken_kernel broken_kernels[] = {
    { "kernel with an illegal instruction", "illegal_instruction.kd", "O3", ILLEGAL_INSTRUCTION },
    { "kernel with an illegal instruction without optimisation", "illegal_instruction.kd", "O0",
      ILLEGAL_INSTRUCTION },
    { "kernel that traps", "trap.kd", "O3", HSA_STATUS_ERROR_EXCEPTION },
};

static void broken_kernel(const void *data)
{
    const struct broken_kernel *broken = data;
    start();
    struct queue_error error = { 0 };
    hsa_queue_t *queue = watched_queue(&error);
    uint32_t *out = shared_alloc(4096);
    hsa_signal_t behind = run_fault_kernel(queue, broken->level, broken->kernel, 0, out);
    CHECK(wait_count(&error.count, 10), "the queue's callback was not called");
    CHECK(error.status == broken->want, "the callback got %#x (%s)", error.status, status_text(error.status));
    check_dead(queue, behind);
    CHECK(out[5] == 0, "the kernel went on");
}

/* All the group memory of a group is not too much. */
static void all_group_memory(const void *data)
{
    (void)data;
    start();
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *out = shared_alloc(4096), wrong = 0;
    hsa_signal_t done = run_fault_kernel(queue, "O3", "local_hog.kd", 0, out);
    CHECK(wait_zero(done, WAIT_LIMIT), "the kernel did not run");
    for (uint32_t i = 0; i < 64; i++)
        wrong += out[i] != i * 977 % (64 * 1024 / 4);
    CHECK(wrong == 0, "%u of 64 values are wrong", wrong);
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    root = argv[1];
    isolate("freed_memory", freed_memory, NULL);
    isolate("all_group_memory", all_group_memory, NULL);
    for (size_t i = 0; i < sizeof bad_packets / sizeof *bad_packets; i++)
        isolate(bad_packets[i].name, run_bad_packet, &bad_packets[i]);
    for (size_t i = 0; i < sizeof wilds / sizeof *wilds; i++)
        isolate(wilds[i].name, wild_address, &wilds[i]);
    for (size_t i = 0; i < sizeof broken_kernels / sizeof *broken_kernels; i++)
        isolate(broken_kernels[i].name, broken_kernel, &broken_kernels[i]);
    return check_summary();
}
