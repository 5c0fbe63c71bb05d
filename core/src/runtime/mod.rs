//! The runtime: one per process, made by the first `hsa_init` and taken down by the last `hsa_shut_down`.
//!
//! Order up: configuration, plugins, drivers, nodes, agents, regions, links, extensions. Order down is the
//! reverse. A step that fails unwinds what was built.

pub mod build;
mod devices;
pub mod events;
mod extensions;
pub mod host;
pub(crate) mod later;
pub mod life;
pub mod links;

pub use build::examine;
pub use life::{
    current, generation, init, init_with, initialized, join, shut_down, shut_down_with, Generation,
};

use crate::agent::{Agent, Cache};
use crate::config::Config;
use crate::dma::Dma;
use crate::error::{Error, Result};
use crate::handle::{self, Kind};
use crate::log::{self, Topic};
use crate::memory::host::HostOptions;
use crate::memory::{Region, Registry};
use crate::plugin::{LoadedDriver, LoadedExtension, Report};
use crate::queue::{self, Queue};
use crate::signal::handlers::Handlers;
use crate::signal::hardware::Hardware;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// A driver that the runtime owns, open.
#[derive(Debug)]
pub struct DriverSlot {
    /// The plugin's id.
    pub id: String,
    /// The plugin's version.
    pub version: String,
    /// The driver. Dropped before the host it calls.
    pub object: api::DriverObject,
    /// What it said of its devices.
    pub description: api::SystemDescription,
    /// Its devices that no other driver has.
    own_devices: Vec<api::NodeDescription>,
    /// Its nodes that are agents, by its own numbers.
    pub nodes: Vec<u32>,
    /// The runtime, as the driver sees it.
    #[expect(dead_code, reason = "the driver holds a reference to it")]
    host: api::HostObject,
}

impl From<LoadedDriver> for DriverSlot {
    fn from(loaded: LoadedDriver) -> Self {
        Self {
            own_devices: loaded.own_devices().cloned().collect(),
            id: loaded.id,
            version: loaded.version,
            object: loaded.driver,
            description: loaded.description,
            nodes: Vec::new(),
            host: loaded.host,
        }
    }
}

/// The extensions of a runtime and the services they call. The services are dropped last.
#[derive(Debug, Default)]
pub struct Extensions {
    /// The extensions, with their tables.
    pub slots: Vec<LoadedExtension>,
    services: Option<Box<api::RuntimeServicesObject>>,
}

/// The runtime.
#[derive(Debug)]
pub struct Runtime {
    /// Tells this runtime's handles from an earlier one's.
    pub epoch: u16,
    /// The configuration.
    pub config: Config,
    /// Every plugin that was found, and why it serves or not.
    pub report: Mutex<Report>,
    /// The drivers, in the order of their agents.
    pub drivers: Vec<DriverSlot>,
    /// The agents: CPU agents first.
    pub agents: Vec<Agent>,
    /// The agents that are devices, by index.
    pub devices: Arc<[usize]>,
    /// The regions of all agents.
    pub regions: Vec<Region>,
    /// The caches of all agents.
    pub caches: Vec<Cache>,
    /// The ways between agents.
    pub links: links::Links,
    /// All allocations.
    pub memory: Registry,
    /// Attributes of ranges of the program's memory.
    pub svm: crate::memory::svm::Svm,
    /// Reserved addresses and memory without one.
    pub virtual_memory: crate::memory::virtual_memory::VirtualMemory,
    /// Asynchronous handlers.
    pub handlers: Handlers,
    /// Changes of signals that hardware makes.
    pub hardware: Hardware,
    /// Copies.
    pub dma: Dma,
    /// Queues, by handle.
    pub queues: Mutex<HashMap<u64, Arc<Queue>>>,
    /// Queues through which instruction caches are dropped.
    pub code_caches: queue::code_caches::CodeCaches,
    /// Queues that several names stand for.
    pub counted: queue::counted::Pool,
    /// Handlers of system events.
    pub events: events::SystemEvents,
    /// Bytes of scratch that programs let a queue of an agent keep.
    pub(crate) scratch_limits: Mutex<HashMap<usize, u64>>,
    /// Coherency that programs chose for fine-grained memory of agents (`hsa_amd_coherency_type_t`).
    pub coherency: Mutex<HashMap<usize, u32>>,
    /// How host memory is mapped.
    pub host_options: HostOptions,
    /// Small host allocations.
    pub host_slabs: crate::memory::host_slabs::HostSlabs,
    /// Buffers of the program that it registered.
    pub own_buffers: crate::memory::own_buffers::OwnBuffers,
    /// Executables and the like.
    pub code: crate::code::Code,
    /// Signal groups.
    pub groups: handle::Table<crate::signal::Group>,
    /// Names of signals and memory for other processes.
    pub exchange: crate::ipc::Exchange,
    /// Signals shared with other processes, as the drivers know them.
    pub shown_signals: crate::signal::ipc::Shown,
    /// Queues whose kernels are traced.
    pub dispatches: crate::trace::Dispatches,
    /// Extensions; set after the rest is there, for they may call the runtime.
    pub extensions: Mutex<Extensions>,
}

