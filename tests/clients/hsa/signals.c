/* Signals: every operation in every memory order, waits with every condition and their time limits, waits for one of many,
 * handlers, and many threads at once. */
#include "machine.h"

#include <pthread.h>

/* ---- operations ---- */

#define FOUR_ORDERS(X, operation) \
    X(hsa_signal_##operation##_relaxed) \
    X(hsa_signal_##operation##_scacquire) \
    X(hsa_signal_##operation##_screlease) \
    X(hsa_signal_##operation##_scacq_screl) \
    X(hsa_signal_##operation##_acquire) \
    X(hsa_signal_##operation##_release) \
    X(hsa_signal_##operation##_acq_rel)

static void check_value(hsa_signal_t signal, hsa_signal_value_t want, const char *after)
{
    hsa_signal_value_t relaxed = hsa_signal_load_relaxed(signal), acquire = hsa_signal_load_scacquire(signal),
                       old_name = hsa_signal_load_acquire(signal);
    check_at(__FILE__, __LINE__, relaxed == want && acquire == want && old_name == want, after, "value %ld, expected %ld",
             (long)relaxed, (long)want);
}

static void operations(void)
{
    static const hsa_signal_value_t values[] = { 0, 1, -1, 5, INT64_MAX, INT64_MIN, 0x123456789abcdef };
    hsa_signal_t s = new_signal(0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const hsa_signal_value_t a = values[i], b = values[(i + 3) % (sizeof values / sizeof *values)];
        const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
#define STORE(store) \
    store(s, b); \
    store(s, a); \
    check_value(s, a, #store);
        STORE(hsa_signal_store_relaxed)
        STORE(hsa_signal_store_screlease)
        STORE(hsa_signal_store_release)
        STORE(hsa_signal_silent_store_relaxed)
        STORE(hsa_signal_silent_store_screlease)
#undef STORE
#define CHANGE(change, result) \
    hsa_signal_store_relaxed(s, a); \
    change(s, b); \
    check_value(s, (hsa_signal_value_t)(result), #change);
#define ADD(f) CHANGE(f, ua + ub)
#define SUBTRACT(f) CHANGE(f, ua - ub)
#define AND(f) CHANGE(f, ua & ub)
#define OR(f) CHANGE(f, ua | ub)
#define XOR(f) CHANGE(f, ua ^ ub)
        FOUR_ORDERS(ADD, add)
        FOUR_ORDERS(SUBTRACT, subtract)
        FOUR_ORDERS(AND, and)
        FOUR_ORDERS(OR, or)
        FOUR_ORDERS(XOR, xor)
#define EXCHANGE(f) \
    hsa_signal_store_relaxed(s, a); \
    CHECK(f(s, b) == a, "an exchange gives the value before"); \
    check_value(s, b, #f);
        FOUR_ORDERS(EXCHANGE, exchange)
#define CAS(f) \
    hsa_signal_store_relaxed(s, a); \
    CHECK(f(s, a, b) == a, "a successful exchange gives the value before"); \
    check_value(s, b, #f); \
    if (a != b) { \
        CHECK(f(s, a, 77) == b, "a failed exchange gives the value that it saw"); \
        check_value(s, b, #f); \
    }
        FOUR_ORDERS(CAS, cas)
    }
    CHECK_OK(hsa_signal_destroy(s));
}

static void creation(void)
{
    hsa_agent_t consumers[2] = { cpu->handle, gpu->handle };
    hsa_signal_t s;
    for (uint32_t count = 1; count <= 2; count++) {
        CHECK_OK(hsa_signal_create(-3, count, consumers, &s));
        check_value(s, -3, "hsa_signal_create with consumers");
        CHECK_OK(hsa_signal_destroy(s));
        CHECK_OK(hsa_amd_signal_create(INT64_MIN, count, consumers, 0, &s));
        check_value(s, INT64_MIN, "hsa_amd_signal_create with consumers");
        CHECK_OK(hsa_signal_destroy(s));
    }
    CHECK_OK(hsa_amd_signal_create(9, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &s));
    volatile hsa_signal_value_t *value = NULL;
    CHECK_OK(hsa_amd_signal_value_pointer(s, &value));
    if (CHECK(value != NULL, "no address of the value")) {
        CHECK(*value == 9, "the address holds %ld", (long)*value);
        hsa_signal_store_screlease(s, 10);
        CHECK(*value == 10, "the address holds %ld", (long)*value);
    }
    CHECK_OK(hsa_signal_destroy(s));

    enum { MANY = 5000 };
    static hsa_signal_t many[MANY];
    uint32_t twice = 0, odd = 0;
    for (int i = 0; i < MANY; i++)
        many[i] = new_signal(i);
    for (int i = 0; i < MANY; i++) {
        twice += i > 0 && many[i].handle == many[i - 1].handle;
        odd += hsa_signal_load_relaxed(many[i]) != i;
    }
    CHECK(twice == 0 && odd == 0, "%u handles twice, %u wrong values", twice, odd);
    for (int i = 0; i < MANY; i++)
        NEED_OK(hsa_signal_destroy(many[i]));
}

/* ---- waits ---- */

static const struct {
    hsa_signal_condition_t condition;
    hsa_signal_value_t met, unmet, compare;
} conditions[] = {
    { HSA_SIGNAL_CONDITION_EQ, 5, 6, 5 },   { HSA_SIGNAL_CONDITION_NE, 6, 5, 5 },   { HSA_SIGNAL_CONDITION_LT, 4, 5, 5 },
    { HSA_SIGNAL_CONDITION_LT, -9, 0, -8 }, { HSA_SIGNAL_CONDITION_GTE, 5, 4, 5 },  { HSA_SIGNAL_CONDITION_GTE, 0, INT64_MIN, -1 },
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static const hsa_wait_state_t states[] = { HSA_WAIT_STATE_BLOCKED, HSA_WAIT_STATE_ACTIVE };

static hsa_signal_value_t wait_by(int name, hsa_signal_t s, hsa_signal_condition_t condition, hsa_signal_value_t compare,
                                  uint64_t timeout, hsa_wait_state_t state)
{
    switch (name) {
    case 0: return hsa_signal_wait_scacquire(s, condition, compare, timeout, state);
    case 1: return hsa_signal_wait_relaxed(s, condition, compare, timeout, state);
    default: return hsa_signal_wait_acquire(s, condition, compare, timeout, state);
    }
}

static void waits_that_are_met(void)
{
    for (int i = 0; i < CONDITIONS; i++)
        for (int state = 0; state < 2; state++)
            for (int name = 0; name < 3; name++) {
                hsa_signal_t s = new_signal(conditions[i].met);
                double start = seconds();
                hsa_signal_value_t seen = wait_by(name, s, conditions[i].condition, conditions[i].compare,
                                                  UINT64_MAX, states[state]);
                CHECK(seen == conditions[i].met, "row %d: saw %ld", i, (long)seen);
                CHECK(seconds() - start < 1.0, "row %d: a condition that is met was waited for %.3f s", i, seconds() - start);
                CHECK_OK(hsa_signal_destroy(s));
            }
}

/* The limit is a hint: the wait may end before it, but not long after it. */
static void waits_that_time_out(void)
{
    uint64_t second = ticks_per_second();
    for (int i = 0; i < CONDITIONS; i++)
        for (int state = 0; state < 2; state++) {
            hsa_signal_t s = new_signal(conditions[i].unmet);
            double start = seconds();
            hsa_signal_value_t seen = wait_by(i % 3, s, conditions[i].condition, conditions[i].compare, second / 50,
                                              states[state]);
            double took = seconds() - start;
            CHECK(seen == conditions[i].unmet, "row %d: saw %ld", i, (long)seen);
            CHECK(took < 2.0, "row %d: 20 ms took %.3f s", i, took);
            start = seconds();
            seen = wait_by(i % 3, s, conditions[i].condition, conditions[i].compare, 0, states[state]);
            CHECK(seen == conditions[i].unmet && seconds() - start < 1.0, "row %d: no time at all took %.3f s", i,
                  seconds() - start);
            CHECK_OK(hsa_signal_destroy(s));
        }
}

/* Two seconds of waiting must not be two seconds of computing. */
static void blocked_waits_sleep(void)
{
    hsa_signal_t s = new_signal(1);
    struct timespec before, after;
    double start = seconds();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    while (seconds() - start < 1.0)
        hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_EQ, 0, ticks_per_second(), HSA_WAIT_STATE_BLOCKED);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    double busy = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
    CHECK(busy < 0.25, "%.3f s of processor time in a second of waiting", busy);
    CHECK_OK(hsa_signal_destroy(s));
}

enum change { STORE, SILENT, ADD_ONE, SUBTRACT_ONE, EXCHANGE_ONE, CAS_ONE, XOR_ONE, CHANGES };

struct later {
    hsa_signal_t signal;
    hsa_signal_value_t from, to;
    enum change change;
    long ms;
};

static void *change_later(void *data)
{
    struct later *later = data;
    pause_ms(later->ms);
    hsa_signal_t s = later->signal;
    switch (later->change) {
    case STORE: hsa_signal_store_screlease(s, later->to); break;
    case SILENT: hsa_signal_silent_store_screlease(s, later->to); break;
    case ADD_ONE: hsa_signal_add_screlease(s, later->to - later->from); break;
    case SUBTRACT_ONE: hsa_signal_subtract_screlease(s, later->from - later->to); break;
    case EXCHANGE_ONE: hsa_signal_exchange_screlease(s, later->to); break;
    case CAS_ONE: hsa_signal_cas_screlease(s, later->from, later->to); break;
    case XOR_ONE: hsa_signal_xor_screlease(s, later->from ^ later->to); break;
    case CHANGES: break;
    }
    return NULL;
}

/* A waiter is woken by every operation that changes the value, while it still spins and when it sleeps. */
static void waiters_are_woken(void)
{
    uint64_t second = ticks_per_second();
    for (int change = 0; change < CHANGES; change++)
        for (int sleepy = 0; sleepy < 2; sleepy++)
            for (int state = 0; state < 2; state++) {
                struct later later = { new_signal(10), 10, 3, change, sleepy ? 30 : 0 };
                pthread_t thread;
                double start = seconds();
                NEED(pthread_create(&thread, NULL, change_later, &later) == 0);
                hsa_signal_value_t seen = 10;
                /* A silent store need not wake anybody; it is seen by whoever looks. */
                uint64_t limit = change == SILENT ? second / 100 : 20 * second;
                while (seen != 3 && seconds() - start < 20)
                    seen = hsa_signal_wait_scacquire(later.signal, HSA_SIGNAL_CONDITION_LT, 10, limit, states[state]);
                CHECK(seen == 3, "change %d: saw %ld", change, (long)seen);
                CHECK(seconds() - start < 5, "change %d: woken after %.3f s", change, seconds() - start);
                pthread_join(thread, NULL);
                CHECK_OK(hsa_signal_destroy(later.signal));
            }
}

struct waiter {
    hsa_signal_t signal;
    hsa_signal_value_t seen;
};

static void *wait_for_zero(void *data)
{
    struct waiter *waiter = data;
    double end = seconds() + WAIT_LIMIT;
    do
        waiter->seen = hsa_signal_wait_scacquire(waiter->signal, HSA_SIGNAL_CONDITION_EQ, 0, 100 * ticks_per_second(),
                                                 HSA_WAIT_STATE_BLOCKED);
    while (waiter->seen != 0 && seconds() < end);
    return NULL;
}

static void all_waiters_are_woken(void)
{
    enum { WAITERS = 24 };
    struct waiter waiters[WAITERS];
    pthread_t threads[WAITERS];
    hsa_signal_t s = new_signal(1);
    for (int i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){ s, 1 };
        NEED(pthread_create(&threads[i], NULL, wait_for_zero, &waiters[i]) == 0);
    }
    pause_ms(50);
    double start = seconds();
    hsa_signal_store_screlease(s, 0);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(waiters[i].seen == 0, "waiter %d saw %ld", i, (long)waiters[i].seen);
    }
    CHECK(seconds() - start < 5, "%.3f s until all were awake", seconds() - start);
    CHECK_OK(hsa_signal_destroy(s));
}

/* ---- many threads ---- */

enum { THREADS = 8, ROUNDS = 20000 };

static void *add_and_subtract(void *data)
{
    hsa_signal_t s = *(hsa_signal_t *)data;
    for (int i = 0; i < ROUNDS; i++) {
        hsa_signal_add_relaxed(s, 3);
        hsa_signal_subtract_scacq_screl(s, 1);
        hsa_signal_value_t seen = hsa_signal_load_relaxed(s);
        while (hsa_signal_cas_scacq_screl(s, seen, seen + 1) != seen)
            seen = hsa_signal_load_relaxed(s);
    }
    return NULL;
}

static void no_update_is_lost(void)
{
    hsa_signal_t s = new_signal(0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&threads[i], NULL, add_and_subtract, &s) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_value(s, (hsa_signal_value_t)THREADS * ROUNDS * 3, "many threads");
    CHECK_OK(hsa_signal_destroy(s));
}

struct ball {
    hsa_signal_t mine, theirs;
    int data, rounds;
    int *other_data;
};

/* Back and forth a thousand times; plain data behind the signal has to be visible. */
static void *play(void *data)
{
    struct ball *ball = data;
    for (int i = 1; i <= ball->rounds; i++) {
        hsa_signal_value_t seen = 0;
        double end = seconds() + WAIT_LIMIT;
        while (seen < i && seconds() < end)
            seen = hsa_signal_wait_scacquire(ball->mine, HSA_SIGNAL_CONDITION_GTE, i, ticks_per_second(),
                                             i % 2 ? HSA_WAIT_STATE_BLOCKED : HSA_WAIT_STATE_ACTIVE);
        if (seen < i || ball->data != i)
            return (void *)(intptr_t)i;
        *ball->other_data = i;
        hsa_signal_add_screlease(ball->theirs, 1);
    }
    return NULL;
}

static void ping_pong(void)
{
    enum { HITS = 1000 };
    struct ball a = { new_signal(0), { 0 }, 0, HITS, NULL }, b = { new_signal(0), a.mine, 0, HITS, NULL };
    int back = 0;
    a.theirs = b.mine;
    b.other_data = &back;
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, play, &b) == 0);
    int failed = 0;
    for (int i = 1; i <= HITS && !failed; i++) {
        b.data = i;
        hsa_signal_add_screlease(b.mine, 1);
        hsa_signal_value_t seen = 0;
        double end = seconds() + WAIT_LIMIT;
        while (seen < i && seconds() < end)
            seen = hsa_signal_wait_scacquire(a.mine, HSA_SIGNAL_CONDITION_GTE, i, ticks_per_second(), HSA_WAIT_STATE_BLOCKED);
        failed = seen < i || back != i;
    }
    void *stopped = NULL;
    pthread_join(thread, &stopped);
    CHECK(!failed && !stopped, "the ball was lost in round %d", (int)(intptr_t)stopped);
    CHECK_OK(hsa_signal_destroy(a.mine));
    CHECK_OK(hsa_signal_destroy(b.mine));
}

/* ---- one of many ---- */

static void wait_any(void)
{
    uint64_t second = ticks_per_second();
    hsa_signal_t signals[4] = { new_signal(0), new_signal(5), new_signal(-1), new_signal(7) };
    hsa_signal_condition_t conds[4] = { HSA_SIGNAL_CONDITION_NE, HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_GTE,
                                        HSA_SIGNAL_CONDITION_EQ };
    hsa_signal_value_t values[4] = { 0, 5, 0, 8 }, seen = 99;
    CHECK(hsa_amd_signal_wait_any(4, signals, conds, values, second / 50, HSA_WAIT_STATE_BLOCKED, &seen) == UINT32_MAX,
          "nothing is met");
    CHECK(hsa_amd_signal_wait_any(4, signals, conds, values, 0, HSA_WAIT_STATE_ACTIVE, NULL) == UINT32_MAX, "nothing is met");
    for (uint32_t i = 0; i < 4; i++) {
        static const hsa_signal_value_t met[4] = { 1, -4, 0, 8 };
        hsa_signal_value_t before = hsa_signal_load_relaxed(signals[i]);
        struct later later = { signals[i], before, met[i], STORE, 20 };
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, change_later, &later) == 0);
        uint32_t which = hsa_amd_signal_wait_any(4, signals, conds, values, 20 * second,
                                                 i % 2 ? HSA_WAIT_STATE_ACTIVE : HSA_WAIT_STATE_BLOCKED, &seen);
        CHECK(which == i && seen == met[i], "signal %u with value %ld instead of %u with %ld", which, (long)seen, i,
              (long)met[i]);
        pthread_join(thread, NULL);
        hsa_signal_store_relaxed(signals[i], before);
    }
    for (int i = 0; i < 4; i++)
        CHECK_OK(hsa_signal_destroy(signals[i]));
}

static void signal_groups(void)
{
    hsa_signal_t signals[3] = { new_signal(1), new_signal(1), new_signal(1) }, seen_signal = { 0 };
    hsa_signal_condition_t conds[3] = { HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_EQ };
    hsa_signal_value_t values[3] = { 0, 0, 0 }, seen = 99;
    hsa_signal_group_t group;
    CHECK_OK(hsa_signal_group_create(3, signals, 1, &cpu->handle, &group));
    hsa_signal_store_screlease(signals[1], 0);
    CHECK_OK(hsa_signal_group_wait_any_scacquire(group, conds, values, HSA_WAIT_STATE_BLOCKED, &seen_signal, &seen));
    CHECK(seen_signal.handle == signals[1].handle && seen == 0, "another signal, value %ld", (long)seen);
    hsa_signal_store_screlease(signals[1], 1);
    struct later later = { signals[2], 1, 0, STORE, 20 };
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, change_later, &later) == 0);
    CHECK_OK(hsa_signal_group_wait_any_relaxed(group, conds, values, HSA_WAIT_STATE_ACTIVE, &seen_signal, &seen));
    CHECK(seen_signal.handle == signals[2].handle && seen == 0, "another signal, value %ld", (long)seen);
    pthread_join(thread, NULL);
    CHECK_OK(hsa_signal_group_destroy(group));
    CHECK_STATUS(hsa_signal_group_destroy(group), HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP);
    for (int i = 0; i < 3; i++)
        CHECK_OK(hsa_signal_destroy(signals[i]));
}

/* ---- handlers ---- */

struct handled {
    atomic_int calls;
    hsa_signal_value_t last;
    int stop_after;
    hsa_signal_t reset, done;
};

static bool on_signal(hsa_signal_value_t value, void *data)
{
    struct handled *handled = data;
    handled->last = value;
    int calls = atomic_fetch_add(&handled->calls, 1) + 1;
    if (handled->reset.handle)
        hsa_signal_store_screlease(handled->reset, 1);
    if (handled->done.handle)
        hsa_signal_subtract_screlease(handled->done, 1);
    return calls < handled->stop_after;
}

static bool wait_calls(atomic_int *calls, int want)
{
    for (double end = seconds() + WAIT_LIMIT; seconds() < end && atomic_load(calls) < want;)
        pause_ms(1);
    return atomic_load(calls) >= want;
}

static void handlers(void)
{
    /* Once: the handler says that it is enough. */
    struct handled once = { .stop_after = 1 };
    hsa_signal_t s = new_signal(1);
    CHECK_OK(hsa_amd_signal_async_handler(s, HSA_SIGNAL_CONDITION_LT, 1, on_signal, &once));
    pause_ms(20);
    CHECK(once.calls == 0, "called before the condition was met");
    hsa_signal_store_screlease(s, -5);
    CHECK(wait_calls(&once.calls, 1) && once.last == -5, "calls %d, value %ld", once.calls, (long)once.last);
    pause_ms(20);
    CHECK(once.calls == 1, "called %d times", once.calls);

    /* Again and again: the handler resets the signal, this side meets the condition anew. */
    struct handled often = { .stop_after = 50, .reset = new_signal(1) };
    CHECK_OK(hsa_amd_signal_async_handler(often.reset, HSA_SIGNAL_CONDITION_EQ, 0, on_signal, &often));
    for (int i = 1; i <= 50; i++) {
        hsa_signal_store_screlease(often.reset, 0);
        if (!CHECK(wait_calls(&often.calls, i), "call %d did not come", i))
            break;
        double end = seconds() + WAIT_LIMIT;
        while (hsa_signal_load_scacquire(often.reset) != 1 && seconds() < end)
            ;
    }
    hsa_signal_store_screlease(often.reset, 0);
    pause_ms(20);
    CHECK(often.calls == 50, "called %d times", often.calls);

    /* A condition that is met from the start, and every kind of condition. */
    for (int i = 0; i < CONDITIONS; i++) {
        struct handled at_once = { .stop_after = 1 };
        hsa_signal_t ready = new_signal(conditions[i].met);
        CHECK_OK(hsa_amd_signal_async_handler(ready, conditions[i].condition, conditions[i].compare, on_signal, &at_once));
        CHECK(wait_calls(&at_once.calls, 1) && at_once.last == conditions[i].met, "row %d: %d calls, value %ld", i,
              at_once.calls, (long)at_once.last);
        CHECK_OK(hsa_signal_destroy(ready));
    }
    CHECK_OK(hsa_signal_destroy(s));
    CHECK_OK(hsa_signal_destroy(often.reset));
}

static void many_handlers(void)
{
    enum { MANY = 300 };
    static struct handled handled[MANY];
    static hsa_signal_t signals[MANY];
    hsa_signal_t done = new_signal(MANY);
    for (int i = 0; i < MANY; i++) {
        handled[i] = (struct handled){ .stop_after = 1, .done = done };
        signals[i] = new_signal(i + 1);
        NEED_OK(hsa_amd_signal_async_handler(signals[i], HSA_SIGNAL_CONDITION_EQ, -i, on_signal, &handled[i]));
    }
    for (int i = MANY - 1; i >= 0; i--)
        hsa_signal_store_screlease(signals[i], -i);
    CHECK(wait_zero(done, WAIT_LIMIT), "%ld handlers were not called", (long)hsa_signal_load_relaxed(done));
    int wrong = 0;
    for (int i = 0; i < MANY; i++) {
        wrong += handled[i].calls != 1 || handled[i].last != -i;
        NEED_OK(hsa_signal_destroy(signals[i]));
    }
    CHECK(wrong == 0, "%d handlers with wrong values or several calls", wrong);
    CHECK_OK(hsa_signal_destroy(done));
}

/* A handler may use the runtime: here it registers the next one. */
struct chain {
    hsa_signal_t signals[20], done;
    atomic_int at;
};

static bool next_link(hsa_signal_value_t value, void *data)
{
    (void)value;
    struct chain *chain = data;
    int at = ++chain->at;
    if (at == 20)
        hsa_signal_store_screlease(chain->done, 0);
    else if (hsa_amd_signal_async_handler(chain->signals[at], HSA_SIGNAL_CONDITION_EQ, 0, next_link, chain) == HSA_STATUS_SUCCESS)
        hsa_signal_store_screlease(chain->signals[at], 0);
    return false;
}

static void handlers_register_handlers(void)
{
    struct chain chain = { .done = new_signal(1) };
    for (int i = 0; i < 20; i++)
        chain.signals[i] = new_signal(1);
    CHECK_OK(hsa_amd_signal_async_handler(chain.signals[0], HSA_SIGNAL_CONDITION_EQ, 0, next_link, &chain));
    hsa_signal_store_screlease(chain.signals[0], 0);
    CHECK(wait_zero(chain.done, WAIT_LIMIT), "the chain broke at %d", chain.at);
    for (int i = 0; i < 20; i++)
        CHECK_OK(hsa_signal_destroy(chain.signals[i]));
    CHECK_OK(hsa_signal_destroy(chain.done));
}

static void set_zero(void *data) { hsa_signal_store_screlease(*(hsa_signal_t *)data, 0); }

static void async_function(void)
{
    hsa_signal_t s = new_signal(1);
    CHECK_OK(hsa_amd_async_function(set_zero, &s));
    CHECK(wait_zero(s, WAIT_LIMIT), "the function was not called");
    CHECK_OK(hsa_signal_destroy(s));
}

int main(void)
{
    NEED_OK(hsa_init());
    find_agents();
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
#define TEST(f) { #f, f }
        TEST(operations), TEST(creation), TEST(waits_that_are_met), TEST(waits_that_time_out), TEST(blocked_waits_sleep),
        TEST(waiters_are_woken), TEST(all_waiters_are_woken), TEST(no_update_is_lost), TEST(ping_pong), TEST(wait_any),
        TEST(signal_groups), TEST(handlers), TEST(many_handlers), TEST(handlers_register_handlers), TEST(async_function),
#undef TEST
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        int failed = checks_failed;
        double start = seconds();
        tests[i].run();
        printf("%-32s %s (%.3f s)\n", tests[i].name, checks_failed == failed ? "ok" : "FAILED", seconds() - start);
        fflush(stdout);
    }
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
