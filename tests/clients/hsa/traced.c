/* A little of everything that a trace shows: calls, waits, dispatches and copies, from two threads. Ends without shutting the
 * runtime down when it is told `abandon`, by a signal that nothing outlives when it is told `killed`, and after a child
 * that does the same in a runtime of its own when it is told `fork`. Use: traced KERNELS [abandon|killed|fork]. */
#include "machine.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DISPATCHES = 8, BYTES = 1 << 20 };

static struct kernel add_one;
static hsa_queue_t *queue;

static void *dispatch_some(void *data)
{
    void **kernarg = data;
    hsa_signal_t done = new_signal(DISPATCHES);
    for (int i = 0; i < DISPATCHES; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 256, 64, done);
        submit(queue, &packet);
    }
    CHECK(wait_zero(done, WAIT_LIMIT), "the kernels are not over");
    CHECK_OK(hsa_signal_destroy(done));
    return NULL;
}

/* A whole life of a runtime but for its end. */
static void live(const char *root)
{
    NEED_OK(hsa_init());
    find_agents();
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    add_one = find_kernel(&module, gpu->handle, "add_one.kd");
    queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    *kernarg = value;

    pthread_t thread;
    NEED(pthread_create(&thread, NULL, dispatch_some, kernarg) == 0);
    dispatch_some(kernarg);
    NEED(pthread_join(thread, NULL) == 0);
    CHECK(*value == 2 * DISPATCHES * 256, "%u", *value);

    char *from = shared_alloc(BYTES), *to = pool_alloc(gpu->coarse, BYTES);
    hsa_signal_t copied = new_signal(1);
    CHECK_OK(hsa_amd_memory_async_copy(to, gpu->handle, from, cpu->handle, BYTES, 0, NULL, copied));
    CHECK(wait_zero(copied, WAIT_LIMIT), "the copy is not over");
    CHECK_OK(hsa_amd_memory_fill(to, 7, BYTES / 4));
}

int main(int argc, char **argv)
{
    NEED(argc >= 2);
    const char *how = argc > 2 ? argv[2] : "";
    live(argv[1]);
    if (strcmp(how, "fork") == 0) {
        fflush(stdout);
        pid_t child = fork();
        NEED(child >= 0);
        if (child == 0) {
            alarm(60);
            live(argv[1]);
            _exit(checks_failed != 0 || hsa_shut_down() != HSA_STATUS_SUCCESS);
        }
        int status = 0;
        NEED(waitpid(child, &status, 0) == child);
        CHECK(status == 0, "the child ended with %#x", (unsigned)status);
        printf("child %d\n", (int)child);
    }
    int end = check_summary();
    fflush(stdout);
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "abandon") == 0)
        _exit(end);
    CHECK_OK(hsa_shut_down());
    return end;
}
