//! Moving bytes between a file and device memory (`hsa_amd_ais_file_read` and `_write`).
//!
//! No driver reads files by itself, so the bytes go through the host: straight, where the host sees the memory, and
//! through a buffer elsewhere.

use super::interop::is_open;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use std::sync::Arc;

/// Bytes of the buffer for memory that the host does not see.
const BUFFER: usize = 1 << 20;

/// What is to be moved.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The file.
    pub descriptor: i32,
    /// Whether the file is written.
    pub write: bool,
    /// The memory.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Where in the file.
    pub offset: i64,
}

/// How far it came: bytes, and the system's error number or 0.
pub type Moved = (u64, i32);

impl Runtime {
    /// Moves bytes between a file and an allocation, up to the file's end. What the system refuses is part of the
    /// answer.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a bad descriptor, [`Error::InvalidAllocation`] unless the range lies in one
    /// allocation, and what the driver says.
    pub fn transfer(self: &Arc<Self>, transfer: &Transfer) -> Result<Moved> {
        if !is_open(transfer.descriptor) {
            return Err(Error::InvalidArgument("not a file descriptor"));
        }
        let allocation = self.allocation_around(transfer.address, transfer.bytes)?;
        if allocation.host_base != 0 {
            let host = allocation.host_base + (transfer.address - allocation.base);
            return Ok(move_all(transfer, |done, left| {
                step(transfer, host + done, done, left)
            }));
        }
        let mut buffer = vec![0_u8; BUFFER.min(usize::try_from(transfer.bytes).unwrap_or(BUFFER))];
        let host = buffer.as_mut_ptr().expose_provenance() as u64;
        let mut refused = Ok(());
        let moved = move_all(transfer, |done, left| {
            let part = left.min(buffer.len() as u64);
            if transfer.write {
                refused = self.copy(host, transfer.address + done, part);
                if refused.is_err() {
                    return Ok(0);
                }
                return step(transfer, host, done, part);
            }
            let got = step(transfer, host, done, part)?;
            refused = self.copy(transfer.address + done, host, got);
            Ok(if refused.is_err() { 0 } else { got })
        });
        refused.map(|()| moved)
    }
}

/// Repeats steps until all bytes are moved, one moves nothing, or the system refuses.
fn move_all(transfer: &Transfer, mut step: impl FnMut(u64, u64) -> std::result::Result<u64, i32>) -> Moved {
    let mut done = 0;
    while done < transfer.bytes {
        match step(done, transfer.bytes - done) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(libc::EINTR) => {}
            Err(errno) => return (done, errno),
        }
    }
    (done, 0)
}

/// One system call, between the file at `done` bytes from the start and host memory.
fn step(transfer: &Transfer, host: u64, done: u64, bytes: u64) -> std::result::Result<u64, i32> {
    let offset = i64::try_from(done)
        .ok()
        .and_then(|done| transfer.offset.checked_add(done))
        .ok_or(libc::EINVAL)?;
    let place = std::ptr::with_exposed_provenance_mut(usize::try_from(host).unwrap_or(0));
    let bytes = usize::try_from(bytes).unwrap_or(BUFFER);
    let moved = if transfer.write {
        // SAFETY: the kernel reads inside an allocation or a buffer, and says so when it cannot.
        unsafe { libc::pwrite64(transfer.descriptor, place, bytes, offset) }
    } else {
        // SAFETY: as above, for writing.
        unsafe { libc::pread64(transfer.descriptor, place, bytes, offset) }
    };
    u64::try_from(moved).map_err(|_| {
        std::io::Error::last_os_error()
            .raw_os_error()
            .unwrap_or(libc::EIO)
    })
}
