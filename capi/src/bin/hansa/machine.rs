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

#[derive(Debug, Deserialize)]
struct Diagnosis {
    plugins: Vec<Plugin>,
}

/// A plugin that was found or asked for; the rest is for those that were looked at.
#[derive(Debug, Deserialize)]
struct Plugin {
    id: String,
    outcome: Option<String>,
    sentence: Option<String>,
}

/// The agents of a program with this environment. None if the runtime does not start: the program hears of it itself.
pub(crate) fn agents(environment: &Environment) -> Result<Vec<Agent>, String> {
    let output = answer("info", environment)?;
    let machine: Machine = serde_json::from_slice(&output).unwrap_or_else(|_| Machine { agents: Vec::new() });
    Ok(machine.agents)
}

/// The plugins that a program with this environment asks for and that fail, with the reasons.
pub(crate) fn failures(environment: &Environment) -> Result<Vec<String>, String> {
    let output = answer("doctor", environment)?;
    let diagnosis: Diagnosis =
        serde_json::from_slice(&output).unwrap_or_else(|_| Diagnosis { plugins: Vec::new() });
    Ok(failed(&diagnosis))
}

fn failed(diagnosis: &Diagnosis) -> Vec<String> {
    diagnosis
        .plugins
        .iter()
        .filter(|plugin| plugin.outcome.as_deref() == Some("failed"))
        .map(|plugin| {
            format!(
                "{}: {}",
                plugin.id,
                plugin.sentence.as_deref().unwrap_or_default()
            )
        })
        .collect()
}

/// What this command says in JSON when a program with this environment asks.
fn answer(question: &str, environment: &Environment) -> Result<Vec<u8>, String> {
    let command = std::env::current_exe().map_err(|e| format!("cannot find this command's own path: {e}"))?;
    Command::new(command)
        .args([question, "--json"])
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::null())
        .output()
        .map(|output| output.stdout)
        .map_err(|e| format!("cannot list the agents: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_that_nobody_needs_are_no_failures() {
        let text = r#"{"plugins":[
            {"id":"a","outcome":"absent","sentence":"No device."},
            {"id":"b","outcome":"failed","sentence":"No such ISA."},
            {"id":"c","outcome":"loaded","sentence":"Loaded."},
            {"id":"d","outcome":null,"sentence":null}]}"#;
        let diagnosis: Diagnosis = serde_json::from_str(text).unwrap();
        assert_eq!(failed(&diagnosis), ["b: No such ISA."]);
    }
}
