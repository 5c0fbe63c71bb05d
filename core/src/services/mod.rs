//! The services that extensions call, over the runtime.
//!
//! An extension checks pointers and converts C structures; here handles are looked up and HSA's rules are kept.
//! Errors carry the `hsa_status_t`.

mod copies;
mod loader;
mod memory;
mod queues;
mod sharing;
mod signals;

use crate::agent::AgentKind;
use crate::error::{Error, Result};
use crate::log;
use crate::queue::reclaim;
use crate::runtime::events::Handler;
use crate::runtime::host::RuntimeCell;
use crate::runtime::Runtime;
use crate::signal::Block;
use hansa_plugin_api as api;
use std::sync::Arc;

/// The runtime behind a group of services.
#[derive(Clone, Debug)]
struct Group(Arc<RuntimeCell>);

impl Group {
    fn runtime(&self) -> Result<Arc<Runtime>> {
        self.0.get().ok_or(Error::NotInitialized)
    }
}

/// All services.
#[derive(Debug)]
struct Services {
    group: Group,
    memory: api::MemoryServicesObject,
    sharing: api::SharingServicesObject,
    signals: api::SignalServicesObject,
    copies: api::CopyServicesObject,
    queues: api::QueueServicesObject,
    loader: api::LoaderServicesObject,
}

/// Makes the services of a runtime that is, or will be, in the cell.
#[must_use]
pub fn services(cell: &Arc<RuntimeCell>) -> api::RuntimeServicesObject {
    let group = Group(Arc::clone(cell));
    api::RuntimeServicesObject::new(Services {
        memory: api::MemoryServicesObject::new(memory::Memory(group.clone())),
        sharing: api::SharingServicesObject::new(sharing::Sharing(group.clone())),
        signals: api::SignalServicesObject::new(signals::Signals(group.clone())),
        copies: api::CopyServicesObject::new(copies::Copies(group.clone())),
        queues: api::QueueServicesObject::new(queues::Queues(group.clone())),
        loader: api::LoaderServicesObject::new(loader::Loader(group.clone())),
        group,
    })
}

/// Checks a list of agents.
fn agents_of(runtime: &Runtime, agents: &[u64]) -> Result<Vec<usize>> {
    agents.iter().map(|&agent| runtime.agent_index(agent)).collect()
}

/// Checks a list of agents; an empty one means all of them.
fn agents_or_all(runtime: &Runtime, agents: &[u64]) -> Result<Vec<usize>> {
    if agents.is_empty() {
        return Ok((0..runtime.agents.len()).collect());
    }
    agents_of(runtime, agents)
}

/// Checks an agent that must be a device.
fn gpu(runtime: &Runtime, agent: u64) -> Result<usize> {
    let index = runtime.agent_index(agent)?;
    if runtime.agents[index].is_gpu() {
        Ok(index)
    } else {
        Err(Error::InvalidAgent)
    }
}

/// Checks signals that a copy waits for.
fn live_signals(signals: &[u64]) -> Result<Vec<&'static Block>> {
    signals
        .iter()
        .map(|&signal| crate::signal::checked(signal))
        .collect()
}

/// The signal that a copy completes, if there is one.
fn completion(signal: u64) -> Result<Option<&'static Block>> {
    if signal == 0 {
        return Ok(None);
    }
    crate::signal::checked(signal).map(Some)
}

impl api::RuntimeServices for Services {
    fn is_running(&self) -> api::Result<bool> {
        Ok(crate::runtime::initialized().is_ok())
    }

