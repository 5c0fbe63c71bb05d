//! From a program to a code object.

use crate::brig::MachineModel;
use crate::cache::Key;
use crate::program::{reachable, CallError, DirectiveError, Linked};

/// Why no code was made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodeError {
    /// The addresses of this process have 64 bits.
    #[error("The program is of the small machine model, whose addresses are of 32 bits")]
    SmallModel,
    /// There is nothing to make code with.
    #[error("This finalizer has no translator")]
    NoTranslator,
    /// A function is missing.
    #[error(transparent)]
    Calls(#[from] CallError),
    /// A promise cannot be kept.
    #[error(transparent)]
    Directives(#[from] DirectiveError),
}

/// Makes a code object.
pub(crate) fn make(key: &Key) -> Result<Vec<u8>, CodeError> {
    if key.settings.machine_model == MachineModel::SMALL {
        return Err(CodeError::SmallModel);
    }
    let program = Linked::new(key.modules.clone(), key.settings);
    let functions = reachable(&program)?;
    key.directives.agree(&program, &functions, key.target.wavefront)?;
    Err(CodeError::NoTranslator)
}
