//! The host's library: what AMD's libhsakmt does for a process, over the requests of the virtual `/dev/kfd`.
//!
//! It knows memory by its address, as the library does, gives queues the buffers that the kernel wants besides, and has
//! errors as statuses.

use crate::kernel::Kernel;
use crate::process::Process;
use crate::Errno;
use hansa_kfd::chip::{by_device_id, Target};
use hansa_kfd::range::Range;
use hansa_kfd::uapi::event::{CreateEvent, DestroyEvent, EventData, ResetEvent, SetEvent, WaitEvents};
use hansa_kfd::uapi::memory::{
    AllocMemoryOfGpu, AvailableMemory, FreeMemoryOfGpu, MapMemoryToGpu, UnmapMemoryFromGpu,
};
use hansa_kfd::uapi::queue::{CreateQueue, DestroyQueue, QUEUE_TYPE_COMPUTE_AQL};
use hansa_kfd::uapi::system::{AcquireVm, GetClockCounters, SetTrapHandler};
use hansa_kfd::uapi::{memory as uapi, Request};
use hansa_plugin_api::sys::{File, LinuxSystem, System};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Statuses.
pub mod status {
    /// It did not work.
    pub const ERROR: i32 = 1;
    /// An argument.
    pub const INVALID_PARAMETER: i32 = 3;
    /// A handle.
    pub const INVALID_HANDLE: i32 = 4;
    /// A node.
    pub const INVALID_NODE: i32 = 5;
    /// No memory.
    pub const NO_MEMORY: i32 = 6;
    /// An event was not raised in time.
    pub const WAIT_TIMEOUT: i32 = 31;
}

/// What functions of the library answer.
pub type Answer<T> = Result<T, i32>;

const fn status_of(errno: Errno) -> i32 {
    match errno {
        Errno::NOMEM => status::NO_MEMORY,
        Errno::INVAL => status::INVALID_PARAMETER,
        _ => status::ERROR,
    }
}

/// Bits of memory flags.
mod flag {
    pub(super) const NON_PAGED: u32 = 1;
    pub(super) const READ_ONLY: u32 = 8;
    pub(super) const HOST_ACCESS: u32 = 0x40;
    pub(super) const EXECUTE: u32 = 0x1000;
    pub(super) const COARSE: u32 = 0x2000;
    pub(super) const UNCACHED: u32 = 0x2_0000;
}

/// Memory that the library knows.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The kernel's handle; 0 before it is needed.
    handle: u64,
    /// Bytes.
    pub bytes: u64,
    /// Its GPU.
    pub gpu: usize,
    /// Where it is in the render node's file.
    pub offset: u64,
    /// For registered memory, where the process has it.
    user: Option<u64>,
    /// GPUs that see it.
    mapped: BTreeSet<usize>,
}

/// A queue with what it was given.
#[derive(Debug)]
pub struct Queue {
    id: u32,
    own: Vec<(u64, usize, Range)>,
}

/// A queue as the caller is told of it.
#[derive(Clone, Copy, Debug)]
pub struct MadeQueue {
    /// The kernel's number.
    pub id: u32,
    /// Its GPU.
    pub gpu: usize,
    /// Where its doorbell is in the process's doorbells.
    pub place: u64,
    /// Where those are in the file of `/dev/kfd`.
    pub page: u64,
}

/// An event as the kernel made it.
#[derive(Clone, Copy, Debug)]
pub struct MadeEvent {
    /// Its number.
    pub id: u32,
    /// Its mailbox.
    pub mailbox: u64,
}

/// The library in a process.
#[derive(Debug)]
pub struct Library {
    /// The host's kernel.
    pub kernel: Arc<Kernel>,
    kfd: i32,
    renders: Vec<i32>,
    memory: BTreeMap<u64, Memory>,
    queues: HashMap<u32, Queue>,
    /// The event page: handle and addresses.
    event_page: Option<(u64, Range)>,
    shown: bool,
}

