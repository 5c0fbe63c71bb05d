//! Waves that enter a trap handler: which of a group stand, which go on, and what scalar code does as the engine does it.

#![expect(clippy::cast_possible_truncation, reason = "Halves of addresses")]

mod exec_support;

use exec_support::{assemble, Launch, Memory, Program};
use hansa_sim::exec::{resume_group, run_group, Access, Arena, Dispatch, Fault, GroupOutcome, Host, Level};
use hansa_sim::isa::Target;
use hansa_sim::scalar::{self, After, Exit, Generation, Handler, Lost, Wave};
use std::sync::Mutex;

/// Halts waves whose trap has another number than 3, and others go on behind it.
const HANDLER: &str = "
  s_bfe_u32 ttmp2, ttmp1, 16 | 8 << 16
  s_add_u32 ttmp0, ttmp0, 4
  s_addc_u32 ttmp1, ttmp1, 0
  s_cmp_eq_u32 ttmp2, 3
  s_cbranch_scc1 1
  s_bitset1_b32 ttmp12, 13
  s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
  s_rfe_b64 [ttmp0, ttmp1]
";

struct Traps {
    handler: Option<Handler>,
    seen: Mutex<Vec<(Fault, After)>>,
}

impl Host for Traps {
    fn message(&self, _: u16, _: u32) {}

    fn traps(&self) -> Option<(Handler, &dyn scalar::Outside)> {
        Some((self.handler?, self))
    }

    fn trapped(&self, fault: &Fault, _wave: &Wave, after: &After) {
        self.seen.lock().expect("nobody panics").push((*fault, *after));
    }
}

impl scalar::Outside for Traps {
    fn doorbell(&self) -> u32 {
        0
    }

    fn interrupt(&self, _: u32, _: bool) {}
}

/// A kernel, a handler, and a buffer whose address the kernel finds at s[8:9].
struct Bench {
    program: Program,
    handler: Memory,
    data: Memory,
}

impl Bench {
    fn new(kernel: &str, handler: &str) -> Option<Self> {
        let program = Program::raw(
            &assemble(kernel, Target::Gfx900)?,
            Target::Gfx900,
            Level::chosen(),
        );
        let handler = Memory::of(&assemble(handler, Target::Gfx900)?);
        program.space.map(handler.address(), handler.bytes(), Access::ALL);
        Some(Self {
            program,
            handler,
            data: Memory::new(4096),
        })
    }

    /// Runs a group of so many work-items until it is over or waits.
    fn run(&self, items: u16, with_handler: bool) -> (Result<GroupOutcome, Fault>, Vec<(Fault, After)>) {
        let traps = Traps {
            handler: with_handler.then_some(Handler {
                address: self.handler.address(),
                argument: 0,
                debugged: false,
            }),
            seen: Mutex::default(),
        };
        let launch = Launch::new(&self.program, "raw", items.into(), items).buffer(&self.data);
        let outcome = launch.with_dispatch(|dispatch| {
            let dispatch = Dispatch {
                host: &traps,
                ..*dispatch
            };
            let mut arena = Arena::new();
            let mut outcome = run_group(&dispatch, [0; 3], &mut arena, 0);
            for _ in 0..3 {
                match outcome {
                    Ok(GroupOutcome::Yield { group, .. }) if !group.stands() => {
                        outcome = resume_group(&dispatch, group, &mut arena);
                    }
                    _ => break,
                }
            }
            outcome
        });
        (outcome, traps.seen.into_inner().expect("nobody panics"))
    }
}

fn stands(outcome: &Result<GroupOutcome, Fault>) -> bool {
    matches!(outcome, Ok(GroupOutcome::Yield { group, idle: true }) if group.stands())
}

/// Counts waves in the buffer's first dword, after what comes before.
fn counting(before: &str, after: &str) -> String {
    format!(
        "s_load_dwordx2 s[20:21], s[8:9], 0x0
         v_cmp_eq_u32 vcc, 64, v0
         s_waitcnt lgkmcnt(0)
         v_mov_b32 v2, s20
         v_mov_b32 v3, s21
         v_mov_b32 v4, 1
         s_mov_b64 s[22:23], exec
         {before}
         s_mov_b64 exec, 1
         global_atomic_add v[2:3], v4, off
         s_mov_b64 exec, s[22:23]
         {after}
         s_endpgm"
    )
}

#[test]
fn a_wave_that_stands_stands_and_the_others_of_its_group_go_on() {
    // The second wave traps.
    let kernel = counting("s_cbranch_vccz 1\ns_trap 2", "");
    let Some(bench) = Bench::new(&kernel, HANDLER) else {
        return;
    };
    let (outcome, seen) = bench.run(256, true);
    assert!(stands(&outcome), "{outcome:?}");
    assert_eq!(bench.data.values::<u32>(1), [3]);
    assert!(
        matches!(seen[..], [(Fault::Trap { id: 2, .. }, After::Stands)]),
        "{seen:?}"
    );
}

