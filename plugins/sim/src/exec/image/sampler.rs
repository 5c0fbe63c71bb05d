//! The sampler descriptor, and what it makes of one coordinate.
//!
//! Coordinates become fixed point with eight fractional bits before anything else happens to them. This is what makes
//! `floor(u * size) / size` hit its texel although the product is a little too small.

/// What is outside of the image, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clamp {
    /// The image again.
    Wrap,
    /// The image again, mirrored.
    Mirror,
    /// The edge.
    Edge,
    /// The image mirrored once, then the edge.
    MirrorOnceEdge,
    /// Half edge and half border.
    HalfBorder,
    /// The image mirrored once, then half edge and half border.
    MirrorOnceHalfBorder,
    /// The border.
    Border,
    /// The image mirrored once, then the border.
    MirrorOnceBorder,
}

impl Clamp {
    fn new(number: u32) -> Self {
        match number & 7 {
            0 => Self::Wrap,
            1 => Self::Mirror,
            2 => Self::Edge,
            3 => Self::MirrorOnceEdge,
            4 => Self::HalfBorder,
            5 => Self::MirrorOnceHalfBorder,
            6 => Self::Border,
            _ => Self::MirrorOnceBorder,
        }
    }
}

/// How elements are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blend {
    /// Weighted.
    Average,
    /// The smallest.
    Minimum,
    /// The largest.
    Maximum,
}

/// How levels are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Levels {
    /// Only the first one.
    First,
    /// The nearest one.
    Nearest,
    /// The two around, weighted.
    Linear,
}

/// A sampler.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampler {
    /// What is outside, for each axis.
    clamps: [Clamp; 3],
    /// Number of the comparison.
    compare: u32,
    /// Coordinates count elements.
    unnormalised: bool,
    /// Coordinates are cut and not rounded.
    cut: bool,
    /// How elements are combined.
    pub(super) blend: Blend,
    /// Least and most level of detail.
    pub(super) lod: [f32; 2],
    /// What is added to the level of detail.
    pub(super) bias: f32,
    /// Whether elements are blended when they are larger than what they cover, and when they are smaller.
    linear: [bool; 2],
    /// The same along Z; `None` follows the others.
    linear_z: Option<bool>,
    /// How levels are combined.
    pub(super) levels: Levels,
    /// Number of the border's colour.
    border: u32,
}

impl Sampler {
    /// Reads the four words. `unnormalised` is the instruction's own word on that.
    pub(super) fn new(words: [u32; 4], unnormalised: bool) -> Self {
        let field = |word: usize, low: u32, bits: u32| words[word] >> low & ((1 << bits) - 1);
        let fixed = |word, low| field(word, low, 12) as f32 / 256.0;
        // Signed, 14 bits.
        let bias = (field(2, 0, 14) << 18) as i32 >> 18;
        Self {
            clamps: [0, 3, 6].map(|low| Clamp::new(field(0, low, 3))),
            compare: field(0, 12, 3),
            unnormalised: unnormalised || field(0, 15, 1) != 0,
            cut: field(0, 27, 1) != 0,
            blend: match field(0, 29, 2) {
                1 => Blend::Minimum,
                2 => Blend::Maximum,
                _ => Blend::Average,
            },
            lod: [fixed(1, 0), fixed(1, 12)],
            bias: bias as f32 / 256.0,
            // Anisotropic filters take one sample here.
            linear: [field(2, 20, 2) & 1 != 0, field(2, 22, 2) & 1 != 0],
            linear_z: match field(2, 24, 2) {
                1 => Some(false),
                2 => Some(true),
                _ => None,
            },
            levels: match field(2, 26, 2) {
                1 => Levels::Nearest,
                2 => Levels::Linear,
                _ => Levels::First,
            },
            border: field(3, 30, 2),
        }
    }

    /// Whether elements are blended along the axes at a level of detail.
    pub(super) fn linear(&self, lod: f32) -> [bool; 3] {
        let plane = self.linear[usize::from(lod > 0.0)];
        [plane, plane, self.linear_z.unwrap_or(plane)]
    }

