//! Memory: regions, allocations and who may use them.

pub mod access;
pub mod arena;
mod available;
pub mod callbacks;
pub mod file;
pub mod host;
pub mod host_slabs;
pub mod index;
pub mod interop;
pub mod ipc;
pub mod locked;
pub mod operations;
mod overlap;
pub mod own_buffers;
pub(crate) mod reach;
pub mod region;
pub mod registry;
pub(crate) mod shown;
pub(crate) mod source;
mod spares;
pub mod svm;
pub mod virtual_memory;

pub use access::Reach;
pub use callbacks::FreeCallback;
pub use region::{GlobalFlags, Place, Region, Segment};
pub use registry::{Allocation, AllocationKind, Origin, Registry};
