//! Directives (PRM 18.5).

use super::layout::directive as kind;
use super::module::{CodeOffset, Module, Raw};
use super::operand::{List, Operand};
use super::types::Type;
use super::values::{Align, Allocation, ControlKind, Linkage, MachineModel, Profile, Round, Segment};

/// A part of the code: from the first entry up to the one at the end, which is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Body {
    /// Whether it has no entries.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether an entry is in it.
    #[must_use]
    pub fn contains(self, at: CodeOffset) -> bool {
        (self.start..self.end).contains(&at.0)
    }
}

/// What the module directive says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleFacts<'m> {
    /// Its name, with the `&`.
    pub name: &'m str,
    /// Version of HSAIL.
    pub version: (u32, u32),
    /// Profile.
    pub profile: Profile,
    /// Machine model.
    pub machine_model: MachineModel,
    /// Rounding of operations that name none: default, near or zero.
    pub rounding: Round,
}

/// What an executable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExecutableKind {
    /// A kernel.
    Kernel,
    /// A function.
    Function,
    /// A function that is called through a handle.
    IndirectFunction,
    /// The type of indirect functions.
    Signature,
}

/// A kernel, a function or a signature.
#[derive(Clone, Copy, Debug)]
pub struct Executable<'m> {
    module: &'m Module,
    /// Where it is.
    pub at: CodeOffset,
    /// What it is.
    pub kind: ExecutableKind,
    /// Its name, with the `&`.
    pub name: &'m str,
    /// Who sees it.
    pub linkage: Linkage,
    /// Whether this is its definition, with a body.
    pub is_definition: bool,
    outputs: Body,
    inputs: Body,
    /// Its body; empty for a declaration.
    pub body: Body,
}

impl<'m> Executable<'m> {
    /// Its output argument, if it has one.
    #[must_use]
    pub fn output(self) -> Option<Variable<'m>> {
        variables(self.module, self.outputs).next()
    }

    /// Its input arguments; of a kernel, those of the kernarg segment.
    pub fn inputs(self) -> impl Iterator<Item = Variable<'m>> {
        variables(self.module, self.inputs)
    }

    /// Directives and instructions of its body, in order.
    #[must_use]
    pub fn entries(self) -> super::module::Entries<'m> {
        self.module.entries(self.body)
    }

    /// All of its entries: arguments and body.
    pub(super) fn whole(self) -> Body {
        Body {
            start: self.at.0,
            end: self.body.end,
        }
    }
}

fn variables(module: &Module, body: Body) -> impl Iterator<Item = Variable<'_>> {
    module.entries(body).filter_map(|entry| match entry {
        super::module::Entry::Directive(Directive::Variable(variable)) => Some(variable),
        _ => None,
    })
}

/// A variable or an argument.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'m> {
    /// Where it is.
    pub at: CodeOffset,
    /// Its name, with the `&` or `%`.
    pub name: &'m str,
    /// Its first value: a constant, image, sampler or list of these.
    pub init: Option<Operand<'m>>,
    /// Its type; arrays say so.
    pub ty: Type,
    /// Where it is.
    pub segment: Segment,
    /// Its alignment, if it names one.
    pub align: Align,
    /// Elements of an array; 0 for an array of unknown size and for what is no array.
    pub dim: u64,
    /// Whether this is its definition.
    pub is_definition: bool,
    /// Whether it never changes.
    pub is_const: bool,
    /// Who sees it.
    pub linkage: Linkage,
    /// How often it exists.
    pub allocation: Allocation,
}

impl Variable<'_> {
    /// Its size in bytes; 0 for an array of unknown size, and as much as 64 bits can say for one that is larger.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let elements = if self.ty.is_array() { self.dim } else { 1 };
        elements.saturating_mul(self.ty.bytes().into())
    }

    /// The alignment that it has: the one it names, else the natural one of its type.
    #[must_use]
    pub fn alignment(&self) -> u32 {
        self.align.bytes().unwrap_or_else(|| self.ty.bytes().max(1))
    }
}

/// A label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'m> {
    /// Where it is.
    pub at: CodeOffset,
    /// Its name, with the `@`.
    pub name: &'m str,
}

