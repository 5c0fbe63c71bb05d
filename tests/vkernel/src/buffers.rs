//! Memory: buffers, who sees them, and what a device finds at an address.

use crate::files::{DeviceFile, View};
use crate::kernel::Kernel;
use crate::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a buffer's bytes are.
#[derive(Debug)]
pub enum Backing {
    /// A part of a render node's file.
    File {
        /// The GPU that the file belongs to.
        gpu: usize,
        /// Offset in the file.
        offset: u64,
        /// Bytes of the part.
        bytes: u64,
        /// The device's side of it.
        view: View,
    },
    /// A part of another buffer.
    Part {
        /// Of which.
        of: Arc<Self>,
        /// Where it begins.
        offset: u64,
    },
    /// A part of a file of another process.
    Foreign {
        /// The file.
        file: DeviceFile,
        /// Offset in the file.
        offset: u64,
        /// The device's side of it.
        view: View,
    },
    /// Memory of the process.
    User(u64),
    /// The process's doorbells on a GPU: the kernel's own view of the page.
    Doorbells(u64),
    /// Nothing that a device reads (registers).
    Nothing,
}

impl Backing {
    /// Where the device's side of a file is.
    #[must_use]
    pub fn view(&self) -> Option<u64> {
        match self {
            Self::File { view, .. } | Self::Foreign { view, .. } => Some(view.address),
            Self::Part { of, offset } => Some(of.view()? + offset),
            Self::Doorbells(view) => Some(*view),
            Self::User(_) | Self::Nothing => None,
        }
    }

    /// Maps a part of a file at an address of the process that is reserved for it.
    ///
    /// # Errors
    ///
    /// The system's number; [`Errno::INVAL`] where there is no file.
    pub(crate) fn put(&self, kernel: &Kernel, address: u64, from: u64, bytes: u64) -> Result<(), Errno> {
        match self {
            Self::File { gpu, offset, .. } => kernel.renders[*gpu].lock().put(address, offset + from, bytes),
            Self::Foreign { file, offset, .. } => file.put(address, offset + from, bytes),
            Self::Part { of, offset } => of.put(kernel, address, offset + from, bytes),
            Self::User(_) | Self::Doorbells(_) | Self::Nothing => Err(Errno::INVAL),
        }
    }

    /// Gives a part of a file back, unless someone else has it too.
    pub(crate) fn release(kernel: &Kernel, backing: Arc<Self>) {
        match Arc::into_inner(backing) {
            Some(Self::File {
                gpu,
                offset,
                bytes,
                view,
            }) => {
                drop(view);
                kernel.renders[gpu].lock().give_back(offset, bytes);
            }
            Some(Self::Part { of, .. }) => Self::release(kernel, of),
            _ => {}
        }
    }
}

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Where devices see it.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Its GPU.
    pub gpu: usize,
    /// Kind and attributes.
    pub flags: u32,
    /// Its bytes.
    pub backing: Arc<Backing>,
    /// GPUs that see it.
    pub mapped: BTreeSet<usize>,
    /// It is memory of another buffer, which it was counted with.
    pub imported: bool,
}

/// The buffers of a process.
#[derive(Debug, Default)]
pub struct Buffers {
    table: BTreeMap<u64, Buffer>,
    /// Addresses with handles, to find what a device sees at one.
    places: BTreeSet<(u64, u64)>,
    last: u64,
}

impl Buffers {
    /// Enters a buffer; answers its handle: the device's number and a count, as the kernel makes it.
    pub fn enter(&mut self, gpu_id: u32, buffer: Buffer) -> u64 {
        self.last += 1;
        let handle = u64::from(gpu_id) << 32 | self.last;
        self.places.insert((buffer.address, handle));
        self.table.insert(handle, buffer);
        handle
    }

    /// A buffer by its handle.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub fn get(&mut self, handle: u64) -> Result<&mut Buffer, Errno> {
        self.table.get_mut(&handle).ok_or(Errno::INVAL)
    }

    /// Takes a buffer that nobody sees.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`] for a handle that is none, [`Errno::BUSY`] while a device sees it.
    pub fn remove(&mut self, handle: u64) -> Result<Buffer, Errno> {
        if !self.get(handle)?.mapped.is_empty() {
            return Err(Errno::BUSY);
        }
        let buffer = self.table.remove(&handle).ok_or(Errno::INVAL)?;
        self.places.remove(&(buffer.address, handle));
        Ok(buffer)
    }

    /// Whether another buffer that a GPU sees overlaps a range.
    #[must_use]
    pub fn is_taken(&self, gpu: usize, handle: u64, address: u64, bytes: u64) -> bool {
        self.table.iter().any(|(other, buffer)| {
            *other != handle
                && buffer.mapped.contains(&gpu)
                && buffer.address < address + bytes
                && address < buffer.address + buffer.bytes
        })
    }

    /// The parts of a range that a GPU sees nothing in.
    #[must_use]
    pub fn gaps(&self, gpu: usize, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut seen: Vec<(u64, u64)> = self
            .table
            .values()
            .filter(|buffer| buffer.mapped.contains(&gpu))
            .map(|buffer| (buffer.address, buffer.address + buffer.bytes))
            .filter(|(from, to)| *from < end && start < *to)
            .collect();
        seen.sort_unstable();
        let mut at = start;
        let mut gaps = Vec::new();
        for (from, to) in seen {
            if from > at {
                gaps.push((at, from));
            }
            at = at.max(to);
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    /// The buffer that a GPU sees at an address.
    #[must_use]
    pub fn at(&self, gpu: usize, address: u64) -> Option<&Buffer> {
        // Buffers that a GPU sees do not overlap, so the nearest one below the address is the only candidate.
        self.places
            .range(..=(address, u64::MAX))
            .rev()
            .filter_map(|(_, handle)| self.table.get(handle))
            .find(|buffer| buffer.mapped.contains(&gpu))
            .filter(|buffer| address - buffer.address < buffer.bytes)
    }

    /// Bytes that a GPU's buffers of a kind take.
    #[must_use]
    pub fn used(&self, gpu: usize, kind: u32) -> u64 {
        let of = |buffer: &&Buffer| buffer.gpu == gpu && buffer.flags & kind != 0 && !buffer.imported;
        self.table.values().filter(of).map(|buffer| buffer.bytes).sum()
    }

    /// How many buffers there are, and how many times a GPU sees one.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (
            self.table.len(),
            self.table.values().map(|buffer| buffer.mapped.len()).sum(),
        )
    }

    /// Every buffer with its handle.
    pub fn iter(&self) -> impl Iterator<Item = (&u64, &Buffer)> {
        self.table.iter()
    }
}
