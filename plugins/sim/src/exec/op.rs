//! Predecoded instructions.
//!
//! An [`Op`] is what is left of an instruction when everything that its bits can say has been said:
//! a handler, operand codes, and one word of payload. The run loop calls handlers and nothing else.

use super::bundle::Together;
use super::hot::Kind;
use super::wave::Wave;

/// What the run loop does after a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Flow {
    /// Go on with [`Op::next`].
    Next,
    /// Go on with slot [`Wave::jump`] of the same chunk.
    Jump,
    /// Go on at address [`Wave::pc`].
    Far,
    /// The wave waits for the rest of its work-group.
    Barrier,
    /// The wave [leads](Wave::leads) and would write to LDS: nothing is done yet.
    Lead,
    /// The wave is over.
    End,
    /// The wave asked to sleep.
    Sleep,
    /// The wave sent [`Wave::message`].
    Message,
    /// The wave uses the resource in [`Wave::sync`].
    Sync,
    /// An operation on [formulas](super::affine) leaves it to the one on lanes.
    ByLanes,
    /// VGPR indexing was switched on or off.
    Indexing,
    /// [`Wave::fault`] says what is wrong.
    Fault,
}

/// Executes one predecoded instruction. Unsafe to call unless the host has the vector instructions
/// of the [`Level`](super::level::Level) that the handler was compiled for.
pub(crate) type Handler = unsafe fn(&mut Wave, &Op) -> Flow;

/// One handler, compiled for each level.
pub(crate) type Versions = [Handler; 3];

/// A predecoded instruction.
///
/// Operand codes are below 256 for VGPRs, below 512 for AGPRs, and 512 + n for scalar slot n
/// (module [`slot`](super::slot)).
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Op {
    /// The handler.
    pub(crate) run: Handler,
    /// The payload: a literal, packed modifiers, a branch target or an immediate.
    pub(crate) x: u64,
    /// Destination code.
    pub(crate) d: u16,
    /// Source 0 code.
    pub(crate) a: u16,
    /// Source 1 code.
    pub(crate) b: u16,
    /// Source 2 code.
    pub(crate) c: u16,
    /// Slot of the following instruction in the chunk.
    pub(crate) next: u16,
    /// Flags, per handler; the top bits are in [`flag`].
    pub(crate) e: u16,
    /// Second destination, or an immediate.
    pub(crate) f: u32,
    /// Vector registers whose rows it reads, of the first 64, a bit each. Empty where the handler sees to it itself.
    pub(crate) reads: u64,
    /// Vector registers whose rows it writes, likewise.
    pub(crate) writes: u64,
    /// Which case of the [loop](super::hot) it is, where it is in [`Chunk::fast`](super::code::Chunk).
    pub(crate) kind: Kind,
    /// How waves that go the same way do it.
    pub(crate) together: Together,
}

// A line of the host's cache.
const _: () = assert!(size_of::<Op>() == 64);

/// Bits of [`Op::e`] with one meaning for all handlers.
pub(crate) mod flag {
    /// A vector ALU operation: relative VGPR indexing applies.
    pub(crate) const VALU: u16 = 1 << 15;
    /// A 16-bit operation that leaves the other half of its destination alone.
    pub(crate) const KEEP_HALF: u16 = 1 << 14;
    /// A vector instruction, memory included: it can be skipped.
    pub(crate) const VECTOR: u16 = 1 << 11;
    /// A compare that writes EXEC as well.
    pub(crate) const WRITES_EXEC: u16 = 1 << 13;
}
