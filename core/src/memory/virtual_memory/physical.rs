//! Memory without an address: making it, holding it, and passing it on as a file descriptor.

use crate::error::{Error, Result};
use crate::ipc::MemoryFile;
use crate::memory::interop::is_open;
use crate::memory::ipc::{is_missing, name_of};
use crate::memory::operations::{alloc_flags, out_of_memory};
use crate::memory::{GlobalFlags, Place};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

/// How the names of our memory files begin, so that another process knows them.
const NAME: &str = "hansa-vmem";

const STALE: Error = Error::InvalidAllocation("not memory without an address");

/// Where the pages are.
#[derive(Debug)]
pub(super) enum Backing {
    /// A memory file.
    File(MemoryFile),
    /// A driver's.
    Driver {
        /// Index of the driver.
        driver: usize,
        /// The driver's name for it.
        handle: api::MemoryHandle,
    },
}

/// Memory without an address. It lives as long as the program holds it or it is mapped.
#[derive(Debug)]
pub(super) struct Physical {
    pub(super) backing: Backing,
    pub(super) bytes: u64,
    /// Index of the region it is from.
    pub(super) region: usize,
    /// `hsa_amd_memory_type_t`.
    kind: u32,
    /// Flags of the call that made it.
    pub(super) flags: u32,
    /// Whether it counts as memory of the region's device: it was made here.
    counts: bool,
    /// The program's handle and how often it holds it.
    held: Mutex<(u64, u32)>,
    runtime: Weak<Runtime>,
}

impl Drop for Physical {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.upgrade() else {
            return;
        };
        match &self.backing {
            // As for every `free`: a driver that cannot has lost its device.
            Backing::Driver { driver, handle } => drop(runtime.drivers[*driver].object.free(*handle)),
            Backing::File(_) if self.counts => runtime.give_back_to(self.region, self.bytes),
            Backing::File(_) => {}
        }
    }
}

/// What memory without an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Index of the region it is from.
    pub region: usize,
    /// `hsa_amd_memory_type_t`.
    pub kind: u32,
}

impl Runtime {
    /// The memory behind a handle.
    pub(super) fn physical(&self, handle: u64) -> Result<Arc<Physical>> {
        self.virtual_memory.memories.get(handle).ok_or(STALE)
    }

    /// Gives the program a hold on memory. Answers its handle.
    pub(super) fn hold(&self, memory: &Arc<Physical>) -> Result<u64> {
        let mut held = memory.held.lock();
        if held.1 == 0 {
            let handles = &self.virtual_memory.memories;
            let handle = handles.insert(Arc::clone(memory), memory.bytes);
            held.0 = handle.ok_or(Error::OutOfResources("handles of memory"))?;
        }
        held.1 += 1;
        Ok(held.0)
    }

    fn hold_new(
        self: &Arc<Self>,
        backing: Backing,
        bytes: u64,
        region: usize,
        (kind, flags): (u32, u32),
        counts: bool,
    ) -> Result<u64> {
        self.hold(&Arc::new(Physical {
            backing,
            bytes,
            region,
            kind,
            flags,
            counts,
            held: Mutex::new((0, 0)),
            runtime: Arc::downgrade(self),
        }))
    }

    /// Makes memory without an address. Answers its handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] when the region gives nothing out; [`Error::InvalidArgument`] for a size that is
    /// no multiple of its granule; [`Error::OutOfResources`].
    pub fn create_physical(
        self: &Arc<Self>,
        region: usize,
        bytes: u64,
        kind: u32,
        flags: u32,
    ) -> Result<u64> {
        let from = &self.regions[region];
        if !from.can_allocate() {
            return Err(Error::InvalidAllocation("the pool gives no memory to programs"));
        }
        if bytes == 0 || !bytes.is_multiple_of(from.granule) {
            return Err(Error::InvalidArgument("the size is no multiple of the granule"));
        }
        if bytes > from.max_allocation {
            return Err(Error::OutOfResources("memory of the pool"));
        }
        let backing = match from.place {
            Place::Bank {
                driver,
                node,
                bank,
                host_visible,
                ..
            } if self.has_virtual_memory(driver) => {
                let mut wanted = alloc_flags(from, flags) | api::AllocFlags::MEMORY_ONLY;
                wanted.set(api::AllocFlags::HOST_ACCESS, host_visible);
                let given = self.drivers[driver]
                    .object
                    .allocate(&api::AllocRequest {
                        node,
                        bank,
                        bytes,
                        alignment: from.granule,
                        address: 0,
                        flags: wanted,
                        reserved: 0,
                    })
                    .map_err(out_of_memory)?;
                Backing::Driver {
                    driver,
                    handle: given.handle,
                }
            }
            Place::Bank { .. } if !self.is_on_host(region) => {
                return Err(Error::InvalidAllocation(
                    "the device's driver has no virtual memory",
                ));
            }
            _ => {
                let file = MemoryFile::new(&self.file_name(region, kind, flags), bytes)?;
                self.take_from(region, bytes)?;
                Backing::File(file)
            }
        };
        let counts = matches!(backing, Backing::File(_));
        self.hold_new(backing, bytes, region, (kind, flags), counts)
    }

