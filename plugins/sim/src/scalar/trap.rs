//! Trap handlers: how a wave comes into one, and how it leaves it.
//!
//! Between the hardware and a program's handler is the kernel's own (Linux: `cwsr_trap_handler_gfx9.asm`, `_gfx10.asm`,
//! `_gfx12.asm`), which saves waves and passes everything else on. What it leaves in registers is done here; the handler
//! itself runs from memory.

use super::processor::{Exit, Outside, Processor};
use super::wave::{Generation, Wave};
use crate::exec::AddressSpace;

/// A trap handler, as a process installed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// Its code.
    pub address: u64,
    /// What it is given.
    pub argument: u64,
    /// A debugger is there.
    pub debugged: bool,
}

/// Why a wave enters its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// `s_trap` with this number.
    Trap(u8),
    /// The dword at the program counter is no instruction.
    Illegal,
    /// There is no memory, or not such, at an address.
    Memory,
    /// An address that no memory can have, or that is not aligned.
    Aperture,
    /// Arithmetic did what is an exception, and the wave enabled that one; the flags of TRAPSTS, from gfx12 on of
    /// EXCP_FLAG_USER.
    Arithmetic(u8),
    /// The host wants to know where the wave is.
    Host,
}

/// How a wave is after its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It goes on at its program counter.
    GoesOn,
    /// It stands still for good.
    Stands,
    /// The handler is wrong.
    Lost(Lost),
}

/// What can be wrong with a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// It did what it must not, or what is not known here.
    #[error("The trap handler ends with {exit:?} at {pc:#x}")]
    Ended {
        /// Where.
        pc: u64,
        /// With what.
        exit: Exit,
    },
    /// The wave is back in it as soon as it has left it.
    #[error("The trap handler is entered again and again")]
    Endless,
}

/// Instructions that a handler may take.
const MOST_INSTRUCTIONS: u32 = 10_000;
/// Times that a wave may come back at once.
const MOST_ENTRIES: u32 = 8;

/// Bits of TRAPSTS.
mod trapsts {
    pub(super) const VIOLATION: u32 = 1 << 8;
    pub(super) const ILLEGAL: u32 = 1 << 11;
    pub(super) const REPLAY_FAILED: u32 = 1 << 28;
}

/// Bits of EXCP_FLAG_PRIV.
mod exceptions {
    pub(super) const VIOLATION: u32 = 1 << 4;
    pub(super) const ILLEGAL: u32 = 1 << 6;
    pub(super) const HOST: u32 = 1 << 7;
    pub(super) const REPLAY_FAILED: u32 = 1 << 12;
}

/// SPI_PRIO and ECC_ERR of STATUS, SYS_PRIO and POISON_ERR of STATE_PRIV: the kernel's part takes them away.
const NOT_KEPT: u32 = 0x6 | 1 << 17;
const NOT_KEPT_OF_STATE: u32 = 0xc00 | 1 << 15;
/// Bit of ttmp11 or ttmp13 that says whether there is a debugger.
const DEBUGGED: u32 = 1 << 23;
/// Of ttmp1: the host's interruption up to gfx11.
const HOST_TRAP: u32 = 1 << 24;
/// Bits of SCHED_MODE in ttmp1 and ttmp11.
const SCHED_MODE: u32 = 3 << 26;

/// Runs the handler for a wave, which is at the instruction that is the cause.
pub fn enter(
    wave: &mut Wave,
    cause: Cause,
    handler: &Handler,
    space: &AddressSpace,
    outside: &dyn Outside,
) -> After {
    raise(wave, cause);
    let mut cause = Some(cause);
    for _ in 0..MOST_ENTRIES {
        first_level(wave, cause.take(), handler);
        let exit = Processor::new(wave, space, outside).run(MOST_INSTRUCTIONS);
        if exit != Exit::Returned {
            wave.privileged = false;
            return After::Lost(Lost::Ended { pc: wave.pc, exit });
        }
        if wave.halted() {
            return After::Stands;
        }
        if wave.flags & never_masked(wave.generation) == 0 {
            return After::GoesOn;
        }
    }
    After::Lost(Lost::Endless)
}

