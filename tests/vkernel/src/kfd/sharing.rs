//! Buffers that go to other processes and devices.

use super::memory::check_range;
use crate::buffers::Buffer;
use crate::exported;
use crate::exported::Shared;
use crate::kernel::Kernel;
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::sharing::{ExportDmabuf, GetDmabufInfo, ImportDmabuf, IpcExportHandle, IpcImportHandle};
use std::collections::BTreeSet;
use std::sync::Arc;

/// `O_CLOEXEC`, as `fcntl.h` has it.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;

fn shared(kernel: &Kernel, handle: u64) -> Result<Shared, Errno> {
    let mut process = kernel.process();
    let buffer = process.buffers.get(handle)?;
    Ok(Shared {
        backing: Arc::clone(&buffer.backing),
        bytes: buffer.bytes,
        gpu: buffer.gpu,
        flags: buffer.flags,
        note: 0,
    })
}

fn of_file(kernel: &Kernel, fd: u32) -> Result<Shared, Errno> {
    exported::of_file(kernel, i32::try_from(fd).map_err(|_| Errno::BADF)?)
}

fn enter(kernel: &Kernel, gpu_id: u32, address: u64, shared: Shared) -> Result<u64, Errno> {
    let gpu = kernel.gpu(gpu_id)?;
    check_range(address, shared.bytes)?;
    let buffer = Buffer {
        address,
        bytes: shared.bytes,
        gpu,
        flags: shared.flags,
        backing: shared.backing,
        mapped: BTreeSet::new(),
        imported: true,
    };
    Ok(kernel.process().buffers.enter(gpu_id, buffer))
}

pub(super) fn export_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: ExportDmabuf = user::get(at, bytes)?;
    let shared = shared(kernel, a.handle)?;
    let fd = exported::export(kernel, shared, a.flags & CLOSE_ON_EXEC != 0)?;
    a.dmabuf_fd = u32::try_from(fd).map_err(|_| Errno::MFILE)?;
    user::put(at, bytes, &a)
}

pub(super) fn get_dmabuf_info(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetDmabufInfo = user::get(at, bytes)?;
    let shared = of_file(kernel, a.dmabuf_fd)?;
    a.size = shared.bytes;
    a.gpu_id = kernel.machine.gpus[shared.gpu].gpu_id;
    a.flags = shared.flags;
    let notes = kernel.process().graphics.notes(&shared.backing).text;
    let room = a.metadata_size as usize;
    a.metadata_size = u32::try_from(notes.len()).unwrap_or(0);
    if room != 0 {
        user::write(a.metadata_ptr, &notes[..room.min(notes.len())])?;
    }
    user::put(at, bytes, &a)
}

pub(super) fn import_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: ImportDmabuf = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id)?;
    let shared = of_file(kernel, a.dmabuf_fd)?;
    a.handle = enter(kernel, a.gpu_id, a.va_addr, shared)?;
    user::put(at, bytes, &a)
}

/// The name is the process with the number of a file that it keeps for that.
pub(super) fn ipc_export(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: IpcExportHandle = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id)?;
    let mut shared = shared(kernel, a.handle)?;
    shared.note = a.flags;
    let fd = exported::export(kernel, shared, true)?;
    // SAFETY: takes nothing and cannot fail.
    let process = unsafe { libc::getpid() };
    a.share_handle = [process, fd, 0, 0].map(|word| u32::try_from(word).unwrap_or(0));
    user::put(at, bytes, &a)
}

pub(super) fn ipc_import(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: IpcImportHandle = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let shared = exported::of_process(kernel, a.share_handle[0], a.share_handle[1])?;
    a.flags = shared.note;
    // What the program maps there is put in place of when a device sees the memory.
    a.mmap_offset = kernel.renders[gpu].lock().take(shared.bytes)?;
    a.handle = enter(kernel, a.gpu_id, a.va_addr, shared)?;
    user::put(at, bytes, &a)
}