    pub(super) fn has_virtual_memory(&self, driver: usize) -> bool {
        let groups = self.drivers[driver].description.groups;
        groups.contains(api::DriverGroups::VIRTUAL_MEMORY)
    }

    /// Whether addresses and memory of a device can be had apart.
    #[must_use]
    pub fn has_memory_apart(&self, agent: usize) -> bool {
        let agent = &self.agents[agent];
        let by_driver = agent
            .device()
            .is_some_and(|device| self.has_virtual_memory(device.reference.driver));
        by_driver || agent.regions.iter().any(|&region| self.is_on_host(region))
    }

    /// Whether a region's memory is the host's, which its device uses at the host's addresses.
    fn is_on_host(&self, region: usize) -> bool {
        let from = &self.regions[region];
        let computes_there = |caps: api::AgentCaps| {
            caps.contains(api::AgentCaps::SHARED_ADDRESSES)
                && caps.intersects(api::AgentCaps::SOFTWARE | api::AgentCaps::FULL_PROFILE)
        };
        let device = self.agents[from.agent].device();
        match from.place {
            Place::Host => true,
            Place::Bank { host_visible, .. } => {
                host_visible && device.is_some_and(|device| computes_there(device.description.caps))
            }
            Place::None => false,
        }
    }

    /// The name of a memory file: what another process has to know of the memory.
    fn file_name(&self, region: usize, kind: u32, flags: u32) -> String {
        let from = &self.regions[region];
        let (driver, node, bank) = match from.place {
            Place::Bank {
                driver, node, bank, ..
            } => (self.drivers[driver].id.as_str(), node, bank),
            _ => ("host", self.agents[from.agent].node, from.flags.bits()),
        };
        format!("{NAME}:{kind}:{flags}:{node}:{bank}:{driver}")
    }

    /// The region, kind and flags that the name of a memory file says; `None` for another file.
    fn of_file_name(&self, name: &str) -> Option<(usize, u32, u32)> {
        let (ours, rest) = name.split_once(':')?;
        let mut parts = rest.splitn(5, ':');
        let mut number = || parts.next()?.parse::<u32>().ok();
        let (kind, flags, node, bank) = (number()?, number()?, number()?, number()?);
        let id = parts.next()?;
        if ours != NAME {
            return None;
        }
        let region = self.regions.iter().position(|region| match region.place {
            Place::Bank {
                driver,
                node: own,
                bank: of,
                ..
            } => (own, of) == (node, bank) && self.drivers[driver].id == id,
            Place::Host => {
                id == "host" && self.agents[region.agent].node == node && region.flags.bits() == bank
            }
            Place::None => false,
        });
        // Memory of a device that this process does not have is memory of the host all the same.
        let coarse = || {
            self.regions
                .iter()
                .position(|r| r.is_host() && r.flags == GlobalFlags::COARSE_GRAINED)
        };
        Some((region.or_else(coarse)?, kind, flags))
    }

    /// Lets go of one hold.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for a handle that the program does not hold.
    pub fn let_go_of_physical(&self, handle: u64) -> Result<()> {
        let memory = self.physical(handle)?;
        let mut held = memory.held.lock();
        if held.0 != handle || held.1 == 0 {
            return Err(STALE);
        }
        held.1 -= 1;
        if held.1 == 0 {
            self.virtual_memory.memories.remove(handle);
        }
        Ok(())
    }