#[test]
fn waves_at_a_barrier_wait_for_one_that_stands() {
    let kernel = counting("s_cbranch_vccz 1\ns_trap 2\ns_barrier", "");
    let Some(bench) = Bench::new(&kernel, HANDLER) else {
        return;
    };
    let (outcome, _) = bench.run(256, true);
    assert!(stands(&outcome), "{outcome:?}");
    assert_eq!(bench.data.values::<u32>(1), [0]);
}

#[test]
fn a_wave_that_goes_on_meets_the_others() {
    let kernel = counting(
        "s_mov_b32 s30, 77\ns_cmp_eq_u32 s30, 77\ns_trap 3\ns_cbranch_scc0 5\ns_barrier",
        "",
    );
    let Some(bench) = Bench::new(&kernel, HANDLER) else {
        return;
    };
    let (outcome, seen) = bench.run(256, true);
    assert!(matches!(outcome, Ok(GroupOutcome::Done)), "{outcome:?}");
    assert_eq!(bench.data.values::<u32>(1), [4]);
    assert_eq!(seen.len(), 4);
}

#[test]
fn without_a_handler_a_trap_ends_the_group() {
    let kernel = counting("s_trap 3", "");
    let Some(bench) = Bench::new(&kernel, HANDLER) else {
        return;
    };
    let (outcome, seen) = bench.run(64, false);
    assert!(matches!(outcome, Err(Fault::Trap { id: 3, .. })), "{outcome:?}");
    assert!(seen.is_empty());
}

/// Whether a handler is wrong in a way.
type Expected = fn(&Lost) -> bool;

#[test]
fn a_handler_that_is_wrong_ends_the_group_as_without_one() {
    // It returns, and the exception is still there; it ends the program; it goes where there is no code.
    let returns = "s_rfe_b64 [ttmp0, ttmp1]";
    let cases: [(&str, &str, Expected); 4] = [
        ("v_interp_p1_f32 v0, v1, attr0.x", returns, |lost| {
            *lost == Lost::Endless
        }),
        ("s_trap 2", "s_endpgm", |lost| {
            matches!(lost, Lost::Ended { exit: Exit::End, .. })
        }),
        (
            "s_trap 2",
            "s_mov_b64 ttmp[0:1], 0\ns_setpc_b64 [ttmp0, ttmp1]",
            |lost| {
                matches!(
                    lost,
                    Lost::Ended {
                        exit: Exit::NoCode,
                        pc: 0
                    }
                )
            },
        ),
        ("s_trap 2", "s_branch -1", |lost| {
            matches!(
                lost,
                Lost::Ended {
                    exit: Exit::Budget,
                    ..
                }
            )
        }),
    ];
    for (kernel, handler, expected) in cases {
        let Some(bench) = Bench::new(&counting(kernel, ""), handler) else {
            return;
        };
        let (outcome, seen) = bench.run(64, true);
        assert!(outcome.is_err(), "{kernel}: {outcome:?}");
        let [(_, After::Lost(lost))] = &seen[..] else {
            panic!("{kernel}: {seen:?}")
        };
        assert!(expected(lost), "{kernel}: {lost}");
    }
}

