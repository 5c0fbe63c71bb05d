//! Memory that NPUs see.
//!
//! There are two kinds of buffers. Host memory (`SHARE`) is mapped into the process and seen by the device at the process's
//! own address, or at an address of the device's own where the kernel says so. Heap memory (`DEV`) is a part of the heap,
//! which the process has mapped already; the device sees it at a fixed base. Images of the array and instructions must be in the
//! heap. Programs use the process's addresses; [`Buffer::at_device`] is what the device gets.

use crate::device::{length, pointer, reserve, unmap, Device, READ_WRITE};
use crate::error::{Error, Result};
use crate::uapi::accel::bo;
use hansa_plugin_api::sync::RwLock;
use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, ExportKind, ImportRequest, MapRequest, MemoryHandle, SharedHandle,
};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A bank of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// Host memory for kernel arguments.
    Kernarg,
    /// The heap.
    Heap,
    /// Host memory.
    Plain,
}

impl Bank {
    /// All banks, by number.
    pub const ALL: [Self; 3] = [Self::Kernarg, Self::Heap, Self::Plain];
}

/// A buffer. Given back when nobody has it any more.
#[derive(Debug)]
pub struct Buffer {
    device: Arc<Device>,
    /// The kernel's handle.
    pub handle: u32,
    /// Whether it is a part of the heap.
    pub in_heap: bool,
    /// Where the process sees it.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Where the device sees it.
    pub device_address: u64,
    /// The mapping that goes with it: where it starts, and its bytes.
    mapped: Option<(u64, u64)>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some((at, bytes)) = self.mapped {
            unmap(self.device.accel(), at, bytes);
        }
        self.device.let_go(self.handle);
        if self.in_heap {
            self.device.uncut(self.bytes);
        }
    }
}

impl Buffer {
    /// Cuts a buffer from the heap, filled with zeros.
    fn cut(device: &Arc<Device>, bytes: u64) -> Result<Self> {
        let handle = device.cut(bytes)?;
        device.hold(handle);
        let mut made = Self {
            device: Arc::clone(device),
            handle,
            in_heap: true,
            address: 0,
            bytes,
            device_address: 0,
            mapped: None,
        };
        let place = device.accel().bo_place(handle)?;
        if !device.in_heap(place.address, bytes) {
            return Err(Error::Nonsense {
                request: "GET_BO_INFO",
                what: format!("a part of the heap at {:#x}, outside it", place.address),
            });
        }
        (made.address, made.device_address) = (place.address, place.device_address);
        // SAFETY: the range is in the mapped heap, and the kernel gave it to nobody else.
        unsafe { pointer(made.address).write_bytes(0, length(bytes)) };
        Ok(made)
    }

    /// Makes a buffer of host memory of a kind of [`bo`], mapped at a multiple of `alignment`.
    pub(crate) fn share(device: &Arc<Device>, kind: u32, bytes: u64, alignment: u64) -> Result<Self> {
        let handle = device.accel().create_bo(kind, bytes)?;
        Self::map(device, handle, bytes, alignment)
    }

    /// Maps a buffer whose handle is held by nobody yet, or once more.
    fn map(device: &Arc<Device>, handle: u32, bytes: u64, alignment: u64) -> Result<Self> {
        device.hold(handle);
        let mut made = Self {
            device: Arc::clone(device),
            handle,
            in_heap: false,
            address: 0,
            bytes,
            device_address: 0,
            mapped: None,
        };
        let accel = device.accel();
        let failed = |errno| Error::Map {
            what: "device memory",
            bytes,
            errno,
        };
        let place = accel.bo_place(handle)?;
        let page = accel.system().page_size() as u64;
        let mut at = std::ptr::null_mut();
        if alignment > page {
            let room = bytes.checked_add(alignment).ok_or_else(|| too_much(bytes))?;
            let reserved = reserve(accel, room, "device memory")?;
            made.mapped = Some((reserved, room));
            at = pointer(reserved.next_multiple_of(alignment));
        }
        let file = Some(accel.file());
        // SAFETY: the address is anywhere, or in the range that was just reserved.
        let mapped = unsafe {
            accel
                .system()
                .mmap(at, length(bytes), READ_WRITE, file, place.map_offset)
        };
        made.address = mapped.map_err(failed)?.expose_provenance() as u64;
        made.mapped.get_or_insert((made.address, bytes));
        // The kernel knows the device's address once the buffer is mapped.
        made.device_address = accel.bo_place(handle)?.device_address;
        Ok(made)
    }

    /// What the device knows an address in it by.
    #[must_use]
    pub const fn at_device(&self, address: u64) -> u64 {
        self.device_address + (address - self.address)
    }

    /// The device it is of.
    #[must_use]
    pub const fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

fn too_much(bytes: u64) -> Error {
    Error::Argument(format!("{bytes} bytes are more than there are addresses"))
}

#[derive(Debug, Default)]
struct Books {
    by_address: BTreeMap<u64, Arc<Buffer>>,
    /// Addresses by the name that the runtime has.
    by_name: HashMap<u64, u64>,
}

/// The buffers that the runtime has.
#[derive(Debug, Default)]
pub struct Memory {
    books: RwLock<Books>,
    next: AtomicU64,
}

impl Memory {
    /// Allocates.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn allocate(&self, device: &Arc<Device>, request: &AllocRequest) -> Result<Allocation> {
        if request
            .flags
            .intersects(AllocFlags::ADDRESS_ONLY | AllocFlags::MEMORY_ONLY | AllocFlags::SCRATCH)
        {
            return Err(Error::Unsupported("Memory of an NPU always has an address"));
        }
        if request.address != 0 {
            return Err(Error::Unsupported(
                "The kernel chooses the addresses of an NPU's memory",
            ));
        }
        let page = device.accel().system().page_size() as u64;
        let bytes = request
            .bytes
            .checked_next_multiple_of(page)
            .ok_or_else(|| too_much(request.bytes))?;
        let buffer = match Bank::ALL.get(request.bank as usize) {
            Some(Bank::Kernarg | Bank::Plain) => Buffer::share(device, bo::SHARE, bytes, request.alignment)?,
            Some(Bank::Heap) => Buffer::cut(device, bytes)?,
            None => return Err(Error::Argument(format!("An NPU has no bank {}", request.bank))),
        };
        if !buffer.address.is_multiple_of(request.alignment.max(1)) {
            return Err(Error::Argument(format!(
                "The kernel aligns heap memory as it likes, and {:#x} is no multiple of {:#x}",
                buffer.address, request.alignment
            )));
        }
        Ok(self.enter(buffer))
    }

