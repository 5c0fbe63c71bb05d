//! Buffers of other drivers, and dma-bufs for them.

use crate::args::{address, narrow, pointer, widen, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_amd_dma_buf_mapping_type_t, hsa_handle_t, hsa_status_t};
use hansa_plugin_api::InteropRequest;
use std::ffi::{c_int, c_void};

entries! {
    /// Maps a foreign buffer.
    fn hsa_amd_interop_map_buffer(
        call; num_agents: u32, agents: *mut hsa_agent_t, interop_handle: hsa_handle_t, flags: u32, size: *mut usize,
        ptr: *mut *mut c_void, metadata_size: *mut usize, metadata: *mut *const c_void,
    ) {
        let buffer = Buffer { descriptor: interop_handle, flags, size_hint: 0 };
        map(call, (num_agents, agents), buffer, (size, ptr), (metadata_size, metadata))
    }

    /// Maps a foreign buffer whose size the program may know; 0 if not.
    fn hsa_amd_interop_map_buffer_with_size(
        call; num_agents: u32, agents: *mut hsa_agent_t, interop_handle: hsa_handle_t, flags: u32, size_hint: usize,
        size: *mut usize, ptr: *mut *mut c_void, metadata_size: *mut usize, metadata: *mut *const c_void,
    ) {
        let buffer = Buffer { descriptor: interop_handle, flags, size_hint };
        map(call, (num_agents, agents), buffer, (size, ptr), (metadata_size, metadata))
    }

    /// Takes such a mapping back. What is none, NULL too, is fine.
    fn hsa_amd_interop_unmap_buffer(call; ptr: *mut c_void) {
        if !ptr.is_null() {
            call.sharing()?.interop_unmap(address(ptr))?;
        }
        Ok(())
    }

    /// Makes a dma-buf of a range.
    fn hsa_amd_portable_export_dmabuf(
        call; ptr: *const c_void, size: usize, dmabuf: *mut c_int, offset: *mut u64,
    ) {
        export(call, (ptr, size), (dmabuf, offset), 0)
    }

    /// Makes a dma-buf of a range for a kind of mapping.
    fn hsa_amd_portable_export_dmabuf_v2(
        call; ptr: *const c_void, size: usize, dmabuf: *mut c_int, offset: *mut u64, flags: u64,
    ) {
        export(call, (ptr, size), (dmabuf, offset), flags)
    }

    /// Closes a dma-buf.
    fn hsa_amd_portable_close_dmabuf(call; dmabuf: c_int) {
        ensure(dmabuf >= 0, hsa_status_t::ERROR_RESOURCE_FREE)?;
        call.sharing()?.dmabuf_close(dmabuf)?;
        Ok(())
    }
}

/// All bits of `hsa_amd_dma_buf_mapping_type_t` are known. INVALID_ARGUMENT.
pub(crate) fn mapping_flags(flags: u64) -> Outcome {
    argument(flags & !u64::from(hsa_amd_dma_buf_mapping_type_t::PCIE.0) == 0)
}

struct Buffer {
    descriptor: hsa_handle_t,
    flags: u32,
    size_hint: usize,
}

fn map(
    call: &Call,
    (num_agents, agents): (u32, *mut hsa_agent_t),
    buffer: Buffer,
    (size, ptr): (*mut usize, *mut *mut c_void),
    (metadata_size, metadata): (*mut usize, *mut *const c_void),
) -> Outcome {
    let (size, ptr) = (call.out(size)?, call.out(ptr)?);
    let agents = call.agents(agents.cast_const(), widen(num_agents))?;
    argument(num_agents != 0 && buffer.flags == 0 && buffer.descriptor >= 0)?;
    let request = InteropRequest {
        descriptor: buffer.descriptor,
        reserved: 0,
        size_hint: buffer.size_hint as u64,
        agents,
    };
    let mapping = call.sharing()?.interop_map(&request)?;
    size.set(narrow(mapping.bytes));
    ptr.set(pointer(mapping.address));
    if let Some(result) = call.wanted(metadata_size) {
        result.set(narrow(mapping.metadata_bytes));
    }
    if let Some(result) = call.wanted(metadata) {
        result.set(pointer::<c_void>(mapping.metadata).cast_const());
    }
    Ok(())
}

fn export(
    call: &Call,
    (ptr, size): (*const c_void, usize),
    (dmabuf, offset): (*mut c_int, *mut u64),
    flags: u64,
) -> Outcome {
    let (dmabuf, offset) = (call.out(dmabuf)?, call.out(offset)?);
    argument(!ptr.is_null() && size != 0)?;
    mapping_flags(flags)?;
    let exported = call.sharing()?.dmabuf_export(address(ptr), size as u64, flags)?;
    dmabuf.set(exported.descriptor);
    offset.set(exported.offset);
    Ok(())
}
