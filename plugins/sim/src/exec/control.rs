//! Program control: branches, calls, waits, messages, hardware registers, VGPR indexing.

use super::mode::Mode;
use super::op::{Flow, Handler, Op};
use super::slot::{EXEC, EXECZ, LDS_DIRECT, LITERAL, M0, SCC, VCCZ};
use super::sop::slot;
use super::wave::{Stop, Wave};

/// [`Op::a`] of a branch whose target is not in its chunk.
pub(crate) const FAR: u16 = u16::MAX;

/// Goes to the branch target.
#[inline(always)]
fn take(wave: &mut Wave, op: &Op) -> Flow {
    if op.a == FAR {
        wave.pc = op.x;
        Flow::Far
    } else {
        wave.jump = op.a;
        Flow::Jump
    }
}

/// Goes to the branch target if told.
#[inline(always)]
fn take_if(wave: &mut Wave, op: &Op, condition: bool) -> Flow {
    if condition {
        take(wave, op)
    } else {
        Flow::Next
    }
}

/// Branches: the payload is the target address.
pub(crate) static BRANCHES: &[(&str, Handler)] = &[
    ("s_branch", |w, op| take(w, op)),
    ("s_cbranch_scc0", |w, op| take_if(w, op, !w.scc)),
    ("s_cbranch_scc1", |w, op| take_if(w, op, w.scc)),
    ("s_cbranch_vccz", |w, op| take_if(w, op, w.vcc() == 0)),
    ("s_cbranch_vccnz", |w, op| take_if(w, op, w.vcc() != 0)),
    ("s_cbranch_execz", |w, op| take_if(w, op, w.exec() == 0)),
    ("s_cbranch_execnz", |w, op| take_if(w, op, w.exec() != 0)),
    // No debugger is attached: the debug conditions are always false.
    ("s_cbranch_cdbgsys", |_, _| Flow::Next),
    ("s_cbranch_cdbguser", |_, _| Flow::Next),
    ("s_cbranch_cdbgsys_or_user", |_, _| Flow::Next),
    ("s_cbranch_cdbgsys_and_user", |_, _| Flow::Next),
];

/// Jumps through registers. The payload is the address after the instruction.
pub(crate) static JUMPS: &[(&str, Handler)] = &[
    ("s_getpc_b64", |w, op| {
        w.set_s64(slot(op.d), op.x);
        Flow::Next
    }),
    ("s_setpc_b64", |w, op| {
        w.pc = w.s64(slot(op.a));
        Flow::Far
    }),
    ("s_swappc_b64", |w, op| {
        w.pc = w.s64(slot(op.a));
        w.set_s64(slot(op.d), op.x);
        Flow::Far
    }),
    ("s_call_b64", |w, op| {
        let offset = i64::from(op.f as i32) * 4;
        w.pc = op.x.wrapping_add_signed(offset);
        w.set_s64(slot(op.d), op.x);
        Flow::Far
    }),
];

/// Forks and joins of divergent control flow. The payload is the address after the instruction.
pub(crate) static FORKS: &[(&str, Handler)] = &[
    ("s_cbranch_g_fork", |w, op| {
        let target = w.s64(slot(op.b));
        fork(w, op, target)
    }),
    ("s_cbranch_i_fork", |w, op| {
        let target = op.x.wrapping_add_signed(4 * i64::from(op.f as i32));
        fork(w, op, target)
    }),
    ("s_cbranch_join", |w, op| {
        let depth = w.mode().0 >> 29;
        if depth == w.s[slot(op.a)] & 7 {
            return Flow::Next;
        }
        let depth = depth.wrapping_sub(1) & 7;
        set_depth(w, depth);
        let at = 4 * depth as usize;
        let exec = w.s64(at);
        w.set_s64(EXEC, exec);
        w.pc = w.s64(at + 2);
        Flow::Far
    }),
];

