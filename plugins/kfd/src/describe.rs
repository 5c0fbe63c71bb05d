//! What the runtime is told: nodes, banks, caches and links, in the contract's words.

use crate::discover::{capability, Candidate};
use crate::machine::{has, has_svm, HOST_LIMIT, MINOR_DMABUF};
use crate::placed::MINOR_PLACED;
use crate::topology::{cache_kind, Bank, Cache, Heap, Node, Topology};
use crate::uapi::drm::{DeviceInfo, IDS_FUSION};
use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{AgentCaps, Attribute, BankFlags, CacheFlags, RString, RVec};
use std::collections::BTreeMap;
use std::path::Path;

/// Names of products by PCI device and revision, from libdrm.
const PRODUCTS: &str = "/usr/share/libdrm/amdgpu.ids";
/// Names of processors, which say what graphics they have.
const PROCESSORS: &str = "/proc/cpuinfo";
/// Fewest and most packets of a queue. The kernel wants a ring to be all of its buffer, so it fills a page at least.
const QUEUE_PACKETS: (u32, u32) = (64, 131_072);
/// Bytes of a packet.
const PACKET_BYTES: u64 = 64;
/// Queues of a process on one device (the doorbells of one page).
const MOST_QUEUES: u32 = 128;
/// Best granule of local memory: a large page of the device's tables.
const LARGE_PAGE: u64 = 2 << 20;
/// Most bytes of private memory of a work-item: 13 bits of KiB for a wave, over 64 lanes.
const MAX_PRIVATE_BYTES: u32 = ((1 << 13) - 1) * 1024 / 64;
/// Ticks per second of the device's clock where the kernel does not say.
const DEFAULT_CLOCK_HZ: u64 = 100_000_000;

/// What the kernel told of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Memory faults are replayed.
    pub xnack: bool,
    /// Exceptions are reported.
    pub exceptions: bool,
    /// Minor number of the interface.
    pub minor: u32,
    /// The configuration wants fine-grained memory without links.
    pub fine_grain_pcie: bool,
}

/// What files of the host tell.
struct Host<'a> {
    system: &'a dyn System,
    products: Vec<u8>,
    page: u64,
}

fn text(system: &dyn System, path: &str) -> Vec<u8> {
    system.read_file(Path::new(path)).unwrap_or_default()
}

/// What the description of a GPU is made of, beside its node.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What files tell.
    pub candidate: &'a Candidate,
    /// What the graphics driver tells, if it does.
    pub info: Option<DeviceInfo>,
    /// First address of group memory.
    pub group_base: u64,
    /// First address of private memory.
    pub private_base: u64,
    /// Last address that it reaches.
    pub last_address: u64,
}