/// Exceptions that always bring a wave into its handler, also again.
const fn never_masked(generation: Generation) -> u32 {
    match generation {
        Generation::Gfx12 => exceptions::VIOLATION | exceptions::ILLEGAL | exceptions::HOST,
        _ => trapsts::VIOLATION | trapsts::ILLEGAL,
    }
}

/// Sets the flags of a cause.
fn raise(wave: &mut Wave, cause: Cause) {
    let of_gfx12 = wave.generation == Generation::Gfx12;
    if let (Cause::Arithmetic(flags), true) = (cause, of_gfx12) {
        wave.user_flags |= u32::from(flags) & 0x7f;
    }
    wave.flags |= match (cause, of_gfx12) {
        (Cause::Arithmetic(flags), false) => u32::from(flags) & 0x7f,
        (Cause::Arithmetic(_), true) => 0,
        (Cause::Trap(_), _) | (Cause::Host, false) => 0,
        (Cause::Illegal, false) => trapsts::ILLEGAL,
        (Cause::Memory, false) => trapsts::VIOLATION | trapsts::REPLAY_FAILED,
        (Cause::Aperture, false) => trapsts::VIOLATION,
        (Cause::Illegal, true) => exceptions::ILLEGAL,
        (Cause::Memory, true) => exceptions::VIOLATION | exceptions::REPLAY_FAILED,
        (Cause::Aperture, true) => exceptions::VIOLATION,
        (Cause::Host, true) => exceptions::HOST,
    };
}

/// What hardware and the kernel's part do before the handler.
fn first_level(wave: &mut Wave, cause: Option<Cause>, handler: &Handler) {
    use Generation::{Gfx101, Gfx11, Gfx12, Gfx9, Gfx940};
    let halves = |value: u64| [value as u32, (value >> 32) as u32];
    let [low, high] = halves(wave.pc);
    let number = match (cause, wave.generation) {
        (Some(Cause::Trap(number)), Gfx12) => (u32::from(number) & 15) << 28,
        (Some(Cause::Trap(number)), _) => u32::from(number) << 16,
        (Some(Cause::Host), Gfx9 | Gfx940 | Gfx101 | Generation::Gfx103 | Gfx11) => HOST_TRAP,
        _ => 0,
    };
    wave.set_ttmp(0, low);
    wave.set_ttmp(1, high & 0xffff | number);
    // Hardware says that the wave is in a handler; what is kept of that is gone with the return.
    let not_kept = if wave.generation == Gfx12 {
        NOT_KEPT_OF_STATE
    } else {
        NOT_KEPT
    };
    wave.privileged = true;
    wave.set_ttmp(12, wave.state() & !not_kept);
    // Where the flag of debuggers is, and with it faults under way.
    let flags = if wave.generation == Gfx940 { 13 } else { 11 };
    let mut kept = wave.ttmp(flags);
    match wave.generation {
        Gfx9 | Gfx940 => {
            kept = kept & !0xfc00_0000 | (wave.ib_sts & 0x1f_8000) << 11;
            wave.ib_sts &= !0x1f_8000;
        }
        Gfx101 => {
            kept = kept & !0xff00_0000 | (wave.ib_sts & 0x200_0000) << 6 | (wave.ib_sts & 0x3f_8000) << 9;
            wave.ib_sts &= !0x23f_8000;
        }
        _ => {}
    }
    kept = kept & !DEBUGGED | if handler.debugged { DEBUGGED } else { 0 };
    if wave.generation == Gfx12 {
        let mode = wave.sched_mode << 26 & SCHED_MODE;
        kept = kept & !SCHED_MODE | mode;
        wave.set_ttmp(1, wave.ttmp(1) & !SCHED_MODE | mode);
        wave.sched_mode = 0;
    }
    wave.set_ttmp(flags, kept);
    for (first, value) in [(2, handler.address), (14, handler.argument)] {
        let [low, high] = halves(value);
        wave.set_ttmp(first, low);
        wave.set_ttmp(first + 1, high);
    }
    // The kernel's part looked whether there is a handler.
    wave.scc = true;
    wave.pc = handler.address;
}
