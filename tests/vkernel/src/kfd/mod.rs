//! Requests on `/dev/kfd`.
//!
//! The order of checks and the numbers of errors are those of the kernel (`kfd_chardev.c`, `kfd_events.c`,
//! `amdgpu_amdkfd_gpuvm.c`), as far as a program can tell.

mod events;
mod memory;
mod queues;
mod sharing;
mod svm;
mod system;

pub(crate) use memory::show;
pub use system::{device_clock, NANOSECONDS_PER_TICK};

use crate::kernel::Kernel;
use crate::{Answer, Errno};
use events::{create_event, destroy_event, reset_event, set_event, wait_events};
use hansa_kfd::uapi::event::{CreateEvent, DestroyEvent, ResetEvent, SetEvent, WaitEvents};
use hansa_kfd::uapi::memory::{
    AllocMemoryOfGpu, AvailableMemory, FreeMemoryOfGpu, MapMemoryToGpu, Svm, UnmapMemoryFromGpu,
};
use hansa_kfd::uapi::queue::{AllocQueueGws, CreateQueue, DestroyQueue, SetCuMask, UpdateQueue};
use hansa_kfd::uapi::sharing::{ExportDmabuf, GetDmabufInfo, ImportDmabuf, IpcExportHandle, IpcImportHandle};
use hansa_kfd::uapi::system::{
    AcquireVm, GetClockCounters, GetProcessAperturesNew, GetTileConfig, GetVersion, RuntimeEnable,
    SetMemoryPolicy, SetScratchBackingVa, SetTrapHandler, SetXnackMode,
};
use hansa_kfd::uapi::{Request, GROUP};
use memory::{
    acquire_vm, alloc_memory, available_memory, free_memory, map_memory, set_memory_policy,
    set_scratch_backing_va, unmap_memory,
};
use queues::{alloc_gws, create_queue, destroy_queue, set_cu_mask, set_trap_handler, update_queue};
use sharing::{export_dmabuf, get_dmabuf_info, import_dmabuf, ipc_export, ipc_import};
use std::sync::Arc;
use svm::svm;
use system::{get_apertures, get_clock_counters, get_tile_config, get_version, runtime_enable, set_xnack};

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
    (0x80, IpcImportHandle::NAME, Some(ipc_import)),
    (0x81, IpcExportHandle::NAME, Some(ipc_export)),
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
    if since(*number) > kernel.options.minor || (*number >= 0x80 && !kernel.options.dkms) {
        return Err(Errno::NOTTY);
    }
    match handler {
        Some(handler) => handler(kernel, argument, (code >> 16 & 0x3fff) as usize),
        None if *number >= 0x80 => Err(Errno::NOTTY),
        None => Err(Errno::OPNOTSUPP),
    }
}
