//! Random instructions must never do worse than fault.

#![allow(clippy::cast_possible_truncation, reason = "Random bits are cut to size")]

mod exec_support;

use std::collections::BTreeSet;

use exec_support::{Launch, Memory, Program};
use hansa_sim::exec::{is_implemented, run_group, Arena, GroupOutcome, Level};
use hansa_sim::isa::{decode, rows_of, Family, Target};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The high bits of a word that name each encoding, and where its opcode is.
const ENCODINGS: [(u32, u32, u32, u32); 17] = [
    (0, 31, 25, 6),
    (0x7e00_0000, 25, 9, 8),
    (0x7c00_0000, 25, 17, 8),
    (0x8000_0000, 30, 23, 7),
    (0xb000_0000, 28, 23, 5),
    (0xbe80_0000, 23, 8, 8),
    (0xbf00_0000, 23, 16, 7),
    (0xbf80_0000, 23, 16, 7),
    (0xc000_0000, 26, 18, 8),
    (0xd000_0000, 26, 16, 10),
    (0xd380_0000, 23, 16, 7),
    (0xd800_0000, 26, 17, 8),
    (0xdc00_0000, 26, 18, 7),
    (0xe000_0000, 26, 18, 7),
    (0xe800_0000, 26, 15, 4),
    (0xf000_0000, 26, 18, 7),
    (0xd400_0000, 26, 18, 8),
];

/// A random instruction of the target that the engine executes, as words.
fn instruction(random: &mut Random, target: Target) -> Vec<u32> {
    loop {
        let (pattern, fixed, _, _) = ENCODINGS[(random.next() % ENCODINGS.len() as u64) as usize];
        let free = (1u64 << fixed) - 1;
        let mut first = pattern | (random.next() & free) as u32;
        // Small register numbers hit registers that hold something.
        if random.next().is_multiple_of(4) {
            first &= 0xfff0_f0ff;
        }
        let words = [first, random.next() as u32, random.next() as u32];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Ok(inst) = decode(target, &bytes) {
            let jumps = matches!(inst.row.family, Family::Sopp)
                && inst.row.name.starts_with("s_")
                && inst.row.name != "s_nop";
            if is_implemented(inst.row) && !jumps {
                return words[..usize::from(inst.size) / 4].to_vec();
            }
        }
    }
}

fn fuzz(target: Target, level: Level, seed: u64, programs: u32) -> BTreeSet<&'static str> {
    let mut random = Random(seed | 1);
    let mut arena = Arena::new();
    let mut seen = BTreeSet::new();
    let data = Memory::of(&(0..8192).map(|_| random.next()).collect::<Vec<u64>>());
    for _ in 0..programs {
        let mut words = vec![
            // v_mov_b32 v1, literal; s_mov_b32 exec_lo, literal; s_setreg_imm32_b32 hwreg(MODE, 0, 8), literal
            0x7e02_02ff,
            random.next() as u32,
            0xbefe_00ff,
            random.next() as u32,
            0xba00_3801,
            random.next() as u32 & 0xff,
        ];
        for _ in 0..24 {
            let one = instruction(&mut random, target);
            let bytes: Vec<u8> = one.iter().flat_map(|word| word.to_le_bytes()).collect();
            seen.insert(decode(target, &bytes).expect("decoded before").row.name);
            words.extend(one);
        }
        words.push(0xbf81_0000);
        let program = Program::raw(&words, target, level);
        let launch = Launch::new(&program, "raw", 100, 100).buffer(&data);
        launch.with_dispatch(|dispatch| {
            let mut turns = 0;
            let mut outcome = run_group(dispatch, [0, 0, 0], &mut arena, 0);
            while let Ok(GroupOutcome::Yield { group, .. }) = outcome {
                turns += 1;
                if turns == 3 {
                    break;
                }
                outcome = hansa_sim::exec::resume_group(dispatch, group, &mut arena);
            }
        });
    }
    seen
}

#[test]
fn random_instructions_never_panic() {
    for target in Target::ALL {
        let mut seen = BTreeSet::new();
        for (n, level) in Level::available().enumerate() {
            seen.extend(fuzz(target, level, 0x9e37_79b9 + n as u64 * 7919, 400));
        }
        let all: BTreeSet<&str> = rows_of(target)
            .filter(|row| is_implemented(row))
            .map(|row| row.name)
            .collect();
        println!("{target}: {} of {} mnemonics ran", seen.len(), all.len());
        assert!(
            seen.len() * 10 > all.len() * 6,
            "{target}: {} of {}",
            seen.len(),
            all.len()
        );
    }
}
