//! Operations on floating-point numbers, compared with Rust.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::precedence,
    reason = "the numbers are patterns of bits, and shifts bind as they do"
)]

mod support;

use std::cmp::Ordering;
use support::cases::{case, case_with, check, check_in, float, Case};
use support::number::{f32_of, f64_of, flushed, half_of, of_f32, of_f64, of_half, signed};

const SINGLE: &[Case] = &[
    float("add_f32", "sss", 32, |v| of_f32(f32_of(v[0]) + f32_of(v[1]))),
    float("sub_f32", "sss", 32, |v| of_f32(f32_of(v[0]) - f32_of(v[1]))),
    float("mul_f32", "sss", 32, |v| of_f32(f32_of(v[0]) * f32_of(v[1]))),
    float("div_f32", "sss", 32, |v| of_f32(f32_of(v[0]) / f32_of(v[1]))),
    float("fma_f32", "ssss", 32, |v| {
        of_f32(f32_of(v[0]).mul_add(f32_of(v[1]), f32_of(v[2])))
    }),
    float("mad_f32", "ssss", 32, |v| {
        of_f32(f32_of(v[0]) * f32_of(v[1]) + f32_of(v[2]))
    }),
    float("sqrt_f32", "ss", 32, |v| of_f32(f32_of(v[0]).sqrt())),
    float("ceil_f32", "ss", 32, |v| of_f32(f32_of(v[0]).ceil())),
    float("floor_f32", "ss", 32, |v| of_f32(f32_of(v[0]).floor())),
    float("rint_f32", "ss", 32, |v| of_f32(f32_of(v[0]).round_ties_even())),
    float("trunc_f32", "ss", 32, |v| of_f32(f32_of(v[0]).trunc())),
    float("fract_f32", "ss", 32, |v| of_f32(fract32(f32_of(v[0])))),
    float("max_f32", "sss", 32, |v| extreme32(v, f32::max)),
    float("min_f32", "sss", 32, |v| extreme32(v, f32::min)),
    case("abs_f32", "ss", |v| Some(v[0] & 0x7fff_ffff)),
    case("neg_f32", "ss", |v| Some(v[0] ^ 0x8000_0000)),
    case("copysign_f32", "sss", |v| {
        Some(v[0] & 0x7fff_ffff | v[1] & 0x8000_0000)
    }),
];

const DOUBLE: &[Case] = &[
    float("add_f64", "ddd", 64, |v| of_f64(f64_of(v[0]) + f64_of(v[1]))),
    float("sub_f64", "ddd", 64, |v| of_f64(f64_of(v[0]) - f64_of(v[1]))),
    float("mul_f64", "ddd", 64, |v| of_f64(f64_of(v[0]) * f64_of(v[1]))),
    float("div_f64", "ddd", 64, |v| of_f64(f64_of(v[0]) / f64_of(v[1]))),
    float("fma_f64", "dddd", 64, |v| {
        of_f64(f64_of(v[0]).mul_add(f64_of(v[1]), f64_of(v[2])))
    }),
    float("mad_f64", "dddd", 64, |v| {
        of_f64(f64_of(v[0]) * f64_of(v[1]) + f64_of(v[2]))
    }),
    float("sqrt_f64", "dd", 64, |v| of_f64(f64_of(v[0]).sqrt())),
    float("ceil_f64", "dd", 64, |v| of_f64(f64_of(v[0]).ceil())),
    float("floor_f64", "dd", 64, |v| of_f64(f64_of(v[0]).floor())),
    float("rint_f64", "dd", 64, |v| of_f64(f64_of(v[0]).round_ties_even())),
    float("trunc_f64", "dd", 64, |v| of_f64(f64_of(v[0]).trunc())),
    float("fract_f64", "dd", 64, |v| of_f64(fract64(f64_of(v[0])))),
    case("neg_f64", "dd", |v| Some(v[0] ^ 1 << 63)),
    case("abs_f64", "dd", |v| Some(v[0] & !(1 << 63))),
];

