/* The runtime loaded and closed at run time, by itself and by what needs it. This program does not link with it.
 * Use: reload CONSUMER, with libhsa-runtime64.so.1 where the dynamic linker finds it. */
#include <hsa/hsa.h>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const LIBRARY = "libhsa-runtime64.so.1";
static const char *consumer;
static unsigned passed, failed;

#define CHECK(condition, ...) \
    do { \
        if (condition) { \
            passed++; \
        } else { \
            failed++; \
            printf("FAILED %s:%d: %s: ", __FILE__, __LINE__, #condition); \
            printf(__VA_ARGS__); \
            printf("\n"); \
        } \
    } while (0)

static unsigned entries(const char *directory)
{
    DIR *dir = opendir(directory);
    unsigned count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static unsigned mappings(const char *of)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned count = 0;
    while (maps && fgets(line, sizeof line, maps))
        count += of == NULL || strstr(line, of) != NULL;
    if (maps)
        fclose(maps);
    return count;
}

static hsa_status_t count_agent(hsa_agent_t agent, void *data)
{
    (void)agent;
    (*(unsigned *)data)++;
    return HSA_STATUS_SUCCESS;
}

/* Loads the runtime, lives in it, and closes it. */
static bool live(bool shut_down)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("%s\n", dlerror());
        return false;
    }
    hsa_status_t (*init)(void) = (hsa_status_t(*)(void))dlsym(library, "hsa_init");
    hsa_status_t (*down)(void) = (hsa_status_t(*)(void))dlsym(library, "hsa_shut_down");
    hsa_status_t (*agents)(hsa_status_t (*)(hsa_agent_t, void *), void *) =
        (hsa_status_t(*)(hsa_status_t(*)(hsa_agent_t, void *), void *))dlsym(library, "hsa_iterate_agents");
    unsigned seen = 0;
    bool good = init && down && agents && init() == HSA_STATUS_SUCCESS && agents(count_agent, &seen) == HSA_STATUS_SUCCESS && seen >= 2;
    if (good && shut_down)
        good = down() == HSA_STATUS_SUCCESS;
    return dlclose(library) == 0 && good;
}

static void cycles(void)
{
    unsigned files = 0, threads = 0, maps = 0, good = 0;
    for (int i = 0; i < 200; i++) {
        good += live(true);
        if (i == 19) {
            files = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            maps = mappings(NULL);
        }
    }
    CHECK(good == 200, "%u of 200 lives were good", good);
    for (int i = 0; i < 2000 && entries("/proc/self/task") != threads; i++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    CHECK(entries("/proc/self/fd") == files, "%u files after %u", entries("/proc/self/fd"), files);
    CHECK(entries("/proc/self/task") == threads, "%u threads after %u", entries("/proc/self/task"), threads);
    CHECK(mappings(NULL) <= maps + 8, "%u mappings after %u", mappings(NULL), maps);
    /* Threads and thread-local data of the program may still lead into it. */
    CHECK(mappings("libhsa_runtime64") > 0 || mappings("libhsa-runtime64") > 0, "the runtime unmapped itself");
}

static void closed_while_it_runs(void)
{
    unsigned good = 0;
    for (int i = 0; i < 50; i++)
        good += live(false);
    CHECK(good == 50, "%u of 50", good);
    void *library = dlopen(LIBRARY, RTLD_NOW);
    hsa_status_t (*down)(void) = (hsa_status_t(*)(void))dlsym(library, "hsa_shut_down");
    for (int i = 0; i < 50; i++)
        good += down() == HSA_STATUS_SUCCESS;
    CHECK(good == 100, "%u references were left", good - 50);
    CHECK(down() == HSA_STATUS_ERROR_NOT_INITIALIZED, "one reference too many");
}

static void consumers(void)
{
    unsigned good = 0;
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(consumer, RTLD_NOW | RTLD_LOCAL);
        int (*check)(void) = library ? (int (*)(void))dlsym(library, "consumer_check") : NULL;
        if (!check)
            printf("%s\n", dlerror());
        good += check && check() == 0 && dlclose(library) == 0;
    }
    CHECK(good == 50, "%u of 50", good);
    CHECK(live(true), "the runtime after its consumers");
}

/* The consumer's fini function runs at exit. */
static void ends_with_a_consumer(void)
{
    for (int i = 0; i < 20; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            exit(dlopen(consumer, RTLD_NOW) ? 7 : 8);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the process ended with %#x", (unsigned)status);
    }
}

static void *live_many_times(void *good)
{
    for (int i = 0; i < 30; i++)
        __atomic_fetch_add((unsigned *)good, live(true), __ATOMIC_RELAXED);
    return NULL;
}

static void from_threads(void)
{
    pthread_t threads[8];
    unsigned good = 0;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, live_many_times, &good);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK(good == 240, "%u of 240", good);
}

static void run(const char *name, void (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(120);
        passed = failed = 0;
        body();
        fflush(stdout);
        exit(failed != 0 || passed == 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s %s\n", name, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : WEXITSTATUS(status) == 0 ? "ok" : "FAILED");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", name);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    consumer = argv[1];
    run("cycles", cycles);
    run("closed_while_it_runs", closed_while_it_runs);
    run("consumers", consumers);
    run("ends_with_a_consumer", ends_with_a_consumer);
    run("from_threads", from_threads);
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
