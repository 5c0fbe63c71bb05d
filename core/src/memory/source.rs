//! Host memory from a driver whose devices see nothing else of the host's at the program's address
//! ([`DriverGroups::HOST_MEMORY`](api::DriverGroups::HOST_MEMORY)).
//!
//! While such a driver is open, pages that the runtime maps come from it, and devices see them already. What arenas are made
//! of stays until the process ends, as their addresses are handles.

use super::host::page_bytes;
use crate::error::{Error, Result};
use crate::runtime::DriverSlot;
use hansa_plugin_api as api;
use hansa_plugin_api::fork::Lock;

/// Most bytes of an arena with many slots on a page.
const ARENA_BYTES: usize = 4 << 20;
/// Most slots of an arena of pages.
const ARENA_PAGES: usize = 64;

struct Source {
    driver: api::DriverRef<'static>,
    node: u32,
    bank: u32,
}

static SOURCE: Lock<Option<Source>> = Lock::new(None);

/// Takes host memory from the first driver that wants to give it, if there is one.
///
/// # Safety
///
/// The driver must live until [`clear`].
pub(crate) unsafe fn set(drivers: &[DriverSlot]) {
    let source = drivers.iter().find_map(|slot| {
        let gives = slot.description.groups.contains(api::DriverGroups::HOST_MEMORY);
        let node = *slot.nodes.first().filter(|_| gives)?;
        let described = slot
            .description
            .nodes
            .iter()
            .find(|described| described.node == node)?;
        let is_host = |bank: &api::MemoryBank| bank.kind == api::BankKind::HOST;
        Some(Source {
            // SAFETY: the caller's.
            driver: unsafe { slot.object.as_ref().unbound() },
            node,
            bank: u32::try_from(described.banks.iter().position(is_host)?).ok()?,
        })
    });
    *SOURCE.lock() = source;
}

/// Takes it from nobody any more; what is left of it ends with the driver.
pub(crate) fn clear() {
    *SOURCE.lock() = None;
}

/// Forgets the parent's driver in a forked child.
pub(crate) fn after_fork() {
    clear();
}

impl Source {
    fn allocate(&self, bytes: usize, flags: api::AllocFlags) -> Result<api::Allocation> {
        let request = api::AllocRequest {
            node: self.node,
            bank: self.bank,
            bytes: bytes as u64,
            alignment: page_bytes() as u64,
            address: 0,
            flags: api::AllocFlags::FINE_GRAIN | api::AllocFlags::HOST_ACCESS | flags,
            reserved: 0,
        };
        let given = self
            .driver
            .allocate(&request)
            .map_err(super::operations::out_of_memory)?;
        if given.host_address == 0 || given.host_address != given.device_address {
            // A driver that cannot free it keeps it until it is closed.
            let _ = self.driver.free(given.handle);
            return Err(Error::OutOfResources("host memory at one address for all"));
        }
        Ok(given)
    }
}

fn address_of(given: &api::Allocation) -> usize {
    usize::try_from(given.host_address).unwrap_or(0)
}

/// Pages from the driver, zeroed: address and handle; `None` when there is no such driver.
///
/// # Errors
///
/// [`Error::OutOfResources`], and what the driver says.
pub(super) fn pages(bytes: usize) -> Result<Option<(usize, u64)>> {
    let source = SOURCE.lock();
    let Some(source) = &*source else { return Ok(None) };
    let given = source.allocate(bytes, api::AllocFlags::EXECUTABLE)?;
    Ok(Some((address_of(&given), given.handle.0)))
}

/// Gives pages back.
pub(super) fn free(handle: u64) {
    if let Some(source) = &*SOURCE.lock() {
        // A driver that cannot free has lost its device, and the memory with it.
        let _ = source.driver.free(api::MemoryHandle(handle));
    }
}

/// Memory for an arena: address and bytes; `None` when there is no such driver. A slot of a page has an allocation of its
/// own, which a kernel wants of the memory of queues, so there are as many as come to lie side by side.
///
/// # Errors
///
/// As [`pages`].
pub(super) fn arena(slot_bytes: usize, slots: usize) -> Result<Option<(usize, usize)>> {
    let source = SOURCE.lock();
    let Some(source) = &*source else { return Ok(None) };
    let lasting = api::AllocFlags::LASTING;
    if slot_bytes < page_bytes() {
        let bytes = (slot_bytes * slots).min(ARENA_BYTES);
        let given = source.allocate(bytes, lasting)?;
        return Ok(Some((address_of(&given), bytes)));
    }
    let base = address_of(&source.allocate(slot_bytes, lasting)?);
    let mut bytes = slot_bytes;
    while bytes < slot_bytes * slots.min(ARENA_PAGES) {
        let Ok(next) = source.allocate(slot_bytes, lasting) else {
            break;
        };
        if address_of(&next) != base + bytes {
            // As for `free`.
            let _ = source.driver.free(next.handle);
            break;
        }
        bytes += slot_bytes;
    }
    Ok(Some((base, bytes)))
}
