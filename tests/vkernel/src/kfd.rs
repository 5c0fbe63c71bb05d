//! Requests on `/dev/kfd`.
//!
//! The order of checks and the numbers of errors are those of the kernel (`kfd_chardev.c`, `kfd_events.c`,
//! `amdgpu_amdkfd_gpuvm.c`), as far as a program can tell.

use crate::buffers::{Backing, Buffer};
use crate::events::{Standing, Waiter};
use crate::kernel::{doorbell_page, register_page, Encoding, Exported, Kernel, DOORBELL_BYTES};
use crate::queues::{check_buffers, check_numbers, check_visible};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::event as event_uapi;
use hansa_kfd::uapi::event::{CreateEvent, DestroyEvent, ResetEvent, SetEvent, WaitEvents};
use hansa_kfd::uapi::memory as memory_uapi;
use hansa_kfd::uapi::memory::{
    AllocMemoryOfGpu, AvailableMemory, FreeMemoryOfGpu, MapMemoryToGpu, Svm, UnmapMemoryFromGpu,
};
use hansa_kfd::uapi::queue::{AllocQueueGws, CreateQueue, DestroyQueue, SetCuMask, UpdateQueue};
use hansa_kfd::uapi::sharing::{ExportDmabuf, GetDmabufInfo, ImportDmabuf};
use hansa_kfd::uapi::system::{
    AcquireVm, GetClockCounters, GetProcessAperturesNew, GetTileConfig, GetVersion, ProcessDeviceApertures,
    RuntimeEnable, SetMemoryPolicy, SetScratchBackingVa, SetTrapHandler, SetXnackMode,
};
use hansa_kfd::uapi::{Request, GROUP};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Slots of an event page that the kernel makes itself, and of one that the process gives.
const SLOTS: (u32, u32) = (256, event_uapi::SIGNAL_EVENT_LIMIT);
/// Bits of memory flags that have a meaning.
const MEMORY_FLAGS: u32 = 0x1f | 0x1ff << 23;
/// Kinds of memory.
const MEMORY_KINDS: u32 = 0x1f;
/// Ticks of the device's clock are so many nanoseconds long.
pub const NANOSECONDS_PER_TICK: u64 = 10;

type Handler = fn(&Arc<Kernel>, u64, usize) -> Answer;

/// Requests by number, name and handler. A handler that is missing answers as a kernel without the call does.
const TABLE: [(u8, &str, Option<Handler>); 36] = [
    (0x01, GetVersion::NAME, Some(get_version)),
    (0x02, CreateQueue::NAME, Some(create_queue)),
    (0x03, DestroyQueue::NAME, Some(destroy_queue)),
    (0x04, SetMemoryPolicy::NAME, Some(set_memory_policy)),
    (0x05, GetClockCounters::NAME, Some(get_clock_counters)),
    (0x06, "GET_PROCESS_APERTURES", None),
    (0x07, UpdateQueue::NAME, Some(update_queue)),
    (0x08, CreateEvent::NAME, Some(create_event)),
    (0x09, DestroyEvent::NAME, Some(destroy_event)),
    (0x0a, SetEvent::NAME, Some(set_event)),
    (0x0b, ResetEvent::NAME, Some(reset_event)),
    (0x0c, WaitEvents::NAME, Some(wait_events)),
    (0x11, SetScratchBackingVa::NAME, Some(set_scratch_backing_va)),
    (0x12, GetTileConfig::NAME, Some(get_tile_config)),
    (0x13, SetTrapHandler::NAME, Some(set_trap_handler)),
    (0x14, GetProcessAperturesNew::NAME, Some(get_apertures)),
    (0x15, AcquireVm::NAME, Some(acquire_vm)),
    (0x16, AllocMemoryOfGpu::NAME, Some(alloc_memory)),
    (0x17, FreeMemoryOfGpu::NAME, Some(free_memory)),
    (0x18, MapMemoryToGpu::NAME, Some(map_memory)),
    (0x19, UnmapMemoryFromGpu::NAME, Some(unmap_memory)),
    (0x1a, SetCuMask::NAME, Some(set_cu_mask)),
    (0x1b, "GET_QUEUE_WAVE_STATE", None),
    (0x1c, GetDmabufInfo::NAME, Some(get_dmabuf_info)),
    (0x1d, ImportDmabuf::NAME, Some(import_dmabuf)),
    (0x1e, AllocQueueGws::NAME, Some(alloc_gws)),
    (0x1f, "SMI_EVENTS", None),
    (0x20, Svm::NAME, Some(svm)),
    (0x21, SetXnackMode::NAME, Some(set_xnack)),
    (0x23, AvailableMemory::NAME, Some(available_memory)),
    (0x24, ExportDmabuf::NAME, Some(export_dmabuf)),
    (0x25, RuntimeEnable::NAME, Some(runtime_enable)),
    (0x26, "DBG_TRAP", None),
    (0x80, "IPC_IMPORT_HANDLE", None),
    (0x81, "IPC_EXPORT_HANDLE", None),
    (0x82, "DBG_TRAP_DKMS", None),
];

