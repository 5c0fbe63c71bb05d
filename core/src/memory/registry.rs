//! The book of allocations: one ordered map from addresses, for ownership, access and freeing, and an index of it for
//! pointer information.

use super::callbacks::Callbacks;
use super::host::Pages;
use super::index::{Facts, Index, Writer};
use super::operations::flag;
use super::overlap::Overlapping;
use super::region::Region;
use super::spares::Spares;
use hansa_plugin_api::sync::{Mutex, RwLock};
use hansa_plugin_api::MemoryHandle;
use std::collections::btree_map::{Entry, OccupiedEntry};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    /// Host pages of a system region.
    Host(Pages),
    /// Memory of a driver's bank.
    Device {
        /// Index of the driver.
        driver: usize,
        /// The driver's name for it.
        handle: MemoryHandle,
    },
    /// The program's own host memory, locked for devices.
    Locked,
    /// Memory that somebody else made.
    Imported {
        /// Index of the driver.
        driver: usize,
        /// The driver's name for it.
        handle: MemoryHandle,
        /// Who made it.
        origin: Origin,
    },
    /// Memory mapped at reserved addresses.
    Virtual,
}

/// Who made memory that was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Another process that uses the runtime.
    Process,
    /// Another interface: a foreign buffer.
    Buffer,
}

impl AllocationKind {
    /// Whether the program allocated it and frees it.
    #[must_use]
    pub const fn is_allocated(&self) -> bool {
        matches!(self, Self::Host(_) | Self::Device { .. })
    }

    /// `hsa_amd_pointer_type_t`.
    const fn pointer_type(&self) -> u8 {
        match self {
            Self::Host(_) | Self::Device { .. } => 1,
            Self::Locked => 2,
            Self::Imported { origin, .. } => match origin {
                Origin::Buffer => 3,
                Origin::Process => 4,
            },
            Self::Virtual => 6,
        }
    }
}

/// One allocation.
#[derive(Debug)]
pub struct Allocation {
    /// What it is.
    pub kind: AllocationKind,
    /// Where devices see it; the key of the map.
    pub base: u64,
    /// Where the host sees it, or 0.
    pub host_base: u64,
    /// Bytes the program asked for.
    pub requested: AtomicU64,
    /// Bytes there are.
    pub bytes: u64,
    /// Index of the region it is from.
    pub region: usize,
    /// Registrations with drivers: index and name.
    pub registrations: Vec<(usize, MemoryHandle)>,
    /// The program's word (`hsa_amd_pointer_info_set_userdata`).
    pub user_data: AtomicU64,
    /// Agents that were given access beyond the default, by index. Many allocations share the list of all devices.
    pub granted: Mutex<Arc<[usize]>>,
    /// Called when it is freed.
    pub callbacks: Callbacks,
    /// Flags of the allocation call.
    pub flags: u32,
    /// Times it was locked or imported, for such memory.
    pub locks: AtomicU64,
    /// Whether code was put there.
    pub executable: AtomicBool,
}

impl Allocation {
    /// Whether an address of the devices lies inside.
    #[must_use]
    pub const fn contains(&self, address: u64) -> bool {
        address >= self.base && address - self.base < self.bytes
    }

    /// How far inside an address lies, be it one of the devices or, for locked memory, one of the host.
    #[must_use]
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        let from = |start: u64| address.checked_sub(start).filter(|&offset| offset < self.bytes);
        let host = || (self.kind == AllocationKind::Locked).then_some(self.host_base);
        from(self.base).or_else(|| from(host()?))
    }

    /// What programs are told of it, which is from the region of a home.
    fn facts(&self, home: Home) -> Facts {
        Facts {
            base: self.base,
            host_base: self.host_base,
            bytes: self.bytes,
            user_data: self.user_data.load(Ordering::Relaxed),
            kind: self.kind.pointer_type(),
            owner: home.agent,
            global_flags: home.flags,
            flags: made_with(self, home),
            registered: self.kind.is_allocated() || !self.registrations.is_empty(),
        }
    }

    /// Whether a range that begins at an address inside does so up to its end.
    #[must_use]
    pub fn has_room(&self, address: u64, bytes: u64) -> bool {
        self.offset_of(address)
            .is_some_and(|offset| bytes <= self.bytes - offset)
    }
}

/// All allocations of a runtime.
#[derive(Debug)]
pub struct Registry {
    book: RwLock<Book>,
    /// What is in the book.
    index: &'static Index,
    /// By index of the region.
    homes: Vec<Home>,
    /// How many allocations are kept, for who need not wait for the book.
    spares: AtomicUsize,
    locked: RwLock<Locked>,
}

#[derive(Debug, Default)]
struct Book {
    by_base: BTreeMap<u64, Arc<Allocation>>,
    writer: Writer,
    spares: Spares,
}

