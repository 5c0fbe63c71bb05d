//! The buffers of a file: handles, the heap, and where the device sees what.
//!
//! Rules of `amdxdna_gem.c`: a heap has parts of 64 MiB; parts of it are cut at multiples of 32 KiB; without a mapped heap there are
//! none to be had; only host memory is mapped by offset, exported and imported.

use crate::memory::Memory;
use crate::spec::NpuSpec;
use hansa_plugin_api::sys::Errno;
use hansa_xdna::uapi::accel::bo;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a part of the heap, and what it is aligned to.
pub(crate) const HEAP_BYTES: u64 = 64 << 20;
/// Where the device sees the heap.
pub(crate) const HEAP_BASE: u64 = 0x0400_0000;
/// Where the device sees host memory if it has addresses of its own for it.
const OWN_BASE: u64 = 0x1_0000_0000;
/// What parts of the heap are aligned to.
const CUT_ALIGNMENT: u64 = 1 << 15;
/// An address or offset that there is not.
pub(crate) const NONE: u64 = u64::MAX;
const PAGE: u64 = 4096;

/// A buffer.
#[derive(Clone, Debug)]
pub(crate) struct Bo {
    /// Its kind.
    pub(crate) kind: u32,
    /// Bytes.
    pub(crate) bytes: u64,
    /// What stands behind it; that of the heap for a part of it.
    pub(crate) memory: Arc<Memory>,
    /// Where it starts in its memory.
    pub(crate) offset: u64,
    /// Where the process has it mapped.
    pub(crate) mapped: Option<u64>,
    /// Where the device sees it, if not at the process's address.
    own_address: Option<u64>,
    /// The part of the heap that it was cut from.
    part: usize,
}

/// All buffers of a file.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    all: BTreeMap<u32, Bo>,
    last: u32,
    /// Parts of the heap.
    heaps: Vec<u32>,
    /// Taken ranges of the heap, by start.
    taken: BTreeMap<u64, u64>,
    next_own: u64,
}

impl Buffers {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The buffer of a handle.
    pub(crate) fn get(&self, handle: u32) -> Option<&Bo> {
        self.all.get(&handle)
    }

    fn enter(&mut self, bo: Bo) -> u32 {
        self.last += 1;
        self.all.insert(self.last, bo);
        self.last
    }

    fn plain(&mut self, spec: &NpuSpec, kind: u32, memory: Memory) -> u32 {
        let bytes = memory.bytes;
        let own_address = spec.own_addresses.then(|| {
            self.next_own = self.next_own.max(OWN_BASE);
            let at = self.next_own;
            self.next_own += bytes.next_multiple_of(PAGE) + PAGE;
            at
        });
        self.enter(Bo {
            kind,
            bytes,
            memory: Arc::new(memory),
            offset: 0,
            mapped: None,
            own_address,
            part: 0,
        })
    }

    /// Makes a buffer.
    pub(crate) fn create(&mut self, spec: &NpuSpec, kind: u32, size: u64) -> Result<u32, Errno> {
        let whole = size.checked_next_multiple_of(PAGE).ok_or(Errno::INVAL)?;
        if size == 0 {
            return Err(Errno::INVAL);
        }
        match kind {
            bo::SHARE | bo::CMD => Ok(self.plain(spec, kind, Memory::new(whole)?)),
            bo::DEV_HEAP => {
                if size != HEAP_BYTES {
                    return Err(Errno::INVAL);
                }
                if self.heaps.len() >= spec.most_heaps {
                    return Err(if spec.most_heaps == 1 {
                        Errno::BUSY
                    } else {
                        Errno::NOSPC
                    });
                }
                let handle = self.plain(spec, kind, Memory::new(size)?);
                self.heaps.push(handle);
                Ok(handle)
            }
            bo::DEV => self.cut(whole),
            _ => Err(Errno::INVAL),
        }
    }

    /// Whether there is a heap, and the process has all of it mapped where it must be.
    pub(crate) fn heap_is_mapped(&self) -> Result<bool, Errno> {
        let first = self.heaps.first().ok_or(Errno::NOENT)?;
        let start = self.all[first].mapped;
        Ok(start.is_some_and(|start| {
            start.is_multiple_of(HEAP_BYTES)
                && self
                    .heaps
                    .iter()
                    .zip(0_u64..)
                    .all(|(handle, place)| self.all[handle].mapped == Some(start + place * HEAP_BYTES))
        }))
    }