    /// What memory without an address is.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for a handle that the program does not hold.
    pub fn physical_properties(&self, handle: u64) -> Result<Properties> {
        let memory = self.physical(handle)?;
        Ok(Properties {
            region: memory.region,
            kind: memory.kind,
        })
    }

    /// Makes a descriptor of memory without an address.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`]; [`Error::InvalidAgent`] when its owner cannot export; [`Error::OutOfResources`].
    pub fn export_physical(&self, handle: u64) -> Result<OwnedFd> {
        match &self.physical(handle)?.backing {
            Backing::File(file) => file.duplicate(),
            Backing::Driver { driver, handle } => Ok(self.export_handle(*driver, *handle)?.0),
        }
    }

    /// Makes memory without an address of a descriptor, which stays the program's.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for a descriptor of anything else; [`Error::OutOfResources`].
    pub fn import_physical(self: &Arc<Self>, descriptor: i32) -> Result<u64> {
        let foreign = || Error::InvalidAllocation("not memory that can be mapped");
        if !is_open(descriptor) {
            return Err(foreign());
        }
        // SAFETY: the descriptor was open just now, and the program lends it for the call.
        let lent = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let own = lent
            .try_clone_to_owned()
            .map_err(|_| Error::OutOfResources("a file descriptor"))?;
        let file = MemoryFile::of(own);
        let known = file
            .as_ref()
            .and_then(MemoryFile::name)
            .and_then(|name| self.of_file_name(&name));
        if let (Some(file), Some((region, kind, flags))) = (file, known) {
            let bytes = file.bytes();
            return self.hold_new(Backing::File(file), bytes, region, (kind, flags), false);
        }
        self.import_with_drivers(name_of(descriptor, 0))?
            .ok_or_else(foreign)
    }

    /// Takes memory of a name as memory without an address; `None` when no driver has it.
    fn import_with_drivers(self: &Arc<Self>, shared: api::SharedHandle) -> Result<Option<u64>> {
        for (region, from) in self.regions.iter().enumerate() {
            let Place::Bank { driver, bank: 0, .. } = from.place else {
                continue;
            };
            if !self.has_virtual_memory(driver) {
                continue;
            }
            let request = api::ImportRequest {
                shared,
                bytes: 0,
                nodes: api::RSlice::from_slice(&[]),
            };
            match self.drivers[driver].object.import_memory(&request) {
                Ok(given) => {
                    let backing = Backing::Driver {
                        driver,
                        handle: given.handle,
                    };
                    return self
                        .hold_new(backing, given.bytes, region, (0, 0), false)
                        .map(Some);
                }
                Err(error) if error.code == api::ErrorCode::OUT_OF_RESOURCES => {
                    return Err(out_of_memory(error));
                }
                // Another driver may have it.
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// Names memory for every host of a fabric.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for memory of the host; [`Error::NotSupported`] when its driver has no fabric.
    pub fn export_to_fabric(&self, handle: u64) -> Result<[u8; 16]> {
        let Backing::Driver { driver, handle } = self.physical(handle)?.backing else {
            return Err(Error::InvalidAllocation("memory of the host is on no fabric"));
        };
        let object = &self.drivers[driver].object;
        let shared = object
            .export_memory(handle, api::ExportKind::FABRIC)
            .map_err(|error| {
                if is_missing(&error) {
                    Error::NotSupported("a fabric")
                } else {
                    out_of_memory(error)
                }
            })?;
        let mut bytes = [0; 16];
        for (place, word) in bytes.chunks_exact_mut(4).zip(shared.words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        Ok(bytes)
    }

    /// Makes memory of a fabric's name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAllocation`] for a name that no driver knows; [`Error::OutOfResources`].
    pub fn import_from_fabric(self: &Arc<Self>, bytes: [u8; 16]) -> Result<u64> {
        let mut shared = name_of(0, 0);
        shared.kind = api::ExportKind::FABRIC;
        for (word, part) in shared.words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = part.try_into().map_or(0, u32::from_ne_bytes);
        }
        self.import_with_drivers(shared)?
            .ok_or(Error::InvalidAllocation("no fabric has the memory"))
    }
}
