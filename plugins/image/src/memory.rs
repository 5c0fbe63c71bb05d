//! Bytes of images and of descriptors, as the host sees them.

use std::ptr;

/// The address as a pointer.
#[expect(clippy::cast_possible_truncation, reason = "the host has 64 bits")]
fn pointer(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

/// Copies memory; the ranges may overlap.
///
/// # Safety
///
/// Both ranges are memory of the process, of which the program, by the C contract of the function that it called, says
/// that nobody uses them meanwhile.
pub(crate) unsafe fn copy(from: u64, to: u64, bytes: u64) {
    #[expect(clippy::cast_possible_truncation, reason = "the host has 64 bits")]
    // SAFETY: as the function says.
    unsafe {
        ptr::copy(pointer(from), pointer(to), bytes as usize);
    }
}

/// Writes bytes.
///
/// # Safety
///
/// As [`copy`].
pub(crate) unsafe fn write(to: u64, bytes: &[u8]) {
    // SAFETY: as the function says.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), pointer(to), bytes.len()) };
}

/// Reads bytes.
///
/// # Safety
///
/// As [`copy`].
pub(crate) unsafe fn read(from: u64, bytes: &mut [u8]) {
    // SAFETY: as the function says.
    unsafe { ptr::copy_nonoverlapping(pointer(from), bytes.as_mut_ptr(), bytes.len()) };
}

/// The words at an address.
///
/// # Safety
///
/// As [`copy`].
pub(crate) unsafe fn read_words<const N: usize>(from: u64) -> [u32; N] {
    let mut words = [0; N];
    for (i, word) in (0u64..).zip(&mut words) {
        let mut bytes = [0; 4];
        // SAFETY: as the function says.
        unsafe { read(from + 4 * i, &mut bytes) };
        *word = u32::from_ne_bytes(bytes);
    }
    words
}
