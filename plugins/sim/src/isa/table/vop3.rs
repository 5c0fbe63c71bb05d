//! VOP3: vector operations in 64 bits, with up to three sources and modifiers.
//!
//! The rows here are those that exist only in this encoding. VOPC, VOP2 and VOP1 operations have a
//! second row at opcode + 0, + 0x100 and + 0x140, which [`promoted`] derives from the first: in this
//! encoding their registers VCC are fields, and every source can be a scalar or a constant.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{self, Dst, Imm, Sgpr, Ssrc, Vcc, Vgpr, Vsrc},
    Ty::{self, *},
};
use crate::isa::target::TargetSet;

/// The VOP3 row of a VOPC, VOP2 or VOP1 row.
pub(super) const fn promoted(row: &Row) -> Row {
    let mut to = *row;
    to.opcode += match row.family {
        Family::Vop2 => 0x100,
        Family::Vop1 => 0x140,
        _ => 0,
    };
    to.family = Family::Vop3;
    to.forms = row.forms.intersection(Forms::SUFFIX).union(result_forms(row));
    to.sdst.kind = widened(row.sdst.kind, Sgpr);
    to.src[0].kind = widened(row.src[0].kind, Vsrc);
    to.src[1].kind = widened(row.src[1].kind, Vsrc);
    to.src[2].kind = widened(row.src[2].kind, Sgpr);
    // v_cndmask alone takes float modifiers on untyped operands.
    if row.opcode == 0 && matches!(row.family, Family::Vop2) {
        to.float_mods = 0b11;
    }
    to
}

/// Whether the result can be clamped and multiplied: floating-point operations allow both unless
/// the row says what it allows, compares have no result to multiply.
const fn result_forms(row: &Row) -> Forms {
    let both = Forms::CLAMP.union(Forms::OMOD);
    if row.forms.contains(Forms::CLAMP) {
        return Forms::CLAMP;
    }
    match row.family {
        Family::Vopc if row.src[0].ty.is_float() && row.src[1].ty.is_float() => Forms::CLAMP,
        Family::Vopc => Forms::empty(),
        _ if row.dst.ty.is_float() || row.src[0].ty.is_float() => both,
        _ => Forms::empty(),
    }
}

const fn widened(kind: SlotKind, vcc: SlotKind) -> SlotKind {
    match kind {
        Vcc => vcc,
        Vgpr => Vsrc,
        other => other,
    }
}

const fn op2(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty) -> Row {
    let row = Row::new(Family::Vop3, opcode, name)
        .dst(Slot::new(Vgpr, dst))
        .src(0, Slot::new(Vsrc, src0))
        .src(1, Slot::new(Vsrc, src1))
        .float_sources_modified();
    row.with(result_forms(&row))
}

const fn op3(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty, src2: Ty) -> Row {
    op2(opcode, name, dst, src0, src1)
        .src(2, Slot::new(Vsrc, src2))
        .float_sources_modified()
}

const fn readlane(opcode: u16, name: &'static str) -> Row {
    op2(opcode, name, B32, B32, U32)
        .dst(Slot::new(Sgpr, B32))
        .src(1, Slot::new(Ssrc, U32))
}

const fn writelane(opcode: u16, name: &'static str) -> Row {
    op2(opcode, name, B32, B32, U32)
        .src(0, Slot::new(Ssrc, B32))
        .src(1, Slot::new(Ssrc, U32))
        .src(2, Slot::new(Dst, B32))
}

/// Source 0 is a VGPR; the attribute is in the immediate.
const fn interp(opcode: u16, name: &'static str, dst: Ty) -> Row {
    Row::new(Family::Vop3, opcode, name)
        .dst(Slot::new(Vgpr, dst))
        .src(0, Slot::new(Vsrc, F32))
        .modified(1)
        .with(Forms::INTERP.union(Forms::CLAMP).union(Forms::OMOD))
}

const fn interp3(opcode: u16, name: &'static str, dst: Ty, src2: Ty) -> Row {
    interp(opcode, name, dst)
        .src(2, Slot::new(Vsrc, src2))
        .modified(0b101)
}

/// Source 0 is a parameter number.
const fn interp_mov(opcode: u16, name: &'static str) -> Row {
    interp(opcode, name, F32)
        .src(0, Slot::new(Imm, B32))
        .modified(0)
        .with(Forms::SUFFIX)
}

impl Row {
    /// Writes a mask with a bit per lane, to any scalar pair.
    const fn mask_out(self) -> Self {
        self.sdst(Slot::new(Sgpr, B64))
    }

    /// Reads VCC, which no field names.
    const fn reads_vcc(self) -> Self {
        self.src(3, Slot::new(Vcc, B64))
    }

    /// Halves of 16-bit operands can be chosen; the result cannot be multiplied.
    const fn op_sel(self) -> Self {
        self.with(Forms::OP_SEL).saturates_only()
    }

