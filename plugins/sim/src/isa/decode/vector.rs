//! VOP1, VOP2, VOPC with their SDWA and DPP forms, VOP3, VOP3P and VINTRP.

use super::operand::{agpr, scalar, source, vgpr, LITERAL, VCC};
use super::{bit, bits, field16, field8, signed, unsigned, Code};
use crate::isa::inst::{DecodeError, Dpp, DstUnused, Inst, Operand, Sdwa, Sel};
use crate::isa::row::{Family, Forms, SlotKind};
use crate::isa::target::Target;

type Decoded = Result<Inst, DecodeError>;

/// Source 0 code that announces an SDWA dword.
const SDWA: u32 = 249;
/// Source 0 code that announces a DPP dword.
const DPP: u32 = 250;

pub(super) fn vop1(code: &mut Code<'_>) -> Decoded {
    let inst = code.start(Family::Vop1, 9, 8, 1)?;
    short(code, inst, code.bits(17, 8), 0)
}

pub(super) fn vop2(code: &mut Code<'_>) -> Decoded {
    let inst = code.start(Family::Vop2, 25, 6, 1)?;
    short(code, inst, code.bits(17, 8), code.bits(9, 8))
}

pub(super) fn vopc(code: &mut Code<'_>) -> Decoded {
    let inst = code.start(Family::Vopc, 17, 8, 1)?;
    short(code, inst, 0, code.bits(9, 8))
}

/// The 32-bit encodings: source 0 is any source, source 1 a VGPR; SDWA, DPP or a literal may follow.
fn short(code: &Code<'_>, mut inst: Inst, dst: u32, src1: u32) -> Decoded {
    let row = inst.row;
    let reason = |reason| code.error(reason);
    match row.dst.kind {
        SlotKind::Vgpr => inst.dst = vgpr(dst, row.dst.dwords).map_err(reason)?,
        SlotKind::Agpr => inst.dst = agpr(dst, row.dst.dwords).map_err(reason)?,
        SlotKind::Sgpr => inst.dst = scalar(dst, row.dst.dwords).map_err(reason)?,
        _ => {}
    }
    let src0 = code.bits(0, 9);
    if src0 == SDWA && row.forms.contains(Forms::SDWA) {
        sdwa(code, &mut inst, src1)?;
        return Ok(code.finish(inst));
    }
    let wants_literal = src0 == LITERAL && row.src[0].kind == SlotKind::Vsrc
        || row.src.iter().any(|s| s.kind == SlotKind::Literal);
    let literal = if wants_literal { Some(code.dword(1)?) } else { None };
    if wants_literal {
        inst.size = 8;
    }
    let wide = row.dst.dwords.max(row.src[0].dwords) > 1;
    let has_dpp = row.forms.contains(Forms::DPP) && (!wide || code.target == Target::Gfx90a);
    if src0 == DPP && has_dpp {
        dpp(code, &mut inst)?;
    } else {
        inst.src[0] = match row.src[0].kind {
            SlotKind::Vsrc => source(src0, row.src[0].dwords, literal).map_err(reason)?,
            // Only VGPRs and accumulation registers: the ninth bit is not looked at.
            SlotKind::Vgpr => vgpr(src0 & 0xff, row.src[0].dwords).map_err(reason)?,
            SlotKind::Agpr => agpr(src0 & 0xff, row.src[0].dwords).map_err(reason)?,
            _ => Operand::None,
        };
    }
    // In v_madmk the literal comes first, and the register is the addend.
    for n in [1, 2] {
        inst.src[n] = match row.src[n].kind {
            SlotKind::Vgpr => vgpr(src1, row.src[n].dwords).map_err(reason)?,
            SlotKind::Literal => Operand::Literal(literal.unwrap_or_default()),
            _ => Operand::None,
        };
    }
    lane_register(code, &inst)?;
    Ok(code.finish(inst))
}

/// Reading a lane takes a register: a constant has no lanes.
fn lane_register(code: &Code<'_>, inst: &Inst) -> Result<(), DecodeError> {
    let constant = matches!(
        inst.src[0],
        Operand::Int(_) | Operand::Float(_) | Operand::Literal(_)
    );
    if inst.row.dst.kind == SlotKind::Sgpr && constant {
        return Err(code.error("a lane can only be read from a register"));
    }
    Ok(())
}

