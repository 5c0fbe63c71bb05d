//! The functions of the next library in line: libc's, or those of another preload library.

use core::ffi::{c_int, c_void, CStr};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function that this library stands in front of.
#[derive(Debug)]
pub(crate) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Its address; null if there is none.
    pub(crate) fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a C string; looking behind this library is what the handle is for.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Sets the calling thread's `errno`.
pub(crate) fn set_errno(error: c_int) {
    // SAFETY: libc gives each thread a place of its own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place belongs to the calling thread.
    unsafe { *place = error };
}

/// Calls the next function of a name with its type; without one the answer is an error and `ENOSYS`.
macro_rules! next {
    ($name:literal, $failed:expr, fn($($type:ty),*) -> $result:ty, $($argument:expr),*) => {{
        static NEXT: $crate::next::Next = $crate::next::Next::new($name);
        let address = NEXT.address();
        if address.is_null() {
            $crate::next::set_errno(libc::ENOSYS);
            $failed
        } else {
            // SAFETY: the function of this name has this type.
            let function: unsafe extern "C" fn($($type),*) -> $result = unsafe { core::mem::transmute(address) };
            // SAFETY: the arguments are the caller's own, who promises what libc asks for.
            unsafe { function($($argument),*) }
        }
    }};
}
pub(crate) use next;
