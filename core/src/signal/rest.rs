//! How a thread sleeps until a signal changes: in the driver if there is a seat, else on a futex, entered among those whom the
//! thread of [`hardware`](super::hardware) wakes.

use super::hardware::{self, Entry};
use super::seat::{self, Age, Seat, Slept};
use super::wait::timespec;
use rustix::thread::futex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A thread that is about to sleep on a word, which is counted up before it is woken.
pub(super) struct Rest<'a, Enter: Fn() -> Option<Entry>> {
    word: &'a AtomicU32,
    seat: Option<Seat<'a>>,
    age: &'static Age,
    enter: Enter,
    entry: Option<Entry>,
}

/// What a sleeper saw before its last look: whatever changes after that wakes it.
#[derive(Clone, Copy)]
pub(super) struct Since {
    word: u32,
    age: u64,
}

impl Since {
    /// The count in the word.
    pub(super) fn word(self) -> u32 {
        self.word
    }
}

impl<'a, Enter: Fn() -> Option<Entry>> Rest<'a, Enter> {
    /// With an `age` it may take a seat: the event of the program's signals tells all that devices do to what it waits for.
    /// `enter` makes the entry where there is no seat.
    pub(super) fn new(word: &'a AtomicU32, age: Option<&'static Age>, enter: Enter) -> Self {
        let seat = age.and_then(|_| seat::take(word));
        let entry = if seat.is_some() { None } else { enter() };
        Self {
            word,
            seat,
            age: age.unwrap_or(&seat::WAITERS),
            enter,
            entry,
        }
    }

    /// Comes before the last look.
    pub(super) fn since(&self) -> Since {
        Since {
            age: self.age.get(),
            word: self.word.load(Ordering::Acquire),
        }
    }

    /// Does not want to be woken any more.
    pub(super) fn get_up(&mut self) {
        self.seat = None;
        if self.entry.take().is_some() {
            hardware::be_quiet();
        }
    }

    /// Sleeps until something changed since then, or the time is over; may end early. Answers whether devices may have
    /// changed something of which nobody else was told.
    pub(super) fn sleep(&mut self, since: Since, most: Option<Duration>) -> bool {
        let Some(seat) = &self.seat else {
            futex_sleep(self.word, since.word, most);
            return false;
        };
        let slept = seat.sleep(since.word, (self.age, since.age), most);
        if slept == Slept::Not {
            self.seat = None;
            self.entry = (self.enter)();
        }
        slept == Slept::Told
    }
}

/// Sleeps until `word` no longer holds `seen`, or until the time is over.
fn futex_sleep(word: &AtomicU32, seen: u32, most: Option<Duration>) {
    let timeout = most.map(timespec);
    // Every outcome (woken, changed before, interrupted, time over) means: look again.
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, timeout.as_ref());
}

/// Wakes all who sleep on a word.
pub(super) fn wake_all(word: &AtomicU32) {
    word.fetch_add(1, Ordering::SeqCst);
    let _ = futex::wake(word, futex::Flags::PRIVATE, u32::MAX >> 1);
    seat::wake(word);
}
