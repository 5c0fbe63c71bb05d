//! Linking: the places in a code object that depend on where it was loaded.
//!
//! The static linker leaves dynamic relocations in sections of type `SHT_RELA` that belong to no
//! other section. Each names a place, a symbol, an addend and one of five ways to store
//! `symbol + addend` (LLVM's AMDGPU usage document, "Relocation Records"): 1 and 2 the lower and the
//! upper half of the address, 3 the whole address, 6 an address that must fit 32 bits, 13 no symbol
//! but the distance between where the object is and where it was linked to be. Relocations of a
//! section are the static linker's and are done already.

use object::elf::{SHT_REL, SHT_RELA, SHT_RELR};
use object::read::elf::{Rela as _, SectionHeader as _, Sym as _};
use object::read::ReadRef as _;

use super::code_object::Image;
use super::elf::{Elf, Rela, Section, LE};
use super::error::{broken, LoadError};
use super::symbol::{
    Table, BIND_WEAK, SECTION_ALLOC, TYPE_FUNCTION, TYPE_KERNEL, TYPE_NONE, TYPE_OBJECT, TYPE_SECTION,
};

/// How a relocation stores its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationKind {
    /// `R_AMDGPU_ABS32_LO`: the lower 32 bits.
    Abs32Lo,
    /// `R_AMDGPU_ABS32_HI`: the upper 32 bits.
    Abs32Hi,
    /// `R_AMDGPU_ABS64`: all 64 bits.
    Abs64,
    /// `R_AMDGPU_ABS32`: 32 bits, which must be enough.
    Abs32,
    /// `R_AMDGPU_RELATIVE64`: the load delta instead of a symbol, 64 bits.
    Relative64,
}

impl RelocationKind {
    fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Abs32Lo,
            2 => Self::Abs32Hi,
            3 => Self::Abs64,
            6 => Self::Abs32,
            13 => Self::Relative64,
            _ => return None,
        })
    }

    fn width(self) -> u64 {
        match self {
            Self::Abs32Lo | Self::Abs32Hi | Self::Abs32 => 4,
            Self::Abs64 | Self::Relative64 => 8,
        }
    }
}

/// What a relocation refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationTarget<'data> {
    /// Nothing; the value is the addend.
    Nothing,
    /// The object itself: the distance it was moved by.
    LoadDelta,
    /// An address as linked, moved along with the object.
    Address(u64),
    /// A variable defined elsewhere.
    Variable {
        /// Its name.
        name: &'data str,
        /// Whether it may stay undefined, which makes its address 0.
        is_weak: bool,
    },
}

/// A dynamic relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation<'data> {
    /// The address as linked of the place to change.
    pub address: u64,
    /// How to store the value.
    pub kind: RelocationKind,
    /// What it refers to.
    pub target: RelocationTarget<'data>,
    /// What to add.
    pub addend: i64,
    /// File offset of the record.
    pub file_offset: u64,
}

impl Relocation<'_> {
    /// Stores the value into `image`, whose first byte was linked to be at `first` and will be at
    /// `base`.
    pub(super) fn apply(
        &self,
        image: &mut [u8],
        first: u64,
        base: u64,
        resolve: &mut dyn FnMut(&str) -> Option<u64>,
    ) -> Result<(), LoadError> {
        let delta = base.wrapping_sub(first);
        let symbol = match self.target {
            RelocationTarget::Nothing => 0,
            RelocationTarget::LoadDelta => delta,
            RelocationTarget::Address(address) => address.wrapping_add(delta),
            RelocationTarget::Variable { name, is_weak } => match resolve(name) {
                Some(address) => address,
                None if is_weak => 0,
                None => {
                    return Err(LoadError::UndefinedVariable {
                        name: name.to_owned(),
                    })
                }
            },
        };
        let value = symbol.wrapping_add_signed(self.addend);
        let bytes = value.to_le_bytes();
        let stored = match self.kind {
            RelocationKind::Abs64 | RelocationKind::Relative64 => &bytes[..],
            RelocationKind::Abs32Lo => &bytes[..4],
            RelocationKind::Abs32Hi => &bytes[4..],
            RelocationKind::Abs32 if value >> 32 == 0 => &bytes[..4],
            RelocationKind::Abs32 => {
                return Err(broken(
                    "a 32-bit relocation (type 6) cannot hold the address the object was given",
                    self.file_offset,
                ))
            }
        };
        self.address
            .checked_sub(first)
            .and_then(|start| usize::try_from(start).ok())
            .and_then(|start| image.get_mut(start..)?.get_mut(..stored.len()))
            .ok_or_else(|| {
                broken(
                    "a relocation's place holds nothing from the file",
                    self.file_offset,
                )
            })?
            .copy_from_slice(stored);
        Ok(())
    }
}

