//! VOP2: vector operations with two sources.

use crate::isa::row::{
    Family, Forms, Row, Slot,
    SlotKind::{Dst, Literal, Vcc, Vgpr, Vsrc},
    Ty::{self, *},
};
use crate::isa::target::TargetSet;

const ALL_FORMS: Forms = Forms::SUFFIX
    .union(Forms::E64)
    .union(Forms::SDWA)
    .union(Forms::DPP);
const SUFFIX_DPP: Forms = Forms::SUFFIX.union(Forms::DPP);

const fn op(opcode: u16, name: &'static str, dst: Ty, src0: Ty, src1: Ty) -> Row {
    Row::new(Family::Vop2, opcode, name)
        .dst(Slot::new(Vgpr, dst))
        .src(0, Slot::new(Vsrc, src0))
        .src(1, Slot::new(Vgpr, src1))
        .float_sources_modified()
        .only(ALL_FORMS)
}

/// Multiplies by a literal and adds a register.
const fn madmk(opcode: u16, name: &'static str, ty: Ty) -> Row {
    op(opcode, name, ty, ty, ty)
        .src(1, Slot::new(Literal, ty))
        .src(2, Slot::new(Vgpr, ty))
        .only(Forms::empty())
}

/// Multiplies registers and adds a literal.
const fn madak(opcode: u16, name: &'static str, ty: Ty) -> Row {
    op(opcode, name, ty, ty, ty)
        .src(2, Slot::new(Literal, ty))
        .only(Forms::empty())
}

/// Scales by a power of two. The exponent is an integer, but LLVM shows constants in its place as
/// floats.
const fn ldexp(opcode: u16, name: &'static str, ty: Ty) -> Row {
    op(opcode, name, ty, ty, ty).modified(0b01)
}

impl Row {
    /// Accumulates into the destination.
    const fn mac(self) -> Self {
        let ty = self.dst.ty;
        self.src(2, Slot::new(Dst, ty))
    }

    /// Writes a carry per lane to VCC.
    const fn carry_out(self) -> Self {
        self.sdst(Slot::new(Vcc, B64)).saturates()
    }

    /// Can saturate in VOP3 form.
    const fn saturates(self) -> Self {
        self.with(Forms::CLAMP)
    }

