//! Queues on machines whose firmware reports exceptions, and kernels on them.

use super::kernels::{self, column};
use super::{ring_bell, QueueMemory, Rig, INACTIVE, WRITE_INDEX};
use hansa_kfd::config::Config;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{Driver as _, QueueKind};
use hansa_vkernel::device::SimExecutor;
use hansa_vkernel::{GpuSpec, Kernel, Machine, Options, VirtualSystem};
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Offsets in the page of a queue's signal: the word of exceptions, the kernel's descriptor and code, the completion signal.
const EXCEPTIONS: u64 = 512;
const DESCRIPTOR: u64 = 1024;
const CODE: u64 = 1280;
const COMPLETION: u64 = 768;

/// A driver on a GPU of a processor, whose kernels run.
pub(crate) fn rig(processor: &str, firmware: &str) -> Rig {
    let spec = GpuSpec::named(&format!("{processor}{firmware}")).unwrap();
    let machine = Machine::with_gpus(&[spec]);
    let executor = Arc::new(SimExecutor::new(&machine));
    let system = VirtualSystem::new(Kernel::new(machine, Options::default(), Some(executor)).unwrap());
    let seen = Arc::clone(&system) as Arc<dyn System>;
    let rig = Rig::on(system, seen, Config::default());
    rig.driver.open().unwrap();
    rig
}

/// A queue, and what a test sees of it.
pub(crate) struct Queue<'a> {
    rig: &'a Rig,
    /// Not dropped when a test fails: the device may use it.
    memory: ManuallyDrop<QueueMemory>,
    info: api::QueueInfo,
    event: api::EventInfo,
    packets: u64,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(rig: &'a Rig) -> Self {
        let event = rig.signal_event();
        let memory = ManuallyDrop::new(QueueMemory::new(rig, &[0]));
        let inactive = memory.slots.word(INACTIVE);
        inactive.store(memory.signal.address, Ordering::Relaxed);
        let request = api::QueueRequest {
            exception_address: memory.signal.address + EXCEPTIONS,
            event: event.event,
            ..memory.request(0, 0, QueueKind::AQL)
        };
        let info = rig.driver.create_queue(&request).unwrap();
        Self {
            rig,
            memory,
            info,
            event,
            packets: 0,
        }
    }

    /// Dispatches a kernel of one work-item.
    pub(crate) fn dispatch(&mut self, processor: &str, kernel: kernels::Kernel) {
        let page = &self.memory.signal;
        for (i, pair) in kernel[column(processor)].chunks(2).enumerate() {
            let word = u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
            page.word(CODE + i as u64 * 8).store(word, Ordering::Relaxed);
        }
        // The entry, and the two scalar registers of an address.
        page.word(DESCRIPTOR + 16)
            .store(CODE - DESCRIPTOR, Ordering::Relaxed);
        page.word(DESCRIPTOR + 48)
            .store((2 << 1) << 32, Ordering::Relaxed);
        page.word(DESCRIPTOR + 56).store(1 << 3, Ordering::Relaxed);
        page.word(COMPLETION + 8).store(1, Ordering::Relaxed);
        let at = self.packets % 64 * 64;
        let ring = &self.memory.ring;
        for (offset, value) in [
            (8, 1 << 16 | 1 << 32 | 1),
            (16, 1 << 32 | 1),
            (24, 0),
            (32, page.address + DESCRIPTOR),
            (40, page.address),
            (48, 0),
            (56, page.address + COMPLETION),
        ] {
            ring.word(at + offset).store(value, Ordering::Relaxed);
        }
        // A kernel dispatch with one dimension and the barrier bit; a side of each group is one.
        let head = 2 | 1 << 8 | 1 << 16 | 1 << 32 | 1 << 48;
        ring.word(at).store(head, Ordering::Release);
        self.packets += 1;
        let write_index = self.memory.slots.word(WRITE_INDEX);
        write_index.store(self.packets, Ordering::Release);
        ring_bell(&self.info, self.packets - 1);
    }

    pub(crate) fn exceptions(&self) -> u64 {
        self.memory.signal.word(EXCEPTIONS).load(Ordering::Acquire)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.memory.signal.word(COMPLETION + 8).load(Ordering::Acquire) == 0
    }

    pub(crate) fn inactive(&self) -> u64 {
        self.memory.signal.word(8).load(Ordering::Acquire)
    }

    /// Waits for the event that goes with exceptions.
    pub(crate) fn hears(&self) -> bool {
        let events = [self.event.event];
        self.rig
            .driver
            .wait_events(events[..].into(), [][..].into(), true, 5000)
            .unwrap()
    }

    pub(crate) fn end(self) {
        self.rig.driver.destroy_queue(self.info.queue).unwrap();
        self.rig.driver.destroy_event(self.event.event).unwrap();
        ManuallyDrop::into_inner(self.memory).end(self.rig);
    }
}
