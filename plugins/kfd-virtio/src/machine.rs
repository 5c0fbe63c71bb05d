//! The open driver: the host's GPUs, and what was made on them.

use crate::context::Context;
use crate::discover;
use crate::error::{Error, Result};
use crate::event::Events;
use crate::memory::Memory;
use crate::queue::Queues;
use crate::scratch::Scratch;
use crate::topology;
use crate::window::LIMIT;
use crate::wire::{query, VALUES};
use hansa_kfd::config::Config;
use hansa_kfd::describe::{self, Subject, Told};
use hansa_kfd::discover::{judge, Candidate};
use hansa_kfd::topology::{DoorbellKind, Heap, Topology};
use hansa_kfd::uapi::drm::DeviceInfo;
use hansa_plugin_api as api;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{AgentCaps, Attribute, BankFlags, BankKind, DriverGroups};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// What outlives a driver in a process: the context. The host ties a process's address space to it.
#[derive(Debug, Default)]
pub struct Lasting {
    context: Lock<Option<(u32, Arc<Context>)>>,
    /// The process that it belongs to; 0 before the first opening.
    owner: AtomicU32,
}

impl Lasting {
    /// Forgets what is a parent process's, where no driver was there to be told of the fork.
    fn belong_here(&self) {
        let own = std::process::id();
        let before = self.owner.swap(own, Ordering::AcqRel);
        if before != 0 && before != own {
            std::mem::forget(self.context.lock().take());
        }
    }

    /// Forgets everything in a child process: the file is closed there, the mappings are the parent's.
    pub fn after_fork(&self) {
        if let Some((_, context)) = self.context.lock().take() {
            if let Some(kept) = context.kept.try_lock() {
                for block in kept.iter() {
                    block.separate(&context);
                }
            }
            context.node().abandon();
            std::mem::forget(context);
        }
    }

    /// Ends what was kept, when the process has no use for it any more and nothing of it is used.
    pub fn end(&self) {
        self.context.lock().take();
    }

    fn context(&self, system: &Arc<dyn System>, found: &discover::Found) -> Result<Arc<Context>> {
        let mut kept = self.context.lock();
        if let Some((minor, context)) = &*kept {
            if *minor == found.minor && context.channel().is_alive() {
                return Ok(Arc::clone(context));
            }
        }
        // A context that was lost is in the way of the same addresses; one with memory that lasts has to stay all the same.
        if let Some((_, context)) = &*kept {
            if !context.kept.lock().is_empty() {
                return Err(Error::Lost("signals of this process are in its memory".into()));
            }
        }
        kept.take();
        let context = Arc::new(Context::open(system, found)?);
        *kept = Some((found.minor, Arc::clone(&context)));
        Ok(context)
    }
}

/// A GPU of the host.
#[derive(Debug)]
pub struct Gpu {
    /// What the host tells.
    pub candidate: Candidate,
}

/// The open driver.
#[derive(Debug)]
pub struct Machine {
    /// The system.
    pub system: Arc<dyn System>,
    /// The connection.
    pub context: Arc<Context>,
    /// GPUs; the driver's numbers of nodes are indices of this list.
    pub gpus: Vec<Gpu>,
    /// The host's number of a node with processors.
    pub host_node: u32,
    /// What the runtime is told.
    pub description: api::SystemDescription,
    /// Allocations.
    pub memory: Memory,
    /// Private memory of waves.
    pub scratch: Scratch,
    /// Queues.
    pub queues: Queues,
    /// Events.
    pub events: Events,
}

