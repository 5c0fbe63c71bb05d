/* Processes that end, fork and start in unusual ways: every ending keeps its exit status and none hangs, whatever the
 * runtime is doing at the time. Use: endings KERNELS. */
#include "isolate.h"
#include "machine.h"

#include <pthread.h>

enum { STATUS = 7, LIMIT_SECONDS = 30, CHILDS = 1234 };

static const char *root;

/* ---- what may go on when the process ends ---- */

static hsa_signal_t never;
static void *shared;
static hsa_queue_t *queue;

static void *wait_forever(void *data)
{
    (void)data;
    hsa_signal_wait_scacquire(never, HSA_SIGNAL_CONDITION_EQ, 99, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    return NULL;
}

static void *wait_for_any(void *data)
{
    (void)data;
    hsa_signal_t signals[2] = { never, never };
    hsa_signal_condition_t conditions[2] = { HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ };
    hsa_signal_value_t values[2] = { 98, 99 };
    hsa_amd_signal_wait_any(2, signals, conditions, values, UINT64_MAX, HSA_WAIT_STATE_ACTIVE, NULL);
    return NULL;
}

static void *allocate_forever(void *data)
{
    (void)data;
    for (;;) {
        hsa_signal_t signal;
        void *memory;
        if (hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS)
            hsa_signal_destroy(signal);
        if (hsa_amd_memory_pool_allocate(cpu->fine, 4096, 0, &memory) == HSA_STATUS_SUCCESS)
            hsa_amd_memory_pool_free(memory);
    }
    return NULL;
}

static void *live_forever(void *data)
{
    (void)data;
    for (;;)
        if (hsa_init() == HSA_STATUS_SUCCESS)
            hsa_shut_down();
    return NULL;
}

static bool call_again(hsa_signal_value_t value, void *data)
{
    (void)value;
    (void)data;
    return true;
}

static void start_thread(void *(*run)(void *))
{
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    pthread_detach(thread);
}

static void start_kernel(void)
{
    struct module module = load_module(kernel_path(root, gpu, "O3", "control"), gpu->handle);
    struct kernel wait_flag = find_kernel(&module, gpu->handle, "wait_flag.kd");
    uint32_t *words = shared_alloc(4096);
    void **kernarg = pool_alloc(cpu->kernarg, 4096);
    memset(kernarg, 0, 4096);
    kernarg[0] = words;
    kernarg[1] = words + 1;
    kernarg[2] = words + 16;
    hsa_kernel_dispatch_packet_t packet = dispatch_packet(&wait_flag, kernarg, 64, 64, new_signal(1));
    submit(queue, &packet);
    for (double end = seconds() + 10; ((volatile uint32_t *)words)[1] == 0 && seconds() < end;)
        pause_ms(1);
    NEED(((volatile uint32_t *)words)[1] == 1);
}

enum { NOTHING, WAITING, ANY, BUSY, HANDLER, KERNEL, LIVES, ACTIVITIES };
static const char *const activities[ACTIVITIES] = { "nothing",           "a thread waits",  "a thread waits for any", "threads allocate",
                                                    "a handler is called", "a kernel runs", "threads init and shut down" };

static void be_busy_with(int activity)
{
    NEED(hsa_init() == HSA_STATUS_SUCCESS);
    find_agents();
    never = new_signal(1);
    shared = shared_alloc(4096);
    queue = new_queue(gpu->handle, 64);
    switch (activity) {
    case WAITING:
        start_thread(wait_forever);
        break;
    case ANY:
        start_thread(wait_for_any);
        break;
    case BUSY:
        for (int i = 0; i < 4; i++)
            start_thread(allocate_forever);
        break;
    case HANDLER:
        NEED_OK(hsa_amd_signal_async_handler(never, HSA_SIGNAL_CONDITION_EQ, 1, call_again, NULL));
        break;
    case KERNEL:
        start_kernel();
        break;
    case LIVES:
        for (int i = 0; i < 4; i++)
            start_thread(live_forever);
        break;
    }
    pause_ms(2);
}

/* ---- what is still called when it ends ---- */

static bool in_destructor;

/* What runtimes above this one do late: give everything back, in any order, once more than allowed. */
static void give_back(void)
{
    hsa_signal_destroy(never);
    hsa_amd_memory_pool_free(shared);
    hsa_queue_destroy(queue);
    hsa_shut_down();
    hsa_signal_destroy(never);
    hsa_amd_memory_pool_free(shared);
    hsa_shut_down();
}

static void give_back_object(void *object)
{
    (void)object;
    give_back();
}

/* What a compiler of C++ makes of an object with a destructor: `static Object object;`. */
extern int __cxa_atexit(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle;

static void only_shut_down(void) { hsa_shut_down(); }

__attribute__((destructor)) static void at_the_very_end(void)
{
    if (in_destructor)
        give_back();
}

enum { PLAIN, ATEXIT_BEFORE, ATEXIT_AFTER, ATEXIT_SHUT_DOWN, DESTRUCTOR, OBJECT_BEFORE, OBJECT_AFTER, QUICK, AT_QUICK, FROM_THREAD, FROM_HANDLER, THREAD_ENDS, ENDINGS };
static const char *const endings[ENDINGS] = { "exit", "an atexit handler from before hsa_init", "an atexit handler", "an atexit handler that only shuts down",
                                              "a static destructor", "an object of C++ from before hsa_init", "an object of C++", "_exit", "an at_quick_exit handler", "exit in another thread",
                                              "exit in a handler of the runtime", "the main thread ends before the process" };

static void *exit_here(void *data)
{
    (void)data;
    exit(STATUS);
}

static void *exit_a_little_later(void *data)
{
    (void)data;
    pause_ms(20);
    exit(STATUS);
}

static void exit_on_the_runtimes_thread(void *data)
{
    (void)data;
    exit(STATUS);
}

static void end_in(int ending, int activity)
{
    alarm(LIMIT_SECONDS);
    if (ending == ATEXIT_BEFORE)
        atexit(give_back);
    if (ending == OBJECT_BEFORE)
        __cxa_atexit(give_back_object, NULL, __dso_handle);
    be_busy_with(activity);
    switch (ending) {
    case ATEXIT_AFTER:
        atexit(give_back);
        break;
    case OBJECT_AFTER:
        __cxa_atexit(give_back_object, NULL, __dso_handle);
        break;
    case ATEXIT_SHUT_DOWN:
        atexit(only_shut_down);
        break;
    case DESTRUCTOR:
        in_destructor = true;
        break;
    case QUICK:
        _exit(STATUS);
    case AT_QUICK:
        at_quick_exit(give_back);
        quick_exit(STATUS);
    case FROM_THREAD:
        start_thread(exit_here);
        wait_forever(NULL);
        break;
    case FROM_HANDLER:
        NEED_OK(hsa_amd_async_function(exit_on_the_runtimes_thread, NULL));
        wait_forever(NULL);
        break;
    case THREAD_ENDS:
        start_thread(exit_a_little_later);
        pthread_exit(NULL);
    }
    exit(STATUS);
}

/* One way to end, in all activities, several times: a race shows itself in some runs only. */
static void ends_well(const void *data)
{
    int ending = *(const int *)data;
    alarm(0);
    for (int round = 0; round < 3; round++)
        for (int activity = 0; activity < ACTIVITIES; activity++) {
            fflush(stdout);
            pid_t child = fork();
            NEED(child >= 0);
            if (child == 0)
                end_in(ending, activity);
            int status = 0;
            NEED(waitpid(child, &status, 0) == child);
            if (WIFSIGNALED(status))
                CHECK(false, "while %s: ended by signal %d", activities[activity], WTERMSIG(status));
            else
                CHECK(WEXITSTATUS(status) == STATUS, "while %s: exit status %d", activities[activity], WEXITSTATUS(status));
        }
}

/* ---- fork in every state ---- */

static hsa_status_t count(hsa_agent_t agent, void *data)
{
    (void)agent;
    (*(unsigned *)data)++;
    return HSA_STATUS_SUCCESS;
}

/* A child has no runtime: what it inherited is an error, never a crash, and it can have one of its own. */
static int life_of_a_child(bool inherits)
{
    unsigned seen = 0;
    if (hsa_iterate_agents(count, &seen) != HSA_STATUS_ERROR_NOT_INITIALIZED)
        return 11;
    if (inherits) {
        if (hsa_signal_destroy(never) != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 12;
        if (hsa_queue_destroy(queue) != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 13;
        if (hsa_amd_memory_pool_free(shared) != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 14;
        if (hsa_shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 15;
        hsa_signal_wait_relaxed(never, HSA_SIGNAL_CONDITION_EQ, 99, 0, HSA_WAIT_STATE_BLOCKED);
        hsa_signal_store_screlease(never, CHILDS);
    }
    for (int i = 0; i < 2; i++) {
        if (hsa_init() != HSA_STATUS_SUCCESS)
            return 16;
        find_agents();
        hsa_signal_t signal = new_signal(1);
        void *memory = shared_alloc(4096);
        hsa_queue_t *own = new_queue(gpu->handle, 64);
        hsa_barrier_and_packet_t barrier = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, true), .completion_signal = signal };
        submit(own, &barrier);
        if (!wait_zero(signal, 10))
            return 17;
        if (hsa_queue_destroy(own) || hsa_signal_destroy(signal) || hsa_amd_memory_pool_free(memory) || hsa_shut_down())
            return 18;
    }
    return 0;
}

static void check_child(pid_t child, const char *what)
{
    int status = 0;
    NEED(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status))
        CHECK(false, "%s: the child was ended by signal %d", what, WTERMSIG(status));
    else
        CHECK(WEXITSTATUS(status) == 0, "%s: the child failed in step %d", what, WEXITSTATUS(status));
}

static void fork_while(const void *data)
{
    int activity = *(const int *)data;
    alarm(0);
    be_busy_with(activity);
    for (int i = 0; i < 20; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(LIMIT_SECONDS);
            _exit(life_of_a_child(true));
        }
        check_child(child, activities[activity]);
    }
    /* What a child stores is nothing to its parent, which goes on. */
    CHECK(hsa_signal_load_relaxed(never) != CHILDS, "a child stored to its parent's signal");
    CHECK_OK(hsa_amd_memory_pool_free(shared));
    CHECK_OK(hsa_queue_destroy(queue));
}

static void fork_before_and_after(const void *data)
{
    (void)data;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(life_of_a_child(false));
    check_child(child, "before hsa_init");
    be_busy_with(NOTHING);
    CHECK_OK(hsa_shut_down());
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(life_of_a_child(false));
    check_child(child, "after hsa_shut_down");
}

static void fork_in_a_child(const void *data)
{
    (void)data;
    be_busy_with(WAITING);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int step = life_of_a_child(true);
        if (step != 0)
            _exit(step);
        checks_failed = 0;
        be_busy_with(WAITING);
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(life_of_a_child(true));
        int status = 0;
        _exit(waitpid(grandchild, &status, 0) == grandchild && status == 0 ? 0 : 20);
    }
    check_child(child, "a child that forks");
}

/* A child whose first hsa_init fails has no runtime afterwards, not its parent's either, and can have one when it succeeds. */
static int child_that_fails_first(void)
{
    unsigned seen = 0;
    if (setenv("HANSA_PLUGIN_SELECT", "org.example.nobody", 1) != 0)
        return 31;
    for (int i = 0; i < 3; i++) {
        hsa_status_t status = hsa_init();
        if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 32;
        if (hsa_iterate_agents(count, &seen) != HSA_STATUS_ERROR_NOT_INITIALIZED || seen != 0)
            return 33;
        if (hsa_shut_down() != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 34;
        if (hsa_signal_destroy(never) != HSA_STATUS_ERROR_NOT_INITIALIZED)
            return 35;
    }
    unsetenv("HANSA_PLUGIN_SELECT");
    return life_of_a_child(true);
}

static void fork_and_fail(const void *data)
{
    int activity = *(const int *)data;
    be_busy_with(activity);
    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(LIMIT_SECONDS);
            _exit(child_that_fails_first());
        }
        check_child(child, "a child whose first hsa_init fails");
    }
    CHECK_OK(hsa_amd_memory_pool_free(shared));
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

/* A child that ends by exit() runs the handlers of its parent. */
static void child_runs_the_parents_handlers(const void *data)
{
    (void)data;
    be_busy_with(WAITING);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        atexit(give_back);
        exit(0);
    }
    check_child(child, "exit() in a child");
    CHECK_OK(hsa_signal_destroy(new_signal(1)));
}

