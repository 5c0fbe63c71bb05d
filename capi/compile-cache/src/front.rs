//! The functions that are stood in front of, and where programs find ours instead: by looking the name up in a library
//! that they opened, as HIP 5.2 and 6 do, or by being linked with it, as HIP 5.7 of Debian is.

use crate::comgr::{Comgr, DoAction, End, Handle, SetText};
use crate::{action, comgr, target};
use core::ffi::{c_char, c_int, c_void, CStr};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// Their names.
const NAMES: [&CStr; 4] = [
    c"amd_comgr_do_action",
    c"amd_comgr_action_info_set_isa_name",
    c"amd_comgr_action_info_set_working_directory_path",
    c"amd_comgr_destroy_action_info",
];

/// The functions of a library that ours stand in front of.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) do_action: DoAction,
    pub(crate) set_isa: SetText,
    pub(crate) set_directory: SetText,
    pub(crate) end_info: End,
    /// All that is needed to keep results; nothing where its version is not known.
    pub(crate) comgr: Option<Comgr>,
}

impl Library {
    fn of(handle: *mut c_void) -> Option<Self> {
        let [do_action, set_isa, set_directory, end_info] = NAMES;
        Some(Self {
            // SAFETY: the types are those of the header, here and below.
            do_action: unsafe { comgr::function(handle, do_action) }?,
            // SAFETY: as above.
            set_isa: unsafe { comgr::function(handle, set_isa) }?,
            // SAFETY: as above.
            set_directory: unsafe { comgr::function(handle, set_directory) }?,
            // SAFETY: as above.
            end_info: unsafe { comgr::function(handle, end_info) }?,
            comgr: Comgr::of(handle),
        })
    }
}

/// The library in which names were looked up first. What actions work on belongs to a library, so any other is left alone.
static OPENED: OnceLock<Option<Library>> = OnceLock::new();

/// The library that programs are linked with: the next one in line, or the one that is loaded, where whoever is linked
/// with it was opened for itself alone.
fn linked() -> Option<&'static Library> {
    static LINKED: OnceLock<Option<Library>> = OnceLock::new();
    let find = || Library::of(libc::RTLD_NEXT).or_else(|| Library::of(loaded()?));
    LINKED.get_or_init(find).as_ref()
}

/// A code object manager that this process has loaded.
fn loaded() -> Option<*mut c_void> {
    comgr::objects().iter().find_map(|path| {
        let name = Path::new(OsStr::from_bytes(path.to_bytes())).file_name()?;
        if !name.as_bytes().starts_with(b"libamd_comgr.so") {
            return None;
        }
        // SAFETY: the path is a C string; nothing is loaded.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(handle)
    })
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
    let Some(library) = OPENED.get_or_init(|| Library::of(handle)) else {
        return found;
    };
    let theirs = [
        library.do_action as *mut c_void,
        library.set_isa as *mut c_void,
        library.set_directory as *mut c_void,
        library.end_info as *mut c_void,
    ];
    let ours = [
        do_action as DoAction as *mut c_void,
        set_isa as SetText as *mut c_void,
        set_directory as SetText as *mut c_void,
        end_info as End as *mut c_void,
    ];
    if theirs[place] == found {
        ours[place]
    } else {
        found
    }
}

/// Each function twice: for whoever looked it up, and under its name for whoever is linked with it.
macro_rules! functions {
    ($($ours:ident, $name:ident($($argument:ident: $type:ty),*) = $function:path, $what:literal;)*) => {$(
        unsafe extern "C" fn $ours($($argument: $type),*) -> c_int {
            let library = OPENED.get().and_then(Option::as_ref);
            library.map_or(comgr::ERROR, |library| {
                // SAFETY: the caller's arguments.
                unsafe { $function(library, $($argument),*) }
            })
        }

        #[doc = $what]
        ///
        /// # Safety
        ///
        /// As the code object manager's function of this name.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            linked().map_or(comgr::ERROR, |library| {
                // SAFETY: the caller's arguments.
                unsafe { $function(library, $($argument),*) }
            })
        }
    )*};
}

functions! {
    do_action, amd_comgr_do_action(kind: c_int, info: Handle, input: Handle, result: Handle) = action::do_action,
        "Does an action, or takes its result from the files.";
    set_isa, amd_comgr_action_info_set_isa_name(info: Handle, isa: *const c_char) = target::set_isa,
        "Sets the target of an action.";
    set_directory, amd_comgr_action_info_set_working_directory_path(info: Handle, path: *const c_char) = target::set_directory,
        "Sets the directory that an action works in.";
    end_info, amd_comgr_destroy_action_info(info: Handle) = target::end_info,
        "Ends what an action is told.";
}
