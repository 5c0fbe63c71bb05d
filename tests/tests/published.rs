//! Machines whose owners published what AMD's runtime said of them: the kernel's numbers of such a machine, described anew, and
//! the lines of `rocminfo` that have to come out of them, by way of our driver on the virtual kernel.

mod published_machines;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hansa_tests::artifacts::scratch_dir;
use hansa_tests::hsa_client::{program, ready};
use hansa_tests::side::Side;
use published_machines::{machines, Gpu, Published};

/// Writes a machine as a copy of its topology; answers where.
fn described(machine: &Published) -> PathBuf {
    let root = scratch_dir("published").join(format!("{}-{}", machine.what, std::process::id()));
    let put = |path: String, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("It is below the root")).expect("There is room");
        std::fs::write(path, text).expect("There is room");
    };
    put("generation_id".into(), "2\n");
    put("system_properties".into(), "platform_oem 0\n");
    put(
        "host/proc/cpuinfo".into(),
        &format!(
            "processor\t: 0\nmodel name\t: {}\ncpu MHz\t\t: 2000.0\n",
            machine.processor
        ),
    );
    for host in 0..machine.hosts {
        let numa = format!("host/sys/devices/system/node/node{host}");
        put(format!("{numa}/cpulist"), &format!("{host}\n"));
        put(
            format!("{numa}/meminfo"),
            &format!("Node {host} MemTotal: 1048576 kB\n"),
        );
        put(format!("nodes/{host}/gpu_id"), "0\n");
        put(format!("nodes/{host}/name"), "\n");
        put(
            format!("nodes/{host}/properties"),
            "cpu_cores_count 1\nsimd_count 0\nmem_banks_count 1\nmax_engine_clk_ccompute 2000\n",
        );
        for (number, to) in (0..machine.hosts).filter(|to| *to != host).enumerate() {
            put(
                format!("nodes/{host}/io_links/{number}/properties"),
                &format!("type 1\nnode_from {host}\nnode_to {to}\nweight 32\n"),
            );
        }
    }
    for index in 0..machine.gpus {
        let node = machine.hosts + index;
        put(format!("nodes/{node}/gpu_id"), &format!("{}\n", 4000 + index));
        put(format!("nodes/{node}/name"), "ip discovery\n");
        put(
            format!("nodes/{node}/properties"),
            &properties(&machine.gpu, index),
        );
        put(
            format!("nodes/{node}/device"),
            &format!(
                "pci_rev {}\nids_flags {}\n",
                machine.gpu.revision,
                u32::from(machine.gpu.fusion)
            ),
        );
        put(
            format!("nodes/{node}/mem_banks/0/properties"),
            &format!(
                "heap_type 1\nsize_in_bytes {}\nflags 0\nwidth 128\nmem_clk_max 1000\n",
                machine.gpu.memory
            ),
        );
        // Each cache stands there twice, as for two units of the same kind.
        let caches = machine.gpu.caches.iter().flat_map(|cache| [cache; 2]);
        for (number, (level, kib, line, kind)) in caches.enumerate() {
            put(
                format!("nodes/{node}/caches/{number}/properties"),
                &format!("processor_id_low 2147487744\nlevel {level}\nsize {kib}\ncache_line_size {line}\ntype {kind}\n"),
            );
        }
        let near = near(machine, index);
        let kind = if machine.gpu.hive == 0 { 2 } else { 11 };
        put(
            format!("nodes/{node}/io_links/0/properties"),
            &format!("type {kind}\nnode_from {node}\nnode_to {near}\nweight 13\n"),
        );
        put(
            format!("nodes/{near}/io_links/{}/properties", machine.hosts + index),
            &format!("type {kind}\nnode_from {near}\nnode_to {node}\nweight 13\n"),
        );
    }
    root
}

/// The node of the host that a GPU is near.
const fn near(machine: &Published, gpu: u32) -> u32 {
    gpu * machine.hosts / machine.gpus
}

fn properties(gpu: &Gpu, index: u32) -> String {
    let mut pairs: Vec<(&str, u64)> = vec![
        ("cpu_cores_count", 0),
        ("simd_count", gpu.simds.into()),
        ("max_waves_per_simd", gpu.waves.into()),
        ("lds_size_in_kb", 64),
        ("num_gws", 64),
        ("wave_front_size", gpu.lanes.into()),
        ("array_count", gpu.arrays.into()),
        ("simd_arrays_per_engine", gpu.per_engine.into()),
        ("simd_per_cu", gpu.simds_per_cu.into()),
        ("vendor_id", 4098),
        ("device_id", gpu.device.into()),
        ("location_id", u64::from(gpu.location + index)),
        ("drm_render_minor", u64::from(128 + index)),
        ("max_engine_clk_fcompute", gpu.clock.into()),
        ("num_sdma_engines", 2),
        ("capability", gpu.capability.into()),
        ("unique_id", gpu.unique),
        ("num_cp_queues", 24),
    ];
    if gpu.version != 0 {
        pairs.extend([
            ("gfx_target_version", u64::from(gpu.version)),
            ("hive_id", gpu.hive),
            ("num_xcc", gpu.dies.into()),
        ]);
    }
    pairs.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name} {value}");
        text
    })
}

