//! Dispatch packet of AMD's AI engines, interface 1.0.

use core::ffi::c_void;

use super::signal::hsa_signal_t;

/// Major version of this interface.
pub const HSA_AMD_AIE_INTERFACE_VERSION_MAJOR: u32 = 1;

/// Minor version of this interface.
pub const HSA_AMD_AIE_INTERFACE_VERSION_MINOR: u32 = 0;

abi_enum! {
    /// Type of a packet.
    hsa_amd_aie_packet_type_t: u32 {
        /// To be processed.
        READY = 0 => HSA_AMD_AIE_PACKET_TYPE_READY,
        /// Free.
        INVALID = 1 => HSA_AMD_AIE_PACKET_TYPE_INVALID,
    }
}

abi_enum! {
    /// What a packet asks for.
    hsa_amd_aie_packet_opcode_t: u32 {
        /// A kernel through the queue of the driver.
        KMQ = 0 => HSA_AMD_AIE_PACKET_OPCODE_KMQ,
    }
}

abi_struct! {
    /// Runs a kernel on an array of AI engines.
    hsa_amd_aie_kernel_dispatch_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// `hsa_amd_aie_packet_opcode_t`.
        opcode: u16,
        /// 24: bytes from behind the completion signal up to the arguments.
        count: u16,
        /// Zero.
        reserved0: u8,
        /// Zero.
        reserved1: u8,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
        /// Zero.
        reserved2: u32,
        /// Low half of the kernel.
        kernel_object_low: u32,
        /// High half of the kernel.
        kernel_object_high: u32,
        /// Number of arguments.
        num_kernargs: u16,
        /// Zero.
        reserved3: u16,
        /// Addresses of all arguments, then their sizes, 64 bits each.
        kernarg_address: *mut c_void,
        /// Zero.
        reserved4: u64,
        /// Zero.
        reserved5: *mut c_void,
        /// Zero.
        reserved6: u64,
    }
}