    fn enter(&self, buffer: Buffer) -> Allocation {
        let name = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let made = Allocation {
            handle: MemoryHandle(name),
            // Where the runtime and the program see it; packets have these addresses.
            device_address: buffer.address,
            host_address: buffer.address,
            bytes: buffer.bytes,
        };
        let mut books = self.books.write();
        books.by_name.insert(name, buffer.address);
        books.by_address.insert(buffer.address, Arc::new(buffer));
        made
    }

    fn named(&self, handle: MemoryHandle) -> Result<Arc<Buffer>> {
        let books = self.books.read();
        let found = books
            .by_name
            .get(&handle.0)
            .and_then(|at| books.by_address.get(at));
        found.cloned().ok_or(Error::Handle("an allocation"))
    }

    /// Frees an allocation. A command that still uses it keeps it until it is over.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`].
    pub fn free(&self, handle: MemoryHandle) -> Result<()> {
        let mut books = self.books.write();
        let address = books
            .by_name
            .remove(&handle.0)
            .ok_or(Error::Handle("an allocation"))?;
        let buffer = books.by_address.remove(&address);
        drop(books);
        drop(buffer);
        Ok(())
    }

    /// Lets nodes see an allocation: its own does.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for another one.
    pub fn map(&self, devices: &[Arc<Device>], request: &MapRequest<'_>) -> Result<()> {
        let buffer = self.named(request.handle)?;
        let owns = |&node: &u32| {
            devices
                .get(node as usize)
                .is_some_and(|device| Arc::ptr_eq(device, buffer.device()))
        };
        if request.nodes.iter().all(owns) {
            return Ok(());
        }
        Err(Error::Unsupported("An NPU sees no other NPU's memory"))
    }

    /// The buffer that a range lies in.
    #[must_use]
    pub fn find(&self, address: u64, bytes: u64) -> Option<Arc<Buffer>> {
        let books = self.books.read();
        let (_, buffer) = books.by_address.range(..=address).next_back()?;
        let end = address.checked_add(bytes.max(1))?;
        (end <= buffer.address + buffer.bytes).then(|| Arc::clone(buffer))
    }

    /// Names an allocation to another process or driver.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for heap memory and other kinds of names, and what the kernel says.
    pub fn export(&self, handle: MemoryHandle, kind: ExportKind) -> Result<SharedHandle> {
        if kind != ExportKind::DMA_BUF {
            return Err(Error::Unsupported("Memory of an NPU is shared as a dma-buf only"));
        }
        let buffer = self.named(handle)?;
        if buffer.in_heap {
            return Err(Error::Unsupported("The heap of an NPU cannot be shared"));
        }
        let fd = buffer.device.accel().export_bo(buffer.handle)?;
        let mut words = [0; 8];
        words[0] = u32::from_ne_bytes(fd.to_ne_bytes());
        Ok(SharedHandle {
            kind,
            reserved: 0,
            offset: 0,
            words,
        })
    }

    /// Takes memory that another process or driver named.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other kinds of names, [`Error::Argument`] for what is no dma-buf or too small, and what the
    /// kernel says.
    pub fn import(&self, device: &Arc<Device>, request: &ImportRequest<'_>) -> Result<Allocation> {
        let shared = &request.shared;
        if shared.kind != ExportKind::DMA_BUF {
            return Err(Error::Unsupported("Memory of an NPU is shared as a dma-buf only"));
        }
        let fd = i32::from_ne_bytes(shared.words[0].to_ne_bytes());
        let whole = bytes_of_file(fd).ok_or_else(|| Error::Argument(format!("File {fd} is no dma-buf")))?;
        let wanted = if request.bytes == 0 {
            whole.saturating_sub(shared.offset)
        } else {
            request.bytes
        };
        let fits = wanted != 0 && shared.offset.checked_add(wanted).is_some_and(|end| end <= whole);
        if !fits {
            return Err(Error::Argument(format!(
                "The dma-buf has {whole} bytes, not {wanted} from {:#x} on",
                shared.offset
            )));
        }
        let handle = device.accel().import_bo(fd)?;
        let buffer = Buffer::map(device, handle, whole, 0)?;
        let mut made = self.enter(buffer);
        made.device_address += shared.offset;
        made.host_address += shared.offset;
        made.bytes = wanted;
        Ok(made)
    }

    /// Lets go of everything.
    pub(crate) fn clear(&self) {
        let books = std::mem::take(&mut *self.books.write());
        drop(books);
    }
}

/// Bytes of the memory behind a dma-buf.
fn bytes_of_file(fd: i32) -> Option<u64> {
    if fd < 0 {
        return None;
    }
    // SAFETY: whether the file is open the call finds out; it stays the caller's, and is not closed here.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    file.seek(SeekFrom::End(0)).ok()
}