const HALF: &[Case] = &[
    float("add_f16", "sss", 16, |v| of_half(half_of(v[0]) + half_of(v[1]))),
    float("sub_f16", "sss", 16, |v| of_half(half_of(v[0]) - half_of(v[1]))),
    float("mul_f16", "sss", 16, |v| of_half(half_of(v[0]) * half_of(v[1]))),
    float("div_f16", "sss", 16, |v| of_half(half_of(v[0]) / half_of(v[1]))),
    float("sqrt_f16", "ss", 16, |v| of_half(half_of(v[0]).sqrt())),
    float("floor_f16", "ss", 16, |v| of_half(half_of(v[0]).floor())),
    float("rint_f16", "ss", 16, |v| of_half(half_of(v[0]).round_ties_even())),
];

fn fract32(x: f32) -> f32 {
    if x == 0.0 || x.is_infinite() {
        return 0f32.copysign(x);
    }
    if x.is_nan() {
        x
    } else {
        (x - x.floor()).min(1.0 - f32::EPSILON / 2.0)
    }
}

fn fract64(x: f64) -> f64 {
    if x == 0.0 || x.is_infinite() {
        return 0f64.copysign(x);
    }
    if x.is_nan() {
        x
    } else {
        (x - x.floor()).min(1.0 - f64::EPSILON / 2.0)
    }
}

/// The number if the other is a quiet NaN; with a signaling one a NaN. Which zero of two it is, is open.
fn extreme32(v: &[u128], f: fn(f32, f32) -> f32) -> Option<u128> {
    let (a, b) = (f32_of(v[0]), f32_of(v[1]));
    let signals = |x: f32| x.is_nan() && x.to_bits() >> 22 & 1 == 0;
    if a == 0.0 && b == 0.0 {
        return None;
    }
    of_f32(if signals(a) || signals(b) {
        f32::NAN
    } else {
        f(a, b)
    })
}

const FLUSHED: &[Case] = &[
    float("add_ftz_f32", "sss", 32, |v| {
        of_f32(flushed(flushed(f32_of(v[0])) + flushed(f32_of(v[1]))))
    }),
    float("mul_ftz_f32", "sss", 32, |v| {
        of_f32(flushed(flushed(f32_of(v[0])) * flushed(f32_of(v[1]))))
    }),
    float("floor_ftz_f32", "ss", 32, |v| {
        of_f32(flushed(f32_of(v[0])).floor())
    }),
    float("sqrt_ftz_f32", "ss", 32, |v| of_f32(flushed(f32_of(v[0])).sqrt())),
    case("cmp_lt_ftz_b1_f32", "css", |v| {
        Some((flushed(f32_of(v[0])) < flushed(f32_of(v[1]))).into())
    }),
    float("cvt_ftz_f32_f64", "sd", 32, |v| {
        let x = f64_of(v[0]);
        of_f32(flushed(if x.is_subnormal() { 0f64.copysign(x) } else { x } as f32))
    }),
    case("cvt_ftz_upi_s32_f32", "ss", |v| {
        let x = flushed(f32_of(v[0])).ceil();
        (x.abs() < 2147483648.0).then_some(x as i32 as u128)
    }),
];

/// Whether the relation of two numbers is one of those that are named: less, equal, greater, unordered.
fn compared(v: &[u128], relations: &str) -> Option<u128> {
    let relation = match f32_of(v[0]).partial_cmp(&f32_of(v[1])) {
        Some(Ordering::Less) => 'l',
        Some(Ordering::Equal) => 'e',
        Some(Ordering::Greater) => 'g',
        None => 'u',
    };
    Some(relations.contains(relation).into())
}

