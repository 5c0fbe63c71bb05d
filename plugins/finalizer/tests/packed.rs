//! Operations on packed values, compared with Rust.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::precedence,
    reason = "the numbers are patterns of bits, and shifts bind as they do"
)]

mod support;

use support::cases::{case, case_with, check, float, Case};
use support::number::{by_lanes, clamped, f32_of, half_of, lanes, of_f32, of_half, packed, signed};

const ARITHMETIC: &[Case] = &[
    case("add_pp_u8x4", "sss", |v| by_lanes(v, 8, 4, |a, b| a + b)),
    case("add_pp_sat_u8x4", "sss", |v| {
        by_lanes(v, 8, 4, |a, b| (a + b).min(255))
    }),
    case("add_pp_sat_s16x2", "sss", |v| {
        by_lanes(v, 16, 2, |a, b| sum(a, b, 16))
    }),
    case("add_pp_s64x2", "qqq", |v| by_lanes(v, 64, 2, |a, b| a + b)),
    case("sub_ps_sat_s8x8", "ddd", |v| {
        let low = v[1] & 0xff;
        by_lanes(v, 8, 8, |a, _| clamped(signed(a, 8) - signed(low, 8), -128, 127))
    }),
    case("sub_sp_u16x4", "ddd", |v| {
        let low = v[0] & 0xffff;
        by_lanes(v, 16, 4, |_, b| low.wrapping_sub(b))
    }),
    case("sub_pp_sat_u32x4", "qqq", |v| {
        by_lanes(v, 32, 4, u128::saturating_sub)
    }),
    case("mul_pp_u16x8", "qqq", |v| by_lanes(v, 16, 8, |a, b| a * b)),
    case("mul_pp_sat_s8x4", "sss", |v| {
        by_lanes(v, 8, 4, |a, b| clamped(signed(a, 8) * signed(b, 8), -128, 127))
    }),
    case("mul_pp_sat_u16x2", "sss", |v| {
        by_lanes(v, 16, 2, |a, b| (a * b).min(0xffff))
    }),
    case("mul_pp_sat_s32x2", "ddd", |v| {
        by_lanes(v, 32, 2, |a, b| {
            clamped(signed(a, 32) * signed(b, 32), i32::MIN.into(), i32::MAX.into())
        })
    }),
    case("mulhi_pp_u8x8", "ddd", |v| by_lanes(v, 8, 8, |a, b| a * b >> 8)),
    case("mulhi_pp_s32x2", "ddd", |v| {
        by_lanes(v, 32, 2, |a, b| (signed(a, 32) * signed(b, 32) >> 32) as u128)
    }),
    case("max_pp_u8x4", "sss", |v| by_lanes(v, 8, 4, u128::max)),
    case("min_pp_s16x4", "ddd", |v| {
        by_lanes(v, 16, 4, |a, b| signed(a, 16).min(signed(b, 16)) as u128)
    }),
    case("abs_p_s8x4", "ss", |v| {
        packed(
            lanes(v[0], 8, 4).into_iter().map(|a| signed(a, 8).unsigned_abs()),
            8,
        )
    }),
    // Only the lowest lane changes; the destination was the first source before.
    case("neg_s_s8x4", "ss", |v| {
        Some(v[0] & !0xff | v[0].wrapping_neg() & 0xff)
    }),
    case("add_ss_u16x2", "sss", |v| {
        Some(v[0] & !0xffff | v[0] + v[1] & 0xffff)
    }),
    case("add_ss_sat_s16x4", "ddd", |v| {
        Some(v[0] & !0xffff | sum(v[0], v[1], 16) & 0xffff)
    }),
    case("shl_u8x4", "sss", |v| shifted(v, 8, 4, |a, n| a << n)),
    case("shr_u8x16", "qqs", |v| shifted(v, 8, 16, |a, n| a >> n)),
    case("shr_s16x4", "dds", |v| {
        shifted(v, 16, 4, |a, n| (signed(a, 16) >> n) as u128)
    }),
    case("shl_s64x2", "qqs", |v| shifted(v, 64, 2, |a, n| a << n)),
    case("cmp_lt_pp_u8x4_u8x4", "sss", |v| {
        by_lanes(v, 8, 4, |a, b| ones(a < b))
    }),
    case("cmp_ge_pp_u16x4_s16x4", "ddd", |v| {
        by_lanes(v, 16, 4, |a, b| ones(signed(a, 16) >= signed(b, 16)))
    }),
    case("cmp_lt_pp_u16x2_f16x2", "sss", |v| {
        by_lanes(v, 16, 2, |a, b| ones(half_of(a) < half_of(b)))
    }),
    case("cmp_nan_pp_u32x4_f32x4", "qqq", |v| {
        by_lanes(v, 32, 4, |a, b| ones(f32_of(a).is_nan() || f32_of(b).is_nan()))
    }),
];

