//! Host memory that devices see, at its host address.
//!
//! The kernel takes host memory as a buffer of kind "user pointer" and refuses two buffers at one address, while
//! programs lock overlapping ranges (two buffers share a page). So addresses are cut into pieces, each one buffer,
//! counted by how many registrations cover it.
//!
//! Since Linux 6.12 the page with a queue's indices must be a buffer of its own; and where the queue scheduler is in
//! firmware (gfx11 and later) that page must be memory that the kernel allocated. [`HostMemory::own_page`] sees to
//! both: it cuts the piece around the page into pages, and puts kernel memory in place of the page.
//!
//! Kernel memory is better for rings and indices than user pointers are: the system may move a user's pages (compaction,
//! huge pages, NUMA balancing, a fork), and stops all queues meanwhile. So it stands in wherever the runtime says that nobody
//! uses the pages yet ([`Pages::Disposable`]), and on pages with a queue's indices where nothing else is on them.

use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine};
use crate::memory::user_flags;
use crate::range::pointer;
use crate::uapi::memory as uapi;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::sys::MapAccess;
use hansa_plugin_api::{Allocation, MemoryHandle};
use std::collections::{BTreeMap, HashMap};

/// What host memory is to devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// They only read it.
    ReadOnly,
    /// They read and write it.
    Written,
    /// As that, and kernel memory may take its place: nothing that is in it matters.
    Disposable,
}

/// Bytes of a queue's descriptor in the runtime, whatever the system's pages are.
const SMALLEST_PAGE: u64 = 4096;
/// Most bytes that kernel memory takes the place of: the kernel does not give them back to anybody.
const MOST_REPLACED: u64 = 4 << 20;
/// Marks handles of registrations.
const REGISTRATION: u64 = 1 << 63;
/// Most pages of a piece that is cut up for a queue.
const MOST_PAGES: u64 = 1024;

/// One buffer of the kernel.
#[derive(Clone, Debug)]
struct Piece {
    bytes: u64,
    handle: u64,
    users: u32,
    mapped: Vec<u32>,
    /// It is kernel memory that stands in for the page that was there.
    stands_in: bool,
    /// Nothing that is in it matters when it is dropped.
    disposable: bool,
}

#[derive(Debug, Default)]
struct Table {
    pieces: BTreeMap<u64, Piece>,
    /// First address and end of the pieces that a registration holds.
    registrations: HashMap<u64, (u64, u64)>,
    last: u64,
}

/// The registrations.
#[derive(Debug, Default)]
pub struct HostMemory {
    table: Mutex<Table>,
}

const USER_FLAGS: u32 = user_flags(false);

impl HostMemory {
    /// Lets devices see host memory.
    ///
    /// # Errors
    ///
    /// What the kernel says; then nothing is registered.
    pub fn register(
        &self,
        machine: &Machine,
        address: u64,
        bytes: u64,
        gpu_ids: &[u32],
        pages: Pages,
    ) -> Result<Allocation> {
        let gpu = machine.gpu(0)?;
        let owner = gpu.candidate.gpu_id;
        let end = address
            .checked_add(bytes)
            .filter(|end| *end > address)
            .ok_or_else(|| Error::Argument(format!("{bytes:#x} bytes at {address:#x} are no range")))?;
        if machine.address_end.is_some_and(|last| end > last) {
            return Err(Error::Argument(format!(
                "{bytes:#x} bytes at {address:#x} are beyond the addresses of a device, which end at {:#x}",
                machine.address_end.unwrap_or(0)
            )));
        }
        let flags = user_flags(pages == Pages::ReadOnly);
        let disposable = pages == Pages::Disposable;
        let replaces = disposable && bytes <= MOST_REPLACED;
        let mut table = self.table.lock();
        let mut made: Vec<u64> = Vec::new();
        let outcome = table.gaps(address, end).into_iter().try_for_each(|(start, end)| {
            // Without kernel memory it goes as with any other pages.
            let replaced = replaces.then(|| replacement(machine, gpu, start, end - start, gpu_ids));
            let piece = match replaced {
                Some(Ok(piece)) => piece,
                _ => new_piece(machine, owner, start, end - start, flags, gpu_ids)?,
            };
            made.push(start);
            table.pieces.insert(start, piece);
            Ok(())
        });
        let outcome = outcome.and_then(|()| table.see(machine, address, end, gpu_ids));
        if let Err(error) = outcome {
            for start in made {
                // The first error is the one to tell.
                if table.remove(machine, start).is_err() {
                    table.pieces.remove(&start);
                }
            }
            return Err(error);
        }
        let (mut first, mut last) = (address, end);
        for (start, piece) in table.overlapping_mut(address, end) {
            piece.users += 1;
            first = first.min(start);
            last = last.max(start + piece.bytes);
        }
        table.last += 1;
        let name = table.last | REGISTRATION;
        table.registrations.insert(name, (first, last));
        Ok(Allocation {
            handle: MemoryHandle(name),
            device_address: address,
            host_address: address,
            bytes,
        })
    }

