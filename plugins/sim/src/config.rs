//! The configuration of the software GPU: the `[backend."org.hansa.sim"]` table of the runtime's configuration.
//!
//! ```toml
//! devices = 1            # 1 to 64
//! isa = "gfx900"         # gfx900, gfx906, gfx908 or gfx90a
//! compute_units = 64     # default: what the chip has
//! memory = "8 GiB"       # local memory of each device; committed as it is touched
//! threads = 0            # threads that run kernels; 0: as many as the runtime says
//! queues = 128           # most queues of each device
//! check_group_memory = false # true: an access outside a work-group's LDS ends the queue; hardware reads 0 there
//! hmm = false            # true: kernels may touch any memory of the process
//! location = 0x100       # PCI location of the first device: bus << 8 | device << 3 | function
//! ```
//!
//! The table `environment` in it holds variables. `HSA_OVERRIDE_GFX_VERSION=9.0.10` makes every device a gfx90a, and
//! `HSA_OVERRIDE_GFX_VERSION_N` the device that is node N when the `HANSA_HOST_NODES` nodes of the host are counted first. A
//! version that the software GPU cannot be changes nothing here: the runtime reports it, and what runs is the chip's own.
//!
//! What means nothing is a complaint, and the default holds.

use crate::isa::Target;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::{Table, Value};

/// Every key, for the complaint about one that is not among them.
const KEYS: [&str; 9] = [
    "devices",
    "isa",
    "compute_units",
    "memory",
    "threads",
    "queues",
    "hmm",
    "check_group_memory",
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
    /// Whether accesses outside a work-group's memory are errors.
    pub(crate) check_group_memory: bool,
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
            check_group_memory: false,
            location: 1 << 8,
        }
    }
}

impl Config {
    /// Reads a configuration. Answers it, a sentence for each setting that means nothing, and the variables that do
    /// nothing here.
    pub(crate) fn parse(text: &str) -> (Self, Vec<String>, Vec<String>) {
        let mut config = Self::default();
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let complaint = format!("the settings are not TOML: {}", error.message());
                return (config, vec![complaint], Vec::new());
            }
        };
        let settings = table
            .iter()
            .filter(|(key, value)| *key != ENVIRONMENT || !value.is_table());
        let complaints = settings
            .filter_map(|(key, value)| config.take(key, value).err())
            .collect();
        // Variables are over everything else.
        let variables = table.get(ENVIRONMENT).and_then(Value::as_table);
        let idle = variables.map_or_else(Vec::new, |variables| config.take_variables(variables));
        (config, complaints, idle)
    }

    /// Takes a setting, or says what it could be.
    fn take(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let accepted = match key {
            "devices" => set(
                &mut self.devices,
                number(value, 1..=64),
                "a whole number from 1 to 64",
            ),
            "isa" => {
                let isa = value.as_str().and_then(Target::from_name);
                let accepted = "one of \"gfx900\", \"gfx906\", \"gfx908\", \"gfx90a\"";
                set(&mut self.isa, isa, accepted)
            }
            "compute_units" => {
                let units = number(value, 1..=1024).map(Some);
                set(&mut self.compute_units, units, "a whole number from 1 to 1024")
            }
            "memory" => {
                let accepted =
                    "a size from 1 MiB to 1024 GiB, such as \"8 GiB\", \"512 MiB\" or a number of bytes";
                set(&mut self.memory, memory(value), accepted)
            }
            "threads" => {
                let threads = number(value, 0..=1024).map(|n| Some(n).filter(|&n| n > 0));
                let accepted = "a whole number from 0 (as many as the runtime says) to 1024";
                set(&mut self.threads, threads, accepted)
            }
            "queues" => set(
                &mut self.queues,
                number(value, 1..=4096),
                "a whole number from 1 to 4096",
            ),
            "hmm" => set(&mut self.hmm, value.as_bool(), "true or false"),
            "check_group_memory" => set(&mut self.check_group_memory, value.as_bool(), "true or false"),
            "location" => {
                let location = number(value, 0..=u32::MAX >> 1);
                let accepted = "a PCI location, bus << 8 | device << 3 | function, such as 0x100";
                set(&mut self.location, location, accepted)
            }
            _ => {
                return Err(format!(
                    "{key} = {value}: unknown key; there are {}",
                    KEYS.join(", ")
                ))
            }
        };
        accepted.map_err(|accepted| format!("{key} = {value}: expected {accepted}; the default holds"))
    }

    /// The processor that a device is.
    pub(crate) fn target(&self, device: u32) -> Target {
        self.isa_of_device.get(&device).copied().unwrap_or(self.isa)
    }

    /// Takes what variables say. Answers those that say nothing to the software GPU.
    fn take_variables(&mut self, variables: &Table) -> Vec<String> {
        let text = |name: &str| variables.get(name).and_then(Value::as_str);
        if let Some(target) = text(OVERRIDE).and_then(of_version) {
            self.isa = target;
        }
        let host_nodes = text(HOST_NODES).and_then(|n| n.parse::<u32>().ok()).unwrap_or(1);
        for (name, value) in variables {
            let node = name
                .strip_prefix(OVERRIDE)
                .and_then(|rest| rest.strip_prefix('_'));
            let device = node.and_then(|n| n.parse::<u32>().ok()?.checked_sub(host_nodes));
            if let (Some(device), Some(target)) = (device, value.as_str().and_then(of_version)) {
                self.isa_of_device.insert(device, target);
            }
        }
        let says_something = |name: &str| name.starts_with(OVERRIDE) || [HOST_NODES, DEBUG].contains(&name);
        variables
            .keys()
            .filter(|name| !says_something(name))
            .cloned()
            .collect()
    }
}

