//! Published topologies, read by the driver (cases T04 and T09 to T18).

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::config::Config;
use hansa_kfd::discover::judge;
use hansa_kfd::topology::{self, Topology};
use hansa_plugin_api::sys::System;
use hansa_plugin_api::{Attribute, Driver, ErrorCode, NodeRef, SystemDescription};
use hansa_vkernel::{Errno, GpuSpec, Kernel, Machine, Options, VirtualSystem};
use std::path::Path;
use std::sync::Arc;
use support::{dumps, Rig};

fn machine(name: &str) -> Option<Machine> {
    let directory = dumps()?.join("dumps-runnable").join(name);
    Some(Machine::of_dump(&directory).unwrap())
}

fn open(name: &str, config: &str) -> Option<(SystemDescription, Rig)> {
    let (config, complaints) = Config::parse(config);
    assert!(complaints.is_empty(), "{complaints:?}");
    let rig = Rig::configured(machine(name)?, Options::default(), config);
    rig.driver.open().unwrap();
    let description = rig.driver.describe().unwrap();
    Some((description, rig))
}

fn names(description: &SystemDescription) -> Vec<&str> {
    description.nodes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn t04_three_generations_in_one_machine() {
    let Some((d, rig)) = open("mixed-vega20-navi33-navi23-4node", "") else {
        return;
    };
    assert_eq!(names(&d), ["gfx906", "gfx1102", "gfx1032"]);
    let shapes: Vec<_> = d
        .nodes
        .iter()
        .map(|n| {
            (
                n.compute_units,
                n.wavefront_size,
                n.banks[0].bytes,
                n.unique_id != 0,
            )
        })
        .collect();
    assert_eq!(
        shapes,
        [
            (60, 64, 17_163_091_968, true),
            (28, 32, 8_573_157_376, false),
            (32, 32, 8_573_157_376, false)
        ]
    );
    let weights = |from, to| -> Vec<u32> {
        d.links
            .iter()
            .filter(|l| l.from == from && l.to == to)
            .map(|l| l.weight)
            .collect()
    };
    assert_eq!(weights(NodeRef::own(0), NodeRef::host(0)), [20]);
    assert_eq!(weights(NodeRef::host(0), NodeRef::own(2)), [20]);
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        assert_eq!(weights(NodeRef::own(from), NodeRef::own(to)), [40]);
    }
    // A link and its way back have engines of their own.
    let engines = |from, to| {
        let link = d
            .links
            .iter()
            .find(|l| l.from == NodeRef::own(from) && l.to == NodeRef::own(to));
        link.unwrap().engine_mask
    };
    assert_eq!((engines(0, 1), engines(1, 0)), (0, 3));
    assert_eq!((engines(1, 2), engines(2, 1)), (0, 3));
    let topology = Topology::read(rig.system.as_ref(), Path::new(topology::ROOT)).unwrap();
    assert_eq!(topology.node(0).unwrap().properties.get("cpu_cores_count"), 24);
    rig.assert_no_complaints();
}

#[test]
fn t09_an_override_names_the_kernels_nodes() {
    let text =
        "[environment]\nHSA_OVERRIDE_GFX_VERSION_2 = \"11.0.0\"\nHSA_OVERRIDE_GFX_VERSION_3 = \"10.3.0\"\n";
    let Some((d, _rig)) = open("mixed-vega20-navi33-navi23-4node", text) else {
        return;
    };
    assert_eq!(names(&d), ["gfx906", "gfx1100", "gfx1030"]);
    let both = format!("override_gfx_version = \"9.0.0\"\n{text}");
    let Some((d, _rig)) = open("mixed-vega20-navi33-navi23-4node", &both) else {
        return;
    };
    assert_eq!(names(&d), ["gfx900", "gfx1100", "gfx1030"]);
}

