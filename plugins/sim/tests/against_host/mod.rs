//! Functions of C compiled by clang for the device and for the host, and their results compared.

#![allow(
    unreachable_pub,
    clippy::cast_possible_truncation,
    reason = "Every test binary has this as a module; test data are made by wrapping arithmetic"
)]

use std::fmt::Write;
use std::process::Command;

use crate::exec_support::{compile, Build, Launch, Memory, Program};
use hansa_sim::exec::Level;

/// A function of `a`, `b` and `c`: name, argument type, result type, body.
pub type Case<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Names that the two compilers spell differently.
const DEVICE_PRELUDE: &str = "
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define FMAF fma
#define FMA fma
#define SQRTF sqrt
#define SQRT sqrt
#define FLOORF floor
#define FLOOR floor
#define CEILF ceil
#define CEIL ceil
#define TRUNCF trunc
#define TRUNC trunc
#define RINTF rint
#define RINT rint
#define FABSF fabs
#define FMINF fmin
#define FMAXF fmax
#define FMIN fmin
#define FMAX fmax
#define AS_UINT as_uint
#define AS_ULONG as_ulong
";

const HOST_PRELUDE: &str = "
typedef unsigned int uint; typedef unsigned long ulong; typedef unsigned short ushort; typedef unsigned char uchar;
#define INT_MIN (-2147483647 - 1)
#define LONG_MIN (-9223372036854775807L - 1)
#define FMAF __builtin_fmaf
#define FMA __builtin_fma
#define SQRTF __builtin_sqrtf
#define SQRT __builtin_sqrt
#define FLOORF __builtin_floorf
#define FLOOR __builtin_floor
#define CEILF __builtin_ceilf
#define CEIL __builtin_ceil
#define TRUNCF __builtin_truncf
#define TRUNC __builtin_trunc
#define RINTF __builtin_rintf
#define RINT __builtin_rint
#define FABSF __builtin_fabsf
static float FMINF(float a, float b) { return a != a ? b : b != b ? a : a < b ? a : b < a ? b : a == 0 && __builtin_signbit(a) ? a : b; }
static float FMAXF(float a, float b) { return a != a ? b : b != b ? a : a > b ? a : b > a ? b : a == 0 && __builtin_signbit(a) ? b : a; }
static double FMIN(double a, double b) { return a != a ? b : b != b ? a : a < b ? a : b < a ? b : a == 0 && __builtin_signbit(a) ? a : b; }
static double FMAX(double a, double b) { return a != a ? b : b != b ? a : a > b ? a : b > a ? b : a == 0 && __builtin_signbit(a) ? b : a; }
static uint AS_UINT(float f) { uint u; __builtin_memcpy(&u, &f, 4); return u; }
static ulong AS_ULONG(double f) { ulong u; __builtin_memcpy(&u, &f, 8); return u; }
";

fn device_source(cases: &[Case<'_>]) -> String {
    let mut source = DEVICE_PRELUDE.to_owned();
    for (name, from, to, body) in cases {
        writeln!(
            source,
            "static {to} f_{name}({from} a, {from} b, {from} c) {{ {body} }}
            kernel void {name}(global const {from} *a, global const {from} *b, global const {from} *c, global {to} *r) {{
                size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2)); r[i] = f_{name}(a[i], b[i], c[i]); }}"
        )
        .expect("string");
    }
    source
}

fn host_source(cases: &[Case<'_>]) -> String {
    let mut source = HOST_PRELUDE.to_owned();
    for (name, from, to, body) in cases {
        writeln!(
            source,
            "static {to} f_{name}({from} a, {from} b, {from} c) {{ {body} }}
            void {name}(const {from} *a, const {from} *b, const {from} *c, {to} *r, uint n) {{
                for (uint i = 0; i < n; i++) r[i] = f_{name}(a[i], b[i], c[i]); }}"
        )
        .expect("string");
    }
    source
}

/// Compiles the host's side to a shared library.
pub fn host_library(cases: &[Case<'_>], label: &str) -> Option<libloading::Library> {
    let stem = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("host-{}-{label}", std::process::id()));
    let (input, output) = (stem.with_extension("c"), stem.with_extension("so"));
    std::fs::write(&input, host_source(cases)).expect("source file");
    // -O1 with wrapping signed arithmetic, as OpenCL defines no less than the device does.
    let result = Command::new("clang-15")
        .args([
            "-O1",
            "-fno-math-errno",
            "-fwrapv",
            "-ffp-contract=off",
            "-mfma",
            "-msse4.1",
            "-shared",
            "-fPIC",
            "-w",
            "-o",
        ])
        .arg(&output)
        .arg(&input)
        .arg("-lm")
        .output()
        .ok()?;
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    // SAFETY: a library without constructors.
    let library = unsafe { libloading::Library::new(&output) }.expect("host library");
    for file in [input, output] {
        drop(std::fs::remove_file(file));
    }
    Some(library)
}

fn bytes_of(ty: &str) -> usize {
    match ty {
        "ulong" | "long" | "double" => 8,
        _ => 4,
    }
}

/// Deterministic inputs that favour the edges of a type.
fn inputs(ty: &str, count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count)
        .map(|_| {
            let (bits, kind) = (next(), next() % 16);
            match ty {
                "float" => u64::from(float_bits(bits as u32, kind)),
                "double" => double_bits(bits, kind),
                _ => match kind {
                    0 => 0,
                    1 => 1,
                    2 => u64::MAX,
                    3 => 1 << (bits % 64),
                    4 => {
                        if bytes_of(ty) == 4 {
                            0x8000_0000
                        } else {
                            1 << 63
                        }
                    }
                    5 | 6 => bits & 0xff,
                    7 => bits >> 32,
                    8 => (bits & 0xfff).wrapping_neg(),
                    _ => bits,
                },
            }
        })
        .collect()
}