/// The table of variables.
const ENVIRONMENT: &str = "environment";
const HOST_NODES: &str = "HANSA_HOST_NODES";
/// What it asks for is always there: waves have a trap handler's registers.
const DEBUG: &str = "HSA_ENABLE_DEBUG";
const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";

/// The processor of a version, if the software GPU can be it: `9.0.10` is gfx90a.
fn of_version(version: &str) -> Option<Target> {
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    let [major, minor, step] = parts[..] else {
        return None;
    };
    Target::from_name(&format!("gfx{major}{minor:x}{step:x}"))
}

/// Sets what there is a value for; otherwise answers the accepted form.
fn set<T>(target: &mut T, value: Option<T>, accepted: &'static str) -> Result<(), &'static str> {
    *target = value.ok_or(accepted)?;
    Ok(())
}

fn number(value: &Value, range: RangeInclusive<u32>) -> Option<u32> {
    let number = u32::try_from(value.as_integer()?).ok()?;
    range.contains(&number).then_some(number)
}

fn memory(value: &Value) -> Option<u64> {
    let bytes = match value {
        Value::Integer(bytes) => u64::try_from(*bytes).ok(),
        Value::String(text) => size(text),
        _ => None,
    };
    bytes
        .filter(|bytes| (1 << 20..=1 << 40).contains(bytes))
        .map(|bytes| bytes / page() * page())
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
        let (config, complaints, _) = Config::parse(text);
        assert_eq!(complaints, [""; 0], "{text}");
        config
    }

    /// What is said of a setting that means nothing; the default must hold.
    fn refusal(text: &str) -> String {
        let (config, complaints, _) = Config::parse(text);
        assert_eq!(config, Config::default(), "{text}");
        let [complaint] = &complaints[..] else {
            panic!("{text}: {complaints:?}");
        };
        complaint.clone()
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
        let text = "devices = 2\nisa = \"gfx90a\"\ncompute_units = 8\nmemory = \"512 MiB\"\nthreads = 3\nqueues = 9\nhmm = true\ncheck_group_memory = true\nlocation = 0xc81407";
        let expected = Config {
            devices: 2,
            isa: Target::Gfx90a,
            isa_of_device: BTreeMap::new(),
            compute_units: Some(8),
            memory: 512 << 20,
            threads: Some(3),
            queues: 9,
            hmm: true,
            check_group_memory: true,
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
    fn a_bad_value_names_key_value_and_accepted_form_and_the_rest_holds() {
        assert_eq!(
            refusal("isa = \"gfx1100\""),
            "isa = \"gfx1100\": expected one of \"gfx900\", \"gfx906\", \"gfx908\", \"gfx90a\"; the default holds"
        );
        for (text, form) in [
            ("devices = 0", "from 1 to 64"),
            ("devices = 65", "from 1 to 64"),
            ("devices = \"two\"", "from 1 to 64"),
            ("compute_units = -1", "from 1 to 1024"),
            ("memory = \"8 GB\"", "such as \"8 GiB\""),
            ("memory = 0", "such as \"8 GiB\""),
            ("queues = 4097", "from 1 to 4096"),
            ("hmm = 1", "true or false"),
            ("threads = \"many\"", "from 0"),
            ("location = -1", "a PCI location"),
            ("environment = 1", "unknown key"),
            ("devcies = 2", "unknown key; there are devices, isa,"),
        ] {
            let said = refusal(text);
            assert!(said.starts_with(text) && said.contains(form), "{said}");
        }
        let (config, complaints, _) = Config::parse("devices = 0\nqueues = 9\n");
        assert_eq!((config.devices, config.queues, complaints.len()), (1, 9, 1));
    }

    #[test]
    fn variables_that_do_nothing_here_are_named() {
        let text = "[environment]\nHSA_OVERRIDE_GFX_VERSION = \"9.0.6\"\nHSA_DISABLE_CACHE = \"1\"\n";
        assert_eq!(Config::parse(text).2, ["HSA_DISABLE_CACHE"]);
    }
}