fn sum(a: u128, b: u128, bits: u32) -> u128 {
    let half = 1i128 << (bits - 1);
    clamped(signed(a, bits) + signed(b, bits), -half, half - 1)
}

fn ones(truth: bool) -> u128 {
    if truth {
        u128::MAX
    } else {
        0
    }
}

/// All lanes by the same number of bits, modulo their size.
fn shifted(v: &[u128], bits: u32, count: u32, f: fn(u128, u32) -> u128) -> Option<u128> {
    let number = v[1] as u32 & (bits - 1);
    packed(lanes(v[0], bits, count).into_iter().map(|a| f(a, number)), bits)
}

fn singles(v: &[u128], count: u32, f: fn(f32, f32) -> f32) -> Option<u128> {
    by_lanes(v, 32, count, |a, b| of_f32(f(f32_of(a), f32_of(b))).unwrap_or(0))
}

fn halves(v: &[u128], count: u32, f: fn(f64, f64) -> f64) -> Option<u128> {
    by_lanes(v, 16, count, |a, b| {
        of_half(f(half_of(a), half_of(b))).unwrap_or(0)
    })
}

const FLOATS: &[Case] = &[
    float("add_pp_f32x2", "ddd", 32, |v| singles(v, 2, |a, b| a + b)),
    float("mul_sp_f32x4", "qqq", 32, |v| {
        let low = packed([v[0]; 4], 32)?;
        singles(&[low, v[1]], 4, |a, b| a * b)
    }),
    float("div_pp_f32x2", "ddd", 32, |v| singles(v, 2, |a, b| a / b)),
    float("sub_pp_f16x2", "sss", 16, |v| halves(v, 2, |a, b| a - b)),
    float("add_pp_f16x8", "qqq", 16, |v| halves(v, 8, |a, b| a + b)),
    float("sqrt_p_f32x2", "dd", 32, |v| {
        packed(
            lanes(v[0], 32, 2)
                .into_iter()
                .map(|a| f32_of(a).sqrt().to_bits().into()),
            32,
        )
    }),
    float("floor_p_f16x4", "dd", 16, |v| {
        packed(
            lanes(v[0], 16, 4)
                .into_iter()
                .map(|a| of_half(half_of(a).floor()).unwrap_or(0)),
            16,
        )
    }),
    case("neg_p_f16x2", "ss", |v| Some(v[0] ^ 0x8000_8000)),
];

