//! Code objects and executables.
//!
//! A *code object* is the ELF file a compiler makes for one instruction set
//! ([`CodeObject`], [`Isa`]). An *executable* is a set of code objects placed in
//! the memory of agents and linked with each other and with variables the program defines. Nothing
//! in here knows a device: memory is reached through a small trait, instruction sets through names.
//!
//! The format is LLVM's (AMDGPU usage document); the rules for executables are the HSA runtime
//! specification's, section "Code objects and executables". Input is hostile by assumption: every
//! read is checked, every error says what and where, and no size in a file decides how much is
//! allocated without being compared with the file itself.
#![forbid(unsafe_code)]

mod attributes;
mod code_object;
mod elf;
mod error;
mod executable;
mod isa;
mod kernel;
mod legacy;
mod link;
mod loaded;
mod metadata;
mod note;
mod placement;
mod processor;
mod reader;
mod symbol;
mod target;
mod uri;

pub use attributes::{Allocation, Linkage, SymbolKind, Variable, VariableSegment};
pub use code_object::{CodeObject, Layout, Segment};
pub use error::{ErrorKind, LoadError};
pub use executable::{Executable, ExecutableError, FloatRounding, LoadTarget, Profile, Symbol};
pub use isa::{
    compatible, compatible_with_any, AgentIsa, Feature, Incompatible, InvalidIsaName, Isa, IsaLimits,
    ObjectTarget, ISA_LIMITS, ISA_PREFIX,
};
pub use kernel::{Kernel, DESCRIPTOR_SIZE, DESCRIPTOR_V2_SIZE};
pub use legacy::{CodeSymbol, SerializedCodeObject};
pub use link::{Relocation, RelocationKind, RelocationTarget};
pub use loaded::LoadedCodeObject;
pub use metadata::{ArgMetadata, KernelMetadata, Metadata};
pub use note::{HsailSettings, Note};
pub use placement::{AgentKey, Placed, Placement, PlacementError};
pub use processor::{Processor, PROCESSORS};
pub use reader::{CodeObjectReader, ReaderError, SharedBytes};
pub use symbol::{ObjectSymbol, ObjectSymbolKind, DESCRIPTOR_SUFFIX};
pub use target::Version;
pub use uri::MemoryUri;
