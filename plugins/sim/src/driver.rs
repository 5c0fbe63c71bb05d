//! The driver: the contract's methods, each in a few lines.

use crate::config::Config;
use crate::copy;
use crate::describe;
use crate::device::Device;
use crate::exec::guard;
use crate::memory::Memory;
use crate::queue::Queue;
use crate::sched::Pool;
use crate::svm::Svm;
use hansa_plugin_api::sync::Mutex;
use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, ClockCounters, CopyRequest, Driver, Error, ErrorCode, ExportKind,
    HostMemoryRequest, HostRef, ImportRequest, MapRequest, MemoryHandle, QueueInfo, QueueKind, QueueRequest,
    QueueUpdate, RSlice, Result, ScratchRequest, SharedHandle, SvmAttribute, SystemDescription,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// The driver of the software GPU.
#[derive(Debug)]
pub(crate) struct SimDriver(Arc<Inner>);

impl std::ops::Deref for SimDriver {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Drop for SimDriver {
    fn drop(&mut self) {
        if self.forked.load(Ordering::Relaxed) {
            // Threads of the parent may hold its locks for ever: what it has stays as it is.
            std::mem::forget(Arc::clone(&self.0));
        } else {
            // A runtime that closed it before has nothing left to stop.
            self.0.stop();
        }
    }
}

/// What the driver has.
#[derive(Debug)]
pub(crate) struct Inner {
    host: HostRef<'static>,
    config: Config,
    devices: Vec<Arc<Device>>,
    memory: Memory,
    pool: Arc<Pool>,
    svm: Svm,
    queues: Mutex<HashMap<u64, Arc<Queue>>>,
    next_queue: AtomicU64,
    /// Whether this process is a child of the one that made it.
    forked: AtomicBool,
}

impl SimDriver {
    /// A driver with the devices of a configuration, and no thread.
    pub(crate) fn new(host: HostRef<'static>, config: Config) -> Self {
        let devices = Device::all(&config, host);
        let threads = config.threads.unwrap_or_else(|| threads(host));
        let waves = devices.first().map_or(0, |device| device.waves());
        Self(Arc::new(Inner {
            host,
            memory: Memory::new(devices.clone(), config.memory),
            pool: Arc::new(Pool::new(host, threads, waves)),
            svm: Svm::default(),
            queues: Mutex::default(),
            next_queue: AtomicU64::new(1),
            forked: AtomicBool::new(false),
            devices,
            config,
        }))
    }
}

impl Inner {
    fn alive(&self) -> Result<()> {
        if self.forked.load(Ordering::Relaxed) {
            let message = "The software GPU belongs to the process that opened it, not to its child";
            return Err(Error::new(ErrorCode::DEVICE_LOST, message));
        }
        Ok(())
    }

    /// Destroys the queues that are left, and ends the threads.
    fn stop(&self) {
        let queues: Vec<_> = self.queues.lock().drain().map(|(_, queue)| queue).collect();
        for queue in queues {
            queue.destroy();
        }
        self.pool.close();
        if let Some(watcher) = self.devices.first().and_then(|device| device.watcher.as_ref()) {
            watcher.write();
        }
    }

    fn node(&self, node: u32) -> Result<usize> {
        self.alive()?;
        if node < self.config.devices {
            return Ok(node as usize);
        }
        let message = format!(
            "Node {node} is none of this driver's, which are 0 to {}",
            self.config.devices - 1
        );
        Err(Error::new(ErrorCode::INVALID_ARGUMENT, message))
    }

    fn nodes(&self, nodes: RSlice<'_, u32>) -> Result<Vec<usize>> {
        nodes.iter().map(|&node| self.node(node)).collect()
    }

    fn queue(&self, queue: u64) -> Result<Arc<Queue>> {
        self.alive()?;
        self.queues
            .lock()
            .get(&queue)
            .cloned()
            .ok_or_else(|| no_queue(queue))
    }
}

impl Driver for SimDriver {
    fn open(&self) -> Result<()> {
        self.alive()?;
        install_guard()
    }

    fn describe(&self) -> Result<SystemDescription> {
        self.alive()?;
        Ok(describe::system(&self.config))
    }

    fn close(&self) -> Result<()> {
        self.alive()?;
        self.stop();
        Ok(())
    }