    /// Reads a bit per lane from VCC.
    const fn vcc_in(self) -> Self {
        self.src(2, Slot::new(Vcc, B64))
    }
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 63] = [
    op(0x00, "v_cndmask_b32", B32, B32, B32).vcc_in(),
    op(0x01, "v_add_f32", F32, F32, F32),
    op(0x02, "v_sub_f32", F32, F32, F32),
    op(0x03, "v_subrev_f32", F32, F32, F32),
    op(0x04, "v_fmac_f64", F64, F64, F64)
        .mac()
        .without(Forms::SDWA)
        .on(TargetSet::GFX90A),
    op(0x04, "v_mul_legacy_f32", F32, F32, F32).on(TargetSet::TO_GFX908),
    op(0x05, "v_mul_f32", F32, F32, F32),
    op(0x06, "v_mul_i32_i24", I32, I32, I32).saturates(),
    op(0x07, "v_mul_hi_i32_i24", I32, I32, I32),
    op(0x08, "v_mul_u32_u24", U32, U32, U32).saturates(),
    op(0x09, "v_mul_hi_u32_u24", U32, U32, U32),
    op(0x0a, "v_min_f32", F32, F32, F32),
    op(0x0b, "v_max_f32", F32, F32, F32),
    op(0x0c, "v_min_i32", I32, I32, I32),
    op(0x0d, "v_max_i32", I32, I32, I32),
    op(0x0e, "v_min_u32", U32, U32, U32),
    op(0x0f, "v_max_u32", U32, U32, U32),
    op(0x10, "v_lshrrev_b32", B32, U32, B32),
    op(0x11, "v_ashrrev_i32", I32, U32, I32),
    op(0x12, "v_lshlrev_b32", B32, U32, B32),
    op(0x13, "v_and_b32", B32, B32, B32),
    op(0x14, "v_or_b32", B32, B32, B32),
    op(0x15, "v_xor_b32", B32, B32, B32),
    op(0x16, "v_mac_f32", F32, F32, F32).mac().without(Forms::SDWA),
    madmk(0x17, "v_madmk_f32", F32),
    madak(0x18, "v_madak_f32", F32),
    op(0x19, "v_add_co_u32", U32, U32, U32).carry_out(),
    op(0x1a, "v_sub_co_u32", U32, U32, U32).carry_out(),
    op(0x1b, "v_subrev_co_u32", U32, U32, U32).carry_out(),
    op(0x1c, "v_addc_co_u32", U32, U32, U32).carry_out().vcc_in(),
    op(0x1d, "v_subb_co_u32", U32, U32, U32).carry_out().vcc_in(),
    op(0x1e, "v_subbrev_co_u32", U32, U32, U32).carry_out().vcc_in(),
    op(0x1f, "v_add_f16", F16, F16, F16),
    op(0x20, "v_sub_f16", F16, F16, F16),
    op(0x21, "v_subrev_f16", F16, F16, F16),
    op(0x22, "v_mul_f16", F16, F16, F16),
    op(0x23, "v_mac_f16", F16, F16, F16).mac().without(Forms::SDWA),
    madmk(0x24, "v_madmk_f16", F16),
    madak(0x25, "v_madak_f16", F16),
    op(0x26, "v_add_u16", U16, U16, U16).saturates(),
    op(0x27, "v_sub_u16", U16, U16, U16).saturates(),
    op(0x28, "v_subrev_u16", U16, U16, U16).saturates(),
    op(0x29, "v_mul_lo_u16", U16, U16, U16),
    op(0x2a, "v_lshlrev_b16", B16, U16, B16),
    op(0x2b, "v_lshrrev_b16", B16, U16, B16),
    op(0x2c, "v_ashrrev_i16", I16, U16, I16),
    op(0x2d, "v_max_f16", F16, F16, F16),
    op(0x2e, "v_min_f16", F16, F16, F16),
    op(0x2f, "v_max_u16", U16, U16, U16),
    op(0x30, "v_max_i16", I16, I16, I16),
    op(0x31, "v_min_u16", U16, U16, U16),
    op(0x32, "v_min_i16", I16, I16, I16),
    ldexp(0x33, "v_ldexp_f16", F16),
    op(0x34, "v_add_u32", U32, U32, U32).saturates(),
    op(0x35, "v_sub_u32", U32, U32, U32).saturates(),
    op(0x36, "v_subrev_u32", U32, U32, U32).saturates(),
    op(0x37, "v_dot2c_f32_f16", F32, PkF16, PkF16)
        .modified(0b11)
        .mac()
        .only(SUFFIX_DPP)
        .on(TargetSet::GFX908_UP),
    op(0x38, "v_dot2c_i32_i16", I32, B32, B32)
        .mac()
        .only(SUFFIX_DPP)
        .on(TargetSet::GFX908_UP),
    op(0x39, "v_dot4c_i32_i8", I32, B32, B32)
        .mac()
        .only(SUFFIX_DPP)
        .on(TargetSet::GFX908_UP),
    op(0x3a, "v_dot8c_i32_i4", I32, B32, B32)
        .mac()
        .only(SUFFIX_DPP)
        .on(TargetSet::GFX908_UP),
    op(0x3b, "v_fmac_f32", F32, F32, F32)
        .mac()
        .without(Forms::SDWA)
        .on(TargetSet::GFX906_UP),
    op(0x3c, "v_pk_fmac_f16", PkF16, PkF16, PkF16)
        .mac()
        .only(Forms::SUFFIX)
        .on(TargetSet::GFX908_UP),
    op(0x3d, "v_xnor_b32", B32, B32, B32).on(TargetSet::GFX906_UP),
];
