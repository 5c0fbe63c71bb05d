//! Statics that survive a fork.
//!
//! A forked child has one thread and a copy of everything else. A lock that another thread of the parent held at that
//! moment stays locked in the child for ever, and a lazy static that another thread was making is never made. So what a
//! runtime or a plugin keeps in statics, and uses again when a child initializes anew, is under a [`Lock`] or in a
//! [`Lazy`].

use rustix::thread::futex;
use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Beside the number of the process in a lock's word: somebody sleeps until it opens.
const AWAITED: u32 = 1 << 31;

/// A lock that a forked child can take although a thread of its parent held it.
///
/// Such a thread may have been anywhere in a change of the value. The child then starts with the default value; the
/// broken one is never looked at, nor dropped. A lock is not for hot paths: to take it asks for the process's number.
pub struct Lock<T> {
    /// The process whose thread holds it, with [`AWAITED`], or 0.
    holder: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the value, as with every lock.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// An open lock.
    pub const fn new(value: T) -> Self {
        Self {
            holder: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T: Default> Lock<T> {
    /// Waits until the lock is open, and takes it.
    pub fn lock(&self) -> Locked<'_, T> {
        let own = std::process::id();
        let mut taken = own;
        loop {
            let Err(holder) = self
                .holder
                .compare_exchange(0, taken, Ordering::Acquire, Ordering::Relaxed)
            else {
                return Locked(self);
            };
            if holder & !AWAITED != own {
                // A thread of the parent's: it is not in this process, and will never open the lock.
                if self.replace(holder, taken) {
                    // SAFETY: the lock is ours. The value may be half changed: it is overwritten without a look.
                    unsafe { self.value.get().write(T::default()) };
                    return Locked(self);
                }
            } else if holder & AWAITED != 0 || self.replace(holder, own | AWAITED) {
                // Woken, opened before or interrupted: try again. Others may sleep as well; whoever slept says so.
                let _ = futex::wait(&self.holder, futex::Flags::PRIVATE, own | AWAITED, None);
                taken = own | AWAITED;
            }
        }
    }

    fn replace(&self, from: u32, to: u32) -> bool {
        self.holder
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }
}

impl<T: Default> Default for Lock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Lock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock").finish_non_exhaustive()
    }
}

/// A [`Lock`] that is held.
pub struct Locked<'a, T>(&'a Lock<T>);

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, and through this value only.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Locked<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        if self.0.holder.swap(0, Ordering::Release) & AWAITED != 0 {
            let _ = futex::wake(&self.0.holder, futex::Flags::PRIVATE, 1);
        }
    }
}

/// A static that is made at its first use, without a lock: threads that come together each make one, and the first to
/// be ready is kept. It is never freed.
pub struct Lazy<T> {
    made: AtomicPtr<T>,
    make: fn() -> T,
}

impl<T> Lazy<T> {
    /// What `make` will make.
    pub const fn new(make: fn() -> T) -> Self {
        Self {
            made: AtomicPtr::new(ptr::null_mut()),
            make,
        }
    }

    #[cold]
    fn make(&self) -> *mut T {
        let own = Box::into_raw(Box::new((self.make)()));
        match self
            .made
            .compare_exchange(ptr::null_mut(), own, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => own,
            Err(first) => {
                // SAFETY: nobody else was shown it.
                drop(unsafe { Box::from_raw(own) });
                first
            }
        }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let mut made = self.made.load(Ordering::Acquire);
        if made.is_null() {
            made = self.make();
        }
        // SAFETY: it is a value that `make` published, and such values stay.
        unsafe { &*made }
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Runs `child` in a forked child; answers its exit status, or none when it was ended.
    pub(crate) fn in_child(child: impl FnOnce() -> bool) -> Option<i32> {
        // SAFETY: the child calls only what it is given, and ends.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: a limit on the time, for a child that hangs.
                unsafe { libc::alarm(20) };
                let good = child();
                // SAFETY: ends the child without the exit handlers of the test program.
                unsafe { libc::_exit(i32::from(!good)) }
            }
            pid => {
                let mut status = 0;
                // SAFETY: waits for the child just made.
                assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
                libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
            }
        }
    }

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        static COUNT: Lock<u64> = Lock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = COUNT.lock();
                        let before = *count;
                        std::hint::black_box(&mut count);
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*COUNT.lock(), 80_000);
    }

    #[test]
    fn a_child_takes_a_lock_that_its_parent_holds_and_starts_anew() {
        static LIST: Lock<Vec<u32>> = Lock::new(Vec::new());
        LIST.lock().extend([1, 2]);
        assert_eq!(in_child(|| *LIST.lock() == [1, 2]), Some(0));
        let held = LIST.lock();
        let again = in_child(|| {
            let empty = LIST.lock().is_empty();
            LIST.lock().push(7);
            empty && *LIST.lock() == [7]
        });
        assert_eq!(again, Some(0));
        assert_eq!(*held, [1, 2]);
    }

    #[test]
    fn a_lazy_value_is_made_once_and_by_a_child_too_when_its_parent_was_about_to() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        static VALUE: Lazy<usize> = Lazy::new(|| {
            if MADE.fetch_add(1, Ordering::SeqCst) == 0 {
                // The parent's thread is in the middle of it.
                assert_eq!(in_child(|| *VALUE == 2), Some(0));
            }
            MADE.load(Ordering::SeqCst)
        });
        assert_eq!((*VALUE, *VALUE), (1, 1));
        assert_eq!(MADE.load(Ordering::SeqCst), 1);
    }
}
