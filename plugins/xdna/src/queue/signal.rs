//! Signals as a packet processor uses them (`amd_signal_t`): it waits for values and completes packets.

use super::packet::{Wait, NO_SIGNAL};
use crate::own_memory;
use hansa_plugin_api::hsa::amd_signal_t;
use hansa_plugin_api::HostRef;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

const BYTES: u64 = size_of::<amd_signal_t>() as u64;
const VALUE: u64 = offset_of!(amd_signal_t, value) as u64;
const MAILBOX: u64 = offset_of!(amd_signal_t, event_mailbox_ptr) as u64;
const EVENT: u64 = offset_of!(amd_signal_t, event_id) as u64;
const START: u64 = offset_of!(amd_signal_t, start_ts) as u64;
const END: u64 = offset_of!(amd_signal_t, end_ts) as u64;

/// A signal of a packet or of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(u64);

/// A handle that is no address of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signal {0:#x} is none")]
pub(crate) struct BadSignal(u64);

impl Signal {
    /// The signal of a handle. Signals lie in memory that is never unmapped, so that what was there once stays.
    pub(crate) fn of(handle: u64) -> Result<Self, BadSignal> {
        let mut bytes = [0; size_of::<amd_signal_t>()];
        let there = handle.is_multiple_of(BYTES) && own_memory::read(handle, &mut bytes).is_ok();
        there.then_some(Self(handle)).ok_or(BadSignal(handle))
    }

    fn field<F: own_memory::Field>(self, offset: u64) -> &'static F {
        // SAFETY: a signal is there, which is never unmapped; its fields are aligned, and atomics to everybody.
        unsafe { own_memory::field(self.0 + offset) }
    }

    /// Its value.
    pub(crate) fn value(self) -> i64 {
        self.field::<AtomicI64>(VALUE).load(Ordering::Acquire)
    }

    /// Stores a value and wakes whoever waits.
    pub(crate) fn store(self, value: i64, host: HostRef<'_>) {
        let event = self.event();
        self.field::<AtomicI64>(VALUE).store(value, Ordering::Release);
        self.announce(event, host);
    }

    /// Completes a packet: notes when it ran, if somebody wants to know, takes one from the value and wakes whoever waits.
    pub(crate) fn complete(self, times: Option<[u64; 2]>, host: HostRef<'_>) {
        if let Some([start, end]) = times {
            self.field::<AtomicU64>(START).store(start, Ordering::Relaxed);
            self.field::<AtomicU64>(END).store(end, Ordering::Relaxed);
        }
        // After the decrement the program may give the signal away, so everything else is read before.
        let event = self.event();
        self.field::<AtomicI64>(VALUE).fetch_sub(1, Ordering::AcqRel);
        self.announce(event, host);
    }

    /// Address and number of its event; 0 is none.
    fn event(self) -> (u64, u32) {
        let mailbox = self.field::<AtomicU64>(MAILBOX).load(Ordering::Relaxed);
        let event = self.field::<AtomicU32>(EVENT).load(Ordering::Relaxed);
        (mailbox, event)
    }

    fn announce(self, (mailbox, event): (u64, u32), host: HostRef<'_>) {
        if mailbox != 0 && event != 0 {
            // SAFETY: the runtime put the address of a mailbox of its driver's there, which stays as long as signals do.
            let mailbox: &AtomicU64 = unsafe { own_memory::field(mailbox) };
            mailbox.store(event.into(), Ordering::Release);
            // A runtime that cannot take the event has the value, which is what counts.
            let _ = host.event_raised(event);
        }
        let _ = host.signal_changed(self.0);
    }
}

/// Looks at the signals of a barrier. Answers whether it is satisfied. A signal that was seen at 0 need not be again
/// (specification 2.9.6); null handles do not count.
pub(crate) fn is_satisfied(wait: &mut Wait) -> Result<bool, BadSignal> {
    match wait {
        Wait::All(signals) => {
            for handle in signals.iter_mut().filter(|handle| **handle != NO_SIGNAL) {
                if Signal::of(*handle)?.value() == 0 {
                    *handle = NO_SIGNAL;
                }
            }
            Ok(signals.iter().all(|handle| *handle == NO_SIGNAL))
        }
        Wait::Any(signals) => {
            let mut some = false;
            for &handle in signals.iter().filter(|handle| **handle != NO_SIGNAL) {
                some = true;
                if Signal::of(handle)?.value() == 0 {
                    return Ok(true);
                }
            }
            Ok(!some)
        }
        Wait::Value {
            signal: NO_SIGNAL, ..
        } => Ok(true),
        Wait::Value {
            signal,
            value,
            mask,
            condition,
        } => {
            let seen = Signal::of(*signal)?.value() & *mask;
            Ok(match condition {
                0 => seen == *value,
                1 => seen != *value,
                2 => seen < *value,
                _ => seen >= *value,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C, align(64))]
    struct Block([AtomicI64; 8]);

    fn block(value: i64) -> Block {
        let block = Block([const { AtomicI64::new(0) }; 8]);
        block.0[1].store(value, Ordering::Relaxed);
        block
    }

    fn handle(block: &Block) -> u64 {
        std::ptr::from_ref(block).expose_provenance() as u64
    }

    #[test]
    fn barriers_look_at_values() {
        let (zero, one) = (block(0), block(1));
        let (zero, one_at) = (handle(&zero), handle(&one));
        let look = |mut wait| is_satisfied(&mut wait);
        assert_eq!(look(Wait::All([zero, 0, 0, 0, 0])), Ok(true));
        assert_eq!(look(Wait::All([zero, one_at, 0, 0, 0])), Ok(false));
        assert_eq!(look(Wait::All([0; 5])), Ok(true));
        assert_eq!(look(Wait::Any([one_at, zero, 0, 0, 0])), Ok(true));
        assert_eq!(look(Wait::Any([one_at, 0, 0, 0, 0])), Ok(false));
        assert_eq!(look(Wait::Any([0; 5])), Ok(true));
        for (condition, value, expected) in [(0, 1, true), (1, 1, false), (2, 2, true), (3, 2, false)] {
            let wait = Wait::Value {
                signal: one_at,
                value,
                mask: -1,
                condition,
            };
            assert_eq!(look(wait), Ok(expected), "{condition} {value}");
        }
        let wait = Wait::Value {
            signal: one_at,
            value: 0,
            mask: 2,
            condition: 0,
        };
        assert_eq!(look(wait), Ok(true));
    }

    #[test]
    fn a_signal_that_was_zero_once_counts() {
        let (first, second) = (block(0), block(1));
        let mut wait = Wait::All([handle(&first), handle(&second), 0, 0, 0]);
        assert_eq!(is_satisfied(&mut wait), Ok(false));
        first.0[1].store(5, Ordering::Relaxed);
        second.0[1].store(0, Ordering::Relaxed);
        assert_eq!(is_satisfied(&mut wait), Ok(true));
    }

    #[test]
    fn a_wild_handle_is_no_signal() {
        for wild in [64, 0x1000, 0x1001, !63] {
            assert_eq!(
                is_satisfied(&mut Wait::All([wild, 0, 0, 0, 0])),
                Err(BadSignal(wild))
            );
        }
    }
}
