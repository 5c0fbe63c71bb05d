//! AQL packets of the standard: 64 bytes each (HSA Platform System Architecture 1.2, section 2.9).

use core::ffi::c_void;

use super::signal::hsa_signal_t;

abi_enum! {
    /// Type of a packet: the low byte of its header.
    hsa_packet_type_t: u32 {
        /// The rest is described by the vendor.
        VENDOR_SPECIFIC = 0 => HSA_PACKET_TYPE_VENDOR_SPECIFIC,
        /// The slot is free or being filled; the packet processor waits.
        INVALID = 1 => HSA_PACKET_TYPE_INVALID,
        /// Run a kernel.
        KERNEL_DISPATCH = 2 => HSA_PACKET_TYPE_KERNEL_DISPATCH,
        /// Wait until all signals named are 0.
        BARRIER_AND = 3 => HSA_PACKET_TYPE_BARRIER_AND,
        /// Call a service of an agent.
        AGENT_DISPATCH = 4 => HSA_PACKET_TYPE_AGENT_DISPATCH,
        /// Wait until one of the signals named is 0.
        BARRIER_OR = 5 => HSA_PACKET_TYPE_BARRIER_OR,
    }
}

abi_enum! {
    /// How far a fence reaches.
    hsa_fence_scope_t: u32 {
        /// No fence.
        NONE = 0 => HSA_FENCE_SCOPE_NONE,
        /// The agent.
        AGENT = 1 => HSA_FENCE_SCOPE_AGENT,
        /// Every agent of the system.
        SYSTEM = 2 => HSA_FENCE_SCOPE_SYSTEM,
    }
}

abi_enum! {
    /// First bit of each field of a packet header.
    hsa_packet_header_t: u32 {
        /// Packet type.
        TYPE = 0 => HSA_PACKET_HEADER_TYPE,
        /// Start only after all earlier packets have ended.
        BARRIER = 8 => HSA_PACKET_HEADER_BARRIER,
        /// Acquire fence before the work.
        SCACQUIRE_FENCE_SCOPE = 9 => HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,
        /// Older name of the acquire field.
        ACQUIRE_FENCE_SCOPE = 9 => HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE,
        /// Release fence after the work.
        SCRELEASE_FENCE_SCOPE = 11 => HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
        /// Older name of the release field.
        RELEASE_FENCE_SCOPE = 11 => HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE,
    }
}

abi_enum! {
    /// Bits of each field of a packet header.
    hsa_packet_header_width_t: u32 {
        /// Packet type.
        TYPE = 8 => HSA_PACKET_HEADER_WIDTH_TYPE,
        /// Barrier bit.
        BARRIER = 1 => HSA_PACKET_HEADER_WIDTH_BARRIER,
        /// Acquire fence.
        SCACQUIRE_FENCE_SCOPE = 2 => HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE,
        /// Older name of the acquire field.
        ACQUIRE_FENCE_SCOPE = 2 => HSA_PACKET_HEADER_WIDTH_ACQUIRE_FENCE_SCOPE,
        /// Release fence.
        SCRELEASE_FENCE_SCOPE = 2 => HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE,
        /// Older name of the release field.
        RELEASE_FENCE_SCOPE = 2 => HSA_PACKET_HEADER_WIDTH_RELEASE_FENCE_SCOPE,
    }
}

abi_enum! {
    /// First bit of each field of the setup word.
    hsa_kernel_dispatch_packet_setup_t: u32 {
        /// Number of grid dimensions, 1 to 3.
        DIMENSIONS = 0 => HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
    }
}

abi_enum! {
    /// Bits of each field of the setup word.
    hsa_kernel_dispatch_packet_setup_width_t: u32 {
        /// Number of grid dimensions.
        DIMENSIONS = 2 => HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS,
    }
}

abi_struct! {
    /// Runs a kernel over a grid.
    hsa_kernel_dispatch_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// Number of dimensions.
        setup: u16,
        /// Work-group extent along X.
        workgroup_size_x: u16,
        /// Work-group extent along Y.
        workgroup_size_y: u16,
        /// Work-group extent along Z.
        workgroup_size_z: u16,
        /// Zero.
        reserved0: u16,
        /// Grid extent along X, in work-items.
        grid_size_x: u32,
        /// Grid extent along Y, in work-items.
        grid_size_y: u32,
        /// Grid extent along Z, in work-items.
        grid_size_z: u32,
        /// Private bytes of a work-item.
        private_segment_size: u32,
        /// Group bytes of a work-group.
        group_segment_size: u32,
        /// The kernel: `HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT` of its symbol.
        kernel_object: u64,
        /// Kernel arguments; may be NULL.
        kernarg_address: *mut c_void,
        /// Zero.
        reserved2: u64,
        /// Decremented when the kernel has ended; 0 for none.
        completion_signal: hsa_signal_t,
    }
}

abi_struct! {
    /// Calls a service of the agent that serves the queue.
    hsa_agent_dispatch_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// Number of the service.
        r#type: u16,
        /// Zero.
        reserved0: u32,
        /// Where results go; may be NULL.
        return_address: *mut c_void,
        /// Arguments.
        arg: [u64; 4],
        /// Zero.
        reserved2: u64,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}

abi_struct! {
    /// Holds the queue until every signal named has become 0.
    hsa_barrier_and_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// Zero.
        reserved0: u16,
        /// Zero.
        reserved1: u32,
        /// Signals to look at; 0 entries are skipped.
        dep_signal: [hsa_signal_t; 5],
        /// Zero.
        reserved2: u64,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}

abi_struct! {
    /// Holds the queue until one signal named has become 0.
    hsa_barrier_or_packet_t {
        /// Type, barrier and fences.
        header: u16,
        /// Zero.
        reserved0: u16,
        /// Zero.
        reserved1: u32,
        /// Signals to look at; 0 entries are skipped.
        dep_signal: [hsa_signal_t; 5],
        /// Zero.
        reserved2: u64,
        /// Decremented at the end; 0 for none.
        completion_signal: hsa_signal_t,
    }
}
