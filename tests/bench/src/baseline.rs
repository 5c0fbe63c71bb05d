//! The C baseline: compiled when the benchmark runs, so that it is what this machine's C compiler makes.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = include_str!("baseline.c");

/// The compiled functions.
pub(crate) struct Baseline {
    pub(crate) load: unsafe extern "C" fn(*const i64) -> i64,
    pub(crate) store: unsafe extern "C" fn(*mut i64, i64),
    pub(crate) add: unsafe extern "C" fn(*mut u64, u64) -> u64,
    _library: Library,
}

/// A directory that goes away by itself.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Baseline {
    /// Compiles and loads it.
    pub(crate) fn build() -> Result<Self, String> {
        let directory = Directory(std::env::temp_dir().join(format!("hansa-bench-{}", std::process::id())));
        let shown = |e: std::io::Error| format!("{}: {e}", directory.0.display());
        std::fs::create_dir_all(&directory.0).map_err(shown)?;
        let (source, library) = (directory.0.join("baseline.c"), directory.0.join("libbaseline.so"));
        std::fs::write(&source, SOURCE).map_err(shown)?;
        let status = Command::new("cc")
            .args(["-O2", "-std=c11", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .status()
            .map_err(|e| format!("cc: {e}"))?;
        if !status.success() {
            return Err(format!("cc: {status}"));
        }
        // SAFETY: the library was just compiled from the source above.
        let library =
            unsafe { Library::open(Some(&library), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| e.to_string())?;
        // SAFETY: the function's type is that of the source above.
        let load = unsafe { library.get::<unsafe extern "C" fn(*const i64) -> i64>(b"baseline_load\0") };
        // SAFETY: as above.
        let store = unsafe { library.get::<unsafe extern "C" fn(*mut i64, i64)>(b"baseline_store\0") };
        // SAFETY: as above.
        let add = unsafe { library.get::<unsafe extern "C" fn(*mut u64, u64) -> u64>(b"baseline_add\0") };
        Ok(Self {
            load: *load.map_err(|e| e.to_string())?,
            store: *store.map_err(|e| e.to_string())?,
            add: *add.map_err(|e| e.to_string())?,
            _library: library,
        })
    }
}
