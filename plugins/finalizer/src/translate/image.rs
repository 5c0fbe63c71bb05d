//! Images (PRM chapter 7).

use super::error::{unsupported, Reason};
use super::function::Function;
use crate::brig::Instruction;

/// Translates an operation on an image.
pub(super) fn translate<'a>(_: &mut Function<'a>, _: &Instruction<'a>) -> Result<(), Reason> {
    unsupported("images are not")
}
