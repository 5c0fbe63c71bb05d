//! Queues: AQL rings that this driver reads, for a device that takes commands from the kernel.
//!
//! Packets are served in order. Whoever rings the doorbell serves them on its own thread until nothing is left or a barrier
//! holds the queue: programs for NPUs take the return of the store for the end of their dispatches, as with AMD's runtime. A
//! barrier that holds the queue is watched by a thread of the queue, which then goes on.
//!
//! A queue that met an error says so through its inactive signal and reads no more packets. The thread that rang waits until
//! the runtime has told the program.

mod bell;
mod command;
mod context;
mod packet;
mod signal;

use crate::config::CacheFlush;
use crate::device::Device;
use crate::memory::Memory;
use crate::own_memory::field;
use crate::uapi::accel::{priority, MOST_IMAGES};
use bell::Hung;
use context::{Context, Outcome, Prepared, Refusal};
use hansa_plugin_api::hsa::{amd_queue_properties_t, amd_queue_t};
use hansa_plugin_api::sync::{Condvar, Mutex};
use hansa_plugin_api::{Doorbell, HostRef, LogLevel, QueuePriority, QueueRequest, RStr, ThreadEntry};
use packet::{Body, Packet, Wait, NO_SIGNAL};
use signal::Signal;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Values of the inactive signal: what ends a queue.
mod inactive {
    /// What a packet names is no image.
    pub(super) const INVALID_CODE: i64 = 0x8;
    /// A packet of no known type.
    pub(super) const INVALID_PACKET: i64 = 0x20;
    /// What a packet names is not there.
    pub(super) const INVALID_ARGUMENT: i64 = 0x40;
    /// An error without a code of its own.
    pub(super) const OTHER: i64 = 0x1000;
    /// The device reports an error of what it ran.
    pub(super) const EXCEPTION: i64 = 0x8000_0000;
}

/// How long a thread that rang waits for the program to be told of an error.
const MOST_TELLING: Duration = Duration::from_secs(1);
/// How long the thread of a queue sleeps between two looks at what a barrier waits for, at first and at last.
const SHORT_LOOK: Duration = Duration::from_micros(50);
const LONG_LOOK: Duration = Duration::from_millis(1);

const PROPERTIES: u64 = offset_of!(amd_queue_t, queue_properties) as u64;
const INACTIVE_SIGNAL: u64 = offset_of!(amd_queue_t, queue_inactive_signal) as u64;
const PROFILING: u32 = amd_queue_properties_t::ENABLE_PROFILING.0;

/// Where the memory of a queue is. The runtime keeps it until the queue is destroyed.
#[derive(Clone, Copy, Debug)]
struct Place {
    ring: u64,
    /// Slots less one.
    mask: u64,
    descriptor: u64,
    write_index: u64,
    read_index: u64,
}

/// What ended a queue.
#[derive(Debug)]
struct Failure {
    code: i64,
    message: String,
}

/// The state of a packet processor.
#[derive(Debug)]
struct Processor {
    /// First packet that is not over.
    next: u64,
    /// What the next packet waits for, and since when.
    barrier: Option<(Wait, u64)>,
    context: Context,
    /// An error was reported: no packet is read any more.
    dead: bool,
    /// The queue is gone: its memory is not there any more.
    closed: bool,
}

/// What a run leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nothing to do until the doorbell rings.
    Idle,
    /// A barrier holds the queue.
    Held,
    /// An error was met just now.
    Failed,
}

/// Whether the thread of a queue is there.
#[derive(Debug, Default)]
struct Watch {
    there: bool,
    /// A barrier holds the queue.
    held: bool,
}

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    place: Place,
    device: Arc<Device>,
    memory: Arc<Memory>,
    host: HostRef<'static>,
    priority: AtomicU32,
    paused: AtomicBool,
    stop: AtomicBool,
    processor: Mutex<Processor>,
    watch: Mutex<Watch>,
    watched: Condvar,
    bell: Mutex<Option<Hung>>,
}

const fn priority_of(priority: QueuePriority) -> u32 {
    match priority {
        QueuePriority::LOW => priority::LOW,
        QueuePriority::HIGH => priority::HIGH,
        QueuePriority::MAXIMUM => priority::REALTIME,
        _ => priority::NORMAL,
    }
}

