//! The packet processor of the driver in the test: a function that the doorbell calls, and that keeps what it saw.

use super::rig::Rig;
use hansa_core::queue::Descriptor;
use hansa_core::signal::Block;
use hansa_plugin_api as api;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A packet.
pub(crate) type Packet = [u64; 8];

/// Header of a packet that runs a kernel.
pub(crate) const DISPATCH: u64 = 2;
const INVALID: u16 = 1;

/// A packet that runs a kernel, told from others by a number.
pub(crate) const fn dispatch(number: u64) -> Packet {
    [DISPATCH, 0, 0, 0, number, 0, 0, 0]
}

/// The processor of a queue.
pub(crate) struct Processor {
    host: api::HostRef<'static>,
    descriptor: &'static Descriptor,
    seen: Mutex<Seen>,
}

struct Seen {
    /// How many packets it takes before it stops.
    allowance: u64,
    packets: Vec<Packet>,
    over: bool,
    /// How often it refuses to end.
    refusals: u32,
}

static ALL: Mutex<Option<HashMap<u64, &'static Processor>>> = Mutex::new(None);

extern "C" fn rung(context: u64, _value: u64) {
    let processor: *const Processor = std::ptr::with_exposed_provenance(context as usize);
    // SAFETY: the context is that of a processor, and processors are never freed.
    unsafe { &*processor }.run();
}

impl Processor {
    /// Starts one for a queue of the driver.
    pub(crate) fn start(
        queue: u64,
        host: api::HostRef<'static>,
        request: &api::QueueRequest,
    ) -> &'static Self {
        let at: *const Descriptor = std::ptr::with_exposed_provenance(request.descriptor_address as usize);
        let processor: &'static Self = Box::leak(Box::new(Self {
            host,
            // SAFETY: the address is that of a descriptor, which the runtime never unmaps.
            descriptor: unsafe { &*at },
            seen: Mutex::new(Seen {
                allowance: u64::MAX,
                packets: Vec::new(),
                over: false,
                refusals: 0,
            }),
        }));
        ALL.lock()
            .unwrap()
            .get_or_insert_with(HashMap::new)
            .insert(queue, processor);
        processor
    }

    /// Ends it: it looks at the ring no more.
    /// Answers whether it does not refuse.
    pub(crate) fn end(queue: u64) -> bool {
        let mut all = ALL.lock().unwrap();
        let all = all.as_mut().unwrap();
        let mut seen = all[&queue].seen.lock().unwrap();
        if let Some(left) = seen.refusals.checked_sub(1) {
            seen.refusals = left;
            return false;
        }
        seen.over = true;
        drop(seen);
        all.remove(&queue);
        true
    }

    /// Has it refuse so often to end.
    pub(crate) fn refuse(&self, times: u32) {
        self.seen.lock().unwrap().refusals = times;
    }

    /// How the runtime rings.
    pub(crate) fn doorbell(&'static self) -> api::Doorbell {
        api::Doorbell::calling(rung, std::ptr::from_ref(self).expose_provenance() as u64)
    }

    /// The one that serves a queue of the program.
    pub(crate) fn of(rig: Rig, queue: u64) -> &'static Self {
        let id = rig.queues.info(queue, 3).unwrap();
        ALL.lock().unwrap().as_ref().unwrap()[&id]
    }

    /// Takes so many packets more and then stops.
    pub(crate) fn allow(&self, packets: u64) {
        self.seen.lock().unwrap().allowance = packets;
        self.run();
    }

    /// What it has seen.
    pub(crate) fn packets(&self) -> Vec<Packet> {
        self.seen.lock().unwrap().packets.clone()
    }

    /// The numbers of the dispatches it has seen.
    pub(crate) fn dispatches(&self) -> Vec<u64> {
        let packets = self.packets();
        packets
            .iter()
            .filter(|p| p[0] == DISPATCH)
            .map(|p| p[4])
            .collect()
    }

    /// Reports an error through the queue's inactive signal.
    pub(crate) fn fail(&self, code: i64) {
        let signal = self.descriptor.inactive_signal.load(Ordering::Relaxed);
        Block::of(signal).unwrap().value.store(code, Ordering::Release);
        self.host.signal_changed(signal).unwrap();
    }

    /// Rings a doorbell as a kernel does: a store to the signal, and an interrupt with eight bits of the event's number.
    pub(crate) fn ring(&self, doorbell: u64, value: i64) {
        let block = Block::of(doorbell).unwrap();
        assert_eq!(
            block.kind.load(Ordering::Relaxed),
            1,
            "devices see an ordinary signal"
        );
        block.value.store(value, Ordering::Release);
        let event = block.event_id.load(Ordering::Relaxed);
        self.host.event_raised(event & 0xff).unwrap();
    }

    fn run(&self) {
        while let Some(signal) = self.step() {
            if signal != 0 {
                Block::of(signal).unwrap().value.fetch_sub(1, Ordering::AcqRel);
                self.host.signal_changed(signal).unwrap();
            }
        }
    }

    /// Takes a packet. Answers its completion signal.
    fn step(&self) -> Option<u64> {
        let mut seen = self.seen.lock().unwrap();
        let descriptor = self.descriptor;
        let read = descriptor.read_index.load(Ordering::Relaxed);
        if seen.over || seen.allowance == 0 || read == descriptor.write_index.load(Ordering::Acquire) {
            return None;
        }
        let slot = read & (u64::from(descriptor.size.load(Ordering::Relaxed)) - 1);
        let address = descriptor.base_address.load(Ordering::Relaxed) + slot * 64;
        // SAFETY: a slot of the ring, which stays until the processor is over.
        let header = unsafe { AtomicU16::from_ptr(std::ptr::with_exposed_provenance_mut(address as usize)) };
        if header.load(Ordering::Acquire) & 0xff == INVALID {
            return None;
        }
        // SAFETY: as above; the packet is valid.
        let packet = unsafe { std::ptr::with_exposed_provenance::<Packet>(address as usize).read_volatile() };
        header.store(INVALID, Ordering::Release);
        seen.packets.push(packet);
        seen.allowance -= 1;
        descriptor.read_index.store(read + 1, Ordering::Release);
        Some(packet[7])
    }
}

