//! The book of allocations: one ordered map from addresses, for ownership, access and freeing, and an index of it for
//! pointer information.

use super::host::Pages;
use super::index::{Facts, Index};
use super::overlap::Overlapping;
use hansa_plugin_api::sync::{Mutex, RwLock};
use hansa_plugin_api::MemoryHandle;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// A function to call when an allocation is freed.
#[derive(Clone, Copy, Debug)]
pub struct FreeCallback {
    /// The function.
    pub function: unsafe extern "C" fn(*mut libc::c_void, *mut libc::c_void),
    /// Its first argument: the address that was registered.
    pub address: u64,
    /// Its second argument.
    pub data: usize,
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
    pub requested: u64,
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
    pub callbacks: Mutex<Vec<FreeCallback>>,
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

    /// What programs are told of it.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts {
            base: self.base,
            host_base: self.host_base,
            bytes: self.bytes,
            user_data: self.user_data.load(Ordering::Relaxed),
            kind: self.kind.pointer_type(),
            // There are never as many regions as that.
            region: u32::try_from(self.region).unwrap_or(u32::MAX),
            flags: self.flags,
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
#[derive(Debug, Default)]
pub struct Registry {
    by_base: RwLock<BTreeMap<u64, Arc<Allocation>>>,
    /// The same, changed while `by_base` is held.
    index: Index,
    locked: RwLock<Locked>,
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
    /// Enters an allocation.
    pub fn insert(&self, allocation: Arc<Allocation>) {
        if allocation.kind != AllocationKind::Locked {
            let mut by_base = self.by_base.write();
            self.index.insert(&allocation.facts());
            by_base.insert(allocation.base, allocation);
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
        covering(&self.by_base.read(), address).or_else(|| self.find_locked(address))
    }

    /// Whether a part of a range lies in an allocation; locked memory is the program's own and none.
    pub fn has_any_in(&self, start: u64, end: u64) -> bool {
        let by_base = self.by_base.read();
        covering(&by_base, start).is_some() || by_base.range(start..end).next().is_some()
    }

    /// What programs are told of the allocation that an address lies in, as [`Registry::find`] has it. Takes no lock for
    /// what is not locked memory.
    pub fn facts(&self, address: u64) -> Option<Facts> {
        let indexed = self.index.find(address).flatten();
        indexed.or_else(|| Some(self.find(address)?.facts()))
    }

    /// Keeps the program's word beside the allocation that an address lies in. Answers whether there is one.
    pub fn set_user_data(&self, address: u64, data: u64) -> bool {
        let by_base = self.by_base.write();
        let found = covering(&by_base, address);
        if let Some(allocation) = &found {
            allocation.user_data.store(data, Ordering::Relaxed);
            self.index.insert(&allocation.facts());
        }
        drop(by_base);
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
        let mut by_base = self.by_base.write();
        if by_base.get(&base).is_some_and(|allocation| wanted(allocation)) {
            self.index.remove(base);
            by_base.remove(&base)
        } else {
            None
        }
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
        let mut by_base = self.by_base.write();
        by_base.keys().for_each(|base| self.index.remove(*base));
        all.extend(std::mem::take(&mut *by_base).into_values());
        all
    }

    /// Bytes of all allocations from a region.
    pub fn bytes_in(&self, region: usize) -> u64 {
        self.by_base
            .read()
            .values()
            .filter(|a| a.region == region)
            .map(|a| a.bytes)
            .sum()
    }

    /// Allocations there are.
    pub fn len(&self) -> usize {
        self.by_base.read().len() + self.locked.read().by_host.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
