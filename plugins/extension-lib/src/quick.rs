//! [`Serving`] for functions that are called all the time: who serves is read without a count.
//!
//! What serves is a handful of pointers there, and is copied under a sequence lock (as `seqlock.h` of Linux has them): a
//! reader that saw the count odd or changed has copied nothing. It asks the list after a few tries, and also in a
//! forked child, where the count stays odd if a thread of the parent was in the middle of a change.

use crate::serving::{Installed, Serves, Serving, Source};
use hansa_plugin_api::fork::Lock;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{fence, AtomicUsize, Ordering};

/// Times that a reader tries before it asks the list.
const TRIES: u32 = 16;

/// As [`Serving`], of what is copied bit by bit.
#[derive(Debug)]
pub struct QuickServing<S> {
    list: Serving<S>,
    /// Odd while `last` changes.
    changes: AtomicUsize,
    /// Who serves.
    last: UnsafeCell<Option<S>>,
    changing: Lock<()>,
}

// SAFETY: `last` is written by one thread at a time, and a copy of it that was made meanwhile is thrown away.
unsafe impl<S: Copy + Send + Sync> Sync for QuickServing<S> {}

impl<S: Copy> QuickServing<S> {
    /// Nobody serves.
    #[expect(
        clippy::new_without_default,
        reason = "for statics, whose values are constants"
    )]
    pub const fn new() -> Self {
        const {
            assert!(
                size_of::<Option<S>>().is_multiple_of(size_of::<usize>()),
                "whole words"
            );
        };
        const {
            assert!(align_of::<Option<S>>() >= align_of::<usize>(), "words");
        };
        Self {
            list: Serving::new(),
            changes: AtomicUsize::new(0),
            last: UnsafeCell::new(None),
            changing: Lock::new(()),
        }
    }

    /// Lets `extension` serve for as long as the answer lives.
    pub fn install(&'static self, extension: S) -> QuickInstalled<S> {
        let installed = Some(self.list.install(extension));
        self.renew();
        QuickInstalled {
            serving: self,
            installed,
        }
    }

    /// The one that serves.
    #[inline(always)]
    pub fn last(&self) -> Option<S> {
        for _ in 0..TRIES {
            let before = self.changes.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let copy = self.copy();
                fence(Ordering::Acquire);
                if self.changes.load(Ordering::Relaxed) == before {
                    // SAFETY: nothing was written meanwhile.
                    return unsafe { copy.assume_init() };
                }
            }
            std::hint::spin_loop();
        }
        self.list.last()
    }

    /// A copy of who serves, or of two of them at once when there was a change meanwhile.
    #[inline(always)]
    fn copy(&self) -> MaybeUninit<Option<S>> {
        let mut copy = MaybeUninit::<Option<S>>::uninit();
        let from = self.last.get().cast::<MaybeUninit<usize>>();
        let to = copy.as_mut_ptr().cast::<MaybeUninit<usize>>();
        for word in 0..size_of::<Option<S>>() / size_of::<usize>() {
            // SAFETY: a word of this static; volatile, so that it is read here and once.
            let value = unsafe { from.wrapping_add(word).read_volatile() };
            // SAFETY: the same word of the copy.
            unsafe { to.wrapping_add(word).write(value) };
        }
        copy
    }

    /// Copies who serves from the list.
    fn renew(&self) {
        let _changing = self.changing.lock();
        let odd = self.changes.load(Ordering::Relaxed) | 1;
        self.changes.store(odd, Ordering::Relaxed);
        fence(Ordering::Release);
        // SAFETY: under the lock, and readers throw away what they read meanwhile.
        unsafe { self.last.get().write_volatile(self.list.last()) };
        self.changes.store(odd.wrapping_add(1), Ordering::Release);
    }
}

impl<S: Serves + Copy> Source for QuickServing<S> {
    type Served = S;

    #[inline]
    fn served(&self) -> Option<S> {
        self.last()
    }
}

/// That an extension serves; it stops when this goes.
#[derive(Debug)]
pub struct QuickInstalled<S: Copy + 'static> {
    serving: &'static QuickServing<S>,
    installed: Option<Installed<S>>,
}

impl<S: Copy> Drop for QuickInstalled<S> {
    fn drop(&mut self) {
        self.installed = None;
        self.serving.renew();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_last_that_lives_serves() {
        static SERVING: QuickServing<[usize; 3]> = QuickServing::new();
        assert_eq!(SERVING.last(), None);
        let a = SERVING.install([1; 3]);
        let b = SERVING.install([2; 3]);
        assert_eq!(SERVING.last(), Some([2; 3]));
        drop(a);
        assert_eq!(SERVING.last(), Some([2; 3]));
        drop(b);
        assert_eq!(SERVING.last(), None);
    }

    #[test]
    fn a_reader_beside_changes_has_one_of_the_values() {
        static SERVING: QuickServing<[usize; 16]> = QuickServing::new();
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for round in 0..20_000 {
                    drop(SERVING.install([round; 16]));
                }
                stop.store(true, Ordering::Relaxed);
            });
            while !stop.load(Ordering::Relaxed) {
                if let Some(words) = SERVING.last() {
                    assert!(words.iter().all(|word| *word == words[0]), "{words:?}");
                }
            }
        });
    }

    #[test]
    fn who_finds_a_change_under_way_asks_the_list() {
        static SERVING: QuickServing<usize> = QuickServing::new();
        let _installed = SERVING.install(7);
        SERVING.changes.fetch_add(1, Ordering::Relaxed);
        assert_eq!(SERVING.last(), Some(7));
        SERVING.renew();
        assert!(SERVING.changes.load(Ordering::Relaxed).is_multiple_of(2));
        assert_eq!(SERVING.last(), Some(7));
    }
}
