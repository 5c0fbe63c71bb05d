//! What the software GPU says of itself: nodes, banks, caches and links.

use crate::chip::{
    Chip, GROUP_APERTURE_HI, GROUP_BYTES, GWS_COUNT, MAX_PRIVATE_BYTES, PRIVATE_APERTURE_HI, SIMDS_PER_CU,
};
use crate::config::{page, Config};
use crate::copy::ENGINES;
use hansa_plugin_api::{
    AgentCaps, Attribute, BankFlags, BankKind, CacheDescription, CacheFlags, DriverGroups, LinkDescription,
    LinkFlags, LinkKind, MemoryBank, NodeDescription, NodeKind, NodeRef, RVec, SystemDescription,
};

/// PCI domain of software devices: one that no real bus has.
const DOMAIN: u32 = 0xff00;
/// PCI vendor number of the chips that are modelled.
const VENDOR_ID: u32 = 0x1002;
/// Upper half of every device's unique identifier: "HaGP" in ASCII.
const UNIQUE_ID_HI: u64 = 0x4861_4750 << 32;
/// Distance over the bus, as the kernel weighs PCI Express.
const BUS_WEIGHT: u32 = 20;
/// Fewest and most packets of a queue, as the kernel driver has it.
const QUEUE_PACKETS: [u32; 2] = [64, 131_072];

/// Describes the devices of a configuration.
pub(crate) fn system(config: &Config) -> SystemDescription {
    SystemDescription {
        groups: DriverGroups::MEMORY
            | DriverGroups::QUEUES
            | DriverGroups::COPY
            | DriverGroups::SHARING
            | DriverGroups::SVM,
        nodes: (0..config.devices).map(|index| node(config, index)).collect(),
        links: links(config.devices),
        hidden: RVec::new(),
    }
}

fn node(config: &Config, index: u32) -> NodeDescription {
    let chip = Chip::of(config.target(index));
    let mut caps = AgentCaps::KERNEL_DISPATCH
        | AgentCaps::SHARED_ADDRESSES
        | AgentCaps::HOST_VISIBLE_MEMORY
        | AgentCaps::COOPERATIVE
        | AgentCaps::IMAGES
        | AgentCaps::SVM
        | AgentCaps::SOFTWARE
        | AgentCaps::SCRATCH_RECLAIM
        | AgentCaps::COHERENT_HOST_ACCESS;
    caps.set(AgentCaps::PAGEABLE_ACCESS, config.hmm);
    caps.set(AgentCaps::SRAM_ECC, chip.sram_ecc);
    NodeDescription {
        caps,
        product: chip.product.into(),
        vendor: "AMD".into(),
        isas: RVec::from(vec![chip.isa.into()]),
        unique_id: UNIQUE_ID_HI | u64::from(index + 1),
        vendor_id: VENDOR_ID,
        device_id: chip.device_id,
        domain: DOMAIN,
        location: config.location + (index << 8),
        compute_units: config.compute_units.unwrap_or(chip.compute_units),
        simds_per_cu: SIMDS_PER_CU,
        waves_per_simd: chip.waves_per_simd,
        shader_engines: chip.shader_engines,
        arrays_per_engine: 1,
        wavefront_size: 64,
        group_bytes: GROUP_BYTES,
        max_clock_mhz: chip.clock_mhz,
        timestamp_hz: 1_000_000_000,
        dma_engines: ENGINES,
        dma_link_engines: 0,
        max_queues: config.queues,
        min_queue_packets: QUEUE_PACKETS[0],
        max_queue_packets: QUEUE_PACKETS[1],
        group_aperture_hi: GROUP_APERTURE_HI,
        private_aperture_hi: PRIVATE_APERTURE_HI,
        max_private_bytes: MAX_PRIVATE_BYTES,
        banks: RVec::from(vec![bank(config, chip)]),
        caches: caches(chip),
        attributes: [
            (Attribute::XCC_COUNT, 1),
            (Attribute::GWS_COUNT, u64::from(GWS_COUNT)),
            (Attribute::ASIC_FAMILY, chip.family),
        ]
        .into_iter()
        .map(|(key, value)| Attribute {
            key,
            reserved: 0,
            value,
        })
        .collect(),
        ..NodeDescription::new(index, NodeKind::GPU, chip.target.name())
    }
}