const COMPARISONS: &[Case] = &[
    case("cmp_eq_b1_f32", "css", |v| compared(v, "e")),
    case("cmp_ne_b1_f32", "css", |v| compared(v, "lg")),
    case("cmp_lt_b1_f32", "css", |v| compared(v, "l")),
    case("cmp_le_b1_f32", "css", |v| compared(v, "le")),
    case("cmp_gt_b1_f32", "css", |v| compared(v, "g")),
    case("cmp_ge_b1_f32", "css", |v| compared(v, "eg")),
    case("cmp_equ_b1_f32", "css", |v| compared(v, "eu")),
    case("cmp_neu_b1_f32", "css", |v| compared(v, "lgu")),
    case("cmp_ltu_b1_f32", "css", |v| compared(v, "lu")),
    case("cmp_leu_b1_f32", "css", |v| compared(v, "leu")),
    case("cmp_gtu_b1_f32", "css", |v| compared(v, "gu")),
    case("cmp_geu_b1_f32", "css", |v| compared(v, "egu")),
    case("cmp_num_b1_f32", "css", |v| compared(v, "leg")),
    case("cmp_nan_b1_f32", "css", |v| compared(v, "u")),
    case("cmp_slt_b1_f32", "css", |v| compared(v, "l")),
    case("cmp_sgtu_b1_f32", "css", |v| compared(v, "gu")),
    case("cmp_sgeu_u32_f32", "sss", |v| {
        compared(v, "egu").map(|truth| truth * u128::from(u32::MAX))
    }),
    case("cmp_lt_b1_f64", "cdd", |v| {
        Some((f64_of(v[0]) < f64_of(v[1])).into())
    }),
    case("cmp_geu_s64_f64", "ddd", |v| {
        Some(if f64_of(v[0]) < f64_of(v[1]) { 0 } else { u128::MAX })
    }),
    case("cmp_lt_b1_f16", "css", |v| {
        Some((half_of(v[0]) < half_of(v[1])).into())
    }),
    case("class_b1_f32", "css", |v| {
        Some((class32(v[0]) & v[1] != 0).into())
    }),
    case_with("class_b1_f64", "cd", "0x3", |v| {
        Some(f64_of(v[0]).is_nan().into())
    }),
];

fn class32(bits: u128) -> u128 {
    use std::num::FpCategory as Kind;
    let x = f32_of(bits);
    let negative = x.is_sign_negative();
    match (x.classify(), negative) {
        (Kind::Nan, _) => 1 << (bits >> 22 & 1),
        (Kind::Infinite, true) => 4,
        (Kind::Normal, true) => 8,
        (Kind::Subnormal, true) => 16,
        (Kind::Zero, true) => 32,
        (Kind::Zero, false) => 64,
        (Kind::Subnormal, false) => 128,
        (Kind::Normal, false) => 256,
        (Kind::Infinite, false) => 512,
    }
}

/// An integral number, if it is in a range.
fn within(x: f64, least: f64, most: f64) -> Option<u128> {
    (x >= least && x <= most).then_some(x as i128 as u128)
}

