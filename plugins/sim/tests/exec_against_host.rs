//! The same C functions compiled by clang for the device and for the host: integer and IEEE results
//! must be equal bit for bit.

mod against_host;
mod exec_support;

use against_host::{check, host_library, Case, Shape};
use exec_support::Build;
use hansa_sim::exec::Level;
use hansa_sim::isa::Target;

/// Work-items in a line, the last group not full.
const LINE: Shape = ([2000, 1, 1], [256, 1, 1]);

const INTEGERS: &[Case<'_>] = &[
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

const FLOATS: &[Case<'_>] = &[
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

#[test]
fn integer_functions_equal_the_hosts() {
    let Some(host) = host_library(INTEGERS, "integers") else {
        return;
    };
    for build in Build::usual() {
        check(INTEGERS, build, Level::chosen(), &host, |_| LINE);
    }
}

#[test]
fn float_functions_equal_the_hosts() {
    let Some(host) = host_library(FLOATS, "floats") else {
        return;
    };
    for build in Build::usual() {
        check(FLOATS, build.exact(), Level::chosen(), &host, |_| LINE);
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
    check(INTEGERS, build, Level::Portable, &integers, |_| LINE);
    check(FLOATS, build.exact(), Level::Portable, &floats, |_| LINE);
}
