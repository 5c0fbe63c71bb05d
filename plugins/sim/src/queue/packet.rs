//! AQL packets (HSA Platform System Architecture Specification 1.2, section 2.9, and AMD's vendor packets).
//!
//! A packet is 64 bytes. The producer writes all but the first word, then publishes it with a release store of
//! the header. Header: type in bits 7:0, barrier in bit 8, acquire fence in 10:9, release fence in 12:11.

use super::commands::{self, Commands};
use crate::shared::{signed, Shared};
use std::sync::atomic::Ordering;

/// Bytes of a packet.
pub(crate) const BYTES: u64 = 64;
/// The header of a slot that holds no packet.
pub(crate) const INVALID: u16 = 1;
/// Handle of no signal.
pub(crate) const NO_SIGNAL: u64 = 0;

/// The first 16 bits of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header(pub(crate) u16);

impl Header {
    /// The packet's type.
    pub(crate) fn kind(self) -> u16 {
        self.0 & 0xff
    }

    /// Whether all packets before it must be done.
    pub(crate) fn barrier(self) -> bool {
        self.0 & 1 << 8 != 0
    }
}

/// A kernel dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelDispatch {
    /// Number of dimensions in bits 1:0.
    pub(crate) setup: u16,
    /// Work-items of a work-group.
    pub(crate) workgroup: [u16; 3],
    /// Work-items of the grid.
    pub(crate) grid: [u32; 3],
    /// Bytes of private memory of a work-item.
    pub(crate) private_bytes: u32,
    /// Bytes of group memory of a work-group.
    pub(crate) group_bytes: u32,
    /// Address of the kernel descriptor.
    pub(crate) kernel_object: u64,
    /// Address of the arguments.
    pub(crate) kernarg: u64,
}

impl KernelDispatch {
    /// Work-items of a work-group.
    pub(crate) fn group_items(&self) -> u64 {
        self.workgroup.iter().map(|&items| u64::from(items)).product()
    }

    /// Waves of 64 lanes of a work-group.
    pub(crate) fn waves_per_group(&self) -> u64 {
        self.group_items().div_ceil(64)
    }
}

/// What a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Each of the signals has been 0.
    All([u64; 5]),
    /// One of the signals is 0.
    Any([u64; 5]),
    /// A signal's masked value compares with a reference value.
    Value {
        /// The signal.
        signal: u64,
        /// The reference.
        value: i64,
        /// Bits of the signal that count.
        mask: i64,
        /// `hsa_signal_condition_t`.
        condition: Condition,
    },
}

/// `hsa_signal_condition_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Greater or equal.
    Gte,
}

impl Condition {
    /// Whether a value satisfies it.
    pub(crate) fn holds(self, value: i64, reference: i64) -> bool {
        match self {
            Self::Eq => value == reference,
            Self::Ne => value != reference,
            Self::Lt => value < reference,
            Self::Gte => value >= reference,
        }
    }
}

/// What a packet asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// To run a kernel.
    Kernel(KernelDispatch),
    /// To wait.
    Barrier(Wait),
    /// To run PM4 commands.
    Commands(Commands),
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its header.
    pub(crate) header: Header,
    /// Its completion signal, or [`NO_SIGNAL`].
    pub(crate) completion: u64,
    /// The rest.
    pub(crate) body: Body,
}

/// Why a packet is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    /// A type that the device does not execute.
    #[error("packet type {0} is not one that the device executes; it takes kernel dispatches (2), barriers (3, 5) and vendor packets (0)")]
    Type(u16),
    /// A vendor packet of an unknown format.
    #[error("vendor packet format {0} is not known; the device takes command buffers (1) and barrier-value packets (2)")]
    Vendor(u8),
    /// A barrier-value packet with a condition that there is not.
    #[error("condition {0} of a barrier-value packet is not one of 0 (equal) to 3 (greater or equal)")]
    Condition(u32),
}

mod kind {
    pub(super) const KERNEL_DISPATCH: u16 = 2;
    pub(super) const VENDOR: u16 = 0;
    pub(super) const BARRIER_AND: u16 = 3;
    pub(super) const BARRIER_OR: u16 = 5;
}

/// Vendor format of a buffer of commands.
const COMMANDS: u8 = 1;
/// Vendor format of a barrier that compares a value.
const BARRIER_VALUE: u8 = 2;

/// The eight 64-bit words of a packet.
pub(crate) type Words = [u64; 8];

/// Reads a slot of the ring whose header has been seen valid.
pub(crate) fn read(slot: Shared) -> Words {
    std::array::from_fn(|i| slot.load_u64(8 * i as u64, Ordering::Relaxed))
}

impl Packet {
    /// Takes a packet apart.
    pub(crate) fn decode(words: &Words) -> Result<Self, PacketError> {
        let [first, ..] = *words;
        let header = Header(half(first, 0));
        let body = match header.kind() {
            kind::KERNEL_DISPATCH => Body::Kernel(kernel(words)),
            kind::BARRIER_AND => Body::Barrier(Wait::All(dependencies(words))),
            kind::BARRIER_OR => Body::Barrier(Wait::Any(dependencies(words))),
            kind::VENDOR => match first.to_le_bytes()[2] {
                COMMANDS => Body::Commands(commands::decode(words).ok_or(PacketError::Vendor(COMMANDS))?),
                BARRIER_VALUE => Body::Barrier(barrier_value(words)?),
                format => return Err(PacketError::Vendor(format)),
            },
            other => return Err(PacketError::Type(other)),
        };
        Ok(Self {
            header,
            completion: words[7],
            body,
        })
    }
}

