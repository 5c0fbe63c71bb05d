//! A signal as AMD's packet processors read and write it.

use super::hw_queue::amd_queue_t;

/// `amd_signal_kind_t` in 64 bits.
pub type amd_signal_kind64_t = i64;

abi_enum! {
    /// Kind of a signal.
    amd_signal_kind_t: i32 {
        /// Not a signal.
        INVALID = 0 => AMD_SIGNAL_KIND_INVALID,
        /// An ordinary signal.
        USER = 1 => AMD_SIGNAL_KIND_USER,
        /// Doorbell of a queue.
        DOORBELL = -1 => AMD_SIGNAL_KIND_DOORBELL,
        /// Doorbell of a queue of old hardware.
        LEGACY_DOORBELL = -2 => AMD_SIGNAL_KIND_LEGACY_DOORBELL,
    }
}

abi_struct! {
    /// A signal in memory; its address is the handle. In C, `value` and `queue_ptr` are arms of unions.
    #[repr(align(64))]
    amd_signal_t {
        /// `amd_signal_kind_t`.
        kind: amd_signal_kind64_t,
        /// Value of an ordinary signal, address of the doorbell for the other kinds.
        value: i64,
        /// Where to write the event to raise an interrupt; 0 for none.
        event_mailbox_ptr: u64,
        /// Event of the driver.
        event_id: u32,
        /// Zero.
        reserved1: u32,
        /// When the packet it completes began, in ticks of the agent.
        start_ts: u64,
        /// When it ended.
        end_ts: u64,
        /// Queue of a doorbell; null for other signals.
        queue_ptr: *mut amd_queue_t,
        /// Zero.
        reserved3: [u32; 2],
    }
}
