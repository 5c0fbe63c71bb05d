//! Waves with faults in their trap handlers, which [`scalar`] runs.

use super::dispatch::{Dispatch, Fault};
use super::wave::Wave;
use crate::scalar::{self, After, Cause, Generation};

/// Bit of STATUS from which on it has the priority.
const PRIORITY: u32 = 3;

/// Runs the handler for a wave, if there is one.
pub(super) fn enter(dispatch: &Dispatch<'_>, wave: &mut Wave, fault: &Fault) -> Option<After> {
    let (handler, outside) = dispatch.host.traps()?;
    let (cause, pc) = match *fault {
        Fault::Trap { id, pc } => (Cause::Trap(id), pc),
        Fault::IllegalInstruction { pc, .. } => (Cause::Illegal, pc),
        Fault::Memory {
            address, reason, pc, ..
        } => (scalar::cause_of_access(address, reason), pc),
        Fault::EndOfCode { pc } => (Cause::Memory, pc),
        Fault::GroupMemory { .. } | Fault::Stopped => return None,
    };
    let mut state = scalar::Wave::new(Generation::Gfx9, pc);
    state.s.copy_from_slice(&wave.s[..128]);
    state.scc = wave.scc;
    state.mode = wave.mode().0;
    state.flags = wave.hwreg.trapsts;
    state.status = wave.hwreg.priority << PRIORITY;
    let after = scalar::enter(&mut state, cause, &handler, dispatch.space, outside);
    dispatch.host.trapped(fault, &state, &after);
    wave.s[..128].copy_from_slice(&state.s);
    wave.scc = state.scc;
    wave.hwreg.trapsts = state.flags;
    wave.pc = state.pc;
    wave.stop = None;
    Some(after)
}
