//! The processor of a copy queue: reads packets of the copy engine and does them one after the other.
//!
//! Both indices count bytes. A packet that copies is never done on the thread that rang the doorbell.

#![expect(
    clippy::cast_possible_truncation,
    reason = "halves of 64-bit words are cut off"
)]

use super::dma_packet::{self, satisfied, Dma, LONGEST};
use super::machine::Next;
use super::Queue;
use crate::engine::{bad_address, Failure};
use crate::exec::guard::{self, Size, Unmapped};
use crate::exec::memory::View;
use crate::exec::AddressSpace;
use crate::shared::Shared;
use hansa_plugin_api::{DeviceEvent, DeviceEventKind, FaultFlags, LogLevel, QueueRequest};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Words that a fill writes in one go.
const FILL_WORDS: usize = 1024;

/// The processor of a copy queue.
#[derive(Debug)]
pub(super) struct DmaMachine {
    ring: Shared,
    ring_bytes: u64,
    write_index: Shared,
    read_index: Shared,
    /// First byte that has not been read.
    next: u64,
    view: View,
    dead: bool,
    closed: bool,
}

/// What a packet came to.
enum Step {
    Done,
    /// It waits for memory.
    Waits,
}

impl DmaMachine {
    pub(super) fn new(request: &QueueRequest, seen: Arc<AddressSpace>) -> Self {
        // SAFETY: the contract says of all addresses of a request that the runtime owns the memory, keeps it until
        // `destroy_queue` returns, and lays it out as the ring and 64-bit indices.
        let shared = |address| unsafe { Shared::at(address) };
        let read_index = shared(request.read_index_address);
        Self {
            ring: shared(request.ring_address),
            ring_bytes: request.ring_bytes,
            write_index: shared(request.write_index_address),
            next: read_index.load_u64(0, Ordering::Acquire),
            read_index,
            view: View::new(seen),
            dead: false,
            closed: false,
        }
    }

    /// Ends the use of the queue's memory.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Goes on as far as possible, on a thread of the pool.
    pub(super) fn run(&mut self, queue: &Arc<Queue>, budget: u32) -> Next {
        let mut news = false;
        loop {
            if self.closed || self.dead || queue.stopped() || queue.paused() {
                return Next::Idle;
            }
            // The doorbell carries the write index, which the descriptor has as well.
            let written = self.write_index.load_u64(0, Ordering::Acquire);
            let limit = written.max(queue.rung().saturating_sub(1));
            if self.next >= limit {
                return Next::Idle;
            }
            if budget != u32::MAX {
                return Next::Again;
            }
            match self.step(queue, limit) {
                Ok(Step::Done) => news = true,
                Ok(Step::Waits) => return Next::Look { news },
                Err(failure) => self.die(queue, &failure),
            }
        }
    }

    /// Does the packet that is next.
    fn step(&mut self, queue: &Queue, limit: u64) -> Result<Step, Failure> {
        let start = self.next % self.ring_bytes;
        let there = (self.ring_bytes - start).min(limit - self.next) / 4;
        let words: [u32; LONGEST] = std::array::from_fn(|index| {
            if (index as u64) < there {
                self.ring.load_u32(start + 4 * index as u64, Ordering::Relaxed)
            } else {
                0
            }
        });
        let lost = |message| Failure::Error { code: 0, message };
        let (packet, length) = dma_packet::decode(&words).map_err(|unknown| lost(unknown.to_string()))?;
        if length > there {
            return Err(lost(format!(
                "A packet of {length} words reaches past the {there} that there are"
            )));
        }
        if let Step::Waits = self.perform(queue, &packet, self.ring.address() + start)? {
            return Ok(Step::Waits);
        }
        self.next += 4 * length;
        self.read_index.store_u64(0, self.next, Ordering::Release);
        Ok(Step::Done)
    }

