//! Virtual memory: addresses and memory apart.

use crate::args::{address, pointer, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use crate::interop::mapping_flags;
use crate::pools::POOL_FLAGS;
use hansa_plugin_api::hsa::{
    hsa_access_permission_t, hsa_agent_t, hsa_amd_memory_access_desc_t, hsa_amd_memory_pool_t,
    hsa_amd_memory_type_t, hsa_amd_vmem_address_reserve_flag_t, hsa_amd_vmem_alloc_handle_t,
    hsa_fabric_handle_t, hsa_status_t,
};
use hansa_plugin_api::{FabricName, VmemAccess};
use std::ffi::{c_int, c_void};

/// All bits of `hsa_access_permission_t`: read and write, and the one for execution that the loader extension 1.4 asks
/// for. The header that names the latter is not published; 4 is the next free bit.
const PERMISSIONS: u32 = hsa_access_permission_t::RW.0 | 4;

entries! {
    /// Reserves addresses.
    fn hsa_amd_vmem_address_reserve(call; va: *mut *mut c_void, size: usize, address: u64, flags: u64) {
        reserve(call, va, size, address, 0, flags)
    }

    /// Reserves aligned addresses.
    fn hsa_amd_vmem_address_reserve_align(
        call; va: *mut *mut c_void, size: usize, address: u64, alignment: u64, flags: u64,
    ) {
        argument(alignment == 0 || alignment.is_power_of_two())?;
        reserve(call, va, size, address, alignment, flags)
    }

    /// Gives addresses back.
    fn hsa_amd_vmem_address_free(call; va: *mut c_void, size: usize) {
        mapped(va)?;
        argument(size != 0)?;
        call.sharing()?.vmem_release(address(va), size as u64)?;
        Ok(())
    }

    /// Allocates memory without an address.
    fn hsa_amd_vmem_handle_create(
        call; pool: hsa_amd_memory_pool_t, size: usize, kind: hsa_amd_memory_type_t, flags: u64,
        memory_handle: *mut hsa_amd_vmem_alloc_handle_t,
    ) {
        let result = call.out(memory_handle)?;
        argument(size != 0 && kind.c_name().is_some() && flags & !u64::from(POOL_FLAGS) == 0)?;
        let handle = call.sharing()?.vmem_create(pool.handle, size as u64, kind.0, flags)?;
        result.set(hsa_amd_vmem_alloc_handle_t { handle });
        Ok(())
    }

    /// Lets go of memory without an address.
    fn hsa_amd_vmem_handle_release(call; memory_handle: hsa_amd_vmem_alloc_handle_t) {
        call.sharing()?.vmem_destroy(memory_handle.handle)?;
        Ok(())
    }

    /// Puts memory at addresses. Parts of memory and flags are not defined yet.
    fn hsa_amd_vmem_map(
        call; va: *mut c_void, size: usize, in_offset: usize, memory_handle: hsa_amd_vmem_alloc_handle_t, flags: u64,
    ) {
        argument(!va.is_null() && size != 0 && in_offset == 0 && flags == 0)?;
        call.sharing()?.vmem_map(address(va), size as u64, memory_handle.handle)?;
        Ok(())
    }

    /// Takes memory away from addresses.
    fn hsa_amd_vmem_unmap(call; va: *mut c_void, size: usize) {
        mapped(va)?;
        argument(size != 0)?;
        call.sharing()?.vmem_unmap(address(va), size as u64)?;
        Ok(())
    }

    /// Says what agents may do with mapped memory.
    fn hsa_amd_vmem_set_access(
        call; va: *mut c_void, size: usize, desc: *const hsa_amd_memory_access_desc_t, desc_cnt: usize,
    ) {
        argument(!va.is_null() && size != 0 && desc_cnt != 0)?;
        let access: Vec<VmemAccess> = call
            .list(desc, desc_cnt)?
            .iter()
            .map(|one| VmemAccess { agent: one.agent_handle.handle, permission: one.permissions.0, reserved: 0 })
            .collect();
        argument(access.iter().all(|one| one.permission & !PERMISSIONS == 0))?;
        call.sharing()?.vmem_set_access(address(va), size as u64, access.as_slice().into())?;
        Ok(())
    }

    /// What an agent may do with mapped memory.
    fn hsa_amd_vmem_get_access(
        call; va: *mut c_void, perms: *mut hsa_access_permission_t, agent_handle: hsa_agent_t,
    ) {
        let result = call.out(perms)?;
        mapped(va)?;
        let permission = call.sharing()?.vmem_access(address(va), agent_handle.handle)?;
        result.set(hsa_access_permission_t(permission));
        Ok(())
    }

    /// Makes a dma-buf of memory.
    fn hsa_amd_vmem_export_shareable_handle(
        call; dmabuf_fd: *mut c_int, handle: hsa_amd_vmem_alloc_handle_t, flags: u64,
    ) {
        let result = call.out(dmabuf_fd)?;
        mapping_flags(flags)?;
        result.set(call.sharing()?.vmem_export(handle.handle, flags)?);
        Ok(())
    }

    /// Makes memory of a dma-buf.
    fn hsa_amd_vmem_import_shareable_handle(
        call; dmabuf_fd: c_int, handle: *mut hsa_amd_vmem_alloc_handle_t,
    ) {
        let result = call.out(handle)?;
        ensure(dmabuf_fd >= 0, hsa_status_t::ERROR_INVALID_ALLOCATION)?;
        result.set(hsa_amd_vmem_alloc_handle_t { handle: call.sharing()?.vmem_import(dmabuf_fd)? });
        Ok(())
    }

    /// The memory at an address.
    fn hsa_amd_vmem_retain_alloc_handle(
        call; memory_handle: *mut hsa_amd_vmem_alloc_handle_t, addr: *mut c_void,
    ) {
        let result = call.out(memory_handle)?;
        mapped(addr)?;
        result.set(hsa_amd_vmem_alloc_handle_t { handle: call.sharing()?.vmem_retain(address(addr))? });
        Ok(())
    }

    /// Pool and kind of memory.
    fn hsa_amd_vmem_get_alloc_properties_from_handle(
        call; memory_handle: hsa_amd_vmem_alloc_handle_t, pool: *mut hsa_amd_memory_pool_t,
        kind: *mut hsa_amd_memory_type_t,
    ) {
        let (pool, kind) = (call.out(pool)?, call.out(kind)?);
        let properties = call.sharing()?.vmem_properties(memory_handle.handle)?;
        pool.set(hsa_amd_memory_pool_t { handle: properties.pool });
        kind.set(hsa_amd_memory_type_t(properties.kind));
        Ok(())
    }

    /// Names memory for a fabric. Flags are not defined yet.
    fn hsa_amd_vmem_export_fabric_handle(
        call; fabric_handle: *mut hsa_fabric_handle_t, handle: hsa_amd_vmem_alloc_handle_t, flags: u64,
    ) {
        let result = call.out(fabric_handle)?;
        argument(flags == 0)?;
        result.set(hsa_fabric_handle_t { handle: call.sharing()?.fabric_export(handle.handle)?.bytes });
        Ok(())
    }

    /// Makes memory of a fabric's name.
    fn hsa_amd_vmem_import_fabric_handle(
        call; fabric_handle: hsa_fabric_handle_t, handle: *mut hsa_amd_vmem_alloc_handle_t,
    ) {
        let result = call.out(handle)?;
        let name = FabricName { bytes: fabric_handle.handle };
        result.set(hsa_amd_vmem_alloc_handle_t { handle: call.sharing()?.fabric_import(name)? });
        Ok(())
    }
}

fn reserve(call: &Call, va: *mut *mut c_void, size: usize, wish: u64, alignment: u64, flags: u64) -> Outcome {
    let result = call.out(va)?;
    argument(size != 0 && flags & !u64::from(hsa_amd_vmem_address_reserve_flag_t::NO_REGISTER.0) == 0)?;
    result.set(pointer(call.sharing()?.vmem_reserve(
        size as u64,
        wish,
        alignment,
        flags,
    )?));
    Ok(())
}

/// Something may be mapped at the address. INVALID_ALLOCATION for NULL.
fn mapped(va: *const c_void) -> Outcome {
    ensure(!va.is_null(), hsa_status_t::ERROR_INVALID_ALLOCATION)
}
