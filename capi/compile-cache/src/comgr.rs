//! The functions of AMD's code object manager that are needed here, of the library that the program uses. Names, types
//! and values are those of its public header `amd_comgr.h` (2.4, 2.6 and 3.0).

use crate::lookup;
use core::ffi::{c_char, c_int, c_void, CStr};
use core::ops::RangeInclusive;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd as _;

/// `amd_comgr_status_t` of a call that did what it was asked to.
pub(crate) const SUCCESS: c_int = 0;
/// `amd_comgr_status_t` of one that did not.
pub(crate) const ERROR: c_int = 1;

/// Actions whose results follow from what they are given, `amd_comgr_action_kind_t`.
#[derive(Debug)]
pub(crate) struct Actions {
    /// `AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC`, if the source is alone and in a language that needs nothing else; and
    /// `AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC` where the manager brings the libraries itself.
    pub(crate) compile: &'static [c_int],
    /// From `AMD_COMGR_ACTION_LINK_BC_TO_BC` to `AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE`: linking,
    /// optimizing, generating code.
    pub(crate) of_bitcode: RangeInclusive<c_int>,
}

/// Those of the major versions that are known: the third numbered them anew.
pub(crate) const ACTIONS: [(usize, Actions); 2] = [
    (
        2,
        Actions {
            compile: &[2],
            of_bitcode: 4..=9,
        },
    ),
    (
        3,
        Actions {
            compile: &[2, 12],
            of_bitcode: 3..=7,
        },
    ),
];

/// Kinds of data objects, `amd_comgr_data_kind_t`, with room for those of later minor versions: there are none of a kind
/// that the library does not know.
pub(crate) const KINDS: RangeInclusive<c_int> = 1..=0x20;
/// Source text.
pub(crate) const KIND_SOURCE: c_int = 1;
/// Text that sources include.
pub(crate) const KIND_INCLUDE: c_int = 2;

/// `amd_comgr_data_t`, `amd_comgr_data_set_t` and `amd_comgr_action_info_t`, each a structure of one word.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Handle(u64);

/// Of `amd_comgr_do_action`.
pub(crate) type DoAction = unsafe extern "C" fn(c_int, Handle, Handle, Handle) -> c_int;
/// Of functions that give an action a text.
pub(crate) type SetText = unsafe extern "C" fn(Handle, *const c_char) -> c_int;
/// Of functions that end something.
pub(crate) type End = unsafe extern "C" fn(Handle) -> c_int;
type Text = unsafe extern "C" fn(Handle, *mut usize, *mut c_char) -> c_int;

/// The functions of one library.
#[derive(Debug)]
pub(crate) struct Comgr {
    /// What its numbers of actions mean.
    pub(crate) actions: &'static Actions,
    count: unsafe extern "C" fn(Handle, c_int, *mut usize) -> c_int,
    get: unsafe extern "C" fn(Handle, c_int, usize, *mut Handle) -> c_int,
    create: unsafe extern "C" fn(c_int, *mut Handle) -> c_int,
    release: End,
    set_data: unsafe extern "C" fn(Handle, usize, *const c_char) -> c_int,
    set_slice: unsafe extern "C" fn(Handle, c_int, u64, u64) -> c_int,
    set_name: SetText,
    add: unsafe extern "C" fn(Handle, Handle) -> c_int,
    remove: unsafe extern "C" fn(Handle, c_int) -> c_int,
    data: Text,
    name: Text,
    /// Until version 3, which has only lists.
    options: Option<Text>,
    language: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    logging: unsafe extern "C" fn(Handle, *mut bool) -> c_int,
    option_count: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    option: unsafe extern "C" fn(Handle, usize, *mut usize, *mut c_char) -> c_int,
}

