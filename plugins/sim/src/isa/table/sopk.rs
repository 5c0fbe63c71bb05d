//! SOPK: scalar operations with a 16-bit immediate.

use crate::isa::row::{
    Family, Row, Slot,
    SlotKind::{Dst, Literal, Sgpr},
    Ty::{self, *},
};

const fn dst(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopk, opcode, name).dst(Slot::new(Sgpr, I32))
}

const fn dst_rw(opcode: u16, name: &'static str) -> Row {
    dst(opcode, name).src(0, Slot::new(Dst, I32))
}

const fn reads(opcode: u16, name: &'static str, ty: Ty) -> Row {
    Row::new(Family::Sopk, opcode, name).src(0, Slot::new(Sgpr, ty))
}

const fn cmp_i32(opcode: u16, name: &'static str) -> Row {
    reads(opcode, name, I32)
}

const fn cmp_u32(opcode: u16, name: &'static str) -> Row {
    reads(opcode, name, U32)
}

const fn fork(opcode: u16, name: &'static str) -> Row {
    reads(opcode, name, B64)
}

const fn setreg(opcode: u16, name: &'static str) -> Row {
    reads(opcode, name, B32)
}

const fn setreg_imm(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopk, opcode, name).src(0, Slot::new(Literal, B32))
}

const fn getreg(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopk, opcode, name).dst(Slot::new(Sgpr, B32))
}

const fn call(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopk, opcode, name).dst(Slot::new(Sgpr, B64))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 21] = [
    dst(0x00, "s_movk_i32"),
    dst_rw(0x01, "s_cmovk_i32"),
    cmp_i32(0x02, "s_cmpk_eq_i32"),
    cmp_i32(0x03, "s_cmpk_lg_i32"),
    cmp_i32(0x04, "s_cmpk_gt_i32"),
    cmp_i32(0x05, "s_cmpk_ge_i32"),
    cmp_i32(0x06, "s_cmpk_lt_i32"),
    cmp_i32(0x07, "s_cmpk_le_i32"),
    cmp_u32(0x08, "s_cmpk_eq_u32"),
    cmp_u32(0x09, "s_cmpk_lg_u32"),
    cmp_u32(0x0a, "s_cmpk_gt_u32"),
    cmp_u32(0x0b, "s_cmpk_ge_u32"),
    cmp_u32(0x0c, "s_cmpk_lt_u32"),
    cmp_u32(0x0d, "s_cmpk_le_u32"),
    dst_rw(0x0e, "s_addk_i32"),
    dst_rw(0x0f, "s_mulk_i32"),
    fork(0x10, "s_cbranch_i_fork"),
    getreg(0x11, "s_getreg_b32"),
    setreg(0x12, "s_setreg_b32"),
    setreg_imm(0x14, "s_setreg_imm32_b32"),
    call(0x15, "s_call_b64"),
];
