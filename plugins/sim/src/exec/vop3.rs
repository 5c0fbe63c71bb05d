//! Semantics of the vector operations that exist in VOP3 form only.

use super::define::{carry, lane, Entry};
use super::fp;
use super::scalar_float::{add64, fma32, fma64, mul64, Half, Round};
use super::trig_preop::trig_preop;
use super::vop1::{signed_norm, unsigned_norm};
use super::vop2::{fused16, fused32, i24, mad16, mad32, mad32_rounded, u24};

/// `v_bfe_u32`: `width` bits from `offset`.
#[inline(always)]
pub(crate) fn bit_field(value: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    (value >> offset) & ((1 << width) - 1)
}

/// `v_bfe_i32`: the same, sign-extended from its top bit.
#[inline(always)]
pub(crate) fn bit_field_signed(value: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    let up = (32u32.saturating_sub(offset + width)) & 31;
    let down = (32 - width) & 31;
    let field = if offset + width < 32 {
        ((value << up) as i32 >> down) as u32
    } else {
        (value as i32 >> offset) as u32
    };
    if width == 0 {
        0
    } else {
        field
    }
}

/// `value` shifted up by less than 64. In two dwords, which is how lanes have it: so the shift of a row is one of dwords.
#[inline(always)]
fn shift_up(value: u64, by: u32) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    let crossing = down(low, 32u32.wrapping_sub(by)) | up(low, by.wrapping_sub(32));
    u64::from(up(low, by)) | u64::from(up(high, by) | crossing) << 32
}

/// `value` shifted down by less than 64; see [`shift_up`].
#[inline(always)]
fn shift_down(value: u64, by: u32) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    let crossing = up(high, 32u32.wrapping_sub(by)) | down(high, by.wrapping_sub(32));
    u64::from(down(low, by) | crossing) | u64::from(down(high, by)) << 32
}

/// A dword shifted up, also by more than its bits.
#[inline(always)]
fn up(value: u32, by: u32) -> u32 {
    if by < 32 {
        value << by
    } else {
        0
    }
}

/// A dword shifted down, also by more than its bits.
#[inline(always)]
fn down(value: u32, by: u32) -> u32 {
    if by < 32 {
        value >> by
    } else {
        0
    }
}

/// Byte `n` of a dword.
#[inline(always)]
fn byte(value: u32, n: u32) -> u32 {
    value >> (8 * n) & 255
}

/// Sum of absolute differences of four bytes.
#[inline(always)]
fn byte_distance(a: u32, b: u32) -> u32 {
    byte(a, 0).abs_diff(byte(b, 0))
        + byte(a, 1).abs_diff(byte(b, 1))
        + byte(a, 2).abs_diff(byte(b, 2))
        + byte(a, 3).abs_diff(byte(b, 3))
}

/// The same where bytes of `b`, the reference, that are zero do not count.
#[inline(always)]
pub(crate) fn masked_distance(a: u32, b: u32) -> u32 {
    let mut sum = 0;
    let mut n = 0;
    while n < 4 {
        let part = byte(a, n).abs_diff(byte(b, n));
        sum += if byte(b, n) == 0 { 0 } else { part };
        n += 1;
    }
    sum
}

/// Four distances of `b` from the windows of `a` at byte offsets 0 to 3, as 16-bit sums onto `c`.
#[inline(always)]
fn four_distances(
    a: u64,
    b: u32,
    c: u64,
    distance: impl Fn(u32, u32) -> u32,
    add: impl Fn(u16, u16) -> u16,
) -> u64 {
    let mut result = 0;
    let mut n = 0;
    while n < 4 {
        let part = distance((a >> (8 * n)) as u32, b) as u16;
        result |= u64::from(add((c >> (16 * n)) as u16, part)) << (16 * n);
        n += 1;
    }
    result
}

/// `v_perm_b32`: each selector byte picks a byte of `low` (0-3) or `high` (4-7), a sign (8-11), zero
/// (12) or 255.
#[inline(always)]
pub(crate) fn permute_bytes(high: u32, low: u32, selector: u32) -> u32 {
    let bytes = u64::from(low) | u64::from(high) << 32;
    let mut result = 0;
    let mut n = 0;
    while n < 4 {
        let sel = byte(selector, n);
        let picked = (bytes >> (8 * (sel & 7))) as u32 & 255;
        let sign = (bytes >> (16 * (sel & 3) + 15)) as u32 & 1;
        let sign = 0u32.wrapping_sub(sign) & 255;
        let value = if sel < 8 { picked } else { sign };
        let value = if sel == 12 { 0 } else { value };
        let value = if sel > 12 { 255 } else { value };
        result |= value << (8 * n);
        n += 1;
    }
    result
}

