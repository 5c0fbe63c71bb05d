//! `hansa config`: every setting, its value, and where it came from.

use crate::arguments::Output;
use hansa_core::config::{Config, Inputs};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub(crate) fn run(options: &Output) -> Result<ExitCode, String> {
    let config = Config::load(&Inputs::of_process());
    let entries = config.entries();
    if options.json {
        let value = serde_json::json!({
            "files": config.files,
            "entries": entries,
            "without_meaning": config.without_meaning.iter().copied().collect::<BTreeMap<_, _>>(),
            "warnings": config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        println!(
            "{}",
            serde_json::to_string_pretty(&value).map_err(|e| e.to_string())?
        );
        return Ok(ExitCode::SUCCESS);
    }
    for file in &config.files {
        println!("# read {}", file.display());
    }
    let width = entries
        .iter()
        .map(|e| e.key.len() + e.value.len() + 3)
        .max()
        .unwrap_or(0)
        .min(60);
    for entry in &entries {
        let line = format!("{} = {}", entry.key, entry.value);
        println!("{line:width$}  # {}", entry.origin);
    }
    for (name, why) in &config.without_meaning {
        println!("# {name} has no meaning here: {why}");
    }
    for warning in &config.warnings {
        eprintln!("hansa: {warning}");
    }
    Ok(ExitCode::SUCCESS)
}
