//! Pools, allocations and locked host memory.

use super::{agents_of, agents_or_all, Group};
use crate::error::{Error, Result};
use crate::handle::{self, Kind};
use crate::memory::index::{self, Facts};
use crate::memory::{FreeCallback, Reach};
use crate::runtime::Runtime;
use hansa_plugin_api as api;

#[derive(Debug)]
pub(super) struct Memory(pub(super) Group);

/// `HSA_EXT_POINTER_TYPE_RESERVED_ADDR`: addresses without memory.
const RESERVED: u32 = 5;

pub(super) fn pool(runtime: &Runtime, handle: u64) -> Result<usize> {
    runtime.region_index(handle).map_err(|_| Error::InvalidMemoryPool)
}

/// What a program is told of memory.
#[inline]
fn tell(facts: &Facts, epoch: u16, info: &mut api::PointerInfo) {
    info.kind = facts.kind.into();
    info.global_flags = facts.global_flags;
    info.agent_base = facts.base;
    info.host_base = facts.host_base;
    info.bytes = facts.bytes;
    info.user_data = facts.user_data;
    info.owner = handle::of_index(Kind::Agent, epoch, facts.owner as usize);
    info.alloc_flags = facts.flags;
    info.registered = facts.registered;
}

impl api::MemoryServices for Memory {
    fn pools(&self, agent: u64) -> api::Result<api::RVec<u64>> {
        let runtime = self.0.runtime()?;
        let regions = &runtime.agent(agent)?.regions;
        Ok(regions
            .iter()
            .map(|&index| runtime.region_handle(index))
            .collect())
    }

    fn pool_info(&self, handle: u64) -> api::Result<api::PoolInfo> {
        let runtime = self.0.runtime()?;
        let region = &runtime.regions[pool(&runtime, handle)?];
        Ok(api::PoolInfo {
            owner: runtime.agent_handle(region.agent),
            bytes: region.bytes,
            max_allocation: region.max_allocation,
            granule: region.granule,
            alignment: region.granule,
            recommended_granule: region.recommended_granule,
            segment: region.segment as u32,
            global_flags: region.flags.bits(),
            location: u32::from(!runtime.is_memory_of_host(region)),
            allocation_allowed: region.can_allocate(),
            accessible_by_all: region.is_host(),
        })
    }

    fn pool_access(&self, agent: u64, handle: u64) -> api::Result<api::PoolAccess> {
        let runtime = self.0.runtime()?;
        let agent = runtime.agent_index(agent)?;
        let region = &runtime.regions[pool(&runtime, handle)?];
        let link = runtime
            .links
            .get(agent, region.agent)
            .filter(|_| agent != region.agent);
        let hop = link.map(|link| api::LinkInfo {
            min_latency: link.latency_ns.0,
            max_latency: link.latency_ns.1,
            min_bandwidth: link.bandwidth_mbs.0,
            max_bandwidth: link.bandwidth_mbs.1,
            kind: link.kind.0,
            numa_distance: link.weight,
            atomics_32bit: link.flags.contains(api::LinkFlags::ATOMICS_32),
            atomics_64bit: link.flags.contains(api::LinkFlags::ATOMICS_64),
            coherent: link.flags.contains(api::LinkFlags::COHERENT),
        });
        let access = runtime.reach(agent, region);
        Ok(api::PoolAccess {
            access: access as u32,
            links: hop.filter(|_| access != Reach::Never).into_iter().collect(),
        })
    }

