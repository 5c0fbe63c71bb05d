//! Packets for AI engines.
//!
//! There are two formats for a dispatch, both of AQL's vendor type (0) and 64 bytes. The older one (`hsa_amd_aie_ert_packet_t` of
//! 2024 and 2025) has format 3 in the third byte, a word with a command's opcode and number of words, and at offset 56
//! the address of a payload: the image, then the words of a command that runs control code. It has no completion signal:
//! programs take the return of the doorbell's store for it. The newer one (`hsa_ext_amd_aie.h` of 2026) has opcode 0 and count 24,
//! a completion signal, and addresses of instructions, image and arguments. Barriers are those of AQL (HSA Platform
//! System Architecture Specification 1.2, section 2.9) and AMD's barrier-value packet.

use crate::own_memory::{self, Unmapped};

/// Bytes of a packet.
pub(crate) const BYTES: u64 = 64;
/// The type of a slot that holds no packet.
pub(crate) const INVALID: u16 = 1;
/// Handle of no signal.
pub(crate) const NO_SIGNAL: u64 = 0;
/// Most arguments: a command with more does not fit a slot of the firmware's.
pub(crate) const MOST_ARGUMENTS: usize = 508;
/// The kernel that runs control code.
const RUN_CONTROL_CODE: u32 = 3;

mod kind {
    pub(super) const VENDOR: u16 = 0;
    pub(super) const BARRIER_AND: u16 = 3;
    pub(super) const BARRIER_OR: u16 = 5;
}

/// Formats of vendor packets, in the third byte.
mod format {
    pub(super) const KERNEL: u8 = 0;
    pub(super) const BARRIER_VALUE: u8 = 2;
    pub(super) const COMMAND: u8 = 3;
}

/// An argument: a range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Where it starts.
    pub(crate) address: u64,
    /// Bytes whose caches are to be written back; none for 0.
    pub(crate) bytes: u64,
}

/// Runs control code on an image of the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    /// Address of the image.
    pub(crate) image: u64,
    /// The code.
    pub(crate) code: Argument,
    /// Its arguments.
    pub(crate) arguments: Vec<Argument>,
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
        condition: u32,
    },
}

/// What a packet asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// To run.
    Dispatch(Dispatch),
    /// To wait.
    Barrier(Wait),
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its completion signal, or [`NO_SIGNAL`].
    pub(crate) completion: u64,
    /// The rest.
    pub(crate) body: Body,
}

/// Why a packet is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    /// A type that the device does not execute.
    #[error(
        "packet type {0} is not one that an NPU executes; it takes vendor packets (0) and barriers (3, 5)"
    )]
    Type(u16),
    /// A vendor packet of an unknown format.
    #[error(
        "vendor packet {0:#010x} is not known; an NPU takes kernel dispatches (opcode 0, count 24), commands (format 3) \
         and barrier-value packets (format 2)"
    )]
    Vendor(u32),
    /// A barrier-value packet with a condition that there is not.
    #[error("condition {0} of a barrier-value packet is not one of 0 (equal) to 3 (greater or equal)")]
    Condition(u32),
    /// A dispatch of a kernel object, which is not taken apart here.
    #[error("a dispatch names kernel object {0:#x} and no image; an NPU takes an image and instructions")]
    KernelObject(u64),
    /// A command other than one that starts a unit.
    #[error("command opcode {0} is not known; an NPU takes 0 (start a unit)")]
    Opcode(u32),
    /// A payload of another form.
    #[error("a payload of {count} words with opcode {opcode} does not run control code, which has 5 words and 3 for each argument, and opcode 3")]
    Payload {
        /// Its words.
        count: u32,
        /// What it begins with.
        opcode: u32,
    },
    /// More arguments than a command has room for.
    #[error("{0} arguments are more than the {MOST_ARGUMENTS} of a command")]
    Arguments(usize),
    /// Code of no words.
    #[error("{0} bytes of instructions are not whole words")]
    Code(u64),
    /// Something that the packet names cannot be read.
    #[error("the packet's arguments: {0}")]
    Unmapped(#[from] Unmapped),
}

impl PacketError {
    /// Whether it is the packet that is wrong, and not what it names.
    pub(crate) const fn is_of_packet(self) -> bool {
        matches!(
            self,
            Self::Type(_) | Self::Vendor(_) | Self::Condition(_) | Self::Opcode(_) | Self::Payload { .. }
        )
    }
}

/// The eight 64-bit words of a packet.
pub(crate) type Words = [u64; 8];

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

fn signed(word: u64) -> i64 {
    i64::from_ne_bytes(word.to_ne_bytes())
}

/// The type in a header.
pub(crate) const fn kind_of(header: u16) -> u16 {
    header & 0xff
}

