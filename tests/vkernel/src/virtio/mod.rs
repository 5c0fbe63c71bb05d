//! A virtual machine with virtio-gpu: the guest's kernel, and a host with AMD's compute driver behind it.
//!
//! [`Guest`] is the system of a driver in the guest. It answers the requests of virtio-gpu's render node, and its host stands
//! on a [`Kernel`] of this crate: what the guest's driver asks for in messages becomes requests on the virtual `/dev/kfd`,
//! and kernels run behind its queues. Guest and host share memory only as they would, through files that are mapped.
//!
//! It is as strict as the kernel beside it: a request or message that it does not know is remembered in
//! [`Kernel::complaints`]. [`Kernel::faults`] has the names of the guest's requests (`EXECBUFFER`,
//! `RESOURCE_CREATE_BLOB`, ..., `mmap virtio`, `mmap nothing`, `reserve`) and of messages (`host MEMORY_ALLOC`, ...), beside
//! those of the host's own. [`Guest::lie`] changes what the host answers.
//!
//! | module | what it is |
//! |---|---|
//! | `requests` | the guest's kernel: contexts and resources |
//! | `host`, `answers` | the host's side of a context |
//! | `library` | the host's library over the virtual `/dev/kfd` |

mod answers;
mod host;
pub mod library;
mod requests;

pub use host::UserMemory;

use crate::files::inode;
use crate::kernel::{Kernel, Options};
use crate::Errno;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{File, LinuxSystem, MapAccess, System};
use requests::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What the virtual machine is like.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Render nodes: minor number and the name of the driver.
    pub nodes: Vec<(u32, &'static str)>,
    /// Parameters of virtio-gpu, by number.
    pub parameters: BTreeMap<u64, u64>,
    /// The capability set: format, version, kind of context.
    pub capset: [u32; 6],
    /// How the guest's own memory is had.
    pub user_memory: UserMemory,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            nodes: vec![(128, "virtio_gpu")],
            parameters: BTreeMap::from([(3, 1), (4, 1), (6, 1), (7, 1 << 8 | 1 << 6)]),
            capset: [0, 1, 17, 0, 1, 0],
            user_memory: UserMemory::Same,
        }
    }
}

/// A change of what the host answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// 32 bits at an offset of the answer.
    Word(usize, u32),
    /// 64 bits at an offset of the answer.
    Long(usize, u64),
    /// The answer stops after so many bytes, and says so.
    Length(u32),
    /// The sequence number is off by so many.
    Sequence(i32),
    /// The sequence number and the answer are not written.
    Silence,
    /// There is no fence.
    NoFence,
    /// A word of the shared block: index and value.
    Shared(usize, u32),
}

/// The guest's system.
#[derive(Debug)]
pub struct Guest {
    kernel: Arc<Kernel>,
    /// The process whose guest it is.
    owner: u32,
    shape: Shape,
    contexts: Mutex<BTreeMap<i32, Context>>,
    /// Files of nodes and fences that are open; of nodes with the place in the list.
    open: Mutex<BTreeMap<i32, usize>>,
    fences: Mutex<BTreeSet<i32>>,
    lies: Mutex<Vec<(String, Lie)>>,
    mapped: Mutex<BTreeMap<usize, usize>>,
}

/// Addresses of contexts: guests of one process must not get in each other's way.
static BASES: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
/// The first of them, above every heap.
const FIRST_BASE: u64 = 0x6000_0000_0000;

/// The addresses of a context, which another one has when it is gone.
#[derive(Debug)]
struct Base(u64);

impl Base {
    fn new() -> Self {
        let mut bases = BASES.lock();
        let mut base = FIRST_BASE;
        while !bases.insert(base) {
            base += host::ADDRESSES;
        }
        Self(base)
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        BASES.lock().remove(&self.0);
    }
}

impl Guest {
    /// A guest of a host whose kernel is this one. Its options must have [`crate::Encoding::File`].
    #[must_use]
    pub fn new(kernel: Arc<Kernel>, shape: Shape) -> Arc<Self> {
        Arc::new(Self {
            kernel,
            owner: std::process::id(),
            shape,
            contexts: Mutex::default(),
            open: Mutex::default(),
            fences: Mutex::default(),
            lies: Mutex::default(),
            mapped: Mutex::default(),
        })
    }

    /// Options of a kernel that a host can stand on.
    #[must_use]
    pub fn host_options() -> Options {
        Options {
            encoding: crate::Encoding::File,
            ..Options::default()
        }
    }

    /// The host's kernel.
    #[must_use]
    pub const fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Lets the host's next answer to a command be another one.
    pub fn lie(&self, command: impl Into<String>, lie: Lie) {
        self.lies.lock().push((command.into(), lie));
    }

    /// Lies that were not told yet.
    #[must_use]
    pub fn lies_left(&self) -> usize {
        self.lies.lock().len()
    }

