//! AMD's properties of agents (`hsa_amd_agent_info_t`). A property that an agent does not have is 0.

use crate::entry::Value;
use hansa_core::agent::{Agent, AgentKind, Device};
use hansa_core::queue::reclaim;
use hansa_core::runtime::Runtime;
use hansa_core::{clock, Error, Result};
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_agent_info_t as Info, hsa_amd_agent_memory_properties_t as MemoryProperty,
    hsa_amd_clock_counters_t, hsa_amd_dim3_t, hsa_amd_hdp_flush_t, hsa_amd_iommu_version_t,
};
use hansa_plugin_api::{AgentCaps, Attribute, BankKind, NodeDescription};

/// Bytes of `HSA_AMD_AGENT_INFO_UUID`.
const UUID_BYTES: usize = 21;
/// Bytes of a cache's line where nothing says how many.
const UNKNOWN_LINE: u32 = 64;
/// Most work-groups along a dimension: a grid's size has 32 bits.
const MOST_GROUPS: u64 = u32::MAX as u64;

/// Writes an attribute.
pub(super) fn info(runtime: &Runtime, agent: &Agent, attribute: u32, value: Value) -> Result<()> {
    let device = agent.device();
    let node = device.map(|d| &d.description);
    let number = |field: fn(&NodeDescription) -> u32| node.map_or(0, field);
    let further = |key: u32| node.and_then(|n| n.attribute(key)).unwrap_or(0);
    let further32 = |key: u32| u32::try_from(further(key)).unwrap_or(u32::MAX);
    match Info(attribute) {
        Info::CHIP_ID => value.set(number(|n| n.device_id)),
        Info::CACHELINE_SIZE => value.set(cache_line(runtime, agent)),
        Info::COMPUTE_UNIT_COUNT | Info::COOPERATIVE_COMPUTE_UNIT_COUNT => value.set(compute_units(agent)),
        Info::MAX_CLOCK_FREQUENCY => value.set(max_clock(agent)),
        Info::DRIVER_NODE_ID => value.set(agent.node),
        Info::MAX_ADDRESS_WATCH_POINTS => value.set(further32(Attribute::WATCH_POINTS)),
        Info::BDFID => value.set(number(|n| n.location)),
        Info::MEMORY_WIDTH => value.set(local_bank(node).map_or(0, |bank| bank.width_bits)),
        Info::MEMORY_MAX_FREQUENCY => value.set(local_bank(node).map_or(0, |bank| bank.max_clock_mhz)),
        Info::PRODUCT_NAME => value.set_text::<64>(node.map_or_else(|| agent.name(), |n| n.product.as_str())),
        Info::MAX_WAVES_PER_CU => value.set(number(|n| n.waves_per_simd * n.simds_per_cu)),
        Info::NUM_SIMDS_PER_CU => value.set(number(|n| n.simds_per_cu)),
        Info::NUM_SHADER_ENGINES => value.set(number(|n| n.shader_engines)),
        Info::NUM_SHADER_ARRAYS_PER_SE => value.set(number(|n| n.arrays_per_engine)),
        Info::HDP_FLUSH => value.set(hdp_flush(further(Attribute::HDP_FLUSH_ADDRESS))),
        Info::DOMAIN => value.set(number(|n| n.domain)),
        Info::COOPERATIVE_QUEUES => value.set(agent.can(AgentCaps::COOPERATIVE)),
        Info::UUID => value.set_bytes(&uuid(agent)),
        Info::ASIC_REVISION => value.set(further32(Attribute::ASIC_REVISION)),
        Info::SVM_DIRECT_HOST_ACCESS => value.set(agent.can(AgentCaps::COHERENT_HOST_ACCESS)),
        Info::MEMORY_AVAIL => value.set(available(runtime, agent)?),
        Info::TIMESTAMP_FREQUENCY => value.set(node.map_or(clock::HZ, |n| n.timestamp_hz)),
        Info::ASIC_FAMILY_ID => value.set(further32(Attribute::ASIC_FAMILY)),
        Info::UCODE_VERSION => value.set(further32(Attribute::PACKET_FIRMWARE)),
        Info::SDMA_UCODE_VERSION => value.set(further32(Attribute::DMA_FIRMWARE)),
        Info::NUM_SDMA_ENG => value.set(number(|n| n.dma_engines)),
        Info::NUM_SDMA_XGMI_ENG => value.set(number(|n| n.dma_link_engines)),
        Info::IOMMU_SUPPORT => value.set(hsa_amd_iommu_version_t::NONE),
        Info::NUM_XCC => value.set(node.map_or(0, |n| n.attribute(Attribute::XCC_COUNT).unwrap_or(1))),
        Info::DRIVER_UID => value.set(further32(Attribute::RENDER_MINOR)),
        Info::NEAREST_CPU => value.set(hsa_agent_t {
            handle: runtime.agent_handle(agent.nearest_cpu),
        }),
        Info::MEMORY_PROPERTIES => value.set(memory_properties(agent)),
        // No packet processor here has extended dispatch packets.
        Info::AQL_EXTENSIONS => value.set(0u64),
        Info::SCRATCH_LIMIT_MAX => value.set(reclaim::most(runtime, agent)),
        Info::SCRATCH_LIMIT_CURRENT => value.set(reclaim::limit(runtime, agent)),
        Info::CLOCK_COUNTERS => value.set(counters(runtime, device)?),
        Info::PM4_EMULATION | Info::HAS_EXPERT_SCHED_MODE | Info::HOST_ALLOC_DMABUF_SUPPORTED => {
            value.set(false);
        }
        // A number of Windows.
        Info::LUID => value.set(0u64),
        Info::CUID => value.set(0u128),
        Info::KERNEL_WG_MAX_SIZE => value.set(if agent.isas.is_empty() { 0 } else { MOST_GROUPS }),
        Info::KERNEL_WG_MAX_DIM => {
            let most = if agent.isas.is_empty() { 0 } else { MOST_GROUPS };
            value.set(hsa_amd_dim3_t {
                x: most,
                y: most,
                z: most,
            });
        }
        // No device here forms clusters of work-groups, prefetches areas, or keeps a part of its cache.
        Info::KERNEL_CLUSTER_MAX_DIM | Info::CLUSTER_MAX_DIM => {
            value.set(hsa_amd_dim3_t { x: 0, y: 0, z: 0 });
        }
        Info::KERNEL_CLUSTER_MAX_SIZE | Info::CLUSTER_MAX_SIZE => value.set(0u64),
        Info::MAX_DATA_PREFETCH_REGIONS => value.set(0u32),
        Info::REQUEST_PERSISTING_L2_CACHE_SIZE | Info::MAX_PERSISTING_L2_CACHE_SIZE => value.set(0usize),
        _ => return Err(Error::InvalidArgument("not an attribute of an agent")),
    }
    Ok(())
}

