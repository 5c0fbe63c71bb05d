//! VOP3P: packed, mixed-precision, dot-product and matrix operations.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Agpr, Msrc, Vgpr, Vsrc},
    Ty::{self, *},
};
use crate::isa::target::TargetSet;

const fn op2(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty) -> Row {
    Row::new(Family::Vop3p, opcode, name)
        .dst(Slot::new(Vgpr, dst))
        .src(0, Slot::new(Vsrc, src0))
        .src(1, Slot::new(Vsrc, src1))
}

const fn op3(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty, src2: Ty) -> Row {
    op2(opcode, name, dst, src0, src1).src(2, Slot::new(Vsrc, src2))
}

/// Each source is F32, or a half of its register when `op_sel_hi` says so.
const fn mix(opcode: u16, name: &'static str, dst: Ty) -> Row {
    op3(opcode, name, dst, F32, F32, F32)
        .modified(0b111)
        .with(Forms::MIX)
}

/// A matrix multiply-add: `ab` dwords per lane of each factor, `cd` of the sums.
const fn mfma(opcode: u16, name: &'static str, ty: Ty, cd: u8, ab: u8) -> Row {
    Row::new(Family::Vop3p, opcode, name)
        .dst(Slot::wide(Agpr, ty, cd))
        .src(0, Slot::wide(Msrc, B32, ab))
        .src(1, Slot::wide(Msrc, B32, ab))
        .src(2, Slot::wide(Msrc, ty, cd))
        .with(Forms::MFMA)
}

const fn acc_read(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Vop3p, opcode, name)
        .dst(Slot::new(Vgpr, B32))
        .src(0, Slot::new(Agpr, B32))
        .with(Forms::MFMA)
}

