//! Queues that the device reads by itself, and their doorbells.
//!
//! The host's library adds what its kernel wants besides ring and indices. The host keeps the memory of ring and indices as
//! long as the queue is there, so it is told the resources that they are in. A GPU's doorbells become one resource with its
//! first queue, at the address where the host's process has them; later queues have theirs on the same pages, so they
//! stay as long as the context.

use crate::context::{Context, Resource};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::window::Window;
use crate::wire::{bytes, command, queue, Answer, Message, VALUES};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{Doorbell, QueueInfo, QueueKind, QueuePriority, QueueRequest};
use std::collections::HashMap;

/// Bytes of a GPU's doorbells.
const DOORBELL_BYTES: u64 = 0x2000;
/// Bytes of one doorbell.
const ONE: u64 = 8;
/// No copy engine in particular.
const NO_ENGINE: u32 = u32::MAX;
/// Largest share of a device, in percent.
const MOST_PERCENT: u32 = 100;

/// What the answer to a queue's creation says.
mod answer {
    use super::VALUES;
    pub(super) const QUEUE: usize = VALUES;
    pub(super) const DOORBELL: usize = VALUES + 40;
    pub(super) const DOORBELL_OFFSET: usize = VALUES + 48;
}

/// The doorbells of a GPU.
#[derive(Debug)]
struct Page {
    address: u64,
    /// What keeps the addresses, and takes away what is mapped there.
    _window: Window,
}

/// The doorbells of every GPU, by the host's number of its node.
#[derive(Debug, Default)]
pub struct Doorbells(Mutex<HashMap<u32, Page>>);

/// The driver's queues: the last name, and their resources by name.
#[derive(Debug, Default)]
pub struct Queues {
    table: Mutex<(u64, HashMap<u64, Resource>)>,
}

/// Priorities of the host's library (`HSA_QUEUE_PRIORITY`).
const fn priority(priority: QueuePriority) -> i64 {
    match priority {
        QueuePriority::LOW => -2,
        QueuePriority::HIGH => 2,
        QueuePriority::MAXIMUM => 3,
        _ => 0,
    }
}

fn nonsense(what: String) -> Error {
    Error::Nonsense {
        request: "QUEUE_CREATE",
        what,
    }
}

impl Queues {
    /// Makes a queue.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] for other kinds than AQL; what the host says, and then nothing is left of it.
    pub fn create(&self, machine: &Machine, request: &QueueRequest) -> Result<QueueInfo> {
        let node = machine.gpu(request.node)?.candidate.node;
        match request.kind {
            QueueKind::AQL => {}
            QueueKind::COOPERATIVE => return Err(Error::Missing("Cooperative queues")),
            QueueKind::DMA | QueueKind::DMA_LINK => return Err(Error::Missing("Queues of copy engines")),
            QueueKind(other) => return Err(Error::Argument(format!("Queue kind {other} is not known"))),
        }
        let resource_at = |what, address, bytes| {
            machine
                .memory
                .at(address, bytes)
                .map(|(resource, _)| resource)
                .ok_or_else(|| {
                    Error::Argument(format!("The {what} at {address:#x} is not memory of this driver"))
                })
        };
        let ring = resource_at("ring", request.ring_address, request.ring_bytes)?;
        let indices = resource_at("write index", request.write_index_address, 8)?;
        resource_at("read index", request.read_index_address, 8)?;
        let context = &machine.context;
        // Held until the doorbells are mapped, so that only one queue makes them.
        let mut pages = context.doorbells.0.lock();
        let number = context.number()?;
        let doorbells = match pages.get(&node) {
            Some(_) => 0,
            None => context.number()?,
        };
        let message = Message::new(command::QUEUE, bytes::QUEUE)
            .word(16, node)
            .word(20, queue::AQL)
            .word(24, request.percent.min(MOST_PERCENT))
            .long(32, u64::from_ne_bytes(priority(request.priority).to_ne_bytes()))
            .word(44, NO_ENGINE)
            .long(48, request.ring_address)
            .long(56, request.ring_bytes)
            .long(80, request.write_index_address)
            .long(88, request.read_index_address)
            .long(queue::BLOB, number)
            .long(queue::DOORBELL_BLOB, doorbells)
            .word(queue::INDEX_RESOURCE, indices)
            .word(queue::KIND, queue::CREATE)
            .word(queue::RING_RESOURCE, ring);
        let made = context.send("QUEUE_CREATE", message, bytes::QUEUE_ANSWER)?;
        let resource = context
            .adopt(number, request.ring_bytes, false)
            .inspect_err(|_| {
                let destroy = Message::new(command::QUEUE, bytes::QUEUE)
                    .long(16, made.long(answer::QUEUE))
                    .word(queue::KIND, queue::DESTROY);
                context.undo("QUEUE_DESTROY", &destroy, bytes::QUEUE_ANSWER);
            })?;
        let doorbell = doorbell(machine, &mut pages, node, doorbells, &made).inspect_err(|_| {
            // The first error is the one to tell.
            context.close_at_last(resource);
        })?;
        drop(pages);
        let mut table = self.table.lock();
        table.0 += 1;
        let name = table.0;
        table.1.insert(name, resource);
        Ok(QueueInfo {
            queue: name,
            doorbell: Doorbell::at(doorbell),
            name: format!("kfd-virtio {node}:{name}").into(),
        })
    }

