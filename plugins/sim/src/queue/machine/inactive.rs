//! What the packet processor tells the host: requests and errors, through the queue's inactive signal, and faults.

use super::Machine;
use crate::engine::{self, Failure};
use crate::queue::layout::queue as at;
use crate::queue::signal::Signal;
use crate::queue::Queue;
use hansa_plugin_api::{DeviceEvent, DeviceEventKind, LogLevel};
use std::sync::atomic::Ordering;

impl Machine {
    /// Stores a request to the inactive signal; the queue goes on when the host has stored 0.
    pub(super) fn ask_host(&mut self, queue: &Queue, request: i64) -> Result<(), Failure> {
        let handle = self
            .descriptor
            .load_u64(at::QUEUE_INACTIVE_SIGNAL, Ordering::Acquire);
        Signal::of(handle, &mut self.view)
            .and_then(|signal| signal.store(request, queue.pool.host()))
            .map_err(|bad| engine::bad_signal(bad.0, "queue inactive"))?;
        self.asked = true;
        Ok(())
    }

    /// Whether the host has answered the last request.
    pub(super) fn host_answered(&mut self) -> bool {
        let handle = self
            .descriptor
            .load_u64(at::QUEUE_INACTIVE_SIGNAL, Ordering::Acquire);
        Signal::of(handle, &mut self.view).and_then(Signal::value) == Ok(0)
    }

    /// Reports an error; the queue reads no more packets.
    #[cold]
    pub(super) fn die(&mut self, queue: &Queue, failure: &Failure) {
        self.dead = true;
        let text = format!("Queue {} stopped: {failure}", queue.id);
        // The runtime shows the message of a fault itself, unless the program deals with it.
        let is_fault = matches!(failure, Failure::Memory { .. });
        let level = if is_fault { LogLevel::INFO } else { LogLevel::ERROR };
        queue.pool.log(level, &text);
        match failure {
            Failure::Memory { address, flags, .. } => {
                let event = DeviceEvent {
                    kind: DeviceEventKind::MEMORY_FAULT,
                    node: queue.device.node,
                    queue: queue.id,
                    address: *address,
                    flags: *flags,
                    reserved: 0,
                    message: text.into(),
                };
                // The log has it as well.
                let _ = queue.pool.host().device_event(&event);
            }
            Failure::Error { code, .. } => {
                let handle = self
                    .descriptor
                    .load_u64(at::QUEUE_INACTIVE_SIGNAL, Ordering::Acquire);
                let stored = Signal::of(handle, &mut self.view)
                    .and_then(|signal| signal.store(*code, queue.pool.host()));
                if let Err(bad) = stored {
                    let text = format!("Queue {} has no inactive signal: {bad}", queue.id);
                    queue.pool.log(LogLevel::ERROR, &text);
                }
            }
        }
    }
}
