//! A scripted runtime behind the extension, and the extension's tables as a program sees them.
//!
//! The runtime writes down every service that is asked for, with its arguments, and gives fixed answers, or the refusal
//! that a test has set for one service. All tests of a binary share it, one after another.

mod memory;
mod queues;
mod runtime;

use hansa_amd::AmdPlugin;
use hansa_plugin_api::hsa::{
    hsa_agent_t, hsa_amd_memory_pool_t, hsa_queue_t, hsa_signal_t, hsa_status_t,
    hsa_ven_amd_loader_1_04_pfn_t, AmdExtTable,
};
use hansa_plugin_api::{
    Error, ExtensionObject, ExtensionTable, HostObject, Plugin, Result, RuntimeServices,
    RuntimeServicesObject,
};
use std::ffi::c_void;
use std::ptr::without_provenance_mut;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Agents of the scripted runtime.
pub(crate) const CPU: u64 = 0x11;
/// See [`CPU`].
pub(crate) const GPU: u64 = 0x12;
/// A pool of the scripted runtime.
pub(crate) const POOL: u64 = 0x21;
/// A signal of the scripted runtime.
pub(crate) const SIGNAL: u64 = 0x31;

/// [`CPU`] as C passes it.
pub(crate) const CPU_AGENT: hsa_agent_t = hsa_agent_t { handle: CPU };
/// [`GPU`] as C passes it.
pub(crate) const GPU_AGENT: hsa_agent_t = hsa_agent_t { handle: GPU };
/// Both agents.
pub(crate) const AGENTS: [hsa_agent_t; 2] = [CPU_AGENT, GPU_AGENT];
/// [`POOL`] as C passes it.
pub(crate) const POOL_HANDLE: hsa_amd_memory_pool_t = hsa_amd_memory_pool_t { handle: POOL };
/// [`SIGNAL`] as C passes it.
pub(crate) const COMPLETION: hsa_signal_t = hsa_signal_t { handle: SIGNAL };
/// No signal.
pub(crate) const NO_SIGNAL: hsa_signal_t = hsa_signal_t { handle: 0 };

/// A pointer that nobody follows.
pub(crate) fn at(address: usize) -> *mut c_void {
    without_provenance_mut(address)
}

/// A queue that nobody looks into.
pub(crate) fn queue() -> *mut hsa_queue_t {
    without_provenance_mut(0x6000)
}

#[derive(Debug, Default)]
struct Script {
    running: bool,
    calls: Vec<String>,
    log: Vec<String>,
    refusal: Option<(&'static str, Error)>,
}

static SCRIPT: Mutex<Script> = Mutex::new(Script {
    running: true,
    calls: Vec::new(),
    log: Vec::new(),
    refusal: None,
});

fn script() -> MutexGuard<'static, Script> {
    SCRIPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a service does: writes the call down, and refuses or answers.
fn answer<T>(call: String, value: T) -> Result<T> {
    let mut script = script();
    let name = call.split('(').next().unwrap_or_default().to_owned();
    script.calls.push(call);
    match &script.refusal {
        Some((service, _)) if *service == "panic" => {
            drop(script);
            panic!("scripted")
        }
        Some((service, error)) if *service == name => Err(error.clone()),
        _ => Ok(value),
    }
}

struct Fixture {
    _extension: ExtensionObject,
    tables: Vec<ExtensionTable>,
}

/// An extension over a runtime, which lives for ever.
pub(crate) fn extension(runtime: impl RuntimeServices + 'static) -> ExtensionObject {
    let host = Box::leak(Box::new(HostObject::new(runtime::Host)));
    let runtime = Box::leak(Box::new(RuntimeServicesObject::new(runtime)));
    AmdPlugin::extension(host.as_ref(), runtime.as_ref()).expect("the extension is made")
}

// The tests' fixture is made once and shared; the extension object is used only to keep it alive.
fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let extension = extension(runtime::Runtime);
        let tables = extension.tables().expect("there are tables").into_vec();
        Fixture {
            _extension: extension,
            tables,
        }
    })
}

/// The extension, alone for one test.
pub(crate) struct Program {
    _alone: MutexGuard<'static, ()>,
    /// The `hsa_amd_*` functions.
    pub(crate) amd: &'static AmdExtTable,
    /// The loader functions.
    pub(crate) loader: &'static hsa_ven_amd_loader_1_04_pfn_t,
}

/// Starts a test with a runtime that runs and refuses nothing.
pub(crate) fn program() -> Program {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tables = &fixture().tables;
    *script() = Script {
        running: true,
        ..Script::default()
    };
    Program {
        _alone: alone,
        // SAFETY: the table in the slot of the AMD extension, constant as long as the fixture, which is for ever.
        amd: unsafe { &*tables[0].table.cast() },
        // SAFETY: the loader extension's table at its highest minor version, likewise.
        loader: unsafe { &*tables[1].table.cast() },
    }
}

impl Program {
    /// The tables as the runtime gets them.
    pub(crate) fn tables(&self) -> &'static [ExtensionTable] {
        &fixture().tables
    }

    /// `hsa_shut_down` was called, or `hsa_init` was not.
    pub(crate) fn stop(&self) {
        script().running = false;
    }

    /// Makes one service refuse from now on.
    pub(crate) fn refuse(&self, service: &'static str, status: hsa_status_t) {
        self.fail(service, Error::status(status.0, "scripted"));
    }

    /// Makes one service fail from now on.
    pub(crate) fn fail(&self, service: &'static str, error: Error) {
        script().refusal = Some((service, error));
    }

    /// The services asked for since the last time, but for the state of the runtime.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut script().calls)
    }

    /// The lines logged since the last time.
    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut script().log)
    }
}

/// An error handler that keeps the status in its argument, a `u32`.
///
/// # Safety
///
/// `data` points to a `u32`.
pub(crate) unsafe extern "C" fn on_queue_error(
    status: hsa_status_t,
    _queue: *mut hsa_queue_t,
    data: *mut c_void,
) {
    // SAFETY: by the contract of this function.
    unsafe { *data.cast::<u32>() = status.0 };
}
