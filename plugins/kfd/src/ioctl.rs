//! Typed calls: one function per request, Rust values in and out. Nothing else touches the kernel's structures.

use crate::error::{Error, Result};
use crate::uapi::{drm, event, memory, queue, sharing, system, Request};
use hansa_plugin_api::sys::{Errno, File, System};
use std::sync::Arc;

/// How often a call is repeated that a signal interrupted.
const MOST_RETRIES: u32 = 1 << 16;

/// An open device node. Closed when dropped.
#[derive(Debug)]
pub struct Node {
    system: Arc<dyn System>,
    file: File,
    place: String,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.system.close(self.file);
    }
}

impl Node {
    /// Takes over a file that was opened.
    #[must_use]
    pub fn new(system: Arc<dyn System>, file: File, place: impl Into<String>) -> Self {
        Self {
            system,
            file,
            place: place.into(),
        }
    }

    /// Closes the file in a child process, where whoever holds this object is never told; it must then be forgotten.
    pub fn abandon(&self) {
        self.system.close(self.file);
    }

    /// The file.
    #[must_use]
    pub const fn file(&self) -> File {
        self.file
    }

    /// Its path.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Runs a request on a structure whose pointers, if it has any, are good for what the request does. Answers what the
    /// call answers.
    ///
    /// # Errors
    ///
    /// [`Error::Ioctl`].
    pub fn ask<R: Request>(&self, argument: &mut R) -> Result<i32> {
        // SAFETY: `Request` pairs the number with the structure.
        unsafe { self.raw(R::NAME, R::CODE, std::ptr::from_mut(argument).cast()) }
    }

    fn call<R: Request>(&self, argument: &mut R) -> Result<()> {
        self.ask(argument).map(drop)
    }

    /// Runs a request, again when a signal interrupted it.
    ///
    /// # Safety
    ///
    /// `argument` must point at what `code` reads and writes.
    unsafe fn raw(&self, request: &'static str, code: u32, argument: *mut u8) -> Result<i32> {
        let mut tries = 0;
        loop {
            // SAFETY: the caller says that the argument fits.
            match unsafe { self.system.ioctl(self.file, code, argument) } {
                Ok(answer) => return Ok(answer),
                Err(Errno::INTR | Errno::AGAIN) if tries < MOST_RETRIES => tries += 1,
                Err(errno) => {
                    return Err(Error::Ioctl {
                        request,
                        errno,
                        place: self.place.clone(),
                    })
                }
            }
        }
    }
}

fn pointer<T>(items: &mut [T]) -> u64 {
    items.as_mut_ptr().expose_provenance() as u64
}

fn count<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

/// Whether a call that went well did what it was to do for each device.
fn all_done(request: &'static str, done: u32, ids: &[u32]) -> Result<()> {
    if done == count(ids) {
        return Ok(());
    }
    Err(Error::Nonsense {
        request,
        what: format!("success for {done} of {} devices", ids.len()),
    })
}

/// `/dev/kfd`, open.
#[derive(Debug)]
pub struct Kfd(pub Node);

/// Memory as the kernel made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The kernel's handle.
    pub handle: u64,
    /// Offset for `mmap`.
    pub mmap_offset: u64,
}

/// A queue as the kernel made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The kernel's number.
    pub id: u32,
    /// Where its doorbell is.
    pub doorbell_offset: u64,
}

/// An event as the kernel made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kernel's number.
    pub id: u32,
    /// Its place in the event page.
    pub slot: u32,
}

/// What a dma-buf file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dmabuf {
    /// Bytes.
    pub bytes: u64,
    /// The device it belongs to.
    pub gpu_id: u32,
    /// Kind and attributes.
    pub flags: u32,
}

impl Kfd {
    /// The interface's version: major, minor.
    pub fn version(&self) -> Result<(u32, u32)> {
        let mut a = system::GetVersion::default();
        self.0.call(&mut a)?;
        Ok((a.major_version, a.minor_version))
    }

    /// The apertures of every device; there is room for `most`.
    pub fn apertures(&self, most: usize) -> Result<Vec<system::ProcessDeviceApertures>> {
        let mut list = vec![system::ProcessDeviceApertures::default(); most];
        let mut a = system::GetProcessAperturesNew {
            kfd_process_device_apertures_ptr: pointer(&mut list),
            num_of_nodes: count(&list),
            pad: 0,
        };
        self.0.call(&mut a)?;
        let filled = a.num_of_nodes as usize;
        if filled > most {
            return Err(Error::Nonsense {
                request: "GET_PROCESS_APERTURES_NEW",
                what: format!("{filled} entries, and there was room for {most}"),
            });
        }
        list.truncate(filled);
        Ok(list)
    }

