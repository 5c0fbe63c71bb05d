//! A runtime for tests: what the driver sees of it, and queues, signals and memory as a program has them.
//!
//! Everything goes through the driver's table, as in a loaded plugin.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "a module of each test file, no file uses all of it, and numbers of tests are small"
)]

pub mod host;
pub mod kernels;
pub mod queue;

use hansa_plugin_api::{
    AllocFlags, AllocRequest, Allocation, DriverObject, HostMemoryRequest, HostObject, MemoryHandle, Plugin,
    RSlice,
};
use hansa_sim::SimPlugin;
pub use host::FakeHost;
pub use queue::{Program, TestQueue};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Longest that anything in a test may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A page that the host and the device share.
#[derive(Debug)]
#[repr(align(4096))]
pub struct Page(pub [AtomicU64; 512]);

impl Default for Page {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// Host memory that devices see.
#[derive(Debug)]
pub struct HostMemory {
    pages: Box<[Page]>,
    handle: MemoryHandle,
    driver: Weak<DriverObject>,
}

impl HostMemory {
    /// Where it begins.
    pub fn address(&self) -> u64 {
        self.pages.as_ptr().expose_provenance() as u64
    }

    /// A 64-bit word.
    pub fn word(&self, index: usize) -> &AtomicU64 {
        &self.pages[index / 512].0[index % 512]
    }

    /// A 32-bit word.
    pub fn u32(&self, index: usize) -> u32 {
        let word = self.word(index / 2).load(Ordering::Acquire);
        (word >> (32 * (index % 2))) as u32
    }

    /// Writes a 32-bit word.
    pub fn set_u32(&self, index: usize, value: u32) {
        let shift = 32 * (index % 2);
        let word = self.word(index / 2);
        let rest = word.load(Ordering::Acquire) & !(0xffff_ffff << shift);
        word.store(rest | u64::from(value) << shift, Ordering::Release);
    }

    /// The handle of its registration.
    pub fn handle(&self) -> MemoryHandle {
        self.handle
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.upgrade() {
            // A test may have deregistered it.
            let _ = driver.deregister_host(self.handle);
        }
    }
}

/// A driver with its runtime.
#[derive(Debug)]
pub struct Rig {
    pub host: FakeHost,
    pub driver: Arc<DriverObject>,
    pub devices: u32,
    closed: bool,
}

impl Rig {
    /// Opens a driver with a configuration.
    pub fn new(configuration: &str) -> Self {
        Self::with_threads(configuration, 2)
    }

    /// Opens a driver that is to use so many threads.
    pub fn with_threads(configuration: &str, threads: u32) -> Self {
        let host = FakeHost::leaked(configuration, threads);
        let object: &'static HostObject = Box::leak(Box::new(HostObject::new(host)));
        let driver = SimPlugin::driver(object.as_ref()).expect("the configuration is good");
        driver.open().expect("the software GPU opens anywhere");
        let devices = driver
            .describe()
            .expect("an open driver describes itself")
            .nodes
            .len();
        Self {
            host,
            driver: Arc::new(driver),
            devices: devices as u32,
            closed: false,
        }
    }

    /// Host memory that all devices see.
    pub fn host_memory(&self, bytes: usize) -> HostMemory {
        let nodes: Vec<u32> = (0..self.devices).collect();
        self.host_memory_for(bytes, &nodes)
    }

    /// Host memory that some devices see.
    pub fn host_memory_for(&self, bytes: usize, nodes: &[u32]) -> HostMemory {
        let pages: Box<[Page]> = (0..bytes.div_ceil(4096)).map(|_| Page::default()).collect();
        let registration = self
            .driver
            .register_host(&HostMemoryRequest {
                address: pages.as_ptr().expose_provenance() as u64,
                bytes: (pages.len() * 4096) as u64,
                nodes: RSlice::from_slice(nodes),
                flags: AllocFlags::FINE_GRAIN,
                reserved: 0,
            })
            .expect("host memory can be registered");
        HostMemory {
            pages,
            handle: registration.handle,
            driver: Arc::downgrade(&self.driver),
        }
    }

    /// Memory of a device.
    pub fn device_memory(&self, node: u32, bytes: u64) -> Allocation {
        self.driver
            .allocate(&alloc_request(node, bytes))
            .expect("there is enough device memory")
    }

    /// A signal.
    pub fn signal(&self, value: i64) -> Signal {
        let memory = self.host_memory(4096);
        memory.word(0).store(1, Ordering::Relaxed);
        memory.word(1).store(value as u64, Ordering::Release);
        Signal { memory }
    }

    /// A queue of a device with 64 packets.
    pub fn queue(&self, node: u32) -> TestQueue {
        TestQueue::new(self, node, 64)
    }

    /// The driver alone, to be dropped without being closed.
    pub fn into_driver(mut self) -> Arc<DriverObject> {
        self.closed = true;
        Arc::clone(&self.driver)
    }

    /// Closes the driver, as the runtime does before it drops it.
    pub fn close(mut self) {
        self.closed = true;
        self.driver.close().expect("an open driver closes");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !self.closed {
            // Only to stop its threads; a test that looks at the answer calls `close`.
            let _ = self.driver.close();
        }
    }
}

/// A request for device memory.
pub fn alloc_request(node: u32, bytes: u64) -> AllocRequest {
    AllocRequest {
        node,
        bank: 0,
        bytes,
        alignment: 4096,
        address: 0,
        flags: AllocFlags::empty(),
        reserved: 0,
    }
}

/// A signal (`amd_signal_t`).
#[derive(Debug)]
pub struct Signal {
    pub memory: HostMemory,
}

impl Signal {
    /// Its handle.
    pub fn handle(&self) -> u64 {
        self.memory.address()
    }

    /// Its value.
    pub fn value(&self) -> i64 {
        self.memory.word(1).load(Ordering::Acquire) as i64
    }

    /// Stores a value, as the host does.
    pub fn store(&self, value: i64) {
        self.memory.word(1).store(value as u64, Ordering::SeqCst);
    }

    /// When its packet began and ended.
    pub fn times(&self) -> [u64; 2] {
        [4, 5].map(|word| self.memory.word(word).load(Ordering::Acquire))
    }

    /// Waits until the value is below a bound.
    pub fn wait_below(&self, bound: i64) {
        assert!(
            eventually(|| self.value() < bound),
            "the signal stays {}",
            self.value()
        );
    }

    /// Waits for a value.
    pub fn wait(&self, value: i64) {
        assert!(
            eventually(|| self.value() == value),
            "the signal is {} and not {value}",
            self.value()
        );
    }
}

/// Waits until something holds; answers whether it came to hold before patience ended.
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if begun.elapsed() > PATIENCE {
            return false;
        }
        std::thread::yield_now();
    }
}

/// Whether something never holds within some time.
pub fn never(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if holds() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}
