//! Why a code object could not be loaded.
//!
//! A user who meets one of these wants to know which of three worlds he is in: the file is newer
//! than this runtime ([`ErrorKind::Unsupported`]), it is fine but made for another device
//! ([`ErrorKind::OtherIsa`]), or it is damaged ([`ErrorKind::Broken`]). Every variant therefore says
//! what was found, where in the file, and what would have been accepted.

use super::isa::Incompatible;

/// The three clearly different reasons for refusing a code object, and the linker's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The object is well formed but of a version or for a processor this runtime does not know.
    Unsupported,
    /// The object is known and whole, but for another machine or another ISA.
    OtherIsa,
    /// The bytes contradict the format.
    Broken,
    /// The object refers to a variable nobody defined.
    UndefinedVariable,
}

/// An error from parsing or linking a code object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The code object version lies outside of what is supported.
    #[error(
        "Code object version {major} (file offset {offset:#x}) is not supported: \
         versions 2 to 6 are"
    )]
    Version {
        /// The major version the object says it has.
        major: u32,
        /// File offset of the field that says so.
        offset: u64,
    },
    /// `EI_ABIVERSION` has no code object version assigned to it.
    #[error(
        "ELF ABI version {abi} (file offset 0x8) is newer than this runtime: \
         0 to 4 (code object versions 2 to 6) are supported"
    )]
    AbiVersion {
        /// The ABI version of the ELF header.
        abi: u8,
    },
    /// The processor number in `e_flags` is not assigned to any known processor.
    #[error(
        "Processor number {mach:#x} in e_flags (file offset 0x30) is unknown: \
         the code object is newer than this runtime or damaged"
    )]
    Processor {
        /// The `EF_AMDGPU_MACH` field.
        mach: u32,
    },
    /// The ISA note of a version 2 object names a target that no version 2 tool chain had.
    #[error(
        "Target AMD:AMDGPU:{major}:{minor}:{stepping} in the ISA note (file offset {offset:#x}) is \
         unknown: version 2 code objects exist for 7:0:0 to 9:0:7 and 9:0:12"
    )]
    NoteTarget {
        /// ISA major version.
        major: u32,
        /// ISA minor version.
        minor: u32,
        /// ISA stepping.
        stepping: u32,
        /// File offset of the note's contents.
        offset: u64,
    },
    /// The ELF file is for a machine that is no AMD GPU.
    #[error("ELF machine {machine} (file offset 0x12) is not an AMD GPU: 224 (EM_AMDGPU) is accepted")]
    Machine {
        /// The `e_machine` field.
        machine: u16,
    },
    /// The ELF file is for another operating system interface (PAL, Mesa).
    #[error("ELF OS ABI {os_abi} (file offset 0x7) is not HSA: 64 (ELFOSABI_AMDGPU_HSA) is accepted")]
    OsAbi {
        /// The `EI_OSABI` field.
        os_abi: u8,
    },
    /// The object is whole, but for an ISA the agent does not execute.
    #[error(transparent)]
    Isa(#[from] Incompatible),
    /// The bytes contradict the format.
    #[error("Code object is broken at file offset {offset:#x}: {reason}")]
    Broken {
        /// What is wrong, in terms of the format.
        reason: &'static str,
        /// File offset of the offending bytes.
        offset: u64,
    },
    /// A relocation needs a variable that nobody defined.
    #[error("Variable {name} is not defined: define it before loading the code object that uses it")]
    UndefinedVariable {
        /// The symbol's name.
        name: String,
    },
}

impl LoadError {
    /// Which of the reasons this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Version { .. }
            | Self::AbiVersion { .. }
            | Self::Processor { .. }
            | Self::NoteTarget { .. } => ErrorKind::Unsupported,
            Self::Machine { .. } | Self::OsAbi { .. } | Self::Isa(_) => ErrorKind::OtherIsa,
            Self::Broken { .. } => ErrorKind::Broken,
            Self::UndefinedVariable { .. } => ErrorKind::UndefinedVariable,
        }
    }
}

/// Shorthand for the error most reads end in.
pub(super) fn broken(reason: &'static str, offset: u64) -> LoadError {
    LoadError::Broken { reason, offset }
}
