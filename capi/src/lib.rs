//! `libhsa-runtime64.so.1`: the C interface of HSA and of AMD's extensions over [`hansa_core`].
//!
//! A call walks `symbol -> trampoline -> public table -> function -> core`:
//!
//! - `export` has the symbols and their trampolines, `debugger` the one symbol that is data;
//! - `table` has the tables that tools patch, `absent` what is in them while an extension is not there;
//! - `api` has the functions of the standard, written with `entry`; extensions bring theirs;
//! - `tools` loads the libraries that patch the tables, `trace` reports calls when that is configured;
//! - [`plugins`] lists the plugins that are part of the library.
//!
//! This crate checks pointers, handles and enumeration values, and nothing else.

mod absent;
mod api;
mod debugger;
mod entry;
mod export;
pub mod plugins;
mod table;
mod tools;
mod trace;

use hansa_core::queue::scratch_events;
use hansa_core::{clock, runtime, Result};
use hansa_plugin_api::hsa::HsaApiTable;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts the runtime with the built-in plugins, fills the tables and loads tools, or counts one more user, as `hsa_init` does.
///
/// # Errors
///
/// What kept the runtime from starting.
pub fn start() -> Result<()> {
    if runtime::join() {
        return Ok(());
    }
    // A forked child has no runtime, and no trace or tool in front of one.
    static AT_FORK: AtomicBool = AtomicBool::new(false);
    if !AT_FORK.swap(true, Ordering::Relaxed) {
        // SAFETY: the handler only stores words.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    let start = clock::now();
    let mut traced = false;
    runtime::init_with(
        plugins::BUILT_INS,
        |runtime| {
            // Of a forked child's parent.
            debugger::clear();
            table::install(&runtime.extensions.lock().slots);
            api::agent_constants::keep(runtime);
            scratch_events::listen(tools::scratch::report);
            traced = hansa_core::trace::begin(&runtime.config.settings.debug.api_trace);
            if traced {
                trace::install();
            }
        },
        |runtime| tools::load(runtime),
    )?;
    if traced {
        trace::report_init(start);
    }
    Ok(())
}

extern "C" fn in_child() {
    table::reset();
}

/// Counts one user less, as `hsa_shut_down` does; the last one takes the runtime down and resets the tables.
///
/// # Errors
///
/// [`hansa_core::Error::NotInitialized`] when there is no runtime.
pub fn stop() -> Result<()> {
    runtime::shut_down_with(tools::unload, || {
        table::reset();
        debugger::clear();
    })
}

/// The exported functions that no extension brings on this machine: those that can only answer with an error. Starts
/// the runtime for the question.
///
/// # Errors
///
/// What kept the runtime from starting.
pub fn missing() -> Result<Vec<&'static str>> {
    start()?;
    let names = runtime::current().map(|runtime| table::missing(&runtime.extensions.lock().slots));
    stop()?;
    names
}

/// The root of the public tables, which tools are given.
#[must_use]
pub fn api_table() -> *mut HsaApiTable {
    table::ROOT.pointer()
}