fn sdwa(code: &Code<'_>, inst: &mut Inst, src1: u32) -> Result<(), DecodeError> {
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    let src = |number, scalar_bit| {
        // A source is a vector register, or with its scalar bit any scalar source but a literal.
        if bit(high, scalar_bit) {
            source(number, 1, None)
        } else {
            vgpr(number, 1)
        }
    };
    inst.size = 8;
    if row.src[0].is_some() {
        inst.src[0] = src(bits(high, 0, 8), 23).map_err(reason)?;
    }
    if row.src[1].is_some() {
        inst.src[1] = src(src1, 31).map_err(reason)?;
    }
    let select = |low| {
        Ok(match bits(high, low, 3) {
            n @ 0..=3 => Sel::Byte(field8(n)),
            n @ 4..=5 => Sel::Word(field8(n - 4)),
            6 => Sel::Dword,
            _ => return Err(code.error("an SDWA selector is reserved")),
        })
    };
    let mut form = Sdwa {
        dst_sel: Sel::Dword,
        dst_unused: DstUnused::Pad,
        src0_sel: select(16)?,
        src1_sel: Sel::Dword,
        src0_sext: row.float_mods & 1 == 0 && bit(high, 19),
        src1_sext: false,
    };
    if row.src[1].is_some() {
        form.src1_sel = select(24)?;
        form.src1_sext = row.float_mods & 2 == 0 && bit(high, 27);
    }
    let both = field8(bits(high, 20, 1) | bits(high, 28, 1) << 1);
    inst.mods.neg = both & row.float_mods;
    let both = field8(bits(high, 21, 1) | bits(high, 29, 1) << 1);
    inst.mods.abs = both & row.float_mods;
    inst.mods.clamp = bit(high, 13);
    if row.family == Family::Vopc {
        // The mask goes to VCC or, with bit 15, to the pair in bits 8 to 14.
        inst.mods.clamp = false;
        inst.sdst = if bit(high, 15) {
            scalar(bits(high, 8, 7), 2).map_err(reason)?
        } else {
            VCC
        };
    } else {
        form.dst_sel = select(8)?;
        form.dst_unused = match bits(high, 11, 2) {
            0 => DstUnused::Pad,
            1 => DstUnused::Sext,
            2 => DstUnused::Preserve,
            _ => return Err(code.error("the SDWA treatment of unused bits is reserved")),
        };
        if row.dst.ty.is_float() {
            inst.mods.omod = field8(bits(high, 14, 2));
        }
    }
    inst.mods.sdwa = Some(form);
    Ok(())
}

fn dpp(code: &Code<'_>, inst: &mut Inst) -> Result<(), DecodeError> {
    let row = inst.row;
    let high = code.dword(1)?;
    inst.size = 8;
    inst.src[0] = vgpr(bits(high, 0, 8), row.src[0].dwords).map_err(|reason| code.error(reason))?;
    let both = field8(bits(high, 20, 1) | bits(high, 22, 1) << 1);
    inst.mods.neg = both & row.float_mods;
    let both = field8(bits(high, 21, 1) | bits(high, 23, 1) << 1);
    inst.mods.abs = both & row.float_mods;
    let ctrl = field16(bits(high, 8, 9));
    let wide = row.src[0].dwords > 1;
    let known = match ctrl {
        0x150..=0x15f => code.target == Target::Gfx90a,
        // 64-bit sources can come from one lane of each row, no more.
        _ if wide => false,
        0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f => true,
        0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 => true,
        _ => false,
    };
    if !known {
        return Err(code.error("the DPP control is reserved"));
    }
    inst.mods.dpp = Some(Dpp {
        ctrl,
        row_mask: field8(bits(high, 28, 4)),
        bank_mask: field8(bits(high, 24, 4)),
        bound_ctrl: bit(high, 19),
    });
    Ok(())
}

pub(super) fn vop3(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Vop3, 16, 10, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    let dst = code.bits(0, 8);
    match row.dst.kind {
        SlotKind::Vgpr => inst.dst = vgpr(dst, row.dst.dwords).map_err(reason)?,
        SlotKind::Sgpr => inst.dst = scalar(dst, row.dst.dwords).map_err(reason)?,
        _ => {}
    }
    if row.sdst.is_some() && row.dst.is_some() {
        // VOP3b: the second destination takes the place of `abs` and `op_sel`.
        inst.sdst = scalar(code.bits(8, 7), row.sdst.dwords).map_err(reason)?;
    } else {
        if row.sdst.is_some() {
            inst.sdst = scalar(dst, row.sdst.dwords).map_err(reason)?;
        }
        inst.mods.abs = field8(code.bits(8, 3)) & row.float_mods;
        if row.forms.contains(Forms::OP_SEL) {
            inst.mods.op_sel = field8(code.bits(11, 4));
        }
    }
    inst.mods.clamp = row.forms.contains(Forms::CLAMP) && bit(code.word, 15);
    if row.forms.contains(Forms::OMOD) {
        inst.mods.omod = field8(bits(high, 27, 2));
    }
    inst.mods.neg = field8(bits(high, 29, 3)) & row.float_mods;
    if row.forms.contains(Forms::INTERP) {
        interp_long(code, &mut inst, high)?;
        return Ok(code.finish(inst));
    }
    for n in 0..3 {
        let slot = row.src[n];
        let field = bits(high, 9 * [0, 1, 2][n], 9);
        inst.src[n] = match slot.kind {
            SlotKind::Vsrc => source(field, slot.dwords, None).map_err(reason)?,
            SlotKind::Ssrc if field < 256 => source(field, slot.dwords, None).map_err(reason)?,
            SlotKind::Ssrc => return Err(code.error("the operand must be scalar")),
            // The mask that v_cndmask and the carry chains read.
            SlotKind::Sgpr if field < 128 || matches!(field, 235..=239 | 251..=253) => {
                source(field, slot.dwords, None).map_err(reason)?
            }
            SlotKind::Sgpr => return Err(code.error("the operand must be a scalar register")),
            _ => Operand::None,
        };
    }
    lane_register(code, &inst)?;
    Ok(code.finish(inst))
}

