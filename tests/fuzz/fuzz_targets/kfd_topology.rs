//! The kernel's topology of KFD, as text: files of `/sys/devices/virtual/kfd/kfd/topology`, each after a line
//! `@PATH`, over those of a machine with two GPUs (`@-PATH` takes a file or a folder away).
#![no_main]

use hansa_fuzz::rig::FakeHost;
use hansa_kfd::config::Config;
use hansa_kfd::machine::Lasting;
use hansa_kfd::topology::{Topology, ROOT};
use hansa_kfd::{discover, KfdDriver};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{Driver, HostObject};
use hansa_vkernel::{GpuSpec, Kernel, Machine, Options, VirtualSystem};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::{Arc, OnceLock};

fn base() -> Machine {
    static BASE: OnceLock<Machine> = OnceLock::new();
    BASE.get_or_init(|| Machine::with_gpus(&[GpuSpec::default(), GpuSpec::of_version(90_010)]))
        .clone()
}

fuzz_target!(|data: &[u8]| {
    static HOST: OnceLock<HostObject> = OnceLock::new();
    let host = HOST.get_or_init(|| HostObject::new(FakeHost::leaked("", 1)));
    let mut tree = base().tree;
    let mut files = data.split(|byte| *byte == b'@');
    files.next();
    for file in files.take(200) {
        let end = file.iter().position(|byte| *byte == b'\n').unwrap_or(file.len());
        let (path, contents) = file.split_at(end);
        let path = String::from_utf8_lossy(path);
        let root = Path::new(ROOT);
        match path.strip_prefix('-') {
            Some(path) => tree.remove(&root.join(path.trim_start_matches('/'))),
            None => tree.put(
                root.join(path.trim_start_matches('/')),
                contents.get(1..).unwrap_or_default(),
            ),
        }
    }
    let kernel = Kernel::new(Machine::of_tree(tree), Options::default(), None).expect("a kernel");
    let system: Arc<dyn System> = VirtualSystem::new(kernel);
    let config = Config::default();
    if let Ok(topology) = Topology::read(&*system, Path::new(ROOT)) {
        assert!(topology.is_current(&*system, Path::new(ROOT)) || topology.generation.is_none());
        let _ = discover::judge(&topology, &config, 4096);
    }
    let lasting = Arc::new(Lasting::default());
    let _ = discover::probe(&system, &lasting, &config);
    let driver = KfdDriver::new(system, lasting, host.as_ref(), config);
    if driver.open().is_ok() {
        let description = driver.describe().expect("an open driver describes itself");
        for link in &description.links {
            assert!(link.weight > 0 || link.hops > 0 || link.from != link.to);
        }
        driver.close().expect("an open driver closes");
    }
});
