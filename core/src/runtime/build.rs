//! Building a runtime: drivers are opened, their nodes become agents with regions, caches and links.

use super::events::SystemEvents;
use super::host::{PluginHost, RuntimeCell};
use super::links::{Link, Links};
use super::{DriverSlot, ExtensionSlot, Runtime};
use crate::agent::{Agent, AgentKind, Cache, Device, DeviceRef};
use crate::config::{Config, Inputs};
use crate::dma::Dma;
use crate::error::Result;
use crate::loader::Isa;
use crate::memory::host::{page_bytes, HostOptions};
use crate::memory::{GlobalFlags, Place, Region, Registry, Segment};
use crate::queue::slots;
use crate::signal::handlers::Handlers;
use crate::signal::pool;
use crate::topology::{HostFiles, HostNode};
use hansa_plugin_api as api;
use hansa_plugin_api::manifest::PluginFacts;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A plugin that is linked into the program; it goes through the same table as a loaded one.
#[derive(Clone, Copy)]
pub struct BuiltIn {
    /// What it says of itself.
    pub facts: PluginFacts,
    /// Its root module.
    pub module: fn() -> api::PluginModRef,
}

impl std::fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltIn")
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// Builds a runtime.
pub(super) fn build(epoch: u16, built_ins: &[BuiltIn]) -> Result<Arc<Runtime>> {
    let config = Config::load(&Inputs::of_process());
    let cell = Arc::new(RuntimeCell::default());
    let mut drivers = Vec::new();
    for plugin in built_ins.iter().filter(|p| p.facts.kind.has_driver()) {
        drivers.push(open(plugin, &config, &cell)?);
    }
    let mut machine = Machine::default();
    machine.add_host(HostFiles::default().nodes());
    for (index, driver) in drivers.iter_mut().enumerate() {
        machine.add_driver(index, driver);
    }
    machine.connect_host_nodes();
    let host_options = HostOptions {
        huge_pages: config.settings.memory.use_huge_pages.value,
        guard_pages: config.settings.memory.svm_guard_pages.value,
        executable: false,
    };
    let runtime = Arc::new(Runtime {
        epoch,
        config,
        drivers,
        agents: machine.agents,
        regions: machine.regions,
        caches: machine.caches,
        links: machine.links,
        memory: Registry::default(),
        handlers: Handlers::new(),
        dma: Dma::default(),
        queues: Mutex::new(HashMap::new()),
        events: SystemEvents::default(),
        coherency: Mutex::new(HashMap::new()),
        host_options,
        extensions: Mutex::new(Vec::new()),
    });
    cell.set(&runtime);
    if let Err(error) = show_arenas(&runtime) {
        runtime.tear_down();
        return Err(error);
    }
    for plugin in built_ins.iter().filter(|p| p.facts.kind.has_extension()) {
        let slot = extend(plugin, &runtime, &cell)?;
        runtime.extensions.lock().push(slot);
    }
    Ok(runtime)
}

fn extend(plugin: &BuiltIn, runtime: &Runtime, cell: &Arc<RuntimeCell>) -> Result<ExtensionSlot> {
    let host = Box::new(api::HostObject::new(PluginHost {
        id: plugin.facts.id.to_owned(),
        configuration: runtime.config.backend_text(plugin.facts.id),
        level: u32::from(runtime.config.settings.debug.level.value.0),
        runtime: Arc::clone(cell),
    }));
    let services = Box::new(crate::services::services(cell));
    // SAFETY: the host is boxed, kept beside the extension, and dropped after it.
    let view = unsafe { host.as_ref().as_ref().unbound() };
    // SAFETY: as above.
    let calls = unsafe { services.as_ref().as_ref().unbound() };
    let object = (plugin.module)().extension()(view, calls).into_result()?;
    let tables = object.tables()?.into_vec();
    Ok(ExtensionSlot {
        id: plugin.facts.id.to_owned(),
        object,
        tables,
        services,
        host,
    })
}

fn open(plugin: &BuiltIn, config: &Config, cell: &Arc<RuntimeCell>) -> Result<DriverSlot> {
    let host = Box::new(api::HostObject::new(PluginHost {
        id: plugin.facts.id.to_owned(),
        configuration: config.backend_text(plugin.facts.id),
        level: u32::from(config.settings.debug.level.value.0),
        runtime: Arc::clone(cell),
    }));
    // SAFETY: the host is boxed, kept beside the driver, and dropped after it.
    let view = unsafe { host.as_ref().as_ref().unbound() };
    let object = (plugin.module)().driver()(view).into_result()?;
    object.open()?;
    let description = object.describe()?;
    Ok(DriverSlot {
        id: plugin.facts.id.to_owned(),
        object,
        description,
        nodes: Vec::new(),
        host,
    })
}

/// Lets all devices see the memory that signals and queues live in, now and as it grows.
fn show_arenas(runtime: &Arc<Runtime>) -> Result<()> {
    if let Some((address, bytes)) = slots::committed() {
        runtime.show_arena(address, bytes)?;
    }
    let later = Arc::downgrade(runtime);
    pool::observe(Box::new(move |address, bytes| match later.upgrade() {
        Some(runtime) => runtime.show_arena(address as u64, bytes as u64),
        None => Ok(()),
    }))
}

/// The machine as it is put together.
#[derive(Debug, Default)]
struct Machine {
    agents: Vec<Agent>,
    regions: Vec<Region>,
    caches: Vec<Cache>,
    links: Links,
    /// Index of the CPU agent of a NUMA node.
    host_nodes: HashMap<u32, usize>,
}

