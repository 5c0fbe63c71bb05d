//! The face for drivers that take their system as a parameter.

use crate::kernel::{doorbell_page, register_page, Kernel, Which, SMALL_PAGE};
use crate::Errno;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::{File, LinuxSystem, MapAccess, System};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The virtual kernel as a [`System`].
#[derive(Debug)]
pub struct VirtualSystem {
    kernel: Arc<Kernel>,
    open: Mutex<BTreeSet<i32>>,
    maps: Mutex<BTreeMap<usize, usize>>,
}

fn whole(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl VirtualSystem {
    /// A system on a kernel.
    #[must_use]
    pub fn new(kernel: Arc<Kernel>) -> Arc<Self> {
        Arc::new(Self {
            kernel,
            open: Mutex::default(),
            maps: Mutex::default(),
        })
    }

    /// The kernel.
    #[must_use]
    pub const fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Files that are open.
    #[must_use]
    pub fn open_files(&self) -> usize {
        self.open.lock().len()
    }

    /// Bytes that are mapped.
    #[must_use]
    pub fn mapped_bytes(&self) -> usize {
        self.maps.lock().values().sum()
    }

    /// What an offset of `/dev/kfd` means in the file behind it.
    fn translate(&self, offset: u64, bytes: usize) -> Result<u64, Errno> {
        let gpu_id = u32::try_from(offset >> 46 & 0xffff).map_err(|_| Errno::INVAL)?;
        match offset >> 62 {
            3 => {
                let gpu = self.kernel.gpu(gpu_id)?;
                if bytes as u64 != self.kernel.machine.gpus[gpu].doorbell_page_bytes(self.kernel.options.page)
                {
                    return Err(Errno::INVAL);
                }
                Ok(doorbell_page(gpu))
            }
            0 if gpu_id != 0 => {
                let gpu = self.kernel.gpu(gpu_id)?;
                if self.kernel.options.page != SMALL_PAGE || bytes as u64 != SMALL_PAGE {
                    return Err(Errno::INVAL);
                }
                Ok(register_page(gpu))
            }
            kind => {
                self.kernel
                    .complain(format!("mmap of /dev/kfd at {offset:#x}, kind {kind}"));
                Err(Errno::INVAL)
            }
        }
    }

    /// Complains of an address inside a page.
    fn check_page(&self, call: &str, at: u64) -> Result<(), Errno> {
        if at.is_multiple_of(self.kernel.options.page) {
            return Ok(());
        }
        self.kernel
            .complain(format!("{call} with {at:#x}, which is inside a page"));
        Err(Errno::INVAL)
    }

    /// A place of whole large pages, for what may be anywhere.
    fn place(&self, bytes: usize) -> Result<*mut u8, Errno> {
        let page = whole(self.kernel.options.page);
        let all = bytes.checked_add(page).ok_or(Errno::NOMEM)?;
        let nothing = MapAccess {
            read: false,
            write: false,
            execute: false,
        };
        // SAFETY: a new mapping.
        let start = unsafe { LinuxSystem.mmap(std::ptr::null_mut(), all, nothing, None, 0) }?;
        let before = start.addr().next_multiple_of(page) - start.addr();
        let place = start.wrapping_add(before);
        if before != 0 {
            // SAFETY: the begin of it, which nobody was told of.
            unsafe { LinuxSystem.munmap(start, before) }?;
        }
        // SAFETY: the end of it, likewise.
        unsafe { LinuxSystem.munmap(place.wrapping_add(bytes), page - before) }?;
        Ok(place)
    }

    fn forget(&self, address: usize, bytes: usize) {
        let mut maps = self.maps.lock();
        let end = address + bytes;
        let touched: Vec<(usize, usize)> = maps
            .range(..end)
            .rev()
            .map(|(start, length)| (*start, *length))
            .take_while(|(start, length)| start + length > address)
            .collect();
        for (start, length) in touched {
            maps.remove(&start);
            if start < address {
                maps.insert(start, address - start);
            }
            if start + length > end {
                maps.insert(end, start + length - end);
            }
        }
    }
}

impl System for VirtualSystem {
    fn open(&self, path: &Path, _write: bool) -> Result<File, Errno> {
        let fd = self.kernel.open(path, true)?;
        self.open.lock().insert(fd);
        Ok(File(fd))
    }

    fn close(&self, file: File) {
        let shared = matches!(self.kernel.which(file.0), Some(Which::Dmabuf(_)));
        if !self.open.lock().remove(&file.0) && !shared {
            self.kernel
                .complain(format!("close of file {} that is not open", file.0));
            return;
        }
        // The kernel keeps the file that carries an address space; its number may now be another file's.
        for fd in self.kernel.process().spaces.values_mut() {
            if *fd == file.0 {
                *fd = -1;
            }
        }
        LinuxSystem.close(file);
    }

    unsafe fn ioctl(&self, file: File, code: u32, argument: *mut u8) -> Result<i32, Errno> {
        let which = self.kernel.which(file.0).ok_or(Errno::BADF)?;
        let at = argument.expose_provenance() as u64;
        self.kernel.ioctl(which, file.0, code, at)
    }

    unsafe fn mmap(
        &self,
        address: *mut u8,
        bytes: usize,
        access: MapAccess,
        file: Option<File>,
        offset: u64,
    ) -> Result<*mut u8, Errno> {
        let which = file
            .map(|file| self.kernel.which(file.0).ok_or(Errno::BADF))
            .transpose()?;
        let (name, offset) = match which {
            None => ("mmap nothing", offset),
            Some(Which::Kfd) => ("mmap kfd", self.translate(offset, bytes)?),
            Some(Which::Render(_)) => ("mmap render", offset),
            Some(Which::Dmabuf(_)) => return Err(Errno::INVAL),
        };
        self.kernel.faults.check(name)?;
        self.check_page("mmap", address.addr() as u64)?;
        self.check_page("mmap of an offset", offset)?;
        let bytes = bytes.next_multiple_of(self.page_size());
        let address = if address.is_null() && self.page_size() > LinuxSystem.page_size() {
            self.place(bytes)?
        } else {
            address
        };
        // SAFETY: the caller says that a range that is replaced is not in use.
        let made = unsafe { LinuxSystem.mmap(address, bytes, access, file, offset) }?;
        self.forget(made.addr(), bytes);
        self.maps.lock().insert(made.addr(), bytes);
        Ok(made)
    }

    fn reserve_below(&self, limit: u64, bytes: usize) -> Result<*mut u8, Errno> {
        self.kernel.faults.check("mmap nothing")?;
        let made = LinuxSystem.reserve_below(limit, bytes)?;
        self.maps.lock().insert(made.addr(), bytes);
        Ok(made)
    }

    unsafe fn munmap(&self, address: *mut u8, bytes: usize) -> Result<(), Errno> {
        self.kernel.faults.check("munmap")?;
        self.check_page("munmap", address.addr() as u64)?;
        let bytes = bytes.next_multiple_of(self.page_size());
        // SAFETY: the caller says that nothing uses the range any more.
        unsafe { LinuxSystem.munmap(address, bytes) }?;
        self.forget(address.addr(), bytes);
        Ok(())
    }

    fn poll(&self, file: File, timeout_ms: i32) -> Result<bool, Errno> {
        LinuxSystem.poll(file, timeout_ms)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        self.kernel.file("read", path)?;
        self.kernel
            .machine
            .tree
            .file(path)
            .map(<[u8]>::to_vec)
            .ok_or(Errno::NOENT)
    }

    fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
        self.kernel.file("list", path)?;
        let mut names = self.kernel.machine.tree.list(path).ok_or(Errno::NOENT)?;
        names.retain(|name| !self.kernel.is_file_gone(&path.join(name)));
        Ok(names)
    }

    fn page_size(&self) -> usize {
        whole(self.kernel.options.page)
    }
}
