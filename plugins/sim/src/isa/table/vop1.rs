//! VOP1: vector operations with one source.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Agpr, Sgpr, Vgpr, Vsrc},
    Ty::{self, *},
};
use crate::isa::target::TargetSet;

const ALL_FORMS: Forms = Forms::SUFFIX
    .union(Forms::E64)
    .union(Forms::SDWA)
    .union(Forms::DPP);

const fn nullary(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Vop1, opcode, name).only(Forms::E64)
}

const fn op(opcode: u16, name: &'static str, dst: Ty, src: Ty) -> Row {
    Row::new(Family::Vop1, opcode, name)
        .dst(Slot::new(Vgpr, dst))
        .src(0, Slot::new(Vsrc, src))
        .float_sources_modified()
        .only(if dst.dwords() + src.dwords() == 2 {
            ALL_FORMS
        } else {
            ALL_FORMS.difference(Forms::SDWA)
        })
}

/// Without any other form, and with unusual operands.
const fn only(opcode: u16, name: &'static str, dst: Slot, src: Slot) -> Row {
    Row::new(Family::Vop1, opcode, name).dst(dst).src(0, src)
}

const VGPR: Slot = Slot::new(Vgpr, B32);
const AGPR: Slot = Slot::new(Agpr, B32);

/// The rows, by opcode.
pub(super) static ROWS: [Row; 79] = [
    nullary(0x00, "v_nop"),
    op(0x01, "v_mov_b32", B32, B32),
    only(
        0x02,
        "v_readfirstlane_b32",
        Slot::new(Sgpr, B32),
        Slot::new(Vsrc, B32),
    ),
    op(0x03, "v_cvt_i32_f64", I32, F64),
    op(0x04, "v_cvt_f64_i32", F64, I32),
    op(0x05, "v_cvt_f32_i32", F32, I32),
    op(0x06, "v_cvt_f32_u32", F32, U32),
    op(0x07, "v_cvt_u32_f32", U32, F32),
    op(0x08, "v_cvt_i32_f32", I32, F32),
    op(0x0a, "v_cvt_f16_f32", F16, F32),
    op(0x0b, "v_cvt_f32_f16", F32, F16),
    op(0x0c, "v_cvt_rpi_i32_f32", I32, F32).with(Forms::CLAMP),
    op(0x0d, "v_cvt_flr_i32_f32", I32, F32).with(Forms::CLAMP),
    op(0x0e, "v_cvt_off_f32_i4", F32, I32),
    op(0x0f, "v_cvt_f32_f64", F32, F64),
    op(0x10, "v_cvt_f64_f32", F64, F32),
    op(0x11, "v_cvt_f32_ubyte0", F32, U32),
    op(0x12, "v_cvt_f32_ubyte1", F32, U32),
    op(0x13, "v_cvt_f32_ubyte2", F32, U32),
    op(0x14, "v_cvt_f32_ubyte3", F32, U32),
    op(0x15, "v_cvt_u32_f64", U32, F64),
    op(0x16, "v_cvt_f64_u32", F64, U32),
    op(0x17, "v_trunc_f64", F64, F64),
    op(0x18, "v_ceil_f64", F64, F64),
    op(0x19, "v_rndne_f64", F64, F64),
    op(0x1a, "v_floor_f64", F64, F64),
    op(0x1b, "v_fract_f32", F32, F32),
    op(0x1c, "v_trunc_f32", F32, F32),
    op(0x1d, "v_ceil_f32", F32, F32),
    op(0x1e, "v_rndne_f32", F32, F32),
    op(0x1f, "v_floor_f32", F32, F32),
    op(0x20, "v_exp_f32", F32, F32),
    op(0x21, "v_log_f32", F32, F32),
    op(0x22, "v_rcp_f32", F32, F32),
    op(0x23, "v_rcp_iflag_f32", F32, F32),
    op(0x24, "v_rsq_f32", F32, F32),
    op(0x25, "v_rcp_f64", F64, F64),
    op(0x26, "v_rsq_f64", F64, F64),
    op(0x27, "v_sqrt_f32", F32, F32),
    op(0x28, "v_sqrt_f64", F64, F64),
    op(0x29, "v_sin_f32", F32, F32),
    op(0x2a, "v_cos_f32", F32, F32),
    op(0x2b, "v_not_b32", B32, B32),
    op(0x2c, "v_bfrev_b32", B32, B32),
    op(0x2d, "v_ffbh_u32", U32, U32),
    op(0x2e, "v_ffbl_b32", B32, B32),
    op(0x2f, "v_ffbh_i32", I32, I32),
    op(0x30, "v_frexp_exp_i32_f64", I32, F64),
    op(0x31, "v_frexp_mant_f64", F64, F64),
    op(0x32, "v_fract_f64", F64, F64),
    op(0x33, "v_frexp_exp_i32_f32", I32, F32).with(Forms::CLAMP),
    op(0x34, "v_frexp_mant_f32", F32, F32),
    nullary(0x35, "v_clrexcp"),
    op(0x37, "v_screen_partition_4se_b32", B32, B32),
    op(0x39, "v_cvt_f16_u16", F16, U16),
    op(0x3a, "v_cvt_f16_i16", F16, I16),
    op(0x3b, "v_cvt_u16_f16", U16, F16),
    op(0x3c, "v_cvt_i16_f16", I16, F16),
    op(0x3d, "v_rcp_f16", F16, F16),
    op(0x3e, "v_sqrt_f16", F16, F16),
    op(0x3f, "v_rsq_f16", F16, F16),
    op(0x40, "v_log_f16", F16, F16),
    op(0x41, "v_exp_f16", F16, F16),
    op(0x42, "v_frexp_mant_f16", F16, F16),
    op(0x43, "v_frexp_exp_i16_f16", I16, F16),
    op(0x44, "v_floor_f16", F16, F16),
    op(0x45, "v_ceil_f16", F16, F16),
    op(0x46, "v_trunc_f16", F16, F16),
    op(0x47, "v_rndne_f16", F16, F16),
    op(0x48, "v_fract_f16", F16, F16),
    op(0x49, "v_sin_f16", F16, F16),
    op(0x4a, "v_cos_f16", F16, F16),
    op(0x4b, "v_exp_legacy_f32", F32, F32),
    op(0x4c, "v_log_legacy_f32", F32, F32),
    op(0x4d, "v_cvt_norm_i16_f16", I16, F16),
    op(0x4e, "v_cvt_norm_u16_f16", U16, F16),
    op(0x4f, "v_sat_pk_u8_i16", B32, B32),
    only(0x51, "v_swap_b32", VGPR, VGPR),
    only(0x52, "v_accvgpr_mov_b32", AGPR, AGPR).on(TargetSet::GFX90A),
];
