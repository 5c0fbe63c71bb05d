//! Copy queues: packets of the copy engine, as AMD's runtime writes them.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{DeviceEventKind, FaultFlags, QueueKind, QueuePriority, QueueRequest};
use rig::{eventually, never, HostMemory, Rig};
use std::sync::atomic::Ordering;
use std::time::Duration;

const RING_BYTES: u64 = 4096;

/// A copy queue: a ring, and a page with both indices.
struct CopyQueue<'a> {
    rig: &'a Rig,
    id: u64,
    ring: HostMemory,
    indices: HostMemory,
    doorbell: hansa_plugin_api::Doorbell,
}

impl<'a> CopyQueue<'a> {
    fn new(rig: &'a Rig) -> Self {
        let ring = rig.host_memory(RING_BYTES as usize);
        let indices = rig.host_memory(4096);
        let request = QueueRequest {
            node: 0,
            kind: QueueKind::DMA,
            priority: QueuePriority::MAXIMUM,
            engine: 0,
            ring_address: ring.address(),
            ring_bytes: RING_BYTES,
            descriptor_address: 0,
            write_index_address: indices.address(),
            read_index_address: indices.address() + 8,
            exception_address: 0,
            event: 0,
            percent: 100,
        };
        let info = rig.driver.create_queue(&request).expect("a copy queue is free");
        Self {
            rig,
            id: info.queue,
            ring,
            indices,
            doorbell: info.doorbell,
        }
    }

    /// Writes words, moves the write index and rings.
    fn push(&self, words: &[u32]) {
        let start = self.indices.word(0).load(Ordering::Acquire);
        for (index, word) in words.iter().enumerate() {
            let at = (start + 4 * index as u64) % RING_BYTES;
            self.ring.set_u32(at as usize / 4, *word);
        }
        let end = start + 4 * words.len() as u64;
        self.indices.word(0).store(end, Ordering::Release);
        (self.doorbell.notify)(self.doorbell.context, end);
    }

    fn is_done(&self) -> bool {
        self.indices.word(0).load(Ordering::Acquire) == self.indices.word(1).load(Ordering::Acquire)
    }
}

impl Drop for CopyQueue<'_> {
    fn drop(&mut self) {
        self.rig
            .driver
            .destroy_queue(self.id)
            .expect("a queue of ours is destroyed");
    }
}

fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

#[test]
fn a_copy_moves_bytes_and_completes_its_signal() {
    let rig = Rig::new("");
    let queue = CopyQueue::new(&rig);
    let (from, to, done) = (rig.host_memory(8192), rig.host_memory(8192), rig.signal(1));
    for index in 0..1024 {
        from.word(index).store(index as u64 * 7, Ordering::Relaxed);
    }
    let [from_lo, from_hi] = halves(from.address());
    let [to_lo, to_hi] = halves(to.address());
    let [value_lo, value_hi] = halves(done.handle() + 8);
    let [start_lo, start_hi] = halves(done.handle() + 32);
    queue.push(&[13 | 2 << 8, start_lo, start_hi]);
    queue.push(&[1, 8191, 0, from_lo, from_hi, to_lo, to_hi]);
    queue.push(&[10 | 47 << 25, value_lo, value_hi, !0, !0, 0, 0, 0]);
    queue.push(&[6, 99]);
    done.wait(0);
    assert!((0..1024).all(|index| to.word(index).load(Ordering::Relaxed) == index as u64 * 7));
    assert_ne!(done.times()[0], 0);
    assert!(eventually(|| queue.is_done()));
    assert_eq!(*rig::host::locked(&rig.host.raised), [99]);
    assert_eq!(rig.host.last_changed.load(Ordering::SeqCst), done.handle());
}

#[test]
fn a_poll_waits_for_a_word_of_memory() {
    let rig = Rig::new("");
    let queue = CopyQueue::new(&rig);
    let words = rig.host_memory(4096);
    let [at_lo, at_hi] = halves(words.address());
    let [to_lo, to_hi] = halves(words.address() + 64);
    // Equal (3) to 5 in the lower byte.
    queue.push(&[8 | 3 << 28 | 1 << 31, at_lo, at_hi, 5, 0xff, 0]);
    queue.push(&[5, to_lo, to_hi, 1234]);
    assert!(never(Duration::from_millis(20), || words.u32(16) != 0));
    words.set_u32(0, 0x705);
    assert!(eventually(|| words.u32(16) == 1234));
}

#[test]
fn fills_and_writes_and_a_ring_that_goes_round() {
    let rig = Rig::new("");
    let queue = CopyQueue::new(&rig);
    let memory = rig.host_memory(1 << 16);
    for round in 0..200 {
        let [lo, hi] = halves(memory.address());
        queue.push(&[11 | 2 << 30, lo, hi, round, 40_000 - 1]);
        let [lo, hi] = halves(memory.address() + 50_000);
        queue.push(&[2, lo, hi, 2, round, round + 1, round + 2]);
        // Twelve words in all, so that the ring of 1024 words ends within a packet only after filling up.
        let left = (RING_BYTES - queue.indices.word(0).load(Ordering::Acquire) % RING_BYTES) / 4;
        if left < 12 {
            queue.push(&vec![0; left as usize]);
        }
        assert!(eventually(|| queue.is_done()));
        assert_eq!(
            (memory.u32(0), memory.u32(9999), memory.u32(10_000)),
            (round, round, 0)
        );
        let written = [12_500, 12_501, 12_502].map(|index| memory.u32(index));
        assert_eq!(written, [round, round + 1, round + 2]);
    }
}

#[test]
fn a_copy_to_nowhere_is_a_memory_fault() {
    let rig = Rig::new("");
    let queue = CopyQueue::new(&rig);
    let from = rig.host_memory(4096);
    let [lo, hi] = halves(from.address());
    queue.push(&[1, 63, 0, lo, hi, 0x4000, 0x30]);
    assert!(eventually(|| !rig::host::locked(&rig.host.events).is_empty()));
    let event = rig::host::locked(&rig.host.events).remove(0);
    assert_eq!(
        (event.kind, event.address),
        (DeviceEventKind::MEMORY_FAULT, 0x30_0000_4000)
    );
}

#[test]
fn a_packet_that_is_none_hangs_the_engine_and_says_so() {
    let rig = Rig::new("");
    let queue = CopyQueue::new(&rig);
    queue.push(&[0x77]);
    assert!(eventually(|| !rig::host::locked(&rig.host.events).is_empty()));
    let event = rig::host::locked(&rig.host.events).remove(0);
    assert_eq!(event.kind, DeviceEventKind::HARDWARE_EXCEPTION);
    assert!(event.flags.contains(FaultFlags::HANG));
    assert!(event.message.contains("0x00000077"), "{}", event.message);
}
