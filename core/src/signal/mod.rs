//! Signals: 64-bit values that host and devices change and wait for (HSA specification, 2.4).
//!
//! Operations are single atomics and inline all the way to the exported symbol: they check the handle by
//! arithmetic and a tag, change the value, and look whether somebody sleeps. A doorbell is a signal whose
//! stores ring a queue.

pub mod block;
mod fired;
pub mod group;
pub mod handlers;
pub mod hardware;
pub mod ipc;
mod ipc_wait;
pub mod pool;
mod rest;
mod rhythm;
mod seat;
pub mod wait;

pub use block::Block;
pub use group::Group;
pub use wait::Condition;

use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::{clock, trace};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The live signal behind a handle.
///
/// # Errors
///
/// [`Error::InvalidSignal`] for anything else.
#[inline]
pub fn checked(handle: u64) -> Result<&'static Block> {
    Block::of(handle).ok_or(Error::InvalidSignal)
}

/// Loads the value; 0 for anything that is no signal.
#[inline]
#[must_use]
pub fn load(handle: u64, order: Ordering) -> i64 {
    match Block::of_pool(handle) {
        Some(block) => block.value.load(order),
        None => load_other(handle),
    }
}

/// A signal of other processes, or none. These functions have C's convention because what cannot unwind can be the last call
/// of the quick ones, which then need no stack.
#[cold]
extern "C" fn load_other(handle: u64) -> i64 {
    Block::of(handle).map_or(0, |block| block.value.load(Ordering::Acquire))
}

/// Stores a value and wakes waiters, or rings the queue when the signal is its doorbell.
#[inline]
pub fn store(handle: u64, value: i64, order: Ordering) {
    let Some(block) = Block::plain(handle) else {
        return store_other(handle, value);
    };
    block.value.store(value, order);
    wait::changed(block);
}

/// As [`store`], for doorbells and signals of other processes.
extern "C" fn store_other(handle: u64, value: i64) {
    if store_silently_other(handle, value) {
        if let Some(block) = Block::of(handle) {
            wait::changed(block);
        }
    }
}

/// Stores a value and wakes nobody. A doorbell has no value to store: it rings.
#[inline]
pub fn store_silently(handle: u64, value: i64, order: Ordering) {
    match Block::plain(handle) {
        Some(block) => block.value.store(value, order),
        None => {
            let _ = store_silently_other(handle, value);
        }
    }
}

/// As [`store_silently`], for doorbells and signals of other processes. Answers whether there is a value.
extern "C" fn store_silently_other(handle: u64, value: i64) -> bool {
    let Some(block) = Block::of(handle) else {
        return false;
    };
    if block.is_doorbell() {
        ring(block, value);
        return false;
    }
    block.value.store(value, Ordering::Release);
    true
}

/// Rings a doorbell.
#[inline]
pub fn ring(block: &Block, value: i64) {
    let notify = block.notify.load(Ordering::Acquire);
    if notify == 0 {
        ring_hardware(block, value);
        return;
    }
    // SAFETY: `notify` is set once, before the doorbell's handle is given out, from a function of this type.
    let notify: extern "C" fn(u64, u64) =
        unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<()>(address(notify))) };
    notify(
        block.queue.load(Ordering::Relaxed),
        u64::from_ne_bytes(value.to_ne_bytes()),
    );
}

fn address(value: u64) -> usize {
    usize::try_from(value).unwrap_or(0)
}

fn ring_hardware(block: &Block, value: i64) {
    let doorbell = block.value.load(Ordering::Relaxed);
    if doorbell == 0 || block.kind.load(Ordering::Relaxed) != block::KIND_DOORBELL {
        return;
    }
    std::sync::atomic::fence(Ordering::SeqCst);
    let doorbell = address(u64::from_ne_bytes(doorbell.to_ne_bytes()));
    // SAFETY: the driver gave this address as a 64-bit doorbell of a queue that still lives.
    unsafe { std::ptr::with_exposed_provenance_mut::<i64>(doorbell).write_volatile(value) };
}

