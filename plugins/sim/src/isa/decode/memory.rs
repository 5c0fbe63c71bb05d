//! DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF, MIMG and EXP.
//!
//! On gfx90a each of them has a bit that makes its data registers accumulation registers, and most
//! have the SCC bit for system coherence.

use super::operand::{agpr, offset13, scalar, source, vgpr, Reason};
use super::{bit, bits, field8, unsigned, Code};
use crate::isa::inst::{DecodeError, Inst, Operand};
use crate::isa::row::{Family, Forms, Slot};
use crate::isa::target::Target;

type Decoded = Result<Inst, DecodeError>;

/// The scalar address field that stands for no address.
const NO_SADDR: u32 = 0x7f;

/// A data register of either vector file.
fn data(number: u32, dwords: u8, acc: bool) -> Result<Operand, Reason> {
    if acc {
        agpr(number, dwords)
    } else {
        vgpr(number, dwords)
    }
}

fn data_if(slot: Slot, number: u32, acc: bool) -> Result<Operand, Reason> {
    if slot.is_some() {
        data(number, slot.dwords, acc)
    } else {
        Ok(Operand::None)
    }
}

pub(super) fn ds(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Ds, 17, 8, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    let acc = code.target == Target::Gfx90a && bit(code.word, 25);
    inst.imm = unsigned(code.bits(0, 16));
    inst.mods.gds = bit(code.word, 16);
    // The count of a wave synchronisation is data in the place of the address.
    let count = acc && !row.dst.is_some() && !row.src[1].is_some();
    inst.src[0] = data_if(row.src[0], bits(high, 0, 8), count).map_err(reason)?;
    inst.src[1] = data_if(row.src[1], bits(high, 8, 8), acc).map_err(reason)?;
    inst.src[2] = data_if(row.src[2], bits(high, 16, 8), acc).map_err(reason)?;
    inst.dst = data_if(row.dst, bits(high, 24, 8), acc).map_err(reason)?;
    Ok(code.finish(inst))
}

pub(super) fn flat(code: &mut Code<'_>) -> Decoded {
    let family = match code.bits(14, 2) {
        0 => Family::Flat,
        1 => Family::Scratch,
        2 => Family::Global,
        _ => return Err(code.error("the FLAT segment is reserved")),
    };
    let mut inst = code.start(family, 18, 7, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    let gfx90a = code.target == Target::Gfx90a;
    let acc = gfx90a && bit(high, 23);
    let mods = &mut inst.mods;
    mods.nv = !gfx90a && bit(high, 23);
    mods.lds = row.forms.contains(Forms::LDS) && bit(code.word, 13);
    mods.glc = bit(code.word, 16);
    mods.slc = bit(code.word, 17);
    mods.scc = gfx90a && bit(code.word, 25);
    let saddr = bits(high, 16, 7);
    let mut address = row.src[0].dwords;
    if family != Family::Flat && saddr != NO_SADDR {
        inst.src[2] = scalar(saddr, row.src[2].dwords).map_err(reason)?;
        address = u8::from(family == Family::Global);
    }
    if address != 0 {
        inst.src[0] = vgpr(bits(high, 0, 8), address).map_err(reason)?;
    }
    inst.imm = match family {
        Family::Flat => unsigned(code.bits(0, 12)),
        _ => offset13(code.word),
    };
    inst.src[1] = data_if(row.src[1], bits(high, 8, 8), acc).map_err(reason)?;
    if code.returns(&inst)? {
        inst.dst = data_if(row.dst, bits(high, 24, 8), acc).map_err(reason)?;
    }
    Ok(code.finish(inst))
}

pub(super) fn mubuf(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Mubuf, 18, 7, 2)?;
    let high = code.dword(1)?;
    if !inst.row.src[1].is_some() {
        // Cache control has no field but the opcode.
        return Ok(code.finish(inst));
    }
    let gfx90a = code.target == Target::Gfx90a;
    // The store from LDS has no other form.
    let from_lds = !inst.row.src[0].is_some();
    inst.mods.lds = inst.row.forms.contains(Forms::LDS) && (from_lds || bit(code.word, 16));
    inst.mods.slc = bit(code.word, 17);
    inst.mods.scc = gfx90a && bit(code.word, 15);
    inst.mods.glc = bit(code.word, 14);
    buffer(code, inst, high)
}

