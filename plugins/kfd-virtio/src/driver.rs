//! The contract's side: each method finds the open machine and hands on.

use crate::error::{Error, Result};
use crate::event;
use crate::machine::{Lasting, Machine};
use crate::memory::Memory;
use crate::scratch::Scratch;
use crate::user_memory;
use crate::wire::{query, VALUES};
use hansa_kfd::config::Config;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::RwLock;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, ClockCounters, Driver, EventInfo, EventRequest, HostMemoryRequest,
    HostRef, MapRequest, MemoryHandle, QueueInfo, QueueRequest, RSlice, ScratchRequest, SystemDescription,
};
use std::sync::Arc;

#[derive(Debug)]
enum State {
    Closed,
    Open(Arc<Machine>),
    Forked,
}

/// The driver.
#[derive(Debug)]
pub struct KfdVirtioDriver {
    system: Arc<dyn System>,
    lasting: Arc<Lasting>,
    host: HostRef<'static>,
    config: Config,
    state: RwLock<State>,
}

impl KfdVirtioDriver {
    /// A driver that is not open yet. What outlives it in this process is in `lasting`.
    #[must_use]
    pub fn new(
        system: Arc<dyn System>,
        lasting: Arc<Lasting>,
        host: HostRef<'static>,
        config: Config,
    ) -> Self {
        Self {
            system,
            lasting,
            host,
            config,
            state: RwLock::new(State::Closed),
        }
    }

    fn machine(&self) -> Result<Arc<Machine>> {
        match &*self.state.read() {
            State::Open(machine) => Ok(Arc::clone(machine)),
            State::Closed => Err(Error::NotOpen),
            State::Forked => Err(Error::Forked),
        }
    }
}

impl Driver for KfdVirtioDriver {
    fn open(&self) -> api::Result<()> {
        let mut state = self.state.write();
        if let State::Open(_) = *state {
            return Ok(());
        }
        let machine = Machine::open(&self.system, &self.lasting, &self.config)?;
        *state = State::Open(Arc::new(machine));
        Ok(())
    }

    fn describe(&self) -> api::Result<SystemDescription> {
        Ok(self.machine()?.description.clone())
    }

    fn close(&self) -> api::Result<()> {
        let mut state = self.state.write();
        if let State::Open(machine) = &*state {
            machine.close();
            *state = State::Closed;
        }
        Ok(())
    }

    fn after_fork(&self) -> api::Result<()> {
        // The parent's threads are not here, and one of them may hold the lock; then nothing can be let go.
        if let Some(mut state) = self.state.try_write() {
            if let State::Open(machine) = std::mem::replace(&mut *state, State::Forked) {
                machine.memory.separate(&machine.context);
                // Everything in it names things of the parent.
                std::mem::forget(machine);
            }
            self.lasting.after_fork();
        }
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> api::Result<Allocation> {
        let machine = self.machine()?;
        if request.flags.contains(AllocFlags::SCRATCH) {
            return Ok(machine.scratch.allocate(&machine, request.node, request.bytes)?);
        }
        Ok(machine.memory.allocate(&machine, request)?)
    }

    fn free(&self, handle: MemoryHandle) -> api::Result<()> {
        let machine = self.machine()?;
        if Scratch::owns(handle) {
            return Ok(machine.scratch.free(&machine, handle)?);
        }
        Ok(machine.memory.free(&machine, handle)?)
    }

    fn map(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        let nodes = machine.host_nodes(request.nodes.as_slice())?;
        Ok(machine.memory.map(&machine, request.handle, &nodes)?)
    }

    fn unmap(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        let nodes = machine.host_nodes(request.nodes.as_slice())?;
        Ok(machine.memory.unmap(&machine, request.handle, &nodes)?)
    }

    fn register_host(&self, request: &HostMemoryRequest<'_>) -> api::Result<Allocation> {
        Ok(user_memory::register(&*self.machine()?, request)?)
    }

    fn deregister_host(&self, handle: MemoryHandle) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.memory.free(&machine, handle)?)
    }

    fn available(&self, node: u32) -> api::Result<u64> {
        Ok(Memory::available(&*self.machine()?, node)?)
    }

    fn create_queue(&self, request: &QueueRequest) -> api::Result<QueueInfo> {
        let machine = self.machine()?;
        Ok(machine.queues.create(&machine, request)?)
    }

    fn destroy_queue(&self, queue: u64) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.queues.destroy(&machine, queue)?)
    }

    fn allocate_scratch(&self, request: &ScratchRequest) -> api::Result<Allocation> {
        let machine = self.machine()?;
        Ok(machine.scratch.allocate(&machine, request.node, request.bytes)?)
    }

    fn set_trap_handler(
        &self,
        node: u32,
        code: u64,
        code_bytes: u64,
        data: u64,
        data_bytes: u64,
    ) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(event::set_trap_handler(
            &machine,
            node,
            (code, code_bytes),
            (data, data_bytes),
        )?)
    }

    fn create_event(&self, request: &EventRequest) -> api::Result<EventInfo> {
        let machine = self.machine()?;
        Ok(machine.events.create(&machine, request)?)
    }

    fn destroy_event(&self, event: u32) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.events.destroy(&machine, event)?)
    }

    fn set_event(&self, event: u32) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.events.set(&machine, event)?)
    }

    fn reset_event(&self, event: u32) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.events.reset(&machine, event)?)
    }

    fn wait_events(
        &self,
        events: RSlice<'_, u32>,
        _ages: RSlice<'_, u64>,
        all: bool,
        timeout_ms: u32,
    ) -> api::Result<bool> {
        let machine = self.machine()?;
        Ok(machine
            .events
            .wait(&machine, events.as_slice(), all, timeout_ms)?)
    }

    /// The device's clock is the host's answer. The host's own clocks are not the guest's, so the others are the guest's
    /// time in the middle of the question.
    fn clock_counters(&self, node: u32) -> api::Result<ClockCounters> {
        let machine = self.machine()?;
        let number = machine.gpu(node)?.candidate.node;
        let before = self.host.now()?;
        let answer = machine
            .context
            .query("GET_CLOCK_COUNTERS", query::CLOCKS, &[number], 0)?;
        let now = before + self.host.now()?.saturating_sub(before) / 2;
        Ok(ClockCounters {
            device: answer.long(VALUES),
            host: now,
            system: now,
            system_hz: 1_000_000_000,
        })
    }
}

impl Drop for KfdVirtioDriver {
    fn drop(&mut self) {
        // Closed already, unless its owner forgot.
        let _ = Driver::close(self);
    }
}
