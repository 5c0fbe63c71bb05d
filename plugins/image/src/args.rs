//! Arguments of C functions: the only place where a program's pointers are read and written.
//!
//! A C function cannot see whether a pointer is good; its caller vouches for that. [`Promise`] stands for this contract
//! and is made once at the top of each function. The AMD extension has the same on purpose: a plugin names no other.

use crate::entry::Outcome;
use hansa_plugin_api::hsa::hsa_status_t;
use std::ffi::c_void;
use std::ptr::NonNull;

/// That every pointer argument of the running function is NULL or good for what the header says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise(());

impl Promise {
    /// Takes the C contract at its word.
    ///
    /// # Safety
    ///
    /// The caller is a C function that has such a contract, and the promise is used only for its arguments.
    pub(crate) const unsafe fn by_the_c_contract() -> Self {
        Self(())
    }

    /// Where a result goes. INVALID_ARGUMENT for NULL.
    pub(crate) fn out<T: Copy>(self, pointer: *mut T) -> Outcome<Out<T>> {
        NonNull::new(pointer)
            .map(Out)
            .ok_or_else(|| hsa_status_t::ERROR_INVALID_ARGUMENT.into())
    }

    /// What a pointer points to. INVALID_ARGUMENT for NULL.
    pub(crate) fn read<T: Copy>(self, pointer: *const T) -> Outcome<T> {
        if pointer.is_null() {
            return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into());
        }
        // SAFETY: not NULL, so by the promise good for one `T`.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// The address of a pointer that is not NULL. INVALID_ARGUMENT for NULL.
    pub(crate) fn address(self, pointer: *const c_void) -> Outcome<u64> {
        if pointer.is_null() {
            return Err(hsa_status_t::ERROR_INVALID_ARGUMENT.into());
        }
        Ok(pointer.expose_provenance() as u64)
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out<T>(NonNull<T>);

impl<T: Copy> Out<T> {
    /// Gives the result to the program.
    pub(crate) fn set(self, value: T) {
        // SAFETY: made by a `Promise`, so good for one `T`.
        unsafe { self.0.write_unaligned(value) }
    }
}

impl Out<u8> {
    /// Gives the bytes of an attribute's value to the program.
    pub(crate) fn set_all(self, bytes: &[u8]) {
        // SAFETY: made by a `Promise`, so good for the attribute's value.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.as_ptr(), bytes.len()) }
    }
}
