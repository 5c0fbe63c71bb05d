//! The HSA machine model: agents, memory, signals, queues, executables, plugins.
//!
//! Core knows no device and no vendor. It checks every HSA rule (states, sizes, alignment, reference counts,
//! access); the C edge above it checks pointers, handles and enum values; a plugin below it reports only what
//! cannot be known above.

pub mod agent;
pub mod clock;
pub mod code;
pub mod config;
pub mod dma;
pub mod elf_kind;
pub mod error;
pub mod handle;
pub mod ipc;
pub mod loader;
pub mod log;
pub mod memory;
pub mod plugin;
pub mod queue;
pub mod runtime;
pub mod services;
pub mod signal;
pub mod status;
pub mod topology;
pub mod trace;
mod words;

pub use error::{Error, Result};
pub use runtime::{current, initialized, Runtime};
