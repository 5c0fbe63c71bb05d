//! Waiting for signals that several processes share.
//!
//! The futex word and the count of sleepers are in the shared page, so a store in one process wakes sleepers in all.
//! The fence that a store leaves to the sleeper (see [`super::wait`]) must reach the threads of the other processes:
//! `membarrier(2)` has a global form for the processes that registered for it, and each does when it gets its first
//! shared signal.
//!
//! Nothing that another process does, or fails to do, may keep a sleeper from looking again, and a device of another
//! process may write without waking anybody here. So each sleep is short, and longer the longer the wait is: the
//! looking costs nothing to speak of, and the wake-up is what usually ends it.

use super::block::{watch, Block};
use super::wait::{barrier_is_global, timespec, wake_shared, Deadline};
use rustix::thread::futex::{self, Wait, WaitFlags, WaitPtr, WaitvFlags};
use rustix::time::{clock_gettime, ClockId};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The first sleep of a wait.
const FIRST_NAP: Duration = Duration::from_micros(250);
/// The longest sleep of a wait.
const LONGEST_NAP: Duration = Duration::from_millis(8);
/// The longest sleep where wake-ups can be lost or do not reach the sleeper.
const UNSURE_NAP: Duration = Duration::from_millis(1);
/// Most words that the kernel waits for at once.
const MOST_WORDS: usize = 128;

/// How long the sleeps of one wait are.
#[derive(Debug)]
pub(super) struct Naps(Duration);

impl Naps {
    pub(super) const fn new() -> Self {
        Self(FIRST_NAP)
    }

    /// The length of the next sleep; `sure` when every wake-up reaches the sleeper.
    fn next(&mut self, sure: bool, left: Option<Duration>) -> Duration {
        let longest = if sure { LONGEST_NAP } else { UNSURE_NAP };
        let nap = self.0.min(longest);
        self.0 = (self.0 * 2).min(LONGEST_NAP);
        left.map_or(nap, |left| nap.min(left))
    }
}

/// Wakes the sleepers of all processes.
pub(super) fn wake(block: &Block) {
    wake_shared(&block.wakes);
}

/// Announces, or takes back, a sleeper of this process.
pub(super) fn watch(block: &Block) {
    block.waiters.fetch_add(watch::SLEEPER, Ordering::SeqCst);
}

/// See [`watch`].
pub(super) fn unwatch(block: &Block) {
    block.waiters.fetch_sub(watch::SLEEPER, Ordering::SeqCst);
}

/// Waits until `look` is true or the time is over.
pub(super) fn wait(block: &Block, deadline: Deadline, mut look: impl FnMut() -> bool) {
    let mut naps = Naps::new();
    watch(block);
    loop {
        let seen = block.wakes.load(Ordering::Acquire);
        let sure = barrier_is_global();
        if look() || deadline.is_over() {
            break;
        }
        let nap = timespec(naps.next(sure, deadline.left()));
        // Every outcome (woken, changed before, interrupted, time over) means: look again.
        let _ = futex::wait(&block.wakes, futex::Flags::empty(), seen, Some(&nap));
    }
    unwatch(block);
}

/// What the words of several signals were before the last look at their values.
#[derive(Debug)]
pub(super) struct Seen<'a>(Vec<(&'a AtomicU32, u32)>);

impl<'a> Seen<'a> {
    /// Reads the words of the shared ones among some signals.
    pub(super) fn of(blocks: impl Iterator<Item = &'a Block>) -> Self {
        let shared = blocks.filter(|block| block.is_shared());
        Self(
            shared
                .map(|block| (&block.wakes, block.wakes.load(Ordering::Acquire)))
                .collect(),
        )
    }

    /// Whether no signal is shared.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sleeps until one of the words, or a word of this process, changes, for the length of a nap at most.
    pub(super) fn sleep(&self, own: &AtomicU32, seen: u32, naps: &mut Naps, left: Option<Duration>) {
        let fits = self.0.len() < MOST_WORDS;
        let nap = naps.next(barrier_is_global() && fits, left);
        if !(fits && self.sleep_on_all(own, seen, nap)) {
            let nap = timespec(nap.min(UNSURE_NAP));
            let _ = futex::wait(own, futex::Flags::PRIVATE, seen, Some(&nap));
        }
    }

    /// Answers whether the system can (Linux 5.16 and later).
    fn sleep_on_all(&self, own: &AtomicU32, seen: u32, nap: Duration) -> bool {
        let word = |word: &AtomicU32, value: u32, flags| {
            let mut wait = Wait::new();
            wait.uaddr = WaitPtr::new(word.as_ptr().cast());
            wait.val = u64::from(value);
            wait.flags = flags;
            wait
        };
        let mut words = vec![word(own, seen, WaitFlags::SIZE_U32 | WaitFlags::PRIVATE)];
        words.extend(
            self.0
                .iter()
                .map(|&(shared, value)| word(shared, value, WaitFlags::SIZE_U32)),
        );
        let now = clock_gettime(ClockId::Monotonic);
        let Some(until) = now.checked_add(timespec(nap)) else {
            return false;
        };
        let slept = futex::waitv(&words, WaitvFlags::empty(), Some(&until), ClockId::Monotonic);
        slept != Err(rustix::io::Errno::NOSYS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn naps_grow_to_a_limit_and_end_with_the_wait() {
        let mut naps = Naps::new();
        let lengths: Vec<_> = (0..8).map(|_| naps.next(true, None)).collect();
        assert_eq!(lengths[0], FIRST_NAP);
        assert!(lengths.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(lengths[7], LONGEST_NAP);
        assert_eq!(naps.next(false, None), UNSURE_NAP);
        let left = Duration::from_micros(3);
        assert_eq!(naps.next(true, Some(left)), left);
    }
}
