//! AMD's signal attributes and asynchronous handlers.

use core::ffi::c_void;

use super::amd_ipc::hsa_amd_ipc_memory_t;
use super::signal::hsa_signal_value_t;

abi_enum! {
    /// Attributes of `hsa_amd_signal_create`; a set of bits.
    hsa_amd_signal_attribute_t: u32 {
        /// Only GPUs wait on it.
        AMD_GPU_ONLY = 1 => HSA_AMD_SIGNAL_AMD_GPU_ONLY,
        /// It can be shared with other processes.
        IPC = 2 => HSA_AMD_SIGNAL_IPC,
    }
}

/// Called when a signal meets its condition; true keeps it registered.
pub type hsa_amd_signal_handler =
    Option<unsafe extern "C" fn(value: hsa_signal_value_t, arg: *mut c_void) -> bool>;

/// Called once on the event thread.
pub type AsyncCallback = Option<unsafe extern "C" fn(arg: *mut c_void)>;

/// Names a shared signal to another process.
pub type hsa_amd_ipc_signal_t = hsa_amd_ipc_memory_t;
