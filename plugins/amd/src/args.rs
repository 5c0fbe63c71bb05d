//! Arguments of C functions: the only place where a program's pointers are read and written.
//!
//! A C function cannot see whether a pointer is good; its caller vouches for that. [`Promise`] stands for this contract
//! and is made once at the top of each function. Everything that needs it is a method of [`Call`], so that the
//! functions themselves are plain Rust. Pointers may be misaligned where C programs can make them so.

use crate::entry::{argument, Outcome, Services};
use hansa_plugin_api::hsa::{hsa_agent_t, hsa_signal_t, hsa_status_t};
use hansa_plugin_api::RSlice;
use std::ffi::{c_char, c_void, CStr};
use std::ops::Deref;
use std::ptr::NonNull;

const _: () = assert!(
    size_of::<usize>() == size_of::<u64>(),
    "HSA's large machine model"
);

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
}

/// The running call of a C function: the services, and its arguments.
#[derive(Debug)]
pub(crate) struct Call {
    services: Services,
    _promise: Promise,
}

impl Deref for Call {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

/// A handle, which C passes as a structure around 64 bits.
///
/// # Safety
///
/// The type has the layout of a `u64`.
pub(crate) unsafe trait Handle: Copy {}
// SAFETY: a structure with one `u64`.
unsafe impl Handle for hsa_agent_t {}
// SAFETY: a structure with one `u64`.
unsafe impl Handle for hsa_signal_t {}

impl Call {
    /// A call with the services that it may use.
    pub(crate) const fn new(services: Services, promise: Promise) -> Self {
        Self {
            services,
            _promise: promise,
        }
    }

    /// Where a result goes. INVALID_ARGUMENT for NULL.
    pub(crate) fn out<T: Copy>(&self, pointer: *mut T) -> Outcome<Out<T>> {
        NonNull::new(pointer)
            .map(Out)
            .ok_or_else(|| hsa_status_t::ERROR_INVALID_ARGUMENT.into())
    }

    /// Where a result goes, or nowhere for NULL.
    pub(crate) fn wanted<T: Copy>(&self, pointer: *mut T) -> Option<Out<T>> {
        NonNull::new(pointer).map(Out)
    }

    /// Where the value of an attribute goes. INVALID_ARGUMENT for NULL.
    pub(crate) fn value(&self, pointer: *mut c_void) -> Outcome<Value> {
        Ok(Value(self.out(pointer.cast::<u8>())?.0))
    }

    /// What a pointer points to. INVALID_ARGUMENT for NULL.
    pub(crate) fn read<T: Copy>(&self, pointer: *const T) -> Outcome<T> {
        argument(!pointer.is_null())?;
        // SAFETY: not NULL, so by the promise good for one `T`.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// A list. INVALID_ARGUMENT for NULL, unless it is empty: then the pointer is not looked at.
    pub(crate) fn list<T: Copy>(&self, first: *const T, count: usize) -> Outcome<&[T]> {
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
    pub(crate) fn handles<H: Handle>(&self, first: *const H, count: usize) -> Outcome<RSlice<'_, u64>> {
        Ok(self.list(first.cast::<u64>(), count)?.into())
    }

    /// A list of agents, for functions in which an agent that is none counts before other mistakes. INVALID_AGENT.
    pub(crate) fn agents(&self, first: *const hsa_agent_t, count: usize) -> Outcome<RSlice<'_, u64>> {
        let agents = self.handles(first, count)?;
        for &agent in agents.iter() {
            self.runtime().agent_kind(agent)?;
        }
        Ok(agents)
    }

    /// The signals that a command waits for. INVALID_ARGUMENT for NULL with a number, or for a signal 0.
    pub(crate) fn dependencies(&self, count: u32, first: *const hsa_signal_t) -> Outcome<RSlice<'_, u64>> {
        let signals = self.handles(first, widen(count))?;
        argument(!signals.contains(&0))?;
        Ok(signals)
    }

    /// A C string, empty for NULL. INVALID_ARGUMENT for what is not UTF-8.
    pub(crate) fn text(&self, pointer: *const c_char) -> Outcome<&str> {
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
#[derive(Debug)]
pub(crate) struct Out<T>(NonNull<T>);

impl<T: Copy> Out<T> {
    /// Gives the result to the program.
    pub(crate) fn set(self, value: T) {
        // SAFETY: made by a `Call`, so by its promise good for one `T`.
        unsafe { self.0.write_unaligned(value) }
    }
}

/// Where the value of an attribute goes, whose type the attribute says.
#[derive(Debug)]
pub(crate) struct Value(NonNull<u8>);

impl Value {
    /// Gives a value of the attribute's type to the program.
    pub(crate) fn put<T: Copy>(self, value: T) {
        self.put_all(&[value]);
    }

    /// Gives a list of the attribute's type to the program.
    pub(crate) fn put_all<T: Copy>(self, values: &[T]) {
        // SAFETY: made by a `Call`, so by its promise good for the attribute's value; the list is another object.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), self.0.as_ptr(), size_of_val(values));
        }
    }
}

/// The address of a pointer, for the runtime.
pub(crate) fn address<T: ?Sized>(pointer: *const T) -> u64 {
    pointer.cast::<()>().expose_provenance() as u64
}

/// The pointer at an address, for the program.
pub(crate) fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(narrow(address))
}

/// A number of the runtime's as C's `size_t`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "both have 64 bits, asserted above"
)]
pub(crate) const fn narrow(number: u64) -> usize {
    number as usize
}

/// C's `uint32_t` as an index.
pub(crate) const fn widen(number: u32) -> usize {
    number as usize
}

/// An element of an array of the program's.
pub(crate) fn element<T>(first: *mut T, index: usize) -> *mut T {
    first.wrapping_add(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_survives_the_way_through_an_address() {
        let number = 5_u32;
        assert_eq!(
            pointer::<u32>(address(&raw const number)),
            (&raw const number).cast_mut()
        );
    }
}
