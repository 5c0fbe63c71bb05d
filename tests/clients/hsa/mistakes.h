/* What the programs about mistakes share. The first argument of each is the directory with the kernels. */
#ifndef MISTAKES_H
#define MISTAKES_H

#include "isolate.h"
#include "machine.h"

static const char *root;

/* The beginning of every case; the parent has no runtime. */
static inline void start(void)
{
    NEED_OK(hsa_init());
    find_agents();
}

/* Where the header leaves open which of two it is. */
#define CHECK_EITHER(call, a, b) \
    do { \
        hsa_status_t got_ = (call); \
        check_at(__FILE__, __LINE__, got_ == (a) || got_ == (b), #call, "status %#x (%s), expected %#x or %#x", got_, \
                 status_text(got_), a, b); \
    } while (0)

static inline const char *vector_add_path(void) { return kernel_path(root, gpu, "O3", "vector_add"); }

/* A new queue still computes. */
static inline void check_alive(void)
{
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    struct kernel add_one = find_kernel(&module, gpu->handle, "add_one.kd");
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    *kernarg = value;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 1000, 100, done);
    submit(queue, &packet);
    CHECK(wait_zero(done, WAIT_LIMIT) && *value == 1000, "another queue counted to %u instead of 1000", *value);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_signal_destroy(done));
    unload_module(&module);
}

static inline bool never(hsa_signal_value_t value, void *data)
{
    (void)value;
    (void)data;
    return false;
}

#endif
