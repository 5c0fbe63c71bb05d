//! Where the elements of an image lie.
//!
//! All images are linear, with rows that begin at multiples of 256 bytes, as texture hardware wants them: an element
//! is at `slice * slice pitch + row * row pitch + column * bytes`.

use crate::format::Format;
use crate::geometry::{has_slices, Extent};
use hansa_plugin_api::hsa::hsa_ext_image_geometry_t as Geometry;

/// Alignment of images and of their rows, in bytes.
pub(crate) const ALIGNMENT: u64 = 256;
/// Most bytes of a row that are worth asking hardware for; keeps sizes far from 64 bits.
const MAX_ROW: u64 = 1 << 31;

/// How an image lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes from row to row.
    pub(crate) row: u64,
    /// Bytes from slice to slice, or from layer to layer.
    pub(crate) slice: u64,
    /// Bytes of all.
    pub(crate) size: u64,
}

impl Layout {
    /// The layout with the least padding.
    pub(crate) fn tight(extent: &Extent, format: &Format) -> Self {
        Self::of(
            extent,
            (u64::from(extent.width) * format.bytes()).next_multiple_of(ALIGNMENT),
        )
    }

    /// The layout with pitches that the program chose, 0 standing for no padding; `None` if hardware cannot have it. A
    /// buffer has no pitch.
    pub(crate) fn pitched(extent: &Extent, format: &Format, row: u64, slice: u64) -> Option<Self> {
        if extent.geometry == Geometry::GEOMETRY_1DB {
            return Some(Self::tight(extent, format));
        }
        let used = u64::from(extent.width) * format.bytes();
        let row = if row == 0 { used } else { row };
        if row % ALIGNMENT != 0 || row < used || row > MAX_ROW {
            return None;
        }
        let layout = Self::of(extent, row);
        (slice == 0 || slice == layout.slice).then_some(layout)
    }

    fn of(extent: &Extent, row: u64) -> Self {
        let slice = row * u64::from(extent.height);
        Self {
            row,
            slice,
            size: slice * u64::from(extent.slices),
        }
    }

    /// Bytes from the begin of an image to an element of a region.
    pub(crate) fn offset(&self, extent: &Extent, format: &Format, [x, y, z]: [u32; 3]) -> u64 {
        let [x, y, z] = [x, y, z].map(u64::from);
        let (rows, slices) = match extent.geometry {
            Geometry::GEOMETRY_1DA => (0, y),
            geometry if has_slices(geometry) => (y, z),
            _ => (y, 0),
        };
        slices * self.slice + rows * self.row + x * format.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hansa_plugin_api::hsa::hsa_ext_image_format_t;

    fn rgba8() -> Format {
        Format::new(hsa_ext_image_format_t {
            channel_type: 2,
            channel_order: 8,
        })
        .expect("a format")
    }

    fn extent(geometry: u32, sizes: [usize; 4]) -> Extent {
        Extent::new(Geometry(geometry), sizes).expect("an image")
    }

    #[test]
    fn rows_are_padded_and_slices_follow_each_other() {
        let flat = Layout::tight(&extent(1, [100, 50, 0, 0]), &rgba8());
        assert_eq!((flat.row, flat.size), (512, 512 * 50));
        let array = extent(3, [64, 0, 0, 4]);
        let layout = Layout::tight(&array, &rgba8());
        assert_eq!((layout.row, layout.slice, layout.size), (256, 256, 1024));
        assert_eq!(layout.offset(&array, &rgba8(), [2, 3, 0]), 3 * 256 + 8);
        let solid = extent(2, [65, 4, 3, 0]);
        assert_eq!(
            Layout::tight(&solid, &rgba8()).offset(&solid, &rgba8(), [1, 2, 2]),
            2 * 4 * 512 + 2 * 512 + 4
        );
    }

    #[test]
    fn pitches_are_what_the_hardware_takes() {
        let flat = extent(1, [64, 64, 0, 0]);
        let size = |row, slice| Layout::pitched(&flat, &rgba8(), row, slice).map(|layout| layout.size);
        assert_eq!(
            (size(0, 0), size(256, 0), size(512, 0)),
            (Some(16384), Some(16384), Some(32768))
        );
        assert_eq!(size(1 << 20, 0), Some(1 << 26));
        for row in [1, 255, 257, 260, u64::MAX] {
            assert_eq!(size(row, 0), None, "{row}");
        }
        assert_eq!((size(0, 1), size(0, 16384)), (None, Some(16384)));
    }
}
