//! SOP1: scalar operations with one source.

use crate::isa::row::{
    Family, Row, Slot,
    SlotKind::{Dst, Sgpr, Ssrc},
    Ty::{self, *},
};

const fn no_dst(opcode: u16, name: &'static str, src: Ty) -> Row {
    Row::new(Family::Sop1, opcode, name).src(0, Slot::new(Ssrc, src))
}

const fn no_src(opcode: u16, name: &'static str, dst: Ty) -> Row {
    Row::new(Family::Sop1, opcode, name).dst(Slot::new(Sgpr, dst))
}

const fn op(opcode: u16, name: &'static str, dst: Ty, src: Ty) -> Row {
    no_dst(opcode, name, src).dst(Slot::new(Sgpr, dst))
}

/// The source is a register, never a constant.
const fn jump(opcode: u16, name: &'static str, src: Ty) -> Row {
    Row::new(Family::Sop1, opcode, name).src(0, Slot::new(Sgpr, src))
}

/// The source is a register (here relative to M0), never a constant.
const fn from_register(opcode: u16, name: &'static str, dst: Ty, src: Ty) -> Row {
    jump(opcode, name, src).dst(Slot::new(Sgpr, dst))
}

/// The destination keeps bits (or all of them), so it is a source too.
const fn keeps(opcode: u16, name: &'static str, dst: Ty, src: Ty) -> Row {
    op(opcode, name, dst, src).src(1, Slot::new(Dst, dst))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 54] = [
    op(0x00, "s_mov_b32", B32, B32),
    op(0x01, "s_mov_b64", B64, B64),
    keeps(0x02, "s_cmov_b32", B32, B32),
    keeps(0x03, "s_cmov_b64", B64, B64),
    op(0x04, "s_not_b32", B32, B32),
    op(0x05, "s_not_b64", B64, B64),
    op(0x06, "s_wqm_b32", B32, B32),
    op(0x07, "s_wqm_b64", B64, B64),
    op(0x08, "s_brev_b32", B32, B32),
    op(0x09, "s_brev_b64", B64, B64),
    op(0x0a, "s_bcnt0_i32_b32", I32, B32),
    op(0x0b, "s_bcnt0_i32_b64", I32, B64),
    op(0x0c, "s_bcnt1_i32_b32", I32, B32),
    op(0x0d, "s_bcnt1_i32_b64", I32, B64),
    op(0x0e, "s_ff0_i32_b32", I32, B32),
    op(0x0f, "s_ff0_i32_b64", I32, B64),
    op(0x10, "s_ff1_i32_b32", I32, B32),
    op(0x11, "s_ff1_i32_b64", I32, B64),
    op(0x12, "s_flbit_i32_b32", I32, B32),
    op(0x13, "s_flbit_i32_b64", I32, B64),
    op(0x14, "s_flbit_i32", I32, I32),
    op(0x15, "s_flbit_i32_i64", I32, I64),
    op(0x16, "s_sext_i32_i8", I32, I32),
    op(0x17, "s_sext_i32_i16", I32, I32),
    keeps(0x18, "s_bitset0_b32", B32, U32),
    keeps(0x19, "s_bitset0_b64", B64, U32),
    keeps(0x1a, "s_bitset1_b32", B32, U32),
    keeps(0x1b, "s_bitset1_b64", B64, U32),
    no_src(0x1c, "s_getpc_b64", B64),
    jump(0x1d, "s_setpc_b64", B64),
    op(0x1e, "s_swappc_b64", B64, B64),
    jump(0x1f, "s_rfe_b64", B64),
    op(0x20, "s_and_saveexec_b64", B64, B64),
    op(0x21, "s_or_saveexec_b64", B64, B64),
    op(0x22, "s_xor_saveexec_b64", B64, B64),
    op(0x23, "s_andn2_saveexec_b64", B64, B64),
    op(0x24, "s_orn2_saveexec_b64", B64, B64),
    op(0x25, "s_nand_saveexec_b64", B64, B64),
    op(0x26, "s_nor_saveexec_b64", B64, B64),
    op(0x27, "s_xnor_saveexec_b64", B64, B64),
    op(0x28, "s_quadmask_b32", B32, B32),
    op(0x29, "s_quadmask_b64", B64, B64),
    from_register(0x2a, "s_movrels_b32", B32, B32),
    from_register(0x2b, "s_movrels_b64", B64, B64),
    op(0x2c, "s_movreld_b32", B32, B32),
    op(0x2d, "s_movreld_b64", B64, B64),
    jump(0x2e, "s_cbranch_join", B32),
    op(0x30, "s_abs_i32", I32, I32),
    no_dst(0x32, "s_set_gpr_idx_idx", B32),
    op(0x33, "s_andn1_saveexec_b64", B64, B64),
    op(0x34, "s_orn1_saveexec_b64", B64, B64),
    op(0x35, "s_andn1_wrexec_b64", B64, B64),
    op(0x36, "s_andn2_wrexec_b64", B64, B64),
    op(0x37, "s_bitreplicate_b64_b32", B64, B32),
];
