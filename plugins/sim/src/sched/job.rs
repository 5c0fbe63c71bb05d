//! A dispatch under way: the work-groups of one kernel, spread over the threads.

use crate::engine::{Failure, Launch};
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Time that one claim of work-groups should take.
const CLAIM_NS: u64 = 20_000;

/// Turns of interrupted work-groups, without one that comes to its end, after which they seem to wait for each other.
const LONG_TURNS: u64 = 4;
/// Taken branches of a turn of a work-group that seems to wait.
const SHORT_SLICE: u32 = 500;

/// A dispatch under way.
#[derive(Debug)]
pub(crate) struct Job {
    /// What runs.
    pub(crate) launch: Launch,
    /// Slot of the queue's window that waits for it.
    pub(crate) slot: usize,
    /// Number of work-groups.
    pub(crate) groups: u64,
    /// Whether times are wanted.
    pub(crate) timed: bool,
    start: AtomicU64,
    end: AtomicU64,
    finished: AtomicU64,
    /// Nanoseconds of one work-group, smoothed; 0 until one has run.
    pace: AtomicU64,
    /// Turns of its interrupted work-groups since one came to its end.
    stagnant: AtomicU64,
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

impl Job {
    /// A dispatch that has not begun.
    pub(crate) fn new(launch: Launch, slot: usize, timed: bool) -> Self {
        Self {
            groups: launch.groups(),
            launch,
            slot,
            timed,
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            pace: AtomicU64::new(0),
            stagnant: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// How many of `left` work-groups one of `threads` threads takes at once: few enough that all have work and
    /// others get their turn, enough that claiming costs nothing.
    pub(crate) fn claim(&self, left: u64, threads: u64) -> u64 {
        if self.failed() {
            return left;
        }
        let by_time = match self.pace.load(Ordering::Relaxed) {
            0 => 1,
            pace => CLAIM_NS / pace,
        };
        let by_share = left / (2 * threads);
        by_time.min(by_share).clamp(1, left)
    }

    /// Notes how long some work-groups took.
    pub(crate) fn took(&self, groups: u64, nanoseconds: u64) {
        let now = (nanoseconds / groups.max(1)).max(1);
        let before = self.pace.load(Ordering::Relaxed);
        let pace = if before == 0 { now } else { (3 * before + now) / 4 };
        self.pace.store(pace.max(1), Ordering::Relaxed);
    }

    /// Notes that the first work-group begins.
    pub(crate) fn begin(&self, now: u64) {
        self.start.store(now, Ordering::Relaxed);
    }

    /// Counts work-groups that are over. Answers whether they were the last.
    pub(crate) fn finish(&self, groups: u64) -> bool {
        self.finished.fetch_add(groups, Ordering::AcqRel) + groups == self.groups
    }

    /// Notes that the last work-group is over.
    pub(crate) fn complete(&self, now: u64) {
        self.end.store(now, Ordering::Relaxed);
    }

    /// When the first work-group began and the last one ended.
    pub(crate) fn times(&self) -> [u64; 2] {
        [
            self.start.load(Ordering::Relaxed),
            self.end.load(Ordering::Relaxed),
        ]
    }

    /// Counts a turn of an interrupted work-group.
    pub(crate) fn stagnate(&self) {
        self.stagnant.fetch_add(1, Ordering::Relaxed);
    }

    /// How many such turns there were since a work-group came to its end.
    pub(crate) fn stagnant(&self) -> u64 {
        self.stagnant.load(Ordering::Relaxed)
    }

    /// Taken branches that a wave may make before others have their turn; 0 is the engine's own number. Work-groups
    /// that wait for each other get few.
    pub(crate) fn slice(&self, cooperative: bool) -> u32 {
        if cooperative || self.stagnant() > LONG_TURNS {
            SHORT_SLICE
        } else {
            0
        }
    }

    /// Notes that a work-group came to its end.
    pub(crate) fn progress(&self) {
        self.stagnant.store(0, Ordering::Relaxed);
    }

    /// Ends the dispatch early; the first reason counts.
    pub(crate) fn fail(&self, failure: Failure) {
        self.failure.lock().get_or_insert(failure);
        self.failed.store(true, Ordering::Release);
    }

    /// Whether it ends early.
    #[inline]
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Why it ended early, once.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        if self.failed() {
            self.failure.lock().take()
        } else {
            None
        }
    }
}
