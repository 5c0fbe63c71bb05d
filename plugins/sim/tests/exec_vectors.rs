//! Vector instructions against numbers: what an emulator that we did not write makes of edge values
//! (`vectors/README.md`), at every level of the host and under a full and a partial EXEC.

#![allow(clippy::cast_possible_truncation, reason = "dwords of test data")]

mod exec_support;

use std::collections::HashMap;

use exec_support::{Launch, Memory, Program};
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

const VECTORS: &str = include_str!("vectors/valu.txt");

/// What the destination holds before, and VCC: as `vectors/generate.py` has them.
const OLD: [u32; 2] = [0xa5a5_a5a5, 0x5a5a_5a5a];
const VCC: u64 = 0x0f5a_c3f0_96e1_7d28;

type Row = Vec<u64>;

/// One instruction: its words, and for each set of inputs what comes out.
struct Vector {
    name: &'static str,
    target: Target,
    words: Vec<u32>,
    /// Kinds of the sources.
    kinds: Vec<&'static str>,
    /// Registers and the mask, by set of inputs.
    outcomes: [(Vec<Row>, Option<u64>); 2],
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text} is no hexadecimal number"))
}

/// Inputs by kind, source and set, and the instructions.
fn parse(text: &'static str) -> (HashMap<(&'static str, usize, usize), Row>, Vec<Vector>) {
    let (mut inputs, mut vectors) = (HashMap::new(), Vec::<Vector>::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let first = words.next().expect("a word");
        let mut word = || words.next().expect("a further word");
        match first {
            "in" => {
                let (kind, source, set) = (word(), word(), word());
                let place = |text: &str| text.parse().expect("a number");
                inputs.insert(
                    (kind, place(source), place(set)),
                    words.map(hexadecimal).collect(),
                );
            }
            "op" => vectors.push(Vector {
                name: word(),
                target: word().parse().expect("a target"),
                words: word().split(',').map(|w| hexadecimal(w) as u32).collect(),
                kinds: word().split(',').collect(),
                outcomes: Default::default(),
            }),
            set => {
                let outcome =
                    &mut vectors.last_mut().expect("an instruction").outcomes[usize::from(set == "1")];
                let rest: Vec<&str> = words.collect();
                match rest[..] {
                    ["m", mask] => outcome.1 = Some(hexadecimal(mask)),
                    _ => outcome.0.push(rest.into_iter().map(hexadecimal).collect()),
                }
            }
        }
    }
    (inputs, vectors)
}

/// Loads sources into v0 to v5 and the old destination into v20 and v21, and sets VCC and EXEC.
const PROLOGUE: [u32; 27] = [
    0xc00a_0404,
    0x0000_0000, // s_load_dwordx4 s[16:19], s[8:9], 0x0
    0xc00a_0504,
    0x0000_0010, // s_load_dwordx4 s[20:23], s[8:9], 0x10
    0x243c_0082, // v_lshlrev_b32_e32 v30, 2, v0
    0xbf8c_c07f, // s_waitcnt lgkmcnt(0)
    0xdc50_8000,
    0x0010_001e, // global_load_dword v0, v30, s[16:17]
    0xdc50_8100,
    0x0110_001e, // global_load_dword v1, v30, s[16:17] offset:256
    0xdc50_8200,
    0x0210_001e, // global_load_dword v2, v30, s[16:17] offset:512
    0xdc50_8300,
    0x0310_001e, // global_load_dword v3, v30, s[16:17] offset:768
    0xdc50_8400,
    0x0410_001e, // global_load_dword v4, v30, s[16:17] offset:1024
    0xdc50_8500,
    0x0510_001e, // global_load_dword v5, v30, s[16:17] offset:1280
    0xdc50_8600,
    0x1410_001e, // global_load_dword v20, v30, s[16:17] offset:1536
    0xdc50_8700,
    0x1510_001e, // global_load_dword v21, v30, s[16:17] offset:1792
    0xbf8c_0f70, // s_waitcnt vmcnt(0)
    0xbeea_0116, // s_mov_b64 vcc, s[22:23]
    0xbefe_0114, // s_mov_b64 exec, s[20:21]
];

/// Stores v20, v21 and VCC.
const EPILOGUE: [u32; 13] = [
    0xbe96_016a, // s_mov_b64 s[22:23], vcc
    0xbefe_01c1, // s_mov_b64 exec, -1
    0x7e10_0216, // v_mov_b32_e32 v8, s22
    0x7e12_0217, // v_mov_b32_e32 v9, s23
    0xdc70_8000,
    0x0012_141e, // global_store_dword v30, v20, s[18:19]
    0xdc70_8100,
    0x0012_151e, // global_store_dword v30, v21, s[18:19] offset:256
    0xdc70_8200,
    0x0012_081e, // global_store_dword v30, v8, s[18:19] offset:512
    0xdc70_8300,
    0x0012_091e, // global_store_dword v30, v9, s[18:19] offset:768
    0xbf81_0000, // s_endpgm
];