/// What became of an allocation that was freed.
#[derive(Debug)]
pub(super) enum Freed {
    /// It is kept.
    Kept,
    /// It must be released.
    Gone(Arc<Allocation>),
}

impl Book {
    /// The allocation that starts exactly at an address, if it is one that is wanted.
    fn entry(
        &mut self,
        base: u64,
        wanted: impl FnOnce(&Allocation) -> bool,
    ) -> Option<OccupiedEntry<'_, u64, Arc<Allocation>>> {
        match self.by_base.entry(base) {
            Entry::Occupied(entry) if wanted(entry.get()) => Some(entry),
            _ => None,
        }
    }

    /// Takes out everything.
    fn clear(&mut self) -> BTreeMap<u64, Arc<Allocation>> {
        let all = std::mem::take(&mut self.by_base);
        all.keys().for_each(|base| self.writer.remove(*base));
        all
    }
}

/// What programs are told of the region that memory is from.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    /// Index of the agent.
    agent: u32,
    /// Its flags.
    flags: u32,
    is_host: bool,
}

/// What an allocation was made with, as bits of `hsa_amd_pointer_info_alloc_flag_t`.
const fn made_with(allocation: &Allocation, home: Home) -> u32 {
    const EXECUTABLE: u32 = 1;
    const CONTIGUOUS: u32 = 2;
    const NONPAGED: u32 = 4;
    const HOST_ACCESS: u32 = 16;
    let mut bits = 0;
    if allocation.flags & flag::EXECUTABLE != 0 {
        bits |= EXECUTABLE;
    }
    if allocation.flags & flag::CONTIGUOUS != 0 {
        bits |= CONTIGUOUS;
    }
    if !home.is_host {
        bits |= NONPAGED;
    }
    if allocation.host_base != 0 {
        bits |= HOST_ACCESS;
    }
    bits
}

/// Locked host memory, which may lie inside other allocations.
#[derive(Debug, Default)]
struct Locked {
    /// By where the host sees it.
    by_host: Overlapping,
    /// By where devices see it, if that is elsewhere.
    by_device: Overlapping,
}

impl Locked {
    fn around(&self, address: u64) -> Option<&Arc<Allocation>> {
        self.by_host
            .around(address)
            .or_else(|| self.by_device.around(address))
    }
}

fn covering(map: &BTreeMap<u64, Arc<Allocation>>, address: u64) -> Option<Arc<Allocation>> {
    let (_, allocation) = map.range(..=address).next_back()?;
    allocation.contains(address).then(|| Arc::clone(allocation))
}

impl Registry {
    /// An empty book for allocations from some regions.
    #[must_use]
    pub fn new(regions: &[Region]) -> Self {
        let home = |region: &Region| Home {
            // There are never as many agents as that.
            agent: u32::try_from(region.agent).unwrap_or(u32::MAX),
            flags: region.flags.bits(),
            is_host: region.is_host(),
        };
        let book = Book::default();
        Self {
            index: book.writer.index(),
            book: RwLock::new(book),
            homes: regions.iter().map(home).collect(),
            spares: AtomicUsize::new(0),
            locked: RwLock::default(),
        }
    }

    /// Makes it the one that [`known`](super::index::known) asks.
    pub(crate) fn show(&self) {
        self.book.read().writer.show();
    }

    fn facts_of(&self, allocation: &Allocation) -> Facts {
        allocation.facts(self.homes.get(allocation.region).copied().unwrap_or_default())
    }

    /// Enters an allocation.
    pub fn insert(&self, allocation: Arc<Allocation>) {
        if allocation.kind != AllocationKind::Locked {
            let facts = self.facts_of(&allocation);
            let mut book = self.book.write();
            book.writer.insert(&facts);
            book.by_base.insert(allocation.base, allocation);
            return;
        }
        let mut locked = self.locked.write();
        if allocation.base != allocation.host_base {
            locked.by_device.insert(allocation.base, Arc::clone(&allocation));
        }
        locked.by_host.insert(allocation.host_base, allocation);
    }

    /// The allocation that an address lies in; locked memory when it is in no other.
    pub fn find(&self, address: u64) -> Option<Arc<Allocation>> {
        covering(&self.book.read().by_base, address).or_else(|| self.find_locked(address))
    }

    /// Whether a part of a range lies in an allocation; locked memory is the program's own and none.
    pub fn has_any_in(&self, start: u64, end: u64) -> bool {
        let by_base = &self.book.read().by_base;
        covering(by_base, start).is_some() || by_base.range(start..end).next().is_some()
    }

    /// What programs are told of the allocation that an address lies in, as [`Registry::find`] has it. Takes no lock for
    /// what is not locked memory.
    pub fn facts(&self, address: u64) -> Option<Facts> {
        let indexed = self.index.find(address).flatten();
        indexed.or_else(|| Some(self.facts_of(&*self.find(address)?)))
    }

