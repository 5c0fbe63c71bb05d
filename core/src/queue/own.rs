//! Packets that the runtime sends itself, on queues that programs do not know.

use super::{Queue, QueueOptions, QueueType, PACKET_BYTES};
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::{pool, wait, Condition};
use crate::words::halves;
use hansa_plugin_api as api;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// The words of an AQL packet; the first one has the header.
pub(crate) type Packet = [u32; PACKET_BYTES / 4];

/// Where a packet has its completion signal.
const COMPLETION: usize = 14;
/// Nanoseconds of one look at a queue that should be done.
const LOOK: u64 = 100_000_000;

impl Queue {
    /// Makes a queue for packets of the runtime's on a device.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub(crate) fn create_own(runtime: &Arc<Runtime>, agent: usize, packets: u32) -> Result<Arc<Self>> {
        let options = QueueOptions {
            agent,
            packets,
            queue_type: QueueType::Multi,
            callback: None,
            private_bytes: u32::MAX,
            priority: api::QueuePriority::NORMAL,
        };
        Self::create_hidden(runtime, &options)
    }

    /// Runs packets and waits for the last one, which gets a completion signal. The caller lets nobody else use the queue
    /// meanwhile, and it has room for all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when the queue stopped, or `given_up` says that it is no use to wait.
    pub(crate) fn run_own(&self, packets: &mut [Packet], given_up: impl Fn() -> bool) -> Result<()> {
        let done = pool::create(1, flag::SLEEPS)?;
        if let Some(last) = packets.last_mut() {
            last[COMPLETION..].copy_from_slice(&halves(done.handle()));
        }
        let descriptor = self.descriptor;
        let first = descriptor.write_index.load(Ordering::Relaxed);
        let room = u64::from(descriptor.size.load(Ordering::Relaxed));
        let ring = descriptor.base_address.load(Ordering::Relaxed);
        for (index, packet) in (first..).zip(&*packets) {
            let at = ring + index % room * PACKET_BYTES as u64;
            let word = |i: usize| {
                let address = usize::try_from(at).unwrap_or(0) + i * 4;
                // SAFETY: a word of a packet of the queue's ring, which lives as long as the queue.
                unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
            };
            for (i, value) in packet.iter().enumerate().skip(1) {
                word(i).store(*value, Ordering::Relaxed);
            }
            word(0).store(packet[0], Ordering::Release);
        }
        for (index, packet) in (first..).zip(&*packets) {
            let queue = descriptor.id.load(Ordering::Relaxed);
            log::line(
                Topic::Packets,
                format_args!("queue {queue}: packet {index}: {packet:x?}"),
            );
        }
        let end = first + packets.len() as u64;
        descriptor.write_index.store(end, Ordering::Release);
        if let Some(device) = self.device() {
            device.nudge(descriptor);
        }
        while wait::wait(done, Condition::Eq, 0, LOOK) != 0 {
            if self.is_inactive() || given_up() {
                // The device may still write to the signal: it is not used again.
                return Err(Error::Failed("the device stopped"));
            }
        }
        pool::retire(done);
        Ok(())
    }
}