impl Queue {
    /// Makes a queue. The device knows of it when the first dispatch comes.
    pub(crate) fn new(
        device: &Arc<Device>,
        memory: &Arc<Memory>,
        host: HostRef<'static>,
        flush: CacheFlush,
        request: &QueueRequest,
    ) -> Arc<Self> {
        let place = Place {
            ring: request.ring_address,
            mask: request.ring_bytes / packet::BYTES - 1,
            descriptor: request.descriptor_address,
            write_index: request.write_index_address,
            read_index: request.read_index_address,
        };
        let queue = Arc::new(Self {
            place,
            device: Arc::clone(device),
            memory: Arc::clone(memory),
            host,
            priority: AtomicU32::new(priority_of(request.priority)),
            paused: AtomicBool::new(request.percent == 0),
            stop: AtomicBool::new(false),
            processor: Mutex::new(Processor {
                next: place.read_index().load(Ordering::Acquire),
                barrier: None,
                context: Context::new(Arc::clone(device), flush),
                dead: false,
                closed: false,
            }),
            watch: Mutex::default(),
            watched: Condvar::new(),
            bell: Mutex::new(None),
        });
        *queue.bell.lock() = Some(Hung::new(&queue));
        queue
    }

    /// How the runtime rings it.
    pub(crate) fn doorbell(&self) -> Option<Doorbell> {
        self.bell.lock().as_ref().map(Hung::doorbell)
    }

    /// Changes urgency and share; a share of 0 stops it.
    pub(crate) fn update(self: &Arc<Self>, priority: QueuePriority, percent: u32) {
        self.priority.store(priority_of(priority), Ordering::Relaxed);
        let paused = percent == 0;
        if self.paused.swap(paused, Ordering::SeqCst) && !paused {
            self.ring();
        }
    }

    /// No thread reads it any more, in a child process that has none of them.
    pub(crate) fn abandon(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Ends it: on return no packet is read and nothing of it runs any more.
    pub(crate) fn destroy(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.bell.lock().take());
        let watch = self.watch.lock();
        self.watched.notify_all();
        drop(watch);
        let mut processor = self.processor.lock();
        processor.closed = true;
        processor.context.end();
        drop(processor);
        let mut watch = self.watch.lock();
        while watch.there {
            self.watched.wait(&mut watch);
        }
    }

    /// The doorbell was rung: serves what is there.
    pub(crate) fn ring(self: &Arc<Self>) {
        match self.serve() {
            Next::Idle => {}
            Next::Held => self.watch(),
            Next::Failed => self.wait_until_told(),
        }
    }

    fn serve(&self) -> Next {
        let mut processor = self.processor.lock();
        match self.run(&mut processor) {
            Ok(next) => next,
            Err(failure) => {
                processor.dead = true;
                // A log that fails has nowhere to say so.
                let _ = self.host.log(LogLevel::ERROR, RStr::from_str(&failure.message));
                if let Some(signal) = self.inactive() {
                    signal.store(failure.code, self.host);
                }
                Next::Failed
            }
        }
    }

    fn inactive(&self) -> Option<Signal> {
        // SAFETY: a field of the descriptor, which is there as long as the queue is not closed, and its slot for ever.
        let handle: &AtomicU64 = unsafe { field(self.place.descriptor + INACTIVE_SIGNAL) };
        Signal::of(handle.load(Ordering::Relaxed)).ok()
    }

    /// Waits until the program knows of the error, or the queue is destroyed, which its callback may do.
    fn wait_until_told(&self) {
        let Some(signal) = self.inactive() else { return };
        let until = Instant::now() + MOST_TELLING;
        while !self.stop.load(Ordering::SeqCst) && signal.value() > 0 && Instant::now() < until {
            std::thread::sleep(SHORT_LOOK);
        }
    }

