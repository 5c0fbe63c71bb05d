/* Threads that sleep until a device, or the host, changes a signal: alone, on one signal together, on one of several, in a
 * handler, with time limits, and in a rhythm. Use: sleepers [direct | relayed]; where that is said, the runtime's own thread
 * for events must have slept, or must have run, while one thread after the other was woken by a device. */
#include "machine.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

static hsa_queue_t *queue;

/* A packet that waits for a gate, and everything behind it in the queue with it, and then counts a signal down. */
static void after_gate(hsa_queue_t *queue, hsa_signal_t gate, hsa_signal_t done)
{
    hsa_barrier_and_packet_t packet = { .header = packet_header(HSA_PACKET_TYPE_BARRIER_AND, false), .completion_signal = done };
    packet.dep_signal[0] = gate;
    submit(queue, &packet);
}

/* Opens gates, each some time after it was told to. */
static struct order {
    hsa_signal_t gate;
    unsigned microseconds;
} order;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *open_gates(void *data)
{
    (void)data;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (order.gate.handle == 0)
            pthread_cond_wait(&changed, &lock);
        struct order now = order;
        order.gate.handle = 0;
        pthread_mutex_unlock(&lock);
        usleep(now.microseconds);
        hsa_signal_store_screlease(now.gate, 0);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

static void open_later(hsa_signal_t gate, unsigned microseconds)
{
    pthread_mutex_lock(&lock);
    order = (struct order){ gate, microseconds };
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

/* Sleeps until a device answers. */
static void one_wait(unsigned microseconds)
{
    hsa_signal_t gate = new_signal(1), done = new_signal(1);
    after_gate(queue, gate, done);
    open_later(gate, microseconds);
    hsa_signal_value_t seen =
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    CHECK(seen == 0, "a wait of %u us ended with %ld", microseconds, (long)seen);
    CHECK_OK(hsa_signal_destroy(gate));
    CHECK_OK(hsa_signal_destroy(done));
}

/* How often the thread of this name went to sleep by itself; -1 without such a thread. */
static long sleeps_of(const char *name)
{
    long sleeps = -1;
    DIR *tasks = opendir("/proc/self/task");
    NEED(tasks != NULL);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], line[200];
        bool is_it = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *file = fopen(path, "r");
        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            char value[100];
            if (sscanf(line, "Name: %99s", value) == 1)
                is_it = strcmp(value, name) == 0;
            if (is_it)
                (void)sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
        }
        if (file != NULL)
            fclose(file);
    }
    closedir(tasks);
    return sleeps;
}

/* ---- one after the other ---- */

static void alone(const char *how)
{
    enum { WAITS = 24 };
    /* The first may find the thread at work for what came before. */
    one_wait(2000);
    long before = sleeps_of("hansa-events");
    for (unsigned i = 0; i < WAITS; i++)
        one_wait(1000 + i * 7919 % 4000);
    long ran = sleeps_of("hansa-events") - before;
    if (strcmp(how, "direct") == 0)
        CHECK(before >= 0 && ran <= WAITS / 8, "the thread for events slept %ld times in %d waits", ran, WAITS);
    if (strcmp(how, "relayed") == 0)
        CHECK(before >= 0 && ran >= WAITS / 2, "the thread for events slept %ld times in %d waits", ran, WAITS);
}

/* ---- the host wakes, too ---- */

static hsa_signal_t ball, back;

static void *play(void *data)
{
    long rounds = *(long *)data;
    for (long i = 1; i <= rounds; i++) {
        while (hsa_signal_wait_scacquire(ball, HSA_SIGNAL_CONDITION_EQ, i, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) != i)
            ;
        hsa_signal_store_screlease(back, i);
    }
    return NULL;
}