#[test]
fn t11_an_old_kernel_without_versions_and_two_devices_of_one_number() {
    let Some(machine) = machine("vega10-old-kernel-3node") else {
        return;
    };
    let system = VirtualSystem::new(Kernel::new(machine, Options::default(), None).unwrap());
    let topology = Topology::read(system.as_ref(), Path::new(topology::ROOT)).unwrap();
    let units: Vec<u32> = topology
        .nodes
        .iter()
        .filter(|n| n.is_gpu())
        .map(|n| n.properties.get("simd_count") / n.properties.get("simd_per_cu"))
        .collect();
    assert_eq!(units, [64, 64]);
    assert_eq!(
        topology.node(2).unwrap().links[0].to,
        0,
        "the directory says where it starts"
    );
    let (candidates, hidden) = judge(&topology, &Config::default(), 4096);
    assert_eq!(candidates.len(), 1);
    assert_eq!(candidates[0].target.to_string(), "gfx900");
    assert_eq!(hidden.len(), 1);
    assert!(
        hidden[0].contains("gpu_id 13261 is also that of node 1"),
        "{}",
        hidden[0]
    );
    let Some((d, rig)) = open("vega10-old-kernel-3node", "") else {
        return;
    };
    assert_eq!(names(&d), ["gfx900"]);
    assert_eq!(d.nodes[0].attribute(Attribute::XCC_COUNT), Some(1));
    assert!(d.hidden.iter().any(|h| h.contains("gpu_id")));
    rig.assert_no_complaints();
}

#[test]
fn t13_four_accelerators_of_one_bus_number_in_four_domains() {
    let Some((d, _rig)) = open("mi300a-spx-8node", "") else {
        return;
    };
    let places: std::collections::BTreeSet<_> = d.nodes.iter().map(|n| (n.domain, n.location)).collect();
    assert_eq!((d.nodes.len(), places.len()), (4, 4));
    for node in &d.nodes {
        assert_eq!(node.compute_units, 228);
        assert_eq!(node.attribute(Attribute::XCC_COUNT), Some(6));
    }
    assert!(d.links.is_empty(), "directories that are not there are no links");
    let minors: Vec<_> = d
        .nodes
        .iter()
        .map(|n| n.attribute(Attribute::RENDER_MINOR).unwrap())
        .collect();
    assert_eq!(minors, [128, 136, 144, 152]);
}

#[test]
fn t14_thirty_two_partitions() {
    let Some((d, rig)) = open("mi308-34node-partitioned", "") else {
        return;
    };
    assert_eq!(d.nodes.len(), 32, "{:?}", d.hidden);
    let mut sizes = std::collections::BTreeMap::new();
    for node in &d.nodes {
        assert_eq!(node.name.as_str(), "gfx942");
        assert_eq!(node.compute_units, 20);
        *sizes.entry(node.banks[0].bytes).or_insert(0) += 1;
        assert!(node
            .caches
            .iter()
            .all(|cache| cache.line_bytes == 0 && cache.bytes > 0));
        assert!(!node.caches.is_empty());
    }
    assert_eq!(
        sizes.into_iter().collect::<Vec<_>>(),
        [(51_522_830_336, 8), (51_539_607_552, 24)]
    );
    // Two processors and 32 partitions: each reaches each but itself, where the files say so.
    assert!(d
        .links
        .iter()
        .any(|l| l.from == NodeRef::host(0) && l.to == NodeRef::own(0) && l.hops == 1));
    assert!(d
        .links
        .iter()
        .any(|l| l.from == NodeRef::host(0) && l.to == NodeRef::own(16) && l.hops == 2));
    rig.assert_no_complaints();
}

#[test]
fn spare_dumps_open() {
    let Some((d, _rig)) = open("mi100-gpu-at-node0", "") else {
        return;
    };
    assert_eq!(names(&d), ["gfx908"]);
    assert!(d.nodes[0].isas[0].contains("sramecc+"));
    let Some((d, _rig)) = open("gfx1100-of-6gpu-box", "") else {
        return;
    };
    assert_eq!(names(&d), ["gfx1100"]);
    assert_eq!(d.nodes[0].compute_units, 96);
}

#[test]
fn t17_each_refusal_of_the_device_has_its_reason() {
    let rows = [
        (
            Errno::NOMEM,
            ErrorCode::OUT_OF_RESOURCES,
            "no memory for this process",
        ),
        (Errno::FAULT, ErrorCode::FAILED, "refuses this process"),
        (Errno::INVAL, ErrorCode::INVALID_ARGUMENT, "refuses this process"),
        (Errno::ACCESS, ErrorCode::PERMISSION, "group"),
        (Errno::PERM, ErrorCode::PERMISSION, "cgroup"),
        (Errno::NOENT, ErrorCode::NO_DEVICE, "amdgpu is not loaded"),
        (Errno::NXIO, ErrorCode::NO_DEVICE, "no driver is behind it"),
    ];
    for (errno, code, words) in rows {
        let rig = Rig::vega10();
        rig.kernel().faults.always("open /dev/kfd", errno);
        let error = rig.driver.open().unwrap_err();
        assert_eq!((error.code, error.errno), (code, errno.raw_os_error()), "{error}");
        assert_eq!(error.place.as_str(), "/dev/kfd");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(rig.system.open_files(), 0);
    }
}

