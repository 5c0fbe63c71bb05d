//! Tools: libraries that are given the tables when the runtime starts, and patch them to see every call.
//!
//! The protocol is that of AMD's runtime. First the tables are offered to rocprofiler-register ([`register`]); when it
//! takes them, tools are its business. Otherwise the libraries named in `HSA_TOOLS_LIB` come in the order of the list, then
//! libraries which the program has loaded already and which export a number `HSA_AMD_TOOL_PRIORITY` ([`loaded`]), by
//! that number. Each library's `OnLoad` is called with the root of the tables, the root's major version, and the
//! names of the tools that failed before it; a library without that function, or whose `OnLoad` answers false,
//! has failed, and what it had patched is put back. `OnUnload` is called in reverse order when the last user leaves,
//! while the runtime still answers.
//!
//! A tool is never unloaded: a thread of the program may be inside one of its functions at any time.

mod library;
mod loaded;
mod register;
pub(crate) mod scratch;

use crate::table::{Snapshot, ROOT};
use hansa_core::config::Hsa;
use hansa_core::runtime::Runtime;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::hsa::{HsaApiTable, HSA_API_TABLE_VERSION};
use library::Library;
use std::ffi::{c_char, CString};

/// `OnLoad`: the tables, the version of their root, the number and the names of the tools that failed before. The answer
/// is C's `bool`, of which only the lowest byte is there.
type OnLoad = unsafe extern "C" fn(*mut HsaApiTable, u64, u64, *const *const c_char) -> u8;
/// `OnUnload`.
type OnUnload = unsafe extern "C" fn();

/// The tools of the running runtime, in the order in which they were loaded.
static TOOLS: Lock<Vec<Library>> = Lock::new(Vec::new());

/// Loads the tools of a runtime that has just started.
pub(crate) fn load(runtime: &Runtime) {
    // Those of a forked child's parent, which were never told of an end.
    TOOLS.lock().clear();
    let settings = &runtime.config.settings.hsa;
    if register::offer(settings) && !settings.tools_rocprofiler_v1_tools.value.0 {
        return;
    }
    let (candidates, mut failures) = find(settings);
    let mut tools = Vec::new();
    for tool in candidates {
        match start(&tool, &failures) {
            Ok(()) => tools.push(tool),
            Err(why) => failures.push(Failure {
                name: tool.name().to_owned(),
                why: why.to_owned(),
            }),
        }
    }
    if settings.tools_report_load_failure.value {
        for failure in &failures {
            let Failure { name, why } = failure;
            eprintln!(
                "hansa: {}: tool \"{name}\": {why}; it is left out",
                settings.tools_lib.origin
            );
        }
    }
    *TOOLS.lock() = tools;
}

/// Tells the tools, last one first, that the runtime stops.
pub(crate) fn unload() {
    let tools = std::mem::take(&mut *TOOLS.lock());
    for tool in tools.iter().rev() {
        // SAFETY: this is the type of a tool's `OnUnload`.
        if let Some(on_unload) = unsafe { tool.function::<OnUnload>(c"OnUnload") } {
            // SAFETY: the tool was loaded and is told once.
            unsafe { on_unload() };
        }
    }
}

/// A tool that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    name: String,
    why: String,
}

/// The tools to load, in order, and those that cannot be opened.
fn find(settings: &Hsa) -> (Vec<Library>, Vec<Failure>) {
    let mut found: Vec<Library> = Vec::new();
    let mut failures = Vec::new();
    for name in &settings.tools_lib.value.0 {
        match Library::open(name) {
            Ok(library) if found.contains(&library) => {}
            Ok(library) => found.push(library),
            Err(error) => failures.push(Failure {
                name: name.clone(),
                why: error,
            }),
        }
    }
    for library in loaded::tools() {
        if !found.contains(&library) {
            found.push(library);
        }
    }
    (found, failures)
}

/// Calls a tool's `OnLoad`; undoes what it patched when it does not want to be there.
fn start(tool: &Library, failures: &[Failure]) -> Result<(), &'static str> {
    // SAFETY: this is the type of a tool's `OnLoad`.
    let on_load = unsafe { tool.function::<OnLoad>(c"OnLoad") }.ok_or("it has no function OnLoad")?;
    let names: Vec<CString> = failures
        .iter()
        .filter_map(|failure| CString::new(failure.name.as_str()).ok())
        .collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let before = Snapshot::take();
    // SAFETY: the tables are static, and the names live until the call has ended.
    let wanted = unsafe {
        on_load(
            ROOT.pointer(),
            u64::from(HSA_API_TABLE_VERSION.major_id),
            pointers.len() as u64,
            pointers.as_ptr(),
        )
    };
    if wanted == 0 {
        before.restore();
        return Err("its OnLoad answered false");
    }
    Ok(())
}
