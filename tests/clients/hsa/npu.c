/* An NPU: its agent, its memory, and dispatches that copy data through the array.
 *
 * npu NAME GENERATION: the agent's name, and the generation in control code. */
#include "machine.h"

#include <hsa/hsa_ext_amd_aie.h>

enum { WORDS = 1024 };

static hsa_agent_t npu;
static char name[64];
static hsa_amd_memory_pool_t kernargs, heap, plain;
static uint32_t generation;

static hsa_status_t find_npu(hsa_agent_t agent, void *count)
{
    hsa_device_type_t type;
    NEED_OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_AIE && (*(unsigned *)count)++ == 0)
        npu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t no_isa(hsa_isa_t isa, void *data)
{
    (void)isa;
    ++*(unsigned *)data;
    return HSA_STATUS_SUCCESS;
}

static uint32_t number(hsa_agent_info_t attribute)
{
    uint32_t value = UINT32_MAX;
    CHECK_OK(hsa_agent_get_info(npu, attribute, &value));
    return value;
}

static void what_it_is(const char *expected)
{
    char text[64] = "";
    CHECK_OK(hsa_agent_get_info(npu, HSA_AGENT_INFO_NAME, name));
    CHECK(strcmp(name, expected) == 0, "%s", name);
    CHECK_OK(hsa_agent_get_info(npu, HSA_AGENT_INFO_VENDOR_NAME, text));
    CHECK(strcmp(text, "AMD") == 0, "%s", text);
    CHECK_OK(hsa_agent_get_info(npu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, text));
    CHECK(strncmp(text, "RyzenAI-npu", 11) == 0, "%s", text);
    CHECK_OK(hsa_agent_get_info(npu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_UUID, text));
    CHECK(strcmp(text, "AIE-XX") == 0, "%s", text);
    CHECK(number(HSA_AGENT_INFO_FEATURE) == HSA_AGENT_FEATURE_AGENT_DISPATCH, " ");
    CHECK(number(HSA_AGENT_INFO_PROFILE) == HSA_PROFILE_BASE, " ");
    CHECK(number(HSA_AGENT_INFO_WAVEFRONT_SIZE) == 0, " ");
    CHECK(number(HSA_AGENT_INFO_GRID_MAX_SIZE) == 0, " ");
    CHECK(number(HSA_AGENT_INFO_QUEUE_MIN_SIZE) == 64, " ");
    CHECK(number(HSA_AGENT_INFO_QUEUE_MAX_SIZE) == 64, " ");
    CHECK(number(HSA_AGENT_INFO_QUEUES_MAX) >= 1, " ");
    unsigned isas = 0;
    CHECK_OK(hsa_agent_iterate_isas(npu, no_isa, &isas));
    CHECK(isas == 0, "%u", isas);
    bool direct = false;
    CHECK_OK(hsa_agent_get_info(npu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS, &direct));
    CHECK(direct, " ");
    /* Every attribute has an answer, or is none. */
    unsigned answered = 0;
    for (uint32_t attribute = 0; attribute < 0xa130; attribute++) {
        _Alignas(16) char room[4096];
        hsa_status_t status = hsa_agent_get_info(npu, (hsa_agent_info_t)attribute, room);
        if (status == HSA_STATUS_SUCCESS)
            answered++;
        else if (status != HSA_STATUS_ERROR_INVALID_ARGUMENT)
            CHECK(false, "attribute %#x: status %#x", attribute, status);
    }
    CHECK(answered > 60, "%u", answered);
}

static size_t pool_size(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t attribute)
{
    size_t value = SIZE_MAX;
    CHECK_OK(hsa_amd_memory_pool_get_info(pool, attribute, &value));
    return value;
}