/// The interface that has a request, when it is not the first.
const fn since(number: u8) -> u32 {
    match number {
        0x1f => 3,
        0x20 | 0x21 => 5,
        0x23 => 9,
        0x24 => 12,
        0x25 | 0x26 => 13,
        _ => 1,
    }
}

fn entry(code: u32) -> Option<&'static (u8, &'static str, Option<Handler>)> {
    let [number, group, ..] = code.to_le_bytes();
    TABLE.iter().find(|(n, ..)| group == GROUP && *n == number)
}

/// The name of a request.
pub(crate) fn name(code: u32) -> Option<&'static str> {
    entry(code).map(|(_, name, _)| *name)
}

/// Every request that is answered, by name.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE
        .iter()
        .filter(|(.., handler)| handler.is_some())
        .map(|(_, name, _)| *name)
}

/// Answers a request. As the kernel does, the number alone decides, and the size in the code is how much is copied.
pub(crate) fn answer(kernel: &Arc<Kernel>, code: u32, argument: u64) -> Answer {
    let Some((number, _, handler)) = entry(code) else {
        return Err(Errno::NOTTY);
    };
    if since(*number) > kernel.options.minor {
        return Err(Errno::NOTTY);
    }
    match handler {
        Some(handler) => handler(kernel, argument, (code >> 16 & 0x3fff) as usize),
        None if *number >= 0x80 => Err(Errno::NOTTY),
        None => Err(Errno::OPNOTSUPP),
    }
}

fn get_version(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let answer = GetVersion {
        major_version: 1,
        minor_version: kernel.options.minor,
    };
    user::put(at, bytes, &answer)
}