/// Describes the open GPUs of a machine.
pub fn system(
    system: &dyn System,
    topology: &Topology,
    gpus: &[Subject<'_>],
    hidden: Vec<String>,
    told: Told,
) -> api::SystemDescription {
    let minor = told.minor;
    let host = Host {
        system,
        products: text(system, PRODUCTS),
        page: system.page_size() as u64,
    };
    let mut groups = api::DriverGroups::MEMORY
        | api::DriverGroups::QUEUES
        | api::DriverGroups::EVENTS
        | api::DriverGroups::DMA_ENGINES;
    if minor >= MINOR_DMABUF {
        groups |= api::DriverGroups::SHARING;
    }
    if minor >= MINOR_PLACED {
        groups |= api::DriverGroups::VIRTUAL_MEMORY;
    }
    if gpus
        .iter()
        .filter_map(|gpu| topology.node(gpu.candidate.node))
        .any(|node| has_svm(node, minor))
    {
        groups |= api::DriverGroups::SVM;
    }
    let mut description = api::SystemDescription {
        groups,
        nodes: RVec::new(),
        links: RVec::new(),
        hidden: hidden
            .into_iter()
            .chain(topology.remarks.iter().cloned())
            .map(RString::from)
            .collect(),
    };
    let nodes: Vec<u32> = gpus.iter().map(|gpu| gpu.candidate.node).collect();
    for (index, gpu) in gpus.iter().enumerate() {
        let Some(node) = topology.node(gpu.candidate.node) else {
            continue;
        };
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        description.nodes.push(gpu_node(index, gpu, node, &host, told));
    }
    description.links = crate::links::links(system, topology, &nodes).into();
    description
}

fn gpu_node(index: u32, gpu: &Subject<'_>, node: &Node, host: &Host<'_>, told: Told) -> api::NodeDescription {
    let p = &node.properties;
    let candidate = gpu.candidate;
    let chip = candidate.own_target.chip();
    let shape = candidate.numbers.shape;
    let units = shape.simds / shape.simds_per_cu.max(1);
    let engines = shape.arrays / shape.arrays_per_engine.max(1);
    let sram_ecc = has(node, capability::SRAM_ECC);
    let replays = told.xnack && candidate.target.chip().is_some_and(|chip| chip.xnack);
    let name = candidate.target.to_string();
    let integrated = node.is_host() || gpu.info.is_some_and(|info| info.ids_flags & IDS_FUSION != 0);
    let product = match gpu.info {
        Some(info) => product_name(&host.products, info.device_id, info.pci_rev)
            .or_else(|| {
                integrated
                    .then(|| graphics_of_processor(&text(host.system, PROCESSORS)))
                    .flatten()
            })
            // What libdrm says of a device that its list does not have.
            .unwrap_or_else(|| "AMD Radeon Graphics".to_owned()),
        None if node.name.is_empty() => name.clone(),
        None => node.name.clone(),
    };
    let linked = p.get64("hive_id") != 0 || told.fine_grain_pcie;
    let banks = banks(node, host.page, linked);
    let visible = banks
        .iter()
        .any(|bank| bank.flags.contains(BankFlags::HOST_VISIBLE));

    let mut caps = AgentCaps::KERNEL_DISPATCH | AgentCaps::SHARED_ADDRESSES;
    caps.set(AgentCaps::HOST_VISIBLE_MEMORY, visible);
    caps.set(AgentCaps::COOPERATIVE, p.get("num_gws") != 0);
    caps.set(AgentCaps::XNACK, replays);
    caps.set(AgentCaps::PAGEABLE_ACCESS, replays);
    caps.set(AgentCaps::SRAM_ECC, sram_ecc);
    caps.set(AgentCaps::IMAGES, chip.is_some_and(|chip| chip.images));
    caps.set(AgentCaps::INTEGRATED, integrated);
    caps.set(AgentCaps::FULL_PROFILE, node.is_host());
    caps.set(AgentCaps::SVM, has_svm(node, told.minor));
    caps.set(AgentCaps::DEBUG, told.exceptions);
    caps.set(
        AgentCaps::COHERENT_HOST_ACCESS,
        has(node, capability::COHERENT_HOST_ACCESS),
    );
    caps.set(AgentCaps::FINE_GRAIN_LOCAL, linked);

    let mut attributes = vec![
        (Attribute::XCC_COUNT, u64::from(shape.dies)),
        (Attribute::HIVE_ID, p.get64("hive_id")),
        (Attribute::GWS_COUNT, p.get64("num_gws")),
        (Attribute::PACKET_FIRMWARE, p.get64("fw_version") & 0x3ff),
        (Attribute::DMA_FIRMWARE, p.get64("sdma_fw_version") & 0x3ff),
        (
            Attribute::ASIC_REVISION,
            u64::from(p.get("capability") >> capability::ASIC_REVISION_SHIFT & 0xf),
        ),
        (Attribute::RENDER_MINOR, u64::from(candidate.render_minor)),
        (Attribute::WATCH_POINTS, watch_points(p.get("capability"))),
    ];
    if let Some(code) = crate::blit::code(candidate.own_target) {
        attributes.push((Attribute::COPY_CODE, code.as_ptr().expose_provenance() as u64));
        attributes.push((Attribute::COPY_CODE_BYTES, code.len() as u64));
    }
    if gpu.last_address < HOST_LIMIT {
        attributes.push((Attribute::ADDRESS_END, gpu.last_address + 1));
    }
    if let Some(info) = gpu.info {
        attributes.push((Attribute::ASIC_FAMILY, u64::from(info.family)));
    }
    if let Some(area) = candidate.save_area {
        attributes.push((Attribute::SAVE_AREA_BYTES, area.total));
        attributes.push((Attribute::CONTROL_STACK_BYTES, u64::from(area.control_stack)));
    }
    let clock_hz = gpu
        .info
        .map(|info| u64::from(info.gpu_counter_freq) * 1000)
        .filter(|hz| *hz != 0)
        .unwrap_or(DEFAULT_CLOCK_HZ);
    let half = |address: u64| u32::try_from(address >> 32).unwrap_or(0);

    api::NodeDescription {
        caps,
        product: product.into(),
        vendor: "AMD".into(),
        isas: RVec::from(vec![RString::from(candidate.target.isa(sram_ecc, replays))]),
        unique_id: p.get64("unique_id"),
        vendor_id: p.get("vendor_id"),
        device_id: p.get("device_id"),
        domain: p.get("domain"),
        location: p.get("location_id"),
        compute_units: units,
        simds_per_cu: shape.simds_per_cu,
        waves_per_simd: candidate.numbers.waves_per_simd,
        shader_engines: engines,
        arrays_per_engine: shape.arrays_per_engine,
        wavefront_size: candidate.numbers.lanes,
        group_bytes: shape.lds_kib * 1024,
        max_clock_mhz: p.get("max_engine_clk_fcompute"),
        timestamp_hz: clock_hz,
        dma_engines: p.get("num_sdma_engines"),
        dma_link_engines: p.get("num_sdma_xgmi_engines"),
        max_queues: MOST_QUEUES,
        min_queue_packets: least_packets(host.page),
        max_queue_packets: QUEUE_PACKETS.1,
        group_aperture_hi: half(gpu.group_base),
        private_aperture_hi: half(gpu.private_base),
        max_private_bytes: MAX_PRIVATE_BYTES,
        banks,
        caches: caches(node),
        attributes: attributes
            .into_iter()
            .map(|(key, value)| Attribute {
                key,
                reserved: 0,
                value,
            })
            .collect(),
        ..api::NodeDescription::new(index, api::NodeKind::GPU, &name)
    }
}

/// Address watch points of a debugger: the kernel gives the logarithm of their number.
fn watch_points(capabilities: u32) -> u64 {
    if capabilities & capability::WATCH_POINTS == 0 {
        return 0;
    }
    1 << (capabilities >> capability::WATCH_POINTS_SHIFT & 0xf)
}

/// Fewest packets of a queue, for pages of a size.
fn least_packets(page: u64) -> u32 {
    u32::try_from(page / PACKET_BYTES).map_or(QUEUE_PACKETS.1, |packets| packets.max(QUEUE_PACKETS.0))
}

/// Local memory: coarse-grained, and once more fine-grained where linked devices share it coherently.
fn banks(node: &Node, page: u64, linked: bool) -> RVec<api::MemoryBank> {
    let mut banks = RVec::new();
    // The first kernels gave only the size of local memory, which later ones leave at 0.
    let unlisted = node.properties.get64("local_mem_size");
    let unlisted = (node.banks.is_empty() && unlisted != 0).then_some(Bank {
        heap: Heap::Private,
        bytes: unlisted,
        width: 0,
        clock_mhz: 0,
    });
    for bank in node.banks.iter().chain(&unlisted) {
        let mut flags = match bank.heap {
            // Small allocations get parts of buffers that were used before.
            Heap::Public => BankFlags::HOST_VISIBLE | BankFlags::EXECUTABLE | BankFlags::UNCLEARED,
            Heap::Private => BankFlags::EXECUTABLE | BankFlags::UNCLEARED,
            Heap::System | Heap::Other(_) => continue,
        };
        if bank.bytes < page {
            continue;
        }
        for fine in [false, true] {
            if fine && !linked {
                continue;
            }
            flags.set(BankFlags::FINE_GRAIN, fine);
            banks.push(api::MemoryBank {
                kind: api::BankKind::LOCAL,
                flags,
                bytes: bank.bytes,
                granule: page,
                recommended_granule: LARGE_PAGE,
                width_bits: bank.width,
                max_clock_mhz: bank.clock_mhz,
            });
        }
    }
    banks
}

/// One cache per level and kind. The kernel lists those of every unit, kind after kind: of a level the vector caches first, then
/// scalar ones, then those that several units share, which may be larger and are not what programs ask for.
fn caches(node: &Node) -> RVec<api::CacheDescription> {
    let mut found: BTreeMap<(u32, bool), Cache> = BTreeMap::new();
    for cache in &node.caches {
        if cache.kind & cache_kind::COMPUTE == 0 || cache.kib == 0 {
            continue;
        }
        let instruction = cache.kind & cache_kind::INSTRUCTION != 0;
        found.entry((cache.level, instruction)).or_insert(*cache);
    }
    found
        .into_values()
        .map(|cache| {
            let mut flags = CacheFlags::empty();
            flags.set(CacheFlags::DATA, cache.kind & cache_kind::DATA != 0);
            flags.set(CacheFlags::INSTRUCTION, cache.kind & cache_kind::INSTRUCTION != 0);
            flags.set(CacheFlags::SHARED, cache.level > 1);
            api::CacheDescription {
                level: cache.level,
                flags,
                bytes: u64::from(cache.kib) * 1024,
                line_bytes: cache.line_bytes,
                reserved: 0,
            }
        })
        .collect()
}

/// The name of a product: lines `DEVICE,<tab>REVISION,<tab>NAME`, numbers in hexadecimal.
fn product_name(table: &[u8], device: u32, revision: u32) -> Option<String> {
    let text = std::str::from_utf8(table).ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ',');
        let mut number = || u32::from_str_radix(fields.next()?.trim(), 16).ok();
        (number() == Some(device) && number() == Some(revision))
            .then(|| fields.next())
            .flatten()
            .map(|name| name.trim().to_owned())
    })
}

