//! Memory regions (HSA Runtime PRM 1.2, section 2.7).

use crate::entry::{callback, entry, go_on, Value};
use hansa_core::agent::Agent;
use hansa_core::memory::{GlobalFlags, Place as RegionPlace, Region, Segment};
use hansa_core::runtime::Runtime;
use hansa_core::{current, Error, Result};
use hansa_plugin_api::hsa::{
    c_void, hsa_agent_t, hsa_amd_region_info_t as AmdInfo, hsa_region_info_t as Info, hsa_region_t,
    RegionCallback,
};
use hansa_plugin_api::MemoryBank;

/// The regions an agent can use, its own first: a device also uses those of the host, fine-grained ones first.
fn regions_of(runtime: &Runtime, agent: &Agent) -> Vec<usize> {
    let mut regions = agent.regions.clone();
    if !agent.is_cpu() {
        let host = |coarse: bool| {
            let all = runtime.regions.iter().enumerate().filter(|(_, r)| r.is_host());
            all.filter(move |(_, r)| r.flags.contains(GlobalFlags::COARSE_GRAINED) == coarse)
                .map(|(i, _)| i)
        };
        regions.extend(host(false));
        regions.extend(host(true));
    }
    regions
}

/// What the driver says of a region's memory.
fn bank<'a>(runtime: &'a Runtime, region: &Region) -> Option<&'a MemoryBank> {
    let RegionPlace::Bank { bank, .. } = region.place else {
        return None;
    };
    runtime.agents[region.agent]
        .device()?
        .description
        .banks
        .get(bank as usize)
}

/// Where the memory of a work-group appears to its agent.
fn group_aperture(runtime: &Runtime, region: &Region) -> u64 {
    match (region.segment, runtime.agents[region.agent].device()) {
        (Segment::Group, Some(device)) => u64::from(device.description.group_aperture_hi) << 32,
        _ => 0,
    }
}

fn amd_info(runtime: &Runtime, region: &Region, attribute: u32, value: Value) -> Result<()> {
    match AmdInfo(attribute) {
        AmdInfo::HOST_ACCESSIBLE => value.set(match region.place {
            RegionPlace::Host => true,
            RegionPlace::Bank { host_visible, .. } => host_visible,
            RegionPlace::None => false,
        }),
        AmdInfo::BASE => value.set(group_aperture(runtime, region)),
        AmdInfo::BUS_WIDTH => value.set(bank(runtime, region).map_or(0, |b| b.width_bits)),
        AmdInfo::MAX_CLOCK_FREQUENCY => value.set(bank(runtime, region).map_or(0, |b| b.max_clock_mhz)),
        _ => return Err(Error::InvalidArgument("not an attribute of a region")),
    }
    Ok(())
}

entry! {
    fn hsa_agent_iterate_regions(agent: hsa_agent_t, callback_: RegionCallback, data: *mut c_void) {
        let runtime = current()?;
        let agent = runtime.agent(agent.handle)?;
        let function = callback(callback_)?;
        for region in regions_of(&runtime, agent) {
            let region = hsa_region_t { handle: runtime.region_handle(region) };
            // SAFETY: the program gave the function for exactly this call.
            go_on(unsafe { function(region, data) })?;
        }
        Ok(())
    }

    fn hsa_region_get_info(region: hsa_region_t, attribute: Info, value: *mut c_void) {
        let runtime = current()?;
        let region = &runtime.regions[runtime.region_index(region.handle)?];
        let value = Value::new(value)?;
        match attribute {
            Info::SEGMENT => value.set(region.segment as u32),
            Info::GLOBAL_FLAGS => value.set(region.flags.bits()),
            Info::SIZE => value.set(region.bytes),
            Info::ALLOC_MAX_SIZE => value.set(region.max_allocation),
            // Means something for private segments only, and no agent has a region for them.
            Info::ALLOC_MAX_PRIVATE_WORKGROUP_SIZE => value.set(0u32),
            Info::RUNTIME_ALLOC_ALLOWED => value.set(region.can_allocate()),
            Info::RUNTIME_ALLOC_GRANULE | Info::RUNTIME_ALLOC_ALIGNMENT => value.set(region.granule),
            Info(amd) => return amd_info(&runtime, region, amd, value),
        }
        Ok(())
    }
}
