//! Copies and their times.

use super::{completion, gpu, live_signals, Group};
use crate::dma::{Copy, Gate, Step, Word};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::signal;
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;

#[derive(Debug)]
pub(super) struct Copies(pub(super) Group);

/// `hsa_amd_memory_copy_op_type_t`.
mod kind {
    pub(super) const LINEAR: u32 = 0;
    pub(super) const BROADCAST: u32 = 1;
    pub(super) const SWAP: u32 = 2;
    pub(super) const INDIRECT_SOURCE: u32 = 3;
    pub(super) const INDIRECT_DESTINATION: u32 = 4;
    pub(super) const INDIRECT_BOTH: u32 = 5;
}

/// The agent of a handle, or the one whose memory an address is in when the handle is 0.
fn agent_at(runtime: &Runtime, agent: u64, address: u64) -> Result<usize> {
    if agent == 0 {
        return Ok(runtime
            .memory
            .find(address)
            .map_or(0, |a| runtime.regions[a.region].agent));
    }
    runtime.agent_index(agent)
}

/// Copy engines of an agent, at least one for a device.
fn engines(runtime: &Runtime, agent: usize) -> u32 {
    runtime.agents[agent]
        .device()
        .map_or(0, |d| d.description.dma_engines.clamp(1, 16))
}

fn engines_between(runtime: &Runtime, destination: u64, source: u64) -> Result<u32> {
    let (destination, source) = (runtime.agent_index(destination)?, runtime.agent_index(source)?);
    Ok(engines(runtime, source).max(engines(runtime, destination)))
}

impl api::CopyServices for Copies {
    fn copy(&self, command: &api::CopyCommand<'_>) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let destination_agent = agent_at(&runtime, command.destination_agent, command.destination)?;
        let source_agent = agent_at(&runtime, command.source_agent, command.source)?;
        let dependencies = live_signals(&command.dependencies)?;
        let completion = completion(command.completion)?;
        runtime.stays_inside(command.destination, command.bytes)?;
        runtime.stays_inside(command.source, command.bytes)?;
        if command.engine != 0 {
            let count = engines(&runtime, source_agent).max(engines(&runtime, destination_agent));
            if !command.engine.is_power_of_two() || command.engine.trailing_zeros() >= count {
                return Err(Error::InvalidArgument("the agent has no such copy engine").into());
            }
        }
        let request = api::CopyRequest::linear(0, command.destination, command.source, command.bytes);
        let copy = Copy {
            request,
            destination_agent,
            source_agent,
        };
        Ok(runtime
            .dma
            .submit(&runtime, vec![copy], &dependencies, completion)?)
    }

    fn copy_rect(&self, command: &api::RectCopyCommand<'_>) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let agent = gpu(&runtime, command.agent)?;
        let dependencies = live_signals(&command.dependencies)?;
        let completion = completion(command.completion)?;
        let [x, y, z] = command.range.map(u64::from);
        let at = |side: &api::RectSide| {
            let [dx, dy, dz] = side.offset.map(u64::from);
            dy.checked_mul(side.pitch)
                .and_then(|rows| rows.checked_add(dz.checked_mul(side.slice)?))
                .and_then(|offset| offset.checked_add(dx))
                .and_then(|offset| side.base.checked_add(offset))
                .ok_or(Error::InvalidArgument("an offset goes beyond all addresses"))
        };
        let request = api::CopyRequest {
            rows: y,
            slices: z,
            destination_row_pitch: command.destination.pitch,
            destination_slice_pitch: command.destination.slice,
            source_row_pitch: command.source.pitch,
            source_slice_pitch: command.source.slice,
            ..api::CopyRequest::linear(0, at(&command.destination)?, at(&command.source)?, x)
        };
        let copy = Copy {
            request,
            destination_agent: agent,
            source_agent: agent,
        };
        Ok(runtime
            .dma
            .submit(&runtime, vec![copy], &dependencies, completion)?)
    }

    fn copy_batch(
        &self,
        operations: api::RSlice<'_, api::BatchOperation<'_>>,
        dependencies: api::RSlice<'_, u64>,
    ) -> api::Result<()> {
        let runtime = self.0.runtime()?;
        let dependencies = live_signals(&dependencies)?;
        let mut jobs = Vec::with_capacity(operations.len());
        for operation in operations.iter() {
            let source_agent = runtime.agent_index(operation.source_agent)?;
            let gate = Gate::new(&runtime, operation.wait, operation.signal)?;
            let mut steps = Vec::with_capacity(operation.destinations.len());
            for (index, &destination) in operation.destinations.iter().enumerate() {
                let one = |list: &[u64]| list.get(index).or_else(|| list.first()).copied();
                let (Some(source), Some(bytes), Some(agent)) = (
                    one(&operation.sources),
                    one(&operation.bytes),
                    one(&operation.destination_agents),
                ) else {
                    return Err(
                        Error::InvalidArgument("the lists of an operation are of unequal length").into(),
                    );
                };
                let copy = Copy {
                    request: api::CopyRequest::linear(0, destination, source, bytes),
                    destination_agent: runtime.agent_index(agent)?,
                    source_agent,
                };
                // An end is where the address says, unless that is the address of a pointer.
                let end = |kinds: [u32; 2], address| {
                    if kinds.contains(&operation.kind) {
                        return Word::at(&runtime, address).map(Some);
                    }
                    runtime.stays_inside(address, bytes).map(|()| None)
                };
                let source_word = end([kind::INDIRECT_SOURCE, kind::INDIRECT_BOTH], source)?;
                let destination_word = end([kind::INDIRECT_DESTINATION, kind::INDIRECT_BOTH], destination)?;
                steps.push(match operation.kind {
                    kind::LINEAR | kind::BROADCAST => Step::Copy(copy),
                    kind::SWAP => Step::Swap(copy),
                    _ => Step::Indirect {
                        copy,
                        source: source_word,
                        destination: destination_word,
                    },
                });
            }
            jobs.push((steps, gate, completion(operation.completion)?));
        }
        for (steps, gate, completion) in jobs {
            runtime
                .dma
                .submit_steps(&runtime, steps, &dependencies, gate, completion)?;
        }
        Ok(())
    }

    fn free_engines(&self, destination: u64, source: u64) -> api::Result<u32> {
        let runtime = self.0.runtime()?;
        let count = engines_between(&runtime, destination, source)?;
        if count == 0 || !runtime.dma.has_idle() {
            return Err(Error::OutOfResources("copy engines").into());
        }
        Ok((1 << count) - 1)
    }

    fn preferred_engines(&self, destination: u64, source: u64) -> api::Result<u32> {
        let runtime = self.0.runtime()?;
        let (destination, source) = (runtime.agent_index(destination)?, runtime.agent_index(source)?);
        Ok(runtime
            .links
            .get(source, destination)
            .map_or(0, |l| l.engine_mask))
    }

    fn set_profiling(&self, enable: bool) -> api::Result<()> {
        self.0.runtime()?.dma.profiling.store(enable, Ordering::Relaxed);
        Ok(())
    }

    fn copy_time(&self, signal: u64) -> api::Result<api::TimeSpan> {
        self.0.runtime()?;
        let block = signal::checked(signal)?;
        let end = block.copy_end.load(Ordering::Acquire);
        if end == 0 {
            return Err(Error::Failed("no profiled copy used the signal").into());
        }
        Ok(api::TimeSpan {
            start: block.copy_start.load(Ordering::Relaxed),
            end,
        })
    }
}