    /// Sees to it that the thread of the queue looks at what a barrier waits for.
    fn watch(self: &Arc<Self>) {
        let mut watch = self.watch.lock();
        watch.held = true;
        if watch.there || self.stop.load(Ordering::SeqCst) {
            self.watched.notify_all();
            return;
        }
        let argument = Arc::into_raw(Arc::clone(self)).expose_provenance() as u64;
        let entry = ThreadEntry { run: look, argument };
        match self.host.spawn(RStr::from_str("xdna queue"), entry) {
            Ok(()) => watch.there = true,
            Err(error) => {
                // SAFETY: the pointer is the one from above, and no thread has it.
                drop(unsafe { Arc::from_raw(crate::device::pointer(argument).cast_const().cast::<Self>()) });
                let message = format!("Barriers of a queue are looked at when it is rung only: {error}");
                let _ = self.host.log(LogLevel::WARNING, RStr::from_str(&message));
            }
        }
    }

    /// The thread of the queue.
    fn look(self: &Arc<Self>) {
        let mut pause = SHORT_LOOK;
        loop {
            {
                let mut watch = self.watch.lock();
                if self.stops() {
                    // Gone before the wait.
                } else if watch.held {
                    self.watched.wait_for(&mut watch, pause);
                } else {
                    self.watched.wait(&mut watch);
                    pause = SHORT_LOOK;
                }
                if self.stop.load(Ordering::SeqCst) {
                    watch.there = false;
                    self.watched.notify_all();
                    return;
                }
            }
            let next = self.serve();
            pause = (pause * 2).min(LONG_LOOK);
            self.watch.lock().held = next == Next::Held;
        }
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Goes on as far as possible.
    fn run(&self, processor: &mut Processor) -> Result<Next, Failure> {
        loop {
            if processor.closed || processor.dead || self.stops() || self.paused.load(Ordering::SeqCst) {
                return Ok(Next::Idle);
            }
            if let Some((wait, since)) = &mut processor.barrier {
                let satisfied = signal::is_satisfied(wait)
                    .map_err(|error| failure(inactive::INVALID_ARGUMENT, processor.next, &error))?;
                if !satisfied {
                    return Ok(Next::Held);
                }
                let since = *since;
                processor.barrier = None;
                let completion = self.place.words(processor.next)[7];
                self.complete(processor, completion, since)?;
                continue;
            }
            if !self.begin(processor)? {
                return Ok(Next::Idle);
            }
        }
    }

    /// Looks at the next packets: begins to wait for a barrier, or runs as many dispatches as make one chain. Answers whether
    /// there was one.
    fn begin(&self, processor: &mut Processor) -> Result<bool, Failure> {
        let written = self.place.write_index().load(Ordering::Acquire);
        let mut batch: Vec<(Prepared, u64)> = Vec::new();
        let mut images: Vec<u64> = Vec::new();
        let mut bytes = 0;
        let mut refused = None;
        let mut index = processor.next;
        while index < written && self.place.kind(index) != packet::INVALID {
            let (packet, dispatch) = match Packet::decode(&self.place.words(index)) {
                Ok(Packet {
                    completion,
                    body: Body::Dispatch(dispatch),
                }) => (completion, dispatch),
                Ok(Packet {
                    body: Body::Barrier(wait),
                    ..
                }) => {
                    if batch.is_empty() {
                        processor.barrier = Some((wait, self.clock()));
                        return Ok(true);
                    }
                    break;
                }
                Err(error) => {
                    let code = if error.is_of_packet() {
                        inactive::INVALID_PACKET
                    } else {
                        inactive::INVALID_ARGUMENT
                    };
                    refused = Some(failure(code, index, &error));
                    break;
                }
            };
            bytes += command::slot_bytes(dispatch.arguments.len());
            let new_image = !images.contains(&dispatch.image);
            let is_full = bytes > command::SLOT_BYTES || (new_image && images.len() == MOST_IMAGES);
            if is_full && !batch.is_empty() {
                break;
            }
            match Prepared::new(&dispatch, &self.device, &self.memory) {
                Ok(prepared) => batch.push((prepared, packet)),
                Err(refusal) => {
                    let code = match refusal {
                        Refusal::Image(_) => inactive::INVALID_CODE,
                        Refusal::Code(_) | Refusal::Argument { .. } => inactive::INVALID_ARGUMENT,
                    };
                    refused = Some(failure(code, index, &refusal));
                    break;
                }
            }
            if new_image {
                images.push(dispatch.image);
            }
            index += 1;
        }
        let any = !batch.is_empty();
        if any {
            self.run_batch(processor, batch)?;
        }
        match refused {
            // Unless the queue stopped before it came to that.
            Some(failure) if !self.stops() => Err(failure),
            _ => Ok(any),
        }
    }

    fn run_batch(&self, processor: &mut Processor, batch: Vec<(Prepared, u64)>) -> Result<(), Failure> {
        let (prepared, completions): (Vec<Prepared>, Vec<u64>) = batch.into_iter().unzip();
        let since = self.clock();
        let priority = self.priority.load(Ordering::Relaxed);
        let outcome = processor.context.run(&prepared, priority, &|| self.stops());
        // What the program frees now is gone.
        drop(prepared);
        let (completed, message) = match outcome {
            Outcome::Completed => (completions.len(), None),
            Outcome::Failed {
                completed,
                by_device,
                message,
            } => (completed, Some((by_device, message))),
            Outcome::Stopped => return Ok(()),
        };
        for &completion in &completions[..completed] {
            self.complete(processor, completion, since)?;
        }
        match message {
            None => Ok(()),
            Some((by_device, message)) => {
                let code = if by_device {
                    inactive::EXCEPTION
                } else {
                    inactive::OTHER
                };
                Err(failure(code, processor.next, &message))
            }
        }
    }

    /// Completes the next packet: gives its slot back and takes one from its signal.
    fn complete(&self, processor: &mut Processor, completion: u64, since: u64) -> Result<(), Failure> {
        let index = processor.next;
        let times = (since != 0).then(|| [since, self.clock()]);
        self.place.header(index).store(packet::INVALID, Ordering::Relaxed);
        processor.next += 1;
        self.place.read_index().store(processor.next, Ordering::Release);
        if completion == NO_SIGNAL {
            return Ok(());
        }
        let signal =
            Signal::of(completion).map_err(|error| failure(inactive::INVALID_ARGUMENT, index, &error))?;
        signal.complete(times, self.host);
        Ok(())
    }

    /// The time, if somebody wants to know when packets run, or 0.
    fn clock(&self) -> u64 {
        // SAFETY: a field of the descriptor, which is there while packets are served.
        let properties: &AtomicU32 = unsafe { field(self.place.descriptor + PROPERTIES) };
        if properties.load(Ordering::Relaxed) & PROFILING == 0 {
            return 0;
        }
        self.host.now().unwrap_or(0)
    }
}

/// Runs the thread of a queue.
extern "C" fn look(argument: u64) {
    let queue = crate::device::pointer(argument).cast_const().cast::<Queue>();
    // SAFETY: the argument is a pointer that `Queue::watch` made of a counted one for this thread.
    let queue = unsafe { Arc::from_raw(queue) };
    queue.look();
}

fn failure(code: i64, index: u64, what: &dyn std::fmt::Display) -> Failure {
    Failure {
        code,
        message: format!("Packet {index}: {what}"),
    }
}

impl Place {
    fn slot(self, index: u64) -> u64 {
        self.ring + packet::BYTES * (index & self.mask)
    }

    fn header<'a>(self, index: u64) -> &'a AtomicU16 {
        // SAFETY: an index modulo the size is a slot of the ring, which is there as long as the queue.
        unsafe { field(self.slot(index)) }
    }

    /// The type of a packet; what it says is there once it is seen.
    fn kind(self, index: u64) -> u16 {
        packet::kind_of(self.header(index).load(Ordering::Acquire))
    }

    fn words(self, index: u64) -> packet::Words {
        std::array::from_fn(|word| {
            // SAFETY: as for the header.
            let word: &AtomicU64 = unsafe { field(self.slot(index) + 8 * word as u64) };
            word.load(Ordering::Relaxed)
        })
    }

    fn write_index<'a>(self) -> &'a AtomicU64 {
        // SAFETY: the runtime gave the address of a 64-bit index of the queue.
        unsafe { field(self.write_index) }
    }

    fn read_index<'a>(self) -> &'a AtomicU64 {
        // SAFETY: as for the write index.
        unsafe { field(self.read_index) }
    }
}
