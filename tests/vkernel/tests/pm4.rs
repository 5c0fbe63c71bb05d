//! Queues of PM4 packets.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::config::Config;
use hansa_kfd::uapi::queue::{CreateQueue, DestroyQueue, QUEUE_TYPE_COMPUTE};
use hansa_kfd::uapi::Request;
use hansa_plugin_api::sys::{MapAccess, System};
use hansa_plugin_api::Driver;
use hansa_vkernel::debug::{exception, mask};
use hansa_vkernel::device::SimExecutor;
use hansa_vkernel::{GpuSpec, Kernel, Machine, VirtualSystem};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use support::{within_a_second, HostPages, QueueMemory, Rig};

fn packet(opcode: u32, words: &[u32]) -> Vec<u32> {
    let count = u32::try_from(words.len()).unwrap() - 1;
    let mut packet = vec![3 << 30 | count << 16 | opcode << 8];
    packet.extend(words);
    packet
}

fn halves(address: u64) -> [u32; 2] {
    hansa_kfd::event::halves(address)
}

fn ioctl<R: Request>(rig: &Rig, file: hansa_plugin_api::sys::File, argument: &mut R) {
    let at = std::ptr::from_mut(argument).cast();
    // SAFETY: the request goes with the structure.
    unsafe { rig.system.ioctl(file, R::CODE, at) }.unwrap();
}

/// A queue of the test's own, with a doorbell.
struct Pm4Queue<'a> {
    rig: &'a Rig,
    memory: &'a QueueMemory,
    file: hansa_plugin_api::sys::File,
    id: u32,
    bells: *mut u8,
    bell: &'a AtomicU64,
    written: usize,
}

impl<'a> Pm4Queue<'a> {
    fn new(rig: &'a Rig, memory: &'a QueueMemory) -> Self {
        let file = rig.system.open(Path::new("/dev/kfd"), true).unwrap();
        let address = |word: &AtomicU64| std::ptr::from_ref(word).expose_provenance() as u64;
        let mut queue = CreateQueue {
            ring_base_address: memory.ring.address,
            ring_size: 4096,
            write_pointer_address: address(memory.slots.word(0)),
            read_pointer_address: address(memory.slots.word(64)),
            gpu_id: rig.kernel().machine.gpus[0].gpu_id,
            queue_type: QUEUE_TYPE_COMPUTE,
            queue_percentage: 100,
            queue_priority: 7,
            ..CreateQueue::default()
        };
        ioctl(rig, file, &mut queue);
        let access = MapAccess {
            read: true,
            write: true,
            execute: false,
        };
        let (page, place) = (queue.doorbell_offset & !8191, queue.doorbell_offset & 8191);
        let nowhere = std::ptr::null_mut();
        // SAFETY: a new mapping.
        let bells = unsafe { rig.system.mmap(nowhere, 8192, access, Some(file), page) }.unwrap();
        let bell = bells.wrapping_add(usize::try_from(place).unwrap());
        // SAFETY: a doorbell of 64 bits in the page that was just mapped.
        let bell = unsafe { AtomicU64::from_ptr(bell.cast()) };
        Self {
            rig,
            memory,
            file,
            id: queue.queue_id,
            bells,
            bell,
            written: 0,
        }
    }

    /// Writes packets and rings.
    fn submit(&mut self, words: &[u32]) {
        assert!(self.written.is_multiple_of(2), "whole words of 64 bits");
        let mut words = words.to_vec();
        if words.len() % 2 == 1 {
            words.push(2 << 30);
        }
        put(&self.memory.ring, self.written as u64 * 4, &words);
        self.written += words.len();
        self.memory
            .slots
            .word(0)
            .store(self.written as u64, Ordering::Release);
        self.bell.store(self.written as u64, Ordering::Release);
    }

    fn is_read(&self) -> bool {
        self.memory.slots.word(64).load(Ordering::Acquire) == self.written as u64
    }

    fn end(self) {
        let (queue_id, pad) = (self.id, 0);
        ioctl(self.rig, self.file, &mut DestroyQueue { queue_id, pad });
        // SAFETY: nobody rings any more.
        unsafe { self.rig.system.munmap(self.bells, 8192) }.unwrap();
        self.rig.system.close(self.file);
    }
}

