//! Machines of all kinds: every processor, ways of every sort, keys that are missing or mean nothing.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::config::Config;
use hansa_kfd::topology::ROOT;
use hansa_plugin_api::{
    AgentCaps, Attribute, BankFlags, BankKind, Driver, LinkDescription, LinkKind, NodeRef, QueueKind,
    SystemDescription,
};
use hansa_vkernel::{GpuSpec, Machine, Options};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use support::{request_memory, ring_bell, within_a_second, QueueMemory, Rig, INACTIVE, WRITE_INDEX};

fn opened(machine: Machine) -> (SystemDescription, Rig) {
    let rig = Rig::new(machine, Options::default());
    rig.driver.open().unwrap();
    let description = rig.driver.describe().unwrap();
    (description, rig)
}

fn node(number: u32) -> PathBuf {
    Path::new(ROOT).join(format!("nodes/{number}"))
}

/// Replaces the value of a key, or takes the line away.
fn edit(machine: &mut Machine, file: &Path, key: &str, value: Option<&str>) {
    let text = String::from_utf8(machine.tree.file(file).unwrap().to_vec()).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| line.split(' ').next() != Some(key))
        .map(str::to_owned)
        .collect();
    lines.extend(value.map(|value| format!("{key} {value}")));
    machine.tree.put(file, lines.join("\n") + "\n");
}

fn link(machine: &mut Machine, from: u32, kind: &str, number: u32, to: u32, fields: &str) {
    let file = node(from).join(format!("{kind}/{number}/properties"));
    machine
        .tree
        .put(file, format!("node_from {from}\nnode_to {to}\n{fields}"));
}

fn of(description: &SystemDescription, from: NodeRef, to: NodeRef) -> Option<LinkDescription> {
    let mut found = description.links.iter().filter(|l| l.from == from && l.to == to);
    let first = found.next().cloned();
    assert!(found.next().is_none(), "one way from {from:?} to {to:?}");
    first
}

fn versions() -> impl Iterator<Item = (u32, String)> {
    hansa_kfd::chip::CHIPS.iter().map(|chip| {
        let t = chip.target;
        let version = u32::from(t.major) * 10_000 + u32::from(t.minor) * 100 + u32::from(t.step);
        (version, t.to_string())
    })
}

#[test]
fn every_processor_has_its_agent_pools_ways_and_queues() {
    for (version, name) in versions() {
        let spec = GpuSpec::of_version(version);
        let (d, rig) = opened(Machine::with_gpus(&[spec; 2]));
        assert_eq!(d.nodes.len(), 2, "{name}: {:?}", d.hidden);
        let gpu = &d.nodes[1];
        assert_eq!(gpu.name, name);
        assert!(gpu.isas[0].starts_with(&format!("amdgcn-amd-amdhsa--{name}")));
        assert_eq!(gpu.compute_units, spec.simds / spec.simds_per_cu);
        assert_eq!(
            (gpu.wavefront_size, gpu.group_bytes),
            (spec.lanes, spec.lds_kib * 1024)
        );
        assert_eq!(gpu.banks.len(), if spec.hive == 0 { 1 } else { 2 }, "{name}");
        assert_eq!(
            (gpu.banks[0].kind, gpu.banks[0].bytes),
            (BankKind::LOCAL, spec.vram)
        );
        for (from, to) in [
            (NodeRef::host(0), NodeRef::own(0)),
            (NodeRef::own(1), NodeRef::host(0)),
        ] {
            assert_eq!(of(&d, from, to).unwrap().weight, 20, "{name}");
        }
        let memory = QueueMemory::new(&rig, &[0, 1]);
        memory
            .slots
            .word(INACTIVE)
            .store(memory.signal.address, Ordering::Relaxed);
        let info = rig
            .driver
            .create_queue(&memory.request(1, 0, QueueKind::AQL))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // A barrier that waits for nothing, and a packet of no kind.
        memory.ring.word(0).store(3, Ordering::Relaxed);
        memory.ring.word(64).store(9, Ordering::Release);
        memory.slots.word(WRITE_INDEX).store(2, Ordering::Release);
        ring_bell(&info, 1);
        within_a_second(&name, || memory.signal.word(8).load(Ordering::Acquire) == 0x20);
        rig.driver.destroy_queue(info.queue).unwrap();
        // Ringing a queue that is gone reaches nobody.
        ring_bell(&info, 2);
        memory.end(&rig);
        rig.assert_no_complaints();
    }
}

