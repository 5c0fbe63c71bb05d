//! The runtime's life: reference counted, and built again after the last shut-down.
//!
//! A forked child has no runtime: its devices and threads are the parent's. What it inherited is left alone,
//! calls answer that nothing is initialized, and the child may initialize anew.

use super::build::build;
use super::Runtime;
use crate::error::{Error, Result};
use crate::plugin::BuiltIn;
use arc_swap::{ArcSwapOption, Guard};
use rustix::thread::futex;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Once};

static CURRENT: ArcSwapOption<Runtime> = ArcSwapOption::const_empty();
static LIFE: Life = Life {
    locked: AtomicU32::new(0),
    references: AtomicU32::new(0),
};
static EPOCH: AtomicU16 = AtomicU16::new(0);
/// Set in a forked child until it initializes anew.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The count of users, and the lock under which it changes. A lock of our own, because a forked child must be
/// able to open one that a thread of its parent held.
struct Life {
    /// 0 open, 1 locked, 2 locked and somebody sleeps.
    locked: AtomicU32,
    references: AtomicU32,
}

struct Locked;

impl Life {
    fn lock(&self) -> Locked {
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
        Locked
    }

    fn open(&self) {
        if self.locked.swap(0, Ordering::Release) == 2 {
            let _ = futex::wake(&self.locked, futex::Flags::PRIVATE, 1);
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        LIFE.open();
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
    // A thread that forks is not inside `init` or `shut_down`; whoever held the lock is not in the child.
    LIFE.locked.store(0, Ordering::Relaxed);
    crate::signal::wait::after_fork();
    crate::ipc::after_fork();
}

/// Makes the runtime, or counts one more user.
///
/// # Errors
///
/// [`Error::RefCountOverflow`], and whatever kept the runtime from being built.
pub fn init(built_ins: &[BuiltIn]) -> Result<()> {
    init_with(built_ins, |_| ())
}

/// [`init`]; `started` is called with a runtime that was made, before anybody else can have it.
///
/// # Errors
///
/// As [`init`].
pub fn init_with(built_ins: &[BuiltIn], started: impl FnOnce(&Arc<Runtime>)) -> Result<()> {
    static AT_FORK: Once = Once::new();
    AT_FORK.call_once(|| {
        // SAFETY: the handler only stores flags.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    let _locked = LIFE.lock();
    let mut references = LIFE.references.load(Ordering::Relaxed);
    if FORKED.load(Ordering::Relaxed) {
        references = 0;
        // The parent's runtime is left as it is: taking it down would touch the parent's devices. Its drivers hear
        // of the fork; one that has nothing to let go says that it does not support being told.
        let inherited = CURRENT.swap(None);
        for driver in inherited.iter().flat_map(|runtime| &runtime.drivers) {
            let _ = driver.object.after_fork();
        }
        std::mem::forget(inherited);
        FORKED.store(false, Ordering::Relaxed);
    }
    if references == MOST_REFERENCES {
        return Err(Error::RefCountOverflow);
    }
    if references == 0 {
        crate::signal::wait::prepare();
        let runtime = build(EPOCH.fetch_add(1, Ordering::Relaxed).wrapping_add(1), built_ins)?;
        started(&runtime);
        CURRENT.store(Some(runtime));
    }
    LIFE.references.store(references + 1, Ordering::Relaxed);
    Ok(())
}

/// Counts one user less; the last one takes the runtime down.
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
pub fn shut_down() -> Result<()> {
    shut_down_with(|| ())
}

/// [`shut_down`]; `stopping` is called when nobody can get at the runtime any more, before it is taken down.
///
/// # Errors
///
/// As [`shut_down`].
pub fn shut_down_with(stopping: impl FnOnce()) -> Result<()> {
    let _locked = LIFE.lock();
    let references = LIFE.references.load(Ordering::Relaxed);
    if references == 0 || FORKED.load(Ordering::Relaxed) {
        return Err(Error::NotInitialized);
    }
    LIFE.references.store(references - 1, Ordering::Relaxed);
    if references == 1 {
        if let Some(runtime) = CURRENT.swap(None) {
            stopping();
            runtime.tear_down();
        }
    }
    Ok(())
}