const TO_INTEGERS: &[Case] = &[
    case("cvt_s32_f32", "ss", |v| {
        within(f64::from(f32_of(v[0])).trunc(), -2147483648.0, 2147483647.0)
    }),
    case("cvt_u32_f32", "ss", |v| {
        within(f64::from(f32_of(v[0])).trunc(), 0.0, 4294967295.0)
    }),
    case("cvt_neari_s32_f64", "sd", |v| {
        within(f64_of(v[0]).round_ties_even(), -2147483648.0, 2147483647.0)
    }),
    case("cvt_upi_u8_f32", "ss", |v| {
        within(f64::from(f32_of(v[0])).ceil(), 0.0, 255.0)
    }),
    case("cvt_downi_s16_f32", "ss", |v| {
        within(f64::from(f32_of(v[0])).floor(), -32768.0, 32767.0)
    }),
    case("cvt_sneari_s8_f16", "ss", |v| {
        within(half_of(v[0]).round_ties_even(), -128.0, 127.0)
    }),
    case("cvt_zeroi_sat_s32_f32", "ss", |v| {
        Some(f32_of(v[0]) as i32 as u128)
    }),
    case("cvt_zeroi_sat_u32_f64", "sd", |v| {
        Some((f64_of(v[0]) as u32).into())
    }),
    case("cvt_neari_sat_u8_f32", "ss", |v| {
        Some((f32_of(v[0]).round_ties_even() as u8).into())
    }),
    case("cvt_upi_sat_s8_f32", "ss", |v| {
        Some(f32_of(v[0]).ceil() as i8 as u128)
    }),
    case("cvt_downi_sat_u16_f64", "sd", |v| {
        Some((f64_of(v[0]).floor() as u16).into())
    }),
    case("cvt_szeroi_sat_s64_f32", "ds", |v| {
        Some(f32_of(v[0]) as i64 as u128)
    }),
    case("cvt_zeroi_sat_u64_f32", "ds", |v| {
        Some((f32_of(v[0]) as u64).into())
    }),
    case("cvt_zeroi_sat_s64_f64", "dd", |v| {
        Some(f64_of(v[0]) as i64 as u128)
    }),
    case("cvt_neari_sat_u64_f64", "dd", |v| {
        Some((f64_of(v[0]).round_ties_even() as u64).into())
    }),
    case("cvt_zeroi_sat_s64_f16", "ds", |v| {
        Some(half_of(v[0]) as i64 as u128)
    }),
    case("cvt_b1_f32", "cs", |v| Some((f32_of(v[0]) != 0.0).into())),
    case("cvt_b1_f64", "cd", |v| Some((f64_of(v[0]) != 0.0).into())),
];

const TO_FLOATS: &[Case] = &[
    case("cvt_f32_u32", "ss", |v| of_f32(v[0] as u32 as f32)),
    case("cvt_f32_s32", "ss", |v| of_f32(v[0] as i32 as f32)),
    case("cvt_f32_u64", "sd", |v| of_f32(v[0] as u64 as f32)),
    case("cvt_f32_s64", "sd", |v| of_f32(v[0] as i64 as f32)),
    case("cvt_f64_u32", "ds", |v| of_f64((v[0] as u32).into())),
    case("cvt_f64_s64", "dd", |v| of_f64(v[0] as i64 as f64)),
    case("cvt_f64_u64", "dd", |v| of_f64(v[0] as u64 as f64)),
    case("cvt_f32_u8", "ss", |v| of_f32((v[0] as u8).into())),
    case("cvt_f32_s16", "ss", |v| of_f32((v[0] as i16).into())),
    case("cvt_f32_b1", "sc", |v| of_f32(v[0] as f32)),
    case("cvt_f16_s32", "ss", |v| {
        of_half(signed(v[0], 32) as f64).map(|h| h & 0xffff)
    }),
    float("cvt_f64_f32", "ds", 64, |v| of_f64(f32_of(v[0]).into())),
    float("cvt_f32_f64", "sd", 32, |v| of_f32(f64_of(v[0]) as f32)),
    float("cvt_f16_f32", "ss", 16, |v| of_half(f32_of(v[0]).into())),
    float("cvt_f16_f64", "sd", 16, |v| of_half(f64_of(v[0]))),
    float("cvt_f32_f16", "ss", 32, |v| of_f32(half_of(v[0]) as f32)),
];

/// The next larger number of one that is finite and not zero.
fn next_up(x: f32) -> f32 {
    let step = if x < 0.0 { u32::MAX } else { 1 };
    f32::from_bits(x.to_bits().wrapping_add(step))
}

/// The next larger or smaller number; of zero the least one.
fn next(x: f32, up: bool) -> f32 {
    if x == 0.0 {
        let least = f32::from_bits(1);
        return if up { least } else { -least };
    }
    if up {
        next_up(x)
    } else {
        -next_up(-x)
    }
}

