//! Kernels run by the software GPU's execution engine, work-group after work-group on the device's thread, a short while at a
//! time, so that a kernel that waits for the host or for another queue holds up neither.
//!
//! The engine knows the processors of [`hansa_sim::isa::Target`]; a dispatch on another GPU ends as one without code.

use super::aql::{word, word64};
use super::{Dispatch, Executor, Fault, Job, Memory, Outcome};
use crate::kfd::device_clock;
use crate::machine::Machine;
use hansa_kfd::chip;
use hansa_sim::exec;
use hansa_sim::exec::{
    Access, AddressSpace, Arena, CodeCache, GroupOutcome, KernelDescriptor, Level, MemoryReason,
    SuspendedGroup,
};
use hansa_sim::gws::Gws;
use hansa_sim::isa::Target;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Codes of the inactive signal.
mod code {
    pub(super) const BAD_DIMENSIONS: i64 = 2;
    pub(super) const GROUP_MEMORY: i64 = 4;
    pub(super) const NO_CODE: i64 = 8;
    pub(super) const GROUP_TOO_LARGE: i64 = 0x40;
    pub(super) const ILLEGAL_INSTRUCTION: i64 = 0x4000_0000;
    pub(super) const EXCEPTION: i64 = 0x8000_0000;
}

/// Offsets in `amd_queue_t`.
mod queue {
    pub(super) const TMPRING: u64 = 140;
    pub(super) const SCRATCH_DESCRIPTOR: u64 = 144;
    pub(super) const SCRATCH_LOCATION: u64 = 160;
}

/// Most work-items of a group.
const MOST_ITEMS: u64 = 1024;
/// How long one step of a dispatch lasts, about.
const SLICE: Duration = Duration::from_millis(1);
/// Bits of a group's message that name an interrupt.
const MESSAGE_INTERRUPT: u16 = 1;
/// Bits of M0 that number an event.
const EVENT_BITS: u32 = 0xff_ffff;

#[derive(Clone, Debug)]
struct Gpu {
    code: Arc<CodeCache>,
    space: Arc<AddressSpace>,
    /// Bytes of a group's memory.
    group_bytes: u32,
    gws: Arc<Gws>,
}

#[derive(Debug)]
struct DeviceClock;

impl exec::Clock for DeviceClock {
    fn shader(&self) -> u64 {
        device_clock()
    }

    fn real(&self) -> u64 {
        device_clock()
    }
}

/// What a kernel's messages reach.
struct Outside<'a>(&'a Memory<'a>, &'a Gws);

impl exec::Host for Outside<'_> {
    fn message(&self, immediate: u16, m0: u32) {
        if immediate & 0xf == MESSAGE_INTERRUPT {
            self.0.kernel().raise(m0 & EVENT_BITS);
        }
    }

    fn sync(&self, sync: &exec::Sync) -> exec::SyncAnswer {
        self.1.use_resource(sync)
    }
}

/// The engine, for each GPU of a machine.
#[derive(Debug)]
pub struct SimExecutor {
    gpus: Vec<Option<Gpu>>,
    /// Private memory that waves have, by queue.
    rooms: Mutex<HashMap<u64, Arc<Rooms>>>,
    clock: Arc<dyn exec::Clock>,
}

/// Private memory of a queue, counted in waves: who has which part.
#[derive(Debug, Default)]
struct Rooms(Mutex<Vec<(u32, u32)>>);

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

impl SimExecutor {
    /// An engine for the GPUs of a machine.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let gpu = |version: u32, device_id: u32, group_kib: u32| {
            let target = chip::Target::of_version(version).or_else(|| chip::by_device_id(device_id))?;
            let target = Target::from_name(&target.to_string())?;
            Some(Gpu {
                code: Arc::new(CodeCache::new(target, Level::detected())),
                space: Arc::new(AddressSpace::new()),
                group_bytes: group_kib * 1024,
                gws: Arc::default(),
            })
        };
        Self {
            gpus: machine
                .gpus
                .iter()
                .map(|g| gpu(g.version, g.device_id, g.lds_kib))
                .collect(),
            rooms: Mutex::default(),
            clock: Arc::new(DeviceClock),
        }
    }

    fn gpu(&self, index: usize) -> Option<&Gpu> {
        self.gpus.get(index)?.as_ref()
    }
}

fn half(packet: &[u8; 64], at: usize) -> u16 {
    u16::from_le_bytes([packet[at], packet[at + 1]])
}

fn scratch(memory: &Memory<'_>, at: u64) -> Result<exec::Scratch, Fault> {
    let tmpring = memory.word(at + queue::TMPRING)?;
    let mut descriptor = [0; 4];
    for (i, word) in descriptor.iter_mut().enumerate() {
        *word = memory.word(at + queue::SCRATCH_DESCRIPTOR + i as u64 * 4)?;
    }
    Ok(exec::Scratch {
        base: memory.word64(at + queue::SCRATCH_LOCATION)?,
        wave_bytes: (tmpring >> 12 & 0x1fff) * 1024,
        descriptor,
    })
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
        exec::Fault::IllegalInstruction { .. } => Outcome::Stopped(code::ILLEGAL_INSTRUCTION),
        exec::Fault::Trap { .. } | exec::Fault::Stopped => Outcome::Stopped(code::EXCEPTION),
    }
}

