//! Queues that the device reads by itself.
//!
//! The runtime gives ring, indices and descriptor; the driver adds what the kernel asks for besides: a buffer for
//! end-of-pipe events, and an area that waves are saved to when the queue is taken off the device, with a head for
//! each die.

use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine};
use crate::memory::{drop_at_last, Block, BlockRequest};
use crate::range::pointer;
use crate::uapi::memory as uapi_memory;
use crate::uapi::queue as uapi;
use crate::uapi::queue::ContextSaveAreaHeader;
use hansa_plugin_api::{Attribute, Doorbell, QueueInfo, QueueKind, QueuePriority, QueueRequest, QueueUpdate};
use parking_lot::Mutex;
use std::collections::HashMap;

/// A queue that was made.
#[derive(Debug)]
struct Queue {
    ring_address: u64,
    ring_bytes: u32,
    own: Vec<Block>,
}

/// The driver's queues, by the kernel's numbers.
#[derive(Debug, Default)]
pub struct Queues {
    table: Mutex<HashMap<u32, Queue>>,
}

/// The kernel's priority, 0 to 15; 7 is normal.
const fn priority(priority: QueuePriority) -> u32 {
    match priority {
        QueuePriority::LOW => 3,
        QueuePriority::HIGH => 11,
        QueuePriority::MAXIMUM => uapi::MAX_QUEUE_PRIORITY,
        _ => 7,
    }
}

/// The kernel's kind of queue.
fn kind(request: &QueueRequest) -> Result<u32> {
    match request.kind {
        QueueKind::AQL | QueueKind::COOPERATIVE => Ok(uapi::QUEUE_TYPE_COMPUTE_AQL),
        QueueKind::DMA if request.engine != u32::MAX => Ok(uapi::QUEUE_TYPE_SDMA_BY_ENG_ID),
        QueueKind::DMA => Ok(uapi::QUEUE_TYPE_SDMA),
        QueueKind::DMA_LINK => Ok(uapi::QUEUE_TYPE_SDMA_XGMI),
        QueueKind(other) => Err(Error::Argument(format!("Queue kind {other} is not known"))),
    }
}

impl Queues {
    /// Makes a queue.
    ///
    /// # Errors
    ///
    /// What the kernel says; then nothing is left of it.
    pub fn create(&self, machine: &Machine, request: &QueueRequest) -> Result<QueueInfo> {
        let gpu = machine.gpu(request.node)?;
        let kind = kind(request)?;
        let ring_bytes = u32::try_from(request.ring_bytes).map_err(|_| {
            Error::Argument(format!("A ring of {:#x} bytes is too large", request.ring_bytes))
        })?;
        let firmware = gpu
            .candidate
            .own_target
            .chip()
            .is_some_and(|chip| chip.firmware_scheduler);
        for index in [request.write_index_address, request.read_index_address] {
            machine.host_memory.own_page(machine, gpu, index, firmware)?;
        }
        let mut own = Vec::new();
        let made = if kind == uapi::QUEUE_TYPE_COMPUTE_AQL {
            buffers(machine, gpu, request, &mut own)
        } else {
            Ok(uapi::CreateQueue::default())
        };
        let made = made.and_then(|buffers| {
            machine.kfd.create_queue(uapi::CreateQueue {
                ring_base_address: request.ring_address,
                write_pointer_address: request.write_index_address,
                read_pointer_address: request.read_index_address,
                ring_size: ring_bytes,
                gpu_id: gpu.candidate.gpu_id,
                queue_type: kind,
                queue_percentage: request.percent.min(uapi::MAX_QUEUE_PERCENTAGE),
                queue_priority: priority(request.priority),
                sdma_engine_id: if kind == uapi::QUEUE_TYPE_SDMA_BY_ENG_ID {
                    request.engine
                } else {
                    0
                },
                ..buffers
            })
        });
        let finished = made.and_then(|queue| {
            finish(machine, gpu, request, queue).inspect_err(|_| {
                // The first error is the one to tell.
                let _ = machine.kfd.destroy_queue(queue.id);
            })
        });
        match finished {
            Ok((id, address)) => {
                let queue = Queue {
                    ring_address: request.ring_address,
                    ring_bytes,
                    own,
                };
                self.table.lock().insert(id, queue);
                Ok(QueueInfo {
                    queue: u64::from(id),
                    doorbell: Doorbell::at(address),
                    name: format!("kfd {}:{id}", gpu.candidate.node).into(),
                })
            }
            Err(error) => {
                for block in own {
                    drop_at_last(machine, block);
                }
                Err(error)
            }
        }
    }

    fn number(&self, queue: u64) -> Result<u32> {
        u32::try_from(queue)
            .ok()
            .filter(|id| self.table.lock().contains_key(id))
            .ok_or(Error::Handle("a queue"))
    }

    /// Destroys a queue.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says: then the queue is still there.
    pub fn destroy(&self, machine: &Machine, queue: u64) -> Result<()> {
        let id = self.number(queue)?;
        machine.kfd.destroy_queue(id)?;
        let Some(queue) = self.table.lock().remove(&id) else {
            return Ok(());
        };
        let mut outcome = Ok(());
        for block in queue.own {
            // The queue is gone, and nobody can ask for its buffers again: a second try, and if that fails they go
            // with the driver's memory.
            let freed = machine
                .drop_block(block)
                .or_else(|kept| machine.drop_block(kept.block));
            if let Err(kept) = freed {
                machine.memory.keep(kept.block);
                outcome = Err(kept.error);
            }
        }
        outcome
    }

