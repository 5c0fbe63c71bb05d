//! Ways between nodes: those that the kernel lists, and those through processors that follow from them.
//!
//! A GPU reaches another one, or a processor of another socket, through the processors between. Kernels that know of such
//! ways (since 5.18) count them in `p2p_links_count` and list those that can be used. Older ones list only the direct
//! ways; there the others are put together here, with the sum of the weights.
//! A way ends at memory, so a GPU is reached from outside only if the bus shows its memory; linked devices (one hive)
//! have ways of their own; and devices do not reach each other across the sockets of a QPI machine.
//!
//! Nothing is believed: a way to a node that is not there, or is hidden, is left out, and of several between the same
//! two the lightest counts.

use crate::topology::{link_flag, Heap, Link, Node, Topology};
use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{LinkFlags, LinkKind, NodeRef};
use std::collections::BTreeMap;
use std::path::Path;

/// Nodes of the host.
const HOST_NODES: &str = "/sys/devices/system/node";
/// Heaviest way that is one step.
const ONE_STEP: u32 = 20;
/// The kernel's kinds of links.
mod kind {
    pub(super) const PCIE: u32 = 2;
    pub(super) const QPI: u32 = 5;
}

/// All ways, in the contract's words; `gpus` are the kernel's numbers of the nodes that are driven.
pub(crate) fn links(system: &dyn System, topology: &Topology, gpus: &[u32]) -> Vec<api::LinkDescription> {
    let refs = references(system, topology, gpus);
    let mut ways: BTreeMap<(u32, u32), Link> = BTreeMap::new();
    for node in &topology.nodes {
        for link in &node.links {
            let there = topology.node(link.to).is_some() && link.to != node.number;
            let lighter = |known: &Link| (link.indirect, link.weight) < (known.indirect, known.weight);
            if there && ways.get(&(node.number, link.to)).is_none_or(lighter) {
                ways.insert((node.number, link.to), *link);
            }
        }
    }
    let knows = |node: &Node| node.properties.find("p2p_links_count").is_some();
    if !topology.nodes.iter().any(knows) && !ways.values().any(|link| link.indirect) {
        let through = through_processors(topology, &ways);
        ways.extend(through);
    }
    let mut made: BTreeMap<(u32, u32, u32, u32), api::LinkDescription> = BTreeMap::new();
    for ((from, to), link) in ways {
        let (Some(&from), Some(&to)) = (refs.get(&from), refs.get(&to)) else {
            continue;
        };
        let key = (from.space, from.node, to.space, to.node);
        let lighter = |known: &api::LinkDescription| link.weight < known.weight;
        // Two of the kernel's processor nodes may be one node of the host.
        if from != to && made.get(&key).is_none_or(lighter) {
            made.insert(key, link_of(from, to, &link));
        }
    }
    made.into_values().collect()
}

/// What the kernel's node numbers are in the contract: own numbers for GPUs, NUMA nodes for processors. The kernel
/// lists processors in the order of the NUMA nodes that have some. Where the host shows fewer of them (a container
/// without these files), those that are left stand for the rest.
fn references(system: &dyn System, topology: &Topology, gpus: &[u32]) -> BTreeMap<u32, NodeRef> {
    let numa = numa_nodes(system);
    let mut refs: BTreeMap<u32, NodeRef> = topology
        .nodes
        .iter()
        .filter(|node| node.gpu_id == 0 && node.is_host())
        .enumerate()
        .map(|(k, node)| {
            let host = numa.get(k).or_else(|| numa.last()).copied().unwrap_or(0);
            (node.number, NodeRef::host(host))
        })
        .collect();
    for (index, gpu) in (0_u32..).zip(gpus) {
        refs.insert(*gpu, NodeRef::own(index));
    }
    refs
}

/// Numbers of the NUMA nodes with processors.
fn numa_nodes(system: &dyn System) -> Vec<u32> {
    let root = Path::new(HOST_NODES);
    let mut numbers: Vec<u32> = system
        .read_dir(root)
        .unwrap_or_default()
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let has_processors = |number: &u32| {
        let list = system.read_file(&root.join(format!("node{number}/cpulist")));
        // A file that is missing says nothing; an empty one says that there is none.
        list.map_or(true, |text| !text.trim_ascii().is_empty())
    };
    numbers.retain(has_processors);
    numbers
}

