//! What a dispatch is to the engine, and what can go wrong in it.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use super::code::CodeCache;
use super::descriptor::KernelDescriptor;
use super::memory::{AddressSpace, MemoryReason};
use super::slot;
use super::wave::Wave;
use super::wave_sync::{Sync, SyncAnswer};
use crate::isa::{Operand, Special};
use crate::scalar::{self, After, Handler, Outside};

/// The clocks that kernels can read.
pub trait Clock: Send + std::marker::Sync + std::fmt::Debug {
    /// `s_memtime`: shader cycles.
    fn shader(&self) -> u64;
    /// `s_memrealtime`: the constant-frequency counter behind HSA timestamps.
    fn real(&self) -> u64;
}

/// What happens outside the engine on a kernel's behalf, and what an observer may see.
pub trait Host: std::marker::Sync {
    /// `s_sendmsg`: a message with its immediate and M0. An interrupt is message 1, with the event number in M0.
    fn message(&self, immediate: u16, m0: u32);

    /// `ds_gws_*`: the use of a global wave sync resource of the device.
    fn sync(&self, _sync: &Sync) -> SyncAnswer {
        SyncAnswer::Absent
    }

    /// Whether an access outside a work-group's allocation of group memory is a fault. Hardware has no such check.
    fn checks_group_memory(&self) -> bool {
        false
    }

    /// The trap handler of waves, and what its code reaches. Without one a fault ends the work-group.
    fn traps(&self) -> Option<(Handler, &dyn Outside)> {
        None
    }

    /// Called when a wave was in its trap handler for a fault, with what it is since. A wave that stands does so until its
    /// group is dropped.
    fn trapped(&self, _fault: &Fault, _wave: &scalar::Wave, _after: &After) {}

    /// Whether [`Host::step`] is to be called. Asked once per run of a work-group.
    fn observes(&self) -> bool {
        false
    }

    /// Called before every executed instruction while observing.
    fn step(&self, _step: &Step<'_>) {}
}

/// An instruction about to execute.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its address.
    pub pc: u64,
    /// The work-group.
    pub group: [u32; 3],
    /// The wave in it.
    pub wave: u32,
    /// The lanes that are active.
    pub exec: u64,
    /// The wave's registers, before the instruction.
    pub(crate) state: &'a Wave,
}

impl Step<'_> {
    /// A dword of a register operand, of a lane where it is a vector register; 0 for an operand that is none.
    pub(crate) fn register(&self, operand: Operand, dword: usize, lane: usize) -> u32 {
        let vector = |first: usize| self.state.v[(first + dword) & 511].0[lane & 63];
        let scalar = |first: usize| self.state.s[(first + dword) & 511];
        match operand {
            Operand::Vgpr(first) => vector(first.into()),
            Operand::Agpr(first) => vector(256 + usize::from(first)),
            Operand::Sgpr(first) => scalar(first.into()),
            Operand::Special(Special::VccLo) => scalar(slot::VCC),
            Operand::Special(Special::M0) => scalar(slot::M0),
            _ => 0,
        }
    }
}

/// Private memory of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scratch {
    /// First byte of the backing memory.
    pub base: u64,
    /// Bytes per wave: 64 times the bytes per work-item, rounded as the queue was set up.
    pub wave_bytes: u32,
    /// The buffer descriptor from the queue.
    pub descriptor: [u32; 4],
}

/// Where LDS and private memory appear in the flat address space. The low 32 bits are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apertures {
    /// LDS.
    pub shared: u64,
    /// Private memory.
    pub private: u64,
}

impl Default for Apertures {
    /// Where the kernel driver puts them on GFX9.
    fn default() -> Self {
        Self {
            shared: 1 << 48,
            private: 2 << 48,
        }
    }
}

/// A kernel dispatch, as its packet and queue describe it.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// Predecoded code of the device.
    pub code: &'a Arc<CodeCache>,
    /// Memory of the device.
    pub space: &'a Arc<AddressSpace>,
    /// The kernel.
    pub descriptor: KernelDescriptor,
    /// Address of the kernel descriptor, which the entry point is relative to.
    pub kernel_object: u64,
    /// Work-items.
    pub grid: [u32; 3],
    /// Work-items per work-group.
    pub workgroup: [u16; 3],
    /// Address of the kernel arguments.
    pub kernarg: u64,
    /// LDS per work-group.
    pub group_segment_bytes: u32,
    /// Private memory per work-item.
    pub private_segment_bytes: u32,
    /// Address of the packet.
    pub dispatch_ptr: u64,
    /// Address of the queue.
    pub queue_ptr: u64,
    /// Number of the packet in its queue.
    pub dispatch_id: u64,
    /// Private memory.
    pub scratch: Scratch,
    /// Scalar registers that waves start with, where registers of the packet processor say so and not a descriptor.
    pub user_data: Option<[u32; 16]>,
    /// Flat address apertures.
    pub apertures: Apertures,
    /// The clocks; without them kernels read zero.
    pub clock: Option<&'a Arc<dyn Clock>>,
    /// When it becomes true, waves stop at their next branch budget.
    pub stop: &'a AtomicBool,
    /// The outside.
    pub host: &'a dyn Host,
}

impl std::fmt::Debug for Dispatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatch")
            .field("kernel_object", &format_args!("{:#x}", self.kernel_object))
            .field("grid", &self.grid)
            .field("workgroup", &self.workgroup)
            .finish_non_exhaustive()
    }
}

impl Dispatch<'_> {
    /// Work-groups in each dimension, the last of them possibly partial.
    #[must_use]
    pub fn groups(&self) -> [u32; 3] {
        std::array::from_fn(|i| self.grid[i].div_ceil(u32::from(self.workgroup[i]).max(1)))
    }

    /// Waves of a full work-group: how many scratch slots a group needs.
    #[must_use]
    pub fn waves_per_group(&self) -> u32 {
        self.workgroup
            .iter()
            .map(|n| u32::from(*n))
            .product::<u32>()
            .div_ceil(64)
    }
}

/// Why a work-group could not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A memory access that is not allowed.
    #[error("Memory fault at {address:#x} ({}, {reason:?}) by the instruction at {pc:#x}", if *write { "write" } else { "read" })]
    Memory {
        /// The address.
        address: u64,
        /// Whether it was a store or an atomic.
        write: bool,
        /// What is wrong with it.
        reason: MemoryReason,
        /// The instruction.
        pc: u64,
    },
    /// An access outside the group's memory, where that is checked. The instruction is one that the wave ran since its last
    /// turn.
    #[error("No group memory at {address:#x}: the work-group has {bytes} bytes")]
    GroupMemory {
        /// The address in LDS.
        address: u64,
        /// What the group has.
        bytes: u32,
    },
    /// Bits that are no instruction of this processor, or one that the engine does not execute.
    #[error("Illegal instruction {word:#010x}{} at {pc:#x}", .mnemonic.map_or_else(String::new, |name| format!(" ({name}, not implemented)")))]
    IllegalInstruction {
        /// The instruction.
        pc: u64,
        /// Its first dword.
        word: u32,
        /// Its mnemonic, if it is an instruction.
        mnemonic: Option<&'static str>,
    },
    /// `s_trap`.
    #[error("Trap {id} at {pc:#x}")]
    Trap {
        /// The trap.
        id: u8,
        /// The instruction.
        pc: u64,
    },
    /// Control left the memory that holds code.
    #[error("No code at {pc:#x}")]
    EndOfCode {
        /// The address.
        pc: u64,
    },
    /// The dispatch was told to stop.
    #[error("Stopped")]
    Stopped,
}
