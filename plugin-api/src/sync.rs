//! Locks that a forked child can use.
//!
//! A child may initialize anew and start threads. Locks that keep their sleepers in one table for the whole process, by
//! address, are no good there: the table still names the parent's threads, whose memory the child's threads get, and a
//! sleeper that hangs behind one of those is lost. The standard library's locks sleep on their own words. A panic of a holder
//! poisons nothing here. For statics, which a thread of the parent may have held, there is [`crate::fork::Lock`].

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError, TryLockError};
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
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            lock: self,
            held: Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Takes the lock if nobody holds it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let held = match self.0.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(MutexGuard {
            lock: self,
            held: Some(held),
        })
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock that is held; `held` is `None` only inside a wait.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    lock: &'a Mutex<T>,
    held: Option<sync::MutexGuard<'a, T>>,
}

impl<'a, T> MutexGuard<'a, T> {
    /// Calls a function while the lock is free.
    pub fn unlocked<R>(guard: &mut Self, function: impl FnOnce() -> R) -> R {
        guard.held = None;
        let result = function();
        let lock: &'a Mutex<T> = guard.lock;
        guard.held = lock.lock().held;
        result
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.held {
            Some(held) => held,
            None => unreachable!("a wait has the guard to itself"),
        }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.held {
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
        let Some(held) = guard.held.take() else { return };
        guard.held = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// Sleeps for some time at most; answers whether it ran out.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, time: Duration) -> bool {
        let Some(held) = guard.held.take() else {
            return false;
        };
        let waited = self.0.wait_timeout(held, time);
        let (held, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        guard.held = Some(held);
        outcome.timed_out()
    }

    /// Sleeps until a time at most; answers whether it is past.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, until: Instant) -> bool {
        self.wait_for(guard, until.saturating_duration_since(Instant::now()))
    }

    /// Wakes one who sleeps.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all who sleep.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A lock around a value that many may read at once.
#[derive(Debug, Default)]
pub struct RwLock<T>(sync::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }

    /// Waits until nobody writes.
    #[inline]
    pub fn read(&self) -> sync::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else reads or writes.
    #[inline]
    pub fn write(&self) -> sync::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock for writing if nobody holds it.
    #[inline]
    pub fn try_write(&self) -> Option<sync::RwLockWriteGuard<'_, T>> {
        match self.0.try_write() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fork::tests::in_child;
    use std::sync::Arc;

    #[test]
    fn a_holder_that_panics_poisons_nothing() {
        let (lock, shared) = (Mutex::new(1), RwLock::new(2));
        let panicked = std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let _held = (lock.lock(), shared.write());
                panic!("with both");
            });
            holder.join().is_err()
        });
        assert!(panicked);
        assert_eq!(*lock.lock(), 1);
        assert_eq!(lock.try_lock().map(|value| *value), Some(1));
        assert_eq!(*shared.read(), 2);
        assert_eq!(shared.try_write().map(|value| *value), Some(2));
        assert_eq!((lock.into_inner(), shared.into_inner()), (1, 2));
    }

    #[test]
    fn others_have_the_lock_while_it_is_let_go() {
        let lock = Mutex::new(0);
        let mut held = lock.lock();
        assert!(lock.try_lock().is_none());
        MutexGuard::unlocked(&mut held, || *lock.lock() += 1);
        assert_eq!(*held, 1);
    }

    /// Threads that pass a number round, each by sleeping until it is its turn.
    fn pass_round(threads: u64, rounds: u64) -> bool {
        let turn = Arc::new((Mutex::new(0_u64), Condvar::new(), RwLock::new(0_u64)));
        let run = |index: u64| {
            let turn = Arc::clone(&turn);
            move || {
                for round in 0..rounds {
                    let mut now = turn.0.lock();
                    while *now != round * threads + index {
                        turn.1.wait(&mut now);
                    }
                    *now += 1;
                    *turn.2.write() += 1;
                    turn.1.notify_all();
                }
            }
        };
        let all: Vec<_> = (0..threads).map(|index| std::thread::spawn(run(index))).collect();
        let good = all.into_iter().all(|thread| thread.join().is_ok());
        let passed = *turn.2.read();
        good && passed == threads * rounds
    }

    #[test]
    fn threads_of_a_child_sleep_and_wake_beside_sleepers_of_its_parent() {
        let door = Arc::new((Mutex::new(false), Condvar::new()));
        let sleepers: Vec<_> = (0..16)
            .map(|_| {
                let door = Arc::clone(&door);
                std::thread::spawn(move || {
                    let mut open = door.0.lock();
                    while !*open {
                        door.1.wait(&mut open);
                    }
                })
            })
            .collect();
        for _ in 0..5 {
            assert_eq!(in_child(|| pass_round(8, 200)), Some(0));
        }
        *door.0.lock() = true;
        door.1.notify_all();
        assert!(sleepers.into_iter().all(|thread| thread.join().is_ok()));
    }
}
