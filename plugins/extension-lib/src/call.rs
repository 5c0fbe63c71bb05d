//! Arguments of C functions: the only place where a program's pointers are read and written.
//!
//! A C function cannot see whether a pointer is good; its caller vouches for that. [`Promise`] stands for this contract
//! and is made once at the top of each function. Everything that needs it is a method of [`Call`], so that the
//! functions themselves are plain Rust. Pointers may be misaligned where C programs can make them so.

#![expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "A call is made with the promise that its pointers are good, which is where the unsafety is"
)]

use crate::outcome::{argument, Outcome};
use crate::serving::Serves;
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_signal_t, hsa_status_t};
use hansa_plugin_api::{RSlice, RuntimeServicesRef};
use std::ffi::{c_char, c_void, CStr};
use std::ops::Deref;
use std::ptr::NonNull;

/// That every pointer argument of the running function is NULL or good for what the header says of it.
#[derive(Clone, Copy, Debug)]
pub struct Promise(());

impl Promise {
    /// Takes the C contract at its word.
    ///
    /// # Safety
    ///
    /// The caller is a C function that has such a contract, and the promise is used only for its arguments.
    pub const unsafe fn by_the_c_contract() -> Self {
        Self(())
    }
}

/// The running call of a C function: the extension that serves it, and its arguments.
#[derive(Debug)]
pub struct Call<S> {
    served: S,
    _promise: Promise,
}

impl<S> Deref for Call<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.served
    }
}

/// A handle, which C passes as a structure around 64 bits.
///
/// # Safety
///
/// The type has the layout of a `u64`.
pub unsafe trait Handle: Copy {}
// SAFETY: a structure with one `u64`.
unsafe impl Handle for hsa_agent_t {}
// SAFETY: a structure with one `u64`.
unsafe impl Handle for hsa_signal_t {}

impl<S: Serves> Call<S> {
    /// A call that `served` serves.
    pub const fn new(served: S, promise: Promise) -> Self {
        Self {
            served,
            _promise: promise,
        }
    }

    /// The services of the runtime that are in no group.
    pub fn runtime(&self) -> RuntimeServicesRef<'static> {
        self.served.runtime()
    }

    /// Where a result goes. INVALID_ARGUMENT for NULL.
    pub fn out<T: Copy>(&self, pointer: *mut T) -> Outcome<Out<T>> {
        NonNull::new(pointer)
            .map(Out)
            .ok_or_else(|| hsa_status_t::ERROR_INVALID_ARGUMENT.into())
    }

    /// Where a result goes, or nowhere for NULL.
    pub fn wanted<T: Copy>(&self, pointer: *mut T) -> Option<Out<T>> {
        NonNull::new(pointer).map(Out)
    }

    /// Where the value of an attribute goes. INVALID_ARGUMENT for NULL.
    pub fn value(&self, pointer: *mut c_void) -> Outcome<Value> {
        Ok(Value(self.out(pointer.cast::<u8>())?.0))
    }

    /// What a pointer points to. INVALID_ARGUMENT for NULL.
    pub fn read<T: Copy>(&self, pointer: *const T) -> Outcome<T> {
        argument(!pointer.is_null())?;
        // SAFETY: not NULL, so by the promise good for one `T`.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// The address of a pointer. INVALID_ARGUMENT for NULL.
    pub fn address(&self, pointer: *const c_void) -> Outcome<u64> {
        argument(!pointer.is_null())?;
        Ok(pointer.expose_provenance() as u64)
    }

    /// A list. INVALID_ARGUMENT for NULL, unless it is empty: then the pointer is not looked at.
    pub fn list<T: Copy>(&self, first: *const T, count: usize) -> Outcome<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        argument(!first.is_null() && first.is_aligned())?;
        argument(count <= isize::MAX.unsigned_abs() / size_of::<T>())?;
        // SAFETY: neither NULL nor misaligned nor too long, so by the promise good for `count` times `T` as long as the
        // function runs, for which `self` lives.
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// A list of handles, as [`Call::list`].
    pub fn handles<H: Handle>(&self, first: *const H, count: usize) -> Outcome<RSlice<'_, u64>> {
        Ok(self.list(first.cast::<u64>(), count)?.into())
    }

    /// A list of agents, for functions in which an agent that is none counts before other mistakes. INVALID_AGENT.
    pub fn agents(&self, first: *const hsa_agent_t, count: usize) -> Outcome<RSlice<'_, u64>> {
        let agents = self.handles(first, count)?;
        for &agent in agents.iter() {
            self.runtime().agent_kind(agent)?;
        }
        Ok(agents)
    }

    /// The signals that a command waits for. INVALID_ARGUMENT for NULL with a number, or for a signal 0.
    pub fn dependencies(&self, count: u32, first: *const hsa_signal_t) -> Outcome<RSlice<'_, u64>> {
        let signals = self.handles(first, count as usize)?;
        argument(!signals.contains(&0))?;
        Ok(signals)
    }

    /// A C string, empty for NULL. INVALID_ARGUMENT for what is not UTF-8.
    pub fn text(&self, pointer: *const c_char) -> Outcome<&str> {
        if pointer.is_null() {
            return Ok("");
        }
        // SAFETY: not NULL, so by the promise a string with a NUL that lives as long as the function runs.
        let text = unsafe { CStr::from_ptr(pointer) };
        text.to_str()
            .map_err(|_| hsa_status_t::ERROR_INVALID_ARGUMENT.into())
    }
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(NonNull<T>);

impl<T: Copy> Out<T> {
    /// Gives the result to the program.
    pub fn set(self, value: T) {
        // SAFETY: made by a `Call`, so by its promise good for one `T`.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// Where the value of an attribute goes, whose type the attribute says.
#[derive(Debug)]
pub struct Value(NonNull<u8>);

impl Value {
    /// Gives a value of the attribute's type to the program.
    pub fn put<T: Copy>(self, value: T) {
        self.put_all(&[value]);
    }

    /// Gives a list of the attribute's type to the program.
    pub fn put_all<T: Copy>(self, values: &[T]) {
        // SAFETY: made by a `Call`, so by its promise good for the attribute's value; the list is another object.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), self.0.as_ptr(), size_of_val(values));
        }
    }
}