    /// Undoes a registration.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says: then the piece that it is about goes with the driver.
    pub fn deregister(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        self.table.lock().deregister(machine, handle)
    }

    /// Whether a handle is one of these.
    #[must_use]
    pub const fn owns(handle: MemoryHandle) -> bool {
        handle.0 & REGISTRATION != 0
    }

    /// Lets further devices see a registration.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn map(&self, machine: &Machine, handle: MemoryHandle, gpu_ids: &[u32]) -> Result<()> {
        let mut table = self.table.lock();
        let (first, end) = *table
            .registrations
            .get(&handle.0)
            .ok_or(Error::Handle("a registration"))?;
        table.see(machine, first, end, gpu_ids)
    }

    /// Makes the page around an address a buffer of its own, of kernel memory: where that is `needed`, and where the page has
    /// room for nothing else, which the host may use meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] when the page is not registered, or lies in a piece too large to be cut; what the kernel
    /// says: then the piece is as it was, if the kernel lets it.
    pub fn own_page(&self, machine: &Machine, gpu: &Gpu, address: u64, needed: bool) -> Result<()> {
        let page = machine.system.page_size() as u64;
        let at = address & !(page - 1);
        let mut table = self.table.lock();
        let (&start, piece) = table
            .pieces
            .range(..=at)
            .next_back()
            .filter(|(start, piece)| at < *start + piece.bytes)
            .ok_or_else(|| {
                Error::Argument(format!("The page of a queue's index, {at:#x}, is not registered"))
            })?;
        let piece = piece.clone();
        if piece.bytes != page {
            if piece.stands_in || piece.bytes / page > MOST_PAGES {
                return Err(Error::Argument(format!(
                    "The page of a queue's index, {at:#x}, lies in a registration of {:#x} bytes",
                    piece.bytes
                )));
            }
            table.cut(machine, start, &piece, page)?;
        }
        if !needed && page > SMALLEST_PAGE {
            return Ok(());
        }
        let Some(own) = table.pieces.get(&at).filter(|own| !own.stands_in).cloned() else {
            return Ok(());
        };
        table.pieces.remove(&at);
        let (now, outcome) = stand_in(machine, gpu, at, &own);
        let seen = now.as_ref().is_some_and(|piece| piece.mapped == own.mapped);
        if let Some(now) = now {
            table.pieces.insert(at, now);
        }
        if needed || !seen {
            return outcome;
        }
        Ok(())
    }

    /// Ends registrations in a range of addresses that the system has just given out anew: the program unmapped the
    /// memory without a word, and devices would see two things at one address.
    pub(crate) fn evict(&self, machine: &Machine, address: u64, bytes: u64) {
        let mut table = self.table.lock();
        if table.overlapping_mut(address, address + bytes).next().is_none() {
            return;
        }
        let stale: Vec<MemoryHandle> = table
            .registrations
            .iter()
            .filter(|(_, &(first, end))| first < address + bytes && address < end)
            .map(|(name, _)| MemoryHandle(*name))
            .collect();
        for handle in stale {
            // A registration that the kernel keeps shows itself when the new memory cannot be mapped. The name stays
            // good for whoever holds it.
            if table.deregister(machine, handle).is_ok() {
                table.registrations.insert(handle.0, (0, 0));
            }
        }
    }

    /// Frees everything.
    pub(crate) fn close(&self, machine: &Machine) {
        let mut table = self.table.lock();
        let starts: Vec<u64> = table.pieces.keys().copied().collect();
        for start in starts {
            // Nobody is left to tell an error to: once more, and that is all.
            if table.remove(machine, start).is_err() {
                let _ = table.remove(machine, start);
            }
        }
        table.registrations.clear();
    }
}

impl Table {
    fn deregister(&mut self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        let (first, end) = *self
            .registrations
            .get(&handle.0)
            .ok_or(Error::Handle("a registration"))?;
        // Pieces that this is the last user of go first: a refusal then leaves the registration as it was.
        let dying: Vec<u64> = self
            .overlapping_mut(first, end)
            .filter(|(_, piece)| piece.users == 1)
            .map(|(start, _)| start)
            .collect();
        for start in dying {
            self.remove(machine, start)?;
        }
        for (_, piece) in self.overlapping_mut(first, end) {
            piece.users = piece.users.saturating_sub(1);
        }
        self.registrations.remove(&handle.0);
        Ok(())
    }

