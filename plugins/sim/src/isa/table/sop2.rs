//! SOP2: scalar operations with two sources.

use crate::isa::row::{
    Family, Row, Slot,
    SlotKind::{Sgpr, Ssrc},
    Ty::{self, *},
};

const fn no_dst(opcode: u16, name: &'static str, src0: Ty, src1: Ty) -> Row {
    Row::new(Family::Sop2, opcode, name)
        .src(0, Slot::new(Ssrc, src0))
        .src(1, Slot::new(Ssrc, src1))
}

const fn op(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty) -> Row {
    no_dst(opcode, name, src0, src1).dst(Slot::new(Sgpr, dst))
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 53] = [
    op(0x00, "s_add_u32", U32, U32, U32),
    op(0x01, "s_sub_u32", U32, U32, U32),
    op(0x02, "s_add_i32", I32, I32, I32),
    op(0x03, "s_sub_i32", I32, I32, I32),
    op(0x04, "s_addc_u32", U32, U32, U32),
    op(0x05, "s_subb_u32", U32, U32, U32),
    op(0x06, "s_min_i32", I32, I32, I32),
    op(0x07, "s_min_u32", U32, U32, U32),
    op(0x08, "s_max_i32", I32, I32, I32),
    op(0x09, "s_max_u32", U32, U32, U32),
    op(0x0a, "s_cselect_b32", B32, B32, B32),
    op(0x0b, "s_cselect_b64", B64, B64, B64),
    op(0x0c, "s_and_b32", B32, B32, B32),
    op(0x0d, "s_and_b64", B64, B64, B64),
    op(0x0e, "s_or_b32", B32, B32, B32),
    op(0x0f, "s_or_b64", B64, B64, B64),
    op(0x10, "s_xor_b32", B32, B32, B32),
    op(0x11, "s_xor_b64", B64, B64, B64),
    op(0x12, "s_andn2_b32", B32, B32, B32),
    op(0x13, "s_andn2_b64", B64, B64, B64),
    op(0x14, "s_orn2_b32", B32, B32, B32),
    op(0x15, "s_orn2_b64", B64, B64, B64),
    op(0x16, "s_nand_b32", B32, B32, B32),
    op(0x17, "s_nand_b64", B64, B64, B64),
    op(0x18, "s_nor_b32", B32, B32, B32),
    op(0x19, "s_nor_b64", B64, B64, B64),
    op(0x1a, "s_xnor_b32", B32, B32, B32),
    op(0x1b, "s_xnor_b64", B64, B64, B64),
    op(0x1c, "s_lshl_b32", B32, B32, U32),
    op(0x1d, "s_lshl_b64", B64, B64, U32),
    op(0x1e, "s_lshr_b32", B32, B32, U32),
    op(0x1f, "s_lshr_b64", B64, B64, U32),
    op(0x20, "s_ashr_i32", I32, I32, U32),
    op(0x21, "s_ashr_i64", I64, I64, U32),
    op(0x22, "s_bfm_b32", B32, U32, U32),
    op(0x23, "s_bfm_b64", B64, U32, U32),
    op(0x24, "s_mul_i32", I32, I32, I32),
    op(0x25, "s_bfe_u32", U32, U32, U32),
    op(0x26, "s_bfe_i32", I32, I32, U32),
    op(0x27, "s_bfe_u64", U64, U64, U32),
    op(0x28, "s_bfe_i64", I64, I64, U32),
    no_dst(0x29, "s_cbranch_g_fork", B64, B64),
    op(0x2a, "s_absdiff_i32", I32, I32, I32),
    no_dst(0x2b, "s_rfe_restore_b64", B64, B32),
    op(0x2c, "s_mul_hi_u32", U32, U32, U32),
    op(0x2d, "s_mul_hi_i32", I32, I32, I32),
    op(0x2e, "s_lshl1_add_u32", U32, U32, U32),
    op(0x2f, "s_lshl2_add_u32", U32, U32, U32),
    op(0x30, "s_lshl3_add_u32", U32, U32, U32),
    op(0x31, "s_lshl4_add_u32", U32, U32, U32),
    op(0x32, "s_pack_ll_b32_b16", B32, B32, B32),
    op(0x33, "s_pack_lh_b32_b16", B32, B32, B32),
    op(0x34, "s_pack_hh_b32_b16", B32, B32, B32),
];
