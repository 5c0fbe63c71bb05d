//! Mapping memory at reserved addresses, and saying who may do what there.

use super::physical::{Backing, Physical};
use super::place::Shown;
use super::reserve::cover;
use super::{around, Reservation};
use crate::error::{Error, Result};
use crate::memory::operations::empty;
use crate::memory::{Allocation, AllocationKind};
use crate::runtime::Runtime;
use rustix::mm::ProtFlags;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const NOTHING_MAPPED: Error = Error::InvalidAllocation("nothing is mapped at the address");

/// Memory at an address.
#[derive(Debug)]
pub(super) struct Mapping {
    pub(super) memory: Arc<Physical>,
    /// Bytes of it that are mapped, from its start.
    pub(super) bytes: u64,
    /// What agents may do, by index (`hsa_access_permission_t`).
    pub(super) access: BTreeMap<usize, u32>,
    /// How drivers were told.
    pub(super) shown: Shown,
}

/// The first addresses of the mappings that a range consists of.
fn parts(reservation: &Reservation, address: u64, bytes: u64) -> Result<Vec<u64>> {
    let mut parts = Vec::new();
    let mut next = address;
    for (&at, mapping) in reservation.mappings.range(address..) {
        if at != next || next - address >= bytes {
            break;
        }
        parts.push(at);
        next = at + mapping.bytes;
    }
    if parts.is_empty() {
        let inside = |(&at, mapping): (&u64, &Mapping)| address - at < mapping.bytes;
        let before = reservation.mappings.range(..=address).next_back();
        return Err(if before.is_some_and(inside) {
            Error::InvalidArgument("the range begins inside a mapping")
        } else {
            NOTHING_MAPPED
        });
    }
    if next - address == bytes {
        Ok(parts)
    } else {
        Err(Error::InvalidArgument("the range is not whole mappings"))
    }
}

/// The mapping around an address.
fn mapping_around(reservations: &mut BTreeMap<u64, Reservation>, address: u64) -> Result<&mut Mapping> {
    let reservation = around(reservations, address, 1).ok_or(NOTHING_MAPPED)?;
    let (&at, mapping) = reservation
        .mappings
        .range_mut(..=address)
        .next_back()
        .ok_or(NOTHING_MAPPED)?;
    if address - at < mapping.bytes {
        Ok(mapping)
    } else {
        Err(NOTHING_MAPPED)
    }
}

impl Runtime {
    /// Puts memory at reserved addresses, where nobody may use it yet.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for the memory; [`Error::InvalidArgument`] for addresses that are not reserved or
    /// not free, or for more than there is of the memory; [`Error::OutOfResources`].
    pub fn map_physical(&self, address: u64, bytes: u64, handle: u64) -> Result<()> {
        let memory = self.physical(handle)?;
        if bytes > memory.bytes {
            return Err(Error::InvalidArgument("the memory is smaller"));
        }
        let page = crate::memory::host::page_bytes() as u64;
        if bytes == 0 || !bytes.is_multiple_of(page) {
            return Err(Error::InvalidArgument("a mapping is whole pages"));
        }
        if !address.is_multiple_of(page) {
            return Err(Error::InvalidArgument("the address is inside a page"));
        }
        let mut reservations = self.virtual_memory.reservations.lock();
        let Some(base) = reservations.range(..=address).next_back().map(|(&base, _)| base) else {
            return Err(Error::InvalidArgument("the addresses are not reserved"));
        };
        let reservation = around(&mut reservations, address, bytes)
            .ok_or(Error::InvalidArgument("the addresses are not reserved"))?;
        let before = reservation.mappings.range(..address + bytes).next_back();
        if before.is_some_and(|(&at, mapping)| at + mapping.bytes > address) {
            return Err(Error::InvalidArgument("something is mapped at the addresses"));
        }
        match &memory.backing {
            Backing::File(file) => {
                let place = usize::try_from(address).map_err(|_| Error::OutOfResources("address space"))?;
                // SAFETY: the range is reserved, which is the runtime's, and free.
                unsafe { file.map_over(place, bytes, ProtFlags::empty())? };
            }
            Backing::Driver { driver, .. } => self.reserve_with(*driver, base, reservation)?,
        }
        let mapping = Mapping {
            memory,
            bytes,
            access: BTreeMap::new(),
            shown: Shown::default(),
        };
        self.enter(address, &mapping);
        reservation.mappings.insert(address, mapping);
        Ok(())
    }

    /// Enters a mapping into the book of allocations, or what has changed of it.
    fn enter(&self, address: u64, mapping: &Mapping) {
        let memory = &mapping.memory;
        let anybody = mapping.access.values().any(|&permission| permission != 0);
        let on_host = match memory.backing {
            Backing::File(_) => anybody,
            Backing::Driver { .. } => mapping.shown.host,
        };
        let fresh = Allocation {
            kind: AllocationKind::Virtual,
            base: address,
            host_base: if on_host { address } else { 0 },
            requested: AtomicU64::new(mapping.bytes),
            bytes: mapping.bytes,
            ..empty(memory.region, memory.flags)
        };
        let may = mapping.access.iter().filter(|(_, &permission)| permission != 0);
        *fresh.granted.lock() = may.map(|(&agent, _)| agent).collect();
        let is_old = |old: &Arc<Allocation>| old.base == address && old.kind == AllocationKind::Virtual;
        if let Some(old) = self.memory.find(address).filter(is_old) {
            let user_data = old.user_data.load(Ordering::Relaxed);
            fresh.user_data.store(user_data, Ordering::Relaxed);
            for callback in old.callbacks.take() {
                fresh.callbacks.push(callback);
            }
        }
        self.memory.insert(Arc::new(fresh));
    }

