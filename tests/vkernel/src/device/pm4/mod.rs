//! Compute queues of PM4 packets (Linux: `soc15d.h`, `nvd.h`; AMD's PM4 manuals), as programs use them beside AQL.
//!
//! Indices count words and only grow; the read index that the host sees has 32 bits and begins again with the ring. A
//! packet may wrap around the end.

mod packets;
mod processor;
mod registers;

pub(super) use processor::Processor;

use super::ring::Ring;
use super::{Bell, Executor, Fault, Memory, Step};
use hansa_kfd::uapi::queue as uapi;

/// A queue.
#[derive(Debug)]
pub(super) struct Queue {
    ring: Ring,
    processor: Processor,
}

impl Queue {
    pub(super) fn new(a: &uapi::CreateQueue, bell: Bell) -> Self {
        Self {
            ring: Ring::new(a, bell, 1),
            // The address of the read index is the queue's own, as its private memory is.
            processor: Processor::new(a.read_pointer_address, bell.number),
        }
    }

    pub(super) fn step(
        &mut self,
        memory: &Memory<'_>,
        executor: Option<&dyn Executor>,
    ) -> Result<Step, Fault> {
        let Ring {
            base,
            size,
            read_index,
            ..
        } = self.ring;
        let went = match self.processor.go_on(memory)? {
            Ok(step) => step,
            Err(_code) => {
                self.ring.stop();
                return Ok(Step::Idle);
            }
        };
        let processor = &mut self.processor;
        let run = |place: u64| {
            processor.packet(memory, executor, &|i: u32| {
                memory.word(base + (place + u64::from(i)) % size * 4)
            })
        };
        let seen = |next: u64| memory.write(read_index, &(next % size).to_le_bytes()[..4]);
        let step = self.ring.step(memory, "PM4 packet", run, seen)?;
        Ok(if went == Step::Did { went } else { step })
    }
}
