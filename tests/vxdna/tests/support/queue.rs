//! A queue as the runtime gives it to a driver, and packets for it.

use super::{pointer, read, write, Rig, HEAP, PLAIN};
use hansa_plugin_api as api;
use hansa_plugin_api::{Allocation, Driver as _, QueueKind, QueuePriority, QueueRequest};
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Packets of the ring.
pub(crate) const PACKETS: u64 = 64;

/// A signal in memory.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct SignalBlock([AtomicU64; 8]);

impl SignalBlock {
    /// A signal with a value.
    pub(crate) fn new(value: i64) -> Box<Self> {
        let block = Box::new(Self([const { AtomicU64::new(0) }; 8]));
        block.set(value);
        block
    }

    fn number(&self) -> &AtomicI64 {
        // SAFETY: both are 64 bits, and atomic.
        unsafe { AtomicI64::from_ptr(self.0[1].as_ptr().cast()) }
    }

    pub(crate) fn set(&self, value: i64) {
        self.number().store(value, Ordering::Release);
    }

    pub(crate) fn value(&self) -> i64 {
        self.number().load(Ordering::Acquire)
    }

    pub(crate) fn handle(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// When its packet began and ended.
    pub(crate) fn times(&self) -> [u64; 2] {
        [4, 5].map(|word| self.0[word].load(Ordering::Acquire))
    }

    /// Waits until it has a value.
    pub(crate) fn wait_for(&self, value: i64) {
        within_a_while("a signal", || self.value() == value);
    }
}

/// Waits for something that must come.
pub(crate) fn within_a_while(what: &str, mut met: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !met() {
        assert!(Instant::now() < until, "{what} did not come");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// A queue of the first node.
#[derive(Debug)]
pub(crate) struct TestQueue {
    /// The driver's name for it.
    pub(crate) name: u64,
    doorbell: api::Doorbell,
    /// The ring and the descriptor.
    memory: Box<[u64]>,
    ring: u64,
    pub(crate) inactive: Box<SignalBlock>,
}

// SAFETY: the doorbell is a function and a number.
unsafe impl Sync for TestQueue {}

/// Offsets in `amd_queue_t`.
const WRITE_INDEX: u64 = 56;
const READ_INDEX: u64 = 128;
const PROPERTIES: u64 = 180;
const INACTIVE_SIGNAL: u64 = 192;

impl TestQueue {
    pub(crate) fn new(rig: &Rig) -> Self {
        let inactive = SignalBlock::new(0);
        let mut memory = vec![0_u64; usize::try_from(8 * PACKETS).unwrap() + 8 + 512].into_boxed_slice();
        let base = memory.as_mut_ptr().expose_provenance() as u64;
        let ring = base.next_multiple_of(64);
        let descriptor = ring + 64 * PACKETS;
        for slot in 0..PACKETS {
            write(ring + 64 * slot, &[1]);
        }
        let [low, high] = halves(inactive.handle());
        write(descriptor + INACTIVE_SIGNAL, &[low, high]);
        let info = rig
            .driver
            .create_queue(&QueueRequest {
                node: 0,
                kind: QueueKind::AQL,
                priority: QueuePriority::NORMAL,
                engine: u32::MAX,
                ring_address: ring,
                ring_bytes: 64 * PACKETS,
                descriptor_address: descriptor,
                write_index_address: descriptor + WRITE_INDEX,
                read_index_address: descriptor + READ_INDEX,
                exception_address: 0,
                event: 0,
                percent: 100,
            })
            .unwrap();
        Self {
            name: info.queue,
            doorbell: info.doorbell,
            memory,
            ring,
            inactive,
        }
    }

    fn index(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: a field of the descriptor.
        unsafe { AtomicU64::from_ptr(pointer(self.ring + 64 * PACKETS + offset)) }
    }

    /// Packets that are over.
    pub(crate) fn read_index(&self) -> u64 {
        self.index(READ_INDEX).load(Ordering::Acquire)
    }

    /// Lets packets be timed.
    pub(crate) fn profile(&self) {
        write(self.ring + 64 * PACKETS + PROPERTIES, &[1 << 3]);
    }

    /// Writes a packet without ringing. Answers its index.
    pub(crate) fn put(&self, words: &[u64; 8]) -> u64 {
        let index = self.index(WRITE_INDEX).fetch_add(1, Ordering::AcqRel);
        within_a_while("a slot", || index - self.read_index() < PACKETS);
        let slot = self.ring + 64 * (index % PACKETS);
        let [first, rest @ ..] = words;
        for (place, word) in (1_u64..).zip(rest) {
            write(slot + 8 * place, &halves(*word));
        }
        write(slot + 4, &[halves(*first)[1]]);
        let [a, b, c, d, ..] = first.to_le_bytes();
        // SAFETY: the second half word of a slot.
        unsafe { pointer::<u16>(slot + 2).write(u16::from_le_bytes([c, d])) };
        // SAFETY: the header of a slot.
        let header = unsafe { AtomicU16::from_ptr(pointer(slot)) };
        header.store(u16::from_le_bytes([a, b]), Ordering::Release);
        index
    }

    /// Rings the doorbell.
    pub(crate) fn ring(&self, index: u64) {
        (self.doorbell.notify)(self.doorbell.context, index);
    }

    /// Writes a packet and rings.
    pub(crate) fn submit(&self, words: &[u64; 8]) {
        self.ring(self.put(words));
    }

    /// Bytes of the ring and the descriptor, which live as long as the queue.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.len() * 8
    }
}

/// The words of a number.
pub(crate) fn halves(value: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// A barrier that waits for all of some signals.
pub(crate) fn barrier(signals: &[u64], completion: u64) -> [u64; 8] {
    let mut words = [0; 8];
    words[0] = 3;
    words[1..=signals.len()].copy_from_slice(signals);
    words[7] = completion;
    words
}

/// A kernel: image and instructions in the heap, and its arguments' addresses and sizes.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) image: Allocation,
    pub(crate) code: Allocation,
    code_bytes: u64,
    arguments: Box<[u64]>,
}

impl Kernel {
    pub(crate) fn new(rig: &Rig, image: &[u32], code: &[u32], arguments: &[Allocation]) -> Self {
        let put = |words: &[u32]| {
            let made = rig.allocate(HEAP, words.len() as u64 * 4);
            write(made.host_address, words);
            made
        };
        let addresses = arguments.iter().map(|argument| argument.host_address);
        let sizes = arguments.iter().map(|argument| argument.bytes);
        Self {
            image: put(image),
            code: put(code),
            code_bytes: code.len() as u64 * 4,
            arguments: addresses.chain(sizes).collect(),
        }
    }

    /// The same with another image.
    pub(crate) fn with_image(self, image: Allocation) -> Self {
        Self { image, ..self }
    }

    /// A dispatch of it.
    pub(crate) fn packet(&self, completion: u64) -> [u64; 8] {
        let code = self.code.host_address;
        let count = self.arguments.len() as u64 / 2;
        [
            24 << 32,
            completion,
            (code & 0xffff_ffff) << 32,
            code >> 32 | count << 32,
            self.arguments.as_ptr().expose_provenance() as u64,
            self.code_bytes,
            self.image.host_address,
            0,
        ]
    }

    /// The payload of the older dispatch.
    pub(crate) fn payload(&self) -> Vec<u32> {
        let (addresses, sizes) = self.arguments.split_at(self.arguments.len() / 2);
        let mut words = halves(self.image.host_address).to_vec();
        words.extend([3, 0]);
        words.extend(halves(self.code.host_address));
        words.push(u32::try_from(self.code_bytes / 4).unwrap());
        words.extend(addresses.iter().flat_map(|&address| halves(address)));
        words.extend(sizes.iter().map(|&bytes| u32::try_from(bytes).unwrap()));
        words
    }

    /// The older dispatch of it.
    pub(crate) fn command(payload: &[u32]) -> [u64; 8] {
        let count = payload.len() as u64 - 2;
        let at = payload.as_ptr().expose_provenance() as u64;
        [3 << 16 | (1 | count << 12) << 32, 0, 0, 0, 0, 0, 0, at]
    }
}

/// Host memory with words in it.
pub(crate) fn filled(rig: &Rig, words: &[u32]) -> Allocation {
    let made = rig.allocate(PLAIN, words.len() as u64 * 4);
    write(made.host_address, words);
    made
}

/// Words of an allocation.
pub(crate) fn contents(made: &Allocation, count: usize) -> Vec<u32> {
    read(made.host_address, count)
}
