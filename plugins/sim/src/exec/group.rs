//! Running work-groups.
//!
//! All waves of a group run on one thread, each until it ends, reaches a barrier, has used up its
//! budget of branches, or is the first to write to LDS after a barrier: then the others come that far
//! as well. A group whose waves only use up budgets gives its thread back; it keeps its registers
//! and can go on later, on any thread. Groups that spin on something another group or the host
//! will do can therefore be more numerous than threads.

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use super::affine;
use super::bundle;
use super::code::{Chunk, ChunkLookup};
use super::control::{INDEXING, SKIPPING};
use super::dispatch::{Dispatch, Fault, Step};
use super::guard;
use super::launch::{launch, GroupShape, Ids, Start};
use super::memory::View;
use super::op::{flag, Flow, Op};
use super::slot;
use super::trap;
use super::wave::{Env, Stop, Wave};
use super::wave_sync::SyncAnswer;
use crate::scalar::After;

/// Taken branches after which a wave lets others run.
const BUDGET: u32 = 20_000;

/// The budget while a wave waits for the others to come as far as it is. They may be waiting for what it has to write.
const CATCHING_UP: u32 = 1000;

/// A worker thread's own memory: waves to reuse, views of device memory and code.
#[derive(Default)]
pub struct Arena {
    #[expect(
        clippy::vec_box,
        reason = "waves move between here and groups; they are large"
    )]
    idle_waves: Vec<Box<Wave>>,
    /// Room for the waves of a group.
    members: Vec<Member>,
    env: Box<Env>,
    lookup: ChunkLookup,
    /// Work-item ids of the last group.
    ids: Option<Ids>,
    instructions: u64,
    /// Taken branches of a turn, if not [`BUDGET`].
    budget: Option<NonZeroU32>,
    /// Taken branches of all waves together, if there is a limit.
    limit: Option<NonZeroU32>,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena")
            .field("idle_waves", &self.idle_waves.len())
            .finish_non_exhaustive()
    }
}

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of taken branches after which a wave lets others run; 0 for the usual number. Few branches
    /// suit waves that wait for each other.
    pub fn set_budget(&mut self, branches: u32) {
        self.budget = NonZeroU32::new(branches);
    }

    /// Sets the number of taken branches after which a work-group yields, all waves together; 0 for no such number.
    pub fn set_limit(&mut self, branches: u32) {
        self.limit = NonZeroU32::new(branches);
    }

    /// Keeps the waves of a group that is over for others.
    fn take_back(&mut self, mut waves: Vec<Member>) {
        for member in waves.drain(..) {
            self.idle_waves.push(member.wave);
        }
        self.members = waves;
    }

    /// Wave instructions counted so far. Only observed runs are counted.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }
}

/// How a run of a work-group ended without a fault.
#[derive(Debug)]
pub enum GroupOutcome {
    /// All its waves have ended.
    Done,
    /// It has not finished: resume it later. `idle` says that its waves slept or spun rather than
    /// computed, as far as one can tell.
    Yield {
        /// The rest of the group.
        group: Box<SuspendedGroup>,
        /// Whether waiting a little is a good idea.
        idle: bool,
    },
}

/// A work-group between two runs.
#[derive(Debug)]
pub struct SuspendedGroup {
    id: [u32; 3],
    waves: Vec<Member>,
    lds: super::lds::Lds,
}

impl SuspendedGroup {
    /// Which group it is.
    #[must_use]
    pub fn id(&self) -> [u32; 3] {
        self.id
    }

    /// Whether none of its waves can go on: some stand still in their trap handlers, and the others have ended or wait for
    /// them.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.waves.iter().all(|member| member.state != State::Ready)
    }
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) wave: Box<Wave>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    /// Its trap handler halted it.
    Standing,
    Ended,
}

/// Starts work-group `id` and runs it. Its waves use scratch slots from `scratch_slot` on.
///
/// # Errors
///
/// The fault that ended the group; its other waves are gone as well.
pub fn run_group(
    dispatch: &Dispatch<'_>,
    id: [u32; 3],
    arena: &mut Arena,
    scratch_slot: u32,
) -> Result<GroupOutcome, Fault> {
    let shape = GroupShape::new(dispatch, id);
    let start = Start::new(dispatch, id, shape, scratch_slot, &mut arena.ids);
    let checked = dispatch.host.checks_group_memory();
    arena
        .env
        .lds
        .reset(dispatch.group_segment_bytes as usize, checked);
    let mut waves = std::mem::take(&mut arena.members);
    let together = start.together && !dispatch.host.observes() && dispatch.host.traps().is_none();
    for number in 0..shape.waves {
        let mut wave = arena.idle_waves.pop().unwrap_or_else(Wave::new);
        if number == 0 || !together {
            launch(&mut wave, dispatch, &start, number);
        }
        waves.push(Member {
            wave,
            state: State::Ready,
        });
    }
    arena.lookup.attach(dispatch.code);
    prepare(&mut arena.env, dispatch);
    if together {
        let Arena { lookup, env, .. } = arena;
        let budget = arena.budget.map_or(BUDGET, NonZeroU32::get);
        let ended = bundle::run_together(dispatch, &start, &mut waves, lookup, env, budget);
        if ended != Ok(false) {
            arena.take_back(waves);
            return ended.map(|_| GroupOutcome::Done);
        }
    }
    run_on(dispatch, id, waves, arena)
}