impl Packet {
    /// Takes a packet apart, with what it names in the program's memory.
    pub(crate) fn decode(words: &Words) -> Result<Self, PacketError> {
        let barrier = |wait| {
            Ok(Self {
                completion: words[7],
                body: Body::Barrier(wait),
            })
        };
        let dependencies = || std::array::from_fn(|i| words[1 + i]);
        match kind_of(half(words[0], 0)) {
            kind::BARRIER_AND => barrier(Wait::All(dependencies())),
            kind::BARRIER_OR => barrier(Wait::Any(dependencies())),
            kind::VENDOR => match words[0].to_le_bytes()[2] {
                format::KERNEL if half(words[0], 1) == 0 && half(words[0], 2) == 24 => kernel(words),
                format::BARRIER_VALUE => barrier(barrier_value(words)?),
                format::COMMAND => command(words),
                _ => Err(PacketError::Vendor(word(words[0], 0))),
            },
            other => Err(PacketError::Type(other)),
        }
    }
}

fn barrier_value(words: &Words) -> Result<Wait, PacketError> {
    let condition = word(words[4], 0);
    if condition > 3 {
        return Err(PacketError::Condition(condition));
    }
    Ok(Wait::Value {
        signal: words[1],
        value: signed(words[2]),
        mask: signed(words[3]),
        condition,
    })
}

/// The newer dispatch.
fn kernel(words: &Words) -> Result<Packet, PacketError> {
    let named = u64::from(word(words[2], 1)) | u64::from(word(words[3], 0)) << 32;
    let (arguments, code_bytes, image) = (words[4], words[5], words[6]);
    if image == 0 {
        return Err(PacketError::KernelObject(named));
    }
    let count = usize::from(half(words[3], 2));
    let code = code_of(named, code_bytes)?;
    if count > MOST_ARGUMENTS {
        return Err(PacketError::Arguments(count));
    }
    let all = own_memory::doubles(arguments, 2 * count)?;
    let (addresses, sizes) = all.split_at(count);
    let arguments = addresses.iter().zip(sizes);
    Ok(Packet {
        completion: words[1],
        body: Body::Dispatch(Dispatch {
            image,
            code,
            arguments: arguments
                .map(|(&address, &bytes)| Argument { address, bytes })
                .collect(),
        }),
    })
}

fn code_of(address: u64, bytes: u64) -> Result<Argument, PacketError> {
    if bytes == 0 || !bytes.is_multiple_of(4) || bytes > u64::from(u32::MAX) {
        return Err(PacketError::Code(bytes));
    }
    Ok(Argument { address, bytes })
}

