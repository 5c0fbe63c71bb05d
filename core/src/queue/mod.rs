//! Queues: rings of AQL packets (HSA specification, 2.8).
//!
//! A device queue is read by a driver's packet processor; a soft queue is read by the program. Errors of a
//! device queue arrive through its inactive signal and end in the program's callback.

mod bell;
pub mod code_caches;
pub mod counted;
pub mod descriptor;
mod end;
pub mod errors;
pub mod index;
pub mod intercept;
mod listeners;
pub(crate) mod own;
pub mod reclaim;
pub mod scratch;
pub mod scratch_events;
pub mod slots;
mod undo;

pub use descriptor::Descriptor;
pub(crate) use end::let_go;
pub use listeners::ErrorCallback;

use crate::agent::AgentKind;
use crate::error::{Error, Result};
use crate::log::{self, Topic};
use crate::memory::host::{HostOptions, Pages};
use crate::runtime::Runtime;
use crate::signal::block::flag;
use crate::signal::{pool, Block, Condition};
use crate::trace;
use counted::Name;
use descriptor::{property, CAN_RECLAIM, ROLE_DEVICE, ROLE_SOFT, TAG};
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;
use intercept::Intercept;
use listeners::Listeners;
use scratch::Scratch;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use undo::Undo;

/// Bytes of an AQL packet.
pub const PACKET_BYTES: usize = 64;
/// Header of a slot that holds no packet.
const HEADER_INVALID: u16 = 1;

/// A queue's type, with HSA's numbers (`hsa_queue_type_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QueueType {
    /// Several producers.
    Multi = 0,
    /// One producer.
    Single = 1,
    /// Cooperative dispatches.
    Cooperative = 2,
}

/// A queue that a driver serves.
#[derive(Debug)]
pub struct DeviceQueue {
    /// Index of the driver.
    pub driver: usize,
    /// The driver's node.
    pub node: u32,
    /// The driver's name for the queue.
    pub queue: u64,
    doorbell: &'static Block,
    inactive: &'static Block,
    /// Where the kernel reports exceptions, if it does.
    exceptions: Option<&'static Block>,
    listeners: Listeners,
    failed: AtomicBool,
    /// Whether the device still serves the queue. Held while the handler thread answers the device, so that the queue is
    /// not taken down meanwhile.
    alive: Mutex<bool>,
    scratch: Mutex<Option<Scratch>>,
    /// Share and compute units, for changes.
    settings: Mutex<Settings>,
}

#[derive(Debug)]
struct Settings {
    priority: api::QueuePriority,
    cu_mask: Vec<u32>,
}

/// What serves a queue.
#[derive(Debug)]
pub enum Server {
    /// A driver.
    Device(DeviceQueue),
    /// The program.
    Soft,
    /// Another queue, to which the packets go through handlers of tools.
    Intercept(Intercept),
    /// Another queue, of which this is one of several names.
    Counted(Name),
}

/// A queue.
#[derive(Debug)]
pub struct Queue {
    /// Index of its agent; `None` for soft queues.
    pub agent: Option<usize>,
    /// Its type.
    pub queue_type: QueueType,
    /// What serves it.
    pub server: Server,
    /// The descriptor.
    pub descriptor: &'static Descriptor,
    ring: Ring,
}

#[derive(Debug)]
enum Ring {
    /// That of the queue this is a name of.
    Another,
    Pages(Pages, Vec<(usize, api::MemoryHandle)>),
    Allocation(u64),
}

/// What a program asks for.
#[derive(Clone, Copy, Debug)]
pub struct QueueOptions {
    /// Index of the agent.
    pub agent: usize,
    /// Packets.
    pub packets: u32,
    /// Type.
    pub queue_type: QueueType,
    /// Called on errors.
    pub callback: Option<ErrorCallback>,
    /// Bytes of private memory of a work-item that will be needed, or `u32::MAX`.
    pub private_bytes: u32,
    /// Urgency.
    pub priority: api::QueuePriority,
}

/// Private bytes of a work-item that a new queue gets scratch for: what the program says, or else what the configuration
/// does; 0 to wait for the first kernel that needs some.
fn prepared(runtime: &Runtime, asked: u32) -> u32 {
    let wanted = &runtime.config.settings.hsa.scratch_mem;
    match asked {
        u32::MAX if wanted.is_set() => u32::try_from(wanted.value.0).unwrap_or(u32::MAX),
        u32::MAX => 0,
        asked => asked,
    }
}

