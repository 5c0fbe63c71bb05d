//! The open driver: files and address spaces.
//!
//! The kernel ties a process's address space on a device to the first render node file it was shown, and its event
//! page to the first it was given; both stay until the process ends, however often the device is closed. They are
//! therefore kept apart from the driver, in [`Lasting`].

use crate::config::Config;
use crate::describe;
use crate::discover::{capability, judge, nothing, open_kfd, open_node, Candidate};
use crate::doorbell::Doorbells;
use crate::error::{Error, Result};
use crate::event::{EventPage, Events};
use crate::host_memory::HostMemory;
use crate::ioctl::{Kfd, Render};
use crate::memory::Memory;
use crate::placed::Placements;
use crate::queue::Queues;
use crate::registers::Registers;
use crate::topology::{self, Topology};
use crate::trap_handler::TrapHandlers;
use crate::uapi::drm::DeviceInfo;
use crate::uapi::system::ProcessDeviceApertures;
use hansa_plugin_api as api;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sys::System;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Interface that has the call for free memory.
pub(crate) const MINOR_AVAILABLE: u32 = 9;
/// Interface that makes dma-buf files.
pub(crate) const MINOR_DMABUF: u32 = 12;
/// Interface that has the mode of memory fault replay.
const MINOR_XNACK: u32 = 5;
/// Interface that has attributes of shared virtual memory.
pub(crate) const MINOR_SVM: u32 = 5;
/// Interface that reports exceptions to the run-time.
const MINOR_EXCEPTIONS: u32 = 13;
/// The end of the host's addresses, which most devices reach.
pub(crate) const HOST_LIMIT: u64 = (1 << 47) - 1;
/// The least that a device must reach: what programs that do not move leave free, and as much again.
const LEAST_LIMIT: u64 = (1 << 33) - 1;

/// What outlives a driver in a process.
#[derive(Debug, Default)]
pub struct Lasting {
    /// What a probe has just read, for the opening that follows.
    probed: Lock<Option<Topology>>,
    renders: Lock<HashMap<u32, Arc<Render>>>,
    pub(crate) event_page: Lock<Option<EventPage>>,
    /// The process that it belongs to; 0 before the first opening.
    owner: AtomicU32,
}

impl Lasting {
    /// Forgets what is a parent process's, where no driver was there to be told of the fork. By now the numbers of its files
    /// may be those of others, which stay open.
    fn belong_here(&self) {
        let own = std::process::id();
        let before = self.owner.swap(own, Ordering::AcqRel);
        if before != 0 && before != own {
            self.renders.lock().drain().for_each(std::mem::forget);
            std::mem::forget(self.event_page.lock().take());
        }
    }

    /// Forgets everything in a child process: the files are closed there, the mappings are the parent's.
    pub fn after_fork(&self) {
        for (_, render) in self.renders.lock().drain() {
            render.0.abandon();
            std::mem::forget(render);
        }
        if let Some(page) = self.event_page.lock().take() {
            std::mem::forget(page);
        }
    }

    /// Keeps what a probe read.
    pub(crate) fn keep(&self, topology: Topology) {
        *self.probed.lock() = Some(topology);
    }

    /// The machine as it is now.
    fn topology(&self, system: &dyn System) -> Result<Topology> {
        let root = Path::new(topology::ROOT);
        let probed = self.probed.lock().take();
        match probed.filter(|probed| probed.is_current(system, root)) {
            Some(topology) => Ok(topology),
            None => Topology::read(system, root),
        }
    }

    fn render(&self, system: &Arc<dyn System>, candidate: &Candidate) -> Result<Arc<Render>> {
        let mut renders = self.renders.lock();
        if let Some(render) = renders.get(&candidate.render_minor) {
            return Ok(Arc::clone(render));
        }
        let render = Arc::new(Render(open_node(system, &candidate.render_path())?));
        renders.insert(candidate.render_minor, Arc::clone(&render));
        Ok(render)
    }
}

/// A GPU that is open.
#[derive(Debug)]
pub struct Gpu {
    /// What files tell.
    pub candidate: Candidate,
    /// What the graphics driver tells, if it does.
    pub info: Option<DeviceInfo>,
    /// Its address space.
    pub apertures: ProcessDeviceApertures,
    /// Its render node.
    pub render: Arc<Render>,
}