impl Runtime {
    /// The handle of an agent.
    #[must_use]
    pub const fn agent_handle(&self, index: usize) -> u64 {
        handle::of_index(Kind::Agent, self.epoch, index)
    }

    /// The index of an agent.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAgent`] for any other handle.
    #[inline]
    pub fn agent_index(&self, agent: u64) -> Result<usize> {
        handle::index(agent, Kind::Agent, self.epoch)
            .filter(|&i| i < self.agents.len())
            .ok_or(Error::InvalidAgent)
    }

    /// The agent behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAgent`] for any other handle.
    #[inline]
    pub fn agent(&self, agent: u64) -> Result<&Agent> {
        Ok(&self.agents[self.agent_index(agent)?])
    }

    /// The handle of a region, which is also that of the memory pool.
    #[must_use]
    pub const fn region_handle(&self, index: usize) -> u64 {
        handle::of_index(Kind::Region, self.epoch, index)
    }

    /// The index of a region.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRegion`] for any other handle.
    pub fn region_index(&self, region: u64) -> Result<usize> {
        handle::index(region, Kind::Region, self.epoch)
            .filter(|&i| i < self.regions.len())
            .ok_or(Error::InvalidRegion)
    }

    /// The handle of a cache.
    #[must_use]
    pub const fn cache_handle(&self, index: usize) -> u64 {
        handle::of_index(Kind::Cache, self.epoch, index)
    }

    /// The cache behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidCache`] for any other handle.
    pub fn cache(&self, cache: u64) -> Result<&Cache> {
        handle::index(cache, Kind::Cache, self.epoch)
            .and_then(|i| self.caches.get(i))
            .ok_or(Error::InvalidCache)
    }

    /// The live queue behind a handle.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`] for any other handle.
    pub fn queue(&self, queue: u64) -> Result<Arc<Queue>> {
        self.queues.lock().get(&queue).cloned().ok_or(Error::InvalidQueue)
    }

    /// Destroys a queue.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`] for a handle that is no live queue, or one that is given back and not destroyed.
    pub fn destroy_queue(&self, queue: u64) -> Result<()> {
        let queue = {
            let mut queues = self.queues.lock();
            if queues.get(&queue).is_none_or(|known| known.is_counted()) || self.counted.owns(queue) {
                return Err(Error::InvalidQueue);
            }
            queues.remove(&queue).ok_or(Error::InvalidQueue)?
        };
        queue.destroy(self);
        Ok(())
    }

    /// Coherency of an agent that no program changed: coherent for the full profile.
    #[must_use]
    pub fn default_coherency(&self, agent: usize) -> u32 {
        u32::from(!self.agents[agent].can(api::AgentCaps::FULL_PROFILE))
    }

    /// Lets every device see memory of the runtime's arenas, for as long as the runtime lives.
    pub(crate) fn show_arena(&self, address: u64, bytes: u64) -> Result<()> {
        // The registrations end with the drivers.
        self.register_with_all(address, bytes).map(drop)
    }

    /// Takes everything down. The runtime is out of reach of the C interface already.
    fn tear_down(&self) {
        for loaded in &self.extensions.lock().slots {
            // An extension that cannot stop is let go all the same.
            let _ = loaded.extension.shut_down();
        }
        let queues: Vec<_> = self.queues.lock().drain().map(|(_, queue)| queue).collect();
        for queue in queues {
            queue.destroy(self);
        }
        self.code_caches.stop(self);
        self.counted.forget();
        self.dispatches.stop();
        self.exchange.stop();
        self.dma.stop(self);
        self.handlers.stop();
        self.hardware.stop();
        self.code.clear();
        self.end_virtual_memory();
        self.give_back_spares();
        for allocation in self.memory.drain() {
            if allocation.kind.is_allocated() {
                let (base, bytes) = (allocation.base, allocation.requested.load(Ordering::Relaxed));
                log::line(
                    Topic::Memory,
                    format_args!("memory: {base:#x} of {bytes} bytes was never freed"),
                );
            }
            self.release(&allocation);
        }
        self.host_slabs.stop(self);
        crate::signal::pool::observe_no_more();
        crate::signal::pool::retire_all();
        self.extensions.lock().slots.clear();
        crate::memory::source::clear();
        for driver in self.drivers.iter().rev() {
            // As above.
            let _ = driver.object.close();
        }
        log::send_nowhere();
    }
}
