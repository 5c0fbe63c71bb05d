//! The state of a packet processor, and how it goes on.
//!
//! Packets are looked at in order. A kernel dispatch begins as soon as it is looked at, and the next packet may
//! begin while it runs, unless that packet has the barrier bit. A barrier packet is over when what it waits for has
//! happened, and until then no later packet is looked at. A slot of the ring belongs to the device until its packet
//! is over (kernels read their own packet), and the read index moves over slots in order.

#![expect(
    clippy::cast_possible_truncation,
    reason = "a place in the window is below 64"
)]

mod inactive;
mod launch;

use super::barrier::Barrier;
use super::commands;
use super::layout::{inactive as code, property, queue as at};
use super::packet::{self, Body, Header, Packet, PacketError, NO_SIGNAL};
use super::scratch::Room;
use super::signal::Signal;
use super::Queue;
use crate::engine::{self, Failure};
use crate::exec::memory::View;
use crate::exec::AddressSpace;
use crate::sched::Job;
use crate::shared::Shared;
use hansa_plugin_api::QueueRequest;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

/// Most packets that are under way at once: one bit each in a word.
const WINDOW: u64 = 64;

/// What a run of the machine leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing to do until the next kick.
    Idle,
    /// Memory must be looked at again: it changes without a kick. `news`: the wait began just now.
    Look { news: bool },
    /// The rest is for a thread of the pool.
    Again,
}

/// What the packet that is next waits for.
#[derive(Debug)]
enum Waits {
    /// For nothing.
    No,
    /// For signals.
    Barrier { barrier: Barrier, since: u64 },
}

/// A packet that is under way.
#[derive(Debug, Default)]
struct Flying {
    job: Option<Arc<Job>>,
    completion: u64,
}

/// A packet processor.
#[derive(Debug)]
pub(super) struct Machine {
    ring: Shared,
    /// Number of slots less one.
    mask: u64,
    descriptor: Shared,
    write_index: Shared,
    read_index: Shared,
    /// First packet that is not over.
    oldest: u64,
    /// First packet that has not been looked at.
    next: u64,
    /// Slots of the window whose packet is over, a bit each.
    over: u64,
    flying: [Flying; WINDOW as usize],
    /// Dispatches under way.
    dispatches: u32,
    waits: Waits,
    /// Whether the inactive signal has a request that the host has not answered.
    asked: bool,
    /// Whether a dispatch runs with private memory that goes back after it.
    lent: bool,
    /// Waves that private memory is there for, while dispatches use it.
    room: Option<Arc<Room>>,
    /// What the device sees.
    view: View,
    /// What went wrong and was not yet reported.
    failure: Option<Failure>,
    /// An error was reported: no packet is read any more.
    dead: bool,
    /// The queue is gone.
    closed: bool,
}

impl Machine {
    pub(super) fn new(request: &QueueRequest, seen: Arc<AddressSpace>) -> Self {
        // SAFETY: the contract says of all addresses of a request that the runtime owns the memory, keeps it until
        // `destroy_queue` returns, and lays it out as the AQL ring, `amd_queue_t` and 64-bit indices.
        let shared = |address| unsafe { Shared::at(address) };
        let read_index = shared(request.read_index_address);
        let start = read_index.load_u64(0, Ordering::Acquire);
        Self {
            ring: shared(request.ring_address),
            mask: request.ring_bytes / packet::BYTES - 1,
            descriptor: shared(request.descriptor_address),
            write_index: shared(request.write_index_address),
            read_index,
            oldest: start,
            next: start,
            over: 0,
            flying: std::array::from_fn(|_| Flying::default()),
            dispatches: 0,
            waits: Waits::No,
            asked: false,
            lent: false,
            room: None,
            view: View::new(seen),
            failure: None,
            dead: false,
            closed: false,
        }
    }

