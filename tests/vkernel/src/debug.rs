//! Exceptions, and who is told of them (Linux: `kfd_debug.c`).
//!
//! An exception happens to a queue, a device or the process, and stays until someone clears it. A debugger that asked for
//! it finds a byte in its file; otherwise a run-time that announced itself is told in the words that the head of a queue's
//! save area names.

use crate::kernel::Kernel;
use crate::process::Process;
use crate::queues::Queue;
use crate::{user, Errno};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, OwnedFd};

/// Numbers of exceptions.
pub mod exception {
    /// A wave was aborted.
    pub const WAVE_ABORT: u32 = 1;
    /// A wave trapped.
    pub const WAVE_TRAP: u32 = 2;
    /// A wave came to what is no instruction.
    pub const WAVE_ILLEGAL: u32 = 4;
    /// A wave touched memory that its device does not see.
    pub const WAVE_MEMORY_VIOLATION: u32 = 5;
    /// A wave used an address that no memory can have.
    pub const WAVE_APERTURE_VIOLATION: u32 = 6;
    /// A queue was made.
    pub const QUEUE_NEW: u32 = 31;
    /// A device touched memory that it does not see.
    pub const MEMORY_VIOLATION: u32 = 33;
    /// A device appeared.
    pub const DEVICE_NEW: u32 = 36;
    /// A run-time came or went.
    pub const PROCESS_RUNTIME: u32 = 48;
}

/// Bits of an interrupt's data that number a doorbell.
const DOORBELL: u32 = 0x3ff;

/// The bit of an exception.
#[must_use]
pub const fn mask(exception: u32) -> u64 {
    1 << (exception - 1)
}

/// To whom an exception happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The queue whose ring is at an address.
    Ring(u64),
    /// The queue with a doorbell: its device, and the number of the doorbell.
    Doorbell(usize, u32),
    /// A device.
    Device(usize),
    /// The process.
    Process,
}

/// A run-time that announced itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Where debuggers look.
    pub r_debug: u64,
    /// Waves keep what a trap handler needs in registers of its own.
    pub ttmp: bool,
}

/// A debugger.
#[derive(Debug)]
pub struct Attached {
    /// Where it reads that something happened.
    pub file: OwnedFd,
    /// Exceptions that it wants to hear of.
    pub wanted: u64,
}

/// What debuggers set, and what happened.
#[derive(Debug, Default)]
pub struct Debug {
    /// Who debugs.
    pub attached: Option<Attached>,
    /// Exceptions of devices.
    pub devices: BTreeMap<usize, u64>,
    /// Exceptions of the process.
    pub process: u64,
    /// Options of memory accesses.
    pub flags: u32,
    /// Traps that are on beside those of the code.
    pub traps: u32,
    /// Watched addresses: device and number.
    pub watches: BTreeSet<(usize, u32)>,
}

/// Bytes of the head of a save area.
const HEADER_BYTES: usize = 40;

/// Tells a run-time of a queue's exceptions. Answers the event that is to be raised.
pub(crate) fn tell_runtime(queue: &Queue, exceptions: u64) -> Option<u32> {
    let area = queue.request.ctx_save_restore_address;
    let mut head = [0; HEADER_BYTES];
    if area == 0 || user::read(area, &mut head).is_err() {
        return None;
    }
    let word = |at: usize| {
        head[at..]
            .first_chunk()
            .map_or(0, |word| u64::from_ne_bytes(*word))
    };
    let (to, event) = (word(24), word(32));
    if to == 0 || user::write(to, &exceptions.to_ne_bytes()).is_err() {
        return None;
    }
    Some(u32::try_from(event & 0xffff_ffff).unwrap_or(0))
}

impl Process {
    /// Remembers exceptions; answers the queue that they happened to, if there is one.
    fn remember(&mut self, source: Source, exceptions: u64) -> Option<u32> {
        match source {
            Source::Ring(_) | Source::Doorbell(..) => {
                let is_meant = |queue: &Queue| match source {
                    Source::Ring(ring) => queue.request.ring_base_address == ring,
                    Source::Doorbell(gpu, bell) => (queue.gpu, queue.doorbell) == (gpu, bell),
                    _ => false,
                };
                let mut queues = self.queues.table.iter_mut();
                let (id, queue) = queues.find(|(_, queue)| is_meant(queue))?;
                queue.exceptions |= exceptions;
                return Some(*id);
            }
            Source::Device(gpu) => *self.debug.devices.entry(gpu).or_insert(0) |= exceptions,
            Source::Process => self.debug.process |= exceptions,
        }
        None
    }
}

impl Kernel {
    /// An exception happens. Answers whether somebody is told.
    pub(crate) fn exception(&self, source: Source, number: u32) -> bool {
        self.exceptions(source, mask(number))
    }

    /// An interrupt that a trap handler sent: ten bits number the queue's doorbell, the others are exceptions from the first
    /// on. Where nobody is told of those, it is an event like that of a program.
    pub(crate) fn interrupt(&self, gpu: usize, data: u32) {
        let source = Source::Doorbell(gpu, data & DOORBELL);
        if !self.exceptions(source, u64::from(data >> DOORBELL.count_ones())) {
            self.raise(data);
        }
    }

    /// Exceptions happen, each a bit. Answers whether somebody is told.
    fn exceptions(&self, source: Source, exceptions: u64) -> bool {
        let mut process = self.process();
        let queue = process.remember(source, exceptions);
        if let Some(debugger) = &process.debug.attached {
            if debugger.wanted & exceptions != 0 {
                knock(&debugger.file);
                return true;
            }
        }
        if process.runtime.is_none() {
            return false;
        }
        let told = queue
            .and_then(|id| process.queues.table.get(&id))
            .and_then(|queue| tell_runtime(queue, exceptions));
        drop(process);
        if let Some(event) = told {
            self.raise(event);
        }
        told.is_some()
    }
}

/// Writes a byte to a debugger's file, unless nobody reads it or it is full, which says enough.
fn knock(file: &OwnedFd) {
    let mut state = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one structure, which has room for the answer.
    let ready = unsafe { libc::poll(&raw mut state, 1, 0) };
    if ready == 1 && state.revents & libc::POLLERR == 0 && state.revents & libc::POLLOUT != 0 {
        // SAFETY: one byte, to a file that the kernel holds.
        unsafe { libc::write(file.as_raw_fd(), b".".as_ptr().cast(), 1) };
    }
}

/// A file of this process, held by the kernel.
///
/// # Errors
///
/// [`Errno::BADF`].
pub(crate) fn hold(fd: u32) -> Result<OwnedFd, Errno> {
    let fd = i32::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: a number that is no open file is an error.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if own < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the descriptor was just made and is nobody's.
    Ok(unsafe { std::os::fd::FromRawFd::from_raw_fd(own) })
}
