//! Semantics of the packed, mixed-precision and dot-product operations (VOP3P without the matrix ones).

use super::define::{lane, Entry};
use super::fp;
use super::level::Host;
use super::mode::Mode;
use super::op::{Flow, Handler, Op, Versions};
use super::scalar_float::{add32, fma32, mul32, Half};
use super::slot::LITERAL;
use super::valu::is_scalar;
use super::vop2::{fused16, fused32, mad32};
use super::wave::Wave;
use super::word::{Floats, Halves, Shorts};

/// Both parts by the same function.
macro_rules! shorts {
    ($name:literal, |$($v:ident),+| $body:expr) => {
        lane!($name, COLD, |_, $($v: Shorts),+| -> Shorts {
            Shorts({ $(let $v = $v.0;)+ $body }, { $(let $v = $v.1;)+ $body })
        })
    };
    ($name:literal, |$($v:ident),+| $body:expr, clamped $clamped:expr) => {
        lane!($name, COLD, |_, $($v: Shorts),+| -> Shorts {
            Shorts({ $(let $v = $v.0;)+ $body }, { $(let $v = $v.1;)+ $body })
        }, clamped {
            Shorts({ $(let $v = $v.0;)+ $clamped }, { $(let $v = $v.1;)+ $clamped })
        })
    };
}

macro_rules! halves {
    ($name:literal, $heat:ident, |$m:ident, $($v:ident),+| $body:expr, rounded $rounded:expr) => {
        lane!($name, $heat, |$m, $($v: Halves),+| -> Halves {
            Halves({ $(let $v = $v.0;)+ $body }, { $(let $v = $v.1;)+ $body })
        }, rounded {
            Halves({ $(let $v = $v.0;)+ $rounded }, { $(let $v = $v.1;)+ $rounded })
        })
    };
}

macro_rules! floats {
    ($name:literal, |$m:ident, $($v:ident),+| $body:expr, rounded $rounded:expr) => {
        lane!($name, WARM, |$m, $($v: Floats),+| -> Floats {
            Floats({ $(let $v = $v.0;)+ $body }, { $(let $v = $v.1;)+ $body })
        }, rounded {
            Floats({ $(let $v = $v.0;)+ $rounded }, { $(let $v = $v.1;)+ $rounded })
        })
    };
}

fn signed(value: i32) -> u16 {
    value.clamp(-32768, 32767) as u16
}

fn wide(value: u16) -> i32 {
    i32::from(value as i16)
}

const ONE: Half = Half(0x3c00);

fn fma16(mode: Mode, a: Half, b: Half, c: Half) -> Half {
    Half::fused(a, b, c, mode.round64(), mode.fp16_overflow())
}

/// The sum of products of signed parts of `width` bits.
#[inline(always)]
fn dot_signed(a: u32, b: u32, width: u32) -> i64 {
    let part = |value: u32, at: u32| i64::from((value << (32 - width - at)) as i32 >> (32 - width));
    let mut sum = 0;
    let mut at = 0;
    while at < 32 {
        sum += part(a, at) * part(b, at);
        at += width;
    }
    sum
}

/// The sum of products of unsigned parts of `width` bits.
#[inline(always)]
fn dot_unsigned(a: u32, b: u32, width: u32) -> u64 {
    let part = |value: u32, at: u32| u64::from(value >> at & ((1 << width) - 1));
    let mut sum = 0;
    let mut at = 0;
    while at < 32 {
        sum += part(a, at) * part(b, at);
        at += width;
    }
    sum
}

fn saturated_signed(sum: i64) -> u32 {
    sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32
}

fn saturated_unsigned(sum: u64) -> u32 {
    sum.min(u32::MAX.into()) as u32
}

