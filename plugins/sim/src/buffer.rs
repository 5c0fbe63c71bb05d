//! Buffers: device memory with a file descriptor, for other processes, drivers and interfaces.
//!
//! A buffer is a memory file (`memfd_create(2)`) or what the kernel calls a dma-buf. Its pages live as long as a
//! descriptor or a mapping of them, in whatever process, and leave nothing behind when the last one ends.
//! The size of our own files is sealed, and so must that of a file from elsewhere be: one that can shrink would make
//! every access to it a possible SIGBUS. (The runtime knows memory files of its own; a plugin sees none of them.)

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of this process fit its pointers"
)]

use crate::config::page;
use hansa_plugin_api::{Error, ErrorCode};
use rustix::fs::{
    fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create, readlink, seek, MemfdFlags, SealFlags,
    SeekFrom,
};
use rustix::io::{pwrite, Errno};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;

/// How the kernel names a descriptor of a dma-buf.
const DMA_BUF: &[u8] = b"/dmabuf:";

/// Memory with a file descriptor.
#[derive(Debug)]
pub(crate) struct Buffer {
    file: OwnedFd,
    bytes: u64,
}

fn refused(errno: Errno, what: &str, place: &str) -> Error {
    let errno = errno.raw_os_error();
    if [libc::ENOMEM, libc::ENOSPC, libc::EMFILE, libc::ENFILE].contains(&errno) {
        let message = format!("There is no {what} left: system error {errno} of {place}");
        return Error::new(ErrorCode::OUT_OF_RESOURCES, message);
    }
    Error::os(errno, format!("The system gives no {what}"), place)
}

fn no_buffer(why: &str) -> Error {
    let message = format!("The descriptor is that of no buffer: {why}");
    Error::new(ErrorCode::INVALID_ARGUMENT, message)
}

impl Buffer {
    /// Zeroed memory, committed when it is touched.
    pub(crate) fn new(bytes: u64) -> Result<Self, Error> {
        let no_file = |errno| refused(errno, "memory that can be shared", "memfd_create");
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("hansa-sim", flags | MemfdFlags::NOEXEC_SEAL)
            // Systems before Linux 6.3 do not know the flag.
            .or_else(|_| memfd_create("hansa-sim", flags))
            .map_err(no_file)?;
        ftruncate(&file, bytes).map_err(no_file)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).map_err(no_file)?;
        Ok(Self { file, bytes })
    }

    /// The memory behind anybody's descriptor, which stays theirs.
    pub(crate) fn of(descriptor: i32) -> Result<Self, Error> {
        if descriptor < 0 {
            return Err(no_buffer("it is negative"));
        }
        // SAFETY: it is borrowed for one system call, which says so if it is not open.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) }
            .try_clone_to_owned()
            .map_err(|error| no_buffer(&error.to_string()))?;
        let sealed = fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed && !is_dma_buf(&file) {
            return Err(no_buffer(
                "it is no dma-buf, and no memory file that cannot shrink",
            ));
        }
        let bytes = seek(&file, SeekFrom::End(0)).map_err(|errno| no_buffer(&errno.to_string()))?;
        if bytes == 0 || bytes % page() != 0 {
            return Err(no_buffer(&format!("{bytes} bytes are not whole pages")));
        }
        Ok(Self { file, bytes })
    }

    /// Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// One more descriptor of it.
    pub(crate) fn descriptor(&self) -> Result<OwnedFd, Error> {
        self.file.try_clone().map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::MFILE);
            refused(errno, "file descriptor", "fcntl")
        })
    }

    /// Writes its first bytes; pages of zeroes stay uncommitted.
    pub(crate) fn fill(&self, contents: &[u8]) -> Result<(), Error> {
        let page = page() as usize;
        let zeroes = vec![0; page];
        let is_zero = |index: usize| {
            let bytes = &contents[index * page..contents.len().min((index + 1) * page)];
            bytes == &zeroes[..bytes.len()]
        };
        let pages = contents.len().div_ceil(page);
        let mut next = 0;
        while next < pages {
            if is_zero(next) {
                next += 1;
                continue;
            }
            let first = next;
            while next < pages && !is_zero(next) {
                next += 1;
            }
            self.write(contents, first * page, contents.len().min(next * page))?;
        }
        Ok(())
    }

    fn write(&self, contents: &[u8], start: usize, end: usize) -> Result<(), Error> {
        let mut at = start;
        while at < end {
            match pwrite(&self.file, &contents[at..end], at as u64) {
                Ok(0) => return Err(refused(Errno::NOSPC, "memory that can be shared", "pwrite")),
                Ok(written) => at += written,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(refused(errno, "memory that can be shared", "pwrite")),
            }
        }
        Ok(())
    }

    /// Maps a part of it over whatever is at an address.
    ///
    /// # Safety
    ///
    /// The range at the address is the caller's to replace.
    pub(crate) unsafe fn map_over(&self, address: u64, offset: u64, bytes: u64) -> Result<(), Error> {
        let place = ptr::with_exposed_provenance_mut(address as usize);
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE;
        let usable = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the caller says that the range may be replaced.
        unsafe { mmap(place, bytes as usize, usable, flags, &self.file, offset) }
            .map(drop)
            .map_err(|errno| refused(errno, "mapping of shared memory", "mmap"))
    }

    /// Bytes of memory that it takes.
    #[cfg(test)]
    pub(crate) fn committed(&self) -> i64 {
        rustix::fs::fstat(&self.file).unwrap().st_blocks * 512
    }
}

fn is_dma_buf(file: &OwnedFd) -> bool {
    readlink(format!("/proc/self/fd/{}", file.as_raw_fd()), Vec::new())
        .is_ok_and(|target| target.as_bytes().starts_with(DMA_BUF))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Pages;

    #[test]
    fn a_descriptor_leads_to_the_same_memory() {
        let buffer = Buffer::new(3 * page()).unwrap();
        let mut contents = vec![0; 3 * page() as usize];
        contents[2 * page() as usize + 5] = 9;
        buffer.fill(&contents).unwrap();
        assert!(buffer.committed() <= page().cast_signed());
        let descriptor = buffer.descriptor().unwrap();
        drop(buffer);
        let again = Buffer::of(descriptor.as_raw_fd()).unwrap();
        assert_eq!(again.bytes(), 3 * page());
        let pages = Pages::of(&again, page(), 2 * page()).unwrap();
        // SAFETY: inside the pages.
        let byte = unsafe { *ptr::with_exposed_provenance::<u8>((pages.address() + page() + 5) as usize) };
        assert_eq!(byte, 9);
    }

    #[test]
    fn a_descriptor_of_anything_else_is_refused() {
        let open = memfd_create("open", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&open, page()).unwrap();
        let disk = std::fs::File::open("/proc/self/exe").unwrap();
        let odd = Buffer::new(100).unwrap();
        for descriptor in [
            open.as_raw_fd(),
            disk.as_raw_fd(),
            odd.file.as_raw_fd(),
            -1,
            i32::MAX,
        ] {
            let error = Buffer::of(descriptor).unwrap_err();
            assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT, "{error}");
        }
    }
}
