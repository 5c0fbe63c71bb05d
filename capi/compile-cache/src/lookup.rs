//! `dlsym`, for the sake of the few names that are stood in front of.
//!
//! HIP opens the code object manager with `dlopen` and looks its functions up by handle, so that a function of the same
//! name in a preloaded library is never seen. This library therefore exports `dlsym`. The C library's own looks at its return
//! address (`RTLD_NEXT` and `RTLD_DEFAULT` mean something else for each caller), so the call is passed on by a jump with
//! all arguments in place. Programs call it from constructors, signal handlers and their own `malloc`: on the way nothing
//! is allocated and no lock is taken.

use crate::front;
use core::ffi::{c_char, c_void, CStr};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Of `dlsym`.
pub(crate) type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// Versions under which the GNU C library has `dlsym` on x86-64: since it is in libc itself, and before.
const VERSIONS: [&CStr; 2] = [c"GLIBC_2.34", c"GLIBC_2.2.5"];

/// Finds the address of a symbol, as the C function of this name.
///
/// # Safety
///
/// As libc's.
#[unsafe(naked)]
#[no_mangle]
pub(crate) unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // Two words and one more keep the stack at 16 bytes for the call.
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {target}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        target = sym target,
    )
}

/// Where a look-up goes on.
unsafe extern "C" fn target(handle: *mut c_void, name: *const c_char) -> Lookup {
    let by_handle = handle != libc::RTLD_DEFAULT && handle != libc::RTLD_NEXT;
    // SAFETY: a name is a C string.
    if by_handle && !name.is_null() && front::is_ours(unsafe { CStr::from_ptr(name) }) {
        ours
    } else {
        next()
    }
}

/// The look-up of such a function.
unsafe extern "C" fn ours(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's arguments.
    let found = unsafe { next()(handle, name) };
    // SAFETY: a name is a C string.
    front::of(handle, unsafe { CStr::from_ptr(name) }, found)
}

/// The next function of the name: the C library's, or that of another preloaded library.
pub(crate) fn next() -> Lookup {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    let mut found = NEXT.load(Ordering::Relaxed);
    for version in VERSIONS {
        if found.is_null() {
            // SAFETY: both are C strings; looking behind this library is what the handle is for.
            found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
            NEXT.store(found, Ordering::Relaxed);
        }
    }
    if found.is_null() {
        return nothing;
    }
    // SAFETY: the function of this name has this type.
    unsafe { core::mem::transmute::<*mut c_void, Lookup>(found) }
}

/// Where there is no `dlsym` at all.
unsafe extern "C" fn nothing(_: *mut c_void, _: *const c_char) -> *mut c_void {
    core::ptr::null_mut()
}
