//! Virtual memory.

use crate::support::{at, program, GPU_AGENT, POOL, POOL_HANDLE};
use hansa_plugin_api::hsa::{
    hsa_access_permission_t, hsa_amd_memory_access_desc_t, hsa_amd_memory_pool_t, hsa_amd_memory_type_t,
    hsa_amd_vmem_alloc_handle_t, hsa_fabric_handle_t,
};
use std::ptr::{null, null_mut};

#[test]
fn virtual_memory_addresses_are_reserved_and_given_back() {
    let program = program();
    let mut va = null_mut();
    let out = &raw mut va;
    statuses! { program.amd;
        "NULL result": hsa_amd_vmem_address_reserve_fn(null_mut(), 4096, 0, 0) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_vmem_address_reserve_fn(out, 0, 0, 0) => ERROR_INVALID_ARGUMENT,
        "flags 2": hsa_amd_vmem_address_reserve_fn(out, 4096, 0, 2) => ERROR_INVALID_ARGUMENT,
        "alignment 3": hsa_amd_vmem_address_reserve_align_fn(out, 4096, 0, 3, 0) => ERROR_INVALID_ARGUMENT,
        "wish": hsa_amd_vmem_address_reserve_fn(out, 4096, 0x10000, 1) => SUCCESS,
        "alignment": hsa_amd_vmem_address_reserve_align_fn(out, 4096, 0, 65536, 0) => SUCCESS,
        "NULL": hsa_amd_vmem_address_free_fn(null_mut(), 4096) => ERROR_INVALID_ALLOCATION,
        "size 0": hsa_amd_vmem_address_free_fn(at(0x4500), 0) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_address_free_fn(at(0x4500), 4096) => SUCCESS,
    }
    assert_eq!(va.addr(), 0x4500);
    assert_eq!(
        program.calls(),
        [
            "vmem_reserve(4096, 0x10000, 0, 1)",
            "vmem_reserve(4096, 0x0, 65536, 0)",
            "vmem_release(0x4500, 4096)"
        ]
    );
}

