//! Signals as the packet processor uses them (`amd_signal_t`): it waits for values and completes packets.

#![expect(
    clippy::cast_possible_truncation,
    reason = "halves of 64-bit words are cut off"
)]

use super::layout::signal as at;
use crate::exec::guard::{self, Size, Unmapped};
use crate::exec::memory::View;
use crate::shared::{signed, unsigned};
use hansa_plugin_api::HostRef;
use std::sync::atomic::{fence, Ordering};

/// A signal that the device can use.
///
/// It is memory of the program, which may take it away at any time, so every access is a guarded one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal(u64);

/// A handle that is no address of a signal which the device can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signal {0:#x} is not in memory that the device may write")]
pub(crate) struct BadSignal(pub(crate) u64);

impl From<Unmapped> for BadSignal {
    fn from(Unmapped(address): Unmapped) -> Self {
        Self(address)
    }
}

impl Signal {
    /// The signal of a handle.
    pub(crate) fn of(handle: u64, view: &mut View) -> Result<Self, BadSignal> {
        if !handle.is_multiple_of(at::BYTES) || view.check(handle, at::BYTES, true).is_err() {
            return Err(BadSignal(handle));
        }
        Ok(Self(handle))
    }

    /// Its value.
    pub(crate) fn value(self) -> Result<i64, BadSignal> {
        let value = guard::load(Size::B64, self.0 + at::VALUE)?;
        fence(Ordering::Acquire);
        Ok(signed(value))
    }

    /// Writes when the packet began and ended.
    pub(crate) fn stamp(self, [start, end]: [u64; 2]) -> Result<(), BadSignal> {
        let words = [start, end].map(|time| [time as u32, (time >> 32) as u32]);
        guard::write(self.0 + at::START_TS, words.as_flattened())?;
        Ok(())
    }

    /// Completes a packet: takes one from the value and wakes whoever waits.
    pub(crate) fn complete(self, host: HostRef<'_>) -> Result<(), BadSignal> {
        // After the decrement the program may free the signal, so everything else is read before.
        let mailbox = self.mailbox()?;
        guard::fetch_add(Size::B64, self.0 + at::VALUE, u64::MAX)?;
        self.announce(host, mailbox)
    }

    /// Stores a value and wakes whoever waits.
    pub(crate) fn store(self, value: i64, host: HostRef<'_>) -> Result<(), BadSignal> {
        let mailbox = self.mailbox()?;
        guard::exchange(Size::B64, self.0 + at::VALUE, unsigned(value))?;
        self.announce(host, mailbox)
    }

    /// Address and number of its event; 0 is none.
    fn mailbox(self) -> Result<(u64, u32), BadSignal> {
        let mailbox = guard::load(Size::B64, self.0 + at::EVENT_MAILBOX)?;
        let event = guard::load(Size::B32, self.0 + at::EVENT_ID)?;
        Ok((mailbox, event as u32))
    }

    fn announce(self, host: HostRef<'_>, (mailbox, event): (u64, u32)) -> Result<(), BadSignal> {
        if mailbox != 0 && event != 0 {
            guard::exchange(Size::B64, mailbox, event.into())?;
            // A runtime that cannot take the event has the value, which is what counts.
            let _ = host.event_raised(event);
        }
        let _ = host.signal_changed(self.0);
        Ok(())
    }
}
