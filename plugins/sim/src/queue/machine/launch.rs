//! How a kernel dispatch begins.

use super::{window, Begun, Flying, Machine};
use crate::engine::{self, Failure, Site};
use crate::queue::layout::{caps, inactive, queue as at};
use crate::queue::packet::{KernelDispatch, Packet};
use crate::queue::scratch::{self, Need, Room};
use crate::queue::Queue;
use crate::sched::{Here, Job};
use crate::shared::Shared;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

impl Machine {
    /// Begins a dispatch, unless another must end first. `brief`: this thread belongs to the program.
    pub(super) fn launch(
        &mut self,
        queue: &Arc<Queue>,
        slot: Shared,
        packet: &Packet,
        kernel: &KernelDispatch,
        brief: bool,
    ) -> Result<Begun, Failure> {
        engine::check(kernel)?;
        let scratch = match scratch::of(self.descriptor, kernel) {
            Need::None => None,
            Need::Given(_) if self.lent => return Ok(Begun::Later),
            Need::Given(scratch) => Some(scratch),
            Need::More => {
                // Private memory is replaced while no kernel uses it.
                if self.dispatches > 0 {
                    return Ok(Begun::Later);
                }
                self.room = None;
                self.ask_host(queue, inactive::NEEDS_SCRATCH)?;
                return Ok(Begun::Yes);
            }
        };
        let private = scratch.map(|scratch| {
            self.lent = scratch.once;
            if self.descriptor.load_u32(at::CAPS, Ordering::Relaxed) & caps::RECLAIM != 0 {
                self.descriptor
                    .store_u64(at::SCRATCH_LAST_USED_INDEX, self.next, Ordering::Release);
            }
            let room = match self.room.take() {
                Some(room) if room.is_of(&scratch) => room,
                _ => Arc::new(Room::new(scratch)),
            };
            self.room = Some(Arc::clone(&room));
            room
        });
        fence(Ordering::Acquire);
        let site = Site {
            packet_address: slot.address(),
            queue_address: self.descriptor.address(),
            packet_index: self.next,
            private,
        };
        let launch = engine::Launch::new(queue, &mut self.view, kernel, site)?;
        let index = window(self.next);
        let job = Arc::new(Job::new(launch, index, self.profiling()));
        self.flying[index] = Flying {
            job: Some(Arc::clone(&job)),
            completion: packet.completion,
        };
        self.dispatches += 1;
        self.next += 1;
        let here = if job.groups == 0 {
            let now = queue.pool.now();
            job.begin(now);
            job.complete(now);
            Here::Over
        } else if brief {
            queue.pool.run_here(queue, &job)
        } else {
            Here::No
        };
        match here {
            Here::Over => queue.note_over(index),
            Here::UnderWay => {}
            Here::No => queue.pool.submit(queue, &job),
        }
        Ok(Begun::Yes)
    }
}
