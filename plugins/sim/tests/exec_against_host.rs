//! The same C functions compiled by clang for the device and for the host: integer and IEEE results
//! must be equal bit for bit.

#![allow(
    clippy::cast_possible_truncation,
    reason = "Test data are made by wrapping arithmetic"
)]

mod exec_support;

use std::fmt::Write;
use std::process::Command;

use exec_support::{compile, Build, Launch, Memory, Program};
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

/// A function of `a`, `b` and `c`: name, argument type, result type, body.
type Case = (&'static str, &'static str, &'static str, &'static str);

const INTEGERS: &[Case] = &[
    ("add", "uint", "uint", "return a + b * c;"),
    ("divide", "int", "int", "return b == 0 || (a == INT_MIN && b == -1) ? c : a / b + a % b * 3;"),
    ("divide_unsigned", "uint", "uint", "return b == 0 ? c : a / b ^ a % b;"),
    ("shift", "uint", "uint", "return (a << (b & 31)) ^ (c >> (b & 31)) ^ (uint)((int)a >> (c & 31));"),
    ("compare", "int", "int", "return (a < b) + 2 * (a <= c) + 4 * (b > c) + 8 * (a == b) + 16 * (b != c) + 32 * ((uint)a < (uint)b);"),
    ("select", "int", "int", "int m = a < b ? a : b; int n = b > c ? b : c; return m * 3 - n;"),
    ("bits", "uint", "uint", "return (a & b) | (~a & c) ^ (a >> 3 & 0x3ff) ^ ((b << 7) | (b >> 25));"),
    ("bytes", "uint", "uint", "uint r = 0; for (int i = 0; i < 4; i++) { uchar x = a >> (8 * i), y = b >> (8 * i); x += y * 3; r |= (uint)x << (24 - 8 * i); } return r;"),
    ("shorts", "uint", "uint", "short x = a, y = b, z = a >> 16; ushort u = c; short p = x * y + z; ushort q = (ushort)(u >> 3) - (ushort)p; return (uint)(ushort)p << 16 | q;"),
    ("short_compare", "uint", "uint", "short x = a, y = b; ushort u = a, v = b; return (x < y) | (u < v) << 1 | (x == y) << 2 | (x >= y) << 3 | ((short)(x > y ? x : y) & 0xfff) << 4 | (uint)(u < v ? u : v) << 16;"),
    ("wide_add", "ulong", "ulong", "return a + b - (c ^ a);"),
    ("wide_multiply", "ulong", "ulong", "return a * b + c;"),
    ("wide_divide", "long", "long", "return b == 0 || (a == LONG_MIN && b == -1) ? c : a / b - a % b;"),
    ("wide_divide_unsigned", "ulong", "ulong", "ulong d = b >> (c & 63); return d == 0 ? c : a / d ^ a % d;"),
    ("wide_shift", "ulong", "ulong", "return (a << (b & 63)) ^ (c >> (a & 63)) ^ (ulong)((long)b >> (c & 63));"),
    ("wide_compare", "long", "long", "return (a < b) + 2 * (a <= c) + 4 * (b > c) + 8 * (a == b) + 16 * ((ulong)a < (ulong)b) + 32 * ((ulong)c >= (ulong)b);"),
    ("high_product", "int", "int", "return (int)((long)a * b >> 32) ^ (int)((ulong)(uint)a * (uint)c >> 32);"),
    ("product_sum", "ulong", "ulong", "return (ulong)(uint)a * (uint)b + c ^ (ulong)((long)(int)a * (int)c + (long)b);"),
    ("loop", "uint", "uint", "uint r = c; for (uint i = 0; i < (a & 31); i++) { if (r & 1) r = r * 3 + b; else r >>= 1; if (r == 7) break; } return r;"),
    ("nested", "uint", "uint", "uint r = 0; for (uint i = 0; i < (a & 7); i++) for (uint j = i; j < (b & 7); j++) { if ((i ^ j) == (c & 3)) continue; r += i * 10 + j; } return r;"),
    ("switches", "uint", "uint", "switch (a % 11) { case 0: return b; case 1: return c + 1; case 2: return b * c; case 3: return b ^ 77; case 5: return ~c; case 7: return b - c; case 8: return b / (c | 1); default: return a; }"),
    ("bit_count", "uint", "uint", "uint n = 0, x = a ^ b; while (x) { n += x & 1; x >>= 1; } return n * 100 + __builtin_popcount(c) + (c ? __builtin_clz(c) : 32) * 7;"),
    ("arrays", "uint", "uint", "uint t[8]; for (int i = 0; i < 8; i++) t[i] = a * i + b; t[c & 7] ^= 0x55; return t[(b >> 3) & 7] + t[(a >> 2) & 7];"),
    ("truncations", "ulong", "ulong", "return (ulong)(uchar)a | (ulong)(ushort)b << 8 | (ulong)(long)(char)c << 24;"),
    ("float_to_integer", "uint", "uint", "float f = (float)(int)a; float g = (float)b; return (uint)(int)(f * 0.25f) ^ (uint)(g * 0.5f);"),
    ("double_to_integer", "uint", "uint", "double f = (int)a * 1.25; double g = b * 0.75; return (uint)(int)(f * 0.5) ^ (uint)g;"),
    ("wide_to_float", "ulong", "uint", "float f = (float)a; float g = (float)(long)b; double h = (double)c; double k = (double)(long)a; return AS_UINT(f) ^ AS_UINT(g) ^ (uint)(AS_ULONG(h) >> 13) ^ (uint)(AS_ULONG(k) >> 17);"),
    ("float_to_wide", "uint", "ulong", "float f = (float)a * 4096.0f; double d = (double)b * 1048576.0 + 0.5; return (ulong)f ^ (ulong)(long)d ^ (ulong)(long)(-d);"),
];