/// The name of the graphics of a processor whose name tells them ("... with Radeon Graphics"), as libdrm makes it; the
/// processor's own name where it does not.
fn graphics_of_processor(text: &[u8]) -> Option<String> {
    const MAKER: &str = "AMD";
    let text = String::from_utf8_lossy(text);
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    let name = match line.find("Radeon") {
        Some(at) => &line[at..],
        None => line.split_once(':')?.1,
    };
    let name = name.trim();
    match name {
        "" => None,
        _ if name.starts_with(MAKER) => Some(name.to_owned()),
        _ => Some(format!("{MAKER} {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_names_its_graphics() {
        let rows = [
            (
                "model name\t: AMD Ryzen 7 5700G with Radeon Graphics\n",
                Some("AMD Radeon Graphics"),
            ),
            (
                "processor\t: 0\nmodel name\t: AMD RYZEN AI MAX+ 395 w/ Radeon 8060S\nmodel name\t: B\n",
                Some("AMD Radeon 8060S"),
            ),
            (
                "model name\t: AMD Instinct MI300A Accelerator\n",
                Some("AMD Instinct MI300A Accelerator"),
            ),
            ("model name\t: \n", None),
            ("cpu\t: POWER9\n", None),
        ];
        for (text, name) in rows {
            assert_eq!(graphics_of_processor(text.as_bytes()).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn a_product_is_found_by_device_and_revision() {
        let table = b"# List\n1.0.0\n687F,\tC0,\tRadeon RX Vega 64\n687F,\tC1,\tAMD Radeon RX Vega\n";
        assert_eq!(
            product_name(table, 0x687f, 0xc1).as_deref(),
            Some("AMD Radeon RX Vega")
        );
        assert_eq!(product_name(table, 0x687f, 0xff), None);
    }
}
