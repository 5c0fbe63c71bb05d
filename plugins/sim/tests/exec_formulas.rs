//! Values that are formulas of the lane number, and waves that go the same way: random programs compute the same with them
//! as where somebody watches, and every row is a row and every wave alone then.

#![allow(clippy::cast_possible_truncation, reason = "Random bits are cut to size")]

mod exec_support;

use exec_support::{assemble, Launch, Memory, Program};
use hansa_sim::exec::{resume_group, run_group, Arena, Dispatch, GroupOutcome, Host, Level, Step};
use hansa_sim::isa::Target;

/// Watches, so that there are no formulas.
#[derive(Debug)]
struct Watcher;

impl Host for Watcher {
    fn message(&self, _: u16, _: u32) {}
    fn observes(&self) -> bool {
        true
    }
    fn step(&self, _: &Step<'_>) {}
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// D, E: destination and the register after it; A, B: sources; S, T: scalars; N: a shift. Addresses are in v20 to v23.
const STEPS: &[&str] = &[
    "v_mov_b32 D, A",
    "v_mov_b32 D, S",
    "v_add_u32 D, S, A",
    "v_add_u32 D, A, B",
    "v_sub_u32 D, A, B",
    "v_subrev_u32 D, S, A",
    "v_lshlrev_b32 D, N, A",
    "v_lshrrev_b32 D, N, A",
    "v_ashrrev_i32 D, N, A",
    "v_and_b32 D, S, A",
    "v_and_b32 D, 15, A",
    "v_bfe_u32 D, A, N, 5",
    "v_mul_lo_u32 D, A, S",
    "v_mul_lo_u32 D, A, B",
    "v_mul_u32_u24 D, S, A",
    "v_mad_u32_u24 D, A, S, B",
    "v_lshl_add_u32 D, A, N, B",
    "v_add_lshl_u32 D, A, B, N",
    "v_add3_u32 D, A, S, B",
    "v_add_co_u32 D, vcc, S, A",
    "v_add_co_u32 D, vcc, S, A\nv_addc_co_u32 E, vcc, 0, B, vcc",
    "v_mov_b32 E, T\nv_add_co_u32 D, vcc, S, A\nv_addc_co_u32 E, vcc, E, B, vcc",
    "v_mov_b32 E, T\nv_add_u32 D, S, D\nv_add_co_u32 D, vcc, S, A\nv_addc_co_u32 E, vcc, E, B, vcc",
    "v_addc_co_u32 D, vcc, A, B, vcc",
    "v_lshlrev_b64 P, N, Q",
    "v_lshrrev_b64 P, N, Q",
    "v_ashrrev_i64 P, N, Q",
    "v_mad_u64_u32 P, vcc, A, S, Q",
    "v_cmp_gt_u32 vcc, S, A",
    "v_cmp_le_i32 vcc, A, B",
    "v_cmp_lt_i32 vcc, S, A",
    "v_cmp_ge_u32 vcc, A, B",
    "v_cmp_eq_u32 vcc, A, B",
    "v_cmp_ne_i32 vcc, S, A",
    "v_cndmask_b32 D, A, B, vcc",
    "v_cvt_f32_u32 D, A",
    "v_xor_b32 D, A, B",
    "v_add_u32_sdwa D, A, B dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
    "v_mov_b32_dpp D, A row_shr:3 row_mask:0xf bank_mask:0x5",
    "v_readlane_b32 s29, A, 17\nv_writelane_b32 D, s29, 9",
    "v_readfirstlane_b32 s29, A",
    "v_swap_b32 D, A",
    "v_cvt_pkaccum_u8_f32 D, A, B",
    "v_mac_f32 D, A, B",
    "ds_bpermute_b32 D, A, B\ns_waitcnt lgkmcnt(0)",
    "s_mov_b64 exec, s[26:27]",
    "s_mov_b64 exec, -1",
    "s_mov_b64 exec, -1",
    "s_set_gpr_idx_on s31, 1\nv_mov_b32 D, v3\ns_set_gpr_idx_off",
    "v_and_b32 v20, 0xffc, A\nglobal_load_dword D, v20, s[22:23]",
    "v_and_b32 v20, 0xffc, A\nglobal_store_dword v20, B, s[22:23] offset:64",
    "v_lshlrev_b32 v20, 2, v0\nglobal_load_dword D, v20, s[22:23] offset:-16",
    "v_lshl_add_u32 v20, v0, 2, 16\nglobal_store_dword v20, A, s[22:23]",
    "v_lshlrev_b32 v20, 3, v0\nglobal_load_dwordx2 P, v20, s[22:23]",
    "v_lshlrev_b32 v20, 3, v0\nglobal_store_dwordx2 v20, P, s[22:23]",
    "v_lshlrev_b32 v20, 1, v0\nglobal_load_short_d16_hi D, v20, s[22:23]",
    "global_load_sbyte D, v0, s[22:23]\nglobal_store_short v0, A, s[22:23] offset:3",
    "v_and_b32 v20, 0x7fc, A\nv_mov_b32 v22, s23\nv_add_co_u32 v21, vcc, s22, v20\nv_addc_co_u32 v22, vcc, 0, v22, vcc\n\
     global_load_dword D, v[21:22], off offset:8\nflat_store_dword v[21:22], B",
    "v_and_b32 v20, 0x7fc, A\nv_mov_b32 v22, s23\nv_add_co_u32 v21, vcc, s22, v20\nv_addc_co_u32 v22, vcc, 0, v22, vcc\n\
     global_store_dword v[21:22], B, off offset:12",
    "v_mov_b32 v23, -1\nv_mov_b32 v22, T\nv_add_co_u32 v21, vcc, S, v0\nv_addc_co_u32 v22, vcc, v22, v23, vcc\n\
     v_addc_co_u32 D, vcc, 0, A, vcc",
    "s_mov_b32 s27, S",
    "s_add_u32 s26, S, T\ns_addc_u32 s27, S, T",
    "s_add_i32 s28, S, T",
    "s_mul_i32 s29, S, T",
    "s_and_b32 s28, S, T",
    "s_lshl_b32 s29, T, N",
    "s_lshr_b32 s28, T, N",
    "s_cmp_eq_u32 S, T\ns_cbranch_scc1 1\nv_add_u32 D, A, B",
    "s_cmp_lg_u32 S, T\ns_cbranch_scc0 1\nv_add_u32 D, A, B",
    "s_cmp_lt_u32 S, T\ns_cbranch_scc1 1\nv_add_u32 D, A, B",
    "s_cmp_gt_u32 S, T\ns_cbranch_scc0 1\nv_add_u32 D, A, B",
    "s_cmp_lt_i32 S, T\ns_cbranch_scc1 1\nv_add_u32 D, A, B",
    "s_cmp_gt_i32 S, T\ns_cbranch_scc0 1\nv_add_u32 D, A, B",
    "s_branch 1\nv_add_u32 D, A, B",
    "s_cbranch_execz 1\nv_add_u32 D, A, B",
    "s_load_dword s27, s[22:23], 0x44\ns_waitcnt lgkmcnt(0)",
    "s_load_dwordx2 s[28:29], s[22:23], 0x4c\ns_waitcnt lgkmcnt(0)",
    "s_load_dwordx4 s[24:27], s[22:23], 0x54\ns_waitcnt lgkmcnt(0)",
    "v_mov_b32 v20, 0\nv_ashrrev_i64 v[22:23], 30, v[20:21]\nv_and_b32 v21, 0xff, A",
];

/// What parts waves, or may.
const PARTING: [&str; 5] = ["exec", "readlane", "readfirstlane", "v_cmp", "gpr_idx"];

/// Writes a random program that stores v0 to v15, VCC and the execution mask at the end. Waves of a group have places of
/// their own for that; several do not store anywhere else.
fn program(random: &mut Random, [width, height, depth]: [u16; 3]) -> String {
    let alone = width * height * depth <= 64;
    let mut text = String::from(
        "s_load_dwordx4 s[20:23], s[8:9], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b64 exec, -1\ns_add_u32 s22, s22, 0x1000\ns_addc_u32 s23, s23, 0\n\
         s_lshl_b32 s30, s15, 17\ns_add_u32 s20, s20, s30\ns_addc_u32 s21, s21, 0\n\
         v_mov_b32 v20, 0\nv_mov_b32 v21, 0\nv_mov_b32 v22, 0\nv_mov_b32 v23, 0\ns_mov_b32 s31, 2\n\
         v_mov_b32 v51, 0\nv_mbcnt_lo_u32_b32 v50, -1, 0\nv_mbcnt_hi_u32_b32 v50, -1, v50\nv_lshlrev_b32 v50, 2, v50\n",
    );
    if !alone {
        text += &format!(
            "v_mul_u32_u24 v52, {height}, v2\nv_add_u32 v52, v52, v1\nv_mul_u32_u24 v52, {width}, v52\nv_add_u32 v52, v52, v0\n\
             v_lshrrev_b32 v52, 6, v52\nv_lshl_add_u32 v50, v52, 13, v50\n"
        );
    }
    // Now and then they go together for long.
    let keeps = !alone && random.below(2) == 0;
    let values = [
        "0",
        "1",
        "4",
        "0x200",
        "-1",
        "-4",
        "0x7fffffff",
        "0x80000000",
        "0xfffff000",
        "0x1234567",
    ];
    for scalar in 24..30 {
        text += &format!("s_mov_b32 s{scalar}, {}\n", random.of(&values));
    }
    for register in 3..16 {
        let from = random.of(&["v0", "v1", "v2", "s24", "s25", "v50"]);
        text += &format!("v_mov_b32 v{register}, {from}\n");
        if random.below(3) == 0 {
            text += &format!(
                "v_mul_lo_u32 v{register}, v{register}, s{}\n",
                24 + random.below(4)
            );
        }
    }
    for _ in 0..40 {
        let step = random.of(STEPS);
        let parts = PARTING.iter().any(|name| step.contains(name)) && random.below(8) != 0;
        if !alone && step.contains("store") || keeps && parts {
            continue;
        }
        let (d, p, q) = (
            3 + random.below(12),
            4 + 2 * random.below(5),
            4 + 2 * random.below(5),
        );
        let other = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 15].map(|register| format!("v{register}"));
        for (place, c) in step.char_indices() {
            // Names of modifiers have capitals, too.
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let in_word =
                inside(step[..place].chars().next_back()) || inside(step[place + 1..].chars().next());
            match c {
                _ if in_word => text.push(c),
                'D' => text += &format!("v{d}"),
                'E' => text += &format!("v{}", d + 1),
                'P' => text += &format!("v[{p}:{}]", p + 1),
                'Q' => text += &format!("v[{q}:{}]", q + 1),
                'A' | 'B' => text += &other[random.below(other.len())],
                'S' => text += random.of(&["s24", "s25", "s26"]),
                'T' => text += random.of(&["s27", "s28", "s29"]),
                'N' => text += random.of(&["1", "2", "3", "30", "31", "32", "40", "0"]),
                _ => text.push(c),
            }
        }
        text.push('\n');
    }
    let mut end = String::from(
        "v_mov_b32 v51, exec_lo\ns_mov_b64 exec, -1\nv_mov_b32 v52, vcc_lo\nv_mov_b32 v53, vcc_hi\n",
    );
    for (place, register) in (0..16).chain(51..54).enumerate() {
        if place % 8 == 0 {
            end += &format!("v_add_u32 v54, 0x{:x}, v50\n", place * 256);
        }
        end += &format!(
            "global_store_dword v54, v{register}, s[20:21] offset:{}\n",
            place % 8 * 256
        );
    }
    text + &end + "s_endpgm\n"
}

fn run(words: &[u32], level: Level, shape: [u16; 3], watched: bool) -> (String, Vec<u32>) {
    // Registers for few enough vectors, and no place in scratch memory, so that waves may go together.
    let program = Program::raw_of(words, Target::Gfx900, level, [0x00af_03c1, 0x1b8c | 15 << 1]);
    let data: Vec<u32> = (0..8192u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let (out, data) = (Memory::new(3 << 17), Memory::of(&data));
    let grid = shape.map(u32::from);
    let launch = Launch::new(&program, "raw", 1, 1).buffer(&out).buffer(&data);
    let launch = launch.shape([3 * grid[0], grid[1], grid[2]], shape);
    let result = launch.with_dispatch(|dispatch| {
        let dispatch = Dispatch {
            host: if watched { &Watcher } else { dispatch.host },
            ..*dispatch
        };
        let mut arena = Arena::new();
        for group in 0..3 {
            let mut outcome = run_group(&dispatch, [group, 0, 0], &mut arena, 0)?;
            while let GroupOutcome::Yield { group, .. } = outcome {
                outcome = resume_group(&dispatch, group, &mut arena)?;
            }
        }
        Ok::<(), hansa_sim::exec::Fault>(())
    });
    let mut memory: Vec<u32> = out.values(3 << 15);
    memory.extend(data.values::<u32>(8192));
    // Addresses differ from run to run, in registers that held them too.
    let what = match result {
        Ok(()) => "done".to_owned(),
        Err(fault) => format!("{fault:?}").split(' ').take(1).collect(),
    };
    (what, memory)
}

#[test]
fn random_programs_compute_the_same_with_formulas() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let shapes = [
        [64, 1, 1],
        [16, 4, 1],
        [8, 8, 1],
        [4, 4, 4],
        [32, 2, 1],
        [12, 5, 1],
        [2, 32, 1],
        [128, 1, 1],
        [256, 1, 1],
        [1024, 1, 1],
        [16, 16, 1],
        [8, 16, 1],
        [64, 4, 1],
        [8, 8, 4],
        [320, 1, 1],
    ];
    for number in 0..300 {
        let text = program(&mut random, shapes[number % shapes.len()]);
        let Some(words) = assemble(&text, Target::Gfx900) else {
            return;
        };
        let shape = shapes[number % shapes.len()];
        for level in Level::available() {
            let (expected, memory) = run(&words, level, shape, true);
            let (what, result) = run(&words, level, shape, false);
            assert_eq!(what, expected, "{number}, {level:?}, {shape:?}\n{text}");
            let differs = (0..memory.len()).find(|i| memory[*i] != result[*i]);
            if let Some(place) = differs {
                panic!(
                    "{number}, {level:?}, {shape:?}: place {place:#x} (wave {}, register {}, lane {}) is {:#x}, not {:#x}\n{text}",
                    place >> 11,
                    place / 64 % 32,
                    place % 64,
                    result[place],
                    memory[place]
                );
            }
        }
    }
}
