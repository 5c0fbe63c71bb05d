//! Events.

use super::{request, READ, WRITE};

/// Raised by a signal's mailbox.
pub const EVENT_SIGNAL: u32 = 0;
/// Raised by a hang or a reset.
pub const EVENT_HW_EXCEPTION: u32 = 3;
/// Raised by a memory fault.
pub const EVENT_MEMORY: u32 = 8;

/// Most signal events of a process.
pub const SIGNAL_EVENT_LIMIT: u32 = 4096;

/// All that was waited for is raised.
pub const WAIT_RESULT_COMPLETE: u32 = 0;
/// Time ran out.
pub const WAIT_RESULT_TIMEOUT: u32 = 1;
/// An event does not exist.
pub const WAIT_RESULT_FAIL: u32 = 2;

request! {
    /// An event to be made.
    CreateEvent = 0x08, READ | WRITE, "CREATE_EVENT", size 32 {
        /// First event of a process with a discrete device: handle of the event page. On return: offset for `mmap`.
        event_page_offset: u64 = 0,
        /// On return: what a device writes to the mailbox.
        event_trigger_data: u32 = 8,
        /// What raises it.
        event_type: u32 = 12,
        /// One wait takes it.
        auto_reset: u32 = 16,
        /// The device, for some kinds.
        node_id: u32 = 20,
        /// On return: its number.
        event_id: u32 = 24,
        /// On return: its place in the event page.
        event_slot_index: u32 = 28,
    }
}

request! {
    /// An event to be destroyed.
    DestroyEvent = 0x09, WRITE, "DESTROY_EVENT", size 8 {
        /// Its number.
        event_id: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

request! {
    /// An event to be raised.
    SetEvent = 0x0a, WRITE, "SET_EVENT", size 8 {
        /// Its number.
        event_id: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

request! {
    /// An event to be lowered.
    ResetEvent = 0x0b, WRITE, "RESET_EVENT", size 8 {
        /// Its number.
        event_id: u32 = 0,
        /// Zero.
        pad: u32 = 4,
    }
}

/// One event of a wait, and what the kernel says of it. The first 32 bytes depend on the event's kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventData {
    /// See the functions.
    pub payload: [u32; 8],
    /// Zero.
    pub kfd_event_data_ext: u64,
    /// The event.
    pub event_id: u32,
    /// Zero.
    pub pad: u32,
}
const _: () = {
    assert!(size_of::<EventData>() == 48);
    assert!(std::mem::offset_of!(EventData, kfd_event_data_ext) == 32);
    assert!(std::mem::offset_of!(EventData, event_id) == 40);
};

/// Words of [`EventData::payload`] of a memory fault.
pub mod memory_fault {
    /// No page.
    pub const NOT_PRESENT: usize = 0;
    /// A write to memory that is read only.
    pub const READ_ONLY: usize = 1;
    /// Execution of memory that is not executable.
    pub const NO_EXECUTE: usize = 2;
    /// The address is a guess.
    pub const IMPRECISE: usize = 3;
    /// Low half of the address.
    pub const ADDRESS_LOW: usize = 4;
    /// High half of the address.
    pub const ADDRESS_HIGH: usize = 5;
    /// The device; 0 when nothing was reported.
    pub const GPU_ID: usize = 6;
    /// 0 none, 1 registers and caches, 2 poison, 3 hang.
    pub const ERROR_KIND: usize = 7;
}

/// Words of [`EventData::payload`] of a hardware exception.
pub mod exception {
    /// 0 the whole device was reset, 1 one engine.
    pub const RESET_KIND: usize = 0;
    /// 0 hang, 1 memory error.
    pub const RESET_CAUSE: usize = 1;
    /// 1 when memory contents are gone.
    pub const MEMORY_LOST: usize = 2;
    /// The device.
    pub const GPU_ID: usize = 3;
}

/// Words of [`EventData::payload`] of a signal event (interface 1.14).
pub mod signal {
    /// Low half of the age that the waiter has seen, then of the age now; 0 does not track.
    pub const AGE_LOW: usize = 0;
    /// High half.
    pub const AGE_HIGH: usize = 1;
}

request! {
    /// A wait.
    WaitEvents = 0x0c, READ | WRITE, "WAIT_EVENTS", size 24 {
        /// Array of [`EventData`].
        events_ptr: u64 = 0,
        /// How many.
        num_events: u32 = 8,
        /// All, or any.
        wait_for_all: u32 = 12,
        /// Milliseconds; the two largest numbers mean for ever.
        timeout: u32 = 16,
        /// On return: how it ended.
        wait_result: u32 = 20,
    }
}
