//! How a queue ends.

use super::{bell, errors, scratch, slots, Queue, Ring, Server};
use crate::log::{self, Topic};
use crate::runtime::Runtime;
use crate::signal::pool;
use std::sync::atomic::Ordering;

/// Has a driver destroy a queue, at the second try if need be. Answers whether it is gone. If not, the device is lost, or may
/// still read the queue's memory, which nobody else gets then.
pub(crate) fn let_go(runtime: &Runtime, driver: usize, queue: u64) -> bool {
    let driver = &runtime.drivers[driver].object;
    (0..2).any(|_| driver.destroy_queue(queue).is_ok())
}

impl Queue {
    /// Takes the queue down: its handle is stale, no packet of it is read any more, its memory is given back.
    /// The caller has taken it out of the runtime's table.
    pub fn destroy(&self, runtime: &Runtime) {
        self.descriptor.tag.store(0, Ordering::Release);
        if log::on(Topic::Queue) {
            let d = self.descriptor;
            let [id, read, write] = [&d.id, &d.read_index, &d.write_index].map(|n| n.load(Ordering::Relaxed));
            log::line(
                Topic::Queue,
                format_args!("queue {id}: destroyed; {read} of {write} packets were read"),
            );
        }
        if let Server::Intercept(intercept) = &self.server {
            intercept.end(runtime);
        }
        let mut gone = true;
        if let Server::Device(device) = &self.server {
            // The handler thread is done with what it answers the device, and answers no more.
            *device.alive.lock() = false;
            gone = let_go(runtime, device.driver, device.queue);
            // An error that the handler thread has not come to yet is not lost.
            if let Some(status) = errors::last_word(device.inactive.value.load(Ordering::Acquire)) {
                device.fail(self.descriptor.handle(), status);
            }
            let word = device
                .exceptions
                .map_or(0, |word| word.value.load(Ordering::Acquire));
            if word != 0 {
                device.fail(self.descriptor.handle(), errors::status_of_exceptions(word));
            }
            let scratch = device.scratch.lock().take_if(|_| gone);
            if let Some(scratch) = scratch {
                scratch::release(runtime, device.driver, self.descriptor.handle(), scratch);
            }
            bell::end(device.doorbell);
            // Ends the handlers, which hold a reference each.
            device.failed.store(true, Ordering::Release);
            for signal in [Some(device.inactive), device.exceptions].into_iter().flatten() {
                signal.value.store(errors::GONE, Ordering::Release);
                crate::signal::wait::changed(signal);
                // A device that may still store to it would store to another signal.
                if gone {
                    pool::retire(signal);
                }
            }
        }
        if !gone {
            return;
        }
        match &self.ring {
            Ring::Another => {}
            Ring::Pages(pages, registrations) => {
                runtime.deregister(registrations);
                // SAFETY: the driver has let go of the queue, and the handle is stale.
                unsafe { pages.unmap() };
            }
            Ring::Allocation(address) => {
                let _ = runtime.free(*address);
            }
        }
        slots::give_back(self.descriptor);
    }
}
