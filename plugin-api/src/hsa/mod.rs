//! The C interface of HSA and of AMD's extensions as Rust types: one name, one layout.
//!
//! Types carry their C names, so that a line here and a line of a C program read alike. A handle is a structure with
//! one 64-bit member. An enumeration is an integer with named values, because a program may pass any integer; the names
//! lose the prefix they share in C (`HSA_STATUS_ERROR_INVALID_AGENT` is `hsa_status_t::ERROR_INVALID_AGENT`). A pointer
//! to a function that may be absent is an `Option`. `Rust` names (`AgentCallback`) are given to the function types that
//! C writes out in place.
//!
//! The functions themselves are rows of macros: see [`api`]. The tables made of them are in [`HsaApiTable`] and its
//! children. Sources: HSA Runtime Programmer's Reference Manual 1.2, HSA Platform System Architecture 1.2, and for AMD
//! the published interface version 1.34.
//!
//! Nothing here allocates, checks or decides; the module is plain data.
#![allow(
    non_camel_case_types,
    reason = "the names of the C interface, so that everybody recognises them"
)]
#![allow(non_snake_case, reason = "member names of the C interface")]

#[macro_use]
mod macros;

pub mod api;
mod layout;
pub mod reflect;
mod tables;

mod agent;
mod aie;
mod amd_agent;
mod amd_copy;
mod amd_event;
mod amd_image;
mod amd_ipc;
mod amd_memory;
mod amd_metadata;
mod amd_packet;
mod amd_pointer;
mod amd_profiling;
mod amd_queue;
mod amd_signal;
mod amd_svm;
mod amd_vmem;
mod aqlprofile;
mod code;
mod finalizer;
mod hw_queue;
mod hw_signal;
mod image;
mod isa;
mod kernel_code;
mod loader;
mod memory;
mod packet;
mod pc_sampling;
mod pfn;
mod queue;
mod signal;
mod status;
mod system;
mod tool;
mod trace;

pub use core::ffi::{c_char, c_int, c_void};

pub use agent::*;
pub use aie::*;
pub use amd_agent::*;
pub use amd_copy::*;
pub use amd_event::*;
pub use amd_image::*;
pub use amd_ipc::*;
pub use amd_memory::*;
pub use amd_metadata::*;
pub use amd_packet::*;
pub use amd_pointer::*;
pub use amd_profiling::*;
pub use amd_queue::*;
pub use amd_signal::*;
pub use amd_svm::*;
pub use amd_vmem::*;
pub use aqlprofile::*;
pub use code::*;
pub use finalizer::*;
pub use hw_queue::*;
pub use hw_signal::*;
pub use image::*;
pub use isa::*;
pub use kernel_code::*;
pub use loader::*;
pub use memory::*;
pub use packet::*;
pub use pc_sampling::*;
pub use pfn::*;
pub use queue::*;
pub use signal::*;
pub use status::*;
pub use system::*;
pub use tables::*;
pub use tool::*;
pub use trace::*;
