//! Memory instructions and exports.

use super::operand::text;
use crate::isa::inst::{Inst, Operand};
use crate::isa::row::{Family, Forms, Slot, SlotKind};

pub(super) fn operands(inst: &Inst) -> Vec<String> {
    match inst.row.family {
        Family::Smem => smem(inst),
        Family::Mubuf | Family::Mtbuf => buffer(inst),
        Family::Mimg => image(inst),
        Family::Exp => export(inst),
        Family::Ds => ds(inst),
        _ => flat(inst),
    }
}

/// Everything after the operands, with a space before each part.
pub(super) fn modifiers(inst: &Inst) -> String {
    let mods = &inst.mods;
    let mut out = String::new();
    let mut flag = |set: bool, name: &str| {
        if set {
            out.push(' ');
            out.push_str(name);
        }
    };
    match inst.row.family {
        Family::Smem => flag(mods.glc, "glc"),
        Family::Ds => {
            let offset = ds_offset(inst);
            flag(!offset.is_empty(), &offset);
            flag(mods.gds, "gds");
        }
        Family::Mubuf | Family::Mtbuf => {
            flag(mods.idxen, "idxen");
            flag(mods.offen, "offen");
            // The one store from LDS has its mark before the cache policy, loads to LDS after it.
            let store = !inst.row.src[0].is_some();
            flag(inst.imm != 0, &format!("offset:{}", inst.imm));
            flag(mods.lds && store, "lds");
            flag(mods.glc, "glc");
            flag(mods.slc, "slc");
            flag(mods.scc, "scc");
            flag(mods.lds && !store, "lds");
            flag(
                mods.tfe && !mods.lds && !inst.row.forms.contains(Forms::ATOMIC),
                "tfe",
            );
        }
        Family::Mimg => {
            flag(mods.dmask != 0, &format!("dmask:{:#x}", mods.dmask));
            flag(mods.unorm, "unorm");
            flag(mods.glc, "glc");
            flag(mods.slc, "slc");
            flag(mods.scc, "scc");
            flag(mods.a16, "a16");
            flag(mods.tfe, "tfe");
            flag(mods.lwe, "lwe");
            flag(mods.da, "da");
            flag(mods.d16, "d16");
        }
        Family::Exp => {
            flag(mods.exp_done, "done");
            flag(mods.exp_compr, "compr");
            flag(mods.exp_vm, "vm");
        }
        _ => {
            flag(inst.imm != 0, &format!("offset:{}", inst.imm));
            flag(mods.glc, "glc");
            flag(mods.slc, "slc");
            flag(mods.scc, "scc");
            flag(mods.lds, "lds");
        }
    }
    out
}

fn show(operand: Operand, slot: Slot) -> String {
    text(operand, slot.ty, slot.dwords)
}

/// A returned or loaded value. The old value of a compare-and-swap is shown at the width that its
/// register field has.
fn returned(inst: &Inst, list: &mut Vec<String>) {
    if inst.dst != Operand::None {
        list.push(show(inst.dst, inst.row.dst));
    }
}

fn smem(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let mut list = Vec::new();
    match (row.src[2].kind, inst.src[2]) {
        (SlotKind::Imm, mode) => list.push(show(mode, row.src[2])),
        (SlotKind::Sgpr, data) => list.push(show(data, row.src[2])),
        _ => returned(inst, &mut list),
    }
    if !row.src[0].is_some() {
        return list;
    }
    list.push(show(inst.src[0], row.src[0]));
    let sign = if inst.imm < 0 { "-" } else { "" };
    let offset = format!("{sign}{:#x}", inst.imm.unsigned_abs());
    list.push(match (inst.src[1], inst.mods.imm_offset) {
        (Operand::None, _) => offset,
        (register, true) => format!("{} offset:{offset}", show(register, row.src[1])),
        (register, false) => show(register, row.src[1]),
    });
    list
}

fn flat(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let mut list = Vec::new();
    returned(inst, &mut list);
    let saddr = inst.src[2] != Operand::None;
    let address_dwords = if saddr { 1 } else { row.src[0].dwords };
    list.push(text(inst.src[0], row.src[0].ty, address_dwords));
    if row.src[1].is_some() {
        list.push(show(inst.src[1], row.src[1]));
    }
    if row.src[2].is_some() {
        list.push(show(inst.src[2], row.src[2]));
    }
    list
}

fn buffer(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let mut list = Vec::new();
    if !row.src[1].is_some() {
        return list;
    }
    if row.src[3].is_some() {
        list.push(show(inst.src[3], row.src[3]));
    } else {
        returned(inst, &mut list);
    }
    if row.src[0].is_some() {
        let both = inst.mods.offen && inst.mods.idxen;
        list.push(text(inst.src[0], row.src[0].ty, if both { 2 } else { 1 }));
    }
    list.push(show(inst.src[1], row.src[1]));
    let mut soffset = show(inst.src[2], row.src[2]);
    if row.family == Family::Mtbuf {
        soffset.push_str(&buffer_format(inst));
    }
    list.push(soffset);
    list
}

