//! Barrier packets: what they wait for, and what they have seen of it.
//!
//! A barrier-and is satisfied when each of its signals has been seen at 0, not necessarily at the same time
//! (specification 2.9.6); a barrier-or when one is; null handles do not count.

use super::packet::{Wait, NO_SIGNAL};
use super::signal::{BadSignal, Signal};
use crate::exec::memory::View;

/// A barrier that has begun to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    wait: Wait,
}

impl Barrier {
    /// Begins.
    pub(crate) fn new(wait: Wait) -> Self {
        Self { wait }
    }

    /// Looks at the signals. Answers whether the barrier is satisfied.
    pub(crate) fn look(&mut self, view: &mut View) -> Result<bool, BadSignal> {
        match &mut self.wait {
            Wait::All(signals) => all(signals, view),
            Wait::Any(signals) => any(signals, view),
            Wait::Value {
                signal: NO_SIGNAL, ..
            } => Ok(true),
            Wait::Value {
                signal,
                value,
                mask,
                condition,
            } => Ok(condition.holds(Signal::of(*signal, view)?.value()? & *mask, *value)),
        }
    }
}

fn all(signals: &mut [u64; 5], view: &mut View) -> Result<bool, BadSignal> {
    let mut satisfied = true;
    for handle in signals {
        if *handle == NO_SIGNAL {
            continue;
        }
        if Signal::of(*handle, view)?.value()? == 0 {
            *handle = NO_SIGNAL;
        } else {
            satisfied = false;
        }
    }
    Ok(satisfied)
}

fn any(signals: &[u64; 5], view: &mut View) -> Result<bool, BadSignal> {
    let mut handles = signals.iter().filter(|&&handle| handle != NO_SIGNAL).peekable();
    if handles.peek().is_none() {
        return Ok(true);
    }
    for handle in handles {
        if Signal::of(*handle, view)?.value()? == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
