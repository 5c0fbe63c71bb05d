//! What a kernel may access: the ranges mapped to the device, and each worker's view of them.
//!
//! Device addresses are host addresses. An access is allowed only inside a mapped range with the right
//! flag; the host may still have unmapped it, which the [guard](super::guard) notices. The table is
//! replaced as a whole when it changes. A worker keeps the table it saw last and a few ranges that it hit, as many as a kernel
//! usually has arguments, and compares one version number per access.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use hansa_plugin_api::sync::Mutex;

/// What the device may do with a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Loads.
    pub read: bool,
    /// Stores; atomics need both.
    pub write: bool,
    /// Instruction fetch.
    pub execute: bool,
}

impl Access {
    /// Loads only.
    pub const READ: Self = Self {
        read: true,
        write: false,
        execute: false,
    };
    /// Loads and stores.
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
        execute: false,
    };
    /// Everything.
    pub const ALL: Self = Self {
        read: true,
        write: true,
        execute: true,
    };
}

/// A range of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Address after the last.
    pub end: u64,
    /// What is allowed.
    pub access: Access,
}

/// Why a memory access was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryReason {
    /// The address is not mapped to the device.
    NotMapped,
    /// The mapping does not allow this kind of access.
    NotAllowed,
    /// The mapping is there, but the host has taken the memory away.
    HostUnmapped,
    /// An atomic operation on an address that is not a multiple of its size.
    Misaligned,
}

/// The ranges mapped to one device.
#[derive(Debug, Default)]
pub struct AddressSpace {
    /// Sorted, disjoint.
    table: Mutex<Arc<[Mapping]>>,
    /// Counts changes of the table.
    version: AtomicU64,
}

impl AddressSpace {
    /// A space with nothing mapped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maps `bytes` from `start`, replacing what was mapped there. Running kernels see it at once.
    pub fn map(&self, start: u64, bytes: u64, access: Access) {
        self.replace(start, bytes, Some(access));
    }

    /// Takes `bytes` from `start` away. Accesses that begin after this returns are refused.
    pub fn unmap(&self, start: u64, bytes: u64) {
        self.replace(start, bytes, None);
    }

