/* The runtime comes and goes: reference counts, a thousand lives that leave nothing behind, first calls from many threads
 * at once, and fork. Use: lifecycle KERNELS. */
#include "isolate.h"
#include "machine.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>

static const char *root;

/* ---- what a process holds ---- */

static unsigned entries(const char *directory)
{
    DIR *dir = opendir(directory);
    NEED(dir != NULL);
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static unsigned mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    NEED(maps != NULL);
    unsigned lines = 0;
    for (int c; (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

static unsigned long resident_kb(void)
{
    FILE *statm = fopen("/proc/self/statm", "r");
    NEED(statm != NULL);
    unsigned long total = 0, resident = 0;
    NEED(fscanf(statm, "%lu %lu", &total, &resident) == 2);
    fclose(statm);
    return resident * (unsigned long)(sysconf(_SC_PAGESIZE) / 1024);
}

struct usage {
    unsigned files, threads, maps;
    unsigned long kb;
};

/* A thread that was joined may be in /proc for a moment yet: waits until there are `threads`, at most two seconds. */
static struct usage usage(unsigned threads)
{
    for (double end = seconds() + 2; entries("/proc/self/task") != threads && seconds() < end;)
        pause_ms(1);
    return (struct usage){ entries("/proc/self/fd"), entries("/proc/self/task"), mappings(), resident_kb() };
}

static void check_usage(struct usage before, struct usage after, const char *what)
{
    printf("%s: %u files, %u threads, %u mappings, %lu KB; before %u, %u, %u, %lu\n", what, after.files, after.threads,
           after.maps, after.kb, before.files, before.threads, before.maps, before.kb);
    CHECK(after.files == before.files, "%u files instead of %u", after.files, before.files);
    CHECK(after.threads == before.threads, "%u threads instead of %u", after.threads, before.threads);
    /* The allocator of the C library may keep a piece or two. */
    CHECK(after.maps <= before.maps + 8, "%u mappings instead of %u", after.maps, before.maps);
    CHECK(after.kb <= before.kb + 8192, "%lu KB instead of %lu", after.kb, before.kb);
}

/* For cases that count memory: which threads find the allocator busy is chance, and each arena that it makes for them keeps what it had. */
static void one_arena(void) { NEED(mallopt(M_ARENA_MAX, 1) == 1); }

/* ---- cases ---- */

static hsa_status_t nothing_to_do(hsa_agent_t agent, void *data)
{
    (void)agent;
    (*(unsigned *)data)++;
    return HSA_STATUS_SUCCESS;
}

static void references_are_counted(const void *data)
{
    (void)data;
    unsigned seen = 0;
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    for (int i = 0; i < 5; i++)
        CHECK_OK(hsa_init());
    for (int i = 0; i < 4; i++) {
        CHECK_OK(hsa_shut_down());
        CHECK_OK(hsa_iterate_agents(nothing_to_do, &seen));
    }
    CHECK(seen >= 8, "%u agents in four rounds", seen);
    CHECK_OK(hsa_shut_down());
    CHECK_STATUS(hsa_iterate_agents(nothing_to_do, &seen), HSA_STATUS_ERROR_NOT_INITIALIZED);
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    const char *text = NULL;
    CHECK_OK(hsa_status_string(HSA_STATUS_ERROR_NOT_INITIALIZED, &text));
    CHECK_OK(hsa_init());
    CHECK_OK(hsa_iterate_agents(nothing_to_do, &seen));
    CHECK_OK(hsa_shut_down());
}

/* Fails loudly in a loop of a thousand, counts one check at the end. */
static void a_thousand_lives(const void *data)
{
    one_arena();
    (void)data;
    unsigned agents_seen = 0;
    struct usage before = { 0 };
    for (int i = 0; i < 1000; i++) {
        NEED(hsa_init() == HSA_STATUS_SUCCESS);
        NEED(hsa_iterate_agents(nothing_to_do, &agents_seen) == HSA_STATUS_SUCCESS);
        NEED(hsa_shut_down() == HSA_STATUS_SUCCESS);
        if (i == 19) /* what is made once per process is there by now */
            before = usage(1);
    }
    CHECK(agents_seen >= 2000 && agents_seen % 1000 == 0, "%u agents in a thousand lives", agents_seen);
    check_usage(before, usage(before.threads), "after a thousand lives");
}

/* A whole life: memory, code, a queue, a dispatch. Everything is left to the shut-down when `leave` is set. */
static void one_life(bool leave)
{
    NEED(hsa_init() == HSA_STATUS_SUCCESS);
    find_agents();
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    struct kernel add_one = find_kernel(&module, gpu->handle, "add_one.kd");
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    uint32_t *value = shared_alloc(1 << 16);
    void **kernarg = pool_alloc(cpu->kernarg, 4096), *vram = pool_alloc(gpu->coarse, 1 << 20);
    memset(kernarg, 0, 4096);
    *kernarg = value;
    hsa_signal_t done = new_signal(1);
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&add_one, kernarg, 100, 64, done);
    submit(queue, &packet);
    NEED(wait_zero(done, WAIT_LIMIT));
    NEED(*value == 100);
    if (leave) {
        free(module.bytes);
    } else {
        NEED_OK(hsa_signal_destroy(done));
        NEED_OK(hsa_queue_destroy(queue));
        NEED_OK(hsa_amd_memory_pool_free(value));
        NEED_OK(hsa_amd_memory_pool_free(kernarg));
        NEED_OK(hsa_amd_memory_pool_free(vram));
        unload_module(&module);
    }
    NEED(hsa_shut_down() == HSA_STATUS_SUCCESS);
}

static void busy_lives(const void *data)
{
    one_arena();
    bool leave = data != NULL;
    struct usage before = { 0 };
    for (int i = 0; i < 100; i++) {
        one_life(leave);
        if (i == 19)
            before = usage(1);
    }
    check_usage(before, usage(before.threads), leave ? "after lives that clean nothing up" : "after lives that clean up");
}

/* Objects that come and go within one life. */
static void objects_come_and_go(const void *data)
{
    one_arena();
    (void)data;
    NEED_OK(hsa_init());
    find_agents();
    struct usage before = { 0 };
    for (int i = 0; i < 300; i++) {
        hsa_queue_t *queue = new_queue(gpu->handle, 64);
        hsa_signal_t signal = new_signal(1);
        void *memory = pool_alloc(cpu->fine, 1 << 16), *vram = pool_alloc(gpu->coarse, 1 << 16);
        struct module module = load_module(kernel_path(root, gpu, "O3", "vector_add"), gpu->handle);
        unload_module(&module);
        NEED_OK(hsa_amd_memory_pool_free(memory));
        NEED_OK(hsa_amd_memory_pool_free(vram));
        NEED_OK(hsa_signal_destroy(signal));
        NEED_OK(hsa_queue_destroy(queue));
        if (i == 99)
            before = usage(entries("/proc/self/task"));
    }
    check_usage(before, usage(before.threads), "after 300 of every object");
    CHECK_OK(hsa_shut_down());
}

static pthread_barrier_t together;

static void *init_and_use(void *data)
{
    atomic_int *good = data;
    for (int i = 0; i < 50; i++) {
        unsigned seen = 0;
        pthread_barrier_wait(&together);
        if (hsa_init() != HSA_STATUS_SUCCESS)
            continue;
        bool works = hsa_iterate_agents(nothing_to_do, &seen) == HSA_STATUS_SUCCESS && seen >= 2;
        hsa_signal_t signal;
        works &= hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS && hsa_signal_destroy(signal) == HSA_STATUS_SUCCESS;
        works &= hsa_shut_down() == HSA_STATUS_SUCCESS;
        atomic_fetch_add(good, works);
    }
    return NULL;
}

static void many_threads_initialise(const void *data)
{
    (void)data;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    atomic_int good = 0;
    NEED(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&threads[i], NULL, init_and_use, &good) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(good == THREADS * 50, "%d of %d lives were good", good, THREADS * 50);
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

/* The shut-down takes queues with work and waiting handlers along. */
static bool stay(hsa_signal_value_t value, void *data) { (void)value; (void)data; return true; }

static void shut_down_with_work_in_flight(const void *data)
{
    (void)data;
    NEED_OK(hsa_init());
    find_agents();
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    struct kernel busy = find_kernel(&module, gpu->handle, "busy.kd");
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    struct {
        void *out;
        uint32_t rounds;
    } *kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg->out = shared_alloc(64 * 4);
    kernarg->rounds = 100000;
    hsa_signal_t done = new_signal(20), never = new_signal(1);
    CHECK_OK(hsa_amd_signal_async_handler(never, HSA_SIGNAL_CONDITION_EQ, 0, stay, NULL));
    for (int i = 0; i < 20; i++) {
        hsa_kernel_dispatch_packet_t packet = dispatch_packet(&busy, kernarg, 64, 64, done);
        submit(queue, &packet);
    }
    CHECK_OK(hsa_shut_down());
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
    one_life(false);
}

/* A process that just ends, without shutting down. */
static void exit_without_shut_down(const void *data)
{
    bool from_main = data != NULL;
    fflush(stdout);
    pid_t child = fork();
    NEED(child >= 0);
    if (child == 0) {
        alarm(20);
        NEED(hsa_init() == HSA_STATUS_SUCCESS);
        find_agents();
        new_queue(gpu->handle, 64);
        if (from_main)
            exit(7);
        quick_exit(7);
    }
    int status = 0;
    NEED(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the process ended with status %#x", (unsigned)status);
}

/* After a fork the child gets a defined error or a fresh runtime, and the parent goes on. */
static void fork_after_init(const void *data)
{
    (void)data;
    NEED_OK(hsa_init());
    find_agents();
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    hsa_signal_t signal = new_signal(1);
    void *memory = shared_alloc(4096);
    fflush(stdout);
    pid_t child = fork();
    NEED(child >= 0);
    if (child == 0) {
        alarm(20);
        unsigned seen = 0;
        hsa_status_t status = hsa_iterate_agents(nothing_to_do, &seen);
        if (status == HSA_STATUS_SUCCESS && seen >= 2)
            _exit(0); /* a runtime that survived */
        if (status != HSA_STATUS_ERROR_NOT_INITIALIZED)
            _exit(11);
        status = hsa_init();
        if (status != HSA_STATUS_SUCCESS)
            _exit(status == HSA_STATUS_ERROR_OUT_OF_RESOURCES || status == HSA_STATUS_ERROR ? 0 : 12);
        if (hsa_iterate_agents(nothing_to_do, &seen) != HSA_STATUS_SUCCESS || seen < 2)
            _exit(13);
        _exit(hsa_shut_down() == HSA_STATUS_SUCCESS ? 0 : 14);
    }
    int status = 0;
    NEED(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status), "the child was killed by signal %d", WTERMSIG(status));
    CHECK(WEXITSTATUS(status) == 0, "the child failed in step %d", WEXITSTATUS(status));
    CHECK_OK(hsa_signal_destroy(signal));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_amd_memory_pool_free(memory));
    CHECK_OK(hsa_shut_down());
    one_life(false);
}

/* A child that only runs something else is the usual case. */
static void fork_and_exec(const void *data)
{
    (void)data;
    NEED_OK(hsa_init());
    find_agents();
    hsa_queue_t *queue = new_queue(gpu->handle, 64);
    CHECK(system("exit 3") >> 8 == 3, "a program that was started from here did not run");
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    root = argv[1];
    isolate("references_are_counted", references_are_counted, NULL);
    isolate("a_thousand_lives", a_thousand_lives, NULL);
    isolate("busy_lives that clean up", busy_lives, NULL);
    isolate("busy_lives that leave everything behind", busy_lives, "leave");
    isolate("objects_come_and_go", objects_come_and_go, NULL);
    isolate("many_threads_initialise", many_threads_initialise, NULL);
    isolate("shut_down_with_work_in_flight", shut_down_with_work_in_flight, NULL);
    isolate("exit_without_shut_down", exit_without_shut_down, "main");
    isolate("quick_exit_without_shut_down", exit_without_shut_down, NULL);
    isolate("fork_after_init", fork_after_init, NULL);
    isolate("fork_and_exec", fork_and_exec, NULL);
    return check_summary();
}
