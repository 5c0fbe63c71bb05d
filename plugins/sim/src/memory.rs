//! Memory of the devices: who owns what, which device sees it, and how much is left.
//!
//! A device's addresses are the host's. Host memory that a program locked is also seen at addresses of the devices' own,
//! because programs tell the two apart by their addresses; they differ in one bit, [`OWN`]. What a device may touch is
//! the set of ranges that are mapped to it; see [`Space`](crate::space::Space). An allocation that is shared becomes a
//! [`Buffer`] of its own: whoever has it, here or in another process, sees that allocation and nothing else, and has it
//! until everybody has let go of it.

use crate::buffer::Buffer;
use crate::config::page;
use crate::device::Device;
use crate::exec::guard::OWN;
use crate::exec::Access;
use crate::pages::Pages;
use crate::space::Range;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, Error, ErrorCode, ExportKind, HostMemoryRequest, ImportRequest,
    MapRequest, MemoryHandle, SharedHandle,
};
use std::collections::HashMap;
use std::os::fd::IntoRawFd;
use std::sync::Arc;

/// All memory of a driver.
#[derive(Debug)]
pub(crate) struct Memory {
    devices: Vec<Arc<Device>>,
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    /// Bytes of local memory that can still be allocated, per device.
    left: Vec<u64>,
    blocks: HashMap<u64, Block>,
    next: u64,
}

/// An allocation or a registration.
#[derive(Debug)]
struct Block {
    /// The pages, unless the program owns them.
    pages: Option<Pages>,
    /// What the pages are of, once they are shared, and where in it they begin.
    buffer: Option<(Buffer, u64)>,
    /// Device whose budget they count in.
    home: Option<usize>,
    /// Where the devices see it.
    range: Range,
    /// Where they see it as well.
    also: Option<Range>,
    /// Devices that see it, and how.
    nodes: Vec<(usize, Access)>,
}

impl Block {
    fn ranges(&self) -> impl Iterator<Item = Range> {
        [Some(self.range), self.also].into_iter().flatten()
    }
}

impl Memory {
    /// Memory of these devices, which have as many bytes each.
    pub(crate) fn new(devices: Vec<Arc<Device>>, bytes: u64) -> Self {
        let left = vec![bytes; devices.len()];
        Self {
            devices,
            table: Mutex::new(Table {
                left,
                blocks: HashMap::new(),
                next: 1,
            }),
        }
    }

    /// Bytes of a device's memory that can still be allocated.
    pub(crate) fn available(&self, node: usize) -> u64 {
        self.table.lock().left[node]
    }

    /// Allocates from a device's memory.
    pub(crate) fn allocate(&self, node: usize, request: &AllocRequest) -> Result<Allocation, Error> {
        let unsupported = AllocFlags::ADDRESS_ONLY | AllocFlags::MEMORY_ONLY | AllocFlags::SHARED;
        if request.flags.intersects(unsupported) {
            return Err(Error::not_supported(
                "Allocation of addresses or pages alone, or of shared memory",
            ));
        }
        if request.bytes == 0 || request.bytes > u64::MAX - page() {
            let message = format!("An allocation of {} bytes is not possible", request.bytes);
            return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
        }
        let bytes = request.bytes.next_multiple_of(page());
        self.take(node, bytes)?;
        let pages = Pages::reserve(request.address, bytes, request.alignment.max(page()))
            .inspect_err(|_| self.table.lock().left[node] += bytes)?;
        let range = Range {
            start: pages.address(),
            end: pages.address() + bytes,
            access: access(request.flags),
        };
        self.devices[node].space.map(range);
        let handle = self.table.lock().insert(Block {
            pages: Some(pages),
            buffer: None,
            home: Some(node),
            range,
            also: None,
            nodes: vec![(node, range.access)],
        });
        Ok(Allocation {
            handle,
            device_address: range.start,
            host_address: range.start,
            bytes,
        })
    }

    /// Lets devices see memory of the program.
    pub(crate) fn register(
        &self,
        request: &HostMemoryRequest<'_>,
        nodes: Vec<usize>,
    ) -> Result<Allocation, Error> {
        let end = request.address.checked_add(request.bytes);
        let Some(end) = end.filter(|_| request.address != 0 && request.bytes != 0) else {
            let message = format!(
                "{} bytes at {:#x} are no range of host memory",
                request.bytes, request.address
            );
            return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
        };
        let range = Range {
            start: request.address,
            end,
            access: access(request.flags),
        };
        let own = request.flags.contains(AllocFlags::OWN_ADDRESS) && end <= OWN;
        let also = own.then_some(Range {
            start: range.start | OWN,
            end: end + OWN,
            ..range
        });
        for &node in &nodes {
            [Some(range), also]
                .into_iter()
                .flatten()
                .for_each(|range| self.devices[node].space.map(range));
        }
        let handle = self.table.lock().insert(Block {
            pages: None,
            buffer: None,
            home: None,
            range,
            also,
            nodes: nodes.into_iter().map(|node| (node, range.access)).collect(),
        });
        Ok(Allocation {
            handle,
            device_address: also.unwrap_or(range).start,
            host_address: range.start,
            bytes: request.bytes,
        })
    }

    /// Ends an allocation or a registration; no device sees it any more.
    pub(crate) fn release(&self, handle: MemoryHandle) -> Result<(), Error> {
        let block = {
            let mut table = self.table.lock();
            let block = table.blocks.remove(&handle.0).ok_or_else(|| unknown(handle))?;
            if let Some(node) = block.home {
                table.left[node] += block.range.end - block.range.start;
            }
            block
        };
        for &(node, access) in &block.nodes {
            let device = &self.devices[node];
            for range in block.ranges() {
                device.space.unmap(Range { access, ..range });
                device.memory_changed(range.start, range.end - range.start);
            }
        }
        // No device sees them any more: the pages go.
        drop(block.pages);
        Ok(())
    }

