//! Host memory for agents, and filling.

use crate::args::{address, pointer, Call};
use crate::callbacks::free_callback;
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_deallocation_callback_t, hsa_amd_memory_pool_t, hsa_status_t,
};
use hansa_plugin_api::LockRequest;
use std::ffi::{c_int, c_void};

entries! {
    /// Makes host memory visible to agents, coarse-grained.
    fn hsa_amd_memory_lock(
        call; host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: c_int,
        agent_ptr: *mut *mut c_void,
    ) {
        lock(call, (host_ptr, size), (agents, num_agent), 0, agent_ptr)
    }

    /// Makes host memory visible to agents with the properties of a pool.
    fn hsa_amd_memory_lock_to_pool(
        call; host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t, num_agent: c_int,
        pool: hsa_amd_memory_pool_t, flags: u32, agent_ptr: *mut *mut c_void,
    ) {
        argument(flags == 0)?;
        ensure(pool.handle != 0, hsa_status_t::ERROR_INVALID_MEMORY_POOL)?;
        lock(call, (host_ptr, size), (agents, num_agent), pool.handle, agent_ptr)
    }

    /// Takes back a lock. What is not locked, NULL too, is fine: programs unlock more than they locked.
    fn hsa_amd_memory_unlock(call; host_ptr: *mut c_void) {
        if !host_ptr.is_null() {
            call.memory()?.unlock(address(host_ptr))?;
        }
        Ok(())
    }

    /// Fills memory with a word. A bad pointer is an error even if there is nothing to fill.
    fn hsa_amd_memory_fill(call; ptr: *mut c_void, value: u32, count: usize) {
        argument(!ptr.is_null() && ptr.cast::<u32>().is_aligned())?;
        if count != 0 {
            call.memory()?.fill(address(ptr), value, count as u64)?;
        }
        Ok(())
    }

    /// Calls a function when an allocation is freed.
    fn hsa_amd_register_deallocation_callback(
        call; ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t, user_data: *mut c_void,
    ) {
        argument(!ptr.is_null())?;
        call.memory()?.on_free(address(ptr), free_callback(callback, user_data)?)?;
        Ok(())
    }

    /// Takes such a function back.
    fn hsa_amd_deregister_deallocation_callback(
        call; ptr: *mut c_void, callback: hsa_amd_deallocation_callback_t,
    ) {
        argument(!ptr.is_null())?;
        call.memory()?.cancel_on_free(address(ptr), free_callback(callback, std::ptr::null_mut())?)?;
        Ok(())
    }
}

fn lock(
    call: &Call,
    (host_ptr, size): (*mut c_void, usize),
    (agents, num_agent): (*mut hsa_agent_t, c_int),
    pool: u64,
    agent_ptr: *mut *mut c_void,
) -> Outcome {
    let result = call.out(agent_ptr)?;
    argument(!host_ptr.is_null() && size != 0)?;
    let count = usize::try_from(num_agent).map_err(|_| hsa_status_t::ERROR_INVALID_ARGUMENT)?;
    argument(agents.is_null() == (count == 0))?;
    let request = LockRequest {
        address: address(host_ptr),
        bytes: size as u64,
        agents: call.handles(agents, count)?,
        pool,
    };
    result.set(pointer(call.memory()?.lock(&request)?));
    Ok(())
}
