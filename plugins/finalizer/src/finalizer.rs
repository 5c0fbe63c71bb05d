//! What one runtime's finalizer holds: programs, and code that was made of them.

use crate::cache::Cache;
use crate::program::{Program, Settings};
use hansa_extension_lib::outcome::Outcome;
use hansa_extension_lib::serving::Serves;
use hansa_plugin_api::hsa::hsa_status_t;
use hansa_plugin_api::{HostRef, RuntimeServicesRef};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The upper half of a program's handle.
const TAG: u64 = 0x5052_4f47 << 32;

/// The number of the next program. It goes on from runtime to runtime, so that a handle never comes back.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A program that several threads may use.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Program>);

impl Shared {
    /// The program, while nobody else has it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Program> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The extension of one runtime.
#[derive(Debug)]
pub(crate) struct Finalizer {
    host: HostRef<'static>,
    runtime: RuntimeServicesRef<'static>,
    programs: Mutex<HashMap<u64, Arc<Shared>>>,
    /// Code that was made.
    pub(crate) cache: Cache,
}

impl Serves for Finalizer {
    fn host(&self) -> HostRef<'static> {
        self.host
    }

    fn runtime(&self) -> RuntimeServicesRef<'static> {
        self.runtime
    }
}

impl Finalizer {
    /// A finalizer without programs.
    pub(crate) fn new(host: HostRef<'static>, runtime: RuntimeServicesRef<'static>) -> Self {
        Self {
            host,
            runtime,
            programs: Mutex::default(),
            cache: Cache::default(),
        }
    }

    fn programs(&self) -> MutexGuard<'_, HashMap<u64, Arc<Shared>>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a program and gives its handle.
    pub(crate) fn create(&self, settings: Settings) -> u64 {
        let handle = TAG | NEXT.fetch_add(1, Ordering::Relaxed) & u64::from(u32::MAX);
        let program = Shared(Mutex::new(Program::new(settings)));
        self.programs().insert(handle, Arc::new(program));
        handle
    }

    /// The program of a handle. INVALID_PROGRAM.
    pub(crate) fn program(&self, handle: u64) -> Outcome<Arc<Shared>> {
        let programs = self.programs();
        let program = programs.get(&handle).map(Arc::clone);
        program.ok_or_else(|| hsa_status_t::EXT_ERROR_INVALID_PROGRAM.into())
    }

    /// Ends a program. INVALID_PROGRAM.
    pub(crate) fn destroy(&self, handle: u64) -> Outcome {
        let removed = self.programs().remove(&handle);
        removed
            .map(drop)
            .ok_or_else(|| hsa_status_t::EXT_ERROR_INVALID_PROGRAM.into())
    }

    /// Lets go of all programs and all code.
    pub(crate) fn clear(&self) {
        self.programs().clear();
    }
}