const FLOATS: &[Case] = &[
    ("f_add", "float", "float", "return a + b - c;"),
    ("f_multiply", "float", "float", "return a * b;"),
    ("f_fused", "float", "float", "return FMAF(a, b, c);"),
    ("f_fused_negated", "float", "float", "return FMAF(-a, b, -c);"),
    ("f_divide", "float", "float", "return a / b;"),
    ("f_root", "float", "float", "return SQRTF(a);"),
    ("f_compare", "float", "uint", "return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a < b) << 4 | !(a >= c) << 5 | (a > c) << 6 | (a != a) << 7;"),
    ("f_round", "float", "float", "return FLOORF(a) + CEILF(b) * 2.0f;"),
    ("f_truncate", "float", "float", "return TRUNCF(a) - RINTF(b);"),
    ("f_absolute", "float", "float", "return FABSF(a) - FABSF(b) * -c;"),
    ("f_limits", "float", "float", "return FMINF(FMAXF(a, b), c);"),
    ("f_widen", "float", "double", "return (double)a * b;"),
    ("d_add", "double", "double", "return a + b - c;"),
    ("d_multiply", "double", "double", "return a * b;"),
    ("d_fused", "double", "double", "return FMA(a, b, c);"),
    ("d_divide", "double", "double", "return a / b;"),
    ("d_root", "double", "double", "return SQRT(a);"),
    ("d_compare", "double", "uint", "return (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | !(a < b) << 4 | !(a >= c) << 5 | (a > c) << 6 | (a != a) << 7;"),
    ("d_round", "double", "double", "return FLOOR(a) + CEIL(b) * 2.0;"),
    ("d_truncate", "double", "double", "return TRUNC(a) - RINT(b);"),
    ("d_narrow", "double", "float", "return (float)a + (float)b;"),
    ("d_limits", "double", "double", "return FMIN(FMAX(a, b), c);"),
];

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

fn device_source(cases: &[Case]) -> String {
    let mut source = DEVICE_PRELUDE.to_owned();
    for (name, from, to, body) in cases {
        writeln!(
            source,
            "static {to} f_{name}({from} a, {from} b, {from} c) {{ {body} }}
            kernel void {name}(global const {from} *a, global const {from} *b, global const {from} *c, global {to} *r) {{
                size_t i = get_global_id(0); r[i] = f_{name}(a[i], b[i], c[i]); }}"
        )
        .expect("string");
    }
    source
}

fn host_source(cases: &[Case]) -> String {
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
fn host_library(cases: &[Case], label: &str) -> Option<libloading::Library> {
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

/// Runs every case on both sides.
fn check(cases: &[Case], build: Build, level: Level, host: &libloading::Library) {
    const COUNT: usize = 2000;
    let Some(object) = compile(&device_source(cases), build) else {
        return;
    };
    let program = Program::load_at(&object, build.target, level);
    let mut failures = String::new();
    for (name, from, to, _) in cases {
        let arguments = [1, 2, 3].map(|seed| inputs(from, COUNT, seed * 77 + name.len() as u64));
        let memories = [0, 1, 2].map(|i| packed(&arguments[i], from));
        let result = Memory::new(8 * COUNT);
        let [a, b, c] = &memories;
        let launch = Launch::new(&program, name, COUNT as u32, 256)
            .buffer(a)
            .buffer(b)
            .buffer(c)
            .buffer(&result);
        if let Err(fault) = launch.run() {
            writeln!(failures, "{name}: {fault}").expect("string");
            continue;
        }
        let expected = Memory::new(8 * COUNT);
        type Function = unsafe extern "C" fn(u64, u64, u64, u64, u32);
        // SAFETY: the library was made from `cases`, which say what the function takes.
        let function: libloading::Symbol<'_, Function> =
            unsafe { host.get(name.as_bytes()) }.expect("host function");
        // SAFETY: five arguments, four of them addresses of COUNT elements.
        unsafe {
            function(
                a.address(),
                b.address(),
                c.address(),
                expected.address(),
                COUNT as u32,
            );
        };
        let (ours, theirs) = (unpacked(&result, to, COUNT), unpacked(&expected, to, COUNT));
        let wrong: Vec<usize> = (0..COUNT).filter(|i| !equal(to, ours[*i], theirs[*i])).collect();
        if let Some(i) = wrong.first() {
            let [a, b, c] = [0, 1, 2].map(|n| arguments[n][*i]);
            writeln!(
                failures,
                "{name}: {} of {COUNT} differ, first a={a:#x} b={b:#x} c={c:#x}: {:#x}, not {:#x}",
                wrong.len(),
                ours[*i],
                theirs[*i]
            )
            .expect("string");
        }
    }
    assert!(failures.is_empty(), "{build:?} {level:?}:\n{failures}");
}

#[test]
fn integer_functions_equal_the_hosts() {
    let Some(host) = host_library(INTEGERS, "integers") else {
        return;
    };
    for build in Build::usual() {
        check(INTEGERS, build, Level::chosen(), &host);
    }
}

#[test]
fn float_functions_equal_the_hosts() {
    let Some(host) = host_library(FLOATS, "floats") else {
        return;
    };
    for build in Build::usual() {
        check(FLOATS, build.exact(), Level::chosen(), &host);
    }
}

#[test]
fn the_portable_level_equals_the_host() {
    let (Some(integers), Some(floats)) = (
        host_library(INTEGERS, "integers2"),
        host_library(FLOATS, "floats2"),
    ) else {
        return;
    };
    let build = Build::new(Target::Gfx906, "-O3");
    check(INTEGERS, build, Level::Portable, &integers);
    check(FLOATS, build.exact(), Level::Portable, &floats);
}