    /// The mapping that contains `address`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Mapping> {
        find(&self.table.lock(), address)
    }

    /// Every mapping, in order.
    #[must_use]
    pub fn mappings(&self) -> Arc<[Mapping]> {
        Arc::clone(&self.table.lock())
    }

    fn replace(&self, start: u64, bytes: u64, access: Option<Access>) {
        let end = start.saturating_add(bytes);
        if start == end {
            return;
        }
        let mut table = self.table.lock();
        // What the range touches, and what lies before and after that.
        let first = table.partition_point(|mapping| mapping.end <= start);
        let last = table.partition_point(|mapping| mapping.start < end);
        let touched = &table[first..last];
        let head = touched.first().filter(|mapping| mapping.start < start);
        let tail = touched.last().filter(|mapping| mapping.end > end);
        let mut new = Vec::with_capacity(table.len() + 2);
        new.extend_from_slice(&table[..first]);
        let head = head.map(|mapping| Mapping {
            end: start,
            ..*mapping
        });
        let middle = access.map(|access| Mapping { start, end, access });
        let tail = tail.map(|mapping| Mapping {
            start: end,
            ..*mapping
        });
        for mapping in [head, middle, tail].into_iter().flatten() {
            add(&mut new, mapping);
        }
        let mut rest = table[last..].iter();
        if let Some(next) = rest.next() {
            add(&mut new, *next);
        }
        new.extend_from_slice(rest.as_slice());
        *table = new.into();
        // Released by the lock's release as well, but readers look at the version without the lock.
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// Adds a mapping at the end, as a part of the last one where that goes on alike: a program's many small allocations lie
/// side by side, and the table stays short.
fn add(table: &mut Vec<Mapping>, mapping: Mapping) {
    match table.last_mut() {
        Some(last) if last.end == mapping.start && last.access == mapping.access => last.end = mapping.end,
        _ => table.push(mapping),
    }
}

fn find(table: &[Mapping], address: u64) -> Option<Mapping> {
    let after = table.partition_point(|mapping| mapping.start <= address);
    let mapping = *table.get(after.checked_sub(1)?)?;
    (address < mapping.end).then_some(mapping)
}

const NOWHERE: Mapping = Mapping {
    start: 1,
    end: 0,
    access: Access::READ,
};

/// One worker's cached view of an [`AddressSpace`].
#[derive(Debug)]
pub(crate) struct View {
    space: Arc<AddressSpace>,
    version: u64,
    table: Arc<[Mapping]>,
    hits: [Mapping; HITS],
    /// Which of the hits goes next.
    oldest: usize,
}

/// Ranges that a view remembers.
const HITS: usize = 6;

impl Default for View {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl View {
    /// A view of `space`.
    pub(crate) fn new(space: Arc<AddressSpace>) -> Self {
        let mut view = Self {
            space,
            version: 0,
            table: Arc::from([]),
            hits: [NOWHERE; HITS],
            oldest: 0,
        };
        view.refresh();
        view
    }

    /// Whether this is a view of `space`.
    pub(crate) fn is_of(&self, space: &Arc<AddressSpace>) -> bool {
        Arc::ptr_eq(&self.space, space)
    }

    #[cold]
    fn refresh(&mut self) {
        let table = self.space.table.lock();
        self.version = self.space.version.load(Ordering::Acquire);
        self.table = Arc::clone(&table);
        self.hits = [NOWHERE; HITS];
    }

    /// Whether `bytes` from `start` may be accessed.
    #[inline(always)]
    pub(crate) fn check(&mut self, start: u64, bytes: u64, write: bool) -> Result<(), (u64, MemoryReason)> {
        if self.space.version.load(Ordering::Acquire) != self.version {
            self.refresh();
        }
        let end = start.wrapping_add(bytes);
        for hit in &self.hits {
            // `start < end` fails for ranges that wrap.
            if hit.start <= start
                && end <= hit.end
                && start < end
                && if write { hit.access.write } else { hit.access.read }
            {
                return Ok(());
            }
        }
        self.check_slowly(start, bytes, write)
    }

    #[cold]
    fn check_slowly(&mut self, start: u64, bytes: u64, write: bool) -> Result<(), (u64, MemoryReason)> {
        let end = start.checked_add(bytes).ok_or((start, MemoryReason::NotMapped))?;
        let mut at = start;
        while at < end {
            let mapping = find(&self.table, at).ok_or((at, MemoryReason::NotMapped))?;
            let allowed = if write {
                mapping.access.write
            } else {
                mapping.access.read
            };
            if !allowed {
                return Err((at, MemoryReason::NotAllowed));
            }
            self.hits[self.oldest] = mapping;
            self.oldest = (self.oldest + 1) % HITS;
            at = mapping.end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_and_unmapping_split_ranges() {
        let space = AddressSpace::new();
        space.map(0x1000, 0x3000, Access::READ_WRITE);
        space.map(0x2000, 0x1000, Access::READ);
        assert_eq!(space.mappings().len(), 3);
        assert_eq!(
            space.find(0x2fff).map(|mapping| mapping.access),
            Some(Access::READ)
        );
        space.unmap(0x1800, 0x1000);
        assert_eq!(space.find(0x1800), None);
        assert_eq!(space.find(0x17ff).map(|mapping| mapping.end), Some(0x1800));
        assert_eq!(space.find(0x2800).map(|mapping| mapping.start), Some(0x2800));
        assert_eq!(space.find(0x4000), None);
    }

    #[test]
    fn neighbours_that_are_alike_are_one() {
        let space = AddressSpace::new();
        for page in [1, 4, 2, 0, 3] {
            space.map(page << 12, 1 << 12, Access::READ_WRITE);
        }
        space.map(5 << 12, 1 << 12, Access::READ);
        let ends: Vec<u64> = space.mappings().iter().map(|mapping| mapping.end >> 12).collect();
        assert_eq!(ends, [5, 6]);
        space.unmap(2 << 12, 1 << 12);
        assert_eq!(space.mappings().len(), 3);
        assert_eq!(space.find(2 << 12), None);
        space.map(2 << 12, 1 << 12, Access::READ_WRITE);
        assert_eq!(space.mappings().len(), 2);
    }

    #[test]
    fn a_view_sees_changes_and_permissions() {
        let space = Arc::new(AddressSpace::new());
        let mut view = View::new(Arc::clone(&space));
        assert_eq!(
            view.check(0x1000, 4, false),
            Err((0x1000, MemoryReason::NotMapped))
        );
        space.map(0x1000, 0x1000, Access::READ);
        space.map(0x2000, 0x1000, Access::READ_WRITE);
        assert_eq!(view.check(0x1ff0, 0x20, false), Ok(()));
        assert_eq!(
            view.check(0x1ff0, 0x20, true),
            Err((0x1ff0, MemoryReason::NotAllowed))
        );
        assert_eq!(
            view.check(0x2ff0, 0x20, true),
            Err((0x3000, MemoryReason::NotMapped))
        );
        space.unmap(0x1000, 0x1000);
        assert_eq!(
            view.check(0x1000, 4, false),
            Err((0x1000, MemoryReason::NotMapped))
        );
        assert_eq!(
            view.check(u64::MAX - 1, 8, false),
            Err((u64::MAX - 1, MemoryReason::NotMapped))
        );
    }
}
