//! Packets on their way to the ring that the device reads.

use super::super::{Queue, PACKET_BYTES};
use hansa_plugin_api::sync::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// Packet types, in the low byte of the header.
const VENDOR_SPECIFIC: u64 = 0;
const BARRIER_AND: u64 = 3;
/// Format byte of a vendor packet that calls a function in place of going to the device.
const MARKER: u64 = 0xfe;
/// How long to wait for a slot where none is left for the packet that would call back.
const PAUSE: Duration = Duration::from_micros(50);

/// A packet.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet([u64; 8]);

impl Packet {
    /// A barrier packet that completes `signal` as soon as the device comes to it.
    const fn retry(signal: u64) -> Self {
        Self([BARRIER_AND, 0, 0, 0, 0, 0, 0, signal])
    }

    const fn is_marker(&self) -> bool {
        self.0[0] & 0xff == VENDOR_SPECIFIC && (self.0[0] >> 16) & 0xff == MARKER
    }
}

/// The function of a marker: the marker, the queue that the device reads, and the index of the packet that follows.
type MarkerFunction = unsafe extern "C" fn(*const c_void, *mut c_void, u64);

/// How many packets fit into `free` slots, and whether a retry goes after them. While no retry is in the ring, one
/// slot is kept for it.
const fn room(free: u64, wanted: u64, armed: bool) -> (u64, bool) {
    if armed {
        (if free < wanted { free } else { wanted }, false)
    } else if wanted < free {
        (wanted, false)
    } else {
        (free.saturating_sub(1), free != 0)
    }
}

/// The way to the device. One thread at a time uses it: the one that shows packets to handlers.
#[derive(Debug)]
pub(super) struct Output {
    inner: Arc<Queue>,
    /// The signal that a retry completes.
    retry: u64,
    state: Mutex<State>,
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Packets without room.
    waiting: VecDeque<Packet>,
    /// Whether a retry is in the ring.
    armed: bool,
}

impl Output {
    /// The way into the ring of `inner`.
    pub(super) fn new(inner: Arc<Queue>, retry: u64) -> Self {
        Self {
            inner,
            retry,
            state: Mutex::default(),
            ended: AtomicBool::new(false),
        }
    }

    /// The queue that the device reads.
    pub(super) fn inner(&self) -> &Queue {
        &self.inner
    }

