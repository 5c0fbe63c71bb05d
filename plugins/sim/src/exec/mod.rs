//! The execution engine: runs work-groups of GFX9 code on host threads.
//!
//! The caller has a [`Dispatch`] with everything that a packet and its queue say, an [`AddressSpace`] that
//! says which host memory the device may touch, a [`CodeCache`] per device, and one [`Arena`] per worker thread. It calls
//! [`run_group`] for each work-group, in any order and on any thread, and [`resume_group`] for groups that yielded.
//!
//! Inside, from the top: `group` schedules waves, `hot` is the loop that runs one, `launch` sets up a wave, `code` decodes
//! ahead of execution through `lower`, which picks a handler per instruction from the family tables. Vector
//! operations are pure lane functions (`vop1`, `vop2`, `vop3`, `vop3p`, `vopc`) wrapped by `valu`; memory instructions reach
//! memory through `memory` (what is allowed) and `guard` (what is there).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "instructions reinterpret and truncate bits; that is what they are for"
)]

mod affine;
mod atomic;
mod buffer;
mod bundle;
mod code;
mod control;
mod define;
mod descriptor;
mod dispatch;
mod ds;
mod flat;
mod flat_atomic;
mod float_state;
mod format;
mod format_access;
mod fp;
mod fuse;
mod group;
pub(crate) mod guard;
mod guard_blocks;
mod guard_pairs;
mod guard_straight;
mod hot;
mod image;
mod lane;
mod launch;
mod lds;
mod level;
mod lower;
mod masks;
pub(crate) mod memory;
mod mfma;
mod mode;
mod modifiers;
mod mubuf;
mod op;
mod row;
mod runs;
mod scalar_float;
mod slot;
mod smem;
mod sop;
pub(crate) mod standstill;
mod trans;
mod trap;
mod trig_preop;
mod valu;
mod vmem;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;
mod wave;
mod wave_sync;
mod word;

pub use code::CodeCache;
pub use descriptor::{property, KernelDescriptor};
pub use dispatch::{Apertures, Clock, Dispatch, Fault, Host, Scratch, Step};
pub use float_state::FloatState;
pub use group::{resume_group, run_group, Arena, GroupOutcome, SuspendedGroup};
pub use guard::install as install_fault_handler;
pub use level::Level;
pub use lower::is_implemented;
pub use memory::{Access, AddressSpace, Mapping, MemoryReason};
pub use wave_sync::{Sync, SyncAnswer, SyncOp};
