//! Device files: one real, sparse memory file for each device.
//!
//! A program that opened a device maps parts of it; when the file descriptor is that of a memory file with the
//! right bytes at the right offsets, `mmap`, `munmap`, `close`, `dup` and `fork` need no help. A descriptor is
//! recognised by the file behind it, as programs duplicate descriptors.

use crate::Errno;

/// Bytes of a device file: enough for every offset that is given out.
const FILE_BYTES: i64 = 1 << 46;
/// Every buffer starts at a multiple of this, so that large pages line up.
const STEP: u64 = 2 << 20;

/// A device's file.
#[derive(Debug)]
pub struct DeviceFile {
    fd: i32,
    inode: u64,
    next: u64,
    free: Vec<(u64, u64)>,
}

fn last() -> Errno {
    std::io::Error::last_os_error()
        .raw_os_error()
        .map_or(Errno::IO, Errno::from_raw_os_error)
}

/// The file behind a descriptor.
pub fn inode(fd: i32) -> Option<u64> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // The system call itself, as the preload face stands in for `fstat`.
    // SAFETY: the structure has room for the answer.
    let result = unsafe { libc::syscall(libc::SYS_fstat, fd, stat.as_mut_ptr()) };
    // SAFETY: on success the system filled it in.
    (result == 0).then(|| unsafe { stat.assume_init() }.st_ino)
}

/// Reads the beginning of a file.
///
/// # Errors
///
/// The system's number; [`Errno::BADF`] for a file that is shorter.
pub fn read_at(fd: i32, into: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: the buffer is the slice.
    let done = unsafe { libc::pread(fd, into.as_mut_ptr().cast(), into.len(), 0) };
    if usize::try_from(done) == Ok(into.len()) {
        Ok(())
    } else {
        Err(Errno::BADF)
    }
}

impl DeviceFile {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn new(name: &std::ffi::CStr) -> Result<Self, Errno> {
        // SAFETY: the name is a string.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(last());
        }
        let mut file = Self::of(fd)?;
        // Offsets are never 0, which means "none" to some programs.
        file.next = STEP;
        // SAFETY: the descriptor was just made.
        if unsafe { libc::ftruncate(fd, FILE_BYTES) } != 0 {
            return Err(last());
        }
        Ok(file)
    }

    /// The file of a descriptor, which it takes.
    fn of(fd: i32) -> Result<Self, Errno> {
        let mut file = Self {
            fd,
            inode: 0,
            next: 0,
            free: Vec::new(),
        };
        file.inode = inode(fd).ok_or(Errno::IO)?;
        Ok(file)
    }

    /// A file that another process has open under a number.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn of_process(process: u64, number: u64) -> Result<Self, Errno> {
        let path =
            std::ffi::CString::new(format!("/proc/{process}/fd/{number}")).map_err(|_| Errno::INVAL)?;
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        // The system call itself, as the preload face stands in for `open`.
        // SAFETY: the path is a string.
        let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) };
        let fd = i32::try_from(fd).map_err(|_| Errno::MFILE)?;
        if fd < 0 {
            return Err(last());
        }
        Self::of(fd)
    }

    /// The descriptor that it has itself.
    #[must_use]
    pub const fn descriptor(&self) -> i32 {
        self.fd
    }

    /// Writes its beginning.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the buffer is the slice.
        let done = unsafe { libc::pwrite(self.fd, bytes.as_ptr().cast(), bytes.len(), 0) };
        if usize::try_from(done) == Ok(bytes.len()) {
            Ok(())
        } else {
            Err(last())
        }
    }

    /// Whether a descriptor is of this file.
    #[must_use]
    pub const fn is(&self, inode: u64) -> bool {
        self.inode == inode
    }

    /// A new descriptor.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn open(&self, close_on_exec: bool) -> Result<i32, Errno> {
        let command = if close_on_exec {
            libc::F_DUPFD_CLOEXEC
        } else {
            libc::F_DUPFD
        };
        // SAFETY: the descriptor is this object's. Number 0 means "none" to some programs.
        let fd = unsafe { libc::fcntl(self.fd, command, 1) };
        if fd < 0 {
            return Err(last());
        }
        Ok(fd)
    }

    /// Takes a part of the file.
    ///
    /// # Errors
    ///
    /// [`Errno::NOMEM`] when the file has no room for it.
    pub fn take(&mut self, bytes: u64) -> Result<u64, Errno> {
        let whole = bytes.checked_next_multiple_of(STEP).ok_or(Errno::NOMEM)?;
        if let Some(index) = self.free.iter().position(|(_, room)| *room == whole) {
            return Ok(self.free.swap_remove(index).0);
        }
        let at = self.next;
        let end = at
            .checked_add(whole)
            .filter(|end| *end <= FILE_BYTES.unsigned_abs());
        self.next = end.ok_or(Errno::NOMEM)?;
        Ok(at)
    }

    /// Gives a part back; its pages are gone.
    pub fn give_back(&mut self, offset: u64, bytes: u64) {
        let whole = bytes.next_multiple_of(STEP);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        let (at, length) = (
            i64::try_from(offset).unwrap_or(i64::MAX),
            i64::try_from(whole).unwrap_or(0),
        );
        // SAFETY: the descriptor is this object's. A refusal leaves old contents, as real memory may.
        unsafe { libc::fallocate(self.fd, mode, at, length) };
        self.free.push((offset, whole));
    }

    /// Maps a part at an address of the process that is reserved for it.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn put(&self, address: u64, offset: u64, bytes: u64) -> Result<(), Errno> {
        let length = usize::try_from(bytes).map_err(|_| Errno::NOMEM)?;
        let at = i64::try_from(offset).map_err(|_| Errno::INVAL)?;
        let place =
            std::ptr::with_exposed_provenance_mut(usize::try_from(address).map_err(|_| Errno::INVAL)?);
        // SAFETY: the program reserved the range for this buffer and mapped nothing there that can be accessed.
        let made = unsafe {
            libc::mmap(
                place,
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE,
                self.fd,
                at,
            )
        };
        if made == libc::MAP_FAILED {
            return Err(last());
        }
        Ok(())
    }

    /// Maps a part for the device's side.
    ///
    /// # Errors
    ///
    /// The system's number.
    pub fn view(&self, offset: u64, bytes: u64) -> Result<View, Errno> {
        let length = usize::try_from(bytes).map_err(|_| Errno::NOMEM)?;
        let at = i64::try_from(offset).map_err(|_| Errno::INVAL)?;
        // SAFETY: a new mapping that nothing uses yet.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                self.fd,
                at,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(last());
        }
        Ok(View {
            address: address.expose_provenance() as u64,
            bytes: length,
        })
    }
}

impl Drop for DeviceFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this object's.
        unsafe { libc::close(self.fd) };
    }
}

/// A part of a device file, as the device's side sees it.
#[derive(Debug)]
pub struct View {
    /// First address.
    pub address: u64,
    bytes: usize,
}

impl Drop for View {
    fn drop(&mut self) {
        let address = std::ptr::with_exposed_provenance_mut(usize::try_from(self.address).unwrap_or(0));
        // SAFETY: the mapping is this object's.
        unsafe { libc::munmap(address, self.bytes) };
    }
}