static hsa_status_t sort_pool(hsa_amd_memory_pool_t pool, void *count)
{
    uint32_t flags = 0;
    bool allowed = false;
    ++*(unsigned *)count;
    NEED_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
    CHECK(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, "%#x", flags);
    CHECK_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
    CHECK(allowed, " ");
    CHECK(pool_size(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE) == 4096, " ");
    hsa_amd_memory_pool_location_t location;
    CHECK_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_LOCATION, &location));
    hsa_amd_memory_pool_access_t access;
    CHECK_OK(hsa_amd_agent_memory_pool_get_info(npu, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
    CHECK(access == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, "%d", access);
    /* How programs know the heap. */
    if (pool_size(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE) == 0) {
        heap = pool;
        CHECK(pool_size(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE) == 64 << 20, " ");
        CHECK(pool_size(pool, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE) == 64 << 20, " ");
        return HSA_STATUS_SUCCESS;
    }
    CHECK(location == HSA_AMD_MEMORY_POOL_LOCATION_CPU, "%d", location);
    *(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT ? &kernargs : &plain) = pool;
    return HSA_STATUS_SUCCESS;
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t bytes)
{
    void *memory = NULL;
    NEED_OK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    return memory;
}

static void memory(void)
{
    unsigned count = 0;
    CHECK_OK(hsa_amd_agent_iterate_memory_pools(npu, sort_pool, &count));
    CHECK(count == 3, "%u", count);
    NEED(heap.handle && kernargs.handle && plain.handle);
    hsa_amd_memory_pool_t pools[] = { kernargs, heap, plain };
    for (unsigned i = 0; i < 3; i++) {
        uint32_t *words = allocate(pools[i], 5000);
        hsa_amd_pointer_info_t info = { .size = sizeof info };
        CHECK_OK(hsa_amd_pointer_info(words + 3, &info, NULL, NULL, NULL));
        CHECK(info.hostBaseAddress == words && info.agentOwner.handle == npu.handle, " ");
        words[0] = words[1249] = i + 1;
        CHECK(words[0] == i + 1 && words[1] == 0, " ");
        CHECK_OK(hsa_amd_memory_pool_free(words));
    }
    void *one;
    CHECK_STATUS(hsa_amd_memory_pool_allocate(heap, (64 << 20) + 1, 0, &one), HSA_STATUS_ERROR_INVALID_ALLOCATION);
    /* Copies and fills are the host's. */
    uint32_t *from = allocate(plain, 4096), *to = allocate(heap, 4096);
    CHECK_OK(hsa_amd_memory_fill(from, 0x01020304, 1024));
    CHECK_OK(hsa_memory_copy(to, from, 4096));
    CHECK(to[0] == 0x01020304 && to[1023] == 0x01020304, "%#x", to[0]);
    hsa_signal_t copied;
    NEED_OK(hsa_signal_create(1, 0, NULL, &copied));
    from[1] = 5;
    CHECK_OK(hsa_amd_memory_async_copy(to, npu, from, npu, 4096, 0, NULL, copied));
    CHECK(hsa_signal_wait_scacquire(copied, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0, " ");
    CHECK(to[1] == 5, "%u", to[1]);
    CHECK_OK(hsa_signal_destroy(copied));
    CHECK_OK(hsa_amd_memory_pool_free(from));
    CHECK_OK(hsa_amd_memory_pool_free(to));
    /* The device sees its own pools and nothing of the host's. */
    one = allocate(cpu->fine, 4096);
    CHECK(hsa_amd_agents_allow_access(1, &npu, NULL, one) != HSA_STATUS_SUCCESS, " ");
    CHECK_OK(hsa_amd_memory_pool_free(one));
    char own[64];
    void *locked = NULL;
    CHECK_STATUS(hsa_amd_memory_lock(own, sizeof own, &npu, 1, &locked), HSA_STATUS_ERROR_INVALID_AGENT);
    /* Host memory is shared as a dma-buf, the heap is not. */
    int fd = -1;
    uint64_t offset = 1;
    one = allocate(plain, 4096);
    CHECK_OK(hsa_amd_portable_export_dmabuf(one, 4096, &fd, &offset));
    CHECK(fd > 0 && offset == 0, "%d", fd);
    CHECK_OK(hsa_amd_portable_close_dmabuf(fd));
    CHECK_OK(hsa_amd_memory_pool_free(one));
    one = allocate(heap, 4096);
    CHECK(hsa_amd_portable_export_dmabuf(one, 4096, &fd, &offset) != HSA_STATUS_SUCCESS, " ");
    CHECK_OK(hsa_amd_memory_pool_free(one));
}

/* What leaves the shim tile's first mover comes back to it. */
static const uint32_t loopback[] = {
    0x00020103, 0x0003f010, 0x80000005, 0x00020103, 0x0003f114, 0x80000000,
    0x00020103, 0x0001f000, 0x00000400, 0x00020103, 0x0001f004, 0x00000010, 0x00000100,
};

static void *image(void)
{
    enum { COMMANDS = sizeof loopback / 4 };
    uint32_t *words = allocate(heap, 4096);
    uint32_t header[] = { 4, 0x004f4443, 0x200, COMMANDS };
    memcpy(words, header, sizeof header);
    words[4] = ~(header[0] + header[1] + header[2] + header[3]);
    memcpy(words + 5, loopback, COMMANDS * 4);
    return words;
}

/* Control code: argument 1 becomes what argument 0 is. */
static uint32_t *code(uint32_t *bytes)
{
    const uint32_t words[] = {
        0x06000100 | generation << 16, 0x105, 7, 0,
        1, 0, 0x1d000, 0x30, WORDS, 0, 0, 0, 0, 0, 0, 1 << 25,
        0x81, 0x30, 0, 0, 0, 0, 0x1d004, 0, 1, 0, 0, 0,
        0, 0, 0x1d204, 0, 0x80000000, 0x18,
        1, 0, 0x1d020, 0x30, WORDS, 0, 0, 0, 0, 0, 0, 1 << 25,
        0x81, 0x30, 0, 0, 0, 0, 0x1d024, 0, 0, 0, 0, 0,
        0, 0, 0x1d214, 0, 1, 0x18,
        0x80, 0x10, 0, 0x00010100,
    };
    uint32_t *copy = allocate(heap, sizeof words);
    memcpy(copy, words, sizeof words);
    copy[3] = *bytes = sizeof words;
    return copy;
}

struct packet {
    uint16_t header, opcode, count;
    uint8_t zero[2];
    hsa_signal_t completion;
    uint32_t reserved, code_low, code_high;
    uint16_t arguments, reserved2;
    uint64_t *argument;
    uint64_t code_bytes;
    void *image;
    uint64_t reserved3;
};
_Static_assert(sizeof(struct packet) == 64, "a packet");
_Static_assert(sizeof(hsa_amd_aie_kernel_dispatch_packet_t) == 64, "a packet");

struct heard {
    unsigned count;
    hsa_status_t status;
    hsa_queue_t *queue;
    bool destroys;
};

static void hear(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    struct heard *heard = data;
    heard->status = status;
    heard->queue = queue;
    __atomic_add_fetch(&heard->count, 1, __ATOMIC_RELEASE);
    if (heard->destroys)
        CHECK_OK(hsa_queue_destroy(queue));
}

static uint64_t put(hsa_queue_t *queue, const void *packet)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    char *slot = (char *)queue->base_address + 64 * (index % queue->size);
    memcpy(slot + 4, (const char *)packet + 4, 60);
    __atomic_store_n((uint32_t *)slot, *(const uint32_t *)packet, __ATOMIC_RELEASE);
    return index;
}

static void dispatches(void)
{
    hsa_queue_t *queue = NULL;
    struct heard heard = { 0 };
    CHECK_STATUS(hsa_queue_create(npu, 128, HSA_QUEUE_TYPE_SINGLE, hear, &heard, 0, 0, &queue),
                 HSA_STATUS_ERROR_INVALID_ARGUMENT);
    NEED_OK(hsa_queue_create(npu, 64, HSA_QUEUE_TYPE_SINGLE, hear, &heard, 0, 0, &queue));
    CHECK(queue->size == 64 && queue->features == HSA_QUEUE_FEATURE_AGENT_DISPATCH, "%u", queue->size);
    uint32_t bytes;
    uint32_t *instructions = code(&bytes), *in = allocate(plain, WORDS * 4), *out = allocate(plain, WORDS * 4);
    uint64_t *arguments = allocate(kernargs, 32);
    arguments[0] = (uintptr_t)in;
    arguments[1] = (uintptr_t)out;
    arguments[2] = arguments[3] = WORDS * 4;
    hsa_signal_t done, gate;
    NEED_OK(hsa_signal_create(1, 0, NULL, &done));
    NEED_OK(hsa_signal_create(1, 0, NULL, &gate));
    struct packet packet = {
        .header = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE
                  | HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
        .count = 24,
        .completion = done,
        .code_low = (uint32_t)(uintptr_t)instructions,
        .code_high = (uint32_t)((uintptr_t)instructions >> 32),
        .arguments = 2,
        .argument = arguments,
        .code_bytes = bytes,
        .image = image(),
    };
    for (uint32_t round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < WORDS; i++)
            in[i] = i * 2654435761u + round;
        hsa_signal_store_relaxed(done, 1);
        hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)put(queue, &packet));
        CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0, " ");
        CHECK(memcmp(in, out, WORDS * 4) == 0, "round %u", round);
    }
    /* A barrier holds what is behind it, and not who rings. */
    hsa_barrier_and_packet_t barrier = { .header = HSA_PACKET_TYPE_BARRIER_AND, .dep_signal = { gate } };
    hsa_signal_store_relaxed(done, 1);
    memset(out, 0, WORDS * 4);
    put(queue, &barrier);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)put(queue, &packet));
    CHECK(hsa_signal_load_scacquire(done) == 1 && out[1] == 0, " ");
    hsa_signal_store_screlease(gate, 0);
    CHECK(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0, " ");
    CHECK(memcmp(in, out, WORDS * 4) == 0, " ");
    CHECK(heard.count == 0, "%#x", heard.status);
    /* An image that is none. Whoever still serves the ring before may be who calls back. */
    struct packet wrong = packet;
    wrong.image = (void *)0x1000;
    hsa_signal_store_relaxed(done, 1);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)put(queue, &wrong));
    for (int i = 0; i < 10000 && __atomic_load_n(&heard.count, __ATOMIC_ACQUIRE) == 0; i++)
        pause_ms(1);
    CHECK(heard.count == 1 && heard.queue == queue, "%u", heard.count);
    CHECK(heard.status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "%#x", heard.status);
    CHECK(hsa_signal_load_scacquire(done) == 1, " ");
    CHECK_OK(hsa_queue_destroy(queue));
    /* A callback may destroy its queue. */
    struct heard last = { .destroys = true };
    NEED_OK(hsa_queue_create(npu, 64, HSA_QUEUE_TYPE_MULTI, hear, &last, UINT32_MAX, UINT32_MAX, &queue));
    wrong.image = packet.image;
    wrong.arguments = 600;
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)put(queue, &wrong));
    CHECK(last.count == 1 && last.status == HSA_STATUS_ERROR_INVALID_ARGUMENT, "%u %#x", last.count, last.status);
    CHECK_OK(hsa_signal_destroy(done));
    CHECK_OK(hsa_signal_destroy(gate));
    /* What is not freed goes with the runtime. */
    CHECK_OK(hsa_amd_memory_pool_free(out));
}

int main(int argc, char **argv)
{
    NEED(argc == 3);
    generation = (uint32_t)atoi(argv[2]);
    for (unsigned round = 0; round < 2; round++) {
        NEED_OK(hsa_init());
        unsigned count = 0;
        agent_count = 0;
        cpu = NULL;
        CHECK_OK(hsa_iterate_agents(find_npu, &count));
        NEED(count == 1);
        CHECK_OK(hsa_iterate_agents(add_agent, NULL));
        NEED(cpu != NULL);
        what_it_is(argv[1]);
        memory();
        dispatches();
        CHECK_OK(hsa_shut_down());
    }
    return check_summary();
}
