//! `hansa doctor` and `hansa plugins`: what was found, why it serves or not, and switching it on and off.

use crate::arguments::{Output, PluginAction};
use hansa_core::config::{Environment, Inputs};
use hansa_core::plugin::{Outcome, Report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn doctor(options: &Output) -> Result<ExitCode, String> {
    let report = hansa_core::runtime::examine(hsa_runtime64::plugins::BUILT_INS);
    if options.json {
        print_json(&report)?;
    } else {
        print!("{report}");
    }
    Ok(if report.error.is_some() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn print_json(report: &Report) -> Result<(), String> {
    println!(
        "{}",
        serde_json::to_string_pretty(report).map_err(|e| e.to_string())?
    );
    Ok(())
}

pub(crate) fn run(action: &PluginAction) -> Result<ExitCode, String> {
    match action {
        PluginAction::List(options) => list(options),
        PluginAction::Enable { id, system } => switch(id, *system, true),
        PluginAction::Disable { id, system } => switch(id, *system, false),
    }
}

fn list(options: &Output) -> Result<ExitCode, String> {
    let report = hansa_core::runtime::examine(hsa_runtime64::plugins::BUILT_INS);
    if options.json {
        print_json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = report.plugins.iter().map(|p| p.id.len()).max().unwrap_or(0);
    for plugin in &report.plugins {
        let state = match plugin.outcome {
            Some(Outcome::Loaded) => "serves",
            Some(Outcome::Skipped) => "skipped",
            Some(Outcome::Absent) => "absent",
            Some(Outcome::Failed) => "failed",
            None => "not tried",
        };
        let version = plugin.version.as_deref().unwrap_or("?");
        let place = plugin
            .manifest
            .as_deref()
            .or(plugin.library.as_deref())
            .unwrap_or("built in");
        println!(
            "{:width$}  {version:8} {:9} {state:9} {place}",
            plugin.id,
            plugin.kind.unwrap_or("?")
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The file that is changed.
fn file(system: bool) -> Result<PathBuf, String> {
    if system {
        return Ok(Path::new("/etc/hsa/hsa.conf").to_path_buf());
    }
    let inputs = Inputs::of_process();
    let directory = Environment::user_config_dir(&inputs.environment)
        .ok_or("there is no configuration directory: neither XDG_CONFIG_HOME nor HOME is set")?;
    Ok(directory.join("hsa/hsa.conf"))
}

fn switch(id: &str, system: bool, on: bool) -> Result<ExitCode, String> {
    let path = file(system)?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let changed =
        hansa_core::config::switch_plugin(&text, id, on).map_err(|e| format!("{}: {e}", path.display()))?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    }
    std::fs::write(&path, changed).map_err(|e| format!("{}: {e}", path.display()))?;
    println!(
        "{}: {id} is {}",
        path.display(),
        if on { "enabled" } else { "disabled" }
    );
    Ok(ExitCode::SUCCESS)
}
