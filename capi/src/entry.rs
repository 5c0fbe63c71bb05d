//! What every function of the C interface does first and last.
//!
//! [`entry!`] makes the `extern "C"` function: its body is a closure with a [`Result`], a panic in it becomes
//! `HSA_STATUS_ERROR`, an error its status. The other types check pointers of the program once and
//! make the rest of a body safe to read.
//!
//! All of them trust the C interface: a pointer that is not NULL points to what the function says. Nothing can check
//! that; so these types are made from arguments of C functions and from nothing else.

use hansa_core::log::{self, Topic};
use hansa_core::{Error, Result};
use hansa_plugin_api::hsa::{c_char, c_void, hsa_status_t};
use std::borrow::Cow;
use std::ffi::CStr;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Declares functions of the C interface that answer with a status.
macro_rules! entry {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> hansa_plugin_api::hsa::hsa_status_t {
                $crate::entry::answer(stringify!($name), || -> hansa_core::Result<()> { $body })
            }
        )*
    };
}
pub(crate) use entry;

/// The status of a body's outcome. A refusal is logged with its reason where somebody wants to see everything: programs
/// try things out.
pub(crate) fn answer(name: &str, body: impl FnOnce() -> Result<()>) -> hsa_status_t {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => hsa_status_t::SUCCESS,
        Ok(Err(error)) => {
            if !matches!(error, Error::Callback(_)) {
                log::line(Topic::Detail, format_args!("{name}: {error}"));
            }
            error.status()
        }
        Err(_) => hsa_status_t::ERROR,
    }
}

/// Goes on when a callback of the program says so; otherwise its answer is that of the function.
pub(crate) fn go_on(status: hsa_status_t) -> Result<()> {
    if status.is_success() {
        Ok(())
    } else {
        Err(Error::Callback(status.0))
    }
}

/// A callback that is not NULL.
pub(crate) fn callback<F>(function: Option<F>) -> Result<F> {
    function.ok_or(Error::InvalidArgument("a callback is not NULL"))
}

/// A place of the program for one value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<T>(*mut T);

impl<T: Copy> Place<T> {
    /// The place a function was given.
    pub(crate) fn new(pointer: *mut T) -> Result<Self> {
        if pointer.is_null() {
            return Err(Error::InvalidArgument("a place for a result is not NULL"));
        }
        Ok(Self(pointer))
    }

    /// Writes the value.
    pub(crate) fn set(self, value: T) {
        // SAFETY: the program gave the place for a value of this type; programs are careless with alignment.
        unsafe { self.0.write_unaligned(value) };
    }

    /// Reads what is there.
    pub(crate) fn value(self) -> T {
        // SAFETY: as above, and the interface says that the program has set it.
        unsafe { self.0.read_unaligned() }
    }
}

/// A place of the program for the value of an attribute, whose type the attribute decides; and, for the runtime itself, a
/// place for its bytes, or NULL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value(*mut u8, *mut usize);

impl Value {
    /// The place a query was given.
    pub(crate) fn new(pointer: *mut c_void) -> Result<Self> {
        Ok(Self(Place::new(pointer.cast::<u8>())?.0, std::ptr::null_mut()))
    }

    /// A place of the runtime's own, which has room for every attribute, for a value whose bytes it wants to know. Both
    /// are there until the value is written.
    pub(crate) fn counted(place: *mut u8, bytes: &mut usize) -> Self {
        Self(place, bytes)
    }

    /// Writes a value of the attribute's type.
    pub(crate) fn set<T: Copy>(self, value: T) {
        Place(self.0.cast::<T>()).set(value);
        self.count(size_of::<T>());
    }

    /// Writes bytes, nothing behind them.
    pub(crate) fn set_bytes(self, bytes: &[u8]) {
        // SAFETY: the program gave the place for as many bytes as the attribute has.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len()) };
        self.count(bytes.len());
    }

    fn count(self, bytes: usize) {
        if !self.1.is_null() {
            // SAFETY: `counted` was given a place that is still there.
            unsafe { self.1.write(bytes) };
        }
    }

    /// Writes a `char[N]`: the text, cut if need be, and zeroes to the end, at least one.
    pub(crate) fn set_text<const N: usize>(self, text: &str) {
        let mut bytes = [0; N];
        let length = text.len().min(N - 1);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.set(bytes);
    }
}

/// A list of the program; NULL only when it is empty.
pub(crate) fn list<'a, T>(pointer: *const T, count: u32) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Error::InvalidArgument("a list with elements is not NULL"));
    }
    // SAFETY: the program says that `count` elements are there for the length of the call.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) })
}

/// A text of the program.
pub(crate) fn text<'a>(pointer: *const c_char) -> Result<Cow<'a, str>> {
    if pointer.is_null() {
        return Err(Error::InvalidArgument("a name is not NULL"));
    }
    // SAFETY: the program says that it ends in a NUL and stays for the length of the call.
    Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}

/// Refuses NULL.
pub(crate) fn not_null<T>(pointer: *const T) -> Result<*const T> {
    if pointer.is_null() {
        return Err(Error::InvalidArgument("a pointer is not NULL"));
    }
    Ok(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    entry! {
        fn fails(place: *mut u32) {
            Place::new(place)?.set(7);
            Err(Error::InvalidQueue)
        }
        fn panics() {
            panic!("on purpose: a test of what becomes of it")
        }
    }

    #[test]
    fn an_error_becomes_its_status_and_a_panic_the_general_one() {
        let mut value = 0;
        // SAFETY: the place is there.
        let status = unsafe { fails(&raw mut value) };
        assert_eq!((status, value), (hsa_status_t::ERROR_INVALID_QUEUE, 7));
        // SAFETY: NULL is refused.
        let status = unsafe { fails(std::ptr::null_mut()) };
        assert_eq!(status, hsa_status_t::ERROR_INVALID_ARGUMENT);
        // SAFETY: takes nothing.
        assert_eq!(unsafe { panics() }, hsa_status_t::ERROR);
    }

    #[test]
    fn what_a_callback_answers_comes_through_unchanged() {
        for status in [1, 0x77, 0x1000] {
            let answer = answer("test", || go_on(hsa_status_t(status)));
            assert_eq!(answer, hsa_status_t(status));
        }
    }

    #[test]
    fn a_text_that_is_too_long_still_ends_in_nul() {
        let mut place = [0xffu8; 4];
        let value = Value::new(place.as_mut_ptr().cast()).unwrap();
        value.set_text::<4>("gfx900");
        assert_eq!(&place, b"gfx\0");
        value.set_text::<4>("a");
        assert_eq!(&place, b"a\0\0\0");
    }
}
