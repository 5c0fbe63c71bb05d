//! An open NPU: its node, its buffer handles, and its heap.
//!
//! The heap is memory that the process shares with the firmware. The kernel hands it to the firmware when the first
//! context is made, at the address where the process has it mapped, so it must be mapped before that, aligned to its
//! size; where it may grow, each further part must follow the one before. Buffers inside the device's address space are
//! cut from it by the kernel.

use crate::config::{HEAP_STEP, MOST_HEAP};
use crate::discover::Candidate;
use crate::error::{Error, Result};
use crate::ioctl::{Accel, Hwctx};
use crate::uapi::accel::bo;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{Errno, MapAccess};
use std::collections::HashMap;

/// Reading and writing.
pub(crate) const READ_WRITE: MapAccess = MapAccess {
    read: true,
    write: true,
    execute: false,
};
const NO_ACCESS: MapAccess = MapAccess {
    read: false,
    write: false,
    execute: false,
};

/// A pointer to an address of this process.
pub(crate) fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

/// A number of bytes of this process.
pub(crate) fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[derive(Debug, Default)]
struct Heap {
    /// The reserved range: where it starts, and its bytes. Parts are mapped into it from its aligned start on.
    reserved: Option<(u64, u64)>,
    /// Where the heap starts.
    start: u64,
    /// Handles of its parts.
    parts: Vec<u32>,
    /// Bytes that buffers have.
    used: u64,
}

#[derive(Debug, Default)]
struct Handles {
    /// How often this process has each: one that is imported twice is the same.
    held: HashMap<u32, u32>,
    /// Those that the kernel would not take back.
    left: Vec<u32>,
}

/// An open NPU.
#[derive(Debug)]
pub struct Device {
    /// What was found.
    pub candidate: Candidate,
    /// Bytes of the host's memory.
    pub host_bytes: u64,
    /// Most bytes of its heap.
    pub heap_bytes: u64,
    heap: Mutex<Heap>,
    handles: Mutex<Handles>,
    /// Contexts that the kernel would not take down.
    left: Mutex<Vec<Hwctx>>,
}

impl Device {
    /// Takes a device over. Its heap is made when it is first needed.
    #[must_use]
    pub fn new(candidate: Candidate, host_bytes: u64, heap_bytes: u64) -> Self {
        Self {
            candidate,
            host_bytes,
            heap_bytes,
            heap: Mutex::default(),
            handles: Mutex::default(),
            left: Mutex::default(),
        }
    }

    /// Takes a context down, now or with the next one.
    pub(crate) fn end_context(&self, hwctx: Hwctx) {
        let mut left = self.left.lock();
        left.push(hwctx);
        // The kernel says so of a context that it does not know.
        let gone = |error: Error| error.errno() == Some(Errno::INVAL);
        left.retain(|hwctx| {
            !self
                .accel()
                .destroy_hwctx(hwctx.handle)
                .map_or_else(gone, |()| true)
        });
    }

    /// Its node.
    #[must_use]
    pub const fn accel(&self) -> &Accel {
        &self.candidate.accel
    }

    /// Notes one more hold of a handle.
    pub(crate) fn hold(&self, handle: u32) {
        *self.handles.lock().held.entry(handle).or_default() += 1;
    }

    /// Lets go of a handle, and gives it back when nobody has it any more.
    pub(crate) fn let_go(&self, handle: u32) {
        let mut handles = self.handles.lock();
        let last = match handles.held.get_mut(&handle) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        if last {
            handles.held.remove(&handle);
            handles.left.push(handle);
        }
        // What the kernel would not take then it may take now.
        handles
            .left
            .retain(|&handle| self.accel().close_bo(handle).is_err());
    }