/// The older dispatch: word 4 of the payload on is a command for control code.
fn command(words: &Words) -> Result<Packet, PacketError> {
    let head = word(words[0], 1);
    let (count, opcode) = (head >> 12 & 0x7ff, head >> 23 & 0x1f);
    if opcode != 0 {
        return Err(PacketError::Opcode(opcode));
    }
    let payload = words[7];
    let image = own_memory::doubles(payload, 1)?[0];
    let data = own_memory::words(payload.wrapping_add(8), count as usize)?;
    let first = data.first().copied().unwrap_or(0);
    if count < 5 || !(count - 5).is_multiple_of(3) || first != RUN_CONTROL_CODE || data[1] != 0 {
        return Err(PacketError::Payload { count, opcode: first });
    }
    let double = |at: usize| u64::from(data[at]) | u64::from(data[at + 1]) << 32;
    let arguments = (data.len() - 5) / 3;
    if arguments > MOST_ARGUMENTS {
        return Err(PacketError::Arguments(arguments));
    }
    Ok(Packet {
        completion: NO_SIGNAL,
        body: Body::Dispatch(Dispatch {
            image,
            code: code_of(double(2), u64::from(data[4]) * 4)?,
            arguments: (0..arguments)
                .map(|argument| Argument {
                    address: double(5 + 2 * argument),
                    bytes: data[5 + 2 * arguments + argument].into(),
                })
                .collect(),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hansa_plugin_api::hsa::hsa_amd_aie_kernel_dispatch_packet_t as KernelPacket;
    use std::mem::offset_of;

    fn at<T>(item: &T) -> u64 {
        std::ptr::from_ref(item).expose_provenance() as u64
    }

    /// The fields that the words are taken apart into, as the header has them.
    #[test]
    fn offsets_are_those_of_the_header() {
        assert_eq!(size_of::<KernelPacket>() as u64, BYTES);
        assert_eq!(offset_of!(KernelPacket, opcode), 2);
        assert_eq!(offset_of!(KernelPacket, count), 4);
        assert_eq!(offset_of!(KernelPacket, completion_signal), 8);
        assert_eq!(offset_of!(KernelPacket, kernel_object_low), 20);
        assert_eq!(offset_of!(KernelPacket, kernel_object_high), 24);
        assert_eq!(offset_of!(KernelPacket, num_kernargs), 28);
        assert_eq!(offset_of!(KernelPacket, kernarg_address), 32);
        assert_eq!(offset_of!(KernelPacket, reserved4), 40);
        assert_eq!(offset_of!(KernelPacket, reserved5), 48);
    }

    fn kernel_words(arguments: u64, count: u64, bytes: u64, image: u64) -> Words {
        let code = 0x1_2345_6780_u64;
        [
            24 << 32,
            0x9000,
            code << 32,
            code >> 32 | count << 32,
            arguments,
            bytes,
            image,
            0,
        ]
    }

    #[test]
    fn a_kernel_dispatch_has_addresses_and_then_sizes() {
        let arguments = [0x1000_u64, 0x2000, 64, 0];
        let packet = Packet::decode(&kernel_words(at(&arguments), 2, 40, 0x7000)).unwrap();
        let argument = |address, bytes| Argument { address, bytes };
        assert_eq!(packet.completion, 0x9000);
        let expected = Dispatch {
            image: 0x7000,
            code: argument(0x1_2345_6780, 40),
            arguments: vec![argument(0x1000, 64), argument(0x2000, 0)],
        };
        assert_eq!(packet.body, Body::Dispatch(expected));
    }

    fn command_words(payload: u64, count: u64, opcode: u64) -> Words {
        [
            3 << 16 | (1 | count << 12 | opcode << 23) << 32,
            0,
            0,
            0,
            0,
            0,
            0,
            payload,
        ]
    }

    #[test]
    fn a_command_has_its_payload_elsewhere() {
        #[repr(C, align(8))]
        struct Payload(u64, [u32; 11]);
        let payload = Payload(0x7000, [3, 0, 0x8000, 1, 10, 0x1000, 0, 0x2000, 0, 64, 128]);
        let packet = Packet::decode(&command_words(at(&payload), 11, 0)).unwrap();
        let argument = |address, bytes| Argument { address, bytes };
        assert_eq!(packet.completion, NO_SIGNAL);
        let expected = Dispatch {
            image: 0x7000,
            code: argument(0x1_0000_8000, 40),
            arguments: vec![argument(0x1000, 64), argument(0x2000, 128)],
        };
        assert_eq!(packet.body, Body::Dispatch(expected));
        let error = |words: Words| Packet::decode(&words).unwrap_err();
        assert_eq!(
            error(command_words(at(&payload), 11, 20)),
            PacketError::Opcode(20)
        );
        let wrong = PacketError::Payload { count: 10, opcode: 3 };
        assert_eq!(error(command_words(at(&payload), 10, 0)), wrong);
        assert_eq!(error(command_words(8, 11, 0)), PacketError::Unmapped(Unmapped(8)));
    }

    #[test]
    fn barriers_are_those_of_aql() {
        let packet = Packet::decode(&[0x0003, 1, 2, 3, 4, 5, 0, 6]).unwrap();
        assert_eq!(packet.body, Body::Barrier(Wait::All([1, 2, 3, 4, 5])));
        assert_eq!(packet.completion, 6);
        let packet = Packet::decode(&[0x0005, 1, 2, 3, 4, 5, 0, 6]).unwrap();
        assert_eq!(packet.body, Body::Barrier(Wait::Any([1, 2, 3, 4, 5])));
        let packet = Packet::decode(&[0x0002_0000, 0x40, u64::MAX, 0xff, 3, 0, 0, 8]).unwrap();
        let expected = Wait::Value {
            signal: 0x40,
            value: -1,
            mask: 0xff,
            condition: 3,
        };
        assert_eq!((packet.body, packet.completion), (Body::Barrier(expected), 8));
    }

    #[test]
    fn what_is_no_packet_says_why() {
        let error = |words: Words| Packet::decode(&words).unwrap_err();
        assert_eq!(error([2; 8]), PacketError::Type(2));
        assert_eq!(error([4; 8]), PacketError::Type(4));
        assert_eq!(error([0; 8]), PacketError::Vendor(0));
        assert_eq!(
            error([0x0007_0000, 0, 0, 0, 0, 0, 0, 0]),
            PacketError::Vendor(0x0007_0000)
        );
        assert_eq!(
            error([0x0002_0000, 0, 0, 0, 9, 0, 0, 0]),
            PacketError::Condition(9)
        );
        let named = PacketError::KernelObject(0x1_2345_6780);
        assert_eq!(error(kernel_words(0, 0, 0, 0)), named);
        assert_eq!(error(kernel_words(0, 0, 0, 1)), PacketError::Code(0));
        assert_eq!(error(kernel_words(0, 0, 6, 1)), PacketError::Code(6));
        assert_eq!(error(kernel_words(0, 509, 8, 1)), PacketError::Arguments(509));
        assert_eq!(
            error(kernel_words(16, 1, 8, 1)),
            PacketError::Unmapped(Unmapped(16))
        );
    }
}
