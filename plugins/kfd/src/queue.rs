//! Queues that the device reads by itself.
//!
//! The runtime gives ring, indices and descriptor; the driver adds what the kernel asks for besides: a buffer for
//! end-of-pipe events, and an area that waves are saved to when the queue is taken off the device, with a head for
//! each die. Before gfx9 the packet processor wants the ring at two addresses one after the other, so that it does not
//! take a full queue for an empty one (`amd_hsa_queue.h`).

use crate::bell;
use crate::bell::Bell;
use crate::error::{Error, Result};
use crate::machine::{Gpu, Machine};
use crate::memory::{drop_at_last, Block, BlockRequest};
use crate::range::pointer;
use crate::topology::DoorbellKind;
use crate::uapi::memory as uapi_memory;
use crate::uapi::queue as uapi;
use crate::uapi::queue::ContextSaveAreaHeader;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{Attribute, Doorbell, QueueInfo, QueueKind, QueuePriority, QueueRequest, QueueUpdate};
use std::collections::HashMap;

/// Bytes of an AQL packet.
const PACKET_BYTES: u64 = 64;

/// A queue that was made.
#[derive(Debug)]
struct Queue {
    ring_address: u64,
    ring_bytes: u32,
    own: Vec<Block>,
    /// What is between the program and a doorbell of 32 bits.
    bell: Option<&'static Bell>,
}

/// A queue that the kernel made, with what came after.
struct Finished {
    id: u32,
    doorbell: Doorbell,
    bell: Option<&'static Bell>,
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
        let plain = uapi::CreateQueue {
            ring_base_address: request.ring_address,
            ring_size: ring_bytes,
            write_pointer_address: request.write_index_address,
            ..uapi::CreateQueue::default()
        };
        let made = if kind == uapi::QUEUE_TYPE_COMPUTE_AQL {
            buffers(machine, gpu, request, plain, &mut own)
        } else {
            Ok(plain)
        };
        let made = made.and_then(|buffers| {
            let queue = machine.kfd.create_queue(uapi::CreateQueue {
                read_pointer_address: request.read_index_address,
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
            })?;
            if self.table.lock().contains_key(&queue.id) {
                return Err(Error::Nonsense {
                    request: "CREATE_QUEUE",
                    what: format!("number {}, of a queue that is there", queue.id),
                });
            }
            let finished = finish(machine, gpu, request, queue).inspect_err(|_| {
                // The first error is the one to tell.
                let _ = machine.kfd.destroy_queue(queue.id);
            })?;
            Ok((finished, buffers.ring_base_address, buffers.ring_size))
        });
        match made {
            Ok((Finished { id, doorbell, bell }, ring_address, ring_bytes)) => {
                let queue = Queue {
                    ring_address,
                    ring_bytes,
                    own,
                    bell,
                };
                self.table.lock().insert(id, queue);
                Ok(QueueInfo {
                    queue: u64::from(id),
                    doorbell,
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
        // Taken out first: the kernel may give its number to another queue as soon as it is gone.
        let Some(queue) = self.table.lock().remove(&id) else {
            return Err(Error::Handle("a queue"));
        };
        if let Err(error) = machine.kfd.destroy_queue(id) {
            self.table.lock().insert(id, queue);
            return Err(error);
        }
        if let Some(bell) = queue.bell {
            bell.end();
        }
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
            if let Some(bell) = queue.bell {
                bell.end();
            }
            if machine.kfd.destroy_queue(id).is_err() {
                let _ = machine.kfd.destroy_queue(id);
            }
            for block in queue.own {
                drop_at_last(machine, block);
            }
        }
    }
}

/// Whether the device is told of packets through a doorbell of 32 bits.
fn has_bell(gpu: &Gpu, request: &QueueRequest) -> bool {
    let aql = matches!(request.kind, QueueKind::AQL | QueueKind::COOPERATIVE);
    aql && gpu.candidate.doorbell != DoorbellKind::Index
}

/// What comes after the kernel made a queue: its doorbell, and what a cooperative one needs.
fn finish(
    machine: &Machine,
    gpu: &Gpu,
    request: &QueueRequest,
    queue: crate::ioctl::Queue,
) -> Result<Finished> {
    let address = machine.doorbells.address(machine, request.node, gpu, queue)?;
    if request.kind == QueueKind::COOPERATIVE {
        let count = machine.description.nodes[request.node as usize]
            .attribute(Attribute::GWS_COUNT)
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(0);
        machine.kfd.allocate_gws(queue.id, count)?;
    }
    let bell = has_bell(gpu, request).then(|| {
        Bell::new(bell::Place {
            kind: gpu.candidate.doorbell,
            descriptor: request.descriptor_address,
            packets: request.ring_bytes / PACKET_BYTES,
            doorbell: address,
        })
    });
    Ok(Finished {
        id: queue.id,
        doorbell: bell.map_or_else(
            || Doorbell::at(address),
            |bell| Doorbell::calling(bell::ring, bell.context()),
        ),
        bell,
    })
}

/// Lays a ring out twice, one after the other; answers where.
fn twice(machine: &Machine, gpu: &Gpu, request: &QueueRequest, own: &mut Vec<Block>) -> Result<u64> {
    let range = machine.reserve(request.ring_bytes * 2, machine.system.page_size() as u64)?;
    let address = range.address();
    let (first, second) = range.split(request.ring_bytes);
    for half in [first, second] {
        own.push(machine.user_block(gpu, half, request.ring_address, false, &[gpu.candidate.gpu_id])?);
    }
    Ok(address)
}

/// The buffers of an AQL queue; what was made is in `own`, also when the rest fails.
fn buffers(
    machine: &Machine,
    gpu: &Gpu,
    request: &QueueRequest,
    plain: uapi::CreateQueue,
    own: &mut Vec<Block>,
) -> Result<uapi::CreateQueue> {
    let gpu_ids = [gpu.candidate.gpu_id];
    let page = machine.system.page_size() as u64;
    let mut made = plain;
    if has_bell(gpu, request) {
        made.write_pointer_address = request.descriptor_address + bell::WRITTEN_OFFSET;
    }
    if gpu.candidate.own_target.major < 9 {
        made.ring_base_address = twice(machine, gpu, request, own)?;
        made.ring_size *= 2;
    }
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