const LANES: &[Case] = &[
    case("cmov_u8x4", "ssss", |v| {
        let chosen = lanes(v[0], 8, 4)
            .into_iter()
            .zip(lanes(v[1], 8, 4))
            .zip(lanes(v[2], 8, 4));
        packed(chosen.map(|((c, a), b)| if c == 0 { b } else { a }), 8)
    }),
    case_with("shuffle_u8x4", "sss", "0xe4", |v| {
        let (a, b) = (lanes(v[0], 8, 4), lanes(v[1], 8, 4));
        packed([a[0], a[1], b[2], b[3]], 8)
    }),
    case_with("shuffle_u8x4", "sss", "0x1b", |v| {
        let (a, b) = (lanes(v[0], 8, 4), lanes(v[1], 8, 4));
        packed([a[3], a[2], b[1], b[0]], 8)
    }),
    case_with("shuffle_s8x8", "ddd", "0x2c688", |v| {
        // 0o13_2_1_5_0_4_2_1_0 in three bits each.
        let (a, b) = (lanes(v[0], 8, 8), lanes(v[1], 8, 8));
        let from = |lane: u32| (0x2c688u32 >> (3 * lane) & 7) as usize;
        packed(
            (0..8).map(|lane| if lane < 4 { a[from(lane)] } else { b[from(lane)] }),
            8,
        )
    }),
    case_with("shuffle_u16x2", "sss", "0x1", |v| packed([v[0] >> 16, v[1]], 16)),
    case_with("shuffle_f32x2", "ddd", "0x2", |v| packed([v[0], v[1] >> 32], 32)),
    case("unpacklo_u8x4", "sss", |v| {
        let (a, b) = (lanes(v[0], 8, 4), lanes(v[1], 8, 4));
        packed([a[0], b[0], a[1], b[1]], 8)
    }),
    case("unpackhi_u16x4", "ddd", |v| {
        let (a, b) = (lanes(v[0], 16, 4), lanes(v[1], 16, 4));
        packed([a[2], b[2], a[3], b[3]], 16)
    }),
    case("pack_u8x4_u32", "ssss", |v| replaced(v, 8, 4)),
    case("pack_s16x8_s32", "qqss", |v| replaced(v, 16, 8)),
    case("pack_f64x2_f64", "qqds", |v| replaced(v, 64, 2)),
    case("unpack_u32_u8x16", "sqs", |v| {
        Some(lanes(v[0], 8, 16)[(v[1] & 15) as usize])
    }),
    case("unpack_s32_s16x2", "sss", |v| {
        Some(signed(lanes(v[0], 16, 2)[(v[1] & 1) as usize], 16) as u128)
    }),
    case("unpack_f32_f32x4", "sqs", |v| {
        Some(lanes(v[0], 32, 4)[(v[1] & 3) as usize])
    }),
];

fn replaced(v: &[u128], bits: u32, count: u32) -> Option<u128> {
    let mut all = lanes(v[0], bits, count);
    all[(v[2] & u128::from(count - 1)) as usize] = v[1];
    packed(all, bits)
}

const BYTES: &[Case] = &[
    case("lerp_u8x4", "ssss", |v| {
        let all = lanes(v[0], 8, 4)
            .into_iter()
            .zip(lanes(v[1], 8, 4))
            .zip(lanes(v[2], 8, 4));
        packed(all.map(|((a, b), c)| (a + b + (c & 1)) / 2), 8)
    }),
    case("sad_u32_u32", "ssss", |v| Some(v[0].abs_diff(v[1]) + v[2])),
    case("sad_u32_u16x2", "ssss", |v| Some(differences(v, 16, 2) + v[2])),
    case("sad_u32_u8x4", "ssss", |v| Some(differences(v, 8, 4) + v[2])),
    case("sadhi_u16x2_u8x4", "ssss", |v| {
        Some((differences(v, 8, 4) << 16) + v[2])
    }),
    case("packcvt_u8x4_f32", "sssss", |v| {
        packed(
            (0..4).map(|lane| (f32_of(v[lane]).round_ties_even() as u8).into()),
            8,
        )
    }),
    case_with("unpackcvt_f32_u8x4", "ss", "2", |v| {
        of_f32((v[0] >> 16 & 0xff) as f32)
    }),
];

fn differences(v: &[u128], bits: u32, count: u32) -> u128 {
    let pairs = lanes(v[0], bits, count).into_iter().zip(lanes(v[1], bits, count));
    pairs.map(|(a, b)| a.abs_diff(b)).sum()
}

#[test]
fn every_lane_is_calculated_for_itself() {
    check(ARITHMETIC);
}

#[test]
fn lanes_of_floating_point_numbers_are_ieee_arithmetic() {
    check(FLOATS);
}

#[test]
fn lanes_are_chosen_and_replaced() {
    check(LANES);
}

#[test]
fn bytes_are_summed_and_converted() {
    check(BYTES);
}
