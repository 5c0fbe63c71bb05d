//! Kernels for tests: compiled from OpenCL C by the installed clang, loaded into device memory.

use super::{HostMemory, Rig};
use hansa_plugin_api::{AllocFlags, AllocRequest, Allocation, CopyRequest};
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::LittleEndian;
use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILER: &str = "clang-15";
const DEVICE_LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// A code object in the memory of a device.
#[derive(Debug)]
pub struct Module {
    pub memory: Allocation,
    kernels: HashMap<String, u64>,
}

impl Module {
    /// Compiles a source file of `tests/kernels` for a processor and loads it.
    pub fn load(rig: &Rig, node: u32, source: &str, processor: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/kernels")
            .join(source);
        let image = std::fs::read(compile(&path, processor)).expect("the compiler wrote its output");
        let header = FileHeader64::<LittleEndian>::parse(&*image).expect("the output is ELF");
        let segments: Vec<_> = header
            .program_headers(LittleEndian, &*image)
            .expect("the output has segments")
            .iter()
            .filter(|segment| segment.p_type(LittleEndian) == elf::PT_LOAD)
            .collect();
        let bytes = segments
            .iter()
            .map(|segment| segment.p_vaddr(LittleEndian) + segment.p_memsz(LittleEndian))
            .max()
            .expect("the output has something to load");
        let memory = rig
            .driver
            .allocate(&AllocRequest {
                flags: AllocFlags::EXECUTABLE,
                ..super::alloc_request(node, bytes)
            })
            .expect("there is memory for the code");
        for segment in segments {
            let data = segment
                .data(LittleEndian, &*image)
                .expect("a segment lies in the file");
            let to = memory.device_address + segment.p_vaddr(LittleEndian);
            let from = data.as_ptr().expose_provenance() as u64;
            rig.driver
                .copy(&CopyRequest::linear(node, to, from, data.len() as u64))
                .expect("code is copied");
        }
        let sections = header
            .sections(LittleEndian, &*image)
            .expect("the output has sections");
        let symbols = sections
            .symbols(LittleEndian, &*image, elf::SHT_DYNSYM)
            .expect("the output has symbols");
        let kernels = symbols
            .iter()
            .filter_map(|symbol| {
                let name = symbol.name(LittleEndian, symbols.strings()).ok()?;
                let name = std::str::from_utf8(name).ok()?.strip_suffix(".kd")?;
                Some((
                    name.to_owned(),
                    memory.device_address + symbol.st_value(LittleEndian),
                ))
            })
            .collect();
        Self { memory, kernels }
    }

    /// The module of `device.cl` for the default device.
    pub fn device(rig: &Rig) -> Self {
        Self::load(rig, 0, "device.cl", "gfx900")
    }

    /// The kernel object of a kernel.
    pub fn kernel(&self, name: &str) -> u64 {
        *self
            .kernels
            .get(name)
            .unwrap_or_else(|| panic!("no kernel {name} in {:?}", self.kernels.keys()))
    }
}

/// Arguments of a kernel: 64-bit words, in host memory that devices see.
pub fn arguments(rig: &Rig, words: &[u64]) -> HostMemory {
    let memory = rig.host_memory(4096);
    for (index, word) in words.iter().enumerate() {
        memory
            .word(index)
            .store(*word, std::sync::atomic::Ordering::Release);
    }
    memory
}

/// Compiles a source file unless that was done before; answers where the code object is.
fn compile(source: &Path, processor: &str) -> PathBuf {
    let text = std::fs::read_to_string(source).expect("the source is there");
    let mut hasher = DefaultHasher::new();
    (&text, processor).hash(&mut hasher);
    let name = format!("kernels-{processor}-{:016x}.co", hasher.finish());
    // Set for tests, and not for examples.
    let directory = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let output = directory.join(name);
    if output.exists() {
        return output;
    }
    // Tests run at the same time: each compiles to a file of its own, and the last rename wins.
    let own = output.with_extension(format!("{:?}", std::thread::current().id()));
    let result = Command::new(COMPILER)
        .args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-O2"])
        .arg(format!("-mcpu={processor}"))
        .arg(format!("--rocm-device-lib-path={DEVICE_LIBRARIES}"))
        .arg("-o")
        .arg(&own)
        .arg(source)
        .output()
        .unwrap_or_else(|error| panic!("{COMPILER} does not run: {error}"));
    assert!(
        result.status.success(),
        "{COMPILER} failed: {}",
        String::from_utf8_lossy(&result.stderr)
    );
    std::fs::rename(&own, &output).expect("the output can be renamed");
    output
}