impl Gpu {
    const fn subject(&self) -> describe::Subject<'_> {
        describe::Subject {
            candidate: &self.candidate,
            info: self.info,
            group_base: self.apertures.lds_base,
            private_base: self.apertures.scratch_base,
            last_address: self.apertures.gpuvm_limit,
        }
    }
}

/// The open driver.
#[derive(Debug)]
pub struct Machine {
    /// The system.
    pub system: Arc<dyn System>,
    /// `/dev/kfd`.
    pub kfd: Kfd,
    /// Minor number of the kernel's interface.
    pub minor: u32,
    /// The kernel reports exceptions.
    pub exceptions: bool,
    /// End of the addresses that all devices reach, where one does not reach all of the host's.
    pub address_end: Option<u64>,
    /// Open GPUs; the driver's numbers of nodes are indices of this list.
    pub gpus: Vec<Gpu>,
    /// What the runtime is told.
    pub description: api::SystemDescription,
    /// Allocations.
    pub memory: Memory,
    /// Memory at addresses that the runtime chose.
    pub placements: Placements,
    /// Host memory that devices see.
    pub host_memory: HostMemory,
    /// Queues.
    pub queues: Queues,
    /// Doorbells.
    pub doorbells: Doorbells,
    /// Trap handlers.
    pub trap_handlers: TrapHandlers,
    /// Pages of registers.
    pub registers: Registers,
    /// Events.
    pub events: Events,
    pub(crate) lasting: Arc<Lasting>,
}

impl Machine {
    /// Refuses a request that the kernel's interface does not have yet.
    pub(crate) fn needs(&self, needed: u32, request: &'static str) -> Result<()> {
        if self.minor < needed {
            return Err(Error::TooOld {
                request,
                needed,
                has: self.minor,
            });
        }
        Ok(())
    }

    /// Opens every GPU that can be opened.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn open(system: &Arc<dyn System>, lasting: &Arc<Lasting>, config: &Config) -> Result<Self> {
        lasting.belong_here();
        let (kfd, minor) = open_kfd(system)?;
        let topology = lasting.topology(system.as_ref())?;
        let (candidates, mut hidden) = judge(&topology, config, system.page_size() as u64);
        if candidates.is_empty() {
            return Err(nothing(&hidden));
        }
        // The kernel may have more devices than were read just before.
        let apertures = kfd.apertures(topology.nodes.len() + 64)?;
        let mut gpus = Vec::new();
        for candidate in candidates {
            let node = candidate.node;
            match open_gpu(system, lasting, &kfd, config, candidate, &apertures) {
                Ok(gpu) => gpus.push(gpu),
                Err(error) => hidden.push(format!("Node {node}: {}", api::Error::from(error))),
            }
        }
        if gpus.is_empty() {
            return Err(nothing(&hidden));
        }
        let xnack = if minor < MINOR_XNACK {
            false
        } else {
            // A kernel, or a chip, that has no such mode replays nothing.
            config
                .xnack
                .and_then(|wanted| kfd.xnack(Some(wanted)).ok())
                .or_else(|| kfd.xnack(None).ok())
                .unwrap_or(false)
        };
        let exceptions = enable_exceptions(&kfd, &topology, &gpus, minor);
        let told = describe::Told {
            xnack,
            exceptions,
            minor,
            fine_grain_pcie: config.fine_grain_pcie,
        };
        let limit = gpus.iter().map(|gpu| gpu.apertures.gpuvm_limit).min();
        let address_end = limit.filter(|limit| *limit < HOST_LIMIT).map(|limit| limit + 1);
        let description = describe::system(
            system.as_ref(),
            &topology,
            &gpus.iter().map(Gpu::subject).collect::<Vec<_>>(),
            hidden,
            told,
        );
        let mut machine = Self {
            system: Arc::clone(system),
            memory: Memory::default(),
            placements: Placements::default(),
            host_memory: HostMemory::default(),
            queues: Queues::default(),
            doorbells: Doorbells::new(gpus.len()),
            trap_handlers: TrapHandlers::default(),
            registers: Registers::default(),
            events: Events::default(),
            lasting: Arc::clone(lasting),
            kfd,
            minor,
            exceptions,
            address_end,
            gpus,
            description,
        };
        machine.map_registers();
        if exceptions {
            machine.install_trap_handlers();
        }
        Ok(machine)
    }

    /// A GPU by the driver's number.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for another number.
    pub fn gpu(&self, node: u32) -> Result<&Gpu> {
        self.gpus.get(node as usize).ok_or_else(|| {
            Error::Argument(format!(
                "Node {node} is none of this driver's {}",
                self.gpus.len()
            ))
        })
    }

    /// The kernel's numbers of some nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a number that is none.
    pub fn gpu_ids(&self, nodes: &[u32]) -> Result<Vec<u32>> {
        nodes
            .iter()
            .map(|&node| self.gpu(node).map(|gpu| gpu.candidate.gpu_id))
            .collect()
    }

    /// The kernel's numbers of all GPUs.
    #[must_use]
    pub fn all_gpu_ids(&self) -> Vec<u32> {
        self.gpus.iter().map(|gpu| gpu.candidate.gpu_id).collect()
    }

    /// The driver's number of a device, by the kernel's.
    #[must_use]
    pub fn node_of(&self, gpu_id: u32) -> Option<u32> {
        let index = self.gpus.iter().position(|gpu| gpu.candidate.gpu_id == gpu_id)?;
        u32::try_from(index).ok()
    }

    /// Gives everything back that the kernel keeps for the process beyond the file.
    pub fn close(&self) {
        self.queues.close(self);
        self.events.close(self);
        self.placements.close(self);
        self.memory.close(self);
        self.host_memory.close(self);
        self.doorbells.close(self);
        self.trap_handlers.close(self);
        self.registers.close(self);
        if self.exceptions {
            // The kernel forgets it with the process at the latest.
            let _ = self.kfd.runtime_enable(false, 0);
        }
    }
}

