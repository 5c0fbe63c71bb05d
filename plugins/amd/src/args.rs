//! Arguments of C functions: pointers as addresses, and numbers as the runtime has them.

use crate::entry::Services;
pub(crate) use hansa_extension_lib::call::{Out, Promise};

const _: () = assert!(
    size_of::<usize>() == size_of::<u64>(),
    "HSA's large machine model"
);

/// The running call of a function of this extension.
pub(crate) type Call = hansa_extension_lib::call::Call<Services>;

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