    /// Makes one more part of the heap.
    fn grow(&self, heap: &mut Heap) -> Result<()> {
        let system = self.accel().system();
        let start = match heap.reserved {
            Some(_) => heap.start,
            None => {
                // The start is aligned to what a part has; the rest of the range is left as it is.
                let bytes = self.heap_bytes.clamp(HEAP_STEP, MOST_HEAP) + HEAP_STEP;
                let at = reserve(self.accel(), bytes, "a device heap")?;
                heap.reserved = Some((at, bytes));
                heap.start = at.next_multiple_of(HEAP_STEP);
                heap.start
            }
        };
        let handle = self.accel().create_bo(bo::DEV_HEAP, HEAP_STEP)?;
        let at = start + heap.parts.len() as u64 * HEAP_STEP;
        let mapped = self.accel().bo_place(handle).and_then(|place| {
            let file = Some(self.accel().file());
            // SAFETY: the range is the reserved one, and nothing is mapped in this part of it.
            let mapped =
                unsafe { system.mmap(pointer(at), length(HEAP_STEP), READ_WRITE, file, place.map_offset) };
            mapped.map_err(|errno| Error::Map {
                what: "a device heap",
                bytes: HEAP_STEP,
                errno,
            })
        });
        if let Err(error) = mapped {
            self.let_go(handle);
            return Err(error);
        }
        heap.parts.push(handle);
        Ok(())
    }

    /// Cuts a buffer from the heap. Answers its handle.
    ///
    /// # Errors
    ///
    /// [`Error::HeapFull`], [`Error::Ioctl`], [`Error::Map`].
    pub(crate) fn cut(&self, bytes: u64) -> Result<u32> {
        let mut heap = self.heap.lock();
        if heap.parts.is_empty() {
            self.grow(&mut heap)?;
        }
        loop {
            let full = match self.accel().create_bo(bo::DEV, bytes) {
                Ok(handle) => {
                    heap.used += bytes;
                    return Ok(handle);
                }
                // No room, or a part more is wanted.
                Err(Error::Ioctl {
                    errno: Errno::NOSPC | Errno::AGAIN,
                    ..
                }) => Error::HeapFull {
                    heap: heap.parts.len() as u64 * HEAP_STEP,
                    bytes,
                },
                Err(error) => return Err(error),
            };
            let larger = (heap.parts.len() as u64 + 1) * HEAP_STEP;
            if larger > self.heap_bytes || self.grow(&mut heap).is_err() {
                return Err(full);
            }
        }
    }

    /// Notes that a buffer of the heap is gone.
    pub(crate) fn uncut(&self, bytes: u64) {
        let mut heap = self.heap.lock();
        heap.used = heap.used.saturating_sub(bytes);
    }

    /// Whether a range lies in the mapped heap.
    pub(crate) fn in_heap(&self, address: u64, bytes: u64) -> bool {
        let heap = self.heap.lock();
        let end = heap.start + heap.parts.len() as u64 * HEAP_STEP;
        address >= heap.start && address.checked_add(bytes).is_some_and(|last| last <= end)
    }

    /// Bytes of the heap that no buffer has.
    pub(crate) fn available(&self) -> u64 {
        self.heap_bytes.saturating_sub(self.heap.lock().used)
    }

    /// Takes the heap down. No context and no buffer of it is left.
    pub(crate) fn close(&self) {
        let heap = std::mem::take(&mut *self.heap.lock());
        for &handle in &heap.parts {
            self.let_go(handle);
        }
        if let Some((at, bytes)) = heap.reserved {
            unmap(self.accel(), at, bytes);
        }
    }
}

/// Reserves addresses.
pub(crate) fn reserve(accel: &Accel, bytes: u64, what: &'static str) -> Result<u64> {
    // SAFETY: nothing is replaced.
    let at = unsafe {
        accel
            .system()
            .mmap(std::ptr::null_mut(), length(bytes), NO_ACCESS, None, 0)
    };
    at.map(|at| at.expose_provenance() as u64)
        .map_err(|errno| Error::Map { what, bytes, errno })
}

/// Gives a range back that nobody uses any more. What the system does not take stays as it is.
pub(crate) fn unmap(accel: &Accel, address: u64, bytes: u64) {
    // SAFETY: the caller says so.
    let _ = unsafe { accel.system().munmap(pointer(address), length(bytes)) };
}
