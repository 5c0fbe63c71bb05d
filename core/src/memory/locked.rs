//! The program's own host memory, locked so that devices see it (`hsa_amd_memory_lock`).

use super::operations::empty;
use super::registry::{Allocation, AllocationKind};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use std::sync::atomic::Ordering;
use std::sync::Arc;

impl Runtime {
    /// Locks a range of host memory for all devices. Answers the address devices use, which is the same: every device that
    /// Hansa drives shares the host's addresses. A range that is locked already is counted.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for nothing, [`Error::OutOfResources`] when the driver cannot.
    pub fn lock(&self, address: u64, bytes: u64, region: usize) -> Result<u64> {
        if address == 0 || bytes == 0 {
            return Err(Error::InvalidArgument("a range to lock is not empty"));
        }
        if address.checked_add(bytes).is_none() {
            return Err(Error::OutOfResources("the range goes beyond all addresses"));
        }
        if self
            .memory
            .find(address)
            .is_some_and(|a| !matches!(a.kind, AllocationKind::Locked))
        {
            // Memory of the runtime is visible already; it is remembered so that `unlock` finds it.
            return Ok(address);
        }
        let page = super::host::page_bytes() as u64;
        let start = address & !(page - 1);
        let end = (address + bytes).next_multiple_of(page);
        if let Some(held) = self
            .memory
            .find_locked(address)
            .filter(|a| a.base == start && a.bytes >= end - start)
        {
            held.locks.fetch_add(1, Ordering::Relaxed);
            return Ok(address);
        }
        let registrations = self.register_with_all(start, end - start)?;
        self.memory.insert(Arc::new(Allocation {
            kind: AllocationKind::Locked,
            base: start,
            // What the program named; devices see whole pages around it.
            host_base: address,
            requested: bytes,
            bytes: end - start,
            registrations,
            ..empty(region, 0)
        }));
        Ok(address)
    }

    /// Unlocks what `lock` locked; anything else is left alone, as AMD's runtime does.
    pub fn unlock(&self, address: u64) {
        let page = super::host::page_bytes() as u64;
        let start = address & !(page - 1);
        let Some(held) = self.memory.find_locked(address).filter(|a| a.base == start) else {
            return;
        };
        if held.locks.fetch_sub(1, Ordering::AcqRel) == 1 && self.memory.remove_locked(start).is_some() {
            self.release(&held);
        }
    }
}
