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
