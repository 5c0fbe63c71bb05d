//! A driver on a virtual kernel, and a host that remembers.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod kernels;
pub(crate) mod program;
pub(crate) mod trapping;
pub(crate) mod virtio;

use hansa_kfd::config::Config;
use hansa_kfd::machine::Lasting;
use hansa_kfd::KfdDriver;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{Driver as _, QueueKind, QueuePriority};
use hansa_vkernel::{Books, Kernel, Machine, Options, VirtualSystem};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A host that remembers what it is told.
#[derive(Debug, Default)]
pub(crate) struct RecordingHost {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) reports: Mutex<Vec<api::DeviceEvent>>,
}

impl RecordingHost {
    /// A host, and what a driver is given of it. It outlives every driver: it is never freed.
    pub(crate) fn made() -> (Arc<Self>, api::HostRef<'static>) {
        let host = Arc::new(Self::default());
        let object: &'static api::HostObject =
            Box::leak(Box::new(api::HostObject::new(Shared(Arc::clone(&host)))));
        (host, object.as_ref())
    }
}

#[derive(Debug)]
struct Shared(Arc<RecordingHost>);

impl api::Host for Shared {
    fn log(&self, _level: api::LogLevel, message: api::RStr<'_>) -> api::Result<()> {
        self.0.log.lock().unwrap().push(message.to_string());
        Ok(())
    }

    fn now(&self) -> api::Result<u64> {
        Ok(0)
    }

    fn configuration(&self) -> api::Result<api::RString> {
        Ok(api::RString::new())
    }

    fn spawn(&self, _name: api::RStr<'_>, entry: api::ThreadEntry) -> api::Result<()> {
        std::thread::spawn(move || (entry.run)(entry.argument));
        Ok(())
    }

    fn signal_changed(&self, _signal: u64) -> api::Result<()> {
        Ok(())
    }

    fn event_raised(&self, _event: u32) -> api::Result<()> {
        Ok(())
    }

    fn device_event(&self, event: &api::DeviceEvent) -> api::Result<()> {
        self.0.reports.lock().unwrap().push(event.clone());
        Ok(())
    }
}

/// A driver and what is around it.
pub(crate) struct Rig {
    pub(crate) driver: KfdDriver,
    pub(crate) system: Arc<VirtualSystem>,
    pub(crate) lasting: Arc<Lasting>,
    pub(crate) host: Arc<RecordingHost>,
}

impl Rig {
    pub(crate) fn new(machine: Machine, options: Options) -> Self {
        Self::configured(machine, options, Config::default())
    }

    pub(crate) fn configured(machine: Machine, options: Options, config: Config) -> Self {
        let system = VirtualSystem::new(Kernel::new(machine, options, None).unwrap());
        let seen = Arc::clone(&system) as Arc<dyn System>;
        Self::on(system, seen, config)
    }

    /// An event for signals of its driver, which is open.
    pub(crate) fn signal_event(&self) -> api::EventInfo {
        let request = api::EventRequest {
            kind: api::EventKind::SIGNAL,
            manual_reset: 0,
            node: 0,
            reserved: 0,
        };
        self.driver.create_event(&request).unwrap()
    }

    /// A driver that sees another system in front of the virtual one.
    pub(crate) fn on(system: Arc<VirtualSystem>, seen: Arc<dyn System>, config: Config) -> Self {
        let lasting = Arc::new(Lasting::default());
        let (host, told) = RecordingHost::made();
        let driver = KfdDriver::new(seen, Arc::clone(&lasting), told, config);
        Self {
            driver,
            system,
            lasting,
            host,
        }
    }

    pub(crate) fn vega10() -> Self {
        Self::new(Machine::vega10(), Options::default())
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        self.system.kernel()
    }

    /// Fails when a request was made that no kernel knows.
    pub(crate) fn assert_no_complaints(&self) {
        assert_eq!(self.kernel().complaints(), Vec::<String>::new());
    }
}

/// Pages of this process, as the runtime gives them to queues.
pub(crate) struct HostPages {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl HostPages {
    pub(crate) fn new(bytes: u64) -> Self {
        // SAFETY: a new mapping.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                usize::try_from(bytes).unwrap(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(address, libc::MAP_FAILED);
        Self {
            address: address.expose_provenance() as u64,
            bytes,
        }
    }

