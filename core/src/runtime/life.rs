//! The runtime's life: reference counted, and built again after the last shut-down.
//!
//! A forked child has no runtime: its devices and threads are the parent's. What it inherited is left alone,
//! calls answer that nothing is initialized, and the child may initialize anew.
//!
//! Tools are called while the runtime starts and stops, and may call every function from there: the runtime answers
//! already, or still, and the thread that holds the lock of this module passes it a second time. What such a nested call
//! can do is count: `init` one user more, `shut_down` one of those that nested calls added.

use super::build::build;
use super::Runtime;
use crate::error::{Error, Result};
use crate::plugin::BuiltIn;
use arc_swap::{ArcSwapOption, Guard};
use rustix::thread::futex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Once};

static CURRENT: ArcSwapOption<Runtime> = ArcSwapOption::const_empty();
static LIFE: Life = Life {
    locked: AtomicU32::new(0),
    owner: AtomicI32::new(0),
    references: AtomicU32::new(0),
};
static EPOCH: AtomicU16 = AtomicU16::new(0);
/// Runtimes there were, in the upper bits, and the epoch of handles; 0 while there is none.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// Runtimes there were. Changes under the lock.
static RUNTIMES: AtomicU64 = AtomicU64::new(0);
/// Set in a forked child until it initializes anew.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The count of users, and the lock under which it changes. A lock of our own, because a forked child must be
/// able to open one that a thread of its parent held.
struct Life {
    /// 0 open, 1 locked, 2 locked and somebody sleeps.
    locked: AtomicU32,
    /// The thread that holds the lock, by the kernel's number; 0 for none.
    owner: AtomicI32,
    /// Users, and [`CHANGING`].
    references: AtomicU32,
}

/// Set beside the count while a runtime starts or stops, which tools are told of: others wait for the lock. While it is
/// not set, users beyond the first come and go without the lock.
const CHANGING: u32 = 1 << 31;

/// The lock, held.
struct Locked {
    /// Whether the thread held it before, further out.
    nested: bool,
}

impl Life {
    fn lock(&self) -> Locked {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        if self.owner.load(Ordering::Relaxed) == own {
            return Locked { nested: true };
        }
        let mut state = self
            .locked
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .unwrap_or_else(|now| now);
        while state != 0 {
            state = self.locked.swap(2, Ordering::Acquire);
            if state != 0 {
                // Woken, changed before or interrupted: try again.
                let _ = futex::wait(&self.locked, futex::Flags::PRIVATE, 2, None);
            }
        }
        self.owner.store(own, Ordering::Relaxed);
        Locked { nested: false }
    }

    /// Changes the count of a runtime that has users and is not [`CHANGING`], to what `with` makes of it. Answers whether it did.
    fn count(&self, with: impl Fn(u32) -> Option<u32>) -> bool {
        let settled = |count| {
            (count != 0 && count & CHANGING == 0)
                .then(|| with(count))
                .flatten()
        };
        !FORKED.load(Ordering::Relaxed)
            && self
                .references
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, settled)
                .is_ok()
    }

    fn open(&self) {
        self.owner.store(0, Ordering::Relaxed);
        if self.locked.swap(0, Ordering::Release) == 2 {
            let _ = futex::wake(&self.locked, futex::Flags::PRIVATE, 1);
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if !self.nested {
            LIFE.open();
        }
    }
}

/// Most references, as AMD's runtime has it.
const MOST_REFERENCES: u32 = i32::MAX.unsigned_abs();

/// The runtime, without a lock.
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
#[inline]
pub fn current() -> Result<Current> {
    let guard = CURRENT.load();
    if guard.is_none() || FORKED.load(Ordering::Relaxed) {
        return Err(Error::NotInitialized);
    }
    Ok(Current(guard))
}

/// Whether there is a runtime, for calls that need nothing else of it: quicker than [`current`].
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
#[inline]
pub fn initialized() -> Result<()> {
    if LIFE.references.load(Ordering::Acquire) == 0 || FORKED.load(Ordering::Relaxed) {
        return Err(Error::NotInitialized);
    }
    Ok(())
}

/// Which runtime of this process there is: no two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(u64);

impl Generation {
    /// Whether there is one.
    #[inline]
    #[must_use]
    pub const fn is_one(self) -> bool {
        self.0 != 0
    }

    /// The epoch of its handles.
    #[inline]
    #[must_use]
    pub const fn epoch(self) -> u16 {
        let [low, high, ..] = self.0.to_le_bytes();
        u16::from_le_bytes([low, high])
    }
}

/// The runtime that answers now, as a number. What was read between two calls that answer the same was that runtime's.
#[inline]
#[must_use]
pub fn generation() -> Generation {
    Generation(GENERATION.load(Ordering::Acquire))
}

/// A hold on the runtime for the length of a call.
pub struct Current(Guard<Option<Arc<Runtime>>>);

impl std::ops::Deref for Current {
    type Target = Arc<Runtime>;