/// A float as a byte, rounded to even, saturated.
#[inline(always)]
fn to_byte(value: f32, round: Round) -> u32 {
    let whole = match round {
        Round::Nearest => value.round_ties_even(),
        Round::Up => value.ceil(),
        Round::Down => value.floor(),
        Round::Zero => value.trunc(),
    };
    u32::from(whole as u8)
}

/// Replaces byte `n` of `old`.
#[inline(always)]
fn insert_byte(old: u32, n: u32, value: u32) -> u32 {
    let shift = 8 * (n & 3);
    old & !(255 << shift) | value << shift
}

/// Which face of a cube map a direction hits: 0 to 5 for +x, -x, +y, -y, +z, -z.
#[inline(always)]
fn cube_face(x: f32, y: f32, z: f32) -> u32 {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if az >= ax && az >= ay {
        4 + u32::from(z < 0.0)
    } else if ay >= ax {
        2 + u32::from(y < 0.0)
    } else {
        u32::from(x < 0.0)
    }
}

#[inline(always)]
fn cube_s(x: f32, y: f32, z: f32) -> f32 {
    match cube_face(x, y, z) {
        0 => -z,
        1 => z,
        5 => -x,
        _ => x,
    }
}

#[inline(always)]
fn cube_t(x: f32, y: f32, z: f32) -> f32 {
    match cube_face(x, y, z) {
        2 => z,
        3 => -z,
        _ => -y,
    }
}

#[inline(always)]
fn cube_major(x: f32, y: f32, z: f32) -> f32 {
    2.0 * match cube_face(x, y, z) {
        0 | 1 => x,
        2 | 3 => y,
        _ => z,
    }
}