/// Reads the dynamic relocations.
pub(super) fn read<'data>(
    elf: Elf<'data>,
    image: &Image<'data>,
) -> Result<Vec<Relocation<'data>>, LoadError> {
    for kind in [SHT_REL, SHT_RELR] {
        if let Some((_, offset, _)) = elf.sections_of(kind).find(|(_, _, s)| is_dynamic(s)) {
            return Err(broken(
                "dynamic relocations without addends (SHT_REL, SHT_RELR); only SHT_RELA is accepted",
                offset,
            ));
        }
    }
    let mut relocations = Vec::new();
    let mut left = elf.data.len() / size_of::<Rela>();
    for (_, header, section) in elf.sections_of(SHT_RELA) {
        if !is_dynamic(section) {
            continue;
        }
        let records = records(elf, section, header)?;
        left = left
            .checked_sub(records.len())
            .ok_or_else(|| broken("relocation sections overlap", header))?;
        // A relative relocation needs no symbols, so the link may be 0.
        let link = section.sh_link(LE);
        let table = match usize::try_from(link) {
            Ok(index) if index != 0 => Some(Table::parse(elf, index)?),
            _ => None,
        };
        let mut offset = section.sh_offset(LE);
        for record in records {
            relocations.push(relocation(record, table.as_ref(), image, offset)?);
            offset += 24;
        }
    }
    Ok(relocations)
}

/// Whether the relocations are the loader's work: they apply to the whole object or are loaded.
fn is_dynamic(section: &Section) -> bool {
    section.sh_info(LE) == 0 || section.sh_flags(LE).0 & SECTION_ALLOC != 0
}

fn records<'data>(elf: Elf<'data>, section: &Section, header: u64) -> Result<&'data [Rela], LoadError> {
    let size = section.sh_size(LE);
    let count = usize::try_from(size / 24).unwrap_or(usize::MAX);
    if section.sh_entsize(LE) != 24 || !size.is_multiple_of(24) {
        return Err(broken("relocation records are not 24 bytes each", header));
    }
    elf.data
        .read_slice_at(section.sh_offset(LE), count)
        .map_err(|()| broken("a relocation section extends beyond the end of the file", header))
}

fn relocation<'data>(
    record: &Rela,
    table: Option<&Table<'data>>,
    image: &Image<'data>,
    file_offset: u64,
) -> Result<Relocation<'data>, LoadError> {
    let kind = RelocationKind::from_number(record.r_type(LE, false).0).ok_or_else(|| {
        broken(
            "a dynamic relocation's type is not one of 1, 2, 3, 6 and 13",
            file_offset,
        )
    })?;
    let address = record.r_offset(LE);
    if !image.contains(address, kind.width()) {
        return Err(broken(
            "a relocation's place lies outside of the loaded segments",
            file_offset,
        ));
    }
    let index = usize::try_from(record.r_sym(LE, false)).unwrap_or(usize::MAX);
    let target = match kind {
        RelocationKind::Relative64 => RelocationTarget::LoadDelta,
        _ if index == 0 => RelocationTarget::Nothing,
        _ => target(table, index, image, file_offset)?,
    };
    Ok(Relocation {
        address,
        kind,
        target,
        addend: record.r_addend(LE),
        file_offset,
    })
}

fn target<'data>(
    table: Option<&Table<'data>>,
    index: usize,
    image: &Image<'data>,
    file_offset: u64,
) -> Result<RelocationTarget<'data>, LoadError> {
    let (table, symbol) = table
        .and_then(|table| Some((table, table.symbol(index)?)))
        .ok_or_else(|| broken("a relocation's symbol index is out of range", file_offset))?;
    let kind = symbol.st_type().0;
    if symbol.is_undefined(LE) {
        if !matches!(kind, TYPE_NONE | TYPE_OBJECT) {
            return Err(broken(
                "a relocation refers to an undefined symbol that is no variable",
                file_offset,
            ));
        }
        return Ok(RelocationTarget::Variable {
            name: table.name(symbol, table.offset(index))?,
            is_weak: symbol.st_bind().0 == BIND_WEAK,
        });
    }
    match kind {
        TYPE_NONE | TYPE_OBJECT | TYPE_FUNCTION | TYPE_SECTION | TYPE_KERNEL => {}
        _ => {
            return Err(broken(
                "a relocation refers to a symbol that is neither data nor code",
                file_offset,
            ))
        }
    }
    let address = symbol.st_value(LE);
    if !image.contains(address, 0) {
        return Err(broken(
            "a relocation's symbol lies outside of the loaded segments",
            file_offset,
        ));
    }
    Ok(RelocationTarget::Address(address))
}
