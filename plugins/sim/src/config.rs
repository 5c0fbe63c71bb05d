//! The configuration of the software GPU: the `[backend."org.hansa.sim"]` table of the runtime's configuration.
//!
//! ```toml
//! devices = 1            # 1 to 16
//! isa = "gfx900"         # gfx900, gfx906, gfx908 or gfx90a
//! compute_units = 64     # default: what the chip has
//! memory = "8 GiB"       # local memory of each device; committed as it is touched
//! threads = 0            # threads that run kernels; 0: as many as the runtime says
//! queues = 128           # most queues of each device
//! hmm = false            # true: kernels may touch any memory of the process
//! location = 0x100       # PCI location of the first device: bus << 8 | device << 3 | function
//! ```
//!
//! The table `environment` in it holds variables. `HSA_OVERRIDE_GFX_VERSION=9.0.10` makes every device a gfx90a, and
//! `HSA_OVERRIDE_GFX_VERSION_N` the device that is node N when the `HANSA_HOST_NODES` nodes of the host are counted first. A
//! version that the software GPU cannot be changes nothing here: the runtime reports it, and what runs is the chip's own.

use crate::isa::Target;
use std::collections::BTreeMap;

use hansa_plugin_api::{Error, ErrorCode};
use toml::{Table, Value};

/// Every key, for the warning about one that is not among them.
const KEYS: [&str; 9] = [
    "environment",
    "devices",
    "isa",
    "compute_units",
    "memory",
    "threads",
    "queues",
    "hmm",
    "location",
];

/// Bytes of a page: memory sizes are multiples of it.
pub(crate) fn page() -> u64 {
    rustix::param::page_size() as u64
}

/// What the user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Number of devices.
    pub(crate) devices: u32,
    /// The processor that each of them is.
    pub(crate) isa: Target,
    /// The processors of single devices that are another one.
    pub(crate) isa_of_device: BTreeMap<u32, Target>,
    /// Compute units of a device, if not the chip's own number.
    pub(crate) compute_units: Option<u32>,
    /// Bytes of local memory of a device.
    pub(crate) memory: u64,
    /// Threads that run kernels, or `None` to ask the runtime.
    pub(crate) threads: Option<u32>,
    /// Most queues of a device.
    pub(crate) queues: u32,
    /// Whether kernels may touch any memory of the process.
    pub(crate) hmm: bool,
    /// PCI location of the first device, as the runtime reports it; the next ones are on the next buses.
    pub(crate) location: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            devices: 1,
            isa: Target::Gfx900,
            isa_of_device: BTreeMap::new(),
            compute_units: None,
            memory: 8 << 30,
            threads: None,
            queues: 128,
            hmm: false,
            location: 1 << 8,
        }
    }
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigError {
    /// It is not TOML.
    #[error("The configuration of the software GPU is not TOML: {0}")]
    Syntax(String),
    /// A key has a value that cannot be.
    #[error("{key} = {value} is not accepted; {key} is {accepted}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value, as TOML writes it.
        value: String,
        /// What it could be.
        accepted: &'static str,
    },
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(ErrorCode::INVALID_ARGUMENT, error.to_string())
    }
}

impl Config {
    /// Every key that there is.
    pub(crate) fn keys() -> [&'static str; KEYS.len()] {
        KEYS
    }

    /// Reads a configuration, and the keys in it that mean nothing.
    pub(crate) fn parse(text: &str) -> Result<(Self, Vec<String>), ConfigError> {
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError::Syntax(error.message().to_owned()))?;
        let unknown = table
            .keys()
            .filter(|key| !KEYS.contains(&key.as_str()))
            .cloned()
            .collect();
        let mut config = Self::default();
        if let Some(value) = table.get("devices") {
            config.devices = number("devices", value, 1..=16, "a whole number from 1 to 16, such as 1")?;
        }
        if let Some(value) = table.get("isa") {
            config.isa = value.as_str().and_then(Target::from_name).ok_or_else(|| {
                refused(
                    "isa",
                    value,
                    "one of \"gfx900\", \"gfx906\", \"gfx908\", \"gfx90a\"",
                )
            })?;
        }
        if let Some(value) = table.get("compute_units") {
            let accepted = "a whole number from 1 to 1024, such as 64";
            config.compute_units = Some(number("compute_units", value, 1..=1024, accepted)?);
        }
        if let Some(value) = table.get("memory") {
            config.memory = memory(value)?;
        }
        if let Some(value) = table.get("threads") {
            let accepted = "a whole number from 0 (as many as the runtime says) to 1024";
            config.threads = Some(number("threads", value, 0..=1024, accepted)?).filter(|&n| n > 0);
        }
        if let Some(value) = table.get("queues") {
            config.queues = number(
                "queues",
                value,
                1..=4096,
                "a whole number from 1 to 4096, such as 128",
            )?;
        }
        if let Some(value) = table.get("hmm") {
            config.hmm = value
                .as_bool()
                .ok_or_else(|| refused("hmm", value, "true or false"))?;
        }
        if let Some(Value::Table(environment)) = table.get("environment") {
            config.take_overrides(environment);
        }
        if let Some(value) = table.get("location") {
            let accepted = "a PCI location, bus << 8 | device << 3 | function, such as 0x100";
            config.location = number("location", value, 0..=u32::MAX >> 1, accepted)?;
        }
        Ok((config, unknown))
    }

    /// The processor that a device is.
    pub(crate) fn target(&self, device: u32) -> Target {
        self.isa_of_device.get(&device).copied().unwrap_or(self.isa)
    }

    fn take_overrides(&mut self, environment: &Table) {
        let text = |name: &str| environment.get(name).and_then(Value::as_str);
        if let Some(target) = text(OVERRIDE).and_then(of_version) {
            self.isa = target;
        }
        let host_nodes = text("HANSA_HOST_NODES")
            .and_then(|n| n.parse::<u32>().ok())
            .unwrap_or(1);
        for (name, value) in environment {
            let node = name
                .strip_prefix(OVERRIDE)
                .and_then(|rest| rest.strip_prefix('_'));
            let device = node.and_then(|n| n.parse::<u32>().ok()?.checked_sub(host_nodes));
            if let (Some(device), Some(target)) = (device, value.as_str().and_then(of_version)) {
                self.isa_of_device.insert(device, target);
            }
        }
    }
}