    #[inline]
    fn deref(&self) -> &Arc<Runtime> {
        match &*self.0 {
            Some(runtime) => runtime,
            None => unreachable!("`current` looked"),
        }
    }
}

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Current").field("epoch", &self.epoch).finish()
    }
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
    GENERATION.store(0, Ordering::Relaxed);
    // A thread that forks is not inside `init` or `shut_down`; whoever held the lock is not in the child.
    LIFE.locked.store(0, Ordering::Relaxed);
    LIFE.owner.store(0, Ordering::Relaxed);
    crate::memory::source::after_fork();
    crate::signal::wait::after_fork();
    crate::ipc::after_fork();
}

/// Counts one more user of a runtime that is there, without a lock. Answers whether it did; if not, [`init`] must decide.
#[must_use]
pub fn join() -> bool {
    LIFE.count(|count| (count < MOST_REFERENCES).then_some(count + 1))
}

/// Makes the runtime, or counts one more user.
///
/// # Errors
///
/// [`Error::RefCountOverflow`], and whatever kept the runtime from being built.
pub fn init(built_ins: &[BuiltIn]) -> Result<()> {
    init_with(built_ins, |_| (), |_| ())
}

/// [`init`]; `built` is called with a runtime that was made, before anybody else can have it, and `started` when it
/// answers.
///
/// # Errors
///
/// As [`init`].
pub fn init_with(
    built_ins: &[BuiltIn],
    built: impl FnOnce(&Arc<Runtime>),
    started: impl FnOnce(&Arc<Runtime>),
) -> Result<()> {
    static AT_FORK: Once = Once::new();
    AT_FORK.call_once(|| {
        // SAFETY: the handler only stores flags.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    let _locked = LIFE.lock();
    if join() {
        return Ok(());
    }
    let mut references = LIFE.references.load(Ordering::Relaxed) & !CHANGING;
    if FORKED.load(Ordering::Relaxed) {
        references = 0;
        // The parent's runtime is left as it is: taking it down would touch the parent's devices. Its drivers hear
        // of the fork; one that has nothing to let go says that it does not support being told.
        let inherited = CURRENT.swap(None);
        for driver in inherited.iter().flat_map(|runtime| &runtime.drivers) {
            let _ = driver.object.after_fork();
        }
        std::mem::forget(inherited);
        LIFE.references.store(0, Ordering::Relaxed);
        crate::signal::wait::forget_changes();
        FORKED.store(false, Ordering::Relaxed);
    }
    if references == MOST_REFERENCES {
        return Err(Error::RefCountOverflow);
    }
    if references == 0 {
        crate::signal::wait::prepare();
        let epoch = EPOCH.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let runtime = build(epoch, built_ins)?;
        built(&runtime);
        let number = RUNTIMES.fetch_add(1, Ordering::Relaxed) + 1;
        CURRENT.store(Some(Arc::clone(&runtime)));
        runtime.memory.show();
        GENERATION.store(number << 16 | u64::from(epoch), Ordering::Release);
        LIFE.references.store(CHANGING | 1, Ordering::Release);
        started(&runtime);
        LIFE.references.fetch_and(!CHANGING, Ordering::AcqRel);
    } else {
        // Nested in a start or a stop: nobody else changes the count.
        LIFE.references.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Counts one user less; the last one takes the runtime down.
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
pub fn shut_down() -> Result<()> {
    shut_down_with(|| (), || ())
}

/// [`shut_down`]; the last one calls `leaving` while the runtime still answers, and `stopping` when nobody can get at
/// it any more, before it is taken down.
///
/// # Errors
///
/// As [`shut_down`].
pub fn shut_down_with(leaving: impl FnOnce(), stopping: impl FnOnce()) -> Result<()> {
    let one_less = |count| (count > 1).then(|| count - 1);
    if LIFE.count(one_less) {
        return Ok(());
    }
    let locked = LIFE.lock();
    // Others come and go until this is the last one, and nobody from then on.
    while !LIFE.count(|count| (count == 1).then_some(CHANGING | 1)) {
        if LIFE.count(one_less) {
            return Ok(());
        }
        let references = LIFE.references.load(Ordering::Acquire);
        if references & CHANGING == 0 && references != 0 && !FORKED.load(Ordering::Relaxed) {
            continue;
        }
        // The reference that whoever calls us from further out gives or takes is not a nested caller's.
        let own = u32::from(locked.nested);
        if references & !CHANGING <= own || FORKED.load(Ordering::Relaxed) {
            return Err(Error::NotInitialized);
        }
        LIFE.references.fetch_sub(1, Ordering::Relaxed);
        return Ok(());
    }
    leaving();
    LIFE.references.store(0, Ordering::Relaxed);
    GENERATION.store(0, Ordering::Relaxed);
    if let Some(runtime) = CURRENT.swap(None) {
        stopping();
        runtime.tear_down();
    }
    Ok(())
}
