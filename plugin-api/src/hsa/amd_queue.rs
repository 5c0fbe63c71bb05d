//! AMD's queue priorities, creation descriptors and properties.

use core::ffi::c_void;

use super::queue::{hsa_queue_t, hsa_queue_type32_t, QueueErrorCallback};

abi_enum! {
    /// Priority of a queue.
    hsa_amd_queue_priority_t: u32 {
        /// Below the others.
        LOW = 0 => HSA_AMD_QUEUE_PRIORITY_LOW,
        /// Default.
        NORMAL = 1 => HSA_AMD_QUEUE_PRIORITY_NORMAL,
        /// Above the others.
        HIGH = 2 => HSA_AMD_QUEUE_PRIORITY_HIGH,
    }
}

abi_enum! {
    /// Where the parts of a queue go; a set of bits.
    hsa_amd_queue_create_flag_t: u32 {
        /// Memory of the host.
        SYSTEM_MEM = 0 => HSA_AMD_QUEUE_CREATE_SYSTEM_MEM,
        /// Ring in device memory.
        DEVICE_MEM_RING_BUF = 1 => HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF,
        /// Descriptor in device memory.
        DEVICE_MEM_QUEUE_DESCRIPTOR = 2 => HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR,
    }
}

abi_enum! {
    /// Engine a queue feeds.
    hsa_amd_queue_engine_t: u32 {
        /// Compute, with AQL packets.
        COMPUTE = 0 => HSA_AMD_QUEUE_ENGINE_COMPUTE,
        /// Copy engine, with its own packets.
        SDMA = 1 => HSA_AMD_QUEUE_ENGINE_SDMA,
        /// AI engine.
        AIE = 2 => HSA_AMD_QUEUE_ENGINE_AIE,
    }
}

/// Any copy engine.
pub const HSA_AMD_SDMA_ENGINE_ID_ANY: u32 = u32::MAX;

/// Version of `hsa_amd_queue_create_desc_t`.
pub const HSA_AMD_QUEUE_CREATE_DESC_VERSION: u16 = 1;

/// Default private segment size.
pub const HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT: u32 = u32::MAX;

abi_struct! {
    /// What a compute queue needs.
    hsa_amd_compute_queue_params_t {
        /// Compute unit mask; NULL when it has no bits.
        cu_mask: *const u32,
        /// `hsa_queue_type_t`.
        r#type: hsa_queue_type32_t,
        /// Private bytes of a work-item to begin with.
        private_segment_size: u32,
        /// Bits of the mask, a multiple of 32; 0 for all units.
        cu_mask_count: u32,
        /// Zero.
        reserved: [u32; 3],
    }
}

abi_struct! {
    /// What a copy engine queue needs.
    hsa_amd_sdma_queue_params_t {
        /// Engine, or `HSA_AMD_SDMA_ENGINE_ID_ANY`.
        sdma_engine_id: u32,
        /// Zero.
        reserved: [u32; 7],
    }
}

abi_struct! {
    /// What an AI engine queue needs: nothing yet.
    hsa_amd_aie_queue_params_t {
        /// Zero.
        reserved: [u32; 8],
    }
}

/// What an engine needs for a queue: which arm holds is said by the engine type.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_queue_engine_params_t {
    /// For `COMPUTE`.
    pub compute: hsa_amd_compute_queue_params_t,
    /// For `SDMA`.
    pub sdma: hsa_amd_sdma_queue_params_t,
    /// For `AIE`.
    pub aie: hsa_amd_aie_queue_params_t,
    /// Fixes the size.
    pub reserved: [u8; 32],
}
opaque_debug!(hsa_amd_queue_engine_params_t);

