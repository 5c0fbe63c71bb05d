//! Single elements: what a program's colour becomes in an image.
//!
//! Fractions are rounded to the nearest representable one, halfway cases to even; integers saturate; NaN becomes 0
//! where there is none. Channels are red, green, blue and alpha whatever the format's order.

use crate::format::{Format, Number};

/// The most bytes of an element.
pub(crate) const MAX_BYTES: usize = 16;

/// The element for four channels, whose bits are those of `float`, `int32_t` or `uint32_t`, as the format has it.
pub(crate) fn encode(format: &Format, channels: [u32; 4]) -> [u8; MAX_BYTES] {
    let mut element = 0u128;
    let mut at = 0;
    for (component, width) in (4u8..).zip(format.widths) {
        // The first channel that shows the component decides it; a component that no channel shows is 0.
        let channel = format.select.iter().position(|&select| select as u8 == component);
        if let Some(channel) = channel.filter(|_| width != 0) {
            let number = match format.number {
                Number::Srgb if channel == 3 => Number::Unorm,
                number => number,
            };
            element |= u128::from(component_bits(number, channels[channel], width)) << at;
        }
        at += u32::from(width);
    }
    element.to_le_bytes()
}

fn component_bits(number: Number, value: u32, width: u8) -> u32 {
    let top = u32::MAX >> (32 - u32::from(width));
    let float = f32::from_bits(value);
    match number {
        Number::Uint => value.min(top),
        Number::Sint => {
            let most = i64::from(top >> 1);
            low(i64::from(i32::from_ne_bytes(value.to_ne_bytes())).clamp(-most - 1, most)) & top
        }
        Number::Unorm => fraction(f64::from(float), 0.0, top),
        Number::Srgb => fraction(linear_to_srgb(f64::from(float)), 0.0, top),
        Number::Snorm => fraction(f64::from(float), -1.0, top >> 1) & top,
        Number::Float if width == 16 => half(float),
        Number::Float => value,
    }
}

/// `value`, held between `least` and 1, times `top`.
fn fraction(value: f64, least: f64, top: u32) -> u32 {
    let value = if value.is_nan() {
        0.0
    } else {
        value.clamp(least, 1.0)
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most `top`, which has 32 bits")]
    let scaled = (value * f64::from(top)).round_ties_even() as i64;
    low(scaled)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the low bits are what is wanted"
)]
const fn low(value: i64) -> u32 {
    value as u32
}

/// Half precision, rounded to nearest even.
fn half(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = match magnitude {
        0x7f80_0001.. => 0x7e00,
        // From 65520 on there is only infinity.
        0x477f_f000.. => 0x7c00,
        // Normal: the exponent loses 112, the mantissa 13 bits.
        0x3880_0000.. => {
            let kept = magnitude - 0x3800_0000;
            (kept + 0xfff + (kept >> 13 & 1)) >> 13
        }
        // Denormal: multiples of 2 to the power of -24, exactly in double precision.
        _ => {
            let units = (f64::from(f32::from_bits(magnitude)) * 16_777_216.0).round_ties_even();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most 1024"
            )]
            let units = units as u32;
            units
        }
    };
    sign | rounded
}

/// The sRGB curve; the bounds are those of IEC 61966-2-1.
fn linear_to_srgb(linear: f64) -> f64 {
    if linear < 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

/// The other way.
fn srgb_to_linear(curved: f64) -> f64 {
    if curved <= 0.040_45 {
        curved / 12.92
    } else {
        ((curved + 0.055) / 1.055).powf(2.4)
    }
}

/// Moves an element of four bytes between plain and sRGB-coded fractions, alpha as it is.
pub(crate) fn recode(element: [u8; 4], to_srgb: bool) -> [u8; 4] {
    let byte = |value: u8| {
        let value = f64::from(value) / 255.0;
        let new = if to_srgb {
            linear_to_srgb(value)
        } else {
            srgb_to_linear(value)
        };
        fraction(new, 0.0, 255).to_le_bytes()[0]
    };
    let [r, g, b, alpha] = element;
    [byte(r), byte(g), byte(b), alpha]
}

#[cfg(test)]
mod tests {
    use super::*;
    use hansa_plugin_api::hsa::hsa_ext_image_format_t;

    fn element(channel_order: u32, channel_type: u32, channels: [f32; 4]) -> u128 {
        let format = Format::new(hsa_ext_image_format_t {
            channel_type,
            channel_order,
        });
        u128::from_le_bytes(encode(&format.expect("a format"), channels.map(f32::to_bits)))
    }

    #[test]
    fn channels_find_their_components() {
        let colour = [1.0, 0.5, 0.0, 0.2];
        assert_eq!(element(8, 2, colour), 0x3300_80ff);
        assert_eq!(element(9, 2, colour), 0x33ff_8000);
        assert_eq!(element(10, 2, colour), 0x0080_ff33);
        assert_eq!((element(0, 2, colour), element(5, 2, colour)), (0x33, 0x33ff));
        // Red is on top, and the two bits above it are 0.
        assert_eq!(element(6, 7, colour), 1023 << 20 | 512 << 10);
        assert_eq!(element(6, 6, colour), 31 << 11 | 32 << 5);
        assert_eq!(element(14, 2, [0.5, 1.0, 0.0, 0.5]), 0x8000_ffbc);
    }

    #[test]
    fn fractions_saturate_and_nan_is_nothing() {
        assert_eq!(element(8, 2, [f32::NAN, -1.0, 2.0, f32::INFINITY]), 0xffff_0000);
        assert_eq!(element(3, 0, [-2.0, f32::NAN, 0.0, 0.0]), 0x81);
        assert_eq!(element(1, 1, [-0.5, 0.0, 0.0, 0.0]), 0xc000);
    }

    #[test]
    fn integers_saturate() {
        let format = |ty| {
            Format::new(hsa_ext_image_format_t {
                channel_type: ty,
                channel_order: 8,
            })
            .expect("a format")
        };
        let signed = encode(&format(8), [200, 0xffff_ff00, 0xffff_fffe, 5]);
        assert_eq!(signed[..4], [0x7f, 0x80, 0xfe, 5]);
        assert_eq!(encode(&format(11), [256, 255, 0, 1])[..4], [255, 255, 0, 1]);
        assert_eq!(encode(&format(10), [1, 2, u32::MAX, 0])[8..12], [255; 4]);
    }

    #[test]
    fn halves_round_to_even() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (6.0e-8, 1),
            (6.097e-5, 0x3ff),
            (-2.5, 0xc100),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
        assert_eq!(half(f32::NAN), 0x7e00);
    }

    #[test]
    fn every_srgb_byte_survives_the_way_through_16_bits_of_linear() {
        for byte in 0..=255u8 {
            let linear = srgb_to_linear(f64::from(byte) / 255.0);
            assert_eq!(fraction(linear_to_srgb(linear), 0.0, 255), u32::from(byte));
        }
        assert_eq!(recode([0, 128, 255, 7], false), [0, 55, 255, 7]);
        assert_eq!(recode([0, 55, 255, 7], true), [0, 128, 255, 7]);
    }
}
