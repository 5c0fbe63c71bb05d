//! The report of the plugin search: what `hansa doctor` prints for people and for programs.
//!
//! `docs/doctor.schema.json` is the JSON form; a test holds the two together.

use std::fmt;

use hansa_plugin_api::manifest::TARGET;
use hansa_plugin_api::INTERFACE;
use serde::Serialize;

use super::candidate::{Candidate, Source};
use super::discover::{Found, Searched};
use super::facts::interface_text;
use super::reason::{Outcome, Reason};

/// The number of the JSON form. It changes when a program that reads it would have to.
pub const SCHEMA: u32 = 1;

/// Everything there is to say about plugins.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The number of this form.
    pub schema: u32,
    /// The runtime that searched.
    pub runtime: Runtime,
    /// Whether the program runs with more rights than its caller.
    pub secure: bool,
    /// Where plugins were looked for, in order.
    pub searched: Vec<Searched>,
    /// What was found, in the order of the search.
    pub plugins: Vec<Entry>,
    /// What of the configuration could not be used.
    pub warnings: Vec<String>,
    /// Why the runtime does not start, if it does not.
    pub error: Option<String>,
}

/// The runtime that searched.
#[derive(Clone, Debug, Serialize)]
pub struct Runtime {
    /// Its version.
    pub version: &'static str,
    /// The plugin interface it has.
    pub interface: String,
    /// The target it was compiled for.
    pub target: &'static str,
}

impl Runtime {
    /// This runtime.
    pub fn this() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            interface: interface_text(INTERFACE),
            target: TARGET,
        }
    }
}

/// One candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Its id, or a name it was looked for by.
    pub id: String,
    /// What it provides, when that is known.
    pub kind: Option<&'static str>,
    /// Its version, when that is known.
    pub version: Option<String>,
    /// The interface it was built with, when that is known.
    pub interface: Option<String>,
    /// Its manifest.
    pub manifest: Option<String>,
    /// Its library.
    pub library: Option<String>,
    /// Whether it is linked into the runtime.
    pub built_in: bool,
    /// What the reason means; nothing when the plugin was not tried.
    pub outcome: Option<Outcome>,
    /// Why it serves or does not; nothing when it was not tried.
    pub reason: Option<Reason>,
    /// The reason for a person.
    pub sentence: Option<String>,
    /// What does not matter but should be known.
    pub warnings: Vec<String>,
}

impl Entry {
    pub(super) fn of(candidate: &Candidate) -> Self {
        let path = |path: &std::path::Path| path.display().to_string();
        let facts = candidate.facts.as_ref();
        Self {
            id: candidate.name.clone(),
            kind: facts.map(|facts| facts.kind.name()),
            version: facts.map(|facts| facts.version.to_string()),
            interface: facts.map(|facts| interface_text(facts.interface)),
            manifest: candidate.source.manifest().map(path),
            library: candidate.source.library().map(path),
            built_in: matches!(candidate.source, Source::BuiltIn(_)),
            outcome: candidate.reason.as_ref().map(Reason::outcome),
            reason: candidate.reason.clone(),
            sentence: candidate.reason.as_ref().map(ToString::to_string),
            warnings: candidate.warnings.clone(),
        }
    }

    /// Where it comes from, for a person.
    fn place(&self) -> &str {
        match (&self.manifest, &self.library, self.built_in) {
            (Some(path), ..) | (None, Some(path), _) => path,
            (None, None, true) => "built in",
            (None, None, false) => "not found",
        }
    }
}

impl Report {
    /// The report before anything was searched.
    pub fn empty() -> Self {
        Self {
            schema: SCHEMA,
            runtime: Runtime::this(),
            secure: false,
            searched: Vec::new(),
            plugins: Vec::new(),
            warnings: Vec::new(),
            error: None,
        }
    }

    /// The entries of plugins that serve.
    pub fn loaded(&self) -> impl Iterator<Item = &Entry> {
        self.plugins
            .iter()
            .filter(|entry| entry.outcome == Some(Outcome::Loaded))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Runtime {
            version,
            interface,
            target,
        } = &self.runtime;
        writeln!(f, "Hansa {version}, plugin interface {interface}, {target}")?;
        if self.secure {
            writeln!(
                f,
                "This program runs with more rights than its caller: the caller's paths are ignored."
            )?;
        }
        writeln!(f, "\nPlugins")?;
        for entry in &self.plugins {
            let mark = match entry.outcome {
                Some(Outcome::Loaded) => "[ok]     ",
                Some(Outcome::Skipped) => "[skipped]",
                Some(Outcome::Absent) => "[absent] ",
                Some(Outcome::Failed) => "[FAILED] ",
                None => "[not tried]",
            };
            let version = entry.version.as_deref().unwrap_or("?");
            writeln!(f, "  {mark} {} {version}  ({})", entry.id, entry.place())?;
            if let Some(sentence) = &entry.sentence {
                writeln!(f, "            {sentence}")?;
            }
            for warning in &entry.warnings {
                writeln!(f, "            note: {warning}")?;
            }
        }
        if self.plugins.is_empty() {
            writeln!(f, "  none was found")?;
        }
        writeln!(f, "\nSearched, in this order")?;
        for Searched { path, found } in &self.searched {
            match found {
                Found::Candidates(1) => writeln!(f, "  {path}: 1 manifest")?,
                Found::Candidates(count) => writeln!(f, "  {path}: {count} manifests")?,
                Found::Absent(_) => writeln!(f, "  {path}: not there")?,
                Found::Unusable(why) => writeln!(f, "  {path}: {why}")?,
            }
        }
        if !self.warnings.is_empty() {
            writeln!(f, "\nConfiguration")?;
            for warning in &self.warnings {
                writeln!(f, "  {warning}")?;
            }
        }
        if let Some(error) = &self.error {
            writeln!(f, "\nThe runtime does not start: {error}")?;
        }
        Ok(())
    }
}