/// Ways between GPUs, and between GPUs and further processors, that the direct ones make.
fn through_processors(
    topology: &Topology,
    direct: &BTreeMap<(u32, u32), Link>,
) -> BTreeMap<(u32, u32), Link> {
    let is_gpu = |node: &Node| node.gpu_id != 0;
    // The processor that a GPU is plugged into; a processor is its own.
    let near = |node: &Node| {
        if !is_gpu(node) {
            return Some(node.number);
        }
        node.links
            .iter()
            .find(|link| {
                let to_host = topology.node(link.to).is_some_and(|to| !is_gpu(to));
                to_host && link.kind == kind::PCIE && link.weight <= ONE_STEP
            })
            .map(|link| link.to)
    };
    let mut made = BTreeMap::new();
    for from in &topology.nodes {
        for to in topology.nodes.iter().filter(|to| to.number != from.number) {
            let key = (from.number, to.number);
            if direct.contains_key(&key) || !(is_gpu(from) || is_gpu(to)) {
                continue;
            }
            let hive = from.properties.get64("hive_id");
            let is_linked = hive != 0 && hive == to.properties.get64("hive_id");
            if is_linked || (is_gpu(to) && !to.banks.iter().any(|bank| bank.heap == Heap::Public)) {
                continue;
            }
            let (Some(first), Some(last)) = (near(from), near(to)) else {
                continue;
            };
            let steps = [(from.number, first), (first, last), (last, to.number)];
            let steps: Option<Vec<&Link>> = steps
                .iter()
                .filter(|(a, b)| a != b)
                .map(|step| direct.get(step))
                .collect();
            let Some(steps) = steps.filter(|steps| steps.len() > 1) else {
                continue;
            };
            let crosses = |link: &&Link| link.kind == kind::QPI && link.weight > ONE_STEP;
            if is_gpu(from) && is_gpu(to) && steps.iter().any(crosses) {
                continue;
            }
            let bandwidth = |of: fn(&Link) -> u32| steps.iter().map(|link| of(link)).min().unwrap_or(0);
            let latency =
                |of: fn(&Link) -> u32| steps.iter().map(|link| of(link)).fold(0, u32::saturating_add);
            let link = Link {
                to: to.number,
                kind: kind::PCIE,
                weight: steps
                    .iter()
                    .fold(0, |sum: u32, link| sum.saturating_add(link.weight)),
                latency_ns: (latency(|l| l.latency_ns.0), latency(|l| l.latency_ns.1)),
                bandwidth_mbs: (bandwidth(|l| l.bandwidth_mbs.0), bandwidth(|l| l.bandwidth_mbs.1)),
                engine_mask: 0,
                // What one step does not carry, the way does not.
                flags: steps.iter().fold(0, |flags, link| flags | effective(link.flags)),
                indirect: true,
            };
            made.insert(key, link);
        }
    }
    made
}

/// The bits that count.
const fn effective(flags: u32) -> u32 {
    if flags & link_flag::OVERRIDE == 0 {
        0
    } else {
        flags
    }
}

/// The kernel's kinds of links, as HSA numbers them.
fn link_kind(kind: u32) -> LinkKind {
    match kind {
        1 => LinkKind::HYPER_TRANSPORT,
        kind::QPI => LinkKind::QPI,
        9 => LinkKind::INFINIBAND,
        11 => LinkKind::XGMI,
        _ => LinkKind::PCIE,
    }
}

fn link_of(from: NodeRef, to: NodeRef, link: &Link) -> api::LinkDescription {
    let kind = link_kind(link.kind);
    let mut flags = if kind == LinkKind::INFINIBAND {
        LinkFlags::empty()
    } else {
        LinkFlags::ATOMICS_32 | LinkFlags::ATOMICS_64 | LinkFlags::COHERENT
    };
    if link.flags & link_flag::OVERRIDE != 0 {
        flags.set(LinkFlags::ATOMICS_32, link.flags & link_flag::NO_ATOMICS_32 == 0);
        flags.set(LinkFlags::ATOMICS_64, link.flags & link_flag::NO_ATOMICS_64 == 0);
        flags.set(LinkFlags::COHERENT, link.flags & link_flag::NON_COHERENT == 0);
        flags.set(LinkFlags::NO_PEER, link.flags & link_flag::NO_PEER != 0);
    }
    api::LinkDescription {
        from,
        to,
        kind,
        flags,
        weight: link.weight,
        hops: if link.indirect { 2 } else { 1 },
        min_latency_ns: link.latency_ns.0,
        max_latency_ns: link.latency_ns.1,
        min_bandwidth_mbs: link.bandwidth_mbs.0,
        max_bandwidth_mbs: link.bandwidth_mbs.1,
        engine_mask: link.engine_mask,
        reserved: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_link_count_only_with_the_override_bit() {
        let link = Link {
            to: 1,
            kind: 2,
            weight: 20,
            latency_ns: (0, 0),
            bandwidth_mbs: (0, 0),
            engine_mask: 0,
            flags: link_flag::NO_ATOMICS_64,
            indirect: false,
        };
        let flags = |flags| link_of(NodeRef::own(0), NodeRef::host(0), &Link { flags, ..link }).flags;
        assert!(flags(link_flag::NO_ATOMICS_64).contains(LinkFlags::ATOMICS_64));
        assert!(!flags(link_flag::OVERRIDE | link_flag::NO_ATOMICS_64).contains(LinkFlags::ATOMICS_64));
        assert!(flags(link_flag::OVERRIDE | link_flag::NO_PEER).contains(LinkFlags::NO_PEER));
    }
}
