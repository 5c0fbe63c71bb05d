//! Starting what was chosen: open, compare, probe, arbitrate, make, open the devices.
//!
//! Candidates are tried in the order of the plan. Each takes the devices that its probe names and
//! that nobody took before it; one that fails gives nothing up to those behind it, as it has taken
//! nothing yet. So a device goes to the first driver that works, and copies of one plugin stand in
//! for each other.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hansa_plugin_api::sys::System;
use hansa_plugin_api::{
    DriverObject, Error, ErrorCode, ExtensionObject, ExtensionTable, HostObject, PluginModRef,
    RuntimeServicesRef, SystemDescription,
};

use super::candidate::{Candidate, Source};
use super::discover::judge;
use super::drivers::{leave_to_others, LoadedDriver};
use super::facts::Facts;
use super::glob::names;
use super::presence::is_present;
use super::reason::{Reason, Step, TakenDevice};
use super::{errno, load};
use crate::config::Config;

/// Makes the runtime's side for a plugin, given its id and its part of the configuration.
pub type MakeHost<'a> = &'a dyn Fn(&str, String) -> HostObject;

/// Devices of software drivers: there are as many as one likes.
const SOFTWARE_DEVICE: &str = "software:";

/// An extension that serves.
#[derive(Debug)]
pub struct LoadedExtension {
    /// The plugin's id.
    pub id: String,
    /// The plugin's version.
    pub version: String,
    /// Its tables, in the order it gave them.
    pub tables: Vec<ExtensionTable>,
    /// The extension. Dropped before its host, which it may use until then.
    pub extension: ExtensionObject,
    /// The runtime as this plugin sees it.
    pub host: HostObject,
}

/// What serves already, while candidates are tried.
#[derive(Default)]
pub(super) struct Serving {
    /// Plugins by id, version and place.
    plugins: Vec<(String, String, String)>,
    /// Conflict patterns of those plugins, by id.
    conflicts: Vec<(String, Vec<String>)>,
    /// Devices by name and driver.
    devices: Vec<(String, String)>,
    /// Modules of plugins that are driver and extension, by position in the list of candidates.
    modules: Vec<(usize, PluginModRef)>,
}

/// What starting depends on.
#[allow(missing_debug_implementations, reason = "a function has nothing to show")]
pub(super) struct Starter<'a> {
    pub(super) config: &'a Config,
    pub(super) system: &'a dyn System,
    pub(super) root: &'a Path,
    pub(super) make_host: MakeHost<'a>,
}

