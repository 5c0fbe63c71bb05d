//! Ranges of addresses that guest, host and devices have in common.
//!
//! The host says where they are. Nothing of the process may be there: a range is taken only when it is free.

use crate::error::{Error, Result};
use hansa_kfd::range::{pointer, Range};
use hansa_plugin_api::sys::{File, MapAccess, System};
use std::sync::Arc;

/// The end of the addresses of programs.
pub const LIMIT: u64 = 1 << 47;

/// A range of addresses that is taken, and given back when dropped.
#[derive(Debug)]
pub struct Window {
    system: Arc<dyn System>,
    range: Range,
}

impl Window {
    /// Takes a range that the host named, if it can be one and is free.
    ///
    /// # Errors
    ///
    /// [`Error::Nonsense`], and what mapping says.
    pub fn take(system: &Arc<dyn System>, request: &'static str, address: u64, bytes: u64) -> Result<Self> {
        let page = system.page_size() as u64;
        let end = address.checked_add(bytes).filter(|end| *end <= LIMIT);
        if bytes == 0 || end.is_none() || address == 0 || (address | bytes) & (page - 1) != 0 {
            return Err(Error::Nonsense {
                request,
                what: format!("{bytes:#x} bytes at {address:#x}"),
            });
        }
        Ok(Self {
            system: Arc::clone(system),
            range: Range::at(system, address, bytes)?,
        })
    }

    /// First address.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.range.address()
    }

    /// Whether a part lies inside.
    #[must_use]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        let (start, all) = (self.range.address(), self.range.bytes());
        address >= start && bytes <= all && address - start <= all - bytes
    }

    /// Lets the host's processors read and write a part: pages of a file.
    ///
    /// # Errors
    ///
    /// What mapping says.
    pub fn show(&self, what: &'static str, address: u64, bytes: u64, file: File, offset: u64) -> Result<()> {
        self.map(what, address, bytes, true, Some((file, offset)))
    }

    /// Takes a part from sight; the addresses stay taken.
    ///
    /// # Errors
    ///
    /// What mapping says; then it is still seen.
    pub fn hide(&self, address: u64, bytes: u64) -> Result<()> {
        self.map("address space", address, bytes, false, None)
    }

    /// Puts a copy of a part that is seen, of this process alone, in its place.
    ///
    /// # Errors
    ///
    /// What mapping says; then nothing changed, or the part is zero.
    pub fn separate(&self, address: u64, bytes: u64) -> Result<()> {
        let length = usize::try_from(bytes).unwrap_or(0);
        let mut copy = vec![0_u8; length];
        if !self.contains(address, bytes) {
            return Ok(());
        }
        // SAFETY: the part is seen, as the caller says; the parent may write meanwhile, and any value is a value.
        unsafe { std::ptr::copy_nonoverlapping(pointer(address).cast_const(), copy.as_mut_ptr(), length) };
        self.map("memory of a child process", address, bytes, true, None)?;
        // SAFETY: the part was just mapped for reading and writing.
        unsafe { std::ptr::copy_nonoverlapping(copy.as_ptr(), pointer(address), length) };
        Ok(())
    }

    fn map(
        &self,
        what: &'static str,
        address: u64,
        bytes: u64,
        usable: bool,
        file: Option<(File, u64)>,
    ) -> Result<()> {
        if !self.contains(address, bytes) {
            return Err(Error::Argument(format!(
                "{bytes:#x} bytes at {address:#x} are outside of the range at {:#x}",
                self.range.address()
            )));
        }
        let access = MapAccess {
            read: usable,
            write: usable,
            execute: false,
        };
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (file, offset) = file.unzip();
        // SAFETY: the part is inside a range that is this object's, and callers map over what nobody uses.
        let made = unsafe {
            self.system
                .mmap(pointer(address), length, access, file, offset.unwrap_or(0))
        };
        match made {
            Ok(at) if at.addr() as u64 == address => Ok(()),
            Ok(at) => Err(Error::Nonsense {
                request: "mmap",
                what: format!("address {at:p} for {address:#x}"),
            }),
            Err(errno) => Err(hansa_kfd::error::Error::Map { what, bytes, errno }.into()),
        }
    }
}
