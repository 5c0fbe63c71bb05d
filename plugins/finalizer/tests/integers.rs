//! Operations on integers, compared with Rust.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::precedence,
    reason = "the numbers are patterns of bits, and shifts bind as they do"
)]

mod support;

use support::cases::{case, case_with, check, Case};
use support::number::signed;

const ARITHMETIC: &[Case] = &[
    case("add_u32", "sss", |v| Some(v[0] + v[1])),
    case("add_s64", "ddd", |v| Some(v[0] + v[1])),
    case("sub_u32", "sss", |v| Some(v[0].wrapping_sub(v[1]))),
    case("sub_u64", "ddd", |v| Some(v[0].wrapping_sub(v[1]))),
    case("mul_s32", "sss", |v| Some(v[0].wrapping_mul(v[1]))),
    case("mul_u64", "ddd", |v| Some(v[0].wrapping_mul(v[1]))),
    case("mulhi_s32", "sss", |v| {
        Some((signed(v[0], 32) * signed(v[1], 32) >> 32) as u128)
    }),
    case("mulhi_u32", "sss", |v| Some(v[0] * v[1] >> 32)),
    case("mulhi_s64", "ddd", |v| {
        Some((signed(v[0], 64) * signed(v[1], 64) >> 64) as u128)
    }),
    case("mulhi_u64", "ddd", |v| Some(v[0] * v[1] >> 64)),
    case("mad_u32", "ssss", |v| Some((v[0] * v[1]).wrapping_add(v[2]))),
    case("mad_s64", "dddd", |v| Some((v[0] * v[1]).wrapping_add(v[2]))),
    case("div_u32", "sss", |v| v[0].checked_div(v[1])),
    case("div_u64", "ddd", |v| v[0].checked_div(v[1])),
    case("div_s32", "sss", |v| divide(v, 32)),
    case("div_s64", "ddd", |v| divide(v, 64)),
    case("rem_u32", "sss", |v| v[0].checked_rem(v[1])),
    case("rem_u64", "ddd", |v| v[0].checked_rem(v[1])),
    case("rem_s32", "sss", |v| {
        signed(v[0], 32).checked_rem(signed(v[1], 32)).map(|r| r as u128)
    }),
    case("rem_s64", "ddd", |v| {
        signed(v[0], 64).checked_rem(signed(v[1], 64)).map(|r| r as u128)
    }),
    case("abs_s32", "ss", |v| Some(signed(v[0], 32).unsigned_abs())),
    case("abs_s64", "dd", |v| Some(signed(v[0], 64).unsigned_abs())),
    case("neg_s32", "ss", |v| Some(v[0].wrapping_neg())),
    case("neg_s64", "dd", |v| Some(v[0].wrapping_neg())),
    case("max_s32", "sss", |v| {
        Some(signed(v[0], 32).max(signed(v[1], 32)) as u128)
    }),
    case("max_u64", "ddd", |v| Some(v[0].max(v[1]))),
    case("min_u32", "sss", |v| Some(v[0].min(v[1]))),
    case("min_s64", "ddd", |v| {
        Some(signed(v[0], 64).min(signed(v[1], 64)) as u128)
    }),
    case("carry_u32", "sss", |v| Some(v[0] + v[1] >> 32)),
    case("carry_s64", "ddd", |v| Some(v[0] + v[1] >> 64)),
    case("borrow_s32", "sss", |v| Some((v[0] < v[1]).into())),
    case("borrow_u64", "ddd", |v| Some((v[0] < v[1]).into())),
    case("mul24_u32", "sss", |v| Some(low24(v[0]) * low24(v[1]))),
    case("mul24hi_u32", "sss", |v| Some(low24(v[0]) * low24(v[1]) >> 32)),
    case("mul24_s32", "sss", |v| {
        Some((signed(v[0], 24) * signed(v[1], 24)) as u128)
    }),
    case("mul24hi_s32", "sss", |v| {
        Some((signed(v[0], 24) * signed(v[1], 24) >> 32) as u128)
    }),
    case("mad24_u32", "ssss", |v| Some(low24(v[0]) * low24(v[1]) + v[2])),
    case("mad24_s32", "ssss", |v| {
        Some((signed(v[0], 24) * signed(v[1], 24)) as u128).map(|p| p.wrapping_add(v[2]))
    }),
    case("mad24hi_u32", "ssss", |v| {
        Some((low24(v[0]) * low24(v[1]) >> 32) + v[2])
    }),
    case("mad24hi_s32", "ssss", |v| {
        Some(((signed(v[0], 24) * signed(v[1], 24) >> 32) as u128).wrapping_add(v[2]))
    }),
];

fn low24(value: u128) -> u128 {
    value & 0xff_ffff
}

