//! Plugins: finding them, choosing among them, starting them, and saying why each one serves or not.
//!
//! The way of a plugin: `search` gives the places, `discover` reads manifests, `select` applies
//! what the configuration and the manifests say, `presence` asks whether its device exists, `elf`
//! and `note` judge the library without running it, `load` opens it and compares layouts, and
//! `start` probes it and makes its driver or extension. Each step can end the way with a
//! [`Reason`]; none of them ends anybody else's.

mod builtin;
mod candidate;
mod discover;
mod drivers;
mod elf;
mod errno;
mod facts;
pub mod glob;
mod layout;
mod load;
mod manifest;
mod note;
mod presence;
mod reason;
mod report;
mod search;
mod select;
mod start;

use hansa_plugin_api::sys::System;
use hansa_plugin_api::RuntimeServicesRef;

pub use self::builtin::BuiltIn;
pub use self::candidate::{Candidate, Source};
pub use self::discover::{Found, Searched};
pub use self::drivers::{pci_address, LoadedDriver};
pub use self::elf::read_note;
pub use self::facts::{interface_text, same_target, Facts};
pub use self::manifest::Manifest;
pub use self::note::{decode, NoteError};
pub use self::reason::{Outcome, Reason, Step, TakenDevice};
pub use self::report::{Entry, Report, Runtime, SCHEMA};
pub use self::search::Roots;
pub use self::start::{LoadedExtension, MakeHost};

use self::glob::names;
use self::select::{asked_by_name, select, Plan};
use self::start::{Serving, Starter};
use crate::config::{Config, Origin, Warning};

/// Why the runtime must not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A plugin marked critical does not serve.
    #[error("the plugin {id} is marked critical: {reason}")]
    Critical {
        /// The plugin.
        id: String,
        /// Why it does not serve.
        reason: Box<Reason>,
    },
    /// A plugin that somebody named does not serve.
    #[error("{by} asks for {name}: {reason}")]
    AskedFor {
        /// The name.
        name: String,
        /// Who asked.
        by: Origin,
        /// Why it does not serve.
        reason: Box<Reason>,
    },
    /// None of the drivers that somebody named serves.
    #[error("{by} names the drivers to use, and none of them serves")]
    NoBackend {
        /// Who named them.
        by: Origin,
    },
}

/// The plugins of one runtime.
#[derive(Debug)]
pub struct Plugins {
    candidates: Vec<Candidate>,
    searched: Vec<Searched>,
    plan: Plan,
    serving: Serving,
    config: Config,
    roots: Roots,
    secure: bool,
    /// How many drivers serve, once they were started.
    drivers: Option<usize>,
}

impl Plugins {
    /// Finds plugins and chooses among them. Nothing of them runs.
    pub fn find(roots: Roots, config: &Config, secure: bool, builtins: &[BuiltIn]) -> Self {
        let discover::Discovery {
            mut candidates,
            searched,
        } = discover::discover(&roots, config, builtins);
        let plan = select(&mut candidates, &config.settings.plugins);
        Self {
            candidates,
            searched,
            plan,
            serving: Serving::default(),
            config: config.clone(),
            roots,
            secure,
            drivers: None,
        }
    }

    /// Starts drivers: those of the plan, and, when no accelerator serves then, those that stand in.
    pub fn start_drivers(&mut self, system: &dyn System, make_host: MakeHost<'_>) -> Vec<LoadedDriver> {
        let starter = Starter {
            config: &self.config,
            system,
            root: &self.roots.root,
            make_host,
        };
        let mut drivers = Vec::new();
        let has_driver = |candidate: &Candidate| {
            candidate.is_running()
                && candidate
                    .facts
                    .as_ref()
                    .is_some_and(|facts| facts.kind.has_driver())
        };
        for &at in &self.plan.first {
            if has_driver(&self.candidates[at]) {
                drivers.extend(starter.driver(&mut self.candidates[at], at, &mut self.serving));
            }
        }
        for &at in &self.plan.fallback {
            if !has_driver(&self.candidates[at]) {
                continue;
            }
            let hardware = |driver: &&LoadedDriver| !driver.software && driver.own_devices().next().is_some();
            let served_by: Vec<String> = drivers
                .iter()
                .filter(hardware)
                .map(|driver| driver.id.clone())
                .collect();
            if served_by.is_empty() {
                drivers.extend(starter.driver(&mut self.candidates[at], at, &mut self.serving));
            } else {
                self.candidates[at].end(Reason::NotNeeded { served_by });
            }
        }
        self.drivers = Some(drivers.len());
        drivers
    }

