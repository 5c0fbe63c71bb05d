//! Scalar instructions: SOP1, SOP2, SOPC, SOPK and SOPP, and the fields with names in them.

use super::operand::{bits32, text};
use crate::isa::inst::{Inst, Operand};
use crate::isa::row::{Family, SlotKind};

pub(super) fn operands(inst: &Inst) -> Vec<String> {
    match inst.row.family {
        Family::Sopp => sopp(inst),
        Family::Sopk => sopk(inst),
        _ => plain(inst),
    }
}

fn plain(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let mut list = Vec::new();
    if row.dst.is_some() {
        list.push(text(inst.dst, row.dst.ty, row.dst.dwords));
    }
    for n in 0..2 {
        match (row.src[n].kind, inst.src[n]) {
            (SlotKind::Imm, Operand::Int(mask)) => list.push(gpr_idx(mask)),
            (SlotKind::Ssrc | SlotKind::Sgpr, operand) => {
                list.push(text(operand, row.src[n].ty, row.src[n].dwords));
            }
            _ => {}
        }
    }
    list
}

fn sopk(inst: &Inst) -> Vec<String> {
    let row = inst.row;
    let register = || match row.src[0].kind {
        SlotKind::Sgpr => text(inst.src[0], row.src[0].ty, row.src[0].dwords),
        SlotKind::Literal => text(inst.src[0], row.src[0].ty, 1),
        _ => text(inst.dst, row.dst.ty, row.dst.dwords),
    };
    let imm = imm16(inst);
    match row.name {
        "s_getreg_b32" => vec![register(), hwreg(imm)],
        "s_setreg_b32" | "s_setreg_imm32_b32" => vec![hwreg(imm), register()],
        "s_call_b64" | "s_cbranch_i_fork" => vec![register(), imm.to_string()],
        _ => vec![register(), format!("{imm:#x}")],
    }
}

fn sopp(inst: &Inst) -> Vec<String> {
    let imm = imm16(inst);
    match inst.row.name {
        "s_nop" | "s_setkill" | "s_sethalt" | "s_sleep" | "s_setprio" | "s_trap" | "s_incperflevel"
        | "s_decperflevel" => vec![bits32(u32::from(imm))],
        "s_endpgm" if imm == 0 => Vec::new(),
        "s_waitcnt" => vec![waitcnt(imm)],
        "s_sendmsg" | "s_sendmsghalt" => vec![sendmsg(imm)],
        "s_set_gpr_idx_mode" => vec![gpr_idx(i32::from(imm))],
        name if name == "s_endpgm" || name == "s_branch" || name.starts_with("s_cbranch") => {
            vec![imm.to_string()]
        }
        _ => Vec::new(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the 16 bits of the field"
)]
fn imm16(inst: &Inst) -> u16 {
    inst.imm as u16
}

/// The counters that are waited for: VM in bits 0-3 and 14-15, EXP in 4-6, LGKM in 8-11. A counter
/// at its maximum is not waited for.
fn waitcnt(imm: u16) -> String {
    let vm = imm & 0xf | (imm >> 14) << 4;
    let exp = imm >> 4 & 7;
    let lgkm = imm >> 8 & 0xf;
    let all = (vm, exp, lgkm) == (63, 7, 15);
    let counters = [("vmcnt", vm, 63), ("expcnt", exp, 7), ("lgkmcnt", lgkm, 15)];
    let waited = counters.iter().filter(|(_, count, max)| all || count != max);
    waited
        .map(|(name, count, _)| format!("{name}({count})"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The register indices that M0 is added to.
fn gpr_idx(mask: i32) -> String {
    if !(0..16).contains(&mask) {
        return format!("{mask:#x}");
    }
    let names = ["SRC0", "SRC1", "SRC2", "DST"];
    let set = names.iter().enumerate().filter(|(n, _)| mask >> n & 1 != 0);
    format!(
        "gpr_idx({})",
        set.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
    )
}

/// A field of a hardware register: number in bits 0-5, offset in 6-10, width less one in 11-15.
fn hwreg(imm: u16) -> String {
    let name = match imm & 0x3f {
        1 => "HW_REG_MODE".to_owned(),
        2 => "HW_REG_STATUS".to_owned(),
        3 => "HW_REG_TRAPSTS".to_owned(),
        4 => "HW_REG_HW_ID".to_owned(),
        5 => "HW_REG_GPR_ALLOC".to_owned(),
        6 => "HW_REG_LDS_ALLOC".to_owned(),
        7 => "HW_REG_IB_STS".to_owned(),
        15 => "HW_REG_SH_MEM_BASES".to_owned(),
        16 => "HW_REG_TBA_LO".to_owned(),
        17 => "HW_REG_TBA_HI".to_owned(),
        18 => "HW_REG_TMA_LO".to_owned(),
        19 => "HW_REG_TMA_HI".to_owned(),
        number => number.to_string(),
    };
    match (imm >> 6 & 0x1f, (imm >> 11) + 1) {
        (0, 32) => format!("hwreg({name})"),
        (offset, width) => format!("hwreg({name}, {offset}, {width})"),
    }
}

/// A message: its number in bits 0-3, operation in 4-6, stream in 8-9.
fn sendmsg(imm: u16) -> String {
    let (message, operation, stream) = (imm & 0xf, imm >> 4 & 7, imm >> 8 & 3);
    let name = match message {
        1 => "MSG_INTERRUPT",
        2 => "MSG_GS",
        3 => "MSG_GS_DONE",
        4 => "MSG_SAVEWAVE",
        5 => "MSG_STALL_WAVE_GEN",
        6 => "MSG_HALT_WAVES",
        7 => "MSG_ORDERED_PS_DONE",
        8 => "MSG_EARLY_PRIM_DEALLOC",
        9 => "MSG_GS_ALLOC_REQ",
        10 => "MSG_GET_DOORBELL",
        15 => "MSG_SYSMSG",
        _ => "",
    };
    let operation_name = match (message, operation) {
        (3, 0) => "GS_OP_NOP",
        (2 | 3, 1) => "GS_OP_CUT",
        (2 | 3, 2) => "GS_OP_EMIT",
        (2 | 3, 3) => "GS_OP_EMIT_CUT",
        (15, 1) => "SYSMSG_OP_ECC_ERR_INTERRUPT",
        (15, 2) => "SYSMSG_OP_REG_RD",
        (15, 3) => "SYSMSG_OP_HOST_TRAP_ACK",
        (15, 4) => "SYSMSG_OP_TTRACE_PC",
        _ => "",
    };
    let has_operation = matches!(message, 2 | 3 | 15);
    let has_stream = matches!(message, 2 | 3) && operation != 0;
    let named = !name.is_empty()
        && if has_operation {
            !operation_name.is_empty()
        } else {
            operation == 0
        }
        && (has_stream || stream == 0);
    if !named {
        return if imm == message | operation << 4 | stream << 8 {
            format!("sendmsg({message}, {operation}, {stream})")
        } else {
            imm.to_string()
        };
    }
    match (has_operation, has_stream) {
        (false, _) => format!("sendmsg({name})"),
        (true, false) => format!("sendmsg({name}, {operation_name})"),
        (true, true) => format!("sendmsg({name}, {operation_name}, {stream})"),
    }
}
