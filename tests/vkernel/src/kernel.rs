//! The kernel: open files, the process, books and complaints.

use crate::alias::Aliases;
use crate::device::{Device, Executor};
use crate::events::Woken;
use crate::exported::Exported;
use crate::faults::Faults;
use crate::files::{inode, DeviceFile, View};
use crate::machine::Machine;
use crate::process::Process;
use crate::smi::Client;
use crate::{drm, kfd, Errno};
use hansa_kfd::uapi::event::{exception, EVENT_HW_EXCEPTION};
use hansa_plugin_api::sync::{Mutex, MutexGuard};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// How offsets for `mmap` of `/dev/kfd` are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As Linux does: kind in bits 63:62, device in 61:46. The face translates them.
    Linux,
    /// As offsets of the real file behind the descriptor, so that a program's own `mmap` works.
    File,
}

/// How the kernel behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Minor number of the interface.
    pub minor: u32,
    /// Checks of queue buffers as since Linux 6.12.
    pub strict_buffers: bool,
    /// See [`Encoding`].
    pub encoding: Encoding,
    /// The calls of AMD's own kernel module (numbers 0x80 and up).
    pub dkms: bool,
    /// Devices can replay memory faults.
    pub xnack: bool,
    /// The process may do what an administrator may.
    pub privileged: bool,
    /// Every request is written to standard error.
    pub trace: bool,
    /// Bytes of a page: those of the system, or more.
    pub page: u64,
}

/// Bytes of a page, as the C library has it.
fn system_page() -> u64 {
    // SAFETY: takes a number and answers a number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(SMALL_PAGE)
}

impl Default for Options {
    fn default() -> Self {
        Self {
            minor: 17,
            strict_buffers: true,
            encoding: Encoding::Linux,
            dkms: false,
            xnack: false,
            privileged: false,
            trace: false,
            page: system_page(),
        }
    }
}

/// What a process has of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Buffers.
    pub buffers: usize,
    /// How many times a GPU sees a buffer.
    pub mapped: usize,
    /// Queues.
    pub queues: usize,
    /// Events.
    pub events: usize,
}

/// Which device a file is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// `/dev/kfd`.
    Kfd,
    /// The render node of a GPU.
    Render(usize),
    /// A dma-buf.
    Dmabuf(usize),
}

/// A kernel with one process.
#[derive(Debug)]
pub struct Kernel {
    /// The machine.
    pub machine: Machine,
    /// How it behaves.
    pub options: Options,
    /// The script of failures.
    pub faults: Faults,
    pub(crate) kfd: DeviceFile,
    pub(crate) renders: Vec<Mutex<DeviceFile>>,
    /// The device's side of each GPU's doorbells.
    pub(crate) doorbells: Vec<View>,
    /// GPUs that are there no more.
    vanished: Vec<AtomicBool>,
    process: Mutex<Process>,
    pub(crate) exported: Mutex<Vec<Exported>>,
    complaints: Mutex<Vec<String>>,
    pub(crate) smi: Mutex<Vec<Client>>,
    /// Memory of the process that devices see elsewhere.
    pub(crate) aliases: Aliases,
    pub(crate) device: Device,
}

/// Bytes of the smallest page there is, which is also the page of registers for programs: kernels with larger ones give none.
pub const SMALL_PAGE: u64 = 4096;

/// Where a GPU's page of registers is in the file of `/dev/kfd`.
#[must_use]
pub const fn register_page(gpu: usize) -> u64 {
    doorbell_page(gpu) + (1 << 24)
}

/// Where a GPU's doorbells are in the file of `/dev/kfd`.
#[must_use]
pub const fn doorbell_page(gpu: usize) -> u64 {
    (gpu as u64 + 1) << 32
}