/// Asks the kernel to report exceptions, which it does where all devices can. Answers whether it will: not when somebody
/// else in the process has asked, for the reports are his.
fn enable_exceptions(kfd: &Kfd, topology: &Topology, gpus: &[Gpu], minor: u32) -> bool {
    let all = gpus
        .iter()
        .filter_map(|gpu| topology.node(gpu.candidate.node))
        .all(|node| has(node, capability::DEBUG_FIRMWARE));
    all && minor >= MINOR_EXCEPTIONS && kfd.runtime_enable(true, 0).is_ok()
}

fn open_gpu(
    system: &Arc<dyn System>,
    lasting: &Lasting,
    kfd: &Kfd,
    config: &Config,
    candidate: Candidate,
    apertures: &[ProcessDeviceApertures],
) -> Result<Gpu> {
    let apertures = apertures
        .iter()
        .find(|a| a.gpu_id == candidate.gpu_id)
        .copied()
        .ok_or_else(|| Error::Nonsense {
            request: "GET_PROCESS_APERTURES_NEW",
            what: format!("no entry for device {}", candidate.gpu_id),
        })?;
    if apertures.gpuvm_limit < LEAST_LIMIT || apertures.gpuvm_base > 1 << 32 {
        return Err(Error::NoDevice(format!(
            "its address space, {:#x} to {:#x}, leaves no room beside programs",
            apertures.gpuvm_base, apertures.gpuvm_limit
        )));
    }
    if apertures.lds_base >> 32 == 0 || apertures.scratch_base >> 32 == 0 {
        return Err(Error::Nonsense {
            request: "GET_PROCESS_APERTURES_NEW",
            what: format!(
                "apertures at {:#x} and {:#x}",
                apertures.lds_base, apertures.scratch_base
            ),
        });
    }
    let render = lasting.render(system, &candidate)?;
    kfd.acquire_vm(&render.0, candidate.gpu_id)?;
    let (base, limit) = (0x20_0000, apertures.gpuvm_limit.min(HOST_LIMIT) & !0x1f_ffff);
    kfd.set_memory_policy(candidate.gpu_id, base, limit - base, config.disable_cache)?;
    Ok(Gpu {
        info: render.device_info().ok(),
        candidate,
        apertures,
        render,
    })
}

/// Whether a node's capability word has a bit.
pub(crate) fn has(node: &topology::Node, bit: u32) -> bool {
    node.properties.get("capability") & bit != 0
}

/// Whether attributes of shared virtual memory work on a node.
pub(crate) fn has_svm(node: &topology::Node, minor: u32) -> bool {
    minor >= MINOR_SVM && has(node, capability::SVM)
}
