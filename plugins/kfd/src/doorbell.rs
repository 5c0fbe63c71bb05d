//! Doorbells: the page of a device that a store to tells the queue scheduler of new packets.
//!
//! The kernel's answer to CREATE_QUEUE names the doorbell: with the low bits cut off it is the offset for `mmap` of
//! the process's doorbells of that device, and the low bits are the place inside. From gfx9 on a doorbell has 8
//! bytes and a process has 1024 of them on each device. The pages are mapped once per device, at an address that the
//! devices see too, so that kernels can ring.

use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine};
use crate::memory::{drop_at_last, Block};
use crate::range::Range;
use crate::uapi::memory as uapi;
use parking_lot::Mutex;

/// Bytes of a process's doorbells of one device.
const BYTES: u64 = 1024 * 8;
/// Bytes of one doorbell.
const ONE: u64 = 8;

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
    pub fn address(&self, machine: &Machine, node: u32, gpu: &Gpu, offset: u64) -> Result<u64> {
        let (base, place) = (offset & !(BYTES - 1), offset & (BYTES - 1));
        if place % ONE != 0 {
            return Err(Error::Nonsense {
                request: "CREATE_QUEUE",
                what: format!("doorbell offset {offset:#x}"),
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
        let made = map(machine, gpu, base)?;
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

fn map(machine: &Machine, gpu: &Gpu, offset: u64) -> Result<Page> {
    let range = machine.reserve(BYTES, BYTES)?;
    let flags = uapi::ALLOC_DOORBELL | uapi::ALLOC_WRITABLE | uapi::ALLOC_COHERENT;
    let buffer = machine
        .kfd
        .allocate(gpu.candidate.gpu_id, range.address(), BYTES, flags, 0);
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
    };
    machine
        .finish_block(block, &[gpu.candidate.gpu_id], shown)
        .map(Page::Shared)
}
