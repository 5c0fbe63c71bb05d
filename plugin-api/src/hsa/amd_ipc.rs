//! Sharing memory and semaphores with other processes and other APIs.

use core::ffi::{c_int, c_void};

abi_struct! {
    /// Names an allocation to another process.
    hsa_amd_ipc_memory_t {
        /// The name.
        handle: [u32; 8],
    }
}

abi_enum! {
    /// Kind of a semaphore of another API.
    hsa_amd_external_semaphore_handle_type_t: u32 {
        /// Windows handle.
        OPAQUE_WIN32 = 0 => HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32,
        /// Global Windows handle.
        OPAQUE_WIN32_KMT = 1 => HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_KMT,
        /// File descriptor.
        OPAQUE_FD = 2 => HSA_AMD_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
    }
}

abi_handle! {
    /// Names an imported semaphore.
    hsa_amd_external_semaphore_t
}

/// The handle of a semaphore of another API: which arm holds is said by the type beside it.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_external_semaphore_os_handle_t {
    /// For the Windows kinds.
    pub win32_handle: *mut c_void,
    /// For `OPAQUE_FD`.
    pub fd: c_int,
}
opaque_debug!(hsa_amd_external_semaphore_os_handle_t);

abi_struct! {
    /// A semaphore of another API, to be imported.
    hsa_amd_external_semaphore_handle_descriptor_t {
        /// Kind.
        r#type: hsa_amd_external_semaphore_handle_type_t,
        /// The semaphore.
        handle: hsa_amd_external_semaphore_os_handle_t,
    }
}

/// An open file for direct copies between storage and devices.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_ais_file_handle_t {
    /// Handle on Windows.
    pub handle: *mut c_void,
    /// File descriptor on Linux.
    pub fd: c_int,
    /// Keeps the size.
    pub pad: [u8; 8],
}
opaque_debug!(hsa_amd_ais_file_handle_t);