/// What the engine makes of a vector: two registers and VCC.
fn run(program: &Program, sources: &[&Row], exec: u64) -> ([Vec<u32>; 2], u64) {
    let mut rows = [[0u32; 64]; 8];
    for (n, source) in sources.iter().enumerate() {
        for (lane, value) in source.iter().enumerate() {
            rows[2 * n][lane] = *value as u32;
            rows[2 * n + 1][lane] = (value >> 32) as u32;
        }
    }
    rows[6] = [OLD[0]; 64];
    rows[7] = [OLD[1]; 64];
    let (input, output) = (Memory::of(&rows), Memory::new(4 * 256));
    Launch::new(program, "raw", 64, 64)
        .buffer(&input)
        .buffer(&output)
        .arg(exec_support::Arg::U64(exec))
        .arg(exec_support::Arg::U64(VCC))
        .run()
        .expect("no fault");
    let all = output.values::<u32>(4 * 64);
    let vcc = u64::from(all[128]) | u64::from(all[192]) << 32;
    ([all[..64].to_vec(), all[64..128].to_vec()], vcc)
}

/// A float format: its bits, and those of its fraction.
const FORMATS: [(&str, u32, u32); 3] = [("f16", 16, 10), ("f32", 32, 23), ("f64", 64, 52)];

/// Whether two results are as good as equal: NaNs are one, and functions that the hardware promises to a unit in the last
/// place may be off by two, the emulator's own and ours.
fn alike(name: &str, ours: u64, theirs: u64) -> bool {
    if ours == theirs {
        return true;
    }
    let format = name
        .split('_')
        .find_map(|part| FORMATS.iter().find(|(format, ..)| *format == part));
    let Some((_, bits, fraction)) = format else {
        return false;
    };
    let all = u64::MAX >> (64 - bits);
    let infinity = (all >> 1) & !((1 << fraction) - 1);
    let magnitude = |value: u64| value & all >> 1;
    if magnitude(ours) > infinity && magnitude(theirs) > infinity {
        return ours & !all == theirs & !all;
    }
    let inexact = ["exp", "log", "rcp", "rsq", "sqrt", "sin", "cos"];
    let about = name.split('_').any(|part| inexact.contains(&part));
    about && ours >> (bits - 1) == theirs >> (bits - 1) && ours.abs_diff(theirs) <= 2
}

/// The lanes in which a vector comes out otherwise.
fn differences(
    vector: &Vector,
    inputs: &HashMap<(&str, usize, usize), Row>,
    level: Level,
    exec: u64,
) -> Vec<String> {
    let words: Vec<u32> = PROLOGUE
        .iter()
        .chain(&vector.words)
        .chain(&EPILOGUE)
        .copied()
        .collect();
    let program = Program::raw(&words, vector.target, level);
    let mut found = Vec::new();
    for (set, (registers, mask)) in vector.outcomes.iter().enumerate() {
        if registers.is_empty() && mask.is_none() {
            continue;
        }
        let sources: Vec<&Row> = vector
            .kinds
            .iter()
            .enumerate()
            .map(|(n, kind)| &inputs[&(*kind, n, set)])
            .collect();
        let (ours, vcc) = run(&program, &sources, exec);
        for lane in 0..64 {
            let wide = |rows: [u64; 2]| rows[0] | rows[1] << 32;
            let active = exec >> lane & 1 != 0;
            let expected = std::array::from_fn(|n| match registers.get(n) {
                Some(row) if active => row[lane],
                _ => OLD[n].into(),
            });
            let got = ours.each_ref().map(|row| u64::from(row[lane]));
            let same = match registers.len() {
                2 => alike(vector.name, wide(got), wide(expected)),
                _ => alike(vector.name, got[0], expected[0]) && got[1] == expected[1],
            };
            let bit = mask.map_or(VCC, |mask| mask & exec) >> lane & 1;
            if !same || vcc >> lane & 1 != bit {
                let inputs: Vec<String> = sources.iter().map(|row| format!("{:x}", row[lane])).collect();
                found.push(format!(
                    "{} {level:?} exec {exec:x} lane {lane}: {} -> {:x} {}, not {:x} {bit}",
                    vector.name,
                    inputs.join(" "),
                    wide(got),
                    vcc >> lane & 1,
                    wide(expected),
                ));
            }
        }
    }
    found
}

#[test]
fn edge_values_come_out_as_an_independent_emulator_has_them() {
    let (inputs, vectors) = parse(VECTORS);
    assert!(vectors.len() > 300, "{} instructions", vectors.len());
    let mut found = Vec::new();
    for level in Level::available() {
        for exec in [!0, 0x8000_ff0f_1234_5671] {
            for vector in &vectors {
                found.extend(differences(vector, &inputs, level, exec).into_iter().take(3));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
}
