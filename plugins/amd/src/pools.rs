//! Memory pools: what they are, who reaches them, and memory from them.

use crate::args::{address, narrow, pointer, widen};
use crate::callbacks::{iterate, required};
use crate::entry::{argument, entries};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_agent_memory_pool_info_t, hsa_amd_link_info_type_t, hsa_amd_memory_pool_flag_t,
    hsa_amd_memory_pool_info_t, hsa_amd_memory_pool_link_info_t, hsa_amd_memory_pool_t, hsa_status_t,
    MemoryPoolCallback,
};
use hansa_plugin_api::LinkInfo;
use std::ffi::c_void;

/// All bits of `hsa_amd_memory_pool_flag_t`.
pub(crate) const POOL_FLAGS: u32 = hsa_amd_memory_pool_flag_t::PCIE_FLAG.0
    | hsa_amd_memory_pool_flag_t::CONTIGUOUS_FLAG.0
    | hsa_amd_memory_pool_flag_t::EXECUTABLE_FLAG.0
    | hsa_amd_memory_pool_flag_t::UNCACHED_FLAG.0;

entries! {
    /// An attribute of a pool.
    fn hsa_amd_memory_pool_get_info(
        call; pool: hsa_amd_memory_pool_t, attribute: hsa_amd_memory_pool_info_t, value: *mut c_void,
    ) {
        use hsa_amd_memory_pool_info_t as Attribute;
        let value = call.value(value)?;
        let info = call.memory()?.pool_info(pool.handle)?;
        match attribute {
            Attribute::SEGMENT => value.put(info.segment),
            Attribute::GLOBAL_FLAGS => value.put(info.global_flags),
            Attribute::SIZE => value.put(narrow(info.bytes)),
            Attribute::RUNTIME_ALLOC_ALLOWED => value.put(info.allocation_allowed),
            Attribute::RUNTIME_ALLOC_GRANULE => value.put(narrow(info.granule)),
            Attribute::RUNTIME_ALLOC_ALIGNMENT => value.put(narrow(info.alignment)),
            Attribute::ACCESSIBLE_BY_ALL => value.put(info.accessible_by_all),
            Attribute::ALLOC_MAX_SIZE => value.put(narrow(info.max_allocation)),
            Attribute::LOCATION => value.put(info.location),
            Attribute::RUNTIME_ALLOC_REC_GRANULE => value.put(narrow(info.recommended_granule)),
            _ => return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into()),
        }
        Ok(())
    }

    /// Shows an agent's pools to a callback.
    fn hsa_amd_agent_iterate_memory_pools(
        call; agent: hsa_agent_t, callback: MemoryPoolCallback, data: *mut c_void,
    ) {
        let callback = required(callback)?;
        let pools = call.memory()?.pools(agent.handle)?;
        iterate(pools, |handle| {
            // SAFETY: the program's function, called as its contract says.
            unsafe { callback(hsa_amd_memory_pool_t { handle }, data) }
        })
    }

    /// An attribute of the way from an agent to a pool.
    fn hsa_amd_agent_memory_pool_get_info(
        call; agent: hsa_agent_t, pool: hsa_amd_memory_pool_t, attribute: hsa_amd_agent_memory_pool_info_t,
        value: *mut c_void,
    ) {
        use hsa_amd_agent_memory_pool_info_t as Attribute;
        let value = call.value(value)?;
        let access = call.memory()?.pool_access(agent.handle, pool.handle)?;
        match attribute {
            Attribute::ACCESS => value.put(access.access),
            Attribute::NUM_LINK_HOPS => {
                value.put(u32::try_from(access.links.len()).map_err(|_| hsa_status_t::ERROR)?);
            }
            Attribute::LINK_INFO => {
                let hops: Vec<_> = access.links.iter().map(link).collect();
                // Without a hop, as between an agent and its own pools, programs still read one and expect zeroes.
                value.put_all(if hops.is_empty() { &NO_HOP } else { &hops });
            }
            _ => return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into()),
        }
        Ok(())
    }

    /// Allocates memory.
    fn hsa_amd_memory_pool_allocate(
        call; pool: hsa_amd_memory_pool_t, size: usize, flags: u32, ptr: *mut *mut c_void,
    ) {
        let result = call.out(ptr)?;
        argument(size != 0 && flags & !POOL_FLAGS == 0)?;
        result.set(pointer(call.memory()?.pool_allocate(pool.handle, size as u64, flags)?));
        Ok(())
    }

    /// Frees memory. NULL is fine: HIP frees NULL and must not fail over it.
    fn hsa_amd_memory_pool_free(call; ptr: *mut c_void) {
        if !ptr.is_null() {
            call.memory()?.free(address(ptr))?;
        }
        Ok(())
    }

    /// Lets agents reach an allocation.
    fn hsa_amd_agents_allow_access(
        call; num_agents: u32, agents: *const hsa_agent_t, flags: *const u32, ptr: *const c_void,
    ) {
        argument(num_agents != 0 && flags.is_null() && !ptr.is_null())?;
        let agents = call.handles(agents, widen(num_agents))?;
        call.memory()?.grant_access(agents, address(ptr))?;
        Ok(())
    }

    /// Whether memory of one pool can move to another.
    fn hsa_amd_memory_pool_can_migrate(
        call; source: hsa_amd_memory_pool_t, destination: hsa_amd_memory_pool_t, result: *mut bool,
    ) {
        let result = call.out(result)?;
        result.set(call.memory()?.can_migrate(source.handle, destination.handle)?);
        Ok(())
    }

    /// Moves an allocation to another pool.
    fn hsa_amd_memory_migrate(call; ptr: *const c_void, pool: hsa_amd_memory_pool_t, flags: u32) {
        argument(!ptr.is_null() && flags == 0)?;
        call.memory()?.migrate(address(ptr), pool.handle)?;
        Ok(())
    }
}

/// What is written where there is no hop.
const NO_HOP: [hsa_amd_memory_pool_link_info_t; 1] = [hsa_amd_memory_pool_link_info_t {
    min_latency: 0,
    max_latency: 0,
    min_bandwidth: 0,
    max_bandwidth: 0,
    atomic_support_32bit: false,
    atomic_support_64bit: false,
    coherent_support: false,
    link_type: hsa_amd_link_info_type_t(0),
    numa_distance: 0,
}];

fn link(hop: &LinkInfo) -> hsa_amd_memory_pool_link_info_t {
    hsa_amd_memory_pool_link_info_t {
        min_latency: hop.min_latency,
        max_latency: hop.max_latency,
        min_bandwidth: hop.min_bandwidth,
        max_bandwidth: hop.max_bandwidth,
        atomic_support_32bit: hop.atomics_32bit,
        atomic_support_64bit: hop.atomics_64bit,
        coherent_support: hop.coherent,
        link_type: hsa_amd_link_info_type_t(hop.kind),
        numa_distance: hop.numa_distance,
    }
}
