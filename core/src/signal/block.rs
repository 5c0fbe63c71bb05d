//! A signal in memory.
//!
//! The first 64 bytes are `amd_signal_t` (Debian's `hsa/amd_hsa_signal.h`), which devices read and write: the
//! kind at 0, the value at 8, mailbox and event number at 16 and 24, timestamps at 32 and 40, the queue at 48.
//! The rest of the block is the runtime's. `hsa_signal_t.handle` is the block's address.

use crate::memory::arena::Arena;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// `AMD_SIGNAL_KIND_USER`.
pub const KIND_USER: i64 = 1;
/// `AMD_SIGNAL_KIND_DOORBELL`: the value is the address of a doorbell.
pub const KIND_DOORBELL: i64 = -1;

/// Marks a live block.
pub const TAG: u64 = 0x4861_6e73_6153_6967;

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 128;
/// Most signals of a process; a slot's number also serves as an event number, which has 24 bits.
pub const MAX_SIGNALS: usize = 1 << 24;

/// All signals of the process.
pub static ARENA: Arena = Arena::new(BLOCK_BYTES, MAX_SIGNALS);

/// What is special about a signal.
pub mod flag {
    /// Waits on it may sleep (`hsa_signal_create` without GPU-only attributes).
    pub const SLEEPS: u32 = 1;
    /// Made with `HSA_AMD_SIGNAL_AMD_GPU_ONLY`.
    pub const GPU_ONLY: u32 = 2;
    /// Made with `HSA_AMD_SIGNAL_IPC`.
    pub const IPC: u32 = 4;
    /// A queue's doorbell: stores ring it.
    pub const DOORBELL: u32 = 8;
    /// The runtime's own (a queue's inactive signal).
    pub const INTERNAL: u32 = 32;
}

/// The bits of [`Block::waiters`], which for a signal that processes share only counts sleepers, above the count of threads that sleep on the signal itself.
pub mod watch {
    /// One thread asleep on the block.
    pub const SLEEPER: u32 = 1;
    /// An asynchronous handler thread watches it.
    pub const HANDLER: u32 = 1 << 31;
    /// Waits on several signals watch it; a count in bits 16 to 30.
    pub const GROUP: u32 = 1 << 16;
    /// Mask of the count of threads asleep on the block.
    pub const SLEEPERS: u32 = GROUP - 1;
    /// Mask of the count of waits on several signals.
    pub const GROUPS: u32 = HANDLER - GROUP;
}

/// A signal.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Block {
    /// User or doorbell.
    pub kind: AtomicI64,
    /// The value; for a hardware doorbell its address.
    pub value: AtomicI64,
    /// Where a device writes `event_id`, or 0.
    pub event_mailbox: AtomicU64,
    /// What it writes there.
    pub event_id: AtomicU32,
    reserved1: AtomicU32,
    /// When the packet it completes started, in the device's ticks.
    pub start_ts: AtomicU64,
    /// When it ended.
    pub end_ts: AtomicU64,
    /// The queue of a doorbell.
    pub queue: AtomicU64,
    /// Not 0 for a queue's doorbell: the host's note, where devices have reserved bytes.
    pub doorbell: AtomicU32,
    /// The number of its last change among those of all signals, see `fired`; the host's note as well.
    pub change: AtomicU32,
    /// When the copy it completes started, in ticks of the HSA clock.
    pub copy_start: AtomicU64,
    /// When that copy ended; 0 when there was none.
    pub copy_end: AtomicU64,
    /// [`TAG`] while the signal lives.
    pub tag: AtomicU64,
    /// Who is to be woken when the value changes; see [`watch`].
    pub waiters: AtomicU32,
    /// Counts wake-ups; sleepers wait on it.
    pub wakes: AtomicU32,
    /// What the signal is, see [`flag`].
    pub flags: AtomicU32,
    /// References: one of the program, one per handler registered on it.
    pub references: AtomicU32,
    /// The free list's next slot.
    pub next_free: AtomicU32,
    /// The link of the list of signals that changed, see `fired`.
    pub fired: AtomicU32,
    /// Doorbells: address of the function to call with `queue_context` and the value stored, or 0.
    pub notify: AtomicU64,
    /// Where a device writes the event number, as 64 bits, when nothing else gave a mailbox.
    pub mailbox: AtomicU64,
}

