//! The part of a queue that programs read (HSA Runtime PRM 1.2, section 2.5).

use core::ffi::c_void;

use super::signal::hsa_signal_t;
use super::status::hsa_status_t;

abi_enum! {
    /// Who may submit to a queue.
    hsa_queue_type_t: u32 {
        /// Any number of threads and agents.
        MULTI = 0 => HSA_QUEUE_TYPE_MULTI,
        /// One submitter at a time.
        SINGLE = 1 => HSA_QUEUE_TYPE_SINGLE,
        /// Work-groups of a dispatch may synchronise with each other.
        COOPERATIVE = 2 => HSA_QUEUE_TYPE_COOPERATIVE,
    }
}

/// `hsa_queue_type_t` in 32 bits.
pub type hsa_queue_type32_t = u32;

abi_enum! {
    /// Packets a queue takes; a set of bits.
    hsa_queue_feature_t: u32 {
        /// Kernel dispatch packets.
        KERNEL_DISPATCH = 1 => HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
        /// Agent dispatch packets.
        AGENT_DISPATCH = 2 => HSA_QUEUE_FEATURE_AGENT_DISPATCH,
    }
}

abi_struct! {
    /// The part of a queue that programs may read. Never write to it.
    hsa_queue_t {
        /// Who may submit: `hsa_queue_type_t`.
        r#type: hsa_queue_type32_t,
        /// Packets it takes: `hsa_queue_feature_t` bits.
        features: u32,
        /// First packet of the ring, 64-byte aligned.
        base_address: *mut c_void,
        /// Signal that announces packets: store the index of the last one.
        doorbell_signal: hsa_signal_t,
        /// Packets of the ring, a power of two.
        size: u32,
        /// Zero.
        reserved1: u32,
        /// Number of the queue, unique in its process.
        id: u64,
    }
}

/// Called when a queue meets an error.
pub type QueueErrorCallback =
    Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>;
