//! The processors a code object can be made for.
//!
//! The low byte of `e_flags` (`EF_AMDGPU_MACH`) names one of these. Numbers, versions and
//! features are those of LLVM's AMDGPU usage document; which generic target covers which processor
//! too. A processor that AMD's runtime has no ISA for is here all the same, so that an error
//! can name it.

/// Can replay a faulting memory access, so code exists with and without support for it.
const XNACK: u8 = 1;
/// Can have ECC on its on-chip memories, so code exists for both cases.
const SRAMECC: u8 = 2;
/// Has a number but never had an HSA runtime, or lost it.
const OBSOLETE: u8 = 4;
/// Stands for every processor that names it as its generic target.
const GENERIC: u8 = 8;

/// One row of the processor table.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Processor {
    /// The `EF_AMDGPU_MACH` number.
    pub mach: u8,
    /// LLVM's name, such as `gfx90a`.
    pub name: &'static str,
    /// ISA major version, minor version and stepping.
    pub version: [u8; 3],
    /// The generic target whose code this processor executes.
    pub generic: Option<&'static str>,
    flags: u8,
}

impl Processor {
    /// Whether code for it may depend on XNACK replay.
    #[must_use]
    pub fn has_xnack(&self) -> bool {
        self.flags & XNACK != 0
    }

    /// Whether code for it may depend on SRAM ECC.
    #[must_use]
    pub fn has_sramecc(&self) -> bool {
        self.flags & SRAMECC != 0
    }

    /// Whether an agent can report it as an ISA.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.flags & OBSOLETE == 0
    }

    /// Whether it stands for a family of processors.
    #[must_use]
    pub fn is_generic(&self) -> bool {
        self.flags & GENERIC != 0
    }

    /// Lanes of a wavefront unless the kernel asks for another size.
    #[must_use]
    pub fn wavefront_size(&self) -> u32 {
        if self.version[0] >= 10 {
            32
        } else {
            64
        }
    }

    /// The processor with a number of `EF_AMDGPU_MACH`.
    #[must_use]
    pub fn from_mach(mach: u32) -> Option<&'static Self> {
        PROCESSORS.iter().find(|row| u32::from(row.mach) == mach)
    }

    /// The processor with one of LLVM's names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        PROCESSORS.iter().find(|row| row.name == name)
    }

    /// The specific processor with an ISA version, as the kernel driver reports it.
    #[must_use]
    pub fn from_version(major: u32, minor: u32, stepping: u32) -> Option<&'static Self> {
        PROCESSORS
            .iter()
            .find(|row| !row.is_generic() && row.version.map(u32::from) == [major, minor, stepping])
    }
}

const fn row(
    mach: u8,
    name: &'static str,
    version: [u8; 3],
    flags: u8,
    generic: Option<&'static str>,
) -> Processor {
    Processor {
        mach,
        name,
        version,
        generic,
        flags,
    }
}

