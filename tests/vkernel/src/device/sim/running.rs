//! A dispatch under way.

use super::traps::Traps;
use super::{code, Gpu};
use crate::device::{Fault, Job, Memory, Outcome};
use hansa_plugin_api::sync::Mutex;
use hansa_sim::exec;
use hansa_sim::exec::{Arena, CodeCache, GroupOutcome, KernelDescriptor, MemoryReason, SuspendedGroup};
use hansa_sim::gws::Gws;
use hansa_sim::scalar;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one step of a dispatch lasts, about.
const SLICE: Duration = Duration::from_millis(1);
/// Bits of a group's message that name an interrupt.
const MESSAGE_INTERRUPT: u16 = 1;
/// Bits of M0 that number an event.
const EVENT_BITS: u32 = 0xff_ffff;

/// What a dispatch is to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) descriptor: KernelDescriptor,
    /// What the entry point is relative to.
    pub(super) kernel_object: u64,
    pub(super) grid: [u32; 3],
    pub(super) workgroup: [u16; 3],
    pub(super) kernarg: u64,
    pub(super) group_bytes: u32,
    /// Private memory of a work-item.
    pub(super) private_bytes: u32,
    /// Address of the packet.
    pub(super) packet: u64,
    /// Address of the queue.
    pub(super) queue: u64,
    /// The number of the queue's doorbell.
    pub(super) doorbell: u32,
    /// Number of the packet in its queue.
    pub(super) index: u64,
    pub(super) scratch: exec::Scratch,
    pub(super) user_data: Option<[u32; 16]>,
}

/// What a kernel's messages reach.
struct Outside<'a> {
    memory: &'a Memory<'a>,
    gws: &'a Gws,
    traps: &'a Traps<'a>,
}

impl exec::Host for Outside<'_> {
    fn message(&self, immediate: u16, m0: u32) {
        if immediate & 0xf == MESSAGE_INTERRUPT {
            self.memory.kernel().raise(m0 & EVENT_BITS);
        }
    }

    fn sync(&self, sync: &exec::Sync) -> exec::SyncAnswer {
        self.gws.use_resource(sync)
    }

    fn traps(&self) -> Option<(scalar::Handler, &dyn scalar::Outside)> {
        Some((self.traps.handler?, self.traps))
    }

    fn trapped(&self, fault: &exec::Fault, _wave: &scalar::Wave, after: &scalar::After) {
        let cause = match *fault {
            exec::Fault::Memory { address, reason, .. } => scalar::cause_of_access(address, reason),
            _ => scalar::Cause::Memory,
        };
        if let Outcome::Fault(fault) = ended(*fault) {
            self.traps.faulted(cause, fault);
        }
        self.traps.after(after);
    }
}

/// Private memory of a queue, counted in waves: who has which part.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<Vec<(u32, u32)>>);

impl Rooms {
    /// A part for so many waves of `all` there are.
    fn take(self: &Arc<Self>, waves: u32, all: u32) -> Option<Room> {
        let mut taken = self.0.lock();
        let mut first = 0;
        for &(start, end) in taken.iter() {
            if first + waves <= start {
                break;
            }
            first = end;
        }
        let part = (first, first + waves);
        // One group always has room: the runtime gave memory for it.
        if part.1 > all && first != 0 {
            return None;
        }
        taken.push(part);
        taken.sort_unstable();
        Some(Room {
            rooms: Arc::clone(self),
            part,
        })
    }
}

/// A part of a queue's private memory; given back when dropped.
#[derive(Debug)]
struct Room {
    rooms: Arc<Rooms>,
    part: (u32, u32),
}

impl Drop for Room {
    fn drop(&mut self) {
        self.rooms.0.lock().retain(|part| *part != self.part);
    }
}

fn ended(fault: exec::Fault) -> Outcome {
    match fault {
        exec::Fault::Memory { address, reason, .. } => Outcome::Fault(Fault {
            address,
            present: reason == MemoryReason::NotAllowed,
        }),
        exec::Fault::EndOfCode { pc } => Outcome::Fault(Fault {
            address: pc,
            present: false,
        }),
        exec::Fault::GroupMemory { .. } => Outcome::Stopped(code::APERTURE_VIOLATION),
        exec::Fault::IllegalInstruction { .. } => Outcome::Stopped(code::ILLEGAL_INSTRUCTION),
        exec::Fault::Trap { .. } | exec::Fault::Stopped => Outcome::Stopped(code::EXCEPTION),
    }
}

/// A dispatch under way: work-groups begin in order, and one that waits for another is put behind the rest.
#[derive(Debug)]
pub(super) struct Running {
    gpu: Gpu,
    code: Arc<CodeCache>,
    clock: Arc<dyn exec::Clock>,
    work: Work,
    /// Waves that there is private memory for.
    waves: u32,
    rooms: Arc<Rooms>,
    progress: Progress,
}

