//! Numbers as the references calculate with them.

/// A number of so many bits with its sign.
pub fn signed(value: u128, bits: u32) -> i128 {
    (value << (128 - bits)) as i128 >> (128 - bits)
}

pub fn f32_of(value: u128) -> f32 {
    f32::from_bits(value as u32)
}

pub fn f64_of(value: u128) -> f64 {
    f64::from_bits(value as u64)
}

pub fn of_f32(value: f32) -> Option<u128> {
    Some(value.to_bits().into())
}

pub fn of_f64(value: f64) -> Option<u128> {
    Some(value.to_bits().into())
}

/// A number of half precision.
pub fn half_of(value: u128) -> f64 {
    let (sign, exponent, fraction) = (value >> 15 & 1, value >> 10 & 31, (value & 1023) as f64);
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(exponent as i32 - 25),
    };
    if sign == 1 {
        -size
    } else {
        size
    }
}

/// The nearest number of half precision.
pub fn of_half(value: f64) -> Option<u128> {
    let sign = u128::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    let bits = if value.is_nan() {
        0x7e00
    } else if size >= 65520.0 {
        0x7c00
    } else if size < 2f64.powi(-14) {
        (size * 2f64.powi(24)).round_ties_even() as u128
    } else {
        let exponent = (size.to_bits() >> 52) as i32 - 1023;
        let fraction = (size * 2f64.powi(10 - exponent)).round_ties_even() as u128;
        // A fraction that was rounded up to the next power carries into the exponent.
        ((exponent + 15) as u128) * 1024 + fraction - 1024
    };
    Some(sign | bits)
}

/// The lanes of a packed value.
pub fn lanes(value: u128, bits: u32, count: u32) -> Vec<u128> {
    let mask = u128::MAX >> (128 - bits);
    (0..count).map(|lane| value >> (lane * bits) & mask).collect()
}

/// A packed value of lanes.
pub fn packed(lanes: impl IntoIterator<Item = u128>, bits: u32) -> Option<u128> {
    let mask = u128::MAX >> (128 - bits);
    Some((0..).zip(lanes).fold(0, |all, (lane, value): (u32, u128)| {
        all | (value & mask) << (lane * bits)
    }))
}

/// A function of every two lanes.
pub fn by_lanes(v: &[u128], bits: u32, count: u32, f: impl Fn(u128, u128) -> u128) -> Option<u128> {
    let (a, b) = (lanes(v[0], bits, count), lanes(v[1], bits, count));
    packed(a.into_iter().zip(b).map(|(a, b)| f(a, b)), bits)
}

/// A number brought into a range.
pub fn clamped(value: i128, least: i128, most: i128) -> u128 {
    value.clamp(least, most) as u128
}

/// Zero for a subnormal number of single precision.
pub fn flushed(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}
