//! Pages of host memory that stand for a device's local memory.
//!
//! They are reserved, not committed: a page costs memory from its first touch on, and reads as zero until then.
//! They are private to the process until they are first shared: private pages may be huge and are faster to commit
//! than those of a memory file. [`Pages::share`] puts a file of the same contents in their place.

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of this process fit its pointers"
)]

use crate::buffer::Buffer;
use crate::exec::standstill;
use hansa_plugin_api::{Error, ErrorCode};
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::ptr;

/// Allocations of at least this size begin at its multiple and use huge pages.
const HUGE: u64 = 2 << 20;

/// A mapping of this process, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Pages {
    address: u64,
    bytes: u64,
}

impl Pages {
    /// Reserves zero-filled pages at a multiple of `alignment`, at `address` if that is not 0.
    pub(crate) fn reserve(address: u64, bytes: u64, alignment: u64) -> Result<Self, Error> {
        let pages = if address == 0 {
            Self::anywhere(bytes, alignment)?
        } else {
            Self::map(address, bytes)?
        };
        if bytes >= HUGE {
            pages.advise(Advice::LinuxHugepage);
        }
        Ok(pages)
    }

    /// Maps a part of a buffer.
    pub(crate) fn of(buffer: &Buffer, offset: u64, bytes: u64) -> Result<Self, Error> {
        let pages = Self::map(0, bytes)?;
        // SAFETY: the range is this value's, and nobody knows of it yet.
        unsafe { buffer.map_over(pages.address, offset, bytes)? };
        Ok(pages)
    }

    /// Where they begin.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Moves the contents into a buffer, at the same addresses. Kernels, copies and threads of the program that write
    /// meanwhile wait.
    pub(crate) fn share(&self) -> Result<Buffer, Error> {
        let buffer = Buffer::new(self.bytes)?;
        let [start, end] = [self.address, self.address + self.bytes];
        standstill::hold(start, end, || {
            self.protect(ProtFlags::READ)?;
            // SAFETY: the range is this value's, can be read, and nobody writes it.
            let contents = unsafe {
                std::slice::from_raw_parts(
                    ptr::with_exposed_provenance::<u8>(start as usize),
                    self.bytes as usize,
                )
            };
            let moved = buffer.fill(contents).and_then(|()| {
                // SAFETY: the range is this value's, and what is mapped there is in the buffer.
                unsafe { buffer.map_over(start, 0, self.bytes) }
            });
            if moved.is_err() {
                self.protect(ProtFlags::READ | ProtFlags::WRITE)?;
            }
            moved
        })?;
        Ok(buffer)
    }

    fn protect(&self, protection: ProtFlags) -> Result<(), Error> {
        let start = ptr::with_exposed_provenance_mut(self.address as usize);
        let flags = rustix::mm::MprotectFlags::from_bits_retain(protection.bits());
        // SAFETY: the range is a mapping that this value owns; it can be read before and after.
        unsafe { rustix::mm::mprotect(start, self.bytes as usize, flags) }.map_err(|errno| {
            let message = "Cannot change the protection of device memory";
            Error::os(errno.raw_os_error(), message, "mprotect")
        })
    }

    fn anywhere(bytes: u64, alignment: u64) -> Result<Self, Error> {
        let alignment = if bytes >= HUGE {
            alignment.max(HUGE)
        } else {
            alignment
        };
        if alignment <= crate::config::page() {
            return Self::map(0, bytes);
        }
        let too_much = || {
            Error::new(
                ErrorCode::OUT_OF_RESOURCES,
                "The request exceeds the address space",
            )
        };
        let whole = Self::map(0, bytes.checked_add(alignment).ok_or_else(too_much)?)?;
        let start = whole.address.next_multiple_of(alignment);
        let (head, rest) = whole.split(start);
        let (middle, tail) = rest.split(start + bytes);
        drop((head, tail));
        Ok(middle)
    }

    fn map(address: u64, bytes: u64) -> Result<Self, Error> {
        let mut flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        if address != 0 {
            flags |= MapFlags::FIXED_NOREPLACE;
        }
        let hint = ptr::without_provenance_mut(address as usize);
        // SAFETY: without MAP_FIXED, a new mapping touches no existing one.
        let start = unsafe {
            rustix::mm::mmap_anonymous(hint, bytes as usize, ProtFlags::READ | ProtFlags::WRITE, flags)
        }
        .map_err(|errno| {
            let message = format!("Cannot reserve {bytes} bytes for device memory");
            Error::os(errno.raw_os_error(), message, "mmap")
        })?;
        Ok(Self {
            address: start.expose_provenance() as u64,
            bytes,
        })
    }