    /// Parts of a range that no piece covers.
    fn gaps(&self, address: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut at = address;
        if let Some((start, piece)) = self.pieces.range(..=address).next_back() {
            at = at.max(start + piece.bytes);
        }
        while at < end {
            let next = self.pieces.range(at..end).next();
            let stop = next.map_or(end, |(start, _)| *start);
            if stop > at {
                gaps.push((at, stop));
            }
            at = next.map_or(end, |(start, piece)| start + piece.bytes);
        }
        gaps
    }

    /// Pieces that touch a range.
    fn overlapping_mut(&mut self, address: u64, end: u64) -> impl Iterator<Item = (u64, &mut Piece)> {
        let first = self
            .pieces
            .range(..=address)
            .next_back()
            .filter(|(start, piece)| *start + piece.bytes > address)
            .map_or(address, |(start, _)| *start);
        self.pieces
            .range_mut(first..end)
            .map(|(start, piece)| (*start, piece))
    }

    /// Lets devices see all pieces of a range; all or none.
    fn see(&mut self, machine: &Machine, address: u64, end: u64, gpu_ids: &[u32]) -> Result<()> {
        let mut done: Vec<(u64, Vec<u32>)> = Vec::new();
        let mut outcome = Ok(());
        for (start, piece) in self.overlapping_mut(address, end) {
            let new: Vec<u32> = gpu_ids
                .iter()
                .copied()
                .filter(|id| !piece.mapped.contains(id))
                .collect();
            if new.is_empty() {
                continue;
            }
            outcome = machine.kfd.map(piece.handle, &new);
            if outcome.is_err() {
                break;
            }
            piece.mapped.extend(&new);
            done.push((start, new));
        }
        if outcome.is_err() {
            for (start, new) in done {
                if let Some(piece) = self.pieces.get_mut(&start) {
                    if machine.kfd.unmap(piece.handle, &new).is_ok() {
                        piece.mapped.retain(|id| !new.contains(id));
                    }
                }
            }
        }
        outcome
    }

    /// Frees a piece; when the kernel refuses, it is still there.
    fn remove(&mut self, machine: &Machine, start: u64) -> Result<()> {
        let Some(piece) = self.pieces.get_mut(&start) else {
            return Ok(());
        };
        if !piece.mapped.is_empty() {
            machine.kfd.unmap(piece.handle, &piece.mapped)?;
            piece.mapped.clear();
        }
        // While the kernel has the memory: what is in it is kept.
        if piece.stands_in {
            step_back(machine, start, piece.bytes, piece.disposable)?;
            piece.stands_in = false;
        }
        machine.kfd.free(piece.handle)?;
        self.pieces.remove(&start);
        Ok(())
    }

