//! Agents: what can compute or use memory (HSA specification, 2.2).
//!
//! A CPU agent is the host itself and needs no driver. A GPU agent, an AIE agent and a generic accelerator agent
//! each hold a reference to a driver, which the runtime owns, and the number of their node there.

use crate::loader::Isa;
use crate::topology::HostNode;
use hansa_plugin_api::{AgentCaps, CacheDescription, NodeDescription, NodeKind};

/// A reference to a driver's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceRef {
    /// Index of the driver.
    pub driver: usize,
    /// The driver's own number of the node.
    pub node: u32,
}

/// What an agent is made of.
#[derive(Debug)]
pub enum AgentKind {
    /// Processors of a NUMA node.
    Cpu(HostNode),
    /// A GPU.
    Gpu(Device),
    /// An array of AI engines.
    Aie(Device),
    /// Any other accelerator.
    Accelerator(Device),
}

/// A device behind a driver.
#[derive(Debug)]
pub struct Device {
    /// Where it is.
    pub reference: DeviceRef,
    /// What the driver says of it.
    pub description: NodeDescription,
}

/// An agent.
#[derive(Debug)]
pub struct Agent {
    /// What it is made of.
    pub kind: AgentKind,
    /// Its number among all agents' nodes (`HSA_AGENT_INFO_NODE`, `HSA_AMD_AGENT_INFO_DRIVER_NODE_ID`).
    pub node: u32,
    /// Indexes of its regions.
    pub regions: Vec<usize>,
    /// Its instruction sets, the specific one first.
    pub isas: Vec<Isa>,
    /// Indexes of its caches.
    pub caches: Vec<usize>,
    /// Index of the nearest CPU agent.
    pub nearest_cpu: usize,
}

impl Agent {
    /// The device, unless it is a CPU agent.
    #[must_use]
    pub const fn device(&self) -> Option<&Device> {
        match &self.kind {
            AgentKind::Cpu(_) => None,
            AgentKind::Gpu(device) | AgentKind::Aie(device) | AgentKind::Accelerator(device) => Some(device),
        }
    }

    /// Whether it is a CPU agent.
    #[must_use]
    pub const fn is_cpu(&self) -> bool {
        matches!(self.kind, AgentKind::Cpu(_))
    }

    /// Whether it is a GPU agent.
    #[must_use]
    pub const fn is_gpu(&self) -> bool {
        matches!(self.kind, AgentKind::Gpu(_))
    }

    /// Whether a device has all of these capabilities.
    #[must_use]
    pub fn can(&self, caps: AgentCaps) -> bool {
        self.device().is_some_and(|d| d.description.caps.contains(caps))
    }

    /// Name, as `HSA_AGENT_INFO_NAME` gives it.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.kind {
            AgentKind::Cpu(host) => &host.name,
            AgentKind::Gpu(d) | AgentKind::Aie(d) | AgentKind::Accelerator(d) => d.description.name.as_str(),
        }
    }

    /// Vendor, as `HSA_AGENT_INFO_VENDOR_NAME` gives it.
    #[must_use]
    pub fn vendor(&self) -> &str {
        match &self.kind {
            AgentKind::Cpu(host) => &host.vendor,
            AgentKind::Gpu(d) | AgentKind::Aie(d) | AgentKind::Accelerator(d) => {
                d.description.vendor.as_str()
            }
        }
    }

    /// The agent kind of a node, or `None` for one that makes no agent.
    #[must_use]
    pub fn kind_of(device: Device) -> Option<AgentKind> {
        match device.description.kind {
            NodeKind::HOST => None,
            NodeKind::GPU => Some(AgentKind::Gpu(device)),
            NodeKind::AIE => Some(AgentKind::Aie(device)),
            _ => Some(AgentKind::Accelerator(device)),
        }
    }
}

/// A cache of an agent.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Index of the agent.
    pub agent: usize,
    /// Name, such as `L1`.
    pub name: String,
    /// What the driver or the host says of it.
    pub description: CacheDescription,
}
