//! Code object readers: where the bytes of a code object come from.
//!
//! A program hands over a pointer to bytes that stay its own and must outlive every executable they
//! are loaded into, or a file descriptor it may close at once. From a file the bytes are copied, so
//! that a file that changes or shrinks later cannot take the process down.

use std::fmt;
use std::fs::File;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, OnceLock};

use super::code_object::CodeObject;
use super::error::LoadError;
use super::uri::{self, MemoryUri};

/// Bytes that stay valid and in place as long as somebody holds them.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Why a file cannot be read as a code object.
#[derive(Debug, thiserror::Error)]
pub enum ReaderError {
    /// Not a regular file, or empty.
    #[error("File descriptor {fd} is not a non-empty regular file")]
    NotAFile {
        /// The file descriptor.
        fd: RawFd,
    },
    /// The kernel refused a system call.
    #[error("File descriptor {fd} cannot be read")]
    Unreadable {
        /// The file descriptor.
        fd: RawFd,
        /// Why.
        source: std::io::Error,
    },
    /// The part asked for is empty or not in the file.
    #[error("Bytes {offset} to {offset}+{size} are not a part of the file's {file_size} bytes")]
    Range {
        /// Begin of the part.
        offset: u64,
        /// Size of the part.
        size: u64,
        /// Size of the file.
        file_size: u64,
    },
    /// There is no memory for the file's contents.
    #[error("No memory for {size} bytes of a code object file")]
    OutOfMemory {
        /// Size of the part.
        size: u64,
    },
}

/// A source of code object bytes. Cheap to clone; clones share the bytes.
#[derive(Clone)]
pub struct CodeObjectReader {
    shared: Arc<Shared>,
}

struct Shared {
    bytes: SharedBytes,
    origin: Origin,
    uri: OnceLock<String>,
}

enum Origin {
    Memory(MemoryUri),
    File(RawFd),
}

impl CodeObjectReader {
    /// A reader of bytes in memory.
    #[must_use]
    pub fn from_memory(bytes: SharedBytes, uri: MemoryUri) -> Self {
        Self::new(bytes, Origin::Memory(uri), OnceLock::new())
    }

    /// A reader of a whole file. The position of the file descriptor does not matter.
    ///
    /// # Errors
    ///
    /// [`ReaderError`] if it is no regular file with contents, or not readable.
    pub fn from_file(fd: BorrowedFd<'_>) -> Result<Self, ReaderError> {
        let (file, size) = open(fd)?;
        Self::read(&file, fd.as_raw_fd(), 0, size, None)
    }

    /// A reader of a part of a file.
    ///
    /// # Errors
    ///
    /// As [`CodeObjectReader::from_file`], and [`ReaderError::Range`].
    pub fn from_file_part(fd: BorrowedFd<'_>, offset: u64, size: u64) -> Result<Self, ReaderError> {
        let (file, file_size) = open(fd)?;
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= file_size);
        if size == 0 || !is_inside {
            return Err(ReaderError::Range {
                offset,
                size,
                file_size,
            });
        }
        let part = (offset != 0 || size != file_size).then_some((offset, size));
        Self::read(&file, fd.as_raw_fd(), offset, size, part)
    }

    fn read(
        file: &File,
        fd: RawFd,
        offset: u64,
        size: u64,
        part: Option<(u64, u64)>,
    ) -> Result<Self, ReaderError> {
        let mut bytes = Vec::new();
        let count = usize::try_from(size).map_err(|_| ReaderError::OutOfMemory { size })?;
        bytes
            .try_reserve_exact(count)
            .map_err(|_| ReaderError::OutOfMemory { size })?;
        bytes.resize(count, 0);
        let unreadable = |source| ReaderError::Unreadable { fd, source };
        file.read_exact_at(&mut bytes, offset).map_err(unreadable)?;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(unreadable)?;
        let uri = uri::file(path.as_os_str().as_bytes(), part);
        Ok(Self::new(Arc::new(bytes), Origin::File(fd), OnceLock::from(uri)))
    }

    fn new(bytes: SharedBytes, origin: Origin, uri: OnceLock<String>) -> Self {
        Self {
            shared: Arc::new(Shared { bytes, origin, uri }),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        (*self.shared.bytes).as_ref()
    }

    /// The address of the bytes in this process.
    #[must_use]
    pub fn address(&self) -> u64 {
        address_of(self.bytes())
    }

    /// The number of bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.bytes().len()).unwrap_or(u64::MAX)
    }

    /// The file descriptor the bytes were read from, as the program numbered it. It may have been
    /// closed since.
    #[must_use]
    pub fn file(&self) -> Option<RawFd> {
        match self.shared.origin {
            Origin::File(fd) => Some(fd),
            Origin::Memory(_) => None,
        }
    }

    /// The name a debugger finds the bytes by.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.shared.uri.get_or_init(|| {
            let which = match self.shared.origin {
                Origin::Memory(which) => which,
                Origin::File(_) => MemoryUri::default(),
            };
            // Without /proc the bytes are simply in memory.
            let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
            uri::mapped(&maps, std::process::id(), self.address(), self.size(), which)
        })
    }

    /// The code object.
    ///
    /// # Errors
    ///
    /// See [`CodeObject::parse`].
    pub fn parse(&self) -> Result<CodeObject<'_>, LoadError> {
        CodeObject::parse(self.bytes())
    }
}

