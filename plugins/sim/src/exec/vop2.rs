//! Semantics of the two-source vector operations (VOP2 and their VOP3 forms).

use super::define::{carry, lane, Entry};
use super::fp;
use super::scalar_float::{add32, fma32, fma32_nearest, fma64, mul32, Half, Round};

/// `a * b + c` with one rounding, by instruction where the host has it.
#[inline(always)]
pub(crate) fn fused32<V: super::level::Host>(a: f32, b: f32, c: f32) -> f32 {
    if V::FMA {
        a.mul_add(b, c)
    } else {
        fma32_nearest(a, b, c)
    }
}

/// `a * b + c` with two roundings and no denormals, whatever the mode says: `v_mad_f32`.
#[inline(always)]
pub(crate) fn mad32(a: f32, b: f32, c: f32) -> f32 {
    let product = fp::flush32(fp::flush32(a) * fp::flush32(b));
    fp::flush32(product + fp::flush32(c))
}

/// [`mad32`] when rounding is not to nearest.
pub(crate) fn mad32_rounded(a: f32, b: f32, c: f32, round: Round) -> f32 {
    let product = fp::flush32(mul32(fp::flush32(a), fp::flush32(b), round));
    fp::flush32(add32(product, fp::flush32(c), round))
}

/// Half precision `a * b + c` with two roundings.
#[inline(always)]
pub(crate) fn mad16(a: Half, b: Half, c: Half) -> Half {
    Half::nearest(Half::nearest(a.wide() * b.wide()).wide() + c.wide())
}

/// Half precision `a * b + c` with one rounding. The product is exact in single precision and the
/// sum in double precision is exact wherever it matters.
#[inline(always)]
pub(crate) fn fused16(a: Half, b: Half, c: Half) -> Half {
    let sum = f64::from(a.wide() * b.wide()) + f64::from(c.wide());
    Half::nearest(odd32(sum))
}

/// Single precision with a sticky lowest bit, so that a further rounding is the only one.
#[inline(always)]
pub(crate) fn odd32(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    let back = f64::from(near);
    let inexact = back != value && bits & 1 == 0 && value.is_finite();
    let away = (value.abs() > back.abs()) as u32;
    f32::from_bits(if inexact {
        bits.wrapping_sub(1).wrapping_add(2 * away)
    } else {
        bits
    })
}

const ONE: Half = Half(0x3c00);

/// Sign-extends the low 24 bits.
#[inline(always)]
pub(crate) fn i24(value: u32) -> i64 {
    i64::from((value << 8) as i32 >> 8)
}

/// The low 24 bits.
#[inline(always)]
pub(crate) fn u24(value: u32) -> u64 {
    u64::from(value & 0xff_ffff)
}

/// The product of DirectX 9: zero times anything is zero.
#[inline(always)]
pub(crate) fn legacy_mul(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 {
        0.0
    } else {
        a * b
    }
}

