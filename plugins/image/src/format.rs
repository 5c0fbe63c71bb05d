//! Which formats there are, and what they are made of.
//!
//! The matrix is that of AMD's runtime, the same for every chip from GFX7 to GFX11. An element is made of components
//! X, Y, Z and W, of which X has the lowest bits; a format says how many bits each has, what they mean, and from
//! which component a channel comes.

use hansa_plugin_api::hsa::{
    hsa_ext_image_capability_t as Capability, hsa_ext_image_channel_order_t as Order,
    hsa_ext_image_channel_type_t as Type, hsa_ext_image_format_t, hsa_ext_image_geometry_t as Geometry,
};

/// What the bits of a component mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// Unsigned integer.
    Uint,
    /// Signed integer.
    Sint,
    /// Float.
    Float,
    /// 0 to 1 through the sRGB curve; the alpha channel is linear.
    Srgb,
}

/// Where a channel comes from, with the numbers of the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Select {
    /// Always 0.
    Zero = 0,
    /// Always 1.
    One = 1,
    /// The first component.
    X = 4,
    /// The second component.
    Y = 5,
    /// The third component.
    Z = 6,
    /// The fourth component.
    W = 7,
}

/// A format that images can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Channel type, as the program names it.
    pub(crate) channel_type: Type,
    /// Channel order, as the program names it.
    pub(crate) channel_order: Order,
    /// Bits of the components, X first; 0 for those that are not there.
    pub(crate) widths: [u8; 4],
    /// What they mean.
    pub(crate) number: Number,
    /// Where red, green, blue and alpha come from.
    pub(crate) select: [Select; 4],
    /// What kernels may do, unless the geometry forbids it.
    capability: u32,
}

/// Read, write, and both in one kernel.
const ALL: u32 = Capability::READ_ONLY.0 | Capability::WRITE_ONLY.0 | Capability::READ_WRITE.0;

impl Format {
    /// The format with a name, if it exists in some geometry.
    pub(crate) fn new(name: hsa_ext_image_format_t) -> Option<Self> {
        use Select::{One, Zero, W, X, Y, Z};
        let (channel_type, channel_order) = (Type(name.channel_type), Order(name.channel_order));
        let packed = match channel_type {
            // From the lowest bits: blue, green, red.
            Type::UNORM_SHORT_555 => Some([5, 5, 5, 1]),
            Type::UNORM_SHORT_565 => Some([5, 6, 5, 0]),
            Type::UNORM_SHORT_101010 => Some([10, 10, 10, 2]),
            _ => None,
        };
        let (bits, number) = match channel_type {
            Type::SNORM_INT8 => (8, Number::Snorm),
            Type::SNORM_INT16 => (16, Number::Snorm),
            Type::UNORM_INT8 => (8, Number::Unorm),
            Type::UNORM_INT16 => (16, Number::Unorm),
            Type::SIGNED_INT8 => (8, Number::Sint),
            Type::SIGNED_INT16 => (16, Number::Sint),
            Type::SIGNED_INT32 => (32, Number::Sint),
            Type::UNSIGNED_INT8 => (8, Number::Uint),
            Type::UNSIGNED_INT16 => (16, Number::Uint),
            Type::UNSIGNED_INT32 => (32, Number::Uint),
            Type::HALF_FLOAT => (16, Number::Float),
            Type::FLOAT => (32, Number::Float),
            _ if packed.is_some() => (0, Number::Unorm),
            _ => return None,
        };
        let fraction = matches!(
            channel_type,
            Type::SNORM_INT8
                | Type::SNORM_INT16
                | Type::UNORM_INT8
                | Type::UNORM_INT16
                | Type::HALF_FLOAT
                | Type::FLOAT
        );
        let is_byte = bits == 8;
        let (components, select, allowed, capability) = match channel_order {
            Order::R => (1, [X, Zero, Zero, One], true, ALL),
            Order::A => (1, [Zero, Zero, Zero, X], true, ALL),
            Order::RG => (2, [X, Y, Zero, One], true, ALL),
            Order::RA => (2, [X, Zero, Zero, Y], true, ALL),
            Order::RGBA => (4, [X, Y, Z, W], true, ALL),
            Order::BGRA => (4, [Z, Y, X, W], is_byte, ALL),
            Order::ARGB => (4, [Y, Z, W, X], is_byte, ALL),
            Order::INTENSITY => (1, [X; 4], fraction, ALL),
            Order::LUMINANCE => (1, [X, X, X, One], fraction, ALL),
            Order::SRGBA => (
                4,
                [X, Y, Z, W],
                channel_type == Type::UNORM_INT8,
                Capability::READ_ONLY.0,
            ),
            Order::DEPTH => (
                1,
                [X, Zero, Zero, Zero],
                matches!(channel_type, Type::UNORM_INT16 | Type::FLOAT),
                Capability::READ_ONLY.0 | Capability::WRITE_ONLY.0,
            ),
            Order::RGB => (3, [Z, Y, X, One], packed.is_some(), ALL),
            _ => return None,
        };
        if !allowed || (packed.is_some() && channel_order != Order::RGB) {
            return None;
        }
        let mut widths = [0; 4];
        widths[..components].fill(bits);
        Some(Self {
            channel_type,
            channel_order,
            widths: packed.unwrap_or(widths),
            number: if channel_order == Order::SRGBA {
                Number::Srgb
            } else {
                number
            },
            select,
            capability,
        })
    }

