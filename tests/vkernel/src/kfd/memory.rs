//! Address spaces of GPUs and the memory in them.

use super::queues::doorbell_offset;
use crate::buffers::{Backing, Buffer};
use crate::kernel::{register_page, Encoding, Kernel, Which, SMALL_PAGE};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::memory as uapi;
use hansa_kfd::uapi::memory::{
    AllocMemoryOfGpu, AvailableMemory, FreeMemoryOfGpu, MapMemoryToGpu, UnmapMemoryFromGpu,
};
use hansa_kfd::uapi::system::{AcquireVm, SetMemoryPolicy, SetScratchBackingVa};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bits of memory flags that have a meaning.
const MEMORY_FLAGS: u32 = 0x1f | 0x1ff << 23;
/// Kinds of memory.
const MEMORY_KINDS: u32 = 0x1f;

/// Refuses addresses that no device has.
pub(super) fn check_range(address: u64, bytes: u64) -> Answer {
    match address.checked_add(bytes) {
        Some(_) => Ok(()),
        None => Err(Errno::INVAL),
    }
}

pub(super) fn acquire_vm(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: AcquireVm = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let fd = i32::try_from(a.drm_fd).map_err(|_| Errno::BADF)?;
    match kernel.which(fd) {
        Some(Which::Render(of)) if of == gpu => {}
        Some(_) => return Err(Errno::INVAL),
        None => return Err(Errno::BADF),
    }
    let mut process = kernel.process();
    let first = *process.spaces.entry(gpu).or_insert(fd);
    if first == fd {
        Ok(())
    } else {
        Err(Errno::BUSY)
    }
}

pub(super) fn alloc_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: AllocMemoryOfGpu = user::get(at, bytes)?;
    let page = kernel.options.page;
    if a.size == 0 || !a.size.is_multiple_of(page) || !a.va_addr.is_multiple_of(page) {
        return Err(Errno::INVAL);
    }
    check_range(a.va_addr, a.size)?;
    if a.flags & !MEMORY_FLAGS != 0 || (a.flags & MEMORY_KINDS).count_ones() != 1 {
        kernel.complain(format!("ALLOC_MEMORY_OF_GPU with flags {:#010x}", a.flags));
        return Err(Errno::INVAL);
    }
    let gpu = kernel.gpu(a.gpu_id)?;
    let mut process = kernel.process();
    if !process.spaces.contains_key(&gpu) {
        return Err(Errno::NODEV);
    }
    let kind = a.flags & MEMORY_KINDS;
    let backing = match kind {
        uapi::ALLOC_VRAM | uapi::ALLOC_GTT => {
            let used = process.buffers.used(gpu, uapi::ALLOC_VRAM);
            let vram = kernel.machine.gpus[gpu].vram;
            if kind == uapi::ALLOC_VRAM && used.saturating_add(a.size) > vram {
                return Err(Errno::NOMEM);
            }
            let mut file = kernel.renders[gpu].lock();
            let offset = file.take(a.size)?;
            let view = file
                .view(offset, a.size)
                .inspect_err(|_| file.give_back(offset, a.size))?;
            a.mmap_offset = offset;
            Backing::File {
                gpu,
                offset,
                bytes: a.size,
                view,
            }
        }
        uapi::ALLOC_USERPTR => {
            if a.mmap_offset == 0 || !a.mmap_offset.is_multiple_of(page) {
                return Err(Errno::INVAL);
            }
            let mut probe = [0];
            user::read(a.mmap_offset, &mut probe)?;
            let last = a.mmap_offset.checked_add(a.size - 1).ok_or(Errno::FAULT)?;
            user::read(last, &mut probe)?;
            Backing::User(a.mmap_offset)
        }
        uapi::ALLOC_DOORBELL => {
            if a.size != kernel.machine.gpus[gpu].doorbell_page_bytes(page) {
                return Err(Errno::INVAL);
            }
            a.mmap_offset = doorbell_offset(kernel, gpu);
            Backing::Doorbells(kernel.doorbells[gpu].address)
        }
        _ => {
            if a.size != page {
                return Err(Errno::INVAL);
            }
            if page != SMALL_PAGE {
                return Err(Errno::NOMEM);
            }
            // A page of the device's file that nothing else uses stands for the registers.
            a.mmap_offset = match kernel.options.encoding {
                Encoding::Linux => u64::from(a.gpu_id) << 46,
                Encoding::File => register_page(gpu),
            };
            Backing::Nothing
        }
    };
    let buffer = Buffer {
        address: a.va_addr,
        bytes: a.size,
        gpu,
        flags: a.flags,
        backing: Arc::new(backing),
        mapped: BTreeSet::new(),
        imported: false,
    };
    a.handle = process.buffers.enter(a.gpu_id, buffer);
    user::put(at, bytes, &a)
}

pub(super) fn free_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: FreeMemoryOfGpu = user::get(at, bytes)?;
    let mut process = kernel.process();
    if process.event_page == Some(a.handle) {
        // The kernel keeps the page that it maps.
        return Err(Errno::BUSY);
    }
    let buffer = process.buffers.remove(a.handle)?;
    drop(process);
    kernel.aliases.hide(buffer.address);
    Backing::release(kernel, buffer.backing);
    Ok(())
}