    /// Changes a queue.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn update(&self, machine: &Machine, queue: u64, update: &QueueUpdate<'_>) -> Result<()> {
        let id = self.number(queue)?;
        let (address, bytes) = match self.table.lock().get(&id) {
            Some(queue) => (queue.ring_address, queue.ring_bytes),
            None => return Err(Error::Handle("a queue")),
        };
        machine.kfd.update_queue(uapi::UpdateQueue {
            ring_base_address: address,
            queue_id: id,
            ring_size: bytes,
            queue_percentage: update.percent.min(uapi::MAX_QUEUE_PERCENTAGE),
            queue_priority: priority(update.priority),
        })?;
        if !update.cu_mask.is_empty() {
            machine.kfd.set_cu_mask(id, update.cu_mask.as_slice())?;
        }
        Ok(())
    }

    /// Gives a queue global wave sync resources.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn allocate_gws(&self, machine: &Machine, queue: u64, count: u32) -> Result<u32> {
        machine.kfd.allocate_gws(self.number(queue)?, count)
    }

    /// Destroys all.
    pub(crate) fn close(&self, machine: &Machine) {
        for (id, queue) in self.table.lock().drain() {
            // Nobody is left to tell an error to: once more, and that is all.
            if machine.kfd.destroy_queue(id).is_err() {
                let _ = machine.kfd.destroy_queue(id);
            }
            for block in queue.own {
                drop_at_last(machine, block);
            }
        }
    }
}

/// What comes after the kernel made a queue: its doorbell, and what a cooperative one needs.
fn finish(
    machine: &Machine,
    gpu: &Gpu,
    request: &QueueRequest,
    queue: crate::ioctl::Queue,
) -> Result<(u32, u64)> {
    let address = machine
        .doorbells
        .address(machine, request.node, gpu, queue.doorbell_offset)?;
    if request.kind == QueueKind::COOPERATIVE {
        let count = machine.description.nodes[request.node as usize]
            .attribute(Attribute::GWS_COUNT)
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0);
        machine.kfd.allocate_gws(queue.id, count)?;
    }
    Ok((queue.id, address))
}

/// The buffers of an AQL queue; what was made is in `own`, also when the rest fails.
fn buffers(
    machine: &Machine,
    gpu: &Gpu,
    request: &QueueRequest,
    own: &mut Vec<Block>,
) -> Result<uapi::CreateQueue> {
    let gpu_ids = [gpu.candidate.gpu_id];
    let page = machine.system.page_size() as u64;
    let mut made = uapi::CreateQueue::default();
    let eop = gpu
        .candidate
        .own_target
        .chip()
        .map_or(4096, |chip| chip.aql_eop_bytes);
    if eop != 0 {
        let bytes = u64::from(eop).next_multiple_of(page);
        let flags = uapi_memory::ALLOC_VRAM
            | uapi_memory::ALLOC_WRITABLE
            | uapi_memory::ALLOC_EXECUTABLE
            | uapi_memory::ALLOC_NO_SUBSTITUTE;
        let block = BlockRequest {
            bytes,
            alignment: page,
            flags,
            host: false,
        };
        let block = machine.new_block(gpu, block, &gpu_ids)?;
        made.eop_buffer_address = block.range.address();
        made.eop_buffer_size = u64::from(eop);
        own.push(block);
    }
    if let Some(area) = gpu.candidate.save_area {
        let flags = uapi_memory::ALLOC_GTT
            | uapi_memory::ALLOC_WRITABLE
            | uapi_memory::ALLOC_EXECUTABLE
            | uapi_memory::ALLOC_NO_SUBSTITUTE
            | uapi_memory::ALLOC_COHERENT;
        let block = BlockRequest {
            bytes: area.total,
            alignment: page,
            flags,
            host: true,
        };
        let block = machine.new_block(gpu, block, &gpu_ids)?;
        let address = block.range.address();
        let dies = machine.description.nodes[request.node as usize]
            .attribute(Attribute::XCC_COUNT)
            .and_then(|dies| u32::try_from(dies).ok())
            .unwrap_or(1);
        for die in 0..dies {
            let head = ContextSaveAreaHeader {
                debug_offset: (dies - die) * area.per_die,
                debug_size: area.debug_per_die * dies,
                err_payload_addr: request.exception_address,
                err_event_id: request.event,
                ..ContextSaveAreaHeader::default()
            };
            let at = address + u64::from(die) * u64::from(area.per_die);
            // SAFETY: the head of this die's part of the area, which was just made for the host to write.
            unsafe { pointer(at).cast::<ContextSaveAreaHeader>().write_unaligned(head) };
        }
        made.ctx_save_restore_address = address;
        made.ctx_save_restore_size = area.per_die;
        made.ctl_stack_size = area.control_stack;
        own.push(block);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_keep_their_order() {
        let order = [
            QueuePriority::LOW,
            QueuePriority::NORMAL,
            QueuePriority::HIGH,
            QueuePriority::MAXIMUM,
        ]
        .map(priority);
        assert_eq!(order, [3, 7, 11, 15]);
    }
}
