//! Which version a code object has and what it was compiled for.
//!
//! | `EI_ABIVERSION` | version | target comes from |
//! |---|---|---|
//! | 0 | 1 or 2, by note | the ISA note: processor and, by an odd stepping, XNACK |
//! | 1 | 3 | `e_flags`: processor, bit 8 XNACK, bit 9 SRAM ECC |
//! | 2, 3 | 4, 5 | `e_flags`: processor, bits 9:8 XNACK, bits 11:10 SRAM ECC |
//! | 4 | 6 | as before, and the version of a generic target in bits 31:24 |
//!
//! Source: LLVM's AMDGPU usage document, "ELF Code Object" and "Note Records".

use object::read::elf::FileHeader as _;

use super::elf::{Elf, LE};
use super::error::{broken, LoadError};
use super::isa::{Isa, ObjectTarget};
use super::note::{Note, NOTE_ISA_VERSION, NOTE_VERSION, OWNER_AMD};
use super::processor::Processor;

const MACH_MASK: u32 = 0xff;
const V3_XNACK: u32 = 0x100;
const V3_SRAMECC: u32 = 0x200;
const V4_XNACK_SHIFT: u32 = 8;
const V4_SRAMECC_SHIFT: u32 = 10;
const GENERIC_VERSION_SHIFT: u32 = 24;

/// Code object version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 2 to 6.
    pub major: u32,
    /// Only version 2 has minor versions.
    pub minor: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The version, from the ELF header or, before version 3, from a note.
pub(super) fn version(elf: Elf<'_>, notes: &[Note<'_>]) -> Result<Version, LoadError> {
    let major = match elf.header.e_ident().abi_version {
        0 => return version_of_note(notes),
        abi @ 1..=4 => u32::from(abi) + 2,
        abi => return Err(LoadError::AbiVersion { abi }),
    };
    Ok(Version { major, minor: 0 })
}

fn amd_note<'a, 'data>(notes: &'a [Note<'data>], kind: u32) -> Option<&'a Note<'data>> {
    notes
        .iter()
        .find(|note| note.owner == OWNER_AMD && note.kind == kind)
}

fn version_of_note(notes: &[Note<'_>]) -> Result<Version, LoadError> {
    let note = amd_note(notes, NOTE_VERSION).ok_or_else(|| {
        broken(
            "ELF ABI version 0 needs a version note (owner AMD, type 1), and there is none",
            8,
        )
    })?;
    let short = || broken("the version note is shorter than 8 bytes", note.offset);
    let major = word(note.contents, 0).ok_or_else(short)?;
    let minor = word(note.contents, 4).ok_or_else(short)?;
    if major == 2 {
        Ok(Version { major, minor })
    } else {
        Err(LoadError::Version {
            major,
            offset: note.offset,
        })
    }
}

/// What the object was compiled for.
pub(super) fn target(elf: Elf<'_>, version: Version, notes: &[Note<'_>]) -> Result<ObjectTarget, LoadError> {
    let flags = elf.header.e_flags(LE).0;
    if version.major == 2 {
        if let Some(note) = amd_note(notes, NOTE_ISA_VERSION) {
            return Ok(ObjectTarget {
                isa: isa_of_note(note)?,
                generic_version: 0,
            });
        }
    }
    let mach = flags & MACH_MASK;
    let processor = Processor::from_mach(mach).ok_or(LoadError::Processor { mach })?;
    let (sramecc, xnack) = match version.major {
        2 => (Some(false), Some(flags & 1 != 0)),
        3 => (Some(flags & V3_SRAMECC != 0), Some(flags & V3_XNACK != 0)),
        _ => (
            setting(flags >> V4_SRAMECC_SHIFT),
            setting(flags >> V4_XNACK_SHIFT),
        ),
    };
    let [generic_version, ..] = if version.major >= 6 && processor.is_generic() {
        (flags >> GENERIC_VERSION_SHIFT).to_le_bytes()
    } else {
        [0; 4]
    };
    Ok(ObjectTarget {
        isa: Isa::new(processor, sramecc, xnack),
        generic_version,
    })
}

/// The two-bit setting of version 4: unsupported, any, off, on.
fn setting(bits: u32) -> Option<bool> {
    match bits & 3 {
        2 => Some(false),
        3 => Some(true),
        _ => None,
    }
}

/// Version 2 names its target by numbers, and XNACK by an odd stepping.
fn isa_of_note(note: &Note<'_>) -> Result<Isa, LoadError> {
    let short = || broken("the ISA note is shorter than its 16 byte header", note.offset);
    let major = word(note.contents, 4).ok_or_else(short)?;
    let minor = word(note.contents, 8).ok_or_else(short)?;
    let stepping = word(note.contents, 12).ok_or_else(short)?;
    let (name, xnack) = match (major, minor, stepping) {
        (7, 0, 0) => ("gfx700", false),
        (7, 0, 1) => ("gfx701", false),
        (7, 0, 2) => ("gfx702", false),
        (7, 0, 3) => ("gfx703", false),
        (7, 0, 4) => ("gfx704", false),
        (7, 0, 5) => ("gfx705", false),
        (8, 0, 1) => ("gfx801", true),
        (8, 0, 0 | 2) => ("gfx802", false),
        (8, 0, 3 | 4) => ("gfx803", false),
        (8, 0, 5) => ("gfx805", false),
        (8, 1, 0) => ("gfx810", true),
        (9, 0, 0 | 1) => ("gfx900", stepping == 1),
        (9, 0, 2 | 3) => ("gfx902", stepping == 3),
        (9, 0, 4 | 5) => ("gfx904", stepping == 5),
        (9, 0, 6 | 7) => ("gfx906", stepping == 7),
        (9, 0, 12) => ("gfx90c", false),
        _ => {
            return Err(LoadError::NoteTarget {
                major,
                minor,
                stepping,
                offset: note.offset,
            })
        }
    };
    let processor =
        Processor::from_name(name).ok_or_else(|| broken("the ISA note's target is unknown", note.offset))?;
    Ok(Isa::new(processor, Some(false), Some(xnack)))
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}
