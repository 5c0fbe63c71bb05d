//! Commands: words in a buffer that the kernel reads, and the state it writes back.
//!
//! A command's first word has its state in 3:0, the number of words that follow in 22:12, and its opcode in 27:23 (the layout
//! of XRT's `ert_packet`). One that starts a unit has a mask of units and the kernel's arguments. A chain has a count, three
//! indices and words for the firmware, and the handles of its commands; where it stopped, its third word of the payload says.

use super::packet::Argument;
use crate::device::Device;
use crate::error::Result;
use crate::memory::Buffer;
use crate::own_memory;
use crate::uapi::accel::bo;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Bytes of a command's buffer, and of the slot that the kernel copies commands into.
pub(crate) const SLOT_BYTES: u64 = 4096;
/// Bytes that a command has in a slot beside its arguments.
const SLOT_HEADER_BYTES: u64 = 8;
const START_CU: u32 = 0;
const CMD_CHAIN: u32 = 19;
/// The kernel that runs control code.
const RUN_CONTROL_CODE: u32 = 3;
/// Words of a chain before its handles.
const CHAIN_WORDS: usize = 6;
/// Index of the word of a chain that says where it stopped.
const ERROR_INDEX: u64 = 3;

/// How a command ended, with the numbers of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Well.
    Completed,
    /// With an error, which is the state.
    Failed(u32),
    /// It did not: it is as it was handed in.
    Not(u32),
}

/// The name of a state, for people.
pub(crate) const fn state_name(state: u32) -> &'static str {
    match state {
        5 => "an error",
        6 => "an abort",
        8 => "a timeout",
        9 => "no response",
        _ => "an unknown state",
    }
}

/// A buffer for a command.
#[derive(Debug)]
pub(crate) struct Command(Buffer);

fn word(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The words of arguments of a command that runs control code.
fn argument_words(arguments: usize) -> usize {
    5 + 2 * arguments
}

/// Bytes that a command has in the slot of a chain.
pub(crate) fn slot_bytes(arguments: usize) -> u64 {
    SLOT_HEADER_BYTES + 4 * argument_words(arguments) as u64
}

impl Command {
    /// A buffer for a command.
    pub(crate) fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self(Buffer::share(device, bo::CMD, SLOT_BYTES, 0)?))
    }

    /// The kernel's handle.
    pub(crate) const fn handle(&self) -> u32 {
        self.0.handle
    }

    fn put(&self, opcode: u32, words: &[u32]) {
        // State 1: new.
        let header = 1 | word(words.len()) << 12 | opcode << 23;
        for (at, &value) in (0_u64..).zip([header].iter().chain(words)) {
            self.at(at).store(value, Ordering::Release);
        }
    }

    fn at(&self, index: u64) -> &AtomicU32 {
        // SAFETY: the buffer is mapped as long as it is there, has `SLOT_BYTES`, and what is put into it and read from it is
        // inside of that.
        unsafe { own_memory::field(self.0.address + 4 * index) }
    }

    /// Makes it run code on an image, with addresses that the device knows.
    pub(crate) fn put_run(&self, image: usize, code: Argument, arguments: &[u64]) {
        let halves = |value: u64| {
            let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
            [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
        };
        let mut words = vec![1 << image, RUN_CONTROL_CODE, 0];
        words.extend(halves(code.address));
        words.push(u32::try_from(code.bytes / 4).unwrap_or(u32::MAX));
        words.extend(arguments.iter().flat_map(|&argument| halves(argument)));
        self.put(START_CU, &words);
    }

    /// Makes it a chain of others.
    pub(crate) fn put_chain(&self, commands: &[Self]) {
        let mut words = vec![0; CHAIN_WORDS];
        words[0] = word(commands.len());
        words.extend(commands.iter().flat_map(|command| [command.handle(), 0]));
        self.put(CMD_CHAIN, &words);
    }

    /// How it ended.
    pub(crate) fn ending(&self) -> Ending {
        match self.at(0).load(Ordering::Acquire) & 0xf {
            4 => Ending::Completed,
            state @ (5..=15) if state != 7 => Ending::Failed(state),
            state => Ending::Not(state),
        }
    }

    /// The command of a chain at which it stopped.
    pub(crate) fn error_index(&self) -> usize {
        self.at(ERROR_INDEX).load(Ordering::Acquire) as usize
    }
}
