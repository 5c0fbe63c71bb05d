//! What a device says through a queue's inactive signal, and the status the program gets for it.
//!
//! The codes are those of AMD's packet processor and trap handler: bits that are tested in a fixed order. Where the kernel
//! reports exceptions itself (Linux: `enum kfd_dbg_trap_exception_code` of `kfd_ioctl.h`), it stores a word with a bit
//! for each to a second signal, the queue's exceptions.

use super::{scratch, DeviceQueue, Queue};
use crate::error::Result;
use crate::log::{self, Topic};
use crate::runtime::Runtime;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Scratch is needed, by a wave of 64 or of 32.
const NEEDS_SCRATCH: i64 = 0x401;
/// A dispatch that used scratch once has given it back.
const SCRATCH_DONE: i64 = 0x200;
/// The queue is being destroyed; our own.
pub(super) const GONE: i64 = i64::MIN;

/// The program was told of the queue's end; our own, after what AMD's runtime stores then. A driver that consumes packets on
/// the thread that rang the doorbell waits for it, so that the store returns after the program's callback.
pub(super) const TOLD: i64 = -1;

/// Statuses, with HSA's and AMD's numbers.
mod status {
    pub(super) const ERROR: u32 = 0x1000;
    pub(super) const INVALID_ARGUMENT: u32 = 0x1001;
    pub(super) const INVALID_ALLOCATION: u32 = 0x1003;
    pub(super) const INVALID_PACKET_FORMAT: u32 = 0x1009;
    pub(super) const INVALID_CODE_OBJECT: u32 = 0x1010;
    pub(super) const INCOMPATIBLE_ARGUMENTS: u32 = 0x100d;
    pub(super) const EXCEPTION: u32 = 0x1016;
    pub(super) const MEMORY_APERTURE_VIOLATION: u32 = 41;
    pub(super) const ILLEGAL_INSTRUCTION: u32 = 42;
    pub(super) const OUT_OF_REGISTERS: u32 = 45;
}

/// `HSA_STATUS_ERROR_MEMORY_FAULT`.
pub const MEMORY_FAULT: u32 = 43;
/// `HSA_STATUS_ERROR_OUT_OF_RESOURCES`.
const OUT_OF_RESOURCES: u32 = 0x1008;
/// `HSA_STATUS_ERROR_FATAL`-like: the device is gone.
pub const DEVICE_LOST: u32 = status::ERROR;

const CODES: [(i64, u32); 9] = [
    (0x2, status::INCOMPATIBLE_ARGUMENTS),
    (0x4, status::INVALID_ALLOCATION),
    (0x8, status::INVALID_CODE_OBJECT),
    (0x120, status::INVALID_PACKET_FORMAT),
    (0x40, status::INVALID_ARGUMENT),
    (0x80, status::OUT_OF_REGISTERS),
    (0x2000_0000, status::MEMORY_APERTURE_VIOLATION),
    (0x4000_0000, status::ILLEGAL_INSTRUCTION),
    (0x8000_0000, status::EXCEPTION),
];

/// The kernel's exceptions that have a status of their own, by the number of the bit from 1.
const EXCEPTIONS: [(u32, u32); 14] = [
    // A wave: aborted, trapped, divided by zero or the like, no instruction, memory, aperture.
    (1, status::EXCEPTION),
    (2, status::EXCEPTION),
    (3, status::EXCEPTION),
    (4, status::ILLEGAL_INSTRUCTION),
    (5, MEMORY_FAULT),
    (6, status::MEMORY_APERTURE_VIOLATION),
    // A dispatch: its dimensions, group memory, code, the packet itself, its group, its registers, its format.
    (16, status::INCOMPATIBLE_ARGUMENTS),
    (17, status::INVALID_ALLOCATION),
    (18, status::INVALID_CODE_OBJECT),
    (20, status::INVALID_PACKET_FORMAT),
    (21, status::INVALID_ARGUMENT),
    (22, status::OUT_OF_REGISTERS),
    (23, status::INVALID_PACKET_FORMAT),
    // The device's memory.
    (33, MEMORY_FAULT),
];

/// The status for a word of exceptions.
#[must_use]
pub fn status_of_exceptions(word: i64) -> u32 {
    EXCEPTIONS
        .iter()
        .find(|(bit, _)| word >> (bit - 1) & 1 != 0)
        .map_or(status::ERROR, |(_, status)| *status)
}

