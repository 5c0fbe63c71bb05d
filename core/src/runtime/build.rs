//! Building a runtime: drivers are opened, their nodes become agents with regions, caches and links.

use super::devices::{self, Chosen};
use super::events::SystemEvents;
use super::host::{PluginHost, RuntimeCell};
use super::links::{Link, Links};
use super::{DriverSlot, Extensions, Runtime};
use crate::agent::{Agent, AgentKind, Cache, Device, DeviceRef};
use crate::config::{Config, Inputs, Origin, Warning};
use crate::dma::Dma;
use crate::error::{Error, Result};
use crate::loader::Isa;
use crate::log::{self, Topic};
use crate::memory::host::{page_bytes, HostOptions};
use crate::memory::{reach, GlobalFlags, Place, Region, Registry, Segment};
use crate::plugin::{BuiltIn, MakeHost, Plugins, Report, Roots};
use crate::queue::slots;
use crate::signal::handlers::Handlers;
use crate::signal::hardware::Hardware;
use crate::signal::pool;
use crate::topology::{HostFiles, HostNode};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::LinuxSystem;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Builds a runtime.
pub(super) fn build(epoch: u16, built_ins: &[BuiltIn]) -> Result<Arc<Runtime>> {
    let config = Config::load(&Inputs::of_process());
    let so_far = config.warnings.clone();
    let (report, runtime) = start(epoch, built_ins, config);
    warn_once(
        runtime
            .as_ref()
            .map_or(&so_far, |runtime| &runtime.config.warnings),
    );
    let runtime = runtime?;
    *runtime.report.lock() = report;
    say_once_if_bare(&runtime);
    Ok(runtime)
}

/// Goes the way of `hsa_init` as far as it leads, takes everything down again, and reports every plugin.
pub fn examine(built_ins: &[BuiltIn]) -> Report {
    let (report, runtime) = start(0, built_ins, Config::load(&Inputs::of_process()));
    if let Ok(runtime) = runtime {
        runtime.tear_down();
    }
    report
}

/// Finds plugins, starts them and puts the runtime together; a step that fails unwinds what was built.
fn start(epoch: u16, built_ins: &[BuiltIn], mut config: Config) -> (Report, Result<Arc<Runtime>>) {
    let host = HostFiles::default().nodes();
    config.set_host_nodes(host.len());
    let environment = Inputs::of_process().environment;
    let cell = Arc::new(RuntimeCell::default());
    log::configure(&config.settings);
    crate::signal::configure(&config.settings);
    for (name, why) in &config.without_meaning {
        log::line(Topic::Detail, format_args!("{name} has no meaning here: {why}"));
    }
    let level = u32::from(log::loudness(&config.settings));
    let errors = config.settings.hsa.enable_queue_fault_message.value;
    let said_by = config.clone();
    let make_host = |id: &str, configuration: String| {
        let runtime = Arc::clone(&cell);
        api::HostObject::new(PluginHost {
            id: id.to_owned(),
            configuration,
            origins: said_by.backend_origins(id),
            level,
            errors,
            runtime,
        })
    };
    let mut plugins = Plugins::find(
        Roots::of_process(&environment),
        &config,
        environment.secure(),
        built_ins,
    );
    config.warnings.extend(plugins.unanswered());
    let drivers: Vec<DriverSlot> = plugins
        .start_drivers(&LinuxSystem, &make_host)
        .into_iter()
        .map(DriverSlot::from)
        .collect();
    if let Err(error) = plugins.verdict() {
        for driver in drivers.iter().rev() {
            // A driver that cannot close is let go all the same.
            let _ = driver.object.close();
        }
        return (plugins.report(), Err(Error::Plugins(error.to_string())));
    }
    let runtime = assemble(epoch, config, host, drivers);
    cell.set(&runtime);
    if let Err(error) = finish(&runtime, &cell, &mut plugins, &make_host) {
        runtime.tear_down();
        return (plugins.report(), Err(error));
    }
    (plugins.report(), Ok(runtime))
}