fn devices(
    kernel: &Kernel,
    pointer: u64,
    count: u32,
    done: u32,
    by_number: fn(&Kernel, u32) -> Result<usize, Errno>,
) -> Result<Vec<usize>, Errno> {
    if count == 0 || done > count || count > 4096 {
        return Err(Errno::INVAL);
    }
    user::words(pointer, count as usize)?
        .into_iter()
        .map(|gpu_id| by_number(kernel, gpu_id))
        .collect()
}

pub(super) fn map_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: MapMemoryToGpu = user::get(at, bytes)?;
    let gpus = devices(
        kernel,
        a.device_ids_array_ptr,
        a.n_devices,
        a.n_success,
        Kernel::gpu,
    )?;
    let mut process = kernel.process();
    let (address, size) = {
        let buffer = process.buffers.get(a.handle)?;
        (buffer.address, buffer.bytes)
    };
    for gpu in gpus.into_iter().skip(a.n_success as usize) {
        // Ranges of the program's memory are gone where a buffer has its place: nothing here sees that they are unmapped.
        super::svm::give_way(kernel, &mut process, gpu, (address, address + size))?;
        let is_beyond = address + size > kernel.machine.gpus[gpu].address_bytes;
        let bad = if is_beyond || process.buffers.is_taken(gpu, a.handle, address, size) {
            Some(Errno::INVAL)
        } else if process.spaces.contains_key(&gpu) {
            // A script may let the second of several devices fail.
            kernel.faults.check("MAP_MEMORY_TO_GPU device").err()
        } else {
            Some(Errno::NODEV)
        };
        if let Some(errno) = bad {
            // The count of those that went well reaches the caller in either case.
            user::put(at, bytes, &a)?;
            return Err(errno);
        }
        let buffer = process.buffers.get(a.handle)?;
        if buffer.mapped.insert(gpu) {
            show(kernel, gpu, buffer);
        }
        a.n_success += 1;
    }
    user::put(at, bytes, &a)
}

/// Tells what runs kernels of a buffer. It has the host's addresses, so memory that the program left inaccessible, and
/// host memory under another address, is put at its address for it.
pub(crate) fn show(kernel: &Kernel, gpu: usize, buffer: &Buffer) {
    let Some(executor) = kernel.device.executor() else {
        return;
    };
    match &*buffer.backing {
        Backing::User(at) if *at == buffer.address => {}
        Backing::User(at) => {
            if kernel.aliases.show(*at, buffer.address, buffer.bytes).is_err() {
                return;
            }
        }
        Backing::Nothing => return,
        // The program maps its own page there.
        Backing::Doorbells(_) => {}
        // The program mapped it itself.
        Backing::File { .. }
            if !buffer.imported && buffer.flags & (uapi::ALLOC_PUBLIC | uapi::ALLOC_GTT) != 0 => {}
        backing => {
            if backing.put(kernel, buffer.address, 0, buffer.bytes).is_err() {
                return;
            }
        }
    }
    let has = |flag| buffer.flags & flag != 0;
    executor.see(
        gpu,
        buffer.address,
        buffer.bytes,
        has(uapi::ALLOC_WRITABLE),
        has(uapi::ALLOC_EXECUTABLE),
    );
}

pub(super) fn unmap_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: UnmapMemoryFromGpu = user::get(at, bytes)?;
    let gpus = devices(
        kernel,
        a.device_ids_array_ptr,
        a.n_devices,
        a.n_success,
        Kernel::seen,
    )?;
    let mut process = kernel.process();
    let buffer = process.buffers.get(a.handle)?;
    let (start, end) = (buffer.address, buffer.address + buffer.bytes);
    for gpu in gpus.into_iter().skip(a.n_success as usize) {
        if kernel.options.strict_buffers && process.queues.uses(gpu, start, end) {
            user::put(at, bytes, &a)?;
            return Err(Errno::BUSY);
        }
        let buffer = process.buffers.get(a.handle)?;
        if buffer.mapped.remove(&gpu) {
            if let Some(executor) = kernel.device.executor() {
                executor.forget(gpu, buffer.address, buffer.bytes);
            }
        }
        a.n_success += 1;
    }
    user::put(at, bytes, &a)
}

pub(super) fn available_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: AvailableMemory = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let used = kernel.process().buffers.used(gpu, uapi::ALLOC_VRAM);
    a.available = kernel.machine.gpus[gpu].vram.saturating_sub(used);
    user::put(at, bytes, &a)
}

pub(super) fn set_memory_policy(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetMemoryPolicy = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id)?;
    if a.default_policy > 1 || a.alternate_policy > 1 {
        return Err(Errno::INVAL);
    }
    if a.misc_process_flag > 1 {
        kernel.complain(format!(
            "SET_MEMORY_POLICY with process flags {:#x}",
            a.misc_process_flag
        ));
        return Err(Errno::INVAL);
    }
    Ok(())
}

pub(super) fn set_scratch_backing_va(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetScratchBackingVa = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id).map(drop)
}