/// Splits the wave: the smaller half of its lanes goes first, the other half waits on the stack that
/// MODE's top bits index, in SGPRs.
fn fork(wave: &mut Wave, op: &Op, target: u64) -> Flow {
    let (exec, condition) = (wave.exec(), wave.s64(slot(op.a)));
    let (pass, fail) = (exec & condition, exec & !condition);
    if pass == exec {
        wave.pc = target;
        return Flow::Far;
    }
    if fail == exec {
        return Flow::Next;
    }
    let depth = wave.mode().0 >> 29;
    let fail_first = fail.count_ones() < pass.count_ones();
    let (now, later, waiting) = if fail_first {
        (fail, target, pass)
    } else {
        (pass, op.x, fail)
    };
    let at = 4 * depth as usize;
    wave.set_s64(at, waiting);
    wave.set_s64(at + 2, later);
    set_depth(wave, (depth + 1) & 7);
    wave.set_s64(EXEC, now);
    if fail_first {
        Flow::Next
    } else {
        wave.pc = target;
        Flow::Far
    }
}

/// Sets MODE.CSP.
fn set_depth(wave: &mut Wave, depth: u32) {
    let mode = Mode(wave.mode().0 & 0x1fff_ffff | depth << 29);
    wave.set_mode(mode);
}

/// Instructions that order or hint: nothing here is out of order.
pub(crate) static IDLE: &[&str] = &[
    "s_nop",
    "s_waitcnt",
    "s_wakeup",
    "s_sethalt",
    "s_setkill",
    "s_icache_inv",
    "s_incperflevel",
    "s_decperflevel",
    "s_ttracedata",
    "s_dcache_inv",
    "s_dcache_wb",
    "s_dcache_inv_vol",
    "s_dcache_wb_vol",
    "s_dcache_discard",
    "s_dcache_discard_x2",
    "s_atc_probe",
    "s_atc_probe_buffer",
    "buffer_wbl2",
    "buffer_invl2",
    "buffer_wbinvl1",
    "buffer_wbinvl1_vol",
    "v_nop",
    "v_clrexcp",
    "ds_nop",
];

/// The other SOPP instructions and their kin.
pub(crate) static OTHERS: &[(&str, Handler)] = &[
    ("s_endpgm", |_, _| Flow::End),
    ("s_endpgm_saved", |_, _| Flow::End),
    ("s_endpgm_ordered_ps_done", |_, _| Flow::End),
    ("s_barrier", |_, _| Flow::Barrier),
    ("s_sleep", |w, op| {
        w.message = op.f as u16;
        Flow::Sleep
    }),
    ("s_setprio", |w, op| {
        w.hwreg.priority = op.f & 3;
        Flow::Next
    }),
    ("s_sendmsg", |w, op| {
        w.message = op.f as u16;
        Flow::Message
    }),
    ("s_sendmsghalt", |w, op| {
        w.message = op.f as u16;
        Flow::Message
    }),
    ("s_trap", |w, op| {
        w.stop = Some(Stop::Trap { id: op.f as u8 });
        Flow::Fault
    }),
    ("s_set_gpr_idx_off", |w, _| {
        w.set_mode(Mode(w.mode().0 & !INDEXING));
        w.careful = w.mode().0 & SKIPPING != 0;
        Flow::Indexing
    }),
    ("s_set_gpr_idx_mode", |w, op| {
        w.s[M0] = w.s[M0] & 0xffff_0fff | (op.f & 15) << 12;
        Flow::Indexing
    }),
    ("s_set_gpr_idx_on", |w, op| {
        w.set_s64(LITERAL, op.x);
        let index = w.s[slot(op.a)] & 0xff;
        w.s[M0] = w.s[M0] & 0xffff_0f00 | index | (op.f & 15) << 12;
        w.set_mode(Mode(w.mode().0 | INDEXING));
        w.careful = true;
        Flow::Indexing
    }),
    ("s_set_gpr_idx_idx", |w, op| {
        w.set_s64(LITERAL, op.x);
        w.s[M0] = w.s[M0] & 0xffff_ff00 | w.s[slot(op.a)] & 0xff;
        Flow::Indexing
    }),
    ("s_setvskip", |w, op| {
        w.set_s64(LITERAL, op.x);
        let bit = w.s[slot(op.b)] & 31;
        let skip = w.s[slot(op.a)] >> bit & 1;
        w.set_mode(Mode(w.mode().0 & !SKIPPING | skip << 28));
        w.careful = w.mode().0 & (INDEXING | SKIPPING) != 0;
        Flow::Indexing
    }),
    ("s_getreg_b32", |w, op| {
        let (id, offset, mask) = register_field(op.f);
        let value = hardware_register(w, id);
        w.s[slot(op.d)] = value >> offset & mask;
        Flow::Next
    }),
    ("s_setreg_b32", set_register),
    ("s_setreg_imm32_b32", set_register),
];

