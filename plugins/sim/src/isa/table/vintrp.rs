//! VINTRP: interpolation of vertex parameters.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Imm, Vgpr},
    Ty::{B32, F32},
};
use crate::isa::target::TargetSet;

const fn op(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Vintrp, opcode, name)
        .dst(Slot::new(Vgpr, F32))
        .src(0, Slot::new(Vgpr, F32))
        .with(Forms::SUFFIX)
        .on(TargetSet::TO_GFX908)
}

/// Source 0 is a parameter number.
const fn mov(opcode: u16, name: &'static str) -> Row {
    op(opcode, name).src(0, Slot::new(Imm, B32))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 3] = [
    op(0x00, "v_interp_p1_f32"),
    op(0x01, "v_interp_p2_f32"),
    mov(0x02, "v_interp_mov_f32"),
];
