//! Writes the seeds of every target below a folder: what a compiler, a user or a kernel would write.
//!
//! `seeds FOLDER` makes `FOLDER/TARGET/seed-N`. Code objects are compiled when there is a compiler.

use hansa_vkernel::{GpuSpec, Machine};
use rmpv::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("corpus"), PathBuf::from);
    let put = |target: &str, seeds: Vec<Vec<u8>>| -> std::io::Result<()> {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder)?;
        for (index, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{index}")), seed)?;
        }
        Ok(())
    };
    let metadata = metadata();
    let mut objects = code_objects();
    objects.push(hansa_fuzz::elf::with_metadata(&metadata));
    put("code_object", objects)?;
    put("metadata", vec![metadata])?;
    put("config", vec![CONFIG.into(), VARIABLES.into()])?;
    put("manifest", vec![MANIFEST.into()])?;
    let visible = ["0,1", "GPU-4a00000000000001,2", "11.0.0", "0:0-15;1,2:0xff00"];
    put(
        "visible_devices",
        visible.map(|text| text.as_bytes().to_vec()).into(),
    )?;
    put("kfd_topology", vec![topology()])?;
    put("vmem", vec![VMEM.into()])?;
    put("vkernel_ioctl", vec![IOCTL.into()])?;
    put("aql_packet", vec![(0..=255).collect(), vec![0; 64]])
}

/// Compiles the sources of the loader's tests, for several versions.
fn code_objects() -> Vec<Vec<u8>> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/tests/data/loader");
    let mut objects = Vec::new();
    for (source, version) in [("vars.cl", 2), ("vars.cl", 4), ("vars.cl", 5), ("external.cl", 4)] {
        let compiled = Command::new("clang-15")
            .args([
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-target",
                "amdgcn-amd-amdhsa",
                "-nogpulib",
                "-O1",
            ])
            .args([
                "-mcpu=gfx900",
                &format!("-mcode-object-version={version}"),
                "-o",
                "/dev/stdout",
            ])
            .arg(sources.join(source))
            .output();
        match compiled {
            Ok(output) if output.status.success() => objects.push(output.stdout),
            // The other seeds do.
            _ => {
                let _ = writeln!(std::io::stderr(), "seeds: {source} was not compiled");
            }
        }
    }
    objects
}

fn metadata() -> Vec<u8> {
    let map = |pairs: Vec<(&str, Value)>| {
        Value::Map(
            pairs
                .into_iter()
                .map(|(key, value)| (Value::from(key), value))
                .collect(),
        )
    };
    let argument = |kind: &str, offset: u64| {
        map(vec![
            (".name", "out".into()),
            (".type_name", "int*".into()),
            (".size", 8.into()),
            (".offset", offset.into()),
            (".value_kind", kind.into()),
            (".address_space", "global".into()),
            (".access", "read_only".into()),
            (".pointee_align", 4.into()),
            (".is_const", true.into()),
            (".is_restrict", true.into()),
            (".is_volatile", false.into()),
        ])
    };
    let numbers = |all: &[u64]| Value::Array(all.iter().map(|one| (*one).into()).collect());
    let kernel = map(vec![
        (".name", "k".into()),
        (".symbol", "k.kd".into()),
        (".language", "OpenCL C".into()),
        (".language_version", numbers(&[2, 0])),
        (".kind", "normal".into()),
        (
            ".args",
            Value::Array(vec![argument("global_buffer", 0), argument("hidden_none", 8)]),
        ),
        (".reqd_workgroup_size", numbers(&[64, 1, 1])),
        (".kernarg_segment_size", 64.into()),
        (".kernarg_segment_align", 8.into()),
        (".group_segment_fixed_size", 0.into()),
        (".private_segment_fixed_size", 0.into()),
        (".wavefront_size", 64.into()),
        (".sgpr_count", 16.into()),
        (".vgpr_count", 8.into()),
        (".agpr_count", 0.into()),
        (".sgpr_spill_count", 0.into()),
        (".vgpr_spill_count", 0.into()),
        (".max_flat_workgroup_size", 256.into()),
        (".uses_dynamic_stack", false.into()),
    ]);
    let whole = map(vec![
        ("amdhsa.version", numbers(&[1, 1])),
        ("amdhsa.target", "amdgcn-amd-amdhsa--gfx900".into()),
        ("amdhsa.printf", Value::Array(vec!["1:1:4:%d".into()])),
        ("amdhsa.kernels", Value::Array(vec![kernel])),
    ]);
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = rmpv::encode::write_value(&mut bytes, &whole);
    bytes
}

