//! What a program needs to find before it starts the runtime: on a machine without AMD's kernel driver, the library
//! that answers for it (`capi/presence`), with the agents of the runtime.

use crate::machine::Agent;
use std::path::{Path, PathBuf};

/// The library that answers.
const LIBRARY: &str = "libhansa_presence.so";

/// Whether programs ask in vain here.
pub(crate) fn is_needed() -> bool {
    !Path::new("/dev/kfd").exists()
}

/// The library, and the list of agents that it gets. Nothing without a GPU: then programs rightly find none.
pub(crate) fn of(agents: &[Agent], directory: &Path) -> Result<Option<(PathBuf, String)>, String> {
    let versions: Vec<u32> = agents.iter().map(version).collect();
    if versions.iter().all(|version| *version == 0) {
        return Ok(None);
    }
    let library = directory.join(LIBRARY);
    if !library.exists() {
        return Err(format!(
            "{} is not there: rocminfo and rocm_agent_enumerator will say that there is no amdgpu",
            library.display()
        ));
    }
    let list: Vec<String> = versions.iter().map(u32::to_string).collect();
    Ok(Some((library, list.join(","))))
}

/// An agent's instruction set as the kernel writes it into `gfx_target_version`; 0 for what is no GPU.
fn version(agent: &Agent) -> u32 {
    agent.gpu_isa().map_or(0, |isa| {
        let [major, minor, stepping] = isa.processor().version.map(u32::from);
        major * 10000 + minor * 100 + stepping
    })
}