    /// Nothing goes to the device any more.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Whether the program has destroyed the queue.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the queue takes packets no more.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended() || self.inner.is_inactive()
    }

    /// The retry has been served.
    pub(super) fn disarm(&self) {
        self.state.lock().armed = false;
    }

    /// Sends packets, or keeps those that have no room yet.
    pub(super) fn submit(&self, packets: &[Packet]) {
        self.state.lock().waiting.extend(packets);
        self.flush();
    }

    /// Sends what waits as far as there is room. Answers whether nothing waits any more.
    pub(super) fn flush(&self) -> bool {
        let mut state = self.state.lock();
        let descriptor = self.inner.descriptor;
        let size = u64::from(descriptor.size.load(Ordering::Relaxed));
        loop {
            self.call_markers(&mut state);
            let wanted = state.waiting.iter().take_while(|p| !p.is_marker()).count();
            if wanted == 0 {
                return true;
            }
            if self.is_over() {
                state.waiting.clear();
                return false;
            }
            let write = descriptor.write_index.load(Ordering::Relaxed);
            let taken = write.wrapping_sub(descriptor.read_index.load(Ordering::Acquire));
            let (count, retry) = room(size.saturating_sub(taken), wanted as u64, state.armed);
            if count == 0 && !retry {
                if state.armed {
                    return false;
                }
                // The packet processor is behind with its index: the retry was served, and its slot is not free yet.
                MutexGuard::unlocked(&mut state, || std::thread::sleep(PAUSE));
                continue;
            }
            let count = usize::try_from(count).unwrap_or(0);
            let mut packets: Vec<Packet> = state.waiting.drain(..count).collect();
            if retry {
                packets.push(Packet::retry(self.retry));
                state.armed = true;
            }
            self.write(write, &packets);
            if count != wanted {
                return false;
            }
        }
    }

    /// Calls the functions of markers that are next; they take no slot.
    fn call_markers(&self, state: &mut MutexGuard<'_, State>) {
        while state.waiting.front().is_some_and(Packet::is_marker) {
            let Some(packet) = state.waiting.pop_front() else {
                return;
            };
            let function = usize::try_from(packet.0[1]).unwrap_or(0);
            if function == 0 {
                continue;
            }
            let queue = usize::try_from(self.inner.descriptor.handle()).unwrap_or(0);
            let next = self.inner.descriptor.write_index.load(Ordering::Relaxed);
            MutexGuard::unlocked(state, || {
                // SAFETY: the packet holds the function that its writer wants to be called with it.
                let function: MarkerFunction =
                    unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<()>(function)) };
                // SAFETY: as above.
                unsafe {
                    function(
                        (&raw const packet).cast(),
                        std::ptr::with_exposed_provenance_mut(queue),
                        next,
                    );
                }
            });
        }
    }

    /// Writes packets into the free slots from `write` on and rings. The header of the first one comes last, so that
    /// the device sees all of them or none.
    fn write(&self, write: u64, packets: &[Packet]) {
        let descriptor = self.inner.descriptor;
        let mask = u64::from(descriptor.size.load(Ordering::Relaxed)) - 1;
        let base = descriptor.base_address.load(Ordering::Relaxed);
        let end = write + packets.len() as u64;
        descriptor.write_index.store(end, Ordering::Relaxed);
        let slots: Vec<usize> = (write..end)
            .map(|index| usize::try_from(base + (index & mask) * PACKET_BYTES as u64).unwrap_or(0))
            .collect();
        for (address, packet) in slots.into_iter().zip(packets).rev() {
            put(address, packet);
        }
        if let Some(device) = self.inner.device() {
            let last = i64::from_ne_bytes((end - 1).to_ne_bytes());
            crate::signal::ring(device.doorbell, last);
        }
    }
}

/// Writes a packet into a free slot, its header last.
fn put(address: usize, packet: &Packet) {
    let [first, rest @ ..] = packet.0;
    let [a, b, c, d, second @ ..] = first.to_ne_bytes();
    let slot: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: a free slot of the ring, which only the caller writes to.
    unsafe { slot.wrapping_add(4).cast::<[u8; 4]>().write_volatile(second) };
    // SAFETY: as above.
    unsafe { slot.wrapping_add(8).cast::<[u64; 7]>().write_volatile(rest) };
    // SAFETY: as above.
    let header = unsafe { AtomicU32::from_ptr(slot.cast()) };
    header.store(u32::from_ne_bytes([a, b, c, d]), Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slot_is_kept_for_a_retry_until_it_is_in_the_ring() {
        assert_eq!(room(8, 3, false), (3, false));
        assert_eq!(room(3, 3, false), (2, true));
        assert_eq!(room(3, 9, false), (2, true));
        assert_eq!(room(1, 9, false), (0, true));
        assert_eq!(room(0, 9, false), (0, false));
        assert_eq!(room(3, 3, true), (3, false));
        assert_eq!(room(3, 9, true), (3, false));
        assert_eq!(room(0, 9, true), (0, false));
    }

    #[test]
    fn a_marker_is_a_vendor_packet_of_its_format() {
        let packet = |first| Packet([first, 1, 0, 0, 0, 0, 0, 0]);
        assert!(packet(MARKER << 16).is_marker());
        assert!(!packet(MARKER << 16 | 2).is_marker());
        assert!(!packet(2 << 16).is_marker());
        assert!(!Packet::retry(7).is_marker());
    }

    #[test]
    fn a_packet_lands_in_its_slot() {
        let slot = Box::into_raw(Box::new(Packet([0; 8])));
        let packet = Packet([0x0102_0304_0506_0708, 2, 3, 4, 5, 6, 7, 8]);
        put(slot.expose_provenance(), &packet);
        // SAFETY: the box was made above and is taken back once.
        assert_eq!(*unsafe { Box::from_raw(slot) }, packet);
    }
}
