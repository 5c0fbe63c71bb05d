//! Packets of the copy engines (SDMA 4, GFX9): what they say, by the layouts of the graphics driver
//! (`vega10_sdma_pkt_open.h`).
//!
//! A packet is some 32-bit words; the first has the operation in bits 7:0 and a sub-operation in bits 15:8. A ring is a
//! byte stream: both indices count bytes and never wrap, and no packet crosses the end of the ring.

/// What a packet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dma {
    /// Nothing.
    Nop,
    /// To copy bytes.
    Copy {
        /// First byte written.
        to: u64,
        /// First byte read.
        from: u64,
        /// How many.
        bytes: u64,
    },
    /// To copy a box of bytes.
    Rectangle {
        /// Where it is written: first byte, bytes to the next row, bytes to the next slice.
        to: [u64; 3],
        /// Where it is read.
        from: [u64; 3],
        /// Bytes of a row, rows, slices.
        extent: [u64; 3],
    },
    /// To write the words that follow.
    Write {
        /// Where.
        to: u64,
        /// How many.
        words: u64,
    },
    /// To write one word over and over.
    Fill {
        /// Where.
        to: u64,
        /// The word.
        value: u32,
        /// How many bytes.
        bytes: u64,
    },
    /// To write a word after all that came before.
    Fence {
        /// Where.
        to: u64,
        /// The word.
        value: u32,
    },
    /// To raise an event.
    Trap {
        /// Its number.
        event: u32,
    },
    /// To wait until a word of memory compares with a value.
    Poll {
        /// The word's address.
        at: u64,
        /// The value.
        value: u32,
        /// Bits that count.
        mask: u32,
        /// How it compares, 0 (always) to 6 (greater).
        function: u32,
    },
    /// To add to a 64-bit word.
    Add64 {
        /// The word's address.
        at: u64,
        /// What is added.
        value: u64,
    },
    /// To write the clock.
    Timestamp {
        /// Where.
        to: u64,
    },
}

/// A packet that the engine does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("word {0:#010x} begins no packet that the copy engine knows")]
pub(crate) struct UnknownPacket(pub(crate) u32);

/// Words of the longest packet, without the data of a write.
pub(crate) const LONGEST: usize = 13;

mod op {
    pub(super) const NOP: u32 = 0;
    pub(super) const COPY: u32 = 1;
    pub(super) const WRITE: u32 = 2;
    pub(super) const FENCE: u32 = 5;
    pub(super) const TRAP: u32 = 6;
    pub(super) const POLL_REGMEM: u32 = 8;
    pub(super) const ATOMIC: u32 = 10;
    pub(super) const CONST_FILL: u32 = 11;
    pub(super) const TIMESTAMP: u32 = 13;
}

/// Sub-operations.
mod sub {
    pub(super) const COPY_LINEAR: u32 = 0;
    pub(super) const COPY_RECTANGLE: u32 = 4;
    pub(super) const TIMESTAMP_GLOBAL: u32 = 2;
}

/// The atomic operation of completion signals: a 64-bit addition.
const ATOMIC_ADD_64: u32 = 47;

/// Takes the packet apart whose words begin `words` (as many as there are, padded with zeros). Answers it and its
/// length in words.
pub(crate) fn decode(words: &[u32; LONGEST]) -> Result<(Dma, u64), UnknownPacket> {
    let unknown = Err(UnknownPacket(words[0]));
    let sub = words[0] >> 8 & 0xff;
    let long = |low: usize| u64::from(words[low]) | u64::from(words[low + 1]) << 32;
    let packet = match words[0] & 0xff {
        op::NOP => (Dma::Nop, 1 + u64::from(words[0] >> 16 & 0x3fff)),
        op::COPY if sub == sub::COPY_LINEAR => {
            let bytes = u64::from(words[1] & 0x3f_ffff) + 1;
            let (from, to) = (long(3), long(5));
            (Dma::Copy { to, from, bytes }, 7)
        }
        op::COPY if sub == sub::COPY_RECTANGLE => (rectangle(words), 13),
        op::WRITE if sub == 0 => {
            let count = u64::from(words[3] & 0xf_ffff) + 1;
            let to = long(1);
            (Dma::Write { to, words: count }, 4 + count)
        }
        op::FENCE => (
            Dma::Fence {
                to: long(1),
                value: words[3],
            },
            4,
        ),
        op::TRAP => (
            Dma::Trap {
                event: words[1] & 0x0fff_ffff,
            },
            2,
        ),
        // Without the memory bit it polls a register: the request to flush the host data path, which is done at once.
        op::POLL_REGMEM if words[0] & 1 << 31 == 0 => (Dma::Nop, 6),
        op::POLL_REGMEM => (
            Dma::Poll {
                at: long(1),
                value: words[3],
                mask: words[4],
                function: words[0] >> 28 & 7,
            },
            6,
        ),
        op::ATOMIC if words[0] >> 25 == ATOMIC_ADD_64 => (
            Dma::Add64 {
                at: long(1),
                value: long(3),
            },
            8,
        ),
        op::CONST_FILL => {
            // Bits 31:30: 2 is a fill with 32-bit words; the count is one byte less.
            if words[0] >> 30 != 2 {
                return unknown;
            }
            let bytes = (u64::from(words[4] & 0x3f_ffff) + 4) & !3;
            let (to, value) = (long(1), words[3]);
            (Dma::Fill { to, value, bytes }, 5)
        }
        op::TIMESTAMP if sub == sub::TIMESTAMP_GLOBAL => (Dma::Timestamp { to: long(1) }, 3),
        _ => return unknown,
    };
    Ok(packet)
}