pub(super) fn mtbuf(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Mtbuf, 15, 4, 2)?;
    let high = code.dword(1)?;
    let gfx90a = code.target == Target::Gfx90a;
    inst.mods.dfmt = field8(code.bits(19, 4));
    inst.mods.nfmt = field8(code.bits(23, 3));
    inst.mods.glc = bit(code.word, 14);
    inst.mods.slc = bit(high, 22);
    inst.mods.scc = gfx90a && bit(high, 21);
    buffer(code, inst, high)
}

/// What both buffer encodings share.
fn buffer(code: &Code<'_>, mut inst: Inst, high: u32) -> Decoded {
    let row = inst.row;
    let reason = |reason| code.error(reason);
    let gfx90a = code.target == Target::Gfx90a;
    let acc = gfx90a && bit(high, 23);
    inst.mods.tfe = !gfx90a && bit(high, 23);
    inst.imm = unsigned(code.bits(0, 12));
    inst.mods.offen = bit(code.word, 12);
    inst.mods.idxen = bit(code.word, 13);
    let address = u8::from(inst.mods.offen) + u8::from(inst.mods.idxen);
    if row.src[0].is_some() && address != 0 {
        inst.src[0] = vgpr(bits(high, 0, 8), address).map_err(reason)?;
    }
    inst.src[1] = scalar(bits(high, 16, 5) << 2, row.src[1].dwords).map_err(reason)?;
    inst.src[2] = source(bits(high, 24, 8), 1, None).map_err(reason)?;
    let number = bits(high, 8, 8);
    inst.src[3] = data_if(row.src[3], number, acc).map_err(reason)?;
    if code.returns(&inst)? {
        inst.dst = data(number, row.dst.dwords, acc).map_err(reason)?;
    }
    Ok(code.finish(inst))
}

pub(super) fn mimg(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Mimg, 18, 7, 2)?;
    let row = inst.row;
    let high = code.dword(1)?;
    let reason = |reason| code.error(reason);
    let gfx90a = code.target == Target::Gfx90a;
    let acc = gfx90a && bit(code.word, 16);
    let mods = &mut inst.mods;
    mods.dmask = field8(code.bits(8, 4));
    mods.unorm = bit(code.word, 12);
    mods.glc = bit(code.word, 13);
    mods.da = bit(code.word, 14);
    mods.a16 = bit(code.word, 15);
    mods.tfe = !gfx90a && bit(code.word, 16);
    mods.lwe = bit(code.word, 17);
    mods.slc = bit(code.word, 25);
    mods.scc = gfx90a && bit(code.word, 7);
    mods.d16 = row.forms.contains(Forms::D16) && bit(high, 31);
    inst.src[0] = vgpr(bits(high, 0, 8), row.src[0].dwords).map_err(reason)?;
    inst.src[1] = scalar(bits(high, 16, 5) << 2, row.src[1].dwords).map_err(reason)?;
    if row.src[2].is_some() {
        inst.src[2] = scalar(bits(high, 21, 5) << 2, row.src[2].dwords).map_err(reason)?;
    }
    let number = bits(high, 8, 8);
    let dwords = inst.image_data_dwords();
    if row.src[3].is_some() {
        inst.src[3] = data(number, dwords, acc).map_err(reason)?;
    }
    if code.returns(&inst)? {
        inst.dst = data(number, dwords, acc).map_err(reason)?;
    }
    Ok(code.finish(inst))
}

pub(super) fn exp(code: &mut Code<'_>) -> Decoded {
    let mut inst = code.start(Family::Exp, 0, 0, 2)?;
    let high = code.dword(1)?;
    let mods = &mut inst.mods;
    mods.exp_en = field8(code.bits(0, 4));
    mods.exp_target = field8(code.bits(4, 6));
    mods.exp_compr = bit(code.word, 10);
    mods.exp_done = bit(code.word, 11);
    mods.exp_vm = bit(code.word, 12);
    let enabled = match mods.exp_compr {
        false => mods.exp_en,
        true => u8::from(mods.exp_en & 3 != 0) | u8::from(mods.exp_en & 12 != 0) << 1,
    };
    for (n, low) in [0, 8, 16, 24].into_iter().enumerate() {
        if enabled >> n & 1 != 0 {
            inst.src[n] = vgpr(bits(high, low, 8), 1).map_err(|reason| code.error(reason))?;
        }
    }
    Ok(code.finish(inst))
}
