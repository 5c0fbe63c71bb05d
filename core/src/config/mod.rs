//! Configuration: one file in TOML, and variables over it.
//!
//! Read in this order, later over earlier: `/etc/hsa/hsa.conf`, then `hsa/hsa.conf` in the user's
//! configuration directory, then the lines in `HANSA_SET`, then variables. `HANSA_CONFIG` names one file to read in place of
//! both. Every setting knows where its value came from; what could not be used is a warning, and
//! the value that was there before holds.

mod api_trace;
mod backends;
mod cu_mask;
mod environment;
pub(crate) mod file;
mod gfx_version;
mod sections;
mod setting;
mod switch;
mod value;
pub mod variables;
mod visible_devices;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml_edit::Item;

pub use self::api_trace::ApiTrace;
pub use self::backends::answers_to;
use self::backends::Backends;
pub use self::cu_mask::CuMask;
pub use self::environment::Environment;
pub use self::gfx_version::GfxVersion;
pub use self::sections::{Debug, Hsa, Memory, Plugins, Runtime, Settings};
pub use self::setting::{Origin, Setting, Warning};
pub use self::switch::switch_plugin;
pub use self::value::{
    Bytes, Count, Dialect, Level, Libraries, Megabytes, Paths, Priorities, QueueSize, Seconds, Value, Wish,
};
pub use self::variables::{Use, Variable, VARIABLES};
pub use self::visible_devices::{Visible, VisibleDevices};

/// What configuration is read from.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The directory that `/etc` is looked for in: `/`, or a temporary one in a test.
    pub root: PathBuf,
    /// The variables.
    pub environment: Environment,
}

impl Inputs {
    /// The files and variables of this process.
    pub fn of_process() -> Self {
        Self {
            root: "/".into(),
            environment: Environment::of_process(),
        }
    }
}

/// One line of `hansa config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// `section.key`.
    pub key: String,
    /// The value as TOML writes it.
    pub value: String,
    /// Where it came from.
    pub origin: Origin,
    /// What the setting does.
    pub doc: &'static str,
}

/// What [`Entry::doc`] says of the plugins' settings.
const PLUGINS: &str = "A plugin's own setting.";

/// The configuration of a runtime.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The settings.
    pub settings: Settings,
    /// The GPU version to report for single nodes, by the driver's node number.
    pub override_gfx_version_of_node: BTreeMap<u32, Setting<GfxVersion>>,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
    /// What could not be used.
    pub warnings: Vec<Warning>,
    /// Variables that are set and do nothing here, and why.
    pub without_meaning: Vec<(&'static str, &'static str)>,
    backends: Backends,
    driver_variables: BTreeMap<String, String>,
}

impl Config {
    /// Reads the configuration.
    pub fn load(inputs: &Inputs) -> Self {
        let mut config = Self::default();
        for name in inputs.environment.dropped() {
            config.warn_variable(
                name,
                "ignored: this program runs with more rights than its caller".into(),
            );
        }
        config.read_files(inputs);
        config.read_lines(&inputs.environment);
        config.read_variables(&inputs.environment);
        config
    }

    /// The version that the GPU of a node is to have, if one is configured.
    pub fn gfx_version_of_node(&self, node: u32) -> Option<Setting<GfxVersion>> {
        let general = &self.settings.hsa.override_gfx_version;
        let general = general.value.map(|value| Setting {
            value,
            origin: general.origin.clone(),
        });
        self.override_gfx_version_of_node.get(&node).cloned().or(general)
    }

    /// Tells drivers, beside the versions of single nodes, how many nodes the host has in front of their devices.
    pub fn set_host_nodes(&mut self, nodes: usize) {
        if !self.override_gfx_version_of_node.is_empty() {
            self.driver_variables
                .insert("HANSA_HOST_NODES".to_owned(), nodes.to_string());
        }
    }

