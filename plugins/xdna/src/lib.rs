//! AMD NPUs (arrays of AI engines) through the kernel's `/dev/accel`.
//!
//! The kernel's driver `amdxdna` (`drivers/accel/amdxdna`) gives a process a heap inside the device's address space, host
//! memory that the device sees, and hardware contexts: shares of the array with a queue in the kernel. A command names an
//! image of the array (PDI) and a stream of instructions for the controller of the array's columns, which set the data
//! movers going; both lie in the heap. All contact goes through [`hansa_plugin_api::sys::System`].
//!
//! | module | what it is |
//! |---|---|
//! | [`uapi`], [`ioctl`] | the kernel's structures, and one typed function per request |
//! | [`discover`] | which NPUs can be driven, and why others cannot |
//! | `describe` | what the runtime is told |
//! | [`device`], [`memory`] | an open NPU with its heap; buffers |
//! | `queue` | rings of packets, contexts, commands |
//! | `own_memory` | what programs gave addresses of |
//! | [`driver`], [`plugin`] | the contract's side |
//!
//! # Who checks what
//!
//! The core checks every HSA rule. This driver reports what only the kernel can say, and refuses answers of the
//! kernel that cannot be.

pub mod config;
mod describe;
pub mod device;
pub mod discover;
pub mod driver;
pub mod error;
pub mod ioctl;
pub mod memory;
mod own_memory;
pub mod plugin;
mod queue;
pub mod uapi;

pub use driver::XdnaDriver;
pub use plugin::XdnaPlugin;
