//! What calls cost does not depend on how many agents there are: counted, not timed, with 2 devices and with 64. The driver
//! lives in the test and counts its calls and the nodes that they name; the allocator counts the bytes that a call asks for, so
//! that a list of all agents is seen.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_core::loader::{CodeObjectReader, FloatRounding, MemoryUri, Profile};
use hansa_core::plugin::BuiltIn;
use hansa_core::runtime::{current, init, shut_down, Runtime};
use hansa_core::signal::{self, block, Condition};
use hansa_plugin_api as api;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

/// Devices that the driver has.
static DEVICES: AtomicU32 = AtomicU32::new(0);
/// Calls of the driver, and nodes that they named.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Counts the bytes that each thread allocates.
struct Counting;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does everything; a number is counted beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as u64);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Many;

impl api::Plugin for Many {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.example.many",
        kind: Kind::Driver,
        version: "1.0.0",
        target: TARGET,
        interface: api::INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy::DEFAULT,
    }
    .checked();

    fn probe(_host: api::HostRef<'_>) -> api::Result<api::ProbeOutcome> {
        let all = 0..DEVICES.load(Ordering::Relaxed);
        Ok(api::ProbeOutcome {
            devices: all.map(|device| format!("software:{device}").into()).collect(),
        })
    }

    fn driver(_host: api::HostRef<'static>) -> api::Result<api::DriverObject> {
        Ok(api::DriverObject::new(ManyDriver))
    }
}

const PAGE: u64 = 1 << 16;

struct ManyDriver;

fn count(nodes: usize) {
    CALLS.fetch_add(1 + nodes as u64, Ordering::Relaxed);
}

fn given(address: u64, bytes: u64) -> api::Allocation {
    api::Allocation {
        handle: api::MemoryHandle(address),
        device_address: address,
        host_address: address,
        bytes,
    }
}

fn layout(bytes: u64) -> Layout {
    let unit = usize::try_from(PAGE).unwrap();
    Layout::from_size_align(usize::try_from(bytes).unwrap(), unit).unwrap()
}

impl api::Driver for ManyDriver {
    fn open(&self) -> api::Result<()> {
        Ok(())
    }

    fn describe(&self) -> api::Result<api::SystemDescription> {
        let node = |number| {
            let mut node = api::NodeDescription::new(number, api::NodeKind::GPU, "gfx900");
            node.isas.push("amdgcn-amd-amdhsa--gfx900".into());
            node.banks.push(api::MemoryBank {
                kind: api::BankKind::LOCAL,
                flags: api::BankFlags::HOST_VISIBLE,
                bytes: 1 << 30,
                granule: PAGE,
                recommended_granule: PAGE,
                width_bits: 64,
                max_clock_mhz: 1,
            });
            node
        };
        Ok(api::SystemDescription {
            groups: api::DriverGroups::MEMORY | api::DriverGroups::COPY,
            nodes: (0..DEVICES.load(Ordering::Relaxed)).map(node).collect(),
            links: api::RVec::new(),
            hidden: api::RVec::new(),
        })
    }

    fn close(&self) -> api::Result<()> {
        Ok(())
    }

    fn allocate(&self, request: &api::AllocRequest) -> api::Result<api::Allocation> {
        count(1);
        // SAFETY: the layout is not of size 0.
        let memory = unsafe { System.alloc_zeroed(layout(request.bytes + PAGE)) };
        let address = memory.expose_provenance();
        // Where `free` finds how much it was.
        // SAFETY: the first bytes of what was just made.
        unsafe { memory.cast::<u64>().write(request.bytes + PAGE) };
        Ok(given(address as u64 + PAGE, request.bytes))
    }

    fn free(&self, handle: api::MemoryHandle) -> api::Result<()> {
        count(0);
        let memory = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(handle.0 - PAGE).unwrap());
        // SAFETY: `allocate` wrote a number there.
        let bytes = unsafe { memory.cast::<u64>().read() };
        // SAFETY: what `allocate` made, with that layout.
        unsafe { System.dealloc(memory, layout(bytes)) };
        Ok(())
    }

    fn register_host(&self, request: &api::HostMemoryRequest<'_>) -> api::Result<api::Allocation> {
        count(request.nodes.len());
        Ok(given(request.address, request.bytes))
    }

    fn deregister_host(&self, _: api::MemoryHandle) -> api::Result<()> {
        count(0);
        Ok(())
    }

    fn map(&self, request: &api::MapRequest<'_>) -> api::Result<()> {
        count(request.nodes.len());
        Ok(())
    }

    fn copy(&self, request: &api::CopyRequest) -> api::Result<()> {
        count(1);
        let at = |address| std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(address).unwrap());
        let bytes = usize::try_from(request.row_bytes).unwrap();
        // SAFETY: the runtime names memory of this driver and of the test.
        unsafe { at(request.source).copy_to(at(request.destination), bytes) };
        Ok(())
    }
}