    /// Whether the level of detail changes anything about an image with one level.
    pub(super) fn looks_at_lod(&self) -> bool {
        self.linear[0] != self.linear[1]
    }

    /// Whether coordinates count elements.
    pub(super) fn is_unnormalised(&self) -> bool {
        self.unnormalised
    }

    /// The border's colour, by component. A colour from memory is black here: there is no table of them.
    pub(super) fn border(&self, order: u32) -> [f32; 4] {
        let colour = match self.border {
            1 => [0.0, 0.0, 0.0, 1.0],
            2 => [1.0; 4],
            _ => [0.0; 4],
        };
        let from = match order {
            1 => [0, 3, 1, 2],
            2 => [3, 2, 1, 0],
            3 => [3, 0, 1, 2],
            4 => [2, 1, 0, 3],
            5 => [1, 0, 3, 2],
            _ => [0, 1, 2, 3],
        };
        from.map(|i: usize| colour[i])
    }

    /// 1 if a reference passes the comparison with a texel, else 0.
    pub(super) fn compare(&self, reference: f32, texel: f32) -> f32 {
        let passes = match self.compare {
            0 => false,
            1 => reference < texel,
            2 => reference == texel,
            3 => reference <= texel,
            4 => reference > texel,
            5 => reference != texel,
            6 => reference >= texel,
            _ => true,
        };
        f32::from(u8::from(passes))
    }

    /// The elements that a coordinate along an axis touches.
    pub(super) fn taps(&self, axis: usize, coordinate: f32, size: u32, linear: bool, offset: i32) -> Taps {
        let clamp = self.clamps[axis];
        let count = size as f32;
        let scaled = if self.unnormalised {
            coordinate
        } else {
            let inside = match clamp {
                Clamp::Wrap => coordinate - coordinate.floor(),
                // Only brought near: the mirror is one of elements, so that the first element outside is the last one.
                Clamp::Mirror => coordinate - 2.0 * (coordinate * 0.5).floor(),
                _ => coordinate,
            };
            inside * count
        };
        let bits = scaled * 256.0;
        // Far outside is as good as very far outside; NaN is 0.
        let fixed = if self.cut {
            bits.floor()
        } else {
            bits.round_ties_even()
        };
        let mut fixed = fixed.clamp(-1e9, 1e9) as i64;
        if clamp == Clamp::MirrorOnceHalfBorder {
            fixed = fixed.abs();
        }
        if matches!(clamp, Clamp::HalfBorder | Clamp::MirrorOnceHalfBorder) {
            fixed = fixed.clamp(0, i64::from(size) << 8);
        }
        let offset = i64::from(offset);
        if linear {
            let shifted = fixed - 128;
            let first = (shifted >> 8) + offset;
            Taps {
                at: [place(clamp, first, size), place(clamp, first + 1, size)],
                weight: (shifted & 255) as f32 / 256.0,
            }
        } else {
            let mut index = (fixed >> 8) + offset;
            if matches!(clamp, Clamp::HalfBorder | Clamp::MirrorOnceHalfBorder) {
                index = index.min(i64::from(size) - 1);
            }
            Taps {
                at: [place(clamp, index, size); 2],
                weight: 0.0,
            }
        }
    }
}

/// The elements along one axis: two, and the weight of the second. `None` is the border.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Taps {
    /// The elements.
    pub(super) at: [Option<u32>; 2],
    /// Weight of the second.
    pub(super) weight: f32,
}

