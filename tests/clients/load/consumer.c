/* A shared object that needs the runtime, as a driver of a higher interface does: it starts the runtime when it is loaded,
 * leaves a thread waiting, and when it goes it shuts the runtime down and closes it from a fini function. */
#include <hsa/hsa.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static hsa_signal_t signal_;
static pthread_t waiter;
static void *runtime;

static void *wait_until_told(void *data)
{
    (void)data;
    hsa_signal_wait_scacquire(signal_, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    return NULL;
}

__attribute__((constructor)) static void start(void)
{
    runtime = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (runtime == NULL || hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, NULL, &signal_) != HSA_STATUS_SUCCESS ||
        pthread_create(&waiter, NULL, wait_until_told, NULL) != 0)
        abort();
}

__attribute__((destructor)) static void stop(void)
{
    hsa_signal_store_screlease(signal_, 0);
    if (pthread_join(waiter, NULL) != 0 || hsa_signal_destroy(signal_) != HSA_STATUS_SUCCESS || hsa_shut_down() != HSA_STATUS_SUCCESS ||
        dlclose(runtime) != 0)
        abort();
}

/* Whether the runtime works, 0 if it does. */
int consumer_check(void)
{
    hsa_signal_t signal;
    if (hsa_signal_create(3, 0, NULL, &signal) != HSA_STATUS_SUCCESS || hsa_signal_load_relaxed(signal) != 3)
        return 1;
    return hsa_signal_destroy(signal) == HSA_STATUS_SUCCESS ? 0 : 2;
}
