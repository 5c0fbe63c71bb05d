//! Memory of the device: allocate, free, map.
//!
//! An allocation is an address range that the host reserved, a buffer of the kernel at that address, the host's
//! view of it where there is one, and the set of devices that see it. Every failure undoes what was done before it.

use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine, MINOR_AVAILABLE};
use crate::range::Range;
use crate::uapi::memory as uapi;
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, BankFlags, MemoryHandle};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Allocations of this size and more lie at multiples of it, so that the device's tables use large pages.
const LARGE: u64 = 2 << 20;
/// Alignment of private memory of waves.
const SCRATCH_ALIGNMENT: u64 = 64 << 10;

/// How the kernel takes host memory.
pub(crate) const fn user_flags(read_only: bool) -> u32 {
    let flags =
        uapi::ALLOC_USERPTR | uapi::ALLOC_EXECUTABLE | uapi::ALLOC_NO_SUBSTITUTE | uapi::ALLOC_COHERENT;
    if read_only {
        flags
    } else {
        flags | uapi::ALLOC_WRITABLE
    }
}

/// A buffer of the kernel with its addresses.
#[derive(Debug)]
pub struct Block {
    pub(crate) range: Range,
    pub(crate) handle: u64,
    /// Devices that see it, by the kernel's numbers.
    pub(crate) mapped: Vec<u32>,
    pub(crate) host_visible: bool,
}

/// How a block is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRequest {
    pub(crate) bytes: u64,
    pub(crate) alignment: u64,
    pub(crate) flags: u32,
    /// The host reads and writes it.
    pub(crate) host: bool,
}

/// A block that the kernel would not free.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) block: Block,
    pub(crate) error: Error,
}

impl Machine {
    /// A new range of addresses, in which devices see nothing.
    pub(crate) fn reserve(&self, bytes: u64, alignment: u64) -> Result<Range> {
        let range = Range::reserve(&self.system, bytes, alignment)?;
        self.host_memory.evict(self, range.address(), range.bytes());
        Ok(range)
    }

    /// Makes a buffer at a new address and lets devices see it.
    pub(crate) fn new_block(&self, gpu: &Gpu, request: BlockRequest, gpu_ids: &[u32]) -> Result<Block> {
        let range = self.reserve(request.bytes, request.alignment)?;
        let gpu_id = gpu.candidate.gpu_id;
        let buffer = self
            .kfd
            .allocate(gpu_id, range.address(), request.bytes, request.flags, 0)?;
        let block = Block {
            range,
            handle: buffer.handle,
            mapped: Vec::new(),
            host_visible: request.host,
        };
        let shown = if request.host {
            block
                .range
                .show("device memory", gpu.render.0.file(), buffer.mmap_offset, false)
        } else {
            Ok(())
        };
        self.finish_block(block, gpu_ids, shown)
    }

    /// Lets devices see memory of the host in a range of its own.
    pub(crate) fn user_block(
        &self,
        gpu: &Gpu,
        range: Range,
        user: u64,
        read_only: bool,
        gpu_ids: &[u32],
    ) -> Result<Block> {
        let flags = user_flags(read_only);
        let buffer = self
            .kfd
            .allocate(gpu.candidate.gpu_id, range.address(), range.bytes(), flags, user)?;
        let block = Block {
            range,
            handle: buffer.handle,
            mapped: Vec::new(),
            host_visible: false,
        };
        self.finish_block(block, gpu_ids, Ok(()))
    }

    /// Maps a block whose making went well so far, or frees it.
    pub(crate) fn finish_block(
        &self,
        mut block: Block,
        gpu_ids: &[u32],
        so_far: Result<()>,
    ) -> Result<Block> {
        match so_far.and_then(|()| self.kfd.map(block.handle, gpu_ids)) {
            Ok(()) => {
                block.mapped = gpu_ids.to_vec();
                Ok(block)
            }
            Err(error) => {
                // The first error is the one to tell; a buffer that cannot be freed is gone with the device.
                let _ = self.kfd.free(block.handle);
                Err(error)
            }
        }
    }