    /// Keeps the program's word beside the allocation that an address lies in. Answers whether there is one.
    pub fn set_user_data(&self, address: u64, data: u64) -> bool {
        let mut book = self.book.write();
        let found = covering(&book.by_base, address);
        if let Some(allocation) = &found {
            allocation.user_data.store(data, Ordering::Relaxed);
            book.writer.insert(&self.facts_of(allocation));
        }
        drop(book);
        let locked = || {
            self.find_locked(address)
                .map(|one| one.user_data.store(data, Ordering::Relaxed))
        };
        found.is_some() || locked().is_some()
    }

    /// The locked memory that an address lies in, the host's or the devices'.
    pub fn find_locked(&self, address: u64) -> Option<Arc<Allocation>> {
        self.locked.read().around(address).cloned()
    }

    /// Locked memory that starts exactly at an address, the host's or the devices', and is what is wanted; the last one
    /// that was locked comes first.
    pub fn locked_at(&self, address: u64, wanted: impl Fn(&Allocation) -> bool) -> Option<Arc<Allocation>> {
        let locked = self.locked.read();
        let mut all = locked
            .by_host
            .starting_at(address)
            .chain(locked.by_device.starting_at(address));
        all.find(|allocation| wanted(allocation)).cloned()
    }

    /// Takes out the allocation that starts exactly at an address, if it is one that is wanted.
    pub fn remove_if(&self, base: u64, wanted: impl FnOnce(&Allocation) -> bool) -> Option<Arc<Allocation>> {
        let mut book = self.book.write();
        let gone = book.entry(base, wanted)?.remove();
        book.writer.remove(base);
        Some(gone)
    }

    /// Enters an allocation that was kept when it was freed, if there is one like this. Answers its address.
    pub(super) fn reuse(&self, region: usize, flags: u32, bytes: u64, requested: u64) -> Option<u64> {
        if self.spares.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut book = self.book.write();
        let allocation = book.spares.take(region, flags, bytes)?;
        self.spares.store(book.spares.len(), Ordering::Relaxed);
        let base = allocation.base;
        allocation.requested.store(requested, Ordering::Relaxed);
        allocation.user_data.store(0, Ordering::Relaxed);
        allocation.executable.store(false, Ordering::Relaxed);
        book.writer.insert(&self.facts_of(&allocation));
        book.by_base.insert(base, allocation);
        Some(base)
    }

    /// As [`Registry::remove_if`]; an allocation that nobody else has and `keep` wants is kept for [`Registry::reuse`].
    pub(super) fn free(
        &self,
        base: u64,
        wanted: impl FnOnce(&Allocation) -> bool,
        keep: impl FnOnce(&mut Allocation) -> bool,
    ) -> Option<Freed> {
        let mut book = self.book.write();
        let book = &mut *book;
        let mut entry = book.entry(base, wanted)?;
        let kept = Arc::get_mut(entry.get_mut()).is_some_and(keep);
        let allocation = entry.remove();
        book.writer.remove(base);
        if !kept {
            return Some(Freed::Gone(allocation));
        }
        let back = book.spares.keep(allocation);
        self.spares.store(book.spares.len(), Ordering::Relaxed);
        Some(back.map_or(Freed::Kept, Freed::Gone))
    }

    /// Takes out what is kept.
    pub(super) fn drain_spares(&self) -> Vec<Arc<Allocation>> {
        if self.spares.load(Ordering::Relaxed) == 0 {
            return Vec::new();
        }
        let mut book = self.book.write();
        self.spares.store(0, Ordering::Relaxed);
        book.spares.drain()
    }

    /// Takes out locked memory.
    pub fn remove_locked(&self, allocation: &Arc<Allocation>) {
        let mut locked = self.locked.write();
        locked.by_host.remove(allocation.host_base, allocation);
        locked.by_device.remove(allocation.base, allocation);
    }

    /// Takes out everything.
    pub fn drain(&self) -> Vec<Arc<Allocation>> {
        let mut locked = self.locked.write();
        // Each is in the other map as well, if it is there at all.
        locked.by_device.drain().for_each(drop);
        let mut all: Vec<_> = locked.by_host.drain().collect();
        drop(locked);
        all.extend(self.book.write().clear().into_values());
        all
    }

    /// Bytes of all allocations from a region.
    pub fn bytes_in(&self, region: usize) -> u64 {
        let book = self.book.read();
        book.by_base
            .values()
            .filter(|a| a.region == region)
            .map(|a| a.bytes)
            .sum()
    }

    /// Allocations there are.
    pub fn len(&self) -> usize {
        self.book.read().by_base.len() + self.locked.read().by_host.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // An index that is left empty is used again.
        self.book.get_mut().clear();
    }
}
