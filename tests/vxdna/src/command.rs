//! Commands: what a buffer asks for, and what the kernel writes back.
//!
//! A command is a header word (state 3:0, words that follow 22:12, opcode 27:23) and its words. One that starts a compute unit
//! has a mask of units, of which the lowest counts, and the arguments of a kernel that runs control code: opcode 3, address
//! and number of words of the code, and the addresses of its buffers. A chain has the handles of such commands; the kernel copies
//! them into a slot of 4 KiB.

use crate::array::{Array, Host, Stop};
use crate::buffers::Buffers;
use crate::contexts::Command;
use crate::memory::{bytes_of, Memory};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::Errno;
use std::sync::Arc;

const START_CU: u32 = 0;
const CMD_CHAIN: u32 = 19;
/// Bytes of a slot, and what a command has in it beside its arguments.
const SLOT_BYTES: usize = 4096;
const SLOT_HEADER_BYTES: usize = 8;
/// Words of a chain before its handles.
const CHAIN_WORDS: usize = 6;
/// The kernel that runs control code.
const RUN_CONTROL_CODE: u64 = 3;
/// Most words of control code.
const MOST_CODE: u32 = 1 << 20;
/// An address in this half stands for one in the other: DDR as the array sees it.
const ALIAS: u64 = 1 << 31;

/// States that end a command.
mod state {
    pub(super) const COMPLETED: u32 = 4;
    pub(super) const ERROR: u32 = 5;
    pub(super) const TIMEOUT: u32 = 8;
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Well.
    Completed,
    /// The firmware reported an error of the command of a chain with an index.
    Failed {
        /// Its index.
        index: usize,
        /// What was wrong.
        reason: String,
    },
    /// Nothing moved any more.
    TimedOut {
        /// The index.
        index: usize,
        /// The operation of the control code that was not over.
        operation: u32,
        /// What waited for what.
        reason: String,
    },
}

fn field(word: u32, low: u32, bits: u32) -> u32 {
    word >> low & ((1 << bits) - 1)
}

/// The words behind a header that say what they are.
fn payload(memory: &Memory) -> Result<(u32, Vec<u32>), Errno> {
    let header = memory.words(0, 1)?[0];
    let count = field(header, 12, 11) as usize;
    if (count as u64 + 1) * 4 > memory.bytes {
        return Err(Errno::INVAL);
    }
    Ok((field(header, 23, 5), memory.words(4, count)?))
}

/// The commands of a chain.
fn parts(words: &[u32], buffers: &Buffers) -> Result<Vec<Arc<Memory>>, Errno> {
    let count = *words.first().ok_or(Errno::INVAL)? as usize;
    if count == 0 || words.len() < CHAIN_WORDS + 2 * count {
        return Err(Errno::INVAL);
    }
    let handles = words[CHAIN_WORDS..].chunks_exact(2).take(count);
    handles
        .map(|pair| {
            let bo = buffers
                .get(pair[0])
                .filter(|_| pair[1] == 0)
                .ok_or(Errno::NOENT)?;
            Ok(Arc::clone(&bo.memory))
        })
        .collect()
}

/// What the kernel looks at before it takes a command.
pub(crate) fn check(memory: &Memory, buffers: &Buffers) -> Result<(), Errno> {
    let (opcode, words) = payload(memory)?;
    match opcode {
        START_CU if words.len() > 1 => Ok(()),
        CMD_CHAIN => {
            let mut bytes = 0;
            for part in parts(&words, buffers)? {
                let (opcode, words) = payload(&part)?;
                if opcode != START_CU || words.is_empty() {
                    return Err(Errno::INVAL);
                }
                bytes += SLOT_HEADER_BYTES + 4 * (words.len() - 1);
            }
            if bytes > SLOT_BYTES {
                return Err(Errno::INVAL);
            }
            Ok(())
        }
        _ => Err(Errno::INVAL),
    }
}

/// Host memory and heap, as the device reaches them for one command.
struct Reach<'a> {
    buffers: &'a Mutex<Buffers>,
    uses: &'a [u32],
}

impl Reach<'_> {
    fn find(&self, address: u64, bytes: u64) -> Result<(Arc<Memory>, u64), String> {
        let buffers = self.buffers.lock();
        let found = buffers.at_device(address, bytes, self.uses).or_else(|| {
            let other = address.checked_sub(ALIAS)?;
            buffers.at_device(other, bytes, self.uses)
        });
        found.ok_or_else(|| {
            format!("no access: {bytes} bytes at {address:#x} are in no buffer that the command names")
        })
    }
}

impl Host for Reach<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), String> {
        let (memory, offset) = self.find(address, bytes.len() as u64)?;
        memory.read(offset, bytes).map_err(|errno| errno.to_string())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), String> {
        let (memory, offset) = self.find(address, bytes.len() as u64)?;
        memory.write(offset, bytes).map_err(|errno| errno.to_string())
    }
}

