//! How the loader reaches the memory of agents.
//!
//! Code must be in memory the agent fetches instructions from, which the host often cannot write. So
//! the loader prepares everything in host memory and asks for one upload when the executable is
//! frozen; until then no device sees it.

use std::fmt;

/// Stands for an agent; the loader only compares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentKey(pub u64);

/// Memory of an agent that was allocated for a code object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its address as the device sees it.
    pub device_address: u64,
    /// Whatever the implementation needs to recognise it.
    pub token: u64,
}

/// Why memory could not be had or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The agent has no memory left for this.
    #[error("No memory for {size} bytes of code and variables")]
    OutOfMemory {
        /// The bytes asked for.
        size: u64,
    },
    /// The device or its driver failed.
    #[error("Code cannot be placed: {reason}")]
    Failed {
        /// What happened.
        reason: String,
    },
}

/// Memory of agents for code objects.
pub trait Placement: fmt::Debug + Send + Sync {
    /// Allocates `size` bytes, aligned to `align`, that the agent can read, write and, if
    /// `executable`, fetch instructions from. The contents are undefined.
    ///
    /// # Errors
    ///
    /// [`PlacementError`] if the agent has no such memory.
    fn allocate(
        &self,
        agent: AgentKey,
        size: u64,
        align: u64,
        executable: bool,
    ) -> Result<Placed, PlacementError>;

    /// Writes `image` to the begin of the memory and `zero_tail` zero bytes behind it, and makes the
    /// agent's instruction fetches see it. Called once for each allocation, at freeze.
    ///
    /// # Errors
    ///
    /// [`PlacementError::Failed`] if the device did not take it.
    fn upload(
        &self,
        agent: AgentKey,
        placed: Placed,
        image: &[u8],
        zero_tail: u64,
    ) -> Result<(), PlacementError>;

    /// Gives memory back. Called once for each allocation.
    fn free(&self, agent: AgentKey, placed: Placed);
}