    /// Ties the process's address space on a device to a render node.
    pub fn acquire_vm(&self, render: &Node, gpu_id: u32) -> Result<()> {
        self.0.call(&mut system::AcquireVm {
            drm_fd: u32::try_from(render.file.0).map_err(|_| Error::NotOpen)?,
            gpu_id,
        })
    }

    /// Sets how a device caches: not coherent by default, coherent in a range.
    pub fn set_memory_policy(&self, gpu_id: u32, base: u64, bytes: u64, coherent: bool) -> Result<()> {
        self.0.call(&mut system::SetMemoryPolicy {
            alternate_aperture_base: base,
            alternate_aperture_size: bytes,
            gpu_id,
            default_policy: if coherent {
                system::CACHE_POLICY_COHERENT
            } else {
                system::CACHE_POLICY_NONCOHERENT
            },
            alternate_policy: system::CACHE_POLICY_COHERENT,
            misc_process_flag: 0,
        })
    }

    /// The clocks of a device, or of the host for device 0.
    pub fn clock_counters(&self, gpu_id: u32) -> Result<system::GetClockCounters> {
        let mut a = system::GetClockCounters {
            gpu_id,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(a)
    }

    /// Asks for, or sets, the mode of memory fault replay. Answers the mode.
    pub fn xnack(&self, set: Option<bool>) -> Result<bool> {
        let mut a = system::SetXnackMode {
            xnack_enabled: set.map_or(-1, i32::from),
        };
        self.0.call(&mut a)?;
        Ok(a.xnack_enabled > 0)
    }

    /// Announces the run-time, or takes that back. `debug` is the address of the debugger's structure, or 0.
    pub fn runtime_enable(&self, on: bool, debug: u64) -> Result<()> {
        self.0.call(&mut system::RuntimeEnable {
            r_debug: if on { debug } else { 0 },
            mode_mask: if on {
                system::RUNTIME_ENABLE_MODE | system::RUNTIME_ENABLE_TTMP
            } else {
                0
            },
            capabilities_mask: 0,
        })
    }

    /// Sets a device's trap handler.
    pub fn set_trap_handler(&self, gpu_id: u32, code: u64, data: u64) -> Result<()> {
        self.0.call(&mut system::SetTrapHandler {
            tba_addr: code,
            tma_addr: data,
            gpu_id,
            pad: 0,
        })
    }

    /// A file with a device's system management events.
    pub fn smi_events(&self, gpu_id: u32) -> Result<i32> {
        let mut a = system::SmiEvents {
            gpuid: gpu_id,
            anon_fd: 0,
        };
        self.0.call(&mut a)?;
        i32::try_from(a.anon_fd).map_err(|_| Error::Nonsense {
            request: "SMI_EVENTS",
            what: format!("file {:#x}", a.anon_fd),
        })
    }

    /// Allocates memory at an address. `user` is the host address of memory that the process has.
    pub fn allocate(&self, gpu_id: u32, address: u64, bytes: u64, flags: u32, user: u64) -> Result<Buffer> {
        let mut a = memory::AllocMemoryOfGpu {
            va_addr: address,
            size: bytes,
            mmap_offset: user,
            gpu_id,
            flags,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(Buffer {
            handle: a.handle,
            mmap_offset: a.mmap_offset,
        })
    }

    /// Frees memory.
    pub fn free(&self, handle: u64) -> Result<()> {
        self.0.call(&mut memory::FreeMemoryOfGpu { handle })
    }

    /// Lets devices see memory; all of them or none.
    pub fn map(&self, handle: u64, gpu_ids: &[u32]) -> Result<()> {
        if gpu_ids.is_empty() {
            return Ok(());
        }
        let mut ids = gpu_ids.to_vec();
        let mut a = memory::MapMemoryToGpu {
            handle,
            device_ids_array_ptr: pointer(&mut ids),
            n_devices: count(&ids),
            n_success: 0,
        };
        let outcome = self.0.call(&mut a);
        // A kernel that says success, and counts otherwise, may have done all of it.
        let done = match outcome {
            Ok(()) => ids.len(),
            Err(_) => (a.n_success as usize).min(ids.len()),
        };
        match outcome.and_then(|()| all_done(memory::MapMemoryToGpu::NAME, a.n_success, &ids)) {
            Ok(()) => Ok(()),
            Err(error) => {
                self.unmap_best_effort(handle, &gpu_ids[..done]);
                Err(error)
            }
        }
    }

    /// Undoes what a failed `map` did; an error changes nothing, as the memory is freed with its handle.
    fn unmap_best_effort(&self, handle: u64, gpu_ids: &[u32]) {
        let _ = self.unmap(handle, gpu_ids);
    }

    /// Takes memory from the sight of devices.
    pub fn unmap(&self, handle: u64, gpu_ids: &[u32]) -> Result<()> {
        if gpu_ids.is_empty() {
            return Ok(());
        }
        let mut ids = gpu_ids.to_vec();
        let mut a = memory::UnmapMemoryFromGpu {
            handle,
            device_ids_array_ptr: pointer(&mut ids),
            n_devices: count(&ids),
            n_success: 0,
        };
        self.0.call(&mut a)?;
        all_done(memory::UnmapMemoryFromGpu::NAME, a.n_success, &ids)
    }

    /// Bytes of a device's memory that can still be allocated.
    pub fn available(&self, gpu_id: u32) -> Result<u64> {
        let mut a = memory::AvailableMemory {
            gpu_id,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(a.available)
    }

    /// Sets or reads attributes of a range; reading fills in the values.
    pub fn svm(
        &self,
        address: u64,
        bytes: u64,
        set: bool,
        attributes: &mut [memory::SvmAttribute],
    ) -> Result<()> {
        let head = memory::Svm {
            start_addr: address,
            size: bytes,
            op: if set {
                memory::SVM_OP_SET_ATTR
            } else {
                memory::SVM_OP_GET_ATTR
            },
            nattr: count(attributes),
        };
        let mut words: Vec<u64> = vec![
            head.start_addr,
            head.size,
            u64::from(head.op) | u64::from(head.nattr) << 32,
        ];
        words.extend(
            attributes
                .iter()
                .map(|a| u64::from(a.kind) | u64::from(a.value) << 32),
        );
        let extra = size_of_val(attributes);
        let bits = u32::try_from(extra)
            .ok()
            .filter(|extra| extra + 24 < 1 << 14)
            .ok_or_else(|| {
                Error::Argument(format!(
                    "{} attributes are too many for one call",
                    attributes.len()
                ))
            })?;
        // SAFETY: the words are the head followed by the attributes that it counts, and the number says so.
        unsafe {
            self.0.raw(
                memory::Svm::NAME,
                memory::Svm::CODE + (bits << 16),
                words.as_mut_ptr().cast(),
            )
        }?;
        for (attribute, word) in attributes.iter_mut().zip(&words[3..]) {
            attribute.value = u32::try_from(word >> 32).unwrap_or(0);
        }
        Ok(())
    }

    /// Makes a queue.
    pub fn create_queue(&self, request: queue::CreateQueue) -> Result<Queue> {
        let mut a = request;
        self.0.call(&mut a)?;
        Ok(Queue {
            id: a.queue_id,
            doorbell_offset: a.doorbell_offset,
        })
    }

    /// Destroys a queue.
    pub fn destroy_queue(&self, queue_id: u32) -> Result<()> {
        self.0.call(&mut queue::DestroyQueue { queue_id, pad: 0 })
    }

    /// Changes a queue.
    pub fn update_queue(&self, update: queue::UpdateQueue) -> Result<()> {
        self.0.call(&mut { update })
    }

    /// Limits a queue to compute units.
    pub fn set_cu_mask(&self, queue_id: u32, mask: &[u32]) -> Result<()> {
        let mut words = mask.to_vec();
        self.0.call(&mut queue::SetCuMask {
            queue_id,
            num_cu_mask: count(&words) * 32,
            cu_mask_ptr: pointer(&mut words),
        })
    }

    /// Gives a queue global wave sync resources; answers the first one's number.
    pub fn allocate_gws(&self, queue_id: u32, num_gws: u32) -> Result<u32> {
        let mut a = queue::AllocQueueGws {
            queue_id,
            num_gws,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(a.first_gws)
    }

    /// Makes an event; `page` is the handle of the event page, or 0.
    pub fn create_event(&self, kind: u32, auto_reset: bool, node: u32, page: u64) -> Result<Event> {
        let mut a = event::CreateEvent {
            event_page_offset: page,
            event_type: kind,
            auto_reset: u32::from(auto_reset),
            node_id: node,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(Event {
            id: a.event_id,
            slot: a.event_slot_index,
        })
    }

    /// Destroys an event.
    pub fn destroy_event(&self, event_id: u32) -> Result<()> {
        self.0.call(&mut event::DestroyEvent { event_id, pad: 0 })
    }

    /// Raises an event.
    pub fn set_event(&self, event_id: u32) -> Result<()> {
        self.0.call(&mut event::SetEvent { event_id, pad: 0 })
    }

    /// Lowers an event.
    pub fn reset_event(&self, event_id: u32) -> Result<()> {
        self.0.call(&mut event::ResetEvent { event_id, pad: 0 })
    }

    /// Waits; answers whether what was waited for is raised. The kernel writes into `events`.
    pub fn wait_events(&self, events: &mut [event::EventData], all: bool, timeout_ms: u32) -> Result<bool> {
        let mut a = event::WaitEvents {
            events_ptr: pointer(events),
            num_events: count(events),
            wait_for_all: u32::from(all),
            timeout: timeout_ms,
            wait_result: event::WAIT_RESULT_FAIL,
        };
        self.0.call(&mut a)?;
        match a.wait_result {
            event::WAIT_RESULT_COMPLETE => Ok(true),
            event::WAIT_RESULT_TIMEOUT => Ok(false),
            other => Err(Error::Nonsense {
                request: "WAIT_EVENTS",
                what: format!("result {other}"),
            }),
        }
    }

    /// Makes a dma-buf file for memory.
    pub fn export_dmabuf(&self, handle: u64, flags: u32) -> Result<i32> {
        let mut a = sharing::ExportDmabuf {
            handle,
            flags,
            dmabuf_fd: 0,
        };
        self.0.call(&mut a)?;
        i32::try_from(a.dmabuf_fd).map_err(|_| Error::Nonsense {
            request: "EXPORT_DMABUF",
            what: format!("file {:#x}", a.dmabuf_fd),
        })
    }

    /// What a dma-buf file is.
    pub fn dmabuf_info(&self, file: u32) -> Result<Dmabuf> {
        let mut notes = [0_u8; 256];
        let mut a = sharing::GetDmabufInfo {
            metadata_ptr: pointer(&mut notes),
            metadata_size: count(&notes),
            dmabuf_fd: file,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(Dmabuf {
            bytes: a.size,
            gpu_id: a.gpu_id,
            flags: a.flags,
        })
    }

    /// Takes the memory of a dma-buf file at an address; answers its handle.
    pub fn import_dmabuf(&self, gpu_id: u32, address: u64, file: u32) -> Result<u64> {
        let mut a = sharing::ImportDmabuf {
            va_addr: address,
            gpu_id,
            dmabuf_fd: file,
            handle: 0,
        };
        self.0.call(&mut a)?;
        Ok(a.handle)
    }

    /// Names memory to another process; answers the name.
    pub fn ipc_export(&self, gpu_id: u32, handle: u64) -> Result<[u32; 4]> {
        let mut a = sharing::IpcExportHandle {
            handle,
            gpu_id,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(a.share_handle)
    }

    /// Takes memory that another process named.
    pub fn ipc_import(&self, gpu_id: u32, address: u64, name: [u32; 4]) -> Result<Buffer> {
        let mut a = sharing::IpcImportHandle {
            va_addr: address,
            share_handle: name,
            gpu_id,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(Buffer {
            handle: a.handle,
            mmap_offset: a.mmap_offset,
        })
    }
}

/// A render node, open.
#[derive(Debug)]
pub struct Render(pub Node);

impl Render {
    /// What the device is.
    pub fn device_info(&self) -> Result<drm::DeviceInfo> {
        let mut info = drm::DeviceInfo::default();
        self.0.call(&mut drm::Info {
            return_pointer: std::ptr::from_mut(&mut info).expose_provenance() as u64,
            return_size: u32::try_from(size_of::<drm::DeviceInfo>()).unwrap_or(0),
            query: drm::INFO_DEV_INFO,
            arguments: [0; 4],
        })?;
        Ok(info)
    }

    /// Takes the memory of a dma-buf file; answers the graphics driver's name of it. Names of one memory are one.
    pub fn take_dmabuf(&self, file: File) -> Result<u32> {
        let mut a = drm::PrimeHandle {
            fd: file.0,
            ..Default::default()
        };
        self.0.call(&mut a)?;
        Ok(a.handle)
    }

    /// Where memory is in the render node's file.
    pub fn place_of(&self, gem: u32) -> Result<u64> {
        let mut a = drm::GemMmap { word: gem.into() };
        self.0.call(&mut a)?;
        Ok(a.word)
    }

    /// Forgets a name.
    pub fn close_gem(&self, gem: u32) -> Result<()> {
        self.0.call(&mut drm::GemClose { handle: gem, pad: 0 })
    }

    /// Puts a part of memory at an address.
    pub fn map_at(&self, gem: u32, flags: u32, address: u64, offset: u64, bytes: u64) -> Result<()> {
        self.0.call(&mut drm::GemVa {
            handle: gem,
            pad: 0,
            operation: drm::VA_MAP,
            flags,
            va_address: address,
            offset_in_bo: offset,
            map_size: bytes,
        })
    }

    /// Takes a part of memory from an address.
    pub fn unmap_at(&self, gem: u32, address: u64, offset: u64, bytes: u64) -> Result<()> {
        self.0.call(&mut drm::GemVa {
            handle: gem,
            pad: 0,
            operation: drm::VA_UNMAP,
            flags: 0,
            va_address: address,
            offset_in_bo: offset,
            map_size: bytes,
        })
    }
}
