//! Sequences of calls on virtual memory with good, stale and foreign handles, against a model of what is where.
#![no_main]

use hansa_core::plugin::BuiltIn;
use hansa_fuzz::Choices;
use hansa_plugin_api as api;
use hansa_plugin_api::manifest::{Claims, Kind, PluginFacts, Policy, TARGET};
use hansa_sim::SimPlugin;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// An extension that lends its view of the runtime to the fuzzer.
struct Lender;

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

impl api::Plugin for Lender {
    const FACTS: PluginFacts = PluginFacts {
        id: "org.example.lender",
        kind: Kind::Extension,
        version: "1.0.0",
        target: TARGET,
        interface: api::INTERFACE,
        claims: Claims::ALWAYS,
        policy: Policy::DEFAULT,
    }
    .checked();

    fn probe(_host: api::HostRef<'_>) -> api::Result<api::ProbeOutcome> {
        Ok(api::ProbeOutcome {
            devices: api::RVec::new(),
        })
    }

    fn extension(
        _host: api::HostRef<'static>,
        runtime: api::RuntimeServicesRef<'static>,
    ) -> api::Result<api::ExtensionObject> {
        *SERVICES.lock().expect("no panic while locked") = Some(runtime);
        Ok(api::ExtensionObject::new(Empty))
    }
}

struct Bench {
    sharing: api::SharingServicesRef<'static>,
    memory: api::MemoryServicesRef<'static>,
    agents: Vec<u64>,
    pools: Vec<u64>,
    foreign: Vec<i32>,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        hansa_core::runtime::init(&[BuiltIn::of::<SimPlugin>(), BuiltIn::of::<Lender>()]).expect("it starts");
        let runtime = SERVICES
            .lock()
            .expect("no panic")
            .expect("the extension was made");
        let memory = runtime.memory().expect("memory");
        let agents = runtime.agents().expect("agents").to_vec();
        let pools = agents
            .iter()
            .flat_map(|agent| memory.pools(*agent).expect("pools").to_vec())
            .collect();
        // SAFETY: the name is a string.
        let unsealed = unsafe { libc::memfd_create(c"foreign".as_ptr(), libc::MFD_ALLOW_SEALING) };
        // SAFETY: takes two numbers.
        let event = unsafe { libc::eventfd(0, 0) };
        Bench {
            sharing: runtime.sharing().expect("sharing"),
            foreign: vec![-1, 0, unsealed, event, i32::MAX],
            memory,
            agents,
            pools,
        }
    })
}

const PAGE: u64 = 4096;
const MOST_CALLS: u32 = 48;

/// What the fuzzer believes.
#[derive(Default)]
struct Model {
    /// Reserved ranges with their sizes.
    reserved: BTreeMap<u64, u64>,
    /// Mapped ranges.
    mapped: BTreeMap<u64, Mapping>,
    /// References to memory without an address, and its size.
    references: BTreeMap<u64, (u32, u64)>,
    /// Descriptors of memory, and its size.
    files: Vec<(i32, u64)>,
    /// Everything that ever was, good or stale.
    addresses: Vec<u64>,
    memories: Vec<u64>,
}

/// What is at an address.
struct Mapping {
    bytes: u64,
    /// Bytes of the memory, which may be more.
    whole: u64,
    access: BTreeMap<u64, u32>,
}

impl Model {
    fn address(&self, choices: &mut Choices<'_>) -> u64 {
        let base = choices.of(&self.addresses).unwrap_or(0);
        match choices.u8() % 8 {
            0 => choices.u64(),
            1 => base + u64::from(choices.u8() % 8) * PAGE,
            2 => base + u64::from(choices.u8()),
            _ => base,
        }
    }

    fn memory(&self, choices: &mut Choices<'_>) -> u64 {
        let memory = choices.of(&self.memories).unwrap_or(0);
        match choices.u8() % 8 {
            0 => choices.u64(),
            1 => memory ^ 1 << (choices.u8() % 64),
            2 => choices.of(&self.addresses).unwrap_or(0),
            _ => memory,
        }
    }

    /// A size: the one that fits, most of the time.
    fn bytes(&self, choices: &mut Choices<'_>, fitting: Option<u64>) -> u64 {
        match choices.u8() % 16 {
            0 => choices.u64(),
            1 => u64::from(choices.u32()),
            2 => 0,
            small if small < 6 || fitting.is_none() => u64::from(small % 4 + 1) * PAGE,
            _ => fitting.unwrap_or(0),
        }
    }

