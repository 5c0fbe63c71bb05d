//! The ELF container of a code object: checked views of its tables.
//!
//! Code objects are 64-bit little-endian ELF files for machine 224. Byte 7 of the identification
//! says which runtime they are for (64 is HSA), byte 8 which code object version they are. All
//! reading goes through the `object` crate, which never indexes unchecked; this file adds the file
//! offset that each error needs.

use object::elf::{FileHeader64, FileType, ProgramHeader64, ProgramType, SectionHeader64, SectionType};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::read::ReadRef as _;
use object::LittleEndian;

use super::error::{broken, LoadError};

pub(super) const LE: LittleEndian = LittleEndian;
pub(super) type Header = FileHeader64<LittleEndian>;
pub(super) type Segment = ProgramHeader64<LittleEndian>;
pub(super) type Section = SectionHeader64<LittleEndian>;
pub(super) type Symbol = object::elf::Sym64<LittleEndian>;
pub(super) type Rela = object::elf::Rela64<LittleEndian>;

const EM_AMDGPU: u16 = 224;
const OS_ABI_NONE: u8 = 0;
const OS_ABI_AMDGPU_HSA: u8 = 64;

const OFFSET_CLASS: u64 = 4;
const OFFSET_DATA: u64 = 5;
const OFFSET_TYPE: u64 = 16;
const OFFSET_PHOFF: u64 = 32;
const OFFSET_SHOFF: u64 = 40;

/// An ELF file for the HSA runtime on an AMD GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elf<'data> {
    pub(super) data: &'data [u8],
    pub(super) header: &'data Header,
    pub(super) segments: &'data [Segment],
    pub(super) sections: &'data [Section],
}

impl<'data> Elf<'data> {
    /// Checks the identification and finds the two header tables.
    pub(super) fn parse(data: &'data [u8]) -> Result<Self, LoadError> {
        check_identification(data)?;
        let header: &Header = data
            .read_at(0)
            .map_err(|()| broken("the file is shorter than an ELF header", 0))?;
        let machine = header.e_machine(LE).0;
        if machine != EM_AMDGPU {
            return Err(LoadError::Machine { machine });
        }
        let ident = header.e_ident();
        let abi = ident.abi_version;
        match ident.os_abi.0 {
            OS_ABI_AMDGPU_HSA => {}
            // Compilers of the version 1 and 2 era left it open.
            OS_ABI_NONE if abi == 0 => {}
            os_abi => return Err(LoadError::OsAbi { os_abi }),
        }
        let kind = header.e_type(LE);
        if kind != object::elf::ET_DYN && kind != object::elf::ET_EXEC {
            return Err(broken(wrong_type(kind), OFFSET_TYPE));
        }
        let segments = header.program_headers(LE, data).map_err(|_| {
            broken(
                "the program header table lies outside of the file or its entries are not 56 bytes",
                OFFSET_PHOFF,
            )
        })?;
        let sections = header.section_headers(LE, data).map_err(|_| {
            broken(
                "the section header table lies outside of the file or its entries are not 64 bytes",
                OFFSET_SHOFF,
            )
        })?;
        Ok(Self {
            data,
            header,
            segments,
            sections,
        })
    }

    /// The program headers of one type, with the file offset of each.
    pub(super) fn segments_of(self, kind: ProgramType) -> impl Iterator<Item = (u64, &'data Segment)> {
        let table = self.header.e_phoff(LE);
        (self.segments.iter().zip(0u64..))
            .map(move |(segment, index)| (table.saturating_add(index * 56), segment))
            .filter(move |(_, segment)| segment.p_type(LE) == kind)
    }

    /// The section headers of one type, with the index and the file offset of each.
    pub(super) fn sections_of(self, kind: SectionType) -> impl Iterator<Item = (usize, u64, &'data Section)> {
        self.sections
            .iter()
            .enumerate()
            .filter(move |(_, section)| section.sh_type(LE) == kind)
            .map(move |(index, section)| (index, self.section_header_offset(index), section))
    }

    pub(super) fn section_header_offset(self, index: usize) -> u64 {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        self.header.e_shoff(LE).saturating_add(index.saturating_mul(64))
    }

    /// The bytes of a file range.
    pub(super) fn bytes(self, offset: u64, size: u64) -> Option<&'data [u8]> {
        self.data.read_bytes_at(offset, size).ok()
    }
}

fn wrong_type(kind: FileType) -> &'static str {
    if kind == object::elf::ET_REL {
        "the object is relocatable (ET_REL): link it to a shared object (ET_DYN) first"
    } else {
        "the ELF type is neither a shared object (ET_DYN) nor an executable (ET_EXEC)"
    }
}

fn check_identification(data: &[u8]) -> Result<(), LoadError> {
    if data.get(..4) != Some(b"\x7fELF") {
        return Err(broken("the file does not begin with the ELF magic", 0));
    }
    if data.get(4) != Some(&2) {
        return Err(broken("the ELF class is not 2 (64 bits)", OFFSET_CLASS));
    }
    if data.get(5) != Some(&1) || data.get(6) != Some(&1) {
        return Err(broken(
            "the ELF data encoding is not 1 (little endian) or the ELF version is not 1",
            OFFSET_DATA,
        ));
    }
    Ok(())
}
