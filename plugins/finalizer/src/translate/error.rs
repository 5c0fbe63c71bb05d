//! Why a program is not translated.

use crate::brig::{CodeOffset, Instruction, Type};
use std::borrow::Cow;

/// Why a program is not translated. Nothing is translated into something else than it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A function that is called is defined nowhere.
    #[error("{caller} calls {callee}, which no module of the program defines")]
    UndefinedFunction {
        /// Who calls it.
        caller: String,
        /// Its name.
        callee: String,
    },
    /// Code for the target is not made here.
    #[error("Code is made for GFX9 (from gfx900) and GFX10, not for {0}")]
    Target(String),
    /// What a module asks for is not done here.
    #[error("Module {module} cannot be finalized: {what}")]
    Module {
        /// Its name.
        module: String,
        /// What it asks for.
        what: String,
    },
    /// A variable cannot be made.
    #[error("Variable {variable} cannot be finalized: {what}")]
    Variable {
        /// Its name.
        variable: String,
        /// Why.
        what: String,
    },
    /// An instruction asks for what is not done here.
    #[error("{instruction} at {offset:#x} of {function} is not supported: {what}")]
    Unsupported {
        /// The kernel or function.
        function: String,
        /// Operation and type.
        instruction: String,
        /// Where it is in the code.
        offset: u32,
        /// What is not supported.
        what: String,
    },
    /// An instruction that cannot be.
    #[error("{instruction} at {offset:#x} of {function} is not valid: {what}")]
    Invalid {
        /// The kernel or function.
        function: String,
        /// Operation and type.
        instruction: String,
        /// Where it is in the code.
        offset: u32,
        /// What is wrong.
        what: String,
    },
}

/// Why an instruction is not translated; where it is comes later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is right, and not done here.
    Unsupported(Cow<'static, str>),
    /// It is wrong.
    Invalid(Cow<'static, str>),
    /// About something else than the instruction.
    Other(Error),
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// That an instruction is wrong.
pub(super) fn invalid<T>(what: impl Into<Cow<'static, str>>) -> Result<T, Reason> {
    Err(Reason::Invalid(what.into()))
}

/// That an instruction is not done here.
pub(super) fn unsupported<T>(what: impl Into<Cow<'static, str>>) -> Result<T, Reason> {
    Err(Reason::Unsupported(what.into()))
}

impl Reason {
    /// The error for an instruction of a function.
    pub(super) fn at(self, function: &str, instruction: &Instruction<'_>) -> Error {
        let CodeOffset(offset) = instruction.at;
        let function = function.to_owned();
        let instruction = mnemonic(instruction);
        match self {
            Self::Unsupported(what) => Error::Unsupported {
                function,
                instruction,
                offset,
                what: what.into_owned(),
            },
            Self::Invalid(what) => Error::Invalid {
                function,
                instruction,
                offset,
                what: what.into_owned(),
            },
            Self::Other(error) => error,
        }
    }
}

/// Operation and type, as HSAIL's text begins.
fn mnemonic(instruction: &Instruction<'_>) -> String {
    let opcode = instruction.opcode;
    let name = opcode
        .name()
        .map_or_else(|| format!("operation {}", opcode.0), str::to_owned);
    match type_name(instruction.ty) {
        Some(ty) => format!("{name}_{ty}"),
        None => name,
    }
}

/// The name of a type; `None` for no type.
pub(super) fn type_name(ty: Type) -> Option<String> {
    let base = ty.base().name().filter(|_| ty != Type::NONE)?;
    Some(match ty.packed_bits() {
        Some(_) => format!("{base}x{}", ty.lanes()),
        None => base.to_owned(),
    })
}