/// A dot product of signed parts, in the three-operand form or accumulating into the destination.
macro_rules! signed_dot {
    ($name:literal, $width:literal) => {
        lane!($name, COLD, |_, a: u32, b: u32, c: u32| -> u32 { (dot_signed(a, b, $width) as u32).wrapping_add(c) },
            clamped { saturated_signed(dot_signed(a, b, $width) + i64::from(c as i32)) })
    };
}

macro_rules! unsigned_dot {
    ($name:literal, $width:literal) => {
        lane!($name, COLD, |_, a: u32, b: u32, c: u32| -> u32 { (dot_unsigned(a, b, $width) as u32).wrapping_add(c) },
            clamped { saturated_unsigned(dot_unsigned(a, b, $width) + u64::from(c)) })
    };
}

fn joined(parts: Shorts) -> u32 {
    u32::from(parts.0) | u32::from(parts.1) << 16
}

/// Two products of halves onto a single precision number.
#[inline(always)]
fn dot_halves<V: Host>(a: Halves, b: Halves, c: f32) -> f32 {
    let low = fused32::<V>(a.0.wide(), b.0.wide(), c);
    fused32::<V>(a.1.wide(), b.1.wide(), low)
}

/// The rows.
pub(crate) static TABLE: &[Entry] = &[
    shorts!("v_pk_mad_i16", |a, b, c| a.wrapping_mul(b).wrapping_add(c), clamped signed(wide(a) * wide(b) + wide(c))),
    shorts!("v_pk_mul_lo_u16", |a, b| a.wrapping_mul(b)),
    shorts!("v_pk_add_i16", |a, b| a.wrapping_add(b), clamped signed(wide(a) + wide(b))),
    shorts!("v_pk_sub_i16", |a, b| a.wrapping_sub(b), clamped signed(wide(a) - wide(b))),
    shorts!("v_pk_lshlrev_b16", |a, b| b << (a & 15)),
    shorts!("v_pk_lshrrev_b16", |a, b| b >> (a & 15)),
    shorts!("v_pk_ashrrev_i16", |a, b| (b as i16 >> (a & 15)) as u16),
    shorts!("v_pk_max_i16", |a, b| (a as i16).max(b as i16) as u16),
    shorts!("v_pk_min_i16", |a, b| (a as i16).min(b as i16) as u16),
    shorts!(
        "v_pk_mad_u16",
        |a, b, c| a.wrapping_mul(b).wrapping_add(c),
        clamped(u32::from(a) * u32::from(b) + u32::from(c)).min(0xffff) as u16
    ),
    shorts!("v_pk_add_u16", |a, b| a.wrapping_add(b), clamped a.saturating_add(b)),
    shorts!("v_pk_sub_u16", |a, b| a.wrapping_sub(b), clamped a.saturating_sub(b)),
    shorts!("v_pk_max_u16", |a, b| a.max(b)),
    shorts!("v_pk_min_u16", |a, b| a.min(b)),
    halves!("v_pk_fma_f16", WARM, |m, a, b, c| fused16(a, b, c), rounded fma16(m, a, b, c)),
    halves!("v_pk_fmac_f16", COLD, |m, a, b, c| fused16(a, b, c), rounded fma16(m, a, b, c)),
    halves!("v_pk_add_f16", WARM, |m, a, b| Half::nearest(a.wide() + b.wide()), rounded fma16(m, a, ONE, b)),
    halves!("v_pk_mul_f16", WARM, |m, a, b| Half::nearest(a.wide() * b.wide()),
        rounded Half::product(a, b, m.round64(), m.fp16_overflow())),
    lane!("v_pk_min_f16", COLD, |m, a: Halves, b: Halves| -> Halves {
        Halves(fp::min16(m, a.0, b.0), fp::min16(m, a.1, b.1))
    }),
    lane!("v_pk_max_f16", COLD, |m, a: Halves, b: Halves| -> Halves {
        Halves(fp::max16(m, a.0, b.0), fp::max16(m, a.1, b.1))
    }),
    lane!("v_dot2_f32_f16", COLD, |_, a: Halves, b: Halves, c: f32| -> f32 {
        dot_halves::<Vector>(a, b, c)
    }),
    lane!("v_dot2c_f32_f16", COLD, |_,
                                    a: Halves,
                                    b: Halves,
                                    c: f32|
     -> f32 {
        dot_halves::<Vector>(a, b, c)
    }),
    lane!("v_dot2_i32_i16", COLD, |_, a: Shorts, b: Shorts, c: u32| -> u32 { (dot_signed(joined(a), joined(b), 16) as u32).wrapping_add(c) },
        clamped { saturated_signed(dot_signed(joined(a), joined(b), 16) + i64::from(c as i32)) }),
    lane!("v_dot2_u32_u16", COLD, |_, a: Shorts, b: Shorts, c: u32| -> u32 { (dot_unsigned(joined(a), joined(b), 16) as u32).wrapping_add(c) },
        clamped { saturated_unsigned(dot_unsigned(joined(a), joined(b), 16) + u64::from(c)) }),
    signed_dot!("v_dot2c_i32_i16", 16),
    signed_dot!("v_dot4_i32_i8", 8),
    signed_dot!("v_dot4c_i32_i8", 8),
    signed_dot!("v_dot8_i32_i4", 4),
    signed_dot!("v_dot8c_i32_i4", 4),
    unsigned_dot!("v_dot4_u32_u8", 8),
    unsigned_dot!("v_dot8_u32_u4", 4),
    floats!("v_pk_fma_f32", |m, a, b, c| fused32::<Vector>(a, b, c), rounded fma32(a, b, c, m.round32())),
    floats!("v_pk_mul_f32", |m, a, b| a * b, rounded mul32(a, b, m.round32())),
    floats!("v_pk_add_f32", |m, a, b| a + b, rounded add32(a, b, m.round32())),
    lane!("v_accvgpr_read_b32", WARM, |_, a: u32| -> u32 { a }),
    lane!("v_accvgpr_write_b32", WARM, |_, a: u32| -> u32 { a }),
];