    fn add(&mut self, memory: u64, bytes: u64) {
        let entry = self.references.entry(memory).or_insert((0, bytes));
        assert_eq!(entry.1, bytes, "one memory has one size");
        entry.0 += 1;
        self.memories.push(memory);
    }

    /// Whether a range lies in one reservation and is free there.
    fn is_free(&self, address: u64, bytes: u64) -> bool {
        let Some(end) = address.checked_add(bytes) else {
            return false;
        };
        let inside = |(start, size): (&u64, &u64)| end <= start + size;
        self.reserved.range(..=address).next_back().is_some_and(inside)
            && !self
                .mapped
                .iter()
                .any(|(start, mapping)| *start < end && address < start + mapping.bytes)
    }

    /// The mappings that a range consists of, if it does and they are in one reservation.
    fn parts(&self, address: u64, bytes: u64) -> Option<Vec<u64>> {
        let (start, size) = self.reserved.range(..=address).next_back()?;
        let (mut parts, mut next) = (Vec::new(), address);
        while next - address < bytes && next < start + size {
            parts.push(next);
            next += self.mapped.get(&next)?.bytes;
        }
        (next - address == bytes && !parts.is_empty()).then_some(parts)
    }

    fn call(&mut self, bench: &Bench, choices: &mut Choices<'_>) {
        let sharing = bench.sharing;
        match choices.u8() % 13 {
            0 => {
                let (bytes, wish) = (self.bytes(choices, Some(8 * PAGE)), self.address(choices));
                let alignment = if choices.u8() % 4 == 0 {
                    1 << (choices.u8() % 64)
                } else {
                    0
                };
                if let Ok(address) = sharing.vmem_reserve(bytes, wish, alignment, choices.u8().into()) {
                    assert!(alignment == 0 || address % alignment == 0);
                    assert!(!self.reserved.contains_key(&address), "reserved twice");
                    self.reserved.insert(address, bytes);
                    self.addresses.push(address);
                }
            }
            1 => {
                let pool = choices.of(&bench.pools).unwrap_or(0) ^ u64::from(choices.u8() % 16 == 15);
                let bytes = self.bytes(choices, Some(2 * PAGE));
                if let Ok(memory) = sharing.vmem_create(pool, bytes, u32::from(choices.u8() % 4), 0) {
                    assert!(
                        !self.references.contains_key(&memory),
                        "the handle of something that lives"
                    );
                    self.add(memory, bytes);
                }
            }
            2 | 3 => {
                let (memory, address) = (self.memory(choices), self.address(choices));
                let whole = self.references.get(&memory).map(|(_, whole)| *whole);
                let bytes = self.bytes(choices, whole);
                let pages = bytes != 0 && bytes % PAGE == 0 && address % PAGE == 0;
                let may = pages && whole.is_some_and(|whole| bytes <= whole) && self.is_free(address, bytes);
                let mapped = sharing.vmem_map(address, bytes, memory);
                assert_eq!(
                    mapped.is_ok(),
                    may,
                    "{bytes} of {memory:#x} at {address:#x}: {mapped:?}"
                );
                if may {
                    let mapping = Mapping {
                        bytes,
                        whole: whole.unwrap_or(0),
                        access: BTreeMap::new(),
                    };
                    self.mapped.insert(address, mapping);
                    self.addresses.push(address);
                }
            }
            4 => {
                let address = self.address(choices);
                let bytes = self.bytes(choices, self.mapped.get(&address).map(|mapping| mapping.bytes));
                let parts = self.parts(address, bytes);
                let unmapped = sharing.vmem_unmap(address, bytes);
                assert_eq!(
                    unmapped.is_ok(),
                    parts.is_some(),
                    "{bytes} at {address:#x}: {unmapped:?}"
                );
                for part in parts.into_iter().flatten() {
                    self.mapped.remove(&part);
                }
            }
            5 => {
                let address = self.address(choices);
                let bytes = self.bytes(choices, self.reserved.get(&address).copied());
                let end = address.saturating_add(bytes);
                let fits = self.reserved.get(&address) == Some(&bytes);
                let may = fits && self.mapped.range(address..end).next().is_none();
                let released = sharing.vmem_release(address, bytes);
                assert_eq!(released.is_ok(), may, "{bytes} at {address:#x}: {released:?}");
                if may {
                    self.reserved.remove(&address);
                }
            }
            6 => {
                let memory = self.memory(choices);
                let has = self.references.contains_key(&memory);
                assert_eq!(sharing.vmem_destroy(memory).is_ok(), has, "{memory:#x}");
                if let Some(entry) = self.references.get_mut(&memory) {
                    entry.0 -= 1;
                    if entry.0 == 0 {
                        self.references.remove(&memory);
                    }
                }
            }
            7 | 8 => self.access(bench, choices),
            9 => {
                let memory = self.memory(choices);
                if let Ok(file) = sharing.vmem_export(memory, u64::from(choices.u8() % 2)) {
                    let known = self.references.get(&memory);
                    let (_, bytes) = known.expect("what is exported is no stale handle");
                    self.files.push((file, *bytes));
                }
            }
            10 => {
                let foreign = choices.u8() % 4 == 0;
                if foreign {
                    let file = choices.of(&bench.foreign).unwrap_or(-1);
                    assert!(sharing.vmem_import(file).is_err(), "{file} is no memory");
                } else if let Some((file, bytes)) = choices.of(&self.files) {
                    let memory = sharing.vmem_import(file).expect("an exported memory comes back");
                    self.add(memory, bytes);
                }
            }
            11 => {
                let address = self.address(choices);
                let around = self.mapped.range(..=address).next_back();
                let around = around.filter(|(at, mapping)| address - **at < mapping.bytes);
                let whole = around.map(|(_, mapping)| mapping.whole);
                let retained = sharing.vmem_retain(address);
                assert_eq!(retained.is_ok(), whole.is_some(), "{address:#x}");
                if let (Ok(memory), Some(whole)) = (retained, whole) {
                    self.add(memory, whole);
                }
            }
            _ => {
                let memory = self.memory(choices);
                let has = self.references.contains_key(&memory);
                assert_eq!(sharing.vmem_properties(memory).is_ok(), has, "{memory:#x}");
                let address = self.address(choices);
                let info = bench.memory.pointer_info(address, choices.u8() % 2 == 0);
                let info = info.expect("foreign memory is no error");
                if let Some(mapping) = self.mapped.get(&address) {
                    assert_eq!((info.agent_base, info.bytes), (address, mapping.bytes));
                }
            }
        }
    }

