//! The door to the execution engine: what a dispatch is to it, and what its faults are to a queue.

use crate::chip::{GROUP_BYTES, MAX_GROUP_ITEMS};
use crate::exec::guard;
use crate::exec::memory::View;
use crate::exec::{
    self, property, Arena, Dispatch, Fault, GroupOutcome, KernelDescriptor, MemoryReason, Scratch,
    SuspendedGroup,
};
use crate::isa::{self, DecodeError, Family, Target};
use crate::queue::{inactive, KernelDispatch, Queue, Room};
use crate::watch::{kernel_name, Seen, Watch};
use hansa_plugin_api::FaultFlags;
use std::fmt;
use std::sync::Arc;

/// Why a queue stops.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A memory fault: the device's event.
    Memory {
        /// The address.
        address: u64,
        /// What is wrong with it.
        flags: FaultFlags,
        /// One sentence for people.
        message: String,
    },
    /// An error of the queue.
    Error {
        /// Value for the inactive signal.
        code: i64,
        /// One sentence for people.
        message: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { message, .. } | Self::Error { message, .. } => f.write_str(message),
        }
    }
}

/// The failure of a signal handle that is no signal.
pub(crate) fn bad_signal(handle: u64, role: &str) -> Failure {
    Failure::Memory {
        address: handle,
        flags: FaultFlags::PAGE_NOT_PRESENT,
        message: format!("The {role} signal {handle:#x} is not in memory that the device may write"),
    }
}

/// The failure of an access that is not allowed.
pub(crate) fn bad_address(address: u64, reason: MemoryReason, write: bool, who: &str) -> Failure {
    let what = if write { "write" } else { "read" };
    Failure::Memory {
        address,
        flags: fault_flags(reason, write),
        message: format!("Memory fault at {address:#x} ({what}, {reason:?}) by {who}"),
    }
}

/// Where a dispatch comes from.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Address of its packet.
    pub(crate) packet_address: u64,
    /// Address of its queue's descriptor.
    pub(crate) queue_address: u64,
    /// Number of its packet.
    pub(crate) packet_index: u64,
    /// Private memory for its waves.
    pub(crate) private: Option<Arc<Room>>,
}

/// How a run of a work-group ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It is over.
    Done,
    /// It gave its thread back and goes on later.
    Later {
        /// The rest of it.
        rest: Rest,
        /// Whether it waits rather than works.
        idle: bool,
    },
    /// There is no private memory for it now.
    NoRoom,
    /// It ended with an error.
    Failed(Failure),
}

/// A work-group that gave its thread back.
#[derive(Debug)]
pub(crate) struct Rest {
    group: Box<SuspendedGroup>,
    /// Its private memory.
    slot: u32,
}

/// A kernel with everything that its packet says.
#[derive(Debug)]
pub(crate) struct Launch {
    kernel: KernelDispatch,
    descriptor: KernelDescriptor,
    grid: [u32; 3],
    workgroup: [u16; 3],
    site: Site,
    watch: Option<Box<Watch>>,
}

impl Launch {
    /// Checks a packet and reads its kernel.
    pub(crate) fn new(
        queue: &Queue,
        view: &mut View,
        kernel: &KernelDispatch,
        site: Site,
    ) -> Result<Self, Failure> {
        let descriptor = read_kernel(queue, view, kernel.kernel_object)?;
        let [grid, workgroup] = dimensions(kernel);
        let mut launch = Self {
            kernel: *kernel,
            descriptor,
            grid,
            workgroup: workgroup.map(|items| u16::try_from(items).unwrap_or(u16::MAX)),
            site,
            watch: None,
        };
        let device = &queue.device;
        launch.watch = device.watcher.as_ref().and_then(|watcher| {
            let seen = Seen {
                target: device.chip.target,
                object: kernel.kernel_object,
                descriptor: &descriptor,
                groups: launch.groups(),
                waves: launch.waves().into(),
            };
            watcher.watch(&device.outside, device.space.seen(), seen)
        });
        Ok(launch)
    }

    /// Number of work-groups. The most that can be counted stands for more: nobody lives to see the end of either.
    pub(crate) fn groups(&self) -> u64 {
        let sides = self.shape().into_iter().map(u64::from);
        sides.fold(1, u64::saturating_mul)
    }

    /// Waves of a work-group.
    pub(crate) fn waves(&self) -> u32 {
        let items: u32 = self.workgroup.iter().map(|&items| u32::from(items)).product();
        items.div_ceil(64)
    }

    /// Whether the host wants the private memory back.
    pub(crate) fn gives_back(&self) -> bool {
        self.site.private.as_ref().is_some_and(|room| room.scratch().once)
    }

    /// What its work-groups begin with.
    pub(crate) fn on<'a>(&'a self, queue: &'a Queue) -> Started<'a> {
        Started {
            launch: self,
            queue,
            dispatch: self.dispatch(queue),
            shape: self.shape().map(u64::from),
        }
    }

