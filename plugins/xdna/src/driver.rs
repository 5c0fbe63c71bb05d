//! The contract's side: each method finds the open machine and hands on.

use crate::config::Config;
use crate::describe::describe;
use crate::device::Device;
use crate::discover;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::queue::Queue;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::{Mutex, RwLock};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{
    AllocRequest, Allocation, ClockCounters, Driver, ExportKind, HostRef, ImportRequest, MapRequest,
    MemoryHandle, QueueInfo, QueueKind, QueueRequest, QueueUpdate, SharedHandle, SystemDescription,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The open driver.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The devices, by node.
    pub(crate) devices: Vec<Arc<Device>>,
    /// What the runtime is told.
    description: SystemDescription,
    /// The buffers that the runtime has.
    memory: Arc<Memory>,
    /// Queues, by the name that the runtime has.
    queues: Mutex<BTreeMap<u64, Arc<Queue>>>,
    last_queue: AtomicU64,
}

#[derive(Debug)]
enum State {
    Closed,
    Open(Arc<Machine>),
    Forked,
}

/// The driver.
#[derive(Debug)]
pub struct XdnaDriver {
    system: Arc<dyn System>,
    host: HostRef<'static>,
    config: Config,
    state: RwLock<State>,
}

/// Bytes of the host's memory (`MemTotal` of `/proc/meminfo`), or 0.
fn host_bytes(system: &dyn System) -> u64 {
    let text = system.read_file(Path::new("/proc/meminfo")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

impl Machine {
    fn open(system: &Arc<dyn System>, config: &Config) -> Result<Self> {
        let found = discover::find(system).some()?;
        let bytes = host_bytes(system.as_ref());
        let devices: Vec<_> = found
            .candidates
            .into_iter()
            .map(|candidate| Arc::new(Device::new(candidate, bytes, config.heap_bytes)))
            .collect();
        let page = system.page_size() as u64;
        Ok(Self {
            description: describe(&devices, found.hidden, config, page),
            devices,
            memory: Arc::default(),
            queues: Mutex::default(),
            last_queue: AtomicU64::new(0),
        })
    }

    fn device(&self, node: u32) -> Result<&Arc<Device>> {
        self.devices
            .get(node as usize)
            .ok_or_else(|| Error::Argument(format!("Node {node} is none of this driver")))
    }

    fn queue(&self, queue: u64) -> Result<Arc<Queue>> {
        self.queues
            .lock()
            .get(&queue)
            .cloned()
            .ok_or(Error::Handle("a queue"))
    }

    fn close(&self) {
        let queues = std::mem::take(&mut *self.queues.lock());
        for queue in queues.values() {
            queue.destroy();
        }
        drop(queues);
        self.memory.clear();
        for device in &self.devices {
            device.close();
        }
    }
}

impl XdnaDriver {
    /// A driver that is not open yet.
    #[must_use]
    pub fn new(system: Arc<dyn System>, host: HostRef<'static>, config: Config) -> Self {
        Self {
            system,
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

impl Driver for XdnaDriver {
    fn open(&self) -> api::Result<()> {
        let mut state = self.state.write();
        if !matches!(*state, State::Open(_)) {
            *state = State::Open(Arc::new(Machine::open(&self.system, &self.config)?));
        }
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
                if let Some(queues) = machine.queues.try_lock() {
                    for queue in queues.values() {
                        queue.abandon();
                    }
                }
                for device in &machine.devices {
                    device.accel().abandon();
                }
                // Everything in it names things of the parent.
                std::mem::forget(machine);
            }
        }
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> api::Result<Allocation> {
        let machine = self.machine()?;
        let device = machine.device(request.node)?;
        Ok(machine.memory.allocate(device, request)?)
    }

    fn free(&self, handle: MemoryHandle) -> api::Result<()> {
        Ok(self.machine()?.memory.free(handle)?)
    }

    fn map(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        Ok(machine.memory.map(&machine.devices, request)?)
    }

    fn unmap(&self, request: &MapRequest<'_>) -> api::Result<()> {
        let machine = self.machine()?;
        // Nobody but its own device sees it, which always does.
        Ok(machine.memory.map(&machine.devices, request)?)
    }

    fn available(&self, node: u32) -> api::Result<u64> {
        Ok(self.machine()?.device(node)?.available())
    }

    fn clock_counters(&self, node: u32) -> api::Result<ClockCounters> {
        self.machine()?.device(node)?;
        // Packets are timed here: the device has no clock that a program could read.
        let now = self.host.now()?;
        Ok(ClockCounters {
            device: now,
            host: now,
            system: now,
            system_hz: 1_000_000_000,
        })
    }

    fn export_memory(&self, handle: MemoryHandle, kind: ExportKind) -> api::Result<SharedHandle> {
        Ok(self.machine()?.memory.export(handle, kind)?)
    }

    fn import_memory(&self, request: &ImportRequest<'_>) -> api::Result<Allocation> {
        let machine = self.machine()?;
        let [node] = request.nodes.as_slice() else {
            return Err(Error::Unsupported("Memory is imported for one NPU at a time").into());
        };
        Ok(machine.memory.import(machine.device(*node)?, request)?)
    }

    fn create_queue(&self, request: &QueueRequest) -> api::Result<QueueInfo> {
        let machine = self.machine()?;
        let device = machine.device(request.node)?;
        if request.kind != QueueKind::AQL {
            return Err(Error::Unsupported("Queues of an NPU take AQL packets").into());
        }
        let flush = self.config.cache_flush;
        let queue = Queue::new(device, &machine.memory, self.host, flush, request);
        let doorbell = queue.doorbell().ok_or(Error::Handle("a queue"))?;
        let name = machine.last_queue.fetch_add(1, Ordering::Relaxed) + 1;
        machine.queues.lock().insert(name, queue);
        Ok(QueueInfo {
            queue: name,
            doorbell,
            name: format!("xdna {} queue {name}", request.node).into(),
        })
    }

    fn destroy_queue(&self, queue: u64) -> api::Result<()> {
        let machine = self.machine()?;
        let removed = machine.queues.lock().remove(&queue);
        removed.ok_or(Error::Handle("a queue"))?.destroy();
        Ok(())
    }

    fn update_queue(&self, queue: u64, update: &QueueUpdate<'_>) -> api::Result<()> {
        let queue = self.machine()?.queue(queue)?;
        if !update.cu_mask.is_empty() {
            return Err(Error::Unsupported("A queue of an NPU has all columns of the array").into());
        }
        queue.update(update.priority, update.percent);
        Ok(())
    }
}

impl Drop for XdnaDriver {
    fn drop(&mut self) {
        // Closed already, unless its owner forgot.
        let _ = Driver::close(self);
    }
}
