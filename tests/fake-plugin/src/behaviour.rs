//! The file that chooses: one `key = value` to a line.
//!
//! | key | values |
//! |---|---|
//! | `devices` | the devices that the probe names, separated by commas |
//! | `probe`, `init`, `open`, `describe`, `allocate` | `error`, `panic`, or `denied NODE`; `none` for the probe |
//! | `hidden` | a sentence about a device that is left out |

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hansa_plugin_api::{Error, ErrorCode, Result};

/// The value of a key, if the file is there and has it.
pub(crate) fn value(key: &str) -> Option<String> {
    let text = std::fs::read_to_string(library()?.with_extension("behaviour")).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// Does at a step what the file says.
pub(crate) fn act(step: &str) -> Result<()> {
    match value(step).as_deref() {
        None => Ok(()),
        Some("error") => Err(Error::new(ErrorCode::FAILED, format!("Told to fail in {step}"))),
        Some("none") => Err(Error::new(ErrorCode::NO_DEVICE, "Told to find no device")),
        Some("panic") => panic!("told to panic in {step}"),
        Some(other) => match other.strip_prefix("denied ") {
            Some(node) => Err(Error::os(libc::EACCES, "Cannot open the device", node)),
            None => Err(Error::new(
                ErrorCode::INVALID_ARGUMENT,
                format!("Unknown behaviour {other} for {step}"),
            )),
        },
    }
}

/// The file this library was loaded from.
fn library() -> Option<PathBuf> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let here = library as *const libc::c_void;
    // SAFETY: `info` is a valid place to write to; any address may be asked about.
    let found = unsafe { libc::dladdr(here, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's name of a loaded object is a C string that lives as long as the object.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_owned())
}
