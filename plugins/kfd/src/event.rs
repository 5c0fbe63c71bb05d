//! Events: what waits sleep on.
//!
//! A device raises an event by writing its number to the event's mailbox, a word of the event page, and sending an
//! interrupt. On a machine with a discrete GPU the page is memory that the process allocates and hands to the kernel
//! with the first event; the kernel keeps it until the process ends.

use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::memory::{Block, BlockRequest};
use crate::uapi::event as uapi;
use crate::uapi::event::EventData;
use crate::uapi::memory as uapi_memory;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{EventInfo, EventKind, EventRequest};
use std::collections::HashSet;

/// Bytes of the event page: eight for each signal event.
const PAGE_BYTES: u64 = uapi::SIGNAL_EVENT_LIMIT as u64 * 8;

/// First interface whose events have ages.
const MINOR_AGES: u32 = 14;

/// The event page, shown to the kernel or about to be.
#[derive(Debug)]
pub struct EventPage {
    block: Block,
    /// The kernel has it.
    shown: bool,
}

/// The driver's events.
#[derive(Debug, Default)]
pub struct Events {
    table: Mutex<HashSet<u32>>,
}

/// The words of an address or an age.
#[must_use]
pub const fn halves(value: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

impl Events {
    /// Makes an event.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn create(&self, machine: &Machine, request: &EventRequest) -> Result<EventInfo> {
        let kind = match request.kind {
            EventKind::SIGNAL => uapi::EVENT_SIGNAL,
            EventKind::MEMORY_FAULT => uapi::EVENT_MEMORY,
            EventKind::HARDWARE_EXCEPTION => uapi::EVENT_HW_EXCEPTION,
            EventKind(other) => return Err(Error::Argument(format!("Event kind {other} is not known"))),
        };
        let mut lasting = machine.lasting.event_page.lock();
        if lasting.is_none() {
            *lasting = Some(EventPage {
                block: new_page(machine)?,
                shown: false,
            });
        }
        let Some(page) = lasting.as_mut() else {
            return Err(Error::NotOpen);
        };
        let handle = if page.shown { 0 } else { page.block.handle };
        let event = machine
            .kfd
            .create_event(kind, request.manual_reset == 0, request.node, handle)?;
        page.shown = true;
        if self.table.lock().contains(&event.id) {
            return Err(Error::Nonsense {
                request: "CREATE_EVENT",
                what: format!("number {}, of an event that is there", event.id),
            });
        }
        let mut mailbox = 0;
        if kind == uapi::EVENT_SIGNAL {
            if event.slot >= uapi::SIGNAL_EVENT_LIMIT {
                let _ = machine.kfd.destroy_event(event.id);
                return Err(Error::Nonsense {
                    request: "CREATE_EVENT",
                    what: format!("slot {}", event.slot),
                });
            }
            mailbox = page.block.range.address() + u64::from(event.slot) * 8;
        }
        self.table.lock().insert(event.id);
        Ok(EventInfo {
            event: event.id,
            reserved: 0,
            mailbox,
        })
    }

    fn known(&self, event: u32) -> Result<u32> {
        if self.table.lock().contains(&event) {
            Ok(event)
        } else {
            Err(Error::Handle("an event"))
        }
    }

    /// Destroys an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`]; what the kernel says: then the event is still there.
    pub fn destroy(&self, machine: &Machine, event: u32) -> Result<()> {
        machine.kfd.destroy_event(self.known(event)?)?;
        self.table.lock().remove(&event);
        Ok(())
    }

    /// Raises an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn set(&self, machine: &Machine, event: u32) -> Result<()> {
        machine.kfd.set_event(self.known(event)?)
    }

    /// Lowers an event.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn reset(&self, machine: &Machine, event: u32) -> Result<()> {
        machine.kfd.reset_event(self.known(event)?)
    }

    /// Waits for events.
    ///
    /// # Errors
    ///
    /// [`Error::Handle`], and what the kernel says.
    pub fn wait(
        &self,
        machine: &Machine,
        events: &[u32],
        ages: &[u64],
        all: bool,
        timeout_ms: u32,
    ) -> Result<bool> {
        let mut data = self.data(events, ages)?;
        machine.kfd.wait_events(&mut data, all, timeout_ms)
    }

    /// Waits until one of several events is older than its age in `ages` says, and answers the ages that they have
    /// then; `None` when time ran out.
    ///
    /// # Errors
    ///
    /// [`Error::TooOld`], [`Error::Handle`], and what the kernel says.
    pub fn wait_since(
        &self,
        machine: &Machine,
        events: &[u32],
        ages: &[u64],
        timeout_ms: u32,
    ) -> Result<Option<Vec<u64>>> {
        machine.needs(MINOR_AGES, "WAIT_EVENTS with ages")?;
        let mut data = self.data(events, ages)?;
        if !machine.kfd.wait_events(&mut data, false, timeout_ms)? {
            return Ok(None);
        }
        let age = |event: &EventData| {
            u64::from(event.payload[uapi::signal::AGE_LOW])
                | u64::from(event.payload[uapi::signal::AGE_HIGH]) << 32
        };
        Ok(Some(data.iter().map(age).collect()))
    }

    /// What the kernel is told of each event of a wait; an age of 0 is none.
    fn data(&self, events: &[u32], ages: &[u64]) -> Result<Vec<EventData>> {
        let mut data = Vec::with_capacity(events.len());
        for (i, &event) in events.iter().enumerate() {
            let mut one = EventData {
                event_id: self.known(event)?,
                ..EventData::default()
            };
            let age = halves(ages.get(i).copied().unwrap_or(0));
            one.payload[uapi::signal::AGE_LOW] = age[0];
            one.payload[uapi::signal::AGE_HIGH] = age[1];
            data.push(one);
        }
        Ok(data)
    }

    /// Destroys all. The event page stays with the process.
    pub(crate) fn close(&self, machine: &Machine) {
        for event in self.table.lock().drain() {
            // Nobody is left to tell an error to: once more, and that is all.
            if machine.kfd.destroy_event(event).is_err() {
                let _ = machine.kfd.destroy_event(event);
            }
        }
        let mut lasting = machine.lasting.event_page.lock();
        if let Some(page) = lasting.take() {
            if page.shown {
                *lasting = Some(page);
            } else {
                crate::memory::drop_at_last(machine, page.block);
            }
        }
    }
}

fn new_page(machine: &Machine) -> Result<Block> {
    let gpu = machine.gpu(0)?;
    let flags = uapi_memory::ALLOC_GTT
        | uapi_memory::ALLOC_WRITABLE
        | uapi_memory::ALLOC_EXECUTABLE
        | uapi_memory::ALLOC_NO_SUBSTITUTE
        | uapi_memory::ALLOC_COHERENT
        | uapi_memory::ALLOC_UNCACHED;
    let request = BlockRequest {
        bytes: PAGE_BYTES,
        alignment: machine.system.page_size() as u64,
        flags,
        host: true,
    };
    machine.new_block(gpu, request, &machine.all_gpu_ids())
}