/// Whether the first dwords of a packet are those of a kernel dispatch with more than one work-group, or more than
/// `waves` waves in it.
pub(crate) fn is_kernel_beyond(start: [u32; 6], waves: u64) -> bool {
    let mut words = [0; 8];
    for (word, pair) in words.iter_mut().zip(start.chunks_exact(2)) {
        *word = u64::from(pair[0]) | u64::from(pair[1]) << 32;
    }
    if Header(half(words[0], 0)).kind() != kind::KERNEL_DISPATCH {
        return false;
    }
    let kernel = kernel(&words);
    let sides = usize::from(kernel.setup & 3);
    kernel.waves_per_group() > waves
        || (0..sides).any(|side| kernel.grid[side] > kernel.workgroup[side].into())
}

fn kernel(words: &Words) -> KernelDispatch {
    KernelDispatch {
        setup: half(words[0], 1),
        workgroup: [half(words[0], 2), half(words[0], 3), half(words[1], 0)],
        grid: [word(words[1], 1), word(words[2], 0), word(words[2], 1)],
        private_bytes: word(words[3], 0),
        group_bytes: word(words[3], 1),
        kernel_object: words[4],
        kernarg: words[5],
    }
}

fn dependencies(words: &Words) -> [u64; 5] {
    std::array::from_fn(|i| words[1 + i])
}

fn barrier_value(words: &Words) -> Result<Wait, PacketError> {
    let condition = match word(words[4], 0) {
        0 => Condition::Eq,
        1 => Condition::Ne,
        2 => Condition::Lt,
        3 => Condition::Gte,
        other => return Err(PacketError::Condition(other)),
    };
    Ok(Wait::Value {
        signal: words[1],
        value: signed(words[2]),
        mask: signed(words[3]),
        condition,
    })
}

/// The `index`-th 16-bit part of a word.
fn half(word: u64, index: usize) -> u16 {
    let bytes = word.to_le_bytes();
    u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])
}

/// The lower (0) or upper (1) half of a word.
fn word(double: u64, index: usize) -> u32 {
    let [a, b, c, d, e, f, g, h] = double.to_le_bytes();
    u32::from_le_bytes(if index == 0 { [a, b, c, d] } else { [e, f, g, h] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_small_with_one_group_of_few_waves() {
        let start = |kind: u32, sides: u32, workgroup: [u32; 3], grid: [u32; 3]| {
            let [x, y, z] = workgroup;
            [kind | sides << 16, x | y << 16, z, grid[0], grid[1], grid[2]]
        };
        let beyond = |start| is_kernel_beyond(start, 4);
        assert!(!beyond(start(2, 1, [256, 1, 1], [256, 1, 1])));
        assert!(beyond(start(2, 1, [257, 1, 1], [257, 1, 1])));
        assert!(beyond(start(2, 1, [64, 1, 1], [65, 1, 1])));
        assert!(!beyond(start(2, 2, [8, 8, 1], [8, 8, 99])));
        assert!(beyond(start(2, 3, [8, 8, 1], [8, 8, 2])));
        assert!(!beyond(start(3, 3, [8, 8, 1], [8, 8, 2])));
    }

    #[test]
    fn the_fields_of_a_kernel_dispatch() {
        let words: Words = [
            0x0004_0040_0003_0b02,
            0x0000_1000_0000_0002,
            0x0000_0002_0000_0010,
            0x0000_0400_0000_0020,
            0x7000,
            0x8000,
            0,
            0x9000,
        ];
        let packet = Packet::decode(&words).unwrap();
        assert!(packet.header.barrier());
        assert_eq!(packet.completion, 0x9000);
        let expected = KernelDispatch {
            setup: 3,
            workgroup: [0x40, 4, 2],
            grid: [0x1000, 0x10, 2],
            private_bytes: 0x20,
            group_bytes: 0x400,
            kernel_object: 0x7000,
            kernarg: 0x8000,
        };
        assert_eq!(packet.body, Body::Kernel(expected));
    }

    #[test]
    fn barriers_have_five_dependencies() {
        let words: Words = [0x0003, 1, 2, 3, 4, 5, 0, 6];
        let packet = Packet::decode(&words).unwrap();
        assert!(!packet.header.barrier());
        assert_eq!(packet.body, Body::Barrier(Wait::All([1, 2, 3, 4, 5])));
        let or = Packet::decode(&[0x0005, 1, 2, 3, 4, 5, 0, 6]).unwrap();
        assert_eq!(or.body, Body::Barrier(Wait::Any([1, 2, 3, 4, 5])));
    }

    #[test]
    fn a_barrier_value_has_value_mask_and_condition() {
        let words: Words = [0x0002_0100, 0x40, u64::MAX, 0xff, 3, 0, 0, 0];
        let expected = Wait::Value {
            signal: 0x40,
            value: -1,
            mask: 0xff,
            condition: Condition::Gte,
        };
        assert_eq!(Packet::decode(&words).unwrap().body, Body::Barrier(expected));
    }

    #[test]
    fn what_is_no_packet_says_why() {
        assert_eq!(Packet::decode(&[4; 8]), Err(PacketError::Type(4)));
        assert_eq!(
            Packet::decode(&[0x0007_0000, 0, 0, 0, 0, 0, 0, 0]),
            Err(PacketError::Vendor(7))
        );
        assert_eq!(
            Packet::decode(&[0x0002_0000, 0, 0, 0, 9, 0, 0, 0]),
            Err(PacketError::Condition(9))
        );
    }

    #[test]
    fn conditions_are_hsas() {
        assert!(Condition::Eq.holds(1, 1) && !Condition::Eq.holds(1, 2));
        assert!(Condition::Ne.holds(1, 2) && !Condition::Ne.holds(1, 1));
        assert!(Condition::Lt.holds(-1, 0) && !Condition::Lt.holds(0, 0));
        assert!(Condition::Gte.holds(0, 0) && !Condition::Gte.holds(-1, 0));
    }
}
