//! Transcendental functions: single precision results from short double precision series.
//!
//! The hardware promises one unit in the last place and does not publish its bits. These are within
//! a hair of correct rounding, use no fused operation and no library, so every host level gives the same bits, and
//! have no branches, so the lane loops become vector code. Single precision reciprocal, square root, exponential
//! and logarithm flush denormals whatever the mode says, as the hardware does.

use std::f64::consts::{LN_2, TAU};

use super::fp::flush32;

/// 1.5 * 2^52: adding it rounds to an integer that then sits in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Coefficients of 2^f: ln(2)^k / k!.
const EXP2: [f64; 10] = {
    let mut terms = [1.0; 10];
    let mut k = 1;
    while k < 10 {
        terms[k] = terms[k - 1] * LN_2 / k as f64;
        k += 1;
    }
    terms
};

/// Coefficients of sin(2 pi r) / r in r squared.
const SINE: [f64; 10] = {
    let mut terms = [TAU; 10];
    let mut k = 1;
    while k < 10 {
        terms[k] = -terms[k - 1] * TAU * TAU / ((2 * k) * (2 * k + 1)) as f64;
        k += 1;
    }
    terms
};

/// Two to the power of `x`, in double precision, for `x` from -1000 to 1000.
#[inline(always)]
fn exp2_wide(x: f64) -> f64 {
    let shifted = x + ROUNDER;
    let f = x - (shifted - ROUNDER);
    let mut sum = EXP2[9];
    let mut k = 9;
    while k > 0 {
        k -= 1;
        sum = sum * f + EXP2[k];
    }
    let exponent = shifted.to_bits().wrapping_add(1023) << 52;
    sum * f64::from_bits(exponent)
}

/// `v_exp_f32` without flushing: two to the power of `x`.
#[inline(always)]
fn exp2_keep(x: f32) -> f32 {
    let wide = f64::from(x);
    let bounded = if wide > 200.0 { 200.0 } else { wide };
    let bounded = if bounded < -300.0 { -300.0 } else { bounded };
    let result = exp2_wide(if bounded.is_nan() { 0.0 } else { bounded }) as f32;
    if x.is_nan() {
        x + x
    } else {
        result
    }
}

/// `v_exp_f32`.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    flush32(exp2_keep(flush32(x)))
}

/// The logarithm to base two of a positive finite normal double.
#[inline(always)]
fn log2_wide(x: f64) -> f64 {
    let bits = x.to_bits();
    // Move the significand into [sqrt(1/2), sqrt(2)).
    let offset = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = offset as i64 >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 1.0 / 17.0;
    let mut k = 8;
    while k > 0 {
        k -= 1;
        sum = sum * z + 1.0 / (2 * k + 1) as f64;
    }
    // The exponent is small: its low 32 bits say it all, and convert in vectors.
    f64::from(exponent as i32) + s * sum * (2.0 / LN_2)
}

/// Logarithm of any single precision number, denormals included.
#[inline(always)]
fn log2_keep(x: f32) -> f32 {
    let result = log2_wide(f64::from(x).abs()) as f32;
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    let result = if x == f32::INFINITY { x } else { result };
    let result = if x < 0.0 { f32::NAN } else { result };
    if x.is_nan() {
        x + x
    } else {
        result
    }
}

/// `v_log_f32`: the logarithm to base two.
#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    log2_keep(flush32(x))
}

/// Sine of `turns` full turns, for a fraction of a turn.
#[inline(always)]
fn sine_of_turns(turns: f64) -> f32 {
    let r = turns - ((turns + ROUNDER) - ROUNDER);
    let folded = if r > 0.25 { 0.5 - r } else { r };
    let folded = if folded < -0.25 { -0.5 - folded } else { folded };
    let z = folded * folded;
    let mut sum = SINE[9];
    let mut k = 9;
    while k > 0 {
        k -= 1;
        sum = sum * z + SINE[k];
    }
    (folded * sum) as f32
}

/// `v_sin_f32`: sine of `x` turns; zero outside -256 to 256.
#[inline(always)]
pub(crate) fn sin(x: f32) -> f32 {
    let result = sine_of_turns(f64::from(x));
    let result = if x.abs() > 256.0 { 0.0 } else { result };
    let result = if x == 0.0 { x } else { result };
    if x.is_finite() {
        result
    } else {
        f32::NAN
    }
}

