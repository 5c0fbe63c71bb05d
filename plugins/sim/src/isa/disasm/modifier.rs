//! Suffixes and modifiers of vector instructions.

use crate::isa::inst::{Dpp, DstUnused, Inst, Sdwa, Sel};
use crate::isa::row::{Family, Forms};

/// What the mnemonic says about the encoding.
pub(super) fn suffix(inst: &Inst) -> &'static str {
    if inst.mods.sdwa.is_some() {
        return "_sdwa";
    }
    if inst.mods.dpp.is_some() {
        return "_dpp";
    }
    match inst.row.family {
        _ if !inst.row.forms.contains(Forms::SUFFIX) => "",
        Family::Vop3 => "_e64",
        _ => "_e32",
    }
}

/// Everything after the operands, with a space before each part.
pub(super) fn text(inst: &Inst) -> String {
    let mods = &inst.mods;
    let forms = inst.row.forms;
    let mut out = String::new();
    let sources = (0..3).filter(|&n| inst.shown_source(n).is_some()).count();
    if inst.row.family == Family::Vop3p && !forms.contains(Forms::MFMA) {
        packed(inst, sources, &mut out);
    } else if forms.contains(Forms::OP_SEL) && mods.op_sel != 0 {
        // The destination's bit is the fourth, however many sources there are.
        let dst = mods.op_sel >> 3 << sources;
        let src = mods.op_sel & ((1 << sources) - 1);
        out.push_str(&bit_list("op_sel", src | dst, sources + 1));
    }
    if mods.attr_high {
        out.push_str(" high");
    }
    if mods.clamp {
        out.push_str(" clamp");
    }
    out.push_str(["", " mul:2", " mul:4", " div:2"][usize::from(mods.omod & 3)]);
    if let Some(form) = &mods.sdwa {
        out.push_str(&sdwa(inst, form));
    }
    if let Some(form) = &mods.dpp {
        out.push_str(&dpp(form));
    }
    for (name, value) in [("cbsz", mods.cbsz), ("abid", mods.abid), ("blgp", mods.blgp)] {
        if value != 0 {
            out.push_str(&format!(" {name}:{value}"));
        }
    }
    out
}

/// Half selection and negation of packed operands. The defaults are low halves for the low result
/// and high halves for the high one; mixed-precision operands are whole by default.
fn packed(inst: &Inst, sources: usize, out: &mut String) {
    let mods = &inst.mods;
    let all = (1 << sources) - 1;
    let default_hi = if inst.row.forms.contains(Forms::MIX) {
        0
    } else {
        all
    };
    let parts = [
        ("op_sel", mods.op_sel, 0),
        ("op_sel_hi", mods.op_sel_hi, default_hi),
        ("neg_lo", mods.neg_lo, 0),
        ("neg_hi", mods.neg_hi, 0),
    ];
    for (name, bits, default) in parts {
        if bits & all != default {
            out.push_str(&bit_list(name, bits, sources));
        }
    }
}

fn bit_list(name: &str, bits: u8, count: usize) -> String {
    let list = (0..count)
        .map(|n| (bits >> n & 1).to_string())
        .collect::<Vec<_>>();
    format!(" {name}:[{}]", list.join(","))
}

fn sdwa(inst: &Inst, form: &Sdwa) -> String {
    let mut out = String::new();
    if inst.row.family != Family::Vopc {
        let unused = match form.dst_unused {
            DstUnused::Pad => "UNUSED_PAD",
            DstUnused::Sext => "UNUSED_SEXT",
            DstUnused::Preserve => "UNUSED_PRESERVE",
        };
        out.push_str(&format!(" dst_sel:{} dst_unused:{unused}", select(form.dst_sel)));
    }
    out.push_str(&format!(" src0_sel:{}", select(form.src0_sel)));
    if inst.row.src[1].is_some() {
        out.push_str(&format!(" src1_sel:{}", select(form.src1_sel)));
    }
    out
}

fn select(part: Sel) -> String {
    match part {
        Sel::Byte(n) => format!("BYTE_{n}"),
        Sel::Word(n) => format!("WORD_{n}"),
        Sel::Dword => "DWORD".to_owned(),
    }
}

fn dpp(form: &Dpp) -> String {
    let n = form.ctrl & 0xf;
    let control = match form.ctrl {
        0..=0xff => {
            let lanes = [0, 2, 4, 6].map(|low| (form.ctrl >> low & 3).to_string());
            format!("quad_perm:[{}]", lanes.join(","))
        }
        0x101..=0x10f => format!("row_shl:{n}"),
        0x111..=0x11f => format!("row_shr:{n}"),
        0x121..=0x12f => format!("row_ror:{n}"),
        0x130 => "wave_shl:1".to_owned(),
        0x134 => "wave_rol:1".to_owned(),
        0x138 => "wave_shr:1".to_owned(),
        0x13c => "wave_ror:1".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 => "row_bcast:15".to_owned(),
        0x143 => "row_bcast:31".to_owned(),
        _ => format!("row_newbcast:{n}"),
    };
    let bound = if form.bound_ctrl { " bound_ctrl:1" } else { "" };
    format!(
        " {control} row_mask:{:#x} bank_mask:{:#x}{bound}",
        form.row_mask, form.bank_mask
    )
}