/// What the client says of a machine, by name.
fn description(machine: &Path) -> BTreeMap<String, String> {
    let mut command = Side::Kfd.command("gfx900", &program("describe"));
    let output = command
        .env("VKERNEL_MACHINE", machine)
        .output()
        .expect("timeout is a part of every system");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}: {text}{complaints}",
        machine.display()
    );
    text.lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Numbers of four bytes each, as the client prints bytes.
fn words(values: &[u32]) -> String {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What has to be said of a GPU, by the end of the attribute's name.
fn expected(machine: &Published, index: u32) -> Vec<(String, String)> {
    let (gpu, said) = (&machine.gpu, &machine.said);
    let text = |value: &str| format!("{value:?}");
    let [one, two, three] = said.caches.map(|kib| kib * 1024);
    let mut rows: Vec<(String, String)> = [
        ("NAME", text(said.name)),
        ("isa 0.NAME", text(said.isa)),
        ("VENDOR_NAME", text("AMD")),
        ("PROFILE", "0".to_owned()),
        ("FAST_F16_OPERATION", "1".to_owned()),
        ("WAVEFRONT_SIZE", gpu.lanes.to_string()),
        ("WORKGROUP_MAX_SIZE", "1024".to_owned()),
        ("QUEUES_MAX", "128".to_owned()),
        ("QUEUE_MIN_SIZE", "64".to_owned()),
        ("QUEUE_MAX_SIZE", "131072".to_owned()),
        ("NODE", (machine.hosts + index).to_string()),
        ("CACHE_SIZE", words(&[one, two, three, 0])),
        ("AMD_CHIP_ID", gpu.device.to_string()),
        ("AMD_CACHELINE_SIZE", said.line.to_string()),
        ("AMD_COMPUTE_UNIT_COUNT", said.units.to_string()),
        ("AMD_MAX_CLOCK_FREQUENCY", gpu.clock.to_string()),
        ("AMD_DRIVER_NODE_ID", (machine.hosts + index).to_string()),
        ("AMD_MAX_ADDRESS_WATCH_POINTS", "4".to_owned()),
        ("AMD_BDFID", (gpu.location + index).to_string()),
        ("AMD_MAX_WAVES_PER_CU", said.waves_per_cu.to_string()),
        ("AMD_NUM_SIMDS_PER_CU", gpu.simds_per_cu.to_string()),
        ("AMD_NUM_SHADER_ENGINES", said.engines.to_string()),
        ("AMD_NUM_SHADER_ARRAYS_PER_SE", gpu.per_engine.to_string()),
        ("AMD_UUID", text(said.uuid)),
        ("AMD_ASIC_REVISION", said.asic_revision.to_string()),
        ("AMD_SVM_DIRECT_HOST_ACCESS", u32::from(said.coherent).to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    rows.extend(
        said.product
            .map(|product| ("AMD_PRODUCT_NAME".to_owned(), text(product))),
    );
    // Coarse-grained memory, fine-grained where devices are linked, and that of groups.
    for (pool, flags) in [4, 2].into_iter().take(said.pool.1).enumerate() {
        rows.push((format!("pool {pool}.SEGMENT"), "0".to_owned()));
        rows.push((format!("pool {pool}.GLOBAL_FLAGS"), flags.to_string()));
        rows.push((format!("pool {pool}.SIZE"), (said.pool.0 << 10).to_string()));
        rows.push((format!("pool {pool}.ACCESSIBLE_BY_ALL"), "0".to_owned()));
    }
    let groups = said.pool.1;
    rows.push((format!("pool {groups}.SEGMENT"), "3".to_owned()));
    rows.push((format!("pool {groups}.SIZE"), (64 << 10).to_string()));
    // The processor that it is near reaches it in one step.
    let near = near(machine, index);
    let link = format!("pool 0.from {near}.link 0");
    rows.push((
        format!("{link}.type"),
        if gpu.hive == 0 { "2" } else { "4" }.to_owned(),
    ));
    rows.push((format!("{link}.numa_distance"), "13".to_owned()));
    rows
}

#[test]
fn published_machines_are_what_their_owners_saw() {
    if !ready() {
        return;
    }
    let mut wrong = String::new();
    for machine in machines() {
        let directory = described(&machine);
        let seen = description(&directory);
        let agents = seen.keys().filter(|name| name.ends_with(".DEVICE")).count();
        assert_eq!(
            agents,
            (machine.hosts + machine.gpus) as usize,
            "{}",
            machine.what
        );
        for host in 0..machine.hosts {
            let name = seen.get(&format!("agent {host}.NAME"));
            assert_eq!(
                name,
                Some(&format!("{:?}", machine.processor)),
                "{}",
                machine.what
            );
        }
        for index in 0..machine.gpus {
            for (name, value) in expected(&machine, index) {
                let name = format!("agent {}.{name}", machine.hosts + index);
                if seen.get(&name) != Some(&value) {
                    let _ = writeln!(
                        wrong,
                        "{}: {name} = {:?}, not {value}",
                        machine.what,
                        seen.get(&name)
                    );
                }
            }
        }
        // Nothing depends on it.
        let _ = std::fs::remove_dir_all(directory);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