    /// Every setting with its value and origin, in the order of the sections.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.settings.clone().for_each(&mut |slot| {
            entries.push(Entry {
                key: format!("{}.{}", slot.section, slot.key),
                value: slot.setting.show(),
                origin: slot.setting.origin().clone(),
                doc: slot.doc,
            });
        });
        entries.extend(
            self.override_gfx_version_of_node
                .iter()
                .map(|(node, setting)| Entry {
                    key: format!("hsa.override_gfx_version_{node}"),
                    value: value::quoted(&setting.value.to_string()),
                    origin: setting.origin.clone(),
                    doc: "The GPU version to report for this node.",
                }),
        );
        let of_plugins = self.backends.values().into_iter();
        entries.extend(of_plugins.map(|(path, value, origin)| Entry {
            key: format!("backend.{path}"),
            value,
            origin,
            doc: PLUGINS,
        }));
        entries
    }

    /// A warning for each `[backend.<id>]` table that none of these plugins answers to.
    pub fn backends_without(&self, ids: &[&str]) -> Vec<Warning> {
        let answered = |name: &str| {
            ids.iter().any(|id| {
                answers_to(id, name) || id.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        let unanswered = self.backends.names().filter(|name| !answered(name));
        unanswered
            .map(|name| Warning {
                place: self.backends.place(name),
                problem: format!("[backend.{name}] is for a plugin that was not found"),
            })
            .collect()
    }

    /// What the configuration says to one plugin, as TOML: the keys of its `[backend.<id>]` table
    /// and, when a variable for drivers is set, a table `environment` with those variables. GPU versions are among them
    /// however they were set, and with those of single nodes `HANSA_HOST_NODES`, the number of the host's nodes, which
    /// are counted before a driver's devices.
    pub fn backend_text(&self, id: &str) -> String {
        let mut document = self.backends.of(id);
        if !self.driver_variables.is_empty() {
            let variables = self
                .driver_variables
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            document.insert("environment", Item::Table(variables.collect()));
        }
        document.to_string()
    }

    /// The keys of a plugin's table, each with the place it came from.
    pub fn backend_origins(&self, id: &str) -> BTreeMap<String, Origin> {
        self.backends.origins(id)
    }

    fn read_files(&mut self, inputs: &Inputs) {
        if let Some(path) = inputs.environment.var("HANSA_CONFIG") {
            let path = Path::new(path);
            if !self.read_file(path) {
                self.warn_variable(
                    "HANSA_CONFIG",
                    format!("there is no file {}; no file is read", path.display()),
                );
            }
            return;
        }
        self.read_file(&inputs.root.join("etc/hsa/hsa.conf"));
        if let Some(dir) = inputs.environment.user_config_dir() {
            self.read_file(&dir.join("hsa/hsa.conf"));
        }
    }

    /// Reads a file over what is there. Answers whether there is one.
    fn read_file(&mut self, path: &Path) -> bool {
        match file::read(path) {
            Ok(text) => {
                self.files.push(path.to_owned());
                file::apply(
                    path,
                    &text,
                    &mut self.settings,
                    &mut self.backends,
                    &mut self.warnings,
                );
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            Err(error) => {
                let place = Origin::File {
                    path: path.to_owned(),
                    line: 0,
                };
                self.warnings.push(Warning {
                    place,
                    problem: format!("cannot be read: {error}"),
                });
                true
            }
        }
    }

    /// Reads `HANSA_SET`, which holds lines of a file, over what is there.
    fn read_lines(&mut self, environment: &Environment) {
        let Some(text) = environment.var("HANSA_SET") else {
            return;
        };
        file::apply(
            Path::new("HANSA_SET"),
            &text.to_string_lossy(),
            &mut self.settings,
            &mut self.backends,
            &mut self.warnings,
        );
    }

    fn read_variables(&mut self, environment: &Environment) {
        let mut warnings = Vec::new();
        self.settings.for_each(&mut |slot| {
            for name in slot.variables {
                let found = environment.var_even_empty(name);
                let Some(text) = found.filter(|text| !text.is_empty() || slot.setting.empty_is_a_value())
                else {
                    continue;
                };
                if let Err(form) = slot.setting.set_text(text, dialect(name), name) {
                    warnings.push(Warning {
                        place: Origin::Variable((*name).to_owned()),
                        problem: format!("{}: {form}", text.to_string_lossy()),
                    });
                }
            }
        });
        self.warnings.extend(warnings);
        self.read_node_versions(environment);
        for variable in VARIABLES
            .iter()
            .filter(|variable| matches!(variable.purpose, Use::Driver(_)))
        {
            if let Some(value) = environment.var(variable.name).and_then(|value| value.to_str()) {
                self.driver_variables
                    .insert(variable.name.to_owned(), value.to_owned());
            }
        }
        let general = self.settings.hsa.override_gfx_version.value;
        let of_nodes = self.override_gfx_version_of_node.iter();
        let of_nodes = of_nodes.map(|(node, setting)| (format!("_{node}"), setting.value));
        for (suffix, version) in general
            .map(|version| (String::new(), version))
            .into_iter()
            .chain(of_nodes)
        {
            let name = format!("HSA_OVERRIDE_GFX_VERSION{suffix}");
            self.driver_variables.insert(name, version.to_string());
        }
        for (name, switch) in [
            ("HSA_XNACK", self.settings.hsa.xnack.value),
            (
                "HSA_ENABLE_DEBUG",
                self.settings.hsa.enable_debug.value.then_some(true),
            ),
        ] {
            if let Some(on) = switch {
                self.driver_variables
                    .insert(name.to_owned(), u8::from(on).to_string());
            }
        }
        for variable in VARIABLES {
            if let (Use::NoMeaning(why), Some(_)) = (variable.purpose, environment.var(variable.name)) {
                self.without_meaning.push((variable.name, why));
            }
        }
        for name in environment
            .names_with("HANSA_")
            .filter(|name| variables::find(name).is_none() && !variables::is_of_a_plugin(name))
        {
            let known = VARIABLES
                .iter()
                .map(|variable| variable.name)
                .filter(|name| name.starts_with("HANSA_"));
            let known = known.collect::<Vec<_>>().join(", ");
            self.warn_variable(name, format!("unknown variable; the known ones are {known}"));
        }
    }

    fn read_node_versions(&mut self, environment: &Environment) {
        const PREFIX: &str = "HSA_OVERRIDE_GFX_VERSION_";
        let form = <Option<GfxVersion>>::FORM;
        for name in environment.names_with(PREFIX) {
            let node = name[PREFIX.len()..].parse::<u32>().ok();
            let text = environment.var(name).unwrap_or_default();
            let version = text.to_str().and_then(GfxVersion::parse);
            match (node, version) {
                (Some(node), Some(value)) => {
                    let setting = Setting {
                        value,
                        origin: Origin::Variable(name.to_owned()),
                    };
                    self.override_gfx_version_of_node.insert(node, setting);
                }
                (None, _) => self.warn_variable(
                    name,
                    "expected the number of a node at the end of the name".into(),
                ),
                (_, None) => self.warn_variable(
                    name,
                    format!("{}: expected {form}; it is not used", text.to_string_lossy()),
                ),
            }
        }
    }

    fn warn_variable(&mut self, name: &str, problem: String) {
        self.warnings.push(Warning {
            place: Origin::Variable(name.to_owned()),
            problem,
        });
    }
}

fn dialect(variable: &str) -> Dialect {
    if variable.starts_with("HANSA_") {
        Dialect::Hansa
    } else {
        Dialect::Hsa
    }
}

#[cfg(test)]
pub(crate) mod tests;
