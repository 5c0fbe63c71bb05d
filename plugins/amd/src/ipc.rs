//! Memory shared with other processes of the same runtime.

use crate::args::{address, pointer, widen};
use crate::entry::{argument, entries};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_amd_ipc_memory_t};
use hansa_plugin_api::IpcName;
use std::ffi::c_void;

entries! {
    /// Names an allocation for other processes.
    fn hsa_amd_ipc_memory_create(call; ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t) {
        let result = call.out(handle)?;
        argument(!ptr.is_null() && len != 0)?;
        let name = call.sharing()?.ipc_export(address(ptr), len as u64)?;
        result.set(hsa_amd_ipc_memory_t { handle: name.words });
        Ok(())
    }

    /// Maps another process's allocation; no agents means all of them. A name of zeros is nobody's.
    fn hsa_amd_ipc_memory_attach(
        call; handle: *const hsa_amd_ipc_memory_t, len: usize, num_agents: u32, mapping_agents: *const hsa_agent_t,
        mapped_ptr: *mut *mut c_void,
    ) {
        let words = call.read(handle)?.handle;
        let result = call.out(mapped_ptr)?;
        let agents = call.agents(mapping_agents, widen(num_agents))?;
        argument(len != 0 && words != [0; 8])?;
        result.set(pointer(call.sharing()?.ipc_attach(IpcName { words }, len as u64, agents)?));
        Ok(())
    }

    /// Takes such a mapping back.
    fn hsa_amd_ipc_memory_detach(call; mapped_ptr: *mut c_void) {
        argument(!mapped_ptr.is_null())?;
        call.sharing()?.ipc_detach(address(mapped_ptr))?;
        Ok(())
    }
}