    fn memory(&self) -> api::Result<api::MemoryServicesRef<'static>> {
        // SAFETY: the group lives as long as this object, which is what the contract says.
        Ok(unsafe { self.memory.as_ref().unbound() })
    }

    fn sharing(&self) -> api::Result<api::SharingServicesRef<'static>> {
        // SAFETY: as above.
        Ok(unsafe { self.sharing.as_ref().unbound() })
    }

    fn signals(&self) -> api::Result<api::SignalServicesRef<'static>> {
        // SAFETY: as above.
        Ok(unsafe { self.signals.as_ref().unbound() })
    }

    fn copies(&self) -> api::Result<api::CopyServicesRef<'static>> {
        // SAFETY: as above.
        Ok(unsafe { self.copies.as_ref().unbound() })
    }

    fn queues(&self) -> api::Result<api::QueueServicesRef<'static>> {
        // SAFETY: as above.
        Ok(unsafe { self.queues.as_ref().unbound() })
    }

    fn loader(&self) -> api::Result<api::LoaderServicesRef<'static>> {
        // SAFETY: as above.
        Ok(unsafe { self.loader.as_ref().unbound() })
    }

    fn agents(&self) -> api::Result<api::RVec<u64>> {
        let runtime = self.group.runtime()?;
        Ok((0..runtime.agents.len())
            .map(|i| runtime.agent_handle(i))
            .collect())
    }

    fn agent_kind(&self, agent: u64) -> api::Result<api::AgentKind> {
        Ok(match self.group.runtime()?.agent(agent)?.kind {
            AgentKind::Cpu(_) => api::AgentKind::CPU,
            AgentKind::Gpu(_) => api::AgentKind::GPU,
            AgentKind::Aie(_) => api::AgentKind::AIE,
            AgentKind::Accelerator(_) => api::AgentKind::DSP,
        })
    }

    fn coherency(&self, agent: u64) -> api::Result<u32> {
        let runtime = self.group.runtime()?;
        let index = gpu(&runtime, agent)?;
        let chosen = runtime.coherency.lock().get(&index).copied();
        Ok(chosen.unwrap_or_else(|| runtime.default_coherency(index)))
    }

    fn set_coherency(&self, agent: u64, coherency: u32) -> api::Result<()> {
        let runtime = self.group.runtime()?;
        let index = gpu(&runtime, agent)?;
        runtime.coherency.lock().insert(index, coherency);
        Ok(())
    }

    fn preload(&self, agent: u64, _flags: u64) -> api::Result<()> {
        // Nothing of a device is set up lazily that could be set up early.
        let runtime = self.group.runtime()?;
        gpu(&runtime, agent)?;
        Ok(())
    }

    fn set_async_scratch_limit(&self, agent: u64, bytes: u64) -> api::Result<()> {
        let runtime = self.group.runtime()?;
        let index = gpu(&runtime, agent)?;
        Ok(reclaim::set_limit(&runtime, index, bytes)?)
    }

    fn set_agent_attribute(&self, agent: u64, _attribute: u32, _value: u64) -> api::Result<()> {
        let runtime = self.group.runtime()?;
        gpu(&runtime, agent)?;
        Err(Error::NotSupported("attributes of agents that a program sets").into())
    }

    fn log_packets(&self, flags: u64, sink: api::LogSink) -> api::Result<()> {
        self.group.runtime()?;
        log::send_to(flags, sink);
        Ok(())
    }

    fn high_precision_timestamps(&self) -> api::Result<()> {
        self.group.runtime()?;
        queues::read_with_care();
        Ok(())
    }

    fn on_system_event(&self, handler: api::EventHandler) -> api::Result<()> {
        let runtime = self.group.runtime()?;
        let data = handler.argument.expose_provenance();
        Ok(runtime.events.add(Handler {
            function: handler.function,
            data,
        })?)
    }

    fn image_create(&self, request: &api::ImageRequest) -> api::Result<u64> {
        self.group.runtime()?.image_from_vendor(request)
    }

    fn device_description(&self, agent: u64) -> api::Result<api::NodeDescription> {
        let runtime = self.group.runtime()?;
        let device = runtime.agent(agent)?.device().ok_or(Error::InvalidAgent)?;
        Ok(device.description.clone())
    }
}