    fn access(&mut self, bench: &Bench, choices: &mut Choices<'_>) {
        let address = self.address(choices);
        let bytes = self.bytes(choices, self.mapped.get(&address).map(|mapping| mapping.bytes));
        let mut changes = Vec::new();
        for _ in 0..choices.u8() % 4 {
            changes.push(api::VmemAccess {
                agent: choices.of(&bench.agents).unwrap_or(0) ^ u64::from(choices.u8() % 16 == 15),
                permission: u32::from(choices.u8() % 5),
                reserved: 0,
            });
        }
        let parts = self.parts(address, bytes);
        let list = api::RSlice::from_slice(&changes);
        if bench.sharing.vmem_set_access(address, bytes, list).is_err() {
            return;
        }
        for part in parts.expect("access is set of whole mappings") {
            let mapping = self.mapped.get_mut(&part).expect("the part is mapped");
            mapping
                .access
                .extend(changes.iter().map(|change| (change.agent, change.permission)));
            for (agent, permission) in &mapping.access {
                let told = bench.sharing.vmem_access(part, *agent);
                assert_eq!(told.as_ref().ok(), Some(permission));
            }
            if mapping.access.values().any(|permission| permission & 2 != 0) {
                let last = std::ptr::with_exposed_provenance_mut::<u8>((part + mapping.bytes - 1) as usize);
                // SAFETY: the range is mapped, and somebody may write.
                unsafe { last.write_volatile(7) };
            }
        }
    }

    /// Gives everything back, which must go well.
    fn end(self, bench: &Bench) {
        for (address, mapping) in &self.mapped {
            bench
                .sharing
                .vmem_unmap(*address, mapping.bytes)
                .expect("it is mapped");
        }
        for (address, bytes) in &self.reserved {
            bench
                .sharing
                .vmem_release(*address, *bytes)
                .expect("it is reserved");
        }
        for (memory, (count, _)) in &self.references {
            for _ in 0..*count {
                bench.sharing.vmem_destroy(*memory).expect("it is held");
            }
            assert!(bench.sharing.vmem_destroy(*memory).is_err(), "it is gone");
        }
        for (file, _) in &self.files {
            // SAFETY: the descriptor was given to the program.
            unsafe { libc::close(*file) };
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let bench = bench();
    let mut choices = Choices(data);
    let mut model = Model::default();
    for _ in 0..MOST_CALLS {
        if choices.is_over() {
            break;
        }
        model.call(bench, &mut choices);
    }
    model.end(bench);
});