    /// Open files of nodes, resources, objects that no resource was made of, and bytes that are mapped.
    #[must_use]
    pub fn books(&self) -> GuestBooks {
        let contexts = self.contexts.lock();
        GuestBooks {
            files: self.open.lock().len() + self.fences.lock().len(),
            resources: contexts.values().map(Context::resources).sum(),
            filed: contexts.values().map(Context::filed).sum(),
            mapped: self.mapped.lock().values().sum(),
        }
    }

    fn lies_about(&self, command: &str) -> Vec<Lie> {
        let mut lies = self.lies.lock();
        let told = lies
            .iter()
            .filter(|(of, _)| of == command)
            .map(|(_, lie)| *lie)
            .collect();
        lies.retain(|(of, _)| of != command);
        told
    }

    fn forget(&self, address: usize, bytes: usize) {
        let end = address + bytes;
        let mut mapped = self.mapped.lock();
        let inside: Vec<(usize, usize)> = mapped
            .range(..end)
            .filter(|(start, length)| *start + **length > address)
            .map(|(start, length)| (*start, *length))
            .collect();
        for (start, length) in inside {
            mapped.remove(&start);
            if start < address {
                mapped.insert(start, address - start);
            }
            if start + length > end {
                mapped.insert(end, start + length - end);
            }
        }
    }
}

/// What a guest's driver has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestBooks {
    /// Files of nodes and fences.
    pub files: usize,
    /// Resources.
    pub resources: usize,
    /// Objects of the host that no resource was made of.
    pub filed: usize,
    /// Bytes that are mapped, reserved ones among them.
    pub mapped: usize,
}

impl System for Guest {
    fn open(&self, path: &Path, _write: bool) -> Result<File, Errno> {
        self.kernel.faults.check(&format!("open {}", path.display()))?;
        let number = path
            .to_str()
            .and_then(|path| path.strip_prefix("/dev/dri/renderD"))
            .and_then(|minor| minor.parse::<u32>().ok());
        let node = number
            .and_then(|minor| self.shape.nodes.iter().position(|(of, _)| *of == minor))
            .ok_or(Errno::NOENT)?;
        // SAFETY: the name is a string.
        let fd = unsafe { libc::memfd_create(c"vkernel-virtio".as_ptr(), libc::MFD_CLOEXEC) };
        if inode(fd).is_none() {
            return Err(Errno::MFILE);
        }
        self.open.lock().insert(fd, node);
        Ok(File(fd))
    }

    fn close(&self, file: File) {
        if self.owner != std::process::id() {
            // What a file is of lives on in the parent.
            LinuxSystem.close(file);
            return;
        }
        let known = self.open.lock().remove(&file.0).is_some() || self.fences.lock().remove(&file.0);
        if !known {
            self.kernel
                .complain(format!("close of file {} that is not open", file.0));
            return;
        }
        let ended = self.contexts.lock().remove(&file.0);
        drop(ended);
        LinuxSystem.close(file);
    }

    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        let at = argument.expose_provenance() as u64;
        self.request(file.0, code, at)
    }

    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno> {
        let name = if file.is_some() {
            "mmap virtio"
        } else {
            "mmap nothing"
        };
        self.kernel.faults.check(name)?;
        let (file, offset) = match file {
            None => (None, 0),
            Some(file) => {
                let placed = self.place(file.0, offset, bytes as u64)?;
                (Some(placed.file), placed.offset)
            }
        };
        // SAFETY: the caller says that a range that is replaced is not in use.
        let made = unsafe { LinuxSystem.mmap(address, bytes, access, file, offset) }?;
        self.forget(made.addr(), bytes);
        self.mapped.lock().insert(made.addr(), bytes);
        Ok(made)
    }

    fn reserve_at(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        self.kernel.faults.check("reserve")?;
        LinuxSystem.reserve_at(address, bytes)?;
        self.mapped.lock().insert(address.addr(), bytes);
        Ok(())
    }

    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        // SAFETY: the caller says that nothing uses the range any more.
        unsafe { LinuxSystem.munmap(address, bytes) }?;
        self.forget(address.addr(), bytes);
        Ok(())
    }

    fn poll(&self, file: File, timeout_ms: i32) -> Result<bool, Errno> {
        self.kernel.faults.check("poll")?;
        LinuxSystem.poll(file, timeout_ms)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        match path.to_str() {
            Some("/proc/self/maps") => LinuxSystem.read_file(path),
            _ => Err(Errno::NOENT),
        }
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
        if path != Path::new("/dev/dri") || self.shape.nodes.is_empty() {
            return Err(Errno::NOENT);
        }
        let nodes = self.shape.nodes.iter();
        let mut names: Vec<String> = nodes.map(|(minor, _)| format!("renderD{minor}")).collect();
        names.insert(0, "card0".into());
        Ok(names)
    }

    fn page_size(&self) -> usize {
        LinuxSystem.page_size()
    }
}
