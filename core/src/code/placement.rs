//! Where code goes: memory of the agent's own region, or memory that the program has mapped.

use super::agent_of;
use crate::error::Error;
use crate::loader::{AgentKey, Placed, Placement, PlacementError};
use crate::memory::operations::flag;
use crate::memory::{GlobalFlags, Segment};
use crate::runtime::Runtime;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Memory of an agent's region, which the runtime allocates.
pub(super) fn of_runtime(runtime: &Arc<Runtime>) -> Arc<dyn Placement> {
    Arc::new(RegionMemory {
        runtime: Arc::downgrade(runtime),
    })
}

/// Memory at an address that the program chose.
pub(super) fn at_address(runtime: &Arc<Runtime>, address: u64, bytes: u64) -> Arc<dyn Placement> {
    Arc::new(ProgramMemory {
        runtime: Arc::downgrade(runtime),
        address,
        bytes,
    })
}

#[derive(Debug)]
struct RegionMemory {
    runtime: Weak<Runtime>,
}

#[derive(Debug)]
struct ProgramMemory {
    runtime: Weak<Runtime>,
    address: u64,
    bytes: u64,
}

fn failed(error: &Error) -> PlacementError {
    PlacementError::Failed {
        reason: error.to_string(),
    }
}

fn gone() -> PlacementError {
    failed(&Error::NotInitialized)
}

impl Placement for RegionMemory {
    fn allocate(
        &self,
        agent: AgentKey,
        size: u64,
        align: u64,
        executable: bool,
    ) -> Result<Placed, PlacementError> {
        let runtime = self.runtime.upgrade().ok_or_else(gone)?;
        let region = region_for_code(&runtime, agent_of(agent)).ok_or_else(|| PlacementError::Failed {
            reason: "The agent has no memory for code".to_owned(),
        })?;
        let flags = if executable { flag::EXECUTABLE } else { 0 };
        let address = runtime
            .allocate(region, size, flags)
            .map_err(|error| match error {
                Error::OutOfResources(_) | Error::InvalidAllocation(_) => {
                    PlacementError::OutOfMemory { size }
                }
                other => failed(&other),
            })?;
        let placed = Placed {
            device_address: address,
            token: address,
        };
        if address % align != 0 {
            self.free(agent, placed);
            return Err(PlacementError::Failed {
                reason: format!("The agent's memory at {address:#x} is not aligned to {align} bytes"),
            });
        }
        Ok(placed)
    }

    fn upload(
        &self,
        agent: AgentKey,
        placed: Placed,
        image: &[u8],
        zero_tail: u64,
    ) -> Result<(), PlacementError> {
        let runtime = self.runtime.upgrade().ok_or_else(gone)?;
        if let Some(allocation) = runtime.memory.find(placed.token) {
            allocation.executable.store(true, Ordering::Relaxed);
        }
        write(&runtime, agent_of(agent), placed.device_address, image, zero_tail)
    }

    fn free(&self, _: AgentKey, placed: Placed) {
        if let Some(runtime) = self.runtime.upgrade() {
            // The runtime may have taken all memory back already.
            let _ = runtime.free(placed.token);
        }
    }
}

impl Placement for ProgramMemory {
    fn allocate(&self, _: AgentKey, size: u64, align: u64, _: bool) -> Result<Placed, PlacementError> {
        if size > self.bytes || !self.address.is_multiple_of(align) {
            return Err(PlacementError::OutOfMemory { size });
        }
        Ok(Placed {
            device_address: self.address,
            token: 0,
        })
    }

    fn upload(
        &self,
        agent: AgentKey,
        placed: Placed,
        image: &[u8],
        zero_tail: u64,
    ) -> Result<(), PlacementError> {
        let runtime = self.runtime.upgrade().ok_or_else(gone)?;
        write(&runtime, agent_of(agent), placed.device_address, image, zero_tail)
    }

    /// The memory is the program's.
    fn free(&self, _: AgentKey, _: Placed) {}
}

/// The region that holds an agent's code: its own coarse-grained memory, else any memory it has.
fn region_for_code(runtime: &Runtime, agent: usize) -> Option<usize> {
    let usable = |&&region: &&usize| {
        let region = &runtime.regions[region];
        region.segment == Segment::Global && region.can_allocate()
    };
    let own = &runtime.agents.get(agent)?.regions;
    own.iter()
        .filter(usable)
        .find(|&&region| {
            runtime.regions[region]
                .flags
                .contains(GlobalFlags::COARSE_GRAINED)
        })
        .or_else(|| own.iter().find(usable))
        .copied()
}

/// Writes a device's memory: the image, then zeroes.
fn write(
    runtime: &Arc<Runtime>,
    agent: usize,
    address: u64,
    image: &[u8],
    zero_tail: u64,
) -> Result<(), PlacementError> {
    let visible = runtime.memory.find(address).is_some_and(|a| a.host_base != 0);
    if !visible && !runtime.has_copier(agent) {
        return Err(PlacementError::Failed {
            reason: "The host cannot write the agent's memory, and its driver cannot copy to it".to_owned(),
        });
    }
    let copy = |at: u64, bytes: &[u8]| {
        runtime
            .write_code(agent, at, bytes)
            .map_err(|error| failed(&error))
    };
    copy(address, image)?;
    const ZEROES: [u8; 4096] = [0; 4096];
    let (mut at, mut left) = (address + image.len() as u64, zero_tail);
    while left != 0 {
        let step = left.min(ZEROES.len() as u64);
        copy(at, &ZEROES[..usize::try_from(step).unwrap_or(0)])?;
        at += step;
        left -= step;
    }
    runtime.code_written(agent).map_err(|error| failed(&error))
}