/// The number next to one that was rounded, on the side of what it was rounded from.
fn directed(exact: f64, near: f32, up: bool) -> f32 {
    let wide = f64::from(near);
    if exact.is_nan() || wide == exact {
        near
    } else if up && wide < exact {
        next(near, true)
    } else if !up && wide > exact {
        next(near, false)
    } else {
        near
    }
}

const DIRECTED: &[Case] = &[
    float("cvt_up_f32_f64", "sd", 32, |v| {
        of_f32(directed(f64_of(v[0]), f64_of(v[0]) as f32, true))
    }),
    float("cvt_down_f32_f64", "sd", 32, |v| {
        of_f32(directed(f64_of(v[0]), f64_of(v[0]) as f32, false))
    }),
    // Products are exact in double precision, short of the smallest.
    float("mul_up_f32", "sss", 32, |v| {
        let exact = f64::from(f32_of(v[0])) * f64::from(f32_of(v[1]));
        of_f32(directed(exact, exact as f32, true))
    }),
    float("mul_zero_f32", "sss", 32, |v| {
        let exact = f64::from(f32_of(v[0])) * f64::from(f32_of(v[1]));
        of_f32(directed(exact, exact as f32, exact < 0.0))
    }),
    case("cvt_down_f32_u32", "ss", |v| {
        of_f32(directed(v[0] as f64, v[0] as f32, false))
    }),
    case("cvt_up_f64_s64", "dd", |v| {
        let (exact, near) = (signed(v[0], 64), v[0] as i64 as f64);
        // One more in the pattern is away from zero.
        let step = if near < 0.0 { u64::MAX } else { 1 };
        of_f64(if (near as i128) < exact {
            f64::from_bits(near.to_bits().wrapping_add(step))
        } else {
            near
        })
    }),
    case("cvt_zero_f32_s64", "sd", |v| {
        let (exact, near) = (signed(v[0], 64), v[0] as i64 as f32);
        let size = (near.abs() as i128, exact.abs());
        of_f32(if size.0 > size.1 {
            f32::from_bits(near.to_bits() - 1)
        } else {
            near
        })
    }),
    float("div_up_f32", "sss", 32, |v| {
        quotient(f32_of(v[0]), f32_of(v[1]), true)
    }),
    float("div_down_f32", "sss", 32, |v| {
        quotient(f32_of(v[0]), f32_of(v[1]), false)
    }),
    float("sqrt_down_f32", "ss", 32, |v| {
        let x = f32_of(v[0]);
        let near = x.sqrt();
        let over = f64::from(near) * f64::from(near) > f64::from(x);
        of_f32(if over && near.is_finite() {
            next(near, false)
        } else {
            near
        })
    }),
    float("sqrt_up_f32", "ss", 32, |v| {
        let x = f32_of(v[0]);
        let near = x.sqrt();
        let under = f64::from(near) * f64::from(near) < f64::from(x);
        of_f32(if under && near.is_finite() {
            next(near, true)
        } else {
            near
        })
    }),
];

/// A quotient rounded in a direction: its product with the divisor, which is exact, says on which side it is.
fn quotient(a: f32, b: f32, up: bool) -> Option<u128> {
    let near = a / b;
    if near.is_nan() || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return of_f32(near);
    }
    if near.is_infinite() {
        let toward_zero = up != (near > 0.0);
        return of_f32(if toward_zero {
            f32::MAX.copysign(near)
        } else {
            near
        });
    }
    let back = f64::from(near) * f64::from(b);
    let low = if b > 0.0 {
        back < f64::from(a)
    } else {
        back > f64::from(a)
    };
    let exact = back == f64::from(a);
    of_f32(match (exact, up, low) {
        (false, true, true) => next(near, true),
        (false, false, false) => next(near, false),
        _ => near,
    })
}

#[test]
fn single_precision_is_ieee_arithmetic() {
    check(SINGLE);
}

#[test]
fn double_precision_is_ieee_arithmetic() {
    check(DOUBLE);
}

#[test]
fn half_precision_is_ieee_arithmetic() {
    check(HALF);
}

