//! Packets of AMD's copy engines (SDMA), as words: SDMA 4 (gfx9) to 7 (gfx12), which agree in what is used here.
//!
//! A packet begins with its operation in bits 0 to 7 and a sub-operation in bits 8 to 15 (Linux:
//! `drivers/gpu/drm/amd/amdgpu/vega10_sdma_pkt_open.h`, `navi10_sdma_pkt_open.h`). Counts of bytes are one less than
//! what they mean. From SDMA 5 on the engine does not see the caches of the compute units, so copies begin and end with a
//! packet that writes caches back and drops what is stale; the words that announce the end go around the caches.

use crate::words::halves;
use hansa_plugin_api as api;

mod op {
    pub(super) const COPY: u32 = 1;
    pub(super) const FENCE: u32 = 5;
    pub(super) const TRAP: u32 = 6;
    pub(super) const FILL: u32 = 11;
    pub(super) const CACHES: u32 = 17;
}

/// FILL: the value has 32 bits.
const FILL_WORDS: u32 = 2 << 30;
/// FENCE since SDMA 5: the word is not cached.
const FENCE_UNCACHED: u32 = 3 << 16;
/// Most bytes of one fill, in 22 bits of count.
const MOST_FILL_BYTES: u64 = (1 << 22) - 4;

/// CACHES, third word: what is done to which cache.
mod cache {
    /// Write scalar caches back, and drop them.
    pub(super) const SCALAR: u32 = 1 << 22 | 1 << 23;
    /// Drop vector caches of both levels.
    pub(super) const VECTOR: u32 = 1 << 24 | 1 << 25;
    /// Drop what the last level holds, after writing it back.
    pub(super) const LAST: u32 = 1 << 30 | 1 << 31;
}

/// Words of a plain copy.
pub(super) const COPY_WORDS: usize = 7;

/// Builds packets for the engines of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Builder {
    has_cache_packet: bool,
    most_bytes: u64,
}

fn count(bytes: u64) -> u32 {
    u32::try_from(bytes - 1).unwrap_or(u32::MAX)
}

impl Builder {
    /// A builder for engines that are described; `None` for a packet language that is not known.
    pub(super) fn new(engines: &api::EngineDescription) -> Option<Self> {
        let has_cache_packet = match engines.family {
            api::EngineFamily::SDMA_4 => false,
            api::EngineFamily::SDMA_5 | api::EngineFamily::SDMA_6 | api::EngineFamily::SDMA_7 => true,
            _ => return None,
        };
        Some(Self {
            has_cache_packet,
            // Whole cache lines, so that parts of a copy do not share one.
            most_bytes: engines.max_copy_bytes & !0xff,
        })
        .filter(|builder| builder.most_bytes != 0)
    }

    /// Copies bytes.
    pub(super) fn copy(self, out: &mut Vec<u32>, destination: u64, source: u64, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            let part = (bytes - done).min(self.most_bytes);
            let (from, to) = (halves(source + done), halves(destination + done));
            out.extend([op::COPY, count(part), 0, from[0], from[1], to[0], to[1]]);
            done += part;
        }
    }

    /// Fills whole words.
    pub(super) fn fill(self, out: &mut Vec<u32>, destination: u64, value: u32, bytes: u64) {
        let (mut at, mut left) = (destination, bytes & !3);
        while left != 0 {
            let part = left.min(MOST_FILL_BYTES);
            let to = halves(at);
            out.extend([op::FILL | FILL_WORDS, to[0], to[1], value, count(part - 3)]);
            at += part;
            left -= part;
        }
    }

    /// Writes a word when all before it is done.
    pub(super) fn fence(self, out: &mut Vec<u32>, address: u64, value: u32) {
        let flags = if self.has_cache_packet { FENCE_UNCACHED } else { 0 };
        let to = halves(address);
        out.extend([op::FENCE | flags, to[0], to[1], value]);
    }

    /// Raises an event.
    pub(super) fn trap(self, out: &mut Vec<u32>, event: u32) {
        out.extend([op::TRAP, event & 0x0fff_ffff]);
    }

    /// Writes caches back and drops what they hold, where the engine does not see them.
    pub(super) fn caches(self, out: &mut Vec<u32>) {
        if self.has_cache_packet {
            // All addresses: from 0 to the last.
            let actions = cache::SCALAR | cache::VECTOR | cache::LAST;
            out.extend([op::CACHES, 0, actions, 0xffff_ff80, 0xffff]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder(family: api::EngineFamily) -> Option<Builder> {
        Builder::new(&api::EngineDescription {
            family,
            raises_events: 1,
            max_copy_bytes: 1 << 22,
            host_engines: 2,
            link_engines: 0,
        })
    }

    #[test]
    fn a_large_copy_has_several_packets_that_cover_it_once() {
        let mut words = Vec::new();
        let bytes = (9 << 20) + 5;
        builder(api::EngineFamily::SDMA_4)
            .unwrap()
            .copy(&mut words, 0x1_0000_0000, 0x7f00_0000_1234, bytes);
        assert_eq!(words.len(), 3 * COPY_WORDS);
        let mut next = 0;
        for packet in words.chunks_exact(COPY_WORDS) {
            let address = |i: usize| u64::from(packet[i]) | u64::from(packet[i + 1]) << 32;
            assert_eq!(packet[0], 1);
            assert!(packet[1] < 1 << 22);
            assert_eq!(address(3), 0x7f00_0000_1234 + next);
            assert_eq!(address(5), 0x1_0000_0000 + next);
            next += u64::from(packet[1]) + 1;
        }
        assert_eq!(next, bytes);
    }

    #[test]
    fn a_fill_counts_words_from_the_last_byte_of_the_first() {
        let mut words = Vec::new();
        builder(api::EngineFamily::SDMA_4)
            .unwrap()
            .fill(&mut words, 0x1000, 0xdead_beef, 8 << 20);
        let filled: u64 = words
            .chunks_exact(5)
            .map(|packet| u64::from(packet[4] & 0x3f_ffff) / 4 + 1)
            .sum();
        assert_eq!(filled * 4, 8 << 20);
        assert_eq!(words[0], 0x8000_000b);
    }

    #[test]
    fn only_engines_that_do_not_see_caches_get_packets_for_them() {
        let words = |family| {
            let mut words = Vec::new();
            builder(family).unwrap().caches(&mut words);
            words.len()
        };
        assert_eq!(words(api::EngineFamily::SDMA_4), 0);
        assert_eq!(words(api::EngineFamily::SDMA_6), 5);
    }

    #[test]
    fn a_language_that_is_not_known_is_not_spoken() {
        assert!(builder(api::EngineFamily::SDMA_3).is_none());
        assert!(builder(api::EngineFamily(99)).is_none());
    }
}
