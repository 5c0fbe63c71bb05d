//! A library that stays open.

use libloading::os::unix::{Library as Opened, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
use std::ffi::CStr;

/// An open library; two are equal when the dynamic linker has them as one.
#[derive(Clone, Debug)]
pub(super) struct Library {
    name: String,
    handle: usize,
}

impl PartialEq for Library {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

impl Eq for Library {}

impl Library {
    /// Opens a library by the dynamic linker's rules for names. Symbols that it lacks show now, not at the call that
    /// needs them. The error is the dynamic linker's text.
    pub(super) fn open(name: &str) -> Result<Self, String> {
        // SAFETY: constructors of the library run. Whoever configured it answers for them, and the variable that
        // names it is dropped in programs with more rights than their callers.
        let opened = unsafe { Opened::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        opened
            .map(|opened| Self::keep(name, opened))
            .map_err(|error| match error {
                libloading::Error::DlOpen { source } => source.to_string(),
                other => other.to_string(),
            })
    }

    /// A library that is loaded already, or the program itself when the name is empty.
    pub(super) fn loaded(name: &str) -> Option<Self> {
        if name.is_empty() {
            return Some(Self::keep(name, Opened::this()));
        }
        // SAFETY: nothing is loaded, so no constructor runs.
        let opened = unsafe { Opened::open(Some(name), RTLD_LAZY | libc::RTLD_NOLOAD) };
        opened.ok().map(|opened| Self::keep(name, opened))
    }

    fn keep(name: &str, opened: Opened) -> Self {
        Self {
            name: name.to_owned(),
            handle: opened.into_raw().expose_provenance(),
        }
    }

    /// The name it was opened by.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The address of a symbol.
    pub(super) fn address(&self, symbol: &CStr) -> Option<usize> {
        // SAFETY: the handle is open, for it is never closed.
        let address = unsafe {
            libc::dlsym(
                std::ptr::with_exposed_provenance_mut(self.handle),
                symbol.as_ptr(),
            )
        };
        (!address.is_null()).then(|| address.expose_provenance())
    }

    /// A function.
    ///
    /// # Safety
    ///
    /// `F` is the type of a function pointer, and that of the library's function of this name.
    pub(super) unsafe fn function<F: Copy>(&self, symbol: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let address: *const () = std::ptr::with_exposed_provenance(self.address(symbol)?);
        // SAFETY: both are pointers, and the caller vouches for the type.
        Some(unsafe { std::mem::transmute_copy::<*const (), F>(&address) })
    }
}
