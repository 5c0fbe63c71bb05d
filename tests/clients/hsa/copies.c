/* Copy engines under load: many threads, batches with many entries, every engine, with engines and without (HSA_ENABLE_SDMA=0).
 * No completion is lost and every byte arrives. Compiled against our own headers. Use: copies KERNELS, or copies KERNELS
 * SECONDS for a load that lasts so long and nothing else. */
#include "isolate.h"
#include "machine.h"

#include <pthread.h>

enum { THREADS = 8, SLOTS = 4, BYTES = 1 << 16 };
static double load_seconds = 3;

static void start(const char *sdma)
{
    if (sdma)
        setenv("HSA_ENABLE_SDMA", sdma, 1);
    NEED_OK(hsa_init());
    find_agents();
}

static atomic_ulong copies_done;

/* Copies out and back, several at once, until the time is up; each round has other bytes. */
static void *copy_for_a_while(void *data)
{
    unsigned seed = (unsigned)(uintptr_t)data;
    uint8_t *from = shared_alloc(SLOTS * BYTES), *to = shared_alloc(SLOTS * BYTES), *vram = pool_alloc(gpu->coarse, SLOTS * BYTES);
    hsa_signal_t out[SLOTS], back[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        out[i] = new_signal(1);
        back[i] = new_signal(1);
    }
    unsigned wrong = 0, late = 0;
    for (double end = seconds() + load_seconds; seconds() < end;) {
        for (int i = 0; i < SLOTS; i++) {
            memset(from + i * BYTES, (int)seed++, BYTES);
            hsa_signal_store_relaxed(out[i], 1);
            hsa_signal_store_relaxed(back[i], 1);
            /* A different size each time: some are done at once, some by an engine. */
            size_t size = (size_t)1 << (4 + seed % 13);
            NEED(hsa_amd_memory_async_copy(vram + i * BYTES, gpu->handle, from + i * BYTES, cpu->handle, size, 0, NULL, out[i]) == HSA_STATUS_SUCCESS);
            NEED(hsa_amd_memory_async_copy(to + i * BYTES, cpu->handle, vram + i * BYTES, gpu->handle, size, 1, &out[i], back[i]) == HSA_STATUS_SUCCESS);
        }
        for (int i = 0; i < SLOTS; i++) {
            late += !wait_zero(back[i], 20);
            wrong += to[i * BYTES] != from[i * BYTES];
            atomic_fetch_add(&copies_done, 2);
        }
    }
    CHECK(late == 0, "%u completions were lost", late);
    CHECK(wrong == 0, "%u copies brought other bytes", wrong);
    for (int i = 0; i < SLOTS; i++) {
        hsa_signal_destroy(out[i]);
        hsa_signal_destroy(back[i]);
    }
    hsa_amd_memory_pool_free(from);
    hsa_amd_memory_pool_free(to);
    hsa_amd_memory_pool_free(vram);
    return NULL;
}