/// Goes on with a group that yielded, possibly on another thread than before.
///
/// # Errors
///
/// The fault that ended the group; its other waves are gone as well.
#[expect(clippy::boxed_local, reason = "that is how the group was handed out")]
pub fn resume_group(
    dispatch: &Dispatch<'_>,
    group: Box<SuspendedGroup>,
    arena: &mut Arena,
) -> Result<GroupOutcome, Fault> {
    let group = *group;
    arena.env.lds = group.lds;
    arena.lookup.attach(dispatch.code);
    prepare(&mut arena.env, dispatch);
    run_on(dispatch, group.id, group.waves, arena)
}

/// Runs a group whose LDS is in the arena, which is prepared for it.
fn run_on(
    dispatch: &Dispatch<'_>,
    id: [u32; 3],
    mut waves: Vec<Member>,
    arena: &mut Arena,
) -> Result<GroupOutcome, Fault> {
    let result = run_waves(dispatch, id, &mut waves, arena);
    if let Ok(Some(idle)) = result {
        let lds = std::mem::take(&mut arena.env.lds);
        let group = Box::new(SuspendedGroup { id, waves, lds });
        return Ok(GroupOutcome::Yield { group, idle });
    }
    arena.take_back(waves);
    result.map(|_| GroupOutcome::Done)
}

/// Fills the environment for a group.
fn prepare(env: &mut Env, dispatch: &Dispatch<'_>) {
    if !env.view.is_of(dispatch.space) {
        env.view = View::new(Arc::clone(dispatch.space));
    }
    env.shared_base = dispatch.apertures.shared;
    env.private_base = dispatch.apertures.private;
    let same_clock = match (&env.clock, dispatch.clock) {
        (Some(mine), Some(theirs)) => Arc::ptr_eq(mine, theirs),
        (None, None) => true,
        _ => false,
    };
    if !same_clock {
        env.clock = dispatch.clock.map(Arc::clone);
    }
}

/// Runs waves until all have ended (`None`) or the group should yield (whether it is idle).
fn run_waves(
    dispatch: &Dispatch<'_>,
    group: [u32; 3],
    waves: &mut [Member],
    arena: &mut Arena,
) -> Result<Option<bool>, Fault> {
    let observed = dispatch.host.observes();
    let budget = arena.budget.map_or(BUDGET, NonZeroU32::get);
    let mut left = arena.limit.map_or(u32::MAX, NonZeroU32::get);
    let mut leading = false;
    loop {
        let (mut spent, mut slept, mut progressed) = (false, false, false);
        let mut budget = if std::mem::take(&mut leading) {
            budget.min(CATCHING_UP)
        } else {
            budget
        };
        for number in 0..waves.len() {
            if waves[number].state != State::Ready {
                continue;
            }
            if dispatch.stop.load(Ordering::Relaxed) {
                return Err(Fault::Stopped);
            }
            if left == 0 {
                break;
            }
            let alone = waves.len() == 1;
            let most = budget.min(left);
            let member = &mut waves[number];
            std::mem::swap(&mut member.wave.env, &mut arena.env);
            let mut turn = Turn {
                dispatch,
                group,
                number: number as u32,
                alone,
                observed,
                budget: most,
                instructions: 0,
            };
            let exit = turn.run(&mut member.wave, &mut arena.lookup);
            arena.instructions += turn.instructions;
            if arena.limit.is_some() {
                left -= most - turn.budget;
            }
            std::mem::swap(&mut member.wave.env, &mut arena.env);
            let exit = exit?;
            in_its_memory(dispatch, &arena.env)?;
            match exit {
                Exit::End => {
                    member.state = State::Ended;
                    progressed = true;
                }
                Exit::Barrier => {
                    member.state = State::AtBarrier;
                    progressed = true;
                }
                Exit::Stand => {
                    member.state = State::Standing;
                    progressed = true;
                }
                Exit::Lead => {
                    leading = true;
                    progressed = true;
                    budget = budget.min(CATCHING_UP);
                }
                Exit::Budget => spent = true,
                Exit::Sleep => slept = true,
            }
        }
        let ready = waves.iter().any(|member| member.state == State::Ready);
        if !ready {
            if waves.iter().any(|member| member.state == State::Standing) {
                return Ok(Some(true));
            }
            let at_barrier = |member: &&mut Member| member.state == State::AtBarrier;
            let waiting = waves.iter_mut().filter(at_barrier).count();
            if waiting == 0 {
                return Ok(None);
            }
            for member in waves.iter_mut().filter(at_barrier) {
                member.state = State::Ready;
                member.wave.leads = waiting > 1;
            }
        } else if left == 0 {
            return Ok(Some(false));
        } else if !progressed {
            return Ok(Some(slept || !spent));
        }
    }
}

