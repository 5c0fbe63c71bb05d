//! Chips by generation: what an image is in the words of their texture hardware.

mod gfx10;
mod gfx9;

use crate::descriptor::{Surface, IMAGE_WORDS};
use hansa_plugin_api::hsa::hsa_ext_image_geometry_t as Geometry;

/// A generation of texture hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chip {
    /// GFX9 up to 9.0: Vega, MI100, MI200.
    Gfx9,
    /// GFX10.1.
    Gfx10,
    /// GFX10.3: the same with a pitch.
    Gfx103,
    /// GFX11.
    Gfx11,
}

impl Chip {
    /// The generation of a processor such as `gfx90a`, if it has texture hardware that is known here.
    pub(crate) fn of(processor: &str) -> Option<Self> {
        let number = processor.strip_prefix("gfx")?;
        // The last two are minor version and stepping.
        let (major, rest) = number.split_at_checked(number.len().checked_sub(2)?)?;
        match (major, rest.as_bytes().first()?) {
            ("9", b'0') => Some(Self::Gfx9),
            ("10", b'1') => Some(Self::Gfx10),
            ("10", b'3') => Some(Self::Gfx103),
            ("11", _) => Some(Self::Gfx11),
            _ => None,
        }
    }

    /// What the handle of an image points to; `None` for a pitch that the hardware cannot have.
    pub(crate) fn image(self, surface: &Surface<'_>) -> Option<[u32; IMAGE_WORDS]> {
        let words = match (self, surface.extent.geometry) {
            (Self::Gfx9, Geometry::GEOMETRY_1DB) => gfx9::buffer(surface),
            (Self::Gfx9, _) => gfx9::texture(surface)?,
            (_, Geometry::GEOMETRY_1DB) => gfx10::buffer(self, surface),
            (_, _) => gfx10::texture(self, surface)?,
        };
        Some(surface.with_tail(words))
    }

    /// The same for an image whose descriptor another API made: its words with our address and format.
    pub(crate) fn adopted(self, surface: &Surface<'_>, theirs: [u32; 8]) -> Option<[u32; IMAGE_WORDS]> {
        let words = match self {
            Self::Gfx9 => gfx9::adopted(surface, theirs)?,
            _ => return None,
        };
        Some(surface.with_tail(words))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is wanted")]
const fn low(value: u64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests;
