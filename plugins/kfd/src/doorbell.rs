//! Doorbells: the page of a device that a store to tells the queue scheduler of new packets.
//!
//! The kernel's answer to CREATE_QUEUE names the doorbell: with the low bits cut off it is the offset for `mmap` of
//! the process's doorbells of that device, and the low bits are the place inside. From gfx9 on a doorbell has 8
//! bytes; before, it has 4, the answer has no place inside, and the queue's number is the place. A process has 1024 of
//! them on each device. The pages are mapped once per device, at an address that the devices see too, so that kernels
//! can ring.

use crate::error::{Error, Result};
use crate::ioctl::Queue;
use crate::machine::{Gpu, Machine};
use crate::memory::{drop_at_last, Block};
use crate::range::Range;
use crate::uapi::memory as uapi;
use hansa_plugin_api::sync::Mutex;

/// A process's doorbells of one device.
const DOORBELLS: u64 = 1024;
/// Bytes of one doorbell, and of one before gfx9.
const ONE: (u64, u64) = (8, 4);

/// Whether a device's doorbells are those before gfx9.
const fn is_old(gpu: &Gpu) -> bool {
    gpu.candidate.own_target.major < 9
}

#[derive(Debug)]
enum Page {
    /// Devices see it.
    Shared(Block),
    /// Only the host sees it.
    Host(Range),
}

impl Page {
    const fn address(&self) -> u64 {
        match self {
            Self::Shared(block) => block.range.address(),
            Self::Host(range) => range.address(),
        }
    }
}

/// The doorbells of every device.
#[derive(Debug)]
pub struct Doorbells {
    /// By the driver's number, with the offset that is mapped.
    pages: Vec<Mutex<Option<(u64, Page)>>>,
}

impl Doorbells {
    /// Room for some devices.
    #[must_use]
    pub fn new(devices: usize) -> Self {
        Self {
            pages: (0..devices).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// The address of the doorbell that the kernel named.
    ///
    /// # Errors
    ///
    /// [`Error::Nonsense`] for a place that cannot be, and what mapping says.
    pub fn address(&self, machine: &Machine, node: u32, gpu: &Gpu, queue: Queue) -> Result<u64> {
        let offset = queue.doorbell_offset;
        let one = if is_old(gpu) { ONE.1 } else { ONE.0 };
        let bytes = (DOORBELLS * one).max(machine.system.page_size() as u64);
        let (base, place) = if is_old(gpu) {
            (offset, u64::from(queue.id) * one)
        } else {
            (offset & !(bytes - 1), offset & (bytes - 1))
        };
        if place % one != 0 || place >= bytes {
            return Err(Error::Nonsense {
                request: "CREATE_QUEUE",
                what: format!("doorbell offset {offset:#x} of queue {}", queue.id),
            });
        }
        let mut page = self.pages[node as usize].lock();
        if let Some((mapped, page)) = &*page {
            if *mapped != base {
                return Err(Error::Nonsense {
                    request: "CREATE_QUEUE",
                    what: format!("doorbells at {base:#x} after {mapped:#x}"),
                });
            }
            return Ok(page.address() + place);
        }
        let made = map(machine, gpu, base, bytes)?;
        let address = made.address() + place;
        *page = Some((base, made));
        Ok(address)
    }

    /// Unmaps everything.
    pub(crate) fn close(&self, machine: &Machine) {
        for page in &self.pages {
            if let Some((_, Page::Shared(block))) = page.lock().take() {
                drop_at_last(machine, block);
            }
        }
    }
}

fn map(machine: &Machine, gpu: &Gpu, offset: u64, bytes: u64) -> Result<Page> {
    let range = machine.reserve(bytes, bytes)?;
    let flags = uapi::ALLOC_DOORBELL | uapi::ALLOC_WRITABLE | uapi::ALLOC_COHERENT;
    let buffer = machine
        .kfd
        .allocate(gpu.candidate.gpu_id, range.address(), bytes, flags, 0);
    let shown = range.show("doorbells", machine.kfd.0.file(), offset, false);
    let Ok(buffer) = buffer else {
        // A kernel that gives devices no doorbells still gives them to the host.
        return shown.map(|()| Page::Host(range));
    };
    let block = Block {
        range,
        handle: buffer.handle,
        mapped: Vec::new(),
        host_visible: true,
        apart: None,
    };
    machine
        .finish_block(block, &[gpu.candidate.gpu_id], shown)
        .map(Page::Shared)
}
