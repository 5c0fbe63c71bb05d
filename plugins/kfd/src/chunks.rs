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

/// Units of a buffer.
const UNITS: usize = 1 << BITS.0;

/// Which units of a buffer are taken, a bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Units {
    taken: [u64; UNITS / 64],
    free: usize,
}

/// The bits of a word that are in a range of all bits.
const fn bits_in(word: usize, start: usize, end: usize) -> u64 {
    let first = word * 64;
    let from = start.saturating_sub(first);
    let to = end.saturating_sub(first);
    if from >= 64 || to <= from {
        return 0;
    }
    let below = u64::MAX << from;
    if to >= 64 {
        below
    } else {
        below & ((1 << to) - 1)
    }
}

impl Units {
    const FREE: Self = Self {
        taken: [0; UNITS / 64],
        free: UNITS,
    };

    /// The first free unit from one on.
    fn first_free(&self, from: usize) -> Option<usize> {
        let mut hidden = bits_in(from / 64, from / 64 * 64, from);
        for word in from / 64..UNITS / 64 {
            let free = !(self.taken[word] | hidden);
            if free != 0 {
                return Some(word * 64 + free.trailing_zeros() as usize);
            }
            hidden = 0;
        }
        None
    }

    /// The last taken unit of a range.
    fn last_taken(&self, start: usize, end: usize) -> Option<usize> {
        (start / 64..end.div_ceil(64)).rev().find_map(|word| {
            let taken = self.taken[word] & bits_in(word, start, end);
            (taken != 0).then(|| word * 64 + 63 - taken.leading_zeros() as usize)
        })
    }

    /// Takes the first run of so many units that begins at a multiple of `alignment`, a power of two.
    fn take(&mut self, count: usize, alignment: usize) -> Option<usize> {
        if self.free < count {
            return None;
        }
        let mut from = 0;
        loop {
            let start = self.first_free(from)?.next_multiple_of(alignment);
            let end = start + count;
            if end > UNITS {
                return None;
            }
            let Some(last) = self.last_taken(start, end) else {
                for word in start / 64..end.div_ceil(64) {
                    self.taken[word] |= bits_in(word, start, end);
                }
                self.free -= count;
                return Some(start);
            };
            from = last + 1;
        }
    }

    /// Gives a run back that was taken.
    fn give(&mut self, start: usize, count: usize) {
        for word in start / 64..(start + count).div_ceil(64) {
            self.taken[word] &= !bits_in(word, start, start + count);
        }
        self.free += count;
    }
}

/// A shared buffer.
#[derive(Debug)]
struct Slab {
    block: Block,
    /// Index of its kind.
    kind: usize,
    units: Units,
    /// The allocation that begins at each unit: its number and its bytes, or zeros.
    begins: Vec<(u32, u64)>,
}

/// Units of so many bytes, which are not more than a buffer has.
fn units(bytes: u64) -> usize {
    usize::try_from(bytes.div_ceil(UNIT)).unwrap_or(usize::MAX)
}

impl Slab {
    fn new(block: Block, kind: usize) -> Self {
        Self {
            block,
            kind,
            units: Units::FREE,
            begins: vec![(0, 0); UNITS],
        }
    }

    /// Takes a part; answers the unit that it begins at.
    fn take(&mut self, bytes: u64, alignment: u64) -> Option<usize> {
        self.units.take(units(bytes), units(alignment))
    }

    const fn is_empty(&self) -> bool {
        self.units.free == UNITS
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
    fn index_of(&mut self, kind: Kind) -> usize {
        let index = self.kinds.iter().position(|(of, _)| *of == kind);
        index.unwrap_or_else(|| {
            self.kinds.push((kind, Vec::new()));
            self.kinds.len() - 1
        })
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
        let kind = table.index_of(kind);
        let slabs = &mut table.slabs;
        let found = table.kinds[kind].1.iter().rev().find_map(|&number| {
            let unit = slabs[number].as_mut()?.take(bytes, alignment)?;
            Some((number, unit))
        });
        let (slab, unit) = match found {
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
        chosen.begins[unit] = (table.last, bytes);
        let place = Place {
            slab,
            unit,
            number: table.last,
        };
        Ok(Chunk {
            handle: place.handle(),
            address: chosen.block.range.address() + unit as u64 * UNIT,
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
        slab.units.give(place.unit, units(bytes));
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

/// Makes a buffer of the kind with an index; answers its number.
fn new_slab(machine: &Machine, table: &mut Table, index: usize) -> Result<usize> {
    let vacant = table.slabs.iter().position(Option::is_none);
    let number = vacant.unwrap_or(table.slabs.len());
    if number >= 1 << BITS.1 {
        return Err(Error::Argument(format!("{number} shared buffers are too many")));
    }
    let (kind, numbers) = &mut table.kinds[index];
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
    table.slabs[number] = Some(Slab::new(block, index));
    numbers.push(number);
    Ok(number)
}

/// Frees a buffer that has become empty if another one of its kind is.
fn drop_second(machine: &Machine, table: &mut Table, number: usize) {
    let slabs = &mut table.slabs;
    let Some(kind) = slabs[number].as_ref().map(|slab| slab.kind) else {
        return;
    };
    let numbers = &mut table.kinds[kind].1;
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
            Err(kept) => slabs[number] = Some(Slab::new(kept.block, kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random runs come and go; every one is where a list of all units says that the first fitting run is.
    #[test]
    fn the_first_run_that_fits_is_taken() {
        let mut units = Units::FREE;
        let mut list = [false; UNITS];
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let mut random = 0x9e37_79b9_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(random >> 33).unwrap_or(0) % below
        };
        let (mut taken, mut refused) = (0, 0);
        for turn in 0..20_000 {
            if turn % 5 < 2 && !runs.is_empty() {
                let (start, count) = runs.swap_remove(next(runs.len()));
                units.give(start, count);
                list[start..start + count].fill(false);
                continue;
            }
            let (count, alignment) = (1 + next(64) % (1 + next(64)), 1 << next(7));
            let fits = |start: &usize| {
                *start + count <= UNITS && list[*start..*start + count].iter().all(|taken| !taken)
            };
            let expected = (0..UNITS).step_by(alignment).find(fits);
            assert_eq!(units.take(count, alignment), expected, "{count} at {alignment}");
            match expected {
                Some(start) => {
                    list[start..start + count].fill(true);
                    runs.push((start, count));
                    taken += 1;
                }
                None => refused += 1,
            }
            assert_eq!(units.free, list.iter().filter(|taken| !**taken).count());
        }
        assert!(taken > 1000 && refused > 100, "{taken} {refused}");
        for (start, count) in runs {
            units.give(start, count);
        }
        assert_eq!(units, Units::FREE);
    }

    #[test]
    fn a_whole_buffer_is_one_run() {
        let mut units = Units::FREE;
        assert_eq!(units.take(UNITS + 1, 1), None);
        assert_eq!(units.take(UNITS, 1), Some(0));
        assert_eq!(units.take(1, 1), None);
        units.give(0, UNITS);
        assert_eq!(units, Units::FREE);
    }
}
