//! Memory of this process that programs gave addresses of: packets' arguments, and signals.
//!
//! An address in a packet may be any number, and the packet is looked at by a thread of the program or of the runtime, which
//! must not die of it. So the system reads for us: it knows what is mapped (`process_vm_readv(2)`).

use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64};

/// Nothing that can be read is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing can be read at {0:#x}")]
pub(crate) struct Unmapped(pub(crate) u64);

/// Reads some bytes.
pub(crate) fn read(address: u64, bytes: &mut [u8]) -> Result<(), Unmapped> {
    let wrong = Unmapped(address);
    if bytes.is_empty() {
        return Ok(());
    }
    let from = usize::try_from(address).map_err(|_| wrong)?;
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::with_exposed_provenance_mut(from),
        iov_len: bytes.len(),
    };
    // SAFETY: takes no argument.
    let own = unsafe { libc::getpid() };
    // SAFETY: the room is that of the slice; what is read from the system checks.
    let done = unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) };
    if usize::try_from(done).is_ok_and(|done| done == bytes.len()) {
        return Ok(());
    }
    let may = done >= 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    if may || from == 0 {
        return Err(wrong);
    }
    // A sandbox that forbids the call: the program's word is all there is.
    // SAFETY: the program said that so much is there.
    unsafe {
        std::ptr::copy_nonoverlapping(
            std::ptr::with_exposed_provenance(from),
            bytes.as_mut_ptr(),
            bytes.len(),
        );
    }
    Ok(())
}

/// Reads so many 64-bit words.
pub(crate) fn doubles(address: u64, count: usize) -> Result<Vec<u64>, Unmapped> {
    let mut bytes = vec![0; count * 8];
    read(address, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Reads so many 32-bit words.
pub(crate) fn words(address: u64, count: usize) -> Result<Vec<u32>, Unmapped> {
    let mut bytes = vec![0; count * 4];
    read(address, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// A field that others change at the same time.
pub(crate) trait Field: Sized {}
impl Field for AtomicU16 {}
impl Field for AtomicU32 {}
impl Field for AtomicU64 {}
impl Field for AtomicI64 {}

/// A field at an address.
///
/// # Safety
///
/// The field is there, aligned and writable, as long as the answer is used, and is touched by atomics only.
pub(crate) unsafe fn field<'a, F: Field>(address: u64) -> &'a F {
    let at: *const F = crate::device::pointer(address).cast_const().cast();
    // SAFETY: the caller says so.
    unsafe { &*at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_read_and_what_is_not_is_an_error() {
        let numbers = [1_u64, 2, 3];
        let at = numbers.as_ptr().expose_provenance() as u64;
        assert_eq!(doubles(at, 3), Ok(vec![1, 2, 3]));
        assert_eq!(words(at, 3), Ok(vec![1, 0, 2]));
        for wrong in [0, 8, 0x1000, u64::MAX - 7] {
            assert_eq!(doubles(wrong, 1), Err(Unmapped(wrong)), "{wrong:#x}");
        }
        assert_eq!(doubles(0, 0), Ok(vec![]));
    }
}