fn compute_units(agent: &Agent) -> u32 {
    match &agent.kind {
        AgentKind::Cpu(host) => host.processors,
        AgentKind::Gpu(d) | AgentKind::Aie(d) | AgentKind::Accelerator(d) => d.description.compute_units,
    }
}

fn max_clock(agent: &Agent) -> u32 {
    match &agent.kind {
        AgentKind::Cpu(host) => host.max_clock_mhz,
        AgentKind::Gpu(d) | AgentKind::Aie(d) | AgentKind::Accelerator(d) => d.description.max_clock_mhz,
    }
}

/// The line of an agent's second cache, the first that all of its compute units share; of one that the kernel says nothing of,
/// what AMD's runtime gives.
fn cache_line(runtime: &Runtime, agent: &Agent) -> u32 {
    let caches = agent.caches.iter().map(|&c| &runtime.caches[c].description);
    let line = caches
        .filter(|cache| cache.level == 2)
        .map(|cache| cache.line_bytes);
    match (line.max(), agent.isas.is_empty()) {
        (Some(line), _) if line != 0 => line,
        (_, true) if !agent.is_cpu() => 0,
        _ => UNKNOWN_LINE,
    }
}

/// The first bank of local memory, whose bus is the device's.
fn local_bank(node: Option<&NodeDescription>) -> Option<&hansa_plugin_api::MemoryBank> {
    let banks = &node?.banks;
    banks
        .iter()
        .find(|bank| bank.kind == BankKind::LOCAL)
        .or_else(|| banks.first())
}

/// The two registers that flush host writes, one word after the other.
fn hdp_flush(address: u64) -> hsa_amd_hdp_flush_t {
    let at = |offset: u64| match address {
        0 => std::ptr::null_mut(),
        base => std::ptr::with_exposed_provenance_mut(usize::try_from(base + offset).unwrap_or(0)),
    };
    hsa_amd_hdp_flush_t {
        HDP_MEM_FLUSH_CNTL: at(0),
        HDP_REG_FLUSH_CNTL: at(4),
    }
}

/// `GPU-` and 16 digits, or `GPU-XX` for a device that has no number; no more bytes than that and a NUL.
fn uuid(agent: &Agent) -> Vec<u8> {
    let kind = match agent.kind {
        AgentKind::Cpu(_) => "CPU",
        AgentKind::Gpu(_) => "GPU",
        AgentKind::Aie(_) => "AIE",
        AgentKind::Accelerator(_) => "DSP",
    };
    let text = match agent.device().map_or(0, |d| d.description.unique_id) {
        0 => format!("{kind}-XX"),
        number => format!("{kind}-{number:016x}"),
    };
    let mut bytes = text.into_bytes();
    bytes.push(0);
    debug_assert!(bytes.len() <= UUID_BYTES);
    bytes
}

/// Bytes that can still be allocated.
fn available(runtime: &Runtime, agent: &Agent) -> Result<u64> {
    if let Some(bytes) = runtime.available(agent)? {
        return Ok(bytes);
    }
    // SAFETY: takes a number and answers a number.
    let pages = unsafe { libc::sysconf(libc::_SC_AVPHYS_PAGES) };
    let page = hansa_core::memory::host::page_bytes() as u64;
    Ok(u64::try_from(pages).unwrap_or(0).saturating_mul(page))
}

fn memory_properties(agent: &Agent) -> [u8; 8] {
    let mut properties = [0; 8];
    if agent.can(AgentCaps::INTEGRATED) {
        let bit = MemoryProperty::AGENT_IS_APU.0.trailing_zeros();
        properties[(bit / 8) as usize] |= 1 << (bit % 8);
    }
    properties
}

fn counters(runtime: &Runtime, device: Option<&Device>) -> Result<hsa_amd_clock_counters_t> {
    let place = device
        .ok_or(Error::InvalidArgument("a CPU agent has no clock of its own"))?
        .reference;
    let clocks = runtime.drivers[place.driver].object.clock_counters(place.node)?;
    Ok(hsa_amd_clock_counters_t {
        gpu_clock_counter: clocks.device,
        cpu_clock_counter: clocks.host,
        system_clock_counter: clocks.system,
        system_clock_frequency: clocks.system_hz,
    })
}