/// Makes every packet of a ring invalid.
fn clear_ring(address: usize, packets: u32) {
    for slot in 0..packets as usize {
        // SAFETY: the ring has `packets` packets and belongs to the queue that is being made.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u16>(address + slot * PACKET_BYTES)
                .write_volatile(HEADER_INVALID);
        }
    }
}

/// The kinds of packets that queues of an agent take: see [`Descriptor::features`]. An agent without any has no queues.
#[must_use]
pub fn features(caps: api::AgentCaps) -> u32 {
    u32::from(caps.contains(api::AgentCaps::KERNEL_DISPATCH))
        | u32::from(caps.contains(api::AgentCaps::AGENT_DISPATCH)) << 1
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn fill_common(
    descriptor: &Descriptor,
    queue_type: QueueType,
    features: u32,
    packets: u32,
    ring: u64,
    doorbell: u64,
) {
    descriptor.clear();
    descriptor.kind.store(queue_type as u32, Ordering::Relaxed);
    descriptor.features.store(features, Ordering::Relaxed);
    descriptor.base_address.store(ring, Ordering::Relaxed);
    descriptor.doorbell.store(doorbell, Ordering::Relaxed);
    descriptor.size.store(packets, Ordering::Relaxed);
    descriptor
        .id
        .store(NEXT_ID.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    let offset = std::mem::offset_of!(Descriptor, read_index);
    descriptor
        .read_index_offset
        .store(u32::try_from(offset).unwrap_or(0), Ordering::Relaxed);
}

impl Queue {
    /// Makes a queue of a device.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueueCreation`] when the agent has none of this type, [`Error::InvalidArgument`] for a
    /// size that is no power of two or too large, [`Error::OutOfResources`] and what the driver says.
    pub fn create(runtime: &Arc<Runtime>, options: &QueueOptions) -> Result<Arc<Self>> {
        if trace::on() {
            return Self::create_intercepted(runtime, options);
        }
        Self::check_room(runtime, options.agent)?;
        let queue = Self::create_hidden(runtime, options)?;
        queue.limit(runtime)?;
        queue.publish(runtime);
        Ok(queue)
    }

    /// Refuses one more queue of the program than the agent has. Names of one shared queue are no queues of the agent.
    fn check_room(runtime: &Runtime, agent: usize) -> Result<()> {
        let Some(device) = runtime.agents[agent].device() else {
            return Ok(());
        };
        let is_served = |queue: &&Arc<Self>| {
            !matches!(queue.server, Server::Counted(_))
                && queue.device().is_some_and(|served| {
                    (served.driver, served.node) == (device.reference.driver, device.reference.node)
                })
        };
        let made = runtime.queues.lock().values().filter(is_served).count();
        // None at all is another error.
        if made != 0 && made >= device.description.max_queues as usize {
            return Err(Error::OutOfResources("queues of the agent"));
        }
        Ok(())
    }

    /// Limits a new queue to the compute units that the configuration gives its GPU (`HSA_CU_MASK`).
    fn limit(&self, runtime: &Runtime) -> Result<()> {
        let settings = &runtime.config.settings.hsa;
        let Some(mask) = settings
            .cu_mask
            .value
            .as_ref()
            .filter(|_| !settings.cu_mask_skip_init.value)
        else {
            return Ok(());
        };
        let before = runtime.agents.iter().take(self.agent.unwrap_or(0));
        let gpu = u32::try_from(before.filter(|agent| agent.is_gpu()).count()).unwrap_or(u32::MAX);
        mask.of(gpu)
            .map_or(Ok(()), |mask| self.set_cu_mask(runtime, mask))
    }

    /// Makes a queue that the program does not know.
    pub(crate) fn create_hidden(runtime: &Arc<Runtime>, options: &QueueOptions) -> Result<Arc<Self>> {
        let agent = &runtime.agents[options.agent];
        let device = match &agent.kind {
            AgentKind::Cpu(_) => return Err(Error::InvalidQueueCreation("a CPU agent has no device queues")),
            AgentKind::Gpu(device) | AgentKind::Aie(device) | AgentKind::Accelerator(device) => device,
        };
        let description = &device.description;
        let features = features(description.caps);
        if description.max_queues == 0 || features == 0 {
            return Err(Error::InvalidQueueCreation("the agent has no queues"));
        }
        let cooperative = options.queue_type == QueueType::Cooperative;
        if cooperative && !description.caps.contains(api::AgentCaps::COOPERATIVE) {
            return Err(Error::InvalidQueueCreation("the agent has no cooperative queues"));
        }
        if !options.packets.is_power_of_two() || options.packets > description.max_queue_packets {
            return Err(Error::InvalidArgument(
                "a queue's size is a power of two up to QUEUE_MAX_SIZE",
            ));
        }
        if options.private_bytes != u32::MAX && options.private_bytes > description.max_private_bytes {
            return Err(Error::OutOfResources("private memory of a work-item"));
        }
        let wanted = &runtime.config.settings.runtime.queue_size;
        let least = if wanted.is_set() { wanted.value.0 } else { 0 };
        let packets = options
            .packets
            .max(least.min(description.max_queue_packets))
            .max(description.min_queue_packets);
        let place = device.reference;
        let ring_bytes = packets as usize * PACKET_BYTES;
        let ring = Pages::map(
            crate::memory::host::whole_pages(ring_bytes).ok_or(Error::OutOfResources("memory for a ring"))?,
            ring_bytes,
            HostOptions::default(),
        )?;
        let mut undo = Undo::new(runtime, ring);
        undo.registrations = runtime.register_with(
            &[place.driver],
            ring.address as u64,
            ring.bytes as u64,
            api::AllocFlags::FINE_GRAIN | api::AllocFlags::DISPOSABLE,
        )?;
        clear_ring(ring.address, packets);
        let descriptor = slots::take(runtime)?;
        undo.descriptor = Some(descriptor);
        let doorbell = bell::create()?;
        undo.signals.push(doorbell);
        let inactive = pool::create(0, flag::INTERNAL | flag::SLEEPS)?;
        undo.signals.push(inactive);
        let exceptions = description
            .caps
            .contains(api::AgentCaps::DEBUG)
            .then(|| pool::create(0, flag::INTERNAL | flag::SLEEPS))
            .transpose()?;
        undo.signals.extend(exceptions);

        fill_common(
            descriptor,
            options.queue_type,
            features,
            packets,
            ring.address as u64,
            doorbell.handle(),
        );
        descriptor.role.store(ROLE_DEVICE, Ordering::Relaxed);
        descriptor
            .group_aperture_hi
            .store(description.group_aperture_hi, Ordering::Relaxed);
        descriptor
            .private_aperture_hi
            .store(description.private_aperture_hi, Ordering::Relaxed);
        descriptor
            .max_cu_id
            .store(description.compute_units.saturating_sub(1), Ordering::Relaxed);
        let waves = description.waves_per_simd * description.simds_per_cu;
        descriptor
            .max_wave_id
            .store(waves.saturating_sub(1), Ordering::Relaxed);
        descriptor.properties.store(property::IS_PTR64, Ordering::Relaxed);
        if reclaim::is_taken(runtime, agent) {
            descriptor.caps.store(CAN_RECLAIM, Ordering::Relaxed);
        }
        descriptor
            .inactive_signal
            .store(inactive.handle(), Ordering::Relaxed);
        let private_bytes = prepared(runtime, options.private_bytes).min(description.max_private_bytes);
        if private_bytes != 0 {
            undo.scratch = Some((
                place.driver,
                scratch::prepare(runtime, place, descriptor, private_bytes)?,
            ));
        }

        let address = |field: &AtomicU64| std::ptr::from_ref(field).expose_provenance() as u64;
        let info = runtime.drivers[place.driver]
            .object
            .create_queue(&api::QueueRequest {
                node: place.node,
                kind: if cooperative {
                    api::QueueKind::COOPERATIVE
                } else {
                    api::QueueKind::AQL
                },
                priority: options.priority,
                engine: u32::MAX,
                ring_address: ring.address as u64,
                ring_bytes: ring_bytes as u64,
                descriptor_address: descriptor.handle(),
                write_index_address: address(&descriptor.write_index),
                read_index_address: address(&descriptor.read_index),
                exception_address: exceptions.map_or(0, |word| word.address_of_value()),
                event: exceptions.map_or(0, |word| word.event_id.load(Ordering::Relaxed)),
                percent: 100,
            })?;
        bell::connect(doorbell, &info.doorbell);

        let scratch = undo.scratch.take().map(|(_, allocation)| allocation);
        let queue = Arc::new(Self {
            agent: Some(options.agent),
            queue_type: options.queue_type,
            server: Server::Device(DeviceQueue {
                driver: place.driver,
                node: place.node,
                queue: info.queue,
                doorbell,
                inactive,
                exceptions,
                listeners: Listeners::default(),
                failed: AtomicBool::new(false),
                alive: Mutex::new(true),
                scratch: Mutex::new(scratch),
                settings: Mutex::new(Settings {
                    priority: options.priority,
                    cu_mask: Vec::new(),
                }),
            }),
            descriptor,
            ring: Ring::Pages(ring, std::mem::take(&mut undo.registrations)),
        });
        undo.disarm();
        if let Some(device) = queue.device() {
            device.listeners.add(descriptor.handle(), options.callback);
        }
        descriptor.tag.store(TAG, Ordering::Release);
        watch(runtime, &queue, inactive, errors::serve)?;
        bell::listen(runtime, &queue)?;
        if let Some(exceptions) = exceptions {
            watch(runtime, &queue, exceptions, |_, queue, word| {
                errors::except(queue, word);
                false
            })?;
        }
        Ok(queue)
    }

    /// Lets the program find the queue by its handle.
    fn publish(self: &Arc<Self>, runtime: &Runtime) {
        if log::on(Topic::Queue) {
            let agent = self.agent.map_or_else(
                || "the program".to_owned(),
                |agent| format!("agent {agent}, {}", runtime.agents[agent].name()),
            );
            log::line(
                Topic::Queue,
                format_args!(
                    "queue {}: made for {agent}: {:#x}, {:?}, {} packets",
                    self.descriptor.id.load(Ordering::Relaxed),
                    self.descriptor.handle(),
                    self.queue_type,
                    self.descriptor.size.load(Ordering::Relaxed)
                ),
            );
        }
        runtime
            .queues
            .lock()
            .insert(self.descriptor.handle(), Arc::clone(self));
    }

    /// Makes a queue that the program reads, its ring in memory of a region.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a size that is no power of two, and what the allocation says.
    pub fn create_soft(
        runtime: &Arc<Runtime>,
        region: usize,
        packets: u32,
        queue_type: QueueType,
        features: u32,
        doorbell: u64,
    ) -> Result<Arc<Self>> {
        if !packets.is_power_of_two() {
            return Err(Error::InvalidArgument("a queue's size is a power of two"));
        }
        crate::signal::checked(doorbell)?;
        let bytes = u64::from(packets) * PACKET_BYTES as u64;
        let ring = runtime.allocate(region, bytes, 0)?;
        let descriptor = match slots::take(runtime) {
            Ok(descriptor) => descriptor,
            Err(error) => {
                runtime.free(ring)?;
                return Err(error);
            }
        };
        clear_ring(usize::try_from(ring).unwrap_or(0), packets);
        fill_common(descriptor, queue_type, features, packets, ring, doorbell);
        descriptor.role.store(ROLE_SOFT, Ordering::Relaxed);
        let queue = Arc::new(Self {
            agent: None,
            queue_type,
            server: Server::Soft,
            descriptor,
            ring: Ring::Allocation(ring),
        });
        descriptor.tag.store(TAG, Ordering::Release);
        queue.publish(runtime);
        Ok(queue)
    }

    /// The device side, its own or that of the queue behind it, unless it is a soft queue.
    #[must_use]
    pub fn device(&self) -> Option<&DeviceQueue> {
        match &self.server {
            Server::Device(device) => Some(device),
            Server::Soft => None,
            Server::Intercept(intercept) => intercept.inner().device(),
            Server::Counted(name) => name.shared().device(),
        }
    }

    /// The descriptor that the device reads, or the queue's own.
    fn behind(&self) -> &'static Descriptor {
        match &self.server {
            Server::Device(_) | Server::Soft => self.descriptor,
            Server::Intercept(intercept) => intercept.inner().descriptor,
            Server::Counted(name) => name.shared().behind(),
        }
    }

    /// Whether it is one of several names of a queue, whose settings are not for one of them to change.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        matches!(self.server, Server::Counted(_))
    }

    /// Stops the queue: no packet that is not started will be.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn inactivate(&self, runtime: &Runtime) -> Result<()> {
        let Some(device) = self.device() else {
            return Ok(());
        };
        if device.failed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let settings = device.settings.lock();
        match device.update(runtime, settings.priority, 0, &[]) {
            Err(Error::Driver(error)) if error.code == api::ErrorCode::NOT_SUPPORTED => Ok(()),
            other => other,
        }
    }

    /// Whether an error, or the program, has stopped it.
    #[must_use]
    pub fn is_inactive(&self) -> bool {
        self.device().is_some_and(|d| d.failed.load(Ordering::Acquire))
    }

    /// Writes timestamps into completion signals from now on, or no longer.
    pub fn set_profiling(&self, on: bool) {
        let properties = &self.behind().properties;
        if on {
            properties.fetch_or(property::ENABLE_PROFILING, Ordering::Release);
        } else {
            properties.fetch_and(!property::ENABLE_PROFILING, Ordering::Release);
        }
    }

    /// The device side of a queue that the program has for itself.
    fn own_device(&self) -> Result<&DeviceQueue> {
        self.device()
            .filter(|_| !self.is_counted())
            .ok_or(Error::InvalidQueue)
    }

    /// Changes the urgency.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`] for soft and counted queues, and what the driver says.
    pub fn set_priority(&self, runtime: &Runtime, priority: api::QueuePriority) -> Result<()> {
        let device = self.own_device()?;
        let mut settings = device.settings.lock();
        device.update(runtime, priority, 100, &[])?;
        settings.priority = priority;
        Ok(())
    }

    /// Limits the queue to compute units.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidQueue`] for soft and counted queues, and what the driver says.
    pub fn set_cu_mask(&self, runtime: &Runtime, mask: &[u32]) -> Result<()> {
        let device = self.own_device()?;
        let mut settings = device.settings.lock();
        device.update(runtime, settings.priority, 100, mask)?;
        settings.cu_mask = mask.to_vec();
        Ok(())
    }

    /// The compute units that the queue was limited to; empty for all.
    #[must_use]
    pub fn cu_mask(&self) -> Vec<u32> {
        self.device()
            .map_or_else(Vec::new, |d| d.settings.lock().cu_mask.clone())
    }
}

