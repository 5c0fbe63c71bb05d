//! Operands (PRM 18.7).

use super::layout::operand as kind;
use super::module::{CodeOffset, Module, Raw};
use super::types::Type;
use super::values::{
    Align, ChannelOrder, ChannelType, Geometry, RegisterKind, SamplerAddressing, SamplerCoordinates,
    SamplerFilter,
};

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register {
    /// Its size.
    pub kind: RegisterKind,
    /// Its number.
    pub number: u16,
}

/// An address: a symbol, a register and an offset, added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// A variable or an fbarrier.
    pub symbol: Option<CodeOffset>,
    /// An address in a register.
    pub register: Option<Register>,
    /// Bytes; in 32-bit segments only the low half counts.
    pub offset: i64,
}

/// A constant: its bytes, one after the other for arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant<'m> {
    /// Its type.
    pub ty: Type,
    /// Its value, little endian; a multiple of the type's size, and not empty.
    pub bytes: &'m [u8],
}

impl Constant<'_> {
    /// The value as a number, cut to 128 bits.
    #[must_use]
    pub fn number(self) -> u128 {
        let bytes = self.bytes.iter().take(16).rev();
        bytes.fold(0, |value, &byte| value << 8 | u128::from(byte))
    }
}

/// The properties of a constant image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageConstant {
    /// Its type.
    pub ty: Type,
    /// Its shape.
    pub geometry: Geometry,
    /// Its channels.
    pub order: ChannelOrder,
    /// The type of its channels.
    pub channel: ChannelType,
    /// Width, height, depth, elements of the array.
    pub size: [u64; 4],
}

/// The properties of a constant sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerConstant {
    /// Its type.
    pub ty: Type,
    /// Its coordinates.
    pub coordinates: SamplerCoordinates,
    /// Its filter.
    pub filter: SamplerFilter,
    /// What it does outside of the image.
    pub addressing: SamplerAddressing,
}

/// A list of references.
#[derive(Clone, Copy, Debug)]
pub struct List<'m> {
    module: &'m Module,
    bytes: &'m [u8],
}

impl<'m> List<'m> {
    pub(super) fn new(module: &'m Module, bytes: &'m [u8]) -> Self {
        Self { module, bytes }
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.bytes.len() / 4
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The numbers as they stand there.
    pub fn raw(self) -> impl ExactSizeIterator<Item = u32> + 'm {
        self.bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    }

    /// The entries of the code that a code list names.
    pub fn code(self) -> impl ExactSizeIterator<Item = CodeOffset> + 'm {
        self.raw().map(CodeOffset)
    }

    /// The operands that an operand list names.
    pub fn operands(self) -> impl ExactSizeIterator<Item = Operand<'m>> + 'm {
        let module = self.module;
        self.raw().map(move |at| module.operand(at))
    }

    /// The operand at a place.
    #[must_use]
    pub fn operand(self, index: usize) -> Option<Operand<'m>> {
        self.operands().nth(index)
    }
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'m> {
    /// Memory.
    Address(Address),
    /// Padding to an alignment, in the list of an aggregate constant.
    Align(Align),
    /// Symbols or labels: arguments of a call, targets of a switch or of an indirect call.
    CodeList(List<'m>),
    /// One symbol or label.
    CodeRef(CodeOffset),
    /// A constant.
    Constant(Constant<'m>),
    /// A constant image.
    Image(ImageConstant),
    /// An aggregate, or an array of images or samplers: constants, images, samplers and alignments.
    ConstantList(Type, List<'m>),
    /// A constant sampler.
    Sampler(SamplerConstant),
    /// Several: registers, constants, `WAVESIZE`.
    List(List<'m>),
    /// A register.
    Register(Register),
    /// Text.
    String(&'m str),
    /// The number of lanes.
    Wavesize,
    /// No operand: filler, which only a reference in vain finds.
    None,
}

impl Module {
    /// The operand at an offset that an entry of this module names.
    pub(super) fn operand(&self, at: u32) -> Operand<'_> {
        let entry = self.operand_entry(at);
        match entry.kind() {
            kind::ADDRESS => Operand::Address(Address {
                symbol: CodeOffset::some(entry.u32(4)),
                register: (entry.u32(8) != 0).then(|| register(self.operand_entry(entry.u32(8)))),
                offset: i64::from_le_bytes(entry.u64(12).to_le_bytes()),
            }),
            kind::ALIGN => Operand::Align(Align(entry.u8(4))),
            kind::CODE_LIST => Operand::CodeList(self.list(entry.u32(4))),
            kind::CODE_REF => Operand::CodeRef(CodeOffset(entry.u32(4))),
            kind::CONSTANT_BYTES => Operand::Constant(Constant {
                ty: Type(entry.u16(4)),
                bytes: self.data(entry.u32(8)),
            }),
            kind::CONSTANT_IMAGE => Operand::Image(ImageConstant {
                ty: Type(entry.u16(4)),
                geometry: Geometry(entry.u8(6)),
                order: ChannelOrder(entry.u8(7)),
                channel: ChannelType(entry.u8(8)),
                size: [12, 20, 28, 36].map(|at| entry.u64(at)),
            }),
            kind::CONSTANT_OPERAND_LIST => Operand::ConstantList(Type(entry.u16(4)), self.list(entry.u32(8))),
            kind::CONSTANT_SAMPLER => Operand::Sampler(SamplerConstant {
                ty: Type(entry.u16(4)),
                coordinates: SamplerCoordinates(entry.u8(6)),
                filter: SamplerFilter(entry.u8(7)),
                addressing: SamplerAddressing(entry.u8(8)),
            }),
            kind::OPERAND_LIST => Operand::List(self.list(entry.u32(4))),
            kind::REGISTER => Operand::Register(register(entry)),
            kind::STRING => Operand::String(self.text(entry.u32(4))),
            kind::WAVESIZE => Operand::Wavesize,
            _ => Operand::None,
        }
    }
}

fn register(entry: Raw<'_>) -> Register {
    Register {
        kind: RegisterKind(entry.u16(4)),
        number: entry.u16(6),
    }
}
