//! Why something is not BRIG.

use std::fmt;

/// Part of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The header or the index of sections; offsets count from the start of the module.
    Container,
    /// Strings and lists.
    Data,
    /// Directives and instructions.
    Code,
    /// Operands.
    Operands,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Container => "the module",
            Self::Data => "hsa_data",
            Self::Code => "hsa_code",
            Self::Operands => "hsa_operand",
        })
    }
}

/// Why something is not BRIG, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Not valid BRIG at {offset:#x} of {place}: {reason}")]
pub struct BrigError {
    /// The part.
    pub place: Place,
    /// Bytes from the start of the part.
    pub offset: u64,
    /// What is wrong there.
    pub reason: &'static str,
}

impl BrigError {
    /// An error at an entry of the code.
    #[must_use]
    pub fn code(offset: u32, reason: &'static str) -> Self {
        Self {
            place: Place::Code,
            offset: offset.into(),
            reason,
        }
    }
}
