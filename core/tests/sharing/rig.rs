//! The runtime that the tests of this program share, as an extension sees it.

use super::driver::FakeDriver;
use hansa_core::plugin::BuiltIn;
use hansa_plugin_api as api;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use std::sync::{Mutex, OnceLock};

/// The driver, and an extension that lends its view of the runtime to the tests.
struct Fake;

static SERVICES: Mutex<Option<api::RuntimeServicesRef<'static>>> = Mutex::new(None);

struct Empty;

impl api::Extension for Empty {
    fn tables(&self) -> api::Result<api::RVec<api::ExtensionTable>> {
        Ok(api::RVec::new())
    }

    fn shut_down(&self) -> api::Result<()> {
        Ok(())
    }
}

impl api::Plugin for Fake {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.example.fake",
        kind: Kind::Both,
        version: "1.0.0",
        target: TARGET,
        interface: api::INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy::DEFAULT,
    }
    .checked();

    fn probe(_host: api::HostRef<'_>) -> api::Result<api::ProbeOutcome> {
        Ok(api::ProbeOutcome {
            devices: api::RVec::from(vec!["software:0".into(), "software:1".into()]),
        })
    }

    fn driver(host: api::HostRef<'static>) -> api::Result<api::DriverObject> {
        Ok(api::DriverObject::new(FakeDriver::new(host)))
    }

    fn extension(
        _host: api::HostRef<'static>,
        runtime: api::RuntimeServicesRef<'static>,
    ) -> api::Result<api::ExtensionObject> {
        *SERVICES.lock().unwrap() = Some(runtime);
        Ok(api::ExtensionObject::new(Empty))
    }
}

/// What the tests have in hand.
#[derive(Clone, Copy)]
pub(crate) struct Rig {
    /// Its groups.
    pub(crate) signals: api::SignalServicesRef<'static>,
    pub(crate) queues: api::QueueServicesRef<'static>,
    pub(crate) memory: api::MemoryServicesRef<'static>,
    pub(crate) sharing: api::SharingServicesRef<'static>,
    /// The host's processors.
    pub(crate) cpu: u64,
    /// The devices.
    pub(crate) gpus: [u64; 2],
}

/// Starts a runtime of this process and answers its services.
pub(crate) fn start() -> Rig {
    hansa_core::runtime::init(&[BuiltIn::of::<Fake>()]).unwrap();
    let runtime = SERVICES.lock().unwrap().unwrap();
    let agents = runtime.agents().unwrap();
    let cpu = agents[0];
    let gpus: Vec<u64> = agents
        .into_iter()
        .filter(|&agent| runtime.agent_kind(agent).unwrap() == api::AgentKind::GPU)
        .collect();
    Rig {
        cpu,
        memory: runtime.memory().unwrap(),
        sharing: runtime.sharing().unwrap(),
        queues: runtime.queues().unwrap(),
        gpus: gpus.try_into().unwrap(),
        signals: runtime.signals().unwrap(),
    }
}

/// The runtime that all tests of the process use at once.
pub(crate) fn rig() -> Rig {
    static RIG: OnceLock<Rig> = OnceLock::new();
    *RIG.get_or_init(start)
}

impl Rig {
    /// An allocation from the first pool of an agent.
    pub(crate) fn allocate(&self, agent: u64, bytes: u64) -> u64 {
        let pool = self.memory.pools(agent).unwrap()[0];
        self.memory.pool_allocate(pool, bytes, 0).unwrap()
    }
}

/// Memory of the process, as bytes.
pub(crate) fn bytes(address: u64, count: usize) -> &'static mut [u8] {
    let start = std::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: the test passes memory that it has and that nothing else looks at meanwhile.
    unsafe { std::slice::from_raw_parts_mut(start, count) }
}

/// The `hsa_status_t` of a refusal.
pub(crate) fn status<T: std::fmt::Debug>(result: api::Result<T>) -> u32 {
    let error = result.expect_err("it is refused");
    assert_eq!(error.code, api::ErrorCode::STATUS, "{error}");
    u32::from_ne_bytes(error.errno.to_ne_bytes())
}

/// Statuses, with HSA's numbers.
pub(crate) mod is {
    pub(crate) const INVALID_ARGUMENT: u32 = 0x1001;
    pub(crate) const INVALID_SIGNAL: u32 = 0x1006;
    pub(crate) const INVALID_QUEUE: u32 = 0x1007;
    pub(crate) const ERROR: u32 = 0x1000;
    pub(crate) const NOT_SUPPORTED: u32 = 47;
    pub(crate) const XNACK_DISABLED: u32 = 48;
    pub(crate) const INVALID_MEMORY_POOL: u32 = 40;
    pub(crate) const INVALID_ALLOCATION: u32 = 0x1003;
    pub(crate) const INVALID_AGENT: u32 = 0x1004;
    pub(crate) const RESOURCE_FREE: u32 = 0x100a;
}
