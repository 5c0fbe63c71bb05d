// Kernels with assembler of their own, and builtins that become one instruction.
#include "check.hpp"

enum { LANES = 64, RESULTS = 16 };

__global__ void instructions(const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    unsigned lane = threadIdx.x;
    uint32_t x = a[lane], y = b[lane], r[RESULTS];
    asm volatile("v_add_u32 %0, %1, %2" : "=v"(r[0]) : "v"(x), "v"(y));
    asm volatile("v_perm_b32 %0, %1, %2, %3" : "=v"(r[1]) : "v"(x), "v"(y), "s"(0x07020500));
    asm volatile("v_bfe_u32 %0, %1, 5, 9" : "=v"(r[2]) : "v"(x));
    asm volatile("v_alignbit_b32 %0, %1, %2, 7" : "=v"(r[3]) : "v"(x), "v"(y));
    asm volatile("ds_swizzle_b32 %0, %1 offset:swizzle(SWAP,1)\n s_waitcnt lgkmcnt(0)" : "=v"(r[4]) : "v"(x));
    asm volatile("s_nop 1\n v_mov_b32_dpp %0, %1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\n s_nop 1"
                 : "=&v"(r[5])
                 : "v"(x));
    asm volatile("v_mad_u32_u24 %0, %1, %2, %3" : "=v"(r[6]) : "v"(x), "v"(y), "v"(7));
    asm volatile("s_mov_b32 %0, 0x1234\n s_lshl_b32 %0, %0, 4" : "=s"(r[7])::"scc");
    r[8] = __builtin_amdgcn_ubfe(x, 3, 4);
    r[9] = __builtin_amdgcn_sbfe(x, 3, 4);
    r[10] = __builtin_amdgcn_cvt_pkrtz(1.5f, 2.5f)[0] == 1.5f;
    r[11] = __builtin_amdgcn_readlane(x, 13);
    r[12] = __builtin_amdgcn_sad_u8(x, y, 3);
    r[13] = __builtin_amdgcn_lerp(x, y, 0x01010101);
    r[14] = __builtin_amdgcn_alignbyte(x, y, 1);
    r[15] = __builtin_amdgcn_msad_u8(x, y, 3);
    for (int i = 0; i < RESULTS; i++)
        out[lane * RESULTS + i] = r[i];
}

__global__ void clocks(unsigned *forward)
{
    long long cycles = clock64();
    unsigned long long time = __builtin_amdgcn_s_memrealtime();
    __builtin_amdgcn_s_sleep(10);
    *forward = clock64() > cycles && __builtin_amdgcn_s_memrealtime() >= time && time > 0;
}

static uint32_t byte_of(uint32_t value, int index)
{
    return value >> (8 * index) & 255;
}

int main()
{
    Numbers numbers;
    auto random = [&](size_t) { return static_cast<uint32_t>(numbers.next()); };
    auto a = made(LANES, random), b = made(LANES, random);
    Array<uint32_t> device_a(a), device_b(b), out(LANES * RESULTS);
    instructions<<<1, LANES>>>(device_a, device_b, out);
    std::vector<uint32_t> want;
    for (int lane = 0; lane < LANES; lane++) {
        uint32_t x = a[lane], y = b[lane], sad = 3, masked = 3, average = 0;
        uint64_t both = static_cast<uint64_t>(x) << 32 | y;
        for (int k = 0; k < 4; k++) {
            uint32_t p = byte_of(x, k), q = byte_of(y, k), distance = p > q ? p - q : q - p;
            sad += distance;
            masked += q != 0 ? distance : 0;
            average |= ((p + q + 1) >> 1) << (8 * k);
        }
        auto chosen = [&](int index) { return static_cast<uint32_t>(both >> (8 * index)) & 255; };
        for (uint32_t value : {x + y, chosen(7) << 24 | chosen(2) << 16 | chosen(5) << 8 | chosen(0), x >> 5 & 511,
                               static_cast<uint32_t>(both >> 7), a[lane ^ 1], lane % 16 ? a[lane - 1] : 0,
                               (x & 0xffffff) * (y & 0xffffff) + 7, 0x12340u, x >> 3 & 15,
                               static_cast<uint32_t>(static_cast<int32_t>(x << 25) >> 28), 1u, a[13], sad, average,
                               static_cast<uint32_t>(both >> 8), masked})
            want.push_back(value);
    }
    SAME(out.values(), want);
    Array<unsigned> forward(1);
    clocks<<<1, 1>>>(forward);
    SAME(forward.values(), std::vector<unsigned>{1});
    return summary();
}