impl fmt::Debug for CodeObjectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeObjectReader")
            .field("address", &format_args!("{:#x}", self.address()))
            .field("size", &self.size())
            .field("file", &self.file())
            .finish()
    }
}

/// Where bytes are in this process.
pub(super) fn address_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.as_ptr().addr()).unwrap_or(u64::MAX)
}

fn open(fd: BorrowedFd<'_>) -> Result<(File, u64), ReaderError> {
    let number = fd.as_raw_fd();
    let unreadable = |source| ReaderError::Unreadable { fd: number, source };
    let file = File::from(fd.try_clone_to_owned().map_err(unreadable)?);
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_file() && metadata.len() > 0 {
        Ok((file, metadata.len()))
    } else {
        Err(ReaderError::NotAFile { fd: number })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};
    use std::os::fd::AsFd as _;
    use std::path::PathBuf;

    use super::*;

    /// A file that removes itself.
    struct Scratch {
        path: PathBuf,
        file: File,
    }

    impl Scratch {
        fn new(name: &str, contents: &[u8]) -> Self {
            let name = format!("hansa reader {} {name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let mut file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
                .expect("a scratch file");
            file.write_all(contents).expect("the file takes bytes");
            Self { path, file }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.path));
        }
    }

    #[test]
    fn a_file_is_read_whole_whatever_its_position_and_survives_truncation() {
        let mut scratch = Scratch::new("whole", b"0123456789");
        scratch.file.seek(SeekFrom::End(0)).expect("a file can seek");
        let reader = CodeObjectReader::from_file(scratch.file.as_fd()).expect("a file");
        scratch.file.set_len(0).expect("a file can shrink");
        assert_eq!(reader.bytes(), b"0123456789");
        assert_eq!(reader.file(), Some(scratch.file.as_raw_fd()));
        let path = scratch.path.to_str().expect("an ASCII path").replace(' ', "%20");
        assert_eq!(reader.uri(), format!("file://{path}"));
    }

    #[test]
    fn a_part_of_a_file_has_a_fragment_unless_it_is_all_of_it() {
        let scratch = Scratch::new("part", b"0123456789");
        let part = |offset, size| CodeObjectReader::from_file_part(scratch.file.as_fd(), offset, size);
        let middle = part(3, 4).expect("a part");
        assert_eq!(middle.bytes(), b"3456");
        assert!(middle.uri().ends_with("part#offset=3&size=4"), "{}", middle.uri());
        assert!(part(0, 10).expect("all").uri().ends_with("part"));
        for (offset, size) in [(0, 0), (0, 11), (10, 1), (u64::MAX, 2)] {
            let error = part(offset, size).expect_err("outside of the file");
            assert!(
                matches!(error, ReaderError::Range { file_size: 10, .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_no_readable_regular_file_is_refused() {
        let empty = Scratch::new("empty", b"");
        let directory = File::open("/tmp").expect("a directory opens");
        let null = File::open("/dev/null").expect("a device opens");
        for file in [&empty.file, &directory, &null] {
            let error = CodeObjectReader::from_file(file.as_fd()).expect_err("no regular file");
            assert!(matches!(error, ReaderError::NotAFile { .. }), "{error}");
        }
        let scratch = Scratch::new("write-only", b"0123456789");
        let write_only = File::options()
            .write(true)
            .open(&scratch.path)
            .expect("it exists");
        let error = CodeObjectReader::from_file(write_only.as_fd()).expect_err("not readable");
        assert!(matches!(error, ReaderError::Unreadable { .. }), "{error}");
    }

    #[test]
    fn bytes_in_memory_are_named_by_their_address() {
        let reader = CodeObjectReader::from_memory(Arc::new(vec![7; 40]), MemoryUri::AnyMapping);
        let (pid, address) = (std::process::id(), reader.address());
        assert_eq!(
            reader.uri(),
            format!("memory://{pid}#offset={address:#x}&size=40")
        );
        assert_eq!(reader.file(), None);
    }

    #[test]
    fn bytes_of_this_test_program_are_named_by_its_file() {
        static EMBEDDED: [u8; 64] = *b"a code object would be here, in the read-only data of a program.";
        let bytes: &'static [u8] = &EMBEDDED;
        let reader = CodeObjectReader::from_memory(Arc::new(bytes), MemoryUri::LoadedObjects);
        let (file, part) = reader.uri().split_once("#offset=").expect("a part of a file");
        let (offset, size) = part.split_once("&size=").expect("a size");
        assert_eq!(size, "64");
        let path = std::env::current_exe().expect("a program");
        assert_eq!(file, uri::file(path.as_os_str().as_bytes(), None));
        let contents = std::fs::read(path).expect("the program can be read");
        let offset: usize = offset.parse().expect("a number");
        assert_eq!(contents[offset..offset + 64], EMBEDDED);
    }
}