/// `v_cos_f32`: cosine of `x` turns; one outside -256 to 256.
#[inline(always)]
pub(crate) fn cos(x: f32) -> f32 {
    let result = sine_of_turns(f64::from(x) + 0.25);
    let result = if x.abs() > 256.0 { 1.0 } else { result };
    if x.is_finite() {
        result
    } else {
        f32::NAN
    }
}

/// `v_rcp_f32`.
#[inline(always)]
pub(crate) fn rcp(x: f32) -> f32 {
    flush32(1.0 / flush32(x))
}

/// `v_sqrt_f32`.
#[inline(always)]
pub(crate) fn sqrt(x: f32) -> f32 {
    flush32(x).sqrt()
}

/// `v_rsq_f32`.
#[inline(always)]
pub(crate) fn rsq(x: f32) -> f32 {
    (1.0 / f64::from(flush32(x)).sqrt()) as f32
}

/// Two to the power of `x` for half precision, whose denormals are results like any other.
#[inline(always)]
pub(crate) fn exp2_half(x: f32) -> f32 {
    exp2_keep(x)
}

/// The logarithm for half precision.
#[inline(always)]
pub(crate) fn log2_half(x: f32) -> f32 {
    log2_keep(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place.
    fn ulps(ours: f32, exact: f64) -> f64 {
        let near = exact as f32;
        let unit = f64::from(f32::from_bits(near.abs().to_bits() + 1)) - f64::from(near.abs());
        (f64::from(ours) - exact).abs() / unit
    }

    #[test]
    fn results_are_within_a_unit_in_the_last_place() {
        for i in -4000..4000 {
            let x = i as f32 * 0.031_25 + 0.001_3;
            if x > -126.0 && x < 128.0 {
                assert!(ulps(exp2(x), f64::from(x).exp2()) < 0.51, "2^{x}");
            }
            let p = (i as f32 * 0.021).exp2();
            if p.is_normal() {
                assert!(ulps(log2(p), f64::from(p).log2()) < 0.51, "log2({p})");
                assert!(ulps(rsq(p), 1.0 / f64::from(p).sqrt()) < 0.51, "rsq({p})");
            }
            let turns = i as f32 * 0.017;
            let angle = f64::from(turns);
            let angle = (angle - angle.round()) * TAU;
            if angle.sin().abs() > 1e-6 {
                assert!(ulps(sin(turns), angle.sin()) < 0.51, "sin({turns})");
            }
            if angle.cos().abs() > 1e-6 {
                assert!(ulps(cos(turns), angle.cos()) < 0.51, "cos({turns})");
            }
        }
    }

    #[test]
    fn special_values_are_the_hardwares() {
        assert_eq!(exp2(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp2(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp2(-127.0), 0.0);
        assert_eq!(exp2(3.0), 8.0);
        assert!(exp2(f32::NAN).is_nan());
        assert_eq!(log2(0.0), f32::NEG_INFINITY);
        assert_eq!(log2(f32::from_bits(5)), f32::NEG_INFINITY);
        assert!(log2(-1.0).is_nan());
        assert_eq!(log2(8.0), 3.0);
        assert_eq!(log2(f32::INFINITY), f32::INFINITY);
        assert_eq!(rcp(-0.0), f32::NEG_INFINITY);
        assert_eq!(rcp(f32::MAX), 0.0);
        assert_eq!(rsq(0.0), f32::INFINITY);
        assert_eq!(sqrt(4.0), 2.0);
        assert_eq!((sin(0.25), sin(0.5), sin(0.75), cos(0.25)), (1.0, 0.0, -1.0, 0.0));
        assert_eq!((sin(300.0), cos(300.0), cos(0.0)), (0.0, 1.0, 1.0));
        assert!(sin(f32::INFINITY).is_nan());
        assert_eq!(sin(-0.0).to_bits(), 0x8000_0000);
        assert_eq!(log2_half(f32::from_bits(0x3380_0000)), -24.0);
        assert_eq!(exp2_half(-24.0), f32::from_bits(0x3380_0000));
    }
}