    /// Where the devices of every machine reach them.
    pub(crate) fn low(bytes: u64) -> Self {
        let length = usize::try_from(bytes).unwrap();
        let address = hansa_plugin_api::low::reserve_below(1 << 36, length).unwrap();
        // SAFETY: a new range that nobody else has.
        let opened = unsafe { libc::mprotect(address.cast(), length, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(opened, 0);
        Self {
            address: address.expose_provenance() as u64,
            bytes,
        }
    }

    pub(crate) fn word(&self, offset: u64) -> &std::sync::atomic::AtomicU64 {
        assert!(offset + 8 <= self.bytes && offset.is_multiple_of(8));
        let at = usize::try_from(self.address + offset).unwrap();
        // SAFETY: inside the mapping, which lives as long as this object.
        unsafe { std::sync::atomic::AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(at)) }
    }
}

impl Drop for HostPages {
    fn drop(&mut self) {
        let at = std::ptr::with_exposed_provenance_mut(usize::try_from(self.address).unwrap());
        // SAFETY: the mapping is this object's.
        unsafe { libc::munmap(at, usize::try_from(self.bytes).unwrap()) };
    }
}

pub(crate) fn request_memory(node: u32, bytes: u64) -> api::AllocRequest {
    api::AllocRequest {
        node,
        bank: 0,
        bytes,
        alignment: 4096,
        address: 0,
        flags: api::AllocFlags::empty(),
        reserved: 0,
    }
}

pub(crate) fn register(rig: &Rig, address: u64, bytes: u64, nodes: &[u32]) -> api::Result<api::Allocation> {
    api::Driver::register_host(
        &rig.driver,
        &api::HostMemoryRequest {
            address,
            bytes,
            nodes: api::RSlice::from_slice(nodes),
            flags: api::AllocFlags::FINE_GRAIN,
            reserved: 0,
        },
    )
}

/// Memory of a queue, as the runtime lays it out: 16 descriptors of a page each, and a ring.
pub(crate) struct QueueMemory {
    pub(crate) slots: HostPages,
    pub(crate) ring: HostPages,
    pub(crate) signal: HostPages,
    registrations: Vec<api::MemoryHandle>,
}

/// Offsets in a queue's descriptor.
pub(crate) const WRITE_INDEX: u64 = 56;
pub(crate) const READ_INDEX: u64 = 128;
pub(crate) const INACTIVE: u64 = 192;

impl QueueMemory {
    pub(crate) fn new(rig: &Rig, nodes: &[u32]) -> Self {
        let (slots, ring, signal) = (
            HostPages::low(16 * 4096),
            HostPages::low(4096),
            HostPages::low(4096),
        );
        let registrations = [&slots, &ring, &signal]
            .map(|pages| register(rig, pages.address, pages.bytes, nodes).unwrap().handle)
            .to_vec();
        for packet in 0..64 {
            ring.word(packet * 64).store(1, Ordering::Relaxed);
        }
        Self {
            slots,
            ring,
            signal,
            registrations,
        }
    }

    pub(crate) fn request(&self, node: u32, slot: u64, kind: QueueKind) -> api::QueueRequest {
        let descriptor = self.slots.address + slot * 4096;
        api::QueueRequest {
            node,
            kind,
            priority: QueuePriority::NORMAL,
            engine: u32::MAX,
            ring_address: self.ring.address,
            ring_bytes: self.ring.bytes,
            descriptor_address: if matches!(kind, QueueKind::AQL | QueueKind::COOPERATIVE) {
                descriptor
            } else {
                0
            },
            write_index_address: descriptor + WRITE_INDEX,
            read_index_address: descriptor + READ_INDEX,
            exception_address: 0,
            event: 0,
            percent: 100,
        }
    }

    pub(crate) fn end(self, rig: &Rig) {
        for handle in &self.registrations {
            rig.driver.deregister_host(*handle).unwrap();
        }
    }
}

/// Rings for the packet with an index.
pub(crate) fn ring_bell(info: &api::QueueInfo, index: u64) {
    if info.doorbell.kind.contains(api::DoorbellKind::NOTIFIER) {
        (info.doorbell.notify)(info.doorbell.context, index);
        return;
    }
    let at = usize::try_from(info.doorbell.address).unwrap();
    // SAFETY: the driver gave this address for a doorbell of 64 bits.
    let bell = unsafe { std::sync::atomic::AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(at)) };
    bell.store(index, Ordering::Release);
}

/// Waits for something that has to come soon.
pub(crate) fn within_a_second(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !done() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::yield_now();
    }
}

/// Where the published topologies are unpacked; `None` where they are not at hand.
pub(crate) fn dumps() -> Option<PathBuf> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    DIRECTORY
        .get_or_init(|| {
            let archive = std::env::var_os("HANSA_CASES")
                .map_or_else(|| PathBuf::from("/work/shared/cases"), PathBuf::from)
                .join("dumps.tar.gz");
            if !archive.exists() {
                return None;
            }
            let to = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dumps");
            if !to.join("dumps-runnable").exists() {
                let unpacked = to.with_extension(std::process::id().to_string());
                std::fs::create_dir_all(&unpacked).unwrap();
                let status = Command::new("tar")
                    .arg("xzf")
                    .arg(&archive)
                    .arg("-C")
                    .arg(&unpacked)
                    .status()
                    .unwrap();
                assert!(status.success());
                // Another test program may have been first.
                if std::fs::rename(&unpacked, &to).is_err() {
                    std::fs::remove_dir_all(&unpacked).unwrap();
                }
            }
            Some(to)
        })
        .clone()
}

/// What is left of a driver in the kernel's books while it is open, and after: the event page stays.
const EVENT_PAGE_ONLY: (usize, usize) = (1, 0);

/// Nothing else is left.
pub(crate) fn assert_closed(rig: &Rig, gpus: usize) {
    let books = rig.kernel().books();
    assert_eq!(
        books,
        Books {
            buffers: EVENT_PAGE_ONLY.0,
            mapped: gpus,
            queues: EVENT_PAGE_ONLY.1,
            events: 0
        }
    );
    assert_eq!(
        rig.system.open_files(),
        gpus,
        "render nodes stay with the process, /dev/kfd does not"
    );
    rig.assert_no_complaints();
}