impl Machine {
    /// Opens the first node that leads to GPUs.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn open(system: &Arc<dyn System>, lasting: &Lasting, config: &Config) -> Result<Self> {
        lasting.belong_here();
        let look = discover::look(system);
        let Some(found) = look.found.first() else {
            return Err(look.nothing());
        };
        let mut hidden = look.hidden.clone();
        for other in &look.found[1..] {
            hidden.push(format!(
                "{}: one context serves a process, and that is on {}",
                other.path.display(),
                found.path.display()
            ));
        }
        let context = lasting.context(system, found)?;
        let (major, minor) = version(&context)?;
        if major != 1 {
            return Err(Error::NoDevice(format!(
                "The host's kernel speaks interface {major}.{minor}, the driver 1"
            )));
        }
        let (topology, apertures) = topology::read(&context, found.minor)?;
        let info = topology::device_info(&context).ok();
        // What this process replays is the host's choice, and a host without the question replays nothing.
        let xnack = context.query("GET_XNACK_MODE", query::XNACK, &[], 0);
        let xnack = xnack.is_ok_and(|answer| answer.word(VALUES) == 1);
        let (candidates, left_out) = judge(&topology, config, system.page_size() as u64);
        hidden.extend(left_out);
        let mut subjects = Vec::new();
        let mut gpus = Vec::new();
        for candidate in candidates {
            let node = candidate.node;
            let place = apertures.iter().find(|place| place.node == node).copied();
            match can_be_driven(&candidate, place.unwrap_or_default()) {
                Ok(()) => {
                    subjects.push((info_of(&topology, node, info), place.unwrap_or_default()));
                    gpus.push(Gpu { candidate });
                }
                Err(reason) => hidden.push(format!("Node {node}: {reason}")),
            }
        }
        if gpus.is_empty() {
            return Err(no_gpu(&hidden));
        }
        let subjects: Vec<Subject<'_>> = gpus
            .iter()
            .zip(subjects)
            .map(|(gpu, (info, place))| Subject {
                candidate: &gpu.candidate,
                info,
                group_base: place.group,
                private_base: place.private,
                last_address: LIMIT - 1,
            })
            .collect();
        let told = Told {
            xnack,
            exceptions: false,
            minor: 0,
            fine_grain_pcie: config.fine_grain_pcie,
        };
        let described = describe::system(system.as_ref(), &topology, &subjects, hidden, told);
        let memory = Memory::default();
        memory.restore(std::mem::take(&mut *context.kept.lock()));
        Ok(Self {
            host_node: topology
                .nodes
                .iter()
                .find(|node| node.is_host())
                .map_or(0, |node| node.number),
            description: adapt(described, &topology, system.page_size() as u64),
            system: Arc::clone(system),
            memory,
            scratch: Scratch::new(gpus.len()),
            queues: Queues::default(),
            events: Events::default(),
            context,
            gpus,
        })
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

    /// The host's numbers of some nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a number that is none.
    pub fn host_nodes(&self, nodes: &[u32]) -> Result<Vec<u32>> {
        nodes
            .iter()
            .map(|&node| self.gpu(node).map(|gpu| gpu.candidate.node))
            .collect()
    }

    /// The host's numbers of all GPUs.
    #[must_use]
    pub fn all_host_nodes(&self) -> Vec<u32> {
        self.gpus.iter().map(|gpu| gpu.candidate.node).collect()
    }

    /// Gives everything back but the context.
    pub fn close(&self) {
        self.queues.close(self);
        self.events.close(self);
        self.scratch.close(self);
        self.memory.close(self);
    }
}

fn version(context: &Context) -> Result<(u32, u32)> {
    let answer = context.query("GET_VER", query::VERSION, &[], 0)?;
    Ok((answer.word(VALUES), answer.word(VALUES + 4)))
}

fn no_gpu(hidden: &[String]) -> Error {
    Error::NoDevice(if hidden.is_empty() {
        "The host lists no GPU".into()
    } else {
        format!("No GPU of the host can be driven. {}", hidden.join(". "))
    })
}

/// Libdrm's facts are about one GPU of the host; they count for those of its kind.
fn info_of(topology: &Topology, node: u32, info: Option<DeviceInfo>) -> Option<DeviceInfo> {
    let device = topology.node(node)?.properties.get("device_id");
    info.filter(|info| info.device_id == device)
}

fn can_be_driven(candidate: &Candidate, place: topology::Apertures) -> std::result::Result<(), String> {
    if candidate.doorbell != DoorbellKind::Index {
        return Err(format!(
            "{} has rings that the protocol cannot lay out",
            candidate.own_target
        ));
    }
    if place.group >> 32 == 0 || place.private >> 32 == 0 {
        return Err(format!(
            "the host has group memory at {:#x} and private memory at {:#x}",
            place.group, place.private
        ));
    }
    Ok(())
}

/// What a device cannot do over virtio-gpu, and what the driver gives instead.
fn adapt(mut description: api::SystemDescription, topology: &Topology, page: u64) -> api::SystemDescription {
    description.groups =
        DriverGroups::MEMORY | DriverGroups::QUEUES | DriverGroups::HOST_MEMORY | DriverGroups::POLLED;
    let system = topology.nodes.iter().flat_map(|node| &node.banks);
    let system = system.filter(|bank| bank.heap == Heap::System);
    let bytes = system.fold(0, |sum: u64, bank| sum.saturating_add(bank.bytes));
    for node in &mut description.nodes {
        node.caps = AgentCaps(
            node.caps.0
                & !(AgentCaps::COOPERATIVE | AgentCaps::SVM | AgentCaps::PAGEABLE_ACCESS | AgentCaps::DEBUG)
                    .0,
        );
        // Their queues' indices would have to be where the host puts them.
        (node.dma_engines, node.dma_link_engines) = (0, 0);
        node.attributes
            .retain(|attribute| attribute.key != Attribute::GWS_COUNT);
        node.banks.push(api::MemoryBank {
            kind: BankKind::HOST,
            flags: BankFlags::HOST_VISIBLE
                | BankFlags::FINE_GRAIN
                | BankFlags::KERNARG
                | BankFlags::EXECUTABLE,
            bytes,
            granule: page,
            recommended_granule: page,
            width_bits: 0,
            max_clock_mhz: 0,
        });
    }
    description
}
