//! Buffer and image data formats: how elements in memory become register components and back.
//!
//! A format is a data format (which bits belong to which component, named from the highest bits down) and
//! a number format (what the bits mean). Numbers are those of GFX9's resource descriptors.

use super::scalar_float::Half;

/// What the bits of a component mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// Unsigned integer, as a float.
    Uscaled,
    /// Signed integer, as a float.
    Sscaled,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Float of the component's width.
    Float,
    /// 0 to 1 through the sRGB curve; the fourth component is linear. Images only.
    Srgb,
}

impl Number {
    /// The number format with a number.
    pub(crate) fn new(number: u32) -> Self {
        match number & 7 {
            0 => Self::Unorm,
            1 | 6 => Self::Snorm,
            2 => Self::Uscaled,
            3 => Self::Sscaled,
            4 => Self::Uint,
            5 => Self::Sint,
            _ => Self::Float,
        }
    }

    /// The number format with a number in an image's descriptor, which has one bit more.
    pub(crate) fn of_image(number: u32) -> Self {
        if number == 9 {
            Self::Srgb
        } else {
            Self::new(number)
        }
    }

    /// What the component with an index means.
    fn of_component(self, index: usize) -> Self {
        if self == Self::Srgb && index == 3 {
            Self::Unorm
        } else {
            self
        }
    }

    /// Whether components are integers in registers.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }

    /// The register value of one.
    pub(crate) fn one(self) -> u32 {
        if self.is_integer() {
            1
        } else {
            1f32.to_bits()
        }
    }
}

/// A data format: widths of its components, lowest bits first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    widths: [u8; 4],
}

/// Layouts by data format number.
const LAYOUTS: [[u8; 4]; 15] = [
    [0, 0, 0, 0],
    [8, 0, 0, 0],
    [16, 0, 0, 0],
    [8, 8, 0, 0],
    [32, 0, 0, 0],
    [16, 16, 0, 0],
    [11, 11, 10, 0],
    [10, 11, 11, 0],
    [2, 10, 10, 10],
    [10, 10, 10, 2],
    [8, 8, 8, 8],
    [32, 32, 0, 0],
    [16, 16, 16, 16],
    [32, 32, 32, 0],
    [32, 32, 32, 32],
];

/// Layouts of data formats that only images have, by number from 16 on.
const IMAGE_LAYOUTS: [[u8; 4]; 6] = [
    [5, 6, 5, 0],
    [5, 5, 5, 1],
    [1, 5, 5, 5],
    [4, 4, 4, 4],
    [24, 8, 0, 0],
    [8, 24, 0, 0],
];

/// For each component the channel that shows it, going by the selects of the four channels: a store does backwards
/// what a load does.
pub(crate) fn component_sources(selects: u32) -> [Option<usize>; 4] {
    [4, 5, 6, 7].map(|component| (0..4).find(|channel| selects >> (3 * channel) & 7 == component))
}

impl Layout {
    /// The data format with a number; `None` if it is not an image format.
    pub(crate) fn of_image(number: u32) -> Option<Self> {
        let only = number.checked_sub(16).and_then(|n| IMAGE_LAYOUTS.get(n as usize));
        match only {
            Some(widths) => Some(Self { widths: *widths }),
            None => Self::new(number),
        }
    }

    /// The data format with a number; `None` if it is not a buffer format.
    pub(crate) fn new(number: u32) -> Option<Self> {
        let widths = *LAYOUTS.get(number as usize)?;
        (widths[0] != 0).then_some(Self { widths })
    }

    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        self.widths.iter().map(|width| usize::from(*width)).sum::<usize>() / 8
    }

    /// The components of an element as registers hold them.
    pub(crate) fn decode(self, number: Number, element: u128) -> [u32; 4] {
        let mut at = 0;
        let mut values = [0, 0, 0, number.one()];
        for (i, (value, width)) in values.iter_mut().zip(self.widths).enumerate() {
            if width != 0 {
                let bits = (element >> at) as u32 & mask(width);
                *value = decode_component(number.of_component(i), bits, width);
            }
            at += u32::from(width);
        }
        values
    }

    /// The element for components in registers.
    pub(crate) fn encode(self, number: Number, values: [u32; 4]) -> u128 {
        let mut at = 0;
        let mut element = 0;
        for (i, (value, width)) in values.into_iter().zip(self.widths).enumerate() {
            if width != 0 {
                let bits = encode_component(number.of_component(i), value, width) & mask(width);
                element |= u128::from(bits) << at;
            }
            at += u32::from(width);
        }
        element
    }
}

/// The sRGB curve, with the bounds of IEC 61966-2-1.
fn srgb_to_linear(curved: f64) -> f64 {
    if curved <= 0.040_45 {
        curved / 12.92
    } else {
        ((curved + 0.055) / 1.055).powf(2.4)
    }
}

