//! Listing the directory of the nodes.
//!
//! The stream that a program gets is a real one, of the root directory, so that everything else that can be done with
//! it works; only the entries come from here. A stream stands in a small table from `opendir` to `closedir`.

use crate::lookup::{lookup, Lookup};
use crate::next::{next, set_errno};
use crate::nodes;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use libc::{dirent as Entry, DIR};

/// A listing that is under way.
struct Listing {
    stream: AtomicPtr<DIR>,
    /// Nodes given so far.
    position: AtomicUsize,
    entry: UnsafeCell<Entry>,
}

// SAFETY: the entry is written in `readdir` only, which a program may not call on one stream from two threads at once.
unsafe impl Sync for Listing {}

/// More than any program lists at one time; another one gets `EMFILE`.
static LISTINGS: [Listing; 16] = [const {
    Listing {
        stream: AtomicPtr::new(null_mut()),
        position: AtomicUsize::new(0),
        // SAFETY: an entry is plain numbers, for which zero is a value.
        entry: UnsafeCell::new(unsafe { core::mem::zeroed() }),
    }
}; 16];

fn listing(stream: *mut DIR) -> Option<&'static Listing> {
    // Null marks what is free.
    if stream.is_null() || !nodes::answering() {
        return None;
    }
    LISTINGS
        .iter()
        .find(|listing| listing.stream.load(Ordering::Acquire) == stream)
}

fn next_opendir(path: *const c_char) -> *mut DIR {
    next!(c"opendir", null_mut(), fn(*const c_char) -> *mut DIR, path)
}

fn next_closedir(stream: *mut DIR) -> c_int {
    next!(c"closedir", -1, fn(*mut DIR) -> c_int, stream)
}

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    // SAFETY: a path is null or a C string.
    if unsafe { lookup(path) } != Some(Lookup::Nodes) {
        return next_opendir(path);
    }
    let stream = next_opendir(c"/".as_ptr());
    if stream.is_null() {
        return stream;
    }
    for listing in &LISTINGS {
        let taken = listing
            .stream
            .compare_exchange(null_mut(), stream, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            listing.position.store(0, Ordering::Relaxed);
            return stream;
        }
    }
    next_closedir(stream);
    set_errno(libc::EMFILE);
    null_mut()
}

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn closedir(stream: *mut DIR) -> c_int {
    if let Some(listing) = listing(stream) {
        listing.stream.store(null_mut(), Ordering::Release);
    }
    next_closedir(stream)
}

/// The C function of this name.
///
/// # Safety
///
/// As libc's.
#[no_mangle]
pub(crate) unsafe extern "C" fn rewinddir(stream: *mut DIR) {
    match listing(stream) {
        Some(listing) => listing.position.store(0, Ordering::Relaxed),
        None => next!(c"rewinddir", (), fn(*mut DIR) -> (), stream),
    }
}

// On 64-bit machines `dirent` and `dirent64` are one structure.
macro_rules! readdir {
    ($($function:ident $name:literal)*) => {$(
        /// The C function of this name.
        ///
        /// # Safety
        ///
        /// As libc's.
        #[no_mangle]
        pub(crate) unsafe extern "C" fn $function(stream: *mut DIR) -> *mut Entry {
            match listing(stream) {
                Some(listing) => entry_of(listing),
                None => next!($name, null_mut(), fn(*mut DIR) -> *mut Entry, stream),
            }
        }
    )*};
}
readdir! { readdir c"readdir" readdir64 c"readdir64" }

/// The next entry, null at the end.
fn entry_of(listing: &Listing) -> *mut Entry {
    let position = listing.position.load(Ordering::Relaxed);
    if position >= nodes::count() {
        return null_mut();
    }
    let mut name = [0; 24];
    write_number(position, &mut name);
    listing.position.store(position + 1, Ordering::Relaxed);
    let entry = listing.entry.get();
    // SAFETY: an entry is plain numbers, for which zero is a value.
    let mut filled: Entry = unsafe { core::mem::zeroed() };
    filled.d_ino = 1 + u64::try_from(position).unwrap_or(0);
    filled.d_off = i64::try_from(position).unwrap_or(0);
    filled.d_reclen = u16::try_from(size_of::<Entry>()).unwrap_or(u16::MAX);
    filled.d_type = libc::DT_DIR;
    for (to, from) in filled.d_name.iter_mut().zip(name) {
        *to = c_char::from_ne_bytes([from]);
    }
    // SAFETY: only the thread that reads this stream uses its entry.
    unsafe { entry.write(filled) };
    entry
}

/// Writes a number in decimal; the rest of `text` stays zero.
fn write_number(number: usize, text: &mut [u8; 24]) {
    let mut digits = 1;
    let mut rest = number;
    while rest >= 10 {
        rest /= 10;
        digits += 1;
    }
    rest = number;
    for place in text[..digits].iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes_are_decimal() {
        for (number, text) in [
            (0, "0"),
            (9, "9"),
            (10, "10"),
            (60, "60"),
            (usize::MAX, "18446744073709551615"),
        ] {
            let mut name = [0; 24];
            write_number(number, &mut name);
            assert_eq!(name.split(|byte| *byte == 0).next(), Some(text.as_bytes()));
        }
    }
}
