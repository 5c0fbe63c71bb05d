//! PM4 commands in an AQL queue: the vendor packet that names a buffer of them.
//!
//! AMD's runtime sends one after it has loaded code: ACQUIRE_MEM, which makes the instruction caches forget. A
//! type-3 command has 3 in bits 31:30, the number of its words less two in bits 29:16, and the operation in bits 15:8.
//! The packet holds an INDIRECT_BUFFER command: address in two words, then the size in words with a valid bit.

use super::layout::inactive;
use super::packet::Words;
use crate::engine::Failure;
use crate::exec::guard;
use crate::exec::memory::View;

mod op {
    pub(super) const NOP: u32 = 0x10;
    pub(super) const INDIRECT_BUFFER: u32 = 0x3f;
    pub(super) const ACQUIRE_MEM: u32 = 0x58;
}

/// A buffer of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Where it begins.
    pub(crate) address: u64,
    /// Words of it.
    pub(crate) words: u32,
}

/// Takes the vendor packet apart that names a buffer; `None` when it is not the command for that.
pub(crate) fn decode(words: &Words) -> Option<Commands> {
    let word = |index: usize| (words[index / 2] >> (32 * (index % 2)) & 0xffff_ffff) as u32;
    (word(1) >> 8 & 0xff == op::INDIRECT_BUFFER && word(1) >> 30 == 3).then(|| Commands {
        address: u64::from(word(2) & !3) | u64::from(word(3) & 0xffff) << 32,
        words: word(4) & 0xf_ffff,
    })
}

/// Goes through a buffer. Answers whether instruction caches are to forget.
pub(crate) fn run(commands: &Commands, view: &mut View) -> Result<bool, Failure> {
    let mut acquires = false;
    let mut at = 0;
    while at < commands.words {
        let header = read(commands.address + 4 * u64::from(at), view)?;
        let length = match header >> 30 {
            3 => (header >> 16 & 0x3fff) + 2,
            // A filler of one word.
            2 => 1,
            _ => return Err(unknown(header)),
        };
        if header >> 30 == 3 {
            match header >> 8 & 0xff {
                op::NOP => {}
                op::ACQUIRE_MEM => acquires = true,
                _ => return Err(unknown(header)),
            }
        }
        at += length;
    }
    Ok(acquires)
}

fn read(address: u64, view: &mut View) -> Result<u32, Failure> {
    let mut word = [0];
    if view.check(address, 4, false).is_err() || guard::read(&mut word, address).is_err() {
        return Err(Failure::Error {
            code: inactive::INVALID_VENDOR_PACKET,
            message: format!("Commands at {address:#x} are not in memory that the device sees"),
        });
    }
    Ok(word[0])
}

fn unknown(header: u32) -> Failure {
    Failure::Error {
        code: inactive::INVALID_VENDOR_PACKET,
        message: format!("Command {header:#010x} is none that the packet processor knows"),
    }
}