/// Packets that wrap around a ring reach old packet processors, which see it twice.
#[test]
fn a_ring_wraps_on_every_generation() {
    for version in [80_003, 90_000, 110_000] {
        let (_, rig) = opened(Machine::with_gpus(&[GpuSpec::of_version(version)]));
        let memory = QueueMemory::new(&rig, &[0]);
        let info = rig
            .driver
            .create_queue(&memory.request(0, 0, QueueKind::AQL))
            .unwrap();
        for index in 0..300 {
            memory.ring.word(index % 64 * 64).store(3, Ordering::Release);
            memory.slots.word(WRITE_INDEX).store(index + 1, Ordering::Release);
            ring_bell(&info, index);
            within_a_second("the packet", || {
                memory.slots.word(128).load(Ordering::Acquire) > index
            });
        }
        rig.driver.destroy_queue(info.queue).unwrap();
        memory.end(&rig);
        rig.assert_no_complaints();
    }
}

#[test]
fn keys_that_an_old_kernel_leaves_out_have_defaults() {
    let good = Machine::with_gpus(&[GpuSpec::default()]);
    let file = node(1).join("properties");
    let (expected, _rig) = opened(good.clone());
    for key in [
        "capability",
        "num_xcc",
        "gfx_target_version",
        "simd_per_cu",
        "simd_arrays_per_engine",
        "wave_front_size",
        "lds_size_in_kb",
        "max_waves_per_simd",
        "name",
    ] {
        let mut machine = good.clone();
        edit(&mut machine, &file, key, None);
        let (d, rig) = opened(machine);
        let facts = |d: &SystemDescription| {
            let n = &d.nodes[0];
            (
                n.name.to_string(),
                (n.compute_units, n.wavefront_size, n.group_bytes),
                (n.waves_per_simd, n.shader_engines),
            )
        };
        assert_eq!(facts(&d), facts(&expected), "without {key}");
        let memory = QueueMemory::new(&rig, &[0]);
        rig.driver
            .create_queue(&memory.request(0, 0, QueueKind::AQL))
            .unwrap_or_else(|error| panic!("without {key}: {error}"));
    }
}

/// Order of lines, unknown keys, spaces and line ends are no matter.
#[test]
fn files_may_be_written_in_any_way() {
    let good = Machine::with_gpus(&[GpuSpec::default()]);
    let (expected, _rig) = opened(good.clone());
    let mut machine = good.clone();
    let files: Vec<PathBuf> = good.tree.files().map(|(path, _)| path.to_owned()).collect();
    for file in files.iter().filter(|file| file.ends_with("properties")) {
        let text = String::from_utf8(good.tree.file(file).unwrap().to_vec()).unwrap();
        let mut lines: Vec<String> = text.lines().map(|line| format!("  {line}\t\r")).collect();
        lines.reverse();
        lines.insert(0, "a_key_of_tomorrow 18446744073709551615".to_owned());
        lines.push("another 0".to_owned());
        machine.tree.put(file, lines.join("\n"));
    }
    machine.tree.put(node(1).join("gpu_id"), "51555");
    machine.tree.put(node(1).join("a_file_of_tomorrow"), "1\n");
    machine.tree.put_directory(&node(1).join("perf"));
    machine
        .tree
        .put_directory(&Path::new(ROOT).join("nodes/not a number"));
    let (d, _rig) = opened(machine);
    assert_eq!(d.hidden.len(), 0, "{:?}", d.hidden);
    let facts = |d: &SystemDescription| {
        let mut nodes = d.nodes.to_vec();
        for node in &mut nodes {
            // Each driver maps the page of registers anew.
            node.attributes
                .retain(|attribute| attribute.key != Attribute::HDP_FLUSH_ADDRESS);
        }
        format!("{nodes:?}")
    };
    assert_eq!(facts(&d), facts(&expected));
    assert_eq!(format!("{:?}", d.links), format!("{:?}", expected.links));
}

