//! The symbols of a code object that a program can ask for.
//!
//! The table is `.symtab`; a stripped object has only `.dynsym`, which names everything that is
//! exported and is used instead (AMD's runtime finds nothing in such an object). Of the entries the
//! loader keeps objects (type 1), declarations (type 5, `STT_COMMON`) and version 2 kernels
//! (type 10). The code symbol `foo` of a version 3 kernel has type 2 and is not kept: programs ask
//! for the descriptor `foo.kd`. Local objects are invisible, local version 2 kernels are not.
//!
//! Indirect functions of HSAIL, whose code addresses programs ask for and pass to kernels, have type 11 in version 2. Later
//! versions know none, so there they are the exported code symbols with a name of HSAIL that no kernel has.

use object::elf::{SHT_DYNSYM, SHT_SYMTAB};
use object::read::elf::{SectionHeader as _, SectionTable, Sym as _, SymbolTable};
use object::read::{SectionIndex, StringTable, SymbolIndex};
use std::collections::HashSet;

use super::attributes::{is_hsail, kept_as};
use super::code_object::Image;
use super::elf::{Elf, Header, Section, Symbol, LE};
use super::error::{broken, LoadError};
use super::kernel::{Kernel, DESCRIPTOR_SIZE, DESCRIPTOR_V2_SIZE};
use super::processor::Processor;
use super::target::Version;

pub(super) const TYPE_NONE: u8 = 0;
pub(super) const TYPE_OBJECT: u8 = 1;
pub(super) const TYPE_FUNCTION: u8 = 2;
pub(super) const TYPE_SECTION: u8 = 3;
pub(super) const TYPE_COMMON: u8 = 5;
pub(super) const TYPE_KERNEL: u8 = 10;
const TYPE_INDIRECT_FUNCTION: u8 = 11;
pub(super) const BIND_LOCAL: u8 = 0;
pub(super) const BIND_WEAK: u8 = 2;

const SECTION_WRITE: u64 = 1;
pub(super) const SECTION_ALLOC: u64 = 2;

/// The ending that marks a kernel descriptor from version 3 on.
pub const DESCRIPTOR_SUFFIX: &str = ".kd";

/// Code objects share the ends of names, but a table whose names add up to this many times the file
/// is made to waste time.
const NAME_BUDGET: usize = 4;

/// A symbol a program can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectSymbol<'data> {
    /// Its full name, including the ending of a descriptor unless it is a kernel of HSAIL.
    pub name: &'data str,
    /// Its address as linked.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// An alignment its address is known to have.
    pub alignment: u64,
    /// Whether other modules see it (program linkage).
    pub is_global: bool,
    /// What it is.
    pub kind: ObjectSymbolKind,
}

/// What a symbol stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectSymbolKind {
    /// A kernel's descriptor.
    Kernel(Kernel),
    /// A variable.
    Variable {
        /// Whether device code cannot write it.
        is_const: bool,
    },
    /// An indirect function of HSAIL.
    IndirectFunction,
    /// A variable that somebody else must define.
    Declaration,
}

/// A symbol table of the file with what is needed to read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'data> {
    table: SymbolTable<'data, Header>,
    offset: u64,
}

impl<'data> Table<'data> {
    /// The table in the section with an index.
    pub(super) fn parse(elf: Elf<'data>, index: usize) -> Result<Self, LoadError> {
        let header = elf.section_header_offset(index);
        let section: &Section = elf
            .sections
            .get(index)
            .ok_or_else(|| broken("a symbol table's section index is out of range", header))?;
        let kind = section.sh_type(LE);
        if kind != SHT_SYMTAB && kind != SHT_DYNSYM {
            return Err(broken("a section that should be a symbol table is none", header));
        }
        let sections = SectionTable::new(elf.sections, StringTable::default());
        let table = SymbolTable::parse(LE, elf.data, &sections, SectionIndex(index), section)
            .map_err(|_| broken("a symbol table or its strings lie outside of the file", header))?;
        Ok(Self {
            table,
            offset: section.sh_offset(LE),
        })
    }

