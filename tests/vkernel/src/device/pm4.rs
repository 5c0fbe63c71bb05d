//! Compute queues of PM4 packets (gfx9; Linux: `soc15d.h`), as far as programs use them beside AQL: what writes, waits,
//! raises events and jumps to other packets. Dispatches by registers are none of them.
//!
//! Indices count words and only grow; the read index that the host sees has 32 bits and begins again with the ring. A
//! packet may wrap around the end.

use super::ring::{Ran, Ring};
use super::sdma::compare;
use super::{Bell, Fault, Memory, Step};
use crate::kfd::device_clock;
use hansa_kfd::uapi::queue as uapi;

/// Count of a packet that is its head alone.
const HEAD_ONLY: u32 = 0x3fff;
/// Most words of packets that another packet names.
const MOST_WORDS: u32 = 1 << 20;

mod op {
    pub(super) const NOP: u32 = 0x10;
    pub(super) const WRITE: u32 = 0x37;
    pub(super) const WAIT: u32 = 0x3c;
    pub(super) const BUFFER: u32 = 0x3f;
    pub(super) const EVENT: u32 = 0x46;
    pub(super) const RELEASE: u32 = 0x49;
    pub(super) const ACQUIRE: u32 = 0x58;
}

/// WRITE: the destination is memory.
const TO_MEMORY: u32 = 5;
/// WAIT: what is looked at is memory.
const OF_MEMORY: u32 = 1 << 4;

/// A queue.
#[derive(Debug)]
pub(super) struct Queue(Ring);

impl Queue {
    pub(super) fn new(a: &uapi::CreateQueue, bell: Bell) -> Self {
        Self(Ring::new(a, bell, 1))
    }

    pub(super) fn step(&mut self, memory: &Memory<'_>) -> Result<Step, Fault> {
        let Ring {
            base,
            size,
            read_index,
            ..
        } = self.0;
        let run = |place: u64| {
            packet(memory, &|i: u32| {
                memory.word(base + (place + u64::from(i)) % size * 4)
            })
        };
        let seen = |next: u64| memory.write(read_index, &(next % size).to_le_bytes()[..4]);
        self.0.step(memory, "PM4 packet", run, seen)
    }
}

/// Runs a packet, whose words are counted from its head.
fn packet(memory: &Memory<'_>, word: &dyn Fn(u32) -> Result<u32, Fault>) -> Result<Ran, Fault> {
    let head = word(0)?;
    match head >> 30 {
        2 => return Ok(Ran::Done(1)),
        3 => {}
        _ => return Ok(Ran::Unknown),
    }
    let (opcode, count) = (head >> 8 & 0xff, head >> 16 & 0x3fff);
    if opcode == op::NOP && count == HEAD_ONLY {
        return Ok(Ran::Done(1));
    }
    let length = count + 2;
    let address = |i: u32| Ok(u64::from(word(i)? & !3) | u64::from(word(i + 1)? & 0xffff) << 32);
    match opcode {
        // Caches are coherent here.
        op::NOP | op::EVENT | op::ACQUIRE => {}
        op::WRITE if word(1)? >> 8 & 0xf == TO_MEMORY => {
            let to = address(2)?;
            for i in 4..length {
                let at = to + u64::from(i - 4) * 4;
                memory.write(at, &word(i)?.to_le_bytes())?;
            }
        }
        op::WAIT if word(1)? & OF_MEMORY != 0 => {
            let value = memory.word(address(2)?)? & word(5)?;
            if !compare(word(1)? & 7, value, word(4)?) {
                return Ok(Ran::Waits);
            }
        }
        op::BUFFER => {
            let (base, words) = (address(1)?, (word(3)? & 0xf_ffff).min(MOST_WORDS));
            let mut at = 0;
            while at < words {
                let inner = |i: u32| memory.word(base + u64::from(at + i) * 4);
                match packet(memory, &inner)? {
                    Ran::Done(length) => at += length,
                    // Waiting in the middle would need a memory of where.
                    Ran::Waits | Ran::Unknown => return Ok(Ran::Unknown),
                }
            }
        }
        op::RELEASE if length == 8 => {
            let selection = word(2)?;
            let to = address(3)?;
            let data = u64::from(word(5)?) | u64::from(word(6)?) << 32;
            match selection >> 29 {
                1 => memory.write(to, &data.to_le_bytes()[..4])?,
                2 => memory.store(to, data)?,
                3 | 4 => memory.store(to, device_clock())?,
                _ => {}
            }
            if selection >> 24 & 7 != 0 {
                memory.kernel().raise(word(7)?);
            }
        }
        _ => return Ok(Ran::Unknown),
    }
    Ok(Ran::Done(length))
}