fn set_memory_policy(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
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

fn now(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure has room for the answer.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The device's clock.
#[must_use]
pub fn device_clock() -> u64 {
    now(libc::CLOCK_MONOTONIC) / NANOSECONDS_PER_TICK
}

fn get_clock_counters(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetClockCounters = user::get(at, bytes)?;
    a.gpu_clock_counter = if kernel.gpu(a.gpu_id).is_ok() {
        device_clock()
    } else {
        0
    };
    a.cpu_clock_counter = now(libc::CLOCK_MONOTONIC_RAW);
    a.system_clock_counter = now(libc::CLOCK_BOOTTIME);
    a.system_clock_freq = 1_000_000_000;
    user::put(at, bytes, &a)
}

fn get_apertures(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetProcessAperturesNew = user::get(at, bytes)?;
    let room = a.num_of_nodes as usize;
    let mut filled = 0;
    for gpu in kernel
        .machine
        .gpus
        .iter()
        .take(if room == 0 { usize::MAX } else { room })
    {
        if room != 0 {
            let one = ProcessDeviceApertures {
                lds_base: 1 << 48,
                lds_limit: 1 << 48 | 0xffff_ffff,
                scratch_base: 2 << 48,
                scratch_limit: 2 << 48 | 0xffff_ffff,
                gpuvm_base: 0x1000,
                gpuvm_limit: (1 << 47) - 1,
                gpu_id: gpu.gpu_id,
                pad: 0,
            };
            let words = [
                one.lds_base,
                one.lds_limit,
                one.scratch_base,
                one.scratch_limit,
                one.gpuvm_base,
                one.gpuvm_limit,
                u64::from(one.gpu_id),
            ];
            let to = a.kfd_process_device_apertures_ptr + filled * size_of::<ProcessDeviceApertures>() as u64;
            let flat: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            user::write(to, &flat)?;
        }
        filled += 1;
    }
    a.num_of_nodes = u32::try_from(filled).unwrap_or(u32::MAX);
    user::put(at, bytes, &a)
}

fn acquire_vm(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: AcquireVm = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let fd = i32::try_from(a.drm_fd).map_err(|_| Errno::BADF)?;
    match kernel.which(fd) {
        Some(crate::kernel::Which::Render(of)) if of == gpu => {}
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

fn alloc_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: AllocMemoryOfGpu = user::get(at, bytes)?;
    if a.size == 0 || a.size % PAGE != 0 || a.va_addr % PAGE != 0 {
        return Err(Errno::INVAL);
    }
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
        memory_uapi::ALLOC_VRAM | memory_uapi::ALLOC_GTT => {
            let used = process.buffers.used(gpu, memory_uapi::ALLOC_VRAM);
            let vram = kernel.machine.gpus[gpu].vram;
            if kind == memory_uapi::ALLOC_VRAM && used.saturating_add(a.size) > vram {
                return Err(Errno::NOMEM);
            }
            let mut file = kernel.renders[gpu].lock();
            let offset = file.take(a.size);
            let view = file
                .view(offset, a.size)
                .inspect_err(|_| file.give_back(offset, a.size))?;
            a.mmap_offset = offset;
            Backing::File { gpu, offset, view }
        }
        memory_uapi::ALLOC_USERPTR => {
            if a.mmap_offset == 0 || a.mmap_offset % PAGE != 0 {
                return Err(Errno::INVAL);
            }
            let mut probe = [0];
            user::read(a.mmap_offset, &mut probe)?;
            user::read(a.mmap_offset + a.size - 1, &mut probe)?;
            Backing::User(a.mmap_offset)
        }
        memory_uapi::ALLOC_DOORBELL => {
            if a.size != DOORBELL_BYTES {
                return Err(Errno::INVAL);
            }
            a.mmap_offset = doorbell_offset(kernel, gpu);
            Backing::Nothing
        }
        _ => {
            if a.size != PAGE {
                return Err(Errno::INVAL);
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
    };
    a.handle = process.buffers.enter(a.gpu_id, buffer);
    user::put(at, bytes, &a)
}

fn doorbell_offset(kernel: &Kernel, gpu: usize) -> u64 {
    match kernel.options.encoding {
        Encoding::Linux => 3 << 62 | u64::from(kernel.machine.gpus[gpu].gpu_id) << 46,
        Encoding::File => doorbell_page(gpu),
    }
}

fn free_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: FreeMemoryOfGpu = user::get(at, bytes)?;
    let mut process = kernel.process();
    if process.event_page == Some(a.handle) {
        // The kernel keeps the page that it maps.
        return Err(Errno::BUSY);
    }
    let buffer = process.buffers.remove(a.handle)?;
    drop(process);
    kernel.aliases.hide(buffer.address);
    give_back(kernel, buffer);
    Ok(())
}

/// Gives a buffer's part of a file back, unless someone else has it too.
fn give_back(kernel: &Kernel, buffer: Buffer) {
    if let Some(Backing::File { gpu, offset, view }) = Arc::into_inner(buffer.backing) {
        drop(view);
        kernel.renders[gpu].lock().give_back(offset, buffer.bytes);
    }
}

fn devices(kernel: &Kernel, pointer: u64, count: u32, done: u32) -> Result<Vec<usize>, Errno> {
    if count == 0 || done > count || count > 4096 {
        return Err(Errno::INVAL);
    }
    user::words(pointer, count as usize)?
        .into_iter()
        .map(|gpu_id| kernel.gpu(gpu_id))
        .collect()
}

fn map_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: MapMemoryToGpu = user::get(at, bytes)?;
    let gpus = devices(kernel, a.device_ids_array_ptr, a.n_devices, a.n_success)?;
    let mut process = kernel.process();
    let (address, size) = {
        let buffer = process.buffers.get(a.handle)?;
        (buffer.address, buffer.bytes)
    };
    for gpu in gpus.into_iter().skip(a.n_success as usize) {
        let bad = if process.buffers.is_taken(gpu, a.handle, address, size) {
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
fn show(kernel: &Kernel, gpu: usize, buffer: &Buffer) {
    let Some(executor) = kernel.device.executor() else {
        return;
    };
    match &*buffer.backing {
        Backing::File {
            gpu: owner, offset, ..
        } => {
            let file = kernel.renders[*owner].lock();
            if buffer.flags & (memory_uapi::ALLOC_PUBLIC | memory_uapi::ALLOC_GTT) == 0
                && file.put(buffer.address, *offset, buffer.bytes).is_err()
            {
                return;
            }
        }
        Backing::User(at) if *at == buffer.address => {}
        Backing::User(at) => {
            if kernel.aliases.show(*at, buffer.address, buffer.bytes).is_err() {
                return;
            }
        }
        Backing::Nothing => return,
    }
    let has = |flag| buffer.flags & flag != 0;
    executor.see(
        gpu,
        buffer.address,
        buffer.bytes,
        has(memory_uapi::ALLOC_WRITABLE),
        has(memory_uapi::ALLOC_EXECUTABLE),
    );
}

fn unmap_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: UnmapMemoryFromGpu = user::get(at, bytes)?;
    let gpus = devices(kernel, a.device_ids_array_ptr, a.n_devices, a.n_success)?;
    let mut process = kernel.process();
    let buffer = process.buffers.get(a.handle)?;
    for gpu in gpus.into_iter().skip(a.n_success as usize) {
        if buffer.mapped.remove(&gpu) {
            if let Some(executor) = kernel.device.executor() {
                executor.forget(gpu, buffer.address, buffer.bytes);
            }
        }
        a.n_success += 1;
    }
    user::put(at, bytes, &a)
}

fn available_memory(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: AvailableMemory = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let used = kernel.process().buffers.used(gpu, memory_uapi::ALLOC_VRAM);
    a.available = kernel.machine.gpus[gpu].vram.saturating_sub(used);
    user::put(at, bytes, &a)
}

fn create_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: CreateQueue = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let described = kernel.machine.gpus[gpu];
    check_numbers(&a, &described)?;
    let mut process = kernel.process();
    if !process.spaces.contains_key(&gpu) {
        return Err(Errno::NODEV);
    }
    check_visible(&a, gpu, &process.buffers)?;
    if kernel.options.strict_buffers {
        check_buffers(&a, &described, gpu, &process.buffers)?;
    }
    let (id, doorbell) = process.queues.enter(a, gpu)?;
    a.queue_id = id;
    a.doorbell_offset = doorbell_offset(kernel, gpu) + u64::from(doorbell) * 8;
    drop(process);
    kernel.device.start(kernel, id, &a, gpu, doorbell);
    let copied = user::put(at, bytes, &a);
    if copied.is_err() {
        kernel.device.stop(id);
        kernel.process().queues.table.remove(&id);
    }
    copied
}

fn destroy_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: DestroyQueue = user::get(at, bytes)?;
    kernel.process().queues.get(a.queue_id)?;
    kernel.device.stop(a.queue_id);
    kernel.process().queues.table.remove(&a.queue_id);
    Ok(())
}

fn update_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: UpdateQueue = user::get(at, bytes)?;
    if a.queue_percentage > 100
        || a.queue_priority > 15
        || (a.ring_size != 0 && !a.ring_size.is_power_of_two())
    {
        return Err(Errno::INVAL);
    }
    let mut process = kernel.process();
    let queue = process.queues.get(a.queue_id)?;
    queue.percent = a.queue_percentage;
    queue.request.queue_priority = a.queue_priority;
    drop(process);
    kernel.device.pause(a.queue_id, a.queue_percentage == 0);
    Ok(())
}

fn set_cu_mask(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetCuMask = user::get(at, bytes)?;
    if a.num_cu_mask == 0 || a.num_cu_mask % 32 != 0 {
        return Err(Errno::INVAL);
    }
    // The kernel looks at no more than 1024 bits.
    let mask = user::words(a.cu_mask_ptr, (a.num_cu_mask.min(1024) / 32) as usize)?;
    kernel.process().queues.get(a.queue_id)?.cu_mask = mask;
    Ok(())
}

fn alloc_gws(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: AllocQueueGws = user::get(at, bytes)?;
    let mut process = kernel.process();
    let others = process
        .queues
        .table
        .iter()
        .any(|(id, queue)| *id != a.queue_id && queue.gws != 0);
    let queue = process.queues.get(a.queue_id)?;
    if kernel.machine.gpus[queue.gpu].gws == 0 {
        return Err(Errno::NODEV);
    }
    if a.num_gws != 0 && others {
        return Err(Errno::BUSY);
    }
    queue.gws = a.num_gws;
    a.first_gws = 0;
    user::put(at, bytes, &a)
}

fn create_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: CreateEvent = user::get(at, bytes)?;
    let mut process = kernel.process();
    if a.event_page_offset != 0 {
        if process.event_page.is_some() {
            return Err(Errno::INVAL);
        }
        let buffer = process.buffers.get(a.event_page_offset)?;
        if !matches!(*buffer.backing, Backing::File { .. }) || buffer.bytes < u64::from(SLOTS.1) * 8 {
            return Err(Errno::INVAL);
        }
        process.event_page = Some(a.event_page_offset);
    }
    let slots = if process.event_page.is_some() {
        SLOTS.1
    } else {
        SLOTS.0
    };
    let (id, slot) = process.events.create(a.event_type, a.auto_reset != 0, slots)?;
    a.event_id = id;
    if let Some(slot) = slot {
        a.event_trigger_data = id;
        a.event_slot_index = slot;
        a.event_page_offset = match kernel.options.encoding {
            Encoding::Linux => 2 << 62,
            // The caller only looks whether there is one.
            Encoding::File => 1 << 62,
        };
    }
    user::put(at, bytes, &a)
}

