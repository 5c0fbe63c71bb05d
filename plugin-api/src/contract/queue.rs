//! Queues: what the runtime asks for and what a driver gives back.
//!
//! There are two ways to serve a queue. The device reads the ring itself: the driver hands back the address of
//! a doorbell that the host writes. Or the plugin consumes the packets in software: the driver hands back a
//! function that is called with the value written to the doorbell. Both follow the AQL rules of the HSA
//! specification (2.8): packets in the ring, a write and a read index in the descriptor (`amd_queue_t`), errors through the
//! descriptor's inactive signal. The runtime stores -1 to that signal once it has told the program of an error, unless the
//! queue is destroyed before.

use super::description::flag_word;
use abi_stable::std_types::{RSlice, RString};
use abi_stable::StableAbi;
use std::fmt;

/// What a queue takes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct QueueKind(pub u32);

impl QueueKind {
    /// AQL packets.
    pub const AQL: Self = Self(0);
    /// Packets of a copy engine.
    pub const DMA: Self = Self(1);
    /// Packets of a copy engine on a device-to-device link.
    pub const DMA_LINK: Self = Self(2);
    /// AQL packets of cooperative dispatches.
    pub const COOPERATIVE: Self = Self(3);
}

/// How urgent a queue's work is.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, StableAbi)]
pub struct QueuePriority(pub u32);

impl QueuePriority {
    /// Below normal.
    pub const LOW: Self = Self(0);
    /// Normal.
    pub const NORMAL: Self = Self(1);
    /// Above normal.
    pub const HIGH: Self = Self(2);
    /// For the runtime's own copy queues.
    pub const MAXIMUM: Self = Self(3);
}

/// A request for a queue. All addresses are of memory that the runtime owns and that the node already sees.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct QueueRequest {
    /// The driver's node.
    pub node: u32,
    /// What it takes.
    pub kind: QueueKind,
    /// How urgent its work is.
    pub priority: QueuePriority,
    /// Copy engine to use, or `u32::MAX` for any.
    pub engine: u32,
    /// The ring.
    pub ring_address: u64,
    /// Bytes of the ring.
    pub ring_bytes: u64,
    /// AQL: the descriptor (`amd_queue_t`), filled in. Others: 0.
    pub descriptor_address: u64,
    /// The write index (packets for AQL, bytes for copy engines).
    pub write_index_address: u64,
    /// The read index.
    pub read_index_address: u64,
    /// Word where the kernel reports exceptions, a bit for each as KFD numbers them, or 0. A node that reports some has
    /// [`AgentCaps::DEBUG`](crate::AgentCaps::DEBUG).
    pub exception_address: u64,
    /// Event for queue errors, or 0.
    pub event: u32,
    /// Share of the device in percent.
    pub percent: u32,
}

flag_word! {
    /// How a doorbell is rung.
    pub struct DoorbellKind: u32 {
        /// Store 64 bits to the address.
        const ADDRESS = 1;
        /// Call the function.
        const NOTIFIER = 2;
    }
}

/// How a queue is told that its write index moved.
#[repr(C)]
#[derive(Clone, Copy, StableAbi)]
pub struct Doorbell {
    /// Which of the two.
    pub kind: DoorbellKind,
    /// Zero.
    pub reserved: u32,
    /// [`DoorbellKind::ADDRESS`]: where to store.
    pub address: u64,
    /// [`DoorbellKind::NOTIFIER`]: called with `context` and the value stored, from any thread, at once. It
    /// must not panic, and must return soon: it waits for nothing that the program may have to do first. Packets whose
    /// programs expect to be served by the store itself (those of AI engines) may be served before it returns.
    pub notify: extern "C" fn(u64, u64),
    /// First argument of `notify`.
    pub context: u64,
}

extern "C" fn nobody(_: u64, _: u64) {}

impl Doorbell {
    /// A doorbell in the device's memory.
    #[must_use]
    pub fn at(address: u64) -> Self {
        Self {
            kind: DoorbellKind::ADDRESS,
            reserved: 0,
            address,
            notify: nobody,
            context: 0,
        }
    }

    /// A doorbell that calls.
    #[must_use]
    pub fn calling(notify: extern "C" fn(u64, u64), context: u64) -> Self {
        Self {
            kind: DoorbellKind::NOTIFIER,
            reserved: 0,
            address: 0,
            notify,
            context,
        }
    }
}

impl fmt::Debug for Doorbell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doorbell")
            .field("kind", &self.kind)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// A queue that a driver made.
#[repr(C)]
#[derive(Clone, Debug, StableAbi)]
pub struct QueueInfo {
    /// The driver's name for it.
    pub queue: u64,
    /// How to ring it.
    pub doorbell: Doorbell,
    /// A name for `hansa` and traces.
    pub name: RString,
}

/// New values for a queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct QueueUpdate<'a> {
    /// How urgent its work is.
    pub priority: QueuePriority,
    /// Share of the device in percent; 0 stops it.
    pub percent: u32,
    /// Compute units it may use, a bit each; empty leaves it as it is.
    pub cu_mask: RSlice<'a, u32>,
}

/// A request for private memory of waves.
#[repr(C)]
#[derive(Clone, Copy, Debug, StableAbi)]
pub struct ScratchRequest {
    /// The driver's node.
    pub node: u32,
    /// Zero.
    pub reserved: u32,
    /// Bytes.
    pub bytes: u64,
}