impl Starter<'_> {
    /// Tries to make a candidate's driver serve. The reason is the candidate's in either case.
    pub(super) fn driver(
        &self,
        candidate: &mut Candidate,
        at: usize,
        serving: &mut Serving,
    ) -> Option<LoadedDriver> {
        let facts = candidate.facts.clone()?;
        match self.try_driver(candidate, &facts, at, serving) {
            Ok(driver) => {
                serving.enter(&facts, &candidate.source);
                let taken = driver
                    .devices
                    .iter()
                    .filter(|device| !device.starts_with(SOFTWARE_DEVICE));
                serving
                    .devices
                    .extend(taken.map(|device| (device.clone(), facts.id.clone())));
                let hidden = driver
                    .description
                    .hidden
                    .iter()
                    .map(|sentence| format!("left out: {sentence}"));
                candidate.warnings.extend(hidden);
                candidate.end(Reason::Loaded {
                    devices: driver.devices.clone(),
                    left_to_others: driver.left_to_others.clone(),
                });
                Some(driver)
            }
            Err(reason) => {
                candidate.end(reason);
                None
            }
        }
    }

    fn try_driver(
        &self,
        candidate: &mut Candidate,
        facts: &Facts,
        at: usize,
        serving: &mut Serving,
    ) -> Result<LoadedDriver, Reason> {
        let module = self.module(candidate, facts, serving)?;
        let host = (self.make_host)(&facts.id, self.config.backend_text(&facts.id));
        let failed = |step| move |error: Error| self.failure(facts, step, &error);
        let probed = module.probe()(host.as_ref())
            .into_result()
            .map_err(failed(Step::Probe))?;
        let all = probed.devices.iter().map(|device| device.to_string());
        let (taken, devices): (Vec<String>, Vec<String>) =
            all.partition(|device| serving.owner(device).is_some());
        if devices.is_empty() && !taken.is_empty() {
            let devices = taken.into_iter().map(|device| {
                let by = serving.owner(&device).unwrap_or_default().to_owned();
                TakenDevice { device, by }
            });
            return Err(Reason::Outranked {
                devices: devices.collect(),
            });
        }
        // SAFETY: the driver is dropped before the host: here, as locals drop in reverse order, and
        // in `LoadedDriver`, whose fields drop in order.
        let lasting = unsafe { host.as_ref().unbound() };
        let driver: DriverObject = module.driver()(lasting)
            .into_result()
            .map_err(failed(Step::Init))?;
        driver.open().map_err(failed(Step::Open))?;
        let mut description: SystemDescription = driver.describe().map_err(|error| {
            // It is on its way out; what it says to this changes nothing.
            let _ = driver.close();
            failed(Step::Describe)(error)
        })?;
        leave_to_others(&mut description, &taken);
        if facts.kind.has_extension() {
            serving.modules.push((at, module));
        }
        Ok(LoadedDriver {
            id: facts.id.clone(),
            version: facts.version.to_string(),
            software: facts.software,
            description,
            devices,
            left_to_others: taken,
            driver,
            host,
        })
    }

    /// Tries to make a candidate's extension serve. The reason is the candidate's in either case,
    /// unless its driver serves: then what is wrong with the extension is a remark.
    pub(super) fn extension(
        &self,
        candidate: &mut Candidate,
        at: usize,
        serving: &mut Serving,
        services: RuntimeServicesRef<'static>,
    ) -> Option<LoadedExtension> {
        let facts = candidate.facts.clone()?;
        let as_driver = serving
            .modules
            .iter()
            .find(|(of, _)| *of == at)
            .map(|(_, module)| *module);
        let module = match as_driver {
            Some(module) => Ok(module),
            None => self.module(candidate, &facts, serving),
        };
        match module.and_then(|module| self.try_extension(module, &facts, services)) {
            Ok(extension) => {
                if as_driver.is_none() {
                    serving.enter(&facts, &candidate.source);
                    candidate.end(Reason::Loaded {
                        devices: Vec::new(),
                        left_to_others: Vec::new(),
                    });
                }
                Some(extension)
            }
            Err(reason) => {
                if as_driver.is_some() {
                    candidate
                        .warnings
                        .push(format!("its extension does not serve: {reason}"));
                }
                candidate.end(reason);
                None
            }
        }
    }

    fn try_extension(
        &self,
        module: PluginModRef,
        facts: &Facts,
        services: RuntimeServicesRef<'static>,
    ) -> Result<LoadedExtension, Reason> {
        let failed = |error: Error| self.failure(facts, Step::Extension, &error);
        let host = (self.make_host)(&facts.id, self.config.backend_text(&facts.id));
        // SAFETY: the extension is dropped before the host: here, as locals drop in reverse order,
        // and in `LoadedExtension`, whose fields drop in order.
        let lasting = unsafe { host.as_ref().unbound() };
        let extension = module.extension()(lasting, services)
            .into_result()
            .map_err(failed)?;
        let tables = extension.tables().map_err(failed)?;
        Ok(LoadedExtension {
            id: facts.id.clone(),
            version: facts.version.to_string(),
            tables: tables.into_iter().collect(),
            extension,
            host,
        })
    }

    /// The root module of a candidate, after everything that can be asked without it.
    fn module(
        &self,
        candidate: &mut Candidate,
        facts: &Facts,
        serving: &Serving,
    ) -> Result<PluginModRef, Reason> {
        serving.admits(facts)?;
        if !is_present(self.system, facts) {
            return Err(Reason::NoDevice {
                looked_for: facts.claims_text(),
                said: None,
            });
        }
        judge(candidate)?;
        let module = match &candidate.source {
            Source::BuiltIn(builtin) => (builtin.root_module)(),
            Source::Nowhere => {
                return Err(Reason::NoDevice {
                    looked_for: Vec::new(),
                    said: None,
                })
            }
            Source::Manifest {
                library: Some(library),
                ..
            }
            | Source::Library(library) => load::open(library)?,
            Source::Manifest {
                manifest,
                library: None,
            } => {
                let error = "its manifest names none".to_owned();
                return Err(Reason::LibraryUnreadable {
                    library: manifest.clone(),
                    error,
                });
            }
        };
        load::check_identity(module, facts)?;
        Ok(module)
    }

    /// What an error of a plugin means.
    fn failure(&self, facts: &Facts, step: Step, error: &Error) -> Reason {
        let place = Some(error.place.to_string()).filter(|place| !place.is_empty());
        match (error.code, place) {
            (ErrorCode::PANIC, _) => Reason::Panicked {
                step,
                text: error.message.to_string(),
            },
            (ErrorCode::NO_DEVICE, _) => Reason::NoDevice {
                looked_for: facts.claims_text(),
                said: Some(error.to_string()),
            },
            (ErrorCode::PERMISSION, Some(node)) => Reason::NoPermission {
                errno: error.errno,
                errno_name: errno::name(error.errno),
                group: self.group_of(Path::new(&node)),
                said: error.message.to_string(),
                node,
            },
            (_, place) => Reason::Failed {
                step,
                text: error.message.to_string(),
                place,
                errno: error.errno,
            },
        }
    }

    /// The name of the group that a file belongs to, or its number when it has none.
    fn group_of(&self, path: &Path) -> Option<String> {
        let gid = fs::metadata(path).ok()?.gid();
        let groups = fs::read_to_string(self.root.join("etc/group")).unwrap_or_default();
        let name = groups.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)?.parse() == Ok(gid)).then(|| name.to_owned())
        });
        Some(name.unwrap_or_else(|| gid.to_string()))
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("plugins", &self.plugins)
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}

impl Serving {
    fn owner(&self, device: &str) -> Option<&str> {
        self.devices
            .iter()
            .find(|(name, _)| name == device)
            .map(|(_, by)| by.as_str())
    }

    fn enter(&mut self, facts: &Facts, source: &Source) {
        self.plugins
            .push((facts.id.clone(), facts.version.to_string(), source.to_string()));
        self.conflicts.push((facts.id.clone(), facts.conflicts.clone()));
    }

    /// Whether a plugin may be loaded beside those that serve.
    fn admits(&self, facts: &Facts) -> Result<(), Reason> {
        if let Some((_, by_version, by)) = self.plugins.iter().find(|(id, ..)| *id == facts.id) {
            let (version, by, by_version) = (facts.version.to_string(), by.clone(), by_version.clone());
            return Err(Reason::OtherVersion {
                version,
                by,
                by_version,
            });
        }
        let with = self.conflicts.iter().find(|(id, conflicts)| {
            facts.conflicts.iter().any(|pattern| names(pattern, id))
                || conflicts.iter().any(|pattern| names(pattern, &facts.id))
        });
        match with {
            Some((with, _)) => Err(Reason::Conflict { with: with.clone() }),
            None => Ok(()),
        }
    }
}