abi_struct! {
    /// One queue to create.
    hsa_amd_queue_create_desc_t {
        /// `HSA_AMD_QUEUE_CREATE_DESC_VERSION`.
        version: u16,
        /// `hsa_amd_queue_create_flag_t` bits.
        flags: u16,
        /// `hsa_amd_queue_engine_t`.
        engine_type: u8,
        /// Zero.
        reserved_header: [u8; 3],
        /// Bytes of the ring, a power of two.
        queue_size_bytes: u32,
        /// Priority.
        priority: hsa_amd_queue_priority_t,
        /// Called on errors.
        callback: QueueErrorCallback,
        /// Passed to the callback.
        callback_data: *mut c_void,
        /// Out: the queue, null when it failed.
        queue: *mut hsa_queue_t,
        /// What the engine needs.
        engine: hsa_amd_queue_engine_params_t,
        /// Zero.
        traffic_class: u32,
        /// Zero.
        reserved: [u8; 20],
    }
}

abi_enum! {
    /// What `hsa_amd_queue_get_info` can be asked.
    hsa_queue_info_attribute_t: u32 {
        /// `hsa_agent_t`: its agent.
        AGENT = 0 => HSA_AMD_QUEUE_INFO_AGENT,
        /// `uint64_t`: address of its doorbell.
        DOORBELL_ID = 1 => HSA_AMD_QUEUE_INFO_DOORBELL_ID,
        /// `uint32_t`: users of the hardware queue; -1 when it is not counted.
        USE_COUNT = 2 => HSA_QUEUE_INFO_USE_COUNT,
        /// `uint32_t`: number of the hardware queue.
        HW_ID = 3 => HSA_QUEUE_INFO_HW_ID,
        /// `uint8_t`: major version of dispatch metadata; 0xFF for none.
        PREFETCH_METADATA_DISPATCH_PKT_VERSION_MAJOR = 4 => HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_DISPATCH_PKT_VERSION_MAJOR,
        /// `uint8_t`: minor version of dispatch metadata; 0xFF for none.
        PREFETCH_METADATA_DISPATCH_PKT_VERSION_MINOR = 5 => HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_DISPATCH_PKT_VERSION_MINOR,
        /// `uint8_t`: major version of barrier metadata; 0xFF for none.
        PREFETCH_METADATA_BARRIER_PKT_VERSION_MAJOR = 6 => HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_BARRIER_PKT_VERSION_MAJOR,
        /// `uint8_t`: minor version of barrier metadata; 0xFF for none.
        PREFETCH_METADATA_BARRIER_PKT_VERSION_MINOR = 7 => HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_BARRIER_PKT_VERSION_MINOR,
        /// `uint64_t`: address of the metadata ring.
        PREFETCH_METADATA_RING_BUFFER = 8 => HSA_AMD_QUEUE_INFO_PREFETCH_METADATA_RING_BUFFER,
        /// `uint8_t[8]`: property bits.
        PROPERTIES = 9 => HSA_AMD_QUEUE_INFO_PROPERTIES,
        /// `bool`: whether it met a memory fault.
        VM_FAULT_STATUS = 10 => HSA_AMD_QUEUE_INFO_VM_FAULT_STATUS,
        /// `uint64_t`: address of the fault.
        VM_FAULT_ADDRESS = 11 => HSA_AMD_QUEUE_INFO_VM_FAULT_ADDRESS,
        /// `uint32_t`: `hsa_amd_memory_fault_reason_t` bits.
        VM_FAULT_REASON = 12 => HSA_AMD_QUEUE_INFO_VM_FAULT_REASON,
        /// `hsa_amd_queue_engine_t`: its engine.
        ENGINE_TYPE = 13 => HSA_AMD_QUEUE_INFO_ENGINE_TYPE,
        /// `uint32_t`: its copy engine.
        SDMA_ENGINE_ID = 14 => HSA_AMD_QUEUE_INFO_SDMA_ENGINE_ID,
        /// `uint64_t`: address of the read index.
        READ_POINTER = 15 => HSA_AMD_QUEUE_INFO_READ_POINTER,
        /// `uint64_t`: address of the write index.
        WRITE_POINTER = 16 => HSA_AMD_QUEUE_INFO_WRITE_POINTER,
    }
}
