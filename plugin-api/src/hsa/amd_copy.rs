//! Asynchronous copies, single, rectangular and in batches.

use core::ffi::c_void;

use super::agent::hsa_agent_t;
use super::signal::hsa_signal_t;

abi_struct! {
    /// Memory of rows and layers.
    hsa_pitched_ptr_t {
        /// First byte.
        base: *mut c_void,
        /// Bytes from row to row.
        pitch: usize,
        /// Bytes from layer to layer.
        slice: usize,
    }
}

abi_enum! {
    /// Direction of a rectangle copy.
    hsa_amd_copy_direction_t: u32 {
        /// Host to host.
        HOST_TO_HOST = 0 => hsaHostToHost,
        /// Host to device.
        HOST_TO_DEVICE = 1 => hsaHostToDevice,
        /// Device to host.
        DEVICE_TO_HOST = 2 => hsaDeviceToHost,
        /// Device to device.
        DEVICE_TO_DEVICE = 3 => hsaDeviceToDevice,
    }
}

abi_enum! {
    /// Kind of an operation of a batch.
    hsa_amd_memory_copy_op_type_t: u32 {
        /// Copy.
        LINEAR = 0 => HSA_AMD_MEMORY_COPY_OP_LINEAR,
        /// Copy one source to several destinations.
        LINEAR_BROADCAST = 1 => HSA_AMD_MEMORY_COPY_OP_LINEAR_BROADCAST,
        /// Exchange two buffers.
        LINEAR_SWAP = 2 => HSA_AMD_MEMORY_COPY_OP_LINEAR_SWAP,
        /// Copy from where a pointer in memory points.
        LINEAR_INDIRECT_SRC = 3 => HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRC,
        /// Copy to where a pointer in memory points.
        LINEAR_INDIRECT_DST = 4 => HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_DST,
        /// Both.
        LINEAR_INDIRECT_SRCDST = 5 => HSA_AMD_MEMORY_COPY_OP_LINEAR_INDIRECT_SRCDST,
    }
}

abi_enum! {
    /// Comparison an operation waits for.
    hsa_amd_memory_copy_wait_function_t: u32 {
        /// No wait.
        ALWAYS = 0 => HSA_AMD_MEMORY_COPY_WAIT_ALWAYS,
        /// Less.
        LT = 1 => HSA_AMD_MEMORY_COPY_WAIT_LT,
        /// Less or equal.
        LE = 2 => HSA_AMD_MEMORY_COPY_WAIT_LE,
        /// Equal.
        EQ = 3 => HSA_AMD_MEMORY_COPY_WAIT_EQ,
        /// Not equal.
        NE = 4 => HSA_AMD_MEMORY_COPY_WAIT_NE,
        /// Greater or equal.
        GE = 5 => HSA_AMD_MEMORY_COPY_WAIT_GE,
        /// Greater.
        GT = 6 => HSA_AMD_MEMORY_COPY_WAIT_GT,
    }
}

abi_enum! {
    /// What an operation does to memory at its end.
    hsa_amd_memory_copy_signal_op_t: u32 {
        /// Nothing.
        NONE = 0 => HSA_AMD_MEMORY_COPY_SIGNAL_NONE,
        /// Store 64 bits.
        WRITE = 1 => HSA_AMD_MEMORY_COPY_SIGNAL_WRITE,
        /// Add 64 bits.
        ADD = 2 => HSA_AMD_MEMORY_COPY_SIGNAL_ADD,
        /// Subtract 64 bits.
        SUB = 3 => HSA_AMD_MEMORY_COPY_SIGNAL_SUB,
    }
}

/// Version of `hsa_amd_memory_copy_op_t`.
pub const HSA_AMD_MEMORY_COPY_OP_VERSION: u16 = 1;

abi_struct! {
    /// What an operation of a batch waits for; an unnamed structure in C.
    hsa_amd_memory_copy_wait_t {
        /// `hsa_amd_memory_copy_wait_function_t`.
        function: u16,
        /// `hsa_fence_scope_t`.
        scope: u16,
        /// Zero.
        reserved: u32,
        /// Address to poll.
        addr: *mut c_void,
        /// Right side of the comparison.
        value: u64,
        /// Mask of the left side.
        mask: u64,
    }
}

abi_struct! {
    /// What an operation of a batch does at its end; an unnamed structure in C.
    hsa_amd_memory_copy_signal_t {
        /// `hsa_amd_memory_copy_signal_op_t`.
        operation: u16,
        /// `hsa_fence_scope_t`.
        scope: u16,
        /// Zero.
        reserved: u32,
        /// Address to change.
        addr: *mut c_void,
        /// Operand.
        data: u64,
    }
}

abi_struct! {
    /// One operation of a batch. The unions of C are flattened to their first arm: with num_entries > 0 the words hold addresses of lists.
    hsa_amd_memory_copy_op_t {
        /// `HSA_AMD_MEMORY_COPY_OP_VERSION`.
        version: u16,
        /// `hsa_amd_memory_copy_op_type_t`.
        r#type: u16,
        /// Entries of the lists; 0 for a single copy.
        num_entries: u16,
        /// 0 for the default.
        traffic_class: u16,
        /// Decremented at the end; the same in the whole batch.
        completion_signal: hsa_signal_t,
        /// Source, or list of sources.
        src: *mut c_void,
        /// Agent of the source.
        src_agent: hsa_agent_t,
        /// Agent of the destination, or list of agents.
        dst_agent: hsa_agent_t,
        /// Destination, or list of destinations.
        dst: *mut c_void,
        /// Bytes, or list of sizes, or bytes of the source of an exchange.
        size: usize,
        /// Bytes of the destination of an exchange, else 0.
        dst_size: usize,
        /// What to wait for before.
        wait: hsa_amd_memory_copy_wait_t,
        /// What to do after.
        signal: hsa_amd_memory_copy_signal_t,
        /// Zero.
        reserved1: [u64; 1],
    }
}
