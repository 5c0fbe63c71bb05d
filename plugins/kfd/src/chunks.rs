//! Small allocations: parts of larger buffers of the kernel.
//!
//! A buffer costs the kernel a call to make, one to map for each device, and a mapping of the host, and takes whole large
//! pages of the device. So allocations far below a large page share one. What is done to one of them, such as letting a
//! further device see it, is done to the whole buffer; it is never undone while parts of the buffer are in use, because
//! others may need it.
//!
//! A buffer without users is kept for the next ones; a second one of the same kind goes back to the kernel.

use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::memory::{drop_at_last, Block, BlockRequest};
use hansa_plugin_api::MemoryHandle;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

/// Bytes of a shared buffer: a large page.
const SLAB_BYTES: u64 = 2 << 20;
/// Most bytes, and largest alignment, of an allocation that shares one.
const MOST_BYTES: u64 = 256 << 10;
/// Marks handles of such allocations.
const CHUNK: u64 = 1 << 62;

/// What allocations of one buffer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// The driver's number of the node.
    pub(crate) node: u32,
    /// Flags for the kernel.
    pub(crate) flags: u32,
    /// The host reads and writes it.
    pub(crate) host: bool,
}

/// A shared buffer.
#[derive(Debug)]
struct Slab {
    block: Block,
    /// Holes, by offset: bytes.
    holes: BTreeMap<u64, u64>,
    /// Bytes of all holes.
    free: u64,
}

impl Slab {
    fn new(block: Block) -> Self {
        Self {
            block,
            holes: BTreeMap::from([(0, SLAB_BYTES)]),
            free: SLAB_BYTES,
        }
    }

    /// Takes a part; answers its offset.
    fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        if self.free < bytes {
            return None;
        }
        let (hole, room, at) = self.holes.iter().find_map(|(&hole, &room)| {
            let at = hole.next_multiple_of(alignment);
            (at + bytes <= hole + room).then_some((hole, room, at))
        })?;
        self.holes.remove(&hole);
        if at > hole {
            self.holes.insert(hole, at - hole);
        }
        let (end, hole_end) = (at + bytes, hole + room);
        if end < hole_end {
            self.holes.insert(end, hole_end - end);
        }
        self.free -= bytes;
        Some(at)
    }

    /// Gives a part back.
    fn give(&mut self, offset: u64, bytes: u64) {
        self.free += bytes;
        let (mut start, mut end) = (offset, offset + bytes);
        if let Some((&before, &room)) = self.holes.range(..start).next_back() {
            if before + room == start {
                self.holes.remove(&before);
                start = before;
            }
        }
        if let Some(room) = self.holes.remove(&end) {
            end += room;
        }
        self.holes.insert(start, end - start);
    }

    const fn is_empty(&self) -> bool {
        self.free == SLAB_BYTES
    }
}

/// A small allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) handle: MemoryHandle,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    kind: Kind,
    slab: u64,
    offset: u64,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Table {
    /// By kind, and a number that grows: the newest are tried first.
    slabs: HashMap<Kind, BTreeMap<u64, Slab>>,
    chunks: HashMap<u64, Place>,
    last: u64,
}

/// Small allocations of the driver.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    table: Mutex<Table>,
}

impl Chunks {
    /// Whether an allocation shares a buffer.
    pub(crate) const fn fits(bytes: u64, alignment: u64) -> bool {
        bytes != 0 && bytes <= MOST_BYTES && alignment <= MOST_BYTES
    }

    /// Whether a handle is one of these.
    pub(crate) const fn owns(handle: MemoryHandle) -> bool {
        handle.0 & CHUNK != 0
    }

    /// Allocates.
    ///
    /// # Errors
    ///
    /// What the kernel says of a new buffer.
    pub(crate) fn allocate(
        &self,
        machine: &Machine,
        kind: Kind,
        bytes: u64,
        alignment: u64,
    ) -> Result<Chunk> {
        let page = machine.system.page_size() as u64;
        let (bytes, alignment) = (bytes.next_multiple_of(page), alignment.max(page));
        let mut table = self.table.lock();
        let found = table.slabs.get_mut(&kind).and_then(|slabs| {
            slabs.iter_mut().rev().find_map(|(&number, slab)| {
                let offset = slab.take(bytes, alignment)?;
                Some((number, offset, slab.block.range.address()))
            })
        });
        table.last += 1;
        let name = table.last;
        let (slab, offset, base) = match found {
            Some(found) => found,
            None => {
                let gpu = machine.gpu(kind.node)?;
                let request = BlockRequest {
                    bytes: SLAB_BYTES,
                    alignment: SLAB_BYTES,
                    flags: kind.flags,
                    host: kind.host,
                };
                let block = machine.new_block(gpu, request, &[gpu.candidate.gpu_id])?;
                let mut slab = Slab::new(block);
                let offset = slab.take(bytes, alignment).unwrap_or(0);
                let base = slab.block.range.address();
                table.slabs.entry(kind).or_default().insert(name, slab);
                (name, offset, base)
            }
        };
        let place = Place {
            kind,
            slab,
            offset,
            bytes,
        };
        table.chunks.insert(name, place);
        Ok(Chunk {
            handle: MemoryHandle(name | CHUNK),
            address: base + offset,
            bytes,
        })
    }

    /// Frees an allocation.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`].
    pub(crate) fn free(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        let mut table = self.table.lock();
        let place = table
            .chunks
            .remove(&(handle.0 & !CHUNK))
            .ok_or(Error::Handle("an allocation"))?;
        let Some(slabs) = table.slabs.get_mut(&place.kind) else {
            return Ok(());
        };
        let Some(slab) = slabs.get_mut(&place.slab) else {
            return Ok(());
        };
        slab.give(place.offset, place.bytes);
        if slab.is_empty() && slabs.values().filter(|slab| slab.is_empty()).count() > 1 {
            if let Some(slab) = slabs.remove(&place.slab) {
                // One that the kernel keeps serves further allocations.
                if let Err(kept) = machine.drop_block(slab.block) {
                    slabs.insert(place.slab, Slab::new(kept.block));
                }
            }
        }
        Ok(())
    }

    /// Does something with the buffer of an allocation, which lies in it at an offset.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what is done says.
    pub(crate) fn with<T>(
        &self,
        handle: MemoryHandle,
        act: impl FnOnce(&mut Block, u64) -> Result<T>,
    ) -> Result<T> {
        let mut table = self.table.lock();
        let place = table.chunks.get(&(handle.0 & !CHUNK)).copied();
        let place = place.ok_or(Error::Handle("an allocation"))?;
        let slab = table
            .slabs
            .get_mut(&place.kind)
            .and_then(|slabs| slabs.get_mut(&place.slab))
            .ok_or(Error::Handle("an allocation"))?;
        act(&mut slab.block, place.offset)
    }

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        let table = std::mem::take(&mut *self.table.lock());
        for slab in table.slabs.into_values().flat_map(BTreeMap::into_values) {
            drop_at_last(machine, slab.block);
        }
    }
}