/// Runs a command to its end.
pub(crate) fn run(
    command: &Command,
    images: &[u64],
    loaded: &mut Option<usize>,
    array: &mut Array,
    buffers: &Mutex<Buffers>,
) -> Outcome {
    let reach = Reach {
        buffers,
        uses: &command.uses,
    };
    let broken = |index| Outcome::Failed {
        index,
        reason: "a command that cannot be read".into(),
    };
    let Ok((opcode, words)) = payload(&command.memory) else {
        return broken(0);
    };
    let calls = if opcode == CMD_CHAIN {
        let parts = parts(&words, &buffers.lock());
        let Ok(parts) = parts else { return broken(0) };
        parts
            .iter()
            .map(|part| payload(part).map(|(_, words)| words))
            .collect()
    } else {
        Ok(vec![words])
    };
    let Ok(calls) = calls else { return broken(0) };
    for (index, words) in calls.iter().enumerate() {
        match call(words, images, loaded, array, &reach) {
            Ok(()) => {}
            Err(Stop::Error(reason)) => return Outcome::Failed { index, reason },
            Err(Stop::Blocked { operation, reason }) => {
                return Outcome::TimedOut {
                    index,
                    operation,
                    reason,
                }
            }
        }
    }
    Outcome::Completed
}

fn double(words: &[u32], at: usize) -> Option<u64> {
    Some(u64::from(*words.get(at)?) | u64::from(*words.get(at + 1)?) << 32)
}

fn call(
    words: &[u32],
    images: &[u64],
    loaded: &mut Option<usize>,
    array: &mut Array,
    reach: &Reach<'_>,
) -> Result<(), Stop> {
    let error = |text: &str| Stop::Error(text.into());
    let mask = words[0];
    let image = mask.trailing_zeros() as usize;
    let at = *images
        .get(image)
        .ok_or_else(|| Stop::Error(format!("invalid parameter: no image for mask {mask:#x}")))?;
    let opcode = double(words, 1).ok_or_else(|| error("invalid input: no opcode"))?;
    if opcode != RUN_CONTROL_CODE {
        return Err(Stop::Error(format!(
            "invalid command: opcode {opcode} of the kernel"
        )));
    }
    let code_at = double(words, 3).ok_or_else(|| error("invalid input: no instructions"))?;
    let count = *words
        .get(5)
        .ok_or_else(|| error("invalid input: no number of instructions"))?;
    if count == 0 || count > MOST_CODE {
        return Err(Stop::Error(format!(
            "invalid parameter: {count} words of instructions"
        )));
    }
    let arguments: Vec<u64> = (6..words.len())
        .step_by(2)
        .filter_map(|at| double(words, at))
        .collect();
    if *loaded != Some(image) {
        array.reset();
        array.load_image(at, reach).map_err(Stop::Error)?;
        *loaded = Some(image);
    }
    let mut code = vec![0; count as usize * 4];
    reach.read(code_at, &mut code).map_err(Stop::Error)?;
    array.run(&crate::memory::words_of(&code), &arguments, reach)
}

/// Writes back how a command ended. Answers why it failed, if it did.
pub(crate) fn finish(command: &Command, outcome: &Outcome, buffers: &Mutex<Buffers>) -> Option<String> {
    let (state, failed) = match outcome {
        Outcome::Completed => (state::COMPLETED, None),
        Outcome::Failed { index, reason } => (state::ERROR, Some((*index, None, reason.clone()))),
        Outcome::TimedOut {
            index,
            operation,
            reason,
        } => (state::TIMEOUT, Some((*index, Some(*operation), reason.clone()))),
    };
    let memory = &command.memory;
    if let (Some((index, operation, _)), Ok((CMD_CHAIN, words))) = (&failed, payload(memory)) {
        let index = u32::try_from(*index).unwrap_or(u32::MAX);
        // What cannot be written was unmapped by nobody: the memory is the model's own.
        let _ = memory.write(12, &index.to_le_bytes());
        let parts = parts(&words, &buffers.lock());
        if let Some(first) = parts.ok().and_then(|parts| parts.first().cloned()) {
            let data = payload(&first).map_or(0, |(_, words)| words.len());
            let mut health = vec![u32::MAX; data];
            if let Some(operation) = operation {
                let words = [1, 0, *operation];
                let room = health.len().min(words.len());
                health[..room].copy_from_slice(&words[..room]);
            }
            let _ = first.write(4, &bytes_of(&health));
        }
    }
    if let Ok(header) = memory.words(0, 1) {
        let _ = memory.write(0, &(header[0] & !0xf | state).to_le_bytes());
    }
    failed.map(|(index, _, reason)| format!("command {index}: {reason}"))
}
