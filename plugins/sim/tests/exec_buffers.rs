//! Accesses through buffer descriptors: what lies inside, and what outside.

mod exec_support;

use exec_support::{compile, Build, Launch, Memory, Program};

/// A buffer of 16 bytes, of which every lane reads one and four dwords from its place on, and writes four.
const BOUNDS: &str = r#"
kernel void bounds(global uint *out, global const uint *in) {
    uint lane = get_local_id(0), place = 4 * lane, one, shifted = 8;
    uint4 four;
    uint4 from = (uint4)((uint)(ulong)in, (uint)((ulong)in >> 32), 16, 0x20000);
    uint4 to = (uint4)((uint)(ulong)(out + 64), (uint)((ulong)(out + 64) >> 32), 16, 0x20000);
    __asm__ volatile("buffer_load_dword %0, %1, %2, %3 offen\n s_waitcnt vmcnt(0)"
        : "=v"(one) : "v"(place), "s"(from), "s"(shifted));
    __asm__ volatile("buffer_load_dwordx4 %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
        : "=&v"(four) : "v"(place), "s"(from));
    out[lane] = one;
    out[8 + lane] = four.x;
    out[16 + lane] = four.y;
    out[24 + lane] = four.z;
    out[32 + lane] = four.w;
    uint4 data = (uint4)(100 + lane, 200 + lane, 300 + lane, 400 + lane);
    if (lane == 2)
        __asm__ volatile("buffer_store_dwordx4 %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
            :: "v"(data), "v"(place), "s"(to) : "memory");
    if (lane == 3)
        __asm__ volatile("buffer_store_dword %0, %1, %2, %3 offen\n s_waitcnt vmcnt(0)"
            :: "v"(lane), "v"(place), "s"(to), "s"(shifted) : "memory");
}
"#;

#[test]
fn bounds_count_the_scalar_offset_and_are_kept_for_each_dword() {
    // Without optimisation the descriptors would be in vector registers.
    for build in Build::usual().into_iter().filter(|build| build.optimise != "-O0") {
        let Some(object) = compile(BOUNDS, build) else {
            return;
        };
        let program = Program::load(&object, build.target);
        let values: Vec<u32> = (1..=64).collect();
        let (out, values) = (Memory::new(4 * 80), Memory::of(&values));
        let launch = Launch::new(&program, "bounds", 8, 8);
        launch.buffer(&out).buffer(&values).run().expect("runs");
        let found = out.values::<u32>(80);
        // Words 2 and 3 are the last.
        assert_eq!(found[..8], [3, 4, 0, 0, 0, 0, 0, 0], "{build:?}");
        for k in 0..4 {
            let inside = |lane: u32| if lane + k < 4 { lane + k + 1 } else { 0 };
            let expected: Vec<u32> = (0..8).map(inside).collect();
            let first = 8 + 8 * k as usize;
            assert_eq!(found[first..first + 8], expected, "dword {k}, {build:?}");
        }
        assert_eq!(found[64..70], [0, 0, 102, 202, 0, 0], "{build:?}");
    }
}

/// Words, pairs of words and halves at every place of a lane's own bytes, where the dwords of 64 lanes lie side by side: loads them
/// and stores them to other places. A formatted pair goes along.
const INTERLEAVED: &str = r#"
kernel void interleaved(global uint *out, global const uint *in) {
    uint place = get_local_id(0) & 7, word, half_word = 0xaaaa5555;
    uint2 two, formatted;
    uint4 from = (uint4)((uint)(ulong)in, (uint)((ulong)in >> 32) | 0x80000000, 0, 0x00ea7fac);
    uint4 to = (uint4)((uint)(ulong)out, (uint)((ulong)out >> 32) | 0x80000000, 0, 0x00ea7fac);
    __asm__ volatile("buffer_load_dword %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
        : "=v"(word) : "v"(place), "s"(from));
    __asm__ volatile("buffer_load_dwordx2 %0, %1, %2, 0 offen offset:1\n s_waitcnt vmcnt(0)"
        : "=&v"(two) : "v"(place), "s"(from));
    __asm__ volatile("buffer_load_short_d16_hi %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
        : "+v"(half_word) : "v"(place), "s"(from));
    __asm__ volatile(
        "tbuffer_load_format_xy %0, %1, %2, 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] offen offset:3\n"
        "s_waitcnt vmcnt(0)" : "=&v"(formatted) : "v"(place), "s"(from));
    __asm__ volatile("buffer_store_dword %0, %1, %2, 0 offen\n s_waitcnt vmcnt(0)"
        :: "v"(word), "v"(place), "s"(to) : "memory");
    __asm__ volatile("buffer_store_dwordx2 %0, %1, %2, 0 offen offset:17\n s_waitcnt vmcnt(0)"
        :: "v"(two), "v"(place), "s"(to) : "memory");
    __asm__ volatile("buffer_store_short_d16_hi %0, %1, %2, 0 offen offset:34\n s_waitcnt vmcnt(0)"
        :: "v"(half_word), "v"(place), "s"(to) : "memory");
    __asm__ volatile(
        "tbuffer_store_format_xy %0, %1, %2, 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] offen offset:47\n"
        "s_waitcnt vmcnt(0)" :: "v"(formatted), "v"(place), "s"(to) : "memory");
}
"#;

#[test]
fn what_crosses_a_dword_of_an_interleaved_buffer_stays_in_the_lane() {
    // Byte `offset` of a lane.
    let at = |lane: usize, offset: usize| offset / 4 * 256 + 4 * lane + offset % 4;
    for build in Build::usual().into_iter().filter(|build| build.optimise != "-O0") {
        let Some(object) = compile(INTERLEAVED, build) else {
            return;
        };
        let program = Program::load(&object, build.target);
        let bytes: Vec<u8> = (0..4096u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let (out, from) = (Memory::new(4096), Memory::of(&bytes));
        let launch = Launch::new(&program, "interleaved", 64, 64);
        launch.buffer(&out).buffer(&from).run().expect("runs");
        let mut expected = vec![0u8; 4096];
        for lane in 0..64 {
            // From where, to where, how much.
            for (first, to, count) in [(0, 0, 4), (1, 17, 8), (0, 34, 2), (3, 47, 8)] {
                for byte in lane % 8..lane % 8 + count {
                    expected[at(lane, to + byte)] = bytes[at(lane, first + byte)];
                }
            }
        }
        let found = out.values::<u8>(4096);
        let wrong = (0..4096).find(|i| found[*i] != expected[*i]);
        assert_eq!(wrong, None, "{build:?}");
    }
}
