//! Sleepers that wait in the driver themselves.
//!
//! From an interrupt to whoever sleeps for it one thread less has to wake than by way of the thread of
//! [`hardware`](super::hardware). A few sleepers at a time have a seat: each waits for the event of the program's signals
//! with the age that it had before the sleeper's last look, so that nobody takes another's wake-up. What the host changes
//! reaches a seat as it reaches a futex, by the word that its sleeper would sleep on ([`wake`]).
//!
//! Needs a driver whose events have ages; without one there are no seats.

use super::hardware;
use hansa_plugin_api as api;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Every raising of the event wakes all who sit: one for handlers and one for a thread that waits.
const SEATS: usize = 2;
/// So much before a time is no longer slept here: kernels count such waits in ticks of up to 10 ms (`kfd_wait_on_events`).
const TICK: Duration = Duration::from_millis(10);

/// The words of those who sit; null for a free seat.
static WORDS: [AtomicPtr<AtomicU32>; SEATS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SEATS];
/// The newest age of the event that a waiting thread was told.
pub(super) static WAITERS: Age = Age(AtomicU64::new(FIRST_AGE));
/// The newest that the handler threads were told, who look at their signals when they are.
pub(super) static HANDLERS: Age = Age(AtomicU64::new(FIRST_AGE));
/// The driver's events have no ages, or it failed to wait.
static UNABLE: AtomicBool = AtomicBool::new(false);

/// The age of an event that was never raised.
pub(super) const FIRST_AGE: u64 = 1;

/// An age of the event that was told to those who share it; each looks at what devices change after it took the age.
#[derive(Debug)]
pub(super) struct Age(AtomicU64);

impl Age {
    /// The age to sleep with.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn told(&self, age: u64) {
        self.0.fetch_max(age, Ordering::SeqCst);
    }
}

/// How a sleep in the driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slept {
    /// The event was raised.
    Told,
    /// Time ran out, or the word had changed.
    Awake,
    /// It was no sleep for a seat: the driver cannot, or the time is short.
    Not,
}

/// A seat; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Seat<'a> {
    word: &'a AtomicU32,
    number: usize,
    driver: api::DriverRef<'static>,
    event: u32,
}

/// Takes a seat for a sleeper on a word, if there is one.
pub(super) fn take(word: &AtomicU32) -> Option<Seat<'_>> {
    if !hardware::is_served() || UNABLE.load(Ordering::Relaxed) {
        return None;
    }
    let own = std::ptr::from_ref(word).cast_mut();
    let free = |seat: &AtomicPtr<AtomicU32>| {
        let null = std::ptr::null_mut();
        seat.compare_exchange(null, own, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    };
    let number = WORDS.iter().position(free)?;
    // Whoever closes the driver takes it from here first, and then waits until nobody sits.
    let Some((driver, event)) = hardware::program_event() else {
        stand_up(number);
        return None;
    };
    Some(Seat {
        word,
        number,
        driver,
        event,
    })
}

fn stand_up(number: usize) {
    WORDS[number].store(std::ptr::null_mut(), Ordering::SeqCst);
}

impl Seat<'_> {
    /// Sleeps while the word holds `seen`, until the event is older than it was, or the time is nearly over.
    pub(super) fn sleep(&self, seen: u32, (age, then): (&Age, u64), most: Option<Duration>) -> Slept {
        let milliseconds = match most {
            Some(most) => match u32::try_from(most.saturating_sub(TICK).as_millis()) {
                Ok(0) => return Slept::Not,
                milliseconds => milliseconds.unwrap_or(hardware::FOR_EVER),
            },
            None => hardware::FOR_EVER,
        };
        if !hardware::is_served() {
            return Slept::Not;
        }
        if self.word.load(Ordering::SeqCst) != seen {
            return Slept::Awake;
        }
        match wait(self.driver, &[self.event], &[then], milliseconds).as_deref() {
            Some([now, ..]) => {
                age.told(*now);
                Slept::Told
            }
            Some([]) => Slept::Awake,
            None => Slept::Not,
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        stand_up(self.number);
    }
}

/// Waits until an event is older than it was, and answers the ages of all; none when time ran out, `None` when the driver
/// cannot.
pub(super) fn wait(
    driver: api::DriverRef<'_>,
    events: &[u32],
    ages: &[u64],
    milliseconds: u32,
) -> Option<Vec<u64>> {
    if UNABLE.load(Ordering::Relaxed) {
        return None;
    }
    let (events, ages) = (api::RSlice::from_slice(events), api::RSlice::from_slice(ages));
    match driver.wait_events_since(events, ages, milliseconds) {
        Ok(ages) => Some(ages.into()),
        Err(_) => {
            UNABLE.store(true, Ordering::Relaxed);
            None
        }
    }
}

/// Has whoever sits for a word look again. Called after the word changed.
pub(super) fn wake(word: &AtomicU32) {
    let word = std::ptr::from_ref(word).cast_mut();
    if WORDS.iter().any(|seat| seat.load(Ordering::SeqCst) == word) {
        hardware::raise_program_event();
    }
}

/// Has all look again, and returns when nobody sits. `raise` raises or destroys the event; nobody can sit down any more.
pub(super) fn clear(raise: impl Fn()) {
    while WORDS.iter().any(|seat| !seat.load(Ordering::SeqCst).is_null()) {
        raise();
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// Begins anew, with a driver whose event was never raised.
pub(super) fn begin() {
    for age in [&WAITERS, &HANDLERS] {
        age.0.store(FIRST_AGE, Ordering::SeqCst);
    }
    UNABLE.store(false, Ordering::Relaxed);
}

/// Forgets, in a forked child, the parent's sleepers.
pub(super) fn after_fork() {
    for number in 0..SEATS {
        stand_up(number);
    }
}
