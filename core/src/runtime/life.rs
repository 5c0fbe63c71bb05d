//! The runtime's life: reference counted, and built again after the last shut-down.
//!
//! A forked child has no runtime: its devices and threads are the parent's. What it inherited is left alone,
//! calls answer that nothing is initialized, and the child may initialize anew.

use super::build::{build, BuiltIn};
use super::Runtime;
use crate::error::{Error, Result};
use arc_swap::{ArcSwapOption, Guard};
use parking_lot::lock_api::RawMutex as _;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Once};

static CURRENT: ArcSwapOption<Runtime> = ArcSwapOption::const_empty();
static LIFE: Mutex<Life> = Mutex::new(Life { references: 0 });
static EPOCH: AtomicU16 = AtomicU16::new(0);
/// Set in a forked child until it initializes anew.
static FORKED: AtomicBool = AtomicBool::new(false);

struct Life {
    references: u32,
}

/// Most references, as AMD's runtime has it.
const MOST_REFERENCES: u32 = i32::MAX.unsigned_abs();

/// The runtime, without a lock.
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
#[inline]
pub fn current() -> Result<Guard<Option<Arc<Runtime>>>> {
    let guard = CURRENT.load();
    if guard.is_none() || FORKED.load(Ordering::Relaxed) {
        return Err(Error::NotInitialized);
    }
    Ok(guard)
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
    if LIFE.is_locked() {
        // SAFETY: the child has one thread, and it does not hold the lock: a thread that forks is not inside
        // `init` or `shut_down`. Another thread of the parent held it, which is not here.
        unsafe { LIFE.raw().unlock() };
    }
    crate::signal::wait::after_fork();
}

/// Makes the runtime, or counts one more user.
///
/// # Errors
///
/// [`Error::RefCountOverflow`], and whatever kept the runtime from being built.
pub fn init(built_ins: &[BuiltIn]) -> Result<()> {
    static AT_FORK: Once = Once::new();
    AT_FORK.call_once(|| {
        // SAFETY: the handler only stores flags.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    let mut life = LIFE.lock();
    if FORKED.load(Ordering::Relaxed) {
        life.references = 0;
        // The parent's runtime is left as it is: taking it down would touch the parent's devices.
        std::mem::forget(CURRENT.swap(None));
        FORKED.store(false, Ordering::Relaxed);
    }
    if life.references == MOST_REFERENCES {
        return Err(Error::RefCountOverflow);
    }
    if life.references == 0 {
        crate::signal::wait::prepare();
        let runtime = build(EPOCH.fetch_add(1, Ordering::Relaxed).wrapping_add(1), built_ins)?;
        CURRENT.store(Some(runtime));
    }
    life.references += 1;
    Ok(())
}

/// Counts one user less; the last one takes the runtime down.
///
/// # Errors
///
/// [`Error::NotInitialized`] when there is none.
pub fn shut_down() -> Result<()> {
    let mut life = LIFE.lock();
    if life.references == 0 || FORKED.load(Ordering::Relaxed) {
        return Err(Error::NotInitialized);
    }
    life.references -= 1;
    if life.references == 0 {
        if let Some(runtime) = CURRENT.swap(None) {
            runtime.tear_down();
        }
    }
    Ok(())
}
