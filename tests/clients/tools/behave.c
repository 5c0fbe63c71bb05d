/* A tool that says what happens to it, in several kinds, chosen when it is compiled:
 *   NAME      what it calls itself
 *   SILENT    it has no OnLoad
 *   UNWILLING its OnLoad patches a function so that calling it ends the process, and answers false
 *   CURIOUS   it calls everything that a tool may want while it is loaded and unloaded
 *   PRIORITY  it exports HSA_AMD_TOOL_PRIORITY with this number
 * TOOL_LOG names the file for its lines. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#ifdef PRIORITY
EXPORT const uint32_t HSA_AMD_TOOL_PRIORITY = PRIORITY;
#endif

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    const char *path = getenv("TOOL_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    __builtin_va_list list;
    __builtin_va_start(list, format);
    fprintf(file, NAME ": ");
    vfprintf(file, format, list);
    fputc('\n', file);
    fclose(file);
    __builtin_va_end(list);
}

#ifdef CURIOUS
static hsa_agent_t gpu;

static hsa_status_t count(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS && type == HSA_DEVICE_TYPE_GPU)
        gpu = agent;
    ++*(unsigned *)data;
    return HSA_STATUS_SUCCESS;
}

static void *in_thread(void *data)
{
    return hsa_iterate_agents(count, data) == HSA_STATUS_SUCCESS ? data : NULL;
}

/* Everything at once; says what does not work. */
static void look_around(const char *when)
{
    uint64_t frequency = 0;
    unsigned agents = 0, again = 0;
    hsa_signal_t signal;
    hsa_queue_t *queue;
    pthread_t thread;
    void *answer = NULL;
#define TRY(condition)                            \
    do {                                          \
        if (!(condition))                         \
            say("%s: no %s", when, #condition);   \
    } while (0)
    TRY(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) == HSA_STATUS_SUCCESS && frequency);
    TRY(hsa_iterate_agents(count, &agents) == HSA_STATUS_SUCCESS && agents >= 2);
    TRY(pthread_create(&thread, NULL, in_thread, &again) == 0 && pthread_join(thread, &answer) == 0 && answer);
    TRY(hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS && hsa_signal_destroy(signal) == HSA_STATUS_SUCCESS);
    TRY(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue) == HSA_STATUS_SUCCESS &&
        hsa_queue_destroy(queue) == HSA_STATUS_SUCCESS);
    TRY(hsa_init() == HSA_STATUS_SUCCESS);
    TRY(hsa_shut_down() == HSA_STATUS_SUCCESS);
    /* The reference that the program takes or gives is not ours. */
    TRY(hsa_shut_down() == HSA_STATUS_ERROR_NOT_INITIALIZED);
    TRY(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency) == HSA_STATUS_SUCCESS);
    say("%s: looked around", when);
}
#endif

#ifndef SILENT
EXPORT bool OnLoad(char *root, uint64_t version, uint64_t failed, const char *const *names)
{
    char list[1024] = "";
    for (uint64_t i = 0; i < failed; i++) {
        const char *base = strrchr(names[i], '/');
        snprintf(list + strlen(list), sizeof list - strlen(list), " %s", base ? base + 1 : names[i]);
    }
    say("OnLoad version %u, %u failed:%s", (unsigned)version, (unsigned)failed, list);
#ifdef CURIOUS
    look_around("loading");
#endif
#ifdef UNWILLING
    void **core = *(void ***)(root + 16);
    core[2 + 2] = (void *)abort; /* behind two words of version: hsa_init, hsa_shut_down, hsa_system_get_info */
    return false;
#else
    (void)root;
    return true;
#endif
}

EXPORT void OnUnload(void)
{
#ifdef CURIOUS
    look_around("unloading");
#endif
    say("OnUnload");
}
#endif

#ifdef SILENT
/* So that the library is not empty. */
EXPORT void unused(void)
{
    say("unused");
}
#endif