fn destroy_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: DestroyEvent = user::get(at, bytes)?;
    kernel.process().events.destroy(a.event_id)?;
    kernel.raised.notify_all();
    Ok(())
}

fn set_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetEvent = user::get(at, bytes)?;
    kernel.process().events.raise(a.event_id)?;
    kernel.raised.notify_all();
    Ok(())
}

fn reset_event(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: ResetEvent = user::get(at, bytes)?;
    kernel.process().events.get(a.event_id)?.raised = false;
    Ok(())
}

/// Bytes of one event of a wait, and where its number and its age are.
const EVENT_BYTES: u64 = size_of::<event_uapi::EventData>() as u64;
const EVENT_ID_WORD: usize = 10;

fn wait_events(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: WaitEvents = user::get(at, bytes)?;
    if a.num_events > 4096 * 2 {
        return Err(Errno::INVAL);
    }
    let words = (EVENT_BYTES / 4) as usize;
    let data = user::words(a.events_ptr, a.num_events as usize * words)?;
    let ids: Vec<u32> = data
        .chunks_exact(words)
        .map(|event| event[EVENT_ID_WORD])
        .collect();
    let ages: Vec<u64> = if kernel.options.minor >= 14 {
        data.chunks_exact(words)
            .map(|event| u64::from(event[0]) | u64::from(event[1]) << 32)
            .collect()
    } else {
        Vec::new()
    };
    let until = match a.timeout {
        u32::MAX => None,
        ms => Some(Instant::now() + Duration::from_millis(ms.into())),
    };
    let mut process = kernel.process();
    let waiter = Waiter::begin(&mut process.events, ids, &ages)?;
    let mut over = a.timeout == 0;
    let result = loop {
        match waiter.standing(&mut process.events, a.wait_for_all != 0) {
            Standing::Complete => break event_uapi::WAIT_RESULT_COMPLETE,
            Standing::Gone => break event_uapi::WAIT_RESULT_FAIL,
            Standing::Waiting if over => break event_uapi::WAIT_RESULT_TIMEOUT,
            Standing::Waiting => over = kernel.sleep(&mut process, until),
        }
    };
    let reports = waiter.reports(&mut process.events);
    waiter.end(&mut process.events);
    drop(process);
    if result == event_uapi::WAIT_RESULT_COMPLETE {
        for (i, report) in reports.into_iter().enumerate() {
            if let Some(payload) = report {
                let flat: Vec<u8> = payload.iter().flat_map(|word| word.to_ne_bytes()).collect();
                user::write(a.events_ptr + i as u64 * EVENT_BYTES, &flat)?;
            }
        }
    }
    a.wait_result = result;
    user::put(at, bytes, &a)?;
    if result == event_uapi::WAIT_RESULT_FAIL {
        return Err(Errno::IO);
    }
    Ok(())
}