/// Two halves, low first.
#[inline(always)]
pub(crate) fn pair(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// The middle of three.
#[inline(always)]
fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

/// `a * b + c` as 64 bits, and whether it went over.
#[inline(always)]
fn wide_mad(a: u32, b: u32, c: u64) -> (u64, bool) {
    (u64::from(a) * u64::from(b)).overflowing_add(c)
}

/// The signed form of [`wide_mad`].
#[inline(always)]
fn wide_mad_signed(a: i32, b: i32, c: i64) -> (i64, bool) {
    (i64::from(a) * i64::from(b)).overflowing_add(c)
}

/// Half to half conversions to packed halves towards zero.
#[inline(always)]
fn toward_zero(value: f32) -> u16 {
    let near = Half::nearest(value);
    let over = near.wide().abs() > value.abs();
    near.0 - u16::from(over)
}

/// The rows.
pub(crate) static TABLE: &[Entry] = &[
    lane!("v_mad_legacy_f32", COLD, |m, a: f32, b: f32, c: f32| -> f32 { legacy_mad(a, b, c) },
        rounded { if a == 0.0 || b == 0.0 { fp::flush32(c) } else { mad32_rounded(a, b, c, m.round32()) } }),
    lane!("v_mad_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { mad32(a, b, c) }, rounded { mad32_rounded(a, b, c, m.round32()) }),
    lane!("v_mad_i32_i24", WARM, |_, a: u32, b: u32, c: u32| -> u32 { ((i24(a) * i24(b)) as u32).wrapping_add(c) }, clamped {
        (i24(a) * i24(b) + i64::from(c as i32)).clamp(i32::MIN.into(), i32::MAX.into()) as u32 }),
    lane!("v_mad_u32_u24", WARM, |_, a: u32, b: u32, c: u32| -> u32 { ((u24(a) * u24(b)) as u32).wrapping_add(c) }, clamped {
        (u24(a) * u24(b) + u64::from(c)).min(u32::MAX.into()) as u32 }),
    lane!("v_cubeid_f32", COLD, |_, a: f32, b: f32, c: f32| -> f32 {
        cube_face(a, b, c) as f32
    }),
    lane!("v_cubesc_f32", COLD, |_, a: f32, b: f32, c: f32| -> f32 {
        cube_s(a, b, c)
    }),
    lane!("v_cubetc_f32", COLD, |_, a: f32, b: f32, c: f32| -> f32 {
        cube_t(a, b, c)
    }),
    lane!("v_cubema_f32", COLD, |_, a: f32, b: f32, c: f32| -> f32 {
        cube_major(a, b, c)
    }),
    lane!("v_bfe_u32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        bit_field(a, b, c)
    }),
    lane!("v_bfe_i32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        bit_field_signed(a, b, c)
    }),
    lane!("v_bfi_b32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        a & b | !a & c
    }),
    lane!("v_fma_f32", HOT, |m, a: f32, b: f32, c: f32| -> f32 { fused32::<Vector>(a, b, c) }, rounded { fma32(a, b, c, m.round32()) }),
    lane!("v_fma_f64", HOT, |m, a: f64, b: f64, c: f64| -> f64 { a.mul_add(b, c) }, rounded { fma64(a, b, c, m.round64()) }),
    lane!("v_lerp_u8", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        average_bytes(a, b, c)
    }),
    lane!("v_alignbit_b32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
    }),
    lane!("v_alignbyte_b32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
    }),
    lane!("v_min3_f32", COLD, |m, a: f32, b: f32, c: f32| -> f32 {
        fp::min32(m, fp::min32(m, a, b), c)
    }),
    lane!("v_min3_i32", COLD, |_, a: i32, b: i32, c: i32| -> i32 {
        a.min(b).min(c)
    }),
    lane!("v_min3_u32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        a.min(b).min(c)
    }),
    lane!("v_max3_f32", COLD, |m, a: f32, b: f32, c: f32| -> f32 {
        fp::max32(m, fp::max32(m, a, b), c)
    }),
    lane!("v_max3_i32", COLD, |_, a: i32, b: i32, c: i32| -> i32 {
        a.max(b).max(c)
    }),
    lane!("v_max3_u32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        a.max(b).max(c)
    }),
    lane!("v_med3_f32", COLD, |m, a: f32, b: f32, c: f32| -> f32 {
        fp::median32(m, a, b, c)
    }),
    lane!("v_med3_i32", COLD, |_, a: i32, b: i32, c: i32| -> i32 {
        median(a, b, c)
    }),
    lane!("v_med3_u32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        median(a, b, c)
    }),
    lane!("v_sad_u8", COLD, |_, a: u32, b: u32, c: u32| -> u32 { byte_distance(a, b).wrapping_add(c) }, clamped { byte_distance(a, b).saturating_add(c) }),
    lane!("v_sad_hi_u8", COLD, |_, a: u32, b: u32, c: u32| -> u32 { (byte_distance(a, b) << 16).wrapping_add(c) }, clamped { (byte_distance(a, b) << 16).saturating_add(c) }),
    lane!("v_sad_u16", COLD, |_, a: u32, b: u32, c: u32| -> u32 { half_distance(a, b).wrapping_add(c) }, clamped { half_distance(a, b).saturating_add(c) }),
    lane!("v_sad_u32", COLD, |_, a: u32, b: u32, c: u32| -> u32 { a.abs_diff(b).wrapping_add(c) }, clamped { a.abs_diff(b).saturating_add(c) }),
    lane!("v_cvt_pk_u8_f32", COLD, |m, a: f32, b: u32, c: u32| -> u32 {
        insert_byte(c, b, to_byte(a, m.round32()))
    }),
    lane!("v_cvt_pkaccum_u8_f32", COLD, |m, a: f32, b: u32, c: u32| -> u32 {
        insert_byte(c, b, to_byte(a, m.round32()))
    }),
    lane!("v_div_fixup_f32", COLD, |_, a: f32, b: f32, c: f32| -> f32 {
        fp::div_fixup32(a, b, c)
    }),
    lane!("v_div_fixup_f64", COLD, |_, a: f64, b: f64, c: f64| -> f64 {
        fp::div_fixup64(a, b, c)
    }),
    carry!("v_div_scale_f32", COLD, in false out true, |_, a: f32, b: f32, c: f32, _bit| -> f32 { fp::div_scale32(a, b, c) }),
    carry!("v_div_scale_f64", COLD, in false out true, |_, a: f64, b: f64, c: f64, _bit| -> f64 { fp::div_scale64(a, b, c) }),
    lane!("v_msad_u8", COLD, |_, a: u32, b: u32, c: u32| -> u32 { masked_distance(a, b).wrapping_add(c) }, clamped { masked_distance(a, b).saturating_add(c) }),
    lane!("v_qsad_pk_u16_u8", COLD, |_, a: u64, b: u32, c: u64| -> u64 { four_distances(a, b, c, byte_distance, u16::wrapping_add) }, clamped { four_distances(a, b, c, byte_distance, u16::saturating_add) }),
    lane!("v_mqsad_pk_u16_u8", COLD, |_, a: u64, b: u32, c: u64| -> u64 { four_distances(a, b, c, masked_distance, u16::wrapping_add) }, clamped { four_distances(a, b, c, masked_distance, u16::saturating_add) }),
    carry!("v_mad_u64_u32", COLD, in false out true, |_, a: u32, b: u32, c: u64, _bit| -> u64 { wide_mad(a, b, c) }, clamped {
        let (sum, over) = wide_mad(a, b, c); (if over { u64::MAX } else { sum }, over) }),
    carry!("v_mad_i64_i32", COLD, in false out true, |_, a: i32, b: i32, c: i64, _bit| -> i64 { wide_mad_signed(a, b, c) }, clamped {
        let (sum, over) = wide_mad_signed(a, b, c); ((i64::from(a) * i64::from(b)).saturating_add(if over { c } else { sum - i64::from(a) * i64::from(b) }), over) }),
    lane!("v_mad_legacy_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { mad16(a, b, c) }, rounded { Half::mad(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_mad_legacy_u16", COLD, |_, a: u16, b: u16, c: u16| -> u16 { a.wrapping_mul(b).wrapping_add(c) }, clamped { mad_u16_clamped(a, b, c) }),
    lane!("v_mad_legacy_i16", COLD, |_, a: i16, b: i16, c: i16| -> i16 { a.wrapping_mul(b).wrapping_add(c) }, clamped { mad_i16_clamped(a, b, c) }),
    lane!("v_perm_b32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        permute_bytes(a, b, c)
    }),
    lane!("v_fma_legacy_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { fused16(a, b, c) }, rounded { Half::fused(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_div_fixup_legacy_f16", COLD, |_,
                                           a: Half,
                                           b: Half,
                                           c: Half|
     -> Half {
        fp::div_fixup16(a, b, c)
    }),
    lane!("v_mad_u32_u16", COLD, |_, a: u16, b: u16, c: u32| -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }, clamped { (u32::from(a) * u32::from(b)).saturating_add(c) }),
    lane!("v_mad_i32_i16", COLD, |_, a: i16, b: i16, c: i32| -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }, clamped { (i32::from(a) * i32::from(b)).saturating_add(c) }),
    lane!("v_xad_u32", COLD, |_, a: u32, b: u32, c: u32| -> u32 {
        (a ^ b).wrapping_add(c)
    }),
    lane!("v_min3_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half {
        fp::min16(m, fp::min16(m, a, b), c)
    }),
    lane!("v_min3_i16", COLD, |_, a: i16, b: i16, c: i16| -> i16 {
        a.min(b).min(c)
    }),
    lane!("v_min3_u16", COLD, |_, a: u16, b: u16, c: u16| -> u16 {
        a.min(b).min(c)
    }),
    lane!("v_max3_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half {
        fp::max16(m, fp::max16(m, a, b), c)
    }),
    lane!("v_max3_i16", COLD, |_, a: i16, b: i16, c: i16| -> i16 {
        a.max(b).max(c)
    }),
    lane!("v_max3_u16", COLD, |_, a: u16, b: u16, c: u16| -> u16 {
        a.max(b).max(c)
    }),
    lane!("v_med3_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half {
        fp::median16(m, a, b, c)
    }),
    lane!("v_med3_i16", COLD, |_, a: i16, b: i16, c: i16| -> i16 {
        median(a, b, c)
    }),
    lane!("v_med3_u16", COLD, |_, a: u16, b: u16, c: u16| -> u16 {
        median(a, b, c)
    }),
    lane!("v_lshl_add_u32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        (a << (b & 31)).wrapping_add(c)
    }),
    lane!("v_add_lshl_u32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        a.wrapping_add(b) << (c & 31)
    }),
    lane!("v_add3_u32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        a.wrapping_add(b).wrapping_add(c)
    }),
    lane!("v_lshl_or_b32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        a << (b & 31) | c
    }),
    lane!("v_and_or_b32", HOT, |_, a: u32, b: u32, c: u32| -> u32 {
        a & b | c
    }),
    lane!("v_or3_b32", HOT, |_, a: u32, b: u32, c: u32| -> u32 { a | b | c }),
    lane!("v_mad_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { mad16(a, b, c) }, rounded { Half::mad(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_mad_u16", COLD, |_, a: u16, b: u16, c: u16| -> u16 { a.wrapping_mul(b).wrapping_add(c) }, clamped { mad_u16_clamped(a, b, c) }),
    lane!("v_mad_i16", COLD, |_, a: i16, b: i16, c: i16| -> i16 { a.wrapping_mul(b).wrapping_add(c) }, clamped { mad_i16_clamped(a, b, c) }),
    lane!("v_fma_f16", COLD, |m, a: Half, b: Half, c: Half| -> Half { fused16(a, b, c) }, rounded { Half::fused(a, b, c, m.round64(), m.fp16_overflow()) }),
    lane!("v_div_fixup_f16", COLD, |_, a: Half, b: Half, c: Half| -> Half {
        fp::div_fixup16(a, b, c)
    }),
    lane!("v_add_f64", WARM, |m, a: f64, b: f64| -> f64 { a + b }, rounded { add64(a, b, m.round64()) }),
    lane!("v_mul_f64", WARM, |m, a: f64, b: f64| -> f64 { a * b }, rounded { mul64(a, b, m.round64()) }),
    lane!("v_min_f64", COLD, |m, a: f64, b: f64| -> f64 {
        fp::min64(m, a, b)
    }),
    lane!("v_max_f64", COLD, |m, a: f64, b: f64| -> f64 {
        fp::max64(m, a, b)
    }),
    lane!("v_ldexp_f64", COLD, |_, a: f64, b: i32| -> f64 {
        fp::ldexp64(a, b)
    }),
    lane!("v_mul_lo_u32", WARM, |_, a: u32, b: u32| -> u32 {
        a.wrapping_mul(b)
    }),
    lane!("v_mul_hi_u32", WARM, |_, a: u32, b: u32| -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }),
    lane!("v_mul_hi_i32", COLD, |_, a: i32, b: i32| -> i32 {
        ((i64::from(a) * i64::from(b)) >> 32) as i32
    }),
    lane!("v_ldexp_f32", COLD, |_, a: f32, b: i32| -> f32 {
        fp::ldexp32(a, b)
    }),
    lane!("v_bcnt_u32_b32", COLD, |_, a: u32, b: u32| -> u32 {
        a.count_ones().wrapping_add(b)
    }),
    lane!("v_lshlrev_b64", WARM, |_, a: u32, b: u64| -> u64 {
        shift_up(b, a & 63)
    }),
    lane!("v_lshrrev_b64", WARM, |_, a: u32, b: u64| -> u64 {
        shift_down(b, a & 63)
    }),
    lane!("v_ashrrev_i64", WARM, |_, a: u32, b: i64| -> i64 {
        b >> (a & 63)
    }),
    lane!("v_trig_preop_f64", COLD, |_, a: f64, b: u32| -> f64 {
        trig_preop(a, b)
    }),
    lane!("v_bfm_b32", COLD, |_, a: u32, b: u32| -> u32 {
        ((1 << (a & 31)) - 1) << (b & 31)
    }),
    lane!("v_cvt_pknorm_i16_f32", COLD, |_, a: f32, b: f32| -> u32 {
        pair(signed_norm(a), signed_norm(b))
    }),
    lane!("v_cvt_pknorm_u16_f32", COLD, |_, a: f32, b: f32| -> u32 {
        pair(unsigned_norm(a), unsigned_norm(b))
    }),
    lane!("v_cvt_pkrtz_f16_f32", COLD, |_, a: f32, b: f32| -> u32 {
        pair(toward_zero(a), toward_zero(b))
    }),
    lane!("v_cvt_pk_u16_u32", COLD, |_, a: u32, b: u32| -> u32 {
        pair(a.min(0xffff) as u16, b.min(0xffff) as u16)
    }),
    lane!("v_cvt_pk_i16_i32", COLD, |_, a: i32, b: i32| -> u32 {
        pair(a.clamp(-32768, 32767) as u16, b.clamp(-32768, 32767) as u16)
    }),
    lane!("v_cvt_pknorm_i16_f16", COLD, |_, a: Half, b: Half| -> u32 {
        pair(signed_norm(a.wide()), signed_norm(b.wide()))
    }),
    lane!("v_cvt_pknorm_u16_f16", COLD, |_, a: Half, b: Half| -> u32 {
        pair(unsigned_norm(a.wide()), unsigned_norm(b.wide()))
    }),
    lane!("v_add_i32", COLD, |_, a: i32, b: i32| -> i32 { a.wrapping_add(b) }, clamped { a.saturating_add(b) }),
    lane!("v_sub_i32", COLD, |_, a: i32, b: i32| -> i32 { a.wrapping_sub(b) }, clamped { a.saturating_sub(b) }),
    lane!("v_add_i16", COLD, |_, a: i16, b: i16| -> i16 { a.wrapping_add(b) }, clamped { a.saturating_add(b) }),
    lane!("v_sub_i16", COLD, |_, a: i16, b: i16| -> i16 { a.wrapping_sub(b) }, clamped { a.saturating_sub(b) }),
    lane!("v_pack_b32_f16", COLD, |_, a: Half, b: Half| -> u32 {
        pair(a.0, b.0)
    }),
];