/* ---- a thousand threads ---- */

enum { CROWD = 1000 };
static pthread_barrier_t together;
static atomic_int good_lives;

static void *one_of_a_crowd(void *data)
{
    bool apart = data != NULL;
    pthread_barrier_wait(&together);
    for (int i = 0; i < 3; i++) {
        unsigned seen = 0;
        hsa_signal_t signal;
        bool works = hsa_init() == HSA_STATUS_SUCCESS;
        if (!works)
            continue;
        if (!apart) /* everybody is in, and nobody is out yet */
            pthread_barrier_wait(&together);
        works &= hsa_iterate_agents(count, &seen) == HSA_STATUS_SUCCESS && seen >= 2;
        works &= hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS && hsa_signal_destroy(signal) == HSA_STATUS_SUCCESS;
        if (!apart)
            pthread_barrier_wait(&together);
        works &= hsa_shut_down() == HSA_STATUS_SUCCESS;
        atomic_fetch_add(&good_lives, works);
        if (!apart) {
            pthread_barrier_wait(&together);
            works = hsa_iterate_agents(count, &seen) == HSA_STATUS_ERROR_NOT_INITIALIZED;
            atomic_fetch_add(&good_lives, works);
            pthread_barrier_wait(&together);
        }
    }
    return NULL;
}