    /// A symbol by its index.
    pub(super) fn symbol(&self, index: usize) -> Option<&'data Symbol> {
        self.table.symbol(SymbolIndex(index)).ok()
    }

    /// The file offset of a symbol.
    pub(super) fn offset(&self, index: usize) -> u64 {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        self.offset.saturating_add(index.saturating_mul(24))
    }

    /// A symbol's name.
    pub(super) fn name(&self, symbol: &Symbol, offset: u64) -> Result<&'data str, LoadError> {
        let bytes = self
            .table
            .symbol_name(LE, symbol)
            .map_err(|_| broken("a symbol's name lies outside of the string table", offset))?;
        std::str::from_utf8(bytes).map_err(|_| broken("a symbol's name is not UTF-8", offset))
    }
}

/// Reads the symbols a program can ask for, in the order of the table.
pub(super) fn read<'data>(
    elf: Elf<'data>,
    version: Version,
    processor: &Processor,
    image: &Image<'data>,
) -> Result<Vec<ObjectSymbol<'data>>, LoadError> {
    let Some((index, _, _)) = elf
        .sections_of(SHT_SYMTAB)
        .next()
        .or_else(|| elf.sections_of(SHT_DYNSYM).next())
    else {
        return Ok(Vec::new());
    };
    let table = Table::parse(elf, index)?;
    let mut budget = elf.data.len().saturating_mul(NAME_BUDGET);
    let mut symbols = Vec::new();
    for (index, symbol) in table.table.enumerate() {
        let kind = symbol.st_type().0;
        let is_global = symbol.st_bind().0 != BIND_LOCAL;
        let is_kept = match kind {
            TYPE_OBJECT | TYPE_COMMON => is_global,
            TYPE_KERNEL => version.major == 2,
            TYPE_INDIRECT_FUNCTION => is_global && version.major == 2,
            TYPE_FUNCTION => is_global && version.major >= 3,
            _ => false,
        };
        if !is_kept {
            continue;
        }
        let offset = table.offset(index.0);
        let name = table.name(symbol, offset)?;
        budget = budget
            .checked_sub(name.len())
            .ok_or_else(|| broken("the symbols' names are larger than the file", offset))?;
        if kind == TYPE_FUNCTION && !is_hsail(name) {
            continue;
        }
        let found = Found {
            symbol,
            name,
            offset,
            is_global,
        };
        if kind == TYPE_COMMON {
            symbols.push(found.declaration());
            continue;
        }
        let section = table
            .table
            .symbol_section(LE, symbol, index)
            .map_err(|_| broken("a symbol's section index is invalid", offset))?;
        // Undefined, absolute and common symbols have no section; nothing of theirs is loaded.
        let Some(section) = section else { continue };
        let section = elf
            .sections
            .get(section.0)
            .ok_or_else(|| broken("a symbol's section index is out of range", offset))?;
        if section.sh_flags(LE).0 & SECTION_ALLOC == 0 {
            continue;
        }
        symbols.push(if kind == TYPE_KERNEL {
            found.kernel_v2(section, image)?
        } else if matches!(kind, TYPE_FUNCTION | TYPE_INDIRECT_FUNCTION) {
            found.indirect_function(section, image)?
        } else if version.major >= 3 && name.ends_with(DESCRIPTOR_SUFFIX) {
            found.kernel(section, processor, image)?
        } else {
            found.variable(section, image)?
        });
    }
    leave_out_code_of_kernels(&mut symbols);
    Ok(symbols)
}

/// Removes the code symbols `&foo` of kernels `&foo.kd`.
fn leave_out_code_of_kernels(symbols: &mut Vec<ObjectSymbol<'_>>) {
    let kernels: HashSet<&str> = symbols
        .iter()
        .filter(|symbol| matches!(symbol.kind, ObjectSymbolKind::Kernel(_)))
        .map(|symbol| symbol.name)
        .collect();
    symbols
        .retain(|symbol| symbol.kind != ObjectSymbolKind::IndirectFunction || !kernels.contains(symbol.name));
}

