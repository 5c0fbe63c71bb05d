//! A reserved range of addresses in which objects that devices dereference live.
//!
//! The ABI makes a signal's handle the address of an `amd_signal_t` and a queue's handle the address of an
//! `amd_queue_t`. Both kinds live in a range that is reserved once per process and never given back, so that a
//! handle can be judged by arithmetic before it is dereferenced: inside the range, on a slot, in a part that is
//! committed. A stale or foreign handle is then an error and never a wild access.

use crate::error::{Error, Result};
use rustix::mm::{mprotect, MprotectFlags, ProtFlags};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A range of slots of one size.
#[derive(Debug)]
pub struct Arena {
    slot_bytes: usize,
    slots: usize,
    /// Address of the first slot, or 0 before the range is reserved.
    base: AtomicUsize,
    /// Bytes from the base that can be read and written; only grows.
    committed: AtomicUsize,
    /// Bytes of memory that a driver gave for it, which is all usable, or 0.
    given: AtomicUsize,
}

impl Arena {
    /// An arena of `slots` slots of `slot_bytes` bytes (a power of two); reserves nothing yet.
    #[must_use]
    pub const fn new(slot_bytes: usize, slots: usize) -> Self {
        Self {
            slot_bytes,
            slots,
            base: AtomicUsize::new(0),
            committed: AtomicUsize::new(0),
            given: AtomicUsize::new(0),
        }
    }

    /// Most slots.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Slots that are committed.
    pub fn committed_slots(&self) -> usize {
        self.committed.load(Ordering::Acquire) / self.slot_bytes
    }

    /// Address of the first slot, reserving the range at the first call.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system has no range of that size.
    pub fn base(&self) -> Result<usize> {
        let base = self.base.load(Ordering::Acquire);
        if base != 0 {
            return Ok(base);
        }
        let bytes = self.slots * self.slot_bytes;
        if let Some((range, bytes)) = super::source::arena(self.slot_bytes, self.slots)? {
            let first = self
                .base
                .compare_exchange(0, range, Ordering::AcqRel, Ordering::Acquire);
            if first.is_ok() {
                self.given.store(bytes, Ordering::Release);
            }
            return Ok(first.map_or_else(|base| base, |_| range));
        }
        let range = super::reach::map(bytes, ProtFlags::empty())
            .map_err(|_| Error::OutOfResources("address space for handles"))?
            .expose_provenance();
        match self
            .base
            .compare_exchange(0, range, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => Ok(range),
            Err(base) => {
                // SAFETY: another thread was first; this range was never handed out.
                let _ = unsafe { rustix::mm::munmap(std::ptr::with_exposed_provenance_mut(range), bytes) };
                Ok(base)
            }
        }
    }

    /// Makes the first `slots` slots usable. The caller serialises calls. Answers the address and bytes that
    /// were added, which are zero.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the arena, or memory, is at its end.
    pub fn commit(&self, slots: usize) -> Result<(usize, usize)> {
        let base = self.base()?;
        if slots > self.slots {
            return Err(Error::OutOfResources("handles"));
        }
        let old = self.committed.load(Ordering::Acquire);
        let new = slots * self.slot_bytes;
        let given = self.given.load(Ordering::Acquire);
        if given != 0 && new > old {
            if new > given {
                return Err(Error::OutOfResources("handles"));
            }
            self.committed.store(new, Ordering::Release);
        } else if new > old {
            // SAFETY: the part from `old` to `new` is reserved and nobody's yet.
            let result = unsafe {
                mprotect(
                    std::ptr::with_exposed_provenance_mut(base + old),
                    new - old,
                    MprotectFlags::READ | MprotectFlags::WRITE,
                )
            };
            result.map_err(|_| Error::OutOfResources("memory for handles"))?;
            self.committed.store(new, Ordering::Release);
        }
        Ok((base + old, new.saturating_sub(old)))
    }

    /// Whether an address is the start of a committed slot: then it can be read.
    #[inline]
    pub fn holds(&self, address: usize) -> bool {
        // Before the range is reserved nothing is committed, so every offset is too large.
        let base = self.base.load(Ordering::Relaxed);
        let offset = address.wrapping_sub(base);
        offset < self.committed.load(Ordering::Relaxed) && offset & (self.slot_bytes - 1) == 0
    }

    /// The number of the slot at an address for which [`Self::holds`] is true.
    #[inline]
    pub fn index_of(&self, address: usize) -> usize {
        address.wrapping_sub(self.base.load(Ordering::Relaxed)) / self.slot_bytes
    }

    /// The address of a slot.
    #[inline]
    pub fn address_of(&self, index: usize) -> usize {
        self.base.load(Ordering::Relaxed) + index * self.slot_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_committed_slots_are_held() {
        static ARENA: Arena = Arena::new(128, 1 << 16);
        let base = ARENA.base().unwrap();
        assert!(!ARENA.holds(base));
        ARENA.commit(512).unwrap();
        assert!(ARENA.holds(base));
        assert!(ARENA.holds(base + 511 * 128));
        assert!(!ARENA.holds(base + 512 * 128));
        assert!(!ARENA.holds(base + 1));
        assert!(!ARENA.holds(0));
        assert!(ARENA.commit((1 << 16) + 1).is_err());
    }
}
