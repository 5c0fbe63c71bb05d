//! Private memory of waves.
//!
//! The host gives a GPU one large range of addresses for it, without memory behind. A piece of it gets memory by a command
//! of its own, and has a resource; when that is closed the memory is gone. The guest sees none of it.

use crate::context::Resource;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::memory::about;
use crate::window::Window;
use crate::wire::{bytes, command, memory, memory_flag, Message, VALUES};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{Allocation, MemoryHandle};
use std::collections::{BTreeMap, HashMap};

/// Bytes of the range; less where the host has less.
const RANGE_BYTES: [u64; 4] = [4 << 30, 2 << 30, 1 << 30, 256 << 20];
/// Alignment of a piece.
const ALIGNMENT: u64 = 64 << 10;
/// Handles of pieces have this bit, so that they are told from those of other memory.
const MARK: u64 = 1 << 63;

/// The range of a GPU.
#[derive(Debug)]
struct Range {
    address: u64,
    bytes: u64,
    resource: Resource,
    /// What keeps the addresses, where they are not in the context's window.
    _window: Option<Window>,
    /// Pieces: offset and bytes.
    used: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    node: u32,
    offset: u64,
    resource: Resource,
}

/// Private memory of all GPUs.
#[derive(Debug)]
pub struct Scratch {
    /// By the driver's number.
    ranges: Vec<Mutex<Option<Range>>>,
    pieces: Mutex<(u64, HashMap<u64, Piece>)>,
}

impl Scratch {
    /// For some GPUs.
    #[must_use]
    pub fn new(gpus: usize) -> Self {
        Self {
            ranges: (0..gpus).map(|_| Mutex::new(None)).collect(),
            pieces: Mutex::default(),
        }
    }

    /// Whether a handle is one of a piece.
    #[must_use]
    pub const fn owns(handle: MemoryHandle) -> bool {
        handle.0 & MARK != 0
    }

    /// Gives a piece.
    ///
    /// # Errors
    ///
    /// What the host says.
    pub fn allocate(&self, machine: &Machine, node: u32, wanted: u64) -> Result<Allocation> {
        let gpu = machine.gpu(node)?.candidate.node;
        let size = wanted
            .max(1)
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or_else(|| Error::Argument(format!("{wanted:#x} bytes of private memory")))?;
        let mut slot = self.ranges[node as usize].lock();
        if slot.is_none() {
            *slot = Some(range(machine, gpu)?);
        }
        let Some(range) = slot.as_mut() else {
            return Err(Error::NotOpen);
        };
        let offset = range.free(size).ok_or(Error::Refused {
            request: "a piece of private memory",
            status: crate::error::status::NO_MEMORY,
        })?;
        let address = range.address + offset;
        let context = &machine.context;
        let number = context.number()?;
        let message = about(memory::MAP, address, size)
            .byte(32, 1)
            .long(memory::BLOB, number);
        let seen = context
            .send("MAP_MEM_TO_GPU", message, bytes::MEMORY_ANSWER)?
            .long(VALUES);
        let unmap = about(memory::UNMAP, address, 0);
        let undo = || context.undo("UNMAP_TO_GPU", &unmap, bytes::MEMORY_ANSWER);
        if seen != 0 && seen != address {
            undo();
            return Err(Error::Nonsense {
                request: "MAP_MEM_TO_GPU",
                what: format!("address {seen:#x} for {address:#x}"),
            });
        }
        let resource = context.adopt(number, size, false).inspect_err(|_| undo())?;
        range.used.insert(offset, size);
        drop(slot);
        let mut pieces = self.pieces.lock();
        pieces.0 += 1;
        let name = pieces.0 | MARK;
        let piece = Piece {
            node,
            offset,
            resource,
        };
        pieces.1.insert(name, piece);
        Ok(Allocation {
            handle: MemoryHandle(name),
            device_address: address,
            host_address: 0,
            bytes: size,
        })
    }

    /// Takes a piece back.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says, and then it is still there.
    pub fn free(&self, machine: &Machine, handle: MemoryHandle) -> Result<()> {
        let taken = self.pieces.lock().1.remove(&handle.0);
        let piece = taken.ok_or(Error::Handle("private memory"))?;
        if let Err(error) = machine.context.close(piece.resource) {
            self.pieces.lock().1.insert(handle.0, piece);
            return Err(error);
        }
        if let Some(range) = self.ranges[piece.node as usize].lock().as_mut() {
            range.used.remove(&piece.offset);
        }
        Ok(())
    }

    /// Takes everything back.
    pub(crate) fn close(&self, machine: &Machine) {
        let pieces: Vec<Piece> = self.pieces.lock().1.drain().map(|(_, piece)| piece).collect();
        for piece in pieces {
            machine.context.close_at_last(piece.resource);
        }
        for range in &self.ranges {
            if let Some(range) = range.lock().take() {
                machine.context.close_at_last(range.resource);
            }
        }
    }
}

impl Range {
    /// The first gap of a size.
    fn free(&self, size: u64) -> Option<u64> {
        let mut at = 0;
        for (offset, bytes) in &self.used {
            if offset - at >= size {
                return Some(at);
            }
            at = offset + bytes;
        }
        (self.bytes - at >= size).then_some(at)
    }
}

/// A range for a GPU of the host.
fn range(machine: &Machine, gpu: u32) -> Result<Range> {
    let context = &machine.context;
    let mut refusal = None;
    for size in RANGE_BYTES {
        let number = context.number()?;
        let message = Message::new(command::MEMORY, bytes::MEMORY)
            .word(memory::KIND, memory::ALLOC)
            .word(16, gpu)
            .word(20, memory_flag::SCRATCH | memory_flag::HOST_ACCESS)
            .long(24, size)
            .long(memory::BLOB, number);
        let address = match context.send("MEMORY_ALLOC", message, bytes::MEMORY_ANSWER) {
            Ok(answer) => answer.long(VALUES),
            Err(error @ Error::Refused { .. }) => {
                refusal.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let free = about(memory::FREE, address, size);
        let undo = || context.undo("MEMORY_FREE", &free, bytes::MEMORY_ANSWER);
        let inside = context.window.contains(address, size);
        if inside && !machine.memory.claim(address, size) {
            return Err(Error::Nonsense {
                request: "MEMORY_ALLOC",
                what: format!("private memory at {address:#x}, where other memory is"),
            });
        }
        let window = if inside {
            None
        } else {
            let taken = Window::take(&machine.system, "MEMORY_ALLOC", address, size);
            Some(taken.inspect_err(|_| undo())?)
        };
        if !address.is_multiple_of(ALIGNMENT) {
            undo();
            machine.memory.disclaim(address);
            return Err(Error::Nonsense {
                request: "MEMORY_ALLOC",
                what: format!("private memory at {address:#x}"),
            });
        }
        let resource = context.adopt(number, size, false).inspect_err(|_| {
            undo();
            machine.memory.disclaim(address);
        })?;
        return Ok(Range {
            address,
            bytes: size,
            resource,
            _window: window,
            used: BTreeMap::new(),
        });
    }
    Err(refusal.unwrap_or(Error::Missing("Private memory of waves")))
}
