//! EXP: exports to render targets, positions and parameters.

use crate::isa::row::{Family, Row, Slot, SlotKind::Vgpr, Ty::B32};
use crate::isa::target::TargetSet;

const fn op(opcode: u16, name: &'static str) -> Row {
    let slot = Slot::new(Vgpr, B32);
    Row::new(Family::Exp, opcode, name)
        .src(0, slot)
        .src(1, slot)
        .src(2, slot)
        .src(3, slot)
        .on(TargetSet::TO_GFX908)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 1] = [op(0x00, "exp")];