    /// Goes on with a work-group.
    pub(crate) fn resume(&self, queue: &Queue, rest: Rest, arena: &mut Arena) -> Outcome {
        let dispatch = self.dispatch(queue);
        let result = exec::resume_group(&dispatch, rest.group, arena);
        self.outcome(queue, result, rest.slot)
    }

    /// Forgets a work-group.
    pub(crate) fn forget(&self, rest: &Rest) {
        self.leave(rest.slot);
    }

    fn leave(&self, slot: u32) {
        if let Some(room) = &self.site.private {
            room.give(slot, self.waves());
        }
    }

    fn outcome(&self, queue: &Queue, result: Result<GroupOutcome, Fault>, slot: u32) -> Outcome {
        let outcome = match result {
            Ok(GroupOutcome::Yield { group, idle }) => {
                let rest = Rest { group, slot };
                return Outcome::Later { rest, idle };
            }
            Ok(GroupOutcome::Done) | Err(Fault::Stopped) => Outcome::Done,
            Err(fault) => Outcome::Failed(self.failure(queue, &fault)),
        };
        self.leave(slot);
        outcome
    }

    fn dispatch<'a>(&'a self, queue: &'a Queue) -> Dispatch<'a> {
        let scratch = self.site.private.as_ref().map(|room| {
            let scratch = room.scratch();
            Scratch {
                base: scratch.address,
                wave_bytes: scratch.wave_bytes,
                descriptor: scratch.descriptor,
            }
        });
        Dispatch {
            code: &queue.device.code,
            space: queue.device.space.seen(),
            descriptor: self.descriptor,
            kernel_object: self.kernel.kernel_object,
            grid: self.grid,
            workgroup: self.workgroup,
            kernarg: self.kernel.kernarg,
            group_segment_bytes: self.kernel.group_bytes,
            private_segment_bytes: self.kernel.private_bytes,
            dispatch_ptr: self.site.packet_address,
            queue_ptr: self.site.queue_address,
            dispatch_id: self.site.packet_index,
            scratch: scratch.unwrap_or_default(),
            user_data: None,
            apertures: exec::Apertures::default(),
            clock: Some(queue.device.clock()),
            stop: queue.stop_flag(),
            host: match &self.watch {
                Some(watch) => &**watch,
                None => &*queue.device.outside,
            },
        }
    }

    fn shape(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.grid[i].div_ceil(u32::from(self.workgroup[i]).max(1)))
    }

    #[cold]
    fn failure(&self, queue: &Queue, fault: &Fault) -> Failure {
        let object = self.kernel.kernel_object;
        let name = kernel_name(queue.device.space.seen(), object);
        let message = format!(
            "{fault}{} in the kernel {} of packet {} (descriptor {object:#x}, entry {:#x})",
            instruction(queue.device.chip.target, fault),
            name.as_deref().unwrap_or("without a name"),
            self.site.packet_index,
            object.wrapping_add_signed(self.descriptor.entry_offset)
        );
        let code = match *fault {
            Fault::Memory {
                reason: MemoryReason::Misaligned,
                ..
            } => inactive::APERTURE_VIOLATION,
            Fault::Memory { address, .. } if in_aperture(address) => inactive::APERTURE_VIOLATION,
            Fault::Memory {
                address,
                write,
                reason,
                ..
            } => {
                let flags = fault_flags(reason, write);
                return Failure::Memory {
                    address,
                    flags,
                    message,
                };
            }
            Fault::EndOfCode { pc } => {
                return Failure::Memory {
                    address: pc,
                    flags: FaultFlags::NO_EXECUTE,
                    message,
                }
            }
            Fault::GroupMemory { .. } => inactive::APERTURE_VIOLATION,
            Fault::IllegalInstruction { .. } => inactive::ILLEGAL_INSTRUCTION,
            Fault::Trap { .. } | Fault::Stopped => inactive::EXCEPTION,
        };
        Failure::Error { code, message }
    }
}

/// A kernel on its queue.
#[derive(Debug)]
pub(crate) struct Started<'a> {
    launch: &'a Launch,
    queue: &'a Queue,
    dispatch: Dispatch<'a>,
    shape: [u64; 3],
}

impl Started<'_> {
    /// Begins a work-group.
    pub(crate) fn group(&self, group: u64, arena: &mut Arena) -> Outcome {
        let slot = match &self.launch.site.private {
            None => 0,
            Some(room) => match room.take(self.launch.waves()) {
                Some(slot) => slot,
                None => return Outcome::NoRoom,
            },
        };
        match exec::run_group(&self.dispatch, self.id(group), arena, slot) {
            // How nearly all groups end: nothing is moved around for them.
            Ok(GroupOutcome::Done) => {
                self.launch.leave(slot);
                Outcome::Done
            }
            result => self.launch.outcome(self.queue, result, slot),
        }
    }

    /// Number of a work-group in each dimension; the first runs fastest.
    fn id(&self, group: u64) -> [u32; 3] {
        let [x, y, _] = self.shape;
        let id = if group < x {
            [group, 0, 0]
        } else {
            [group % x, group / x % y, group / x / y]
        };
        id.map(|id| u32::try_from(id).unwrap_or(u32::MAX))
    }
}