const HOST: NodeRef = NodeRef::host(0);

/// A machine whose kernel knows nothing of ways through processors.
fn of_an_old_kernel(specs: &[GpuSpec]) -> Machine {
    let mut machine = Machine::with_gpus(specs);
    for number in (0..).take(specs.len() + 1) {
        edit(
            &mut machine,
            &node(number).join("properties"),
            "p2p_links_count",
            None,
        );
    }
    machine
}

#[test]
fn ways_through_a_processor_follow_from_direct_ones() {
    let (d, _rig) = opened(Machine::with_gpus(&[GpuSpec::default(); 2]));
    assert_eq!(
        of(&d, NodeRef::own(0), NodeRef::own(1)),
        None,
        "the kernel would have said so"
    );
    let (d, _rig) = opened(of_an_old_kernel(&[GpuSpec::default(); 2]));
    let way = of(&d, NodeRef::own(0), NodeRef::own(1)).unwrap();
    assert_eq!((way.weight, way.hops, way.kind), (40, 2, LinkKind::PCIE));
    // What the bus does not show cannot be reached.
    let hidden = GpuSpec {
        visible: false,
        ..GpuSpec::default()
    };
    let (d, _rig) = opened(of_an_old_kernel(&[GpuSpec::default(), hidden]));
    assert_eq!(of(&d, NodeRef::own(0), NodeRef::own(1)), None);
    assert_eq!(of(&d, NodeRef::own(1), NodeRef::own(0)).unwrap().weight, 40);
}

#[test]
fn a_kernel_that_lists_ways_through_processors_is_believed() {
    let mut machine = Machine::with_gpus(&[GpuSpec::default(); 3]);
    link(&mut machine, 1, "p2p_links", 0, 2, "type 2\nweight 72\nflags 1\n");
    let (d, _rig) = opened(machine);
    let way = of(&d, NodeRef::own(0), NodeRef::own(1)).unwrap();
    assert_eq!((way.weight, way.hops), (72, 2));
    assert_eq!(of(&d, NodeRef::own(2), NodeRef::own(1)), None);
}

#[test]
fn linked_devices_have_their_own_way_and_no_other() {
    let linked = GpuSpec {
        hive: 9,
        ..GpuSpec::of_version(90_008)
    };
    let mut machine = Machine::with_gpus(&[linked; 3]);
    link(
        &mut machine,
        1,
        "io_links",
        1,
        2,
        "type 11\nweight 15\nmin_bandwidth 32000\nmax_bandwidth 64000\nrecommended_sdma_engine_id_mask 4\n",
    );
    let (d, _rig) = opened(machine);
    let way = of(&d, NodeRef::own(0), NodeRef::own(1)).unwrap();
    assert_eq!(
        (way.kind, way.weight, way.engine_mask),
        (LinkKind::XGMI, 15, 4),
        "{way:?}"
    );
    assert_eq!((way.min_bandwidth_mbs, way.max_bandwidth_mbs), (32_000, 64_000));
    assert_eq!(of(&d, NodeRef::own(0), NodeRef::own(2)), None);
    assert_eq!(d.nodes[0].banks.len(), 2, "fine-grained for linked devices");
}

#[test]
fn ways_to_nodes_that_are_not_there_lead_nowhere() {
    let mut machine = Machine::with_gpus(&[GpuSpec::default(); 2]);
    link(&mut machine, 1, "io_links", 1, 77, "type 2\nweight 20\n");
    link(
        &mut machine,
        1,
        "io_links",
        2,
        4_294_967_295,
        "type 2\nweight 20\n",
    );
    link(&mut machine, 1, "io_links", 3, 1, "type 2\nweight 1\n");
    // The second way to the same node is longer.
    link(&mut machine, 1, "io_links", 4, 0, "type 2\nweight 90\n");
    machine.tree.put(node(2).join("gpu_id"), "nothing\n");
    let (d, _rig) = opened(machine);
    assert_eq!(d.nodes.len(), 1);
    let ends: Vec<_> = d
        .links
        .iter()
        .map(|link| (link.from, link.to, link.weight))
        .collect();
    assert_eq!(ends, [(NodeRef::own(0), HOST, 20), (HOST, NodeRef::own(0), 20)]);
}

