//! Device memory that several processes share (`hsa_amd_ipc_memory_create` and its kin).
//!
//! The driver that owns an allocation names it: with words of its own, or with a dma-buf. The name that the program
//! gets stands for that and for what the other process has to know besides: whose memory it is and how much.

use super::operations::{empty, out_of_memory};
use super::registry::{Allocation, AllocationKind, Origin};
use super::{Place, Reach, Region};
use crate::error::{Error, Result};
use crate::ipc::{self, Export, Name, Offer, Thing};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

const NOT_SHARED: Error = Error::InvalidArgument("not memory that another process named");

/// The descriptor that a driver gave away with a name.
pub(super) fn descriptor_of(shared: &api::SharedHandle) -> Result<OwnedFd> {
    let descriptor = i32::from_ne_bytes(shared.words[0].to_ne_bytes());
    if descriptor < 0 {
        return Err(Error::Failed(
            "the driver named memory with a descriptor that is none",
        ));
    }
    // SAFETY: an export gives its descriptor away.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The name of a dma-buf for a driver, which borrows the descriptor.
pub(super) fn name_of(descriptor: i32, offset: u64) -> api::SharedHandle {
    let mut words = [0; 8];
    words[0] = u32::from_ne_bytes(descriptor.to_ne_bytes());
    api::SharedHandle {
        kind: api::ExportKind::DMA_BUF,
        reserved: 0,
        offset,
        words,
    }
}

/// Whether a driver said that it does not have a method.
pub(super) fn is_missing(error: &api::Error) -> bool {
    error.code == api::ErrorCode::NOT_SUPPORTED
}

impl Runtime {
    /// Names an allocation for other processes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless the range is one whole allocation of a device, whose driver can share it;
    /// [`Error::OutOfResources`].
    pub fn export_memory(&self, address: u64, bytes: u64) -> Result<[u32; 8]> {
        let allocation = self
            .memory
            .find(address)
            .filter(|a| {
                let is_whole = || bytes == a.requested.load(Ordering::Relaxed) || bytes == a.bytes;
                a.base == address && is_whole()
            })
            .ok_or(Error::InvalidArgument("the range is not one whole allocation"))?;
        let (AllocationKind::Device { driver, handle }, Place::Bank { node, bank, .. }) =
            (allocation.kind, self.regions[allocation.region].place)
        else {
            return Err(Error::InvalidArgument("the memory is not a device's"));
        };
        self.exchange.name(Thing::Memory, address, || {
            let (shared, descriptor) = self.share(driver, handle)?;
            Ok(Export {
                address,
                offer: Offer {
                    thing: Thing::Memory,
                    requested: allocation.requested.load(Ordering::Relaxed),
                    bytes: allocation.bytes,
                    driver: self.drivers[driver].id.clone(),
                    node,
                    bank,
                    flags: allocation.flags,
                    shared,
                },
                descriptor,
            })
        })
    }

    /// A driver's name for memory: in words if it has such, otherwise a dma-buf.
    fn share(
        &self,
        driver: usize,
        handle: api::MemoryHandle,
    ) -> Result<(api::SharedHandle, Option<OwnedFd>)> {
        let object = &self.drivers[driver].object;
        match object.export_memory(handle, api::ExportKind::IPC) {
            Ok(shared) => return Ok((shared, None)),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(out_of_memory(error)),
        }
        match object.export_memory(handle, api::ExportKind::DMA_BUF) {
            Ok(mut shared) => {
                let descriptor = descriptor_of(&shared)?;
                shared.words = [0; 8];
                Ok((shared, Some(descriptor)))
            }
            Err(error) if is_missing(&error) => Err(Error::InvalidArgument("the driver shares no memory")),
            Err(error) => Err(out_of_memory(error)),
        }
    }

    /// Maps another process's allocation for agents, for all that can reach it when none is named. Answers where it
    /// is.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a stale or made-up name, a wrong size, or an agent that can never reach the
    /// memory; [`Error::OutOfResources`].
    pub fn attach_memory(&self, words: [u32; 8], bytes: u64, agents: &[usize]) -> Result<u64> {
        let name = Name::of_words(words)
            .filter(|name| name.thing == Thing::Memory)
            .ok_or(Error::InvalidArgument("not the name of memory"))?;
        let (offer, descriptor) = ipc::ask(name)?;
        if bytes != offer.requested && bytes != offer.bytes {
            return Err(Error::InvalidArgument("the shared memory has another size"));
        }
        let region = self
            .regions
            .iter()
            .position(|region| self.is_offered(region, &offer))
            .ok_or(Error::InvalidArgument("no device of this process has the memory"))?;
        let agents = self.who_reaches(agents, &self.regions[region])?;
        let mut shared = offer.shared;
        if shared.kind == api::ExportKind::DMA_BUF {
            let descriptor = descriptor.as_ref().ok_or(NOT_SHARED)?;
            shared = name_of(descriptor.as_raw_fd(), offer.shared.offset);
        }
        self.import(&Import {
            shared,
            bytes: offer.bytes,
            requested: offer.requested,
            region,
            agents: &agents,
            flags: offer.flags,
            origin: Origin::Process,
        })
    }

    /// The agents that are named, who must all reach the region; or all that do.
    fn who_reaches(&self, named: &[usize], region: &Region) -> Result<Vec<usize>> {
        let reaches = |&agent: &usize| self.reach(agent, region) != Reach::Never;
        if named.is_empty() {
            return Ok((0..self.agents.len()).filter(reaches).collect());
        }
        if named.iter().all(reaches) {
            Ok(named.to_vec())
        } else {
            Err(Error::InvalidArgument("an agent can never reach the memory"))
        }
    }

    fn is_offered(&self, region: &Region, offer: &Offer) -> bool {
        matches!(region.place, Place::Bank { driver, node, bank, .. }
            if (node, bank) == (offer.node, offer.bank) && self.drivers[driver].id == offer.driver)
    }

    /// Takes memory that a driver can name. Answers where it is.
    pub(super) fn import(&self, wanted: &Import<'_>) -> Result<u64> {
        let region = &self.regions[wanted.region];
        let Place::Bank {
            driver, host_visible, ..
        } = region.place
        else {
            return Err(NOT_SHARED);
        };
        let places = || {
            wanted
                .agents
                .iter()
                .filter_map(|&agent| self.agents[agent].device())
        };
        let nodes: Vec<u32> = places()
            .filter(|device| device.reference.driver == driver)
            .map(|device| device.reference.node)
            .collect();
        let given = self.drivers[driver]
            .object
            .import_memory(&api::ImportRequest {
                shared: wanted.shared,
                bytes: wanted.bytes,
                nodes: api::RSlice::from_slice(&nodes),
            })
            .map_err(|error| match out_of_memory(error) {
                Error::Driver(_) => NOT_SHARED,
                other => other,
            })?;
        let kind = AllocationKind::Imported {
            driver,
            handle: given.handle,
            origin: wanted.origin,
        };
        if let Some(known) = self.memory.find(given.device_address) {
            // A driver may know that it has the memory already, and answer with what it has.
            if known.kind == kind && known.base == given.device_address {
                known.locks.fetch_add(1, Ordering::Relaxed);
                return Ok(known.base);
            }
            return Err(Error::Failed("the driver imported memory to an address in use"));
        }
        let mut others: Vec<usize> = places().map(|device| device.reference.driver).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|&other| other != driver);
        let registrations = self
            .register_with(
                &others,
                given.device_address,
                given.bytes,
                api::AllocFlags::FINE_GRAIN,
            )
            .inspect_err(|_| {
                // As for every `free`: a driver that cannot has lost its device.
                let _ = self.drivers[driver].object.free(given.handle);
            })?;
        let allocation = Allocation {
            kind,
            base: given.device_address,
            host_base: if host_visible { given.host_address } else { 0 },
            requested: AtomicU64::new(if wanted.requested == 0 {
                given.bytes
            } else {
                wanted.requested
            }),
            bytes: given.bytes,
            registrations,
            ..empty(wanted.region, wanted.flags)
        };
        *allocation.granted.lock() = wanted.agents.into();
        self.memory.insert(Arc::new(allocation));
        Ok(given.device_address)
    }

    /// Takes back one attachment.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for anything else.
    pub fn detach_memory(&self, address: u64) -> Result<()> {
        self.let_go(address, Origin::Process)
            .then_some(())
            .ok_or(NOT_SHARED)
    }

    /// Takes back one import of an origin. Answers whether there was one.
    pub(super) fn let_go(&self, address: u64, from: Origin) -> bool {
        let ours =
            |a: &Allocation| matches!(a.kind, AllocationKind::Imported { origin, .. } if origin == from);
        let Some(held) = self.memory.find(address).filter(|a| a.base == address && ours(a)) else {
            return false;
        };
        let held_once = |left: u64| left.checked_sub(1);
        match held
            .locks
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, held_once)
        {
            Err(_) => return false,
            Ok(1) => {
                if self.memory.remove_if(address, ours).is_some() {
                    self.release(&held);
                }
            }
            Ok(_) => {}
        }
        true
    }
}

/// Memory to be imported.
#[derive(Debug)]
pub(super) struct Import<'a> {
    /// The name, whose descriptor is borrowed.
    pub(super) shared: api::SharedHandle,
    /// Bytes, or 0 for all.
    pub(super) bytes: u64,
    /// Bytes the one that shares it asked for, or 0 for all.
    pub(super) requested: u64,
    /// Index of the region it counts as.
    pub(super) region: usize,
    /// Indexes of the agents that see it.
    pub(super) agents: &'a [usize],
    /// Flags of the allocation call.
    pub(super) flags: u32,
    /// Where it is from.
    pub(super) origin: Origin,
}