/// The element that an index means; `None` for the border.
fn place(clamp: Clamp, index: i64, size: u32) -> Option<u32> {
    let size = i64::from(size);
    let mirrored = if index < 0 { -1 - index } else { index };
    let inside = match clamp {
        Clamp::Wrap => index.rem_euclid(size),
        Clamp::Mirror => {
            let twice = index.rem_euclid(2 * size);
            twice.min(2 * size - 1 - twice)
        }
        Clamp::Edge => index.clamp(0, size - 1),
        Clamp::MirrorOnceEdge => mirrored.min(size - 1),
        Clamp::HalfBorder | Clamp::Border | Clamp::MirrorOnceHalfBorder => index,
        Clamp::MirrorOnceBorder => mirrored,
    };
    (0..size).contains(&inside).then_some(inside as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(clamp: u32, unnormalised: bool, linear: bool) -> Sampler {
        let linear = u32::from(linear);
        Sampler::new(
            [clamp * 0x49, 0xfff << 12, linear << 20 | linear << 22, 0],
            unnormalised,
        )
    }

    /// The element that a nearest sampler takes.
    fn nearest(clamp: u32, coordinate: f32, size: u32) -> Option<u32> {
        sampler(clamp, false, false)
            .taps(0, coordinate, size, false, 0)
            .at[0]
    }

    #[test]
    fn every_texel_is_hit_by_its_index_times_the_reciprocal() {
        let sampler = sampler(2, false, false);
        for size in (1..=64).chain([97, 127, 1021, 4099, 16383, 16384]) {
            let reciprocal = (1.0 / f64::from(size)) as f32;
            for k in 0..size {
                let taps = sampler.taps(0, k as f32 * reciprocal, size, false, 0);
                assert_eq!(taps.at[0], Some(k), "{k} of {size}");
            }
        }
    }

    #[test]
    fn outside_is_what_the_mode_says() {
        assert_eq!([-0.1, 1.1].map(|u| nearest(0, u, 10)), [Some(9), Some(1)]);
        assert_eq!(
            [-0.15, 1.15, 2.05].map(|u| nearest(1, u, 10)),
            [Some(1), Some(8), Some(0)]
        );
        assert_eq!([-5.0, 5.0].map(|u| nearest(2, u, 10)), [Some(0), Some(9)]);
        assert_eq!([-0.15, -3.0].map(|u| nearest(3, u, 10)), [Some(1), Some(9)]);
        assert_eq!(
            [-0.15, 0.0, 1.0].map(|u| nearest(6, u, 10)),
            [None, Some(0), None]
        );
        assert_eq!([-0.15, -1.05].map(|u| nearest(7, u, 10)), [Some(1), None]);
        assert_eq!([-5.0, 5.0].map(|u| nearest(4, u, 10)), [Some(0), Some(9)]);
        assert_eq!(
            [f32::NAN, f32::INFINITY].map(|u| nearest(2, u, 10)),
            [Some(0), Some(9)]
        );
    }

    #[test]
    fn linear_weights_are_multiples_of_a_256th() {
        let taps = sampler(2, true, true).taps(0, 3.75, 8, true, 0);
        assert_eq!((taps.at, taps.weight), ([Some(3), Some(4)], 0.25));
        let taps = sampler(0, false, true).taps(0, 0.0, 8, true, 0);
        assert_eq!((taps.at, taps.weight), ([Some(7), Some(0)], 0.5));
        let taps = sampler(6, true, true).taps(0, 0.25, 8, true, 0);
        assert_eq!((taps.at, taps.weight), ([None, Some(0)], 0.75));
        let taps = sampler(2, true, true).taps(0, 3.501, 8, true, 2);
        assert_eq!((taps.at, taps.weight), ([Some(5), Some(6)], 0.0));
    }

    #[test]
    fn fields_are_found() {
        let words = [
            7 << 12 | 1 << 27 | 2 << 29,
            0x100 | 0x280 << 12,
            0x3f00 | 2 << 24 | 2 << 26,
            2 << 30,
        ];
        let sampler = Sampler::new(words, false);
        assert!(sampler.cut && !sampler.is_unnormalised());
        assert_eq!((sampler.lod, sampler.bias), ([1.0, 2.5], -1.0));
        assert_eq!(sampler.linear(0.0), [false, false, true]);
        assert_eq!((sampler.blend, sampler.levels), (Blend::Maximum, Levels::Linear));
        assert_eq!((sampler.border(0), sampler.compare(3.0, 2.0)), ([1.0; 4], 1.0));
        let black = Sampler::new([3 << 12, 0, 0, 1 << 30], false);
        assert_eq!(black.border(3), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!((black.compare(1.0, 1.0), black.compare(1.5, 1.0)), (1.0, 0.0));
    }
}
