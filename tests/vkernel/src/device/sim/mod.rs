//! Kernels run by the software GPU's execution engine, work-group after work-group on the device's thread, a short while at a
//! time, so that a kernel that waits for the host or for another queue holds up neither.
//!
//! The engine knows the processors of [`hansa_sim::isa::Target`]. Others from gfx9 on run programs of scalar instructions only
//! ([`waves`]); a dispatch of anything else ends as one without code.

mod running;
mod traps;
mod waves;

use super::aql::{word, word64};
use super::{Compute, Dispatch, Executor, Fault, Job, Memory, Outcome};
use crate::kfd::device_clock;
use crate::machine::Machine;
use hansa_kfd::chip;
use hansa_plugin_api::sync::Mutex;
use hansa_sim::exec;
use hansa_sim::exec::{Access, AddressSpace, CodeCache, KernelDescriptor, Level};
use hansa_sim::gws::Gws;
use hansa_sim::isa::Target;
use hansa_sim::scalar::Generation;
use running::{Rooms, Running, Work};
use std::collections::HashMap;
use std::sync::Arc;
use waves::Waves;

/// Codes of the inactive signal.
mod code {
    pub(super) const BAD_DIMENSIONS: i64 = 2;
    pub(super) const GROUP_MEMORY: i64 = 4;
    pub(super) const NO_CODE: i64 = 8;
    pub(super) const GROUP_TOO_LARGE: i64 = 0x40;
    pub(super) const APERTURE_VIOLATION: i64 = 0x2000_0000;
    pub(super) const ILLEGAL_INSTRUCTION: i64 = 0x4000_0000;
    pub(super) const EXCEPTION: i64 = 0x8000_0000;
}

/// Offsets in `amd_queue_t`.
mod queue {
    pub(super) const TMPRING: u64 = 140;
    pub(super) const SCRATCH_DESCRIPTOR: u64 = 144;
    pub(super) const SCRATCH_LOCATION: u64 = 160;
}

/// Lanes of a wave.
const WAVE_LANES: u32 = 64;
/// Most work-items of a group.
const MOST_ITEMS: u64 = 1024;

/// What a GPU runs.
#[derive(Clone, Debug)]
enum Engine {
    /// All instructions.
    Full(Arc<CodeCache>),
    /// Scalar instructions.
    Scalar(Generation),
}

#[derive(Clone, Debug)]
struct Gpu {
    engine: Engine,
    space: Arc<AddressSpace>,
    /// Bytes of a group's memory.
    group_bytes: u32,
    gws: Arc<Gws>,
}