/// Processors on NUMA nodes 0 and 4; nodes 1 to 3 are memory alone, and so is the kernel's node 1.
#[test]
fn nodes_of_memory_alone_are_no_processors() {
    let mut machine = of_an_old_kernel(&[GpuSpec::default()]);
    machine.tree.remove(Path::new("/sys/devices/system/node"));
    for (number, list) in [(0, "0-3\n"), (1, "\n"), (2, ""), (3, "\n"), (4, "4-7\n")] {
        let file = format!("/sys/devices/system/node/node{number}/cpulist");
        machine.tree.put(file, list);
    }
    for (number, cores) in [(5, 0), (9, 4)] {
        machine.tree.put(node(number).join("gpu_id"), "0\n");
        let text = format!("cpu_cores_count {cores}\nsimd_count 0\n");
        machine.tree.put(node(number).join("properties"), text);
    }
    link(&mut machine, 9, "io_links", 0, 0, "type 1\nweight 32\n");
    link(&mut machine, 0, "io_links", 1, 9, "type 1\nweight 32\n");
    let (d, _rig) = opened(machine);
    let far = NodeRef::host(4);
    assert_eq!(of(&d, HOST, far).unwrap().weight, 32);
    assert_eq!(of(&d, far, NodeRef::own(0)).unwrap().weight, 52);
    assert_eq!(of(&d, NodeRef::own(0), far).unwrap().weight, 52);
}

/// A container that shows one NUMA node of two.
#[test]
fn processors_that_the_host_does_not_show_are_those_it_shows() {
    let mut machine = Machine::with_gpus(&[GpuSpec::default()]);
    machine.tree.put(node(2).join("gpu_id"), "0\n");
    machine
        .tree
        .put(node(2).join("properties"), "cpu_cores_count 8\n");
    link(&mut machine, 2, "io_links", 0, 1, "type 2\nweight 20\n");
    machine.tree.remove(&node(0).join("io_links"));
    let (d, _rig) = opened(machine);
    assert_eq!(of(&d, HOST, NodeRef::own(0)).unwrap().weight, 20);
}

#[test]
fn a_great_machine_is_read_in_little_time() {
    let partition = GpuSpec {
        dies: 1,
        simds: 152,
        arrays: 4,
        vram: 1 << 30,
        ..GpuSpec::of_version(90_402)
    };
    let mut machine = Machine::with_gpus(&[partition; 64]);
    for from in 1..=64 {
        for to in (1..=64).filter(|to| *to != from) {
            link(&mut machine, from, "io_links", to, to, "type 11\nweight 15\n");
        }
    }
    let start = std::time::Instant::now();
    let (d, rig) = opened(machine);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert_eq!(d.nodes.len(), 64, "{:?}", d.hidden);
    assert_eq!(d.links.len(), 64 * 63 + 2 * 64);
    rig.driver.allocate(&request_memory(63, 4096)).unwrap();
}

/// Since Linux 6.12 there are more than 64 render nodes, beyond the numbers of old.
#[test]
fn render_nodes_have_large_numbers_on_new_kernels() {
    let mut machine = Machine::with_gpus(&[GpuSpec::default()]);
    edit(
        &mut machine,
        &node(1).join("properties"),
        "drm_render_minor",
        Some("261"),
    );
    let (d, _rig) = opened(Machine::of_tree(machine.tree));
    assert_eq!(d.nodes.len(), 1);
}

