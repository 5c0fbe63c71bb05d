//! Notes: small named records in the file.
//!
//! Version 2 keeps its version and its target in notes owned by "AMD"; from version 3 on there is one
//! note, owner "AMDGPU", type 32, with metadata in msgpack. A note is three 32-bit words (name size,
//! contents size, type), the name padded to 4 bytes, the contents padded likewise.

use object::elf::{PT_NOTE, SHT_NOTE};
use object::read::elf::{NoteIterator, ProgramHeader as _, SectionHeader as _};

use super::elf::{Elf, Header, LE};
use super::error::{broken, LoadError};
use super::executable::{FloatRounding, Profile};

/// Owner of the notes of versions 1 and 2.
pub(super) const OWNER_AMD: &[u8] = b"AMD";
/// Owner of the metadata note.
pub(super) const OWNER_AMDGPU: &[u8] = b"AMDGPU";
/// "AMD": code object version, two 32-bit words.
pub(super) const NOTE_VERSION: u32 = 1;
/// "AMD": HSAIL version (two words), profile, machine model, rounding mode (a byte each).
pub(super) const NOTE_HSAIL: u32 = 2;
/// "AMD": ISA version.
pub(super) const NOTE_ISA_VERSION: u32 = 3;
/// "AMD": YAML metadata.
pub(super) const NOTE_YAML_METADATA: u32 = 10;
/// "AMDGPU": msgpack metadata.
pub(super) const NOTE_METADATA: u32 = 32;

/// One note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note<'data> {
    /// Who defines the meaning of the type, without terminator.
    pub owner: &'data [u8],
    /// The type.
    pub kind: u32,
    /// The contents.
    pub contents: &'data [u8],
    /// File offset of the contents.
    pub offset: u64,
}

/// What the finalizer was asked for; only objects made from HSAIL say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HsailSettings {
    /// The profile.
    pub profile: Profile,
    /// The rounding mode.
    pub rounding: FloatRounding,
}

/// Reads the settings from the note with them.
pub(super) fn hsail_settings(notes: &[Note<'_>]) -> Option<HsailSettings> {
    let note = notes
        .iter()
        .find(|note| note.owner == OWNER_AMD && note.kind == NOTE_HSAIL)?;
    Some(HsailSettings {
        profile: match note.contents.get(8)? {
            1 => Profile::Full,
            _ => Profile::Base,
        },
        rounding: match note.contents.get(10)? {
            1 => FloatRounding::Zero,
            2 => FloatRounding::Near,
            _ => FloatRounding::Default,
        },
    })
}

/// Reads the notes of all `PT_NOTE` segments, or of all note sections if there are none.
pub(super) fn read<'data>(elf: Elf<'data>) -> Result<Vec<Note<'data>>, LoadError> {
    let mut ranges: Vec<(u64, u64, u64)> = elf
        .segments_of(PT_NOTE)
        .map(|(_, segment)| (segment.p_offset(LE), segment.p_filesz(LE), segment.p_align(LE)))
        .collect();
    if ranges.is_empty() {
        ranges = elf
            .sections_of(SHT_NOTE)
            .map(|(_, _, section)| {
                (
                    section.sh_offset(LE),
                    section.sh_size(LE),
                    section.sh_addralign(LE),
                )
            })
            .collect();
    }
    let mut notes = Vec::new();
    let mut left = u64::try_from(elf.data.len()).unwrap_or(u64::MAX);
    for (offset, size, align) in ranges {
        let bytes = elf
            .bytes(offset, size)
            .ok_or_else(|| broken("the notes extend beyond the end of the file", offset))?;
        left = left
            .checked_sub(size)
            .ok_or_else(|| broken("note segments overlap", offset))?;
        read_range(bytes, offset, align, &mut notes)?;
    }
    Ok(notes)
}

fn read_range<'data>(
    bytes: &'data [u8],
    offset: u64,
    align: u64,
    notes: &mut Vec<Note<'data>>,
) -> Result<(), LoadError> {
    let mut iterator = NoteIterator::<Header>::new(LE, align, bytes)
        .map_err(|_| broken("the alignment of notes is neither 4 nor 8", offset))?;
    while let Some(note) = iterator
        .next()
        .map_err(|_| broken("a note extends beyond its segment", offset))?
    {
        // The contents are a part of `bytes`, so their distance is their place in the file.
        let distance = note.desc().as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
        notes.push(Note {
            owner: note.name(),
            kind: note.n_type(LE).0,
            contents: note.desc(),
            offset: offset.saturating_add(u64::try_from(distance).unwrap_or(0)),
        });
    }
    Ok(())
}
