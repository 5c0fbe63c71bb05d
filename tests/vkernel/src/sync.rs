//! Locks that a forked child can use.
//!
//! A child has a kernel of its own, and may start threads. Locks that keep their sleepers in one table for the whole process
//! (as `parking_lot` does, by address) are no good there: the table still names the parent's threads, whose memory the
//! child's threads get, and a sleeper that hangs behind one of those is lost. The standard library's locks sleep on their own
//! words. A panic of a holder poisons nothing here.

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError};
use std::time::{Duration, Instant};

/// A lock around a value.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits for the lock and takes it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// A lock that is held; it is `None` only inside a wait.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(held) => held,
            None => unreachable!("a wait has the guard to itself"),
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(held) => held,
            None => unreachable!("a wait has the guard to itself"),
        }
    }
}

/// Where holders of a lock sleep until something changes.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// One without sleepers.
    #[must_use]
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Sleeps; the lock is free meanwhile.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let Some(held) = guard.0.take() else { return };
        guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// Sleeps for some time at most; answers whether it ran out.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, time: Duration) -> bool {
        let Some(held) = guard.0.take() else { return false };
        let waited = self.0.wait_timeout(held, time);
        let (held, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        guard.0 = Some(held);
        outcome.timed_out()
    }

    /// Sleeps until a time at most; answers whether it is past.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, until: Instant) -> bool {
        self.wait_for(guard, until.saturating_duration_since(Instant::now()))
    }

    /// Wakes all who sleep.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