fn put(pages: &HostPages, offset: u64, words: &[u32]) {
    for (i, pair) in words.chunks(2).enumerate() {
        let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        pages.word(offset + i as u64 * 8).store(word, Ordering::Relaxed);
    }
}

fn options() -> hansa_vkernel::Options {
    hansa_vkernel::Options {
        // Queues of this kind are the test's own, and their buffers are not those that the driver makes.
        strict_buffers: false,
        ..hansa_vkernel::Options::default()
    }
}

#[test]
fn packets_write_wait_jump_and_raise_events() {
    let rig = Rig::new(Machine::vega10(), options());
    rig.driver.open().unwrap();
    let event = rig.signal_event();
    let memory = QueueMemory::new(&rig, &[0]);
    let data = memory.signal.address;
    let [low, high] = halves(data);
    // Other packets, in memory of their own: they write, wait until the word at 128 is 7, and write again.
    let mut inner = packet(0x37, &[5 << 8, low + 64, high, 0x1234, 0x5678]);
    inner.extend(packet(0x3c, &[1 << 4 | 3, low + 128, high, 7, 0xff, 4]));
    inner.extend(packet(0x37, &[2 << 8, low + 136, high, 0x77]));
    put(&memory.signal, 1024, &inner);
    let [inner_low, inner_high] = halves(data + 1024);
    let mut words = vec![2 << 30, 3 << 30 | 0x3fff << 16 | 0x10 << 8];
    words.extend(packet(0x10, &[0xdead, 0xbeef]));
    words.extend(packet(
        0x3f,
        &[inner_low, inner_high, u32::try_from(inner.len()).unwrap()],
    ));
    // 5 words that are passed over, as the word at 512 is 0.
    words.extend(packet(0x22, &[low + 512, high, 0, 5]));
    words.extend(packet(0x37, &[5 << 8, low + 64, high, 0xbad]));
    // The packet's own 64 bits, and an addition.
    words.extend(packet(0x40, &[5 | 5 << 8 | 1 << 16, 40, 0, low + 256, high]));
    words.extend(packet(0x1e, &[47, low + 256, high, 2, 0, 0, 0, 0]));
    words.extend(packet(0x50, &[0, low + 256, high, low + 264, high, 8]));
    // One without an interrupt, and one with.
    words.extend(packet(
        0x49,
        &[0x14, 1 << 29 | 3 << 24, low + 200, high, 9, 0, event.event],
    ));
    let release = [0x14, 2 << 29 | 2 << 24, low + 192, high, 0x55, 0x66, event.event];
    words.extend(packet(0x49, &release));
    let mut queue = Pm4Queue::new(&rig, &memory);
    queue.submit(&words);
    // A dword at a time.
    within_a_second("the data", || {
        memory.signal.word(64).load(Ordering::Acquire) == 0x5678_0000_1234
    });
    assert_eq!(memory.signal.word(136).load(Ordering::Acquire), 0, "it waits");
    memory.signal.word(128).store(7, Ordering::Release);
    let waited = rig
        .driver
        .wait_events([event.event][..].into(), [][..].into(), true, 5000);
    assert!(waited.unwrap());
    let seen = [64, 136, 192, 200, 256, 264].map(|at| memory.signal.word(at).load(Ordering::Acquire));
    assert_eq!(seen, [0x5678_0000_1234, 0x77, 0x66_0000_0055, 9, 42, 42]);
    within_a_second("the index", || queue.is_read());
    queue.end();
    memory.end(&rig);
    rig.assert_no_complaints();
}

/// For gfx900, by LLVM: adds its group's number to the word at s[0:1], and stores it in the array at s[2:3].
const CODE: [u32; 15] = [
    0x7e00_0200,
    0x7e02_0201,
    0x7e04_0202,
    0x7e06_0203,
    0xd112_0005,
    0x0000_0882,
    0x3204_0b02,
    0x3806_0680,
    0xdc50_0000,
    0x0400_0000,
    0xbf8c_0000,
    0x6808_0804,
    0xdc70_0000,
    0x0000_0402,
    0xbf81_0000,
];