fn bank(config: &Config, chip: &Chip) -> MemoryBank {
    MemoryBank {
        kind: BankKind::LOCAL,
        flags: BankFlags::HOST_VISIBLE | BankFlags::EXECUTABLE,
        bytes: config.memory,
        granule: page(),
        recommended_granule: 2 << 20,
        width_bits: chip.memory_bits,
        max_clock_mhz: chip.memory_mhz,
    }
}

fn caches(chip: &Chip) -> RVec<CacheDescription> {
    let cache = |level, flags, bytes| CacheDescription {
        level,
        flags,
        bytes,
        line_bytes: 64,
        reserved: 0,
    };
    RVec::from(vec![
        cache(1, CacheFlags::DATA, 16 << 10),
        cache(1, CacheFlags::INSTRUCTION | CacheFlags::SHARED, 32 << 10),
        cache(
            2,
            CacheFlags::DATA | CacheFlags::INSTRUCTION | CacheFlags::SHARED,
            chip.l2_bytes,
        ),
    ])
}

/// Every device hangs on the first NUMA node's bus; two devices reach each other through the host.
fn links(devices: u32) -> RVec<LinkDescription> {
    let link = |from, to, hops| LinkDescription {
        from,
        to,
        kind: LinkKind::PCIE,
        flags: LinkFlags::ATOMICS_32 | LinkFlags::ATOMICS_64 | LinkFlags::COHERENT,
        weight: BUS_WEIGHT * hops,
        hops,
        min_latency_ns: 0,
        max_latency_ns: 0,
        min_bandwidth_mbs: 0,
        max_bandwidth_mbs: 0,
        engine_mask: 0,
        reserved: 0,
    };
    let mut links = RVec::new();
    for device in 0..devices {
        links.push(link(NodeRef::own(device), NodeRef::host(0), 1));
        links.push(link(NodeRef::host(0), NodeRef::own(device), 1));
        for peer in (0..devices).filter(|&peer| peer != device) {
            links.push(link(NodeRef::own(device), NodeRef::own(peer), 2));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_devices_differ_in_identifier_and_place_and_see_each_other() {
        let config = Config {
            devices: 2,
            ..Config::default()
        };
        let system = system(&config);
        let [a, b] = [&system.nodes[0], &system.nodes[1]];
        assert_ne!(a.unique_id, b.unique_id);
        assert_ne!(a.location, b.location);
        let way = |from, to| {
            system
                .links
                .iter()
                .find(|link| link.from == from && link.to == to)
                .map(|link| (link.weight, link.hops))
        };
        assert_eq!(way(NodeRef::own(0), NodeRef::own(1)), Some((40, 2)));
        assert_eq!(way(NodeRef::host(0), NodeRef::own(1)), Some((20, 1)));
        assert_eq!(way(NodeRef::own(1), NodeRef::host(0)), Some((20, 1)));
    }

    #[test]
    fn the_default_device_is_a_vega_10() {
        let system = system(&Config::default());
        let node = &system.nodes[0];
        assert_eq!(node.name, "gfx900");
        assert_eq!(node.isas.as_slice(), ["amdgcn-amd-amdhsa--gfx900:xnack-"]);
        assert_eq!(
            (node.compute_units, node.simds_per_cu, node.waves_per_simd),
            (64, 4, 10)
        );
        assert!(node
            .caps
            .contains(AgentCaps::SOFTWARE | AgentCaps::KERNEL_DISPATCH));
        assert!(!node.caps.contains(AgentCaps::PAGEABLE_ACCESS));
        assert_eq!(node.attribute(Attribute::GWS_COUNT), Some(64));
    }
}