fn float_bits(bits: u32, kind: u64) -> u32 {
    match kind {
        0 => bits & 0x8000_0000,
        1 => 0x3f80_0000 | bits & 0x8000_0000,
        2 => 0x7f80_0000 | bits & 0x8000_0000,
        3 => 0x7fc0_0000,
        4 => bits & 0x807f_ffff,
        5 => 0x7f00_0000 | bits & 0x80ff_ffff & 0x807f_ffff,
        6 => 0x0080_0000 | bits & 0x81ff_ffff,
        7..=12 => bits & 0x83ff_ffff | 0x3c00_0000,
        _ => bits,
    }
}

fn double_bits(bits: u64, kind: u64) -> u64 {
    let sign = bits & 1 << 63;
    match kind {
        0 => sign,
        1 => 0x3ff0 << 48 | sign,
        2 => 0x7ff0 << 48 | sign,
        3 => 0x7ff8 << 48,
        4 => bits & 0x800f_ffff_ffff_ffff,
        5 => 0x7fe0 << 48 | bits & 0x800f_ffff_ffff_ffff,
        6 => 0x0010 << 48 | bits & 0x803f_ffff_ffff_ffff,
        7..=12 => bits & 0x807f_ffff_ffff_ffff | 0x3fc0 << 48,
        _ => bits,
    }
}

fn packed(values: &[u64], ty: &str) -> Memory {
    if bytes_of(ty) == 8 {
        Memory::of(values)
    } else {
        Memory::of(&values.iter().map(|value| *value as u32).collect::<Vec<_>>())
    }
}

fn unpacked(memory: &Memory, ty: &str, count: usize) -> Vec<u64> {
    if bytes_of(ty) == 8 {
        memory.values(count)
    } else {
        memory.values::<u32>(count).into_iter().map(u64::from).collect()
    }
}

fn equal(ty: &str, a: u64, b: u64) -> bool {
    let nan = |bits: u64| match ty {
        "float" => f32::from_bits(bits as u32).is_nan(),
        "double" => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

/// The shape of a launch: a grid, and its work-groups.
pub type Shape = ([u32; 3], [u16; 3]);

/// Runs every case on both sides, each in its shape.
pub fn check(
    cases: &[Case<'_>],
    build: Build,
    level: Level,
    host: &libloading::Library,
    shape: impl Fn(&str) -> Shape,
) {
    let Some(object) = compile(&device_source(cases), build) else {
        return;
    };
    let program = Program::load_at(&object, build.target, level);
    let mut failures = String::new();
    for (name, from, to, _) in cases {
        let (grid, group) = shape(name);
        let count = grid.iter().product::<u32>() as usize;
        let arguments = [1, 2, 3].map(|seed| inputs(from, count, seed * 77 + name.len() as u64));
        let memories = [0, 1, 2].map(|i| packed(&arguments[i], from));
        let result = Memory::new(8 * count);
        let [a, b, c] = &memories;
        let launch = Launch::new(&program, name, 1, 1)
            .shape(grid, group)
            .buffer(a)
            .buffer(b)
            .buffer(c)
            .buffer(&result);
        if let Err(fault) = launch.run() {
            writeln!(failures, "{name}: {fault}").expect("string");
            continue;
        }
        let expected = Memory::new(8 * count);
        type Function = unsafe extern "C" fn(u64, u64, u64, u64, u32);
        // SAFETY: the library was made from `cases`, which say what the function takes.
        let function: libloading::Symbol<'_, Function> =
            unsafe { host.get(name.as_bytes()) }.expect("host function");
        // SAFETY: five arguments, four of them addresses of count elements.
        unsafe {
            function(
                a.address(),
                b.address(),
                c.address(),
                expected.address(),
                count as u32,
            );
        };
        let (ours, theirs) = (unpacked(&result, to, count), unpacked(&expected, to, count));
        let wrong: Vec<usize> = (0..count).filter(|i| !equal(to, ours[*i], theirs[*i])).collect();
        if let Some(i) = wrong.first() {
            let [a, b, c] = [0, 1, 2].map(|n| arguments[n][*i]);
            writeln!(
                failures,
                "{name}: {} of {count} differ, first a={a:#x} b={b:#x} c={c:#x}: {:#x}, not {:#x}",
                wrong.len(),
                ours[*i],
                theirs[*i]
            )
            .expect("string");
        }
    }
    assert!(failures.is_empty(), "{build:?} {level:?}:\n{failures}");
}
