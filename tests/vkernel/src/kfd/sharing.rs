//! Buffers that go to other processes and devices.

use crate::buffers::{Backing, Buffer};
use crate::files::DeviceFile;
use crate::kernel::{Exported, Kernel, Which};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::sharing::{ExportDmabuf, GetDmabufInfo, ImportDmabuf};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn export_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: ExportDmabuf = user::get(at, bytes)?;
    let mut process = kernel.process();
    let buffer = process.buffers.get(a.handle)?.clone();
    drop(process);
    if !matches!(*buffer.backing, Backing::File { .. }) {
        return Err(Errno::INVAL);
    }
    let file = DeviceFile::new(c"vkernel-dmabuf")?;
    let fd = file.open(a.flags & 0o2_000_000 != 0)?;
    kernel.exported.lock().push(Exported {
        file,
        bytes: buffer.bytes,
        gpu: buffer.gpu,
        flags: buffer.flags,
        backing: buffer.backing,
    });
    a.dmabuf_fd = u32::try_from(fd).map_err(|_| Errno::MFILE)?;
    user::put(at, bytes, &a)
}

fn with_exported<T>(kernel: &Kernel, fd: u32, act: impl FnOnce(&Exported) -> T) -> Result<T, Errno> {
    match kernel.which(i32::try_from(fd).map_err(|_| Errno::BADF)?) {
        Some(Which::Dmabuf(index)) => {
            let exported = kernel.exported.lock();
            exported.get(index).map(act).ok_or(Errno::BADF)
        }
        Some(_) => Err(Errno::INVAL),
        None => Err(Errno::BADF),
    }
}

pub(super) fn get_dmabuf_info(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetDmabufInfo = user::get(at, bytes)?;
    with_exported(kernel, a.dmabuf_fd, |exported| {
        a.size = exported.bytes;
        a.gpu_id = kernel.machine.gpus[exported.gpu].gpu_id;
        a.flags = exported.flags;
        a.metadata_size = 0;
    })?;
    user::put(at, bytes, &a)
}

pub(super) fn import_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: ImportDmabuf = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let buffer = with_exported(kernel, a.dmabuf_fd, |exported| Buffer {
        address: a.va_addr,
        bytes: exported.bytes,
        gpu,
        flags: exported.flags,
        backing: Arc::clone(&exported.backing),
        mapped: BTreeSet::new(),
    })?;
    a.handle = kernel.process().buffers.enter(a.gpu_id, buffer);
    user::put(at, bytes, &a)
}