const fn acc_write(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Vop3p, opcode, name)
        .dst(Slot::new(Agpr, B32))
        .src(0, Slot::new(Msrc, B32))
        .with(Forms::MFMA)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 65] = [
    op3(0x00, "v_pk_mad_i16", PkI16, PkI16, PkI16, PkI16),
    op2(0x01, "v_pk_mul_lo_u16", PkI16, PkI16, PkI16),
    op2(0x02, "v_pk_add_i16", PkI16, PkI16, PkI16),
    op2(0x03, "v_pk_sub_i16", PkI16, PkI16, PkI16),
    op2(0x04, "v_pk_lshlrev_b16", PkI16, PkI16, PkI16),
    op2(0x05, "v_pk_lshrrev_b16", PkI16, PkI16, PkI16),
    op2(0x06, "v_pk_ashrrev_i16", PkI16, PkI16, PkI16),
    op2(0x07, "v_pk_max_i16", PkI16, PkI16, PkI16),
    op2(0x08, "v_pk_min_i16", PkI16, PkI16, PkI16),
    op3(0x09, "v_pk_mad_u16", PkI16, PkI16, PkI16, PkI16),
    op2(0x0a, "v_pk_add_u16", PkI16, PkI16, PkI16),
    op2(0x0b, "v_pk_sub_u16", PkI16, PkI16, PkI16),
    op2(0x0c, "v_pk_max_u16", PkI16, PkI16, PkI16),
    op2(0x0d, "v_pk_min_u16", PkI16, PkI16, PkI16),
    op3(0x0e, "v_pk_fma_f16", PkF16, PkF16, PkF16, PkF16),
    op2(0x0f, "v_pk_add_f16", PkF16, PkF16, PkF16),
    op2(0x10, "v_pk_mul_f16", PkF16, PkF16, PkF16),
    op2(0x11, "v_pk_min_f16", PkF16, PkF16, PkF16),
    op2(0x12, "v_pk_max_f16", PkF16, PkF16, PkF16),
    mix(0x20, "v_fma_mix_f32", F32).on(TargetSet::GFX906_UP),
    mix(0x20, "v_mad_mix_f32", F32).on(TargetSet::GFX900),
    mix(0x21, "v_fma_mixlo_f16", F16).on(TargetSet::GFX906_UP),
    mix(0x21, "v_mad_mixlo_f16", F16).on(TargetSet::GFX900),
    mix(0x22, "v_fma_mixhi_f16", F16).on(TargetSet::GFX906_UP),
    mix(0x22, "v_mad_mixhi_f16", F16).on(TargetSet::GFX900),
    op3(0x23, "v_dot2_f32_f16", F32, PkF16, PkF16, F32).on(TargetSet::GFX906_UP),
    op3(0x26, "v_dot2_i32_i16", I32, PkI16, PkI16, I32).on(TargetSet::GFX906_UP),
    op3(0x27, "v_dot2_u32_u16", U32, PkI16, PkI16, U32).on(TargetSet::GFX906_UP),
    op3(0x28, "v_dot4_i32_i8", I32, B32, B32, I32).on(TargetSet::GFX906_UP),
    op3(0x29, "v_dot4_u32_u8", U32, B32, B32, U32).on(TargetSet::GFX906_UP),
    op3(0x2a, "v_dot8_i32_i4", I32, B32, B32, I32).on(TargetSet::GFX906_UP),
    op3(0x2b, "v_dot8_u32_u4", U32, B32, B32, U32).on(TargetSet::GFX906_UP),
    op3(0x30, "v_pk_fma_f32", PkF32, PkF32, PkF32, PkF32).on(TargetSet::GFX90A),
    op2(0x31, "v_pk_mul_f32", PkF32, PkF32, PkF32).on(TargetSet::GFX90A),
    op2(0x32, "v_pk_add_f32", PkF32, PkF32, PkF32).on(TargetSet::GFX90A),
    op2(0x33, "v_pk_mov_b32", PkB32, PkB32, PkB32).on(TargetSet::GFX90A),
    mfma(0x40, "v_mfma_f32_32x32x1f32", F32, 32, 1).on(TargetSet::GFX908_UP),
    mfma(0x41, "v_mfma_f32_16x16x1f32", F32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x42, "v_mfma_f32_4x4x1f32", F32, 4, 1).on(TargetSet::GFX908_UP),
    mfma(0x44, "v_mfma_f32_32x32x2f32", F32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x45, "v_mfma_f32_16x16x4f32", F32, 4, 1).on(TargetSet::GFX908_UP),
    mfma(0x48, "v_mfma_f32_32x32x4f16", F32, 32, 2).on(TargetSet::GFX908_UP),
    mfma(0x49, "v_mfma_f32_16x16x4f16", F32, 16, 2).on(TargetSet::GFX908_UP),
    mfma(0x4a, "v_mfma_f32_4x4x4f16", F32, 4, 2).on(TargetSet::GFX908_UP),
    mfma(0x4c, "v_mfma_f32_32x32x8f16", F32, 16, 2).on(TargetSet::GFX908_UP),
    mfma(0x4d, "v_mfma_f32_16x16x16f16", F32, 4, 2).on(TargetSet::GFX908_UP),
    mfma(0x50, "v_mfma_i32_32x32x4i8", I32, 32, 1).on(TargetSet::GFX908_UP),
    mfma(0x51, "v_mfma_i32_16x16x4i8", I32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x52, "v_mfma_i32_4x4x4i8", I32, 4, 1).on(TargetSet::GFX908_UP),
    mfma(0x54, "v_mfma_i32_32x32x8i8", I32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x55, "v_mfma_i32_16x16x16i8", I32, 4, 1).on(TargetSet::GFX908_UP),
    acc_read(0x58, "v_accvgpr_read_b32").on(TargetSet::GFX908_UP),
    acc_write(0x59, "v_accvgpr_write_b32").on(TargetSet::GFX908_UP),
    mfma(0x63, "v_mfma_f32_32x32x4bf16_1k", F32, 32, 2).on(TargetSet::GFX90A),
    mfma(0x64, "v_mfma_f32_16x16x4bf16_1k", F32, 16, 2).on(TargetSet::GFX90A),
    mfma(0x65, "v_mfma_f32_4x4x4bf16_1k", F32, 4, 2).on(TargetSet::GFX90A),
    mfma(0x66, "v_mfma_f32_32x32x8bf16_1k", F32, 16, 2).on(TargetSet::GFX90A),
    mfma(0x67, "v_mfma_f32_16x16x16bf16_1k", F32, 4, 2).on(TargetSet::GFX90A),
    mfma(0x68, "v_mfma_f32_32x32x2bf16", F32, 32, 1).on(TargetSet::GFX908_UP),
    mfma(0x69, "v_mfma_f32_16x16x2bf16", F32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x6b, "v_mfma_f32_4x4x2bf16", F32, 4, 1).on(TargetSet::GFX908_UP),
    mfma(0x6c, "v_mfma_f32_32x32x4bf16", F32, 16, 1).on(TargetSet::GFX908_UP),
    mfma(0x6d, "v_mfma_f32_16x16x8bf16", F32, 4, 1).on(TargetSet::GFX908_UP),
    mfma(0x6e, "v_mfma_f64_16x16x4f64", F64, 8, 2).on(TargetSet::GFX90A),
    mfma(0x6f, "v_mfma_f64_4x4x4f64", F64, 2, 2).on(TargetSet::GFX90A),
];
