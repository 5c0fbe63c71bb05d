//! Semantics of the one-source vector operations (VOP1 and their VOP3 forms).

use super::define::{lane, Entry};
use super::fp;
use super::scalar_float::{from_integer32, narrow64, Half};
use super::trans;
use super::vop2::odd32;

/// `v_cvt_off_f32_i4`: a signed four-bit number of sixteenths.
#[inline(always)]
fn sixteenths(value: u32) -> f32 {
    ((value << 28) as i32 >> 28) as f32 * 0.0625
}

/// Position of the highest one bit from the top, all ones if there is none.
#[inline(always)]
pub(crate) fn first_high(value: u32) -> u32 {
    if value == 0 {
        u32::MAX
    } else {
        value.leading_zeros()
    }
}

/// Position of the first bit from the top that differs from the sign, all ones if there is none.
#[inline(always)]
pub(crate) fn first_high_signed(value: u32) -> u32 {
    first_high(value ^ (value as i32 >> 31) as u32)
}

/// Position of the lowest one bit, all ones if there is none.
#[inline(always)]
pub(crate) fn first_low(value: u32) -> u32 {
    if value == 0 {
        u32::MAX
    } else {
        value.trailing_zeros()
    }
}

/// A number of [-1, 1] as a signed 16-bit fraction; NaN is zero.
#[inline(always)]
pub(crate) fn signed_norm(value: f32) -> u16 {
    let scaled = (value.clamp(-1.0, 1.0) * 32767.0).round_ties_even();
    (scaled as i32) as u16
}

