//! Which signals changed since the handler threads looked: a stack without locks whose links are in the signals.
//!
//! Whoever changes a watched signal pushes it, once until it is taken again. Whoever takes it unlinks it first and looks at
//! its value then, so a change is either in that value or pushes anew. A signal that is freed meanwhile stays linked until
//! somebody takes the stack, and so may be another signal by then.

use super::block::{Block, ARENA};
use std::sync::atomic::{fence, AtomicU32, Ordering};

/// The link of the last signal, and of one that is about to be linked. 0: not in the stack.
const LAST: u32 = u32::MAX;

/// The number of the first signal's slot and 1, or 0.
static HEAD: AtomicU32 = AtomicU32::new(0);

/// Puts a signal of the pool onto the stack. Answers `false` if it is there already.
pub(super) fn push(block: &Block) -> bool {
    // The change before this is seen by whoever unlinks the signal after this.
    fence(Ordering::SeqCst);
    let linked = block
        .fired
        .compare_exchange(0, LAST, Ordering::SeqCst, Ordering::SeqCst);
    if linked.is_err() {
        return false;
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

/// Whether nothing changed.
pub(super) fn is_empty() -> bool {
    HEAD.load(Ordering::SeqCst) == 0
}

/// Takes all that changed, in the order of the changes.
pub(super) fn take() -> Vec<&'static Block> {
    let mut taken = Vec::new();
    let mut next = HEAD.swap(0, Ordering::SeqCst);
    while next != 0 && next != LAST {
        let block = Block::at(ARENA.address_of(next as usize - 1));
        next = block.fired.swap(0, Ordering::SeqCst);
        taken.push(block);
    }
    fence(Ordering::SeqCst);
    taken.reverse();
    taken
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
