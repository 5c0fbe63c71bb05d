//! What texture hardware is told of an image and of a sampler, before it has the form of a chip.

use crate::format::Format;
use crate::geometry::Extent;
use crate::layout::Layout;
use hansa_plugin_api::hsa::{
    hsa_ext_image_geometry_t as Geometry, hsa_ext_sampler_addressing_mode_t as Mode,
    hsa_ext_sampler_coordinate_mode_t as Coordinates, hsa_ext_sampler_filter_mode_t as Filter,
};

/// Words of a descriptor with what kernels read beside it.
pub(crate) const IMAGE_WORDS: usize = 12;
/// Words of a sampler's descriptor.
pub(crate) const SAMPLER_WORDS: usize = 8;

/// An image for the hardware.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface<'a> {
    /// Its size.
    pub(crate) extent: &'a Extent,
    /// Its format.
    pub(crate) format: &'a Format,
    /// Where its elements lie.
    pub(crate) layout: &'a Layout,
    /// Its first byte.
    pub(crate) address: u64,
}

impl Surface<'_> {
    /// Elements from row to row.
    pub(crate) fn pitch(&self) -> u64 {
        self.layout.row / self.format.bytes()
    }

    /// What kernels read behind the hardware's words: channel type, channel order, columns.
    pub(crate) fn with_tail(&self, words: [u32; 8]) -> [u32; IMAGE_WORDS] {
        let mut all = [0; IMAGE_WORDS];
        all[..8].copy_from_slice(&words);
        all[8] = self.format.channel_type.0;
        all[9] = self.format.channel_order.0;
        all[10] = self.extent.width;
        all
    }

    /// Number of the geometry, the same on every chip; a buffer has none.
    pub(crate) fn kind(&self) -> u32 {
        match self.extent.geometry {
            Geometry::GEOMETRY_1D => 8,
            Geometry::GEOMETRY_3D => 10,
            Geometry::GEOMETRY_1DA => 12,
            Geometry::GEOMETRY_2DA | Geometry::GEOMETRY_2DADEPTH => 13,
            _ => 9,
        }
    }

    /// Number of the order in which the border colour's channels go to components.
    pub(crate) fn border_swizzle(&self) -> u32 {
        use crate::format::Select::{W, X, Y};
        let [r, g, b, a] = self.format.select;
        match (r, g, b, a) {
            (X, X, X, X) => 0,
            (_, _, Y, X) => 2,
            (_, _, _, X) => 3,
            (X, Y, _, _) | (X, X, X, W) => 0,
            (X, _, _, _) => 1,
            (_, X, _, _) => 5,
            (_, _, X, _) => 4,
            _ => 0,
        }
    }
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampler {
    coordinates: Coordinates,
    filter: Filter,
    modes: [Mode; 3],
}

impl Sampler {
    /// A sampler; `None` for numbers that mean nothing.
    pub(crate) fn new(coordinates: u32, filter: u32, modes: [u32; 3]) -> Option<Self> {
        let known = coordinates <= Coordinates::NORMALIZED.0
            && filter <= Filter::LINEAR.0
            && modes.iter().all(|mode| *mode <= Mode::MIRRORED_REPEAT.0);
        known.then_some(Self {
            coordinates: Coordinates(coordinates),
            filter: Filter(filter),
            modes: modes.map(Mode),
        })
    }

    /// The descriptor, which is the same on every chip: clamps in three bits each, bit 15 for coordinates in elements;
    /// the highest level of detail; the filter for magnification and minification.
    pub(crate) fn words(&self) -> [u32; SAMPLER_WORDS] {
        let clamp = |mode| match mode {
            Mode::MIRRORED_REPEAT => 1,
            Mode::CLAMP_TO_EDGE => 2,
            Mode::CLAMP_TO_BORDER => 6,
            // Outside of what a program may rely on, repetition is as good as anything.
            _ => 0,
        };
        let [x, y, z] = self.modes.map(clamp);
        let elements = u32::from(self.coordinates == Coordinates::UNNORMALIZED);
        let linear = u32::from(self.filter == Filter::LINEAR);
        let mut words = [0; SAMPLER_WORDS];
        words[0] = x | y << 3 | z << 6 | elements << 15;
        words[1] = 0xfff << 12;
        words[2] = linear << 20 | linear << 22;
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_are_what_amd_makes_of_them() {
        let words = |coordinates, filter, mode| {
            let sampler = Sampler::new(coordinates, filter, [mode; 3]).expect("a sampler");
            let words = sampler.words();
            assert_eq!(words[3..], [0; 5]);
            [words[0], words[1], words[2]]
        };
        assert_eq!(words(1, 1, 3), [0, 0x00ff_f000, 0x0050_0000]);
        assert_eq!(words(0, 0, 1), [0x8092, 0x00ff_f000, 0]);
        assert_eq!(words(1, 1, 2), [0x01b6, 0x00ff_f000, 0x0050_0000]);
    }

    #[test]
    fn unknown_modes_make_no_sampler() {
        assert_eq!(Sampler::new(2, 0, [0; 3]), None);
        assert_eq!(Sampler::new(0, 2, [0; 3]), None);
        assert_eq!(Sampler::new(0, 0, [0, 5, 0]), None);
        assert!(Sampler::new(0, 0, [0, 4, 3]).is_some());
    }
}
