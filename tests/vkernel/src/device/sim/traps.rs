//! The trap handler of a dispatch's waves, and what it reaches of the kernel.

use crate::device::{Fault, Memory, Outcome};
use hansa_plugin_api::sync::Mutex;
use hansa_sim::scalar;

/// What waves need that trap, for a step of a dispatch.
#[derive(Debug)]
pub(super) struct Traps<'a> {
    memory: &'a Memory<'a>,
    doorbell: u32,
    /// The handler that the process installed.
    pub(super) handler: Option<scalar::Handler>,
    /// The first access that the device could not make.
    fault: Mutex<Option<Fault>>,
}

impl<'a> Traps<'a> {
    /// For a dispatch of the queue with a doorbell.
    pub(super) fn new(memory: &'a Memory<'a>, doorbell: u32) -> Self {
        let process = memory.kernel().process();
        let installed = process.trap_handlers.get(&memory.gpu());
        let handler = installed
            .filter(|handler| handler.address != 0)
            .map(|handler| scalar::Handler {
                address: handler.address,
                argument: handler.argument,
                debugged: process.debug.attached.is_some(),
            });
        Self {
            memory,
            doorbell,
            handler,
            fault: Mutex::default(),
        }
    }

    /// A wave was in its handler for an access: where that is the memory's fault, the memory reports it, too.
    pub(super) fn faulted(&self, cause: scalar::Cause, fault: Fault) {
        if cause == scalar::Cause::Memory {
            self.fault.lock().get_or_insert(fault);
        }
    }

    /// A wave has left its handler.
    pub(super) fn after(&self, after: &scalar::After) {
        if let scalar::After::Lost(lost) = after {
            self.memory.kernel().complain(lost.to_string());
        }
    }

    /// How the step ended: a memory fault ends the queue.
    pub(super) fn outcome(self, outcome: Outcome) -> Outcome {
        self.fault.into_inner().map_or(outcome, Outcome::Fault)
    }
}

impl scalar::Outside for Traps<'_> {
    fn doorbell(&self) -> u32 {
        self.doorbell
    }

    fn interrupt(&self, data: u32, privileged: bool) {
        if privileged {
            self.memory.kernel().interrupt(self.memory.gpu(), data);
        } else {
            self.memory.kernel().raise(data);
        }
    }
}
