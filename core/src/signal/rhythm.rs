//! Waits that last as long as those before.
//!
//! A program that runs the same kernels again waits about as long each time. To be woken takes tens of microseconds, so a
//! thread whose waits had a rhythm gets up a little before the end that it expects and looks for itself, as Linux's hybrid
//! polling of block devices does. It looks for at most a sixteenth of the wait, then it sleeps like any other; where waits
//! have no rhythm, or are short, it never gets up early. And a thread whose waits are all long does not look before it sleeps.

use std::cell::Cell;
use std::time::Duration;

/// Waits in a row that make a rhythm.
const ENOUGH: u32 = 4;
/// How long before the earliest end a thread gets up: what a timer may be late, and the way back to its processor.
const LEAD: Duration = Duration::from_micros(250);
/// How much longer than the latest end it looks.
const TRAIL: Duration = Duration::from_micros(60);
/// The part of a wait that it looks, and the longest.
const PART: u32 = 16;
const LONGEST: Duration = Duration::from_millis(1);
/// Waits that take longer than this are long.
const LONG: Duration = Duration::from_millis(1);

/// How long the waits of a thread took: a mean and a mean deviation, which follow new ones by a quarter (as RFC 6298
/// estimates round trips).
#[derive(Clone, Copy, Debug)]
struct Rhythm {
    mean: Duration,
    deviation: Duration,
    waits: u32,
}

/// When to look instead of sleeping, from the beginning of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// From here on.
    pub(super) from: Duration,
    /// Until here.
    pub(super) until: Duration,
}

impl Rhythm {
    const NONE: Self = Self {
        mean: Duration::ZERO,
        deviation: Duration::ZERO,
        waits: 0,
    };

    /// The rhythm with one more wait.
    fn and(self, wait: Duration) -> Self {
        if self.waits == 0 {
            return Self {
                mean: wait,
                deviation: wait / 2,
                waits: 1,
            };
        }
        let off = wait.abs_diff(self.mean);
        Self {
            mean: (self.mean * 3 + wait) / 4,
            deviation: (self.deviation * 3 + off) / 4,
            waits: self.waits.saturating_add(1),
        }
    }

    /// Whether the next wait is probably long.
    fn is_long(self) -> bool {
        self.waits >= ENOUGH && self.mean.saturating_sub(self.deviation * 2) > LONG
    }

    /// When the next wait probably ends, if that is sure enough.
    fn window(self) -> Option<Window> {
        let spread = self.deviation * 2;
        let from = self.mean.checked_sub(spread + LEAD)?;
        let until = self.mean + spread + TRAIL;
        let fits = until - from <= LONGEST.min(self.mean / PART);
        (self.waits >= ENOUGH && fits).then_some(Window { from, until })
    }
}

thread_local! {
    static RHYTHM: Cell<Rhythm> = const { Cell::new(Rhythm::NONE) };
}

/// When this thread's next wait probably ends.
pub(super) fn expected() -> Option<Window> {
    RHYTHM.get().window()
}

/// Whether this thread's next wait is probably long.
pub(super) fn is_long() -> bool {
    RHYTHM.get().is_long()
}

/// Notes how long a wait of this thread took. One that lasts many times as long as it should begins another rhythm.
pub(super) fn note(wait: Duration) {
    let rhythm = RHYTHM.get();
    let other = wait > rhythm.mean * 4 || wait * 4 < rhythm.mean;
    RHYTHM.set(if other { Rhythm::NONE } else { rhythm }.and(wait));
}

/// Notes that a wait of this thread was over at once, or ended without success: its waits have no rhythm.
pub(super) fn interrupt() {
    if RHYTHM.get().waits != 0 {
        RHYTHM.set(Rhythm::NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(microseconds: u64) -> Duration {
        Duration::from_micros(microseconds)
    }

    fn of(waits: impl IntoIterator<Item = u64>) -> Rhythm {
        waits
            .into_iter()
            .fold(Rhythm::NONE, |rhythm, wait| rhythm.and(us(wait)))
    }

    fn after(waits: impl IntoIterator<Item = u64>) -> Option<Window> {
        of(waits).window()
    }

    #[test]
    fn waits_are_long_when_none_was_short() {
        assert!(of((0..40).map(|i| if i % 2 == 0 { 14_000 } else { 26_000 })).is_long());
        assert!(!of((0..40).map(|i| if i % 2 == 0 { 100 } else { 8_000 })).is_long());
        assert!(!of([20_000; 3]).is_long());
        assert!(!of([900; 40]).is_long());
    }

    #[test]
    fn equal_waits_have_a_rhythm_and_the_look_is_short() {
        assert_eq!(after([20_000; 3]), None);
        let window = after([20_000; 40]).unwrap();
        assert!(
            window.from < us(20_000) - LEAD / 2 && window.from > us(19_950) - LEAD,
            "{window:?}"
        );
        assert!(
            window.until > us(20_000) && window.until < us(20_100),
            "{window:?}"
        );
    }

    #[test]
    fn the_look_covers_what_waits_differ_by() {
        let waits = (0..40).map(|i| if i % 2 == 0 { 20_050 } else { 19_950 });
        let window = after(waits).unwrap();
        assert!(window.from < us(19_950) - LEAD + us(50), "{window:?}");
        assert!(window.until > us(20_050), "{window:?}");
    }

    #[test]
    fn irregular_and_short_waits_have_none() {
        assert_eq!(
            after((0..40).map(|i| if i % 2 == 0 { 5_000 } else { 35_000 })),
            None
        );
        assert_eq!(after([1_000; 40]), None);
        assert_eq!(after([]), None);
    }

    #[test]
    fn it_never_looks_for_more_than_its_part() {
        for wait in (500..100_000).step_by(500) {
            for differ in [0, 20, 100, 1_000] {
                let waits = (0..40).map(|i| if i % 2 == 0 { wait } else { wait + differ });
                if let Some(window) = after(waits) {
                    let look = window.until - window.from;
                    assert!(
                        look <= LONGEST && look <= us(wait + differ) / PART,
                        "{wait} {differ}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_wait_of_another_kind_begins_another_rhythm() {
        for _ in 0..40 {
            note(us(20_000));
        }
        assert!(expected().is_some());
        note(us(200_000));
        assert_eq!(expected(), None);
        for _ in 0..40 {
            note(us(200_000));
        }
        assert!(expected().is_some_and(|window| window.from > us(199_000)));
        interrupt();
        assert_eq!(expected(), None);
    }
}