const _: () = {
    assert!(size_of::<Block>() == BLOCK_BYTES);
    assert!(std::mem::offset_of!(Block, value) == 8);
    assert!(std::mem::offset_of!(Block, event_mailbox) == 16);
    assert!(std::mem::offset_of!(Block, event_id) == 24);
    assert!(std::mem::offset_of!(Block, start_ts) == 32);
    assert!(std::mem::offset_of!(Block, end_ts) == 40);
    assert!(std::mem::offset_of!(Block, queue) == 48);
    assert!(std::mem::offset_of!(Block, doorbell) == 56);
    assert!(std::mem::offset_of!(Block, copy_start) == 64);
    assert!(std::mem::offset_of!(Block, mailbox) == BLOCK_BYTES - 8);
};

impl Block {
    /// Where its value is, for a device or a kernel that stores it.
    #[must_use]
    pub fn address_of_value(&self) -> u64 {
        std::ptr::from_ref(&self.value).expose_provenance() as u64
    }

    /// The live signal behind a handle, or `None` for anything else.
    #[inline]
    #[must_use]
    pub fn of(handle: u64) -> Option<&'static Self> {
        let address = usize::try_from(handle).ok()?;
        if !ARENA.holds(address) {
            return super::ipc::live(address);
        }
        Self::of_pool(handle)
    }

    /// As [`Self::of`], for signals that are not shared with other processes.
    #[inline]
    #[must_use]
    pub fn of_pool(handle: u64) -> Option<&'static Self> {
        let address = usize::try_from(handle).ok()?;
        if !ARENA.holds(address) {
            return None;
        }
        let block = Self::at(address);
        (block.tag.load(Ordering::Relaxed) == TAG).then_some(block)
    }

    /// As [`Self::of_pool`], for signals that are no doorbells: what operations on values are quick for.
    #[inline]
    #[must_use]
    pub fn plain(handle: u64) -> Option<&'static Self> {
        Self::of_pool(handle).filter(|block| block.doorbell.load(Ordering::Relaxed) == 0)
    }

    /// The slot at an address that the arena holds.
    #[inline]
    #[must_use]
    pub(crate) fn at(address: usize) -> &'static Self {
        // SAFETY: the address is a committed slot of the arena, which is never unmapped; every field is atomic.
        unsafe { &*std::ptr::with_exposed_provenance::<Self>(address) }
    }

    /// The handle.
    #[inline]
    #[must_use]
    pub fn handle(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Whether other processes may have the signal, too.
    #[inline]
    #[must_use]
    pub fn is_shared(&self) -> bool {
        super::ipc::is_shared(self)
    }

    /// Whether the signal is a queue's doorbell. What another process writes never makes it one.
    #[inline]
    #[must_use]
    pub fn is_doorbell(&self) -> bool {
        self.doorbell.load(Ordering::Relaxed) != 0 && !self.is_shared()
    }

    /// Makes the signal a queue's doorbell, which devices see as a signal of this kind.
    pub(crate) fn become_doorbell(&self, kind: i64) {
        self.kind.store(kind, Ordering::Release);
        self.doorbell.store(1, Ordering::Release);
    }

    /// Makes a doorbell an ordinary signal again.
    pub(crate) fn become_value(&self) {
        self.doorbell.store(0, Ordering::Release);
        self.kind.store(KIND_USER, Ordering::Release);
    }

    /// Whether all bits of a [`flag`] are set.
    #[must_use]
    pub fn has(&self, flags: u32) -> bool {
        self.flags.load(Ordering::Relaxed) & flags == flags
    }
}
