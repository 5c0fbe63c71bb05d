//! Virtual NPUs: answers `/dev/accel` and its part of sysfs the way Linux's driver `amdxdna` does, without a device.
//!
//! [`VirtualNpus`] implements [`hansa_plugin_api::sys::System`], for drivers that take their system as a parameter. It has both
//! personalities of the kernel's side ([`Personality`]), enforces the rules of heaps, buffers and contexts with the kernel's
//! errnos, and executes commands on a model of the array (`array`): control code is interpreted, data movers of all tiles
//! move data through locks and stream switches. Cores are not modelled: a design that waits for one times out. A request or
//! a register that there is not fails by name.

mod array;
mod buffers;
mod command;
mod contexts;
mod faults;
mod memory;
mod requests;
mod spec;
mod system;

pub use faults::Faults;
pub use hansa_plugin_api::sys::Errno;
pub use spec::{NpuSpec, Personality};
pub use system::{Books, VirtualNpus};
