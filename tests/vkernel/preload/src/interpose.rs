//! The functions that stand in.
//!
//! Variadic ones are defined with their optional argument: on the machines that Linux runs GPUs on it is passed
//! like any other. A panic in one of them ends the process: there is nobody to hand it to.

#![expect(unreachable_pub, reason = "the dynamic linker reaches them")]

use crate::next::{self, fail, Next};
use crate::state::{existing, is_device, opened, redirect, state};
use hansa_vkernel::kernel::Which;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::path::Path;

/// Major number of graphics devices, and of `/dev/kfd` here.
const DRM_MAJOR: u32 = 226;
const KFD_MAJOR: u32 = 240;

/// A path that may be null.
///
/// # Safety
///
/// `path` must be null or a string.
unsafe fn text<'a>(path: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) })
}

fn open_device(path: &CStr, flags: c_int) -> c_int {
    let Some(state) = state() else {
        return fail(libc::ENOENT);
    };
    let Ok(path) = path.to_str() else {
        return fail(libc::ENOENT);
    };
    match state.kernel.open(Path::new(path), flags & libc::O_CLOEXEC != 0) {
        Ok(fd) => fd,
        Err(errno) => fail(errno.raw_os_error()),
    }
}

/// # Safety
///
/// As `openat(2)`.
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller's.
    if let Some(text) = unsafe { text(path) } {
        if is_device(text) {
            return open_device(text, flags);
        }
        let what = if flags & libc::O_DIRECTORY == 0 {
            "read"
        } else {
            "list"
        };
        match opened(what, text) {
            // SAFETY: the path is a string; the rest is the caller's.
            Some(Ok(to)) => return unsafe { next::openat(libc::AT_FDCWD, to.as_ptr(), flags, mode) },
            Some(Err(errno)) => return fail(errno),
            None => {}
        }
    }
    // SAFETY: the caller's.
    unsafe { next::openat(directory, path, flags, mode) }
}

macro_rules! opens {
    ($($name:ident)*) => { $(
        /// Stands in for the function of this name.
        ///
        /// # Safety
        ///
        /// As `open(2)`.
        #[no_mangle]
        pub unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
            // SAFETY: the caller's.
            unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
        }
    )* };
}
opens!(open open64 __open_2 __open64_2);

macro_rules! openats {
    ($($name:ident)*) => { $(
        /// Stands in for the function of this name.
        ///
        /// # Safety
        ///
        /// As `openat(2)`.
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            directory: c_int,
            path: *const c_char,
            flags: c_int,
            mode: libc::mode_t,
        ) -> c_int {
            // SAFETY: the caller's.
            unsafe { open_at(directory, path, flags, mode) }
        }
    )* };
}
openats!(openat openat64);

macro_rules! fopens {
    ($($name:ident $next:ident $symbol:literal;)*) => { $(
        static $next: Next = Next::new($symbol);

        /// Stands in for the function of this name.
        ///
        /// # Safety
        ///
        /// As `fopen(3)`.
        #[no_mangle]
        pub unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
            type Function = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut libc::FILE;
            // SAFETY: the C library's function of this name has this type, or there is none.
            let next: Option<Function> = unsafe { std::mem::transmute($next.get()) };
            let Some(next) = next else {
                fail(libc::ENOSYS);
                return std::ptr::null_mut();
            };
            // SAFETY: the caller's.
            match unsafe { text(path) }.and_then(|path| opened("read", path)) {
                // SAFETY: the path is a string; the rest is the caller's.
                Some(Ok(to)) => unsafe { next(to.as_ptr(), mode) },
                Some(Err(errno)) => {
                    fail(errno);
                    std::ptr::null_mut()
                }
                // SAFETY: the caller's.
                None => unsafe { next(path, mode) },
            }
        }
    )* };
}
fopens! {
    fopen FOPEN c"fopen";
    fopen64 FOPEN64 c"fopen64";
}

static OPENDIR: Next = Next::new(c"opendir");

