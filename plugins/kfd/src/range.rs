//! Ranges of addresses that are the same for the host and for devices.
//!
//! On most GPUs the address space is at least as large as the host's, so a range that the host's `mmap` gave is free on the
//! device too. Where one has a smaller one (gfx8), all ranges lie below its end.

use crate::error::{Error, Result};
use hansa_plugin_api::sys::{File, MapAccess, System};
use std::sync::Arc;

const NOTHING: MapAccess = MapAccess {
    read: false,
    write: false,
    execute: false,
};

/// A range that is taken. Given back when dropped, with whatever is mapped in it.
#[derive(Debug)]
pub struct Range {
    system: Arc<dyn System>,
    outer: u64,
    outer_bytes: u64,
    address: u64,
    bytes: u64,
}

/// A pointer to an address of a mapping.
#[must_use]
pub fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Range {
    /// Takes `bytes` (whole pages) at a multiple of `alignment`, below `end` if there is one, reserved and not accessible.
    ///
    /// # Errors
    ///
    /// [`Error::Map`] when the system has none.
    pub fn reserve(system: &Arc<dyn System>, bytes: u64, alignment: u64, end: Option<u64>) -> Result<Self> {
        let page = system.page_size() as u64;
        let slack = if alignment > page { alignment } else { 0 };
        let outer_bytes = bytes
            .checked_add(slack)
            .ok_or_else(|| Error::Argument("The size overflows".into()))?;
        let outer = match end {
            Some(end) => system.reserve_below(end, size(outer_bytes)),
            // SAFETY: a new range that nothing uses.
            None => unsafe { system.mmap(std::ptr::null_mut(), size(outer_bytes), NOTHING, None, 0) },
        };
        let outer = outer.map_err(|errno| Error::Map {
            what: "address space",
            bytes,
            errno,
        })?;
        let outer = outer.expose_provenance() as u64;
        Ok(Self {
            system: Arc::clone(system),
            outer,
            outer_bytes,
            address: outer.next_multiple_of(alignment.max(page)),
            bytes,
        })
    }

    /// Takes exactly this range, if nothing is mapped in it.
    ///
    /// # Errors
    ///
    /// [`Error::Map`]: with [`Errno::EXIST`](hansa_plugin_api::sys::Errno::EXIST) when something is.
    pub fn at(system: &Arc<dyn System>, address: u64, bytes: u64) -> Result<Self> {
        system
            .reserve_at(pointer(address), size(bytes))
            .map_err(|errno| Error::Map {
                what: "address space at a given place",
                bytes,
                errno,
            })?;
        Ok(Self {
            system: Arc::clone(system),
            outer: address,
            outer_bytes: bytes,
            address,
            bytes,
        })
    }

    /// Cuts it in two; the first part has `bytes` (whole pages).
    #[must_use]
    pub fn split(mut self, bytes: u64) -> (Self, Self) {
        let middle = self.address + bytes;
        let second = Self {
            system: Arc::clone(&self.system),
            outer: middle,
            outer_bytes: self.outer + self.outer_bytes - middle,
            address: middle,
            bytes: self.bytes - bytes,
        };
        self.outer_bytes = middle - self.outer;
        self.bytes = bytes;
        (self, second)
    }

    /// First address.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Lets the host read and write the range: pages of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Map`].
    pub fn show(&self, what: &'static str, file: File, offset: u64, execute: bool) -> Result<()> {
        let access = MapAccess {
            read: true,
            write: true,
            execute,
        };
        // SAFETY: the range is this object's, and nobody was told of it yet.
        let shown = unsafe {
            self.system.mmap(
                pointer(self.address),
                size(self.bytes),
                access,
                Some(file),
                offset,
            )
        };
        match shown {
            Ok(at) if at.addr() as u64 == self.address => Ok(()),
            Ok(at) => Err(Error::Nonsense {
                request: "mmap",
                what: format!("address {at:p} for {:#x}", self.address),
            }),
            Err(errno) => Err(Error::Map {
                what,
                bytes: self.bytes,
                errno,
            }),
        }
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the range is this object's, and its user is done with it. A refusal leaves it reserved.
        let _ = unsafe { self.system.munmap(pointer(self.outer), size(self.outer_bytes)) };
    }
}