    fn after_fork(&self) -> Result<()> {
        self.forked.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> Result<Allocation> {
        let node = self.node(request.node)?;
        if request.bank != 0 {
            let message = format!("Node {} has bank 0 only, not {}", request.node, request.bank);
            return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
        }
        self.memory.allocate(node, request)
    }

    fn free(&self, handle: MemoryHandle) -> Result<()> {
        self.alive()?;
        self.memory.release(handle)
    }

    fn map(&self, request: &MapRequest<'_>) -> Result<()> {
        self.memory.map(request, &self.nodes(request.nodes)?)
    }

    fn unmap(&self, request: &MapRequest<'_>) -> Result<()> {
        self.memory.unmap(request, &self.nodes(request.nodes)?)
    }

    fn register_host(&self, request: &HostMemoryRequest<'_>) -> Result<Allocation> {
        let nodes = self.nodes(request.nodes)?;
        self.memory.register(request, nodes)
    }

    fn deregister_host(&self, handle: MemoryHandle) -> Result<()> {
        self.alive()?;
        self.memory.release(handle)
    }

    fn available(&self, node: u32) -> Result<u64> {
        Ok(self.memory.available(self.node(node)?))
    }

    fn make_resident(&self, handle: MemoryHandle, nodes: RSlice<'_, u32>) -> Result<()> {
        self.nodes(nodes)?;
        // Pages of the host come when they are touched; there is nothing to do ahead of that.
        self.memory.check(handle)
    }

    fn export_memory(&self, handle: MemoryHandle, kind: ExportKind) -> Result<SharedHandle> {
        self.alive()?;
        // A program may have put its own handler in front of ours since.
        install_guard()?;
        self.memory.export(handle, kind)
    }

    fn import_memory(&self, request: &ImportRequest<'_>) -> Result<Allocation> {
        let mut nodes = self.nodes(request.nodes)?;
        nodes.sort_unstable();
        nodes.dedup();
        self.memory.import(request, &nodes)
    }

    fn svm_set(&self, address: u64, bytes: u64, attributes: RSlice<'_, SvmAttribute>) -> Result<()> {
        for attribute in attributes {
            self.nodes(attribute.nodes.as_rslice())?;
        }
        let end = address.saturating_add(bytes);
        self.svm.set(&self.devices, (address, end), attributes.as_slice())
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<QueueInfo> {
        let node = self.node(request.node)?;
        check_queue(request)?;
        let mut queues = self.queues.lock();
        let taken = queues
            .values()
            .filter(|queue| queue.device.node == request.node)
            .count();
        if taken >= self.config.queues as usize {
            let message = format!("Node {} has all of its {taken} queues in use", request.node);
            return Err(Error::new(ErrorCode::OUT_OF_RESOURCES, message));
        }
        let id = self.next_queue.fetch_add(1, Ordering::Relaxed);
        let device = Arc::clone(&self.devices[node]);
        let queue = Queue::new(id, device, Arc::clone(&self.pool), request);
        let doorbell = queue.doorbell().ok_or_else(|| no_queue(id))?;
        queues.insert(id, queue);
        Ok(QueueInfo {
            queue: id,
            doorbell,
            name: format!("software GPU {node} queue {id}").into(),
        })
    }

    fn destroy_queue(&self, queue: u64) -> Result<()> {
        self.alive()?;
        let queue = self.queues.lock().remove(&queue).ok_or_else(|| no_queue(queue))?;
        queue.destroy();
        Ok(())
    }

    fn update_queue(&self, queue: u64, update: &QueueUpdate<'_>) -> Result<()> {
        self.queue(queue)?.update(update);
        Ok(())
    }

    fn allocate_scratch(&self, request: &ScratchRequest) -> Result<Allocation> {
        let node = self.node(request.node)?;
        self.memory.allocate(
            node,
            &AllocRequest {
                node: request.node,
                bank: 0,
                bytes: request.bytes,
                alignment: SCRATCH_ALIGNMENT,
                address: 0,
                flags: AllocFlags::SCRATCH,
                reserved: 0,
            },
        )
    }

    fn allocate_gws(&self, queue: u64, count: u32) -> Result<u32> {
        self.queue(queue)?.allocate_gws(count)
    }

    fn copy(&self, request: &CopyRequest) -> Result<()> {
        self.node(request.node)?;
        copy::run(request)?;
        // The destination may hold code; what was decoded of it before is stale.
        let (start, bytes) = copy::destination(request);
        for device in &self.devices {
            device.memory_changed(start, bytes);
        }
        Ok(())
    }

    fn clock_counters(&self, node: u32) -> Result<ClockCounters> {
        self.node(node)?;
        let now = self.host.now()?;
        Ok(ClockCounters {
            device: now,
            host: now,
            system: now,
            system_hz: 1_000_000_000,
        })
    }
}

fn install_guard() -> Result<()> {
    guard::install().map_err(|error| {
        let errno = error.raw_os_error().unwrap_or(0);
        Error::os(
            errno,
            "Cannot install a handler for memory faults of kernels",
            "sigaction",
        )
    })
}

/// Private memory begins at a multiple of this.
const SCRATCH_ALIGNMENT: u64 = 64 << 10;

/// As many threads as the runtime says, or as there are processors.
fn threads(host: HostRef<'_>) -> u32 {
    host.worker_threads()
        .ok()
        .filter(|&threads| threads > 0)
        .unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
        })
}

fn check_queue(request: &QueueRequest) -> Result<()> {
    let is_copy = request.kind == QueueKind::DMA;
    if request.kind != QueueKind::AQL && request.kind != QueueKind::COOPERATIVE && !is_copy {
        let message = format!(
            "Queues of kind {} are not supported; the software GPU has AQL (0), copy (1) and cooperative (3) queues",
            request.kind.0
        );
        return Err(Error::new(ErrorCode::NOT_SUPPORTED, message));
    }
    let packets = request.ring_bytes / 64;
    if !packets.is_power_of_two() || !request.ring_bytes.is_multiple_of(64) {
        let message = format!(
            "A ring of {} bytes is not a power of two of 64-byte packets",
            request.ring_bytes
        );
        return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
    }
    for (what, address, alignment) in [
        ("ring", request.ring_address, 64),
        (
            "descriptor",
            if is_copy { 64 } else { request.descriptor_address },
            64,
        ),
        ("write index", request.write_index_address, 8),
        ("read index", request.read_index_address, 8),
    ] {
        if address == 0 || address % alignment != 0 {
            let message = format!("The {what} of a queue cannot lie at {address:#x}");
            return Err(Error::new(ErrorCode::INVALID_ARGUMENT, message));
        }
    }
    Ok(())
}

fn no_queue(queue: u64) -> Error {
    Error::new(
        ErrorCode::INVALID_HANDLE,
        format!("{queue} is no queue of this driver"),
    )
}