/// The rows.
pub(crate) static TABLE: &[Entry] = &[
    carry!("v_cndmask_b32", HOT, in true out false, |_, a: u32, b: u32, _c: (), bit| -> u32 { (if bit { b } else { a }, false) }),
    lane!("v_add_f32", HOT, |m, a: f32, b: f32| -> f32 { a + b }, rounded { add32(a, b, m.round32()) }),
    lane!("v_sub_f32", HOT, |m, a: f32, b: f32| -> f32 { a - b }, rounded { add32(a, -b, m.round32()) }),
    lane!("v_subrev_f32", WARM, |m, a: f32, b: f32| -> f32 { b - a }, rounded { add32(b, -a, m.round32()) }),
    lane!("v_mul_f32", HOT, |m, a: f32, b: f32| -> f32 { a * b }, rounded { mul32(a, b, m.round32()) }),
    lane!("v_mul_legacy_f32", COLD, |m, a: f32, b: f32| -> f32 { legacy_mul(a, b) },
        rounded { if a == 0.0 || b == 0.0 { 0.0 } else { mul32(a, b, m.round32()) } }),
    lane!("v_mul_i32_i24", WARM, |_, a: u32, b: u32| -> u32 {
        (i24(a) * i24(b)) as u32
    }),
    lane!("v_mul_hi_i32_i24", COLD, |_, a: u32, b: u32| -> u32 {
        ((i24(a) * i24(b)) >> 32) as u32
    }),
    lane!("v_mul_u32_u24", WARM, |_, a: u32, b: u32| -> u32 {
        (u24(a) * u24(b)) as u32
    }),
    lane!("v_mul_hi_u32_u24", COLD, |_, a: u32, b: u32| -> u32 {
        ((u24(a) * u24(b)) >> 32) as u32
    }),
    lane!("v_min_f32", WARM, |m, a: f32, b: f32| -> f32 {
        fp::min32(m, a, b)
    }),
    lane!("v_max_f32", WARM, |m, a: f32, b: f32| -> f32 {
        fp::max32(m, a, b)
    }),
    lane!("v_min_i32", WARM, |_, a: i32, b: i32| -> i32 { a.min(b) }),
    lane!("v_max_i32", WARM, |_, a: i32, b: i32| -> i32 { a.max(b) }),
    lane!("v_min_u32", WARM, |_, a: u32, b: u32| -> u32 { a.min(b) }),
    lane!("v_max_u32", WARM, |_, a: u32, b: u32| -> u32 { a.max(b) }),
    lane!("v_lshrrev_b32", HOT, |_, a: u32, b: u32| -> u32 { b >> (a & 31) }),
    lane!("v_ashrrev_i32", HOT, |_, a: u32, b: i32| -> i32 { b >> (a & 31) }),
    lane!("v_lshlrev_b32", HOT, |_, a: u32, b: u32| -> u32 { b << (a & 31) }),
    lane!("v_and_b32", HOT, |_, a: u32, b: u32| -> u32 { a & b }),
    lane!("v_or_b32", HOT, |_, a: u32, b: u32| -> u32 { a | b }),
    lane!("v_xor_b32", HOT, |_, a: u32, b: u32| -> u32 { a ^ b }),
    lane!("v_xnor_b32", COLD, |_, a: u32, b: u32| -> u32 { !(a ^ b) }),
    lane!("v_mac_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { mad32(a, b, c) }, rounded { mad32_rounded(a, b, c, m.round32()) }),
    lane!("v_madmk_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { mad32(a, b, c) }, rounded { mad32_rounded(a, b, c, m.round32()) }),
    lane!("v_madak_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { mad32(a, b, c) }, rounded { mad32_rounded(a, b, c, m.round32()) }),
    lane!("v_fmac_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { fused32::<Vector>(a, b, c) }, rounded { fma32(a, b, c, m.round32()) }),
    lane!("v_fmac_f64", HOT, |m, a: f64, b: f64, c: f64| -> f64 { a.mul_add(b, c) }, rounded { fma64(a, b, c, m.round64()) }),
    carry!("v_add_co_u32", HOT, in false out true, |_, a: u32, b: u32, _c: (), _bit| -> u32 { a.overflowing_add(b) },
        clamped { (a.saturating_add(b), a.checked_add(b).is_none()) }),
    carry!("v_sub_co_u32", WARM, in false out true, |_, a: u32, b: u32, _c: (), _bit| -> u32 { a.overflowing_sub(b) },
        clamped { (a.saturating_sub(b), a < b) }),
    carry!("v_subrev_co_u32", WARM, in false out true, |_, a: u32, b: u32, _c: (), _bit| -> u32 { b.overflowing_sub(a) },
        clamped { (b.saturating_sub(a), b < a) }),
    carry!("v_addc_co_u32", HOT, in true out true, |_, a: u32, b: u32, _c: (), bit| -> u32 { add_carry(a, b, bit) },
        clamped { let (sum, over) = add_carry(a, b, bit); (if over { u32::MAX } else { sum }, over) }),
    carry!("v_subb_co_u32", WARM, in true out true, |_, a: u32, b: u32, _c: (), bit| -> u32 { sub_borrow(a, b, bit) },
        clamped { let (rest, under) = sub_borrow(a, b, bit); (if under { 0 } else { rest }, under) }),
    carry!("v_subbrev_co_u32", WARM, in true out true, |_, a: u32, b: u32, _c: (), bit| -> u32 { sub_borrow(b, a, bit) },
        clamped { let (rest, under) = sub_borrow(b, a, bit); (if under { 0 } else { rest }, under) }),
    lane!("v_add_f16", WARM, |m, a: Half, b: Half| -> Half { Half::nearest(a.wide() + b.wide()) },
        rounded { Half::fused(a, ONE, b, m.round64(), m.fp16_overflow()) }),
    lane!("v_sub_f16", WARM, |m, a: Half, b: Half| -> Half { Half::nearest(a.wide() - b.wide()) },
        rounded { Half::fused(a, ONE, Half(b.0 ^ 0x8000), m.round64(), m.fp16_overflow()) }),
    lane!("v_subrev_f16", COLD, |m, a: Half, b: Half| -> Half { Half::nearest(b.wide() - a.wide()) },
        rounded { Half::fused(b, ONE, Half(a.0 ^ 0x8000), m.round64(), m.fp16_overflow()) }),
    lane!("v_mul_f16", WARM, |m, a: Half, b: Half| -> Half { Half::nearest(a.wide() * b.wide()) },
        rounded { Half::product(a, b, m.round64(), m.fp16_overflow()) }),
    lane!("v_mac_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { mad16(a, b, c) },
        rounded { Half::mad(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_madmk_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { mad16(a, b, c) },
        rounded { Half::mad(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_madak_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { mad16(a, b, c) },
        rounded { Half::mad(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_add_u16", WARM, |_, a: u16, b: u16| -> u16 { a.wrapping_add(b) }, clamped { a.saturating_add(b) }),
    lane!("v_sub_u16", WARM, |_, a: u16, b: u16| -> u16 { a.wrapping_sub(b) }, clamped { a.saturating_sub(b) }),
    lane!("v_subrev_u16", COLD, |_, a: u16, b: u16| -> u16 { b.wrapping_sub(a) }, clamped { b.saturating_sub(a) }),
    lane!("v_mul_lo_u16", WARM, |_, a: u16, b: u16| -> u16 { a.wrapping_mul(b) }, clamped { a.saturating_mul(b) }),
    lane!("v_lshlrev_b16", WARM, |_, a: u16, b: u16| -> u16 {
        b << (a & 15)
    }),
    lane!("v_lshrrev_b16", WARM, |_, a: u16, b: u16| -> u16 {
        b >> (a & 15)
    }),
    lane!("v_ashrrev_i16", COLD, |_, a: u16, b: i16| -> i16 {
        b >> (a & 15)
    }),
    lane!("v_max_f16", WARM, |m, a: Half, b: Half| -> Half {
        fp::max16(m, a, b)
    }),
    lane!("v_min_f16", WARM, |m, a: Half, b: Half| -> Half {
        fp::min16(m, a, b)
    }),
    lane!("v_max_u16", COLD, |_, a: u16, b: u16| -> u16 { a.max(b) }),
    lane!("v_max_i16", COLD, |_, a: i16, b: i16| -> i16 { a.max(b) }),
    lane!("v_min_u16", COLD, |_, a: u16, b: u16| -> u16 { a.min(b) }),
    lane!("v_min_i16", COLD, |_, a: i16, b: i16| -> i16 { a.min(b) }),
    lane!("v_ldexp_f16", COLD, |m, a: Half, b: i16| -> Half { Half::nearest(odd32(f64::from(a.wide()) * fp::exp2i(i32::from(b).clamp(-80, 80)))) },
        rounded { Half::rounded64(f64::from(a.wide()) * fp::exp2i(i32::from(b).clamp(-80, 80)), m.round64(), m.fp16_overflow()) }),
    lane!("v_add_u32", HOT, |_, a: u32, b: u32| -> u32 { a.wrapping_add(b) }, clamped { a.saturating_add(b) }),
    lane!("v_sub_u32", HOT, |_, a: u32, b: u32| -> u32 { a.wrapping_sub(b) }, clamped { a.saturating_sub(b) }),
    lane!("v_subrev_u32", HOT, |_, a: u32, b: u32| -> u32 { b.wrapping_sub(a) }, clamped { b.saturating_sub(a) }),
];

#[inline(always)]
fn add_carry(a: u32, b: u32, bit: bool) -> (u32, bool) {
    let sum = a.wrapping_add(b).wrapping_add(bit.into());
    (sum, sum < a || bit && sum == a)
}

#[inline(always)]
fn sub_borrow(a: u32, b: u32, bit: bool) -> (u32, bool) {
    let rest = a.wrapping_sub(b).wrapping_sub(bit.into());
    (rest, a < b || bit && a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::level::Portable;

    #[test]
    fn carries_chain_over_all_ones() {
        assert_eq!(add_carry(u32::MAX, 0, true), (0, true));
        assert_eq!(add_carry(u32::MAX, u32::MAX, true), (u32::MAX, true));
        assert_eq!(add_carry(5, 6, false), (11, false));
        assert_eq!(sub_borrow(0, 0, true), (u32::MAX, true));
        assert_eq!(sub_borrow(7, 6, true), (0, false));
        assert_eq!(sub_borrow(0, u32::MAX, true), (0, true));
    }

    #[test]
    fn multiply_add_flavours_differ_as_documented() {
        let (a, b, c) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0);
        assert_eq!(fused32::<Portable>(a, b, c), -f32::EPSILON * f32::EPSILON);
        assert_eq!(mad32(a, b, c), 0.0);
        assert_eq!(mad32(f32::from_bits(1), 1.0, 0.0), 0.0);
        assert_eq!(legacy_mul(0.0, f32::INFINITY).to_bits(), 0);
        assert_eq!((i24(0x00ff_ffff), u24(0xffff_ffff)), (-1, 0xff_ffff));
    }

    #[test]
    fn half_fused_multiply_add_rounds_once() {
        // Every tenth half against the exact path.
        for a in (0..0x7c00u16).step_by(517) {
            for b in (0x8000..0xfc00u16).step_by(733) {
                for c in (0..0xfc00u16).step_by(391) {
                    let (a, b, c) = (Half(a), Half(b), Half(c));
                    if c.0 & 0x7c00 == 0x7c00 {
                        continue;
                    }
                    assert_eq!(fused16(a, b, c), Half::fused(a, b, c, Round::Nearest, false));
                }
            }
        }
    }
}