    fn perform(&mut self, queue: &Queue, packet: &Dma, address: u64) -> Result<Step, Failure> {
        match *packet {
            Dma::Nop => {}
            Dma::Copy { to, from, bytes } => self.copy(queue, to, from, bytes)?,
            Dma::Rectangle { to, from, extent } => {
                let [row_bytes, rows, slices] = extent;
                for slice in 0..slices {
                    for row in 0..rows {
                        let at = |side: [u64; 3]| side[0] + row * side[1] + slice * side[2];
                        self.copy(queue, at(to), at(from), row_bytes)?;
                    }
                }
            }
            // The data follows in the ring.
            Dma::Write { to, words } => {
                self.may(to, 4 * words, true)?;
                done(guard::copy(to, address + 16, 4 * words))?;
                queue.device.memory_changed(to, 4 * words);
            }
            Dma::Fill { to, value, bytes } => self.fill(queue, to, value, bytes)?,
            Dma::Fence { to, value } => {
                self.may(to, 4, true)?;
                done(guard::exchange(Size::B32, to, value.into()).map(|_| ()))?;
            }
            Dma::Trap { event } => {
                // A runtime that does not know the event has nobody waiting for it.
                let _ = queue.pool.host().event_raised(event);
            }
            Dma::Poll {
                at,
                value,
                mask,
                function,
            } => {
                self.may(at, 4, false)?;
                let word = guard::load(Size::B32, at).map_err(gone)? as u32;
                if !satisfied(function, word, value, mask) {
                    return Ok(Step::Waits);
                }
            }
            Dma::Add64 { at, value } => {
                self.may(at, 8, true)?;
                done(guard::fetch_add(Size::B64, at, value).map(|_| ()))?;
                // Completion signals are counted down this way; the value is the signal's second word.
                if at % 64 == 8 {
                    let _ = queue.pool.host().signal_changed(at - 8);
                }
            }
            Dma::Timestamp { to } => {
                self.may(to, 8, true)?;
                done(guard::exchange(Size::B64, to, queue.pool.now()).map(|_| ()))?;
            }
        }
        Ok(Step::Done)
    }

    fn copy(&mut self, queue: &Queue, to: u64, from: u64, bytes: u64) -> Result<(), Failure> {
        self.may(from, bytes, false)?;
        self.may(to, bytes, true)?;
        done(guard::copy(to, from, bytes))?;
        queue.device.memory_changed(to, bytes);
        Ok(())
    }

    fn fill(&mut self, queue: &Queue, to: u64, value: u32, bytes: u64) -> Result<(), Failure> {
        self.may(to, bytes, true)?;
        let pattern = [value; FILL_WORDS];
        let mut at = 0;
        while at < bytes / 4 {
            let words = (bytes / 4 - at).min(FILL_WORDS as u64) as usize;
            done(guard::write(to + 4 * at, &pattern[..words]))?;
            at += words as u64;
        }
        queue.device.memory_changed(to, bytes);
        Ok(())
    }

    fn may(&mut self, address: u64, bytes: u64, write: bool) -> Result<(), Failure> {
        self.view
            .check(address, bytes, write)
            .map_err(|(address, reason)| bad_address(address, reason, write, "a copy engine"))
    }

    #[cold]
    fn die(&mut self, queue: &Queue, failure: &Failure) {
        self.dead = true;
        let text = format!("Copy queue {} stopped: {failure}", queue.id);
        // The runtime shows the message of the event.
        queue.pool.log(LogLevel::INFO, &text);
        let (kind, address, flags) = match failure {
            Failure::Memory { address, flags, .. } => (DeviceEventKind::MEMORY_FAULT, *address, *flags),
            Failure::Error { .. } => (DeviceEventKind::HARDWARE_EXCEPTION, 0, FaultFlags::HANG),
        };
        let event = DeviceEvent {
            kind,
            node: queue.device.node,
            queue: queue.id,
            address,
            flags,
            reserved: 0,
            message: text.into(),
        };
        // The log has it as well.
        let _ = queue.pool.host().device_event(&event);
    }
}

fn gone(unmapped: Unmapped) -> Failure {
    let Unmapped(address) = unmapped;
    Failure::Memory {
        address,
        flags: FaultFlags::PAGE_NOT_PRESENT,
        message: format!("Memory fault at {address:#x} by a copy engine: the host has no memory there"),
    }
}

fn done(result: Result<(), Unmapped>) -> Result<(), Failure> {
    result.map_err(gone)
}