/// Every known processor, in the order of its number.
pub static PROCESSORS: [Processor; 53] = [
    row(0x20, "gfx600", [6, 0, 0], OBSOLETE, None),
    row(0x21, "gfx601", [6, 0, 1], OBSOLETE, None),
    row(0x22, "gfx700", [7, 0, 0], 0, None),
    row(0x23, "gfx701", [7, 0, 1], 0, None),
    row(0x24, "gfx702", [7, 0, 2], 0, None),
    row(0x25, "gfx703", [7, 0, 3], OBSOLETE, None),
    row(0x26, "gfx704", [7, 0, 4], OBSOLETE, None),
    row(0x28, "gfx801", [8, 0, 1], XNACK, None),
    row(0x29, "gfx802", [8, 0, 2], 0, None),
    row(0x2a, "gfx803", [8, 0, 3], 0, None),
    row(0x2b, "gfx810", [8, 1, 0], XNACK, None),
    row(0x2c, "gfx900", [9, 0, 0], XNACK, Some("gfx9-generic")),
    row(0x2d, "gfx902", [9, 0, 2], XNACK, Some("gfx9-generic")),
    row(0x2e, "gfx904", [9, 0, 4], XNACK, Some("gfx9-generic")),
    row(0x2f, "gfx906", [9, 0, 6], XNACK | SRAMECC, Some("gfx9-generic")),
    row(0x30, "gfx908", [9, 0, 8], XNACK | SRAMECC, None),
    row(0x31, "gfx909", [9, 0, 9], XNACK, Some("gfx9-generic")),
    row(0x32, "gfx90c", [9, 0, 12], XNACK, Some("gfx9-generic")),
    row(0x33, "gfx1010", [10, 1, 0], XNACK, Some("gfx10-1-generic")),
    row(0x34, "gfx1011", [10, 1, 1], XNACK, Some("gfx10-1-generic")),
    row(0x35, "gfx1012", [10, 1, 2], XNACK, Some("gfx10-1-generic")),
    row(0x36, "gfx1030", [10, 3, 0], 0, Some("gfx10-3-generic")),
    row(0x37, "gfx1031", [10, 3, 1], 0, Some("gfx10-3-generic")),
    row(0x38, "gfx1032", [10, 3, 2], 0, Some("gfx10-3-generic")),
    row(0x39, "gfx1033", [10, 3, 3], 0, Some("gfx10-3-generic")),
    row(0x3a, "gfx602", [6, 0, 2], OBSOLETE, None),
    row(0x3b, "gfx705", [7, 0, 5], OBSOLETE, None),
    row(0x3c, "gfx805", [8, 0, 5], 0, None),
    row(0x3d, "gfx1035", [10, 3, 5], 0, Some("gfx10-3-generic")),
    row(0x3e, "gfx1034", [10, 3, 4], 0, Some("gfx10-3-generic")),
    row(0x3f, "gfx90a", [9, 0, 10], XNACK | SRAMECC, None),
    row(0x40, "gfx940", [9, 4, 0], XNACK | SRAMECC | OBSOLETE, None),
    row(0x41, "gfx1100", [11, 0, 0], 0, Some("gfx11-generic")),
    row(0x42, "gfx1013", [10, 1, 3], XNACK, Some("gfx10-1-generic")),
    row(0x43, "gfx1150", [11, 5, 0], 0, Some("gfx11-generic")),
    row(0x44, "gfx1103", [11, 0, 3], 0, Some("gfx11-generic")),
    row(0x45, "gfx1036", [10, 3, 6], 0, Some("gfx10-3-generic")),
    row(0x46, "gfx1101", [11, 0, 1], 0, Some("gfx11-generic")),
    row(0x47, "gfx1102", [11, 0, 2], 0, Some("gfx11-generic")),
    row(0x48, "gfx1200", [12, 0, 0], 0, Some("gfx12-generic")),
    row(0x4a, "gfx1151", [11, 5, 1], 0, Some("gfx11-generic")),
    row(0x4b, "gfx941", [9, 4, 1], XNACK | SRAMECC | OBSOLETE, None),
    row(0x4c, "gfx942", [9, 4, 2], XNACK | SRAMECC, Some("gfx9-4-generic")),
    row(0x4e, "gfx1201", [12, 0, 1], 0, Some("gfx12-generic")),
    row(0x4f, "gfx950", [9, 5, 0], XNACK | SRAMECC, Some("gfx9-4-generic")),
    row(0x51, "gfx9-generic", [9, 0, 0], XNACK | GENERIC, None),
    row(0x52, "gfx10-1-generic", [10, 1, 0], XNACK | GENERIC, None),
    row(0x53, "gfx10-3-generic", [10, 3, 0], GENERIC, None),
    row(0x54, "gfx11-generic", [11, 0, 0], GENERIC, None),
    row(0x55, "gfx1152", [11, 5, 2], 0, Some("gfx11-generic")),
    row(0x58, "gfx1153", [11, 5, 3], 0, Some("gfx11-generic")),
    row(0x59, "gfx12-generic", [12, 0, 0], GENERIC, None),
    row(0x5f, "gfx9-4-generic", [9, 4, 0], XNACK | SRAMECC | GENERIC, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique_and_ordered() {
        for pair in PROCESSORS.windows(2) {
            assert!(pair[0].mach < pair[1].mach, "{pair:?}");
        }
        for row in &PROCESSORS {
            assert_eq!(Processor::from_name(row.name), Some(row));
        }
    }

    #[test]
    fn the_name_spells_the_version() {
        for row in PROCESSORS.iter().filter(|row| !row.is_generic()) {
            let [major, minor, stepping] = row.version;
            assert_eq!(row.name, format!("gfx{major}{minor:x}{stepping:x}"));
        }
    }

    #[test]
    fn generic_parents_exist_and_share_the_major_version() {
        for row in &PROCESSORS {
            if let Some(name) = row.generic {
                let parent = Processor::from_name(name).expect("a generic target of the table");
                assert!(parent.is_generic());
                assert_eq!(parent.version[0], row.version[0]);
            }
        }
    }
}
