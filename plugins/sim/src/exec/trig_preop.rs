//! `v_trig_preop_f64`: segments of 2/pi for the argument reduction of large angles.

use super::fp::ldexp64;

/// The first 1201 bits of 2/pi after the binary point, highest first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// The segment of 53 bits that `select` names, further down for a large `value`, scaled to its place.
pub(crate) fn trig_preop(value: f64, select: u32) -> f64 {
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32;
    let shift = 53 * (select as i32 & 31) + (exponent - 1077).max(0);
    let segment = bits_at(shift as usize);
    let scale = -53 - shift + if exponent >= 1968 { 128 } else { 0 };
    // 53 bits are exact in a double.
    ldexp64(segment as f64, scale)
}

/// 53 bits from bit `at` after the binary point.
fn bits_at(at: usize) -> u64 {
    let word = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0);
    let (first, within) = (at / 64, at % 64);
    let joined = u128::from(word(first)) << 64 | u128::from(word(first + 1));
    (joined << within >> (128 - 53)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up_to_two_over_pi() {
        let sum = trig_preop(1.0, 0) + trig_preop(1.0, 1);
        assert_eq!(sum, std::f64::consts::FRAC_2_PI);
        assert_eq!(trig_preop(1.0, 0).to_bits(), 0x3fe4_5f30_6dc9_c882);
        assert_eq!(trig_preop(1.0, 31), 0.0);
    }
}
