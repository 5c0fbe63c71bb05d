//! The C baseline: compiled when the benchmark runs, so that it is what this machine's C compiler makes.

use crate::scratch::Scratch;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::process::Command;

const SOURCE: &str = include_str!("baseline.c");

/// The compiled functions.
pub(crate) struct Baseline {
    pub(crate) load: unsafe extern "C" fn(*const i64) -> i64,
    pub(crate) store: unsafe extern "C" fn(*mut i64, i64),
    pub(crate) add: unsafe extern "C" fn(*mut u64, u64) -> u64,
    _library: Library,
}

impl Baseline {
    /// Compiles and loads it.
    pub(crate) fn build() -> Result<Self, String> {
        let directory = Scratch::new("c")?;
        let source = directory.file("baseline.c", SOURCE.as_bytes())?;
        let library = directory.path().join("libbaseline.so");
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