    /// Goes on as far as possible. `budget` is the number of packets that this thread may still process;
    /// a thread with a limited budget belongs to the program, and does nothing that takes long.
    pub(super) fn run(&mut self, queue: &Arc<Queue>, budget: &mut u32) -> Next {
        if self.closed {
            return Next::Idle;
        }
        if queue.stopped() {
            self.discard(queue);
            return Next::Idle;
        }
        let mut news = false;
        loop {
            self.collect(queue);
            if let Some(failure) = self.failure.take() {
                if *budget != u32::MAX {
                    self.failure = Some(failure);
                    return Next::Again;
                }
                self.die(queue, &failure);
            }
            if self.dead || queue.paused() {
                return Next::Idle;
            }
            if self.asked {
                if !self.host_answered() {
                    return Next::Look { news };
                }
                self.asked = false;
            }
            if matches!(self.waits, Waits::Barrier { .. }) {
                match self.barrier(queue) {
                    Ok(true) => {}
                    Ok(false) => return Next::Look { news },
                    Err(failure) => self.failure = Some(failure),
                }
                continue;
            }
            let (slot, header) = match self.peek(queue) {
                Ok(found) => found,
                Err(next) => return next,
            };
            if *budget == 0 {
                return Next::Again;
            }
            match self.begin(queue, slot, header, *budget != u32::MAX) {
                Ok(Begun::Yes) => news = true,
                Ok(Begun::Later) => return Next::Idle,
                Err(failure) => self.failure = Some(failure),
            }
            if *budget != u32::MAX {
                *budget -= 1;
            }
        }
    }

