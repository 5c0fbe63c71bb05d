//! BRIG 1.0, the binary form of HSAIL (HSA Programmer's Reference Manual 1.02, chapter 18), read without trust.
//!
//! A module is one block: a header, an index of sections, and three sections. `hsa_data` holds strings and lists,
//! `hsa_code` directives and instructions, `hsa_operand` what these operate on. Everything refers to everything else by
//! an offset from the start of the section that it is in, and 0 is no reference.
//!
//! [`Module::parse`] walks all of it once and checks every size, reference and list; what it accepts can be read without
//! any further check. Its cost is bounded by the size of the module, shared lists included. What the entries *mean* is
//! not its matter.
//!
//! The views ([`Directive`], [`Instruction`], [`Operand`]) are small values that are made when an entry is looked at.

mod check;
mod container;
mod directive;
mod error;
mod instruction;
mod layout;
mod module;
mod opcode;
mod operand;
mod types;
mod values;

pub use container::HEADER_BYTES;
pub use directive::{
    Body, Control, Directive, Executable, ExecutableKind, Fbarrier, Label, ModuleFacts, Variable,
};
pub use error::{BrigError, Place};
pub use instruction::{Form, Instruction};
pub use module::{CodeOffset, Entries, Entry, Module};
pub use opcode::Opcode;
pub use operand::{Address, Constant, ImageConstant, List, Operand, Register, SamplerConstant};
pub use types::{Base, Type};
pub use values::{
    Align, Allocation, AtomicOp, ChannelOrder, ChannelType, Compare, ControlKind, Geometry, ImageQuery,
    Linkage, MachineModel, MemoryOrder, MemoryScope, Pack, Profile, RegisterKind, Round, SamplerAddressing,
    SamplerCoordinates, SamplerFilter, SamplerQuery, Segment, Width,
};
