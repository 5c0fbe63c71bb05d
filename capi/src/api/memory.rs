//! Memory (HSA Runtime PRM 1.2, section 2.7).

use crate::entry::{entry, not_null, Place};
use hansa_core::memory::AllocationKind;
use hansa_core::{current, Error};
use hansa_plugin_api::hsa::{c_void, hsa_access_permission_t as Access, hsa_agent_t, hsa_region_t};

fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

entry! {
    fn hsa_memory_allocate(region: hsa_region_t, size: usize, ptr: *mut *mut c_void) {
        let runtime = current()?;
        if size == 0 {
            return Err(Error::InvalidArgument("an allocation has at least one byte"));
        }
        let place = Place::new(ptr)?;
        let region = runtime.region_index(region.handle)?;
        let given = runtime.allocate_for_all(region, size as u64)?;
        place.set(std::ptr::with_exposed_provenance_mut(usize::try_from(given).unwrap_or(0)));
        Ok(())
    }

    fn hsa_memory_free(ptr: *mut c_void) {
        current()?.free(address(ptr))
    }

    fn hsa_memory_copy(dst: *mut c_void, src: *const c_void, size: usize) {
        let runtime = current()?;
        not_null(dst)?;
        not_null(src)?;
        if size == 0 {
            return Ok(());
        }
        runtime.copy(address(dst), address(src), size as u64)
    }

    /// A hint, which cannot fail for a buffer that has bytes.
    fn hsa_memory_register(ptr: *mut c_void, size: usize) {
        let runtime = current()?;
        if size == 0 && !ptr.is_null() {
            return Err(Error::InvalidArgument("a buffer has at least one byte"));
        }
        runtime.register_own(address(ptr), size as u64);
        Ok(())
    }

    fn hsa_memory_deregister(ptr: *mut c_void, size: usize) {
        current()?.deregister_own(address(ptr), size as u64);
        Ok(())
    }

    fn hsa_memory_assign_agent(ptr: *mut c_void, agent: hsa_agent_t, access: Access) {
        let runtime = current()?;
        not_null(ptr)?;
        if ![Access::RO, Access::WO, Access::RW].contains(&access) {
            return Err(Error::InvalidArgument("not a kind of access that owns memory"));
        }
        let agent = runtime.agent_index(agent.handle)?;
        let allocation = runtime.memory.find(address(ptr));
        let of_another = allocation.filter(|a| {
            matches!(a.kind, AllocationKind::Device { .. }) && runtime.regions[a.region].agent != agent
        });
        match of_another {
            // The host sees what it can see of a device's memory without asking.
            Some(allocation) if !runtime.agents[agent].is_cpu() => {
                runtime.allow_access(&[agent], allocation.base)
            }
            _ => Ok(()),
        }
    }
}