/// A processor of tomorrow is left out with a reason that says what helps; under the name of a known one it computes.
#[test]
fn a_processor_that_nobody_knows_needs_another_name() {
    let specs = [GpuSpec::default(), GpuSpec::of_version(130_000)];
    let (d, _rig) = opened(Machine::with_gpus(&specs));
    assert_eq!(d.nodes.len(), 1);
    let reason = d.hidden[0].as_str();
    assert!(
        reason.contains("Node 2")
            && reason.contains("gfx1300")
            && reason.contains("HSA_OVERRIDE_GFX_VERSION"),
        "{reason}"
    );
    let (config, _) = Config::parse("override_gfx_version_2 = \"12.0.1\"\n");
    let rig = Rig::configured(Machine::with_gpus(&specs), Options::default(), config);
    rig.driver.open().unwrap();
    assert_eq!(rig.driver.describe().unwrap().nodes[1].name, "gfx1201");
}

/// The kernel lists such GPUs as if they were cards; only the graphics driver tells.
#[test]
fn a_gpu_of_a_processor_is_known_by_the_graphics_driver() {
    let apu = GpuSpec {
        integrated: true,
        ..GpuSpec::of_version(110_501)
    };
    let (d, _rig) = opened(Machine::with_gpus(&[apu, GpuSpec::default()]));
    let is = |node: usize, caps| d.nodes[node].caps.contains(caps);
    assert!(is(0, AgentCaps::INTEGRATED) && !is(1, AgentCaps::INTEGRATED));
    assert!(!is(0, AgentCaps::FULL_PROFILE));
}

#[test]
fn fine_grained_memory_without_links_is_for_those_who_ask() {
    let of = |text: &str| {
        let rig = Rig::configured(
            Machine::with_gpus(&[GpuSpec::default()]),
            Options::default(),
            Config::parse(text).0,
        );
        rig.driver.open().unwrap();
        let banks = rig.driver.describe().unwrap().nodes[0].banks.clone();
        banks
            .iter()
            .map(|bank| bank.flags.contains(BankFlags::FINE_GRAIN))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(""), [false]);
    assert_eq!(
        of("[environment]\nHSA_FORCE_FINE_GRAIN_PCIE = \"1\"\n"),
        [false, true]
    );
    assert_eq!(of("[environment]\nHSA_FORCE_FINE_GRAIN_PCIE = \"0\"\n"), [false]);
}

/// Each key of a GPU's files, missing or with each value that no kernel should give: the driver opens, what it tells is
/// sound, and the other GPU computes.
#[test]
fn no_value_of_any_key_harms_another_gpu() {
    let good = Machine::with_gpus(&[GpuSpec::of_version(110_000), GpuSpec::default()]);
    let values = [
        None,
        Some("0"),
        Some("1"),
        Some("-1"),
        Some("4294967295"),
        Some("4294967296"),
        Some("18446744073709551615"),
        Some("18446744073709551616"),
        Some("1e10"),
        Some("0x40"),
        Some("vega"),
        Some(""),
    ];
    let mut cells = 0;
    let mut seen_hidden = 0;
    for file in [
        "properties",
        "mem_banks/0/properties",
        "caches/0/properties",
        "io_links/0/properties",
    ] {
        let file = node(1).join(file);
        let text = String::from_utf8(good.tree.file(&file).unwrap().to_vec()).unwrap();
        for key in text.lines().filter_map(|line| line.split(' ').next()) {
            for value in values {
                let mut machine = good.clone();
                edit(&mut machine, &file, key, value);
                let what = format!("{} {key} {value:?}", file.display());
                let (d, rig) = opened(machine);
                let last = d.nodes.len() - 1;
                assert_eq!(d.nodes[last].name, "gfx900", "{what}");
                if last == 0 {
                    seen_hidden += 1;
                    assert!(d.hidden.iter().any(|h| h.contains("Node 1")), "{what}: {d:?}");
                }
                let sound = d.nodes.iter().all(|node| {
                    node.compute_units > 0 && node.group_bytes > 0 && [32, 64].contains(&node.wavefront_size)
                });
                assert!(sound, "{what}: {:?}", d.nodes);
                let last = u32::try_from(last).unwrap();
                rig.driver.allocate(&request_memory(last, 4096)).unwrap();
                cells += 1;
            }
        }
    }
    assert!(cells > 500 && seen_hidden > 50, "{cells} {seen_hidden}");
}
