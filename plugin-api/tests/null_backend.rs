//! A backend for an accelerator that can do little: it implements life, description, memory and queues, and
//! nothing else. It keeps the contract implementable, and shows what a method that is not there answers.

#![expect(clippy::cast_possible_truncation, reason = "addresses of a 64-bit machine")]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_plugin_api::manifest::{Claims, DefaultUse, Kind, PluginFacts, Policy, TARGET};
use hansa_plugin_api::{
    AgentCaps, AllocRequest, Allocation, BankFlags, BankKind, Doorbell, Driver, DriverGroups, DriverObject,
    Error, ErrorCode, Host, HostMemoryRequest, HostObject, HostRef, LogLevel, MapRequest, MemoryBank,
    MemoryHandle, NodeDescription, NodeKind, Plugin, PluginMod, ProbeOutcome, QueueInfo, QueueRequest, RStr,
    RString, RVec, Result, SystemDescription, ThreadEntry, INTERFACE,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// Memory is a list of boxes; a queue takes its packets away as soon as its doorbell is rung.
#[derive(Default)]
struct NullDriver {
    memory: Mutex<Vec<(u64, Box<[u8]>)>>,
    next_queue: AtomicU64,
}

extern "C" fn consume(read_index: u64, last: u64) {
    // SAFETY: the test's queue gives the address of its read index, which outlives the queue.
    let index = unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(read_index as usize)) };
    index.store(last + 1, Ordering::Release);
}

impl Driver for NullDriver {
    fn open(&self) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> Result<SystemDescription> {
        let mut node = NodeDescription::new(0, NodeKind::ACCELERATOR, "null");
        node.caps = AgentCaps::KERNEL_DISPATCH | AgentCaps::SHARED_ADDRESSES;
        node.max_queues = 1;
        node.min_queue_packets = 64;
        node.max_queue_packets = 1024;
        node.banks.push(MemoryBank {
            kind: BankKind::LOCAL,
            flags: BankFlags::HOST_VISIBLE,
            bytes: 1 << 20,
            granule: 4096,
            recommended_granule: 4096,
            width_bits: 0,
            max_clock_mhz: 0,
        });
        Ok(SystemDescription {
            groups: DriverGroups::MEMORY | DriverGroups::QUEUES,
            nodes: RVec::from(vec![node]),
            ..SystemDescription::default()
        })
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, request: &AllocRequest) -> Result<Allocation> {
        let memory = vec![0u8; request.bytes as usize].into_boxed_slice();
        let address = memory.as_ptr().expose_provenance() as u64;
        self.memory.lock().unwrap().push((address, memory));
        Ok(Allocation {
            handle: MemoryHandle(address),
            device_address: address,
            host_address: address,
            bytes: request.bytes,
        })
    }

    fn free(&self, handle: MemoryHandle) -> Result<()> {
        let mut memory = self.memory.lock().unwrap();
        let index = memory
            .iter()
            .position(|(address, _)| *address == handle.0)
            .ok_or_else(|| Error::new(ErrorCode::INVALID_HANDLE, "Not an allocation of this driver"))?;
        memory.remove(index);
        Ok(())
    }

    fn map(&self, _request: &MapRequest<'_>) -> Result<()> {
        Ok(())
    }

    fn register_host(&self, request: &HostMemoryRequest<'_>) -> Result<Allocation> {
        Ok(Allocation {
            handle: MemoryHandle(request.address),
            device_address: request.address,
            host_address: request.address,
            bytes: request.bytes,
        })
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<QueueInfo> {
        let queue = self.next_queue.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(QueueInfo {
            queue,
            doorbell: Doorbell::calling(consume, request.read_index_address),
            name: "null".into(),
        })
    }

    fn destroy_queue(&self, _queue: u64) -> Result<()> {
        Ok(())
    }
}

struct NullPlugin;

impl Plugin for NullPlugin {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.example.null",
        kind: Kind::Driver,
        version: "1.0.0",
        target: TARGET,
        interface: INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy {
            default: DefaultUse::Off,
            ..Policy::DEFAULT
        },
    }
    .checked();

    fn probe(_host: HostRef<'_>) -> Result<ProbeOutcome> {
        Ok(ProbeOutcome {
            devices: RVec::from(vec![RString::from("null:0")]),
        })
    }