    /// Names an allocation to other processes: a descriptor, and where in its memory the allocation begins.
    pub(crate) fn export(&self, handle: MemoryHandle, kind: ExportKind) -> Result<SharedHandle, Error> {
        if kind != ExportKind::DMA_BUF {
            return Err(Error::not_supported(
                "A name for memory that is no file descriptor",
            ));
        }
        let mut table = self.table.lock();
        let block = table.block(handle)?;
        let Some(pages) = &block.pages else {
            return Err(Error::not_supported("Sharing memory of the program"));
        };
        let (buffer, offset) = match &block.buffer {
            Some(shared) => shared,
            None => block.buffer.insert((pages.share()?, 0)),
        };
        let descriptor = buffer.descriptor()?.into_raw_fd();
        let mut words = [0; 8];
        words[0] = u32::from_ne_bytes(descriptor.to_ne_bytes());
        Ok(SharedHandle {
            kind,
            reserved: 0,
            offset: *offset,
            words,
        })
    }

    /// Takes memory that somebody else named, for devices.
    pub(crate) fn import(&self, request: &ImportRequest<'_>, nodes: &[usize]) -> Result<Allocation, Error> {
        if request.shared.kind != ExportKind::DMA_BUF {
            return Err(Error::not_supported(
                "A name for memory that is no file descriptor",
            ));
        }
        if nodes.is_empty() {
            return Err(Error::not_supported("Memory without an address"));
        }
        let buffer = Buffer::of(i32::from_ne_bytes(request.shared.words[0].to_ne_bytes()))?;
        let offset = request.shared.offset;
        let left = buffer
            .bytes()
            .checked_sub(offset)
            .filter(|_| offset.is_multiple_of(page()));
        let bytes = match request.bytes {
            0 => left,
            bytes => left
                .filter(|&left| bytes <= left)
                .and_then(|_| bytes.checked_next_multiple_of(page())),
        };
        let Some(bytes) = bytes.filter(|&bytes| bytes != 0) else {
            let message = format!(
                "A buffer of {} bytes does not have {} bytes at {offset:#x}",
                buffer.bytes(),
                request.bytes
            );
            return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
        };
        let pages = Pages::of(&buffer, offset, bytes)?;
        let range = Range {
            start: pages.address(),
            end: pages.address() + bytes,
            access: Access::READ_WRITE,
        };
        for &node in nodes {
            self.devices[node].space.map(range);
        }
        let handle = self.table.lock().insert(Block {
            pages: Some(pages),
            buffer: Some((buffer, offset)),
            home: None,
            range,
            also: None,
            nodes: nodes.iter().map(|&node| (node, range.access)).collect(),
        });
        Ok(Allocation {
            handle,
            device_address: range.start,
            host_address: range.start,
            bytes,
        })
    }

    /// Lets further devices see a block.
    pub(crate) fn map(&self, request: &MapRequest<'_>, nodes: &[usize]) -> Result<(), Error> {
        let mut table = self.table.lock();
        let block = table.block(request.handle)?;
        let access = Access {
            write: block.range.access.write && !request.flags.contains(AllocFlags::READ_ONLY),
            ..block.range.access
        };
        for &node in nodes {
            if !block.nodes.iter().any(|(seen, _)| *seen == node) {
                for range in block.ranges() {
                    self.devices[node].space.map(Range { access, ..range });
                }
                block.nodes.push((node, access));
            }
        }
        Ok(())
    }

    /// Takes a block from the sight of devices.
    pub(crate) fn unmap(&self, request: &MapRequest<'_>, nodes: &[usize]) -> Result<(), Error> {
        let mut table = self.table.lock();
        let block = table.block(request.handle)?;
        for node in nodes {
            if let Some(index) = block.nodes.iter().position(|(seen, _)| seen == node) {
                let (node, access) = block.nodes.swap_remove(index);
                for range in block.ranges() {
                    self.devices[node].space.unmap(Range { access, ..range });
                }
            }
        }
        Ok(())
    }

    /// Finds a block.
    pub(crate) fn check(&self, handle: MemoryHandle) -> Result<(), Error> {
        self.table.lock().block(handle).map(|_| ())
    }

    fn take(&self, node: usize, bytes: u64) -> Result<(), Error> {
        let left = &mut self.table.lock().left[node];
        *left = left.checked_sub(bytes).ok_or_else(|| {
            let message = format!("{bytes} bytes of device memory were asked for and {left} are left");
            Error::new(ErrorCode::OUT_OF_RESOURCES, message)
        })?;
        Ok(())
    }
}

impl Table {
    fn insert(&mut self, block: Block) -> MemoryHandle {
        let handle = self.next;
        self.next += 1;
        self.blocks.insert(handle, block);
        MemoryHandle(handle)
    }

    fn block(&mut self, handle: MemoryHandle) -> Result<&mut Block, Error> {
        self.blocks.get_mut(&handle.0).ok_or_else(|| unknown(handle))
    }
}

/// What a device may do with memory of these flags.
fn access(flags: AllocFlags) -> Access {
    Access {
        read: true,
        write: !flags.contains(AllocFlags::READ_ONLY),
        execute: flags.contains(AllocFlags::EXECUTABLE),
    }
}

fn unknown(handle: MemoryHandle) -> Error {
    Error::new(
        ErrorCode::INVALID_HANDLE,
        format!("{} is no memory handle of this driver", handle.0),
    )
}
