//! The functions of the C interface, a file for each kind of object.
//!
//! A function checks pointers, handles and enumeration values and makes one call into core. None of them goes through the
//! public tables: what a tool patches there is for the program's calls.

mod agent;
mod agent_amd;
pub(crate) mod agent_constants;
mod cache;
mod code_object;
mod executable;
mod extension;
mod isa;
mod lifecycle;
mod memory;
mod queue;
mod queue_index;
mod reader;
mod region;
mod signal;
mod signal_group;
mod signal_value;
mod symbol;
mod system;

pub(crate) use agent::*;
pub(crate) use cache::*;
pub(crate) use code_object::*;
pub(crate) use executable::*;
pub(crate) use extension::*;
pub(crate) use isa::*;
pub(crate) use lifecycle::*;
pub(crate) use memory::*;
pub(crate) use queue::*;
pub(crate) use queue_index::*;
pub(crate) use reader::*;
pub(crate) use region::*;
pub(crate) use signal::*;
pub(crate) use signal_group::*;
pub(crate) use signal_value::*;
pub(crate) use symbol::*;
pub(crate) use system::*;
