//! Doorbells of 32 bits, as packet processors before gfx9 have them.
//!
//! Such a packet processor does not read the queue's write index. It is told how many packets were written, and reads the
//! same number from a word of the descriptor when it comes back to a queue (`amd_queue.h`). The number must not go back,
//! while programs with several producers ring out of order, so a function stands between the program's doorbell signal
//! and the device's. Its first kind takes the number in words of the ring, modulo the ring's double size.

use crate::range::pointer;
use crate::topology::DoorbellKind;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Where the descriptor has the number of packets that were written.
pub(crate) const WRITTEN_OFFSET: u64 = 80;
/// Words of a packet.
const PACKET_WORDS: u64 = 16;

/// Where a bell is and what it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) kind: DoorbellKind,
    /// Address of the queue's descriptor, which the runtime never unmaps.
    pub(crate) descriptor: u64,
    /// Packets of the ring.
    pub(crate) packets: u64,
    /// Address of the doorbell.
    pub(crate) doorbell: u64,
}

/// A bell of a queue, or of none. Bells are never freed: a program may ring that of a queue that is gone.
#[derive(Debug)]
pub(crate) struct Bell(Mutex<Option<Place>>);

/// Bells without a queue.
static IDLE: Lock<Vec<&'static Bell>> = Lock::new(Vec::new());

impl Bell {
    /// A bell for a queue.
    pub(crate) fn new(place: Place) -> &'static Self {
        let bell = IDLE.lock().pop();
        let bell = bell.unwrap_or_else(|| Box::leak(Box::new(Self(Mutex::new(None)))));
        *bell.0.lock() = Some(place);
        bell
    }

    /// Takes the queue away.
    pub(crate) fn end(&'static self) {
        *self.0.lock() = None;
        IDLE.lock().push(self);
    }

    /// What [`ring`] takes.
    pub(crate) fn context(&'static self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Tells the device of the packet with an index, and all before it.
    fn packet(&self, index: u64) {
        let place = self.0.lock();
        let Some(place) = *place else { return };
        let count = index.wrapping_add(1);
        // SAFETY: a word of the descriptor, aligned, that is only used with atomics, and never unmapped.
        let written = unsafe { AtomicU64::from_ptr(pointer(place.descriptor + WRITTEN_OFFSET).cast()) };
        if count <= written.load(Ordering::Relaxed) {
            return;
        }
        written.store(count, Ordering::Release);
        // SAFETY: the doorbell is mapped, and aligned to its size, while the driver is open.
        let doorbell = unsafe { AtomicU32::from_ptr(pointer(place.doorbell).cast()) };
        doorbell.store(word(place, count), Ordering::Release);
    }
}

/// What is stored to the doorbell.
fn word(place: Place, count: u64) -> u32 {
    let value = match place.kind {
        DoorbellKind::Words => (count & (place.packets * 2 - 1)) * PACKET_WORDS,
        DoorbellKind::Packets | DoorbellKind::Index => count,
    };
    crate::event::halves(value)[0]
}

/// Rings the bell at `context`.
pub(crate) extern "C" fn ring(context: u64, value: u64) {
    // SAFETY: the context is that of a bell, which is never freed.
    let bell = unsafe { &*pointer(context).cast_const().cast::<Bell>() };
    bell.packet(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address<T>(of: &T) -> u64 {
        std::ptr::from_ref(of).expose_provenance() as u64
    }

    #[test]
    fn a_bell_counts_packets_and_never_goes_back() {
        let descriptor = [const { AtomicU64::new(0) }; 16];
        let doorbell = AtomicU32::new(0);
        let place = Place {
            kind: DoorbellKind::Packets,
            descriptor: address(&descriptor),
            packets: 64,
            doorbell: address(&doorbell),
        };
        let bell = Bell::new(place);
        for (index, count) in [(0, 1), (7, 8), (3, 8), (1 << 32, 1)] {
            ring(bell.context(), index);
            assert_eq!(doorbell.load(Ordering::Relaxed), count);
        }
        assert_eq!(descriptor[10].load(Ordering::Relaxed), (1 << 32) + 1);
        bell.end();
        ring(bell.context(), 1 << 33);
        assert_eq!(doorbell.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_first_kind_counts_words_of_a_ring_laid_out_twice() {
        let place = Place {
            kind: DoorbellKind::Words,
            descriptor: 0,
            packets: 64,
            doorbell: 0,
        };
        let words = [1, 64, 65, 127, 128, 129].map(|count| word(place, count));
        assert_eq!(words, [16, 1024, 1040, 2032, 0, 16]);
    }
}