/// Whether a group has kept to its memory.
///
/// # Errors
///
/// [`Fault::GroupMemory`] if it has not and somebody wants to know.
#[inline(always)]
pub(super) fn in_its_memory(dispatch: &Dispatch<'_>, env: &Env) -> Result<(), Fault> {
    match env.lds.take_wild() {
        None => Ok(()),
        Some(address) => Err(Fault::GroupMemory {
            address,
            bytes: dispatch.group_segment_bytes,
        }),
    }
}

/// Why a wave gave up its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    End,
    Barrier,
    Stand,
    Lead,
    Budget,
    Sleep,
}

/// One wave's turn on the thread.
struct Turn<'a> {
    dispatch: &'a Dispatch<'a>,
    group: [u32; 3],
    number: u32,
    /// Whether the wave is the only one of its group, for which barriers do nothing.
    alone: bool,
    observed: bool,
    budget: u32,
    instructions: u64,
}

/// What the run loop is to do next.
enum Next {
    /// Go on at this index of the chunk.
    Here(usize),
    /// Look the chunk up again for [`Wave::pc`].
    Elsewhere,
    /// Leave.
    Leave(Exit),
}

impl Turn<'_> {
    /// Runs the wave until it gives up its turn.
    fn run(&mut self, wave: &mut Wave, lookup: &mut ChunkLookup) -> Result<Exit, Fault> {
        loop {
            if wave.pc & 3 != 0 {
                return Err(Fault::EndOfCode { pc: wave.pc });
            }
            let chunk = lookup.get(wave.pc, self.dispatch.space);
            let careful = self.observed || wave.careful;
            if let Some(exit) = self.run_chunk(wave, chunk, careful)? {
                return Ok(exit);
            }
        }
    }

    /// Runs the wave until it leaves the chunk (`None`) or gives up its turn. Careful runs observe, apply relative indexing,
    /// and skip.
    #[inline(always)]
    fn run_chunk(&mut self, wave: &mut Wave, chunk: &Chunk, careful: bool) -> Result<Option<Exit>, Fault> {
        let mut index = ((wave.pc - chunk.base) / 4) as usize;
        if careful && wave.formulas.known != 0 {
            affine::forget(wave);
        }
        loop {
            let flow = if careful {
                self.step(wave, chunk, index, &chunk.ops[index])
            } else {
                let flow;
                // SAFETY: it needs the host instructions of the code cache's level, as in [`call`].
                (index, flow) = unsafe { (chunk.run)(wave, chunk, index, &mut self.budget) };
                flow
            };
            // What follows an operation is the same for all forms of it but fused ones.
            let op = if careful {
                &chunk.ops[index]
            } else {
                &chunk.fast[index]
            };
            match self.turn_to(wave, chunk, index, op, flow)? {
                Next::Here(next) => index = next,
                Next::Elsewhere => return Ok(None),
                Next::Leave(exit) => return Ok(Some(exit)),
            }
        }
    }

    /// One operation in the careful loop.
    fn step(&mut self, wave: &mut Wave, chunk: &Chunk, index: usize, op: &Op) -> Flow {
        if self.observed && Chunk::is_instruction(index) && !std::mem::take(&mut wave.seen) {
            self.instructions += 1;
            self.dispatch.host.step(&Step {
                pc: chunk.pc(index),
                group: self.group,
                wave: self.number,
                exec: wave.exec(),
                state: wave,
            });
        }
        let mode = wave.mode().0;
        if mode & SKIPPING != 0 && op.e & flag::VECTOR != 0 {
            Flow::Next
        } else if mode & INDEXING != 0 && op.e & flag::VALU != 0 {
            call(wave, &indexed(wave, op))
        } else {
            call(wave, op)
        }
    }

    /// Acts on anything but plain continuation.
    #[inline(always)]
    fn turn_to(
        &mut self,
        wave: &mut Wave,
        chunk: &Chunk,
        index: usize,
        op: &Op,
        flow: Flow,
    ) -> Result<Next, Fault> {
        match flow {
            Flow::Next => Ok(Next::Here(op.next.into())),
            Flow::Jump => {
                self.budget -= 1;
                if self.budget == 0 {
                    wave.pc = chunk.pc(wave.jump.into());
                    return Ok(Next::Leave(Exit::Budget));
                }
                Ok(Next::Here(wave.jump.into()))
            }
            Flow::Far => {
                self.budget -= 1;
                Ok(if self.budget == 0 {
                    Next::Leave(Exit::Budget)
                } else {
                    Next::Elsewhere
                })
            }
            Flow::End => Ok(Next::Leave(Exit::End)),
            _ => self.leave(wave, chunk, index, op, flow),
        }
    }

    /// The rarer ways out.
    #[cold]
    fn leave(
        &self,
        wave: &mut Wave,
        chunk: &Chunk,
        index: usize,
        op: &Op,
        flow: Flow,
    ) -> Result<Next, Fault> {
        let next = usize::from(op.next);
        wave.pc = chunk.pc(next);
        match flow {
            Flow::Barrier if self.alone => Ok(Next::Here(next)),
            Flow::Barrier => Ok(Next::Leave(Exit::Barrier)),
            Flow::Lead => {
                wave.leads = false;
                wave.seen = self.observed;
                wave.pc = chunk.pc(index);
                Ok(Next::Leave(Exit::Lead))
            }
            Flow::Sleep => Ok(Next::Leave(Exit::Sleep)),
            Flow::Sync => {
                let Some(sync) = &mut wave.sync else {
                    return Ok(Next::Here(next));
                };
                match self.dispatch.host.sync(sync) {
                    SyncAnswer::Go => {
                        wave.sync = None;
                        Ok(Next::Here(next))
                    }
                    SyncAnswer::Wait(ticket) => {
                        sync.ticket = Some(ticket);
                        wave.pc = chunk.pc(index);
                        Ok(Next::Leave(Exit::Sleep))
                    }
                    SyncAnswer::Absent => {
                        let mut word = [0];
                        // Code that has gone since leaves the word out of the report.
                        let _ = guard::read(&mut word, chunk.pc(index));
                        wave.stop = Some(Stop::Illegal { word: word[0] });
                        self.stopped(wave, fault(wave, chunk, index))
                    }
                }
            }
            Flow::Message => {
                self.dispatch.host.message(wave.message, wave.s[slot::M0]);
                Ok(Next::Here(next))
            }
            Flow::Indexing => Ok(Next::Elsewhere),
            _ => self.stopped(wave, fault(wave, chunk, index)),
        }
    }

    /// What a wave does that has a fault.
    fn stopped(&self, wave: &mut Wave, fault: Fault) -> Result<Next, Fault> {
        match trap::enter(self.dispatch, wave, &fault) {
            Some(After::GoesOn) => Ok(Next::Elsewhere),
            Some(After::Stands) => Ok(Next::Leave(Exit::Stand)),
            Some(After::Lost(_)) | None => Err(fault),
        }
    }
}