/// MODE.GPR_IDX_EN.
pub(crate) const INDEXING: u32 = 1 << 27;
/// MODE.VSKIP: vector instructions do nothing.
pub(crate) const SKIPPING: u32 = 1 << 28;

/// Number, first bit and unshifted mask of the field that a hardware register immediate names.
fn register_field(immediate: u32) -> (u32, u32, u32) {
    let width = (immediate >> 11 & 31) + 1;
    let mask = if width == 32 { !0 } else { (1 << width) - 1 };
    (immediate & 63, immediate >> 6 & 31, mask)
}

/// The value of a hardware register.
fn hardware_register(wave: &Wave, id: u32) -> u32 {
    match id {
        1 => wave.mode().0,
        2 => {
            let bit = |set: bool, at: u32| u32::from(set) << at;
            bit(wave.scc, 0)
                | wave.hwreg.priority << 3
                | bit(wave.exec() == 0, 9)
                | bit(wave.vcc() == 0, 10)
                | bit(true, 11)
                | bit(true, 16)
        }
        3 => wave.hwreg.trapsts,
        4 => wave.hwreg.hw_id,
        5 => wave.hwreg.gpr_alloc,
        6 => wave.hwreg.lds_alloc,
        // Aperture bases: bits 63:48 of private, then shared.
        15 => (wave.env.private_base >> 48) as u32 | ((wave.env.shared_base >> 48) as u32) << 16,
        _ => 0,
    }
}

/// `s_setreg`: writable are MODE and the sticky exception bits; the rest ignores it.
fn set_register(wave: &mut Wave, op: &Op) -> Flow {
    wave.set_s64(LITERAL, op.x);
    let value = wave.s[slot(op.a)];
    let (id, offset, mask) = register_field(op.f);
    let insert = |old: u32| old & !(mask << offset) | (value & mask) << offset;
    match id {
        1 => {
            let mode = Mode(insert(wave.mode().0));
            wave.set_mode(mode);
            let careful = mode.0 & (INDEXING | SKIPPING) != 0;
            if careful != wave.careful {
                wave.careful = careful;
                return Flow::Indexing;
            }
        }
        3 => wave.hwreg.trapsts = insert(wave.hwreg.trapsts),
        _ => {}
    }
    Flow::Next
}

/// Evaluates the sources that are conditions into their slots.
pub(crate) fn evaluate_conditions(wave: &mut Wave, _op: &Op) -> Flow {
    wave.s[VCCZ] = u32::from(wave.vcc() == 0);
    wave.s[EXECZ] = u32::from(wave.exec() == 0);
    wave.s[SCC] = u32::from(wave.scc);
    let address = u64::from(wave.s[M0] & 0xffff);
    wave.s[LDS_DIRECT] = wave.env.lds.read32(address);
    Flow::Next
}

/// Does nothing.
pub(crate) fn idle(_wave: &mut Wave, _op: &Op) -> Flow {
    Flow::Next
}

/// Raises an illegal instruction: the payload is the first dword.
pub(crate) fn illegal(wave: &mut Wave, op: &Op) -> Flow {
    wave.stop = Some(Stop::Illegal { word: op.x as u32 });
    Flow::Fault
}

/// Stops at code that cannot be read.
pub(crate) fn end_of_code(wave: &mut Wave, _op: &Op) -> Flow {
    wave.stop = Some(Stop::EndOfCode);
    Flow::Fault
}

/// Goes on in the next chunk, whose address is the payload.
pub(crate) fn next_chunk(wave: &mut Wave, op: &Op) -> Flow {
    wave.pc = op.x;
    Flow::Far
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn register_immediates_name_a_field() {
        // hwreg(HW_REG_MODE, 4, 2) and hwreg(HW_REG_SH_MEM_BASES, 16, 16).
        assert_eq!(register_field(1 | 4 << 6 | 1 << 11), (1, 4, 3));
        assert_eq!(register_field(15 | 16 << 6 | 15 << 11), (15, 16, 0xffff));
        assert_eq!(register_field(1 | 31 << 11), (1, 0, !0));
    }
}
