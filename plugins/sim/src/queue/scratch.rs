//! Private memory of dispatches, as the queue's descriptor has it.
//!
//! The descriptor says where it is, how much a wave has (COMPUTE_TMPRING_SIZE: waves in bits 11:0, KiB of a wave
//! in bits 24:12) and how much a lane of a 64-lane wave has. If that is not enough for a dispatch, the packet
//! processor stores 1 to the inactive signal, the host provides more, and stores 0.

use super::layout::{property, queue as at};
use super::packet::KernelDispatch;
use crate::shared::Shared;
use hansa_plugin_api::sync::Mutex;
use std::sync::atomic::Ordering;

/// Private memory of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scratch {
    /// Where it begins.
    pub(crate) address: u64,
    /// Bytes of a wave.
    pub(crate) wave_bytes: u32,
    /// Waves that can have some at once.
    pub(crate) waves: u32,
    /// The buffer descriptor with which kernels address it.
    pub(crate) descriptor: [u32; 4],
    /// Whether the host wants it back after the dispatch.
    pub(crate) once: bool,
}

/// What a dispatch needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// No private memory.
    None,
    /// What is there.
    Given(Scratch),
    /// More than there is.
    More,
}

/// Compares what a dispatch needs with what there is.
pub(crate) fn of(descriptor: Shared, kernel: &KernelDispatch) -> Need {
    if kernel.private_bytes == 0 {
        return Need::None;
    }
    let size = descriptor.load_u32(at::COMPUTE_TMPRING_SIZE, Ordering::Acquire);
    let lane = descriptor.load_u32(at::SCRATCH_WAVE64_LANE_BYTE_SIZE, Ordering::Relaxed);
    let properties = descriptor.load_u32(at::QUEUE_PROPERTIES, Ordering::Relaxed);
    let scratch = Scratch {
        address: descriptor.load_u64(at::SCRATCH_BACKING_MEMORY_LOCATION, Ordering::Relaxed),
        wave_bytes: (size >> 12 & 0x1fff) << 10,
        waves: size & 0xfff,
        descriptor: std::array::from_fn(|i| {
            descriptor.load_u32(at::SCRATCH_RESOURCE_DESCRIPTOR + 4 * i as u64, Ordering::Relaxed)
        }),
        once: properties & property::USE_SCRATCH_ONCE != 0,
    };
    let enough = lane >= kernel.private_bytes
        && scratch.address != 0
        && u64::from(scratch.wave_bytes) >= 64 * u64::from(kernel.private_bytes)
        && u64::from(scratch.waves) >= kernel.waves_per_group();
    if enough {
        Need::Given(scratch)
    } else {
        Need::More
    }
}

/// The waves of a queue that have private memory.
#[derive(Debug)]
pub(crate) struct Room {
    scratch: Scratch,
    /// A bit for each wave that is taken.
    taken: Mutex<Vec<u64>>,
}

impl Room {
    /// Room in private memory that no wave uses yet.
    pub(crate) fn new(scratch: Scratch) -> Self {
        let words = scratch.waves.div_ceil(64) as usize;
        Self {
            scratch,
            taken: Mutex::new(vec![0; words]),
        }
    }

    /// Whether it is room in this memory.
    pub(crate) fn is_of(&self, scratch: &Scratch) -> bool {
        self.scratch == *scratch
    }

    /// The memory.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Takes room for the waves of a work-group; answers the number of the first one's.
    pub(crate) fn take(&self, waves: u32) -> Option<u32> {
        let mut taken = self.taken.lock();
        let mut run = 0;
        for wave in 0..self.scratch.waves {
            let (word, bit) = place(wave);
            run = if taken[word] & bit == 0 { run + 1 } else { 0 };
            if run == waves {
                let first = wave + 1 - waves;
                for wave in first..=wave {
                    let (word, bit) = place(wave);
                    taken[word] |= bit;
                }
                return Some(first);
            }
        }
        None
    }

    /// Gives room back that was taken.
    pub(crate) fn give(&self, first: u32, waves: u32) {
        let mut taken = self.taken.lock();
        for wave in first..first + waves {
            let (word, bit) = place(wave);
            taken[word] &= !bit;
        }
    }
}

fn place(wave: u32) -> (usize, u64) {
    ((wave / 64) as usize, 1 << (wave % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(waves: u32) -> Room {
        Room::new(Scratch {
            address: 0x1000,
            wave_bytes: 0x100,
            waves,
            descriptor: [0; 4],
            once: false,
        })
    }

    #[test]
    fn groups_have_neighbouring_waves_and_reuse_what_is_given_back() {
        let room = room(70);
        assert_eq!(room.take(64), Some(0));
        assert_eq!(room.take(4), Some(64));
        assert_eq!(room.take(4), None);
        room.give(0, 64);
        assert_eq!(room.take(4), Some(0));
        assert_eq!(room.take(61), None);
        assert_eq!(room.take(60), Some(4));
        assert_eq!(room.take(2), Some(68));
        assert_eq!(room.take(1), None);
    }
}
