//! Allocating, freeing, sharing and copying.
//!
//! A walk that must stay short: `hsa_memory_allocate` -> `Runtime::allocate` -> `Driver::allocate` -> the plugin.

use super::callbacks::{Callbacks, FreeCallback};
use super::host::{HostOptions, Pages};
use super::region::{Place, Region};
use super::registry::{Allocation, AllocationKind, Freed};
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// Flags of `hsa_amd_memory_pool_allocate`.
pub mod flag {
    /// Memory that peers reach over PCI Express.
    pub const PCIE: u32 = 1;
    /// Physically contiguous.
    pub const CONTIGUOUS: u32 = 1 << 1;
    /// Code may run from it.
    pub const EXECUTABLE: u32 = 1 << 2;
    /// Not cached.
    pub const UNCACHED: u32 = 1 << 3;
}

pub(super) fn alloc_flags(region: &Region, flags: u32) -> api::AllocFlags {
    let mut wanted = api::AllocFlags::empty();
    for (bit, flag) in [
        (flag::CONTIGUOUS, api::AllocFlags::CONTIGUOUS),
        (flag::EXECUTABLE, api::AllocFlags::EXECUTABLE),
        (flag::UNCACHED, api::AllocFlags::UNCACHED),
    ] {
        wanted.set(flag, flags & bit != 0);
    }
    wanted.set(
        api::AllocFlags::FINE_GRAIN,
        region.flags.contains(super::GlobalFlags::FINE_GRAINED),
    );
    wanted
}

pub(super) fn out_of_memory(error: api::Error) -> Error {
    if error.code == api::ErrorCode::OUT_OF_RESOURCES {
        Error::OutOfResources("device memory")
    } else {
        Error::Driver(error)
    }
}

impl Runtime {
    /// Allocates memory of a region, in whole granules: zero filled, but for banks that their driver does not clear. Answers
    /// the address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for no bytes, [`Error::InvalidAllocation`] when the region gives none or not
    /// that much, [`Error::OutOfResources`] when there is none left.
    pub fn allocate(&self, region: usize, bytes: u64, flags: u32) -> Result<u64> {
        let place = &self.regions[region];
        if bytes == 0 {
            return Err(Error::InvalidArgument("an allocation has at least one byte"));
        }
        if !place.can_allocate() {
            return Err(Error::InvalidAllocation("the region gives no memory to programs"));
        }
        if bytes > place.max_allocation {
            return Err(Error::InvalidAllocation("more than ALLOC_MAX_SIZE"));
        }
        let whole = bytes.next_multiple_of(place.granule);
        let allocation = match place.place {
            Place::Host => self.allocate_host(region, bytes, whole, flags)?,
            Place::Bank {
                driver,
                node,
                bank,
                host_visible,
                uncleared,
            } => {
                self.leave_room(driver, node, whole)?;
                let spare = || self.memory.reuse(region, flags, whole, bytes);
                if let Some(address) = uncleared.then(spare).flatten() {
                    self.say_allocated(region, bytes, address);
                    return Ok(address);
                }
                let request = api::AllocRequest {
                    node,
                    bank,
                    bytes: whole,
                    alignment: place.granule,
                    address: 0,
                    flags: alloc_flags(place, flags),
                    reserved: 0,
                };
                let object = &self.drivers[driver].object;
                let mut given = object.allocate(&request);
                if given.is_err() && self.give_back_spares() {
                    given = object.allocate(&request);
                }
                let given = given.map_err(out_of_memory)?;
                Allocation {
                    kind: AllocationKind::Device {
                        driver,
                        handle: given.handle,
                    },
                    base: given.device_address,
                    host_base: if host_visible { given.host_address } else { 0 },
                    requested: AtomicU64::new(bytes),
                    bytes: whole,
                    ..empty(region, flags)
                }
            }
            Place::None => return Err(Error::InvalidAllocation("the region gives no memory to programs")),
        };
        let address = allocation.base;
        self.say_allocated(region, bytes, address);
        self.memory.insert(Arc::new(allocation));
        Ok(address)
    }

    #[inline]
    fn say_allocated(&self, region: usize, bytes: u64, address: u64) {
        log::line(
            Topic::Memory,
            format_args!(
                "memory: {address:#x}: {bytes} bytes of region {region} of agent {}",
                self.regions[region].agent
            ),
        );
    }

