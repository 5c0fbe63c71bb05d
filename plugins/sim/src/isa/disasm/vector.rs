//! Operands of vector instructions.

use super::operand::{bits32, text};
use crate::isa::inst::{Inst, Operand};
use crate::isa::row::{Family, Forms, SlotKind};

pub(super) fn operands(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let mut list = Vec::new();
    if row.dst.is_some() {
        list.push(text(inst.dst, row.dst.ty, row.dst.dwords));
    }
    if row.sdst.is_some() {
        list.push(text(inst.sdst, row.sdst.ty, row.sdst.dwords));
    }
    for n in 0..3 {
        if let Some(operand) = inst.shown_source(n) {
            list.push(source(inst, n, operand));
        }
    }
    if row.family == Family::Vintrp || row.forms.contains(Forms::INTERP) {
        let channel = ["x", "y", "z", "w"][usize::try_from(inst.imm & 3).unwrap_or_default()];
        let place = list.len().min(2);
        list.insert(place, format!("attr{}.{channel}", inst.imm >> 2));
    }
    list
}

/// A source with its own modifiers: `-|v1|`, `sext(v1)`, and `neg(1)` for a negated constant.
fn source(inst: &Inst, n: usize, operand: Operand) -> String {
    let slot = inst.row.src[n];
    if slot.kind == SlotKind::Imm {
        return parameter(operand);
    }
    let mut shown = match operand {
        // v_madmk and v_madak show their literal in base 16.
        Operand::Literal(bits) if slot.kind == SlotKind::Literal => format!("{bits:#x}"),
        Operand::Literal(bits) if is_madmk(inst) => bits32(bits),
        _ => text(operand, slot.ty, slot.dwords),
    };
    if let Some(sdwa) = inst.mods.sdwa {
        if [sdwa.src0_sext, sdwa.src1_sext, false][n] {
            shown = format!("sext({shown})");
        }
    }
    let absolute = inst.mods.abs >> n & 1 != 0;
    if absolute {
        shown = format!("|{shown}|");
    }
    let constant = matches!(operand, Operand::Int(_) | Operand::Float(_) | Operand::Literal(_));
    match (inst.mods.neg >> n & 1 != 0, constant && !absolute) {
        (false, _) => shown,
        (true, true) => format!("neg({shown})"),
        (true, false) => format!("-{shown}"),
    }
}

/// Whether the instruction is a `v_madmk`. LLVM takes its source 0 for a 32-bit operand, even where
/// it is half precision.
fn is_madmk(inst: &Inst) -> bool {
    inst.row.src[1].kind == SlotKind::Literal
}

/// Which of a vertex attribute's three parameters `v_interp_mov` takes.
fn parameter(operand: Operand) -> String {
    match operand {
        Operand::Int(0) => "p10".to_owned(),
        Operand::Int(1) => "p20".to_owned(),
        Operand::Int(2) => "p0".to_owned(),
        Operand::Int(n) => format!("invalid_param_{n}"),
        _ => String::new(),
    }
}
