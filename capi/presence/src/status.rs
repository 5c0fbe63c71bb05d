//! Asking about files without opening them.

use crate::content::Content;
use crate::lookup::{lookup, Lookup};
use crate::next::{next, set_errno};
use core::ffi::{c_char, c_int, c_uint};
use libc::{mode_t, stat as Stat, statx as Statx};

/// Type and permissions. `/dev/kfd` is an ordinary file and says so: it is no device.
const fn mode_of(found: Lookup) -> mode_t {
    match found {
        Lookup::Device => libc::S_IFREG | 0o666,
        Lookup::ModuleState | Lookup::Properties(_) => libc::S_IFREG | 0o444,
        Lookup::Nodes | Lookup::Node(_) => libc::S_IFDIR | 0o555,
    }
}

/// # Safety
///
/// `out` is valid for writing.
unsafe fn stat_answer(found: Lookup, out: *mut Stat) -> c_int {
    if out.is_null() {
        set_errno(libc::EFAULT);
        return -1;
    }
    // SAFETY: `stat` is plain numbers, for which zero is a value.
    let mut status: Stat = unsafe { core::mem::zeroed() };
    status.st_mode = mode_of(found);
    status.st_nlink = 1;
    status.st_blksize = 4096;
    status.st_size = i64::try_from(Content::of(found).bytes().len()).unwrap_or(0);
    // SAFETY: as the caller promises.
    unsafe { out.write(status) };
    0
}

// On 64-bit machines `stat` and `stat64` are one structure.
macro_rules! stat {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(path: *const c_char, out: *mut Stat) -> c_int {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                // SAFETY: the caller's buffer.
                Some(found) => unsafe { stat_answer(found, out) },
                None => next!($name, -1, fn(*const c_char, *mut Stat) -> c_int, path, out),
            }
        }
    )*};
}
stat! { stat c"stat" stat64 c"stat64" lstat c"lstat" lstat64 c"lstat64" }

// What programs call that were built with a glibc before 2.33; the version is that of the structure.
macro_rules! xstat {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(version: c_int, path: *const c_char, out: *mut Stat) -> c_int {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                // SAFETY: the caller's buffer.
                Some(found) => unsafe { stat_answer(found, out) },
                None => next!($name, -1, fn(c_int, *const c_char, *mut Stat) -> c_int, version, path, out),
            }
        }
    )*};
}
xstat! { __xstat c"__xstat" __xstat64 c"__xstat64" __lxstat c"__lxstat" __lxstat64 c"__lxstat64" }

macro_rules! fstatat {
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
            out: *mut Stat,
            flags: c_int,
        ) -> c_int {
            // SAFETY: a path is null or a C string.
            match unsafe { lookup(path) } {
                // SAFETY: the caller's buffer.
                Some(found) => unsafe { stat_answer(found, out) },
                None => next!(
                    $name, -1, fn(c_int, *const c_char, *mut Stat, c_int) -> c_int,
                    directory, path, out, flags
                ),
            }
        }
    )*};
}
fstatat! { fstatat c"fstatat" fstatat64 c"fstatat64" }

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut Statx,
) -> c_int {
    // SAFETY: a path is null or a C string.
    let Some(found) = (unsafe { lookup(path) }) else {
        return next!(
            c"statx",
            -1,
            fn(c_int, *const c_char, c_int, c_uint, *mut Statx) -> c_int,
            directory,
            path,
            flags,
            mask,
            out
        );
    };
    if out.is_null() {
        set_errno(libc::EFAULT);
        return -1;
    }
    // SAFETY: `statx` is plain numbers, for which zero is a value.
    let mut status: Statx = unsafe { core::mem::zeroed() };
    status.stx_mask = libc::STATX_TYPE | libc::STATX_MODE | libc::STATX_NLINK | libc::STATX_SIZE;
    // Type and permissions are the low 16 bits.
    status.stx_mode = u16::try_from(mode_of(found)).unwrap_or(0);
    status.stx_nlink = 1;
    status.stx_blksize = 4096;
    status.stx_size = u64::try_from(Content::of(found).bytes().len()).unwrap_or(0);
    // SAFETY: the caller's buffer, which is not null.
    unsafe { out.write(status) };
    0
}

fn access_answer(found: Lookup, wanted: c_int) -> c_int {
    let mode = mode_of(found);
    // What others may is what everybody may: read 4, write 2, enter 1, as in `wanted`.
    if wanted & !c_int::try_from(mode & 7).unwrap_or(0) == 0 {
        return 0;
    }
    set_errno(libc::EACCES);
    -1
}

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn access(path: *const c_char, wanted: c_int) -> c_int {
    // SAFETY: a path is null or a C string.
    match unsafe { lookup(path) } {
        Some(found) => access_answer(found, wanted),
        None => next!(c"access", -1, fn(*const c_char, c_int) -> c_int, path, wanted),
    }
}

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn faccessat(
    directory: c_int,
    path: *const c_char,
    wanted: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: a path is null or a C string.
    match unsafe { lookup(path) } {
        Some(found) => access_answer(found, wanted),
        None => next!(
            c"faccessat",
            -1,
            fn(c_int, *const c_char, c_int, c_int) -> c_int,
            directory,
            path,
            wanted,
            flags
        ),
    }
}