    fn allocate_host(&self, region: usize, bytes: u64, whole: u64, flags: u32) -> Result<Allocation> {
        let length = usize::try_from(whole).map_err(|_| Error::OutOfResources("host memory"))?;
        let options = HostOptions {
            executable: flags & flag::EXECUTABLE != 0,
            ..self.host_options
        };
        let apart = options.executable || (options.guard_pages && options.guard_small);
        if let Some(pages) = (!apart).then(|| self.host_slabs.take(self, length)).flatten() {
            let base = pages.address as u64;
            return Ok(Allocation {
                kind: AllocationKind::Host(pages),
                base,
                host_base: base,
                requested: AtomicU64::new(bytes),
                bytes: whole,
                ..empty(region, flags)
            });
        }
        let pages = Pages::map(length, super::host::page_bytes(), options)?;
        let base = pages.address as u64;
        match self.register_with_all(base, whole) {
            Ok(registrations) => Ok(Allocation {
                kind: AllocationKind::Host(pages),
                base,
                host_base: base,
                requested: AtomicU64::new(bytes),
                bytes: whole,
                registrations,
                ..empty(region, flags)
            }),
            Err(error) => {
                // SAFETY: the pages were never given out.
                unsafe { pages.unmap() };
                Err(error)
            }
        }
    }