/// Changes the value with one atomic operation, wakes waiters, and answers the value before.
#[inline]
pub fn update(handle: u64, operation: impl FnOnce(&std::sync::atomic::AtomicI64) -> i64) -> i64 {
    let Some(block) = Block::plain(handle) else {
        return update_other(handle, operation);
    };
    let before = operation(&block.value);
    wait::changed(block);
    before
}

/// As [`update`], for signals of other processes; doorbells have no value.
#[cold]
fn update_other(handle: u64, operation: impl FnOnce(&std::sync::atomic::AtomicI64) -> i64) -> i64 {
    let Some(block) = Block::of(handle).filter(|block| !block.is_doorbell()) else {
        return 0;
    };
    let before = operation(&block.value);
    wait::changed(block);
    before
}

/// Waits; 0 for anything that is no signal.
#[inline]
#[must_use]
pub fn wait(handle: u64, condition: Condition, compare: i64, timeout: u64) -> i64 {
    let Some(block) = Block::of(handle) else { return 0 };
    if WATCHED.load(Ordering::Relaxed) {
        return traced_wait(block, condition, compare, timeout);
    }
    wait::wait(block, condition, compare, timeout)
}

/// Whether anybody wants to know of waits, or they have a limit.
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Seconds after which a wait ends the program, 0 for never.
static WAIT_LIMIT: AtomicU32 = AtomicU32::new(0);

/// Takes the settings.
pub(crate) fn configure(settings: &crate::config::Settings) {
    WAIT_LIMIT.store(settings.hsa.signal_wait_abort_timeout.value.0, Ordering::Relaxed);
    review();
}

/// Looks again at who wants to know of waits.
pub(crate) fn review() {
    let limited = WAIT_LIMIT.load(Ordering::Relaxed) != 0;
    WATCHED.store(
        limited || trace::on() || log::on(Topic::Signal),
        Ordering::Relaxed,
    );
}

#[cold]
fn traced_wait(block: &Block, condition: Condition, compare: i64, timeout: u64) -> i64 {
    let start = clock::now();
    let limit = match WAIT_LIMIT.load(Ordering::Relaxed) {
        0 => u64::MAX,
        seconds => u64::from(seconds) * clock::HZ,
    };
    let value = wait::wait(block, condition, compare, timeout.min(limit));
    let met = condition.holds(value, compare);
    let handle = block.handle();
    if !met && limit < timeout {
        eprintln!(
            "hansa: HSA_SIGNAL_WAIT_ABORT_TIMEOUT: signal {handle:#x} is {value} and not {condition:?} {compare} after {} s",
            limit / clock::HZ
        );
        std::process::abort();
    }
    log::line(
        Topic::Signal,
        format_args!(
            "signal {handle:#x}: waited {} us until {condition:?} {compare}: {value}{}",
            (clock::now() - start) / 1000,
            if met { "" } else { ", the time was over" }
        ),
    );
    let details = [
        ("signal", format!("{:#x}", block.handle())),
        ("until", format!("{condition:?} {compare}")),
        ("value", value.to_string()),
    ];
    trace::span(trace::Place::Wait, "wait", &details, start, clock::now());
    value
}

/// Makes a signal.
///
/// # Errors
///
/// [`Error::OutOfResources`] when memory ran out.
pub fn create(initial: i64, flags: u32) -> Result<u64> {
    let handle = pool::create(initial, flags)?.handle();
    log::line(
        Topic::Signal,
        format_args!("signal {handle:#x}: made with {initial}"),
    );
    Ok(handle)
}

/// Destroys a signal of the program.
///
/// # Errors
///
/// [`Error::InvalidSignal`] for anything that is no live signal, and for doorbells and the runtime's own.
pub fn destroy(handle: u64) -> Result<()> {
    let block = checked(handle)?;
    if block.is_doorbell() || (block.has(block::flag::INTERNAL) && !block.is_shared()) {
        return Err(Error::InvalidSignal);
    }
    log::line(Topic::Signal, format_args!("signal {handle:#x}: destroyed"));
    if pool::retire(block) {
        Ok(())
    } else {
        Err(Error::InvalidSignal)
    }
}
