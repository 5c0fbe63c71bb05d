//! Why there is no code object.

use std::fmt;
use std::io;

/// A tool that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    tool: &'static str,
    reason: String,
}

impl Attempt {
    pub(super) fn new(tool: &'static str, reason: String) -> Self {
        Self { tool, reason }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.tool, self.reason)
    }
}

/// Why there is no code object.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No tool is there.
    #[error("Nothing that compiles for AMD GPUs was found: {}", list(.attempts))]
    NoTool {
        /// What was looked for.
        attempts: Vec<Attempt>,
    },
    /// Not the name of an instruction set.
    #[error("{0:?} is not the name of an instruction set, as amdgcn-amd-amdhsa--gfx900 is")]
    BadIsa(String),
    /// A tool does not know the instruction set.
    #[error("{tool} does not know {isa}")]
    UnknownIsa {
        /// The tool.
        tool: String,
        /// The instruction set.
        isa: String,
    },
    /// A tool refused the code or failed.
    #[error("{tool} failed to {step}: {log}")]
    Failed {
        /// The tool.
        tool: String,
        /// What it was to do.
        step: &'static str,
        /// What it said.
        log: String,
    },
    /// A file or a process could not be handled.
    #[error("{tool} could not be used: {what}")]
    Io {
        /// The tool.
        tool: String,
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

fn list(attempts: &[Attempt]) -> String {
    let all: Vec<String> = attempts.iter().map(ToString::to_string).collect();
    all.join("; ")
}
