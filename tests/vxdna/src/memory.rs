//! Memory files: what stands behind buffers.

use hansa_plugin_api::sys::{Errno, File as SystemFile};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};

/// A memory file. Mappings of it and the device's accesses are of the same pages.
#[derive(Debug)]
pub(crate) struct Memory {
    file: File,
    pub(crate) bytes: u64,
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

impl Memory {
    /// Zeroed memory.
    pub(crate) fn new(bytes: u64) -> Result<Self, Errno> {
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::memfd_create(c"vxdna".as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(errno(&std::io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just made, for this.
        let file = unsafe { File::from_raw_fd(fd) };
        file.set_len(bytes).map_err(|error| errno(&error))?;
        Ok(Self { file, bytes })
    }

    /// The memory behind a file descriptor of another owner.
    pub(crate) fn of_fd(fd: i32) -> Result<Self, Errno> {
        // SAFETY: whether it is open the call finds out.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
        if copy < 0 {
            return Err(Errno::BADF);
        }
        // SAFETY: the descriptor was just made, for this.
        let file = unsafe { File::from_raw_fd(copy) };
        let bytes = file.metadata().map_err(|error| errno(&error))?.len();
        Ok(Self { file, bytes })
    }

    /// A new file descriptor of it, for somebody who closes it.
    pub(crate) fn export(&self) -> Result<i32, Errno> {
        Ok(self
            .file
            .try_clone()
            .map_err(|error| errno(&error))?
            .into_raw_fd())
    }

    /// A number that no other memory has.
    pub(crate) fn identity(&self) -> u64 {
        self.file.metadata().map_or(0, |facts| facts.ino())
    }

    /// The file, to be mapped.
    pub(crate) fn system_file(&self) -> SystemFile {
        SystemFile(self.file.as_raw_fd())
    }

    /// Reads.
    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        self.file
            .read_exact_at(bytes, offset)
            .map_err(|error| errno(&error))
    }

    /// Writes, inside of what there is.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        if offset + bytes.len() as u64 > self.bytes {
            return Err(Errno::FAULT);
        }
        self.file
            .write_all_at(bytes, offset)
            .map_err(|error| errno(&error))
    }

    /// Reads words.
    pub(crate) fn words(&self, offset: u64, count: usize) -> Result<Vec<u32>, Errno> {
        let mut bytes = vec![0; count * 4];
        self.read(offset, &mut bytes)?;
        Ok(words_of(&bytes))
    }
}

/// Little-endian words.
pub(crate) fn words_of(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Little-endian bytes.
pub(crate) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
