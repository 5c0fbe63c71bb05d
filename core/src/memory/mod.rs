//! Memory: regions, allocations and who may use them.

pub mod arena;
pub mod host;
pub mod locked;
pub mod operations;
pub mod region;
pub mod registry;

pub use region::{GlobalFlags, Place, Region, Segment};
pub use registry::{Allocation, AllocationKind, FreeCallback, Registry};
