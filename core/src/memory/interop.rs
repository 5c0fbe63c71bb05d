//! Memory as a file descriptor: dma-bufs of allocations, and foreign buffers for devices.

use super::ipc::{descriptor_of, is_missing, name_of, Import};
use super::operations::out_of_memory;
use super::registry::{Allocation, AllocationKind, Origin};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use std::os::fd::OwnedFd;
use std::sync::Arc;

impl Runtime {
    /// The allocation that a whole range lies in.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when there is none; locked memory is the program's own.
    pub fn allocation_around(&self, address: u64, bytes: u64) -> Result<Arc<Allocation>> {
        self.memory
            .find(address)
            .filter(|a| a.kind != AllocationKind::Locked && a.has_room(address, bytes))
            .ok_or(Error::InvalidAllocation("the range is not inside one allocation"))
    }

    /// Makes a dma-buf of a range. Answers it and where the range begins in it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] unless the range lies in one allocation; [`Error::InvalidAgent`] when its owner
    /// cannot export; [`Error::OutOfResources`].
    pub fn export_dmabuf(&self, address: u64, bytes: u64) -> Result<(OwnedFd, u64)> {
        let allocation = self.allocation_around(address, bytes)?;
        let inside = address - allocation.base;
        match allocation.kind {
            AllocationKind::Device { driver, handle } | AllocationKind::Imported { driver, handle, .. } => {
                let (descriptor, offset) = self.export_handle(driver, handle)?;
                Ok((descriptor, offset + inside))
            }
            AllocationKind::Virtual => {
                let handle = self.retain_physical(address)?;
                let exported = self.export_physical(handle);
                self.let_go_of_physical(handle)?;
                Ok((exported?, inside))
            }
            AllocationKind::Host(_) | AllocationKind::Locked => Err(Error::InvalidAgent),
        }
    }

    /// Makes a dma-buf of a driver's memory.
    pub(super) fn export_handle(&self, driver: usize, handle: api::MemoryHandle) -> Result<(OwnedFd, u64)> {
        let object = &self.drivers[driver].object;
        match object.export_memory(handle, api::ExportKind::DMA_BUF) {
            Ok(shared) => Ok((descriptor_of(&shared)?, shared.offset)),
            Err(error) if is_missing(&error) => Err(Error::InvalidAgent),
            Err(error) => Err(out_of_memory(error)),
        }
    }

    /// Maps a foreign buffer for devices. Answers where it is and how large.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAgent`] for an agent that is no device; [`Error::InvalidArgument`] for a descriptor that is no
    /// buffer; [`Error::OutOfResources`].
    pub fn map_buffer(&self, descriptor: i32, bytes: u64, agents: &[usize]) -> Result<(u64, u64)> {
        let owner = agents.first().copied().ok_or(Error::InvalidAgent)?;
        if agents.iter().any(|&agent| self.agents[agent].is_cpu()) {
            return Err(Error::InvalidAgent);
        }
        let region = self.agents[owner]
            .regions
            .iter()
            .copied()
            .find(|&region| self.regions[region].can_allocate())
            .ok_or(Error::InvalidAgent)?;
        if !is_open(descriptor) {
            return Err(Error::InvalidArgument("not a file descriptor"));
        }
        let address = self.import(&Import {
            shared: name_of(descriptor, 0),
            bytes,
            requested: 0,
            region,
            agents,
            flags: 0,
            origin: Origin::Buffer,
        })?;
        let bytes = self.memory.find(address).map_or(0, |a| a.bytes);
        Ok((address, bytes))
    }

    /// Takes back one mapping of a foreign buffer; anything else is left alone.
    pub fn unmap_buffer(&self, address: u64) {
        self.let_go(address, Origin::Buffer);
    }
}

/// Whether a number is that of an open file.
pub(super) fn is_open(descriptor: i32) -> bool {
    // SAFETY: asks for flags and touches no memory.
    unsafe { libc::fcntl(descriptor, libc::F_GETFD) != -1 }
}
