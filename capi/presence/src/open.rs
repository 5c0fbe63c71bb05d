//! Opening files. The C functions take a mode only when they create a file; on the machines that this library is for,
//! an argument that the caller did not pass is a register that nobody reads.

use crate::content::Content;
use crate::lookup::{lookup, Lookup};
use crate::next::{next, set_errno};
use core::ffi::{c_char, c_int, c_uint};
use libc::FILE;

/// Answers an open with these flags.
fn open_answer(found: Lookup, flags: c_int) -> c_int {
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    match found {
        Lookup::Nodes | Lookup::Node(_) => {
            // Programs list these with opendir; a descriptor could not be listed.
            set_errno(libc::ENOTSUP);
            -1
        }
        Lookup::ModuleState | Lookup::Properties(_) if writes => {
            set_errno(libc::EACCES);
            -1
        }
        _ if flags & libc::O_DIRECTORY != 0 => {
            set_errno(libc::ENOTDIR);
            -1
        }
        _ => Content::of(found).open(flags & libc::O_CLOEXEC != 0),
    }
}

macro_rules! open {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                Some(found) => open_answer(found, flags),
                None => next!($name, -1, fn(*const c_char, c_int, c_uint) -> c_int, path, flags, mode),
            }
        }
    )*};
}
open! { open c"open" open64 c"open64" }

macro_rules! openat {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(
            directory: c_int,
            path: *const c_char,
            flags: c_int,
            mode: c_uint,
        ) -> c_int {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                Some(found) => open_answer(found, flags),
                None => next!(
                    $name, -1, fn(c_int, *const c_char, c_int, c_uint) -> c_int,
                    directory, path, flags, mode
                ),
            }
        }
    )*};
}
openat! { openat c"openat" openat64 c"openat64" }

macro_rules! fopen {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(path: *const c_char, mode: *const c_char) -> *mut FILE {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                // SAFETY: a mode is a C string.
                Some(found) => unsafe { fopen_answer(found, mode) },
                None => next!(
                    $name, core::ptr::null_mut(), fn(*const c_char, *const c_char) -> *mut FILE, path, mode
                ),
            }
        }
    )*};
}
fopen! { fopen c"fopen" fopen64 c"fopen64" }

/// # Safety
///
/// `mode` is a C string.
unsafe fn fopen_answer(found: Lookup, mode: *const c_char) -> *mut FILE {
    // SAFETY: as the caller promises.
    let letters = unsafe { core::ffi::CStr::from_ptr(mode) }.to_bytes();
    let mut flags = match letters.first() {
        Some(b'r') if !letters.contains(&b'+') => libc::O_RDONLY,
        _ => libc::O_RDWR,
    };
    if letters.contains(&b'e') {
        flags |= libc::O_CLOEXEC;
    }
    let file = open_answer(found, flags);
    if file < 0 {
        return core::ptr::null_mut();
    }
    // SAFETY: the file is open and nobody else's; the mode is a C string.
    let stream = unsafe { libc::fdopen(file, mode) };
    if stream.is_null() {
        // SAFETY: the file is still nobody else's.
        unsafe { libc::close(file) };
    }
    stream
}
