//! Requests on `/dev/kfd`.
//!
//! The order of checks and the numbers of errors are those of the kernel (`kfd_chardev.c`, `kfd_events.c`,
//! `amdgpu_amdkfd_gpuvm.c`), as far as a program can tell.

mod debug;
mod events;
mod memory;
mod queues;
mod sharing;
mod svm;
mod system;

pub(crate) use memory::show;
pub(crate) use system::now;
pub use system::{device_clock, NANOSECONDS_PER_TICK};

use crate::kernel::Kernel;
use crate::{Answer, Errno};
use events::{create_event, destroy_event, reset_event, set_event, wait_events};
use hansa_kfd::uapi::event::{CreateEvent, DestroyEvent, ResetEvent, SetEvent, WaitEvents};
use hansa_kfd::uapi::memory::{
    AllocMemoryOfGpu, AvailableMemory, FreeMemoryOfGpu, MapMemoryToGpu, Svm, UnmapMemoryFromGpu,
};
use hansa_kfd::uapi::queue::{
    AllocQueueGws, CreateQueue, DestroyQueue, GetQueueWaveState, SetCuMask, UpdateQueue,
};
use hansa_kfd::uapi::sharing::{ExportDmabuf, GetDmabufInfo, ImportDmabuf, IpcExportHandle, IpcImportHandle};
use hansa_kfd::uapi::system::{
    AcquireVm, GetClockCounters, GetProcessAperturesNew, GetTileConfig, GetVersion, RuntimeEnable,
    SetMemoryPolicy, SetScratchBackingVa, SetTrapHandler, SetXnackMode, SmiEvents,
};
use hansa_kfd::uapi::{Request, GROUP};
use memory::{
    acquire_vm, alloc_memory, available_memory, free_memory, map_memory, set_memory_policy,
    set_scratch_backing_va, unmap_memory,
};
use queues::{
    alloc_gws, create_queue, destroy_queue, set_cu_mask, set_trap_handler, update_queue, wave_state,
};
use sharing::{export_dmabuf, get_dmabuf_info, import_dmabuf, ipc_export, ipc_import};
use std::sync::Arc;
use svm::svm;
use system::{
    criu, get_apertures, get_clock_counters, get_tile_config, get_version, runtime_enable, set_xnack,
    smi_events,
};

/// What answers a request, given the address and the bytes of its argument.
#[derive(Clone, Copy)]
enum Handler {
    Plain(fn(&Arc<Kernel>, u64, usize) -> Answer),
    /// It answers a number, too.
    Number(fn(&Arc<Kernel>, u64, usize) -> Result<i32, Errno>),
}

use Handler::{Number, Plain};

/// Requests by number, name and handler. A handler that is missing answers as a kernel without the call does.
const TABLE: [(u8, &str, Option<Handler>); 40] = [
    (0x01, GetVersion::NAME, Some(Plain(get_version))),
    (0x02, CreateQueue::NAME, Some(Plain(create_queue))),
    (0x03, DestroyQueue::NAME, Some(Plain(destroy_queue))),
    (0x04, SetMemoryPolicy::NAME, Some(Plain(set_memory_policy))),
    (0x05, GetClockCounters::NAME, Some(Plain(get_clock_counters))),
    (0x06, "GET_PROCESS_APERTURES", None),
    (0x07, UpdateQueue::NAME, Some(Plain(update_queue))),
    (0x08, CreateEvent::NAME, Some(Plain(create_event))),
    (0x09, DestroyEvent::NAME, Some(Plain(destroy_event))),
    (0x0a, SetEvent::NAME, Some(Plain(set_event))),
    (0x0b, ResetEvent::NAME, Some(Plain(reset_event))),
    (0x0c, WaitEvents::NAME, Some(Plain(wait_events))),
    (
        0x11,
        SetScratchBackingVa::NAME,
        Some(Plain(set_scratch_backing_va)),
    ),
    (0x12, GetTileConfig::NAME, Some(Plain(get_tile_config))),
    (0x13, SetTrapHandler::NAME, Some(Plain(set_trap_handler))),
    (0x14, GetProcessAperturesNew::NAME, Some(Plain(get_apertures))),
    (0x15, AcquireVm::NAME, Some(Plain(acquire_vm))),
    (0x16, AllocMemoryOfGpu::NAME, Some(Plain(alloc_memory))),
    (0x17, FreeMemoryOfGpu::NAME, Some(Plain(free_memory))),
    (0x18, MapMemoryToGpu::NAME, Some(Plain(map_memory))),
    (0x19, UnmapMemoryFromGpu::NAME, Some(Plain(unmap_memory))),
    (0x1a, SetCuMask::NAME, Some(Plain(set_cu_mask))),
    (0x1b, GetQueueWaveState::NAME, Some(Plain(wave_state))),
    (0x1c, GetDmabufInfo::NAME, Some(Plain(get_dmabuf_info))),
    (0x1d, ImportDmabuf::NAME, Some(Plain(import_dmabuf))),
    (0x1e, AllocQueueGws::NAME, Some(Plain(alloc_gws))),
    (0x1f, SmiEvents::NAME, Some(Plain(smi_events))),
    (0x20, Svm::NAME, Some(Plain(svm))),
    (0x21, SetXnackMode::NAME, Some(Plain(set_xnack))),
    (0x22, "CRIU_OP", Some(Plain(criu))),
    (0x23, AvailableMemory::NAME, Some(Plain(available_memory))),
    (0x24, ExportDmabuf::NAME, Some(Plain(export_dmabuf))),
    (0x25, RuntimeEnable::NAME, Some(Plain(runtime_enable))),
    (0x26, "DBG_TRAP", Some(Number(debug::trap))),
    (0x80, IpcImportHandle::NAME, Some(Plain(ipc_import))),
    (0x81, IpcExportHandle::NAME, Some(Plain(ipc_export))),
    (0x82, "DBG_TRAP_DKMS", None),
    (0x83, "CROSS_MEMORY_COPY", None),
    (0x84, "RLC_SPM", None),
    (0x85, "PC_SAMPLE", None),
];

/// The interface that has a request, when it is not the first.
const fn since(number: u8) -> u32 {
    match number {
        0x1f => 3,
        0x20 | 0x21 => 5,
        0x22 => 8,
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
pub(crate) fn answer(kernel: &Arc<Kernel>, code: u32, argument: u64) -> Result<i32, Errno> {
    let Some((number, _, handler)) = entry(code) else {
        return Err(Errno::NOTTY);
    };
    if since(*number) > kernel.options.minor || (*number >= 0x80 && !kernel.options.dkms) {
        return Err(Errno::NOTTY);
    }
    let bytes = (code >> 16 & 0x3fff) as usize;
    match handler {
        Some(Plain(handler)) => handler(kernel, argument, bytes).map(|()| 0),
        Some(Number(handler)) => handler(kernel, argument, bytes),
        None if *number >= 0x80 => Err(Errno::NOTTY),
        None => Err(Errno::OPNOTSUPP),
    }
}