impl Kernel {
    /// Starts a kernel on a machine. `executor` runs kernels behind the queues; without one a dispatch is a queue
    /// error.
    ///
    /// # Errors
    ///
    /// The system's number, when it has no files or memory.
    pub fn new(
        machine: Machine,
        options: Options,
        executor: Option<Arc<dyn Executor>>,
    ) -> Result<Arc<Self>, Errno> {
        let kfd = DeviceFile::new(c"vkernel-kfd")?;
        let mut renders = Vec::new();
        let mut doorbells = Vec::new();
        for (gpu, described) in machine.gpus.iter().enumerate() {
            renders.push(Mutex::new(DeviceFile::new(c"vkernel-render")?));
            doorbells.push(kfd.view(doorbell_page(gpu), described.doorbell_page_bytes(options.page))?);
        }
        let vanished = machine.gpus.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Arc::new_cyclic(|kernel| Self {
            vanished,
            machine,
            options,
            faults: Faults::default(),
            kfd,
            renders,
            doorbells,
            process: Mutex::default(),
            exported: Mutex::default(),
            complaints: Mutex::default(),
            smi: Mutex::default(),
            aliases: Aliases::default(),
            device: Device::new(kernel.clone(), executor),
        }))
    }

    /// The process.
    pub fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock()
    }

    /// Raises an event from a device.
    pub(crate) fn raise(&self, event: u32) {
        let woken = self.process().events.raise(event);
        // A device may name an event that is gone; the kernel passes over it.
        if let Ok(woken) = woken {
            woken.wake();
        }
    }

    /// Raises all events of a kind, with what they report. Answers whether there was one.
    pub fn report(&self, kind: u32, payload: [u32; 8]) -> bool {
        let woken = self.process().events.report(kind, payload);
        woken.map(Woken::wake).is_some()
    }

    /// Opens a device node; answers a descriptor.
    ///
    /// # Errors
    ///
    /// [`Errno::NOENT`] for a path that is no node of this machine, and what the script says.
    pub fn open(&self, path: &Path, close_on_exec: bool) -> Result<i32, Errno> {
        self.faults.check(&format!("open {}", path.display()))?;
        if path == Path::new("/dev/kfd") {
            return self.kfd.open(close_on_exec);
        }
        let minor = path
            .to_str()
            .and_then(|path| path.strip_prefix("/dev/dri/renderD"))
            .and_then(|minor| minor.parse::<u32>().ok());
        let gpu = minor
            .and_then(|minor| self.machine.gpus.iter().position(|gpu| gpu.render_minor == minor))
            .ok_or(Errno::NOENT)?;
        if self.has_vanished(gpu) {
            return Err(Errno::NODEV);
        }
        self.renders[gpu].lock().open(close_on_exec)
    }

    /// Takes a GPU out of the machine: its queues run nothing more, programs are told of a hardware exception, requests that
    /// name it are [`Errno::NODEV`], and its files are gone. What a program has of it can still be given back.
    pub fn vanish(&self, gpu: usize) {
        let Some(vanished) = self.vanished.get(gpu) else {
            return;
        };
        if vanished.swap(true, Ordering::AcqRel) {
            return;
        }
        let queues: Vec<u32> = {
            let process = self.process();
            let of_gpu = process.queues.table.iter().filter(|(_, queue)| queue.gpu == gpu);
            of_gpu.map(|(id, _)| *id).collect()
        };
        for id in queues {
            self.device.stop(id);
        }
        let mut payload = [0; 8];
        payload[exception::MEMORY_LOST] = 1;
        payload[exception::GPU_ID] = self.machine.gpus[gpu].gpu_id;
        self.report(EVENT_HW_EXCEPTION, payload);
    }

    /// Whether a GPU is there no more.
    pub(crate) fn has_vanished(&self, gpu: usize) -> bool {
        self.vanished[gpu].load(Ordering::Acquire)
    }

    /// Whether a path is in a part of the topology that is there no more.
    pub(crate) fn is_file_gone(&self, path: &Path) -> bool {
        let nodes = Path::new(hansa_kfd::topology::ROOT).join("nodes");
        let gpus = self.machine.gpus.iter().enumerate();
        { gpus }.any(|(gpu, described)| {
            self.has_vanished(gpu) && path.starts_with(nodes.join(described.node.to_string()))
        })
    }

    /// Whether a file may be read, or a directory listed, for a face that has the files elsewhere; `what` is `read` or `list`.
    ///
    /// # Errors
    ///
    /// What the script says; [`Errno::NOENT`] for a file of a GPU that vanished.
    pub fn file(&self, what: &str, path: &Path) -> Result<(), Errno> {
        self.faults.check(&format!("{what} {}", path.display()))?;
        if self.is_file_gone(path) {
            return Err(Errno::NOENT);
        }
        Ok(())
    }

    /// Which device a descriptor is of.
    #[must_use]
    pub fn which(&self, fd: i32) -> Option<Which> {
        let inode = inode(fd)?;
        if self.kfd.is(inode) {
            return Some(Which::Kfd);
        }
        if let Some(gpu) = self.renders.iter().position(|render| render.lock().is(inode)) {
            return Some(Which::Render(gpu));
        }
        let exported = self.exported.lock();
        exported
            .iter()
            .position(|exported| exported.file.is(inode))
            .map(Which::Dmabuf)
    }

    /// Answers a request on a descriptor that [`Self::which`] knows; the number is what the call answers.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn ioctl(self: &Arc<Self>, which: Which, fd: i32, code: u32, argument: u64) -> Result<i32, Errno> {
        let name = match which {
            Which::Kfd => kfd::name(code),
            Which::Render(_) => drm::name(code),
            Which::Dmabuf(_) => None,
        };
        let Some(name) = name else {
            self.complain(format!("unknown request {code:#010x} on {which:?}"));
            return Err(Errno::NOTTY);
        };
        for gpu in self.faults.tick() {
            self.vanish(gpu);
        }
        let answer = self.faults.check(name).and_then(|()| match which {
            Which::Kfd => kfd::answer(self, code, argument),
            Which::Render(gpu) => drm::answer(self, gpu, code, argument).map(|()| 0),
            Which::Dmabuf(_) => Err(Errno::NOTTY),
        });
        if self.options.trace {
            eprintln!("vkernel: {which:?} fd {fd} {name} {answer:?}");
        }
        answer
    }

    /// Remembers something that no kernel would have been asked, or could have answered.
    pub fn complain(&self, text: String) {
        if self.options.trace {
            eprintln!("vkernel: COMPLAINT: {text}");
        }
        self.complaints.lock().push(text);
    }

    /// What was complained of.
    #[must_use]
    pub fn complaints(&self) -> Vec<String> {
        self.complaints.lock().clone()
    }

    /// What the process has.
    #[must_use]
    pub fn books(&self) -> Books {
        let process = self.process();
        let (buffers, mapped) = process.buffers.counts();
        Books {
            buffers,
            mapped,
            queues: process.queues.table.len(),
            events: process.events.count(),
        }
    }

    /// A GPU by the kernel's number.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`] for a number that is none, [`Errno::NODEV`] for a GPU that vanished.
    pub(crate) fn gpu(&self, gpu_id: u32) -> Result<usize, Errno> {
        let gpu = self.seen(gpu_id)?;
        if self.has_vanished(gpu) {
            return Err(Errno::NODEV);
        }
        Ok(gpu)
    }

    /// A GPU by the kernel's number, also one that vanished: for what is given back.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`].
    pub(crate) fn seen(&self, gpu_id: u32) -> Result<usize, Errno> {
        self.machine
            .gpus
            .iter()
            .position(|gpu| gpu.gpu_id == gpu_id)
            .ok_or(Errno::INVAL)
    }
}