/// A kept table entry on its way to becoming an [`ObjectSymbol`].
struct Found<'data> {
    symbol: &'data Symbol,
    name: &'data str,
    offset: u64,
    is_global: bool,
}

impl<'data> Found<'data> {
    fn declaration(&self) -> ObjectSymbol<'data> {
        // The value of a common symbol is the alignment it asks for.
        self.finish(0, self.symbol.st_value(LE), ObjectSymbolKind::Declaration)
    }

    fn variable(&self, section: &Section, image: &Image<'data>) -> Result<ObjectSymbol<'data>, LoadError> {
        let address = self.symbol.st_value(LE);
        if !image.contains(address, self.symbol.st_size(LE)) {
            return Err(broken(
                "a variable lies outside of the loaded segments",
                self.offset,
            ));
        }
        let is_const = section.sh_flags(LE).0 & SECTION_WRITE == 0;
        Ok(self.finish(
            address,
            alignment(section, address),
            ObjectSymbolKind::Variable { is_const },
        ))
    }

    fn indirect_function(
        &self,
        section: &Section,
        image: &Image<'data>,
    ) -> Result<ObjectSymbol<'data>, LoadError> {
        let address = self.symbol.st_value(LE);
        if !image.contains(address, self.symbol.st_size(LE).max(4)) {
            return Err(broken(
                "an indirect function lies outside of the loaded segments",
                self.offset,
            ));
        }
        Ok(self.finish(
            address,
            alignment(section, address),
            ObjectSymbolKind::IndirectFunction,
        ))
    }

    fn kernel(
        &self,
        section: &Section,
        processor: &Processor,
        image: &Image<'data>,
    ) -> Result<ObjectSymbol<'data>, LoadError> {
        let kernel = image
            .file_bytes(self.symbol.st_value(LE), DESCRIPTOR_SIZE)
            .and_then(|bytes| Kernel::from_descriptor(bytes, processor))
            .ok_or_else(|| {
                broken(
                    "a kernel descriptor's 64 bytes lie outside of the file",
                    self.offset,
                )
            })?;
        self.checked_kernel(section, kernel, image)
    }

    fn kernel_v2(&self, section: &Section, image: &Image<'data>) -> Result<ObjectSymbol<'data>, LoadError> {
        let kernel = image
            .file_bytes(self.symbol.st_value(LE), DESCRIPTOR_V2_SIZE)
            .and_then(Kernel::from_kernel_code)
            .ok_or_else(|| {
                broken(
                    "a kernel's 256-byte amd_kernel_code_t lies outside of the file or has a \
                     size out of range",
                    self.offset,
                )
            })?;
        self.checked_kernel(section, kernel, image)
    }

    fn checked_kernel(
        &self,
        section: &Section,
        kernel: Kernel,
        image: &Image<'data>,
    ) -> Result<ObjectSymbol<'data>, LoadError> {
        let address = self.symbol.st_value(LE);
        if !address.is_multiple_of(64) {
            return Err(broken(
                "a kernel descriptor is not aligned to 64 bytes",
                self.offset,
            ));
        }
        if !image.contains(address.wrapping_add_signed(kernel.entry_offset), 4) {
            return Err(broken(
                "a kernel's first instruction lies outside of the loaded segments",
                self.offset,
            ));
        }
        Ok(self.finish(
            address,
            alignment(section, address),
            ObjectSymbolKind::Kernel(kernel),
        ))
    }

    fn finish(&self, address: u64, alignment: u64, kind: ObjectSymbolKind) -> ObjectSymbol<'data> {
        ObjectSymbol {
            name: match kind {
                ObjectSymbolKind::Kernel(_) => kept_as(self.name),
                _ => self.name,
            },
            address,
            size: self.symbol.st_size(LE),
            alignment,
            is_global: self.is_global,
            kind,
        }
    }
}

/// A section's alignment, as far as the address keeps it.
fn alignment(section: &Section, address: u64) -> u64 {
    let section = section.sh_addralign(LE).max(1);
    match address.trailing_zeros() {
        64 => section,
        zeros => section.min(1 << zeros),
    }
}
