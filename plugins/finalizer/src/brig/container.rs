//! The block that a module is: header, index of sections, sections (PRM 18.2).

use super::error::{BrigError, Place};
use std::ops::Range;

/// Bytes of a module's header.
pub const HEADER_BYTES: usize = 104;

const IDENTIFICATION: &[u8; 8] = b"HSA BRIG";
const MAJOR: u32 = 1;
const MINOR: u32 = 0;

/// No module is larger: its parts refer to each other with 32 bits.
const MAX_BYTES: u64 = u32::MAX as u64;

/// The sections that every module has.
const DATA: usize = 0;
const CODE: usize = 1;
const OPERANDS: usize = 2;

/// More sections than this are not a module but an attempt to keep the reader busy.
const MAX_SECTIONS: u32 = 1024;

/// Little endian words of bytes that nobody vouches for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// `N` bytes from `offset`, if they are there.
    pub(super) fn bytes<const N: usize>(self, offset: u64) -> Option<[u8; N]> {
        let start = usize::try_from(offset).ok()?;
        let bytes = self.0.get(start..start.checked_add(N)?)?;
        bytes.try_into().ok()
    }

    pub(super) fn u32(self, offset: u64) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }

    pub(super) fn u64(self, offset: u64) -> Option<u64> {
        self.bytes(offset).map(u64::from_le_bytes)
    }

    /// A part, if it is there.
    pub(super) fn part(self, offset: u64, length: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        let length = usize::try_from(length).ok()?;
        self.0.get(start..start.checked_add(length)?)
    }
}

/// One section: where it is in the module, and where its first entry is in it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) range: Range<usize>,
    pub(super) first: u32,
}

/// Where the three sections are.
#[derive(Clone, Debug)]
pub(super) struct Sections {
    pub(super) data: Section,
    pub(super) code: Section,
    pub(super) operands: Section,
}

fn error(offset: u64, reason: &'static str) -> BrigError {
    BrigError {
        place: Place::Container,
        offset,
        reason,
    }
}

/// The size of a module, by its header; the header is checked as far as it can be alone.
pub(crate) fn size(header: &[u8; HEADER_BYTES]) -> Result<u64, BrigError> {
    let words = Words(header);
    if words.bytes(0) != Some(*IDENTIFICATION) {
        return Err(error(0, "the identification is not `HSA BRIG`"));
    }
    if words.u32(8) != Some(MAJOR) || words.u32(12).is_none_or(|minor| minor > MINOR) {
        return Err(error(8, "the version is not 1.0"));
    }
    match words.u64(16) {
        Some(bytes) if bytes < HEADER_BYTES as u64 => Err(error(16, "the size is less than the header's")),
        Some(bytes) if bytes > MAX_BYTES => Err(error(16, "the size is more than 32 bits can say")),
        Some(bytes) if bytes % 16 != 0 => Err(error(16, "the size is not a multiple of 16")),
        Some(bytes) => Ok(bytes),
        None => Err(error(16, "there is no size")),
    }
}

/// Finds the sections of a module.
pub(super) fn sections(module: &[u8]) -> Result<Sections, BrigError> {
    let words = Words(module);
    let header = words.bytes(0).ok_or_else(|| error(0, "the header is cut off"))?;
    if size(&header)? != module.len() as u64 {
        return Err(error(16, "the size is not that of the block"));
    }
    let count = words.u32(92).unwrap_or(0);
    if !(3..=MAX_SECTIONS).contains(&count) {
        return Err(error(92, "there are not 3 sections or a few more"));
    }
    let index = words.u64(96).unwrap_or(0);
    if index % 8 != 0 {
        return Err(error(96, "the index of sections is not at a multiple of 8"));
    }
    let length = u64::from(count) * 8;
    if words.part(index, length).is_none() {
        return Err(error(96, "the index of sections reaches beyond the module"));
    }
    let mut taken = vec![0..HEADER_BYTES as u64, index..index + length];
    let mut found = Vec::new();
    for i in 0..u64::from(count) {
        let at = words.u64(index + 8 * i).unwrap_or(0);
        let section = section(words, at)?;
        taken.push(section.range.start as u64..section.range.end as u64);
        found.push(section);
    }
    taken.sort_by_key(|range| range.start);
    if let Some(pair) = taken.windows(2).find(|pair| pair[0].end > pair[1].start) {
        return Err(error(pair[1].start, "two parts of the module overlap"));
    }
    let end = taken.iter().map(|range| range.end).max().unwrap_or(0);
    if module.len() as u64 - end >= 16 {
        return Err(error(end, "there is more behind the last section than padding"));
    }
    let [data, code, operands] = [DATA, CODE, OPERANDS].map(|i| found[i].clone());
    for (section, name) in [
        (&data, "hsa_data"),
        (&code, "hsa_code"),
        (&operands, "hsa_operand"),
    ] {
        let start = section.range.start as u64;
        let length = words.u32(start + 12).unwrap_or(0).into();
        if words.part(start + 16, length) != Some(name.as_bytes()) {
            return Err(error(
                start,
                "the first three sections are not hsa_data, hsa_code and hsa_operand",
            ));
        }
    }
    Ok(Sections { data, code, operands })
}

fn section(words: Words<'_>, at: u64) -> Result<Section, BrigError> {
    if !at.is_multiple_of(16) {
        return Err(error(at, "a section is not at a multiple of 16"));
    }
    let cut = || error(at, "a section reaches beyond the module");
    let bytes = words.u64(at).ok_or_else(cut)?;
    let part = words.part(at, bytes).ok_or_else(cut)?;
    let (first, name) = (words.u32(at + 8), words.u32(at + 12));
    let (Some(first), Some(name)) = (first, name) else {
        return Err(cut());
    };
    if first % 4 != 0 || u64::from(first) > bytes || 16 + u64::from(name) > first.into() {
        return Err(error(at + 8, "the header of a section does not fit into it"));
    }
    let start = usize::try_from(at).map_err(|_| cut())?;
    Ok(Section {
        range: start..start + part.len(),
        first,
    })
}
