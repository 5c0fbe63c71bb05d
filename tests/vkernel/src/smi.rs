//! System management events (Linux: `kfd_smi_events.c`): a file for each who asked, to which a mask of events is written
//! and from which lines of text are read.
//!
//! A line is the event's number in hexadecimal, a space, and the event's own text. Who is not privileged gets events of
//! its own process and of devices; a privileged reader that asks for all processes gets the others' too. What does not fit
//! into the file any more is dropped, and reading an empty file is [`Errno::AGAIN`].
//!
//! The file is one end of a pair of sockets, so that a program's own `read`, `write`, `poll` and `close` work. The mask is
//! taken from the other end when the next event comes. What differs from Linux: a mask that has not eight bytes is no
//! error of the write, but complained of.

use crate::kernel::Kernel;
use crate::Errno;
use std::fmt;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The bit of a mask that asks for the events of all processes.
pub const ALL_PROCESSES: u64 = 1 << 63;

/// Why pages moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MigrateTrigger {
    /// The program asked.
    Prefetch = 0,
    /// A device touched them.
    GpuFault = 1,
    /// The host touched them.
    CpuFault = 2,
    /// The device has no more room.
    Eviction = 3,
}

/// Why queues rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EvictTrigger {
    /// Shared virtual memory changed.
    Svm = 0,
    /// Host memory that devices see changed.
    UserMemory = 1,
    /// The device's memory went to others.
    Memory = 2,
    /// The machine goes to sleep.
    Suspend = 3,
}

/// Why devices see pages no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum UnmapTrigger {
    /// The pages changed.
    Changed = 0,
    /// They move.
    Migration = 1,
    /// The program took them away.
    FromHost = 2,
}

/// A range in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Number of the first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// An event. Devices are named by their numbers, the host is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A device touched memory that it does not see.
    VmFault,
    /// A device slowed down for its heat.
    ThermalThrottle {
        /// Which limits.
        bits: u64,
        /// How often it happened.
        count: u64,
    },
    /// A device is about to be reset.
    PreReset {
        /// Which reset it is.
        sequence: u32,
    },
    /// A device was reset.
    PostReset {
        /// Which reset it was.
        sequence: u32,
    },
    /// Pages begin to move.
    MigrateStart {
        /// Which.
        pages: Pages,
        /// From where.
        from: u32,
        /// To where.
        to: u32,
        /// Where they are to be before use, and where they should be.
        wanted: (u32, u32),
        /// Why.
        trigger: MigrateTrigger,
    },
    /// Pages have moved.
    MigrateEnd {
        /// Which.
        pages: Pages,
        /// From where.
        from: u32,
        /// To where.
        to: u32,
        /// Why.
        trigger: MigrateTrigger,
        /// How it failed, or 0.
        error: i32,
    },
    /// A device's fault is looked at.
    PageFaultStart {
        /// Number of the page.
        page: u64,
        /// Which device.
        gpu_id: u32,
        /// It wanted to write.
        write: bool,
    },
    /// A device's fault is done.
    PageFaultEnd {
        /// Number of the page.
        page: u64,
        /// Which device.
        gpu_id: u32,
        /// Pages moved.
        migrated: bool,
    },
    /// The process's queues on a device rest.
    QueueEviction {
        /// Which device.
        gpu_id: u32,
        /// Why.
        trigger: EvictTrigger,
    },
    /// The process's queues on a device go on.
    QueueRestore {
        /// Which device.
        gpu_id: u32,
        /// It has to be tried again.
        again: bool,
    },
    /// A device sees pages no more.
    UnmapFromGpu {
        /// Which.
        pages: Pages,
        /// Which device.
        gpu_id: u32,
        /// Why.
        trigger: UnmapTrigger,
    },
}

