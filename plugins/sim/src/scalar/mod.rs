//! Scalar code of every generation: trap handlers, and programs that are nothing else.
//!
//! [`exec`](crate::exec) runs the code of gfx9 and is made for speed. This is for what few instructions do on any chip: a trap
//! handler uses no lanes, and has rights and registers that programs have not. It runs one instruction after the
//! other.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "instructions reinterpret and truncate bits; that is what they are for"
)]

mod op;
mod processor;
mod trap;
mod wave;

use crate::exec::{AddressSpace, MemoryReason};
pub use processor::{Exit, Outside};
pub use trap::{enter, After, Cause, Handler, Lost};
pub use wave::{Generation, Wave};

/// Runs the program of a wave, at most so many instructions.
pub fn run(wave: &mut Wave, space: &AddressSpace, outside: &dyn Outside, budget: u32) -> Exit {
    processor::Processor::new(wave, space, outside).run(budget)
}

/// Whether an address is one that memory can have: its upper bits repeat bit 47.
const fn is_address(address: u64) -> bool {
    let top = address >> 47;
    top == 0 || top == 0x1_ffff
}

/// The cause that an access to memory is, if it is not allowed.
#[must_use]
pub const fn cause_of_access(address: u64, reason: MemoryReason) -> Cause {
    match reason {
        MemoryReason::NotMapped | MemoryReason::NotAllowed | MemoryReason::HostUnmapped
            if is_address(address) =>
        {
            Cause::Memory
        }
        _ => Cause::Aperture,
    }
}