/// The instruction that a fault happened at, in brackets: its text, or what is wrong with its bits.
fn instruction(target: Target, fault: &Fault) -> String {
    let (Fault::Memory { pc, .. } | Fault::IllegalInstruction { pc, .. } | Fault::Trap { pc, .. }) = *fault
    else {
        return String::new();
    };
    // The longest instruction has four dwords; the code may end before.
    let mut code = [0; 16];
    let read = (1..=4)
        .rev()
        .find(|dwords| guard::read_bytes(&mut code[..4 * dwords], pc).is_ok());
    let Some(dwords) = read else { return String::new() };
    match isa::decode(target, &code[..4 * dwords]) {
        Ok(inst) => format!(" ({})", inst.text()),
        Err(DecodeError {
            family,
            opcode,
            reason,
            ..
        }) => {
            let family = family.map_or("no family", Family::name);
            let opcode = opcode.map_or_else(String::new, |opcode| format!(", opcode {opcode:#x}"));
            format!(" ({family}{opcode}: {reason})")
        }
    }
}

fn fault_flags(reason: MemoryReason, write: bool) -> FaultFlags {
    match reason {
        MemoryReason::NotAllowed if write => FaultFlags::READ_ONLY,
        MemoryReason::NotAllowed => FaultFlags::HOST_ONLY,
        MemoryReason::NotMapped | MemoryReason::HostUnmapped | MemoryReason::Misaligned => {
            FaultFlags::PAGE_NOT_PRESENT
        }
    }
}

/// Whether an address lies where group or private memory appears.
fn in_aperture(address: u64) -> bool {
    let apertures = exec::Apertures::default();
    [apertures.shared, apertures.private]
        .iter()
        .any(|base| address >> 32 == base >> 32)
}

/// Checks what can be checked of a packet alone.
pub(crate) fn check(kernel: &KernelDispatch) -> Result<(), Failure> {
    let error = |code, message| Err(Failure::Error { code, message });
    let count = kernel.setup & 3;
    if count == 0 {
        let message = "A dispatch has 1, 2 or 3 dimensions, not 0".to_owned();
        return error(inactive::INVALID_DIMENSIONS, message);
    }
    let [grid, workgroup] = dimensions(kernel);
    // Without work-items nothing runs, whatever the work-groups are: a test of the HSA Foundation's conformance suite.
    if workgroup.contains(&0) && !grid.contains(&0) {
        let message = format!("Work-groups of {workgroup:?} in a grid of {grid:?} have a side of 0");
        return error(inactive::INVALID_DIMENSIONS, message);
    }
    if kernel.group_items() > MAX_GROUP_ITEMS.into() {
        let message = format!("A work-group of {workgroup:?} has more than {MAX_GROUP_ITEMS} work-items");
        return error(inactive::WORK_GROUP_TOO_LARGE, message);
    }
    if kernel.group_bytes > GROUP_BYTES {
        let message = format!(
            "A work-group needs {} bytes of group memory and there are {GROUP_BYTES}",
            kernel.group_bytes
        );
        return error(inactive::INVALID_GROUP_MEMORY, message);
    }
    Ok(())
}

/// Sides of the grid and of a work-group; a side beyond the number of dimensions is 1.
fn dimensions(kernel: &KernelDispatch) -> [[u32; 3]; 2] {
    let count = usize::from(kernel.setup & 3);
    let side = |dimension: usize, value: u32| if dimension < count { value } else { 1 };
    [
        std::array::from_fn(|i| side(i, kernel.grid[i])),
        std::array::from_fn(|i| side(i, kernel.workgroup[i].into())),
    ]
}

/// Reads the kernel descriptor, and sees that there is code where it points.
fn read_kernel(queue: &Queue, view: &mut View, object: u64) -> Result<KernelDescriptor, Failure> {
    let error = |message| {
        Err(Failure::Error {
            code: inactive::INVALID_CODE,
            message,
        })
    };
    let bytes = KernelDescriptor::BYTES as u64;
    if object == 0 || !object.is_multiple_of(bytes) {
        return error(format!(
            "The kernel object {object:#x} is no address of a kernel descriptor"
        ));
    }
    let mut raw = [0; KernelDescriptor::BYTES];
    if view.check(object, bytes, false).is_err() || guard::read_bytes(&mut raw, object).is_err() {
        return error(format!(
            "The kernel object {object:#x} is not in memory that the device sees"
        ));
    }
    let descriptor = KernelDescriptor::parse(&raw);
    if descriptor.has(property::WAVEFRONT_SIZE32) {
        return error(format!(
            "The kernel {object:#x} has waves of 32 lanes; the device has waves of 64"
        ));
    }
    let entry = object.wrapping_add_signed(descriptor.entry_offset);
    let mapping = queue.device.space.seen().find(entry);
    if !mapping.is_some_and(|mapping| mapping.access.execute) {
        return error(format!(
            "The kernel {object:#x} begins at {entry:#x}, where the device sees no code"
        ));
    }
    Ok(descriptor)
}
