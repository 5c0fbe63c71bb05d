//! AMD GPUs through the kernel's `/dev/kfd`.
//!
//! The kernel's compute driver (`drivers/gpu/drm/amd/amdkfd`) gives a process queues that the device reads by
//! itself, memory that devices see, doorbells, and events that waits sleep on. One file, `/dev/kfd`, serves every
//! GPU; each GPU also has a render node (`/dev/dri/renderD*`) whose file carries the address space; the machine is
//! described in sysfs. All contact goes through [`hansa_plugin_api::sys::System`].
//!
//! | module | what it is |
//! |---|---|
//! | [`uapi`], [`ioctl`] | the kernel's structures, and one typed function per request |
//! | [`topology`] | the machine as sysfs describes it |
//! | [`chip`] | facts of chips that the kernel does not report |
//! | [`discover`] | which GPUs can be driven, and why others cannot |
//! | [`describe`], `links` | what the runtime is told |
//! | [`machine`] | the open driver: files, address spaces |
//! | [`memory`], `chunks`, `placed`, [`host_memory`] | what devices see |
//! | [`sharing`], [`svm`] | memory of several processes, memory of everybody |
//! | [`queue`], [`doorbell`], `bell` | queues and how they are rung |
//! | [`registers`] | the page of registers for programs |
//! | [`event`], [`faults`], [`trap_handler`] | events, and what devices report by themselves |
//! | [`driver`], [`plugin`] | the contract's side |
//!
//! # Who checks what
//!
//! The core checks every HSA rule. This driver reports what only the kernel can say, and refuses answers of the
//! kernel that cannot be.

mod bell;
pub mod blit;
pub mod chip;
mod chunks;
pub mod config;
pub mod describe;
pub mod discover;
pub mod doorbell;
pub mod driver;
pub mod error;
pub mod event;
pub mod faults;
pub mod host_memory;
pub mod ioctl;
mod links;
pub mod machine;
pub mod memory;
pub mod placed;
pub mod plugin;
pub mod queue;
pub mod range;
pub mod registers;
pub mod sharing;
pub mod svm;
pub mod topology;
pub mod trap_handler;
pub mod uapi;

pub use driver::KfdDriver;
pub use plugin::KfdPlugin;

/// The device node.
pub const DEVICE: &str = "/dev/kfd";