impl Event {
    /// Its number.
    #[must_use]
    pub const fn number(&self) -> u32 {
        match self {
            Self::VmFault => 1,
            Self::ThermalThrottle { .. } => 2,
            Self::PreReset { .. } => 3,
            Self::PostReset { .. } => 4,
            Self::MigrateStart { .. } => 5,
            Self::MigrateEnd { .. } => 6,
            Self::PageFaultStart { .. } => 7,
            Self::PageFaultEnd { .. } => 8,
            Self::QueueEviction { .. } => 9,
            Self::QueueRestore { .. } => 10,
            Self::UnmapFromGpu { .. } => 11,
        }
    }

    /// Its bit in a mask.
    #[must_use]
    pub const fn bit(&self) -> u64 {
        1 << (self.number() - 1)
    }

    /// Whether it is one of a device, which everybody may see.
    const fn is_of_device(&self) -> bool {
        self.number() <= 4
    }
}

/// An event with when it happened and to whom.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    event: &'a Event,
    /// Nanoseconds since the machine started.
    time: u64,
    process: u32,
    name: &'a str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x} ", self.event.number())?;
        if !self.event.is_of_device() {
            write!(f, "{} -{} ", self.time, self.process)?;
        }
        match *self.event {
            Event::VmFault => writeln!(f, "{:x}:{}", self.process, self.name),
            Event::ThermalThrottle { bits, count } => writeln!(f, "{bits:x}:{count:x}"),
            Event::PreReset { sequence } => writeln!(f, "{sequence:x} "),
            Event::PostReset { sequence } => writeln!(f, "{sequence:x}"),
            Event::MigrateStart {
                pages: Pages { first, count },
                from,
                to,
                wanted,
                trigger,
            } => writeln!(
                f,
                "@{first:x}({count:x}) {from:x}->{to:x} {:x}:{:x} {}",
                wanted.0, wanted.1, trigger as u8
            ),
            Event::MigrateEnd {
                pages: Pages { first, count },
                from,
                to,
                trigger,
                error,
            } => writeln!(
                f,
                "@{first:x}({count:x}) {from:x}->{to:x} {} {error}",
                trigger as u8
            ),
            Event::PageFaultStart { page, gpu_id, write } => {
                writeln!(f, "@{page:x}({gpu_id:x}) {}", if write { 'W' } else { 'R' })
            }
            Event::PageFaultEnd {
                page,
                gpu_id,
                migrated,
            } => writeln!(f, "@{page:x}({gpu_id:x}) {}", if migrated { 'M' } else { 'U' }),
            Event::QueueEviction { gpu_id, trigger } => writeln!(f, "{gpu_id:x} {}", trigger as u8),
            Event::QueueRestore { gpu_id, again } => {
                writeln!(f, "{gpu_id:x} {}", if again { 'R' } else { '0' })
            }
            Event::UnmapFromGpu {
                pages: Pages { first, count },
                gpu_id,
                trigger,
            } => writeln!(f, "@{first:x}({count:x}) {gpu_id:x} {}", trigger as u8),
        }
    }
}

/// Who reads a device's events.
#[derive(Debug)]
pub struct Client {
    gpu: usize,
    socket: UnixStream,
    mask: u64,
}

/// Bytes that a file holds, about.
static ROOM: libc::c_int = 1024;

/// A file for a device's events: the program's end, and who reads them.
pub(crate) fn open(gpu: usize) -> Result<(OwnedFd, Client), Errno> {
    let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM);
    let (theirs, socket) = UnixStream::pair().map_err(failed)?;
    theirs.set_nonblocking(true).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let size = libc::socklen_t::try_from(size_of_val(&ROOM)).unwrap_or(4);
    // SAFETY: the option is an integer. The system makes it as large as its own least when it is too small.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw const ROOM).cast(),
            size,
        )
    };
    let client = Client { gpu, socket, mask: 0 };
    Ok((theirs.into(), client))
}

impl Client {
    /// Takes the mask that was written last. Answers what was written that is none.
    fn look(&mut self) -> Result<(), usize> {
        let mut bytes = [0; 256];
        while let Ok(count @ 1..) = self.socket.read(&mut bytes) {
            let masks = bytes[..count].chunks_exact(8);
            if !masks.remainder().is_empty() {
                return Err(count);
            }
            if let Some(mask) = masks.last().and_then(|mask| mask.first_chunk()) {
                self.mask = u64::from_ne_bytes(*mask);
            }
        }
        Ok(())
    }
}