#[inline(always)]
fn legacy_mad(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 {
        fp::flush32(c)
    } else {
        mad32(a, b, c)
    }
}

/// `v_lerp_u8`: the average of four bytes each, rounded up where the lowest bit of `c`'s byte is set.
#[inline(always)]
fn average_bytes(a: u32, b: u32, c: u32) -> u32 {
    let mut result = 0;
    let mut n = 0;
    while n < 4 {
        result |= ((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << (8 * n);
        n += 1;
    }
    result
}

#[inline(always)]
fn half_distance(a: u32, b: u32) -> u32 {
    (a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)
}

fn mad_u16_clamped(a: u16, b: u16, c: u16) -> u16 {
    (u32::from(a) * u32::from(b) + u32::from(c)).min(0xffff) as u16
}

fn mad_i16_clamped(a: i16, b: i16, c: i16) -> i16 {
    (i32::from(a) * i32::from(b) + i32::from(c)).clamp(-32768, 32767) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields_take_widths_and_offsets_modulo_32() {
        assert_eq!(bit_field(0xabcd_1234, 8, 8), 0x12);
        assert_eq!(bit_field(0xabcd_1234, 28, 31), 0xa);
        assert_eq!(bit_field(0xabcd_1234, 0, 0), 0);
        assert_eq!(bit_field_signed(0xabcd_1234, 24, 8), 0xffff_ffab);
        assert_eq!(bit_field_signed(0xabcd_1234, 12, 4), 1);
        assert_eq!(bit_field_signed(0xabcd_f234, 12, 4), !0);
        assert_eq!(bit_field_signed(0xabcd_1234, 28, 31), 0xffff_fffa);
        assert_eq!(bit_field_signed(!0, 3, 0), 0);
    }

    #[test]
    fn byte_permutation_knows_its_constants() {
        assert_eq!(permute_bytes(0x7766_5544, 0x3322_1100, 0x0706_0100), 0x7766_1100);
        assert_eq!(permute_bytes(0x8000_0000, 0x0000_8000, 0x0d0c_0b08), 0xff00_ffff);
        assert_eq!(permute_bytes(0, 0, 0xff0c_0908), 0xff00_0000);
    }

    #[test]
    fn distances_and_averages() {
        assert_eq!(byte_distance(0x0102_0304, 0x0400_0301), 8);
        assert_eq!(masked_distance(0x0102_0304, 0x0400_0301), 6);
        assert_eq!(
            four_distances(
                0x0000_0000_0403_0201,
                0x0403_0201,
                0,
                byte_distance,
                u16::wrapping_add
            ) & 0xffff,
            0
        );
        // Sums wrap unless the instruction clamps.
        let [wrapped, clamped] = [u16::wrapping_add, u16::saturating_add]
            .map(|add: fn(u16, u16) -> u16| four_distances(0, 0x0000_0002, u64::MAX, byte_distance, add));
        assert_eq!((wrapped, clamped), (0x0001_0001_0001_0001, u64::MAX));
        assert_eq!(average_bytes(0x0101_01ff, 0x0202_02ff, 0x0100_0101), 0x0201_02ff);
        assert_eq!((median(3, 1, 2), median(1, 1, 5), median(-1, -5, 9)), (2, 1, -1));
    }

    #[test]
    fn cube_faces() {
        assert_eq!(
            (
                cube_face(1.0, 0.0, 0.0),
                cube_face(0.0, -2.0, 1.0),
                cube_face(1.0, 1.0, -1.0)
            ),
            (0, 3, 5)
        );
        assert_eq!(
            (
                cube_s(1.0, 0.0, 0.5),
                cube_t(0.0, -2.0, 1.0),
                cube_major(0.0, -2.0, 1.0)
            ),
            (-0.5, -1.0, -4.0)
        );
    }

    #[test]
    fn packing_towards_zero_never_grows() {
        assert_eq!(toward_zero(65535.0), 0x7bff);
        assert_eq!(toward_zero(-1.000_9), 0xbc00);
        assert_eq!(toward_zero(f32::INFINITY), 0x7c00);
    }
}
