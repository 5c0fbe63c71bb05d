//! The real functions: system calls where there is one, the next definition otherwise.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library, looked up once.
pub(crate) struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The next definition; null when there is none.
    pub(crate) fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Acquire);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name is a string, and the next object in the search order is asked for.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Ordering::Release);
        found
    }
}

/// Sets `errno` and answers -1.
pub(crate) fn fail(errno: c_int) -> c_int {
    // SAFETY: takes nothing and cannot fail.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the C library has an `errno` for every thread.
    unsafe { *place = errno };
    -1
}

/// `openat`, the system call.
///
/// # Safety
///
/// As `openat(2)`.
pub(crate) unsafe fn openat(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mode: libc::mode_t,
) -> c_int {
    // SAFETY: the caller's.
    let fd = unsafe { libc::syscall(libc::SYS_openat, directory, path, flags, mode) };
    c_int::try_from(fd).unwrap_or(-1)
}

/// `ioctl`, the system call.
///
/// # Safety
///
/// As `ioctl(2)`.
pub(crate) unsafe fn ioctl(fd: c_int, code: u64, argument: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    let result = unsafe { libc::syscall(libc::SYS_ioctl, fd, code, argument) };
    c_int::try_from(result).unwrap_or(-1)
}

/// `newfstatat`, the system call, which answers what `stat`, `lstat` and `fstatat` answer.
///
/// # Safety
///
/// As `fstatat(2)`.
pub(crate) unsafe fn fstatat(
    directory: c_int,
    path: *const c_char,
    to: *mut libc::stat,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    let result = unsafe { libc::syscall(libc::SYS_newfstatat, directory, path, to, flags) };
    c_int::try_from(result).unwrap_or(-1)
}

/// `fstat`, the system call.
///
/// # Safety
///
/// As `fstat(2)`.
pub(crate) unsafe fn fstat(fd: c_int, to: *mut libc::stat) -> c_int {
    // SAFETY: the caller's.
    let result = unsafe { libc::syscall(libc::SYS_fstat, fd, to) };
    c_int::try_from(result).unwrap_or(-1)
}

/// `statx`, the system call.
///
/// # Safety
///
/// As `statx(2)`.
pub(crate) unsafe fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    to: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller's.
    let result = unsafe { libc::syscall(libc::SYS_statx, directory, path, flags, mask, to) };
    c_int::try_from(result).unwrap_or(-1)
}
