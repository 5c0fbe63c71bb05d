//! Operations one at a time: a kernel for each, run on many operands, compared with a function of Rust.

use super::device::{Launch, Memory, Program};
use super::{finalize, HEAD, TARGETS};

/// Bytes of an operand in memory.
const SLOT: usize = 16;
/// Most operands.
const SOURCES: usize = 4;

/// What an operation is to give; `None` where it is undefined.
pub type Reference = fn(&[u128]) -> Option<u128>;

/// An operation: its text up to the operands, the kinds of registers of destination and sources (`c`, `s`, `d`, `q`), text
/// behind the operands, and what it is to give.
#[derive(Clone, Copy)]
pub struct Case {
    pub operation: &'static str,
    pub kinds: &'static str,
    pub rest: &'static str,
    pub reference: Reference,
    /// Bits of the floating-point numbers that the result is made of, 0 for none: any quiet NaN stands for any other.
    pub float: u32,
}

/// An operation on registers only.
pub const fn case(operation: &'static str, kinds: &'static str, reference: Reference) -> Case {
    case_with(operation, kinds, "", reference)
}

/// An operation whose results are floating-point numbers of so many bits.
pub const fn float(operation: &'static str, kinds: &'static str, bits: u32, reference: Reference) -> Case {
    Case {
        float: bits,
        ..case(operation, kinds, reference)
    }
}

/// The same with constants behind the registers.
pub const fn case_with(
    operation: &'static str,
    kinds: &'static str,
    rest: &'static str,
    reference: Reference,
) -> Case {
    Case {
        operation,
        kinds,
        rest,
        reference,
        float: 0,
    }
}

/// Whether a result is as expected.
fn is_right(case: &Case, bits: u32, expected: u128, result: u128) -> bool {
    if case.float == 0 {
        return expected == result;
    }
    let (fraction, lane) = match case.float {
        16 => (10, 16),
        32 => (23, 32),
        _ => (52, 64),
    };
    let infinity = (1u128 << (lane - 1)) - (1 << fraction);
    let size = |value: u128, at: u32| value >> at & ((1 << (lane - 1)) - 1);
    (0..bits / lane).all(|index| {
        let at = index * lane;
        if size(expected, at) > infinity {
            // Quiet.
            size(result, at) > infinity && result >> (at + fraction - 1) & 1 == 1
        } else {
            (expected ^ result) >> at & ((1 << lane) - 1) == 0
        }
    })
}

fn kernel(number: usize, case: &Case) -> String {
    let mut kinds = case.kinds.chars();
    let destination = kinds.next().expect("a destination");
    let sources: Vec<char> = kinds.collect();
    let mut loads = String::new();
    let mut names = vec![format!("${destination}9")];
    for (index, kind) in sources.iter().enumerate() {
        let (offset, register) = (index * SLOT, index + 10);
        names.push(format!("${kind}{register}"));
        loads += &match kind {
            'c' => format!("ld_global_u32 $s30, [$d1+{offset}]; cvt_b1_u32 $c{register}, $s30;\n"),
            's' => format!("ld_global_u32 $s{register}, [$d1+{offset}];\n"),
            'd' => format!("ld_global_u64 $d{register}, [$d1+{offset}];\n"),
            _ => format!("ld_global_b128 $q{register}, [$d1+{offset}];\n"),
        };
    }
    let operands = names.join(", ");
    let rest = if case.rest.is_empty() {
        String::new()
    } else {
        format!(", {}", case.rest)
    };
    let store = match destination {
        'c' => "cvt_u32_b1 $s9, $c9; st_global_u32 $s9, [$d3];",
        's' => "st_global_u32 $s9, [$d3];",
        'd' => "st_global_u64 $d9, [$d3];",
        _ => "st_global_b128 $q9, [$d3];",
    };
    format!(
        "prog kernel &k{number}(kernarg_u64 %in, kernarg_u64 %out) {{
            workitemabsid_u64 $d0, 0;
            mul_u64 $d1, $d0, {};
            ld_kernarg_align(8)_u64 $d2, [%in];
            add_u64 $d1, $d1, $d2;
            mul_u64 $d3, $d0, {SLOT};
            ld_kernarg_align(8)_u64 $d2, [%out];
            add_u64 $d3, $d3, $d2;
            {loads}
            ld_global_b128 $q9, [$d1]; ld_global_u32 $s9, [$d1]; ld_global_u64 $d9, [$d1];
            {} {operands}{rest};
            {store}
            ret;
        }};\n",
        SLOT * SOURCES,
        case.operation,
    )
}

/// Bits of a register.
fn bits(kind: char) -> u32 {
    match kind {
        'c' => 1,
        's' => 32,
        'd' => 64,
        _ => 128,
    }
}

fn cut(value: u128, kind: char) -> u128 {
    value & (u128::MAX >> (128 - bits(kind)))
}