    /// What kernels can do with images of this format and a geometry (`hsa_ext_image_capability_t`).
    pub(crate) fn capability(&self, geometry: Geometry) -> u32 {
        let fits = match geometry {
            Geometry::GEOMETRY_2DDEPTH | Geometry::GEOMETRY_2DADEPTH => self.channel_order == Order::DEPTH,
            Geometry::GEOMETRY_1DB => {
                self.number != Number::Srgb
                    && !matches!(self.channel_type, Type::UNORM_SHORT_555 | Type::UNORM_SHORT_565)
            }
            _ => true,
        };
        if fits {
            self.capability
        } else {
            0
        }
    }

    /// Bytes of an element.
    pub(crate) fn bytes(&self) -> u64 {
        self.widths.iter().copied().map(u64::from).sum::<u64>() / 8
    }

    /// The selects as the low 12 bits of a descriptor's word.
    pub(crate) fn select_bits(&self) -> u32 {
        let channels = self.select.iter().zip([0, 3, 6, 9]);
        channels.fold(0, |word, (&select, shift)| {
            word | u32::from(select as u8) << shift
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability(channel_order: u32, channel_type: u32, geometry: u32) -> u32 {
        let name = hsa_ext_image_format_t {
            channel_type,
            channel_order,
        };
        Format::new(name).map_or(0, |format| format.capability(Geometry(geometry)))
    }

    #[test]
    fn the_matrix_has_as_many_formats_as_the_tables_of_amd() {
        let of = |geometry| {
            let all = (0..20).flat_map(|order| (0..16).map(move |ty| capability(order, ty, geometry)));
            all.filter(|mask| *mask != 0).count()
        };
        // 5 orders of 12 types, 2 of 4, 2 of 6, 3 packed, sRGB, 2 of depth.
        assert_eq!([0, 1, 2, 3, 4].map(of), [60 + 8 + 12 + 3 + 1 + 2; 5]);
        assert_eq!(of(5), 60 + 8 + 12 + 1 + 2);
        assert_eq!([6, 7].map(of), [2, 2]);
    }

    #[test]
    fn masks_of_special_orders() {
        assert_eq!(capability(14, 2, 1), 1);
        assert_eq!((capability(18, 15, 6), capability(18, 15, 1)), (3, 3));
        assert_eq!(
            (capability(8, 2, 6), capability(20, 2, 1), capability(8, 16, 1)),
            (0, 0, 0)
        );
        assert_eq!(
            (capability(6, 6, 1), capability(6, 2, 1), capability(8, 6, 1)),
            (7, 0, 0)
        );
    }

    #[test]
    fn elements_have_their_size_and_selects() {
        let format = |channel_order, channel_type| {
            Format::new(hsa_ext_image_format_t {
                channel_type,
                channel_order,
            })
            .expect("a format")
        };
        assert_eq!(format(8, 15).bytes(), 16);
        assert_eq!((format(6, 5).bytes(), format(6, 7).bytes()), (2, 4));
        assert_eq!(format(8, 2).select_bits(), 0xfac);
        assert_eq!(format(9, 2).select_bits(), 0xf2e);
    }
}
