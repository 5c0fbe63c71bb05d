//! The pool of signal slots: a lock-free stack of free ones over an arena that grows in blocks.
//!
//! A slot's memory must be visible to every device before a device can complete a packet with it, so whoever
//! runs devices registers an observer for newly committed memory.

use super::block::{flag, Block, ARENA, KIND_USER, MAX_SIGNALS, TAG};
use super::{hardware, ipc};
use crate::error::{Error, Result};
use hansa_plugin_api::fork::Lock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Signals committed at first; each further step doubles the pool.
const FIRST_SLOTS: usize = 512;
const NONE: u32 = u32::MAX;

/// Head of the stack of free slots: slot number in the low half, a count against ABA in the high half.
static FREE: AtomicU64 = AtomicU64::new(NONE as u64);
static GROWING: Lock<()> = Lock::new(());
/// Called with address and bytes of each new part.
type Observer = Box<dyn Fn(usize, usize) -> Result<()> + Send + Sync>;
static OBSERVER: Lock<Option<Observer>> = Lock::new(None);
static LIVE: AtomicU32 = AtomicU32::new(0);

fn slot(index: u32) -> &'static Block {
    Block::at(ARENA.address_of(index as usize))
}

fn pop() -> Option<u32> {
    let mut head = FREE.load(Ordering::Acquire);
    loop {
        let index = low(head);
        if index == NONE {
            return None;
        }
        let next = slot(index).next_free.load(Ordering::Relaxed);
        let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(next);
        match FREE.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(index),
            Err(now) => head = now,
        }
    }
}

/// Pushes a chain of slots that is linked from `first` to `last`.
fn push(first: u32, last: u32) {
    let mut head = FREE.load(Ordering::Acquire);
    loop {
        slot(last).next_free.store(low(head), Ordering::Relaxed);
        let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(first);
        match FREE.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => head = now,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
const fn low(head: u64) -> u32 {
    head as u32
}

#[cold]
fn grow() -> Result<u32> {
    let _growing = GROWING.lock();
    if let Some(index) = pop() {
        return Ok(index);
    }
    let old = ARENA.committed_slots();
    if old == MAX_SIGNALS {
        return Err(Error::OutOfResources("signals"));
    }
    let new = if old == 0 { FIRST_SLOTS } else { old * 2 }.min(MAX_SIGNALS);
    let (address, bytes) = ARENA.commit(new)?;
    if let Some(observer) = OBSERVER.lock().as_ref() {
        observer(address, bytes)?;
    }
    let index = |i: usize| u32::try_from(i).unwrap_or(NONE);
    for i in old + 1..new - 1 {
        slot(index(i)).next_free.store(index(i + 1), Ordering::Relaxed);
    }
    push(index(old + 1), index(new - 1));
    Ok(index(old))
}

/// Sets who is told of memory that signals live in; what is committed already is told at once.
///
/// # Errors
///
/// What the observer answers.
pub fn observe(observer: Observer) -> Result<()> {
    let _growing = GROWING.lock();
    let bytes = ARENA.committed_slots() * super::block::BLOCK_BYTES;
    if bytes != 0 {
        observer(ARENA.base()?, bytes)?;
    }
    *OBSERVER.lock() = Some(observer);
    Ok(())
}

/// Tells nobody any more.
pub fn observe_no_more() {
    *OBSERVER.lock() = None;
}

/// Signals alive.
pub fn live() -> u32 {
    LIVE.load(Ordering::Relaxed)
}

/// Takes a slot and makes it a signal.
///
/// # Errors
///
/// [`Error::OutOfResources`] when memory, or the pool, is at its end.
pub fn create(initial: i64, flags: u32) -> Result<&'static Block> {
    let index = match pop() {
        Some(index) => index,
        None => grow()?,
    };
    let block = slot(index);
    block.value.store(initial, Ordering::Relaxed);
    block.start_ts.store(0, Ordering::Relaxed);
    block.end_ts.store(0, Ordering::Relaxed);
    block.copy_start.store(0, Ordering::Relaxed);
    block.copy_end.store(0, Ordering::Relaxed);
    block.queue.store(0, Ordering::Relaxed);
    block.notify.store(0, Ordering::Relaxed);
    block.waiters.store(0, Ordering::Relaxed);
    block.flags.store(flags, Ordering::Relaxed);
    block.references.store(1, Ordering::Relaxed);
    if flags & flag::SLEEPS != 0 {
        let own = || {
            let mailbox = std::ptr::from_ref(&block.mailbox).expose_provenance() as u64;
            (mailbox, index)
        };
        let (mailbox, event) = hardware::mailbox(flags).unwrap_or_else(own);
        block.event_mailbox.store(mailbox, Ordering::Relaxed);
        block.event_id.store(event, Ordering::Relaxed);
    } else {
        block.event_mailbox.store(0, Ordering::Relaxed);
        block.event_id.store(0, Ordering::Relaxed);
    }
    block.doorbell.store(0, Ordering::Relaxed);
    block.kind.store(KIND_USER, Ordering::Relaxed);
    block.tag.store(TAG, Ordering::Release);
    LIVE.fetch_add(1, Ordering::Relaxed);
    Ok(block)
}

/// Takes a reference to a live signal.
pub fn retain(block: &Block) {
    if block.is_shared() {
        return ipc::retain(block);
    }
    block.references.fetch_add(1, Ordering::Relaxed);
}

/// Ends the program's hold on a signal: its handle is stale from now on. Answers whether it was live.
pub fn retire(block: &'static Block) -> bool {
    if block.is_shared() {
        return ipc::retire(block);
    }
    if block
        .tag
        .compare_exchange(TAG, 0, Ordering::AcqRel, Ordering::Relaxed)
        .is_err()
    {
        return false;
    }
    release(block);
    true
}

/// Ends the program's hold on every signal: a runtime is going, and handles of it are stale from now on.
pub(crate) fn retire_all() {
    for index in 0..ARENA.committed_slots() {
        retire(Block::at(ARENA.address_of(index)));
    }
}

/// Gives a reference back; the last one frees the slot.
pub fn release(block: &'static Block) {
    if block.is_shared() {
        return ipc::release(block);
    }
    if block.references.fetch_sub(1, Ordering::AcqRel) == 1 {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        let index = u32::try_from(ARENA.index_of(std::ptr::from_ref(block).addr())).unwrap_or(NONE);
        push(index, index);
    }
}

/// How many event numbers the interrupts of a wave tell apart: gfx9's carry eight bits of the number, as ROCm's device
/// library sends them (`__ockl_hsa_signal_store`).
const TOLD_APART: u32 = 1 << 8;

/// The pool's signals that an event number may be of: its own, and for a number that may be the end of a longer one all that
/// end so.
pub fn of_event(event: u32) -> impl Iterator<Item = &'static Block> {
    let slots = u32::try_from(ARENA.committed_slots()).unwrap_or(u32::MAX);
    let end = if event < TOLD_APART {
        slots
    } else {
        slots.min(event.saturating_add(1))
    };
    (event..end)
        .step_by(TOLD_APART as usize)
        .map(slot)
        .filter(|block| block.tag.load(Ordering::Relaxed) == TAG)
}