static void many_threads(const void *sdma)
{
    start(sdma);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&threads[i], NULL, copy_for_a_while, (void *)(uintptr_t)(i * 31 + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(copies_done > 100, "only %lu copies", copies_done);
    printf("%lu copies\n", copies_done);
    CHECK_OK(hsa_shut_down());
}

/* A batch of broadcasts and lists of many entries; one completion signal for all of it. */
static void batches(const void *sdma)
{
    enum { ENTRIES = 64, OPERATIONS = 3 };
    start(sdma);
    uint8_t *from = shared_alloc(ENTRIES * 4096), *to = shared_alloc(ENTRIES * 4096), *vram = pool_alloc(gpu->coarse, ENTRIES * 4096);
    void *sources[ENTRIES], *middles[ENTRIES], *targets[ENTRIES];
    hsa_agent_t gpus[ENTRIES], cpus[ENTRIES];
    size_t sizes[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) {
        memset(from + i * 4096, i + 1, 4096);
        sources[i] = from + i * 4096;
        middles[i] = vram + i * 4096;
        targets[i] = to + i * 4096;
        gpus[i] = gpu->handle;
        cpus[i] = cpu->handle;
        sizes[i] = 4096 - (size_t)i;
    }
    hsa_signal_t done = new_signal(1), again = new_signal(1);
    hsa_amd_memory_copy_op_t out = { .version = HSA_AMD_MEMORY_COPY_OP_VERSION, .type = HSA_AMD_MEMORY_COPY_OP_LINEAR, .num_entries = ENTRIES,
                                     .completion_signal = done, .src_list = sources, .src_agent = cpu->handle, .dst_agent_list = gpus,
                                     .dst_list = middles, .size_list = sizes };
    CHECK_OK(hsa_amd_memory_async_batch_copy(&out, 1, 0, NULL));
    hsa_amd_memory_copy_op_t back = out;
    back.completion_signal = again;
    back.src_list = middles;
    back.src_agent = gpu->handle;
    back.dst_list = targets;
    back.dst_agent_list = cpus;
    CHECK_OK(hsa_amd_memory_async_batch_copy(&back, 1, 1, &done));
    CHECK(wait_zero(again, 20), "the batch did not end");
    unsigned wrong = 0;
    for (int i = 0; i < ENTRIES; i++)
        for (size_t b = 0; b < 4096; b++)
            wrong += to[i * 4096 + b] != (b < sizes[i] ? i + 1 : 0);
    CHECK(wrong == 0, "%u bytes are wrong", wrong);

    /* Each operation takes one from the signal that they share. */
    hsa_signal_store_relaxed(done, OPERATIONS);
    hsa_amd_memory_copy_op_t several[OPERATIONS];
    for (int i = 0; i < OPERATIONS; i++)
        several[i] = (hsa_amd_memory_copy_op_t){ .version = HSA_AMD_MEMORY_COPY_OP_VERSION, .type = HSA_AMD_MEMORY_COPY_OP_LINEAR,
                                                 .completion_signal = done, .src = sources[i], .src_agent = cpu->handle,
                                                 .dst_agent = cpu->handle, .dst = targets[ENTRIES - 1 - i], .size = 4096 };
    CHECK_OK(hsa_amd_memory_async_batch_copy(several, OPERATIONS, 0, NULL));
    CHECK(wait_zero(done, 20), "the signal of several operations is %ld", (long)hsa_signal_load_scacquire(done));
    for (int i = 0; i < OPERATIONS; i++)
        CHECK(((uint8_t *)targets[ENTRIES - 1 - i])[4095] == i + 1, "operation %d", i);
    CHECK_OK(hsa_shut_down());
}

static hsa_amd_memory_copy_op_t operation(int type, void *to, hsa_agent_t to_agent, void *from, hsa_agent_t from_agent, size_t size,
                                          hsa_signal_t done)
{
    hsa_amd_memory_copy_op_t made = { .version = HSA_AMD_MEMORY_COPY_OP_VERSION, .type = (uint16_t)type, .completion_signal = done,
                                      .src = from, .src_agent = from_agent, .dst_agent = to_agent, .dst = to, .size = size };
    if (type == HSA_AMD_MEMORY_COPY_OP_LINEAR_SWAP)
        made.dst_size = size;
    return made;
}

/* An operation begins when a word of memory says so and not before, whatever the comparison, and changes another at its end. */
static void words_around_operations(const void *sdma)
{
    start(sdma);
    _Atomic uint64_t *gate = shared_alloc(4096), *result = shared_alloc(4096);
    uint8_t *from = shared_alloc(4096), *vram = pool_alloc(gpu->coarse, 4096);
    static const struct {
        int function;
        uint64_t closed, open;
    } comparisons[] = { { HSA_AMD_MEMORY_COPY_WAIT_LT, 7, 6 },  { HSA_AMD_MEMORY_COPY_WAIT_LE, 8, 7 },
                        { HSA_AMD_MEMORY_COPY_WAIT_EQ, 6, 7 },  { HSA_AMD_MEMORY_COPY_WAIT_NE, 7, 8 },
                        { HSA_AMD_MEMORY_COPY_WAIT_GE, 6, 7 },  { HSA_AMD_MEMORY_COPY_WAIT_GT, 7, 0xff } };
    for (unsigned i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        hsa_signal_t done = new_signal(1);
        hsa_amd_memory_copy_op_t copy =
            operation(HSA_AMD_MEMORY_COPY_OP_LINEAR, vram, gpu->handle, from, cpu->handle, 4096, done);
        copy.wait.function = (uint16_t)comparisons[i].function;
        copy.wait.addr = (void *)gate;
        copy.wait.value = 7;
        copy.wait.mask = 0xff;
        copy.signal.operation = (uint16_t)(1 + i % 3);
        copy.signal.addr = (void *)result;
        copy.signal.data = 100;
        /* Bits outside of the mask do not count. */
        atomic_store(gate, 0xab00 | comparisons[i].closed);
        atomic_store(result, 1000);
        CHECK_OK(hsa_amd_memory_async_batch_copy(&copy, 1, 0, NULL));
        pause_ms(10);
        CHECK(hsa_signal_load_scacquire(done) == 1 && atomic_load(result) == 1000, "comparison %u did not wait", i);
        atomic_store(gate, 0xcd00 | comparisons[i].open);
        CHECK(wait_zero(done, 20), "comparison %u did not end", i);
        uint64_t expected = i % 3 == 0 ? 100 : i % 3 == 1 ? 1100 : 900;
        CHECK(atomic_load(result) == expected, "the word is %lu and not %lu", (unsigned long)atomic_load(result), (unsigned long)expected);
        CHECK_OK(hsa_signal_destroy(done));
    }
    /* The second operation waits for what the first one writes, and the first for nobody: also when they are given in that order. */
    hsa_signal_t both = new_signal(2);
    uint8_t *last = shared_alloc(4096);
    memset(from, 0x5a, 4096);
    atomic_store(result, 0);
    hsa_amd_memory_copy_op_t chain[2] = {
        operation(HSA_AMD_MEMORY_COPY_OP_LINEAR, last, cpu->handle, vram, gpu->handle, 4096, both),
        operation(HSA_AMD_MEMORY_COPY_OP_LINEAR, vram, gpu->handle, from, cpu->handle, 4096, both),
    };
    chain[0].wait.function = HSA_AMD_MEMORY_COPY_WAIT_EQ;
    chain[0].wait.addr = (void *)result;
    chain[0].wait.value = 1;
    chain[0].wait.mask = UINT64_MAX;
    chain[1].signal.operation = HSA_AMD_MEMORY_COPY_SIGNAL_WRITE;
    chain[1].signal.addr = (void *)result;
    chain[1].signal.data = 1;
    CHECK_OK(hsa_amd_memory_async_batch_copy(chain, 2, 0, NULL));
    CHECK(wait_zero(both, 20) && last[4095] == 0x5a, "the chain of two did not end");
    /* Where no word is, nothing is done. */
    void *const nowhere[] = { (char *)gate + 4, (void *)0x1000, (void *)(UINTPTR_MAX - 7) };
    for (int i = 0; i < 3; i++) {
        hsa_signal_t done = new_signal(1);
        hsa_amd_memory_copy_op_t copy =
            operation(HSA_AMD_MEMORY_COPY_OP_LINEAR, vram, gpu->handle, from, cpu->handle, 4096, done);
        copy.wait.function = HSA_AMD_MEMORY_COPY_WAIT_EQ;
        copy.wait.addr = nowhere[i];
        CHECK_STATUS(hsa_amd_memory_async_batch_copy(&copy, 1, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        CHECK(hsa_signal_load_scacquire(done) == 1, "case %d", i);
    }
    /* One that waits for ever does not keep the runtime from going. */
    chain[0].completion_signal = new_signal(1);
    atomic_store(result, 0);
    CHECK_OK(hsa_amd_memory_async_batch_copy(chain, 1, 0, NULL));
    CHECK_OK(hsa_shut_down());
}

/* Exchanges, and copies whose ends are named by pointers in memory. */
static void exchanges_and_pointers(const void *sdma)
{
    enum { LARGE = (3 << 20) + 100, ENTRIES = 4 };
    start(sdma);
    uint8_t *one = shared_alloc(LARGE), *other = pool_alloc(gpu->coarse, LARGE), *seen = shared_alloc(LARGE);
    hsa_signal_t done = new_signal(1);
    memset(one, 1, LARGE);
    memset(seen, 2, LARGE);
    NEED_OK(hsa_memory_copy(other, seen, LARGE));
    hsa_amd_memory_copy_op_t swap = operation(HSA_AMD_MEMORY_COPY_OP_LINEAR_SWAP, other, gpu->handle, one, cpu->handle, LARGE, done);
    CHECK_OK(hsa_amd_memory_async_batch_copy(&swap, 1, 0, NULL));
    CHECK(wait_zero(done, 20), "the exchange did not end");
    NEED_OK(hsa_memory_copy(seen, other, LARGE));
    unsigned wrong = 0;
    for (int i = 0; i < LARGE; i++)
        wrong += one[i] != 2 || seen[i] != 1;
    CHECK(wrong == 0, "%u bytes were not exchanged", wrong);
    /* An exchange has one size. */
    swap.dst_size--;
    CHECK_STATUS(hsa_amd_memory_async_batch_copy(&swap, 1, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    void **pointers = shared_alloc(4096);
    for (int type = HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRC; type <= HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRCDST; type++) {
        void *sources[ENTRIES], *targets[ENTRIES];
        hsa_agent_t gpus[ENTRIES];
        size_t sizes[ENTRIES];
        for (int i = 0; i < ENTRIES; i++) {
            memset(one + i * 256, 16 * type + i, 256);
            pointers[i] = one + i * 256;
            pointers[ENTRIES + i] = other + i * 256;
            sources[i] = type != HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_DST ? (void *)&pointers[i] : pointers[i];
            targets[i] = type != HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRC ? (void *)&pointers[ENTRIES + i] : pointers[ENTRIES + i];
            gpus[i] = gpu->handle;
            sizes[i] = 256;
        }
        hsa_signal_store_relaxed(done, 1);
        hsa_amd_memory_copy_op_t list = { .version = HSA_AMD_MEMORY_COPY_OP_VERSION, .type = (uint16_t)type, .num_entries = ENTRIES,
                                          .completion_signal = done, .src_list = sources, .src_agent = cpu->handle,
                                          .dst_agent_list = gpus, .dst_list = targets, .size_list = sizes };
        CHECK_OK(hsa_amd_memory_async_batch_copy(&list, 1, 0, NULL));
        CHECK(wait_zero(done, 20), "type %d did not end", type);
        NEED_OK(hsa_memory_copy(seen, other, ENTRIES * 256));
        for (int i = 0; i < ENTRIES * 256; i++)
            wrong += seen[i] != 16 * type + i / 256;
        CHECK(wrong == 0, "type %d: %u bytes", type, wrong);
    }
    CHECK_OK(hsa_shut_down());
}

/* What the runtime does itself can be written to a stream of the program's, and to none when it does not want it. */
static void the_log_goes_where_the_program_wants_it(const void *sdma)
{
    start(sdma);
    FILE *stream = tmpfile();
    NEED(stream != NULL);
    uint8_t flags[8] = { 1 << HSA_AMD_LOG_FLAG_BLIT_KERNEL_PKTS | 1 << HSA_AMD_LOG_FLAG_SDMA | 1 << HSA_AMD_LOG_FLAG_INFO };
    CHECK_OK(hsa_amd_enable_logging(flags, stream));
    uint8_t *from = shared_alloc(BYTES), *vram = pool_alloc(gpu->coarse, BYTES);
    CHECK_OK(hsa_memory_copy(vram, from, BYTES));
    long some = ftell(stream);
    CHECK(some > 0, "nothing was written");
    rewind(stream);
    char line[256];
    CHECK(fgets(line, sizeof line, stream) && strncmp(line, "hansa: memory: 0x", 17) == 0, "the first line is %s", line);
    fseek(stream, 0, SEEK_END);
    uint8_t none[8] = { 0 };
    CHECK_OK(hsa_amd_enable_logging(none, stream));
    CHECK_OK(hsa_memory_copy(vram, from, BYTES));
    CHECK(ftell(stream) == some, "something was written to a stream that was given up");
    /* Nothing is written after the runtime's end, so the stream may be closed then. */
    CHECK_OK(hsa_amd_enable_logging(flags, stream));
    CHECK_OK(hsa_shut_down());
    fclose(stream);
    NEED_OK(hsa_init());
    find_agents();
    pool_alloc(gpu->coarse, BYTES);
    CHECK_OK(hsa_shut_down());
}

/* Every engine that is said to be free can be named alone, and no other. */
static void engines(const void *sdma)
{
    start(sdma);
    uint32_t mask = 0;
    CHECK_OK(hsa_amd_memory_copy_engine_status(cpu->handle, gpu->handle, &mask));
    uint32_t own = 0;
    CHECK_OK(hsa_agent_get_info(gpu->handle, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SDMA_ENG, &own));
    CHECK(mask == (1u << own) - 1, "%u engines and the mask %#x", own, mask);
    printf("%u engines\n", own);
    uint8_t *to = shared_alloc(4096), *vram = pool_alloc(gpu->coarse, 4096);
    for (unsigned engine = 0; engine < 16; engine++) {
        hsa_signal_t done = new_signal(1);
        hsa_status_t status =
            hsa_amd_memory_async_copy_on_engine(to, cpu->handle, vram, gpu->handle, 4096, 0, NULL, done, (hsa_amd_sdma_engine_id_t)(1u << engine), false);
        bool there = mask >> engine & 1;
        CHECK_STATUS(status, there ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT);
        if (status == HSA_STATUS_SUCCESS)
            CHECK(wait_zero(done, 20), "engine %u", engine);
    }
    CHECK_OK(hsa_shut_down());
}

int main(int argc, char **argv)
{
    NEED(argc == 2 || argc == 3);
    if (argc == 3) {
        load_seconds = atof(argv[2]);
        NEED(load_seconds > 0);
        many_threads(NULL);
        return check_summary();
    }
    static const char *const settings[] = { NULL, "0", "1" };
    static const char *const names[] = { "", " HSA_ENABLE_SDMA=0", " HSA_ENABLE_SDMA=1" };
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "batches%s", names[i]);
        isolate(name, batches, settings[i]);
        snprintf(name, sizeof name, "words_around_operations%s", names[i]);
        isolate(name, words_around_operations, settings[i]);
        snprintf(name, sizeof name, "exchanges_and_pointers%s", names[i]);
        isolate(name, exchanges_and_pointers, settings[i]);
        snprintf(name, sizeof name, "the_log_goes_where_the_program_wants_it%s", names[i]);
        isolate(name, the_log_goes_where_the_program_wants_it, settings[i]);
        snprintf(name, sizeof name, "engines%s", names[i]);
        isolate(name, engines, settings[i]);
        snprintf(name, sizeof name, "many_threads%s", names[i]);
        isolate(name, many_threads, settings[i]);
    }
    return check_summary();
}