#[test]
fn virtual_memory_is_made_mapped_and_given_access() {
    let program = program();
    let mut memory = hsa_amd_vmem_alloc_handle_t { handle: 0 };
    let out = &raw mut memory;
    let pinned = hsa_amd_memory_type_t::PINNED;
    statuses! { program.amd;
        "NULL handle": hsa_amd_vmem_handle_create_fn(POOL_HANDLE, 4096, pinned, 0, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_vmem_handle_create_fn(POOL_HANDLE, 0, pinned, 0, out) => ERROR_INVALID_ARGUMENT,
        "type 2": hsa_amd_vmem_handle_create_fn(POOL_HANDLE, 4096, hsa_amd_memory_type_t(2), 0, out)
            => ERROR_INVALID_ARGUMENT,
        "flags 0x10": hsa_amd_vmem_handle_create_fn(POOL_HANDLE, 4096, pinned, 0x10, out) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_handle_create_fn(POOL_HANDLE, 4096, pinned, 8, out) => SUCCESS,
    }
    assert_eq!(memory.handle, 0x41);
    let va = at(0x4500);
    let access = |permission: u32| hsa_amd_memory_access_desc_t {
        permissions: hsa_access_permission_t(permission),
        agent_handle: GPU_AGENT,
    };
    let (fine, wild) = ([access(3), access(7)], [access(3), access(8)]);
    let mut permission = hsa_access_permission_t(99);
    statuses! { program.amd;
        "NULL va": hsa_amd_vmem_map_fn(null_mut(), 4096, 0, memory, 0) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_vmem_map_fn(va, 0, 0, memory, 0) => ERROR_INVALID_ARGUMENT,
        "offset": hsa_amd_vmem_map_fn(va, 4096, 64, memory, 0) => ERROR_INVALID_ARGUMENT,
        "flags": hsa_amd_vmem_map_fn(va, 4096, 0, memory, 1) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_map_fn(va, 4096, 0, memory, 0) => SUCCESS,
        "NULL list": hsa_amd_vmem_set_access_fn(va, 4096, null(), 1) => ERROR_INVALID_ARGUMENT,
        "no list": hsa_amd_vmem_set_access_fn(va, 4096, fine.as_ptr(), 0) => ERROR_INVALID_ARGUMENT,
        "permission 8": hsa_amd_vmem_set_access_fn(va, 4096, wild.as_ptr(), 2) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_set_access_fn(va, 4096, fine.as_ptr(), 2) => SUCCESS,
        "NULL result": hsa_amd_vmem_get_access_fn(va, null_mut(), GPU_AGENT) => ERROR_INVALID_ARGUMENT,
        "NULL va": hsa_amd_vmem_get_access_fn(null_mut(), &raw mut permission, GPU_AGENT) => ERROR_INVALID_ALLOCATION,
        "fine": hsa_amd_vmem_get_access_fn(va, &raw mut permission, GPU_AGENT) => SUCCESS,
        "NULL va": hsa_amd_vmem_unmap_fn(null_mut(), 4096) => ERROR_INVALID_ALLOCATION,
        "size 0": hsa_amd_vmem_unmap_fn(va, 0) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_unmap_fn(va, 4096) => SUCCESS,
        "fine": hsa_amd_vmem_handle_release_fn(memory) => SUCCESS,
    }
    assert_eq!(permission, hsa_access_permission_t::RW);
    assert_eq!(
        program.calls(),
        [
            "vmem_create(0x21, 4096, 1, 8)",
            "vmem_map(0x4500, 4096, 0x41)",
            "vmem_set_access(0x4500, 4096, [(12, 3), (12, 7)])",
            "vmem_access(0x4500, 0x12)",
            "vmem_unmap(0x4500, 4096)",
            "vmem_destroy(0x41)"
        ]
    );
}

#[test]
fn virtual_memory_is_shared_by_descriptors_and_fabric_names() {
    let program = program();
    let memory = hsa_amd_vmem_alloc_handle_t { handle: 0x41 };
    let mut handle = hsa_amd_vmem_alloc_handle_t { handle: 0 };
    let out = &raw mut handle;
    let (mut descriptor, mut fabric) = (-1, hsa_fabric_handle_t { handle: [0; 16] });
    let (mut pool, mut kind) = (hsa_amd_memory_pool_t { handle: 0 }, hsa_amd_memory_type_t(9));
    statuses! { program.amd;
        "NULL result": hsa_amd_vmem_export_shareable_handle_fn(null_mut(), memory, 0) => ERROR_INVALID_ARGUMENT,
        "flags 2": hsa_amd_vmem_export_shareable_handle_fn(&raw mut descriptor, memory, 2) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_export_shareable_handle_fn(&raw mut descriptor, memory, 1) => SUCCESS,
        "NULL result": hsa_amd_vmem_import_shareable_handle_fn(8, null_mut()) => ERROR_INVALID_ARGUMENT,
        "-1": hsa_amd_vmem_import_shareable_handle_fn(-1, out) => ERROR_INVALID_ALLOCATION,
        "fine": hsa_amd_vmem_import_shareable_handle_fn(8, out) => SUCCESS,
    }
    assert_eq!((descriptor, handle.handle), (8, 0x42));
    statuses! { program.amd;
        "NULL result": hsa_amd_vmem_retain_alloc_handle_fn(null_mut(), at(64)) => ERROR_INVALID_ARGUMENT,
        "NULL address": hsa_amd_vmem_retain_alloc_handle_fn(out, null_mut()) => ERROR_INVALID_ALLOCATION,
        "fine": hsa_amd_vmem_retain_alloc_handle_fn(out, at(64)) => SUCCESS,
        "NULL pool": hsa_amd_vmem_get_alloc_properties_from_handle_fn(memory, null_mut(), &raw mut kind)
            => ERROR_INVALID_ARGUMENT,
        "NULL type": hsa_amd_vmem_get_alloc_properties_from_handle_fn(memory, &raw mut pool, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_get_alloc_properties_from_handle_fn(memory, &raw mut pool, &raw mut kind) => SUCCESS,
    }
    assert_eq!(
        (handle.handle, pool.handle, kind),
        (0x41, POOL, hsa_amd_memory_type_t::PINNED)
    );
    statuses! { program.amd;
        "NULL result": hsa_amd_vmem_export_fabric_handle_fn(null_mut(), memory, 0) => ERROR_INVALID_ARGUMENT,
        "flags 1": hsa_amd_vmem_export_fabric_handle_fn(&raw mut fabric, memory, 1) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_export_fabric_handle_fn(&raw mut fabric, memory, 0) => SUCCESS,
        "NULL result": hsa_amd_vmem_import_fabric_handle_fn(fabric, null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_vmem_import_fabric_handle_fn(fabric, out) => SUCCESS,
    }
    assert_eq!((fabric.handle, handle.handle), ([0xab; 16], 0x43));
    assert_eq!(
        program.calls(),
        [
            "vmem_export(0x41, 1)",
            "vmem_import(8)",
            "vmem_retain(0x40)",
            "vmem_properties(0x41)",
            "fabric_export(0x41)",
            "fabric_import(ab)"
        ]
    );
}