/// A function of a library by its name.
///
/// # Safety
///
/// `F` is the type of the function of that name.
pub(crate) unsafe fn function<F: Copy>(handle: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the handle is one that the program looks up names in, the name a C string.
    let found = unsafe { lookup::next()(handle, name.as_ptr()) };
    // SAFETY: the caller's promise; a function's address has the size of a pointer.
    (!found.is_null()).then(|| unsafe { core::mem::transmute_copy::<*mut c_void, F>(&found) })
}

impl Comgr {
    /// Those of a library, if it has all of them and is of the version that is known.
    pub(crate) fn of(handle: *mut c_void) -> Option<Self> {
        type Version = unsafe extern "C" fn(*mut usize, *mut usize);
        // SAFETY: the types are those of the header, here and below.
        let version: Version = unsafe { function(handle, c"amd_comgr_get_version") }?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two variables to write.
        unsafe { version(&raw mut major, &raw mut minor) };
        let (_, actions) = ACTIONS.iter().find(|(version, _)| *version == major)?;
        Some(Self {
            actions,
            // SAFETY: as above.
            count: unsafe { function(handle, c"amd_comgr_action_data_count") }?,
            // SAFETY: as above.
            get: unsafe { function(handle, c"amd_comgr_action_data_get_data") }?,
            // SAFETY: as above.
            create: unsafe { function(handle, c"amd_comgr_create_data") }?,
            // SAFETY: as above.
            release: unsafe { function(handle, c"amd_comgr_release_data") }?,
            // SAFETY: as above.
            set_data: unsafe { function(handle, c"amd_comgr_set_data") }?,
            // SAFETY: as above.
            set_slice: unsafe { function(handle, c"amd_comgr_set_data_from_file_slice") }?,
            // SAFETY: as above.
            remove: unsafe { function(handle, c"amd_comgr_data_set_remove") }?,
            // SAFETY: as above.
            set_name: unsafe { function(handle, c"amd_comgr_set_data_name") }?,
            // SAFETY: as above.
            add: unsafe { function(handle, c"amd_comgr_data_set_add") }?,
            // SAFETY: as above.
            data: unsafe { function(handle, c"amd_comgr_get_data") }?,
            // SAFETY: as above.
            name: unsafe { function(handle, c"amd_comgr_get_data_name") }?,
            // SAFETY: as above.
            options: unsafe { function(handle, c"amd_comgr_action_info_get_options") },
            // SAFETY: as above.
            language: unsafe { function(handle, c"amd_comgr_action_info_get_language") }?,
            // SAFETY: as above.
            logging: unsafe { function(handle, c"amd_comgr_action_info_get_logging") }?,
            // SAFETY: as above.
            option_count: unsafe { function(handle, c"amd_comgr_action_info_get_option_list_count") }?,
            // SAFETY: as above.
            option: unsafe { function(handle, c"amd_comgr_action_info_get_option_list_item") }?,
        })
    }

    /// How many objects of a kind a set has.
    pub(crate) fn count(&self, set: Handle, kind: c_int) -> Option<usize> {
        let mut count = 0;
        // SAFETY: a variable to write.
        good(unsafe { (self.count)(set, kind, &raw mut count) })?;
        Some(count)
    }

    /// One object of a set: its name and its bytes.
    pub(crate) fn object(&self, set: Handle, kind: c_int, index: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut object = Handle::default();
        // SAFETY: a variable to write.
        good(unsafe { (self.get)(set, kind, index, &raw mut object) })?;
        let name = bytes(|size, place| {
            // SAFETY: the object is held; `bytes` gives room for as much as it was told.
            unsafe { (self.name)(object, size, place) }
        });
        let data = bytes(|size, place| {
            // SAFETY: as above.
            unsafe { (self.data)(object, size, place) }
        });
        // SAFETY: `get` took a reference.
        unsafe { (self.release)(object) };
        Some((name?, data?))
    }

