//! Copy engines that a driver describes: queues that the runtime fills with packets.
//!
//! Ring indices count bytes and only grow; a packet does not wrap around the end of the ring, so a batch that would is
//! preceded by empty words. Whoever copies waits for the end of the batch: the engine clears a signal with its last
//! packets and announces that like any other change of a signal, unless it is over before somebody could sleep.

use super::packets::{Builder, COPY_WORDS};
use super::{bytes_of, fill_word, rows};
use crate::agent::DeviceRef;
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::memory::host::page_bytes;
use crate::memory::shown::ShownPages;
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::{hardware, pool, wait, Block, Condition};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{fence, AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Bytes of a ring.
const RING_BYTES: u64 = 256 << 10;
/// Most words of a batch.
const BATCH_WORDS: usize = 1024 * COPY_WORDS;
/// Bytes of the read index's place in the page of indices, so that host and device do not share a cache line.
const READ_INDEX: usize = 128;
/// How long one look at an engine that should be done lasts, in nanoseconds.
const LOOK: u64 = 100_000_000;
/// As [`LOOK`], where the end is not announced.
const SHORT_LOOK: u64 = 100_000;
/// Bytes of a copy up to which its end is not announced.
const SMALL: u64 = 64 << 10;

/// A queue of a copy engine.
#[derive(Debug)]
pub(super) struct Engine {
    device: DeviceRef,
    builder: Builder,
    ring: ShownPages,
    indices: ShownPages,
    queue: api::QueueInfo,
    /// Bytes written to the ring.
    written: Mutex<u64>,
    /// The device reported an error: what is under way may never end.
    failed: AtomicBool,
}

fn pointer(address: usize) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address)
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Engine {
    /// Makes a queue on an engine of a device.
    pub(super) fn create(runtime: &Runtime, device: DeviceRef) -> Result<Self> {
        let DeviceRef { driver, node } = device;
        let object = &runtime.drivers[driver].object;
        let builder = Builder::new(&object.engines(node)?)
            .ok_or(Error::NotSupported("packets of this device's copy engines"))?;
        let ring = ShownPages::new(runtime, driver, size(RING_BYTES))?;
        let indices = ShownPages::new(runtime, driver, page_bytes()).inspect_err(|_| {
            // SAFETY: nobody was told of them.
            unsafe { ring.take_back(runtime) };
        })?;
        let queue = object
            .create_queue(&api::QueueRequest {
                node,
                kind: api::QueueKind::DMA,
                priority: api::QueuePriority::MAXIMUM,
                engine: u32::MAX,
                ring_address: ring.address as u64,
                ring_bytes: RING_BYTES,
                descriptor_address: 0,
                write_index_address: indices.address as u64,
                read_index_address: (indices.address + READ_INDEX) as u64,
                exception_address: 0,
                event: 0,
                percent: 100,
            })
            .inspect_err(|_| {
                for pages in [&indices, &ring] {
                    // SAFETY: there is no queue that would use them.
                    unsafe { pages.take_back(runtime) };
                }
            })?;
        Ok(Self {
            device,
            builder,
            ring,
            indices,
            queue,
            written: Mutex::new(0),
            failed: AtomicBool::new(false),
        })
    }

    /// Takes the queue down. Nobody copies with it any more.
    pub(super) fn destroy(&self, runtime: &Runtime) {
        if !crate::queue::let_go(runtime, self.device.driver, self.queue.queue) {
            return;
        }
        for pages in [&self.indices, &self.ring] {
            // SAFETY: the queue that used them is gone, and nobody copies.
            unsafe { pages.take_back(runtime) };
        }
    }

    /// What is under way may never end; who waits for it is told.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }

    /// Whether the device reported an error.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    fn index(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the page of indices lives as long as the queue, is aligned, and is used with atomics only.
        unsafe { AtomicU64::from_ptr(pointer(self.indices.address + offset).cast()) }
    }

    /// Does a copy or fill between places that the device sees, row by row; returns when it is done.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] when the device reported an error meanwhile.
    pub(super) fn run(&self, request: &api::CopyRequest) -> Result<()> {
        let mut words = Vec::new();
        for (to, from) in rows(request) {
            if request.flags.contains(api::CopyFlags::FILL) {
                self.builder
                    .fill(&mut words, to, fill_word(request), request.row_bytes);
            } else {
                self.builder.copy(&mut words, to, from, request.row_bytes);
            }
            while words.len() >= BATCH_WORDS {
                let rest = words.split_off(BATCH_WORDS);
                self.batch(&words, false)?;
                words = rest;
            }
        }
        if words.is_empty() {
            return Ok(());
        }
        self.batch(&words, bytes_of(request) <= SMALL)
    }

    /// Runs packets and waits for their end. That of a `short` batch is not announced: whoever waits sees it before an
    /// interrupt would tell.
    fn batch(&self, packets: &[u32], short: bool) -> Result<()> {
        let done = pool::create(1, flag::SLEEPS)?;
        let mut words = Vec::with_capacity(packets.len() + 32);
        self.builder.caches(&mut words);
        words.extend(packets);
        self.builder.caches(&mut words);
        // The value is 1, so its lower half is all there is to clear.
        let value = std::ptr::from_ref(&done.value).expose_provenance() as u64;
        self.builder.fence(&mut words, value, 0);
        if let Some((mailbox, event)) = hardware::announcement().filter(|_| !short) {
            self.builder.fence(&mut words, mailbox, event);
            self.builder.trap(&mut words, event);
        }
        let outcome = self.submit(&words).and_then(|()| self.wait(done, short));
        if outcome.is_ok() {
            pool::retire(done);
        }
        // After a failure the device may still write to the signal: it is not used again.
        outcome
    }

    fn wait(&self, done: &Block, short: bool) -> Result<()> {
        let look = if short { SHORT_LOOK } else { LOOK };
        while wait::wait(done, Condition::Eq, 0, look) != 0 {
            self.check()?;
            if short {
                // Others are before it.
                std::thread::sleep(Duration::from_nanos(SHORT_LOOK));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.has_failed() {
            Err(Error::Failed("the device reported an error while it copied"))
        } else {
            Ok(())
        }
    }

    /// Puts packets into the ring and rings.
    fn submit(&self, words: &[u32]) -> Result<()> {
        let name = &self.queue.name;
        log::line(Topic::Engines, format_args!("{name}: packets {words:x?}"));
        let bytes = words.len() as u64 * 4;
        let mut written = self.written.lock();
        let place = *written % RING_BYTES;
        let padding = if place + bytes > RING_BYTES {
            RING_BYTES - place
        } else {
            0
        };
        let end = *written + padding + bytes;
        while end - self.index(READ_INDEX).load(Ordering::Acquire) > RING_BYTES {
            self.check()?;
            std::thread::sleep(Duration::from_micros(20));
        }
        let ring = |place: u64| pointer(self.ring.address + size(place));
        if padding != 0 {
            // SAFETY: this part of the ring is free, and inside; zero words are empty packets.
            unsafe { ring(place).write_bytes(0, size(padding)) };
        }
        let start = (*written + padding) % RING_BYTES;
        // SAFETY: as above; the words fit before the ring's end.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), ring(start), size(bytes)) };
        *written = end;
        self.index(0).store(end, Ordering::Release);
        let doorbell = &self.queue.doorbell;
        if doorbell.kind.contains(api::DoorbellKind::NOTIFIER) {
            (doorbell.notify)(doorbell.context, end);
        } else {
            fence(Ordering::SeqCst);
            // SAFETY: the driver gave this address as a 64-bit doorbell of a queue that still lives.
            unsafe { pointer(size(doorbell.address)).cast::<u64>().write_volatile(end) };
        }
        Ok(())
    }
}