    /// Takes memory away from reserved addresses: of one mapping, or of several side by side.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when nothing is mapped there; [`Error::InvalidArgument`] for another size.
    pub fn unmap_physical(&self, address: u64, bytes: u64) -> Result<()> {
        let mut gone = Vec::new();
        {
            let mut reservations = self.virtual_memory.reservations.lock();
            let reservation = around(&mut reservations, address, 1).ok_or(NOTHING_MAPPED)?;
            for at in parts(reservation, address, bytes)? {
                let Some(mut mapping) = reservation.mappings.remove(&at) else {
                    continue;
                };
                self.hide(at, &mut mapping);
                cover(at, mapping.bytes)?;
                gone.extend(self.memory.remove_if(at, |a| a.kind == AllocationKind::Virtual));
            }
        }
        for allocation in gone {
            self.release(&allocation);
        }
        Ok(())
    }

    /// Changes what agents may do with mapped memory; agents that are not named keep what they had.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when nothing is mapped there; [`Error::InvalidArgument`] for another size;
    /// [`Error::InvalidAgent`] for one that cannot use the memory; [`Error::OutOfResources`].
    pub fn set_access(&self, address: u64, bytes: u64, changes: &[(usize, u32)]) -> Result<()> {
        let mut reservations = self.virtual_memory.reservations.lock();
        let reservation = around(&mut reservations, address, 1).ok_or(NOTHING_MAPPED)?;
        let parts = parts(reservation, address, bytes)?;
        for at in &parts {
            let mapping = &reservation.mappings[at];
            if changes.iter().any(|&(agent, _)| !self.can_use(agent, mapping)) {
                return Err(Error::InvalidAgent);
            }
        }
        for at in parts {
            let Some(mapping) = reservation.mappings.get_mut(&at) else {
                continue;
            };
            let before = mapping.access.clone();
            mapping.access.extend(changes.iter().copied());
            let result = self.show(at, mapping);
            if result.is_err() {
                mapping.access = before;
                // What was shown before can be shown again, or the driver has lost its device.
                let _ = self.show(at, mapping);
            }
            self.enter(at, mapping);
            result?;
        }
        Ok(())
    }

    /// What an agent may do at an address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when nothing is mapped there.
    pub fn access_at(&self, address: u64, agent: usize) -> Result<u32> {
        let mut reservations = self.virtual_memory.reservations.lock();
        let mapping = mapping_around(&mut reservations, address)?;
        // What nobody spoke of nobody may do.
        Ok(mapping.access.get(&agent).copied().unwrap_or(0))
    }

    /// Gives the program one more hold on the memory at an address. Answers its handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when nothing is mapped there; [`Error::OutOfResources`].
    pub fn retain_physical(&self, address: u64) -> Result<u64> {
        let mut reservations = self.virtual_memory.reservations.lock();
        self.hold(&mapping_around(&mut reservations, address)?.memory)
    }

    /// Whether the contents of all memory mapped in a reserved range can be dropped.
    pub(crate) fn can_discard(&self, address: u64, bytes: u64) -> bool {
        let mut reservations = self.virtual_memory.reservations.lock();
        around(&mut reservations, address, bytes).is_some_and(|reservation| {
            let mut mapped = overlaps(reservation, address, bytes);
            mapped.all(|(_, mapping, ..)| matches!(mapping.memory.backing, Backing::File(_)))
        })
    }

    /// Drops the contents of all memory mapped in a reserved range.
    pub(crate) fn discard_mapped(&self, address: u64, bytes: u64) -> Result<()> {
        let mut reservations = self.virtual_memory.reservations.lock();
        let reservation = around(&mut reservations, address, bytes)
            .ok_or(Error::InvalidArgument("the range is not reserved"))?;
        for (at, mapping, start, end) in overlaps(reservation, address, bytes) {
            if let Backing::File(file) = &mapping.memory.backing {
                file.discard(start - at, end - start)?;
            }
        }
        Ok(())
    }
}

/// The mappings that a range overlaps: where each is, and from where to where it is overlapped.
fn overlaps(
    reservation: &Reservation,
    address: u64,
    bytes: u64,
) -> impl Iterator<Item = (u64, &Mapping, u64, u64)> {
    let end = address.saturating_add(bytes);
    reservation
        .mappings
        .range(..end)
        .map(move |(&at, mapping)| {
            let until = at + mapping.bytes;
            (at, mapping, at.max(address), until.min(end))
        })
        .filter(|(_, _, start, end)| start < end)
}
