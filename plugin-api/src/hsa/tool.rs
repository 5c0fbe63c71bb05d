//! Events that the runtime reports to tools through `ToolsApiTable`.

use super::queue::hsa_queue_t;
use super::status::hsa_status_t;

abi_enum! {
    /// Kind of a scratch allocation; a set of bits.
    hsa_amd_event_scratch_alloc_flag_t: u32 {
        /// Nothing special.
        NONE = 0 => HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_NONE,
        /// For one dispatch.
        USE_ONCE = 1 => HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE,
        /// The alternate scratch.
        ALT = 2 => HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT,
    }
}

abi_enum! {
    /// Kind of an event.
    hsa_amd_tool_event_kind_t: u32 {
        /// Below all kinds.
        MIN = 0 => HSA_AMD_TOOL_EVENT_MIN,
        /// The allocation begins.
        SCRATCH_ALLOC_START = 1 => HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START,
        /// The allocation has ended.
        SCRATCH_ALLOC_END = 2 => HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END,
        /// The release begins.
        SCRATCH_FREE_START = 3 => HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START,
        /// The release has ended.
        SCRATCH_FREE_END = 4 => HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END,
        /// The reclaim begins.
        SCRATCH_ASYNC_RECLAIM_START = 5 => HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START,
        /// The reclaim has ended.
        SCRATCH_ASYNC_RECLAIM_END = 6 => HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END,
        /// Above all kinds.
        MAX = 7 => HSA_AMD_TOOL_EVENT_MAX,
    }
}

abi_struct! {
    /// What all events begin with.
    hsa_amd_tool_event_none_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
    }
}

abi_struct! {
    /// The allocation begins.
    hsa_amd_event_scratch_alloc_start_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
        /// Dispatch that needs it.
        dispatch_id: u64,
    }
}

abi_struct! {
    /// The allocation has ended.
    hsa_amd_event_scratch_alloc_end_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
        /// Dispatch that needs it.
        dispatch_id: u64,
        /// Bytes.
        size: usize,
        /// Waves it serves.
        num_slots: usize,
    }
}

abi_struct! {
    /// The release begins.
    hsa_amd_event_scratch_free_start_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
    }
}

abi_struct! {
    /// The release has ended.
    hsa_amd_event_scratch_free_end_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
    }
}

abi_struct! {
    /// The reclaim begins.
    hsa_amd_event_scratch_async_reclaim_start_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
    }
}

abi_struct! {
    /// The reclaim has ended.
    hsa_amd_event_scratch_async_reclaim_end_t {
        /// Kind.
        kind: hsa_amd_tool_event_kind_t,
        /// Queue.
        queue: *const hsa_queue_t,
        /// Kind of the allocation.
        flags: hsa_amd_event_scratch_alloc_flag_t,
    }
}

/// Any event; `kind` of `none` says which.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hsa_amd_tool_event_t {
    /// What all begin with.
    pub none: *const hsa_amd_tool_event_none_t,
    /// The allocation begins.
    pub scratch_alloc_start: *const hsa_amd_event_scratch_alloc_start_t,
    /// The allocation has ended.
    pub scratch_alloc_end: *const hsa_amd_event_scratch_alloc_end_t,
    /// The release begins.
    pub scratch_free_start: *const hsa_amd_event_scratch_free_start_t,
    /// The release has ended.
    pub scratch_free_end: *const hsa_amd_event_scratch_free_end_t,
    /// The reclaim begins.
    pub scratch_async_reclaim_start: *const hsa_amd_event_scratch_async_reclaim_start_t,
    /// The reclaim has ended.
    pub scratch_async_reclaim_end: *const hsa_amd_event_scratch_async_reclaim_end_t,
}
opaque_debug!(hsa_amd_tool_event_t);

/// Called by the runtime for an event.
pub type hsa_amd_tool_event = Option<unsafe extern "C" fn(event: hsa_amd_tool_event_t) -> hsa_status_t>;
