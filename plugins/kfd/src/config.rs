//! The driver's part of the configuration.
//!
//! `[backend.kfd]`: `override_gfx_version = "major.minor.step"`, the same for one of the kernel's nodes as
//! `override_gfx_version_N` (which wins there), `xnack = true|false`, `disable_cache = true|false` and
//! `fine_grain_pcie = true|false`. The same
//! settings under AMD's names (`HSA_OVERRIDE_GFX_VERSION`, `HSA_OVERRIDE_GFX_VERSION_N`, `HSA_XNACK`, `HSA_DISABLE_CACHE`,
//! `HSA_FORCE_FINE_GRAIN_PCIE`) come in the table `environment` and win over both. An empty value is unset.

use crate::chip::Target;
use hansa_plugin_api::{HostRef, LogLevel, RStr};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// What can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The processor to report for every GPU.
    pub target: Option<Target>,
    /// The processor to report for one of the kernel's nodes.
    pub target_of_node: BTreeMap<u32, Target>,
    /// Whether memory faults are to be replayed; unset leaves the kernel's choice.
    pub xnack: Option<bool>,
    /// Devices cache nothing.
    pub disable_cache: bool,
    /// Local memory is fine-grained, too, where devices are linked by the bus alone.
    pub fine_grain_pcie: bool,
}

const TARGET: &str = "override_gfx_version";

impl Config {
    /// Reads what the host has for this plugin, with a warning for each setting that means nothing.
    ///
    /// # Errors
    ///
    /// What the host says.
    pub fn of_host(host: HostRef<'_>) -> hansa_plugin_api::Result<Self> {
        let text = host.configuration()?;
        let (config, complaints) = Self::parse(text.as_str());
        for complaint in complaints {
            // A log that fails has nowhere to say so.
            let _ = host.log(LogLevel::SETTING, RStr::from_str(&complaint));
        }
        Ok(config)
    }

    /// Reads TOML text. Answers the settings, and a sentence for each that means nothing.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut config = Self::default();
        let mut complaints = Vec::new();
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return (config, vec![format!("the settings are not TOML: {error}")]),
        };
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("environment", Value::Table(_)) => {}
                ("xnack", Value::Boolean(on)) => config.xnack = Some(*on),
                ("disable_cache", Value::Boolean(on)) => config.disable_cache = *on,
                ("fine_grain_pcie", Value::Boolean(on)) => config.fine_grain_pcie = *on,
                (name, Value::String(version)) if name.starts_with(TARGET) => {
                    config.set_target(&name[TARGET.len()..], name, version, &mut complaints);
                }
                (name, value) => complaints.push(format!(
                    "{name} = {value} means nothing; the settings are {TARGET}, {TARGET}_N, xnack, disable_cache, \
                     fine_grain_pcie"
                )),
            }
        }
        if let Some(Value::Table(environment)) = table.get("environment") {
            for (name, value) in environment {
                let Some(value) = value.as_str() else { continue };
                if let Some(node) = name.strip_prefix("HSA_OVERRIDE_GFX_VERSION") {
                    config.set_target(node, name, value, &mut complaints);
                } else if name == "HSA_XNACK" && !value.is_empty() {
                    config.xnack = Some(value != "0");
                } else if name == "HSA_DISABLE_CACHE" && !value.is_empty() {
                    config.disable_cache = value != "0";
                } else if name == "HSA_FORCE_FINE_GRAIN_PCIE" && !value.is_empty() {
                    config.fine_grain_pcie = value != "0";
                }
            }
        }
        (config, complaints)
    }

    fn set_target(&mut self, node: &str, name: &str, value: &str, complaints: &mut Vec<String>) {
        if value.is_empty() {
            return;
        }
        let Some(target) = Target::parse(value) else {
            complaints.push(format!("{name}={value} is not major.minor.step, such as 11.0.0"));
            return;
        };
        if node.is_empty() {
            self.target = Some(target);
        } else if let Some(Ok(node)) = node.strip_prefix('_').map(str::parse) {
            self.target_of_node.insert(node, target);
        } else {
            complaints.push(format!("{name} does not end in the number of a node"));
        }
    }

    /// The processor to report for one of the kernel's nodes, if not its own.
    #[must_use]
    pub fn target_of(&self, node: u32) -> Option<Target> {
        self.target_of_node.get(&node).copied().or(self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbered_override_wins_and_an_empty_one_is_unset() {
        let (config, complaints) = Config::parse(
            "override_gfx_version = \"9.0.0\"\n[environment]\nHSA_OVERRIDE_GFX_VERSION_2 = \"11.0.0\"\n\
             HSA_OVERRIDE_GFX_VERSION_3 = \"\"\n",
        );
        assert!(complaints.is_empty(), "{complaints:?}");
        assert_eq!(config.target_of(2), Some(Target::new(11, 0, 0)));
        assert_eq!(config.target_of(3), Some(Target::new(9, 0, 0)));
    }

    #[test]
    fn what_means_nothing_is_said_and_the_rest_holds() {
        let (config, complaints) = Config::parse(
            "xnack = true\nfoo = 1\noverride_gfx_version = \"x\"\noverride_gfx_version_z = \"9.0.0\"\n",
        );
        assert_eq!(config.xnack, Some(true));
        assert_eq!(complaints.len(), 3, "{complaints:?}");
        assert_eq!(Config::parse("= broken").1.len(), 1);
    }
}
