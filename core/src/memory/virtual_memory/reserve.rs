//! Reserving addresses and giving them back.

use super::{around, Reservation};
use crate::error::{Error, Result};
use crate::memory::host::page_bytes;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};
use std::collections::BTreeMap;

/// `HSA_AMD_VMEM_ADDRESS_NO_REGISTER`.
const NO_REGISTER: u64 = 1;

/// Maps a range that nobody may use, exactly at an address or anywhere.
fn blank(address: usize, bytes: usize, flags: MapFlags) -> rustix::io::Result<usize> {
    let place = std::ptr::with_exposed_provenance_mut(address);
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | flags;
    // SAFETY: without MAP_FIXED, which only `cover` passes for its own range, no existing mapping is touched.
    let range = unsafe { mmap_anonymous(place, bytes, ProtFlags::empty(), flags) };
    range.map(|range| range.expose_provenance())
}

/// Takes away whatever is mapped in a reserved range; the range stays reserved.
pub(super) fn cover(address: u64, bytes: u64) -> Result<()> {
    let refused = Error::OutOfResources("address space");
    let (Ok(address), Ok(bytes)) = (usize::try_from(address), usize::try_from(bytes)) else {
        return Err(refused);
    };
    blank(address, bytes, MapFlags::FIXED)
        .map(drop)
        .map_err(|_| refused)
}

fn discard(address: usize, bytes: usize) {
    if bytes != 0 {
        // SAFETY: the range is one of `blank`'s that nobody has been told of, or that has been given back.
        let _ = unsafe { munmap(std::ptr::with_exposed_provenance_mut(address), bytes) };
    }
}

/// A reserved range at a multiple of `alignment`.
fn anywhere(bytes: usize, alignment: usize) -> Option<usize> {
    let slack = if alignment > page_bytes() { alignment } else { 0 };
    let whole = bytes.checked_add(slack)?;
    let start = crate::memory::reach::map(whole, ProtFlags::empty())
        .ok()?
        .expose_provenance();
    let address = start.checked_next_multiple_of(alignment)?;
    discard(start, address - start);
    discard(address + bytes, start + whole - (address + bytes));
    Some(address)
}

impl Runtime {
    /// Reserves addresses: those wished for, if they are free and aligned, or others.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a size that is no multiple of a page, or an alignment that is no power of two;
    /// [`Error::OutOfResources`].
    pub fn reserve(&self, bytes: u64, wish: u64, alignment: u64, flags: u64) -> Result<u64> {
        let refused = || Error::OutOfResources("address space");
        let page = page_bytes() as u64;
        if bytes == 0 || !bytes.is_multiple_of(page) {
            return Err(Error::InvalidArgument("a reservation has whole pages"));
        }
        let alignment = alignment.max(page);
        if !alignment.is_power_of_two() {
            return Err(Error::InvalidArgument("an alignment is a power of two"));
        }
        let (length, align) = (usize::try_from(bytes), usize::try_from(alignment));
        let (Ok(length), Ok(align)) = (length, align) else {
            return Err(refused());
        };
        let wished = usize::try_from(wish)
            .ok()
            .filter(|&wish| wish != 0 && wish % align == 0)
            .and_then(|wish| {
                let address = blank(wish, length, MapFlags::FIXED_NOREPLACE).ok()?;
                // Systems before Linux 4.17 take the address as a hint.
                if address == wish {
                    return Some(address);
                }
                discard(address, length);
                None
            });
        let address = wished.or_else(|| anywhere(length, align)).ok_or_else(refused)? as u64;
        let mut reservation = Reservation {
            bytes,
            drivers: Vec::new(),
            mappings: BTreeMap::new(),
        };
        if flags & NO_REGISTER == 0 {
            for driver in 0..self.drivers.len() {
                let groups = self.drivers[driver].description.groups;
                if groups.contains(api::DriverGroups::VIRTUAL_MEMORY) {
                    if let Err(error) = self.reserve_with(driver, address, &mut reservation) {
                        self.forget(address, &reservation);
                        return Err(error);
                    }
                }
            }
        }
        self.virtual_memory
            .reservations
            .lock()
            .insert(address, reservation);
        Ok(address)
    }

    /// Tells a driver of a reservation, once.
    pub(super) fn reserve_with(
        &self,
        driver: usize,
        address: u64,
        reservation: &mut Reservation,
    ) -> Result<()> {
        if reservation.drivers.contains(&driver) {
            return Ok(());
        }
        let object = &self.drivers[driver].object;
        let given = object.reserve(address, reservation.bytes, page_bytes() as u64)?;
        if given != address {
            // The driver has nothing better; what it gave is no use.
            let _ = object.unreserve(given, reservation.bytes);
            return Err(Error::OutOfResources("addresses that a device can use"));
        }
        reservation.drivers.push(driver);
        Ok(())
    }

    /// Gives a range back to the drivers and the system.
    fn forget(&self, address: u64, reservation: &Reservation) {
        for &driver in &reservation.drivers {
            // As for every `free`: a driver that cannot has lost its device.
            let _ = self.drivers[driver].object.unreserve(address, reservation.bytes);
        }
        let (address, bytes) = (usize::try_from(address), usize::try_from(reservation.bytes));
        discard(address.unwrap_or(0), bytes.unwrap_or(0));
    }

    /// Gives reserved addresses back.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for an address that was not reserved; [`Error::InvalidArgument`] for another
    /// size; [`Error::ResourceFree`] while something is mapped there.
    pub fn unreserve(&self, address: u64, bytes: u64) -> Result<()> {
        let mut reservations = self.virtual_memory.reservations.lock();
        let known = reservations
            .get(&address)
            .ok_or(Error::InvalidAllocation("not a reserved address"))?;
        if known.bytes != bytes {
            return Err(Error::InvalidArgument("the reservation has another size"));
        }
        if !known.mappings.is_empty() {
            return Err(Error::ResourceFree("something is mapped at the addresses"));
        }
        let known = reservations.remove(&address);
        drop(reservations);
        if let Some(known) = known {
            self.forget(address, &known);
        }
        Ok(())
    }

    /// The reserved range around an address: its start and bytes.
    #[must_use]
    pub fn reservation_around(&self, address: u64) -> Option<(u64, u64)> {
        let reservations = self.virtual_memory.reservations.lock();
        let (&base, reservation) = reservations.range(..=address).next_back()?;
        (address - base < reservation.bytes).then_some((base, reservation.bytes))
    }

    /// Whether a whole range lies in a reservation.
    #[must_use]
    pub fn is_reserved(&self, address: u64, bytes: u64) -> bool {
        around(&mut self.virtual_memory.reservations.lock(), address, bytes).is_some()
    }

    /// Takes down all virtual memory, at the runtime's end.
    pub(crate) fn end_virtual_memory(&self) {
        let reservations = std::mem::take(&mut *self.virtual_memory.reservations.lock());
        for (address, mut reservation) in reservations {
            for (at, mut mapping) in std::mem::take(&mut reservation.mappings) {
                self.hide(at, &mut mapping);
            }
            self.forget(address, &reservation);
        }
    }
}