#[test]
fn t18_a_signal_during_open_is_no_refusal() {
    let rig = Rig::vega10();
    rig.kernel()
        .faults
        .script("open /dev/kfd=4x3;GET_VERSION=4x100;ACQUIRE_VM=11x3")
        .unwrap();
    rig.driver.open().unwrap();
    assert_eq!(rig.kernel().faults.clear(), 0);
    assert_eq!(rig.driver.describe().unwrap().nodes.len(), 1);
}

/// One bad GPU hides one GPU.
#[test]
fn what_is_wrong_with_one_gpu_hides_that_one() {
    let root = Path::new(topology::ROOT).join("nodes/2");
    let rows: [(&str, Errno, &str); 6] = [
        ("open /dev/dri/renderD129", Errno::NOENT, "renderD129"),
        ("open /dev/dri/renderD129", Errno::ACCESS, "renderD129"),
        (
            &format!("read {}", root.join("properties").display()),
            Errno::IO,
            "properties cannot be read",
        ),
        (
            &format!("read {}", root.join("gpu_id").display()),
            Errno::PERM,
            "device cgroup",
        ),
        ("ACQUIRE_VM", Errno::BUSY, "ACQUIRE_VM"),
        ("SET_MEMORY_POLICY", Errno::INVAL, "SET_MEMORY_POLICY"),
    ];
    for (call, errno, words) in rows {
        let machine = Machine::with_gpus(&[GpuSpec::default(), GpuSpec::of_version(100_302)]);
        let rig = Rig::new(machine, Options::default());
        let after = u32::from(!call.contains(' '));
        rig.kernel().faults.add(hansa_vkernel::Rule {
            call: call.into(),
            errno,
            after,
            times: u32::MAX,
        });
        rig.driver.open().unwrap();
        let d = rig.driver.describe().unwrap();
        assert_eq!(names(&d), ["gfx900"], "{call}");
        assert_eq!(d.hidden.len(), 1, "{call}: {:?}", d.hidden);
        assert!(
            d.hidden[0].contains("Node 2") && d.hidden[0].contains(words),
            "{:?}",
            d.hidden
        );
        rig.driver.allocate(&support::request_memory(0, 4096)).unwrap();
    }
}

#[test]
fn without_a_gpu_the_reason_is_told() {
    let rig = Rig::new(Machine::with_gpus(&[]), Options::default());
    let error = rig.driver.open().unwrap_err();
    assert_eq!(error.code, ErrorCode::NO_DEVICE);
    assert!(error.to_string().contains("lists no GPU"), "{error}");
    let rig = Rig::new(
        Machine::with_gpus(&[GpuSpec::of_version(70_001)]),
        Options::default(),
    );
    let error = rig.driver.open().unwrap_err();
    assert!(error.to_string().contains("before gfx8"), "{error}");
}

/// Garbage in every file: no crash, no hang, and what is left is sound.
#[test]
fn garbage_in_any_file_hides_at_most_its_node() {
    let mut seed = 0x1234_5678_u64;
    let mut random = move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let good = Machine::with_gpus(&[GpuSpec::default(), GpuSpec::of_version(110_000)]);
    let files: Vec<_> = good
        .tree
        .files()
        .map(|(path, text)| (path.to_owned(), text.to_vec()))
        .collect();
    for (path, text) in &files {
        for round in 0..12 {
            let mut bytes = text.clone();
            match round {
                0 => bytes.clear(),
                1 => bytes = vec![0xff; 5000],
                2 => bytes = text.repeat(100),
                3 => bytes = b"simd_count 18446744073709551616\nsimd_per_cu 0\n".to_vec(),
                4 => {
                    bytes = String::from_utf8_lossy(text)
                        .replace(|c: char| c.is_ascii_digit(), "9")
                        .into_bytes();
                }
                5 => {
                    bytes = String::from_utf8_lossy(text)
                        .replace(|c: char| c.is_ascii_digit(), "0")
                        .into_bytes();
                }
                _ => {
                    for _ in 0..=random() % 8 {
                        let at = random() % bytes.len().max(1);
                        if let Some(byte) = bytes.get_mut(at) {
                            *byte = random().to_le_bytes()[0];
                        }
                    }
                }
            }
            let mut machine = good.clone();
            machine.tree.put(path.clone(), bytes);
            let rig = Rig::new(machine, Options::default());
            if rig.driver.open().is_ok() {
                let d = rig.driver.describe().unwrap();
                assert!(!d.nodes.is_empty());
                for node in &d.nodes {
                    assert!(
                        node.compute_units > 0 && node.group_bytes > 0,
                        "{path:?} round {round}"
                    );
                }
            }
            rig.driver.close().unwrap();
        }
    }
}