/// Calls a handler.
#[inline(always)]
pub(super) fn call(wave: &mut Wave, op: &Op) -> Flow {
    // SAFETY: handlers need the host instructions of the level that they were compiled for. A code cache takes
    // those of a level that the host has (`CodeCache::new`).
    unsafe { (op.run)(wave, op) }
}

/// The fault that a wave stopped with at operation `index`.
pub(super) fn fault(wave: &Wave, chunk: &Chunk, index: usize) -> Fault {
    let pc = chunk.pc(index);
    match wave.stop {
        Some(Stop::Memory {
            address,
            write,
            reason,
        }) => Fault::Memory {
            address,
            write,
            reason,
            pc,
        },
        Some(Stop::Illegal { word }) => Fault::IllegalInstruction {
            pc,
            word,
            mnemonic: chunk.unimplemented(pc),
        },
        Some(Stop::Trap { id }) => Fault::Trap { id, pc },
        Some(Stop::EndOfCode) | None => Fault::EndOfCode { pc },
    }
}

/// The operation with M0's index added to the vector operands that M0 selects.
fn indexed(wave: &Wave, op: &Op) -> Op {
    let m0 = wave.s[slot::M0];
    let offset = (m0 & 0xff) as u16;
    let moved = |code: u16, bit: u32| {
        if code < 256 && m0 >> (12 + bit) & 1 != 0 {
            (code + offset) & 255
        } else {
            code
        }
    };
    Op {
        a: moved(op.a, 0),
        b: moved(op.b, 1),
        c: moved(op.c, 2),
        d: moved(op.d, 3),
        ..*op
    }
}