fn set_scratch_backing_va(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetScratchBackingVa = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id).map(drop)
}

fn get_tile_config(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetTileConfig = user::get(at, bytes)?;
    kernel.gpu(a.gpu_id)?;
    a.num_tile_configs = 0;
    a.num_macro_tile_configs = 0;
    a.gb_addr_config = 0x2a11_4042;
    user::put(at, bytes, &a)
}

fn set_trap_handler(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetTrapHandler = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let process = kernel.process();
    if a.tba_addr != 0 && process.buffers.at(gpu, a.tba_addr).is_none() {
        return Err(Errno::INVAL);
    }
    Ok(())
}

/// Attributes of ranges of the process's memory. Access is what has an effect here: the GPU sees the range, as far as it
/// sees nothing there yet.
fn svm(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    const HEAD: usize = 24;
    let a: Svm = user::get(at, HEAD.min(bytes))?;
    let count = a.nattr as usize;
    if bytes != HEAD + count * 8 || a.size == 0 || a.start_addr % PAGE != 0 || a.size % PAGE != 0 {
        return Err(Errno::INVAL);
    }
    if a.op != memory_uapi::SVM_OP_SET_ATTR {
        return Err(Errno::OPNOTSUPP);
    }
    let words = user::words(at + HEAD as u64, count * 2)?;
    let mut process = kernel.process();
    for pair in words.chunks_exact(2) {
        let (kind, value) = (pair[0], pair[1]);
        match kind {
            // A place: the host, nowhere, or a device.
            0 | 1 if value == 0 || value == u32::MAX => {}
            0 | 1 => {
                kernel.gpu(value)?;
            }
            2..=4 => {
                let gpu = kernel.gpu(value)?;
                if !process.spaces.contains_key(&gpu) {
                    return Err(Errno::NODEV);
                }
                let key = (gpu, a.start_addr, a.size);
                if kind == 4 {
                    if let Some(handle) = process.shared_ranges.remove(&key) {
                        let buffer = process.buffers.get(handle)?;
                        buffer.mapped.clear();
                        process.buffers.remove(handle)?;
                        if let Some(executor) = kernel.device.executor() {
                            executor.forget(gpu, a.start_addr, a.size);
                        }
                    }
                } else if !process.buffers.is_taken(gpu, 0, a.start_addr, a.size) {
                    let flags = memory_uapi::ALLOC_USERPTR
                        | memory_uapi::ALLOC_WRITABLE
                        | memory_uapi::ALLOC_EXECUTABLE;
                    let buffer = Buffer {
                        address: a.start_addr,
                        bytes: a.size,
                        gpu,
                        flags,
                        backing: Arc::new(Backing::User(a.start_addr)),
                        mapped: BTreeSet::from([gpu]),
                    };
                    show(kernel, gpu, &buffer);
                    let handle = process.buffers.enter(value, buffer);
                    process.shared_ranges.insert(key, handle);
                }
            }
            5 | 6 if value & !0xff == 0 => {}
            7 if value < 64 => {}
            _ => return Err(Errno::INVAL),
        }
    }
    Ok(())
}