/// The least number by -1 is undefined.
fn divide(v: &[u128], bits: u32) -> Option<u128> {
    let (a, b) = (signed(v[0], bits), signed(v[1], bits));
    let quotient = a.checked_div(b)?;
    (quotient < 1 << (bits - 1)).then_some(quotient as u128)
}

const BITS: &[Case] = &[
    case("shl_u32", "sss", |v| Some(v[0] << (v[1] & 31))),
    case("shl_s64", "dds", |v| Some(v[0] << (v[1] & 63))),
    case("shr_u32", "sss", |v| Some(v[0] >> (v[1] & 31))),
    case("shr_u64", "dds", |v| Some(v[0] >> (v[1] & 63))),
    case("shr_s32", "sss", |v| {
        Some((signed(v[0], 32) >> (v[1] & 31)) as u128)
    }),
    case("shr_s64", "dds", |v| {
        Some((signed(v[0], 64) >> (v[1] & 63)) as u128)
    }),
    case("and_b1", "ccc", |v| Some(v[0] & v[1])),
    case("or_b32", "sss", |v| Some(v[0] | v[1])),
    case("xor_b64", "ddd", |v| Some(v[0] ^ v[1])),
    case("not_b1", "cc", |v| Some(!v[0])),
    case("not_b32", "ss", |v| Some(!v[0])),
    case("not_b64", "dd", |v| Some(!v[0])),
    case("popcount_u32_b32", "ss", |v| Some(v[0].count_ones().into())),
    case("popcount_u32_b64", "sd", |v| Some(v[0].count_ones().into())),
    case("bitrev_b32", "ss", |v| Some((v[0] as u32).reverse_bits().into())),
    case("bitrev_b64", "dd", |v| Some((v[0] as u64).reverse_bits().into())),
    case("bitselect_b32", "ssss", |v| Some(v[1] & v[0] | v[2] & !v[0])),
    case("bitselect_b64", "dddd", |v| Some(v[1] & v[0] | v[2] & !v[0])),
    case("bitmask_b32", "sss", |v| mask(v[0], v[1], 32)),
    case("bitmask_b64", "dss", |v| mask(v[0], v[1], 64)),
    case("bitextract_u32", "ssss", |v| extract(v, 32)),
    case("bitextract_u64", "ddss", |v| extract(v, 64)),
    case("bitextract_s32", "ssss", |v| extract_signed(v, 32)),
    case("bitextract_s64", "ddss", |v| extract_signed(v, 64)),
    case("bitinsert_u32", "sssss", |v| insert(v, 32)),
    case("bitinsert_s64", "dddss", |v| insert(v, 64)),
    case("firstbit_u32_u32", "ss", |v| first(v[0], 32)),
    case("firstbit_u32_u64", "sd", |v| first(v[0], 64)),
    case("firstbit_u32_s32", "ss", |v| {
        first((signed(v[0], 32) ^ signed(v[0], 32) >> 127) as u128, 32)
    }),
    case("firstbit_u32_s64", "sd", |v| {
        first((signed(v[0], 64) ^ signed(v[0], 64) >> 127) as u128, 64)
    }),
    case("lastbit_u32_u32", "ss", |v| {
        Some(if v[0] == 0 {
            u128::MAX
        } else {
            v[0].trailing_zeros().into()
        })
    }),
    case("lastbit_u32_s64", "sd", |v| {
        Some(if v[0] == 0 {
            u128::MAX
        } else {
            v[0].trailing_zeros().into()
        })
    }),
    case("bitalign_b32", "ssss", |v| {
        Some((v[1] << 32 | v[0]) >> (v[2] & 31))
    }),
    case("bytealign_b32", "ssss", |v| {
        Some((v[1] << 32 | v[0]) >> (8 * (v[2] & 3)))
    }),
];

/// Ones from an offset on; undefined beyond the end.
fn mask(offset: u128, width: u128, bits: u128) -> Option<u128> {
    let (offset, width) = (offset & (bits - 1), width & (bits - 1));
    (offset + width <= bits).then(|| ((1 << width) - 1) << offset)
}

fn extract(v: &[u128], bits: u128) -> Option<u128> {
    let (offset, width) = (v[1] & (bits - 1), v[2] & (bits - 1));
    mask(v[1], v[2], bits).map(|_| v[0] >> offset & ((1 << width) - 1))
}

fn extract_signed(v: &[u128], bits: u128) -> Option<u128> {
    let width = v[2] & (bits - 1);
    let value = extract(v, bits)?;
    Some(if width == 0 {
        0
    } else {
        signed(value, width as u32) as u128
    })
}

fn insert(v: &[u128], bits: u128) -> Option<u128> {
    let mask = mask(v[2], v[3], bits)?;
    Some(v[0] & !mask | v[1] << (v[2] & (bits - 1)) & mask)
}