/// A number of [0, 1] as an unsigned 16-bit fraction; NaN is zero.
#[inline(always)]
pub(crate) fn unsigned_norm(value: f32) -> u16 {
    (value.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

/// Two signed 16-bit numbers saturated to unsigned bytes.
#[inline(always)]
fn saturated_bytes(value: u32) -> u16 {
    let byte = |half: u32| i32::from(half as u16 as i16).clamp(0, 255) as u16;
    byte(value) | byte(value >> 16) << 8
}

/// A half precision function by way of single precision.
macro_rules! half {
    ($name:literal, |$x:ident| $body:expr) => {
        lane!($name, COLD, |_, a: Half| -> Half {
            let $x = a.wide();
            Half::nearest($body)
        })
    };
}

/// The rows.
pub(crate) static TABLE: &[Entry] = &[
    lane!("v_mov_b32", HOT, |_, a: u32| -> u32 { a }),
    lane!("v_accvgpr_mov_b32", COLD, |_, a: u32| -> u32 { a }),
    lane!("v_cvt_i32_f64", COLD, |_, a: f64| -> i32 { fp::to_i32(a) }),
    lane!("v_cvt_f64_i32", COLD, |_, a: i32| -> f64 { f64::from(a) }),
    lane!("v_cvt_f32_i32", WARM, |m, a: i32| -> f32 { a as f32 }, rounded { from_integer32(a.into(), m.round32()) }),
    lane!("v_cvt_f32_u32", WARM, |m, a: u32| -> f32 { a as f32 }, rounded { from_integer32(a.into(), m.round32()) }),
    lane!("v_cvt_u32_f32", WARM, |_, a: f32| -> u32 { a as u32 }),
    lane!("v_cvt_i32_f32", WARM, |_, a: f32| -> i32 { a as i32 }),
    lane!("v_cvt_f16_f32", WARM, |m, a: f32| -> Half { Half::nearest(a) }, rounded { Half::rounded(a, m.round64(), m.fp16_overflow()) }),
    lane!("v_cvt_f32_f16", WARM, |_, a: Half| -> f32 {
        fp::quiet32(a.wide())
    }),
    lane!("v_cvt_rpi_i32_f32", COLD, |_, a: f32| -> i32 {
        (f64::from(a) + 0.5).floor() as i32
    }),
    lane!("v_cvt_flr_i32_f32", COLD, |_, a: f32| -> i32 { a.floor() as i32 }),
    lane!("v_cvt_off_f32_i4", COLD, |_, a: u32| -> f32 { sixteenths(a) }),
    lane!("v_cvt_f32_f64", COLD, |m, a: f64| -> f32 { a as f32 }, rounded { narrow64(a, m.round32()) }),
    lane!("v_cvt_f64_f32", COLD, |_, a: f32| -> f64 { f64::from(a) }),
    lane!("v_cvt_f32_ubyte0", COLD, |_, a: u32| -> f32 { (a & 255) as f32 }),
    lane!("v_cvt_f32_ubyte1", COLD, |_, a: u32| -> f32 {
        (a >> 8 & 255) as f32
    }),
    lane!("v_cvt_f32_ubyte2", COLD, |_, a: u32| -> f32 {
        (a >> 16 & 255) as f32
    }),
    lane!("v_cvt_f32_ubyte3", COLD, |_, a: u32| -> f32 { (a >> 24) as f32 }),
    lane!("v_cvt_u32_f64", COLD, |_, a: f64| -> u32 { fp::to_u32(a) }),
    lane!("v_cvt_f64_u32", COLD, |_, a: u32| -> f64 { f64::from(a) }),
    lane!("v_trunc_f64", COLD, |_, a: f64| -> f64 { fp::quiet64(a.trunc()) }),
    lane!("v_ceil_f64", COLD, |_, a: f64| -> f64 { fp::quiet64(a.ceil()) }),
    lane!("v_rndne_f64", COLD, |_, a: f64| -> f64 {
        fp::quiet64(a.round_ties_even())
    }),
    lane!("v_floor_f64", COLD, |_, a: f64| -> f64 { fp::quiet64(a.floor()) }),
    lane!("v_fract_f64", COLD, |_, a: f64| -> f64 { fp::fract64(a) }),
    lane!("v_fract_f32", COLD, |_, a: f32| -> f32 { fp::fract32(a) }),
    lane!("v_trunc_f32", COLD, |_, a: f32| -> f32 { fp::quiet32(a.trunc()) }),
    lane!("v_ceil_f32", COLD, |_, a: f32| -> f32 { fp::quiet32(a.ceil()) }),
    lane!("v_rndne_f32", COLD, |_, a: f32| -> f32 {
        fp::quiet32(a.round_ties_even())
    }),
    lane!("v_floor_f32", COLD, |_, a: f32| -> f32 { fp::quiet32(a.floor()) }),
    lane!("v_exp_f32", COLD, |_, a: f32| -> f32 { trans::exp2(a) }),
    lane!("v_exp_legacy_f32", COLD, |_, a: f32| -> f32 { trans::exp2(a) }),
    lane!("v_log_f32", COLD, |_, a: f32| -> f32 { trans::log2(a) }),
    lane!("v_log_legacy_f32", COLD, |_, a: f32| -> f32 { trans::log2(a) }),
    lane!("v_rcp_f32", COLD, |_, a: f32| -> f32 { trans::rcp(a) }),
    lane!("v_rcp_iflag_f32", COLD, |_, a: f32| -> f32 { trans::rcp(a) }),
    lane!("v_rsq_f32", COLD, |_, a: f32| -> f32 { trans::rsq(a) }),
    lane!("v_rcp_f64", COLD, |_, a: f64| -> f64 { 1.0 / a }),
    lane!("v_rsq_f64", COLD, |_, a: f64| -> f64 { 1.0 / a.sqrt() }),
    lane!("v_sqrt_f32", COLD, |_, a: f32| -> f32 { trans::sqrt(a) }),
    lane!("v_sqrt_f64", COLD, |_, a: f64| -> f64 { a.sqrt() }),
    lane!("v_sin_f32", COLD, |_, a: f32| -> f32 { trans::sin(a) }),
    lane!("v_cos_f32", COLD, |_, a: f32| -> f32 { trans::cos(a) }),
    lane!("v_not_b32", WARM, |_, a: u32| -> u32 { !a }),
    lane!("v_bfrev_b32", COLD, |_, a: u32| -> u32 { a.reverse_bits() }),
    lane!("v_ffbh_u32", COLD, |_, a: u32| -> u32 { first_high(a) }),
    lane!("v_ffbl_b32", COLD, |_, a: u32| -> u32 { first_low(a) }),
    lane!("v_ffbh_i32", COLD, |_, a: u32| -> u32 { first_high_signed(a) }),
    lane!("v_frexp_exp_i32_f64", COLD, |_, a: f64| -> i32 {
        fp::frexp_exp64(a)
    }),
    lane!("v_frexp_mant_f64", COLD, |_, a: f64| -> f64 {
        fp::frexp_mant64(a)
    }),
    lane!("v_frexp_exp_i32_f32", COLD, |_, a: f32| -> i32 {
        fp::frexp_exp32(a)
    }),
    lane!("v_frexp_mant_f32", COLD, |_, a: f32| -> f32 {
        fp::frexp_mant32(a)
    }),
    lane!("v_cvt_f16_u16", COLD, |m, a: u16| -> Half { Half::nearest(f32::from(a)) }, rounded { Half::rounded(a.into(), m.round64(), m.fp16_overflow()) }),
    lane!("v_cvt_f16_i16", COLD, |m, a: i16| -> Half { Half::nearest(f32::from(a)) }, rounded { Half::rounded(a.into(), m.round64(), m.fp16_overflow()) }),
    lane!("v_cvt_u16_f16", COLD, |_, a: Half| -> u16 { a.wide() as u16 }),
    lane!("v_cvt_i16_f16", COLD, |_, a: Half| -> i16 { a.wide() as i16 }),
    lane!("v_rcp_f16", COLD, |_, a: Half| -> Half {
        Half::nearest(odd32(1.0 / f64::from(a.wide())))
    }),
    lane!("v_sqrt_f16", COLD, |_, a: Half| -> Half {
        Half::nearest(odd32(f64::from(a.wide()).sqrt()))
    }),
    lane!("v_rsq_f16", COLD, |_, a: Half| -> Half {
        Half::nearest(odd32(1.0 / f64::from(a.wide()).sqrt()))
    }),
    half!("v_log_f16", |x| trans::log2_half(x)),
    half!("v_exp_f16", |x| trans::exp2_half(x)),
    half!("v_frexp_mant_f16", |x| fp::frexp_mant32(x)),
    lane!("v_frexp_exp_i16_f16", COLD, |_, a: Half| -> i16 {
        fp::frexp_exp32(a.wide()) as i16
    }),
    half!("v_floor_f16", |x| x.floor()),
    half!("v_ceil_f16", |x| x.ceil()),
    half!("v_trunc_f16", |x| x.trunc()),
    half!("v_rndne_f16", |x| x.round_ties_even()),
    lane!("v_fract_f16", COLD, |_, a: Half| -> Half {
        let fraction = Half::nearest(fp::fract32(a.wide()));
        if fraction.0 == 0x3c00 {
            Half(0x3bff)
        } else {
            fraction
        }
    }),
    half!("v_sin_f16", |x| trans::sin(x)),
    half!("v_cos_f16", |x| trans::cos(x)),
    lane!("v_cvt_norm_i16_f16", COLD, |_, a: Half| -> u16 {
        signed_norm(a.wide())
    }),
    lane!("v_cvt_norm_u16_f16", COLD, |_, a: Half| -> u16 {
        unsigned_norm(a.wide())
    }),
    lane!("v_sat_pk_u8_i16", COLD, |_, a: u32| -> u16 { saturated_bytes(a) }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_searches_answer_all_ones_for_nothing() {
        assert_eq!((first_high(0), first_high(1), first_high(!0)), (u32::MAX, 31, 0));
        assert_eq!(
            (first_high_signed(!0), first_high_signed(0)),
            (u32::MAX, u32::MAX)
        );
        assert_eq!(
            (first_high_signed(0x0fff_ffff), first_high_signed(0xfff0_0000)),
            (4, 12)
        );
        assert_eq!((first_low(0), first_low(8)), (u32::MAX, 3));
    }

    #[test]
    fn narrow_conversions_saturate() {
        assert_eq!((signed_norm(2.0), signed_norm(-2.0)), (0x7fff, 0x8001));
        assert_eq!((unsigned_norm(1.0), unsigned_norm(f32::NAN)), (0xffff, 0));
        assert_eq!(saturated_bytes(0x8000_0123), 0x00ff);
        assert_eq!((sixteenths(8), sixteenths(7)), (-0.5, 0.4375));
    }
}
