//! The image resource descriptor and where it says elements lie.
//!
//! Words of GFX9: address in units of 256 bytes (40 bits); format at bits 20 and 26 of word 1; width and height less 1
//! in word 2; selects, levels and type in word 3; last slice and pitch less 1 in word 4; first slice in word 5.
//! Elements lie in rows of `pitch`, levels of a slice below each other, slice after slice, whatever the layout that a
//! descriptor asks for: the order inside of a tile is a device's own, which programs see through image instructions only,
//! and rows take no more memory than tiles. A multisample image has the samples of an element beside each other.

use crate::exec::format::{component_sources, Layout, Number};

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Columns.
    Line,
    /// Columns and rows.
    Plane,
    /// Columns, rows and slices.
    Solid,
    /// Six planes for each layer.
    Cube,
    /// Layers of lines.
    Lines,
    /// Layers of planes.
    Planes,
    /// A plane with several samples in each place.
    Samples,
    /// Layers of those.
    SampleLayers,
}

impl Shape {
    /// Spatial dimensions.
    pub(super) fn dimensions(self) -> usize {
        match self {
            Self::Line | Self::Lines => 1,
            Self::Solid => 3,
            _ => 2,
        }
    }

    /// Whether an address has a layer or face.
    pub(super) fn is_layered(self) -> bool {
        matches!(self, Self::Cube | Self::Lines | Self::Planes | Self::SampleLayers)
    }

    /// Whether an address has a sample.
    pub(super) fn is_sampled(self) -> bool {
        matches!(self, Self::Samples | Self::SampleLayers)
    }
}

/// An image that a descriptor names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texture {
    /// First byte.
    base: u64,
    /// Where components are in an element.
    pub(super) layout: Layout,
    /// What they mean.
    pub(super) number: Number,
    /// Selects, three bits for each channel.
    pub(super) selects: u32,
    /// Its shape.
    pub(super) shape: Shape,
    /// Columns, rows, and slices of a solid, at level 0.
    extent: [u32; 3],
    /// First and last layer.
    layers: [u32; 2],
    /// First and last level; both 0 with samples.
    levels: [u32; 2],
    /// Samples.
    samples: u32,
    /// Elements from row to row.
    pitch: u64,
    /// Which component of a border's colour goes to which component, by number.
    pub(super) border_order: u32,
    /// Least level of detail.
    pub(super) min_lod: f32,
}

/// What a descriptor says.
#[derive(Debug)]
pub(super) enum Resource {
    /// An image.
    Texture(Texture),
    /// No image: loads give 0 and stores nothing.
    Unbound,
}

impl Resource {
    /// Reads the eight words.
    pub(super) fn new(words: [u32; 8]) -> Self {
        let field = |word: usize, low: u32, bits: u32| words[word] >> low & ((1 << bits) - 1);
        let shape = match field(3, 28, 4) {
            8 => Shape::Line,
            9 => Shape::Plane,
            10 => Shape::Solid,
            11 => Shape::Cube,
            12 => Shape::Lines,
            13 => Shape::Planes,
            14 => Shape::Samples,
            15 => Shape::SampleLayers,
            _ => return Self::Unbound,
        };
        let Some(layout) = Layout::of_image(field(1, 20, 6)) else {
            return Self::Unbound;
        };
        let dimensions = shape.dimensions();
        let last_slice = field(4, 0, 13);
        let extent = [
            field(2, 0, 14) + 1,
            if dimensions > 1 { field(2, 14, 14) + 1 } else { 1 },
            if dimensions > 2 { last_slice + 1 } else { 1 },
        ];
        let levels = [field(3, 12, 4), field(3, 16, 4)];
        let sampled = shape.is_sampled();
        Self::Texture(Texture {
            base: (u64::from(words[0]) | u64::from(field(1, 0, 8)) << 32) << 8,
            layout,
            number: Number::of_image(field(1, 26, 4)),
            selects: field(3, 0, 12),
            shape,
            extent,
            layers: if shape.is_layered() {
                [field(5, 0, 13), last_slice]
            } else {
                [0, 0]
            },
            levels: if sampled { [0, 0] } else { levels },
            samples: if sampled { 1 << levels[1] } else { 1 },
            pitch: u64::from(field(4, 13, 16)) + 1,
            border_order: field(4, 29, 3),
            min_lod: field(1, 8, 12) as f32 / 256.0,
        })
    }
}

impl Texture {
    /// Columns, rows and slices of a level that is counted from the first one.
    pub(super) fn extent(&self, level: u32) -> [u32; 3] {
        self.extent
            .map(|size| (size >> (self.levels[0] + level).min(31)).max(1))
    }

    /// Levels.
    pub(super) fn levels(&self) -> u32 {
        (self.levels[1] + 1).saturating_sub(self.levels[0])
    }

    /// Layers.
    pub(super) fn layers(&self) -> u32 {
        (self.layers[1] + 1).saturating_sub(self.layers[0])
    }

    /// The layer that a coordinate names, held inside.
    pub(super) fn layer(&self, coordinate: f32) -> u32 {
        // NaN becomes 0.
        let rounded = coordinate.round_ties_even().max(0.0) as u32;
        rounded.min(self.layers().saturating_sub(1))
    }

