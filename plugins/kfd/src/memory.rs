//! Memory of the device: allocate, free, map.
//!
//! An allocation is an address range that the host reserved, a buffer of the kernel at that address, the host's
//! view of it where there is one, and the set of devices that see it. Every failure undoes what was done before it.

use crate::chunks::{Chunks, Kind};
use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine, MINOR_AVAILABLE};
use crate::range::Range;
use crate::uapi::memory as uapi;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, BankFlags, MemoryHandle};
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
    /// It is memory without an address.
    pub(crate) apart: Option<Apart>,
}

/// What is needed to put memory without an address somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// The driver's number of its device.
    pub(crate) node: u32,
    /// Its place in the render node's file, if the host may see it.
    pub(crate) mmap_offset: Option<u64>,
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
        let range = Range::reserve(&self.system, bytes, alignment, self.address_end)?;
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
            apart: None,
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
            apart: None,
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
    chunks: Chunks,
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
        if request.address != 0 || request.flags.contains(AllocFlags::ADDRESS_ONLY) {
            return Err(Error::Argument(
                "Allocations at a given address are not supported".into(),
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
        if request.flags.contains(AllocFlags::MEMORY_ONLY) {
            return self.allocate_apart(machine, request, flags, host);
        }
        let contiguous = request.flags.contains(AllocFlags::CONTIGUOUS);
        if !contiguous && Chunks::fits(request.bytes, request.alignment) {
            let kind = Kind {
                node: request.node,
                flags,
                host,
            };
            let chunk = self
                .chunks
                .allocate(machine, kind, request.bytes, request.alignment)?;
            return Ok(Allocation {
                handle: chunk.handle,
                device_address: chunk.address,
                host_address: if host { chunk.address } else { 0 },
                bytes: chunk.bytes,
            });
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

    /// Allocates memory without an address. The kernel gives it one in a range that nobody uses.
    fn allocate_apart(
        &self,
        machine: &Machine,
        request: &AllocRequest,
        flags: u32,
        host: bool,
    ) -> Result<Allocation> {
        let gpu_id = machine.gpu(request.node)?.candidate.gpu_id;
        let range = machine.reserve(request.bytes, request.alignment)?;
        let buffer = machine
            .kfd
            .allocate(gpu_id, range.address(), request.bytes, flags, 0)?;
        Ok(self.keep(Block {
            range,
            handle: buffer.handle,
            mapped: Vec::new(),
            host_visible: false,
            apart: Some(Apart {
                node: request.node,
                mmap_offset: host.then_some(buffer.mmap_offset),
            }),
        }))
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
    ///
    /// The second argument is the allocation's offset in the block.
    pub(crate) fn with<T>(
        &self,
        handle: MemoryHandle,
        act: impl FnOnce(&mut Block, u64) -> Result<T>,
    ) -> Result<T> {
        if Chunks::owns(handle) {
            return self.chunks.with(handle, act);
        }
        let mut block = self.take(handle)?;
        let outcome = act(&mut block, 0);
        self.blocks.lock().insert(handle.0, block);
        outcome
    }

    /// Frees an allocation.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says, and then the allocation is still there.
    pub fn free(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        if Chunks::owns(handle) {
            return self.chunks.free(machine, handle);
        }
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
        self.with(handle, |block, _| {
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
        if Chunks::owns(handle) {
            // Others may lie in the same block.
            return self.chunks.with(handle, |_, _| Ok(()));
        }
        self.with(handle, |block, _| {
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

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        self.chunks.close(machine);
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
