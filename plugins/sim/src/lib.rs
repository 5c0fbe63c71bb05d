//! A software GPU: runs AMDGPU code objects on the CPU.
//!
//! It is a model of a device, not a shortcut: a packet processor per queue reads AQL packets from the ring, a pool
//! of threads stands for the compute units, and the instructions of the code object are executed one by one. A
//! device has the host's addresses and sees what is mapped to it; anything else is a memory fault.
//!
//! | module | what it is |
//! |---|---|
//! | `plugin`, `driver`, `config` | the contract's side |
//! | `chip`, `describe` | what the device says of itself |
//! | `memory`, `space`, `pages`, `buffer`, `svm` | who sees which memory, and sharing it |
//! | `queue` | packets, barriers, signals, errors |
//! | `sched` | threads and work-groups |
//! | `engine` | the door to the execution engine |
//! | `watch` | traces and counters of kernels |
//! | [`stats`] | what counters are written as |
//! | [`exec`] | runs work-groups |
//! | [`isa`] | instruction tables and decoder |
//! | [`scalar`] | trap handlers and other scalar code, for every generation |

mod buffer;
mod chip;
mod config;
mod copy;
mod describe;
mod device;
mod driver;
mod engine;
pub mod exec;
pub mod gws;
pub mod isa;
mod memory;
mod pages;
mod plugin;
mod queue;
pub mod scalar;
mod sched;
mod shared;
mod space;
pub mod stats;
mod svm;
mod watch;

pub use plugin::SimPlugin;
