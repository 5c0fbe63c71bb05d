//! Queues.

use super::{request, READ, WRITE};

/// PM4 packets.
pub const QUEUE_TYPE_COMPUTE: u32 = 0;
/// Copy engine.
pub const QUEUE_TYPE_SDMA: u32 = 1;
/// AQL packets.
pub const QUEUE_TYPE_COMPUTE_AQL: u32 = 2;
/// Copy engine on a link.
pub const QUEUE_TYPE_SDMA_XGMI: u32 = 3;
/// Copy engine by number.
pub const QUEUE_TYPE_SDMA_BY_ENG_ID: u32 = 4;

/// Largest share of a device, in percent.
pub const MAX_QUEUE_PERCENTAGE: u32 = 100;
/// Largest priority.
pub const MAX_QUEUE_PRIORITY: u32 = 15;

request! {
    /// A queue to be made. Addresses are of memory that the device sees.
    CreateQueue = 0x02, READ | WRITE, "CREATE_QUEUE", size 96 {
        /// The ring.
        ring_base_address: u64 = 0,
        /// The write index.
        write_pointer_address: u64 = 8,
        /// The read index.
        read_pointer_address: u64 = 16,
        /// On return: where the doorbell is, see [`crate::doorbell`].
        doorbell_offset: u64 = 24,
        /// Bytes of the ring.
        ring_size: u32 = 32,
        /// The device.
        gpu_id: u32 = 36,
        /// What it takes.
        queue_type: u32 = 40,
        /// Share in percent.
        queue_percentage: u32 = 44,
        /// Priority.
        queue_priority: u32 = 48,
        /// On return: its number.
        queue_id: u32 = 52,
        /// Memory for end-of-pipe events.
        eop_buffer_address: u64 = 56,
        /// Bytes of it.
        eop_buffer_size: u64 = 64,
        /// Memory that waves are saved to.
        ctx_save_restore_address: u64 = 72,
        /// Bytes of it.
        ctx_save_restore_size: u32 = 80,
        /// Bytes of the control stack in it.
        ctl_stack_size: u32 = 84,
        /// Number of the copy engine.
        sdma_engine_id: u32 = 88,
        /// Zero.
        pad: u32 = 92,
    }
}

request! {
    /// A queue to be destroyed.
    DestroyQueue = 0x03, READ | WRITE, "DESTROY_QUEUE", size 8 {
        /// Its number.
        queue_id: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

request! {
    /// New values of a queue.
    UpdateQueue = 0x07, WRITE, "UPDATE_QUEUE", size 24 {
        /// The ring.
        ring_base_address: u64 = 0,
        /// The queue.
        queue_id: u32 = 8,
        /// Bytes of the ring.
        ring_size: u32 = 12,
        /// Share in percent; 0 stops the queue.
        queue_percentage: u32 = 16,
        /// Priority.
        queue_priority: u32 = 20,
    }
}

request! {
    /// The compute units of a queue.
    SetCuMask = 0x1a, WRITE, "SET_CU_MASK", size 16 {
        /// The queue.
        queue_id: u32 = 0,
        /// Bits, a multiple of 32.
        num_cu_mask: u32 = 4,
        /// Words with the bits.
        cu_mask_ptr: u64 = 8,
    }
}

request! {
    /// Where a stopped queue's waves were saved.
    GetQueueWaveState = 0x1b, READ | WRITE, "GET_QUEUE_WAVE_STATE", size 24 {
        /// Room for the control stack.
        ctl_stack_address: u64 = 0,
        /// On return: bytes of it.
        ctl_stack_used_size: u32 = 8,
        /// On return: bytes of the save area.
        save_area_used_size: u32 = 12,
        /// The queue.
        queue_id: u32 = 16,
        /// Zero.
        pad: u32 = 20,
    }
}

request! {
    /// Global wave sync resources for a queue.
    AllocQueueGws = 0x1e, READ | WRITE, "ALLOC_QUEUE_GWS", size 16 {
        /// The queue.
        queue_id: u32 = 0,
        /// How many.
        num_gws: u32 = 4,
        /// On return: the first one.
        first_gws: u32 = 8,
        /// Zero.
        pad: u32 = 12,
    }
}

/// The head of each die's part of the save area. The kernel writes the first four words.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSaveAreaHeader {
    /// Where the saved control stack starts.
    pub control_stack_offset: u32,
    /// Bytes of it.
    pub control_stack_size: u32,
    /// Where the saved waves start.
    pub wave_state_offset: u32,
    /// Bytes of them.
    pub wave_state_size: u32,
    /// Where the debugger's part starts, from this header.
    pub debug_offset: u32,
    /// Bytes of it.
    pub debug_size: u32,
    /// Word that the kernel reports exceptions in.
    pub err_payload_addr: u64,
    /// Event that it raises then.
    pub err_event_id: u32,
    /// Zero.
    pub reserved1: u32,
}
const _: () = {
    assert!(size_of::<ContextSaveAreaHeader>() == 40);
    assert!(std::mem::offset_of!(ContextSaveAreaHeader, debug_offset) == 16);
    assert!(std::mem::offset_of!(ContextSaveAreaHeader, err_payload_addr) == 24);
};
