//! The contract's side: each method finds the open machine and hands on.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::faults::Watch;
use crate::host_memory::{HostMemory, Pages};
use crate::machine::{Lasting, Machine};
use crate::memory::Memory;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::{Mutex, RwLock};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, ClockCounters, Driver, EngineDescription, EventInfo, EventRequest,
    ExportKind, HostMemoryRequest, HostRef, ImportRequest, LogLevel, MapRequest, MemoryHandle, QueueInfo,
    QueueRequest, QueueUpdate, RSlice, RStr, RVec, ScratchRequest, SharedHandle, SystemDescription,
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
pub struct KfdDriver {
    system: Arc<dyn System>,
    lasting: Arc<Lasting>,
    host: HostRef<'static>,
    config: Config,
    state: RwLock<State>,
    watch: Mutex<Option<Arc<Watch>>>,
}

/// Most bytes of one copy packet: 22 bits of count.
const MOST_COPY_BYTES: u64 = 1 << 22;

impl KfdDriver {
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
            watch: Mutex::new(None),
        }
    }

    fn machine(&self) -> Result<Arc<Machine>> {
        match &*self.state.read() {
            State::Open(machine) => Ok(Arc::clone(machine)),
            State::Closed => Err(Error::NotOpen),
            State::Forked => Err(Error::Forked),
        }
    }

    fn warn(&self, text: &str) {
        // A log that fails has nowhere to say so.
        let _ = self.host.log(LogLevel::WARNING, RStr::from_str(text));
    }
}

impl Driver for KfdDriver {
    fn open(&self) -> api::Result<()> {
        let mut state = self.state.write();
        if let State::Open(_) = *state {
            return Ok(());
        }
        let machine = Arc::new(Machine::open(&self.system, &self.lasting, &self.config)?);
        *self.watch.lock() = match Watch::start(&machine, self.host) {
            Ok(watch) => Some(watch),
            Err(error) => {
                self.warn(&format!("Faults are not reported: {}", api::Error::from(error)));
                None
            }
        };
        *state = State::Open(machine);
        Ok(())
    }

    fn describe(&self) -> api::Result<SystemDescription> {
        Ok(self.machine()?.description.clone())
    }

    fn close(&self) -> api::Result<()> {
        let mut state = self.state.write();
        if let State::Open(machine) = &*state {
            if let Some(watch) = self.watch.lock().take() {
                watch.stop();
            }
            machine.close();
            *state = State::Closed;
        }
        Ok(())
    }