/// Stands in for the function of this name.
///
/// # Safety
///
/// As `opendir(3)`.
#[no_mangle]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut libc::DIR {
    type Function = unsafe extern "C" fn(*const c_char) -> *mut libc::DIR;
    // SAFETY: the C library's function of this name has this type, or there is none.
    let next: Option<Function> = unsafe { std::mem::transmute(OPENDIR.get()) };
    let Some(next) = next else {
        fail(libc::ENOSYS);
        return std::ptr::null_mut();
    };
    // SAFETY: the caller's.
    match unsafe { text(path) }.and_then(|path| opened("list", path)) {
        // SAFETY: the path is a string.
        Some(Ok(to)) => unsafe { next(to.as_ptr()) },
        Some(Err(errno)) => {
            fail(errno);
            std::ptr::null_mut()
        }
        // SAFETY: the caller's.
        None => unsafe { next(path) },
    }
}

/// Which device a descriptor is of, when there is a kernel.
fn device_of(fd: c_int) -> Option<(u32, u32)> {
    let state = existing()?;
    match state.kernel.which(fd)? {
        Which::Kfd => Some((KFD_MAJOR, 0)),
        Which::Render(gpu) => Some((DRM_MAJOR, state.kernel.machine.gpus[gpu].render_minor)),
        Which::Dmabuf(_) => None,
    }
}

/// Which device a path is of.
fn device_at(path: &CStr) -> Option<(u32, u32)> {
    if !is_device(path) {
        return None;
    }
    let path = path.to_str().ok()?;
    let state = state()?;
    match path.strip_prefix("/dev/dri/renderD") {
        None => Some((KFD_MAJOR, 0)),
        Some(minor) => {
            let minor = minor.parse().ok()?;
            let known = state
                .kernel
                .machine
                .gpus
                .iter()
                .any(|gpu| gpu.render_minor == minor);
            known.then_some((DRM_MAJOR, minor))
        }
    }
}

/// Makes an answer that of a character device.
fn as_device(stat: &mut libc::stat, (major, minor): (u32, u32)) {
    stat.st_mode = libc::S_IFCHR | 0o666;
    stat.st_rdev = libc::makedev(major, minor);
    stat.st_size = 0;
}

/// # Safety
///
/// As `fstatat(2)`.
unsafe fn stat_at(directory: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    if let Some(text) = unsafe { text(path) } {
        if let Some(device) = device_at(text) {
            // SAFETY: the null device is always there; the rest is the caller's.
            let result = unsafe { next::fstatat(libc::AT_FDCWD, c"/dev/null".as_ptr(), to, 0) };
            // SAFETY: filled in when the call went well, and the caller's in any case.
            as_device(unsafe { &mut *to }, device);
            return result;
        }
        if let Some(other) = redirect(text) {
            // SAFETY: the path is a string; the rest is the caller's.
            return unsafe { next::fstatat(libc::AT_FDCWD, other.as_ptr(), to, flags) };
        }
    }
    // SAFETY: the caller's.
    unsafe { next::fstatat(directory, path, to, flags) }
}

macro_rules! stats {
    ($($name:ident $flags:expr;)*) => { $(
        /// Stands in for the function of this name.
        ///
        /// # Safety
        ///
        /// As `stat(2)`.
        #[no_mangle]
        pub unsafe extern "C" fn $name(path: *const c_char, to: *mut libc::stat) -> c_int {
            // SAFETY: the caller's.
            unsafe { stat_at(libc::AT_FDCWD, path, to, $flags) }
        }
    )* };
}
stats! {
    stat 0;
    stat64 0;
    lstat libc::AT_SYMLINK_NOFOLLOW;
    lstat64 libc::AT_SYMLINK_NOFOLLOW;
}