    /// Destroys a queue.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says: then the queue is still there.
    pub fn destroy(&self, machine: &Machine, queue: u64) -> Result<()> {
        let taken = self.table.lock().1.remove(&queue);
        let resource = taken.ok_or(Error::Handle("a queue"))?;
        machine.context.close(resource).inspect_err(|_| {
            self.table.lock().1.insert(queue, resource);
        })
    }

    /// Destroys all.
    pub(crate) fn close(&self, machine: &Machine) {
        for (_, resource) in self.table.lock().1.drain() {
            machine.context.close_at_last(resource);
        }
    }
}

/// The address of a queue's doorbell; the first one of a GPU makes its pages, whose number is not 0 then.
fn doorbell(
    machine: &Machine,
    pages: &mut HashMap<u32, Page>,
    node: u32,
    number: u64,
    made: &Answer,
) -> Result<u64> {
    let (doorbell, offset) = (made.long(answer::DOORBELL), made.long(answer::DOORBELL_OFFSET));
    if offset > DOORBELL_BYTES - ONE || doorbell % ONE != 0 || doorbell < offset {
        return Err(nonsense(format!(
            "the doorbell {doorbell:#x} at {offset:#x} of its page"
        )));
    }
    let base = doorbell - offset;
    if let Some(page) = pages.get(&node) {
        if page.address != base {
            return Err(nonsense(format!(
                "doorbells at {base:#x} after {:#x}",
                page.address
            )));
        }
        return Ok(doorbell);
    }
    pages.insert(node, page(machine, &machine.context, base, number)?);
    Ok(doorbell)
}

fn page(machine: &Machine, context: &Context, base: u64, number: u64) -> Result<Page> {
    if context.window.contains(base, 1) {
        return Err(nonsense(format!("doorbells at {base:#x}, where memory lies")));
    }
    let window = Window::take(&machine.system, "QUEUE_CREATE", base, DOORBELL_BYTES)?;
    let resource = context.adopt(number, DOORBELL_BYTES, true)?;
    let shown = context
        .place_of(resource)
        .and_then(|offset| window.show("doorbells", base, DOORBELL_BYTES, context.node().file(), offset));
    if let Err(error) = shown {
        context.close_at_last(resource);
        return Err(error);
    }
    Ok(Page {
        address: base,
        _window: window,
    })
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
        assert!(order.is_sorted() && order[1] == 0, "{order:?}");
    }
}