/// Serves a value other than 0 of the exceptions of a queue: its end.
pub(super) fn except(queue: &Queue, word: i64) {
    let Some(device) = queue.device() else {
        return;
    };
    if word != GONE && queue.descriptor.tag.load(Ordering::Acquire) != 0 {
        device.fail(queue.descriptor.handle(), status_of_exceptions(word));
    }
}

/// The status for a code.
#[must_use]
pub fn status_of(code: i64) -> u32 {
    CODES
        .iter()
        .find(|(bits, _)| code & bits != 0)
        .map_or(status::ERROR, |(_, status)| *status)
}

/// The status for what a device said of a queue that is at its end, if that was an error.
pub(super) fn last_word(code: i64) -> Option<u32> {
    let is_error =
        code != 0 && code != GONE && code != TOLD && code & NEEDS_SCRATCH == 0 && code != SCRATCH_DONE;
    is_error.then(|| status_of(code))
}

/// Serves a value other than 0 of the inactive signal. Answers whether to go on watching.
pub(super) fn serve(runtime: &Arc<Runtime>, queue: &Arc<Queue>, code: i64) -> bool {
    let Some(device) = queue.device() else {
        return false;
    };
    if code == GONE || queue.descriptor.tag.load(Ordering::Acquire) == 0 {
        return false;
    }
    // The program may destroy the queue in its callback, which is therefore called without a lock.
    let status = if code & NEEDS_SCRATCH != 0 || code == SCRATCH_DONE {
        match answer(runtime, queue, device, code) {
            Ok(goes_on) => return goes_on,
            Err(error) => {
                let id = queue.descriptor.id.load(Ordering::Relaxed);
                log::line(
                    Topic::Queue,
                    format_args!("queue {id}: no scratch for request {code:#x}: {error}"),
                );
                OUT_OF_RESOURCES
            }
        }
    } else {
        status_of(code)
    };
    device.fail(queue.descriptor.handle(), status);
    let alive = device.alive.lock();
    // Unless the callback destroyed the queue: its signal may be another's now.
    if *alive {
        device.inactive.value.store(TOLD, Ordering::Release);
        crate::signal::wait::changed(device.inactive);
    }
    drop(alive);
    false
}

/// Gives the device what it waits for and lets it go on, unless the queue is being taken down. Answers whether it is not.
fn answer(runtime: &Runtime, queue: &Queue, device: &DeviceQueue, code: i64) -> Result<bool> {
    let alive = device.alive.lock();
    if !*alive {
        return Ok(false);
    }
    if code == SCRATCH_DONE {
        scratch::returned(runtime, queue, device);
    } else {
        scratch::serve(runtime, queue, device)?;
    }
    device.inactive.value.store(0, Ordering::Release);
    crate::signal::wait::changed(device.inactive);
    device.nudge(queue.descriptor);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_tested_in_the_order_of_the_packet_processor() {
        assert_eq!(status_of(2), 0x100d);
        assert_eq!(status_of(4 | 8), 0x1003);
        assert_eq!(status_of(0x20), 0x1009);
        assert_eq!(status_of(0x100), 0x1009);
        assert_eq!(status_of(0x40), 0x1001);
        assert_eq!(status_of(0x80), 45);
        assert_eq!(status_of(0x4000_0000), 42);
        assert_eq!(status_of(0x1000), 0x1000);
    }

    #[test]
    fn exceptions_are_tested_from_the_first_bit_on() {
        let bit = |number: u32| 1_i64 << (number - 1);
        assert_eq!(status_of_exceptions(bit(1)), 0x1016);
        assert_eq!(status_of_exceptions(bit(4) | bit(2)), 0x1016);
        assert_eq!(status_of_exceptions(bit(4)), 42);
        assert_eq!(status_of_exceptions(bit(5)), 43);
        assert_eq!(status_of_exceptions(bit(6)), 41);
        assert_eq!(status_of_exceptions(bit(16)), 0x100d);
        assert_eq!(status_of_exceptions(bit(20)), 0x1009);
        assert_eq!(status_of_exceptions(bit(31)), 0x1000);
        assert_eq!(status_of_exceptions(bit(50)), 0x1000);
    }

    #[test]
    fn the_last_word_of_a_queue_is_an_error_or_nothing() {
        assert_eq!(last_word(0x40), Some(0x1001));
        for code in [0, GONE, TOLD, NEEDS_SCRATCH, 0x1, SCRATCH_DONE] {
            assert_eq!(last_word(code), None, "{code:#x}");
        }
    }
}