    /// Frees a block. When the kernel refuses, the block is still there, in the state that it has now.
    pub(crate) fn drop_block(&self, mut block: Block) -> std::result::Result<(), Box<Kept>> {
        if !block.mapped.is_empty() {
            if let Err(error) = self.kfd.unmap(block.handle, &block.mapped) {
                return Err(Box::new(Kept { block, error }));
            }
            block.mapped.clear();
        }
        match self.kfd.free(block.handle) {
            Ok(()) => Ok(()),
            Err(error) => Err(Box::new(Kept { block, error })),
        }
    }
}

/// The driver's allocations.
#[derive(Debug, Default)]
pub struct Memory {
    blocks: Mutex<HashMap<u64, Block>>,
    last: AtomicU64,
}

impl Memory {
    /// Allocates from a bank.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn allocate(&self, machine: &Machine, request: &AllocRequest) -> Result<Allocation> {
        let gpu = machine.gpu(request.node)?;
        let bank = machine.description.nodes[request.node as usize]
            .banks
            .get(request.bank as usize)
            .ok_or_else(|| Error::Argument(format!("Node {} has no bank {}", request.node, request.bank)))?;
        if request.address != 0
            || request
                .flags
                .intersects(AllocFlags::MEMORY_ONLY | AllocFlags::ADDRESS_ONLY)
        {
            return Err(Error::Argument(
                "Allocations at a given address, or without one, are not supported".into(),
            ));
        }
        let host = bank.flags.contains(BankFlags::HOST_VISIBLE);
        let mut flags = uapi::ALLOC_VRAM | uapi::ALLOC_NO_SUBSTITUTE | uapi::ALLOC_EXECUTABLE;
        for (on, bit) in [
            (
                !request.flags.contains(AllocFlags::READ_ONLY),
                uapi::ALLOC_WRITABLE,
            ),
            (host, uapi::ALLOC_PUBLIC),
            (
                request.flags.contains(AllocFlags::FINE_GRAIN) || bank.flags.contains(BankFlags::FINE_GRAIN),
                uapi::ALLOC_COHERENT,
            ),
            (request.flags.contains(AllocFlags::UNCACHED), uapi::ALLOC_UNCACHED),
            (
                request.flags.contains(AllocFlags::CONTIGUOUS),
                uapi::ALLOC_CONTIGUOUS,
            ),
        ] {
            if on {
                flags |= bit;
            }
        }
        let alignment = if request.bytes >= LARGE {
            request.alignment.max(LARGE)
        } else {
            request.alignment
        };
        let block = machine.new_block(
            gpu,
            BlockRequest {
                bytes: request.bytes,
                alignment,
                flags,
                host,
            },
            &[gpu.candidate.gpu_id],
        )?;
        Ok(self.keep(block))
    }

    /// Allocates private memory of waves.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn allocate_scratch(&self, machine: &Machine, node: u32, bytes: u64) -> Result<Allocation> {
        let gpu = machine.gpu(node)?;
        let page = machine.system.page_size() as u64;
        let block = machine.new_block(
            gpu,
            BlockRequest {
                bytes: bytes.next_multiple_of(page),
                alignment: SCRATCH_ALIGNMENT,
                flags: uapi::ALLOC_VRAM | uapi::ALLOC_WRITABLE,
                host: false,
            },
            &[gpu.candidate.gpu_id],
        )?;
        Ok(self.keep(block))
    }

    /// Lets devices see host memory at an address of its own, so that it does not matter what becomes of the host's.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn lock(
        &self,
        machine: &Machine,
        address: u64,
        bytes: u64,
        gpu_ids: &[u32],
        read_only: bool,
    ) -> Result<Allocation> {
        let range = machine.reserve(bytes, machine.system.page_size() as u64)?;
        let block = machine.user_block(machine.gpu(0)?, range, address, read_only, gpu_ids)?;
        Ok(Allocation {
            host_address: address,
            ..self.keep(block)
        })
    }

    /// Enters a block; answers what the runtime is told of it.
    pub(crate) fn keep(&self, block: Block) -> Allocation {
        let name = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let allocation = Allocation {
            handle: MemoryHandle(name),
            device_address: block.range.address(),
            host_address: if block.host_visible {
                block.range.address()
            } else {
                0
            },
            bytes: block.range.bytes(),
        };
        self.blocks.lock().insert(name, block);
        allocation
    }

    fn take(&self, handle: MemoryHandle) -> Result<Block> {
        self.blocks
            .lock()
            .remove(&handle.0)
            .ok_or(Error::Handle("an allocation"))
    }

    /// Does something with a block, which no one else can use meanwhile.
    pub(crate) fn with<T>(
        &self,
        handle: MemoryHandle,
        act: impl FnOnce(&mut Block) -> Result<T>,
    ) -> Result<T> {
        let mut block = self.take(handle)?;
        let outcome = act(&mut block);
        self.blocks.lock().insert(handle.0, block);
        outcome
    }

    /// Frees an allocation.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says, and then the allocation is still there.
    pub fn free(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        let block = self.take(handle)?;
        machine.drop_block(block).map_err(|kept| {
            self.blocks.lock().insert(handle.0, kept.block);
            kept.error
        })
    }

    /// Lets devices see an allocation.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says: then none of them sees it.
    pub fn map(&self, machine: &Machine, handle: MemoryHandle, gpu_ids: &[u32]) -> Result<()> {
        self.with(handle, |block| {
            let mut new: Vec<u32> = gpu_ids
                .iter()
                .copied()
                .filter(|id| !block.mapped.contains(id))
                .collect();
            new.dedup();
            if !new.is_empty() {
                machine.kfd.map(block.handle, &new)?;
                block.mapped.extend(new);
            }
            Ok(())
        })
    }

    /// Takes an allocation from the sight of devices.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn unmap(&self, machine: &Machine, handle: MemoryHandle, gpu_ids: &[u32]) -> Result<()> {
        self.with(handle, |block| {
            let old: Vec<u32> = block
                .mapped
                .iter()
                .copied()
                .filter(|id| gpu_ids.contains(id))
                .collect();
            if !old.is_empty() {
                machine.kfd.unmap(block.handle, &old)?;
                block.mapped.retain(|id| !old.contains(id));
            }
            Ok(())
        })
    }

    /// Whether a handle is one of these.
    #[must_use]
    pub fn has(&self, handle: MemoryHandle) -> bool {
        self.blocks.lock().contains_key(&handle.0)
    }

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        for (_, block) in self.blocks.lock().drain() {
            drop_at_last(machine, block);
        }
    }

    /// Bytes that can still be allocated.
    ///
    /// # Errors
    ///
    /// [`Error::TooOld`] where the kernel has no such call, and what it says.
    pub fn available(machine: &Machine, node: u32) -> Result<u64> {
        let gpu = machine.gpu(node)?;
        if machine.minor < MINOR_AVAILABLE {
            return Err(Error::TooOld {
                request: "AVAILABLE_MEMORY",
                needed: MINOR_AVAILABLE,
                has: machine.minor,
            });
        }
        let banks = &machine.description.nodes[node as usize].banks;
        let most = banks.iter().map(|bank| bank.bytes).max().unwrap_or(0);
        Ok(machine.kfd.available(gpu.candidate.gpu_id)?.min(most))
    }
}

/// Frees a block at the end of the driver, when nobody is left to tell an error to: a call that was refused once is
/// tried a second time.
pub(crate) fn drop_at_last(machine: &Machine, block: Block) {
    if let Err(kept) = machine.drop_block(block) {
        let _ = machine.drop_block(kept.block);
    }
}
