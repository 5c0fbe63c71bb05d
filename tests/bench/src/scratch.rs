//! Directories for what the benchmarks compile. They go away by themselves.

use std::path::{Path, PathBuf};

/// A new directory among the temporary files.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes one whose name says what it is for.
    pub(crate) fn new(purpose: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("hansa-bench-{purpose}-{}", std::process::id()));
        // Somebody else's directory of this name is not used.
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in it and gives its path.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        match std::fs::write(&path, content) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the directory of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
