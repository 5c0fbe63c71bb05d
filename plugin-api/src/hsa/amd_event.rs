//! System events: memory faults and hardware exceptions.

use core::ffi::c_void;

use super::agent::hsa_agent_t;
use super::status::hsa_status_t;

abi_enum! {
    /// Kind of a system event.
    hsa_amd_event_type_t: u32 {
        /// A kernel used memory it may not touch.
        GPU_MEMORY_FAULT_EVENT = 0 => HSA_AMD_GPU_MEMORY_FAULT_EVENT,
        /// A GPU met a hardware exception.
        GPU_HW_EXCEPTION_EVENT = 1 => HSA_AMD_GPU_HW_EXCEPTION_EVENT,
        /// Memory of a GPU is in error.
        GPU_MEMORY_ERROR_EVENT = 2 => HSA_AMD_GPU_MEMORY_ERROR_EVENT,
        /// The system shuts down; there is no further data.
        SYSTEM_SHUTDOWN_EVENT = 3 => HSA_AMD_SYSTEM_SHUTDOWN_EVENT,
    }
}

abi_enum! {
    /// Why memory could not be used; a set of bits.
    hsa_amd_memory_fault_reason_t: u32 {
        /// No page there.
        PAGE_NOT_PRESENT = 1 << 0 => HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT,
        /// Write to a read-only page.
        READ_ONLY = 1 << 1 => HSA_AMD_MEMORY_FAULT_READ_ONLY,
        /// Code in a page without the right to execute.
        NX = 1 << 2 => HSA_AMD_MEMORY_FAULT_NX,
        /// Page of the host only.
        HOST_ONLY = 1 << 3 => HSA_AMD_MEMORY_FAULT_HOST_ONLY,
        /// Memory error.
        DRAMECC = 1 << 4 => HSA_AMD_MEMORY_FAULT_DRAMECC,
        /// The address is not exact.
        IMPRECISE = 1 << 5 => HSA_AMD_MEMORY_FAULT_IMPRECISE,
        /// Register or cache error.
        SRAMECC = 1 << 6 => HSA_AMD_MEMORY_FAULT_SRAMECC,
        /// Reset after a hang.
        HANG = 1 << 31 => HSA_AMD_MEMORY_FAULT_HANG,
    }
}

abi_struct! {
    /// Data of a memory fault.
    hsa_amd_gpu_memory_fault_info_t {
        /// Agent that faulted.
        agent: hsa_agent_t,
        /// Address it used.
        virtual_address: u64,
        /// `hsa_amd_memory_fault_reason_t` bits.
        fault_reason_mask: u32,
    }
}

abi_enum! {
    /// What is wrong with memory; a set of bits.
    hsa_amd_memory_error_reason_t: u32 {
        /// In use by hardware, so it cannot be released.
        MEMORY_IN_USE = 1 << 0 => HSA_AMD_MEMORY_ERROR_MEMORY_IN_USE,
    }
}

abi_struct! {
    /// Data of a memory error.
    hsa_amd_gpu_memory_error_info_t {
        /// Agent concerned.
        agent: hsa_agent_t,
        /// Address concerned.
        virtual_address: u64,
        /// `hsa_amd_memory_error_reason_t` bits.
        error_reason_mask: u32,
    }
}

abi_enum! {
    /// Kind of a reset; a set of bits.
    hsa_amd_hw_exception_reset_type_t: u32 {
        /// Not told.
        OTHER = 1 << 0 => HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER,
    }
}

abi_enum! {
    /// Cause of a reset; a set of bits.
    hsa_amd_hw_exception_reset_cause_t: u32 {
        /// Hang.
        GPU_HANG = 1 << 0 => HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG,
        /// Memory error.
        ECC = 1 << 1 => HSA_AMD_HW_EXCEPTION_CAUSE_ECC,
    }
}

abi_struct! {
    /// Data of a hardware exception.
    hsa_amd_gpu_hw_exception_info_t {
        /// Agent concerned.
        agent: hsa_agent_t,
        /// Kind of the reset.
        reset_type: hsa_amd_hw_exception_reset_type_t,
        /// Its cause.
        reset_cause: hsa_amd_hw_exception_reset_cause_t,
    }
}

/// Data of a system event: which arm holds is said by the type of the event.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_event_data_t {
    /// For `GPU_MEMORY_FAULT_EVENT`.
    pub memory_fault: hsa_amd_gpu_memory_fault_info_t,
    /// For `GPU_HW_EXCEPTION_EVENT`.
    pub hw_exception: hsa_amd_gpu_hw_exception_info_t,
    /// For `GPU_MEMORY_ERROR_EVENT`.
    pub memory_error: hsa_amd_gpu_memory_error_info_t,
}
opaque_debug!(hsa_amd_event_data_t);

abi_struct! {
    /// A system event. The union has no name in C.
    hsa_amd_event_t {
        /// Kind; says which arm of the data holds.
        event_type: hsa_amd_event_type_t,
        /// Data of the event.
        data: hsa_amd_event_data_t,
    }
}

/// Called for a system event; success means it was dealt with.
pub type hsa_amd_system_event_callback_t =
    Option<unsafe extern "C" fn(event: *const hsa_amd_event_t, data: *mut c_void) -> hsa_status_t>;
