//! The copy engine (SDMA 4 of gfx9, and the packets that later ones add).
//!
//! Ring indices count bytes and only grow; a packet does not wrap around the end of the ring. A packet that this
//! engine does not know stops the queue and is complained of: its length is not known, and what follows would be
//! read as something else.

use super::atomic::atomic;
use super::ring::{Ran, Ring};
use super::{Bell, Fault, Memory, Step};
use crate::kfd::device_clock;
use crate::Errno;
use hansa_kfd::uapi::queue as uapi;

mod op {
    pub(super) const NOP: u32 = 0;
    pub(super) const COPY: u32 = 1;
    pub(super) const WRITE: u32 = 2;
    pub(super) const FENCE: u32 = 5;
    pub(super) const TRAP: u32 = 6;
    pub(super) const POLL: u32 = 8;
    pub(super) const ATOMIC: u32 = 10;
    pub(super) const FILL: u32 = 11;
    pub(super) const TIMESTAMP: u32 = 13;
    pub(super) const CACHE: u32 = 17;
}

/// Sub-operations of a copy.
const LINEAR: u32 = 0;
const RECTANGLE: u32 = 4;

/// A queue.
#[derive(Debug)]
pub(super) struct Queue(Ring);

impl Queue {
    pub(super) fn new(a: &uapi::CreateQueue, bell: Bell) -> Self {
        Self(Ring::new(a, bell, 4))
    }

    pub(super) fn step(&mut self, memory: &Memory<'_>) -> Result<Step, Fault> {
        let Ring { base, read_index, .. } = self.0;
        let run = |place: u64| packet(memory, base + place);
        let seen = |next: u64| memory.store(read_index, next);
        self.0.step(memory, "copy engine packet", run, seen)
    }
}

/// Runs packets outside a ring, to their end.
pub(crate) fn commands(memory: &Memory<'_>, at: u64, bytes: u64) -> Result<(), Errno> {
    let mut next = 0;
    while next < bytes {
        let what = match packet(memory, at + next) {
            Ok(Ran::Done(words)) => {
                next += u64::from(words) * 4;
                continue;
            }
            Ok(Ran::Waits) => "a packet that waits".to_owned(),
            Ok(Ran::Unknown(head)) => format!("packet {head:#010x}"),
            Err(fault) => format!("a fault at {:#x}", fault.address),
        };
        memory
            .kernel()
            .complain(format!("commands at {at:#x} with {what}"));
        return Err(Errno::INVAL);
    }
    Ok(())
}

fn packet(memory: &Memory<'_>, at: u64) -> Result<Ran, Fault> {
    let word = |i: u64| memory.word(at + i * 4);
    let address = |i: u64| Ok::<u64, Fault>(u64::from(word(i)?) | u64::from(word(i + 1)?) << 32);
    let head = word(0)?;
    let words = match (head & 0xff, head >> 8 & 0xff) {
        (op::NOP, 0) => (head >> 16 & 0x3fff) + 1,
        (op::COPY, LINEAR) => {
            let bytes = u64::from(word(1)? & 0x3fff_ffff) + 1;
            memory.copy(address(5)?, address(3)?, bytes)?;
            7
        }
        (op::COPY, RECTANGLE) => {
            rectangle(memory, at, head >> 29)?;
            13
        }
        (op::WRITE, LINEAR) => {
            let count = (word(3)? & 0xf_ffff) + 1;
            for i in 0..u64::from(count) {
                memory.write(address(1)? + i * 4, &word(4 + i)?.to_le_bytes())?;
            }
            4 + count
        }
        (op::FENCE, _) => {
            memory.write(address(1)?, &word(3)?.to_le_bytes())?;
            4
        }
        (op::TRAP, _) => {
            memory.kernel().raise(word(1)? & 0x0fff_ffff);
            2
        }
        (op::POLL, _) => {
            // Without the memory bit it flushes the host data path, which is coherent here.
            let value = || Ok::<u32, Fault>(memory.word(address(1)?)? & word(4)?);
            if head >> 31 != 0 && !compare(head >> 28 & 7, value()?.into(), word(3)?.into()) {
                return Ok(Ran::Waits);
            }
            6
        }
        (op::ATOMIC, _) => {
            if !atomic(memory, head >> 25, address(1)?, address(3)?, address(5)?)? {
                return Ok(Ran::Unknown(head));
            }
            8
        }
        (op::FILL, _) => {
            let count = u64::from(word(4)? & 0x3fff_ffff) / 4 + 1;
            let bytes: Vec<u8> = word(3)?.to_le_bytes().repeat(usize::try_from(count).unwrap_or(0));
            memory.write(address(1)?, &bytes)?;
            5
        }
        (op::TIMESTAMP, 2) => {
            memory.store(address(1)?, device_clock())?;
            3
        }
        (op::CACHE, _) => 5,
        _ => return Ok(Ran::Unknown(head)),
    };
    Ok(Ran::Done(words))
}

/// How the packets that wait compare what they find with what they wait for.
pub(super) const fn compare(function: u32, value: u64, reference: u64) -> bool {
    match function {
        1 => value < reference,
        2 => value <= reference,
        3 => value == reference,
        4 => value != reference,
        5 => value >= reference,
        6 => value > reference,
        _ => true,
    }
}

/// Copies a box of elements of `1 << log2` bytes.
fn rectangle(memory: &Memory<'_>, at: u64, log2: u32) -> Result<(), Fault> {
    let word = |i: u64| memory.word(at + i * 4).map(u64::from);
    let element = 1_u64 << log2;
    let side = |first: u64| {
        let base = word(first)? | word(first + 1)? << 32;
        let (xy, zp, slice) = (
            word(first + 2)?,
            word(first + 3)?,
            (word(first + 4)? & 0xfff_ffff) + 1,
        );
        let (x, y, z, pitch) = (xy & 0x3fff, xy >> 16 & 0x3fff, zp & 0x7ff, (zp >> 13) + 1);
        let start = base + (z * slice + y * pitch + x) * element;
        Ok::<_, Fault>((start, pitch * element, slice * element))
    };
    let (from, from_pitch, from_slice) = side(1)?;
    let (to, to_pitch, to_slice) = side(6)?;
    let (xy, z) = (word(11)?, (word(12)? & 0x7ff) + 1);
    let (x, y) = ((xy & 0x3fff) + 1, (xy >> 16 & 0x3fff) + 1);
    for k in 0..z {
        for j in 0..y {
            let (a, b) = (
                to + k * to_slice + j * to_pitch,
                from + k * from_slice + j * from_pitch,
            );
            memory.copy(a, b, x * element)?;
        }
    }
    Ok(())
}
