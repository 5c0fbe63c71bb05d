// What the lanes of a wave tell each other: shuffles, votes, and where a lane is.
#include "check.hpp"

#include <algorithm>

using Words = std::vector<int>;

template <class T> __global__ void shuffles(T *out, int width)
{
    int lane = threadIdx.x;
    T value = static_cast<T>(lane) * static_cast<T>(1000.5);
    out[lane] = __shfl(value, (lane * 7 + 3) % width, width);
    out[64 + lane] = __shfl_up(value, 5u, width);
    out[128 + lane] = __shfl_down(value, 9u, width);
    out[192 + lane] = __shfl_xor(value, 6, width);
}

template <class T> static void shuffling(int width)
{
    Array<T> out(256);
    shuffles<T><<<1, 64>>>(out, width);
    auto value = [](int lane) { return static_cast<T>(static_cast<T>(lane) * static_cast<T>(1000.5)); };
    SAME(out.values(), made(256, [&](size_t i) {
             int lane = static_cast<int>(i % 64), first = lane / width * width, from = lane;
             switch (i / 64) {
             case 0:
                 from = first + (lane * 7 + 3) % width;
                 break;
             case 1:
                 from = lane - 5 < first ? lane : lane - 5;
                 break;
             case 2:
                 from = lane + 9 >= first + width ? lane : lane + 9;
                 break;
             default:
                 from = (lane ^ 6) >= first + width ? lane : lane ^ 6;
             }
             return value(from);
         }));
}

__global__ void votes(unsigned long long *out)
{
    int lane = threadIdx.x % 64;
    bool third = lane % 3 == 0;
    unsigned long long ballot = __ballot(third);
    int any = __any(lane == 50), none = __any(lane == 100), all = __all(lane < 64), some = __all(lane < 63);
    unsigned long long in_branch = 0;
    if (lane >= 40)
        in_branch = __ballot(lane % 5 == 0);
    unsigned long long *mine = out + threadIdx.x * 3;
    mine[0] = ballot;
    mine[1] = static_cast<unsigned long long>(any * 8 + none * 4 + all * 2 + some);
    mine[2] = in_branch;
}

// In a kernel of its own: compilers take one ballot of equal values for another, wherever it is.
__global__ void active(unsigned long long *out)
{
    out[threadIdx.x] = 0;
    if (threadIdx.x >= 40)
        out[threadIdx.x] = __ballot(1);
}

__global__ void where(int *out)
{
    int *mine = out + threadIdx.x * 4;
    mine[0] = static_cast<int>(__lane_id());
    mine[1] = __popcll(__ballot(1));
    mine[2] = static_cast<int>(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)));
    mine[3] = warpSize;
}

// The first lane of a wave takes places for all that want one.
__global__ void compact(const int *in, int count, int *out, int *next)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool wanted = i < count && in[i] % 5 == 0;
    unsigned long long mask = __ballot(wanted);
    int lane = static_cast<int>(__lane_id()), base = 0;
    if (lane == 0)
        base = atomicAdd(next, __popcll(mask));
    base = __shfl(base, 0);
    if (wanted)
        out[base + __popcll(mask & ((1ull << lane) - 1))] = in[i];
}

__global__ void wave_sum(const float *in, float *out)
{
    float value = in[blockIdx.x * 64 + threadIdx.x];
    for (int step = 32; step > 0; step /= 2)
        value += __shfl_xor(value, step);
    if (threadIdx.x == 0)
        out[blockIdx.x] = value;
}

__global__ void intrinsics(int *out)
{
    int lane = threadIdx.x;
    out[lane] = __builtin_amdgcn_readfirstlane(lane * 3 + 5);
    out[64 + lane] = __builtin_amdgcn_readlane(lane * 2, 37);
    out[128 + lane] = __builtin_amdgcn_ds_bpermute((63 - lane) * 4, lane);
    out[192 + lane] = __builtin_amdgcn_ds_permute(((lane + 10) % 64) * 4, lane);
    out[256 + lane] = __builtin_amdgcn_ds_swizzle(lane, 0x401f); // lane ^ 16
    out[320 + lane] = __builtin_amdgcn_mov_dpp(lane, 0xb1, 0xf, 0xf, true); // quads: 1 0 3 2
    out[384 + lane] = __builtin_amdgcn_update_dpp(-1, lane, 0x111, 0xf, 0xf, false); // one lane up in each row
}

int main()
{
    for (int width : {64, 32, 16, 8, 4, 2}) {
        shuffling<int>(width);
        shuffling<float>(width);
    }
    shuffling<double>(64);
    shuffling<long long>(64);
    shuffling<unsigned>(32);

    Array<unsigned long long> ballots(192 * 3), lanes(64);
    votes<<<1, 192>>>(ballots);
    unsigned long long third = 0, fifth = 0;
    for (int lane = 0; lane < 64; lane += 3)
        third |= 1ull << lane;
    for (int lane = 0; lane < 64; lane += 5)
        fifth |= 1ull << lane;
    const unsigned long long high = ~0ull << 40;
    SAME(ballots.values(), made(192 * 3, [&](size_t i) {
             bool branch = i / 3 % 64 >= 40;
             return i % 3 == 0 ? third : i % 3 == 1 ? 8ull + 2 : branch ? fifth & high : 0;
         }));
    active<<<1, 64>>>(lanes);
    SAME(lanes.values(), made(64, [&](size_t i) { return i < 40 ? 0 : high; }));

    Array<int> places(64 * 2 * 4);
    where<<<1, 128>>>(places);
    SAME(places.values(), made(512, [](size_t i) { return i % 2 ? 64 : static_cast<int>(i / 4 % 64); }));

    Numbers numbers;
    Words in = made(1000, [&](size_t) { return static_cast<int>(numbers.below(1000)); }), want;
    Array<int> device(in), out(Words(1000, -1)), next(Words{0});
    compact<<<4, 256>>>(device, 1000, out, next);
    for (int value : in)
        if (value % 5 == 0)
            want.push_back(value);
    SAME(next.values(), Words{static_cast<int>(want.size())});
    Words got = out.values();
    got.resize(want.size());
    // Waves come in any order.
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    SAME(got, want);

    std::vector<float> floats = made(640, [](size_t i) { return static_cast<float>(i % 29); }), sums(10);
    for (size_t i = 0; i < 640; i++)
        sums[i / 64] += floats[i];
    Array<float> values(floats), totals(10);
    wave_sum<<<10, 64>>>(values, totals);
    SAME(totals.values(), sums);

    Array<int> all(7 * 64);
    intrinsics<<<1, 64>>>(all);
    SAME(all.values(), made(7 * 64, [](size_t i) {
             int lane = static_cast<int>(i % 64);
             const int expected[] = {5, 74, 63 - lane, (lane + 54) % 64, lane ^ 16, lane ^ 1, lane % 16 ? lane - 1 : -1};
             return expected[i / 64];
         }));
    return summary();
}