type Call = fn(&Arc<Runtime>, usize);

fn allocate(runtime: &Arc<Runtime>, region: usize, bytes: u64) {
    let address = runtime.allocate(region, bytes, 0).unwrap();
    assert!(runtime.memory.find(address + 1).is_some());
    assert_eq!(
        runtime.memory.facts(address + bytes - 1).map(|facts| facts.base),
        Some(address)
    );
    runtime.free(address).unwrap();
}

fn host(runtime: &Runtime) -> usize {
    runtime
        .regions
        .iter()
        .position(|region| region.is_host())
        .unwrap()
}

fn load(runtime: &Arc<Runtime>, agent: usize) {
    let code: &'static [u8] = include_bytes!("../../tests/bench/src/kernels/demo-gfx900.co");
    let reader = CodeObjectReader::from_memory(Arc::new(code), MemoryUri::LoadedObjects);
    let executable = runtime
        .create_executable(Profile::Base, FloatRounding::Default)
        .unwrap();
    runtime.load(executable, agent, &reader).unwrap();
    runtime
        .executable(executable)
        .unwrap()
        .executable
        .freeze()
        .unwrap();
    runtime.destroy_executable(executable).unwrap();
}

/// The calls whose cost has a goal. Each is given the last agent, which whoever looks for it from the first on finds last.
const CALLS_OF_RUNTIME: [(&str, Call); 9] = [
    ("4 KiB of a host pool", |runtime, _| {
        allocate(runtime, host(runtime), 4 << 10);
    }),
    ("64 KiB of a host pool", |runtime, _| {
        allocate(runtime, host(runtime), 64 << 10);
    }),
    ("4 KiB of a device pool", |runtime, agent| {
        allocate(runtime, runtime.agents[agent].regions[0], 4 << 10);
    }),
    ("64 KiB of a device pool", |runtime, agent| {
        allocate(runtime, runtime.agents[agent].regions[0], 64 << 10);
    }),
    ("memory of a region for all", |runtime, _| {
        let address = runtime.allocate_for_all(host(runtime), 4 << 10).unwrap();
        runtime.free(address).unwrap();
    }),
    ("a signal", |_, _| {
        let signal = signal::create(1, block::flag::SLEEPS).unwrap();
        signal::store(signal, 0, Ordering::Release);
        assert_eq!(signal::wait(signal, Condition::Eq, 0, u64::MAX), 0);
        signal::destroy(signal).unwrap();
    }),
    ("an agent", |runtime, agent| {
        let found = runtime.agent(runtime.agent_handle(agent)).unwrap();
        assert_eq!(found.name(), "gfx900");
    }),
    ("a handler", |runtime, _| {
        let signal = signal::create(1, block::flag::SLEEPS).unwrap();
        // Not a channel: one that has to wait asks for memory, one that is told at once does not.
        let told = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&told);
        let called = Box::new(move |value| {
            tell.store(value == 0, Ordering::Release);
            false
        });
        let block = signal::checked(signal).unwrap();
        runtime
            .handlers
            .register(block, Condition::Eq, 0, called)
            .unwrap();
        signal::store(signal, 0, Ordering::Release);
        while !told.load(Ordering::Acquire) {
            thread::yield_now();
        }
        signal::destroy(signal).unwrap();
    }),
    ("code", load),
];

/// What each call costs with so many devices: calls of the driver with the nodes they name, and bytes.
fn costs(devices: u32) -> Vec<(&'static str, u64, u64)> {
    DEVICES.store(devices, Ordering::Relaxed);
    init(&[BuiltIn::of::<Many>()]).unwrap();
    let runtime = Arc::clone(&current().unwrap());
    let last = runtime.agents.len() - 1;
    assert_eq!(
        runtime.agents.iter().filter(|agent| agent.is_gpu()).count(),
        devices as usize
    );
    let costs = CALLS_OF_RUNTIME.map(|(name, call)| {
        // What is set up once is set up.
        call(&runtime, last);
        let least = (0..10).map(|_| {
            let before = (CALLS.load(Ordering::Relaxed), BYTES.get());
            call(&runtime, last);
            (CALLS.load(Ordering::Relaxed) - before.0, BYTES.get() - before.1)
        });
        let (calls, bytes) = least.min().unwrap();
        (name, calls, bytes)
    });
    drop(runtime);
    shut_down().unwrap();
    costs.to_vec()
}

#[test]
fn no_call_costs_more_with_more_agents() {
    let few = costs(2);
    assert!(few.iter().any(|(_, calls, _)| *calls != 0), "{few:?}");
    assert_eq!(costs(64), few);
}
