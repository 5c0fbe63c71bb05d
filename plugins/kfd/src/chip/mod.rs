//! Facts of chips that the kernel does not report, as data.
//!
//! Sources: LLVM's `AMDGPUUsage` (processors and their features), the kernel's `kfd_queue.c` and `kfd_device.c`
//! (buffer sizes), and published topologies (`shared/cases` T12, T27).

mod ids;
mod save_area;
mod table;

pub use ids::by_device_id;
pub use save_area::{save_area, SaveArea, Shape};
pub use table::{Chip, CHIPS};

use std::fmt;

/// A processor: major, minor and stepping of its instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Generation.
    pub major: u8,
    /// Family.
    pub minor: u8,
    /// Stepping.
    pub step: u8,
}

impl Target {
    /// A processor by its three numbers.
    #[must_use]
    pub const fn new(major: u8, minor: u8, step: u8) -> Self {
        Self { major, minor, step }
    }

    /// What the kernel's `gfx_target_version` means: two decimal digits for each of the last two numbers.
    #[must_use]
    pub fn of_version(version: u32) -> Option<Self> {
        let part = |n: u32| u8::try_from(n).ok();
        let target = Self::new(
            part(version / 10_000)?,
            part(version / 100 % 100)?,
            part(version % 100)?,
        );
        (target.major != 0).then_some(target)
    }

    /// Reads `major.minor.step`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('.').map(|part| part.parse::<u8>().ok());
        let target = Self::new(parts.next()??, parts.next()??, parts.next()??);
        (parts.next().is_none() && (1..=63).contains(&target.major)).then_some(target)
    }

    /// The facts of its chip.
    #[must_use]
    pub fn chip(self) -> Option<&'static Chip> {
        CHIPS.iter().find(|chip| chip.target == self)
    }

    /// The full name of its instruction set, with the features that the chip has in this process.
    #[must_use]
    pub fn isa(self, sram_ecc: bool, xnack: bool) -> String {
        let sign = |on| if on { '+' } else { '-' };
        let mut name = format!("amdgcn-amd-amdhsa--{self}");
        if let Some(chip) = self.chip() {
            if chip.sram_ecc {
                name += &format!(":sramecc{}", sign(sram_ecc));
            }
            if chip.xnack {
                name += &format!(":xnack{}", sign(xnack));
            }
        }
        name
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gfx{}{:x}{:x}", self.major, self.minor, self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T12: the number of the kernel and the name of the processor.
    #[test]
    fn versions_are_decimal_and_names_are_hexadecimal() {
        let rows = [
            (90402, "gfx942"),
            (90010, "gfx90a"),
            (90008, "gfx908"),
            (90006, "gfx906"),
            (90500, "gfx950"),
            (100_302, "gfx1032"),
            (110_000, "gfx1100"),
            (110_002, "gfx1102"),
            (110_502, "gfx1152"),
            (120_001, "gfx1201"),
            (80_003, "gfx803"),
        ];
        for (version, name) in rows {
            assert_eq!(Target::of_version(version).unwrap().to_string(), name);
        }
        assert_eq!(Target::of_version(0), None);
        assert_eq!(Target::of_version(u32::MAX), None);
    }

    #[test]
    fn isa_names_have_the_features_of_the_chip_in_order() {
        let isa = |v: u32, e, x| Target::of_version(v).unwrap().isa(e, x);
        assert_eq!(isa(90_000, false, false), "amdgcn-amd-amdhsa--gfx900:xnack-");
        assert_eq!(
            isa(90_010, true, true),
            "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+"
        );
        assert_eq!(
            isa(90_006, false, false),
            "amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-"
        );
        assert_eq!(isa(110_000, false, false), "amdgcn-amd-amdhsa--gfx1100");
        assert_eq!(isa(100_100, false, false), "amdgcn-amd-amdhsa--gfx1010:xnack-");
    }

    #[test]
    fn an_override_is_three_numbers() {
        assert_eq!(Target::parse("10.3.0"), Some(Target::new(10, 3, 0)));
        for bad in ["", "10.3", "10.3.0.0", "a.b.c", "64.0.0", "10.3.256"] {
            assert_eq!(Target::parse(bad), None, "{bad}");
        }
    }
}
