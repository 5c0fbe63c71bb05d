//! The queue descriptor that AMD's packet processors read and write.

use super::queue::hsa_queue_t;
use super::signal::hsa_signal_t;

/// `amd_queue_properties_t` in 32 bits.
pub type amd_queue_properties32_t = u32;

abi_bits! {
    /// Properties of a queue.
    amd_queue_properties_t {
        /// The trap handler runs.
        ENABLE_TRAP_HANDLER = 0, 1 => AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER,
        /// Addresses have 64 bits.
        IS_PTR64 = 1, 1 => AMD_QUEUE_PROPERTIES_IS_PTR64,
        /// The trap handler gets debug registers.
        ENABLE_TRAP_HANDLER_DEBUG_SGPRS = 2, 1 => AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS,
        /// Packets write time stamps.
        ENABLE_PROFILING = 3, 1 => AMD_QUEUE_PROPERTIES_ENABLE_PROFILING,
        /// Scratch is given back after a dispatch.
        USE_SCRATCH_ONCE = 4, 1 => AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE,
        /// Zero.
        RESERVED1 = 5, 27 => AMD_QUEUE_PROPERTIES_RESERVED1,
    }
}

/// `amd_queue_capabilities_t` in 32 bits.
pub type amd_queue_capabilities32_t = u32;

abi_bits! {
    /// What the two sides of a queue can do.
    amd_queue_capabilities_t {
        /// The firmware gives scratch back at any time; it sets this bit.
        CP_ASYNC_RECLAIM = 0, 1 => AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM,
        /// The runtime keeps the fields of version 2; it sets this bit.
        SW_ASYNC_RECLAIM = 1, 1 => AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM,
    }
}

abi_struct! {
    /// Descriptor of a hardware queue. Its address is that of the `hsa_queue_t`.
    #[repr(align(64))]
    amd_queue_t {
        /// The part that programs may read.
        hsa_queue: hsa_queue_t,
        /// `amd_queue_capabilities_t` bits.
        caps: u32,
        /// Zero.
        reserved1: [u32; 3],
        /// Write index.
        write_dispatch_id: u64,
        /// High half of the group aperture.
        group_segment_aperture_base_hi: u32,
        /// High half of the private aperture.
        private_segment_aperture_base_hi: u32,
        /// Compute units less 1.
        max_cu_id: u32,
        /// Waves of a compute unit less 1.
        max_wave_id: u32,
        /// Highest packet rung for, plus 1, with old doorbells.
        max_legacy_doorbell_dispatch_id_plus_1: u64,
        /// Lock of old doorbells.
        legacy_doorbell_lock: u32,
        /// Zero.
        reserved2: [u32; 9],
        /// Read index.
        read_dispatch_id: u64,
        /// Offset of the read index in this structure.
        read_dispatch_id_field_base_byte_offset: u32,
        /// Scratch waves and bytes, as the register wants them.
        compute_tmpring_size: u32,
        /// Buffer resource of the scratch.
        scratch_resource_descriptor: [u32; 4],
        /// Address of the scratch.
        scratch_backing_memory_location: u64,
        /// Bytes of the scratch.
        scratch_backing_memory_byte_size: u64,
        /// Scratch bytes of a lane of 64.
        scratch_wave64_lane_byte_size: u32,
        /// `amd_queue_properties_t` bits.
        queue_properties: amd_queue_properties32_t,
        /// Zero; version 2 has a field here.
        reserved4: [u32; 2],
        /// Non-zero when the queue has stopped; the value says why.
        queue_inactive_signal: hsa_signal_t,
        /// Zero; version 2 has fields here.
        reserved5: [u32; 14],
    }
}

abi_struct! {
    /// Last dispatch of one die that used scratch.
    amd_queue_scratch_index_t {
        /// Of the main scratch.
        main: u64,
        /// Of the alternate scratch.
        alt: u64,
    }
}

abi_struct! {
    /// Descriptor of a hardware queue whose scratch can be reclaimed: `amd_queue_t` with more fields.
    #[repr(align(64))]
    amd_queue_v2_t {
        /// The part that programs may read.
        hsa_queue: hsa_queue_t,
        /// `amd_queue_capabilities_t` bits.
        caps: u32,
        /// Zero.
        reserved1: [u32; 3],
        /// Write index.
        write_dispatch_id: u64,
        /// High half of the group aperture.
        group_segment_aperture_base_hi: u32,
        /// High half of the private aperture.
        private_segment_aperture_base_hi: u32,
        /// Compute units less 1.
        max_cu_id: u32,
        /// Waves of a compute unit less 1.
        max_wave_id: u32,
        /// Highest packet rung for, plus 1, with old doorbells.
        max_legacy_doorbell_dispatch_id_plus_1: u64,
        /// Lock of old doorbells.
        legacy_doorbell_lock: u32,
        /// Zero.
        reserved2: [u32; 9],
        /// Read index.
        read_dispatch_id: u64,
        /// Offset of the read index in this structure.
        read_dispatch_id_field_base_byte_offset: u32,
        /// Scratch waves and bytes, as the register wants them.
        compute_tmpring_size: u32,
        /// Buffer resource of the scratch.
        scratch_resource_descriptor: [u32; 4],
        /// Address of the scratch.
        scratch_backing_memory_location: u64,
        /// Bytes of the scratch.
        scratch_backing_memory_byte_size: u64,
        /// Scratch bytes of a lane of 64.
        scratch_wave64_lane_byte_size: u32,
        /// `amd_queue_properties_t` bits.
        queue_properties: amd_queue_properties32_t,
        /// Last dispatch that may use the main scratch.
        scratch_max_use_index: u64,
        /// Non-zero when the queue has stopped; the value says why.
        queue_inactive_signal: hsa_signal_t,
        /// Last dispatch that may use the alternate scratch.
        alt_scratch_max_use_index: u64,
        /// Buffer resource of the alternate scratch.
        alt_scratch_resource_descriptor: [u32; 4],
        /// Address of the alternate scratch.
        alt_scratch_backing_memory_location: u64,
        /// Largest grid along X for the alternate scratch.
        alt_scratch_dispatch_limit_x: u32,
        /// Largest grid along Y for the alternate scratch.
        alt_scratch_dispatch_limit_y: u32,
        /// Largest grid along Z for the alternate scratch.
        alt_scratch_dispatch_limit_z: u32,
        /// Alternate scratch bytes of a lane of 64.
        alt_scratch_wave64_lane_byte_size: u32,
        /// Alternate scratch waves and bytes, as the register wants them.
        alt_compute_tmpring_size: u32,
        /// Zero.
        reserved5: u32,
        /// Last use of the scratch, for each die.
        scratch_last_used_index: [amd_queue_scratch_index_t; 128],
    }
}
