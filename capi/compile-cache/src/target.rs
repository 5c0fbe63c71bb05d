//! The target of an action, and whether it has a directory to work in: seen when they are set, since the functions that
//! tell them crash where they were not (2.4).

use crate::comgr::{self, Handle};
use crate::front::Library;
use core::ffi::{c_char, c_int, CStr};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct Target {
    isa: Option<Vec<u8>>,
    directory: bool,
}

static TARGETS: Mutex<Option<HashMap<Handle, Target>>> = Mutex::new(None);

fn targets() -> MutexGuard<'static, Option<HashMap<Handle, Target>>> {
    TARGETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of the target that an action was given; nothing where there is none, or where the result may depend on a
/// directory too.
pub(crate) fn of(info: Handle) -> Option<Vec<u8>> {
    let targets = targets();
    let target = targets.as_ref()?.get(&info)?;
    if target.directory {
        return None;
    }
    target.isa.clone()
}

fn change(info: Handle, change: impl FnOnce(&mut Target)) {
    change(targets().get_or_insert_default().entry(info).or_default());
}

/// Sets the target of an action.
///
/// # Safety
///
/// As the code object manager's function.
pub(crate) unsafe fn set_isa(library: &Library, info: Handle, isa: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    let status = unsafe { (library.set_isa)(info, isa) };
    if status == comgr::SUCCESS {
        // No name takes the target away.
        // SAFETY: what was taken for a name is a C string.
        let isa = (!isa.is_null()).then(|| unsafe { CStr::from_ptr(isa) }.to_bytes().to_vec());
        change(info, |target| target.isa = isa.filter(|isa| !isa.is_empty()));
    }
    status
}

/// Sets the directory that an action works in.
///
/// # Safety
///
/// As the code object manager's function.
pub(crate) unsafe fn set_directory(library: &Library, info: Handle, path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments.
    let status = unsafe { (library.set_directory)(info, path) };
    // SAFETY: a path is a C string.
    let is_one = !path.is_null() && !unsafe { CStr::from_ptr(path) }.is_empty();
    change(info, |target| target.directory = is_one);
    status
}

/// Ends what an action is told.
///
/// # Safety
///
/// As the code object manager's function.
pub(crate) unsafe fn end_info(library: &Library, info: Handle) -> c_int {
    if let Some(targets) = targets().as_mut() {
        targets.remove(&info);
    }
    // SAFETY: the caller's arguments.
    unsafe { (library.end_info)(info) }
}