    /// Frees memory by the address that `allocate` gave; nothing for 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for any other address.
    pub fn free(&self, address: u64) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        let freed = self.memory.free(
            address,
            |allocation| {
                let is_allocated = allocation.kind.is_allocated();
                if is_allocated {
                    let bytes = allocation.requested.load(Ordering::Relaxed);
                    log::line(
                        Topic::Memory,
                        format_args!("memory: {address:#x}: {bytes} bytes freed"),
                    );
                }
                is_allocated
            },
            |allocation| self.is_spare(allocation),
        );
        match freed.ok_or(Error::InvalidAllocation("not the start of an allocation"))? {
            Freed::Kept => {}
            Freed::Gone(allocation) => {
                self.exchange.withdraw(crate::ipc::Thing::Memory, address);
                self.release(&allocation);
            }
        }
        Ok(())
    }

    /// Calls the program's functions for the end of an allocation and gives the memory back.
    pub(crate) fn release(&self, allocation: &Allocation) {
        for callback in allocation.callbacks.take() {
            call_back(callback);
        }
        self.deregister(&allocation.registrations);
        match allocation.kind {
            AllocationKind::Host(pages) if pages.is_part() => self.host_slabs.give(&pages),
            AllocationKind::Host(pages) => {
                // SAFETY: the program freed it; devices do not see it any more.
                unsafe { pages.unmap() };
            }
            AllocationKind::Device { driver, handle } | AllocationKind::Imported { driver, handle, .. } => {
                // A driver that cannot free has lost its device, and the memory with it.
                let _ = self.drivers[driver].object.free(handle);
            }
            AllocationKind::Locked | AllocationKind::Virtual => {}
        }
    }

    /// Lets all devices of all drivers see host memory. Answers the registrations.
    pub(crate) fn register_with_all(
        &self,
        address: u64,
        bytes: u64,
    ) -> Result<Vec<(usize, api::MemoryHandle)>> {
        let all: Vec<usize> = (0..self.drivers.len()).collect();
        self.register_with(&all, address, bytes, api::AllocFlags::FINE_GRAIN)
    }

    /// Lets all devices of some drivers see host memory; all or none.
    pub(crate) fn register_with(
        &self,
        drivers: &[usize],
        address: u64,
        bytes: u64,
        flags: api::AllocFlags,
    ) -> Result<Vec<(usize, api::MemoryHandle)>> {
        let mut registrations = Vec::new();
        for &driver in drivers {
            let slot = &self.drivers[driver];
            if slot.nodes.is_empty() || !slot.description.groups.contains(api::DriverGroups::MEMORY) {
                continue;
            }
            let request = api::HostMemoryRequest {
                address,
                bytes,
                nodes: api::RSlice::from_slice(&slot.nodes),
                flags,
                reserved: 0,
            };
            match slot.object.register_host(&request) {
                Ok(given) => registrations.push((driver, given.handle)),
                Err(error) if error.code == api::ErrorCode::NOT_SUPPORTED => {}
                Err(error) => {
                    self.deregister(&registrations);
                    return Err(out_of_memory(error));
                }
            }
        }
        Ok(registrations)
    }

    /// Undoes registrations.
    pub(crate) fn deregister(&self, registrations: &[(usize, api::MemoryHandle)]) {
        for &(driver, handle) in registrations {
            // As for `free`: nothing is left to undo when the driver says no.
            let _ = self.drivers[driver].object.deregister_host(handle);
        }
    }

    /// Allocates memory that all devices see that can (`hsa_memory_allocate`). Answers the address.
    ///
    /// # Errors
    ///
    /// As [`Runtime::allocate`].
    pub fn allocate_for_all(&self, region: usize, bytes: u64) -> Result<u64> {
        let address = self.allocate(region, bytes, 0)?;
        if let Some(allocation) = self
            .memory
            .find(address)
            .filter(|_| self.regions[region].is_host())
        {
            *allocation.granted.lock() = Arc::clone(&self.devices);
        }
        Ok(address)
    }

    /// Gives exactly these agents, and the owner, access to an allocation.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an address that no allocation starts at, and what the drivers say.
    pub fn allow_access(&self, agents: &[usize], address: u64) -> Result<()> {
        let allocation = self
            .memory
            .find(address)
            .filter(|a| a.base == address)
            .ok_or(Error::InvalidArgument("not the start of an allocation"))?;
        if allocation.kind == AllocationKind::Locked {
            return Err(Error::InvalidArgument(
                "memory of the program is locked for agents",
            ));
        }
        if allocation.kind == AllocationKind::Virtual {
            return Err(Error::InvalidArgument(
                "access to virtual memory is set per mapping",
            ));
        }
        let mut granted = allocation.granted.lock();
        let (owner, shown) = match allocation.kind {
            AllocationKind::Device { driver, handle } => (
                Some(self.regions[allocation.region].agent),
                Some((driver, handle)),
            ),
            // Whoever made it may be elsewhere: it is for those it was imported for.
            AllocationKind::Imported { driver, handle, .. } => (None, Some((driver, handle))),
            _ => (None, None),
        };
        if let Some((driver, handle)) = shown {
            let nodes_of = |list: &[usize]| -> Vec<u32> {
                list.iter()
                    .filter(|&&agent| Some(agent) != owner)
                    .filter_map(|&agent| self.agents[agent].device())
                    .filter(|device| device.reference.driver == driver)
                    .map(|device| device.reference.node)
                    .collect()
            };
            let (old, new) = (nodes_of(&granted), nodes_of(agents));
            let added: Vec<u32> = new.iter().copied().filter(|n| !old.contains(n)).collect();
            let removed: Vec<u32> = old.iter().copied().filter(|n| !new.contains(n)).collect();
            let object = &self.drivers[driver].object;
            if !added.is_empty() {
                object.map(&map_request(handle, &added))?;
            }
            if !removed.is_empty() {
                object.unmap(&map_request(handle, &removed))?;
            }
        }
        *granted = agents.into();
        Ok(())
    }

    /// Registers a function for the end of the allocation around an address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for an address that is in no allocation.
    pub fn add_free_callback(&self, callback: FreeCallback) -> Result<()> {
        let allocation = self
            .memory
            .find(callback.address)
            .filter(|a| a.kind != AllocationKind::Locked)
            .ok_or(Error::InvalidAllocation("not an allocation"))?;
        allocation.callbacks.push(callback);
        Ok(())
    }

    /// Takes one registration of a function for an address back.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] when there is none.
    pub fn remove_free_callback(&self, address: u64, function: usize) -> Result<()> {
        let allocation = self
            .memory
            .find(address)
            .ok_or(Error::InvalidArgument("not an allocation"))?;
        if allocation.callbacks.remove(address, function) {
            Ok(())
        } else {
            Err(Error::InvalidArgument("not a registered function"))
        }
    }
}

fn map_request(handle: api::MemoryHandle, nodes: &[u32]) -> api::MapRequest<'_> {
    api::MapRequest {
        handle,
        nodes: api::RSlice::from_slice(nodes),
        flags: api::AllocFlags::empty(),
        reserved: 0,
    }
}

fn call_back(callback: FreeCallback) {
    let pointer = std::ptr::with_exposed_provenance_mut(usize::try_from(callback.address).unwrap_or(0));
    let data = std::ptr::with_exposed_provenance_mut(callback.data);
    // SAFETY: the program gave this function for exactly this call.
    unsafe { (callback.function)(pointer, data) };
}

/// The fields that begin the same in every allocation.
pub(crate) fn empty(region: usize, flags: u32) -> Allocation {
    Allocation {
        kind: AllocationKind::Locked,
        base: 0,
        host_base: 0,
        requested: AtomicU64::new(0),
        bytes: 0,
        region,
        registrations: Vec::new(),
        user_data: AtomicU64::new(0),
        granted: Mutex::default(),
        callbacks: Callbacks::default(),
        flags,
        locks: AtomicU64::new(1),
        executable: AtomicBool::new(false),
    }
}