/// A file that cannot be read, one after another.
#[test]
fn an_unreadable_file_is_no_disaster() {
    let good = Machine::with_gpus(&[GpuSpec::default(), GpuSpec::of_version(110_000)]);
    for (path, _) in good.tree.files() {
        let rig = Rig::new(good.clone(), Options::default());
        rig.kernel()
            .faults
            .always(format!("read {}", path.display()), Errno::IO);
        rig.driver.open().unwrap();
        assert!(!rig.driver.describe().unwrap().nodes.is_empty(), "{path:?}");
    }
}

#[test]
fn a_machine_that_never_stands_still_is_an_error_and_no_hang() {
    #[derive(Debug)]
    struct Restless(Arc<VirtualSystem>, std::sync::atomic::AtomicU32);
    impl System for Restless {
        fn open(&self, path: &Path, write: bool) -> Result<hansa_plugin_api::sys::File, Errno> {
            self.0.open(path, write)
        }
        fn close(&self, file: hansa_plugin_api::sys::File) {
            self.0.close(file);
        }
        unsafe fn ioctl(&self, _: hansa_plugin_api::sys::File, _: u32, _: *mut u8) -> Result<i32, Errno> {
            Err(Errno::NOSYS)
        }
        unsafe fn mmap(
            &self,
            _: *mut u8,
            _: usize,
            _: hansa_plugin_api::sys::MapAccess,
            _: Option<hansa_plugin_api::sys::File>,
            _: u64,
        ) -> Result<*mut u8, Errno> {
            Err(Errno::NOSYS)
        }
        unsafe fn munmap(&self, _: *mut u8, _: usize) -> Result<(), Errno> {
            Err(Errno::NOSYS)
        }
        fn poll(&self, _: hansa_plugin_api::sys::File, _: i32) -> Result<bool, Errno> {
            Err(Errno::NOSYS)
        }
        fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
            if path.ends_with("generation_id") {
                let n = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                return Ok(n.to_string().into_bytes());
            }
            self.0.read_file(path)
        }
        fn read_dir(&self, path: &Path) -> Result<Vec<String>, Errno> {
            self.0.read_dir(path)
        }
        fn page_size(&self) -> usize {
            4096
        }
    }
    let inner = VirtualSystem::new(Kernel::new(Machine::vega10(), Options::default(), None).unwrap());
    let system = Restless(inner, std::sync::atomic::AtomicU32::new(0));
    let error = Topology::read(&system, Path::new(topology::ROOT)).unwrap_err();
    assert!(error.to_string().contains("changed 8 times"), "{error}");
}

#[test]
fn what_a_probe_has_just_read_is_not_read_again() {
    let rig = Rig::new(Machine::vega10(), Options::default());
    let system = Arc::clone(&rig.system) as Arc<dyn System>;
    let reads = || {
        let path = Path::new(topology::ROOT).join("nodes/1/properties");
        let counts = rig.kernel().faults.counts();
        counts
            .get(&format!("read {}", path.display()))
            .copied()
            .unwrap_or(0)
    };
    hansa_kfd::discover::probe(&system, &rig.lasting, &Config::default()).unwrap();
    assert_eq!(reads(), 1);
    rig.driver.open().unwrap();
    assert_eq!(reads(), 1);
    rig.driver.close().unwrap();
    rig.driver.open().unwrap();
    assert_eq!(reads(), 2, "the machine may have changed");
}
