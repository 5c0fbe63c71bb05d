//! What the runtime knows of an address.

use core::ffi::c_void;

use super::agent::hsa_agent_t;

abi_enum! {
    /// Kind of memory an address belongs to.
    hsa_amd_pointer_type_t: u32 {
        /// Not known here.
        UNKNOWN = 0 => HSA_EXT_POINTER_TYPE_UNKNOWN,
        /// Allocated here.
        HSA = 1 => HSA_EXT_POINTER_TYPE_HSA,
        /// Pinned memory of the program.
        LOCKED = 2 => HSA_EXT_POINTER_TYPE_LOCKED,
        /// A buffer of another API.
        GRAPHICS = 3 => HSA_EXT_POINTER_TYPE_GRAPHICS,
        /// Shared by another process.
        IPC = 4 => HSA_EXT_POINTER_TYPE_IPC,
        /// Reserved addresses without memory.
        RESERVED_ADDR = 5 => HSA_EXT_POINTER_TYPE_RESERVED_ADDR,
        /// Memory of the virtual memory calls.
        HSA_VMEM = 6 => HSA_EXT_POINTER_TYPE_HSA_VMEM,
    }
}

abi_enum! {
    /// How memory was allocated; a set of bits.
    hsa_amd_pointer_info_alloc_flag_t: u32 {
        /// Code may live here.
        EXECUTABLE = 1 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_EXECUTABLE,
        /// Physically contiguous.
        CONTIGUOUS = 2 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_CONTIGUOUS,
        /// Pinned.
        NONPAGED = 4 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_NONPAGED,
        /// Read-only.
        READONLY = 8 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_READONLY,
        /// The host reaches it.
        HOST_ACCESS = 16 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_HOST_ACCESS,
        /// All atomics at system scope.
        ATOMIC_FULL = 32 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_ATOMIC_FULL,
        /// The atomics of PCIe.
        ATOMIC_PARTIAL = 64 => HSA_AMD_POINTER_INFO_ALLOC_FLAG_ATOMIC_PARTIAL,
    }
}

abi_struct! {
    /// What is known of an address. Members past `size` are left alone.
    hsa_amd_pointer_info_t {
        /// Bytes of this structure: set by the caller, lowered to what is filled.
        size: u32,
        /// Kind of memory.
        r#type: hsa_amd_pointer_type_t,
        /// First byte as agents see it.
        agentBaseAddress: *mut c_void,
        /// First byte as the host sees it; NULL when it does not.
        hostBaseAddress: *mut c_void,
        /// Bytes of the allocation.
        sizeInBytes: usize,
        /// Data that the program attached.
        userData: *mut c_void,
        /// Agent whose memory it is.
        agentOwner: hsa_agent_t,
        /// Flags of its pool.
        global_flags: u32,
        /// Whether the driver knows it.
        registered: bool,
        /// `hsa_amd_pointer_info_alloc_flag_t` bits.
        alloc_flags: u32,
    }
}

/// Allocates memory for a list; its size is given in bytes.
pub type PointerInfoAlloc = Option<unsafe extern "C" fn(size: usize) -> *mut c_void>;

/// Called when an allocation goes away.
pub type hsa_amd_deallocation_callback_t =
    Option<unsafe extern "C" fn(ptr: *mut c_void, user_data: *mut c_void)>;