    /// Starts extensions, once the runtime can serve them.
    pub fn start_extensions(
        &mut self,
        system: &dyn System,
        make_host: MakeHost<'_>,
        services: RuntimeServicesRef<'static>,
    ) -> Vec<LoadedExtension> {
        let starter = Starter {
            config: &self.config,
            system,
            root: &self.roots.root,
            make_host,
        };
        let mut extensions = Vec::new();
        for &at in self.plan.first.iter().chain(&self.plan.fallback) {
            let candidate = &mut self.candidates[at];
            let serves = matches!(candidate.reason, None | Some(Reason::Loaded { .. }));
            if serves
                && candidate
                    .facts
                    .as_ref()
                    .is_some_and(|facts| facts.kind.has_extension())
            {
                extensions.extend(starter.extension(candidate, at, &mut self.serving, services));
            }
        }
        extensions
    }

    /// Whether the runtime may start with what serves: every critical plugin and every plugin that
    /// somebody named does, and if drivers were named, one of them does. Ask after the drivers were
    /// started, and again after the extensions.
    ///
    /// # Errors
    ///
    /// The first plugin that must serve and does not.
    pub fn verdict(&self) -> Result<(), Error> {
        let served = |name: &str| {
            let named = self
                .candidates
                .iter()
                .filter(|candidate| names(name, &candidate.name));
            named
                .into_iter()
                .any(|candidate| matches!(candidate.reason, Some(Reason::Loaded { .. })))
        };
        for candidate in &self.candidates {
            let critical = candidate.facts.as_ref().is_some_and(|facts| facts.critical);
            let Some(reason) = candidate
                .reason
                .as_ref()
                .filter(|_| critical && !served(&candidate.name))
            else {
                continue;
            };
            if matches!(reason.outcome(), Outcome::Failed | Outcome::Absent) {
                return Err(Error::Critical {
                    id: candidate.name.clone(),
                    reason: Box::new(reason.clone()),
                });
            }
        }
        let plugins = &self.config.settings.plugins;
        for asked in asked_by_name(plugins) {
            let failed = self.candidates.iter().find_map(|candidate| {
                let reason = candidate.reason.as_ref()?;
                (names(&asked.name, &candidate.name) && reason.outcome() == Outcome::Failed).then_some(reason)
            });
            if let Some(reason) = failed.filter(|_| !served(&asked.name)) {
                return Err(Error::AskedFor {
                    name: asked.name,
                    by: asked.by,
                    reason: Box::new(reason.clone()),
                });
            }
        }
        if !plugins.backends.value.is_empty() && self.drivers == Some(0) {
            return Err(Error::NoBackend {
                by: plugins.backends.origin.clone(),
            });
        }
        Ok(())
    }

    /// What was found, in the order of the search.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// A warning for each part of the configuration that is for a plugin which was not found.
    pub fn unanswered(&self) -> Vec<Warning> {
        let names = self.candidates.iter().map(|candidate| candidate.name.as_str());
        self.config.backends_without(&names.collect::<Vec<_>>())
    }

    /// The report, as things stand.
    pub fn report(&self) -> Report {
        let warnings = self
            .config
            .warnings
            .iter()
            .chain(&self.unanswered())
            .map(ToString::to_string)
            .collect();
        Report {
            schema: SCHEMA,
            runtime: Runtime::this(),
            secure: self.secure,
            searched: self.searched.clone(),
            plugins: self.candidates.iter().map(Entry::of).collect(),
            warnings,
            error: self.verdict().err().map(|error| error.to_string()),
        }
    }
}

#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests;