/// The format of a typed buffer access, unless it is the default: 8 bits, UNORM.
fn buffer_format(inst: &Inst) -> String {
    const DATA: [&str; 16] = [
        "INVALID",
        "8",
        "16",
        "8_8",
        "32",
        "16_16",
        "10_11_11",
        "11_11_10",
        "10_10_10_2",
        "2_10_10_10",
        "8_8_8_8",
        "32_32",
        "16_16_16_16",
        "32_32_32",
        "32_32_32_32",
        "RESERVED_15",
    ];
    const NUMBER: [&str; 8] = [
        "UNORM",
        "SNORM",
        "USCALED",
        "SSCALED",
        "UINT",
        "SINT",
        "RESERVED_6",
        "FLOAT",
    ];
    let (dfmt, nfmt) = (usize::from(inst.mods.dfmt), usize::from(inst.mods.nfmt));
    let parts = [
        (dfmt != 1).then(|| format!("BUF_DATA_FORMAT_{}", DATA[dfmt & 15])),
        (nfmt != 0).then(|| format!("BUF_NUM_FORMAT_{}", NUMBER[nfmt & 7])),
    ];
    let shown = parts.into_iter().flatten().collect::<Vec<_>>();
    if shown.is_empty() {
        String::new()
    } else {
        format!(" format:[{}]", shown.join(","))
    }
}

fn image(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let (data, slot) = match inst.src[3] {
        Operand::None => (inst.dst, row.dst),
        data => (data, row.src[3]),
    };
    // LLVM has no gather of three registers (two packed pairs and TFE's) and shows four.
    let dwords = match inst.image_data_dwords() {
        3 if slot.dwords == 4 => 4,
        dwords => dwords,
    };
    let mut list = vec![
        text(data, slot.ty, dwords),
        show(inst.src[0], row.src[0]),
        show(inst.src[1], row.src[1]),
    ];
    if row.src[2].is_some() {
        list.push(show(inst.src[2], row.src[2]));
    }
    list
}

fn ds(inst: &Inst) -> Vec<String> {
    let mut list = Vec::new();
    returned(inst, &mut list);
    for n in 0..3 {
        if inst.row.src[n].is_some() {
            list.push(show(inst.src[n], inst.row.src[n]));
        }
    }
    list
}

fn ds_offset(inst: &Inst) -> String {
    let imm = inst.imm;
    if imm == 0 {
        return String::new();
    }
    if inst.row.name == "ds_swizzle_b32" {
        return swizzle(imm);
    }
    if !inst.row.forms.contains(Forms::OFFSET2) {
        return format!("offset:{imm}");
    }
    match (imm & 0xff, imm >> 8) {
        (first, 0) => format!("offset0:{first}"),
        (0, second) => format!("offset1:{second}"),
        (first, second) => format!("offset0:{first} offset1:{second}"),
    }
}

/// The pattern of `ds_swizzle_b32`: bit 15 set, a permutation of each four lanes; clear, lane
/// numbers are ANDed with bits 0-4, ORed with 5-9 and XORed with 10-14.
fn swizzle(imm: i32) -> String {
    if imm & 0xff00 == 0x8000 {
        let lanes = [0, 2, 4, 6].map(|low| (imm >> low & 3).to_string());
        return format!("offset:swizzle(QUAD_PERM,{})", lanes.join(","));
    }
    if imm & 0x8000 != 0 {
        return format!("offset:{imm}");
    }
    let (and, or, xor) = (imm & 0x1f, imm >> 5 & 0x1f, imm >> 10 & 0x1f);
    let group = (xor + 1).count_ones() == 1;
    if and == 0x1f && or == 0 && xor.count_ones() == 1 {
        return format!("offset:swizzle(SWAP,{xor})");
    }
    if and == 0x1f && or == 0 && xor > 0 && group {
        return format!("offset:swizzle(REVERSE,{})", xor + 1);
    }
    let lanes = 32 - and;
    if lanes > 1 && lanes.count_ones() == 1 && or < lanes && xor == 0 {
        return format!("offset:swizzle(BROADCAST,{lanes},{or})");
    }
    let pattern = (0..5).rev().map(|bit| {
        let at_zero = (or ^ xor) >> bit & 1;
        let at_one = ((and | or) ^ xor) >> bit & 1;
        match (at_zero, at_one) {
            (0, 0) => '0',
            (1, 1) => '1',
            (0, _) => 'p',
            _ => 'i',
        }
    });
    format!("offset:swizzle(BITMASK_PERM,\"{}\")", pattern.collect::<String>())
}

fn export(inst: &Inst) -> Vec<String> {
    let mods = &inst.mods;
    let target = match mods.exp_target {
        n @ 0..=7 => format!("mrt{n}"),
        8 => "mrtz".to_owned(),
        9 => "null".to_owned(),
        n @ 12..=15 => format!("pos{}", n - 12),
        n @ 32.. => format!("param{}", n - 32),
        n => format!("invalid_target_{n}"),
    };
    let mut list = Vec::new();
    for n in 0..4 {
        // Compressed, two components share a register: those of sources 0 and 1.
        let from = if mods.exp_compr { n / 2 } else { n };
        let enabled = mods.exp_en >> n & 1 != 0;
        list.push(if enabled {
            show(inst.src[from], inst.row.src[from])
        } else {
            "off".to_owned()
        });
    }
    list[0] = format!("{target} {}", list[0]);
    list
}
