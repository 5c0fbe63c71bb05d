//! Memory and addresses had apart (`hsa_amd_vmem_*`).
//!
//! The compute driver's own buffers have one address for life. The graphics driver maps any part of a buffer at any
//! address of the same address space, for reading, writing or execution (`DRM_AMDGPU_GEM_VA`), so memory without an
//! address is exported by the one as a dma-buf file and taken by the other, once for each device that sees it. The
//! host maps it as any buffer, at its offset in the render node's file.

use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::memory::Apart;
use crate::range::pointer;
use crate::uapi::drm;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{File, MapAccess};
use hansa_plugin_api::MemoryHandle;
use std::collections::HashMap;

/// Interface since which memory that was taken back in the same process can be mapped beside the original.
pub(crate) const MINOR_PLACED: u32 = 15;

/// Bits of an access.
mod access {
    pub(super) const READ: u32 = 1;
    pub(super) const WRITE: u32 = 2;
    pub(super) const EXECUTE: u32 = 4;
}

/// A part of a buffer at an address, for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placed {
    /// The driver's number of the device.
    node: u32,
    /// The graphics driver's name of the buffer.
    gem: u32,
    offset: u64,
    bytes: u64,
}

/// By memory and address.
type Table = HashMap<(u64, u64), Vec<Placed>>;

/// What is where.
#[derive(Debug, Default)]
pub struct Placements {
    table: Mutex<Table>,
}

impl Placements {
    /// Takes everything away.
    pub(crate) fn close(&self, machine: &Machine) {
        let mut table = self.table.lock();
        let all: Vec<_> = table.drain().collect();
        for ((_, address), placed) in all {
            for one in placed {
                // Nobody is left to tell an error to.
                let _ = machine.take_away(&table, address, one);
            }
        }
    }
}

fn device_flags(access: u32) -> u32 {
    [
        (access::READ, drm::VA_READABLE),
        (access::WRITE, drm::VA_WRITEABLE),
        (access::EXECUTE, drm::VA_EXECUTABLE),
    ]
    .iter()
    .filter(|(bit, _)| access & bit != 0)
    .fold(0, |flags, (_, flag)| flags | flag)
}

impl Machine {
    /// Puts a part of memory without an address at one, for devices or, when there is none, for the host.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a part that is none; what the kernels say, and then no device of the list sees it.
    pub fn place(
        &self,
        handle: MemoryHandle,
        offset: u64,
        address: u64,
        bytes: u64,
        nodes: &[u32],
        access: u32,
    ) -> Result<()> {
        let (memory, apart) = self.memory.with(handle, |block, _| {
            if offset
                .checked_add(bytes)
                .is_none_or(|end| end > block.range.bytes())
            {
                return Err(Error::Argument(format!(
                    "{bytes:#x} bytes from {offset:#x} on are no part of {:#x}",
                    block.range.bytes()
                )));
            }
            let apart = block.apart.ok_or(Error::Handle("memory without an address"))?;
            Ok((block.handle, apart))
        })?;
        if nodes.is_empty() {
            return self.show_host(apart, offset, address, bytes, access);
        }
        let mut table = self.placements.table.lock();
        let file = File(self.kfd.export_dmabuf(memory, crate::sharing::FILE_FLAGS)?);
        let mut placed = Vec::new();
        let outcome = nodes.iter().try_for_each(|&node| {
            let render = &self.gpu(node)?.render;
            let gem = render.take_dmabuf(file)?;
            let one = Placed {
                node,
                gem,
                offset,
                bytes,
            };
            placed.push(one);
            render.map_at(gem, device_flags(access), address, offset, bytes)
        });
        self.system.close(file);
        if let Err(error) = outcome {
            // What the last one of the list did not get mapped it has not to unmap.
            if let Some(one) = placed.pop() {
                let _ = self.close_last(&table, one);
            }
            for one in placed {
                // The first error is the one to tell.
                let _ = self.take_away(&table, address, one);
            }
            return Err(error);
        }
        table.entry((handle.0, address)).or_default().extend(placed);
        Ok(())
    }

    fn show_host(&self, apart: Apart, offset: u64, address: u64, bytes: u64, access: u32) -> Result<()> {
        let mmap_offset = apart
            .mmap_offset
            .ok_or_else(|| Error::Argument("The host does not see this memory".into()))?;
        let wanted = MapAccess {
            read: access & access::READ != 0,
            write: access & access::WRITE != 0,
            execute: false,
        };
        let file = self.gpu(apart.node)?.render.0.file();
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the runtime reserved the range, and says that nothing uses it.
        let mapped = unsafe {
            self.system
                .mmap(pointer(address), length, wanted, Some(file), mmap_offset + offset)
        };
        mapped.map(drop).map_err(|errno| Error::Map {
            what: "device memory",
            bytes,
            errno,
        })
    }

    /// Where the memory of a dma-buf file is in a render node's file, if it is there.
    pub(crate) fn place_of_dmabuf(&self, node: u32, file: u32) -> Option<u64> {
        let table = self.placements.table.lock();
        let render = &self.gpu(node).ok()?.render;
        let gem = render.take_dmabuf(File(i32::try_from(file).ok()?)).ok()?;
        let place = render.place_of(gem).ok();
        let one = Placed {
            node,
            gem,
            offset: 0,
            bytes: 0,
        };
        // A name that cannot be forgotten is forgotten with the file.
        let _ = self.close_last(&table, one);
        place
    }

    fn take_away(&self, table: &Table, address: u64, one: Placed) -> Result<()> {
        let render = &self.gpu(one.node)?.render;
        render.unmap_at(one.gem, address, one.offset, one.bytes)?;
        self.close_last(table, one)
    }

    /// Forgets a name that nothing in the table uses any more: one memory has one name on a device, however often it was
    /// taken.
    fn close_last(&self, table: &Table, one: Placed) -> Result<()> {
        let used = |other: &Placed| (other.node, other.gem) == (one.node, one.gem);
        if table.values().flatten().any(used) {
            return Ok(());
        }
        self.gpu(one.node)?.render.close_gem(one.gem)
    }

    /// Takes memory from an address, for all devices and the host.
    ///
    /// # Errors
    ///
    /// What the kernel says first; what could not be taken away is tried again with the next call.
    pub fn displace(&self, handle: MemoryHandle, address: u64, bytes: u64) -> Result<()> {
        let key = (handle.0, address);
        let mut table = self.placements.table.lock();
        let placed = table.remove(&key).unwrap_or_default();
        let mut kept = Vec::new();
        let mut outcome = Ok(());
        for one in placed {
            if let Err(error) = self.take_away(&table, address, one) {
                kept.push(one);
                outcome = outcome.and(Err(error));
            }
        }
        if !kept.is_empty() {
            table.insert(key, kept);
        }
        self.range_again(address, bytes);
        outcome
    }

    /// Makes a range reserved and empty again.
    fn range_again(&self, address: u64, bytes: u64) {
        let nothing = MapAccess {
            read: false,
            write: false,
            execute: false,
        };
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        // SAFETY: the runtime reserved the range, and says that nothing uses it any more. When the system refuses, the
        // host goes on to see the memory until the runtime covers it.
        let _ = unsafe { self.system.mmap(pointer(address), length, nothing, None, 0) };
    }
}
