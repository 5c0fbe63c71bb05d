//! Memory shared with processes, drivers and files.

use crate::support::{at, program, AGENTS};
use hansa_plugin_api::hsa::{hsa_amd_ais_file_handle_t, hsa_amd_ipc_memory_t};
use std::ptr::{null, null_mut};

#[test]
fn ipc_memory_passes_names_and_refuses_a_name_of_zeros() {
    let program = program();
    let mut name = hsa_amd_ipc_memory_t { handle: [0; 8] };
    let zeros = name;
    let mut mapped = null_mut();
    statuses! { program.amd;
        "NULL ptr": hsa_amd_ipc_memory_create_fn(null_mut(), 64, &raw mut name) => ERROR_INVALID_ARGUMENT,
        "length 0": hsa_amd_ipc_memory_create_fn(at(64), 0, &raw mut name) => ERROR_INVALID_ARGUMENT,
        "NULL handle": hsa_amd_ipc_memory_create_fn(at(64), 64, null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_ipc_memory_create_fn(at(64), 128, &raw mut name) => SUCCESS,
    }
    assert_eq!(name.handle, [1, 2, 3, 4, 5, 6, 7, 8]);
    let (agents, out) = (AGENTS.as_ptr(), &raw mut mapped);
    statuses! { program.amd;
        "zeros": hsa_amd_ipc_memory_attach_fn(&raw const zeros, 128, 0, null(), out) => ERROR_INVALID_ARGUMENT,
        "NULL handle": hsa_amd_ipc_memory_attach_fn(null(), 128, 0, null(), out) => ERROR_INVALID_ARGUMENT,
        "length 0": hsa_amd_ipc_memory_attach_fn(&raw const name, 0, 0, null(), out) => ERROR_INVALID_ARGUMENT,
        "NULL agents": hsa_amd_ipc_memory_attach_fn(&raw const name, 128, 1, null(), out) => ERROR_INVALID_ARGUMENT,
        "NULL result": hsa_amd_ipc_memory_attach_fn(&raw const name, 128, 0, null(), null_mut())
            => ERROR_INVALID_ARGUMENT,
        "all agents": hsa_amd_ipc_memory_attach_fn(&raw const name, 128, 0, agents, out) => SUCCESS,
        "two agents": hsa_amd_ipc_memory_attach_fn(&raw const name, 128, 2, agents, out) => SUCCESS,
        "NULL": hsa_amd_ipc_memory_detach_fn(null_mut()) => ERROR_INVALID_ARGUMENT,
        "fine": hsa_amd_ipc_memory_detach_fn(at(0x4200)) => SUCCESS,
    }
    assert_eq!(mapped.addr(), 0x4200);
    assert_eq!(
        program.calls(),
        [
            "ipc_export(0x40, 128)",
            "ipc_attach([1, 2, 3, 4, 5, 6, 7, 8], 128, [])",
            "agent_kind(0x11)",
            "agent_kind(0x12)",
            "ipc_attach([1, 2, 3, 4, 5, 6, 7, 8], 128, [11, 12])",
            "ipc_detach(0x4200)"
        ]
    );
}

#[test]
fn foreign_buffers_are_mapped_with_or_without_metadata() {
    let program = program();
    let mut agents = AGENTS;
    let agents = agents.as_mut_ptr();
    let (mut size, mut pointer, mut metadata_size, mut metadata) = (0_usize, null_mut(), 0_usize, null());
    let (size_at, pointer_at) = (&raw mut size, &raw mut pointer);
    let none = null_mut();
    statuses! { program.amd;
        "no agents": hsa_amd_interop_map_buffer_fn(0, agents, 5, 0, size_at, pointer_at, none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "NULL agents": hsa_amd_interop_map_buffer_fn(1, null_mut(), 5, 0, size_at, pointer_at, none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "NULL size": hsa_amd_interop_map_buffer_fn(1, agents, 5, 0, none, pointer_at, none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "NULL ptr": hsa_amd_interop_map_buffer_fn(1, agents, 5, 0, size_at, null_mut(), none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "flags 1": hsa_amd_interop_map_buffer_fn(1, agents, 5, 1, size_at, pointer_at, none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "handle -1": hsa_amd_interop_map_buffer_fn(1, agents, -1, 0, size_at, pointer_at, none, null_mut())
            => ERROR_INVALID_ARGUMENT,
        "no metadata": hsa_amd_interop_map_buffer_fn(1, agents, 5, 0, size_at, pointer_at, none, null_mut())
            => SUCCESS,
        "metadata and size": hsa_amd_interop_map_buffer_with_size_fn(
            2, agents, 5, 0, 4096, size_at, pointer_at, &raw mut metadata_size, &raw mut metadata
        ) => SUCCESS,
    }
    assert_eq!(
        (size, pointer.addr(), metadata_size, metadata.addr()),
        (1024, 0x4300, 48, 0x4400)
    );
    let calls: Vec<_> = program.calls();
    let maps = calls.iter().filter(|call| call.starts_with("interop_map"));
    assert_eq!(
        maps.collect::<Vec<_>>(),
        ["interop_map(5, 0, [11])", "interop_map(5, 4096, [11, 12])"]
    );
    assert!(calls.iter().any(|call| call == "agent_kind(0x12)"), "{calls:?}");
}

#[test]
fn dma_bufs_are_exported_and_closed() {
    let program = program();
    let (mut descriptor, mut offset) = (-1, 0);
    let (fd, off) = (&raw mut descriptor, &raw mut offset);
    let memory = at(0x4000).cast_const();
    statuses! { program.amd;
        "NULL ptr": hsa_amd_portable_export_dmabuf_fn(null(), 64, fd, off) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_portable_export_dmabuf_fn(memory, 0, fd, off) => ERROR_INVALID_ARGUMENT,
        "NULL dmabuf": hsa_amd_portable_export_dmabuf_fn(memory, 64, null_mut(), off) => ERROR_INVALID_ARGUMENT,
        "NULL offset": hsa_amd_portable_export_dmabuf_fn(memory, 64, fd, null_mut()) => ERROR_INVALID_ARGUMENT,
        "flags 2": hsa_amd_portable_export_dmabuf_v2_fn(memory, 64, fd, off, 2) => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!((descriptor, offset), (-1, 0));
    statuses! { program.amd;
        "fine": hsa_amd_portable_export_dmabuf_fn(memory, 64, fd, off) => SUCCESS,
        "PCIe": hsa_amd_portable_export_dmabuf_v2_fn(memory, 64, fd, off, 1) => SUCCESS,
        "-1": hsa_amd_portable_close_dmabuf_fn(-1) => ERROR_RESOURCE_FREE,
        "fine": hsa_amd_portable_close_dmabuf_fn(7) => SUCCESS,
    }
    assert_eq!((descriptor, offset), (7, 0x80));
    assert_eq!(
        program.calls(),
        [
            "dmabuf_export(0x4000, 64, 0)",
            "dmabuf_export(0x4000, 64, 1)",
            "dmabuf_close(7)"
        ]
    );
    program.fail("dmabuf_export", hansa_plugin_api::Error::not_supported("export"));
    statuses! { program.amd;
        "no driver has it": hsa_amd_portable_export_dmabuf_fn(memory, 64, fd, off) => ERROR_NOT_SUPPORTED,
    }
}

#[test]
fn file_transfers_report_bytes_and_the_systems_error() {
    let program = program();
    let file = |fd| hsa_amd_ais_file_handle_t { fd };
    let memory = at(0x4000);
    let (mut copied, mut status) = (99_u64, 99_i32);
    let (bytes, error) = (&raw mut copied, &raw mut status);
    statuses! { program.amd;
        "fd -1": hsa_amd_ais_file_write_fn(file(-1), memory, 64, 0, bytes, error) => ERROR_INVALID_ARGUMENT,
        "NULL memory": hsa_amd_ais_file_write_fn(file(4), null_mut(), 64, 0, bytes, error) => ERROR_INVALID_ARGUMENT,
        "size 0": hsa_amd_ais_file_read_fn(file(4), memory, 0, 0, bytes, error) => ERROR_INVALID_ARGUMENT,
        "offset -1": hsa_amd_ais_file_read_fn(file(4), memory, 64, -1, bytes, error) => ERROR_INVALID_ARGUMENT,
    }
    assert_eq!((copied, status), (99, 99));
    statuses! { program.amd;
        "write": hsa_amd_ais_file_write_fn(file(4), memory, 64, 0, bytes, error) => SUCCESS,
        "read": hsa_amd_ais_file_read_fn(file(4), memory, 64, 8, null_mut(), null_mut()) => SUCCESS,
    }
    assert_eq!((copied, status), (32, 0));
    statuses! { program.amd;
        "the system refuses": hsa_amd_ais_file_read_fn(file(4), memory, 64, 5, bytes, error) => ERROR,
    }
    assert_eq!((copied, status), (32, 5));
    assert_eq!(
        program.calls(),
        [
            "file_transfer(4, true, 64, 0)",
            "file_transfer(4, false, 64, 8)",
            "file_transfer(4, false, 64, 5)"
        ]
    );
}