impl Kernel {
    /// Tells who asked of an event of a device that happened to a process; 0 is this one.
    pub fn announce(&self, gpu: usize, process: u32, event: &Event) {
        // SAFETY: takes nothing and cannot fail.
        let own = u32::try_from(unsafe { libc::getpid() }).unwrap_or(0);
        let is_own = process == 0 || process == own;
        let line = Line {
            event,
            time: crate::kfd::now(libc::CLOCK_BOOTTIME),
            process: if is_own { own } else { process },
            name: &own_name(),
        }
        .to_string();
        self.smi.lock().retain_mut(|client| {
            if let Err(bytes) = client.look() {
                self.complain(format!("a mask of system management events of {bytes} bytes"));
            }
            let all = self.options.privileged && client.mask & ALL_PROCESSES != 0;
            let wanted = client.gpu == gpu
                && client.mask & event.bit() != 0
                && (is_own || all || event.is_of_device());
            if !wanted {
                return true;
            }
            let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
            let socket = client.socket.as_raw_fd();
            // SAFETY: the buffer is the text. Nobody is killed for a file that its reader closed.
            let sent = unsafe { libc::send(socket, line.as_ptr().cast(), line.len(), flags) };
            // No room: it is dropped. Nobody there: the file is gone.
            sent >= 0 || std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock
        });
    }
}

/// The name of this process, as the kernel has it.
fn own_name() -> String {
    std::fs::read_to_string("/proc/self/comm")
        .map(|name| name.trim_end().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts by the formats of the kernel's header.
    #[test]
    fn lines_are_those_of_the_kernel() {
        let pages = Pages {
            first: 0x7f00,
            count: 16,
        };
        let text = |event: Event| {
            let line = Line {
                event: &event,
                time: 99,
                process: 26,
                name: "demo",
            };
            line.to_string()
        };
        let (from, to, gpu_id) = (0, 0xc963, 0xc963);
        let trigger = MigrateTrigger::Eviction;
        let rows = [
            (Event::VmFault, "1 1a:demo\n"),
            (
                Event::ThermalThrottle {
                    bits: 0x40,
                    count: 10,
                },
                "2 40:a\n",
            ),
            (Event::PreReset { sequence: 11 }, "3 b \n"),
            (Event::PostReset { sequence: 11 }, "4 b\n"),
            (
                Event::MigrateStart {
                    pages,
                    from,
                    to,
                    wanted: (0xc963, 0),
                    trigger,
                },
                "5 99 -26 @7f00(10) 0->c963 c963:0 3\n",
            ),
            (
                Event::MigrateEnd {
                    pages,
                    from,
                    to,
                    trigger,
                    error: -12,
                },
                "6 99 -26 @7f00(10) 0->c963 3 -12\n",
            ),
            (
                Event::PageFaultStart {
                    page: 0x7f01,
                    gpu_id,
                    write: true,
                },
                "7 99 -26 @7f01(c963) W\n",
            ),
            (
                Event::PageFaultEnd {
                    page: 0x7f01,
                    gpu_id,
                    migrated: false,
                },
                "8 99 -26 @7f01(c963) U\n",
            ),
            (
                Event::QueueEviction {
                    gpu_id,
                    trigger: EvictTrigger::Memory,
                },
                "9 99 -26 c963 2\n",
            ),
            (Event::QueueRestore { gpu_id, again: false }, "a 99 -26 c963 0\n"),
            (
                Event::UnmapFromGpu {
                    pages,
                    gpu_id,
                    trigger: UnmapTrigger::FromHost,
                },
                "b 99 -26 @7f00(10) c963 2\n",
            ),
        ];
        for (event, line) in rows {
            assert_eq!(text(event), line);
        }
    }
}
