//! Events of scratch memory, for the tools that asked for them in `ToolsApiTable`.

use crate::table;
use hansa_core::queue::scratch_events::ScratchEvent;
use hansa_plugin_api::hsa::{
    hsa_amd_event_scratch_alloc_end_t, hsa_amd_event_scratch_alloc_flag_t as Flag,
    hsa_amd_event_scratch_alloc_start_t, hsa_amd_event_scratch_async_reclaim_end_t,
    hsa_amd_event_scratch_async_reclaim_start_t, hsa_amd_event_scratch_free_end_t,
    hsa_amd_event_scratch_free_start_t, hsa_amd_tool_event, hsa_amd_tool_event_kind_t as Kind,
    hsa_amd_tool_event_t, hsa_queue_t, ToolsApiTable,
};

/// Calls what tools put into a member of the table, if anything. Its answer is the tool's business.
fn tell(member: impl FnOnce(*const ToolsApiTable) -> *const hsa_amd_tool_event, event: hsa_amd_tool_event_t) {
    let slot = table::TOOLS.member(member);
    // SAFETY: the slot is aligned and holds a callback or NULL. A tool may replace it at any time; the load is one
    // instruction.
    if let Some(callback) = unsafe { slot.read_volatile() } {
        // SAFETY: a tool's callback for this event, which lives for the call.
        unsafe { callback(event) };
    }
}

/// The address of a member.
macro_rules! member {
    ($field:ident) => {
        |table| {
            // SAFETY: the pointer is that of a static table.
            unsafe { &raw const (*table).$field }
        }
    };
}

fn queue_at(handle: u64) -> *const hsa_queue_t {
    std::ptr::with_exposed_provenance(usize::try_from(handle).unwrap_or(0))
}

fn kind_of(once: bool) -> Flag {
    if once {
        Flag::USE_ONCE
    } else {
        Flag::NONE
    }
}

/// Passes an event on.
pub(crate) fn report(event: ScratchEvent) {
    match event {
        ScratchEvent::AllocStart {
            queue,
            dispatch,
            once,
        } => {
            let event = hsa_amd_event_scratch_alloc_start_t {
                kind: Kind::SCRATCH_ALLOC_START,
                queue: queue_at(queue),
                flags: kind_of(once),
                dispatch_id: dispatch,
            };
            let scratch_alloc_start = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_alloc_start_fn),
                hsa_amd_tool_event_t { scratch_alloc_start },
            );
        }
        ScratchEvent::AllocEnd {
            queue,
            dispatch,
            bytes,
            waves,
            once,
        } => {
            let event = hsa_amd_event_scratch_alloc_end_t {
                kind: Kind::SCRATCH_ALLOC_END,
                queue: queue_at(queue),
                flags: kind_of(once),
                dispatch_id: dispatch,
                size: usize::try_from(bytes).unwrap_or(usize::MAX),
                num_slots: usize::try_from(waves).unwrap_or(usize::MAX),
            };
            let scratch_alloc_end = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_alloc_end_fn),
                hsa_amd_tool_event_t { scratch_alloc_end },
            );
        }
        ScratchEvent::FreeStart { queue, once } => {
            let event = hsa_amd_event_scratch_free_start_t {
                kind: Kind::SCRATCH_FREE_START,
                queue: queue_at(queue),
                flags: kind_of(once),
            };
            let scratch_free_start = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_free_start_fn),
                hsa_amd_tool_event_t { scratch_free_start },
            );
        }
        ScratchEvent::FreeEnd { queue, once } => {
            let event = hsa_amd_event_scratch_free_end_t {
                kind: Kind::SCRATCH_FREE_END,
                queue: queue_at(queue),
                flags: kind_of(once),
            };
            let scratch_free_end = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_free_end_fn),
                hsa_amd_tool_event_t { scratch_free_end },
            );
        }
        ScratchEvent::ReclaimStart { queue } => {
            let event = hsa_amd_event_scratch_async_reclaim_start_t {
                kind: Kind::SCRATCH_ASYNC_RECLAIM_START,
                queue: queue_at(queue),
                flags: Flag::NONE,
            };
            let scratch_async_reclaim_start = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_async_reclaim_start_fn),
                hsa_amd_tool_event_t {
                    scratch_async_reclaim_start,
                },
            );
        }
        ScratchEvent::ReclaimEnd { queue } => {
            let event = hsa_amd_event_scratch_async_reclaim_end_t {
                kind: Kind::SCRATCH_ASYNC_RECLAIM_END,
                queue: queue_at(queue),
                flags: Flag::NONE,
            };
            let scratch_async_reclaim_end = &raw const event;
            tell(
                member!(hsa_amd_tool_scratch_event_async_reclaim_end_fn),
                hsa_amd_tool_event_t {
                    scratch_async_reclaim_end,
                },
            );
        }
    }
}
