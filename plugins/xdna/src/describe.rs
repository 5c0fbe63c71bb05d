//! What the runtime is told of an NPU.

use crate::config::Config;
use crate::device::Device;
use crate::memory::Bank;
use hansa_plugin_api::{
    AgentCaps, Attribute, BankFlags, BankKind, DriverGroups, LinkDescription, LinkFlags, LinkKind,
    MemoryBank, NodeDescription, NodeKind, NodeRef, RString, SystemDescription,
};
use std::sync::Arc;

/// Packets of a queue. AMD's runtime has queues of this size only, and programs for NPUs ask for it.
const QUEUE_PACKETS: u32 = 64;
/// Distance of the host's memory, as the kernel weighs a hop to a neighbour.
const HOST_WEIGHT: u32 = 20;

/// Everything.
pub(crate) fn describe(
    devices: &[Arc<Device>],
    hidden: Vec<String>,
    config: &Config,
    page: u64,
) -> SystemDescription {
    let numbered = || devices.iter().zip(0_u32..);
    SystemDescription {
        groups: DriverGroups::MEMORY | DriverGroups::QUEUES | DriverGroups::SHARING,
        nodes: numbered()
            .map(|(device, node)| describe_node(device, node, config, page))
            .collect(),
        links: numbered()
            .flat_map(|(device, node)| {
                let host = NodeRef::host(device.candidate.identity.numa_node);
                let npu = NodeRef::own(node);
                [link(npu, host), link(host, npu)]
            })
            .collect(),
        hidden: hidden.into_iter().map(RString::from).collect(),
    }
}

fn describe_node(device: &Device, node: u32, config: &Config, page: u64) -> NodeDescription {
    let candidate = &device.candidate;
    let identity = &candidate.identity;
    let name = candidate.generation.name();
    let (domain, location) = identity.location().unwrap_or((0, 0));
    let product = identity
        .product
        .clone()
        .unwrap_or_else(|| format!("AMD NPU ({name})"));
    let number = |key, value: u32| Attribute {
        key,
        reserved: 0,
        value: value.into(),
    };
    NodeDescription {
        // Its memory is the host's, and caches are written back around each dispatch.
        caps: AgentCaps::AGENT_DISPATCH
            | AgentCaps::HOST_VISIBLE_MEMORY
            | AgentCaps::COHERENT_HOST_ACCESS
            | AgentCaps::INTEGRATED,
        product: product.into(),
        vendor: "AMD".into(),
        vendor_id: identity.vendor,
        device_id: identity.device,
        domain,
        location,
        compute_units: candidate.core_tiles(),
        max_clock_mhz: candidate.clock_mhz,
        max_queues: candidate.generation.most_contexts(),
        min_queue_packets: QUEUE_PACKETS,
        max_queue_packets: QUEUE_PACKETS,
        banks: Bank::ALL
            .iter()
            .map(|bank| describe_bank(*bank, device, config, page))
            .collect(),
        attributes: [
            number(Attribute::AIE_COLUMNS, candidate.columns()),
            number(Attribute::AIE_CORE_ROWS, candidate.array.core.row_count.into()),
        ]
        .into_iter()
        .collect(),
        ..NodeDescription::new(node, NodeKind::AIE, name)
    }
}

fn describe_bank(bank: Bank, device: &Device, config: &Config, page: u64) -> MemoryBank {
    let mut flags = BankFlags::HOST_VISIBLE;
    flags.set(BankFlags::KERNARG, bank == Bank::Kernarg);
    let heap = bank == Bank::Heap;
    MemoryBank {
        kind: if heap {
            BankKind::DEVICE_HEAP
        } else {
            BankKind::HOST
        },
        flags,
        bytes: if heap {
            config.heap_bytes
        } else {
            device.host_bytes / page * page
        },
        granule: page,
        // Programs know the heap, where images and instructions must be, by this number being 0.
        recommended_granule: if heap { 0 } else { page },
        width_bits: 0,
        max_clock_mhz: 0,
    }
}

/// The device reads and writes host memory past the host's caches.
fn link(from: NodeRef, to: NodeRef) -> LinkDescription {
    LinkDescription {
        from,
        to,
        kind: LinkKind::PCIE,
        flags: LinkFlags::empty(),
        weight: HOST_WEIGHT,
        hops: 1,
        min_latency_ns: 0,
        max_latency_ns: 0,
        min_bandwidth_mbs: 0,
        max_bandwidth_mbs: 0,
        engine_mask: 0,
        reserved: 0,
    }
}
