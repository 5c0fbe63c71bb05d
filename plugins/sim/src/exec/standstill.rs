//! Keeping everybody from writing to memory while it changes its pages.
//!
//! Whoever holds a range makes it read-only. A thread that writes to it meanwhile faults, waits in the fault handler of
//! the [guard](super::guard), and does its write again when the range is let go. A thread may come to the handler late,
//! when the range has been let go already; so the last few ranges are remembered, and a number of faults in each is
//! forgiven before one counts as what it is.

use hansa_plugin_api::fork::Lock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Ranges that are remembered.
const RANGES: usize = 8;
/// Faults forgiven in a range that was let go: more than there can be threads in the handler.
const FORGIVEN: u64 = 4096;
/// How long a thread in the handler sleeps before it looks again.
const PAUSE: libc::timespec = libc::timespec {
    tv_sec: 0,
    tv_nsec: 50_000,
};

/// A range that is held or was held not long ago. Read in the handler, where nothing may be locked.
struct Range {
    start: AtomicU64,
    end: AtomicU64,
    held: AtomicBool,
    forgiven: AtomicU64,
}

static LATEST: [Range; RANGES] = [const {
    Range {
        start: AtomicU64::new(0),
        end: AtomicU64::new(0),
        held: AtomicBool::new(false),
        forgiven: AtomicU64::new(0),
    }
}; RANGES];

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Held by the one that holds a range.
static ONE: Lock<()> = Lock::new(());

/// Lets go also when `work` panics.
struct Held(&'static Range);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::SeqCst);
    }
}

/// Does work, which makes the range read-only and writable again, while threads that write to it wait.
pub(crate) fn hold<T>(start: u64, end: u64, work: impl FnOnce() -> T) -> T {
    let _one = ONE.lock();
    let range = &LATEST[NEXT.fetch_add(1, Ordering::Relaxed) % RANGES];
    range.forgiven.store(0, Ordering::SeqCst);
    range.end.store(0, Ordering::SeqCst);
    range.start.store(start, Ordering::SeqCst);
    range.end.store(end, Ordering::SeqCst);
    range.held.store(true, Ordering::SeqCst);
    range.forgiven.store(FORGIVEN, Ordering::SeqCst);
    let _held = Held(range);
    work()
}

/// Whether an access that faulted is to be done again. Waits until it can be. For the fault handler.
pub(crate) fn is_to_be_repeated(address: u64) -> bool {
    for range in &LATEST {
        let inside =
            address >= range.start.load(Ordering::SeqCst) && address < range.end.load(Ordering::SeqCst);
        if !inside {
            continue;
        }
        let mut waited = false;
        while range.held.load(Ordering::SeqCst) {
            waited = true;
            pause();
        }
        let one_less = |left: u64| left.checked_sub(1);
        if waited
            || range
                .forgiven
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
                .is_ok()
        {
            return true;
        }
    }
    false
}

/// Sleeps a little, and leaves the error number of the interrupted thread as it is.
fn pause() {
    // SAFETY: gives the place of the calling thread's own number.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: that place is there as long as the thread.
    let before = unsafe { *errno };
    // SAFETY: sleeps; the call may be made in a signal handler.
    unsafe { libc::nanosleep(&PAUSE, std::ptr::null_mut()) };
    // SAFETY: as for reading it.
    unsafe { *errno = before };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_forgiven_only_inside_and_not_for_ever() {
        let (start, end) = (0x10_0000, 0x10_1000);
        assert!(!is_to_be_repeated(start));
        hold(start, end, || ());
        assert!(!is_to_be_repeated(start - 1));
        assert!(!is_to_be_repeated(end));
        let forgiven = (0..2 * FORGIVEN).filter(|_| is_to_be_repeated(end - 1)).count();
        assert_eq!(forgiven as u64, FORGIVEN);
    }

    #[test]
    fn whoever_faults_waits_until_the_range_is_let_go() {
        let (start, end) = (0x20_0000, 0x20_1000);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = hold(start, end, || {
                let waiting = scope.spawn(|| is_to_be_repeated(start) && over.load(Ordering::SeqCst));
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(!waiting.is_finished());
                over.store(true, Ordering::SeqCst);
                waiting
            });
            assert!(waiting.join().unwrap());
        });
    }
}
