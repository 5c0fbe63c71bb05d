//! A plugin that the search found, on its way to serving or not.

use std::fmt;
use std::path::{Path, PathBuf};

use super::builtin::BuiltIn;
use super::facts::Facts;
use super::reason::Reason;

/// Where a plugin comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A manifest, whose library is known once the manifest was understood.
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// The library it names.
        library: Option<PathBuf>,
    },
    /// A library named without a manifest: its note says everything.
    Library(PathBuf),
    /// Linked into the runtime.
    BuiltIn(BuiltIn),
    /// Nothing: a name in the configuration that no plugin answers to.
    Nowhere,
}

impl Source {
    /// The library to open.
    pub fn library(&self) -> Option<&Path> {
        match self {
            Self::Manifest { library, .. } => library.as_deref(),
            Self::Library(library) => Some(library),
            Self::BuiltIn(_) | Self::Nowhere => None,
        }
    }

    /// The manifest it was found by.
    pub fn manifest(&self) -> Option<&Path> {
        match self {
            Self::Manifest { manifest, .. } => Some(manifest),
            _ => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest { manifest: path, .. } | Self::Library(path) => write!(f, "{}", path.display()),
            Self::BuiltIn(_) => f.write_str("built in"),
            Self::Nowhere => f.write_str("not found"),
        }
    }
}

/// A plugin that the search found.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where it comes from.
    pub source: Source,
    /// The name it goes by: its id, or, while that is not known, its file name.
    pub name: String,
    /// What it says about itself, when that could be read.
    pub facts: Option<Facts>,
    /// What does not matter but should be known.
    pub warnings: Vec<String>,
    /// How it ended; nothing while it is still in the running.
    pub reason: Option<Reason>,
}

impl Candidate {
    /// A candidate that nothing is known about yet.
    pub(super) fn new(source: Source, name: String) -> Self {
        Self {
            source,
            name,
            facts: None,
            warnings: Vec::new(),
            reason: None,
        }
    }

    /// Ends its way with a reason. The first reason counts.
    pub(super) fn end(&mut self, reason: Reason) {
        self.reason.get_or_insert(reason);
    }

    /// Whether nothing has ended its way yet.
    pub(super) fn is_running(&self) -> bool {
        self.reason.is_none()
    }
}
