//! What the kernels of a process did, as `HANSA_SIM_STATS` writes it and `hansa run --stats` reads it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kernels of one process, those with most instructions first.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Report {
    /// Each of them.
    pub kernels: Vec<Kernel>,
}

/// A kernel, all its dispatches together.
#[derive(Debug, Deserialize, Serialize)]
pub struct Kernel {
    /// Its name, or the address of its descriptor.
    pub name: String,
    /// What it was decoded as, such as `gfx900`.
    pub isa: String,
    /// Packets.
    pub dispatches: u64,
    /// Work-groups.
    pub groups: u64,
    /// Waves of 64 work-items.
    pub waves: u64,
    /// Instructions executed by all waves, without waits and no-operations.
    pub instructions: u64,
    /// The same by encoding family.
    pub families: BTreeMap<String, u64>,
    /// Active lanes, in the mean over vector instructions.
    pub lanes_active: f64,
    /// Bytes that went between waves and memory; what a cache would keep is not known.
    pub device_bytes: Moved,
    /// Bytes that went between waves and group memory.
    pub group_bytes: Moved,
    /// The instructions that ran most.
    pub hottest: Vec<Hot>,
}

/// Bytes moved.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Moved {
    /// By loads and atomic operations.
    pub read: u64,
    /// By stores and atomic operations.
    pub written: u64,
}

/// An instruction.
#[derive(Debug, Deserialize, Serialize)]
pub struct Hot {
    /// Bytes from the kernel's first instruction.
    pub offset: i64,
    /// Executions.
    pub count: u64,
    /// Active lanes, in the mean.
    pub lanes_active: f64,
    /// As LLVM writes it.
    pub text: String,
}
