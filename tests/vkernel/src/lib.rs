//! A virtual kernel (how to use it: `README.md`): answers `/dev/kfd`, render nodes and sysfs the way Linux does, without a GPU.
//!
//! Drivers for AMD GPUs see the kernel through few calls: open, ioctl, mmap, and files of sysfs. This crate answers
//! them inside the process, from a description of a machine ([`Machine`]: made up, or a dump of a real one's
//! sysfs). One core, [`Kernel`], has two faces:
//!
//! * [`VirtualSystem`] implements [`hansa_plugin_api::sys::System`], for drivers that take their system as a
//!   parameter;
//! * the library in `preload/` gives the same devices to programs that nobody here wrote, through the C library's
//!   own functions. `LD_PRELOAD=libhansa_vkernel_preload.so rocminfo` shows AMD's runtime on this kernel.
//!
//! It is strict: a request, flag or query that it does not know is an error, remembered by name in
//! [`Kernel::complaints`], and a test fails on it. It keeps books ([`Kernel::books`]): what a driver did not give
//! back is counted. It fails on demand ([`Faults`]): any request, open, mmap or read can be told to fail with an
//! errno, a number of times, after a number of times.
//!
//! | module | what it is |
//! |---|---|
//! | [`machine`], [`beside`], [`tree`] | the described machine, what a copy may say beside the kernel's files, and its files |
//! | [`kernel`], [`process`] | open files, and what the kernel keeps for a process |
//! | [`kfd`], [`drm`], [`graphics`] | requests |
//! | [`buffers`], [`exported`], [`events`], [`queues`], [`ranges`] | what they are about |
//! | [`debug`], [`smi`] | what debuggers and those who watch devices are told |
//! | [`device`] | what runs packets behind the queues |
//! | [`faults`] | the script of failures |
//! | [`virtio`] | a virtual machine whose host stands on such a kernel |
//! | [`user`] | guarded access to the process's memory |

pub mod alias;
pub mod beside;
pub mod buffers;
pub mod debug;
pub mod device;
pub mod drm;
pub mod events;
pub mod exported;
pub mod faults;
pub mod files;
pub mod graphics;
pub mod kernel;
pub mod kfd;
pub mod machine;
pub mod process;
pub mod queues;
pub mod ranges;
pub mod smi;
pub mod system;
pub mod tree;
pub mod user;
pub mod virtio;

pub use faults::{Faults, Rule};
pub use kernel::{Books, Encoding, Kernel, Options};
pub use machine::{GpuSpec, Machine};
pub use system::VirtualSystem;

/// A system error number.
pub use hansa_plugin_api::sys::Errno;

/// What requests answer.
pub type Answer = Result<(), Errno>;

/// The examples of the description are programs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
