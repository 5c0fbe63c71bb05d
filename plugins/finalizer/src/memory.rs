//! Copying a module out of the memory of the program that made it.
//!
//! The interface hands over nothing but a pointer, and the module says itself how long it is. A wrong pointer and a
//! wrong length are errors and no crash: the system reads for us, and it knows what is mapped.

use crate::brig::{BrigError, Module, HEADER_BYTES};
use crate::entry::Call;
use hansa_extension_lib::outcome::Outcome;
use hansa_plugin_api::hsa::hsa_status_t;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// How much is read at once: a wrong length shall not take memory before it is found out.
const STEP: usize = 1 << 20;

/// Why a module could not be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CopyError {
    /// Nothing is mapped there.
    #[error("There is no memory for {bytes} bytes of a module at {address:#x}")]
    Unmapped {
        /// First byte.
        address: u64,
        /// How much was read.
        bytes: usize,
    },
    /// It does not start as modules do.
    #[error(transparent)]
    Header(#[from] BrigError),
}

/// The memory of this process.
struct Memory<'a> {
    /// As a file; `None` if the system does not show it.
    file: Option<File>,
    call: &'a Call,
}

impl Memory<'_> {
    /// Reads some bytes.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), CopyError> {
        let unmapped = CopyError::Unmapped {
            address,
            bytes: bytes.len(),
        };
        if let Some(file) = &self.file {
            return file.read_exact_at(bytes, address).map_err(|_| unmapped);
        }
        // The C contract is all there is.
        let first = std::ptr::with_exposed_provenance::<u8>(usize::try_from(address).map_err(|_| unmapped)?);
        let there = self.call.list(first, bytes.len()).map_err(|_| unmapped)?;
        bytes.copy_from_slice(there);
        Ok(())
    }
}

/// A copy of the module at an address. OUT_OF_RESOURCES; everything else is told apart by [`CopyError`].
pub(crate) fn copy(call: &Call, address: u64) -> Outcome<Result<Vec<u8>, CopyError>> {
    let memory = Memory {
        file: File::open("/proc/self/mem").ok(),
        call,
    };
    let mut header = [0; HEADER_BYTES];
    if let Err(error) = memory.read(address, &mut header) {
        return Ok(Err(error));
    }
    let size = match Module::size(&header) {
        Ok(size) => size,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut bytes = Vec::new();
    let mut at = address;
    let mut left = usize::try_from(size).unwrap_or(usize::MAX);
    while left > 0 {
        let step = left.min(STEP);
        let start = bytes.len();
        bytes
            .try_reserve(step)
            .map_err(|_| hsa_status_t::ERROR_OUT_OF_RESOURCES)?;
        bytes.resize(start + step, 0);
        if let Err(error) = memory.read(at, &mut bytes[start..]) {
            return Ok(Err(error));
        }
        at = at.wrapping_add(step as u64);
        left -= step;
    }
    Ok(Ok(bytes))
}
