//! Files straight to and from device memory.

use crate::args::{address, Call};
use crate::entry::{argument, ensure, entries, Outcome};
use hansa_plugin_api::hsa::{hsa_amd_ais_file_handle_t, hsa_status_t};
use hansa_plugin_api::FileTransfer;
use std::ffi::c_void;

entries! {
    /// Writes device memory to a file.
    fn hsa_amd_ais_file_write(
        call; handle: hsa_amd_ais_file_handle_t, device: *mut c_void, size: u64, file_offset: i64,
        size_copied: *mut u64, status: *mut i32,
    ) {
        transfer(call, handle, true, (device, size, file_offset), (size_copied, status))
    }

    /// Reads a file into device memory.
    fn hsa_amd_ais_file_read(
        call; handle: hsa_amd_ais_file_handle_t, device: *mut c_void, size: u64, file_offset: i64,
        size_copied: *mut u64, status: *mut i32,
    ) {
        transfer(call, handle, false, (device, size, file_offset), (size_copied, status))
    }
}

fn transfer(
    call: &Call,
    handle: hsa_amd_ais_file_handle_t,
    write: bool,
    (device, size, offset): (*mut c_void, u64, i64),
    (size_copied, status): (*mut u64, *mut i32),
) -> Outcome {
    // SAFETY: every bit pattern of the union is an integer; on Linux it is the descriptor.
    let descriptor = unsafe { handle.fd };
    argument(descriptor >= 0 && !device.is_null() && size != 0 && offset >= 0)?;
    let request = FileTransfer {
        descriptor,
        write,
        address: address(device),
        bytes: size,
        offset,
    };
    let outcome = call.sharing()?.file_transfer(&request)?;
    if let Some(result) = call.wanted(size_copied) {
        result.set(outcome.bytes);
    }
    if let Some(result) = call.wanted(status) {
        result.set(outcome.status);
    }
    ensure(outcome.status == 0, hsa_status_t::ERROR)
}