    /// Puts a new object into a set.
    pub(crate) fn add(&self, set: Handle, kind: c_int, name: &CStr, data: &[u8]) -> Option<()> {
        let mut object = Handle::default();
        // SAFETY: a variable to write.
        good(unsafe { (self.create)(kind, &raw mut object) })?;
        let added = self.fill(object, name, data).and_then(|()| {
            // SAFETY: the set takes a reference of its own.
            good(unsafe { (self.add)(set, object) })
        });
        // SAFETY: `create` gave a reference.
        unsafe { (self.release)(object) };
        added
    }

    fn fill(&self, object: Handle, name: &CStr, data: &[u8]) -> Option<()> {
        let status = if data.is_empty() {
            // No bytes are no argument of `set_data`, and an object that was not set is an error when it is asked for.
            let nothing = File::open("/dev/null").ok()?;
            // SAFETY: an open file.
            unsafe { (self.set_slice)(object, nothing.as_raw_fd(), 0, 0) }
        } else {
            // SAFETY: the bytes are copied.
            unsafe { (self.set_data)(object, data.len(), data.as_ptr().cast()) }
        };
        good(status)?;
        // SAFETY: the name is copied.
        good(unsafe { (self.set_name)(object, name.as_ptr()) })
    }

    /// Takes all objects out of a set.
    pub(crate) fn clear(&self, set: Handle) {
        const KIND_ALL: c_int = 0;
        // SAFETY: the set is the caller's.
        unsafe { (self.remove)(set, KIND_ALL) };
    }

    /// What an action is told beside its data, of what can be asked for: the functions that give the target and the
    /// working directory crash where those were not set (2.4).
    pub(crate) fn facts(&self, info: Handle) -> Option<Facts> {
        let text = |function: Text| {
            bytes(|size, place| {
                // SAFETY: `bytes` gives room for as much as it was told.
                unsafe { function(info, size, place) }
            })
        };
        let (mut language, mut logging, mut count) = (0, false, 0);
        // SAFETY: a variable to write.
        good(unsafe { (self.language)(info, &raw mut language) })?;
        // SAFETY: as above.
        good(unsafe { (self.logging)(info, &raw mut logging) })?;
        // Options were set as one text or as a list; asking for the other is an error.
        let mut options: Vec<Vec<u8>> = self.options.and_then(text).into_iter().collect();
        // SAFETY: a variable to write.
        if good(unsafe { (self.option_count)(info, &raw mut count) }).is_some() {
            for index in 0..count {
                options.push(bytes(|size, place| {
                    // SAFETY: `bytes` gives room for as much as it was told.
                    unsafe { (self.option)(info, index, size, place) }
                })?);
            }
        }
        Some(Facts {
            options,
            language,
            logging,
        })
    }
}

/// What an action is told beside its data and its target.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) options: Vec<Vec<u8>>,
    pub(crate) language: c_int,
    pub(crate) logging: bool,
}

fn good(status: c_int) -> Option<()> {
    (status == SUCCESS).then_some(())
}

/// What a function gives that tells the size first, where there is no room given.
fn bytes(function: impl Fn(*mut usize, *mut c_char) -> c_int) -> Option<Vec<u8>> {
    let mut size = 0;
    good(function(&raw mut size, core::ptr::null_mut()))?;
    let mut bytes = vec![0; size];
    if size != 0 {
        good(function(&raw mut size, bytes.as_mut_ptr().cast()))?;
        bytes.truncate(size);
    }
    Some(bytes)
}

/// The paths of all objects that this process has loaded.
pub(crate) fn objects() -> Vec<CString> {
    unsafe extern "C" fn see(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the C library gives a description of a loaded object.
        let name = unsafe { (*object).dlpi_name };
        if !name.is_null() {
            // SAFETY: the list that was given below.
            let found = unsafe { &mut *found.cast::<Vec<CString>>() };
            // SAFETY: a name is a C string.
            found.push(unsafe { CStr::from_ptr(name) }.to_owned());
        }
        0
    }
    let mut found: Vec<CString> = Vec::new();
    // SAFETY: `see` has the type that is asked for and uses the list only while this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(see), (&raw mut found).cast()) };
    found
}
