//! Descriptors of GFX10 and GFX11 (Mesa's and PAL's register headers agree).
//!
//! Data and number format are one number; the width is split over two words; rows always begin at multiples of 256
//! bytes, and only 10.3 and later can have another pitch, without layers and slices.

use super::{low, Chip};
use crate::descriptor::Surface;
use crate::format::{Format, Number};
use crate::geometry::has_slices;
use hansa_plugin_api::hsa::hsa_ext_image_geometry_t as Geometry;

/// Numbers of formats on GFX10 and GFX11, by the bits of their components from the lowest: UNORM, SNORM, UINT, SINT and
/// FLOAT; 0 for those that do not exist.
type Row = ([u8; 4], [[u32; 5]; 2]);
const FORMATS: [Row; 12] = [
    ([8, 0, 0, 0], [[1, 2, 5, 6, 0], [1, 2, 5, 6, 0]]),
    ([16, 0, 0, 0], [[7, 8, 11, 12, 13], [7, 8, 11, 12, 13]]),
    ([8, 8, 0, 0], [[14, 15, 18, 19, 0], [14, 15, 18, 19, 0]]),
    ([32, 0, 0, 0], [[0, 0, 20, 21, 22], [0, 0, 20, 21, 22]]),
    ([16, 16, 0, 0], [[23, 24, 27, 28, 29], [23, 24, 27, 28, 29]]),
    ([10, 10, 10, 2], [[50, 51, 54, 55, 0], [36, 37, 40, 41, 0]]),
    ([8, 8, 8, 8], [[56, 57, 60, 61, 0], [42, 43, 46, 47, 0]]),
    ([32, 32, 0, 0], [[0, 0, 62, 63, 64], [0, 0, 48, 49, 50]]),
    ([16, 16, 16, 16], [[65, 66, 69, 70, 71], [51, 52, 55, 56, 57]]),
    ([32, 32, 32, 32], [[0, 0, 75, 76, 77], [0, 0, 61, 62, 63]]),
    ([5, 6, 5, 0], [[133, 0, 0, 0, 0], [68, 0, 0, 0, 0]]),
    ([5, 5, 5, 1], [[134, 0, 0, 0, 0], [69, 0, 0, 0, 0]]),
];
/// The number of four sRGB bytes.
const SRGB: [u32; 2] = [130, 66];
/// Bit that every descriptor of GFX10 has.
const RESOURCE_LEVEL: u32 = 1;

fn number(chip: Chip, format: &Format) -> u32 {
    let generation = usize::from(chip == Chip::Gfx11);
    let kind = match format.number {
        Number::Unorm => 0,
        Number::Snorm => 1,
        Number::Uint => 2,
        Number::Sint => 3,
        Number::Float => 4,
        Number::Srgb => return SRGB[generation],
    };
    let row = FORMATS.iter().find(|(widths, _)| *widths == format.widths);
    row.map_or(0, |(_, numbers)| numbers[generation][kind])
}

/// The words of a texture; `None` for a pitch that the hardware would not use.
pub(super) fn texture(chip: Chip, surface: &Surface<'_>) -> Option<[u32; 8]> {
    let extent = surface.extent;
    let layers = has_slices(extent.geometry) || extent.geometry == Geometry::GEOMETRY_1DA;
    let least = (u64::from(extent.width) * surface.format.bytes()).next_multiple_of(crate::layout::ALIGNMENT);
    let has_pitch = chip != Chip::Gfx10 && !layers;
    let pitch = surface.pitch();
    let fits = if has_pitch {
        pitch <= 1 << 14
    } else {
        surface.layout.row == least
    };
    if !fits {
        return None;
    }
    let width = extent.width - 1;
    let level = if chip == Chip::Gfx11 { 0 } else { RESOURCE_LEVEL };
    let depth = if has_pitch {
        low(pitch - 1)
    } else {
        extent.slices - 1
    };
    Some([
        low(surface.address >> 8),
        low(surface.address >> 40) & 0xff | number(chip, surface.format) << 20 | (width & 3) << 30,
        width >> 2 | (extent.height - 1) << 14 | level << 31,
        surface.format.select_bits() | surface.border_swizzle() << 25 | surface.kind() << 28,
        depth,
        0,
        0,
        0,
    ])
}

/// The words of a buffer.
pub(super) fn buffer(chip: Chip, surface: &Surface<'_>) -> [u32; 8] {
    let level = if chip == Chip::Gfx11 { 0 } else { RESOURCE_LEVEL };
    [
        low(surface.address),
        low(surface.address >> 32) & 0xffff | low(surface.format.bytes()) << 16,
        surface.extent.width,
        surface.format.select_bits() | number(chip, surface.format) << 12 | level << 24,
        0,
        0,
        0,
        0,
    ]
}