/// A barrier for some of a work-group's wavefronts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fbarrier<'m> {
    /// Where it is.
    pub at: CodeOffset,
    /// Its name.
    pub name: &'m str,
    /// Whether this is its definition.
    pub is_definition: bool,
    /// Who sees it.
    pub linkage: Linkage,
}

/// A control directive.
#[derive(Clone, Copy, Debug)]
pub struct Control<'m> {
    /// Where it is.
    pub at: CodeOffset,
    /// What it controls.
    pub kind: ControlKind,
    /// Its operands: constants and `WAVESIZE`.
    pub operands: List<'m>,
}

/// A directive.
#[derive(Clone, Copy, Debug)]
pub enum Directive<'m> {
    /// Start of an arg block.
    ArgBlockStart(CodeOffset),
    /// End of an arg block.
    ArgBlockEnd(CodeOffset),
    /// A comment.
    Comment(&'m str),
    /// A control directive.
    Control(Control<'m>),
    /// An extension that the module needs.
    Extension(CodeOffset, &'m str),
    /// An fbarrier.
    Fbarrier(Fbarrier<'m>),
    /// A kernel, function or signature.
    Executable(Executable<'m>),
    /// A label.
    Label(Label<'m>),
    /// A place in the source: file, line, column.
    Loc(&'m str, u32, u32),
    /// The module directive.
    Module(ModuleFacts<'m>),
    /// A pragma.
    Pragma(List<'m>),
    /// A variable.
    Variable(Variable<'m>),
}

impl<'m> Directive<'m> {
    /// The directive of an entry that has been checked to be one; `None` for filler.
    pub(super) fn new(module: &'m Module, at: CodeOffset, entry: Raw<'m>) -> Option<Self> {
        let text = |offset| module.text(entry.u32(offset));
        let executable = |kind| {
            let start = at.0 + u32::from(entry.size());
            let [inputs, body, end] = [12, 16, 20].map(|offset| entry.u32(offset));
            Self::Executable(Executable {
                module,
                at,
                kind,
                name: text(4),
                linkage: Linkage(entry.u8(25)),
                is_definition: entry.u8(24) & 1 != 0,
                outputs: Body { start, end: inputs },
                inputs: Body {
                    start: inputs,
                    end: body,
                },
                body: Body { start: body, end },
            })
        };
        Some(match entry.kind() {
            kind::ARG_BLOCK_START => Self::ArgBlockStart(at),
            kind::ARG_BLOCK_END => Self::ArgBlockEnd(at),
            kind::COMMENT => Self::Comment(text(4)),
            kind::CONTROL => Self::Control(Control {
                at,
                kind: ControlKind(entry.u16(4)),
                operands: module.list(entry.u32(8)),
            }),
            kind::EXTENSION => Self::Extension(at, text(4)),
            kind::FBARRIER => Self::Fbarrier(Fbarrier {
                at,
                name: text(4),
                is_definition: entry.u8(8) & 1 != 0,
                linkage: Linkage(entry.u8(9)),
            }),
            kind::FUNCTION => executable(ExecutableKind::Function),
            kind::INDIRECT_FUNCTION => executable(ExecutableKind::IndirectFunction),
            kind::KERNEL => executable(ExecutableKind::Kernel),
            kind::SIGNATURE => executable(ExecutableKind::Signature),
            kind::LABEL => Self::Label(Label { at, name: text(4) }),
            kind::LOC => Self::Loc(text(4), entry.u32(8), entry.u32(12)),
            kind::MODULE => Self::Module(ModuleFacts {
                name: text(4),
                version: (entry.u32(8), entry.u32(12)),
                profile: Profile(entry.u8(16)),
                machine_model: MachineModel(entry.u8(17)),
                rounding: Round(entry.u8(18)),
            }),
            kind::PRAGMA => Self::Pragma(module.list(entry.u32(4))),
            kind::VARIABLE => Self::Variable(Variable {
                at,
                name: text(4),
                init: (entry.u32(8) != 0).then(|| module.operand(entry.u32(8))),
                ty: Type(entry.u16(12)),
                segment: Segment(entry.u8(14)),
                align: Align(entry.u8(15)),
                dim: entry.u64(16),
                is_definition: entry.u8(24) & 1 != 0,
                is_const: entry.u8(24) & 2 != 0,
                linkage: Linkage(entry.u8(25)),
                allocation: Allocation(entry.u8(26)),
            }),
            _ => return None,
        })
    }
}
