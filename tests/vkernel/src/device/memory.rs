//! What a device finds at its addresses.

use crate::buffers::Backing;
use crate::kernel::Kernel;
use crate::user;
use hansa_kfd::uapi::memory::ALLOC_WRITABLE;
use std::sync::atomic::{AtomicI64, Ordering};

/// An access that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub address: u64,
    /// There is memory, and it must not be written.
    pub present: bool,
}

/// A GPU's memory.
#[derive(Debug)]
pub struct Memory<'a> {
    kernel: &'a Kernel,
    gpu: usize,
}

#[derive(Clone, Copy)]
enum Place {
    /// The kernel's own view of a file.
    View(u64),
    /// Memory of the process, which may go away at any time.
    User(u64),
}

/// Bytes that are moved at a time.
const CHUNK: u64 = 1 << 20;

impl<'a> Memory<'a> {
    /// The memory that a GPU of a kernel sees.
    #[must_use]
    pub const fn new(kernel: &'a Kernel, gpu: usize) -> Self {
        Self { kernel, gpu }
    }

    /// The GPU.
    #[must_use]
    pub const fn gpu(&self) -> usize {
        self.gpu
    }

    /// The kernel.
    #[must_use]
    pub const fn kernel(&self) -> &'a Kernel {
        self.kernel
    }

    /// Where an address is, and how many bytes there are from it on in the same buffer.
    fn find(&self, address: u64, write: bool) -> Result<(Place, u64), Fault> {
        let process = self.kernel.process();
        let absent = Fault {
            address,
            present: false,
        };
        let buffer = process.buffers.at(self.gpu, address).ok_or(absent)?;
        if write && buffer.flags & ALLOC_WRITABLE == 0 {
            return Err(Fault {
                address,
                present: true,
            });
        }
        let offset = address - buffer.address;
        let place = match &*buffer.backing {
            Backing::User(start) => Place::User(start + offset),
            backing => Place::View(backing.view().ok_or(absent)? + offset),
        };
        Ok((place, buffer.bytes - offset))
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn read(&self, address: u64, mut into: &mut [u8]) -> Result<(), Fault> {
        let mut at = address;
        while !into.is_empty() {
            let (place, room) = self.find(at, false)?;
            let bytes = into.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (part, rest) = into.split_at_mut(bytes);
            match place {
                Place::View(from) => {
                    let from = std::ptr::with_exposed_provenance::<u8>(usize::try_from(from).unwrap_or(0));
                    // SAFETY: the view has that many bytes from here on; others may write them meanwhile, as on a
                    // real device, and any value is a value.
                    unsafe { std::ptr::copy_nonoverlapping(from, part.as_mut_ptr(), bytes) };
                }
                Place::User(from) => user::read(from, part).map_err(|_| Fault {
                    address: at,
                    present: false,
                })?,
            }
            into = rest;
            at += bytes as u64;
        }
        Ok(())
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn write(&self, address: u64, mut from: &[u8]) -> Result<(), Fault> {
        let mut at = address;
        while !from.is_empty() {
            let (place, room) = self.find(at, true)?;
            let bytes = from.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (part, rest) = from.split_at(bytes);
            match place {
                Place::View(to) => {
                    let to = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(to).unwrap_or(0));
                    // SAFETY: the view has that many bytes from here on.
                    unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), to, bytes) };
                }
                Place::User(to) => user::write(to, part).map_err(|_| Fault {
                    address: at,
                    present: false,
                })?,
            }
            from = rest;
            at += bytes as u64;
        }
        Ok(())
    }

    /// Copies bytes.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        let mut buffer = vec![0_u8; usize::try_from(bytes.min(CHUNK)).unwrap_or(0)];
        let mut done = 0;
        while done < bytes {
            let part = (bytes - done).min(CHUNK);
            let slice = &mut buffer[..usize::try_from(part).unwrap_or(0)];
            self.read(from + done, slice)?;
            self.write(to + done, slice)?;
            done += part;
        }
        Ok(())
    }

    /// Reads a 32-bit word.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn word(&self, address: u64) -> Result<u32, Fault> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a 64-bit word.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn word64(&self, address: u64) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Changes a 64-bit word in one step; answers the old value.
    ///
    /// # Errors
    ///
    /// [`Fault`], also for an address that is no multiple of eight.
    pub fn change(&self, address: u64, change: impl Fn(&AtomicI64) -> i64) -> Result<i64, Fault> {
        let absent = Fault {
            address,
            present: false,
        };
        let (place, room) = self.find(address, true)?;
        if !address.is_multiple_of(8) || room < 8 {
            return Err(absent);
        }
        let at = match place {
            Place::View(at) => at,
            Place::User(at) => {
                // The process may have unmapped it: writing nothing new tells without a fault.
                let mut old = [0; 8];
                user::read(at, &mut old).map_err(|_| absent)?;
                at
            }
        };
        let pointer = std::ptr::with_exposed_provenance_mut(usize::try_from(at).unwrap_or(0));
        // SAFETY: eight bytes that were just found readable, aligned; they are shared with the program, which uses
        // atomics on them too.
        Ok(change(unsafe { AtomicI64::from_ptr(pointer) }))
    }

    /// Stores a 64-bit word with release.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn store(&self, address: u64, value: u64) -> Result<(), Fault> {
        self.store_signed(address, i64::from_ne_bytes(value.to_ne_bytes()))
    }

    /// Stores a signed 64-bit word with release.
    ///
    /// # Errors
    ///
    /// [`Fault`].
    pub fn store_signed(&self, address: u64, value: i64) -> Result<(), Fault> {
        self.change(address, |word| {
            word.store(value, Ordering::Release);
            0
        })
        .map(drop)
    }
}