/// Writes a packet into the slot of an index of a program's queue, its header last.
pub(crate) fn write(queue: u64, index: u64, packet: Packet) {
    let descriptor = Descriptor::of(queue).unwrap();
    let slot = index & (u64::from(descriptor.size.load(Ordering::Relaxed)) - 1);
    let address = (descriptor.base_address.load(Ordering::Relaxed) + slot * 64) as usize;
    let header = packet[0] as u16;
    let unready = packet[0] & !0xffff | u64::from(INVALID);
    let body = [
        unready, packet[1], packet[2], packet[3], packet[4], packet[5], packet[6], packet[7],
    ];
    let place: *mut Packet = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: a free slot of the ring, which the test reserved.
    unsafe { place.write_volatile(body) };
    // SAFETY: as above.
    unsafe { AtomicU16::from_ptr(place.cast()) }.store(header, Ordering::Release);
}

/// Submits a packet as programs do, waiting for a free slot.
pub(crate) fn submit(queue: u64, packet: Packet) {
    use hansa_core::queue::index;
    let at = index::add_write(queue, 1, Ordering::Relaxed);
    let size = u64::from(Descriptor::of(queue).unwrap().size.load(Ordering::Relaxed));
    while at - index::load_read(queue, Ordering::Acquire) >= size {
        std::thread::yield_now();
    }
    write(queue, at, packet);
    ring(queue, at);
}

/// Rings a queue's doorbell.
pub(crate) fn ring(queue: u64, at: u64) {
    let doorbell = Descriptor::of(queue).unwrap().doorbell.load(Ordering::Relaxed);
    hansa_core::signal::store(doorbell, at.try_into().unwrap(), Ordering::Release);
}

/// Waits until something happens on another thread.
pub(crate) fn soon(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(10), "it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