#[test]
fn programs_do_not_write_registers_of_trap_handlers() {
    let kernel = counting(
        "s_mov_b32 ttmp4, 7
         s_mov_b32 m0, 8
         s_movreld_b32 s101, s20
         v_readfirstlane_b32 ttmp5, v4
         s_load_dword ttmp6, s[8:9], 0x0
         s_waitcnt lgkmcnt(0)
         s_or_b32 s30, ttmp4, ttmp5
         s_or_b32 s30, s30, ttmp6
         s_or_b32 s30, s30, ttmp1
         s_cbranch_scc1 4",
        "",
    );
    let Some(bench) = Bench::new(&kernel, HANDLER) else {
        return;
    };
    let (outcome, _) = bench.run(64, true);
    assert!(matches!(outcome, Ok(GroupOutcome::Done)), "{outcome:?}");
    assert_eq!(bench.data.values::<u32>(1), [1]);
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Instructions that both know, with sources of 32 or 64 bits and without a choice of their own.
const SHARED: [(&str, &str); 43] = [
    ("s_add_u32", "dab"),
    ("s_sub_u32", "dab"),
    ("s_addc_u32", "dab"),
    ("s_subb_u32", "dab"),
    ("s_min_u32", "dab"),
    ("s_max_u32", "dab"),
    ("s_cselect_b32", "dab"),
    ("s_and_b32", "dab"),
    ("s_or_b32", "dab"),
    ("s_xor_b32", "dab"),
    ("s_andn2_b32", "dab"),
    ("s_lshl_b32", "dab"),
    ("s_lshr_b32", "dab"),
    ("s_bfe_u32", "dab"),
    ("s_mul_i32", "dab"),
    ("s_and_b64", "DAB"),
    ("s_or_b64", "DAB"),
    ("s_andn2_b64", "DAB"),
    ("s_cselect_b64", "DAB"),
    ("s_lshl_b64", "DAb"),
    ("s_lshr_b64", "DAb"),
    ("s_mov_b32", "da"),
    ("s_not_b32", "da"),
    ("s_brev_b32", "da"),
    ("s_bitset0_b32", "da"),
    ("s_bitset1_b32", "da"),
    ("s_mov_b64", "DA"),
    ("s_not_b64", "DA"),
    ("s_cmp_eq_u32", "ab"),
    ("s_cmp_lg_u32", "ab"),
    ("s_cmp_gt_u32", "ab"),
    ("s_cmp_ge_u32", "ab"),
    ("s_cmp_lt_u32", "ab"),
    ("s_cmp_le_u32", "ab"),
    ("s_bitcmp0_b32", "ab"),
    ("s_bitcmp1_b32", "ab"),
    ("s_cmp_eq_u64", "AB"),
    ("s_cmp_lg_u64", "AB"),
    ("s_movk_i32", "dk"),
    ("s_addk_i32", "dk"),
    ("s_cbranch_scc0", "j"),
    ("s_cbranch_scc1", "j"),
    ("s_nop", "0"),
];

/// Constants that operands can be.
const FLOATS: [&str; 8] = ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"];

/// An instruction with operands from s[30:45] and constants; branches pass over the next.
fn line(random: &mut Random) -> String {
    let (name, operands) = SHARED[random.below(SHARED.len() as u64) as usize];
    let texts: Vec<String> = operands
        .chars()
        .map(|operand| {
            let register = 30 + random.below(15);
            let pair = register & !1;
            match (operand, random.below(6)) {
                ('d', _) => format!("s{register}"),
                ('D', _) => format!("s[{pair}:{}]", pair + 1),
                ('k', _) => format!("{}", random.below(60_000).cast_signed() - 30_000),
                ('j', _) => "1".to_owned(),
                ('0', _) => "0".to_owned(),
                (_, 0) => format!("{}", random.below(80).cast_signed() - 16),
                (_, 1) => FLOATS[random.below(FLOATS.len() as u64) as usize].to_owned(),
                ('a', 2) => format!("{:#x}", random.next() as u32),
                ('a' | 'b', _) => format!("s{register}"),
                _ => format!("s[{pair}:{}]", pair + 1),
            }
        })
        .collect();
    let skipped = if operands == "j" {
        "\ns_not_b32 s31, s32".to_owned()
    } else {
        String::new()
    };
    format!("{name} {}{skipped}\n", texts.join(", "))
}

/// The engine's instructions have been checked against numbers that are not ours (`vectors`), so scalar code has to give the
/// same.
#[test]
fn scalar_code_gives_what_the_engine_gives() {
    let mut random = Random(1);
    for round in 0..60 {
        let body: String = (0..60).map(|_| line(&mut random)).collect();
        let text = format!(
            "s_load_dwordx2 s[20:21], s[8:9], 0x0
             s_waitcnt lgkmcnt(0)
             s_load_dwordx4 s[28:31], s[20:21], 0x0
             s_load_dwordx4 s[32:35], s[20:21], 0x10
             s_load_dwordx4 s[36:39], s[20:21], 0x20
             s_load_dwordx4 s[40:43], s[20:21], 0x30
             s_load_dwordx2 s[44:45], s[20:21], 0x40
             s_waitcnt lgkmcnt(0)
             s_cmp_eq_u32 s28, s28
             {body}
             s_cselect_b32 s28, 1, 0
             {}
             s_endpgm",
            (28..46)
                .step_by(2)
                .map(|first| format!(
                    "s_store_dwordx2 s[{first}:{}], s[20:21], {}\n",
                    first + 1,
                    256 + 4 * first
                ))
                .collect::<String>()
        );
        let Some(words) = assemble(&text, Target::Gfx900) else {
            return;
        };
        let values: Vec<u32> = (0..1024)
            .map(|_| random.next() as u32 >> random.below(33).min(31))
            .collect();
        let results = [true, false].map(|by_engine| {
            let program = Program::raw(&words, Target::Gfx900, Level::chosen());
            let data = Memory::of(&values);
            let launch = Launch::new(&program, "raw", 1, 1).buffer(&data);
            if by_engine {
                launch.run().expect("it ends");
            } else {
                let pointer = Memory::of(&[data.address()]);
                program.share(&pointer);
                let (object, descriptor) = program.kernel("raw");
                let mut wave = Wave::new(
                    Generation::Gfx9,
                    object.wrapping_add_signed(descriptor.entry_offset),
                );
                (wave.s[8], wave.s[9]) = (pointer.address() as u32, (pointer.address() >> 32) as u32);
                let traps = Traps {
                    handler: None,
                    seen: Mutex::default(),
                };
                assert_eq!(
                    scalar::run(&mut wave, &program.space, &traps, 10_000),
                    Exit::End,
                    "{text}"
                );
            }
            data.values::<u32>(1024)
        });
        assert_ne!(results[0], values);
        assert_eq!(results[0], results[1], "round {round}: {text}");
    }
}
