//! Layouts that the packet processor reads and writes: `amd_queue_t`, `amd_signal_t`.
//!
//! Source: `amd_hsa_queue.h` and `amd_hsa_signal.h`; a test of the crate compares with the installed headers.

/// Byte offsets in `amd_queue_t`.
pub(crate) mod queue {
    /// Bits: see [`super::caps`].
    pub(crate) const CAPS: u64 = 40;
    /// Waves that have private memory (bits 11:0) and KiB of a wave (bits 24:12).
    pub(crate) const COMPUTE_TMPRING_SIZE: u64 = 140;
    /// Four words: the buffer descriptor of private memory.
    pub(crate) const SCRATCH_RESOURCE_DESCRIPTOR: u64 = 144;
    /// Address of the queue's private memory.
    pub(crate) const SCRATCH_BACKING_MEMORY_LOCATION: u64 = 160;
    /// Bytes of private memory of one lane of a 64-lane wave.
    pub(crate) const SCRATCH_WAVE64_LANE_BYTE_SIZE: u64 = 176;
    /// Bits: see [`super::property`].
    pub(crate) const QUEUE_PROPERTIES: u64 = 180;
    /// The number of the last dispatch with private memory; there are as many pairs of words as a device has parts.
    pub(crate) const SCRATCH_LAST_USED_INDEX: u64 = 256;
    /// Handle of the signal for errors and requests.
    pub(crate) const QUEUE_INACTIVE_SIGNAL: u64 = 192;
}

/// Bits of `caps`.
pub(crate) mod caps {
    /// The host takes private memory back while the queue runs: what `amd_queue_v2_t` has more is there.
    pub(crate) const RECLAIM: u32 = 1 << 1;
}

/// Bits of `queue_properties`.
pub(crate) mod property {
    /// Signals get timestamps.
    pub(crate) const PROFILING: u32 = 1 << 3;
    /// Private memory goes back after one dispatch.
    pub(crate) const USE_SCRATCH_ONCE: u32 = 1 << 4;
}

/// Byte offsets in `amd_signal_t`.
pub(crate) mod signal {
    /// Bytes of the structure.
    pub(crate) const BYTES: u64 = 64;
    /// The value.
    pub(crate) const VALUE: u64 = 8;
    /// Address of the event's mailbox, or 0.
    pub(crate) const EVENT_MAILBOX: u64 = 16;
    /// Number that goes into the mailbox.
    pub(crate) const EVENT_ID: u64 = 24;
    /// When the packet began to execute.
    pub(crate) const START_TS: u64 = 32;
    /// When the packet was done: the next word.
    #[cfg(test)]
    pub(crate) const END_TS: u64 = 40;
}

/// Values of the inactive signal. A queue that stores one of the errors reads no more packets.
pub(crate) mod inactive {
    /// Private memory is needed; the host stores 0 when the descriptor has it.
    pub(crate) const NEEDS_SCRATCH: i64 = 0x1;
    /// Dimensions that cannot be.
    pub(crate) const INVALID_DIMENSIONS: i64 = 0x2;
    /// More group memory than there is.
    pub(crate) const INVALID_GROUP_MEMORY: i64 = 0x4;
    /// No kernel at the address.
    pub(crate) const INVALID_CODE: i64 = 0x8;
    /// A packet of no known type.
    pub(crate) const INVALID_PACKET: i64 = 0x20;
    /// A work-group that is too large.
    pub(crate) const WORK_GROUP_TOO_LARGE: i64 = 0x40;
    /// A vendor packet of no known format.
    pub(crate) const INVALID_VENDOR_PACKET: i64 = 0x100;
    /// The dispatch that private memory was lent to is done; the host stores 0 when it has taken it back.
    pub(crate) const SCRATCH_RETURNED: i64 = 0x200;
    /// An access outside group or private memory.
    pub(crate) const APERTURE_VIOLATION: i64 = 0x2000_0000;
    /// An instruction that is none.
    pub(crate) const ILLEGAL_INSTRUCTION: i64 = 0x4000_0000;
    /// A trap, or an exception that the kernel asked for.
    pub(crate) const EXCEPTION: i64 = 0x8000_0000;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// Lets a C compiler compare our numbers with the headers that Debian installs.
    #[test]
    fn the_layouts_are_those_of_the_installed_headers() {
        let offsets = [
            ("amd_queue_t", "compute_tmpring_size", queue::COMPUTE_TMPRING_SIZE),
            (
                "amd_queue_t",
                "scratch_resource_descriptor",
                queue::SCRATCH_RESOURCE_DESCRIPTOR,
            ),
            (
                "amd_queue_t",
                "scratch_backing_memory_location",
                queue::SCRATCH_BACKING_MEMORY_LOCATION,
            ),
            (
                "amd_queue_t",
                "scratch_wave64_lane_byte_size",
                queue::SCRATCH_WAVE64_LANE_BYTE_SIZE,
            ),
            ("amd_queue_t", "queue_properties", queue::QUEUE_PROPERTIES),
            (
                "amd_queue_t",
                "queue_inactive_signal",
                queue::QUEUE_INACTIVE_SIGNAL,
            ),
            ("amd_signal_t", "value", signal::VALUE),
            ("amd_signal_t", "event_mailbox_ptr", signal::EVENT_MAILBOX),
            ("amd_signal_t", "event_id", signal::EVENT_ID),
            ("amd_signal_t", "start_ts", signal::START_TS),
            ("amd_signal_t", "end_ts", signal::END_TS),
        ];
        let mut source = String::from("#include <stddef.h>\n#include <hsa/amd_hsa_queue.h>\n");
        source += "#include <hsa/amd_hsa_signal.h>\n";
        for (structure, field, offset) in offsets {
            source += &format!("_Static_assert(offsetof({structure}, {field}) == {offset}, \"{field}\");\n");
        }
        source += &format!(
            "_Static_assert(sizeof(amd_signal_t) == {}, \"size\");\n",
            signal::BYTES
        );
        source += &format!(
            "_Static_assert(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING == {}, \"profiling\");\n",
            property::PROFILING
        );
        let mut compiler = Command::new("clang-15")
            .args(["-x", "c", "-std=c11", "-fsyntax-only", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        compiler
            .stdin
            .take()
            .unwrap()
            .write_all(source.as_bytes())
            .unwrap();
        assert!(compiler.wait().unwrap().success(), "{source}");
    }
}