impl Machine {
    fn add_host(&mut self, nodes: Vec<HostNode>) {
        let total: u64 = nodes.iter().map(|n| n.bytes).sum();
        for node in nodes {
            let agent = self.agents.len();
            let page = page_bytes() as u64;
            let kinds = [
                GlobalFlags::FINE_GRAINED,
                GlobalFlags::FINE_GRAINED | GlobalFlags::KERNARG,
                GlobalFlags::COARSE_GRAINED,
            ];
            let first = self.regions.len();
            for flags in kinds {
                self.regions.push(Region {
                    agent,
                    segment: Segment::Global,
                    flags,
                    bytes: node.bytes,
                    max_allocation: total,
                    granule: page,
                    recommended_granule: page,
                    place: Place::Host,
                });
            }
            let caches = self.add_caches(agent, &node.caches);
            self.host_nodes.insert(node.node, agent);
            self.agents.push(Agent {
                node: u32::try_from(agent).unwrap_or(0),
                regions: (first..self.regions.len()).collect(),
                isas: Vec::new(),
                caches,
                nearest_cpu: agent,
                kind: AgentKind::Cpu(node),
            });
        }
    }

    fn add_caches(&mut self, agent: usize, caches: &[api::CacheDescription]) -> Vec<usize> {
        let first = self.caches.len();
        let mut caches = caches.to_vec();
        caches.sort_by_key(|c| c.level);
        for description in caches {
            self.caches.push(Cache {
                agent,
                name: format!("L{}", description.level),
                description,
            });
        }
        (first..self.caches.len()).collect()
    }

    fn add_driver(&mut self, driver: usize, slot: &mut DriverSlot) {
        let mut agents = HashMap::new();
        for description in slot.description.nodes.clone() {
            let node = description.node;
            let device = Device {
                reference: DeviceRef { driver, node },
                description,
            };
            let Some(kind) = Agent::kind_of(device) else {
                continue;
            };
            agents.insert(node, self.add_device(driver, kind));
            slot.nodes.push(node);
        }
        for link in &slot.description.links {
            let end = |end: api::NodeRef| {
                if end.space == 1 {
                    self.host_nodes.get(&end.node)
                } else {
                    agents.get(&end.node)
                }
                .copied()
            };
            let (Some(from), Some(to)) = (end(link.from), end(link.to)) else {
                continue;
            };
            self.links.insert(
                from,
                to,
                Link {
                    kind: link.kind,
                    flags: link.flags,
                    weight: link.weight,
                    hops: link.hops,
                    latency_ns: (link.min_latency_ns, link.max_latency_ns),
                    bandwidth_mbs: (link.min_bandwidth_mbs, link.max_bandwidth_mbs),
                    engine_mask: link.engine_mask,
                },
            );
        }
        for &agent in agents.values() {
            let nearest = self
                .host_nodes
                .values()
                .copied()
                .min_by_key(|&cpu| (self.links.get(agent, cpu).map_or(u32::MAX, |l| l.weight), cpu));
            self.agents[agent].nearest_cpu = nearest.unwrap_or(0);
        }
    }

    fn add_device(&mut self, driver: usize, kind: AgentKind) -> usize {
        let agent = self.agents.len();
        let mut made = Agent {
            kind,
            node: u32::try_from(agent).unwrap_or(0),
            regions: Vec::new(),
            isas: Vec::new(),
            caches: Vec::new(),
            nearest_cpu: 0,
        };
        let Some(device) = made.device() else { return agent };
        let description = device.description.clone();
        let first = self.regions.len();
        for (bank, memory) in description.banks.iter().enumerate() {
            let host_visible = memory.flags.contains(api::BankFlags::HOST_VISIBLE);
            let mut flags = GlobalFlags::COARSE_GRAINED;
            if memory.flags.contains(api::BankFlags::FINE_GRAIN) {
                flags = GlobalFlags::FINE_GRAINED;
            }
            flags.set(
                GlobalFlags::KERNARG,
                memory.flags.contains(api::BankFlags::KERNARG),
            );
            self.regions.push(Region {
                agent,
                segment: Segment::Global,
                flags,
                bytes: memory.bytes,
                max_allocation: memory.bytes / memory.granule.max(1) * memory.granule.max(1),
                granule: memory.granule.max(1),
                recommended_granule: memory.recommended_granule.max(memory.granule),
                place: Place::Bank {
                    driver,
                    node: description.node,
                    bank: u32::try_from(bank).unwrap_or(0),
                    host_visible,
                },
            });
        }
        if description.group_bytes != 0 {
            self.regions.push(Region {
                agent,
                segment: Segment::Group,
                flags: GlobalFlags::empty(),
                bytes: u64::from(description.group_bytes),
                max_allocation: 0,
                granule: 0,
                recommended_granule: 0,
                place: Place::None,
            });
        }
        made.regions = (first..self.regions.len()).collect();
        made.caches = self.add_caches(agent, &description.caches);
        made.isas = description
            .isas
            .iter()
            .filter_map(|name| name.parse::<Isa>().ok())
            .collect();
        self.agents.push(made);
        agent
    }

    /// Ways between the NUMA nodes of the host, which no driver described.
    fn connect_host_nodes(&mut self) {
        let cpus: Vec<usize> = self.host_nodes.values().copied().collect();
        for &from in &cpus {
            for &to in cpus.iter().filter(|&&to| to != from) {
                if self.links.get(from, to).is_none() {
                    self.links.insert(
                        from,
                        to,
                        Link {
                            kind: api::LinkKind::HYPER_TRANSPORT,
                            flags: api::LinkFlags::ATOMICS_32
                                | api::LinkFlags::ATOMICS_64
                                | api::LinkFlags::COHERENT,
                            weight: 20,
                            hops: 1,
                            latency_ns: (0, 0),
                            bandwidth_mbs: (0, 0),
                            engine_mask: 0,
                        },
                    );
                }
            }
        }
    }
}