/// A dword of an operand in a lane.
#[inline(always)]
fn dword(wave: &Wave, code: u16, lane: usize) -> u32 {
    if is_scalar(code) {
        wave.s[usize::from(code) & 511]
    } else {
        wave.row(code).0[lane]
    }
}

/// `v_pk_mov_b32`: one dword of each source pair. The payload's bits 9 and 10 select the high ones.
fn packed_move(wave: &mut Wave, op: &Op) -> Flow {
    let exec = wave.exec();
    let from = [op.a + (op.x >> 9 & 1) as u16, op.b + (op.x >> 10 & 1) as u16];
    for (part, code) in from.into_iter().enumerate() {
        for lane in 0..64 {
            wave.spare[part].0[lane] = dword(wave, code, lane);
        }
    }
    wave.commit(op.d, 0, exec);
    wave.commit(op.d + 1, 1, exec);
    Flow::Next
}

/// Where the result of a mixed-precision operation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Into {
    Single,
    LowHalf,
    HighHalf,
}

/// The mixed-precision multiply-adds: each source is a single precision number or half of a register. The
/// payload holds negation in bits 0 to 2, absolute value in 3 to 5, clamp in 8, halves in 9 to 11, and which
/// sources are halves in 16 to 18.
fn mixed(wave: &mut Wave, op: &Op, into: Into, fused: bool) -> Flow {
    wave.set_s64(LITERAL, 0);
    let (exec, mode) = (wave.exec(), wave.mode());
    let bit = |at: u32| op.x >> at & 1 != 0;
    for lane in 0..64 {
        let source = |n: u32, code: u16| {
            let bits = dword(wave, code, lane);
            let value = if bit(16 + n) {
                let half = if bit(9 + n) { bits >> 16 } else { bits };
                let half = half as u16;
                let flushed = if mode.flush64_in() && half & 0x7c00 == 0 {
                    half & 0x8000
                } else {
                    half
                };
                Half(flushed).wide()
            } else if mode.flush32_in() {
                fp::flush32(f32::from_bits(bits))
            } else {
                f32::from_bits(bits)
            };
            let value = if bit(3 + n) { value.abs() } else { value };
            if bit(n) {
                -value
            } else {
                value
            }
        };
        let (a, b, c) = (source(0, op.a), source(1, op.b), source(2, op.c));
        let result = if fused {
            fma32(a, b, c, mode.round32())
        } else {
            mad32(a, b, c)
        };
        let result = if mode.flush32_out() {
            fp::flush32(result)
        } else {
            result
        };
        let result = super::modifiers::finish32(result, 0, bit(8), mode);
        let old = wave.row(op.d).0[lane];
        wave.spare[0].0[lane] = match into {
            Into::Single => result.to_bits(),
            Into::LowHalf => u32::from(narrowed(result, mode)) | old & 0xffff_0000,
            Into::HighHalf => u32::from(narrowed(result, mode)) << 16 | old & 0xffff,
        };
    }
    wave.commit(op.d, 0, exec);
    Flow::Next
}