    /// Cuts in two at an address inside.
    fn split(self, at: u64) -> (Self, Self) {
        let whole = std::mem::ManuallyDrop::new(self);
        let head = Self {
            address: whole.address,
            bytes: at - whole.address,
        };
        let tail = Self {
            address: at,
            bytes: whole.bytes - head.bytes,
        };
        (head, tail)
    }

    fn advise(&self, advice: Advice) {
        let start = ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: the range is a private anonymous mapping that this value owns.
        let result = unsafe { rustix::mm::madvise(start, self.bytes as usize, advice) };
        // Advice: a kernel without huge pages refuses it, and nothing is lost.
        let _ = result;
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let start = ptr::with_exposed_provenance_mut(self.address as usize);
        // SAFETY: the range is a mapping that this value owns, and nothing uses it any more.
        let result = unsafe { rustix::mm::munmap(start, self.bytes as usize) };
        debug_assert!(result.is_ok(), "a mapping of ours can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    fn byte_at(address: u64) -> u8 {
        // SAFETY: each caller passes an address of pages that it holds.
        unsafe { ptr::with_exposed_provenance::<u8>(address as usize).read_volatile() }
    }

    #[test]
    fn pages_are_zero_and_aligned() {
        let pages = Pages::reserve(0, 8192, 1 << 16).unwrap();
        assert_eq!(pages.address() % (1 << 16), 0);
        assert_eq!(byte_at(pages.address() + 8191), 0);
    }

    #[test]
    fn a_wanted_address_is_taken_or_refused() {
        let first = Pages::reserve(0, 4096, 4096).unwrap();
        assert!(Pages::reserve(first.address(), 4096, 4096).is_err());
        let address = first.address();
        drop(first);
        assert_eq!(Pages::reserve(address, 4096, 4096).unwrap().address(), address);
    }

    #[test]
    fn a_terabyte_is_reserved_without_being_committed() {
        let pages = Pages::reserve(0, 1 << 40, 4096).unwrap();
        assert_eq!(byte_at(pages.address() + (1 << 39)), 0);
    }

    #[test]
    fn shared_pages_keep_their_contents_and_place_while_somebody_writes() {
        crate::exec::guard::install().unwrap();
        let bytes = 64 << 20;
        let pages = Pages::reserve(0, bytes, 4096).unwrap();
        let word = |index: u64| {
            let place = ptr::with_exposed_provenance::<AtomicU64>((pages.address() + index * 4096) as usize);
            // SAFETY: a word of pages that outlive it.
            unsafe { &*place }
        };
        let last = bytes / 4096 - 1;
        word(last).store(7, Ordering::Relaxed);
        let stop = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let mut rounds = 0;
                while !stop.load(Ordering::Acquire) || rounds == 0 {
                    rounds += 1;
                    for index in (0..last).step_by(64) {
                        word(index).fetch_add(1, Ordering::Relaxed);
                    }
                }
                rounds
            });
            while word(0).load(Ordering::Acquire) == 0 {
                std::hint::spin_loop();
            }
            let buffer = pages.share().unwrap();
            let before = word(0).load(Ordering::Acquire);
            while word(0).load(Ordering::Acquire) == before {
                std::hint::spin_loop();
            }
            stop.store(true, Ordering::Release);
            let rounds = writer.join().unwrap();
            let other = Pages::of(&buffer, 0, bytes).unwrap();
            assert_eq!(byte_at(other.address() + last * 4096), 7);
            rounds
        });
        for index in (0..last).step_by(64) {
            assert_eq!(word(index).load(Ordering::Relaxed), written, "page {index}");
        }
    }

    #[test]
    fn untouched_pages_stay_uncommitted_when_they_are_shared() {
        crate::exec::guard::install().unwrap();
        let pages = Pages::reserve(0, 256 << 20, 4096).unwrap();
        let buffer = pages.share().unwrap();
        assert_eq!(byte_at(pages.address() + (100 << 20)), 0);
        assert!(buffer.committed() <= 4096, "{}", buffer.committed());
    }

    #[test]
    fn more_than_the_address_space_is_refused() {
        let error = Pages::reserve(0, 1 << 60, 4096).unwrap_err();
        assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES);
        let error = Pages::reserve(0, u64::MAX - 4095, 4096).unwrap_err();
        assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES);
    }
}
