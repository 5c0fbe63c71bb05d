//! Pointer information.

use crate::args::{address, narrow, pointer, widen, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_amd_pointer_info_t, hsa_status_t, PointerInfoAlloc};
use hansa_plugin_api::PointerInfo;
use std::ffi::c_void;
use std::mem::offset_of;

entries! {
    /// What is known about an address. Memory that is not the runtime's is an answer, not an error.
    fn hsa_amd_pointer_info(
        call; ptr: *const c_void, info: *mut hsa_amd_pointer_info_t, alloc: PointerInfoAlloc,
        num_agents_accessible: *mut u32, accessible: *mut *mut hsa_agent_t,
    ) {
        argument(!ptr.is_null())?;
        let size = call.read(info.cast::<u32>())?;
        argument(size != 0)?;
        let list = match (alloc, call.wanted(num_agents_accessible), call.wanted(accessible)) {
            (Some(alloc), Some(count), Some(first)) => Some((alloc, count, first)),
            _ => None,
        };
        let memory = call.memory()?;
        let mut found = PointerInfo::default();
        if list.is_some() || memory.pointer_facts(address(ptr), &mut found).is_err() {
            // An older runtime has only this.
            found = memory.pointer_info(address(ptr), list.is_some())?;
        }
        if let Some((alloc, count, first)) = list {
            // At least one element, so that NULL always means that there is no memory.
            let bytes = size_of::<hsa_agent_t>() * found.agents.len().max(1);
            // SAFETY: the program's allocator, called as its contract says.
            let array = unsafe { alloc(bytes) };
            ensure(!array.is_null(), hsa_status_t::ERROR_OUT_OF_RESOURCES)?;
            call.value(array)?.put_all(found.agents.as_slice());
            count.set(u32::try_from(found.agents.len()).map_err(|_| hsa_status_t::ERROR)?);
            first.set(array.cast());
        }
        fill(call, info, size, &found)
    }

    /// Keeps a value beside the memory at an address.
    fn hsa_amd_pointer_info_set_userdata(call; ptr: *const c_void, userdata: *mut c_void) {
        argument(!ptr.is_null())?;
        call.memory()?.set_user_data(address(ptr), address(userdata))?;
        Ok(())
    }
}

/// Writes the members that lie within `size`, and how much of the structure that is.
fn fill(call: &Call, info: *mut hsa_amd_pointer_info_t, size: u32, found: &PointerInfo) -> Outcome {
    let filled = widen(size).min(size_of::<hsa_amd_pointer_info_t>());
    macro_rules! members {
        ($($member:ident = $value:expr;)*) => {
            $({
                let (offset, value) = (offset_of!(hsa_amd_pointer_info_t, $member), $value);
                if offset + size_of_val(&value) <= filled {
                    call.out(info.wrapping_byte_add(offset).cast())?.set(value);
                }
            })*
        };
    }
    members! {
        r#type = found.kind;
        agentBaseAddress = pointer::<c_void>(found.agent_base);
        hostBaseAddress = pointer::<c_void>(found.host_base);
        sizeInBytes = narrow(found.bytes);
        userData = pointer::<c_void>(found.user_data);
        agentOwner = hsa_agent_t { handle: found.owner };
        global_flags = found.global_flags;
        registered = found.registered;
        alloc_flags = found.alloc_flags;
    }
    let filled = u32::try_from(filled).map_err(|_| hsa_status_t::ERROR)?;
    call.out(info.cast::<u32>())?.set(filled);
    Ok(())
}