/// A machine whose devices run kernels, with its driver open.
fn computing(machine: Machine) -> Rig {
    let executor = Arc::new(SimExecutor::new(&machine));
    let system = VirtualSystem::new(Kernel::new(machine, options(), Some(executor)).unwrap());
    let seen = Arc::clone(&system) as Arc<dyn System>;
    let rig = Rig::on(system, seen, Config::default());
    rig.driver.open().unwrap();
    rig
}

#[test]
fn registers_describe_dispatches_and_what_follows_waits_for_them() {
    let rig = computing(Machine::vega10());
    let memory = QueueMemory::new(&rig, &[0]);
    let data = memory.signal.address;
    let [low, high] = halves(data);
    put(&memory.signal, 1024, &CODE);
    memory.signal.word(0).store(100, Ordering::Relaxed);
    let program = halves((data + 1024) >> 8);
    let mut words = packet(0x58, &[0, !0, 0, 0, 0, 4]);
    // No start, and groups of one.
    words.extend(packet(0x76, &[0x204, 0, 0, 0, 1, 1, 1]));
    words.extend(packet(0x76, &[0x20c, program[0], program[1]]));
    // Four scalar registers, then the group's number.
    words.extend(packet(0x76, &[0x212, 0xc0 << 12 | 2 << 6 | 4, 4 << 1 | 1 << 7]));
    words.extend(packet(0x76, &[0x240, low, high, low + 64, high]));
    words.extend(packet(0x15, &[5, 1, 1, 1]));
    // Written when the dispatch is done.
    words.extend(packet(0x49, &[0x14, 1 << 29 | 3 << 24, low + 192, high, 9, 0, 0]));
    words.extend(packet(0x46, &[7 | 4 << 8]));
    words.extend(packet(0x40, &[1 | 5 << 8, low + 80, high, low + 200, high]));
    let mut queue = Pm4Queue::new(&rig, &memory);
    queue.submit(&words);
    within_a_second("the copy after the flush", || {
        memory.signal.word(200).load(Ordering::Acquire) == 104
    });
    within_a_second("the release", || {
        memory.signal.word(192).load(Ordering::Acquire) == 9
    });
    let results = [64, 72, 80].map(|at| memory.signal.word(at).load(Ordering::Acquire));
    assert_eq!(results, [101 << 32 | 100, 103 << 32 | 102, 104]);
    // A register of drawing is none of this queue: it stops, and says which packet it was.
    queue.submit(&packet(0x76, &[0x10, 0]));
    within_a_second("the complaint", || !rig.kernel().complaints().is_empty());
    assert_eq!(rig.kernel().complaints(), ["PM4 packet 0xc0017600"]);
    queue.end();
    memory.end(&rig);
}

#[test]
fn a_dispatch_whose_wave_stands_holds_up_what_follows() {
    let rig = computing(Machine::with_gpus(&[GpuSpec::named("gfx900:debug").unwrap()]));
    let memory = QueueMemory::new(&rig, &[0]);
    let data = memory.signal.address;
    let [low, high] = halves(data);
    // s_trap 2, s_endpgm.
    put(&memory.signal, 1024, &[0xbf92_0002, 0xbf81_0000]);
    let program = halves((data + 1024) >> 8);
    let mut words = packet(0x58, &[0, !0, 0, 0, 0, 4]);
    words.extend(packet(0x76, &[0x204, 0, 0, 0, 1, 1, 1]));
    words.extend(packet(0x76, &[0x20c, program[0], program[1]]));
    words.extend(packet(0x76, &[0x212, 0xc0 << 12, 0]));
    words.extend(packet(0x15, &[1, 1, 1, 1]));
    words.extend(packet(0x37, &[5 << 8, low + 64, high, 1]));
    words.extend(packet(0x49, &[0x14, 1 << 29 | 3 << 24, low + 192, high, 9, 0, 0]));
    let mut queue = Pm4Queue::new(&rig, &memory);
    queue.submit(&words);
    let exceptions = || rig.kernel().process().queues.table[&queue.id].exceptions;
    within_a_second("the exception", || {
        exceptions() & mask(exception::WAVE_ABORT) != 0
    });
    within_a_second("what does not wait", || {
        memory.signal.word(64).load(Ordering::Acquire) == 1
    });
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(memory.signal.word(192).load(Ordering::Acquire), 0);
    queue.end();
    memory.end(&rig);
    rig.assert_no_complaints();
}
