//! The program's own host memory, locked so that devices see it (`hsa_amd_memory_lock`).
//!
//! A device sees locked memory where its driver shows it, which may be at an address of its own. Ranges may overlap, and
//! each is locked until it is unlocked as often as it was locked.

use super::operations::{empty, out_of_memory};
use super::registry::{Allocation, AllocationKind};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

fn usize_of(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Nodes by the index of their driver.
type Nodes = BTreeMap<usize, Vec<u32>>;

impl Runtime {
    /// Locks a range of host memory for agents. Answers the address that they use.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for nothing, [`Error::InvalidAgent`] when none of them can see memory of the program,
    /// [`Error::OutOfResources`] for memory that is not there, and when a driver
    /// cannot.
    pub fn lock(&self, address: u64, bytes: u64, agents: &[usize], region: usize) -> Result<u64> {
        if address == 0 || bytes == 0 {
            return Err(Error::InvalidArgument("a range to lock is not empty"));
        }
        let page = super::host::page_bytes() as u64;
        let end = address
            .checked_add(bytes)
            .and_then(|end| end.checked_next_multiple_of(page))
            .ok_or(Error::OutOfResources("the range goes beyond all addresses"))?;
        let owned = |a: &Arc<Allocation>| a.kind != AllocationKind::Locked;
        if self.memory.find(address).is_some_and(|a| owned(&a)) {
            // Memory of the runtime: devices see it where it is.
            return Ok(address);
        }
        let nodes = self.nodes_of(agents);
        let start = address & !(page - 1);
        // As the kernel does for a GPU; an agent that is the host needs nothing.
        let there = || super::host::is_mapped(usize_of(start), usize_of(end - start));
        if !nodes.is_empty() && !there() {
            return Err(Error::OutOfResources("a part of the range is not mapped"));
        }
        // One that is being unlocked for the last time does not come back.
        let more = |locks: u64| (locks != 0).then_some(locks + 1);
        if let Some(held) = self.locked_alike(address, bytes, &nodes) {
            self.show_to_more(&held, agents, &nodes)?;
            if held
                .locks
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, more)
                .is_ok()
            {
                return Ok(held.base);
            }
        }
        let (registrations, shown) = self.register_locked(start, end - start, &nodes)?;
        let allocation = Allocation {
            kind: AllocationKind::Locked,
            base: shown + (address - start),
            host_base: address,
            requested: AtomicU64::new(bytes),
            bytes,
            registrations,
            ..empty(region, 0)
        };
        let seen = allocation.base;
        *allocation.granted.lock() = agents.into();
        self.memory.insert(Arc::new(allocation));
        Ok(seen)
    }

    fn nodes_of(&self, agents: &[usize]) -> Nodes {
        let mut nodes = Nodes::new();
        for device in agents.iter().filter_map(|&agent| self.agents[agent].device()) {
            let place = device.reference;
            let groups = self.drivers[place.driver].description.groups;
            let known = nodes.entry(place.driver).or_default();
            if groups.contains(api::DriverGroups::MEMORY) && !known.contains(&place.node) {
                known.push(place.node);
            }
        }
        nodes.retain(|_, nodes| !nodes.is_empty());
        nodes
    }

    /// The same range, locked already with all these drivers.
    fn locked_alike(&self, address: u64, bytes: u64, nodes: &Nodes) -> Option<Arc<Allocation>> {
        self.memory.locked_at(address, |held| {
            let knows = |driver: &usize| held.registrations.iter().any(|(known, _)| known == driver);
            held.host_base == address && held.bytes == bytes && nodes.keys().all(knows)
        })
    }

    /// Shows a locked range to agents that do not see it yet.
    fn show_to_more(&self, held: &Allocation, agents: &[usize], nodes: &Nodes) -> Result<()> {
        let mut granted = held.granted.lock();
        let seen = self.nodes_of(&granted);
        for (driver, handle) in &held.registrations {
            let known = seen.get(driver);
            let more: Vec<u32> = nodes
                .get(driver)
                .into_iter()
                .flatten()
                .copied()
                .filter(|node| known.is_none_or(|known| !known.contains(node)))
                .collect();
            if !more.is_empty() {
                let request = api::MapRequest {
                    handle: *handle,
                    nodes: api::RSlice::from_slice(&more),
                    flags: api::AllocFlags::empty(),
                    reserved: 0,
                };
                self.drivers[*driver]
                    .object
                    .map(&request)
                    .map_err(out_of_memory)?;
            }
        }
        let new = agents.iter().copied().filter(|agent| !granted.contains(agent));
        let all: Arc<[usize]> = granted.iter().copied().chain(new).collect();
        *granted = all;
        Ok(())
    }

    /// Lets nodes see whole pages of the program's memory. Answers the registrations, and where all of them see it.
    fn register_locked(
        &self,
        start: u64,
        bytes: u64,
        nodes: &Nodes,
    ) -> Result<(Vec<(usize, api::MemoryHandle)>, u64)> {
        let mut flags = api::AllocFlags::FINE_GRAIN;
        // There is one address for all: only a driver that is alone may choose it.
        flags.set(api::AllocFlags::OWN_ADDRESS, nodes.len() == 1);
        let (mut registrations, mut seen, mut blind) = (Vec::new(), start, 0);
        for (&driver, nodes) in nodes {
            let request = api::HostMemoryRequest {
                address: start,
                bytes,
                nodes: api::RSlice::from_slice(nodes),
                flags,
                reserved: 0,
            };
            match self.drivers[driver].object.register_host(&request) {
                Ok(given) => {
                    registrations.push((driver, given.handle));
                    if given.device_address != start && !flags.contains(api::AllocFlags::OWN_ADDRESS) {
                        self.deregister(&registrations);
                        return Err(Error::OutOfResources("one address of the memory for all agents"));
                    }
                    seen = given.device_address;
                }
                // Its devices see all memory of the program, or none.
                Err(error) if error.code == api::ErrorCode::NOT_SUPPORTED => {
                    blind += usize::from(!self.shares_addresses(driver));
                }
                Err(error) => {
                    self.deregister(&registrations);
                    return Err(out_of_memory(error));
                }
            }
        }
        if blind != 0 && blind == nodes.len() {
            return Err(Error::InvalidAgent);
        }
        Ok((registrations, seen))
    }

    /// Whether a host pointer is a pointer of some device of a driver.
    fn shares_addresses(&self, driver: usize) -> bool {
        let mut nodes = self.drivers[driver].description.nodes.iter();
        nodes.any(|node| node.caps.contains(api::AgentCaps::SHARED_ADDRESSES))
    }

    /// Takes back one lock of the range that starts at an address, the program's or the agents'; anything else is left
    /// alone, as AMD's runtime does.
    pub fn unlock(&self, address: u64) {
        let Some(held) = self.memory.locked_at(address, |_| true) else {
            return;
        };
        let less = |locks: u64| locks.checked_sub(1);
        if held.locks.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less) == Ok(1) {
            self.memory.remove_locked(&held);
            self.release(&held);
        }
    }

    /// Where the host sees an address that agents use for locked memory; any other address is the same for both.
    pub(crate) fn on_host(&self, address: u64) -> u64 {
        let seen = self.memory.find_locked(address);
        seen.and_then(|held| Some(held.host_base + held.offset_of(address)?))
            .unwrap_or(address)
    }
}