macro_rules! fstats {
    ($($name:ident)*) => { $(
        /// Stands in for the function of this name.
        ///
        /// # Safety
        ///
        /// As `fstat(2)`.
        #[no_mangle]
        pub unsafe extern "C" fn $name(fd: c_int, to: *mut libc::stat) -> c_int {
            // SAFETY: the caller's.
            let result = unsafe { next::fstat(fd, to) };
            if result == 0 {
                if let Some(device) = device_of(fd) {
                    // SAFETY: the call filled it in.
                    as_device(unsafe { &mut *to }, device);
                }
            }
            result
        }
    )* };
}
fstats!(fstat fstat64);

/// Stands in for the function of this name.
///
/// # Safety
///
/// As `statx(2)`.
#[no_mangle]
pub unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    to: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller's.
    let text = unsafe { text(path) };
    let empty = text.is_none_or(CStr::is_empty);
    let device = if empty {
        device_of(directory)
    } else {
        text.and_then(device_at)
    };
    if let (Some(device), false) = (device, empty) {
        // SAFETY: the null device is always there; the rest is the caller's.
        let result = unsafe { next::statx(libc::AT_FDCWD, c"/dev/null".as_ptr(), 0, mask, to) };
        if result == 0 {
            // SAFETY: the call filled it in.
            extended(unsafe { &mut *to }, device);
        }
        return result;
    }
    let other = text.and_then(redirect);
    let result = match &other {
        // SAFETY: the path is a string; the rest is the caller's.
        Some(other) => unsafe { next::statx(libc::AT_FDCWD, other.as_ptr(), flags, mask, to) },
        // SAFETY: the caller's.
        None => unsafe { next::statx(directory, path, flags, mask, to) },
    };
    if let (Some(device), 0) = (device, result) {
        // SAFETY: the call filled it in.
        extended(unsafe { &mut *to }, device);
    }
    result
}

fn extended(stat: &mut libc::statx, (major, minor): (u32, u32)) {
    stat.stx_mode = u16::try_from(libc::S_IFCHR | 0o666).unwrap_or(0);
    stat.stx_rdev_major = major;
    stat.stx_rdev_minor = minor;
    stat.stx_size = 0;
}

static ACCESS: Next = Next::new(c"access");

/// Stands in for the function of this name.
///
/// # Safety
///
/// As `access(2)`.
#[no_mangle]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    type Function = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
    // SAFETY: the C library's function of this name has this type, or there is none.
    let next: Option<Function> = unsafe { std::mem::transmute(ACCESS.get()) };
    let Some(next) = next else {
        return fail(libc::ENOSYS);
    };
    // SAFETY: the caller's.
    if let Some(text) = unsafe { text(path) } {
        if device_at(text).is_some() {
            return 0;
        }
        if let Some(other) = redirect(text) {
            // SAFETY: the path is a string.
            return unsafe { next(other.as_ptr(), mode) };
        }
    }
    // SAFETY: the caller's.
    unsafe { next(path, mode) }
}

/// Stands in for the function of this name. Only the two groups of requests that the kernel answers are looked at.
///
/// # Safety
///
/// As `ioctl(2)`.
#[no_mangle]
pub unsafe extern "C" fn ioctl(fd: c_int, code: u64, argument: *mut c_void) -> c_int {
    let [_, group, ..] = code.to_le_bytes();
    if matches!(group, b'K' | b'd') {
        if let Some(state) = existing() {
            if let Some(which) = state.kernel.which(fd) {
                return answer(state, which, fd, code, argument);
            }
        }
    }
    // SAFETY: the caller's.
    unsafe { next::ioctl(fd, code, argument) }
}

fn answer(state: &crate::state::State, which: Which, fd: c_int, code: u64, argument: *mut c_void) -> c_int {
    let complaints = state.kernel.complaints().len();
    let code = u32::try_from(code & u64::from(u32::MAX)).unwrap_or(0);
    let outcome = state
        .kernel
        .ioctl(which, fd, code, argument.expose_provenance() as u64);
    for complaint in state.kernel.complaints().iter().skip(complaints) {
        eprintln!("vkernel: {complaint}");
    }
    match outcome {
        Ok(number) => number,
        Err(errno) => fail(errno.raw_os_error()),
    }
}
