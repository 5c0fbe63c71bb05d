//! What the kernel keeps for a process. It stays when files are closed; only the process's end takes it.

use crate::buffers::Buffers;
use crate::debug::{Debug, Runtime};
use crate::drm::Gems;
use crate::events::Events;
use crate::graphics::Graphics;
use crate::queues::Queues;
use crate::ranges::Ranges;
use std::collections::BTreeMap;

/// A trap handler that a process installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapHandler {
    /// Its code; 0 for none.
    pub address: u64,
    /// What it is given.
    pub argument: u64,
}

/// A process, as the kernel sees it.
#[derive(Debug, Default)]
pub struct Process {
    /// Memory.
    pub buffers: Buffers,
    /// Queues.
    pub queues: Queues,
    /// Events.
    pub events: Events,
    /// By GPU: the descriptor whose file carries the address space.
    pub spaces: BTreeMap<usize, i32>,
    /// What the graphics driver knows of.
    pub gems: Gems,
    /// What graphics has beside.
    pub graphics: Graphics,
    /// Handle of the event page.
    pub event_page: Option<u64>,
    /// Ranges of shared virtual memory that a GPU may use: GPU, address, bytes; with the handle of what stands for them.
    pub shared_ranges: BTreeMap<(usize, u64, u64), u64>,
    /// The trap handler of each GPU.
    pub trap_handlers: BTreeMap<usize, TrapHandler>,
    /// Attributes of ranges of shared virtual memory.
    pub ranges: Ranges,
    /// The run-time that asked for reports of exceptions.
    pub runtime: Option<Runtime>,
    /// Who debugs it, and what happened to it.
    pub debug: Debug,
    /// Memory faults are replayed.
    pub xnack: bool,
}
