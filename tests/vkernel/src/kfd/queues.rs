//! Queues, and what is set for them.

use crate::kernel::{doorbell_page, Encoding, Kernel};
use crate::process::TrapHandler;
use crate::queues::{check_buffers, check_numbers, check_visible};
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::memory::ALLOC_EXECUTABLE;
use hansa_kfd::uapi::queue::{
    AllocQueueGws, CreateQueue, DestroyQueue, GetQueueWaveState, SetCuMask, UpdateQueue, QUEUE_TYPE_COMPUTE,
    QUEUE_TYPE_COMPUTE_AQL,
};
use hansa_kfd::uapi::system::SetTrapHandler;
use std::sync::Arc;

/// Where a GPU's page of doorbells is in the file.
pub(super) fn doorbell_offset(kernel: &Kernel, gpu: usize) -> u64 {
    match kernel.options.encoding {
        Encoding::Linux => 3 << 62 | u64::from(kernel.machine.gpus[gpu].gpu_id) << 46,
        Encoding::File => doorbell_page(gpu),
    }
}

pub(super) fn create_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
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
        check_buffers(&a, &described, gpu, &process.buffers, kernel.options.page)?;
    }
    let (id, doorbell) = process.queues.enter(a, gpu, described.is_old)?;
    a.queue_id = id;
    a.doorbell_offset = doorbell_offset(kernel, gpu);
    if !described.is_old {
        a.doorbell_offset += u64::from(doorbell) * described.doorbell_bytes();
    }
    drop(process);
    kernel.device.start(kernel, id, &a, gpu, doorbell);
    let copied = user::put(at, bytes, &a);
    if copied.is_err() {
        kernel.device.stop(id);
        kernel.process().queues.table.remove(&id);
    }
    copied
}

pub(super) fn destroy_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: DestroyQueue = user::get(at, bytes)?;
    kernel.process().queues.get(a.queue_id)?;
    kernel.device.stop(a.queue_id);
    kernel.process().queues.table.remove(&a.queue_id);
    Ok(())
}

pub(super) fn update_queue(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
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
    // A queue without a ring rests, too.
    queue.rests = a.queue_percentage == 0 || a.ring_base_address == 0;
    let paused = queue.rests || queue.suspended;
    drop(process);
    kernel.device.pause(a.queue_id, paused);
    Ok(())
}

/// How much of a save area is used. Queues are saved nowhere here: they just rest.
pub(super) fn wave_state(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let mut a: GetQueueWaveState = user::get(at, bytes)?;
    let mut process = kernel.process();
    let queue = process.queues.get(a.queue_id)?;
    let kind = queue.request.queue_type;
    if !queue.rests
        || !matches!(kind, QUEUE_TYPE_COMPUTE | QUEUE_TYPE_COMPUTE_AQL)
        || queue.request.ctx_save_restore_address == 0
    {
        return Err(Errno::INVAL);
    }
    drop(process);
    a.ctl_stack_used_size = 0;
    a.save_area_used_size = 0;
    user::put(at, bytes, &a)
}

pub(super) fn set_cu_mask(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetCuMask = user::get(at, bytes)?;
    if a.num_cu_mask == 0 || !a.num_cu_mask.is_multiple_of(32) {
        return Err(Errno::INVAL);
    }
    // The kernel looks at no more than 1024 bits.
    let mask = user::words(a.cu_mask_ptr, (a.num_cu_mask.min(1024) / 32) as usize)?;
    kernel.process().queues.get(a.queue_id)?.cu_mask = mask;
    Ok(())
}

pub(super) fn alloc_gws(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
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

pub(super) fn set_trap_handler(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    let a: SetTrapHandler = user::get(at, bytes)?;
    let gpu = kernel.gpu(a.gpu_id)?;
    let mut process = kernel.process();
    let executable = |address| {
        process
            .buffers
            .at(gpu, address)
            .is_some_and(|buffer| buffer.flags & ALLOC_EXECUTABLE != 0)
    };
    // The device takes the address in units of 256 bytes.
    if !a.tba_addr.is_multiple_of(256) || (a.tba_addr != 0 && !executable(a.tba_addr)) {
        return Err(Errno::INVAL);
    }
    let handler = TrapHandler {
        address: a.tba_addr,
        argument: a.tma_addr,
    };
    process.trap_handlers.insert(gpu, handler);
    Ok(())
}
