//! SOPP: program control. The only operand is the 16-bit immediate.

use crate::isa::row::{Family, Row};

const fn op(opcode: u16, name: &'static str) -> Row {
    Row::new(Family::Sopp, opcode, name)
}

/// The rows, by opcode.
pub(super) static ROWS: [Row; 31] = [
    op(0x00, "s_nop"),
    op(0x01, "s_endpgm"),
    op(0x02, "s_branch"),
    op(0x03, "s_wakeup"),
    op(0x04, "s_cbranch_scc0"),
    op(0x05, "s_cbranch_scc1"),
    op(0x06, "s_cbranch_vccz"),
    op(0x07, "s_cbranch_vccnz"),
    op(0x08, "s_cbranch_execz"),
    op(0x09, "s_cbranch_execnz"),
    op(0x0a, "s_barrier"),
    op(0x0b, "s_setkill"),
    op(0x0c, "s_waitcnt"),
    op(0x0d, "s_sethalt"),
    op(0x0e, "s_sleep"),
    op(0x0f, "s_setprio"),
    op(0x10, "s_sendmsg"),
    op(0x11, "s_sendmsghalt"),
    op(0x12, "s_trap"),
    op(0x13, "s_icache_inv"),
    op(0x14, "s_incperflevel"),
    op(0x15, "s_decperflevel"),
    op(0x16, "s_ttracedata"),
    op(0x17, "s_cbranch_cdbgsys"),
    op(0x18, "s_cbranch_cdbguser"),
    op(0x19, "s_cbranch_cdbgsys_or_user"),
    op(0x1a, "s_cbranch_cdbgsys_and_user"),
    op(0x1b, "s_endpgm_saved"),
    op(0x1c, "s_set_gpr_idx_off"),
    op(0x1d, "s_set_gpr_idx_mode"),
    op(0x1e, "s_endpgm_ordered_ps_done"),
];
