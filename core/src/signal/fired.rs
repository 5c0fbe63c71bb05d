//! Which signals changed since the handler threads looked: a stack without locks whose links are in the signals.
//!
//! Whoever changes a watched signal pushes it, once until it is taken again. Whoever takes it unlinks it first and looks at
//! its value then, so a change is either in that value or pushes anew. A signal that is freed meanwhile stays linked until
//! somebody takes the stack, and so may be another signal by then. A count of all changes tells their order, which the links
//! do not: a signal may have been linked for an earlier change.

use super::block::{Block, ARENA};
use std::cmp::Reverse;
use std::sync::atomic::{fence, AtomicU32, Ordering};

/// The link of the last signal. 0: not in the stack.
const LAST: u32 = u32::MAX;
/// The link of a signal that somebody is about to put onto the stack.
const SOON: u32 = u32::MAX - 1;
/// How often whoever finds a signal so gives way to whoever is at it, so that the signal is there before one that changes next.
const MOST_TURNS: u32 = 1000;

/// The number of the first signal's slot and 1, or 0.
static HEAD: AtomicU32 = AtomicU32::new(0);
/// Counts changes.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// Puts a signal of the pool onto the stack. Answers `false` if it is there already.
pub(super) fn push(block: &Block) -> bool {
    number(block, CHANGES.fetch_add(1, Ordering::Relaxed));
    // The change before this, and its number, are seen by whoever unlinks the signal after this.
    fence(Ordering::SeqCst);
    let linked = block
        .fired
        .compare_exchange(0, SOON, Ordering::SeqCst, Ordering::SeqCst);
    match linked {
        Ok(_) => {}
        Err(SOON) => {
            give_way(block);
            return false;
        }
        Err(_) => return false,
    }
    let slot = ARENA.index_of(std::ptr::from_ref(block).addr());
    let own = u32::try_from(slot + 1).unwrap_or(LAST);
    let mut head = HEAD.load(Ordering::Acquire);
    loop {
        let link = if head == 0 { LAST } else { head };
        block.fired.store(link, Ordering::Relaxed);
        match HEAD.compare_exchange_weak(head, own, Ordering::SeqCst, Ordering::Acquire) {
            Ok(_) => return true,
            Err(now) => head = now,
        }
    }
}

/// Gives a signal the number of a change, unless it has one of a later change: that is another signal's in its place.
fn number(block: &Block, change: u32) {
    let later = |old: u32| (change.wrapping_sub(old).cast_signed() > 0).then_some(change);
    // It has the later one then.
    let _ = block
        .change
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
}

/// Lets another thread put the signal onto the stack, which it is about to do unless the process was forked just then.
#[cold]
fn give_way(block: &Block) {
    for _ in 0..MOST_TURNS {
        if block.fired.load(Ordering::SeqCst) != SOON {
            return;
        }
        std::thread::yield_now();
    }
}

/// Whether nothing changed.
pub(super) fn is_empty() -> bool {
    HEAD.load(Ordering::SeqCst) == 0
}

/// Takes all that changed.
pub(super) fn take() -> Vec<&'static Block> {
    let mut taken = Vec::new();
    let mut next = HEAD.swap(0, Ordering::SeqCst);
    while next != 0 && next != LAST {
        let block = Block::at(ARENA.address_of(next as usize - 1));
        next = block.fired.swap(0, Ordering::SeqCst);
        taken.push(block);
    }
    fence(Ordering::SeqCst);
    taken
}

/// Puts signals in the order of their last changes.
pub(super) fn sort(changed: &mut [&Block]) {
    let now = CHANGES.load(Ordering::Relaxed);
    // Negative for one that changes meanwhile.
    let age = |block: &Block| {
        now.wrapping_sub(block.change.load(Ordering::Relaxed))
            .cast_signed()
    };
    changed.sort_by_cached_key(|block| Reverse(age(block)));
}

/// Forgets, in a forked child, what the parent's threads pushed or were about to push.
pub(super) fn after_fork() {
    HEAD.store(0, Ordering::SeqCst);
    for slot in 0..ARENA.committed_slots() {
        let block = Block::at(ARENA.address_of(slot));
        // A page that is only read stays shared with the parent.
        if block.fired.load(Ordering::Relaxed) != 0 {
            block.fired.store(0, Ordering::SeqCst);
        }
    }
}
