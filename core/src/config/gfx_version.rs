//! `HSA_OVERRIDE_GFX_VERSION`: the GPU version to report instead of the device's own.
//!
//! `major.minor.step`, such as `11.0.0` for gfx1100, with at most 63.255.255: that is what the
//! engine-id word of a node has bits for. `HSA_OVERRIDE_GFX_VERSION_<node>` says it for one node
//! and wins there.

use std::ffi::OsStr;
use std::fmt;

use toml_edit::Item;

use super::value::{quoted, Dialect, Value};

/// A GPU version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GfxVersion {
    /// Generation, 9 for gfx90a.
    pub major: u8,
    /// Family within it.
    pub minor: u8,
    /// Stepping, 10 for gfx90a.
    pub step: u8,
}

impl GfxVersion {
    /// Reads `major.minor.step`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.').map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse::<u8>().ok()).flatten()
        });
        let mut next = || parts.next().flatten();
        let version = Self {
            major: next().filter(|major| *major <= 63)?,
            minor: next()?,
            step: next()?,
        };
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for GfxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.step)
    }
}

impl Value for Option<GfxVersion> {
    const FORM: &'static str = "major.minor.step, at most 63.255.255, such as \"11.0.0\"";

    fn from_item(item: &Item) -> Option<Self> {
        GfxVersion::parse(item.as_str()?).map(Some)
    }

    fn from_text(text: &OsStr, _dialect: Dialect) -> Option<Self> {
        GfxVersion::parse(text.to_str()?).map(Some)
    }

    fn show(&self) -> String {
        quoted(&self.map_or_else(|| "none".to_owned(), |version| version.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_within_the_engine_id_word() {
        assert_eq!(
            GfxVersion::parse("11.0.0"),
            Some(GfxVersion {
                major: 11,
                minor: 0,
                step: 0
            })
        );
        assert_eq!(GfxVersion::parse("63.255.255").unwrap().to_string(), "63.255.255");
        for bad in [
            "", "11", "11.0", "11.0.0.0", "64.0.0", "9.256.0", "9.0.a", "gfx1100", "+9.0.0", "9..0",
        ] {
            assert_eq!(GfxVersion::parse(bad), None, "{bad}");
        }
    }
}
