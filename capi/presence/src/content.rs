//! What the files hold.
//!
//! sysfs writes one `name value` per line into `properties`, and `live` into `initstate` (the kernel's
//! Documentation/ABI/stable/sysfs-module). An opened file is a file in memory of its own, so that reading, seeking,
//! duplicating and closing it are the kernel's business.

use crate::lookup::Lookup;
use crate::nodes;
use core::ffi::{c_int, c_void};

/// The longest content.
const MOST: usize = 40;

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct Content {
    bytes: [u8; MOST],
    length: usize,
}

impl Content {
    /// What the named file holds; a directory holds nothing.
    pub(crate) fn of(lookup: Lookup) -> Self {
        let mut content = Self {
            bytes: [0; MOST],
            length: 0,
        };
        match lookup {
            Lookup::Device | Lookup::Nodes | Lookup::Node(_) => {}
            Lookup::ModuleState => content.push(b"live\n"),
            Lookup::Properties(node) => {
                content.push(b"gfx_target_version ");
                content.push_number(nodes::version(node).unwrap_or(0));
                content.push(b"\n");
            }
        }
        content
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, text: &[u8]) {
        for byte in text {
            self.bytes[self.length] = *byte;
            self.length += 1;
        }
    }

    fn push_number(&mut self, mut number: u32) {
        let mut digits = [0; 10];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[first..]);
    }

    /// A new file in memory with these bytes, or -1 with `errno` set.
    pub(crate) fn open(&self, close_on_exec: bool) -> c_int {
        let flags = if close_on_exec { libc::MFD_CLOEXEC } else { 0 };
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(c"hansa-presence".as_ptr(), flags) };
        if file < 0 {
            return file;
        }
        let bytes = self.bytes();
        // SAFETY: the pointer and the length are those of one slice.
        let written = unsafe { libc::pwrite(file, bytes.as_ptr().cast::<c_void>(), bytes.len(), 0) };
        if usize::try_from(written).is_ok_and(|written| written == bytes.len()) {
            return file;
        }
        // SAFETY: the file was made above and nobody else has it.
        unsafe { libc::close(file) };
        -1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for (number, text) in [(0, "0"), (7, "7"), (90010, "90010"), (u32::MAX, "4294967295")] {
            let mut content = Content::of(Lookup::Device);
            content.push_number(number);
            assert_eq!(content.bytes(), text.as_bytes());
        }
    }

    #[test]
    fn the_longest_content_fits() {
        let mut content = Content::of(Lookup::Device);
        content.push(b"gfx_target_version ");
        content.push_number(u32::MAX);
        content.push(b"\n");
        assert!(content.bytes().len() <= MOST);
    }
}
