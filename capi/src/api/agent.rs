//! Properties of agents (HSA Runtime PRM 1.2, section 2.3).

use super::agent_amd;
use super::agent_constants;
use super::extension;
use super::isa::known_profile;
use super::system::{machine_model, VERSION};
use crate::entry::{entry, Place, Value};
use hansa_core::agent::{Agent, AgentKind};
use hansa_core::code::isa_handle;
use hansa_core::loader::{Isa, ISA_LIMITS};
use hansa_core::runtime::Runtime;
use hansa_core::{current, Result};
use hansa_plugin_api::hsa::{
    c_void, hsa_agent_info_t as Info, hsa_agent_t, hsa_default_float_rounding_mode_t as Rounding,
    hsa_device_type_t as DeviceType, hsa_dim3_t, hsa_isa_t, hsa_profile_t as Profile,
    hsa_queue_type_t as QueueType, hsa_status_t,
};
use hansa_plugin_api::{AgentCaps, CacheFlags};

/// The attributes of the image extension.
const IMAGE_INFO: std::ops::RangeInclusive<u32> = 0x3000..=0x300c;

/// Levels of caches that `HSA_AGENT_INFO_CACHE_SIZE` has room for.
const CACHE_LEVELS: usize = 4;

fn features(agent: &Agent) -> u32 {
    let device = agent.device();
    device.map_or(0, |device| hansa_core::queue::features(device.description.caps))
}

/// The host's own profile is the full one; a device says whether its page tables are the process's.
fn profile(agent: &Agent) -> Profile {
    if agent.is_cpu() || agent.can(AgentCaps::FULL_PROFILE) {
        Profile::FULL
    } else {
        Profile::BASE
    }
}

fn device_type(agent: &Agent) -> DeviceType {
    match agent.kind {
        AgentKind::Cpu(_) => DeviceType::CPU,
        AgentKind::Gpu(_) => DeviceType::GPU,
        AgentKind::Aie(_) => DeviceType::AIE,
        // The standard's word for any other processor.
        AgentKind::Accelerator(_) => DeviceType::DSP,
    }
}

/// Bytes of the data caches of each level, the largest of a level.
fn cache_sizes(runtime: &Runtime, agent: &Agent) -> [u32; CACHE_LEVELS] {
    let mut sizes = [0; CACHE_LEVELS];
    for cache in agent.caches.iter().map(|&c| &runtime.caches[c].description) {
        let place = (cache.level as usize)
            .checked_sub(1)
            .and_then(|level| sizes.get_mut(level));
        if let Some(size) = place.filter(|_| cache.flags.contains(CacheFlags::DATA)) {
            *size = u32::try_from(cache.bytes).unwrap_or(u32::MAX).max(*size);
        }
    }
    sizes
}

/// Queues exist only where something can be dispatched to.
fn queue_limits(agent: &Agent) -> (u32, u32, u32) {
    let device = agent.device().filter(|_| features(agent) != 0);
    device.map_or((0, 0, 0), |d| {
        let d = &d.description;
        (d.max_queues, d.min_queue_packets, d.max_queue_packets)
    })
}

/// Writes an attribute.
pub(super) fn info(runtime: &Runtime, handle: hsa_agent_t, attribute: u32, value: Value) -> Result<()> {
    let agent = runtime.agent(handle.handle)?;
    // What follows from the instruction set is 0 without one.
    let limits = agent.isas.first().map(|_| &ISA_LIMITS);
    match Info(attribute) {
        Info::NAME => value.set_text::<64>(agent.name()),
        Info::VENDOR_NAME => value.set_text::<64>(agent.vendor()),
        Info::FEATURE => value.set(features(agent)),
        Info::MACHINE_MODEL => value.set(machine_model()),
        Info::PROFILE => value.set(profile(agent)),
        Info::DEFAULT_FLOAT_ROUNDING_MODE => value.set(Rounding::NEAR),
        Info::BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => value.set(Rounding::NEAR),
        Info::FAST_F16_OPERATION => value.set(agent.isas.first().is_some_and(|isa| isa.has_fast_f16())),
        Info::WAVEFRONT_SIZE => value.set(wavefront_size(agent)),
        Info::WORKGROUP_MAX_DIM => value.set(limits.map_or([0; 3], |l| l.workgroup_max_dim)),
        Info::WORKGROUP_MAX_SIZE => value.set(limits.map_or(0, |l| l.workgroup_max_size)),
        Info::GRID_MAX_DIM => {
            let [x, y, z] = limits.map_or([0; 3], |l| l.grid_max_dim);
            value.set(hsa_dim3_t { x, y, z });
        }
        Info::GRID_MAX_SIZE => {
            value.set(limits.map_or(0, |l| u32::try_from(l.grid_max_size).unwrap_or(u32::MAX)));
        }
        Info::FBARRIER_MAX_SIZE => value.set(limits.map_or(0, |l| l.fbarrier_max_size)),
        Info::QUEUES_MAX => value.set(queue_limits(agent).0),
        Info::QUEUE_MIN_SIZE => value.set(queue_limits(agent).1),
        Info::QUEUE_MAX_SIZE => value.set(queue_limits(agent).2),
        Info::QUEUE_TYPE => value.set(QueueType::MULTI),
        Info::NODE => value.set(agent.node),
        Info::DEVICE => value.set(device_type(agent)),
        Info::CACHE_SIZE => value.set(cache_sizes(runtime, agent)),
        Info::ISA => {
            let isa: Option<&Isa> = agent.isas.first();
            value.set(hsa_isa_t {
                handle: isa.map_or(0, |&isa| isa_handle(isa)),
            });
        }
        Info::EXTENSIONS => value.set(extension::mask(runtime, Some(agent))),
        Info::VERSION_MAJOR => value.set(VERSION.0),
        Info::VERSION_MINOR => value.set(VERSION.1),
        Info(image) if IMAGE_INFO.contains(&image) => {
            value.set_bytes(&runtime.extension_attribute(handle.handle, image)?);
        }
        Info(amd) => return agent_amd::info(runtime, agent, amd, value),
    }
    Ok(())
}

/// Answers what never changes at once, without a frame on the stack; the rest is [`unhurried`].
pub(crate) unsafe extern "C" fn hsa_agent_get_info(
    agent: hsa_agent_t,
    attribute: Info,
    value: *mut c_void,
) -> hsa_status_t {
    if agent_constants::answer(agent.handle, attribute.0, value) {
        return hsa_status_t::SUCCESS;
    }
    // SAFETY: the arguments are the program's, as they came.
    unsafe { unhurried::hsa_agent_get_info(agent, attribute, value) }
}

mod unhurried {
    use super::{c_void, current, entry, hsa_agent_t, info, Info, Value};

    entry! {
        #[cold]
        #[inline(never)]
        fn hsa_agent_get_info(agent: hsa_agent_t, attribute: Info, value: *mut c_void) {
            let runtime = current()?;
            info(&runtime, agent, attribute.0, Value::new(value)?)
        }
    }
}

entry! {
    fn hsa_agent_get_exception_policies(agent: hsa_agent_t, profile: Profile, mask: *mut u16) {
        let runtime = current()?;
        let place = Place::new(mask)?;
        known_profile(profile)?;
        runtime.agent(agent.handle)?;
        // No agent here reports exceptions by itself.
        place.set(0);
        Ok(())
    }
}

fn wavefront_size(agent: &Agent) -> u32 {
    agent
        .device()
        .map_or(0, |device| device.description.wavefront_size)
}
