//! SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use super::operand::{scalar, source, LITERAL};
use super::{bit, bits, signed, unsigned, Code};
use crate::isa::inst::{DecodeError, Inst, Operand};
use crate::isa::row::{Family, SlotKind, Ty};

type Decoded = Result<Inst, DecodeError>;

pub(super) fn sop2(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Sop2, 23, 7, 1)?;
    sdst(code, &mut inst)?;
    ssrc(code, &mut inst, 0, code.bits(0, 8))?;
    ssrc(code, &mut inst, 1, code.bits(8, 8))?;
    Ok(code.finish(inst))
}

pub(super) fn sop1(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Sop1, 8, 8, 1)?;
    sdst(code, &mut inst)?;
    ssrc(code, &mut inst, 0, code.bits(0, 8))?;
    Ok(code.finish(inst))
}

pub(super) fn sopc(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Sopc, 16, 7, 1)?;
    ssrc(code, &mut inst, 0, code.bits(0, 8))?;
    ssrc(code, &mut inst, 1, code.bits(8, 8))?;
    Ok(code.finish(inst))
}

pub(super) fn sopp(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Sopp, 16, 7, 1)?;
    inst.imm = signed(code.word, 16);
    Ok(code.finish(inst))
}

pub(super) fn sopk(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Sopk, 23, 5, 1)?;
    sdst(code, &mut inst)?;
    let slot = inst.row.src[0];
    match slot.kind {
        SlotKind::Sgpr => {
            let operand = scalar(code.bits(16, 7), slot.dwords);
            inst.src[0] = operand.map_err(|reason| code.error(reason))?;
        }
        SlotKind::Literal => {
            inst.src[0] = Operand::Literal(code.dword(1)?);
            inst.size = 8;
        }
        _ => {}
    }
    let zero_extended = slot.ty == Ty::U32;
    inst.imm = if zero_extended {
        unsigned(code.bits(0, 16))
    } else {
        signed(code.word, 16)
    };
    Ok(code.finish(inst))
}

pub(super) fn smem(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Smem, 18, 8, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    // Coherence matters where data is moved.
    let moves = row.src[0].is_some() && (row.dst.is_some() || row.src[2].kind == SlotKind::Sgpr);
    inst.mods.glc = moves && bit(code.word, 16);
    inst.mods.nv = bit(code.word, 15);
    let data = code.bits(6, 7);
    match row.src[2].kind {
        SlotKind::Sgpr => inst.src[2] = scalar(data, row.src[2].dwords).map_err(reason)?,
        SlotKind::Imm => inst.src[2] = Operand::Int(unsigned(data)),
        _ => {}
    }
    if code.returns(&inst)? {
        inst.dst = scalar(data, row.dst.dwords.max(row.src[2].dwords)).map_err(reason)?;
    }
    if row.src[0].is_some() {
        inst.src[0] = scalar(code.bits(0, 6) << 1, row.src[0].dwords).map_err(reason)?;
        // Bit 17: the offset is an immediate. Bit 14: there is an offset register as well. With
        // neither, the offset field is the number of a register.
        let (immediate, register) = (bit(code.word, 17), bit(code.word, 14));
        if immediate {
            inst.imm = signed(high, 21);
            inst.mods.imm_offset = true;
        }
        if register {
            inst.src[1] = scalar(bits(high, 25, 7), 1).map_err(reason)?;
        } else if !immediate {
            inst.src[1] = scalar(bits(high, 0, 7), 1).map_err(reason)?;
        }
    }
    Ok(code.finish(inst))
}

fn sdst(code: &Code<'_>, inst: &mut Inst) -> Result<(), DecodeError> {
    if inst.row.dst.is_some() {
        let operand = scalar(code.bits(16, 7), inst.row.dst.dwords);
        inst.dst = operand.map_err(|reason| code.error(reason))?;
    }
    Ok(())
}

fn ssrc(code: &Code<'_>, inst: &mut Inst, n: usize, field: u32) -> Result<(), DecodeError> {
    let slot = inst.row.src[n];
    match slot.kind {
        SlotKind::Ssrc => {
            let literal = if field == LITERAL {
                Some(code.dword(1)?)
            } else {
                None
            };
            if literal.is_some() {
                inst.size = 8;
            }
            inst.src[n] = source(field, slot.dwords, literal).map_err(|reason| code.error(reason))?;
        }
        SlotKind::Sgpr => {
            inst.src[n] = source(field, slot.dwords, None).map_err(|reason| code.error(reason))?;
            if matches!(inst.src[n], Operand::Int(_) | Operand::Float(_)) {
                return Err(code.error("the operand must be a register"));
            }
        }
        SlotKind::Imm => inst.src[n] = Operand::Int(unsigned(field)),
        _ => {}
    }
    Ok(())
}