/// A result as a half.
fn narrowed(value: f32, mode: Mode) -> u16 {
    let half = Half::rounded(value, mode.round64(), mode.fp16_overflow()).0;
    if mode.flush64_out() && half & 0x7c00 == 0 {
        half & 0x8000
    } else {
        half
    }
}

const fn plain(handler: Handler) -> Versions {
    [handler; 3]
}

/// The rows with handlers of their own, whose payload is [`payload`].
pub(crate) static CUSTOM: &[(&str, Versions)] = &[
    ("v_pk_mov_b32", plain(packed_move)),
    ("v_fma_mix_f32", plain(|w, op| mixed(w, op, Into::Single, true))),
    ("v_mad_mix_f32", plain(|w, op| mixed(w, op, Into::Single, false))),
    (
        "v_fma_mixlo_f16",
        plain(|w, op| mixed(w, op, Into::LowHalf, true)),
    ),
    (
        "v_mad_mixlo_f16",
        plain(|w, op| mixed(w, op, Into::LowHalf, false)),
    ),
    (
        "v_fma_mixhi_f16",
        plain(|w, op| mixed(w, op, Into::HighHalf, true)),
    ),
    (
        "v_mad_mixhi_f16",
        plain(|w, op| mixed(w, op, Into::HighHalf, false)),
    ),
];

/// The payload of a row of [`CUSTOM`].
pub(crate) fn payload(mods: &crate::isa::Mods) -> u64 {
    u64::from(mods.neg & 7)
        | u64::from(mods.abs & 7) << 3
        | u64::from(mods.clamp) << 8
        | u64::from(mods.op_sel & 7) << 9
        | u64::from(mods.op_sel_hi & 7) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_products_of_all_widths() {
        assert_eq!(dot_signed(0x0001_ffff, 0x0003_0002, 16), 3 - 2);
        assert_eq!(dot_signed(0x80ff_0102, 0x0101_0101, 8), -128 - 1 + 1 + 2);
        assert_eq!(dot_signed(0xf000_0001, 0x1000_0001, 4), 0);
        assert_eq!(dot_unsigned(0xffff_ffff, 0xffff_ffff, 4), 8 * 225);
        assert_eq!(dot_unsigned(0xffff_ffff, 0xffff_ffff, 8), 4 * 255 * 255);
        assert_eq!(saturated_signed(i64::MAX), 0x7fff_ffff);
        assert_eq!(saturated_unsigned(1 << 33), u32::MAX);
    }

    #[test]
    fn halves_accumulate_in_single_precision() {
        let a = Halves(Half(0x4000), Half(0x4200));
        let b = Halves(Half(0x3c00), Half(0x4000));
        assert_eq!(dot_halves::<crate::exec::level::Portable>(a, b, 0.5), 8.5);
    }
}
