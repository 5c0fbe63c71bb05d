//! Sizes of images: which extents a geometry has, and how large they may be.

use hansa_plugin_api::hsa::{hsa_dim3_t, hsa_ext_image_geometry_t as Geometry, hsa_ext_image_region_t};

/// Most columns and rows of an image, on every chip.
pub(crate) const MAX_2D: u32 = 16384;
/// Most slices of a 3D image and layers of an array.
pub(crate) const MAX_SLICES: u32 = 8192;
/// Most elements of a buffer image.
pub(crate) const MAX_BUFFER: u32 = u32::MAX;

/// Whether a number is a geometry.
pub(crate) fn is_geometry(geometry: Geometry) -> bool {
    geometry.0 <= Geometry::GEOMETRY_2DADEPTH.0
}

/// Whether an image is a stack of 2D images.
pub(crate) fn has_slices(geometry: Geometry) -> bool {
    matches!(
        geometry,
        Geometry::GEOMETRY_3D | Geometry::GEOMETRY_2DA | Geometry::GEOMETRY_2DADEPTH
    )
}

/// Whether an image has rows.
pub(crate) fn has_rows(geometry: Geometry) -> bool {
    has_slices(geometry) || matches!(geometry, Geometry::GEOMETRY_2D | Geometry::GEOMETRY_2DDEPTH)
}

/// Columns, rows, and slices or layers of an image. At least 1 each, but for `given_height`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Shape.
    pub(crate) geometry: Geometry,
    /// Columns.
    pub(crate) width: u32,
    /// Rows.
    pub(crate) height: u32,
    /// Slices or layers.
    pub(crate) slices: u32,
    /// The height as the program gave it, which a descriptor shows.
    pub(crate) given_height: u32,
}

impl Extent {
    /// The extents of a descriptor; `None` if one is too large, or has to be there and is not. Those that a geometry does
    /// not have may be 0 or 1.
    pub(crate) fn new(geometry: Geometry, [width, height, depth, layers]: [usize; 4]) -> Option<Self> {
        let rows = if has_rows(geometry) { MAX_2D } else { 1 };
        let columns = match geometry {
            Geometry::GEOMETRY_1DB => MAX_BUFFER,
            _ => MAX_2D,
        };
        let (most_slices, most_layers) = match geometry {
            Geometry::GEOMETRY_3D => (MAX_SLICES, 1),
            Geometry::GEOMETRY_1DA | Geometry::GEOMETRY_2DA | Geometry::GEOMETRY_2DADEPTH => (1, MAX_SLICES),
            _ => (1, 1),
        };
        let at_most = |value: usize, most: u32| u32::try_from(value).ok().filter(|value| *value <= most);
        let width = at_most(width, columns)?;
        let height = at_most(height, rows)?;
        let depth = at_most(depth, most_slices)?;
        let layers = at_most(layers, most_layers)?;
        let slices = match geometry {
            Geometry::GEOMETRY_3D => depth,
            Geometry::GEOMETRY_1DA | Geometry::GEOMETRY_2DA | Geometry::GEOMETRY_2DADEPTH => layers,
            _ => 1,
        };
        (width != 0 && slices != 0).then_some(Self {
            geometry,
            width,
            height: height.max(1),
            slices,
            given_height: height,
        })
    }

    /// The region with 1 for what the geometry does not have, if it lies in the image. In a 1D array the layer is the
    /// second coordinate.
    pub(crate) fn region(&self, offset: hsa_dim3_t, range: hsa_dim3_t) -> Option<hsa_ext_image_region_t> {
        let second = match self.geometry {
            Geometry::GEOMETRY_1DA => Some(self.slices),
            _ => has_rows(self.geometry).then_some(self.height),
        };
        let third = has_slices(self.geometry).then_some(self.slices);
        let fit = |offset: u32, range: u32, most: Option<u32>| match most {
            Some(most) => (offset.checked_add(range)? <= most).then_some((offset, range)),
            None => (offset == 0 && range <= 1).then_some((0, 1)),
        };
        let (x, columns) = fit(offset.x, range.x, Some(self.width))?;
        let (y, rows) = fit(offset.y, range.y, second)?;
        let (z, slices) = fit(offset.z, range.z, third)?;
        Some(hsa_ext_image_region_t {
            offset: hsa_dim3_t { x, y, z },
            range: hsa_dim3_t {
                x: columns,
                y: rows,
                z: slices,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn dim(x: u32, y: u32, z: u32) -> hsa_dim3_t {
        hsa_dim3_t { x, y, z }
    }

    #[test]
    fn extents_have_limits_by_geometry() {
        let new = |geometry, sizes| Extent::new(Geometry(geometry), sizes).is_some();
        assert!(new(0, [16384, 0, 0, 0]) && new(0, [1, 1, 1, 1]));
        assert!(!new(0, [16385, 0, 0, 0]) && !new(0, [0; 4]) && !new(0, [4, 2, 0, 0]));
        assert!(new(1, [64, 0, 0, 0]) && !new(1, [1, 16385, 0, 0]) && !new(1, [usize::MAX; 4]));
        assert!(new(2, [64, 64, 8192, 0]) && !new(2, [64, 64, 8193, 0]) && !new(2, [64, 64, 0, 0]));
        assert!(new(3, [64, 0, 0, 8192]) && !new(3, [64, 0, 0, 0]) && !new(4, [64, 64, 0, 8193]));
        assert!(new(5, [0xffff_ffff, 0, 0, 0]) && !new(5, [0x1_0000_0000, 0, 0, 0]));
    }

    #[test]
    fn regions_lie_in_the_image() {
        let array = Extent::new(Geometry::GEOMETRY_1DA, [8, 0, 0, 4]).expect("an image");
        let region = array.region(dim(2, 3, 0), dim(6, 1, 0)).expect("inside");
        assert_eq!((region.offset.y, region.range.z), (3, 1));
        assert!(array.region(dim(2, 3, 0), dim(7, 1, 1)).is_none());
        assert!(array.region(dim(0, 3, 0), dim(1, 2, 1)).is_none());
        assert!(array.region(dim(0, 0, 0), dim(1, 1, 2)).is_none());
        let flat = Extent::new(Geometry::GEOMETRY_2D, [8, 8, 0, 0]).expect("an image");
        assert!(flat.region(dim(u32::MAX, 0, 0), dim(2, 1, 1)).is_none());
        assert!(flat.region(dim(0, 7, 0), dim(8, 1, 1)).is_some());
    }
}