impl Gpu {
    /// Forgets code.
    fn invalidate(&self, address: u64, bytes: u64) {
        if let Engine::Full(code) = &self.engine {
            code.invalidate(address, bytes);
        }
    }
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

/// The engine, for each GPU of a machine.
#[derive(Debug)]
pub struct SimExecutor {
    gpus: Vec<Option<Gpu>>,
    /// Private memory that waves have, by queue.
    rooms: Mutex<HashMap<u64, Arc<Rooms>>>,
    clock: Arc<dyn exec::Clock>,
}

impl SimExecutor {
    /// An engine for the GPUs of a machine.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let gpu = |version: u32, device_id: u32, group_kib: u32| {
            let target = chip::Target::of_version(version).or_else(|| chip::by_device_id(device_id))?;
            let engine = match Target::from_name(&target.to_string()) {
                Some(target) => Engine::Full(Arc::new(CodeCache::new(target, Level::detected()))),
                None => Engine::Scalar(Generation::of(target.major.into(), target.minor.into())?),
            };
            Some(Gpu {
                engine,
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

    /// The GPU of a dispatch, ready to run it.
    fn ready(&self, memory: &Memory<'_>) -> Result<&Gpu, Outcome> {
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
        Ok(gpu)
    }

    fn begin(&self, gpu: &Gpu, work: Work, waves: u32) -> Box<dyn Job> {
        let code = match &gpu.engine {
            Engine::Full(code) => Arc::clone(code),
            Engine::Scalar(generation) => {
                return Box::new(Waves::new(*generation, Arc::clone(&gpu.space), work))
            }
        };
        let rooms = Arc::clone(self.rooms.lock().entry(work.queue).or_default());
        Box::new(Running::new(
            (gpu.clone(), code),
            Arc::clone(&self.clock),
            work,
            rooms,
            waves,
        ))
    }
}

fn check_size(workgroup: [u16; 3], grid: [u32; 3]) -> Result<(), Outcome> {
    if workgroup.contains(&0) && !grid.contains(&0) {
        return Err(Outcome::Stopped(code::BAD_DIMENSIONS));
    }
    if workgroup.iter().map(|&side| u64::from(side)).product::<u64>() > MOST_ITEMS {
        return Err(Outcome::Stopped(code::GROUP_TOO_LARGE));
    }
    Ok(())
}

/// Bytes of private memory of a wave, as a word of a register has it.
const fn wave_bytes(tmpring: u32) -> u32 {
    (tmpring >> 12 & 0x1fff) * 1024
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
        wave_bytes: wave_bytes(tmpring),
        descriptor,
    })
}

impl Executor for SimExecutor {
    fn dispatch(&self, memory: &Memory<'_>, dispatch: &Dispatch<'_>) -> Result<Box<dyn Job>, Outcome> {
        let gpu = self.ready(memory)?;
        let packet = dispatch.packet;
        let dimensions = usize::from(half(packet, 2) & 3);
        let side = |i: usize, value: u32| if i < dimensions { value } else { 1 };
        let grid: [u32; 3] = std::array::from_fn(|i| side(i, word(packet, 12 + i * 4)));
        let workgroup: [u16; 3] =
            std::array::from_fn(|i| u16::try_from(side(i, half(packet, 4 + i * 2).into())).unwrap_or(1));
        if dimensions == 0 {
            return Err(Outcome::Stopped(code::BAD_DIMENSIONS));
        }
        check_size(workgroup, grid)?;
        if word(packet, 28) > gpu.group_bytes {
            return Err(Outcome::Stopped(code::GROUP_MEMORY));
        }
        let mut raw = [0; KernelDescriptor::BYTES];
        if memory.read(word64(packet, 32), &mut raw).is_err() {
            return Err(Outcome::Stopped(code::NO_CODE));
        }
        let work = Work {
            descriptor: KernelDescriptor::parse(&raw),
            kernel_object: word64(packet, 32),
            grid,
            workgroup,
            kernarg: word64(packet, 40),
            group_bytes: word(packet, 28),
            private_bytes: word(packet, 24),
            packet: dispatch.address,
            queue: dispatch.queue,
            doorbell: dispatch.doorbell,
            index: dispatch.index,
            scratch: scratch(memory, dispatch.queue).map_err(Outcome::Fault)?,
            user_data: None,
        };
        let waves = memory
            .word(dispatch.queue + queue::TMPRING)
            .map_err(Outcome::Fault)?
            & 0xfff;
        Ok(self.begin(gpu, work, waves))
    }

    fn compute(&self, memory: &Memory<'_>, compute: &Compute) -> Result<Box<dyn Job>, Outcome> {
        let gpu = self.ready(memory)?;
        check_size(compute.workgroup, compute.grid)?;
        let [rsrc1, rsrc2, rsrc3] = compute.rsrc;
        let wave_bytes = wave_bytes(compute.tmpring);
        let work = Work {
            descriptor: KernelDescriptor {
                group_segment_bytes: compute.group_bytes,
                private_segment_bytes: 0,
                kernarg_bytes: 0,
                entry_offset: 0,
                rsrc1,
                rsrc2,
                rsrc3,
                properties: 0,
            },
            kernel_object: compute.code,
            grid: compute.grid,
            workgroup: compute.workgroup,
            kernarg: 0,
            group_bytes: compute.group_bytes,
            private_bytes: wave_bytes / WAVE_LANES,
            packet: 0,
            queue: compute.queue,
            doorbell: compute.doorbell,
            index: 0,
            scratch: exec::Scratch {
                base: compute.scratch,
                wave_bytes,
                descriptor: [0; 4],
            },
            user_data: Some(compute.user_data),
        };
        Ok(self.begin(gpu, work, compute.tmpring & 0xfff))
    }

    fn see(&self, gpu: usize, address: u64, bytes: u64, write: bool, execute: bool) {
        if let Some(gpu) = self.gpu(gpu) {
            let access = Access {
                read: true,
                write,
                execute,
            };
            gpu.space.map(address, bytes, access);
            gpu.invalidate(address, bytes);
        }
    }

    fn forget(&self, gpu: usize, address: u64, bytes: u64) {
        if let Some(gpu) = self.gpu(gpu) {
            gpu.space.unmap(address, bytes);
            gpu.invalidate(address, bytes);
        }
    }

    fn invalidate(&self, gpu: usize) {
        if let Some(gpu) = self.gpu(gpu) {
            gpu.invalidate(0, u64::MAX);
        }
    }
}