    /// Cuts a piece into pages.
    fn cut(&mut self, machine: &Machine, start: u64, whole: &Piece, page: u64) -> Result<()> {
        let owner = machine.gpu(0)?.candidate.gpu_id;
        machine.kfd.unmap(whole.handle, &whole.mapped)?;
        if let Err(error) = machine.kfd.free(whole.handle) {
            let seen = machine.kfd.map(whole.handle, &whole.mapped).is_ok();
            if let (Some(piece), false) = (self.pieces.get_mut(&start), seen) {
                piece.mapped.clear();
            }
            return Err(error);
        }
        self.pieces.remove(&start);
        let make = |at, bytes| {
            let piece = new_piece(machine, owner, at, bytes, USER_FLAGS, &whole.mapped)?;
            Ok(Piece {
                users: whole.users,
                ..piece
            })
        };
        let mut made = Vec::new();
        let mut outcome = Ok(());
        for at in (start..start + whole.bytes).step_by(usize::try_from(page).unwrap_or(4096)) {
            match make(at, page) {
                Ok(piece) => made.push((at, piece)),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        if outcome.is_err() {
            for (_, piece) in &made {
                let _ = drop_piece(machine, piece);
            }
            made.clear();
            // If not even the old buffer can be had again, devices do not see this memory any more.
            if let Ok(piece) = make(start, whole.bytes) {
                made.push((start, piece));
            }
        }
        self.pieces.extend(made);
        outcome
    }
}

fn new_piece(
    machine: &Machine,
    owner: u32,
    address: u64,
    bytes: u64,
    flags: u32,
    gpu_ids: &[u32],
) -> Result<Piece> {
    let buffer = machine.kfd.allocate(owner, address, bytes, flags, address)?;
    let piece = Piece {
        bytes,
        handle: buffer.handle,
        users: 0,
        mapped: gpu_ids.to_vec(),
        stands_in: false,
        disposable: false,
    };
    if let Err(error) = machine.kfd.map(buffer.handle, gpu_ids) {
        let _ = machine.kfd.free(buffer.handle);
        return Err(error);
    }
    Ok(piece)
}

fn drop_piece(machine: &Machine, piece: &Piece) -> Result<()> {
    machine.kfd.unmap(piece.handle, &piece.mapped)?;
    machine.kfd.free(piece.handle)
}

const HOST_ACCESS: MapAccess = MapAccess {
    read: true,
    write: true,
    execute: false,
};

fn save(address: u64, bytes: u64) -> Vec<u8> {
    // SAFETY: the page is registered memory of the runtime, which stays mapped while it is registered; the thread
    // that makes or ends the queue is the only one that uses the page now.
    unsafe { std::slice::from_raw_parts(pointer(address), usize::try_from(bytes).unwrap_or(0)) }.to_vec()
}

fn restore(address: u64, contents: &[u8]) {
    // SAFETY: as in `save`; the new page is readable and writable.
    unsafe { std::ptr::copy_nonoverlapping(contents.as_ptr(), pointer(address), contents.len()) };
}

/// Puts kernel memory in place of a page, with its contents. Answers what is registered there now.
fn stand_in(machine: &Machine, gpu: &Gpu, at: u64, old: &Piece) -> (Option<Piece>, Result<()>) {
    if let Err(error) = drop_piece(machine, old) {
        return (Some(old.clone()), Err(error));
    }
    let handle = match put_kernel_memory(machine, gpu, at, old.bytes, false) {
        Ok(handle) => handle,
        Err(error) => {
            let owner = gpu.candidate.gpu_id;
            let piece = new_piece(machine, owner, at, old.bytes, USER_FLAGS, &old.mapped);
            let piece = piece.ok().map(|piece| Piece {
                users: old.users,
                ..piece
            });
            return (piece, Err(error));
        }
    };
    let mut piece = Piece {
        handle,
        stands_in: true,
        ..old.clone()
    };
    let outcome = machine.kfd.map(handle, &old.mapped);
    if outcome.is_err() {
        piece.mapped.clear();
    }
    (Some(piece), outcome)
}

/// A piece of kernel memory in place of disposable pages that devices do not see yet.
fn replacement(machine: &Machine, gpu: &Gpu, at: u64, bytes: u64, gpu_ids: &[u32]) -> Result<Piece> {
    let handle = put_kernel_memory(machine, gpu, at, bytes, true)?;
    if let Err(error) = machine.kfd.map(handle, gpu_ids) {
        step_back(machine, at, bytes, true)?;
        let _ = machine.kfd.free(handle);
        return Err(error);
    }
    Ok(Piece {
        bytes,
        handle,
        users: 0,
        mapped: gpu_ids.to_vec(),
        stands_in: true,
        disposable: true,
    })
}

/// Puts kernel memory in place of pages, with their contents unless they are disposable. Answers its handle.
fn put_kernel_memory(machine: &Machine, gpu: &Gpu, at: u64, bytes: u64, disposable: bool) -> Result<u64> {
    let flags = (USER_FLAGS & !uapi::ALLOC_USERPTR) | uapi::ALLOC_GTT;
    let buffer = machine.kfd.allocate(gpu.candidate.gpu_id, at, bytes, flags, 0)?;
    let contents = if disposable { Vec::new() } else { save(at, bytes) };
    // SAFETY: the contents are saved if they matter, and nobody else uses the pages now.
    let mapped = unsafe {
        machine.system.mmap(
            pointer(at),
            usize::try_from(bytes).unwrap_or(0),
            HOST_ACCESS,
            Some(gpu.render.0.file()),
            buffer.mmap_offset,
        )
    };
    if let Err(errno) = mapped {
        let _ = machine.kfd.free(buffer.handle);
        return Err(Error::Map {
            what: "kernel memory",
            bytes,
            errno,
        });
    }
    restore(at, &contents);
    Ok(buffer.handle)
}

/// Puts ordinary pages back where kernel memory stood in. Where nothing is mapped any more, nothing is.
fn step_back(machine: &Machine, at: u64, bytes: u64, disposable: bool) -> Result<()> {
    let length = usize::try_from(bytes).unwrap_or(0);
    if !machine.system.is_mapped(pointer(at), length) {
        return Ok(());
    }
    let contents = if disposable { Vec::new() } else { save(at, bytes) };
    // SAFETY: the contents are saved if they matter, and nobody else uses the pages now.
    let mapped = unsafe { machine.system.mmap(pointer(at), length, HOST_ACCESS, None, 0) };
    mapped.map_err(|errno| Error::Map {
        what: "host memory",
        bytes,
        errno,
    })?;
    restore(at, &contents);
    Ok(())
}