fn set_xnack(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: SetXnackMode = user::get(at, bytes)?;
    let mut process = kernel.process();
    match a.xnack_enabled {
        ..0 => a.xnack_enabled = i32::from(process.xnack),
        wanted => {
            if wanted != 0 && !kernel.options.xnack {
                return Err(Errno::PERM);
            }
            if !process.queues.table.is_empty() {
                return Err(Errno::BUSY);
            }
            process.xnack = wanted != 0;
        }
    }
    drop(process);
    user::put(at, bytes, &a)
}

fn runtime_enable(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: RuntimeEnable = user::get(at, bytes)?;
    if a.mode_mask & !3 != 0 {
        kernel.complain(format!("RUNTIME_ENABLE with mode {:#x}", a.mode_mask));
        return Err(Errno::INVAL);
    }
    if !kernel.process().queues.table.is_empty() {
        return Err(Errno::EXIST);
    }
    a.capabilities_mask = 0;
    user::put(at, bytes, &a)
}

fn export_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: ExportDmabuf = user::get(at, bytes)?;
    let mut process = kernel.process();
    let buffer = process.buffers.get(a.handle)?.clone();
    drop(process);
    if !matches!(*buffer.backing, Backing::File { .. }) {
        return Err(Errno::INVAL);
    }
    let file = crate::files::DeviceFile::new(c"vkernel-dmabuf")?;
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
        Some(crate::kernel::Which::Dmabuf(index)) => {
            let exported = kernel.exported.lock();
            exported.get(index).map(act).ok_or(Errno::BADF)
        }
        Some(_) => Err(Errno::INVAL),
        None => Err(Errno::BADF),
    }
}

fn get_dmabuf_info(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetDmabufInfo = user::get(at, bytes)?;
    with_exported(kernel, a.dmabuf_fd, |exported| {
        a.size = exported.bytes;
        a.gpu_id = kernel.machine.gpus[exported.gpu].gpu_id;
        a.flags = exported.flags;
        a.metadata_size = 0;
    })?;
    user::put(at, bytes, &a)
}

fn import_dmabuf(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
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
