//! Properties of the system, and its agents (HSA Runtime PRM 1.2, section 2.3).

use super::extension;
use crate::entry::{callback, entry, go_on, Value};
use hansa_core::runtime::Runtime;
use hansa_core::{clock, current, Error};
use hansa_plugin_api::hsa::{
    c_void, hsa_agent_t, hsa_endianness_t, hsa_machine_model_t, hsa_system_info_t as Info, AgentCallback,
};
use hansa_plugin_api::{AgentCaps, DriverGroups, TableSlot};
use std::ffi::CStr;

/// The version of the standard that the interface follows.
pub(crate) const VERSION: (u16, u16) = (1, 1);

/// What tells this runtime from others.
const BUILD: &CStr =
    match CStr::from_bytes_with_nul(concat!("hansa ", env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a version has no NUL inside"),
    };

entry! {
    fn hsa_system_get_info(attribute: Info, value: *mut c_void) {
        let runtime = current()?;
        let value = Value::new(value)?;
        match attribute {
            Info::VERSION_MAJOR => value.set(VERSION.0),
            Info::VERSION_MINOR => value.set(VERSION.1),
            Info::TIMESTAMP => value.set(clock::now()),
            Info::TIMESTAMP_FREQUENCY => value.set(clock::HZ),
            Info::SIGNAL_MAX_WAIT => value.set(u64::MAX),
            Info::ENDIANNESS => value.set(if cfg!(target_endian = "little") {
                hsa_endianness_t::LITTLE
            } else {
                hsa_endianness_t::BIG
            }),
            Info::MACHINE_MODEL => value.set(machine_model()),
            Info::EXTENSIONS => value.set(extension::mask(&runtime, None)),
            Info::AMD_BUILD_VERSION => value.set(BUILD.as_ptr()),
            Info::AMD_SVM_SUPPORTED => value.set(all_gpus(&runtime, |caps, groups| {
                caps.contains(AgentCaps::SVM) && groups.contains(DriverGroups::SVM)
            })),
            Info::AMD_SVM_ACCESSIBLE_BY_DEFAULT => {
                value.set(all_gpus(&runtime, |caps, _| caps.contains(AgentCaps::PAGEABLE_ACCESS)));
            }
            // Waits sleep on futexes.
            Info::AMD_MWAITX_ENABLED => value.set(false),
            Info::AMD_DMABUF_SUPPORTED => {
                value.set(all_gpus(&runtime, |_, groups| groups.contains(DriverGroups::SHARING)));
            }
            Info::AMD_VIRTUAL_MEM_API_SUPPORTED => {
                let gpus = (0..runtime.agents.len()).filter(|&agent| runtime.agents[agent].is_gpu());
                let apart: Vec<bool> = gpus.map(|agent| runtime.has_memory_apart(agent)).collect();
                value.set(!apart.is_empty() && apart.into_iter().all(|apart| apart));
            }
            Info::AMD_XNACK_ENABLED => {
                value.set(all_gpus(&runtime, |caps, _| caps.contains(AgentCaps::XNACK)));
            }
            Info::AMD_EXT_VERSION_MAJOR => value.set(extension::version_of_slot(&runtime, TableSlot::AMD).0),
            Info::AMD_EXT_VERSION_MINOR => value.set(extension::version_of_slot(&runtime, TableSlot::AMD).1),
            // No driver's contract has fabric handles or exports of host memory.
            Info::AMD_FABRIC_HANDLES_SUPPORTED | Info::AMD_HOST_ALLOC_DMA_BUF_SUPPORTED => value.set(false),
            _ => return Err(Error::InvalidArgument("not an attribute of the system")),
        }
        Ok(())
    }

    fn hsa_iterate_agents(callback_: AgentCallback, data: *mut c_void) {
        let runtime = current()?;
        let function = callback(callback_)?;
        for index in 0..runtime.agents.len() {
            let agent = hsa_agent_t { handle: runtime.agent_handle(index) };
            // SAFETY: the program gave the function for exactly this call.
            go_on(unsafe { function(agent, data) })?;
        }
        Ok(())
    }
}

/// The address width, of the system and of every agent.
pub(crate) const fn machine_model() -> hsa_machine_model_t {
    if cfg!(target_pointer_width = "64") {
        hsa_machine_model_t::LARGE
    } else {
        hsa_machine_model_t::SMALL
    }
}

/// Whether there are GPUs and something holds for all of them.
fn all_gpus(runtime: &Runtime, holds: impl Fn(AgentCaps, DriverGroups) -> bool) -> bool {
    let mut gpus = runtime
        .agents
        .iter()
        .filter(|a| a.is_gpu())
        .filter_map(|a| a.device())
        .peekable();
    gpus.peek().is_some()
        && gpus.all(|gpu| {
            let driver = &runtime.drivers[gpu.reference.driver];
            holds(gpu.description.caps, driver.description.groups)
        })
}
