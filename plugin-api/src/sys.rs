//! The system seam: every contact that a kernel-facing plugin has with the operating system.
//!
//! A driver takes an [`Arc<dyn System>`](System). The real one is [`LinuxSystem`]; a virtual kernel answers the
//! same calls in tests. Nothing is mocked higher than this.

use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::path::Path;

/// A system error number.
pub type Errno = rustix::io::Errno;

/// What a mapping may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapAccess {
    /// The process may read it.
    pub read: bool,
    /// The process may write it.
    pub write: bool,
    /// The process may execute it.
    pub execute: bool,
}

/// A file that [`System::open`] opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct File(pub i32);

/// The operating system, as a driver sees it.
pub trait System: Send + Sync + fmt::Debug {
    /// Opens a path for reading and writing (or only reading), closed on exec.
    ///
    /// # Errors
    ///
    /// The system's number.
    fn open(&self, path: &Path, write: bool) -> Result<File, Errno>;

    /// Closes a file.
    fn close(&self, file: File);

    /// Runs an ioctl on a file; once more when a signal interrupted it. Any other answer is the caller's, "try again"
    /// too, which with some requests is a lack of something.
    ///
    /// # Safety
    ///
    /// `argument` must point at what the request number `code` reads and writes.
    ///
    /// # Errors
    ///
    /// The system's number.
    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno>;

    /// Maps `bytes` of a file (or of nothing, when `file` is `None`) at an address, or anywhere when it is null.
    /// With an address the range there is replaced.
    ///
    /// # Safety
    ///
    /// A range that is replaced must not be in use.
    ///
    /// # Errors
    ///
    /// The system's number.
    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno>;

    /// Takes a range of addresses that nothing is mapped in, not accessible.
    ///
    /// # Errors
    ///
    /// [`Errno::EXIST`] when something is mapped there, and the system's number; [`Errno::NOSYS`] where a system does not
    /// have it.
    fn reserve_at(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        let _ = (address, bytes);
        Err(Errno::NOSYS)
    }

    /// Reserves `bytes` of addresses below `limit`, which nobody may use yet.
    ///
    /// # Errors
    ///
    /// The system's number.
    fn reserve_below(&self, limit: u64, bytes: usize) -> Result<*mut u8, Errno> {
        crate::low::reserve_below(limit, bytes).ok_or(Errno::NOMEM)
    }

    /// Unmaps a range.
    ///
    /// # Safety
    ///
    /// Nothing may use the range any more.
    ///
    /// # Errors
    ///
    /// The system's number.
    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno>;

    /// Waits until a file is readable, at most `timeout_ms` milliseconds (-1: for ever). Answers whether it is.
    ///
    /// # Errors
    ///
    /// The system's number.
    fn poll(&self, file: File, timeout_ms: i32) -> Result<bool, Errno>;

    /// Reads a whole small file.
    ///
    /// # Errors
    ///
    /// The system's number.
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno>;

    /// The names in a directory, sorted.
    ///
    /// # Errors
    ///
    /// The system's number.
    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno>;

    /// Whether the process has something mapped at every page of a range, which begins with one (`msync(2)` without any of
    /// its work).
    fn is_mapped(&self, address: *mut u8, bytes: usize) -> bool {
        // SAFETY: the call reads and writes nothing of the range.
        unsafe { libc::msync(address.cast(), bytes, libc::MS_ASYNC) == 0 }
    }

    /// Bytes of a page.
    fn page_size(&self) -> usize;
}

/// The operating system itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxSystem;

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl System for LinuxSystem {
    fn open(&self, path: &Path, write: bool) -> Result<File, Errno> {
        let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
        loop {
            match rustix::fs::open(path, access | OFlags::CLOEXEC, Mode::empty()) {
                Ok(file) => return Ok(File(file.into_raw_fd())),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn close(&self, file: File) {
        // SAFETY: the number came from `open`, and its owner closes it once.
        drop(unsafe { OwnedFd::from_raw_fd(file.0) });
    }

    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        loop {
            // SAFETY: the caller says that `argument` fits `code`.
            let result = unsafe { libc::ioctl(file.0, libc::c_ulong::from(code), argument) };
            if result >= 0 {
                return Ok(result);
            }
            match errno_of(&std::io::Error::last_os_error()) {
                Errno::INTR => {}
                error => return Err(error),
            }
        }
    }

    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno> {
        let mut protection = libc::PROT_NONE;
        for (wanted, bit) in [
            (access.read, libc::PROT_READ),
            (access.write, libc::PROT_WRITE),
            (access.execute, libc::PROT_EXEC),
        ] {
            if wanted {
                protection |= bit;
            }
        }
        let mut flags = if file.is_some() {
            libc::MAP_SHARED
        } else {
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS
        };
        if !address.is_null() {
            flags |= libc::MAP_FIXED;
        }
        // Device files use all 64 bits, the sign included.
        let offset: libc::off_t = libc::off_t::from_ne_bytes(offset.to_ne_bytes());
        // SAFETY: the caller says that a range that is replaced is not in use.
        let result = unsafe {
            libc::mmap(
                address.cast(),
                bytes,
                protection,
                flags,
                file.map_or(-1, |f| f.0),
                offset,
            )
        };
        if result == libc::MAP_FAILED {
            return Err(errno_of(&std::io::Error::last_os_error()));
        }
        Ok(result.cast())
    }

    fn reserve_at(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        // SAFETY: a new range; nothing is replaced.
        let made = unsafe {
            libc::mmap(
                address.cast(),
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        if made == libc::MAP_FAILED {
            return Err(errno_of(&std::io::Error::last_os_error()));
        }
        if made.addr() == address.addr() {
            return Ok(());
        }
        // Before Linux 4.17 the flag has no meaning, and the address is only a wish.
        // SAFETY: the range was just made.
        unsafe { self.munmap(made.cast(), bytes) }?;
        Err(Errno::EXIST)
    }

    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        // SAFETY: the caller says that nothing uses the range any more.
        unsafe { rustix::mm::munmap(address.cast(), bytes) }
    }

    fn poll(&self, file: File, timeout_ms: i32) -> Result<bool, Errno> {
        // SAFETY: the caller owns the file and keeps it open during the call.
        let borrowed = unsafe { BorrowedFd::borrow_raw(file.0) };
        let mut one = libc::pollfd {
            fd: borrowed.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one `pollfd` is passed.
        let ready = unsafe { libc::poll(&raw mut one, 1, timeout_ms) };
        if ready < 0 {
            return Err(errno_of(&std::io::Error::last_os_error()));
        }
        Ok(ready > 0)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        // Files of the kernel's are small and do not say how long they are.
        const FIRST: usize = 4 << 10;
        let file = loop {
            match rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
                Err(Errno::INTR) => {}
                opened => break opened?,
            }
        };
        let (mut bytes, mut length) = (vec![0; FIRST], 0);
        loop {
            match rustix::io::read(&file, &mut bytes[length..]) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            if length == bytes.len() {
                bytes.resize(2 * length, 0);
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path).map_err(|e| errno_of(&e))? {
            names.push(
                entry
                    .map_err(|e| errno_of(&e))?
                    .file_name()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        names.sort_unstable();
        Ok(names)
    }

    fn page_size(&self) -> usize {
        rustix::param::page_size()
    }
}
