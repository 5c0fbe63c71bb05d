//! Descriptors of GFX9 (AMD's Vega ISA documents and the kernel's and Mesa's headers agree).
//!
//! A texture: address in units of 256 bytes; data and number format at bits 20 and 26 of the second word; width and
//! height less 1; selects and geometry; last slice or layer, and pitch less 1 in elements. A buffer: address,
//! element size as stride, number of elements, selects and formats.

use super::low;
use crate::descriptor::Surface;
use crate::format::{Format, Number};
use crate::geometry::has_rows;

/// Numbers of the data formats, by the bits of their components from the lowest.
const DATA_FORMATS: [([u8; 4], u32); 14] = [
    ([8, 0, 0, 0], 1),
    ([16, 0, 0, 0], 2),
    ([8, 8, 0, 0], 3),
    ([32, 0, 0, 0], 4),
    ([16, 16, 0, 0], 5),
    ([10, 10, 10, 2], 9),
    ([8, 8, 8, 8], 10),
    ([32, 32, 0, 0], 11),
    ([16, 16, 16, 16], 12),
    ([32, 32, 32, 32], 14),
    ([5, 6, 5, 0], 16),
    ([5, 5, 5, 1], 17),
    ([24, 8, 0, 0], 20),
    ([8, 24, 0, 0], 21),
];
/// Most elements of a row with its padding.
const MAX_PITCH: u64 = 1 << 16;

fn formats(format: &Format) -> (u32, u32) {
    let data = DATA_FORMATS.iter().find(|(widths, _)| *widths == format.widths);
    let number = match format.number {
        Number::Unorm => 0,
        Number::Snorm => 1,
        Number::Uint => 4,
        Number::Sint => 5,
        Number::Float => 7,
        Number::Srgb => 9,
    };
    (data.map_or(0, |(_, data)| *data), number)
}

/// The words of a texture; `None` for a pitch that does not fit.
pub(super) fn texture(surface: &Surface<'_>) -> Option<[u32; 8]> {
    let (data, number) = formats(surface.format);
    let extent = surface.extent;
    let pitch = surface.pitch();
    if pitch > MAX_PITCH {
        return None;
    }
    // One-dimensional images show the height less 1 that the program gave, which hardware does not look at.
    let height = if has_rows(extent.geometry) {
        extent.height
    } else {
        extent.given_height
    };
    Some([
        low(surface.address >> 8),
        low(surface.address >> 40) & 0xff | data << 20 | number << 26,
        extent.width.wrapping_sub(1) & 0x3fff | (height.wrapping_sub(1) & 0x3fff) << 14,
        surface.format.select_bits() | surface.kind() << 28,
        (extent.slices - 1) & 0x1fff | low(pitch - 1) << 13 | surface.border_swizzle() << 29,
        0,
        0,
        0,
    ])
}

/// The words of a buffer. Its bound is the number of elements, with which hardware compares the index.
pub(super) fn buffer(surface: &Surface<'_>) -> [u32; 8] {
    let (data, number) = formats(surface.format);
    [
        low(surface.address),
        low(surface.address >> 32) & 0xffff | low(surface.format.bytes()) << 16,
        surface.extent.width,
        surface.format.select_bits() | number << 12 | data << 15,
        0,
        0,
        0,
        0,
    ]
}

/// Another API's texture with our address, format and selects; `None` if its elements have another size. The address
/// of its metadata is relative to the image.
pub(super) fn adopted(surface: &Surface<'_>, theirs: [u32; 8]) -> Option<[u32; 8]> {
    let (data, number) = formats(surface.format);
    let their_data = theirs[1] >> 20 & 0x3f;
    let (widths, _) = DATA_FORMATS.iter().find(|(_, number)| *number == their_data)?;
    if widths.iter().copied().map(u64::from).sum::<u64>() != 8 * surface.format.bytes() {
        return None;
    }
    let mut words = theirs;
    words[0] = low(surface.address >> 8);
    words[1] = theirs[1] & 0xc00f_ff00 | low(surface.address >> 40) & 0xff | data << 20 | number << 26;
    words[3] = theirs[3] & !0xfff | surface.format.select_bits();
    // Bit 21 of word 6: compressed, so there is metadata.
    if theirs[6] >> 21 & 1 != 0 {
        let offset = u64::from(theirs[7]) | u64::from(theirs[5] >> 17 & 0xff) << 32;
        let meta = offset.wrapping_add(surface.address >> 8);
        words[7] = low(meta);
        words[5] = theirs[5] & !(0xff << 17) | (low(meta >> 32) & 0xff) << 17;
    }
    Some(words)
}