static void a_thousand_threads(const void *data)
{
    bool apart = data != NULL;
    alarm(240);
    static pthread_t threads[CROWD];
    pthread_attr_t small;
    NEED(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 256 << 10) == 0);
    NEED(pthread_barrier_init(&together, NULL, CROWD) == 0);
    good_lives = 0;
    for (int i = 0; i < CROWD; i++)
        NEED(pthread_create(&threads[i], &small, one_of_a_crowd, (void *)data) == 0);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    int expected = CROWD * 3 * (apart ? 1 : 2);
    CHECK(good_lives == expected, "%d of %d lives were good", good_lives, expected);
    CHECK_STATUS(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

int main(int argc, char **argv)
{
    NEED(argc == 2);
    root = argv[1];
    char name[128];
    for (int i = 0; i < ENDINGS; i++) {
        snprintf(name, sizeof name, "ends_well: %s", endings[i]);
        isolate(name, ends_well, &i);
    }
    for (int i = NOTHING; i < LIVES; i++) {
        snprintf(name, sizeof name, "fork_while: %s", activities[i]);
        isolate(name, fork_while, &i);
    }
    isolate("fork_before_and_after", fork_before_and_after, NULL);
    isolate("fork_in_a_child", fork_in_a_child, NULL);
    for (int i = NOTHING; i <= WAITING; i += WAITING - NOTHING)
        isolate("fork_and_fail", fork_and_fail, &i);
    isolate("child_runs_the_parents_handlers", child_runs_the_parents_handlers, NULL);
    isolate("a_thousand_threads together", a_thousand_threads, NULL);
    isolate("a_thousand_threads apart", a_thousand_threads, "apart");
    return check_summary();
}
