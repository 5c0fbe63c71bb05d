//! The agents that a program will find, asked from the runtime itself: another process of this command with the
//! program's environment lists them, so that nothing of a runtime is left in the process that becomes the program.

use crate::run::Environment;
use hansa_core::loader::Isa;
use serde::Deserialize;
use std::process::{Command, Stdio};

/// An agent, as far as it matters before a program starts.
#[derive(Debug, Deserialize)]
pub(crate) struct Agent {
    kind: String,
    isas: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Machine {
    agents: Vec<Agent>,
}

impl Agent {
    /// The instruction set of a GPU.
    pub(crate) fn gpu_isa(&self) -> Option<Isa> {
        self.isas
            .iter()
            .filter(|_| self.kind == "GPU")
            .find_map(|name| name.parse().ok())
    }
}

/// The agents of a program with this environment. None if the runtime does not start: the program hears of it itself.
pub(crate) fn agents(environment: &Environment) -> Result<Vec<Agent>, String> {
    let command = std::env::current_exe().map_err(|e| format!("cannot find this command's own path: {e}"))?;
    let output = Command::new(command)
        .args(["info", "--json"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::null())
        .output()
        .map_err(|e| format!("cannot list the agents: {e}"))?;
    let machine: Machine =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| Machine { agents: Vec::new() });
    Ok(machine.agents)
}