    /// The result can be clamped but not multiplied.
    const fn saturates_only(self) -> Self {
        self.with(Forms::CLAMP).without(Forms::OMOD)
    }
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 111] = [
    op3(0x1c0, "v_mad_legacy_f32", F32, F32, F32, F32),
    op3(0x1c1, "v_mad_f32", F32, F32, F32, F32),
    op3(0x1c2, "v_mad_i32_i24", I32, I32, I32, I32).saturates_only(),
    op3(0x1c3, "v_mad_u32_u24", U32, U32, U32, U32).saturates_only(),
    op3(0x1c4, "v_cubeid_f32", F32, F32, F32, F32),
    op3(0x1c5, "v_cubesc_f32", F32, F32, F32, F32),
    op3(0x1c6, "v_cubetc_f32", F32, F32, F32, F32),
    op3(0x1c7, "v_cubema_f32", F32, F32, F32, F32),
    op3(0x1c8, "v_bfe_u32", U32, U32, U32, U32),
    op3(0x1c9, "v_bfe_i32", I32, I32, U32, U32),
    op3(0x1ca, "v_bfi_b32", B32, B32, B32, B32),
    op3(0x1cb, "v_fma_f32", F32, F32, F32, F32),
    op3(0x1cc, "v_fma_f64", F64, F64, F64, F64),
    op3(0x1cd, "v_lerp_u8", U32, U32, U32, U32),
    op3(0x1ce, "v_alignbit_b32", B32, B32, B32, U32),
    op3(0x1cf, "v_alignbyte_b32", B32, B32, B32, U32),
    op3(0x1d0, "v_min3_f32", F32, F32, F32, F32),
    op3(0x1d1, "v_min3_i32", I32, I32, I32, I32),
    op3(0x1d2, "v_min3_u32", U32, U32, U32, U32),
    op3(0x1d3, "v_max3_f32", F32, F32, F32, F32),
    op3(0x1d4, "v_max3_i32", I32, I32, I32, I32),
    op3(0x1d5, "v_max3_u32", U32, U32, U32, U32),
    op3(0x1d6, "v_med3_f32", F32, F32, F32, F32),
    op3(0x1d7, "v_med3_i32", I32, I32, I32, I32),
    op3(0x1d8, "v_med3_u32", U32, U32, U32, U32),
    op3(0x1d9, "v_sad_u8", U32, U32, U32, U32).saturates_only(),
    op3(0x1da, "v_sad_hi_u8", U32, U32, U32, U32).saturates_only(),
    op3(0x1db, "v_sad_u16", U32, U32, U32, U32).saturates_only(),
    op3(0x1dc, "v_sad_u32", U32, U32, U32, U32).saturates_only(),
    op3(0x1dd, "v_cvt_pk_u8_f32", B32, F32, U32, B32).saturates_only(),
    op3(0x1de, "v_div_fixup_f32", F32, F32, F32, F32),
    op3(0x1df, "v_div_fixup_f64", F64, F64, F64, F64),
    op3(0x1e0, "v_div_scale_f32", F32, F32, F32, F32).mask_out(),
    op3(0x1e1, "v_div_scale_f64", F64, F64, F64, F64).mask_out(),
    op3(0x1e2, "v_div_fmas_f32", F32, F32, F32, F32).reads_vcc(),
    op3(0x1e3, "v_div_fmas_f64", F64, F64, F64, F64).reads_vcc(),
    op3(0x1e4, "v_msad_u8", U32, U32, U32, U32).saturates_only(),
    op3(0x1e5, "v_qsad_pk_u16_u8", B64, B64, U32, B64).saturates_only(),
    op3(0x1e6, "v_mqsad_pk_u16_u8", B64, B64, U32, B64).saturates_only(),
    op3(0x1e7, "v_mqsad_u32_u8", B128, B64, U32, B128).saturates_only(),
    op3(0x1e8, "v_mad_u64_u32", U64, U32, U32, U64)
        .mask_out()
        .saturates_only(),
    op3(0x1e9, "v_mad_i64_i32", I64, I32, I32, I64)
        .mask_out()
        .saturates_only(),
    op3(0x1ea, "v_mad_legacy_f16", F16, F16, F16, F16),
    op3(0x1eb, "v_mad_legacy_u16", U16, U16, U16, U16).saturates_only(),
    op3(0x1ec, "v_mad_legacy_i16", I16, I16, I16, I16).saturates_only(),
    op3(0x1ed, "v_perm_b32", B32, B32, B32, B32),
    op3(0x1ee, "v_fma_legacy_f16", F16, F16, F16, F16),
    op3(0x1ef, "v_div_fixup_legacy_f16", F16, F16, F16, F16),
    op2(0x1f0, "v_cvt_pkaccum_u8_f32", B32, F32, U32).saturates_only(),
    op3(0x1f1, "v_mad_u32_u16", U32, U16, U16, U32).op_sel(),
    op3(0x1f2, "v_mad_i32_i16", I32, I16, I16, I32).op_sel(),
    op3(0x1f3, "v_xad_u32", U32, U32, U32, U32),
    op3(0x1f4, "v_min3_f16", F16, F16, F16, F16).op_sel(),
    op3(0x1f5, "v_min3_i16", I16, I16, I16, I16).op_sel(),
    op3(0x1f6, "v_min3_u16", U16, U16, U16, U16).op_sel(),
    op3(0x1f7, "v_max3_f16", F16, F16, F16, F16).op_sel(),
    op3(0x1f8, "v_max3_i16", I16, I16, I16, I16).op_sel(),
    op3(0x1f9, "v_max3_u16", U16, U16, U16, U16).op_sel(),
    op3(0x1fa, "v_med3_f16", F16, F16, F16, F16).op_sel(),
    op3(0x1fb, "v_med3_i16", I16, I16, I16, I16).op_sel(),
    op3(0x1fc, "v_med3_u16", U16, U16, U16, U16).op_sel(),
    op3(0x1fd, "v_lshl_add_u32", U32, U32, U32, U32),
    op3(0x1fe, "v_add_lshl_u32", U32, U32, U32, U32),
    op3(0x1ff, "v_add3_u32", U32, U32, U32, U32),
    op3(0x200, "v_lshl_or_b32", B32, B32, U32, B32),
    op3(0x201, "v_and_or_b32", B32, B32, B32, B32),
    op3(0x202, "v_or3_b32", B32, B32, B32, B32),
    op3(0x203, "v_mad_f16", F16, F16, F16, F16).op_sel(),
    op3(0x204, "v_mad_u16", U16, U16, U16, U16).op_sel(),
    op3(0x205, "v_mad_i16", I16, I16, I16, I16).op_sel(),
    op3(0x206, "v_fma_f16", F16, F16, F16, F16).op_sel(),
    op3(0x207, "v_div_fixup_f16", F16, F16, F16, F16).op_sel(),
    interp(0x270, "v_interp_p1_f32", F32)
        .with(Forms::SUFFIX)
        .on(TargetSet::TO_GFX908),
    interp(0x271, "v_interp_p2_f32", F32)
        .with(Forms::SUFFIX)
        .on(TargetSet::TO_GFX908),
    interp_mov(0x272, "v_interp_mov_f32").on(TargetSet::TO_GFX908),
    interp(0x274, "v_interp_p1ll_f16", F32)
        .modified(1)
        .on(TargetSet::TO_GFX908),
    interp3(0x275, "v_interp_p1lv_f16", F32, F16).on(TargetSet::TO_GFX908),
    interp3(0x276, "v_interp_p2_legacy_f16", F16, F32)
        .saturates_only()
        .on(TargetSet::TO_GFX908),
    interp3(0x277, "v_interp_p2_f16", F16, F32)
        .saturates_only()
        .on(TargetSet::TO_GFX908),
    op2(0x280, "v_add_f64", F64, F64, F64),
    op2(0x281, "v_mul_f64", F64, F64, F64),
    op2(0x282, "v_min_f64", F64, F64, F64),
    op2(0x283, "v_max_f64", F64, F64, F64),
    op2(0x284, "v_ldexp_f64", F64, F64, I32),
    op2(0x285, "v_mul_lo_u32", U32, U32, U32),
    op2(0x286, "v_mul_hi_u32", U32, U32, U32),
    op2(0x287, "v_mul_hi_i32", I32, I32, I32),
    op2(0x288, "v_ldexp_f32", F32, F32, I32),
    readlane(0x289, "v_readlane_b32"),
    writelane(0x28a, "v_writelane_b32"),
    op2(0x28b, "v_bcnt_u32_b32", U32, B32, U32),
    op2(0x28c, "v_mbcnt_lo_u32_b32", U32, B32, U32),
    op2(0x28d, "v_mbcnt_hi_u32_b32", U32, B32, U32),
    op2(0x28f, "v_lshlrev_b64", B64, U32, B64),
    op2(0x290, "v_lshrrev_b64", B64, U32, B64),
    op2(0x291, "v_ashrrev_i64", I64, U32, I64),
    op2(0x292, "v_trig_preop_f64", F64, F64, U32),
    op2(0x293, "v_bfm_b32", B32, U32, U32),
    op2(0x294, "v_cvt_pknorm_i16_f32", PkI16, F32, F32).saturates_only(),
    op2(0x295, "v_cvt_pknorm_u16_f32", PkI16, F32, F32).saturates_only(),
    op2(0x296, "v_cvt_pkrtz_f16_f32", PkF16, F32, F32),
    op2(0x297, "v_cvt_pk_u16_u32", PkI16, U32, U32),
    op2(0x298, "v_cvt_pk_i16_i32", PkI16, I32, I32),
    op2(0x299, "v_cvt_pknorm_i16_f16", PkI16, F16, F16).op_sel(),
    op2(0x29a, "v_cvt_pknorm_u16_f16", PkI16, F16, F16).op_sel(),
    op2(0x29c, "v_add_i32", I32, I32, I32).saturates_only(),
    op2(0x29d, "v_sub_i32", I32, I32, I32).saturates_only(),
    op2(0x29e, "v_add_i16", I16, I16, I16).op_sel(),
    op2(0x29f, "v_sub_i16", I16, I16, I16).op_sel(),
    op2(0x2a0, "v_pack_b32_f16", PkF16, F16, F16).op_sel(),
    op2(0x2a1, "v_mul_legacy_f32", F32, F32, F32).on(TargetSet::GFX90A),
];