#[test]
fn subnormal_numbers_are_flushed_where_an_operation_says_so() {
    check(FLUSHED);
}

#[test]
fn comparisons_have_their_way_with_nans() {
    check(COMPARISONS);
}

#[test]
fn integers_are_rounded_in_four_ways_and_saturate() {
    check(TO_INTEGERS);
}

#[test]
fn numbers_become_floating_point_numbers() {
    check(TO_FLOATS);
}

/// What is left of a division by a quotient has the sign of the error; in a range where it does not underflow.
fn quotient64(v: &[u128], up: bool) -> Option<u128> {
    let (a, b) = (f64_of(v[0]), f64_of(v[1]));
    let near = a / b;
    if near.is_nan() || a == 0.0 || b == 0.0 || a.is_infinite() || b.is_infinite() {
        return of_f64(near);
    }
    if near.is_infinite() {
        let toward_zero = up != (near > 0.0);
        return of_f64(if toward_zero {
            f64::MAX.copysign(near)
        } else {
            near
        });
    }
    if near == 0.0 {
        // Less than half of the least number.
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let least = if up == negative { 0 } else { 1 };
        return Some(u128::from(negative) << 63 | least);
    }
    if near.abs() < 1e-290 || a.abs() < 1e-250 {
        return None;
    }
    let left = near.mul_add(-b, a);
    let low = if b > 0.0 { left > 0.0 } else { left < 0.0 };
    moved64(near, up, left == 0.0 || low != up)
}

/// The next number in a direction, unless that one is it already.
fn moved64(near: f64, up: bool, stays: bool) -> Option<u128> {
    let step = if (near > 0.0) == up { 1 } else { u64::MAX };
    let bits = near.to_bits();
    Some(u128::from(if stays { bits } else { bits.wrapping_add(step) }))
}

fn root64(v: &[u128], up: bool) -> Option<u128> {
    let x = f64_of(v[0]);
    let near = x.sqrt();
    if near.is_nan() || near == 0.0 || near.is_infinite() {
        return of_f64(near);
    }
    // By a power of four, so that what is left does not underflow.
    let (scaled, root) = (x * 2f64.powi(400), near * 2f64.powi(200));
    if scaled.is_infinite() {
        return None;
    }
    let left = root.mul_add(-root, scaled);
    moved64(near, up, left == 0.0 || (left > 0.0) != up)
}

const DIRECTED_DOUBLE: &[Case] = &[
    float("div_up_f64", "ddd", 64, |v| quotient64(v, true)),
    float("div_down_f64", "ddd", 64, |v| quotient64(v, false)),
    float("div_zero_f64", "ddd", 64, |v| {
        let negative = f64_of(v[0]).is_sign_negative() != f64_of(v[1]).is_sign_negative();
        quotient64(v, negative)
    }),
    float("sqrt_up_f64", "dd", 64, |v| root64(v, true)),
    float("sqrt_down_f64", "dd", 64, |v| root64(v, false)),
];

#[test]
fn quotients_and_roots_of_double_precision_are_rounded_in_a_direction() {
    check(DIRECTED_DOUBLE);
}

const TO_ZERO: &[Case] = &[
    float("mul_f32", "sss", 32, |v| {
        let exact = f64::from(f32_of(v[0])) * f64::from(f32_of(v[1]));
        of_f32(directed(exact, exact as f32, exact < 0.0))
    }),
    float("mul_near_f32", "sss", 32, |v| of_f32(f32_of(v[0]) * f32_of(v[1]))),
    float("cvt_f32_f64", "sd", 32, |v| {
        of_f32(directed(f64_of(v[0]), f64_of(v[0]) as f32, f64_of(v[0]) < 0.0))
    }),
];

#[test]
fn a_module_may_round_to_zero() {
    check_in("module &test:1:0:$full:$large:$zero;\n", TO_ZERO);
}

#[test]
fn results_are_rounded_in_a_direction() {
    check(DIRECTED);
}