    fn pool_allocate(&self, handle: u64, bytes: u64, flags: u32) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        Ok(runtime.allocate(pool(&runtime, handle)?, bytes, flags)?)
    }

    fn free(&self, address: u64) -> api::Result<()> {
        Ok(self.0.runtime()?.free(address)?)
    }

    fn grant_access(&self, agents: api::RSlice<'_, u64>, address: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let agents = agents_of(&runtime, &agents)?;
        if let Some(allocation) = runtime.memory.find(address) {
            let region = &runtime.regions[allocation.region];
            if agents
                .iter()
                .any(|&agent| runtime.reach(agent, region) == Reach::Never)
            {
                return Err(Error::InvalidArgument("an agent can never reach the pool").into());
            }
        }
        Ok(runtime.allow_access(&agents, address)?)
    }

    fn can_migrate(&self, from: u64, to: u64) -> api::Result<bool> {
        let runtime = self.0.runtime()?;
        pool(&runtime, from)?;
        pool(&runtime, to)?;
        // Addresses belong to their pool; no driver moves an allocation under its address.
        Ok(false)
    }

    fn migrate(&self, _address: u64, to: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        pool(&runtime, to)?;
        Err(Error::OutOfResources("an allocation cannot be moved under its address").into())
    }

    fn lock(&self, request: &api::LockRequest<'_>) -> api::Result<u64> {
        let runtime = self.0.runtime()?;
        let agents = agents_or_all(&runtime, &request.agents)?;
        let region = if request.pool == 0 {
            runtime
                .regions
                .iter()
                .position(|r| r.is_host() && r.flags.contains(crate::memory::GlobalFlags::COARSE_GRAINED))
                .unwrap_or(0)
        } else {
            let region = pool(&runtime, request.pool)?;
            if !runtime.regions[region].is_host() {
                return Err(Error::InvalidMemoryPool.into());
            }
            region
        };
        Ok(runtime.lock(request.address, request.bytes, &agents, region)?)
    }

    fn unlock(&self, address: u64) -> api::Result<()> {
        self.0.runtime()?.unlock(address);
        Ok(())
    }

    fn fill(&self, address: u64, value: u32, count: u64) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        if count == 0 {
            return Ok(());
        }
        let bytes = count
            .checked_mul(4)
            .ok_or(Error::InvalidAllocation("more words than there are addresses"))?;
        let allocation = runtime
            .memory
            .find(address)
            .ok_or(Error::InvalidAllocation("not an allocation"))?;
        if !allocation.has_room(address, bytes) {
            return Err(Error::InvalidAllocation("the range goes beyond the allocation").into());
        }
        Ok(runtime.fill(address, value, count)?)
    }

    fn pointer_info(&self, address: u64, with_agents: bool) -> api::Result<api::PointerInfo> {
        let mut info = api::PointerInfo::default();
        self.pointer_facts(address, &mut info)?;
        if with_agents {
            let runtime = self.0.runtime()?;
            let allocation = runtime.memory.find(address);
            let seen_by = allocation
                .iter()
                .flat_map(|allocation| runtime.who_sees(allocation));
            info.agents
                .extend(seen_by.map(|agent| runtime.agent_handle(agent)));
        }
        Ok(info)
    }

    fn pointer_facts(&self, address: u64, info: &mut api::PointerInfo) -> api::Result<()> {
        if let Some((generation, facts)) = index::known(address) {
            tell(&facts, generation.epoch(), info);
            return Ok(());
        }
        let runtime = crate::runtime::current()?;
        if let Some(facts) = runtime.memory.facts(address) {
            tell(&facts, runtime.epoch, info);
        } else if let Some((base, bytes)) = runtime.reservation_around(address) {
            (info.kind, info.agent_base, info.bytes) = (RESERVED, base, bytes);
        }
        Ok(())
    }

    fn set_user_data(&self, address: u64, data: u64) -> api::Result<()> {
        let kept = self.0.runtime()?.memory.set_user_data(address, data);
        Ok(kept
            .then_some(())
            .ok_or(Error::InvalidArgument("not an allocation"))?)
    }

    fn on_free(&self, address: u64, callback: api::FreeCallback) -> api::Result<()> {
        let data = callback.argument.expose_provenance();
        let callback = FreeCallback {
            function: callback.function,
            address,
            data,
        };
        Ok(self.0.runtime()?.add_free_callback(callback)?)
    }

    fn cancel_on_free(&self, address: u64, callback: api::FreeCallback) -> api::Result<()> {
        Ok(self
            .0
            .runtime()?
            .remove_free_callback(address, callback.function as usize)?)
    }
}