/// Puts the machine together from the host and the drivers.
fn assemble(
    epoch: u16,
    mut config: Config,
    host: Vec<HostNode>,
    mut drivers: Vec<DriverSlot>,
) -> Arc<Runtime> {
    let mut machine = Machine::default();
    machine.add_host(host);
    let (chosen, warnings) = devices::choose(&drivers, machine.host_count(), &config);
    config.warnings.extend(warnings);
    let ends = chosen
        .iter()
        .filter_map(|device| device.description.attribute(api::Attribute::ADDRESS_END));
    reach::set_end(ends.min());
    machine.add_devices(&mut drivers, chosen);
    machine.connect_host_nodes();
    let guard_pages = &config.settings.memory.svm_guard_pages;
    let host_options = HostOptions {
        huge_pages: config.settings.memory.use_huge_pages.value,
        guard_pages: guard_pages.value,
        // Only for whoever asks for them.
        guard_small: guard_pages.origin != Origin::Default,
        executable: false,
    };
    let is_device = |agent: &usize| !machine.agents[*agent].is_cpu();
    let devices = (0..machine.agents.len()).filter(is_device).collect();
    Arc::new(Runtime {
        epoch,
        devices,
        config,
        report: Mutex::new(Report::empty()),
        drivers,
        agents: machine.agents,
        memory: Registry::new(&machine.regions),
        regions: machine.regions,
        caches: machine.caches,
        links: machine.links,
        svm: crate::memory::svm::Svm::default(),
        virtual_memory: crate::memory::virtual_memory::VirtualMemory::default(),
        handlers: Handlers::new(),
        hardware: Hardware::default(),
        dma: Dma::default(),
        queues: Mutex::new(HashMap::new()),
        code_caches: crate::queue::code_caches::CodeCaches::default(),
        counted: crate::queue::counted::Pool::default(),
        events: SystemEvents::default(),
        coherency: Mutex::new(HashMap::new()),
        scratch_limits: Mutex::new(HashMap::new()),
        host_options,
        host_slabs: crate::memory::host_slabs::HostSlabs::default(),
        own_buffers: crate::memory::own_buffers::OwnBuffers::default(),
        code: crate::code::Code::default(),
        groups: crate::handle::Table::new(crate::handle::Kind::SignalGroup),
        exchange: crate::ipc::Exchange::default(),
        shown_signals: crate::signal::ipc::Shown::default(),
        dispatches: crate::trace::Dispatches::default(),
        extensions: Mutex::new(Extensions::default()),
    })
}

/// What needs the runtime to be there: memory that devices see, and extensions.
fn finish(
    runtime: &Arc<Runtime>,
    cell: &Arc<RuntimeCell>,
    plugins: &mut Plugins,
    make_host: MakeHost<'_>,
) -> Result<()> {
    // SAFETY: the runtime keeps the driver, and takes no memory from it any more before it closes it.
    unsafe { crate::memory::source::set(&runtime.drivers) };
    listen(runtime)?;
    show_arenas(runtime)?;
    let services = Box::new(crate::services::services(cell));
    // SAFETY: the services are kept in the runtime beside the extensions, and dropped after them.
    let view = unsafe { services.as_ref().as_ref().unbound() };
    let mut loaded = plugins.start_extensions(&LinuxSystem, make_host, view);
    if runtime.config.settings.hsa.disable_image.value {
        loaded.retain(|extension| {
            extension
                .tables
                .iter()
                .all(|table| table.slot != api::TableSlot::IMAGE)
        });
    }
    let mut extensions = runtime.extensions.lock();
    extensions.services = Some(services);
    extensions.slots = loaded;
    drop(extensions);
    plugins
        .verdict()
        .map_err(|error| Error::Plugins(error.to_string()))
}

/// Shows what of the configuration could not be used; once per process.
fn warn_once(warnings: &[Warning]) {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if !WARNED.swap(true, Ordering::Relaxed) {
        for warning in warnings {
            eprintln!("hansa: {warning}");
        }
    }
}

/// Points at the doctor when no accelerator serves; once per process.
fn say_once_if_bare(runtime: &Runtime) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if runtime.agents.iter().all(Agent::is_cpu) && !SAID.swap(true, Ordering::Relaxed) {
        eprintln!("hansa: no accelerator serves; `hansa doctor` says why");
    }
}

