//! The functions that are stood in front of: which they are, and in which library.

use crate::action;
use crate::comgr::{Comgr, DoAction, End, SetText};
use crate::target;
use core::ffi::{c_void, CStr};
use std::sync::OnceLock;

/// Their names.
const NAMES: [&CStr; 4] = [
    c"amd_comgr_do_action",
    c"amd_comgr_action_info_set_isa_name",
    c"amd_comgr_action_info_set_working_directory_path",
    c"amd_comgr_destroy_action_info",
];

/// Of the library that was asked for first. Data objects belong to a library, so any other is left alone.
static FIRST: OnceLock<Option<Comgr>> = OnceLock::new();

/// The functions of that library. Ours are only found in front of them.
pub(crate) fn first() -> Option<&'static Comgr> {
    FIRST.get()?.as_ref()
}

/// Whether a name is one of them.
pub(crate) fn is_ours(name: &CStr) -> bool {
    NAMES.contains(&name)
}

/// What a look-up gives that found this: ours in front of it, or the same.
pub(crate) fn of(handle: *mut c_void, name: &CStr, found: *mut c_void) -> *mut c_void {
    let place = NAMES.iter().position(|ours| *ours == name);
    let (Some(place), false) = (place, found.is_null()) else {
        return found;
    };
    let Some(comgr) = FIRST.get_or_init(|| Comgr::of(handle)) else {
        return found;
    };
    let theirs = [
        comgr.do_action as *mut c_void,
        comgr.set_isa as *mut c_void,
        comgr.set_directory as *mut c_void,
        comgr.end_info as *mut c_void,
    ];
    let ours = [
        action::do_action as DoAction as *mut c_void,
        target::set_isa as SetText as *mut c_void,
        target::set_directory as SetText as *mut c_void,
        target::end_info as End as *mut c_void,
    ];
    if theirs[place] == found {
        ours[place]
    } else {
        found
    }
}