const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

/// The processor of a version, if the software GPU can be it: `9.0.10` is gfx90a.
fn of_version(version: &str) -> Option<Target> {
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    let [major, minor, step] = parts[..] else {
        return None;
    };
    Target::from_name(&format!("gfx{major}{minor:x}{step:x}"))
}

fn refused(key: &'static str, value: &Value, accepted: &'static str) -> ConfigError {
    ConfigError::Value {
        key,
        value: value.to_string(),
        accepted,
    }
}

fn number(
    key: &'static str,
    value: &Value,
    range: std::ops::RangeInclusive<u32>,
    accepted: &'static str,
) -> Result<u32, ConfigError> {
    value
        .as_integer()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| range.contains(n))
        .ok_or_else(|| refused(key, value, accepted))
}

fn memory(value: &Value) -> Result<u64, ConfigError> {
    let accepted = "a size from 1 MiB to 1024 GiB, such as \"8 GiB\", \"512 MiB\" or a number of bytes";
    let bytes = match value {
        Value::Integer(bytes) => u64::try_from(*bytes).ok(),
        Value::String(text) => size(text),
        _ => None,
    };
    bytes
        .filter(|bytes| (1 << 20..=1 << 40).contains(bytes))
        .map(|bytes| bytes / page() * page())
        .ok_or_else(|| refused("memory", value, accepted))
}

/// Reads `8 GiB`, `8GiB`, `8G`, `8192 MiB` or a number of bytes.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "" | "B" => 0,
        "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        "T" | "TiB" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Config {
        Config::parse(text).unwrap().0
    }

    fn refusal(text: &str) -> String {
        Config::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_version_makes_every_device_or_one_another_chip() {
        let of = |text: &str| {
            let config = parsed(&format!("devices = 3\nisa = \"gfx906\"\n[environment]\n{text}"));
            [0, 1, 2].map(|device| config.target(device))
        };
        let all = "HSA_OVERRIDE_GFX_VERSION = \"9.0.10\"\n";
        let one = "HSA_OVERRIDE_GFX_VERSION_3 = \"9.0.8\"\nHANSA_HOST_NODES = \"2\"\n";
        let [old, all_of, one_of] = [Target::Gfx906, Target::Gfx90a, Target::Gfx908];
        assert_eq!(of(all), [all_of; 3]);
        assert_eq!(of(one), [old, one_of, old]);
        assert_eq!(of(&format!("{all}{one}")), [all_of, one_of, all_of]);
        assert_eq!(of("HSA_OVERRIDE_GFX_VERSION = \"11.0.0\"\n"), [old; 3]);
    }

    #[test]
    fn an_empty_text_is_the_default() {
        assert_eq!(parsed(""), Config::default());
    }

    #[test]
    fn every_key_is_read() {
        let text = "devices = 2\nisa = \"gfx90a\"\ncompute_units = 8\nmemory = \"512 MiB\"\nthreads = 3\nqueues = 9\nhmm = true\nlocation = 0xc81407";
        let expected = Config {
            devices: 2,
            isa: Target::Gfx90a,
            isa_of_device: BTreeMap::new(),
            compute_units: Some(8),
            memory: 512 << 20,
            threads: Some(3),
            queues: 9,
            hmm: true,
            location: 0xc8_1407,
        };
        assert_eq!(parsed(text), expected);
    }

    #[test]
    fn sizes_have_units() {
        let sizes = ["4096", "4 KiB", "4K", "2MiB", "1G", "1 TiB", "5 GB", "GiB", "-1"].map(size);
        let expected = [
            Some(4096),
            Some(4096),
            Some(4096),
            Some(2 << 20),
            Some(1 << 30),
            Some(1 << 40),
            None,
            None,
            None,
        ];
        assert_eq!(sizes, expected);
    }

    #[test]
    fn a_bad_value_names_key_value_and_accepted_form() {
        assert_eq!(
            refusal("isa = \"gfx1100\""),
            "isa = \"gfx1100\" is not accepted; isa is one of \"gfx900\", \"gfx906\", \"gfx908\", \"gfx90a\""
        );
        assert!(refusal("devices = 0").starts_with("devices = 0 is not accepted"));
        assert!(refusal("memory = \"8 GB\"").contains("such as \"8 GiB\""));
        assert!(refusal("hmm = 1").contains("true or false"));
        assert!(refusal("threads = \"many\"").contains("from 0"));
    }

    #[test]
    fn unknown_keys_are_listed() {
        assert_eq!(Config::parse("devcies = 2").unwrap().1, ["devcies"]);
    }
}
