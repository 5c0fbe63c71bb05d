//! AMD's vendor packets: header type 0, format in the third byte.

use core::ffi::c_void;

use super::signal::{hsa_signal_t, hsa_signal_value_t};

/// Major version of this extension.
pub const HSA_AMD_INTERFACE_VERSION_MAJOR: u32 = 1;

/// Minor version of this extension.
pub const HSA_AMD_INTERFACE_VERSION_MINOR: u32 = 34;

/// `hsa_signal_condition_t` in 32 bits.
pub type hsa_signal_condition32_t = u32;

abi_enum! {
    /// Format of a vendor packet: the byte after its header.
    hsa_amd_packet_type_t: u32 {
        /// Wait until a signal meets a condition.
        BARRIER_VALUE = 2 => HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
        /// Run a kernel over clusters. On queues of AI engines of before 2026: an ERT packet.
        EXT_KERNEL_DISPATCH = 3 => HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH,
        /// Kept for a packet to come.
        RESERVED200 = 200 => HSA_AMD_PACKET_TYPE_RESERVED200,
    }
}

/// `hsa_amd_packet_type_t` in 8 bits.
pub type hsa_amd_packet_type8_t = u8;

abi_struct! {
    /// First four bytes of a vendor packet.
    hsa_amd_vendor_packet_header_t {
        /// Type, barrier and fences.
        header: u16,
        /// Format of the packet.
        AmdFormat: hsa_amd_packet_type8_t,
        /// Zero, or the setup byte of an extended dispatch.
        reserved: u8,
    }
}

abi_struct! {
    /// Holds the queue until the masked value of a signal meets a condition.
    hsa_amd_barrier_value_packet_t {
        /// Header with format `BARRIER_VALUE`.
        header: hsa_amd_vendor_packet_header_t,
        /// Zero.
        reserved0: u32,
        /// Signal to look at; 0 counts as met.
        signal: hsa_signal_t,
        /// Right side of the comparison.
        value: hsa_signal_value_t,
        /// The value of the signal is masked with this.
        mask: hsa_signal_value_t,
        /// How the two are compared: `hsa_signal_condition_t`.
        cond: hsa_signal_condition32_t,
        /// Zero.
        reserved1: u32,
        /// Zero.
        reserved2: u64,
        /// Zero.
        reserved3: u64,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}

abi_enum! {
    /// First bit of each field of a performance hint.
    hsa_amd_ext_perf_hint_subfield_t: u32 {
        /// Share of the storage kept for group memory.
        GROUP_MEM_CARVEOUT = 0 => HSA_AMD_EXT_PERF_HINT_GROUP_MEM_CARVEOUT,
        /// Start work-groups from the last.
        REVERSE_DISPATCH_ORDER = 7 => HSA_AMD_EXT_PERF_HINT_REVERSE_DISPATCH_ORDER,
    }
}

abi_enum! {
    /// Bits of each field of a performance hint.
    hsa_amd_ext_perf_hint_subfield_width_t: u32 {
        /// Share of the storage kept for group memory.
        GROUP_MEM_CARVEOUT = 7 => HSA_AMD_EXT_PERF_HINT_WIDTH_GROUP_MEM_CARVEOUT,
        /// Start work-groups from the last.
        REVERSE_DISPATCH_ORDER = 1 => HSA_AMD_EXT_PERF_HINT_WIDTH_REVERSE_DISPATCH_ORDER,
    }
}

/// Hints of an extended dispatch: carve-out in bits 0 to 6, reverse order in bit 7.
pub type hsa_amd_ext_perf_hint_t = u8;

abi_struct! {
    /// Runs a kernel over a grid of clusters of work-groups.
    hsa_amd_ext_kernel_dispatch_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// `EXT_KERNEL_DISPATCH`.
        amd_format: hsa_amd_packet_type8_t,
        /// Number of dimensions.
        setup: u8,
        /// Work-group extent along X.
        workgroup_size_x: u16,
        /// Work-group extent along Y.
        workgroup_size_y: u16,
        /// Work-group extent along Z.
        workgroup_size_z: u16,
        /// Zero.
        reserved0: u16,
        /// Grid extent along X, in clusters.
        cluster_count_x: u32,
        /// Grid extent along Y, in clusters.
        cluster_count_y: u16,
        /// Grid extent along Z, in clusters.
        cluster_count_z: u16,
        /// Cluster extent along X, in work-groups.
        cluster_size_x: u8,
        /// Cluster extent along Y, in work-groups.
        cluster_size_y: u8,
        /// Cluster extent along Z, in work-groups.
        cluster_size_z: u8,
        /// Hints.
        perf_hint: hsa_amd_ext_perf_hint_t,
        /// Private bytes of a work-item.
        private_segment_size: u32,
        /// Group bytes of a work-group.
        group_segment_size: u32,
        /// The kernel.
        kernel_object: u64,
        /// Kernel arguments; may be NULL.
        kernarg_address: *mut c_void,
        /// Start when this signal is 0; a 0 handle for at once.
        dep_signal: hsa_signal_t,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}