/// Interpolation in 64 bits: the attribute takes the place of source 0, and the register that
/// VINTRP calls VSRC is source 1.
fn interp_long(code: &Code<'_>, inst: &mut Inst, high: u32) -> Result<(), DecodeError> {
    let row = inst.row;
    let reason = |reason| code.error(reason);
    inst.imm = unsigned(bits(high, 0, 6) << 2 | bits(high, 6, 2));
    inst.mods.attr_high = bit(high, 8);
    let src1 = bits(high, 9, 9);
    inst.src[0] = match row.src[0].kind {
        SlotKind::Imm => Operand::Int(unsigned(src1)),
        _ => source(src1, 1, None).map_err(reason)?,
    };
    if row.src[2].is_some() {
        inst.src[2] = source(bits(high, 18, 9), 1, None).map_err(reason)?;
    }
    // The modifier bit of source 1 belongs to the register in `src[0]`.
    let shuffle = |field: u32| field8(bits(field, 1, 1) | bits(field, 2, 1) << 2) & row.float_mods;
    inst.mods.abs = shuffle(code.bits(8, 3));
    inst.mods.neg = shuffle(bits(high, 29, 3));
    Ok(())
}

pub(super) fn vop3p(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Vop3p, 16, 7, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    if row.forms.contains(Forms::MFMA) {
        return matrix(code, inst, high);
    }
    let reason = |reason| code.error(reason);
    inst.dst = vgpr(code.bits(0, 8), row.dst.dwords).map_err(reason)?;
    for n in 0..3 {
        if row.src[n].is_some() {
            let field = bits(high, 9 * [0, 1, 2][n], 9);
            inst.src[n] = source(field, row.src[n].dwords, None).map_err(reason)?;
        }
    }
    inst.mods.clamp = bit(code.word, 15);
    inst.mods.op_sel = field8(code.bits(11, 3));
    inst.mods.op_sel_hi = field8(bits(high, 27, 2) | code.bits(14, 1) << 2);
    let (low, top) = (field8(bits(high, 29, 3)), field8(code.bits(8, 3)));
    if row.forms.contains(Forms::MIX) {
        inst.mods.neg = low;
        inst.mods.abs = top;
    } else {
        inst.mods.neg_lo = low;
        inst.mods.neg_hi = top;
    }
    Ok(code.finish(inst))
}

/// Matrix instructions and moves between the two vector register files.
fn matrix(code: &Code<'_>, mut inst: Inst, high: u32) -> Decoded {
    let row = inst.row;
    let reason = |reason| code.error(reason);
    // gfx90a can accumulate in either file; before, only in accumulation registers.
    let split = code.target == Target::Gfx90a;
    let acc_cd = !split || bit(code.word, 15);
    let dst = code.bits(0, 8);
    inst.dst = match row.dst.kind {
        SlotKind::Agpr if acc_cd || row.src[1].kind == SlotKind::None => agpr(dst, row.dst.dwords),
        _ => vgpr(dst, row.dst.dwords),
    }
    .map_err(reason)?;
    for n in 0..3 {
        let slot = row.src[n];
        if !slot.is_some() {
            continue;
        }
        let field = bits(high, 9 * [0, 1, 2][n], 9);
        let acc = match n {
            2 => acc_cd,
            _ => row.src[1].is_some() && bit(high, [27, 28][n]),
        };
        inst.src[n] = match (slot.kind, field) {
            // Only accumulation registers: the ninth bit is not looked at.
            (SlotKind::Agpr, _) => agpr(field & 0xff, slot.dwords),
            (_, 256..) if acc => agpr(field - 256, slot.dwords),
            // Factors come from registers, sums can start from a constant; only the move into an
            // accumulation register takes every source.
            (_, 0..=127) if row.src[1].is_some() => Err("the operand must not be scalar"),
            (_, 128..=255) if row.src[1].is_some() && n < 2 => Err("the operand must be a register"),
            _ => source(field, slot.dwords, None),
        }
        .map_err(reason)?;
    }
    if row.src[1].is_some() {
        inst.mods.cbsz = field8(code.bits(8, 3));
        inst.mods.abid = field8(code.bits(11, 4));
        inst.mods.blgp = field8(bits(high, 29, 3));
    }
    Ok(code.finish(inst))
}

pub(super) fn vintrp(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Vintrp, 16, 2, 1)?;
    let reason = |reason| code.error(reason);
    inst.dst = vgpr(code.bits(18, 8), 1).map_err(reason)?;
    let field = code.bits(0, 8);
    inst.src[0] = match inst.row.src[0].kind {
        SlotKind::Imm => Operand::Int(signed(field, 31)),
        _ => vgpr(field, 1).map_err(reason)?,
    };
    inst.imm = unsigned(code.bits(10, 6) << 2 | code.bits(8, 2));
    Ok(code.finish(inst))
}
