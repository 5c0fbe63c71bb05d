//! A kept result as the bytes of a file: a first line, a checksum, then each data object with its kind, its name and its
//! bytes. Numbers are little-endian, lengths have 64 bits.

use core::ffi::c_int;
use std::ffi::CString;

/// What a file begins with: the format and its version.
const FIRST: &[u8] = b"hansa compiled code 1\n";
const CHECKSUM: usize = blake3::OUT_LEN;

/// A data object of a result set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) kind: c_int,
    pub(crate) name: CString,
    pub(crate) data: Vec<u8>,
}

/// The bytes of a file with these objects.
pub(crate) fn write(objects: &[Object]) -> Vec<u8> {
    let mut body = Vec::new();
    for object in objects {
        body.extend_from_slice(&object.kind.to_le_bytes());
        for bytes in [object.name.as_bytes(), &object.data] {
            body.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            body.extend_from_slice(bytes);
        }
    }
    [FIRST, blake3::hash(&body).as_bytes(), &body].concat()
}

/// The objects of a file; nothing if it is damaged or of another format.
pub(crate) fn read(file: &[u8]) -> Option<Vec<Object>> {
    let (checksum, mut rest) = file.strip_prefix(FIRST)?.split_at_checked(CHECKSUM)?;
    if blake3::hash(rest).as_bytes() != checksum {
        return None;
    }
    let mut objects = Vec::new();
    while !rest.is_empty() {
        let (kind, after) = rest.split_first_chunk()?;
        rest = after;
        let name = bytes(&mut rest)?;
        let data = bytes(&mut rest)?;
        objects.push(Object {
            kind: c_int::from_le_bytes(*kind),
            name: CString::new(name).ok()?,
            data: data.to_vec(),
        });
    }
    Some(objects)
}

/// Takes a length and as many bytes.
fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects() -> Vec<Object> {
        vec![
            Object {
                kind: 6,
                name: c"linked.bc".into(),
                data: vec![1, 2, 3],
            },
            Object {
                kind: 5,
                name: c"comgr.log".into(),
                data: Vec::new(),
            },
        ]
    }

    #[test]
    fn what_was_written_is_read() {
        assert_eq!(read(&write(&objects())), Some(objects()));
        assert_eq!(read(&write(&[])), Some(Vec::new()));
    }

    #[test]
    fn a_damaged_file_is_no_entry() {
        let good = write(&objects());
        for length in 0..good.len() {
            assert_eq!(read(&good[..length]), None, "{length} bytes of {}", good.len());
        }
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            assert_eq!(read(&bad), None, "byte {place}");
        }
    }

    #[test]
    fn lengths_that_lie_are_no_entry() {
        for length in [4, u64::MAX] {
            let body = [&6_i32.to_le_bytes()[..], &length.to_le_bytes(), b"ab"].concat();
            let file = [FIRST, blake3::hash(&body).as_bytes(), &body].concat();
            assert_eq!(read(&file), None);
        }
    }
}