fn pointer<T>(items: &mut [T]) -> u64 {
    items.as_mut_ptr().expose_provenance() as u64
}

impl Library {
    /// Opens the kernel's driver.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn open(kernel: &Arc<Kernel>) -> Result<Self, Errno> {
        let mut library = Self {
            kernel: Arc::clone(kernel),
            kfd: kernel.open(Path::new("/dev/kfd"), true)?,
            renders: Vec::new(),
            memory: BTreeMap::new(),
            queues: HashMap::new(),
            event_page: None,
            shown: false,
        };
        for gpu in kernel.machine.gpus.clone() {
            let path = format!("/dev/dri/renderD{}", gpu.render_minor);
            let render = kernel.open(Path::new(&path), true)?;
            library.renders.push(render);
            library.call(&mut AcquireVm {
                drm_fd: render.unsigned_abs(),
                gpu_id: gpu.gpu_id,
            })?;
        }
        Ok(library)
    }

    fn call<R: Request>(&self, argument: &mut R) -> Result<(), Errno> {
        let at = std::ptr::from_mut(argument).expose_provenance() as u64;
        let which = self.kernel.which(self.kfd).ok_or(Errno::BADF)?;
        self.kernel.ioctl(which, self.kfd, R::CODE, at).map(drop)
    }

    fn ask<R: Request>(&self, argument: &mut R) -> Answer<()> {
        self.call(argument).map_err(status_of)
    }

    /// The file that a GPU's memory is in.
    #[must_use]
    pub fn render_file(&self, gpu: usize) -> File {
        File(self.renders[gpu])
    }

    /// The file that doorbells are in.
    #[must_use]
    pub const fn kfd_file(&self) -> File {
        File(self.kfd)
    }

    /// The GPU at a node.
    ///
    /// # Errors
    ///
    /// [`status::INVALID_NODE`].
    pub fn gpu_at(&self, node: u32) -> Answer<usize> {
        let gpus = &self.kernel.machine.gpus;
        gpus.iter()
            .position(|gpu| gpu.node == node)
            .ok_or(status::INVALID_NODE)
    }

    fn gpu_id(&self, gpu: usize) -> u32 {
        self.kernel.machine.gpus[gpu].gpu_id
    }

    /// Allocates memory at an address.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn allocate(&mut self, node: u32, address: u64, bytes: u64, flags: u32) -> Answer<()> {
        let has = |bit| flags & bit != 0;
        let local = has(flag::NON_PAGED);
        let gpu = if local { self.gpu_at(node)? } else { 0 };
        let mut kind = uapi::ALLOC_NO_SUBSTITUTE;
        for (on, bit) in [
            (local, uapi::ALLOC_VRAM),
            (!local, uapi::ALLOC_GTT),
            (local && has(flag::HOST_ACCESS), uapi::ALLOC_PUBLIC),
            (!has(flag::READ_ONLY), uapi::ALLOC_WRITABLE),
            (has(flag::EXECUTE), uapi::ALLOC_EXECUTABLE),
            (!has(flag::COARSE), uapi::ALLOC_COHERENT),
            (has(flag::UNCACHED), uapi::ALLOC_UNCACHED),
        ] {
            if on {
                kind |= bit;
            }
        }
        let mut request = AllocMemoryOfGpu {
            va_addr: address,
            size: bytes,
            gpu_id: self.gpu_id(gpu),
            flags: kind,
            ..AllocMemoryOfGpu::default()
        };
        self.ask(&mut request)?;
        let memory = Memory {
            handle: request.handle,
            bytes,
            gpu,
            offset: request.mmap_offset,
            user: None,
            mapped: BTreeSet::new(),
        };
        self.memory.insert(address, memory);
        Ok(())
    }

    /// Registers memory of the process, which devices will see at `address`.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn register(&mut self, address: u64, user: u64, bytes: u64, read_only: bool) -> Answer<()> {
        if self.memory.contains_key(&address) {
            return Err(status::INVALID_PARAMETER);
        }
        let page = 4095;
        let writable = if read_only { 0 } else { uapi::ALLOC_WRITABLE };
        let mut request = AllocMemoryOfGpu {
            va_addr: address & !page,
            size: ((address & page) + bytes + page) & !page,
            mmap_offset: user & !page,
            gpu_id: self.gpu_id(0),
            flags: uapi::ALLOC_USERPTR | uapi::ALLOC_COHERENT | uapi::ALLOC_EXECUTABLE | writable,
            ..AllocMemoryOfGpu::default()
        };
        self.ask(&mut request)?;
        let memory = Memory {
            handle: request.handle,
            bytes,
            gpu: 0,
            offset: 0,
            user: Some(user),
            mapped: BTreeSet::new(),
        };
        self.memory.insert(address, memory);
        Ok(())
    }

    /// Memory at an address.
    ///
    /// # Errors
    ///
    /// [`status::INVALID_PARAMETER`].
    pub fn memory_at(&self, address: u64) -> Answer<&Memory> {
        self.memory.get(&address).ok_or(status::INVALID_PARAMETER)
    }

    /// Frees memory; also what was registered.
    ///
    /// # Errors
    ///
    /// A status; then it is still there.
    pub fn free(&mut self, address: u64, registered: bool) -> Answer<()> {
        let handle = match self.memory_at(address)? {
            memory if memory.user.is_some() == registered => memory.handle,
            _ => return Err(status::INVALID_PARAMETER),
        };
        self.map_exactly(address, &[])?;
        self.ask(&mut FreeMemoryOfGpu { handle })?;
        self.memory.remove(&address);
        Ok(())
    }

    /// Lets exactly these nodes see memory.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn map_exactly(&mut self, address: u64, nodes: &[u32]) -> Answer<()> {
        let memory = self.memory_at(address)?.clone();
        let wanted: BTreeSet<usize> = nodes
            .iter()
            .map(|node| self.gpu_at(*node))
            .collect::<Answer<_>>()?;
        let ids = |gpus: Vec<&usize>| -> Vec<u32> { gpus.iter().map(|gpu| self.gpu_id(**gpu)).collect() };
        let mut more = ids(wanted.difference(&memory.mapped).collect());
        let mut less = ids(memory.mapped.difference(&wanted).collect());
        if !more.is_empty() {
            self.ask(&mut MapMemoryToGpu {
                handle: memory.handle,
                device_ids_array_ptr: pointer(&mut more),
                n_devices: u32::try_from(more.len()).unwrap_or(0),
                n_success: 0,
            })?;
        }
        if !less.is_empty() {
            self.ask(&mut UnmapMemoryFromGpu {
                handle: memory.handle,
                device_ids_array_ptr: pointer(&mut less),
                n_devices: u32::try_from(less.len()).unwrap_or(0),
                n_success: 0,
            })?;
        }
        if let Some(memory) = self.memory.get_mut(&address) {
            memory.mapped = wanted;
        }
        Ok(())
    }

    /// Bytes that a node has left.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn available(&self, node: u32) -> Answer<u64> {
        let mut request = AvailableMemory {
            gpu_id: self.gpu_id(self.gpu_at(node)?),
            ..AvailableMemory::default()
        };
        self.ask(&mut request)?;
        Ok(request.available)
    }

    /// A buffer of the library's own, in a range of its own.
    fn own_buffer(&self, gpu: usize, bytes: u64, kind: u32) -> Answer<(u64, usize, Range)> {
        let bytes = bytes.next_multiple_of(4096);
        let system: Arc<dyn System> = Arc::new(LinuxSystem);
        let range = Range::reserve(&system, bytes, 4096, None).map_err(|_| status::NO_MEMORY)?;
        let mut request = AllocMemoryOfGpu {
            va_addr: range.address(),
            size: bytes,
            gpu_id: self.gpu_id(gpu),
            flags: kind | uapi::ALLOC_WRITABLE | uapi::ALLOC_EXECUTABLE | uapi::ALLOC_NO_SUBSTITUTE,
            ..AllocMemoryOfGpu::default()
        };
        self.ask(&mut request)?;
        let mut ids = [self.gpu_id(gpu)];
        let mapped = self.ask(&mut MapMemoryToGpu {
            handle: request.handle,
            device_ids_array_ptr: pointer(&mut ids),
            n_devices: 1,
            n_success: 0,
        });
        if let Err(status) = mapped {
            // The first error is the one to tell.
            let _ = self.ask(&mut FreeMemoryOfGpu {
                handle: request.handle,
            });
            return Err(status);
        }
        Ok((request.handle, gpu, range))
    }

    fn drop_buffers(&self, buffers: Vec<(u64, usize, Range)>) {
        for (handle, gpu, _range) in buffers {
            let mut ids = [self.gpu_id(gpu)];
            for _ in 0..2 {
                // What a script lets fail once is asked for again.
                let unmapped = self.ask(&mut UnmapMemoryFromGpu {
                    handle,
                    device_ids_array_ptr: pointer(&mut ids),
                    n_devices: 1,
                    n_success: 0,
                });
                if unmapped
                    .and_then(|()| self.ask(&mut FreeMemoryOfGpu { handle }))
                    .is_ok()
                {
                    break;
                }
            }
        }
    }

    /// Makes a queue of AQL packets.
    ///
    /// # Errors
    ///
    /// A status; then nothing is left of it.
    pub fn create_queue(&mut self, node: u32, request: CreateQueue) -> Answer<MadeQueue> {
        let gpu = self.gpu_at(node)?;
        let described = self.kernel.machine.gpus[gpu];
        let target = Target::of_version(described.version).or_else(|| by_device_id(described.device_id));
        let eop = target
            .and_then(Target::chip)
            .map_or(4096, |chip| chip.aql_eop_bytes);
        let mut made = CreateQueue {
            gpu_id: described.gpu_id,
            queue_type: QUEUE_TYPE_COMPUTE_AQL,
            ..request
        };
        let mut own = Vec::new();
        let outcome = (|| {
            if eop != 0 {
                let buffer = self.own_buffer(gpu, u64::from(eop), uapi::ALLOC_VRAM)?;
                made.eop_buffer_address = buffer.2.address();
                made.eop_buffer_size = u64::from(eop);
                own.push(buffer);
            }
            if let Some(area) = described.save_area(crate::kernel::SMALL_PAGE) {
                let buffer = self.own_buffer(gpu, area.total, uapi::ALLOC_GTT | uapi::ALLOC_COHERENT)?;
                made.ctx_save_restore_address = buffer.2.address();
                made.ctx_save_restore_size = area.per_die;
                made.ctl_stack_size = area.control_stack;
                own.push(buffer);
            }
            self.ask(&mut made)
        })();
        if let Err(status) = outcome {
            self.drop_buffers(own);
            return Err(status);
        }
        let bytes = described.doorbell_page_bytes(crate::kernel::SMALL_PAGE);
        self.queues.insert(
            made.queue_id,
            Queue {
                id: made.queue_id,
                own,
            },
        );
        Ok(MadeQueue {
            id: made.queue_id,
            gpu,
            place: made.doorbell_offset & (bytes - 1),
            page: made.doorbell_offset & !(bytes - 1),
        })
    }

    /// Destroys a queue.
    ///
    /// # Errors
    ///
    /// A status; then it is still there.
    pub fn destroy_queue(&mut self, id: u32) -> Answer<()> {
        if !self.queues.contains_key(&id) {
            return Err(status::INVALID_HANDLE);
        }
        self.ask(&mut DestroyQueue { queue_id: id, pad: 0 })?;
        if let Some(queue) = self.queues.remove(&id) {
            debug_assert_eq!(queue.id, id);
            self.drop_buffers(queue.own);
        }
        Ok(())
    }

    /// Makes an event for signals.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn create_event(&mut self, auto_reset: bool) -> Answer<MadeEvent> {
        if self.event_page.is_none() {
            let (handle, _, range) = self.own_buffer(
                0,
                4096 * 8,
                uapi::ALLOC_GTT | uapi::ALLOC_COHERENT | uapi::ALLOC_UNCACHED,
            )?;
            self.event_page = Some((handle, range));
        }
        let Some((handle, page)) = &self.event_page else {
            return Err(status::ERROR);
        };
        let mut request = CreateEvent {
            event_page_offset: if self.shown { 0 } else { *handle },
            auto_reset: u32::from(auto_reset),
            ..CreateEvent::default()
        };
        self.ask(&mut request)?;
        self.shown = true;
        Ok(MadeEvent {
            id: request.event_id,
            mailbox: page.address() + u64::from(request.event_slot_index) * 8,
        })
    }

    /// Destroys an event.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn destroy_event(&self, event_id: u32) -> Answer<()> {
        self.ask(&mut DestroyEvent { event_id, pad: 0 })
    }

    /// Raises an event.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn set_event(&self, event_id: u32) -> Answer<()> {
        self.ask(&mut SetEvent { event_id, pad: 0 })
    }

    /// Lowers an event.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn reset_event(&self, event_id: u32) -> Answer<()> {
        self.ask(&mut ResetEvent { event_id, pad: 0 })
    }

    /// Whether an event is raised: a wait without time.
    ///
    /// # Errors
    ///
    /// [`status::WAIT_TIMEOUT`] when it is not.
    pub fn query_event(&self, event_id: u32) -> Answer<()> {
        let mut data = [EventData {
            event_id,
            ..EventData::default()
        }];
        let mut request = WaitEvents {
            events_ptr: pointer(&mut data),
            num_events: 1,
            ..WaitEvents::default()
        };
        self.ask(&mut request)?;
        if request.wait_result == 0 {
            Ok(())
        } else {
            Err(status::WAIT_TIMEOUT)
        }
    }

    /// Sets a trap handler.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn set_trap_handler(&self, node: u32, code: u64, data: u64) -> Answer<()> {
        let gpu_id = self.gpu_id(self.gpu_at(node)?);
        self.ask(&mut SetTrapHandler {
            tba_addr: code,
            tma_addr: data,
            gpu_id,
            pad: 0,
        })
    }

    /// Clocks of a node.
    ///
    /// # Errors
    ///
    /// A status.
    pub fn clocks(&self, node: u32) -> Answer<[u64; 4]> {
        let mut request = GetClockCounters {
            gpu_id: self.gpu_at(node).map_or(0, |gpu| self.gpu_id(gpu)),
            ..GetClockCounters::default()
        };
        self.ask(&mut request)?;
        Ok([
            request.gpu_clock_counter,
            request.cpu_clock_counter,
            request.system_clock_counter,
            request.system_clock_freq,
        ])
    }
}

impl Drop for Library {
    /// The process ends: queues and memory go with it.
    fn drop(&mut self) {
        let queues: Vec<u32> = self.queues.keys().copied().collect();
        for queue in queues {
            let _ = self.destroy_queue(queue);
        }
        let memory: Vec<(u64, bool)> = self
            .memory
            .iter()
            .map(|(address, memory)| (*address, memory.user.is_some()))
            .collect();
        for (address, registered) in memory {
            let _ = self.free(address, registered);
        }
        let pages = usize::from(self.event_page.is_some());
        if let Some((_, range)) = self.event_page.take() {
            // A device may write to it until the process ends.
            std::mem::forget(range);
        }
        if self.kernel.books().buffers > pages {
            self.kernel
                .complain("the host's process ended with memory that nobody freed".into());
        }
        *self.kernel.process() = Process::default();
        for fd in self.renders.drain(..).chain([self.kfd]) {
            LinuxSystem.close(File(fd));
        }
    }
}
