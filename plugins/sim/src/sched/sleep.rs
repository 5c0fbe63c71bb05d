//! Where idle threads sleep: an event count over a futex.
//!
//! A thread that runs out of work takes a [`Ticket`], looks for work once more, and sleeps; a wake-up between
//! the two makes the sleep return at once. Waking costs one load while nobody sleeps.

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;
use std::sync::atomic::{fence, AtomicU32, Ordering};
use std::time::Duration;

/// A place to sleep.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// Counts wake-ups.
    epoch: AtomicU32,
    sleepers: AtomicU32,
    /// Counts ends of sleeps.
    ends: AtomicU32,
}

/// The promise that wake-ups from now on are not missed.
#[derive(Debug)]
pub(crate) struct Ticket(u32);

impl Sleep {
    /// Announces a sleeper. After this, and before [`Sleep::sleep`], it must look for work once more.
    pub(crate) fn ticket(&self) -> Ticket {
        let ticket = Ticket(self.epoch.load(Ordering::SeqCst));
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        ticket
    }

    /// Takes the announcement back: there was work.
    pub(crate) fn cancel(&self, _ticket: Ticket) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Sleeps until a wake-up or until the time is over. Answers whether it was something other than time that ended it.
    pub(crate) fn sleep(&self, ticket: Ticket, timeout: Option<Duration>) -> bool {
        let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
        let end = futex::wait(&self.epoch, futex::Flags::PRIVATE, ticket.0, timeout.as_ref());
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        self.ends.fetch_add(1, Ordering::SeqCst);
        end != Err(Errno::TIMEDOUT)
    }

    /// How many sleeps have ended.
    pub(crate) fn ends(&self) -> u32 {
        self.ends.load(Ordering::SeqCst)
    }

    /// How many sleep, or are about to.
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleepers.load(Ordering::Relaxed)
    }

    /// Whether somebody sleeps. Sees every sleeper that does not see what the caller stored before.
    #[inline]
    pub(crate) fn anybody(&self) -> bool {
        fence(Ordering::SeqCst);
        self.sleepers.load(Ordering::Relaxed) != 0
    }

    /// Wakes one sleeper. Answers whether there was one.
    pub(crate) fn wake_one(&self) -> bool {
        self.wake(1) == 1
    }

    /// Wakes every sleeper.
    pub(crate) fn wake_all(&self) {
        self.wake(i32::MAX.unsigned_abs());
    }

    fn wake(&self, count: u32) -> usize {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        // Fails for no address of ours.
        futex::wake(&self.epoch, futex::Flags::PRIVATE, count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_wake_up_before_the_sleep_is_not_lost() {
        let sleep = Sleep::default();
        let ticket = sleep.ticket();
        assert!(sleep.anybody());
        sleep.wake_one();
        assert!(sleep.sleep(ticket, None));
        assert!(!sleep.anybody());
    }

    #[test]
    fn a_sleep_ends_with_its_time() {
        let sleep = Sleep::default();
        let before = Instant::now();
        assert!(!sleep.sleep(sleep.ticket(), Some(Duration::from_millis(5))));
        assert!(before.elapsed() >= Duration::from_millis(4));
    }
}
