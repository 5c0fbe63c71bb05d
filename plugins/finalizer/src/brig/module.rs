//! A module, and the way through its entries.

use super::check;
use super::container::{self, Sections, Words};
use super::directive::{Body, Directive, Executable, ModuleFacts, Variable};
use super::error::BrigError;
use super::instruction::Instruction;
use super::layout;
use super::operand::List;
use super::values::{MachineModel, Profile, Round};
use std::fmt;

/// Where an entry of the code is: its name in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeOffset(pub u32);

impl CodeOffset {
    pub(super) fn some(offset: u32) -> Option<Self> {
        (offset != 0).then_some(Self(offset))
    }
}

/// The bytes of one entry. A member that is not there is 0, which checked entries have none of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'m>(pub(super) &'m [u8]);

impl Raw<'_> {
    pub(super) fn size(self) -> u16 {
        self.u16(0)
    }

    pub(super) fn kind(self) -> u16 {
        self.u16(2)
    }

    pub(super) fn u8(self, at: u64) -> u8 {
        Words(self.0).bytes::<1>(at).map_or(0, u8::from_le_bytes)
    }

    pub(super) fn u16(self, at: u64) -> u16 {
        Words(self.0).bytes(at).map_or(0, u16::from_le_bytes)
    }

    pub(super) fn u32(self, at: u64) -> u32 {
        Words(self.0).u32(at).unwrap_or(0)
    }

    pub(super) fn u64(self, at: u64) -> u64 {
        Words(self.0).u64(at).unwrap_or(0)
    }
}

/// A module whose structure is right: every reference in it leads to an entry of a kind that may be there.
pub struct Module {
    bytes: Vec<u8>,
    sections: Sections,
    /// Where the entries of the code start, in order.
    starts: Vec<u32>,
    /// Where the module directive is.
    directive: CodeOffset,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("bytes", &self.bytes.len())
            .field("name", &self.facts().name)
            .finish_non_exhaustive()
    }
}

impl Module {
    /// The size of a module, by its header.
    pub fn size(header: &[u8; super::HEADER_BYTES]) -> Result<u64, BrigError> {
        container::size(header)
    }