/// Zeros in front of the first one.
fn first(value: u128, bits: u32) -> Option<u128> {
    Some(if value == 0 {
        u128::MAX
    } else {
        (value.leading_zeros() - (128 - bits)).into()
    })
}

const MOVES: &[Case] = &[
    case("mov_b1", "cc", |v| Some(v[0])),
    case("mov_b32", "ss", |v| Some(v[0])),
    case("mov_b64", "dd", |v| Some(v[0])),
    case("mov_b128", "qq", |v| Some(v[0])),
    case("cmov_b1", "cccc", |v| Some(if v[0] == 1 { v[1] } else { v[2] })),
    case("cmov_b32", "scss", |v| Some(if v[0] == 1 { v[1] } else { v[2] })),
    case("cmov_b64", "dcdd", |v| Some(if v[0] == 1 { v[1] } else { v[2] })),
    case_with("add_u32", "ss", "WAVESIZE", |v| Some(v[0] + 64)),
    case_with("xor_b64", "dd", "0x8000000000000001", |v| {
        Some(v[0] ^ 0x8000_0000_0000_0001)
    }),
];

const COMPARISONS: &[Case] = &[
    case("cmp_eq_b1_b1", "ccc", |v| Some((v[0] == v[1]).into())),
    case("cmp_ne_b1_b1", "ccc", |v| Some((v[0] != v[1]).into())),
    case("cmp_eq_b1_u32", "css", |v| Some((v[0] == v[1]).into())),
    case("cmp_ne_u32_s64", "sdd", |v| Some(all(v[0] != v[1]))),
    case("cmp_lt_b1_s32", "css", |v| {
        Some((signed(v[0], 32) < signed(v[1], 32)).into())
    }),
    case("cmp_lt_s64_u32", "dss", |v| Some(all(v[0] < v[1]))),
    case("cmp_le_b1_s64", "cdd", |v| {
        Some((signed(v[0], 64) <= signed(v[1], 64)).into())
    }),
    case("cmp_gt_u64_u64", "ddd", |v| Some(all(v[0] > v[1]))),
    case("cmp_ge_s32_s32", "sss", |v| {
        Some(all(signed(v[0], 32) >= signed(v[1], 32)))
    }),
    case("cmp_ge_f32_u32", "sss", |v| {
        Some(if v[0] >= v[1] { 1f32.to_bits().into() } else { 0 })
    }),
    case("cmp_lt_f64_s32", "dss", |v| {
        Some(if signed(v[0], 32) < signed(v[1], 32) {
            1f64.to_bits().into()
        } else {
            0
        })
    }),
];

fn all(truth: bool) -> u128 {
    if truth {
        u128::MAX
    } else {
        0
    }
}

const CONVERSIONS: &[Case] = &[
    case("cvt_u32_u8", "ss", |v| Some(v[0] & 0xff)),
    case("cvt_s32_s8", "ss", |v| Some(signed(v[0], 8) as u128)),
    case("cvt_u8_u32", "ss", |v| Some(v[0] & 0xff)),
    case("cvt_s8_u64", "sd", |v| Some(signed(v[0], 8) as u128)),
    case("cvt_u16_s8", "ss", |v| Some(signed(v[0], 8) as u128 & 0xffff)),
    case("cvt_s16_u32", "ss", |v| Some(signed(v[0], 16) as u128)),
    case("cvt_u64_s32", "ds", |v| Some(signed(v[0], 32) as u128)),
    case("cvt_s64_u32", "ds", |v| Some(v[0])),
    case("cvt_u32_u64", "sd", |v| Some(v[0])),
    case("cvt_u64_u16", "ds", |v| Some(v[0] & 0xffff)),
    case("cvt_b1_u64", "cd", |v| Some((v[0] != 0).into())),
    case("cvt_b1_s8", "cs", |v| Some((v[0] & 0xff != 0).into())),
    case("cvt_u32_b1", "sc", |v| Some(v[0])),
    case("cvt_s32_b1", "sc", |v| Some(all(v[0] == 1))),
    case("cvt_s64_b1", "dc", |v| Some(all(v[0] == 1))),
    case("cvt_u64_b1", "dc", |v| Some(v[0])),
];

#[test]
fn arithmetic_is_modulo_the_size() {
    check(ARITHMETIC);
}

#[test]
fn bits_are_moved_counted_and_inserted() {
    check(BITS);
}

#[test]
fn moves_keep_all_bits() {
    check(MOVES);
}

#[test]
fn comparisons_know_the_sign() {
    check(COMPARISONS);
}

#[test]
fn conversions_cut_and_extend() {
    check(CONVERSIONS);
}
