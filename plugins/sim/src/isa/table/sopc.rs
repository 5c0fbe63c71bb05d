//! SOPC: scalar compares. Their result is SCC.

use crate::isa::row::{
    Family, Row, Slot,
    SlotKind::{Imm, Ssrc},
    Ty::{self, *},
};

const fn op(opcode: u16, name: &'static str, src0: Ty, src1: Ty) -> Row {
    Row::new(Family::Sopc, opcode, name)
        .src(0, Slot::new(Ssrc, src0))
        .src(1, Slot::new(Ssrc, src1))
}

/// The second source field is a number: the operands that are indexed.
const fn gpr_idx(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopc, opcode, name)
        .src(0, Slot::new(Ssrc, B32))
        .src(1, Slot::new(Imm, B32))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 20] = [
    op(0x00, "s_cmp_eq_i32", I32, I32),
    op(0x01, "s_cmp_lg_i32", I32, I32),
    op(0x02, "s_cmp_gt_i32", I32, I32),
    op(0x03, "s_cmp_ge_i32", I32, I32),
    op(0x04, "s_cmp_lt_i32", I32, I32),
    op(0x05, "s_cmp_le_i32", I32, I32),
    op(0x06, "s_cmp_eq_u32", U32, U32),
    op(0x07, "s_cmp_lg_u32", U32, U32),
    op(0x08, "s_cmp_gt_u32", U32, U32),
    op(0x09, "s_cmp_ge_u32", U32, U32),
    op(0x0a, "s_cmp_lt_u32", U32, U32),
    op(0x0b, "s_cmp_le_u32", U32, U32),
    op(0x0c, "s_bitcmp0_b32", B32, U32),
    op(0x0d, "s_bitcmp1_b32", B32, U32),
    op(0x0e, "s_bitcmp0_b64", B64, U32),
    op(0x0f, "s_bitcmp1_b64", B64, U32),
    op(0x10, "s_setvskip", B32, B32),
    gpr_idx(0x11, "s_set_gpr_idx_on"),
    op(0x12, "s_cmp_eq_u64", U64, U64),
    op(0x13, "s_cmp_lg_u64", U64, U64),
];
