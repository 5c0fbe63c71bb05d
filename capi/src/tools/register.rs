//! The way to AMD's newer profilers: rocprofiler-register, a library that runtimes hand their tables to under a name.
//!
//! It is there when a profiler is installed; the function that it is given stands for the library that registers, and
//! answers with the version.

use super::library::Library;
use crate::table::ROOT;
use hansa_core::config::{Environment, Hsa};
use std::ffi::{c_char, c_void, CStr};

/// What the dynamic linker knows the library by.
const LIBRARY: &str = "librocprofiler-register.so.0";

/// The version of this library, as ten thousands, hundreds and ones: that of the AMD extension it offers.
const VERSION: u32 = 10_000 + 100 * 34;

/// What `rocprofiler_register_library_api_table` answers.
mod code {
    /// A profiler has the tables.
    pub(super) const SUCCESS: u32 = 0;
    /// No profiler wants them.
    pub(super) const NO_TOOLS: u32 = 1;
}

type Version = extern "C" fn() -> u32;
/// Name, version function, version, tables, their number, and a place for an identifier.
type Register = unsafe extern "C" fn(*const c_char, Version, u32, *mut *mut c_void, u64, *mut u64) -> u32;
type ErrorText = unsafe extern "C" fn(u32) -> *const c_char;

extern "C" fn version() -> u32 {
    VERSION
}

/// Offers the tables. Answers whether a profiler took them.
pub(super) fn offer(settings: &Hsa) -> bool {
    // The library loads what variables name, which a program with more rights than its caller must not.
    if settings.tools_disable_register.value || Environment::of_process().secure() {
        return false;
    }
    match register() {
        Ok(taken) => taken,
        Err(why) => {
            if settings.tools_report_register_failure.value {
                eprintln!("hansa: rocprofiler-register: {why}");
            }
            false
        }
    }
}

fn register() -> Result<bool, String> {
    let library = Library::open(LIBRARY)?;
    // SAFETY: this is the type of the function in every version of the library.
    let register = unsafe { library.function::<Register>(c"rocprofiler_register_library_api_table") }
        .ok_or("it has no function rocprofiler_register_library_api_table")?;
    let mut table = ROOT.pointer().cast::<c_void>();
    let mut identifier = 0;
    // SAFETY: the name and the tables are static, the other places live through the call.
    let answer = unsafe {
        register(
            c"hsa".as_ptr(),
            version,
            VERSION,
            &raw mut table,
            1,
            &raw mut identifier,
        )
    };
    match answer {
        code::SUCCESS => Ok(true),
        code::NO_TOOLS => Ok(false),
        other => Err(text(&library, other)),
    }
}

/// The library's own words for an error.
fn text(library: &Library, error: u32) -> String {
    // SAFETY: as above.
    let function = unsafe { library.function::<ErrorText>(c"rocprofiler_register_error_string") };
    // SAFETY: takes a number.
    let text = function.map(|function| unsafe { function(error) });
    match text.filter(|text| !text.is_null()) {
        // SAFETY: the library's texts are static and end in a NUL.
        Some(text) => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        None => format!("error {error}"),
    }
}