    fn driver(_host: HostRef<'static>) -> Result<DriverObject> {
        Ok(DriverObject::new(NullDriver::default()))
    }
}

struct QuietHost;

impl Host for QuietHost {
    fn log(&self, _level: LogLevel, _message: RStr<'_>) -> Result<()> {
        Ok(())
    }

    fn now(&self) -> Result<u64> {
        Ok(0)
    }

    fn configuration(&self) -> Result<RString> {
        Ok(RString::new())
    }

    fn spawn(&self, _name: RStr<'_>, _entry: ThreadEntry) -> Result<()> {
        Err(Error::not_supported("Host::spawn"))
    }

    fn signal_changed(&self, _signal: u64) -> Result<()> {
        Ok(())
    }

    fn event_raised(&self, _event: u32) -> Result<()> {
        Ok(())
    }

    fn device_event(&self, _event: &hansa_plugin_api::DeviceEvent) -> Result<()> {
        Ok(())
    }
}

fn open() -> DriverObject {
    let host: &'static HostObject = Box::leak(Box::new(HostObject::new(QuietHost)));
    let module = PluginMod::of::<NullPlugin>();
    let probed = (module.probe())(host.as_ref()).into_result().unwrap();
    assert_eq!(probed.devices.as_slice(), ["null:0"]);
    let driver = (module.driver())(host.as_ref()).into_result().unwrap();
    driver.open().unwrap();
    driver
}

#[test]
fn memory_and_a_queue_work_through_the_table() {
    let driver = open();
    let description = driver.describe().unwrap();
    assert_eq!(description.nodes[0].name, "null");
    let memory = driver
        .allocate(&AllocRequest {
            node: 0,
            bank: 0,
            bytes: 4096,
            alignment: 4096,
            address: 0,
            flags: hansa_plugin_api::AllocFlags::empty(),
            reserved: 0,
        })
        .unwrap();
    let read_index = AtomicU64::new(0);
    let info = driver
        .create_queue(&QueueRequest {
            node: 0,
            kind: hansa_plugin_api::QueueKind::AQL,
            priority: hansa_plugin_api::QueuePriority::NORMAL,
            engine: u32::MAX,
            ring_address: memory.device_address,
            ring_bytes: 4096,
            descriptor_address: 0,
            write_index_address: 0,
            read_index_address: std::ptr::from_ref(&read_index).expose_provenance() as u64,
            exception_address: 0,
            event: 0,
            percent: 100,
        })
        .unwrap();
    (info.doorbell.notify)(info.doorbell.context, 4);
    assert_eq!(read_index.load(Ordering::Acquire), 5);
    driver.destroy_queue(info.queue).unwrap();
    driver.free(memory.handle).unwrap();
    assert_eq!(
        driver.free(memory.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    driver.close().unwrap();
}

#[test]
fn what_it_does_not_have_is_not_supported() {
    let driver = open();
    let unsupported = [
        driver
            .export_memory(MemoryHandle(1), hansa_plugin_api::ExportKind::DMA_BUF)
            .unwrap_err(),
        driver
            .wait_events([1].as_slice().into(), [].as_slice().into(), true, 0)
            .unwrap_err(),
        driver
            .copy(&hansa_plugin_api::CopyRequest::linear(0, 0, 0, 0))
            .unwrap_err(),
        driver.pc_sampling_configs(0).unwrap_err(),
        driver.open_smi(0).unwrap_err(),
    ];
    for error in unsupported {
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED, "{error}");
    }
}

#[test]
fn a_panic_becomes_an_error_with_its_text() {
    struct Panics;
    impl Driver for Panics {
        fn open(&self) -> Result<()> {
            panic!("the firmware is {}", "missing")
        }
        fn describe(&self) -> Result<SystemDescription> {
            Ok(SystemDescription::default())
        }
        fn close(&self) -> Result<()> {
            Ok(())
        }
    }
    let error = DriverObject::new(Panics).open().unwrap_err();
    assert_eq!(error.code, ErrorCode::PANIC);
    assert_eq!(error.message, "Panic in Driver::open: the firmware is missing");
}
