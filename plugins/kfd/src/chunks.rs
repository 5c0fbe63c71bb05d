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
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::MemoryHandle;
use std::collections::BTreeMap;

/// Bytes of a shared buffer: a large page.
const SLAB_BYTES: u64 = 2 << 20;
/// Most bytes, and largest alignment, of an allocation that shares one.
const MOST_BYTES: u64 = 256 << 10;
/// Marks handles of such allocations. The rest of a handle is a place, and a number that says which of the allocations that
/// were there is meant: from the lowest bit on the unit in its buffer, the buffer, and that number.
const CHUNK: u64 = 1 << 62;
/// Bits of the unit, and of the buffer.
const BITS: (u32, u32) = (9, 20);
/// Bytes of a unit.
const UNIT: u64 = SLAB_BYTES >> BITS.0;

/// What allocations of one buffer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The allocation that begins at each unit: its number and its bytes, or zeros.
    begins: Vec<(u32, u64)>,
}

impl Slab {
    fn new(block: Block) -> Self {
        Self {
            block,
            holes: BTreeMap::from([(0, SLAB_BYTES)]),
            free: SLAB_BYTES,
            begins: vec![(0, 0); 1 << BITS.0],
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

/// What a handle says.
#[derive(Clone, Copy, Debug)]
struct Place {
    slab: usize,
    unit: usize,
    number: u32,
}

impl Place {
    const fn handle(self) -> MemoryHandle {
        let number = (self.number as u64) << (BITS.0 + BITS.1);
        MemoryHandle(CHUNK | number | (self.slab as u64) << BITS.0 | self.unit as u64)
    }

    fn of(handle: MemoryHandle) -> Self {
        let field = |from: u32, bits: u32| handle.0 >> from & ((1 << bits) - 1);
        let index = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Self {
            slab: index(field(BITS.0, BITS.1)),
            unit: index(field(0, BITS.0)),
            number: u32::try_from(field(BITS.0 + BITS.1, 32)).unwrap_or(0),
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    slabs: Vec<Option<Slab>>,
    /// Numbers of the buffers of each kind; the newest are tried first.
    kinds: Vec<(Kind, Vec<usize>)>,
    last: u32,
}

impl Table {
    fn of_kind(&mut self, kind: Kind) -> &mut Vec<usize> {
        let index = self.kinds.iter().position(|(of, _)| *of == kind);
        let index = index.unwrap_or_else(|| {
            self.kinds.push((kind, Vec::new()));
            self.kinds.len() - 1
        });
        &mut self.kinds[index].1
    }

    /// The buffer that an allocation is in, with the allocation's bytes.
    fn find(&mut self, place: Place) -> Option<(&mut Slab, u64)> {
        let slab = self.slabs.get_mut(place.slab)?.as_mut()?;
        let (number, bytes) = slab.begins[place.unit];
        (bytes != 0 && number == place.number).then_some((slab, bytes))
    }
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
        let table = &mut *table;
        let slabs = &mut table.slabs;
        let numbers = table.kinds.iter().find(|(of, _)| *of == kind);
        let found = numbers.and_then(|(_, numbers)| {
            numbers.iter().rev().find_map(|&number| {
                let offset = slabs[number].as_mut()?.take(bytes, alignment)?;
                Some((number, offset))
            })
        });
        let (slab, offset) = match found {
            Some(found) => found,
            None => (new_slab(machine, table, kind)?, 0),
        };
        let Some(chosen) = table.slabs[slab].as_mut() else {
            return Err(Error::Handle("a buffer"));
        };
        if found.is_none() {
            // A whole buffer has room for the largest part, at any alignment.
            let _ = chosen.take(bytes, alignment);
        }
        table.last = table.last.wrapping_add(1);
        let unit = usize::try_from(offset / UNIT).unwrap_or(0);
        chosen.begins[unit] = (table.last, bytes);
        let place = Place {
            slab,
            unit,
            number: table.last,
        };
        Ok(Chunk {
            handle: place.handle(),
            address: chosen.block.range.address() + offset,
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
        let table = &mut *table;
        let place = Place::of(handle);
        let (slab, bytes) = table.find(place).ok_or(Error::Handle("an allocation"))?;
        slab.begins[place.unit] = (0, 0);
        slab.give(place.unit as u64 * UNIT, bytes);
        if slab.is_empty() {
            drop_second(machine, table, place.slab);
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
        let place = Place::of(handle);
        let (slab, _) = table.find(place).ok_or(Error::Handle("an allocation"))?;
        act(&mut slab.block, place.unit as u64 * UNIT)
    }

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        let table = std::mem::take(&mut *self.table.lock());
        for slab in table.slabs.into_iter().flatten() {
            drop_at_last(machine, slab.block);
        }
    }
}

/// Makes a buffer; answers its number.
fn new_slab(machine: &Machine, table: &mut Table, kind: Kind) -> Result<usize> {
    let vacant = table.slabs.iter().position(Option::is_none);
    let number = vacant.unwrap_or(table.slabs.len());
    if number >= 1 << BITS.1 {
        return Err(Error::Argument(format!("{number} shared buffers are too many")));
    }
    let gpu = machine.gpu(kind.node)?;
    let request = BlockRequest {
        bytes: SLAB_BYTES,
        alignment: SLAB_BYTES,
        flags: kind.flags,
        host: kind.host,
    };
    let block = machine.new_block(gpu, request, &[gpu.candidate.gpu_id])?;
    if number == table.slabs.len() {
        table.slabs.push(None);
    }
    table.slabs[number] = Some(Slab::new(block));
    table.of_kind(kind).push(number);
    Ok(number)
}

/// Frees a buffer that has become empty if another one of its kind is.
fn drop_second(machine: &Machine, table: &mut Table, number: usize) {
    let slabs = &mut table.slabs;
    let Some((_, numbers)) = table
        .kinds
        .iter_mut()
        .find(|(_, numbers)| numbers.contains(&number))
    else {
        return;
    };
    let is_empty = |slab: &Option<Slab>| slab.as_ref().is_some_and(Slab::is_empty);
    let another = numbers
        .iter()
        .any(|&other| other != number && is_empty(&slabs[other]));
    if !another {
        return;
    }
    if let Some(slab) = slabs[number].take() {
        match machine.drop_block(slab.block) {
            Ok(()) => numbers.retain(|&other| other != number),
            // One that the kernel keeps serves further allocations.
            Err(kept) => slabs[number] = Some(Slab::new(kept.block)),
        }
    }
}
