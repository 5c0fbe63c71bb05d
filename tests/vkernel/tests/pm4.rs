//! Queues of PM4 packets.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::uapi::queue::{CreateQueue, DestroyQueue, QUEUE_TYPE_COMPUTE};
use hansa_kfd::uapi::Request;
use hansa_plugin_api::sys::{MapAccess, System};
use hansa_plugin_api::Driver;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{within_a_second, QueueMemory, Rig};

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

#[test]
fn packets_write_wait_jump_and_raise_events() {
    let options = hansa_vkernel::Options {
        // Queues of this kind are the test's own, and their buffers are not those that the driver makes.
        strict_buffers: false,
        ..hansa_vkernel::Options::default()
    };
    let rig = Rig::new(hansa_vkernel::Machine::vega10(), options);
    rig.driver.open().unwrap();
    let event = rig.signal_event();
    let memory = QueueMemory::new(&rig, &[0]);
    let data = memory.signal.address;
    let [low, high] = halves(data);
    // Other packets, in memory of their own.
    let inner = packet(0x37, &[5 << 8, low + 64, high, 0x1234, 0x5678]);
    for (i, pair) in inner.chunks(2).enumerate() {
        let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        memory
            .signal
            .word(1024 + i as u64 * 8)
            .store(word, Ordering::Relaxed);
    }
    let [inner_low, inner_high] = halves(data + 1024);
    let mut words = vec![2 << 30, 3 << 30 | 0x3fff << 16 | 0x10 << 8];
    words.extend(packet(0x10, &[0xdead, 0xbeef]));
    words.extend(packet(
        0x3f,
        &[inner_low, inner_high, u32::try_from(inner.len()).unwrap()],
    ));
    // Until the word at 128 is 7.
    words.extend(packet(0x3c, &[1 << 4 | 3, low + 128, high, 7, 0xff, 4]));
    let release = [0x14, 2 << 29 | 2 << 24, low + 192, high, 0x55, 0x66, event.event];
    words.extend(packet(0x49, &release));
    for (i, pair) in words.chunks(2).enumerate() {
        let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
        memory.ring.word(i as u64 * 8).store(word, Ordering::Relaxed);
    }
    let file = rig.system.open(Path::new("/dev/kfd"), true).unwrap();
    let (write_index, read_index) = (memory.slots.word(0), memory.slots.word(64));
    let address = |word: &AtomicU64| std::ptr::from_ref(word).expose_provenance() as u64;
    let gpu = rig.kernel().machine.gpus[0];
    let mut queue = CreateQueue {
        ring_base_address: memory.ring.address,
        ring_size: 4096,
        write_pointer_address: address(write_index),
        read_pointer_address: address(read_index),
        gpu_id: gpu.gpu_id,
        queue_type: QUEUE_TYPE_COMPUTE,
        queue_percentage: 100,
        queue_priority: 7,
        ..CreateQueue::default()
    };
    ioctl(&rig, file, &mut queue);
    write_index.store(words.len() as u64, Ordering::Release);
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
    bell.store(words.len() as u64, Ordering::Release);
    // A dword at a time.
    within_a_second("the data", || {
        memory.signal.word(64).load(Ordering::Acquire) == 0x5678_0000_1234
    });
    assert_eq!(memory.signal.word(192).load(Ordering::Acquire), 0, "it waits");
    memory.signal.word(128).store(7, Ordering::Release);
    let waited = rig
        .driver
        .wait_events([event.event][..].into(), [][..].into(), true, 5000);
    assert!(waited.unwrap());
    assert_eq!(memory.signal.word(192).load(Ordering::Acquire), 0x66_0000_0055);
    within_a_second("the index", || {
        read_index.load(Ordering::Acquire) == words.len() as u64
    });
    ioctl(
        &rig,
        file,
        &mut DestroyQueue {
            queue_id: queue.queue_id,
            pad: 0,
        },
    );
    // SAFETY: nobody rings any more.
    unsafe { rig.system.munmap(bells, 8192) }.unwrap();
    rig.system.close(file);
    memory.end(&rig);
    rig.assert_no_complaints();
}