impl Executor for SimExecutor {
    fn dispatch(&self, memory: &Memory<'_>, dispatch: &Dispatch<'_>) -> Result<Box<dyn Job>, Outcome> {
        let Some(gpu) = self.gpu(memory.gpu()) else {
            memory.kernel().complain(format!(
                "a kernel dispatch on GPU {}, whose instructions are not known",
                memory.gpu()
            ));
            return Err(Outcome::Stopped(code::NO_CODE));
        };
        if let Err(error) = exec::install_fault_handler() {
            memory
                .kernel()
                .complain(format!("no handler for wild accesses: {error}"));
            return Err(Outcome::Stopped(code::EXCEPTION));
        }
        let packet = dispatch.packet;
        let dimensions = usize::from(half(packet, 2) & 3);
        let side = |i: usize, value: u32| if i < dimensions { value } else { 1 };
        let grid: [u32; 3] = std::array::from_fn(|i| side(i, word(packet, 12 + i * 4)));
        let workgroup: [u16; 3] =
            std::array::from_fn(|i| u16::try_from(side(i, half(packet, 4 + i * 2).into())).unwrap_or(1));
        if dimensions == 0 || workgroup.contains(&0) && !grid.contains(&0) {
            return Err(Outcome::Stopped(code::BAD_DIMENSIONS));
        }
        if workgroup.iter().map(|&side| u64::from(side)).product::<u64>() > MOST_ITEMS {
            return Err(Outcome::Stopped(code::GROUP_TOO_LARGE));
        }
        if word(packet, 28) > gpu.group_bytes {
            return Err(Outcome::Stopped(code::GROUP_MEMORY));
        }
        let mut raw = [0; KernelDescriptor::BYTES];
        if memory.read(word64(packet, 32), &mut raw).is_err() {
            return Err(Outcome::Stopped(code::NO_CODE));
        }
        Ok(Box::new(Running {
            gpu: gpu.clone(),
            clock: Arc::clone(&self.clock),
            packet: *packet,
            address: dispatch.address,
            index: dispatch.index,
            queue: dispatch.queue,
            grid,
            workgroup,
            descriptor: KernelDescriptor::parse(&raw),
            scratch: scratch(memory, dispatch.queue).map_err(Outcome::Fault)?,
            waves: memory
                .word(dispatch.queue + queue::TMPRING)
                .map_err(Outcome::Fault)?
                & 0xfff,
            rooms: Arc::clone(self.rooms.lock().entry(dispatch.queue).or_default()),
            progress: Progress::default(),
        }))
    }

    fn see(&self, gpu: usize, address: u64, bytes: u64, write: bool, execute: bool) {
        if let Some(gpu) = self.gpu(gpu) {
            let access = Access {
                read: true,
                write,
                execute,
            };
            gpu.space.map(address, bytes, access);
            gpu.code.invalidate(address, bytes);
        }
    }

    fn forget(&self, gpu: usize, address: u64, bytes: u64) {
        if let Some(gpu) = self.gpu(gpu) {
            gpu.space.unmap(address, bytes);
            gpu.code.invalidate(address, bytes);
        }
    }

    fn invalidate(&self, gpu: usize) {
        if let Some(gpu) = self.gpu(gpu) {
            gpu.code.invalidate(0, u64::MAX);
        }
    }
}

/// A dispatch under way: work-groups begin in order, and one that waits for another is put behind the rest.
#[derive(Debug)]
struct Running {
    gpu: Gpu,
    clock: Arc<dyn exec::Clock>,
    packet: [u8; 64],
    address: u64,
    index: u64,
    queue: u64,
    grid: [u32; 3],
    workgroup: [u16; 3],
    descriptor: KernelDescriptor,
    scratch: exec::Scratch,
    /// Waves that there is private memory for.
    waves: u32,
    rooms: Arc<Rooms>,
    progress: Progress,
}

impl Job for Running {
    fn step(&mut self, memory: &Memory<'_>) -> Outcome {
        thread_local! {
            static ARENA: RefCell<Arena> = RefCell::new(Arena::new());
        }
        let stop = AtomicBool::new(false);
        let outside = Outside(memory, &self.gpu.gws);
        let job = exec::Dispatch {
            code: &self.gpu.code,
            space: &self.gpu.space,
            descriptor: self.descriptor,
            kernel_object: word64(&self.packet, 32),
            grid: self.grid,
            workgroup: self.workgroup,
            kernarg: word64(&self.packet, 40),
            group_segment_bytes: word(&self.packet, 28),
            private_segment_bytes: word(&self.packet, 24),
            dispatch_ptr: self.address,
            queue_ptr: self.queue,
            dispatch_id: self.index,
            scratch: self.scratch,
            apertures: exec::Apertures::default(),
            clock: Some(&self.clock),
            stop: &stop,
            host: &outside,
        };
        let progress = &mut self.progress;
        let rooms = (&self.rooms, self.waves);
        ARENA.with_borrow_mut(|arena| run(&job, rooms, arena, progress))
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
            return progress.standing(groups);
        };
        match outcome {
            Ok(GroupOutcome::Done) => {}
            Ok(GroupOutcome::Yield { group, .. }) => progress.later.push_back((group, room)),
            Err(fault) => return ended(fault),
        }
        if Instant::now() >= end {
            return progress.standing(groups);
        }
    }
}

/// How far a dispatch has come.
#[derive(Debug, Default)]
struct Progress {
    /// The next group to begin.
    next: u64,
    /// Groups that have begun, each with its part of private memory.
    later: VecDeque<(SuspendedGroup, Option<Room>)>,
}

impl Progress {
    fn standing(&self, groups: u64) -> Outcome {
        if self.later.is_empty() && self.next == groups {
            Outcome::Done
        } else {
            Outcome::Later
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
