/* Copies and fills of every shape, to, inside and from device memory: any size and alignment, ranges that overlap, chains.
 * Nothing outside a range changes. Whoever carries the bytes. */
#include "machine.h"

enum { ROOM = 4 << 20, MARGIN = 64 };

static uint8_t *host, *seen, *a, *b;
static hsa_signal_t done;

static void carry(void *to, struct agent *to_agent, const void *from, struct agent *from_agent, size_t bytes)
{
    hsa_signal_store_relaxed(done, 1);
    NEED_OK(hsa_amd_memory_async_copy(to, to_agent->handle, from, from_agent->handle, bytes, 0, NULL, done));
    NEED(wait_zero(done, 60));
}

static uint8_t pattern(size_t at, unsigned seed)
{
    return (uint8_t)((at * 2654435761u >> 13) + seed * 37);
}

/* The bytes around a range, and those in it, after it was copied through both device buffers. */
static void shapes(void)
{
    static const size_t sizes[] = { 1, 3, 4, 15, 16, 17, 63, 255, 4096, 65537, (1 << 20) + 3 };
    static const size_t offsets[] = { 0, 1, 4, 7, 16 };
    unsigned wrong = 0, spilled = 0, seed = 0;
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned o = 0; o < 5; o++)
            for (unsigned p = 0; p < 5; p++, seed++) {
                size_t bytes = sizes[s], whole = bytes + 2 * MARGIN;
                for (size_t i = 0; i < whole; i++)
                    host[i] = pattern(i, seed);
                memset(seen, 0xee, whole);
                NEED_OK(hsa_amd_memory_fill(a, 0xeeeeeeee, whole / 4 + 1));
                NEED_OK(hsa_amd_memory_fill(b, 0xeeeeeeee, whole / 4 + 1));
                carry(a + offsets[o], gpu, host + offsets[p], cpu, bytes);
                carry(b + offsets[p], gpu, a + offsets[o], gpu, bytes);
                carry(seen, cpu, b, gpu, whole);
                for (size_t i = 0; i < whole; i++) {
                    bool inside = i >= offsets[p] && i < offsets[p] + bytes;
                    wrong += inside && seen[i] != pattern(i, seed);
                    spilled += !inside && seen[i] != 0xee;
                }
            }
    CHECK(wrong == 0, "%u bytes are wrong", wrong);
    CHECK(spilled == 0, "%u bytes around the ranges changed", spilled);
}

/* Inside one buffer, up and down, by less than a range and by most of it. */
static void overlapping(void)
{
    static const size_t distances[] = { 1, 16, 4096, (1 << 20) + 5 };
    enum { BYTES = (2 << 20) + 77 };
    for (unsigned d = 0; d < 4; d++)
        for (int up = 0; up < 2; up++) {
            size_t from = up ? 0 : distances[d], to = up ? distances[d] : 0;
            for (size_t i = 0; i < ROOM; i++)
                host[i] = pattern(i, d);
            carry(a, gpu, host, cpu, ROOM);
            carry(a + to, gpu, a + from, gpu, BYTES);
            carry(seen, cpu, a, gpu, ROOM);
            memmove(host + to, host + from, BYTES);
            CHECK(memcmp(host, seen, ROOM) == 0, "by %zu bytes %s", distances[d], up ? "up" : "down");
        }
}

static void fills(void)
{
    static const size_t counts[] = { 1, 5, 1024, 300001 };
    for (unsigned c = 0; c < 4; c++) {
        memset(host, 0x11, ROOM);
        carry(a, gpu, host, cpu, ROOM);
        NEED_OK(hsa_amd_memory_fill(a + 8, 0xdeadbeef, counts[c]));
        carry(seen, cpu, a, gpu, ROOM);
        const uint32_t word = 0xdeadbeef;
        for (size_t i = 0; i < counts[c]; i++)
            memcpy(host + 8 + i * 4, &word, 4);
        CHECK(memcmp(host, seen, ROOM) == 0, "%zu words", counts[c]);
    }
}

/* Each waits for the one before; they are submitted last first. */
static void chains(void)
{
    enum { LINKS = 6, BYTES = 300000 };
    hsa_signal_t gate = new_signal(1), links[LINKS];
    for (int i = 0; i < LINKS; i++)
        links[i] = new_signal(1);
    for (size_t i = 0; i < BYTES; i++)
        host[i] = pattern(i, 5);
    memset(seen, 0, BYTES);
    struct { void *to; struct agent *to_agent; void *from; struct agent *from_agent; } steps[LINKS] = {
        { a, gpu, host, cpu }, { b, gpu, a, gpu }, { a + BYTES, gpu, b, gpu }, { b + BYTES, gpu, a + BYTES, gpu }, { a, gpu, b + BYTES, gpu }, { seen, cpu, a, gpu },
    };
    for (int i = LINKS - 1; i >= 0; i--)
        NEED_OK(hsa_amd_memory_async_copy(steps[i].to, steps[i].to_agent->handle, steps[i].from, steps[i].from_agent->handle, BYTES, 1,
                                          i ? &links[i - 1] : &gate, links[i]));
    pause_ms(20);
    for (int i = 0; i < LINKS; i++)
        CHECK(hsa_signal_load_scacquire(links[i]) == 1, "link %d did not wait", i);
    hsa_signal_store_screlease(gate, 0);
    CHECK(wait_zero(links[LINKS - 1], 60), "the chain did not end");
    CHECK(memcmp(host, seen, BYTES) == 0, "the chain brought other bytes");
    for (int i = 0; i < LINKS; i++)
        NEED_OK(hsa_signal_destroy(links[i]));
    NEED_OK(hsa_signal_destroy(gate));
}

int main(void)
{
    NEED_OK(hsa_init());
    find_agents();
    done = new_signal(1);
    host = shared_alloc(ROOM);
    seen = shared_alloc(ROOM);
    a = pool_alloc(gpu->coarse, ROOM);
    b = pool_alloc(gpu->coarse, ROOM);
    shapes();
    overlapping();
    fills();
    chains();
    CHECK_OK(hsa_shut_down());
    return check_summary();
}
