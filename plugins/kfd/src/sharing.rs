//! Sharing memory with other processes and other drivers.
//!
//! A dma-buf file names memory to anyone (interface 1.12). The names of AMD's own kernel module (four words) reach
//! another process without a file; a kernel without them says so.

use crate::error::{Error, Result};
use crate::machine::{Machine, MINOR_DMABUF};
use crate::memory::{Apart, Block};
use crate::range::Range;
use hansa_plugin_api::sys::Errno;
use hansa_plugin_api::{Allocation, ExportKind, ImportRequest, MemoryHandle, SharedHandle};

/// `O_CLOEXEC` and `O_RDWR`, as `fcntl.h` has them.
pub(crate) const FILE_FLAGS: u32 = 0o2_000_000 | 0o2;

impl Machine {
    /// Names an allocation to another process.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], [`Error::TooOld`], and what the kernel says.
    pub fn export(&self, handle: MemoryHandle, kind: ExportKind) -> Result<SharedHandle> {
        let mut words = [0; 8];
        let mut offset = 0;
        self.memory.with(handle, |block, at| {
            offset = at;
            match kind {
                ExportKind::DMA_BUF => {
                    self.needs(MINOR_DMABUF, "EXPORT_DMABUF")?;
                    let file = self.kfd.export_dmabuf(block.handle, FILE_FLAGS)?;
                    words[0] = u32::try_from(file).unwrap_or(u32::MAX);
                }
                ExportKind::IPC => {
                    let gpu_id = block.mapped.first().copied().unwrap_or(0);
                    let name = self.kfd.ipc_export(gpu_id, block.handle).map_err(no_such_call)?;
                    words[..4].copy_from_slice(&name);
                    words[4] = gpu_id;
                    let [low, high] = crate::event::halves(block.range.bytes());
                    words[5] = low;
                    words[6] = high;
                }
                ExportKind(other) => {
                    return Err(Error::Argument(format!("Export kind {other} is not supported")))
                }
            }
            Ok(())
        })?;
        Ok(SharedHandle {
            kind,
            reserved: 0,
            offset,
            words,
        })
    }

    /// Takes memory that another process named.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`], and what the kernel says.
    pub fn import(&self, request: &ImportRequest<'_>) -> Result<Allocation> {
        let words = &request.shared.words;
        let gpu_ids = self.gpu_ids(request.nodes.as_slice())?;
        let offset = request.shared.offset;
        let wanted = offset
            .checked_add(request.bytes)
            .ok_or_else(|| Error::Argument(format!("Offset {offset:#x} is none")))?;
        // Memory that nobody sees yet is put somewhere later.
        let apart = |node| {
            gpu_ids.is_empty().then_some(Apart {
                node,
                mmap_offset: None,
            })
        };
        let block = match request.shared.kind {
            ExportKind::DMA_BUF => {
                let info = self.kfd.dmabuf_info(words[0])?;
                let gpu_id = info.gpu_id;
                let node = self.node_shared(gpu_id)?;
                let apart = apart(node);
                let range = self.range_for_import(info.bytes, wanted)?;
                let handle = self.kfd.import_dmabuf(gpu_id, range.address(), words[0])?;
                Block {
                    range,
                    handle,
                    mapped: Vec::new(),
                    host_visible: false,
                    apart: apart.map(|apart| Apart {
                        mmap_offset: self.place_of_dmabuf(node, words[0]),
                        ..apart
                    }),
                }
            }
            ExportKind::IPC => {
                let gpu_id = words[4];
                let node = self.node_shared(gpu_id)?;
                let apart = apart(node);
                let bytes = u64::from(words[5]) | u64::from(words[6]) << 32;
                let range = self.range_for_import(bytes, wanted)?;
                let name = [words[0], words[1], words[2], words[3]];
                let buffer = self
                    .kfd
                    .ipc_import(gpu_id, range.address(), name)
                    .map_err(no_such_call)?;
                let file = self.gpus[node as usize].render.0.file();
                let host_visible = range
                    .show("imported memory", file, buffer.mmap_offset, false)
                    .is_ok();
                Block {
                    range,
                    handle: buffer.handle,
                    mapped: Vec::new(),
                    host_visible,
                    apart: apart.map(|apart| Apart {
                        mmap_offset: Some(buffer.mmap_offset),
                        ..apart
                    }),
                }
            }
            ExportKind(other) => {
                return Err(Error::Argument(format!("Import kind {other} is not supported")))
            }
        };
        let block = self.finish_block(block, &gpu_ids, Ok(()))?;
        let whole = self.memory.keep(block);
        let within = |address: u64| if address == 0 { 0 } else { address + offset };
        Ok(Allocation {
            device_address: within(whole.device_address),
            host_address: within(whole.host_address),
            bytes: whole.bytes - offset,
            ..whole
        })
    }

    fn node_shared(&self, gpu_id: u32) -> Result<u32> {
        self.node_of(gpu_id).ok_or_else(|| {
            Error::Argument(format!("The memory is of device {gpu_id}, none of this driver's"))
        })
    }

    fn range_for_import(&self, bytes: u64, wanted: u64) -> Result<Range> {
        let page = self.system.page_size() as u64;
        if bytes == 0 || !bytes.is_multiple_of(page) || wanted > bytes {
            return Err(Error::Argument(format!(
                "{wanted:#x} bytes are wanted of {bytes:#x} that are shared"
            )));
        }
        self.reserve(bytes, page)
    }
}

/// A kernel without the call answers ENOTTY; that is "not supported", not a failure.
fn no_such_call(error: Error) -> Error {
    match error {
        Error::Ioctl {
            request,
            errno: Errno::NOTTY,
            ..
        } => Error::Missing { request },
        other => other,
    }
}