/// The other way.
fn linear_to_srgb(linear: f64) -> f64 {
    if linear < 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

fn mask(width: u8) -> u32 {
    if width >= 32 {
        u32::MAX
    } else {
        (1 << width) - 1
    }
}

fn sign_extended(bits: u32, width: u8) -> i32 {
    let up = 32 - u32::from(width);
    (bits << up) as i32 >> up
}

fn decode_component(number: Number, bits: u32, width: u8) -> u32 {
    let signed = sign_extended(bits, width);
    match number {
        Number::Uint => bits,
        Number::Sint => signed as u32,
        Number::Uscaled => (bits as f32).to_bits(),
        Number::Sscaled => (signed as f32).to_bits(),
        Number::Unorm => ((f64::from(bits) / f64::from(mask(width))) as f32).to_bits(),
        Number::Srgb => (srgb_to_linear(f64::from(bits) / f64::from(mask(width))) as f32).to_bits(),
        Number::Snorm => {
            let top = f64::from(mask(width) >> 1);
            ((f64::from(signed) / top).max(-1.0) as f32).to_bits()
        }
        Number::Float => match width {
            32 => bits,
            16 => Half(bits as u16).wide().to_bits(),
            // Small unsigned floats have the exponent of a half and no sign.
            11 => Half((bits << 4) as u16).wide().to_bits(),
            10 => Half((bits << 5) as u16).wide().to_bits(),
            _ => bits,
        },
    }
}

fn encode_component(number: Number, value: u32, width: u8) -> u32 {
    let float = f64::from(f32::from_bits(value));
    let top = f64::from(mask(width));
    let signed_top = f64::from(mask(width) >> 1);
    match number {
        Number::Uint => value.min(mask(width)),
        Number::Sint => {
            let limit = (mask(width) >> 1) as i32;
            (value as i32).clamp(-limit - 1, limit) as u32
        }
        Number::Uscaled => float.clamp(0.0, top) as u32,
        Number::Sscaled => float.clamp(-signed_top - 1.0, signed_top) as i32 as u32,
        Number::Unorm => (float.clamp(0.0, 1.0) * top).round_ties_even() as u32,
        Number::Srgb => (linear_to_srgb(float.clamp(0.0, 1.0)) * top).round_ties_even() as u32,
        Number::Snorm => (float.clamp(-1.0, 1.0) * signed_top).round_ties_even() as i32 as u32,
        Number::Float => match width {
            16 => Half::nearest(f32::from_bits(value)).0.into(),
            11 | 10 => {
                let positive = f32::from_bits(value).max(0.0);
                let half = u32::from(
                    Half::nearest(if f32::from_bits(value).is_nan() {
                        f32::NAN
                    } else {
                        positive
                    })
                    .0,
                );
                half >> (15 - u32::from(width))
            }
            _ => value,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(number: u32) -> Layout {
        Layout::new(number).expect("a format")
    }

    #[test]
    fn bytes_become_fractions_and_back() {
        let values = layout(10).decode(Number::Unorm, 0x80ff_0033);
        assert_eq!(values.map(f32::from_bits), [0.2, 0.0, 1.0, 128.0 / 255.0]);
        assert_eq!(layout(10).encode(Number::Unorm, values), 0x80ff_0033);
        let values = layout(3).decode(Number::Snorm, 0x8081);
        assert_eq!(values.map(f32::from_bits), [-1.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn integers_extend_and_saturate() {
        assert_eq!(layout(2).decode(Number::Sint, 0xfffe), [(-2i32) as u32, 0, 0, 1]);
        assert_eq!(layout(2).encode(Number::Sint, [40000, 0, 0, 0]), 0x7fff);
        assert_eq!(
            layout(9).encode(Number::Uint, [1, 2, 3, 9]),
            1 | 2 << 10 | 3 << 20 | 3 << 30
        );
        assert_eq!(layout(8).decode(Number::Uint, 0b01), [1, 0, 0, 0]);
    }

    #[test]
    fn srgb_bytes_are_curved_but_for_the_fourth() {
        let bytes = Layout::of_image(10).expect("a format");
        let values = bytes.decode(Number::Srgb, 0x8080_ff00).map(f32::from_bits);
        assert_eq!((values[0], values[1], values[3]), (0.0, 1.0, 128.0 / 255.0));
        assert!((values[2] - 0.215_860_5).abs() < 1e-6);
        assert_eq!(bytes.encode(Number::Srgb, values.map(f32::to_bits)), 0x8080_ff00);
    }

    #[test]
    fn packed_image_formats_have_their_first_component_lowest() {
        let packed = Layout::of_image(16).expect("a format");
        assert_eq!(packed.bytes(), 2);
        assert_eq!(packed.decode(Number::Uint, 0xf81f), [31, 0, 31, 1]);
        assert_eq!(
            Layout::of_image(17)
                .expect("a format")
                .decode(Number::Uint, 0x8001),
            [1, 0, 0, 1]
        );
        assert_eq!((Layout::of_image(15), Layout::of_image(22)), (None, None));
    }

    #[test]
    fn stores_go_backwards_through_selects() {
        // Z, Y, X, W.
        assert_eq!(component_sources(0xf2e), [Some(2), Some(1), Some(0), Some(3)]);
        // The fourth channel shows the first component.
        assert_eq!(component_sources(4 << 9), [Some(3), None, None, None]);
    }

    #[test]
    fn small_floats_have_no_sign() {
        let ones = [1f32.to_bits(), 2f32.to_bits(), 0.5f32.to_bits(), 0];
        let element = layout(6).encode(Number::Float, ones);
        assert_eq!(
            layout(6).decode(Number::Float, element),
            [ones[0], ones[1], ones[2], 1f32.to_bits()]
        );
        assert_eq!(layout(6).encode(Number::Float, [(-1f32).to_bits(), 0, 0, 0]), 0);
        assert_eq!(layout(14).bytes(), 16);
        assert_eq!((Layout::new(0), Layout::new(15)), (None, None));
    }
}
