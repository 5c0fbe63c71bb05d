//! AQL queues as a program has them.

use super::{HostMemory, Rig, Signal};
use hansa_plugin_api::{Doorbell, DriverObject, QueueKind, QueuePriority, QueueRequest};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Header bits.
pub const BARRIER: u16 = 1 << 8;
/// Fences at system scope.
pub const SYSTEM_FENCES: u16 = 2 << 9 | 2 << 11;
/// Packet types.
pub const VENDOR: u16 = 0;
pub const INVALID: u16 = 1;
pub const KERNEL_DISPATCH: u16 = 2;
pub const BARRIER_AND: u16 = 3;
pub const AGENT_DISPATCH: u16 = 4;
pub const BARRIER_OR: u16 = 5;

/// Word offsets in `amd_queue_t`.
pub mod field {
    pub const WRITE_INDEX: usize = 56 / 8;
    pub const READ_INDEX: usize = 128 / 8;
    /// 32-bit index.
    pub const TMPRING: usize = 140 / 4;
    /// 32-bit index of the first of four.
    pub const SCRATCH_RESOURCE: usize = 144 / 4;
    pub const SCRATCH_LOCATION: usize = 160 / 8;
    /// 32-bit index.
    pub const LANE_BYTES: usize = 176 / 4;
    /// 32-bit index.
    pub const PROPERTIES: usize = 180 / 4;
    pub const INACTIVE: usize = 192 / 8;
}

/// A kernel dispatch to be.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub header: u16,
    pub dimensions: u16,
    pub workgroup: [u16; 3],
    pub grid: [u32; 3],
    pub private_bytes: u32,
    pub group_bytes: u32,
    pub kernel_object: u64,
    pub kernarg: u64,
}

impl Program {
    /// A dispatch of so many work-items in groups of 64, with the barrier bit.
    pub fn linear(kernel_object: u64, kernarg: u64, items: u32) -> Self {
        Self {
            header: KERNEL_DISPATCH | BARRIER | SYSTEM_FENCES,
            dimensions: 1,
            workgroup: [64, 1, 1],
            grid: [items, 1, 1],
            private_bytes: 0,
            group_bytes: 0,
            kernel_object,
            kernarg,
        }
    }

    /// The packet.
    pub fn words(&self, completion: u64) -> [u64; 8] {
        let half = |value: u16, at: u32| u64::from(value) << (16 * at);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let [wx, wy, wz] = self.workgroup;
        let [gx, gy, gz] = self.grid;
        [
            half(self.header, 0) | half(self.dimensions, 1) | half(wx, 2) | half(wy, 3),
            half(wz, 0) | u64::from(gx) << 32,
            pair(gy, gz),
            pair(self.private_bytes, self.group_bytes),
            self.kernel_object,
            self.kernarg,
            0,
            completion,
        ]
    }
}

/// A queue with all that a runtime keeps of it.
#[derive(Debug)]
pub struct TestQueue {
    pub ring: HostMemory,
    pub descriptor: HostMemory,
    pub inactive: Signal,
    pub id: u64,
    pub packets: u64,
    request: QueueRequest,
    doorbell: Doorbell,
    driver: Weak<DriverObject>,
    destroyed: bool,
}

impl TestQueue {
    /// Makes a queue of a device.
    pub fn new(rig: &Rig, node: u32, packets: u64) -> Self {
        Self::with(rig, node, packets, QueueKind::AQL, QueuePriority::NORMAL)
    }

    /// Makes a queue of a kind.
    pub fn with(rig: &Rig, node: u32, packets: u64, kind: QueueKind, priority: QueuePriority) -> Self {
        let ring = rig.host_memory(packets as usize * 64);
        for packet in 0..packets as usize {
            ring.word(8 * packet).store(INVALID.into(), Ordering::Relaxed);
        }
        let descriptor = rig.host_memory(4096);
        let inactive = rig.signal(0);
        descriptor
            .word(field::INACTIVE)
            .store(inactive.handle(), Ordering::Release);
        let request = QueueRequest {
            node,
            kind,
            priority,
            engine: u32::MAX,
            ring_address: ring.address(),
            ring_bytes: packets * 64,
            descriptor_address: descriptor.address(),
            write_index_address: descriptor.address() + 56,
            read_index_address: descriptor.address() + 128,
            exception_address: 0,
            event: 0,
            percent: 100,
        };
        let info = rig.driver.create_queue(&request).expect("a queue is free");
        Self {
            ring,
            descriptor,
            inactive,
            id: info.queue,
            packets,
            request,
            doorbell: info.doorbell,
            driver: Arc::downgrade(&rig.driver),
            destroyed: false,
        }
    }

    /// How it is rung.
    pub fn doorbell(&self) -> Doorbell {
        self.doorbell
    }

    /// How it was asked for.
    pub fn request(&self) -> QueueRequest {
        self.request
    }

    /// Switches timestamps on.
    pub fn profile(&self) {
        self.descriptor.set_u32(field::PROPERTIES, 1 << 3);
    }

    /// The read index.
    pub fn read_index(&self) -> u64 {
        self.descriptor.word(field::READ_INDEX).load(Ordering::Acquire)
    }

    /// Takes the next slot, waiting while the queue is full.
    pub fn reserve(&self) -> u64 {
        let index = self
            .descriptor
            .word(field::WRITE_INDEX)
            .fetch_add(1, Ordering::AcqRel);
        assert!(
            super::eventually(|| index - self.read_index() < self.packets),
            "the queue stays full"
        );
        index
    }

    /// Publishes a packet in a slot that was taken.
    pub fn publish(&self, index: u64, words: &[u64; 8]) {
        let first = 8 * (index % self.packets) as usize;
        for (offset, word) in words.iter().enumerate().skip(1) {
            self.ring.word(first + offset).store(*word, Ordering::Relaxed);
        }
        self.ring.word(first).store(words[0], Ordering::Release);
    }

    /// Rings the doorbell.
    pub fn ring(&self, index: u64) {
        (self.doorbell.notify)(self.doorbell.context, index);
    }

    /// Writes a packet and rings.
    pub fn push(&self, words: &[u64; 8]) -> u64 {
        let index = self.reserve();
        self.publish(index, words);
        self.ring(index);
        index
    }

    /// A barrier packet.
    pub fn barrier(&self, header: u16, dependencies: &[u64], completion: u64) -> u64 {
        let mut words = [0; 8];
        words[0] = header.into();
        words[1..=dependencies.len()].copy_from_slice(dependencies);
        words[7] = completion;
        self.push(&words)
    }

    /// A kernel dispatch.
    pub fn dispatch(&self, program: &Program, completion: u64) -> u64 {
        self.push(&program.words(completion))
    }

    /// Destroys it, as the runtime does.
    pub fn destroy(mut self) {
        self.destroyed = true;
        self.driver
            .upgrade()
            .expect("queues are destroyed before their driver")
            .destroy_queue(self.id)
            .expect("a queue can be destroyed");
    }
}

impl Drop for TestQueue {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.upgrade().filter(|_| !self.destroyed) {
            // Its memory goes now; a closed driver has destroyed it already.
            let _ = driver.destroy_queue(self.id);
        }
    }
}
