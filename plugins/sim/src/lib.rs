//! A software GPU: runs AMDGPU code objects on the CPU

pub mod exec;
pub mod isa;
