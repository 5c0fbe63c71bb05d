//! Queues: one packet processor each, with AQL semantics (HSA Platform System Architecture 1.2, section 2.8).
//!
//! A queue is a state machine that nobody owns for long. Whoever has news for it (the doorbell rang, a dispatch is
//! over, a signal that a barrier waits for may have changed) *kicks* it: if nobody is at it, the kicker processes
//! packets itself, otherwise whoever is at it goes round once more. Nobody waits. What the thread of the program
//! that rings the doorbell does is bounded; the rest goes to the pool.

mod barrier;
mod bell;
mod commands;
mod dma;
mod dma_packet;
mod layout;
mod machine;
mod packet;
mod scratch;
mod signal;

pub(crate) use layout::inactive;
pub(crate) use packet::KernelDispatch;
pub(crate) use scratch::Room;

use crate::device::Device;
use crate::exec::{guard, AddressSpace};
use crate::sched::{Pool, MOST_WAVES};
use bell::Hung;
use dma::DmaMachine;
use hansa_plugin_api::sync::{Condvar, Mutex};
use hansa_plugin_api::{Doorbell, Error, QueueKind, QueueRequest, QueueUpdate};
use machine::{Machine, Next};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

/// Most packets that a thread of the program processes when it rings a doorbell.
const INLINE_PACKETS: u32 = 16;

/// What reads the packets of a queue.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a queue has one, for all of its life")]
enum Processor {
    /// AQL packets.
    Aql(Machine),
    /// Packets of a copy engine.
    Dma(DmaMachine),
}

impl Processor {
    fn new(request: &QueueRequest, seen: Arc<AddressSpace>) -> Self {
        if request.kind == QueueKind::DMA || request.kind == QueueKind::DMA_LINK {
            Self::Dma(DmaMachine::new(request, seen))
        } else {
            Self::Aql(Machine::new(request, seen))
        }
    }

    fn run(&mut self, queue: &Arc<Queue>, budget: &mut u32) -> Next {
        match self {
            Self::Aql(machine) => machine.run(queue, budget),
            Self::Dma(machine) => machine.run(queue, *budget),
        }
    }

    /// Forgets what is over. Answers whether nothing is under way.
    fn discard(&mut self, queue: &Queue) -> bool {
        match self {
            Self::Aql(machine) => {
                machine.discard(queue);
                machine.is_idle()
            }
            Self::Dma(_) => true,
        }
    }

    fn close(&mut self) {
        match self {
            Self::Aql(machine) => machine.close(),
            Self::Dma(machine) => machine.close(),
        }
    }
}

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The driver's name for it.
    pub(crate) id: u64,
    /// The device that it belongs to.
    pub(crate) device: Arc<Device>,
    pool: Arc<Pool>,
    cooperative: bool,
    /// Address of the ring and its number of slots less one, for AQL.
    ring: Option<(u64, u64)>,
    /// Most threads that may run its kernels at once: its share of the compute units.
    threads: AtomicU32,
    /// Threads that run its kernels now.
    running: AtomicU32,
    priority: AtomicU32,
    /// Kicks that have not been answered. Whoever makes it one has the machine until it is zero again.
    kicks: AtomicU32,
    machine: Mutex<Processor>,
    /// One more than the highest packet that a doorbell named.
    rung: AtomicU64,
    /// Slots of the window whose dispatch is over, a bit each.
    over: AtomicU64,
    /// Whether kernels are to end.
    stop: AtomicBool,
    paused: AtomicBool,
    /// Whether the pool looks at it from time to time.
    watched: AtomicBool,
    bell: Mutex<Option<Hung>>,
    /// Wakes the thread that destroys it.
    quiet: Condvar,
}

impl Queue {
    /// Makes a queue; nothing is read before the first doorbell.
    pub(crate) fn new(id: u64, device: Arc<Device>, pool: Arc<Pool>, request: &QueueRequest) -> Arc<Self> {
        let seen = Arc::clone(device.space.seen());
        let queue = Arc::new(Self {
            id,
            device,
            pool,
            threads: AtomicU32::new(u32::MAX),
            running: AtomicU32::new(0),
            ring: (request.kind != QueueKind::DMA)
                .then_some((request.ring_address, request.ring_bytes / packet::BYTES - 1)),
            cooperative: request.kind == QueueKind::COOPERATIVE,
            priority: AtomicU32::new(request.priority.0),
            kicks: AtomicU32::new(0),
            machine: Mutex::new(Processor::new(request, seen)),
            rung: AtomicU64::new(0),
            over: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            paused: AtomicBool::new(request.percent == 0),
            watched: AtomicBool::new(false),
            bell: Mutex::new(None),
            quiet: Condvar::new(),
        });
        *queue.bell.lock() = Some(Hung::new(&queue));
        queue
    }

    /// How the runtime rings it.
    pub(crate) fn doorbell(&self) -> Option<Doorbell> {
        self.bell.lock().as_ref().map(Hung::doorbell)
    }

    /// The line in which its dispatches stand.
    pub(crate) fn line(&self) -> usize {
        self.priority.load(Ordering::Relaxed) as usize
    }

    /// Whether all work-groups of its dispatches are under way at once.
    pub(crate) fn is_cooperative(&self) -> bool {
        self.cooperative
    }