static void by_the_host(void)
{
    long rounds = 60;
    ball = new_signal(0);
    back = new_signal(0);
    pthread_t player;
    NEED(pthread_create(&player, NULL, play, &rounds) == 0);
    for (long i = 1; i <= rounds; i++) {
        /* Asleep, and about to sleep. */
        usleep(i % 3 == 0 ? 0 : 200 + (unsigned)i * 37 % 400);
        hsa_signal_add_screlease(ball, 1);
        hsa_signal_value_t seen =
            hsa_signal_wait_scacquire(back, HSA_SIGNAL_CONDITION_GTE, i, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
        CHECK(seen == i, "round %ld came back as %ld", i, (long)seen);
    }
    pthread_join(player, NULL);
    CHECK_OK(hsa_signal_destroy(ball));
    CHECK_OK(hsa_signal_destroy(back));
}

/* ---- many ---- */

enum { SLEEPERS = 7 };
static hsa_signal_t dones[SLEEPERS];
static _Atomic unsigned awake;

static void *sleep_on(void *data)
{
    hsa_signal_t done = *(hsa_signal_t *)data;
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    awake++;
    return NULL;
}

static void together(void)
{
    for (unsigned round = 0; round < 6; round++) {
        hsa_signal_t gates[SLEEPERS];
        pthread_t threads[2 * SLEEPERS];
        awake = 0;
        for (unsigned i = 0; i < SLEEPERS; i++) {
            gates[i] = new_signal(1);
            dones[i] = new_signal(1);
        }
        /* Two on each signal. */
        for (unsigned i = 0; i < 2 * SLEEPERS; i++)
            NEED(pthread_create(&threads[i], NULL, sleep_on, &dones[i / 2]) == 0);
        for (unsigned i = 0; i < SLEEPERS; i++)
            after_gate(queue, gates[i], dones[i]);
        usleep(round % 2 == 0 ? 3000 : 100);
        for (unsigned i = 0; i < SLEEPERS; i++) {
            hsa_signal_store_screlease(gates[i], 0);
            usleep(round < 3 ? 600 : 0);
        }
        for (unsigned i = 0; i < 2 * SLEEPERS; i++)
            pthread_join(threads[i], NULL);
        CHECK(awake == 2 * SLEEPERS, "%u of %d awoke", awake, 2 * SLEEPERS);
        for (unsigned i = 0; i < SLEEPERS; i++) {
            CHECK_OK(hsa_signal_destroy(gates[i]));
            CHECK_OK(hsa_signal_destroy(dones[i]));
        }
    }
}

/* ---- one of several, and a handler beside a sleeper ---- */

static void one_of_several(void)
{
    for (unsigned which = 0; which < 4; which++) {
        hsa_signal_t gate = new_signal(1), signals[4];
        hsa_signal_condition_t conditions[4];
        hsa_signal_value_t values[4], seen = -1;
        for (unsigned i = 0; i < 4; i++) {
            signals[i] = new_signal(1);
            conditions[i] = HSA_SIGNAL_CONDITION_LT;
            values[i] = 1;
        }
        after_gate(queue, gate, signals[which]);
        open_later(gate, 2500);
        uint32_t found =
            hsa_amd_signal_wait_any(4, signals, conditions, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &seen);
        CHECK(found == which && seen == 0, "signal %u of several was %u with %ld", which, found, (long)seen);
        CHECK_OK(hsa_signal_destroy(gate));
        for (unsigned i = 0; i < 4; i++)
            CHECK_OK(hsa_signal_destroy(signals[i]));
    }
}

static _Atomic unsigned called;

static bool count_call(hsa_signal_value_t value, void *data)
{
    (void)value;
    (void)data;
    called++;
    return false;
}

static void handlers(void)
{
    hsa_queue_t *other = new_queue(gpu->handle, 64);
    for (unsigned i = 0; i < 12; i++) {
        hsa_signal_t gate = new_signal(1), done = new_signal(1);
        called = 0;
        NEED_OK(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_LT, 1, count_call, NULL));
        after_gate(other, gate, done);
        /* Alone, and while this thread sleeps as well. */
        if (i % 2 == 0)
            one_wait(1500);
        else
            usleep(1500);
        CHECK(called == 0, "a handler was called before its signal changed");
        hsa_signal_store_screlease(gate, 0);
        for (double end = seconds() + WAIT_LIMIT; called == 0 && seconds() < end;)
            usleep(100);
        CHECK(called == 1, "a handler was called %u times", called);
        CHECK_OK(hsa_signal_destroy(gate));
        CHECK_OK(hsa_signal_destroy(done));
    }
    CHECK_OK(hsa_queue_destroy(other));
}

/* ---- time ---- */

static void limits(void)
{
    uint64_t hz = 0;
    NEED_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz));
    hsa_signal_t never = new_signal(1);
    for (unsigned milliseconds = 1; milliseconds <= 64; milliseconds *= 4) {
        double begun = seconds();
        hsa_signal_value_t seen = hsa_signal_wait_scacquire(never, HSA_SIGNAL_CONDITION_LT, 1, hz / 1000 * milliseconds,
                                                            HSA_WAIT_STATE_BLOCKED);
        double took = seconds() - begun;
        CHECK(seen == 1, "a signal that nobody changed is %ld", (long)seen);
        CHECK(took >= milliseconds * 0.99e-3 && took < WAIT_LIMIT, "a wait of %u ms took %g s", milliseconds, took);
    }
    CHECK_OK(hsa_signal_destroy(never));
}

/* Waits that are alike, and then one that is early and one that is late. */
static void rhythm(void)
{
    for (unsigned i = 0; i < 12; i++)
        one_wait(9000);
    one_wait(2000);
    for (unsigned i = 0; i < 12; i++)
        one_wait(9000);
    one_wait(40000);
    one_wait(0);
    one_wait(9000);
}

int main(int argc, char **argv)
{
    NEED_OK(hsa_init());
    find_agents();
    NEED(gpu != NULL);
    queue = new_queue(gpu->handle, 256);
    pthread_t opener;
    NEED(pthread_create(&opener, NULL, open_gates, NULL) == 0);
    alone(argc > 1 ? argv[1] : "");
    by_the_host();
    together();
    one_of_several();
    handlers();
    limits();
    rhythm();
    /* And again, with another runtime. */
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    NEED_OK(hsa_init());
    find_agents();
    queue = new_queue(gpu->handle, 256);
    one_wait(3000);
    CHECK_OK(hsa_queue_destroy(queue));
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