    /// Whether no dispatch is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.dispatches == 0
    }

    /// Ends the use of the queue's memory.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets dispatches that are over, without a trace in the queue's memory.
    pub(super) fn discard(&mut self, queue: &Queue) {
        let mut over = queue.over.swap(0, Ordering::AcqRel);
        while over != 0 {
            let index = over.trailing_zeros() as usize;
            over &= over - 1;
            if self.flying[index].job.take().is_some() {
                self.dispatches -= 1;
            }
        }
    }

    /// Completes the packets whose dispatch is over.
    fn collect(&mut self, queue: &Queue) {
        if queue.over.load(Ordering::Relaxed) == 0 {
            return;
        }
        let over = queue.over.swap(0, Ordering::AcqRel);
        let mut completed = 0;
        let mut returned = false;
        let mut left = over;
        while left != 0 {
            let index = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(job) = self.flying[index].job.as_ref() else {
                continue;
            };
            self.dispatches -= 1;
            returned |= job.launch.gives_back();
            if let Some(failure) = job.take_failure() {
                self.failure.get_or_insert(failure);
                self.flying[index].job = None;
            } else {
                completed |= 1 << index;
            }
        }
        self.retire(completed);
        while completed != 0 {
            let index = completed.trailing_zeros() as usize;
            completed &= completed - 1;
            let Flying { job, completion } = std::mem::take(&mut self.flying[index]);
            let times = job.filter(|job| job.timed).map(|job| job.times());
            self.complete(queue, completion, times);
        }
        if returned && !self.dead {
            self.lent = false;
            self.room = None;
            if let Err(failure) = self.ask_host(queue, code::SCRATCH_RETURNED) {
                self.failure.get_or_insert(failure);
            }
        }
    }

    /// Gives slots of the ring back: those up to the first packet that is not over.
    fn retire(&mut self, completed: u64) {
        self.over |= completed;
        let before = self.oldest;
        while self.oldest < self.next && self.over & bit(self.oldest) != 0 {
            self.over &= !bit(self.oldest);
            self.slot(self.oldest)
                .store_u16(0, packet::INVALID, Ordering::Relaxed);
            self.oldest += 1;
        }
        if self.oldest != before {
            self.read_index.store_u64(0, self.oldest, Ordering::Release);
        }
    }

    /// Completes a packet: release fence, times, signal.
    fn complete(&mut self, queue: &Queue, completion: u64, times: Option<[u64; 2]>) {
        fence(Ordering::Release);
        if completion == NO_SIGNAL {
            return;
        }
        let result = Signal::of(completion, &mut self.view).and_then(|signal| {
            if let Some(times) = times {
                signal.stamp(times)?;
            }
            signal.complete(queue.pool.host())
        });
        if let Err(bad) = result {
            let failure = engine::bad_signal(bad.0, "completion");
            self.failure.get_or_insert(failure);
        }
    }

    /// Finds the next packet, if it may begin.
    fn peek(&self, queue: &Queue) -> Result<(Shared, Header), Next> {
        if self.next - self.oldest >= WINDOW {
            return Err(Next::Idle);
        }
        let rung = queue.rung();
        if self.next >= rung && self.next >= self.write_index.load_u64(0, Ordering::Acquire) {
            return Err(Next::Idle);
        }
        let slot = self.slot(self.next);
        let header = Header(slot.load_u16(0, Ordering::Acquire));
        if header.kind() == packet::INVALID {
            // Rung for, but not yet published: the producer of an earlier packet is still at it.
            return Err(if self.next < rung {
                Next::Look { news: false }
            } else {
                Next::Idle
            });
        }
        if header.barrier() && self.dispatches > 0 {
            return Err(Next::Idle);
        }
        Ok((slot, header))
    }

    fn begin(
        &mut self,
        queue: &Arc<Queue>,
        slot: Shared,
        header: Header,
        brief: bool,
    ) -> Result<Begun, Failure> {
        debug_assert!(header.kind() != packet::INVALID, "looked at before");
        let packet = Packet::decode(&packet::read(slot)).map_err(|error| bad_packet(self.next, error))?;
        match packet.body {
            Body::Barrier(wait) => {
                self.waits = Waits::Barrier {
                    barrier: Barrier::new(wait),
                    since: self.clock(queue),
                };
                Ok(Begun::Yes)
            }
            Body::Commands(buffer) => {
                let since = self.clock(queue);
                if commands::run(&buffer, &mut self.view)? {
                    queue.device.memory_changed(0, u64::MAX);
                }
                self.pass(queue, since);
                Ok(Begun::Yes)
            }
            Body::Kernel(kernel) => self.launch(queue, slot, &packet, &kernel, brief),
        }
    }

    /// Looks whether the barrier is satisfied, and completes it if so.
    fn barrier(&mut self, queue: &Queue) -> Result<bool, Failure> {
        let Waits::Barrier { barrier, since } = &mut self.waits else {
            return Ok(true);
        };
        let satisfied = barrier
            .look(&mut self.view)
            .map_err(|bad| engine::bad_signal(bad.0, "dependency"))?;
        if !satisfied {
            return Ok(false);
        }
        fence(Ordering::Acquire);
        let since = *since;
        self.waits = Waits::No;
        self.pass(queue, since);
        Ok(true)
    }

    /// Completes the packet that is next, which is no dispatch.
    fn pass(&mut self, queue: &Queue, since: u64) {
        let completion = self.slot(self.next).load_u64(56, Ordering::Relaxed);
        let times = self.profiling().then(|| [since, self.clock(queue)]);
        let done = bit(self.next);
        self.next += 1;
        self.retire(done);
        self.complete(queue, completion, times);
    }

    fn profiling(&self) -> bool {
        self.descriptor.load_u32(at::QUEUE_PROPERTIES, Ordering::Relaxed) & property::PROFILING != 0
    }

    fn clock(&self, queue: &Queue) -> u64 {
        if self.profiling() {
            queue.pool.now()
        } else {
            0
        }
    }

    fn slot(&self, index: u64) -> Shared {
        let address = self.ring.address() + packet::BYTES * (index & self.mask);
        // SAFETY: an index modulo the size is a slot of the ring, which is there as long as the queue.
        unsafe { Shared::at(address) }
    }
}

/// What became of a packet that was looked at.
enum Begun {
    /// It is under way, or it waits.
    Yes,
    /// A dispatch must end first.
    Later,
}

/// Place of a packet in the window.
fn window(index: u64) -> usize {
    (index % WINDOW) as usize
}

fn bit(index: u64) -> u64 {
    1 << (index % WINDOW)
}

fn bad_packet(index: u64, error: PacketError) -> Failure {
    let code = match error {
        PacketError::Type(_) => code::INVALID_PACKET,
        PacketError::Vendor(_) | PacketError::Condition(_) => code::INVALID_VENDOR_PACKET,
    };
    Failure::Error {
        code,
        message: format!("Packet {index}: {error}"),
    }
}