/// Values at which operations behave in their own ways, each in all sizes: small and large integers, and numbers of half,
/// single and double precision.
pub fn edges() -> Vec<u128> {
    let mut all: Vec<u128> = vec![
        0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256,
    ];
    for bits in [8, 16, 24, 32, 64] {
        let top = 1u128 << (bits - 1);
        all.extend([top - 1, top, 2 * top - 1].map(|pattern| repeated(pattern, bits)));
    }
    let halves: [u16; 12] = [
        0x8000, 0x3c00, 0xbc00, 0x3e00, 0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x7d01, 1, 0x83ff, 0x4171,
    ];
    all.extend(halves.map(|half| repeated(half.into(), 16)));
    let singles = [
        -0.0f32,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.25,
        1e-40,
        -1e-40,
        f32::MIN_POSITIVE,
        f32::MAX,
        -f32::MAX,
        1e10,
        -0.3,
        255.5,
        2147483648.0,
        4294967296.0,
        9.3e18,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::EPSILON,
        -1e-20,
    ];
    all.extend(singles.map(|single| repeated(single.to_bits().into(), 32)));
    all.extend(
        [
            0x7fc0_1234u32,
            0x7f80_1234,
            0xffc0_0000,
            0xff80_0001,
            1,
            0x807f_ffff,
        ]
        .map(|nan| repeated(nan.into(), 32)),
    );
    let doubles = [
        -0.0f64,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        1e-310,
        -1e-310,
        f64::MIN_POSITIVE,
        f64::MAX,
        1e10,
        -0.3,
        1.1,
        65519.9,
        65520.0,
        1e-7,
        9.3e18,
        1.9e19,
        f64::INFINITY,
        f64::NEG_INFINITY,
        4294967295.5,
        -2147483648.5,
        1e-200,
    ];
    all.extend(doubles.map(|double| repeated(double.to_bits().into(), 64)));
    all.extend(
        [
            0x7ff8_0000_1234_5678u64,
            0x7ff0_0000_1234_5678,
            1,
            0x800f_ffff_ffff_ffff,
        ]
        .map(|nan| repeated(nan.into(), 64)),
    );
    all.push(0x0123_4567_89ab_cdef_fedc_ba98_7654_3210);
    all.push(0x8040_2010_0804_0201_ff00_7f80_01fe_55aa);
    all
}

/// A pattern again and again.
fn repeated(pattern: u128, bits: u32) -> u128 {
    (0..128 / bits).fold(0, |all, _| all << bits | pattern & (u128::MAX >> (128 - bits)))
}

/// Numbers without a pattern.
fn random(count: usize) -> Vec<u128> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count)
        .map(|_| u128::from(next()) << 64 | u128::from(next()))
        .collect()
}

/// Operands: every pair of edges, with a third and a fourth that change, and some without a pattern.
fn operands() -> Vec<[u128; SOURCES]> {
    let edges = edges();
    let n = edges.len();
    let mut all = Vec::new();
    for (i, a) in edges.iter().enumerate() {
        for (j, b) in edges.iter().enumerate() {
            all.push([*a, *b, edges[(3 * i + 5 * j) % n], edges[(7 * i + j) % n]]);
        }
    }
    all.extend(
        random(1024)
            .chunks_exact(SOURCES)
            .map(|c| [c[0], c[1], c[2], c[3]]),
    );
    all
}

/// Runs all cases and compares every result that is defined.
pub fn check(cases: &[Case]) {
    check_in(HEAD, cases);
}

/// The same in a module with another first line.
pub fn check_in(head: &str, cases: &[Case]) {
    let kernels: String = cases
        .iter()
        .enumerate()
        .map(|(number, case)| kernel(number, case))
        .collect();
    let text = format!("{head}{kernels}");
    for (processor, target) in TARGETS {
        let program = Program::load(&finalize(&text, processor), target);
        run(cases, &program, processor);
    }
}

fn run(cases: &[Case], program: &Program, processor: &str) {
    let operands = operands();
    let input = Memory::of(&operands);
    let count = u32::try_from(operands.len()).expect("few operands");
    let mut wrong = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let kinds: Vec<char> = case.kinds.chars().collect();
        let output = Memory::new(operands.len() * SLOT);
        let kernel = format!("&k{number}");
        let launch = Launch::new(program, &kernel, count, 256)
            .buffer(&input)
            .buffer(&output);
        launch
            .run()
            .unwrap_or_else(|fault| panic!("{}: {fault:?}", case.operation));
        let results: Vec<u128> = output.values(operands.len());
        let mut defined = 0;
        for (sources, result) in operands.iter().zip(results) {
            let sources: Vec<u128> = kinds[1..]
                .iter()
                .zip(sources)
                .map(|(kind, source)| match kind {
                    'c' => u128::from(cut(*source, 's') != 0),
                    kind => cut(*source, *kind),
                })
                .collect();
            let Some(expected) = (case.reference)(&sources) else {
                continue;
            };
            defined += 1;
            let (expected, result) = (cut(expected, kinds[0]), cut(result, kinds[0]));
            if !is_right(case, bits(kinds[0]), expected, result) && wrong.len() < 40 {
                wrong.push(format!(
                    "{processor} {} {}: {sources:x?} gives {result:#x}, not {expected:#x}",
                    case.operation, case.rest
                ));
            }
        }
        let enough = if kinds.len() == 1 { 0 } else { 100 };
        assert!(defined > enough, "{} is hardly tested: {defined}", case.operation);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
