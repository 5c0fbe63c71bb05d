//! Guarded access to the process's memory, as a kernel copies from and to its user: a bad address is an errno.

use crate::Errno;

fn vector(address: u64, bytes: usize) -> libc::iovec {
    libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0)),
        iov_len: bytes,
    }
}

fn local(buffer: *mut u8, bytes: usize) -> libc::iovec {
    libc::iovec {
        iov_base: buffer.cast(),
        iov_len: bytes,
    }
}

fn outcome(done: isize, bytes: usize) -> Result<(), Errno> {
    if usize::try_from(done) == Ok(bytes) {
        Ok(())
    } else {
        Err(Errno::FAULT)
    }
}

fn process() -> libc::pid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

/// Copies from an address.
///
/// # Errors
///
/// [`Errno::FAULT`].
pub fn read(address: u64, into: &mut [u8]) -> Result<(), Errno> {
    if into.is_empty() {
        return Ok(());
    }
    let (to, from) = (local(into.as_mut_ptr(), into.len()), vector(address, into.len()));
    // SAFETY: the local side is the slice; the system checks the other.
    let done = unsafe { libc::process_vm_readv(process(), &raw const to, 1, &raw const from, 1, 0) };
    outcome(done, into.len())
}

/// Copies to an address.
///
/// # Errors
///
/// [`Errno::FAULT`].
pub fn write(address: u64, from: &[u8]) -> Result<(), Errno> {
    if from.is_empty() {
        return Ok(());
    }
    let (here, there) = (
        local(from.as_ptr().cast_mut(), from.len()),
        vector(address, from.len()),
    );
    // SAFETY: the local side is the slice, which is only read; the system checks the other.
    let done = unsafe { libc::process_vm_writev(process(), &raw const here, 1, &raw const there, 1, 0) };
    outcome(done, from.len())
}

/// Copies several pieces to their addresses, as [`write()`] does, with one call of the system.
///
/// # Errors
///
/// [`Errno::FAULT`]; the pieces before the one at fault are written.
pub fn write_all(pieces: &[(u64, &[u8])]) -> Result<(), Errno> {
    let here: Vec<_> = pieces
        .iter()
        .map(|(_, from)| local(from.as_ptr().cast_mut(), from.len()))
        .collect();
    let there: Vec<_> = pieces.iter().map(|(at, from)| vector(*at, from.len())).collect();
    let count = libc::c_ulong::try_from(pieces.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the local sides are slices, which are only read; the system checks the others.
    let done = unsafe { libc::process_vm_writev(process(), here.as_ptr(), count, there.as_ptr(), count, 0) };
    outcome(done, pieces.iter().map(|(_, from)| from.len()).sum())
}

/// The bytes of a structure of integers.
pub fn bytes_of<T: hansa_kfd::uapi::Request>(value: &T) -> &[u8] {
    // SAFETY: the structures have no padding that is not a field, and are only read here.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) }
}

/// Copies a structure of integers from an address.
///
/// # Errors
///
/// [`Errno::FAULT`].
pub fn get<T: hansa_kfd::uapi::Request>(address: u64, bytes: usize) -> Result<T, Errno> {
    let mut value = T::default();
    let room = size_of::<T>();
    // SAFETY: `Request` promises that every bit pattern is a value.
    let view = unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(&mut value).cast::<u8>(), room) };
    read(address, &mut view[..bytes.min(room)])?;
    Ok(value)
}

/// Copies a structure of integers to an address.
///
/// # Errors
///
/// [`Errno::FAULT`].
pub fn put<T: hansa_kfd::uapi::Request>(address: u64, bytes: usize, value: &T) -> Result<(), Errno> {
    let view = bytes_of(value);
    write(address, &view[..bytes.min(view.len())])
}

/// Copies 32-bit words from an address.
///
/// # Errors
///
/// [`Errno::FAULT`].
pub fn words(address: u64, count: usize) -> Result<Vec<u32>, Errno> {
    let mut bytes = vec![0_u8; count.checked_mul(4).ok_or(Errno::INVAL)?];
    read(address, &mut bytes)?;
    Ok(bytes
        .chunks_exact(4)
        .map(|c| u32::from_ne_bytes([c[0], c[1], c[2], c[3]]))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_address_is_an_errno() {
        let mut bytes = [0; 8];
        assert_eq!(read(8, &mut bytes), Err(Errno::FAULT));
        assert_eq!(write(8, &bytes), Err(Errno::FAULT));
        let value = 0x1234_u64;
        read(std::ptr::from_ref(&value).expose_provenance() as u64, &mut bytes).unwrap();
        assert_eq!(u64::from_ne_bytes(bytes), value);
    }
}