    fn after_fork(&self) -> api::Result<()> {
        // The parent's threads are not here, and one of them may hold the lock; then nothing can be let go.
        if let Some(mut state) = self.state.try_write() {
            if let State::Open(machine) = std::mem::replace(&mut *state, State::Forked) {
                machine.kfd.0.abandon();
                // Everything in it names things of the parent.
                std::mem::forget(machine);
            }
            self.lasting.after_fork();
        }
        if let Some(mut watch) = self.watch.try_lock() {
            std::mem::forget(watch.take());
        }
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> api::Result<Allocation> {
        let machine = self.machine()?;
        if request.flags.contains(AllocFlags::SCRATCH) {
            return Ok(machine
                .memory
                .allocate_scratch(&machine, request.node, request.bytes)?);
        }
        Ok(machine.memory.allocate(&machine, request)?)
    }

    fn free(&self, handle: MemoryHandle) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.memory.free(&machine, handle)?)
    }

    fn map(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        let gpu_ids = machine.gpu_ids(request.nodes.as_slice())?;
        if HostMemory::owns(request.handle) {
            return Ok(machine.host_memory.map(&machine, request.handle, &gpu_ids)?);
        }
        Ok(machine.memory.map(&machine, request.handle, &gpu_ids)?)
    }

    fn unmap(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        let gpu_ids = machine.gpu_ids(request.nodes.as_slice())?;
        if HostMemory::owns(request.handle) {
            // Pieces are shared among registrations: devices see them until the last one goes.
            return Ok(());
        }
        Ok(machine.memory.unmap(&machine, request.handle, &gpu_ids)?)
    }

    fn register_host(&self, request: &HostMemoryRequest<'_>) -> api::Result<Allocation> {
        let machine = self.machine()?;
        let gpu_ids = machine.gpu_ids(request.nodes.as_slice())?;
        let (address, bytes) = (request.address, request.bytes);
        let read_only = request.flags.contains(AllocFlags::READ_ONLY);
        if request.flags.contains(AllocFlags::OWN_ADDRESS) {
            return Ok(machine
                .memory
                .lock(&machine, address, bytes, &gpu_ids, read_only)?);
        }
        let pages = if request.flags.contains(AllocFlags::DISPOSABLE) {
            Pages::Disposable
        } else if read_only {
            Pages::ReadOnly
        } else {
            Pages::Written
        };
        Ok(machine
            .host_memory
            .register(&machine, address, bytes, &gpu_ids, pages)?)
    }

    fn deregister_host(&self, handle: MemoryHandle) -> api::Result<()> {
        let machine = self.machine()?;
        if !HostMemory::owns(handle) {
            return Ok(machine.memory.free(&machine, handle)?);
        }
        Ok(machine.host_memory.deregister(&machine, handle)?)
    }

    fn available(&self, node: u32) -> api::Result<u64> {
        Ok(Memory::available(&*self.machine()?, node)?)
    }

    fn export_memory(&self, handle: MemoryHandle, kind: ExportKind) -> api::Result<SharedHandle> {
        Ok(self.machine()?.export(handle, kind)?)
    }

    fn import_memory(&self, request: &ImportRequest<'_>) -> api::Result<Allocation> {
        Ok(self.machine()?.import(request)?)
    }

    fn reserve(&self, address: u64, _bytes: u64, _alignment: u64) -> api::Result<u64> {
        self.machine()?;
        if address == 0 {
            return Err(Error::Argument(
                "Devices have the host's addresses, and the runtime chooses them".into(),
            )
            .into());
        }
        Ok(address)
    }

    fn unreserve(&self, _address: u64, _bytes: u64) -> api::Result<()> {
        self.machine().map(drop).map_err(Into::into)
    }

    fn map_at(
        &self,
        handle: MemoryHandle,
        offset: u64,
        address: u64,
        bytes: u64,
        nodes: RSlice<'_, u32>,
        access: u32,
    ) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.place(handle, offset, address, bytes, nodes.as_slice(), access)?)
    }

    fn unmap_at(&self, handle: MemoryHandle, address: u64, bytes: u64) -> api::Result<()> {
        Ok(self.machine()?.displace(handle, address, bytes)?)
    }

    fn svm_set(
        &self,
        address: u64,
        bytes: u64,
        attributes: RSlice<'_, api::SvmAttribute>,
    ) -> api::Result<()> {
        Ok(self.machine()?.set_svm(address, bytes, attributes.as_slice())?)
    }

    fn create_queue(&self, request: &QueueRequest) -> api::Result<QueueInfo> {
        let machine = self.machine()?;
        Ok(machine.queues.create(&machine, request)?)
    }

    fn destroy_queue(&self, queue: u64) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.queues.destroy(&machine, queue)?)
    }

    fn update_queue(&self, queue: u64, update: &QueueUpdate<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.queues.update(&machine, queue, update)?)
    }

    fn allocate_scratch(&self, request: &ScratchRequest) -> api::Result<Allocation> {
        let machine = self.machine()?;
        Ok(machine
            .memory
            .allocate_scratch(&machine, request.node, request.bytes)?)
    }

    fn set_trap_handler(
        &self,
        node: u32,
        code: u64,
        _code_bytes: u64,
        data: u64,
        _data_bytes: u64,
    ) -> api::Result<()> {
        let machine = self.machine()?;
        let gpu_id = machine.gpu(node)?.candidate.gpu_id;
        Ok(machine.kfd.set_trap_handler(gpu_id, code, data)?)
    }

    fn allocate_gws(&self, queue: u64, count: u32) -> api::Result<u32> {
        let machine = self.machine()?;
        Ok(machine.queues.allocate_gws(&machine, queue, count)?)
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
        ages: RSlice<'_, u64>,
        all: bool,
        timeout_ms: u32,
    ) -> api::Result<bool> {
        let machine = self.machine()?;
        Ok(machine
            .events
            .wait(&machine, events.as_slice(), ages.as_slice(), all, timeout_ms)?)
    }

    fn wait_events_since(
        &self,
        events: RSlice<'_, u32>,
        ages: RSlice<'_, u64>,
        timeout_ms: u32,
    ) -> api::Result<RVec<u64>> {
        let machine = self.machine()?;
        let ages = machine
            .events
            .wait_since(&machine, events.as_slice(), ages.as_slice(), timeout_ms)?;
        Ok(ages.unwrap_or_default().into())
    }

    fn engines(&self, node: u32) -> api::Result<EngineDescription> {
        let machine = self.machine()?;
        let target = machine.gpu(node)?.candidate.own_target;
        let description = &machine.description.nodes[node as usize];
        Ok(EngineDescription {
            family: target
                .chip()
                .map_or(api::EngineFamily::SDMA_4, |chip| chip.engines),
            raises_events: 1,
            max_copy_bytes: MOST_COPY_BYTES,
            host_engines: description.dma_engines,
            link_engines: description.dma_link_engines,
        })
    }

    fn clock_counters(&self, node: u32) -> api::Result<ClockCounters> {
        let machine = self.machine()?;
        let gpu_id = machine.gpu(node)?.candidate.gpu_id;
        let counters = machine.kfd.clock_counters(gpu_id)?;
        if counters.system_clock_freq == 0 {
            return Err(Error::Nonsense {
                request: "GET_CLOCK_COUNTERS",
                what: "frequency 0".into(),
            }
            .into());
        }
        Ok(ClockCounters {
            device: counters.gpu_clock_counter,
            host: counters.cpu_clock_counter,
            system: counters.system_clock_counter,
            system_hz: counters.system_clock_freq,
        })
    }

    fn open_smi(&self, node: u32) -> api::Result<i32> {
        let machine = self.machine()?;
        let gpu_id = machine.gpu(node)?.candidate.gpu_id;
        Ok(machine.kfd.smi_events(gpu_id)?)
    }
}

impl Drop for KfdDriver {
    fn drop(&mut self) {
        // Closed already, unless its owner forgot.
        let _ = Driver::close(self);
    }
}
