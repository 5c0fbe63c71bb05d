//! Waves that go the same way.
//!
//! Until a branch or a mask depends on what lanes computed, all waves of a work-group do the same, and of an operation on
//! scalars or [formulas](super::affine) they need one result. A bundle is such waves on their way together: the first has
//! the scalar registers and the formulas, and each has its vector registers. Operations on lanes are done for
//! one wave after the other. At the first operation that may part them the others get what the first has, and each goes on
//! alone.

use std::sync::atomic::Ordering;

use super::affine::bundle::Parted;
use super::affine::memory::{load_dword_of_all, store_dword_of_all};
use super::code::{Chunk, ChunkLookup};
use super::control;
use super::dispatch::{Dispatch, Fault};
use super::group::{call, fault, in_its_memory, Member};
use super::hot::{settled, Kind};
use super::launch::{launch, Start};
use super::level::{versions, Host};
use super::op::{Flow, Handler, Op};
use super::slot;
use super::wave::{Env, Wave};
use crate::isa::{Family, Inst, Operand};

/// How a bundle does an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Together {
    /// It does not: waves part before it.
    Not,
    /// Once for all, or not at all.
    Once,
    /// Once for all if what it reads are formulas, else for each wave.
    Tried,
    /// For each wave, by formulas if it can.
    Access,
    /// For each wave.
    Each,
}

impl Together {
    /// How the operation of an instruction is done; `formula` says that there is a handler for formulas.
    pub(crate) fn new(inst: &Inst, op: &Op, formula: bool) -> Self {
        let name = inst.row.name;
        let listed = |table: &[(&str, Handler)]| table.iter().any(|entry| entry.0 == name);
        let known = op.reads != !0;
        match inst.row.family {
            Family::Sop1 | Family::Sop2 | Family::Sopc | Family::Sopk | Family::Sopp => {
                // What asks for a wave's own number or state, or changes how it runs, is in one of these tables.
                let own = listed(control::OTHERS) || listed(control::FORKS);
                if own && !["s_endpgm", "s_barrier"].contains(&name) {
                    Self::Not
                } else {
                    Self::Once
                }
            }
            Family::Smem if name.starts_with("s_load_") || name.starts_with("s_buffer_load_") => Self::Once,
            Family::Vop1 | Family::Vop2 | Family::Vop3 | Family::Vop3p | Family::Vopc => {
                let vector = matches!(inst.dst, Operand::Vgpr(_) | Operand::Agpr(_));
                match (vector && inst.sdst == Operand::None, formula) {
                    (false, true) => Self::Once,
                    (true, true) => Self::Tried,
                    (true, false) if known => Self::Each,
                    _ => Self::Not,
                }
            }
            Family::Ds if name.starts_with("ds_gws") => Self::Not,
            Family::Ds | Family::Flat | Family::Global | Family::Mubuf if known => {
                if formula {
                    Self::Access
                } else {
                    Self::Each
                }
            }
            _ => Self::Not,
        }
    }
}

/// Runs a bundle from an operation of a chunk on, until its waves part before one ([`Flow::ByLanes`]) or it does anything
/// but go on or jump. Answers which, and what it does. Jumps are counted down to one.
pub(crate) type Loop = unsafe fn(&mut Wave, &mut [Member], &Chunk, usize, &mut u32) -> (usize, Flow);

#[inline(always)]
fn run<H: Host>(
    wave: &mut Wave,
    others: &mut [Member],
    chunk: &Chunk,
    mut index: usize,
    budget: &mut u32,
) -> (usize, Flow) {
    loop {
        let op = &chunk.fast[index];
        let flow = match (op.together, op.kind) {
            (Together::Not, _) => Flow::ByLanes,
            (Together::Once, _) => call(wave, op),
            (Together::Tried, _) => match call(wave, op) {
                Flow::ByLanes => each(wave, others, chunk, index, false),
                flow => flow,
            },
            (Together::Each, _) => each(wave, others, chunk, index, false),
            (Together::Access, kind) => {
                let flow = match kind {
                    Kind::Load => load_dword_of_all::<H, false>(wave, others, op),
                    Kind::Store => store_dword_of_all::<H, false>(wave, others, op),
                    _ => Flow::ByLanes,
                };
                match flow {
                    Flow::ByLanes => each(wave, others, chunk, index, true),
                    flow => flow,
                }
            }
        };
        index = match flow {
            Flow::Next => op.next.into(),
            Flow::Jump if *budget > 1 => {
                *budget -= 1;
                wave.jump.into()
            }
            flow => return (index, flow),
        };
    }
}

versions!(loops, run, [], [], (others: &mut [Member], chunk: &Chunk, index: usize, budget: &mut u32) -> (usize, Flow));

