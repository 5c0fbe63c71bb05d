//! What tools hear of scratch: when a queue is given some, and when it goes.
//!
//! The events are those of AMD's `ToolsApiTable`.

use std::sync::OnceLock;

/// Something that happens with the scratch of a queue, which is named by its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchEvent {
    /// An allocation begins.
    AllocStart {
        /// The queue.
        queue: u64,
        /// The dispatch that needs it.
        dispatch: u64,
        /// For that dispatch alone.
        once: bool,
    },
    /// It has ended.
    AllocEnd {
        /// The queue.
        queue: u64,
        /// The dispatch that needs it.
        dispatch: u64,
        /// Bytes that were allocated; 0 when there were none.
        bytes: u64,
        /// Waves that can use it at once.
        waves: u64,
        /// For that dispatch alone.
        once: bool,
    },
    /// A release begins.
    FreeStart {
        /// The queue.
        queue: u64,
        /// It was for one dispatch.
        once: bool,
    },
    /// It has ended.
    FreeEnd {
        /// The queue.
        queue: u64,
        /// It was for one dispatch.
        once: bool,
    },
    /// Scratch is being taken from a queue that may run.
    ReclaimStart {
        /// The queue.
        queue: u64,
    },
    /// That has ended.
    ReclaimEnd {
        /// The queue.
        queue: u64,
    },
}

static LISTENER: OnceLock<fn(ScratchEvent)> = OnceLock::new();

/// Whoever passes events on to tools; the first one stays.
pub fn listen(listener: fn(ScratchEvent)) {
    // A runtime that starts again comes with the same one.
    let _ = LISTENER.set(listener);
}

pub(super) fn report(event: ScratchEvent) {
    if let Some(listener) = LISTENER.get() {
        listener(event);
    }
}