    /// Whether its kernels are to end.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether it reads nothing for now.
    fn paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }

    /// One more than the highest value that its doorbell was rung with, or 0.
    fn rung(&self) -> u64 {
        self.rung.load(Ordering::Acquire)
    }

    /// The flag behind [`Queue::stopped`].
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// The doorbell was rung with the index of a packet.
    pub(crate) fn ring(self: &Arc<Self>, index: u64) {
        self.rung.fetch_max(index.wrapping_add(1), Ordering::Release);
        if self.wants_thread(index) {
            self.pool.rouse();
        }
        self.kick(INLINE_PACKETS);
        self.pool.ensure_thread();
    }

    /// Whether there is a kernel dispatch in a slot of the ring that is not small.
    fn wants_thread(&self, index: u64) -> bool {
        let Some((ring, mask)) = self.ring else {
            return false;
        };
        let mut start = [0; 6];
        // Guarded: the queue may be destroyed at this moment, and its ring with it.
        guard::read(&mut start, ring + packet::BYTES * (index & mask)).is_ok()
            && packet::is_kernel_beyond(start, MOST_WAVES.into())
    }

    /// Notes that a dispatch is over, for whoever has the machine.
    fn note_over(&self, slot: usize) {
        self.over.fetch_or(1 << slot, Ordering::Release);
    }

    /// A dispatch is over.
    pub(crate) fn finished(self: &Arc<Self>, slot: usize) {
        self.note_over(slot);
        self.kick(u32::MAX);
    }

    /// Reads packets on a thread of the pool, for a thread of the program that had its share.
    pub(crate) fn serve(self: &Arc<Self>) {
        self.process(u32::MAX);
    }

    /// Looks whether what it waits for has happened; if not, it asks to be looked at again.
    pub(crate) fn poll(self: &Arc<Self>) {
        self.watched.store(false, Ordering::SeqCst);
        self.kick(u32::MAX);
    }

    /// Takes leave to run its kernels on a further thread.
    pub(crate) fn enter(&self) -> bool {
        let most = self.threads.load(Ordering::Relaxed);
        let entered = self.running.fetch_add(1, Ordering::Relaxed) < most;
        if !entered {
            self.leave();
        }
        entered
    }

    /// Gives leave back.
    pub(crate) fn leave(&self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    /// Changes priority, share, and compute units. A thread of the pool stands for as many compute units as there are
    /// for each; a mask leaves at least one.
    pub(crate) fn update(self: &Arc<Self>, update: &QueueUpdate<'_>) {
        if !update.cu_mask.is_empty() {
            let units = self.device.compute_units;
            let allowed: u32 = (0..units)
                .map(|unit| {
                    let word = update.cu_mask.get(unit as usize / 32).copied().unwrap_or(0);
                    word >> (unit % 32) & 1
                })
                .sum();
            let share = u64::from(self.pool.threads()) * u64::from(allowed);
            let threads = share.div_ceil(u64::from(units.max(1))).max(1);
            let threads = u32::try_from(threads).unwrap_or(u32::MAX);
            self.threads.store(threads, Ordering::Relaxed);
        }
        self.priority.store(update.priority.0, Ordering::Relaxed);
        let paused = update.percent == 0;
        let was_paused = self.paused.swap(paused, Ordering::SeqCst);
        if paused && !was_paused {
            // Whoever was about to begin a dispatch has begun it.
            drop(self.machine.lock());
        } else if was_paused && !paused {
            self.kick(u32::MAX);
        }
    }

    /// Gives it global wave sync resources; answers the first one's number.
    pub(crate) fn allocate_gws(&self, count: u32) -> Result<u32, Error> {
        self.device.gws.allocate(self.id, count)
    }

    /// Marks its kernels to end, and waits until nothing of it runs and nobody touches its memory.
    pub(crate) fn destroy(self: &Arc<Self>) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.bell.lock().take());
        for job in self.pool.forget(self) {
            self.over.fetch_or(1 << job.slot, Ordering::Release);
        }
        let mut machine = loop {
            // Forget again: a packet that was being read at the first time may have become a dispatch.
            for job in self.pool.forget(self) {
                self.over.fetch_or(1 << job.slot, Ordering::Release);
            }
            let mut machine = self.machine.lock();
            if machine.discard(self) {
                break machine;
            }
            self.quiet
                .wait_for(&mut machine, std::time::Duration::from_millis(1));
        };
        machine.close();
        self.device.gws.release(self.id);
    }

    /// Answers news: processes packets, unless somebody is at it who then goes round once more.
    fn kick(self: &Arc<Self>, budget: u32) {
        if self.kicks.fetch_add(1, Ordering::AcqRel) == 0 {
            self.process(budget);
        }
    }

    /// Processes packets. The caller has the machine, and gives it up or hands it to the pool.
    fn process(self: &Arc<Self>, mut budget: u32) {
        loop {
            let kicks = self.kicks.load(Ordering::Acquire);
            let next = self.machine.lock().run(self, &mut budget);
            match next {
                Next::Idle => {}
                Next::Look { news } => self.watch(news),
                Next::Again => return self.pool.submit_packets(Arc::clone(self)),
            }
            if self.stopped() {
                self.quiet.notify_all();
            }
            let before = self.kicks.fetch_sub(kicks, Ordering::AcqRel);
            if before == kicks {
                return;
            }
        }
    }

    fn watch(self: &Arc<Self>, news: bool) {
        if !self.watched.swap(true, Ordering::SeqCst) {
            self.pool.watch(Arc::clone(self), news);
        }
    }
}
