//! Memory with a file descriptor (`memfd_create(2)`): pages that can be mapped at several addresses and in several
//! processes, and that are gone with the last descriptor and mapping.
//!
//! The size is sealed before anything is mapped, here and when a file comes from another process: a file that could
//! shrink would make every access to its pages a possible SIGBUS.

use crate::error::{Error, Result};
use crate::memory::host::page_bytes;
use rustix::fs::{
    fallocate, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create, readlink, FallocateFlags,
    MemfdFlags, SealFlags,
};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Where the kernel says what a descriptor of a memory file was named.
const NAMED: &str = "/memfd:";
const DELETED: &str = " (deleted)";

/// A memory file of a size that does not change.
#[derive(Debug)]
pub struct MemoryFile {
    descriptor: OwnedFd,
    bytes: u64,
}

impl MemoryFile {
    /// Makes zeroed memory, committed when it is touched. The name is for `/proc` and for [`Self::name`].
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system has no descriptor or no memory.
    pub fn new(name: &str, bytes: u64) -> Result<Self> {
        let gone = |_| Error::OutOfResources("memory that can be shared");
        let sealable = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let descriptor = memfd_create(name, sealable | MemfdFlags::NOEXEC_SEAL)
            // Systems before Linux 6.3 do not know the flag.
            .or_else(|_| memfd_create(name, sealable))
            .map_err(gone)?;
        ftruncate(&descriptor, bytes).map_err(gone)?;
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).map_err(gone)?;
        Ok(Self { descriptor, bytes })
    }

    /// The memory behind anybody's descriptor; `None` unless it is a memory file of whole pages that cannot shrink.
    #[must_use]
    pub fn of(descriptor: OwnedFd) -> Option<Self> {
        if !fcntl_get_seals(&descriptor).ok()?.contains(SealFlags::SHRINK) {
            return None;
        }
        let bytes = u64::try_from(fstat(&descriptor).ok()?.st_size).ok()?;
        (bytes != 0 && bytes % page_bytes() as u64 == 0).then_some(Self { descriptor, bytes })
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The name it was made with; `None` for a descriptor of another kind.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        let link = format!("/proc/self/fd/{}", self.descriptor.as_raw_fd());
        let target = readlink(link, Vec::new()).ok()?.into_string().ok()?;
        Some(target.strip_prefix(NAMED)?.strip_suffix(DELETED)?.to_owned())
    }

    /// What tells it from every other file: device and number.
    #[must_use]
    pub fn identity(&self) -> Option<(u64, u64)> {
        let file = fstat(&self.descriptor).ok()?;
        Some((file.st_dev, file.st_ino))
    }

    /// One more descriptor of it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system has none.
    pub fn duplicate(&self) -> Result<OwnedFd> {
        self.descriptor
            .try_clone()
            .map_err(|_| Error::OutOfResources("a file descriptor"))
    }

    /// Maps it over whatever is at an address.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system refuses.
    ///
    /// # Safety
    ///
    /// The range of `bytes` at the address is the caller's to replace.
    pub unsafe fn map_over(&self, address: usize, bytes: u64, protection: ProtFlags) -> Result<()> {
        let refused = || Error::OutOfResources("a mapping of memory that can be shared");
        let bytes = usize::try_from(bytes.min(self.bytes)).map_err(|_| refused())?;
        let place = std::ptr::with_exposed_provenance_mut(address);
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: the caller says that the range may be replaced.
        let mapped = unsafe { mmap(place, bytes, protection, flags, &self.descriptor, 0) };
        mapped.map(drop).map_err(|_| refused())
    }

    /// Drops the contents of a range: it reads as zero everywhere, and whole pages of it take no memory until they are
    /// written.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system refuses.
    pub fn discard(&self, offset: u64, bytes: u64) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.descriptor, flags, offset, bytes)
            .map_err(|_| Error::OutOfResources("dropping the contents of memory"))
    }
}

impl AsFd for MemoryFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl From<MemoryFile> for OwnedFd {
    fn from(file: MemoryFile) -> Self {
        file.descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_ours_is_taken_with_its_name_and_size() {
        let file = MemoryFile::new("hansa-test", 8192).unwrap();
        let identity = file.identity();
        let again = MemoryFile::of(file.duplicate().unwrap()).unwrap();
        assert_eq!(again.bytes(), 8192);
        assert_eq!(again.name().as_deref(), Some("hansa-test"));
        assert_eq!(again.identity(), identity);
        assert!(ftruncate(&again.descriptor, 4096).is_err());
    }

    #[test]
    fn what_could_shrink_or_is_no_memory_is_refused() {
        let open = memfd_create("open", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&open, 4096).unwrap();
        assert!(MemoryFile::of(open).is_none());
        let disk = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(MemoryFile::of(disk.into()).is_none());
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(MemoryFile::of(null.into()).is_none());
        let odd = MemoryFile::new("odd", 100).unwrap();
        assert!(MemoryFile::of(odd.into()).is_none());
    }
}