    /// Takes a module over and checks its structure.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, BrigError> {
        let sections = container::sections(&bytes)?;
        let mut module = Self {
            bytes,
            sections,
            starts: Vec::new(),
            directive: CodeOffset(0),
        };
        module.starts = check::code_starts(&module)?;
        module.directive = check::structure(&module)?;
        Ok(module)
    }

    /// The whole block.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What the module directive says.
    #[must_use]
    pub fn facts(&self) -> ModuleFacts<'_> {
        match self.directive(self.directive) {
            Some(Directive::Module(facts)) => facts,
            _ => ModuleFacts {
                name: "",
                version: (0, 0),
                profile: Profile::BASE,
                machine_model: MachineModel::SMALL,
                rounding: Round::NONE,
            },
        }
    }

    /// The entries of module scope: those in bodies and arguments are left out.
    #[must_use]
    pub fn top(&self) -> Entries<'_> {
        Entries {
            module: self,
            next: self.sections.code.first,
            end: self.code_end(),
            is_top: true,
        }
    }

    /// Kernels, functions and signatures, declarations too, in order.
    pub fn executables(&self) -> impl Iterator<Item = Executable<'_>> {
        self.top().filter_map(|entry| match entry {
            Entry::Directive(Directive::Executable(executable)) => Some(executable),
            _ => None,
        })
    }

    /// Variables of module scope, declarations too, in order.
    pub fn variables(&self) -> impl Iterator<Item = Variable<'_>> {
        self.top().filter_map(|entry| match entry {
            Entry::Directive(Directive::Variable(variable)) => Some(variable),
            _ => None,
        })
    }

    /// The entries of a part of the code.
    #[must_use]
    pub fn entries(&self, body: Body) -> Entries<'_> {
        Entries {
            module: self,
            next: body.start,
            end: body.end.min(self.code_end()),
            is_top: false,
        }
    }

    /// The directive at an offset, if one starts there.
    #[must_use]
    pub fn directive(&self, at: CodeOffset) -> Option<Directive<'_>> {
        self.starts.binary_search(&at.0).ok()?;
        Directive::new(self, at, self.code_entry(at.0))
    }

    /// The kernel, function or signature at an offset, if there is one.
    #[must_use]
    pub fn executable(&self, at: CodeOffset) -> Option<Executable<'_>> {
        match self.directive(at)? {
            Directive::Executable(executable) => Some(executable),
            _ => None,
        }
    }

    /// The variable at an offset, if there is one.
    #[must_use]
    pub fn variable(&self, at: CodeOffset) -> Option<Variable<'_>> {
        match self.directive(at)? {
            Directive::Variable(variable) => Some(variable),
            _ => None,
        }
    }

    pub(super) fn sections(&self) -> &Sections {
        &self.sections
    }

    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    pub(super) fn code_end(&self) -> u32 {
        end(&self.sections.code)
    }

    /// The bytes of a section.
    pub(super) fn part(&self, section: &container::Section) -> &[u8] {
        self.bytes.get(section.range.clone()).unwrap_or_default()
    }

    /// The entry of the code at an offset; empty if there is none.
    pub(super) fn code_entry(&self, at: u32) -> Raw<'_> {
        raw(self.part(&self.sections.code), at)
    }

    /// The operand at an offset; empty if there is none.
    pub(super) fn operand_entry(&self, at: u32) -> Raw<'_> {
        raw(self.part(&self.sections.operands), at)
    }

    /// The bytes of an entry of the data, if there is one.
    pub(super) fn checked_data(&self, at: u32) -> Option<&[u8]> {
        if !at.is_multiple_of(4) || at < self.sections.data.first {
            return None;
        }
        let words = Words(self.part(&self.sections.data));
        words.part(u64::from(at) + 4, words.u32(at.into())?.into())
    }

    /// The bytes of an entry of the data; none for offset 0.
    pub(super) fn data(&self, at: u32) -> &[u8] {
        self.checked_data(at).unwrap_or_default()
    }

    /// A string.
    pub(super) fn text(&self, at: u32) -> &str {
        std::str::from_utf8(self.data(at)).unwrap_or_default()
    }

    /// A list of references.
    pub(super) fn list(&self, at: u32) -> List<'_> {
        List::new(self, self.data(at))
    }
}

pub(super) fn end(section: &container::Section) -> u32 {
    u32::try_from(section.range.len()).unwrap_or(u32::MAX)
}

fn raw(section: &[u8], at: u32) -> Raw<'_> {
    let words = Words(section);
    let size = words.bytes(at.into()).map_or(0, u16::from_le_bytes);
    Raw(words.part(at.into(), size.into()).unwrap_or_default())
}

/// An entry of the code.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'m> {
    /// A directive.
    Directive(Directive<'m>),
    /// An instruction.
    Instruction(Instruction<'m>),
}

/// Entries of the code, in order.
#[derive(Clone, Debug)]
pub struct Entries<'m> {
    module: &'m Module,
    next: u32,
    end: u32,
    is_top: bool,
}

impl<'m> Iterator for Entries<'m> {
    type Item = Entry<'m>;

    fn next(&mut self) -> Option<Entry<'m>> {
        while self.next < self.end {
            let at = CodeOffset(self.next);
            let entry = self.module.code_entry(self.next);
            // What is no entry ends the walk.
            self.next = match entry.size() {
                0 => self.end,
                size => self.next.saturating_add(size.into()),
            };
            if layout::is_instruction(entry.kind()) {
                return Some(Entry::Instruction(Instruction::new(self.module, at, entry)));
            }
            if let Some(directive) = Directive::new(self.module, at, entry) {
                if let (true, Directive::Executable(executable)) = (self.is_top, &directive) {
                    self.next = self.next.max(executable.body.end);
                }
                return Some(Entry::Directive(directive));
            }
        }
        None
    }
}