/// Does an operation for one wave after the other, by formulas if it is to be tried.
#[inline(always)]
fn each(wave: &mut Wave, others: &mut [Member], chunk: &Chunk, index: usize, by_formulas: bool) -> Flow {
    if wave.exec() != !0 {
        return Flow::ByLanes;
    }
    let op = &chunk.fused[index];
    if op.reads & wave.formulas.known == 0 {
        return in_turn(wave, others, |wave, _| settled(wave, chunk, op));
    }
    let Some(parted) = Parted::new(&wave.formulas, op.reads) else {
        return Flow::ByLanes;
    };
    let flow = in_turn(wave, others, |wave, number| {
        parted.set_to(&mut wave.formulas, number);
        let flow = if by_formulas {
            call(wave, &chunk.fast[index])
        } else {
            Flow::ByLanes
        };
        if flow == Flow::ByLanes {
            settled(wave, chunk, op)
        } else {
            flow
        }
    });
    parted.put_back(&mut wave.formulas, op.writes);
    flow
}

/// Calls a function for each wave's vector registers, until it answers anything but to go on.
#[inline(always)]
fn in_turn(wave: &mut Wave, others: &mut [Member], f: impl Fn(&mut Wave, u32) -> Flow) -> Flow {
    let mut flow = f(wave, 0);
    for (other, number) in others.iter_mut().zip(1..) {
        if flow != Flow::Next {
            break;
        }
        std::mem::swap(&mut wave.v, &mut other.wave.v);
        flow = f(wave, number);
        std::mem::swap(&mut wave.v, &mut other.wave.v);
    }
    flow
}

/// Runs all waves of a group until they part (`false`; each can go on from where it is) or have ended. The first has been
/// launched.
///
/// # Errors
///
/// The fault that ended the group.
pub(super) fn run_together(
    dispatch: &Dispatch<'_>,
    start: &Start,
    waves: &mut [Member],
    lookup: &mut ChunkLookup,
    env: &mut Box<Env>,
    mut budget: u32,
) -> Result<bool, Fault> {
    let count = waves.len() as u32;
    let Some((first, others)) = waves.split_first_mut() else {
        return Ok(true);
    };
    if dispatch.stop.load(Ordering::Relaxed) {
        return Err(Fault::Stopped);
    }
    let wave = &mut *first.wave;
    wave.formulas.widen(count);
    std::mem::swap(&mut wave.env, env);
    let mut crossed = false;
    let result = run_until_they_part(dispatch, wave, others, lookup, &mut budget, &mut crossed);
    std::mem::swap(&mut wave.env, env);
    let ended = result?;
    in_its_memory(dispatch, env)?;
    if ended {
        return Ok(true);
    }
    for (other, number) in others.iter_mut().zip(1..) {
        let other = &mut *other.wave;
        launch(other, dispatch, start, number);
        other.s[..REGISTERS].copy_from_slice(&wave.s[..REGISTERS]);
        other.scc = wave.scc;
        other.pc = wave.pc;
        other.leads = crossed;
        wave.formulas.give(&mut other.formulas, number);
    }
    wave.formulas.narrow();
    wave.leads = crossed;
    Ok(false)
}

/// Scalar slots that are registers.
const REGISTERS: usize = slot::EXEC + 2;

/// Says as well whether they have come to a barrier on their way.
fn run_until_they_part(
    dispatch: &Dispatch<'_>,
    wave: &mut Wave,
    others: &mut [Member],
    lookup: &mut ChunkLookup,
    budget: &mut u32,
    crossed: &mut bool,
) -> Result<bool, Fault> {
    while wave.pc & 3 == 0 {
        let chunk = lookup.get(wave.pc, dispatch.space);
        let mut index = ((wave.pc - chunk.base) / 4) as usize;
        loop {
            let flow;
            // SAFETY: it needs the host instructions of the code cache's level, as in [`call`].
            (index, flow) = unsafe { (chunk.together)(wave, others, chunk, index, budget) };
            match flow {
                Flow::End => return Ok(true),
                // All waves of the group are here.
                Flow::Barrier => {
                    *crossed = true;
                    index = chunk.fast[index].next.into();
                }
                Flow::Far if *budget > 1 => {
                    *budget -= 1;
                    break;
                }
                Flow::Far => return Ok(false),
                Flow::Jump => {
                    wave.pc = chunk.pc(wave.jump.into());
                    return Ok(false);
                }
                Flow::ByLanes => {
                    wave.pc = chunk.pc(index);
                    return Ok(false);
                }
                _ => return Err(fault(wave, chunk, index)),
            }
        }
    }
    Ok(false)
}