impl Running {
    /// A dispatch that has not begun; `waves` is how many `rooms` has private memory for.
    pub(super) fn new(
        (gpu, code): (Gpu, Arc<CodeCache>),
        clock: Arc<dyn exec::Clock>,
        work: Work,
        rooms: Arc<Rooms>,
        waves: u32,
    ) -> Self {
        Self {
            gpu,
            code,
            clock,
            work,
            waves,
            rooms,
            progress: Progress::default(),
        }
    }
}

impl Job for Running {
    fn step(&mut self, memory: &Memory<'_>) -> Outcome {
        thread_local! {
            static ARENA: RefCell<Arena> = RefCell::new(Arena::new());
        }
        let stop = AtomicBool::new(false);
        let work = &self.work;
        let traps = Traps::new(memory, work.doorbell);
        let outside = Outside {
            memory,
            gws: &self.gpu.gws,
            traps: &traps,
        };
        let job = exec::Dispatch {
            code: &self.code,
            space: &self.gpu.space,
            descriptor: work.descriptor,
            kernel_object: work.kernel_object,
            grid: work.grid,
            workgroup: work.workgroup,
            kernarg: work.kernarg,
            group_segment_bytes: work.group_bytes,
            private_segment_bytes: work.private_bytes,
            dispatch_ptr: work.packet,
            queue_ptr: work.queue,
            dispatch_id: work.index,
            scratch: work.scratch,
            user_data: work.user_data,
            apertures: exec::Apertures::default(),
            clock: Some(&self.clock),
            stop: &stop,
            host: &outside,
        };
        let progress = &mut self.progress;
        let rooms = (&self.rooms, self.waves);
        let outcome = ARENA.with_borrow_mut(|arena| run(&job, rooms, arena, progress));
        traps.outcome(outcome)
    }
}

/// Runs work-groups for a short while.
fn run(
    job: &exec::Dispatch<'_>,
    rooms: (&Arc<Rooms>, u32),
    arena: &mut Arena,
    progress: &mut Progress,
) -> Outcome {
    let shape = job.groups().map(u64::from);
    let groups: u64 = shape.iter().product();
    let end = Instant::now() + SLICE;
    // Groups that have begun go on in turn, at most once in a step.
    let mut turns = progress.later.len();
    loop {
        let (outcome, room) = if turns > 0 {
            turns -= 1;
            let Some((group, room)) = progress.later.pop_front() else {
                continue;
            };
            (exec::resume_group(job, group, arena), room)
        } else if let Some(room) = room(job, rooms).filter(|_| progress.next < groups) {
            let i = progress.next;
            progress.next += 1;
            let id = [i % shape[0], i / shape[0] % shape[1], i / shape[0] / shape[1]];
            let id = id.map(|i| u32::try_from(i).unwrap_or(0));
            let slot = room.as_ref().map_or(0, |room| room.part.0);
            (exec::run_group(job, id, arena, slot), room)
        } else {
            return progress.outcome(groups, false);
        };
        match outcome {
            Ok(GroupOutcome::Done) => {}
            Ok(GroupOutcome::Yield { group, .. }) if group.stands() => progress.standing.push((group, room)),
            Ok(GroupOutcome::Yield { group, .. }) => progress.later.push_back((group, room)),
            Err(fault) => return ended(fault),
        }
        if Instant::now() >= end {
            return progress.outcome(groups, true);
        }
    }
}

/// How far a dispatch has come.
#[derive(Debug, Default)]
struct Progress {
    /// The next group to begin.
    next: u64,
    /// Groups that have begun, each with its part of private memory.
    later: VecDeque<(Box<SuspendedGroup>, Option<Room>)>,
    /// Groups that never go on.
    standing: Vec<(Box<SuspendedGroup>, Option<Room>)>,
}

impl Progress {
    /// How it stands. Groups that have not begun for want of private memory wait for those that stand, too.
    fn outcome(&self, groups: u64, has_room: bool) -> Outcome {
        if !self.later.is_empty() || (self.next < groups && (has_room || self.standing.is_empty())) {
            Outcome::Later
        } else if self.standing.is_empty() {
            Outcome::Done
        } else {
            Outcome::Stands
        }
    }
}

/// A part of private memory for a group that needs one; `None` when there is none left.
fn room(job: &exec::Dispatch<'_>, (rooms, waves): (&Arc<Rooms>, u32)) -> Option<Option<Room>> {
    if job.private_segment_bytes == 0 {
        return Some(None);
    }
    rooms.take(job.waves_per_group(), waves).map(Some)
}