    /// The address of an element; `None` if it is outside.
    pub(super) fn address(&self, at: Place) -> Option<u64> {
        if at.level >= self.levels() || at.layer >= self.layers() || at.sample >= self.samples {
            return None;
        }
        let extent = self.extent(at.level);
        if at.position.iter().zip(extent).any(|(at, size)| *at >= size) {
            return None;
        }
        let level = self.levels[0] + at.level;
        let rows_of = |level: u32| u64::from((self.extent[1] >> level).max(1));
        let above: u64 = (0..level).map(rows_of).sum();
        let rows: u64 = (0..=self.levels[1]).map(rows_of).sum();
        let [x, y, z] = at.position.map(u64::from);
        let slice = if self.shape == Shape::Solid {
            z
        } else {
            u64::from(self.layers[0]) + u64::from(at.layer)
        };
        let samples = u64::from(self.samples);
        let row = slice * rows + above + y;
        let element = row * self.pitch * samples + x * samples + u64::from(at.sample);
        Some(self.base.wrapping_add(element * self.layout.bytes() as u64))
    }

    /// The channels for an element's components: what the selects pick.
    pub(super) fn channels(&self, components: [u32; 4]) -> [u32; 4] {
        [0, 3, 6, 9].map(|shift| match self.selects >> shift & 7 {
            1 => self.number.one(),
            select @ 4..=7 => components[select as usize - 4],
            _ => 0,
        })
    }
}

impl Texture {
    /// The components for an element's channels, as stores want them: each from the first channel that shows it.
    pub(super) fn components(&self, channels: [u32; 4]) -> [u32; 4] {
        component_sources(self.selects).map(|source| source.map_or(0, |channel| channels[channel]))
    }
}

/// The place of an element. Level and layer count from the first ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Column, row and slice.
    pub(super) position: [u32; 3],
    /// Layer or face.
    pub(super) layer: u32,
    /// Level.
    pub(super) level: u32,
    /// Sample.
    pub(super) sample: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(words: [u32; 8]) -> Texture {
        match Resource::new(words) {
            Resource::Texture(texture) => texture,
            other => panic!("{other:?}"),
        }
    }

    fn at(position: [u32; 3]) -> Place {
        Place {
            position,
            ..Place::default()
        }
    }

    #[test]
    fn a_plane_of_bytes_has_rows_of_its_pitch() {
        let plane = texture([0x10, 10 << 20, 99 | 49 << 14, 0x9000_0fac, 127 << 13, 0, 0, 0]);
        assert_eq!(plane.extent(0), [100, 50, 1]);
        assert_eq!(plane.address(at([3, 2, 0])), Some(0x1000 + 2 * 512 + 12));
        assert_eq!(plane.address(at([99, 49, 0])), Some(0x1000 + 49 * 512 + 396));
        assert_eq!(
            (plane.address(at([100, 0, 0])), plane.address(at([0, 50, 0]))),
            (None, None)
        );
        assert_eq!(plane.channels([1, 2, 3, 4]), [1, 2, 3, 4]);
    }

    #[test]
    fn a_line_has_no_height() {
        let line = texture([
            0,
            4 << 20 | 7 << 26,
            999 | 0x3fff << 14,
            0x8000_0204,
            1023 << 13,
            0,
            0,
            0,
        ]);
        assert_eq!(line.extent(0), [1000, 1, 1]);
        assert_eq!(line.channels([7, 8, 9, 10]), [7, 0, 0, 1f32.to_bits()]);
    }

    #[test]
    fn layers_begin_at_the_first_one() {
        let planes = texture([
            0,
            1 << 20 | 4 << 26,
            3 | 3 << 14,
            0xd000_0204,
            5 | 255 << 13,
            2,
            0,
            0,
        ]);
        assert_eq!(planes.layers(), 4);
        let place = |layer| Place {
            layer,
            ..Place::default()
        };
        assert_eq!(planes.address(place(1)), Some(3 * 4 * 256));
        assert_eq!(planes.address(place(4)), None);
        assert_eq!(
            [-1.0, 0.5, 1.5, 9.0, f32::NAN].map(|c| planes.layer(c)),
            [0, 0, 2, 3, 0]
        );
    }

    #[test]
    fn levels_lie_below_each_other() {
        let levels = texture([0, 1 << 20, 7 | 7 << 14, 0x9003_0204, 255 << 13, 0, 0, 0]);
        let place = |level, position| Place {
            level,
            position,
            ..Place::default()
        };
        assert_eq!((levels.levels(), levels.extent(2)), (4, [2, 2, 1]));
        assert_eq!(levels.address(place(2, [1, 1, 0])), Some((8 + 4 + 1) * 256 + 1));
        assert_eq!(levels.address(place(2, [2, 0, 0])), None);
        assert_eq!(levels.address(place(4, [0, 0, 0])), None);
    }

    #[test]
    fn what_is_no_image() {
        assert!(matches!(Resource::new([0; 8]), Resource::Unbound));
        let buffer = [0, 1 << 20, 0, 0x0000_0204, 0, 0, 0, 0];
        assert!(matches!(Resource::new(buffer), Resource::Unbound));
        let unknown = [0, 63 << 20, 0, 0x9000_0204, 0, 0, 0, 0];
        assert!(matches!(Resource::new(unknown), Resource::Unbound));
    }

    #[test]
    fn a_tiled_image_has_rows_too() {
        // 37 by 11 in tiles of 4 KiB, as AMD's runtime lays it out: 8192 bytes.
        let tiled = texture([0, 10 << 20, 36 | 10 << 14, 0x9160_0fac, 63 << 13, 0, 0, 0]);
        let last = tiled.address(at([36, 10, 0])).expect("inside");
        assert_eq!(last, (10 * 64 + 36) * 4);
        assert!(last < 8192);
    }
}