/// A copy of a box. Pitches and extents are in elements, less one; offsets in elements.
fn rectangle(words: &[u32; LONGEST]) -> Dma {
    let element = words[0] >> 29;
    let bytes = |elements: u32| u64::from(elements) << element;
    let side = |at: usize| {
        let base = u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let row = bytes((words[at + 3] >> 13) + 1);
        let slice = bytes((words[at + 4] & 0x0fff_ffff) + 1);
        let x = bytes(words[at + 2] & 0x3fff);
        let y = u64::from(words[at + 2] >> 16 & 0x3fff);
        let z = u64::from(words[at + 3] & 0x7ff);
        [base.wrapping_add(x + y * row + z * slice), row, slice]
    };
    Dma::Rectangle {
        from: side(1),
        to: side(6),
        extent: [
            bytes((words[11] & 0x3fff) + 1),
            u64::from(words[11] >> 16 & 0x3fff) + 1,
            u64::from(words[12] & 0x7ff) + 1,
        ],
    }
}

/// Whether a word satisfies a poll.
pub(crate) fn satisfied(function: u32, word: u32, value: u32, mask: u32) -> bool {
    let word = word & mask;
    match function {
        0 => true,
        1 => word < value,
        2 => word <= value,
        3 => word == value,
        4 => word != value,
        5 => word >= value,
        _ => word > value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(given: &[u32]) -> [u32; LONGEST] {
        let mut words = [0; LONGEST];
        words[..given.len()].copy_from_slice(given);
        words
    }

    #[test]
    fn a_linear_copy_counts_one_less() {
        let packet = decode(&words(&[1, 4095, 0, 0x1000, 0x7f, 0x2000, 0x7e]));
        let copy = Dma::Copy {
            from: 0x7f_0000_1000,
            to: 0x7e_0000_2000,
            bytes: 4096,
        };
        assert_eq!(packet, Ok((copy, 7)));
    }

    #[test]
    fn the_completion_of_a_copy_is_an_addition_a_fence_and_a_trap() {
        let add = decode(&words(&[10 | 47 << 25, 0x1008, 0, 0xffff_ffff, 0xffff_ffff]));
        let expected = Dma::Add64 {
            at: 0x1008,
            value: u64::MAX,
        };
        assert_eq!(add, Ok((expected, 8)));
        assert_eq!(
            decode(&words(&[5, 0x2000, 0, 9])),
            Ok((Dma::Fence { to: 0x2000, value: 9 }, 4))
        );
        assert_eq!(decode(&words(&[6, 9])), Ok((Dma::Trap { event: 9 }, 2)));
    }

    #[test]
    fn a_box_has_offsets_and_pitches_in_elements() {
        let packet = decode(&words(&[
            1 | 4 << 8 | 2 << 29,
            0x1000,
            0,
            1 | 2 << 16,
            1 | 15 << 13,
            63,
            0x8000,
            0,
            0,
            7 << 13,
            31,
            4 | 1 << 16,
            2,
        ]));
        let expected = Dma::Rectangle {
            from: [0x1000 + 4 + 2 * 64 + 256, 64, 256],
            to: [0x8000, 32, 128],
            extent: [20, 2, 3],
        };
        assert_eq!(packet, Ok((expected, 13)));
    }

    #[test]
    fn no_operations_skip_words_and_unknown_ones_are_refused() {
        assert_eq!(decode(&words(&[3 << 16])), Ok((Dma::Nop, 4)));
        assert_eq!(decode(&words(&[0x63])), Err(UnknownPacket(0x63)));
        assert_eq!(decode(&words(&[11])), Err(UnknownPacket(11)));
    }

    #[test]
    fn polls_compare_seven_ways() {
        let results: Vec<bool> = (0..7).map(|function| satisfied(function, 0x15, 5, 0xf)).collect();
        assert_eq!(results, [true, false, true, true, false, true, false]);
    }
}
