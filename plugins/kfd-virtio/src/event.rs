//! Events of the host's kernel.
//!
//! Nothing of the host wakes the guest, so a wait asks again and again, and the runtime does not use events for its
//! signals here: it looks at them instead ([`DriverGroups::POLLED`](hansa_plugin_api::DriverGroups::POLLED)). Devices write
//! to an event's mailbox all the same.

use crate::context::Resource;
use crate::error::{status, Error, Result};
use crate::machine::Machine;
use crate::wire::{bytes, command, event, Answer, Message, VALUES};
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{EventInfo, EventKind, EventRequest};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Bytes of an event's resource: those of the host's structure.
const EVENT_BYTES: u64 = 72;
/// How long a wait sleeps between questions, at first and at last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));
/// A timeout of for ever is at least this.
const FOR_EVER_MS: u32 = u32::MAX - 1;

/// What the answer to an event's creation says.
mod answer {
    use super::VALUES;
    pub(super) const NUMBER: usize = VALUES;
    pub(super) const MAILBOX: usize = VALUES + 36;
    pub(super) const HANDLE: usize = VALUES + 48;
}

#[derive(Clone, Copy, Debug)]
struct Event {
    /// The host's handle.
    handle: u64,
    resource: Resource,
}

/// The driver's events, by the host's numbers.
#[derive(Debug, Default)]
pub struct Events {
    table: Mutex<HashMap<u32, Event>>,
}

fn message(kind: u32, event: Event) -> Message {
    Message::new(command::EVENT, bytes::EVENT)
        .word(event::KIND, kind)
        .long(16, event.handle)
        .word(event::RESOURCE, event.resource.number)
}

impl Events {
    /// Makes an event.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] for other kinds than signals', of which the host tells the guest nothing; what the host says.
    pub fn create(&self, machine: &Machine, request: &EventRequest) -> Result<EventInfo> {
        if request.kind != EventKind::SIGNAL {
            return Err(Error::Missing("Events of faults"));
        }
        let context = &machine.context;
        let number = context.number()?;
        let create = Message::new(command::EVENT, bytes::EVENT)
            .word(event::KIND, event::CREATE)
            .byte(40, u8::from(request.manual_reset != 0))
            .long(event::BLOB, number);
        let made = context.send("EVENT_CREATE", create, bytes::EVENT_ANSWER)?;
        let handle = made.long(answer::HANDLE);
        let destroy = Message::new(command::EVENT, bytes::EVENT)
            .word(event::KIND, event::DESTROY)
            .long(16, handle);
        let undo = || context.undo("EVENT_DESTROY", &destroy, bytes::EVENT_ANSWER);
        let resource = context
            .adopt(number, EVENT_BYTES, false)
            .inspect_err(|_| undo())?;
        let id = made.word(answer::NUMBER);
        let mut table = self.table.lock();
        if table.contains_key(&id) {
            drop(table);
            context.close_at_last(resource);
            return Err(Error::Nonsense {
                request: "EVENT_CREATE",
                what: format!("number {id}"),
            });
        }
        table.insert(id, Event { handle, resource });
        Ok(EventInfo {
            event: id,
            reserved: 0,
            mailbox: made.long(answer::MAILBOX),
        })
    }

    fn known(&self, event: u32) -> Result<Event> {
        self.table
            .lock()
            .get(&event)
            .copied()
            .ok_or(Error::Handle("an event"))
    }

    /// Destroys an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says: then the event is still there.
    pub fn destroy(&self, machine: &Machine, event: u32) -> Result<()> {
        machine.context.close(self.known(event)?.resource)?;
        self.table.lock().remove(&event);
        Ok(())
    }

    /// Raises an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the host says.
    pub fn set(&self, machine: &Machine, event: u32) -> Result<()> {
        let message = message(event::SET, self.known(event)?);
        machine
            .context
            .send("EVENT_SET", message, bytes::EVENT_ANSWER)
            .map(drop)
    }

    /// Lowers an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the host says.
    pub fn reset(&self, machine: &Machine, event: u32) -> Result<()> {
        let message = message(event::RESET, self.known(event)?);
        machine
            .context
            .send("EVENT_RESET", message, bytes::EVENT_ANSWER)
            .map(drop)
    }

    /// Whether an event is raised; one that is not of manual reset is lowered by the question.
    fn is_raised(&self, machine: &Machine, event: u32) -> Result<bool> {
        let context = &machine.context;
        let message = message(event::QUERY, self.known(event)?);
        let request = "EVENT_QUERY_STATE";
        let answer: Answer =
            context
                .channel()
                .send_any(context.node(), request, message, bytes::EVENT_ANSWER)?;
        match answer.result() {
            0 => Ok(true),
            status::WAIT_TIMEOUT => Ok(false),
            status => Err(Error::Refused { request, status }),
        }
    }

    /// Waits for events, by asking.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the host says.
    pub fn wait(&self, machine: &Machine, events: &[u32], all: bool, timeout_ms: u32) -> Result<bool> {
        let end =
            (timeout_ms < FOR_EVER_MS).then(|| Instant::now() + Duration::from_millis(u64::from(timeout_ms)));
        let mut left = events.to_vec();
        let mut pause = PAUSES.0;
        loop {
            let mut waiting = Vec::new();
            for event in &left {
                let raised = self.is_raised(machine, *event)?;
                if raised && !all {
                    return Ok(true);
                }
                if !raised {
                    waiting.push(*event);
                }
            }
            left = waiting;
            if left.is_empty() {
                return Ok(true);
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Destroys all.
    pub(crate) fn close(&self, machine: &Machine) {
        for (_, event) in self.table.lock().drain() {
            machine.context.close_at_last(event.resource);
        }
    }
}

/// Installs a trap handler on a node of the host.
///
/// # Errors
///
/// What the host says.
pub fn set_trap_handler(machine: &Machine, node: u32, code: (u64, u64), data: (u64, u64)) -> Result<()> {
    let message = Message::new(command::EVENT, bytes::EVENT)
        .word(event::KIND, event::TRAP)
        .long(16, code.0)
        .long(24, code.1)
        .long(32, data.0)
        .long(40, data.1)
        .word(48, machine.gpu(node)?.candidate.node);
    machine
        .context
        .send("SET_TRAP_HANDLER", message, bytes::EVENT_ANSWER)
        .map(drop)
}
