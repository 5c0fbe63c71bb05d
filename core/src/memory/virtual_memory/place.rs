//! Showing mapped memory to the host and to devices, with what they may do.
//!
//! Pages of a memory file have one protection for the whole process: the host's threads, and devices that use the
//! host's pages, can do there whatever any of the agents may.

use super::map::Mapping;
use super::physical::Backing;
use super::reserve::cover;
use crate::error::{Error, Result};
use crate::memory::operations::out_of_memory;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use rustix::mm::{mprotect, MprotectFlags};
use std::collections::BTreeMap;

/// Bits of `hsa_access_permission_t`.
const READ: u32 = 1;
const WRITE: u32 = 2;
const EXECUTE: u32 = 4;

/// How drivers know of a mapping.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Registrations of a memory file's place.
    registrations: Vec<(Group, api::MemoryHandle)>,
    /// Whether the driver that has the memory has put it there.
    placed: bool,
    /// Whether the host sees a driver's memory there.
    pub(super) host: bool,
}

/// Devices of a driver that may do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    driver: usize,
    permission: u32,
    nodes: Vec<u32>,
}

fn flags(permission: u32) -> api::AllocFlags {
    let mut flags = api::AllocFlags::FINE_GRAIN;
    flags.set(api::AllocFlags::READ_ONLY, permission & WRITE == 0);
    flags.set(api::AllocFlags::EXECUTABLE, permission & EXECUTE != 0);
    flags
}

fn protect(address: u64, bytes: u64, permission: u32) -> Result<()> {
    let refused = Error::OutOfResources("a change of what may be done with memory");
    let (Ok(address), Ok(bytes)) = (usize::try_from(address), usize::try_from(bytes)) else {
        return Err(refused);
    };
    let mut wanted = MprotectFlags::empty();
    // No processor has pages that can be written and not read.
    wanted.set(MprotectFlags::READ, permission & (READ | WRITE) != 0);
    wanted.set(MprotectFlags::WRITE, permission & WRITE != 0);
    wanted.set(MprotectFlags::EXEC, permission & EXECUTE != 0);
    // SAFETY: the range is a mapping of the runtime's own memory file; the program says who may use it.
    let result = unsafe { mprotect(std::ptr::with_exposed_provenance_mut(address), bytes, wanted) };
    result.map_err(|_| refused)
}

impl Runtime {
    /// Whether an agent can use the memory of a mapping at all.
    pub(super) fn can_use(&self, agent: usize, mapping: &Mapping) -> bool {
        let device = self.agents[agent].device();
        match mapping.memory.backing {
            Backing::File(_) => {
                device.is_none_or(|d| d.description.caps.contains(api::AgentCaps::SHARED_ADDRESSES))
            }
            Backing::Driver { driver, .. } => device.is_none_or(|d| d.reference.driver == driver),
        }
    }

    /// The devices that may do something, by driver and by what they may do.
    fn groups(&self, access: &BTreeMap<usize, u32>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (&agent, &permission) in access.iter().filter(|(_, &permission)| permission != 0) {
            let Some(device) = self.agents[agent].device() else {
                continue;
            };
            let (driver, node) = (device.reference.driver, device.reference.node);
            match groups
                .iter_mut()
                .find(|group| (group.driver, group.permission) == (driver, permission))
            {
                Some(group) => group.nodes.push(node),
                None => groups.push(Group {
                    driver,
                    permission,
                    nodes: vec![node],
                }),
            }
        }
        groups
    }

    /// Shows a mapping to those who may use it, as its table of access says.
    pub(super) fn show(&self, address: u64, mapping: &mut Mapping) -> Result<()> {
        match mapping.memory.backing {
            Backing::File(_) => self.show_file(address, mapping),
            Backing::Driver { driver, handle } => self.place(address, mapping, driver, handle),
        }
    }

    fn show_file(&self, address: u64, mapping: &mut Mapping) -> Result<()> {
        let bytes = mapping.bytes;
        let groups = self.groups(&mapping.access);
        let (kept, old): (Vec<_>, Vec<_>) = std::mem::take(&mut mapping.shown.registrations)
            .into_iter()
            .partition(|(group, _)| groups.contains(group));
        for (group, handle) in &old {
            self.deregister(&[(group.driver, *handle)]);
        }
        mapping.shown.registrations = kept;
        let anybody = mapping
            .access
            .values()
            .fold(0, |all, permission| all | permission);
        protect(address, bytes, anybody)?;
        for group in groups {
            if mapping
                .shown
                .registrations
                .iter()
                .any(|(known, _)| *known == group)
            {
                continue;
            }
            let slot = &self.drivers[group.driver];
            let request = api::HostMemoryRequest {
                address,
                bytes,
                nodes: api::RSlice::from_slice(&group.nodes),
                flags: flags(group.permission),
                reserved: 0,
            };
            let given = slot.object.register_host(&request).map_err(out_of_memory)?;
            mapping.shown.registrations.push((group, given.handle));
        }
        Ok(())
    }

    /// Lets the driver that has the memory put it at the address, for each group of its nodes and for the host.
    fn place(
        &self,
        address: u64,
        mapping: &mut Mapping,
        driver: usize,
        handle: api::MemoryHandle,
    ) -> Result<()> {
        self.hide(address, mapping);
        let object = &self.drivers[driver].object;
        let bytes = mapping.bytes;
        let host = |(&agent, &permission): (&usize, &u32)| {
            let one = self.agents[agent].is_cpu() && permission != 0;
            one.then_some(permission)
        };
        let host = mapping
            .access
            .iter()
            .filter_map(host)
            .reduce(|all, permission| all | permission);
        let mut groups = self.groups(&mapping.access);
        groups.extend(host.map(|permission| Group {
            driver,
            permission,
            nodes: Vec::new(),
        }));
        for group in groups {
            let nodes = api::RSlice::from_slice(&group.nodes);
            mapping.shown.placed = true;
            object
                .map_at(handle, 0, address, bytes, nodes, group.permission)
                .map_err(out_of_memory)?;
            mapping.shown.host |= group.nodes.is_empty();
        }
        Ok(())
    }

    /// Takes a mapping from everybody's sight.
    pub(super) fn hide(&self, address: u64, mapping: &mut Mapping) {
        for (group, handle) in mapping.shown.registrations.drain(..) {
            self.deregister(&[(group.driver, handle)]);
        }
        if let (Backing::Driver { driver, handle }, true) = (&mapping.memory.backing, mapping.shown.placed) {
            let object = &self.drivers[*driver].object;
            // As for every `free`: a driver that cannot has lost its device.
            let _ = object.unmap_at(*handle, address, mapping.bytes);
            // The addresses stay reserved, whatever the driver left there.
            let _ = cover(address, mapping.bytes);
            mapping.shown.placed = false;
            mapping.shown.host = false;
        }
    }
}