    fn cut(&mut self, bytes: u64) -> Result<u32, Errno> {
        if !self.heap_is_mapped().unwrap_or(false) {
            return Err(Errno::AGAIN);
        }
        let at = self.place(bytes).ok_or(Errno::NOSPC)?;
        self.taken.insert(at, bytes);
        let part = usize::try_from(at / HEAP_BYTES).map_err(|_| Errno::INVAL)?;
        let memory = Arc::clone(&self.all[&self.heaps[part]].memory);
        Ok(self.enter(Bo {
            kind: bo::DEV,
            bytes,
            memory,
            offset: at % HEAP_BYTES,
            mapped: None,
            own_address: Some(HEAP_BASE + at),
            part,
        }))
    }

    /// Finds room in the heap. A buffer lies in one part.
    fn place(&self, bytes: u64) -> Option<u64> {
        (0..self.heaps.len() as u64).find_map(|part| {
            let (start, end) = (part * HEAP_BYTES, (part + 1) * HEAP_BYTES);
            let mut at = start;
            for (&taken, &length) in self.taken.range(start..end) {
                if at + bytes <= taken {
                    break;
                }
                at = (taken + length).next_multiple_of(CUT_ALIGNMENT);
            }
            (at + bytes <= end).then_some(at)
        })
    }

    /// Takes 4 KiB of the heap for each of a context's slots. Answers where.
    pub(crate) fn take_slots(&mut self, count: usize) -> Result<Vec<u64>, Errno> {
        let mut slots = Vec::new();
        for _ in 0..count {
            match self.place(PAGE) {
                Some(at) => {
                    self.taken.insert(at, PAGE);
                    slots.push(at);
                }
                None => {
                    self.give_slots(&slots);
                    return Err(Errno::NOSPC);
                }
            }
        }
        Ok(slots)
    }

    /// Gives such slots back.
    pub(crate) fn give_slots(&mut self, slots: &[u64]) {
        for at in slots {
            self.taken.remove(at);
        }
    }

    /// Takes memory of a file descriptor. One that is here already keeps its handle.
    pub(crate) fn import(&mut self, spec: &NpuSpec, fd: i32) -> Result<u32, Errno> {
        let memory = Memory::of_fd(fd)?;
        let identity = memory.identity();
        let known = self
            .all
            .iter()
            .find(|(_, bo)| bo.kind == bo::SHARE && bo.memory.identity() == identity);
        if let Some((&handle, _)) = known {
            return Ok(handle);
        }
        Ok(self.plain(spec, bo::SHARE, memory))
    }

    /// Gives a handle back. Answers whether there was one.
    pub(crate) fn close(&mut self, handle: u32) -> bool {
        let Some(bo) = self.all.remove(&handle) else {
            return false;
        };
        if bo.kind == bo::DEV {
            let at = bo.part as u64 * HEAP_BYTES + bo.offset;
            self.taken.remove(&at);
        }
        self.heaps.retain(|&heap| heap != handle);
        true
    }

    /// Notes where the process mapped a buffer. The first mapping counts.
    pub(crate) fn note_mapped(&mut self, handle: u32, address: u64) {
        if let Some(bo) = self.all.get_mut(&handle) {
            bo.mapped.get_or_insert(address);
        }
    }

    /// Notes that the process unmapped a range.
    pub(crate) fn note_unmapped(&mut self, address: u64, bytes: u64) {
        for bo in self.all.values_mut() {
            if bo
                .mapped
                .is_some_and(|at| at < address + bytes && address < at + bo.bytes)
            {
                bo.mapped = None;
            }
        }
    }

    /// Where the process sees a buffer.
    pub(crate) fn address(&self, bo: &Bo) -> u64 {
        if bo.kind != bo::DEV {
            return bo.mapped.unwrap_or(NONE);
        }
        let heap = self.heaps.get(bo.part).and_then(|heap| self.all[heap].mapped);
        heap.map_or(NONE, |at| at + bo.offset)
    }

    /// Where the device sees a buffer.
    pub(crate) fn device_address(bo: &Bo) -> u64 {
        bo.own_address.or(bo.mapped).unwrap_or(NONE)
    }

    /// What the device finds at an address: memory, and the place in it. Host memory only of `uses`, which a command named.
    pub(crate) fn at_device(&self, address: u64, bytes: u64, uses: &[u32]) -> Option<(Arc<Memory>, u64)> {
        self.all.iter().find_map(|(handle, bo)| {
            let seen = bo.kind == bo::DEV || (bo.kind == bo::SHARE && uses.contains(handle));
            let start = Self::device_address(bo);
            let inside = seen
                && start != NONE
                && address >= start
                && address
                    .checked_add(bytes)
                    .is_some_and(|end| end <= start + bo.bytes);
            inside.then(|| (Arc::clone(&bo.memory), bo.offset + (address - start)))
        })
    }
}
