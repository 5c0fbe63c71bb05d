//! Kernels that copy and fill, for when copy engines are not used.
//!
//! Their source is `blit/kernels.s`, which says what they take; the images beside it are assembled from that, which
//! `tests/code.rs` checks.

use crate::chip::Target;

/// The processors that the kernels are assembled for, and the images.
pub const CODE: [(&str, &[u8]); 6] = [
    ("gfx803", include_bytes!("../blit/gfx803.bin")),
    ("gfx900", include_bytes!("../blit/gfx900.bin")),
    ("gfx90a", include_bytes!("../blit/gfx90a.bin")),
    ("gfx1010", include_bytes!("../blit/gfx1010.bin")),
    ("gfx1100", include_bytes!("../blit/gfx1100.bin")),
    ("gfx1200", include_bytes!("../blit/gfx1200.bin")),
];

/// The image for a processor; `None` for generations that there is none for.
#[must_use]
pub fn code(target: Target) -> Option<&'static [u8]> {
    let name = match (target.major, target.minor, target.step) {
        (8, ..) => "gfx803",
        // Vector registers of these are shared with accumulation registers, which descriptors say.
        (9, 0, 10) | (9, 4.., _) => "gfx90a",
        (9, ..) => "gfx900",
        (10, ..) => "gfx1010",
        (11, ..) => "gfx1100",
        (12, ..) => "gfx1200",
        _ => return None,
    };
    CODE.iter().find(|(of, _)| *of == name).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::CHIPS;

    #[test]
    fn every_chip_has_kernels() {
        for chip in CHIPS {
            assert!(code(chip.target).is_some(), "{}", chip.target);
        }
    }

    /// The descriptors come first, and each names code inside the image.
    #[test]
    fn descriptors_lead_into_the_image() {
        for (name, code) in CODE {
            for kernel in 0..4 {
                let at = kernel * 64;
                let offset = code[at + 16..]
                    .first_chunk()
                    .map(|bytes| u64::from_le_bytes(*bytes));
                let entry = at as u64 + offset.unwrap_or(u64::MAX);
                assert!(
                    entry.is_multiple_of(256) && entry < code.len() as u64,
                    "{name}, kernel {kernel}"
                );
            }
        }
    }
}