impl DeviceQueue {
    fn update(
        &self,
        runtime: &Runtime,
        priority: api::QueuePriority,
        percent: u32,
        mask: &[u32],
    ) -> Result<()> {
        let update = api::QueueUpdate {
            priority,
            percent,
            cu_mask: api::RSlice::from_slice(mask),
        };
        runtime.drivers[self.driver]
            .object
            .update_queue(self.queue, &update)?;
        Ok(())
    }

    /// Rings the doorbell with the last value, so that the packet processor looks again.
    fn nudge(&self, descriptor: &Descriptor) {
        let last = descriptor.write_index.load(Ordering::Acquire).wrapping_sub(1);
        crate::signal::ring(self.doorbell, i64::from_ne_bytes(last.to_ne_bytes()));
    }

    /// Tells the program that the queue is dead; once.
    pub(crate) fn fail(&self, queue: u64, status: u32) {
        if self.failed.swap(true, Ordering::AcqRel) {
            return;
        }
        log::line(
            Topic::Queue,
            format_args!("queue at {queue:#x}: stopped with status {status:#x}"),
        );
        if !self.listeners.tell(status) {
            eprintln!("hansa: queue {queue:#x} stopped with status {status:#x} and has no error callback");
        }
    }
}

/// Serves a signal of a queue on the handler thread, as long as what serves it says so.
fn watch(
    runtime: &Arc<Runtime>,
    queue: &Arc<Queue>,
    signal: &'static Block,
    serve: fn(&Arc<Runtime>, &Arc<Queue>, i64) -> bool,
) -> Result<()> {
    let runtime_of = Arc::downgrade(runtime);
    let queue_of = Arc::downgrade(queue);
    let on_change = move |value: i64| {
        let (Some(runtime), Some(queue)) = (Weak::upgrade(&runtime_of), Weak::upgrade(&queue_of)) else {
            return false;
        };
        serve(&runtime, &queue, value)
    };
    runtime
        .handlers
        .register(signal, Condition::Ne, 0, Box::new(on_change))
}