/// Files of a machine's topology, as the target takes them.
fn topology() -> Vec<u8> {
    let machine = Machine::with_gpus(&[GpuSpec::default()]);
    let mut text = Vec::new();
    for (path, contents) in machine.tree.files() {
        if let Ok(path) = path.strip_prefix(hansa_kfd::topology::ROOT) {
            text.extend(format!("@{}\n", path.display()).into_bytes());
            text.extend(contents);
        }
    }
    text.extend(b"@-nodes/1/caches\n");
    text
}

/// Every setting: what a fresh configuration shows.
const CONFIG: &str = r#"[runtime]
queue_size = 4096
[debug]
level = 3
[memory]
guard_pages = true
[plugins]
add = ["/tmp/a.toml"]
enable = ["sim"]
[backend.sim]
devices = 2
isa = "gfx90a"
[backend."org.hansa.kfd"]
x = [1, 2, { y = "z" }]
"#;

const VARIABLES: &str = "[debug]\nlevel = 1\n---\nROCR_VISIBLE_DEVICES=0,1\nHSA_OVERRIDE_GFX_VERSION=9.0.10\n\
HSA_OVERRIDE_GFX_VERSION_1=11.0.0\nHSA_CU_MASK=0:0-15\nHSA_DEBUG_LEVEL=7\nHSA_SCRATCH_MEM=0x100000\n\
HSA_QUEUE_SIZE=1024\nHSA_TOOLS_LIB=a.so b.so\nHSA_ENABLE_SDMA=0\nHSA_XNACK=1\nHANSA_BACKENDS=sim\nHANSA_TRACE=text\n";

const MANIFEST: &str = r#"format = 1
id = "org.example.accel"
kind = "driver"
version = "1.2.3"
library = "libaccel.so"
target = "x86_64-unknown-linux-gnu"
interface = "1.0"

[claims]
always = true
pci = ["1234:*"]
nodes = ["/dev/accel/accel*"]
modules = ["example"]

[policy]
priority = 60
default = "only-if-no-hardware"
software = true
critical = true
conflicts = ["org.example.old*"]
"#;

/// Reserves, makes, maps, lets use, exports, imports, unmaps.
const VMEM: [u8; 44] = [
    0, 6, 0, 3, 1, 0, 1, 0, 0, 6, 0, 2, 0, 3, 0, 3, 6, 7, 0, 3, 6, 1, 0, 0, 3, 9, 0, 3, 0, 10, 1, 0, 11, 0,
    3, 4, 0, 3, 6, 5, 0, 3, 6, 6,
];

/// Opens address spaces, allocates, maps and makes a queue.
const IOCTL: [u8; 64] = [
    16, 0, 0, 0x15, 1, 9, 0, 128, 0, 0, 0, 8, 0, 0x16, 5, 4, 1, 11, 0, 4, 0, 4, 0, 3, 0, 40, 0, 0x18, 3, 5,
    0, 4, 0, 1, 1, 24, 0, 0x08, 4, 0, 0, 0, 0, 32, 0, 0x02, 12, 4, 0, 4, 1, 4, 2, 4, 3, 0, 0, 0, 0, 0, 0, 0,
    0, 88,
];
