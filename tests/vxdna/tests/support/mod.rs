//! A driver on virtual NPUs, and a host that remembers.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod design;
pub(crate) mod queue;

use hansa_plugin_api as api;
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, Driver as _};
use hansa_vxdna::{NpuSpec, VirtualNpus};
use hansa_xdna::config::Config;
use hansa_xdna::XdnaDriver;
use std::sync::{Arc, Mutex};

/// Bank for kernel arguments.
pub(crate) const KERNARG: u32 = 0;
/// Bank of the heap.
pub(crate) const HEAP: u32 = 1;
/// Bank of host memory.
pub(crate) const PLAIN: u32 = 2;

/// A host that remembers what it is told.
#[derive(Debug, Default)]
pub(crate) struct RecordingHost {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) changed: Mutex<Vec<u64>>,
}

#[derive(Debug)]
struct Shared(Arc<RecordingHost>);

impl api::Host for Shared {
    fn log(&self, _level: api::LogLevel, message: api::RStr<'_>) -> api::Result<()> {
        self.0.log.lock().unwrap().push(message.to_string());
        Ok(())
    }

    fn now(&self) -> api::Result<u64> {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let since = START.get_or_init(std::time::Instant::now).elapsed();
        Ok(u64::try_from(since.as_nanos()).unwrap() + 1)
    }

    fn configuration(&self) -> api::Result<api::RString> {
        Ok(api::RString::new())
    }

    fn spawn(&self, _name: api::RStr<'_>, entry: api::ThreadEntry) -> api::Result<()> {
        std::thread::spawn(move || (entry.run)(entry.argument));
        Ok(())
    }

    fn signal_changed(&self, signal: u64) -> api::Result<()> {
        self.0.changed.lock().unwrap().push(signal);
        Ok(())
    }

    fn event_raised(&self, _event: u32) -> api::Result<()> {
        Ok(())
    }

    fn device_event(&self, _event: &api::DeviceEvent) -> api::Result<()> {
        Ok(())
    }
}

/// A driver and what is around it.
pub(crate) struct Rig {
    pub(crate) driver: Arc<XdnaDriver>,
    pub(crate) system: Arc<VirtualNpus>,
    pub(crate) host: Arc<RecordingHost>,
}

impl Rig {
    /// A driver that is not open yet.
    pub(crate) fn closed(specs: &[NpuSpec], config: Config) -> Self {
        let system = VirtualNpus::new(specs);
        let host = Arc::new(RecordingHost::default());
        // The host outlives the driver: it is never freed.
        let object: &'static api::HostObject =
            Box::leak(Box::new(api::HostObject::new(Shared(Arc::clone(&host)))));
        let seen = Arc::clone(&system) as Arc<dyn System>;
        Self {
            driver: Arc::new(XdnaDriver::new(seen, object.as_ref(), config)),
            system,
            host,
        }
    }

    /// An open driver.
    pub(crate) fn open(specs: &[NpuSpec]) -> Self {
        let rig = Self::closed(specs, Config::default());
        rig.driver.open().unwrap();
        rig
    }

    /// Allocates from a bank of the first node.
    pub(crate) fn allocate(&self, bank: u32, bytes: u64) -> Allocation {
        self.driver.allocate(&request(0, bank, bytes)).unwrap()
    }

    /// Fails when a request was made that no kernel knows.
    pub(crate) fn assert_no_complaints(&self) {
        assert_eq!(self.system.complaints(), Vec::<String>::new());
    }
}

/// A request for memory.
pub(crate) fn request(node: u32, bank: u32, bytes: u64) -> AllocRequest {
    AllocRequest {
        node,
        bank,
        bytes,
        alignment: 4096,
        address: 0,
        flags: AllocFlags::empty(),
        reserved: 0,
    }
}

/// A pointer to an allocation.
pub(crate) fn pointer<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap())
}

/// Writes words to memory of this process.
pub(crate) fn write(address: u64, words: &[u32]) {
    // SAFETY: tests write to what they allocated.
    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), pointer(address), words.len()) };
}

/// Reads words of memory of this process.
pub(crate) fn read(address: u64, count: usize) -> Vec<u32> {
    // SAFETY: tests read what they allocated.
    unsafe { std::slice::from_raw_parts(pointer::<u32>(address), count) }.to_vec()
}