/// Listens to the driver whose hardware changes signals. Signals have one mailbox, so only one driver's events can be
/// heard; beside it, and where the configuration wants no interrupts, waits look by themselves.
fn listen(runtime: &Runtime) -> Result<()> {
    let is_polled = |driver: &DriverSlot| driver.description.groups.contains(api::DriverGroups::POLLED);
    if runtime
        .drivers
        .iter()
        .any(|driver| !driver.nodes.is_empty() && is_polled(driver))
    {
        crate::signal::hardware::poll();
        return Ok(());
    }
    let mut drivers = runtime.drivers.iter().filter(|driver| {
        !driver.nodes.is_empty() && driver.description.groups.contains(api::DriverGroups::EVENTS)
    });
    let Some(driver) = drivers.next() else {
        return Ok(());
    };
    if drivers.next().is_some() || !runtime.config.settings.hsa.enable_interrupt.value {
        crate::signal::hardware::poll();
        return Ok(());
    }
    // SAFETY: the runtime keeps the driver, and stops to listen before it closes it.
    unsafe { runtime.hardware.listen(driver.object.as_ref()) }
}

/// Lets all devices see the memory that signals and queues live in, now and as it grows.
fn show_arenas(runtime: &Arc<Runtime>) -> Result<()> {
    if let Some((address, bytes)) = slots::committed() {
        runtime.show_arena(address, bytes)?;
    }
    crate::signal::ipc::show_all(runtime)?;
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
        caches.retain(|c| c.flags.contains(api::CacheFlags::DATA));
        caches.sort_by_key(|c| c.level);
        caches.dedup_by_key(|c| c.level);
        for description in caches {
            self.caches.push(Cache {
                agent,
                name: format!("L{}", description.level),
                description,
            });
        }
        (first..self.caches.len()).collect()
    }

    fn host_count(&self) -> u32 {
        u32::try_from(self.agents.len()).unwrap_or(u32::MAX)
    }

    /// Makes the agents of devices, in their order, and the ways between them.
    fn add_devices(&mut self, drivers: &mut [DriverSlot], chosen: Vec<Chosen>) {
        let mut agents: Vec<HashMap<u32, usize>> = vec![HashMap::new(); drivers.len()];
        for Chosen {
            driver,
            number,
            description,
        } in chosen
        {
            let node = description.node;
            let device = Device {
                reference: DeviceRef { driver, node },
                description,
            };
            let Some(kind) = Agent::kind_of(device) else {
                continue;
            };
            let gives = drivers[driver]
                .description
                .groups
                .contains(api::DriverGroups::HOST_MEMORY);
            agents[driver].insert(node, self.add_device(driver, number, kind, gives));
            drivers[driver].nodes.push(node);
        }
        for (slot, agents) in drivers.iter().zip(&agents) {
            self.connect(slot, agents);
        }
    }

    /// Ways that a driver knows of, between its agents, by its own numbers, and the host's.
    fn connect(&mut self, slot: &DriverSlot, agents: &HashMap<u32, usize>) {
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

    /// `gives`: host memory of its driver is the host's, and no region of a device.
    fn add_device(&mut self, driver: usize, number: u32, kind: AgentKind, gives: bool) -> usize {
        let agent = self.agents.len();
        let mut made = Agent {
            kind,
            node: number,
            regions: Vec::new(),
            isas: Vec::new(),
            caches: Vec::new(),
            nearest_cpu: 0,
        };
        let Some(device) = made.device() else { return agent };
        let description = device.description.clone();
        let first = self.regions.len();
        for (bank, memory) in description.banks.iter().enumerate() {
            if gives && memory.kind == api::BankKind::HOST {
                continue;
            }
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
                // In a heap of a device one multiple is as good as another, and its driver may say so.
                recommended_granule: match memory.recommended_granule {
                    0 if memory.kind == api::BankKind::DEVICE_HEAP => 0,
                    best => best.max(memory.granule),
                },
                place: Place::Bank {
                    driver,
                    node: description.node,
                    bank: u32::try_from(bank).unwrap_or(0),
                    host_visible,
                    uncleared: memory.flags.contains(api::BankFlags::UNCLEARED),
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
