//! Runs OpenCL kernels on the engine without a runtime: compiles with clang, loads the code object,
//! and calls `run_group` for every work-group.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "Every test binary uses its own part of this; the host has 64 bits"
)]

pub mod image;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use hansa_sim::exec::{
    install_fault_handler, resume_group, run_group, Access, AddressSpace, Apertures, Arena, Clock, CodeCache,
    Dispatch, Fault, GroupOutcome, Host, KernelDescriptor, Level, Scratch,
};
use hansa_sim::isa::Target;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};

/// How to compile.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    pub target: Target,
    pub optimise: &'static str,
    /// Whether the device libraries are linked in.
    pub libraries: bool,
    /// Whether division and square root are IEEE's and nothing is contracted.
    pub exact: bool,
}

impl Build {
    pub fn new(target: Target, optimise: &'static str) -> Self {
        Self {
            target,
            optimise,
            libraries: true,
            exact: false,
        }
    }

    /// gfx900 and gfx90a, unoptimised and optimised.
    pub fn usual() -> Vec<Self> {
        [Target::Gfx900, Target::Gfx90a]
            .into_iter()
            .flat_map(|target| ["-O0", "-O3"].map(|optimise| Self::new(target, optimise)))
            .collect()
    }

    pub fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    pub fn with_libraries(self) -> Self {
        Self {
            libraries: true,
            ..self
        }
    }
}

/// Compiles OpenCL C to a code object. `None`, with a word on stderr, where there is no clang 15.
pub fn compile(source: &str, build: Build) -> Option<Vec<u8>> {
    static COUNT: OnceLock<Mutex<u32>> = OnceLock::new();
    let number = {
        let mut count = COUNT.get_or_init(|| Mutex::new(0)).lock().expect("counter");
        *count += 1;
        *count
    };
    let stem = PathBuf::from(option_env!("CARGO_TARGET_TMPDIR").unwrap_or("/tmp"))
        .join(format!("exec-{}-{number}", std::process::id()));
    let (input, output) = (stem.with_extension("cl"), stem.with_extension("co"));
    std::fs::write(&input, source).expect("source file");
    let mut command = Command::new("clang-15");
    command
        .args(["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-w"])
        .arg(format!("-mcpu={}", build.target))
        .arg(build.optimise)
        .args(["-Xclang", "-finclude-default-header"]);
    if build.exact {
        command.args(["-ffp-contract=off", "-cl-fp32-correctly-rounded-divide-sqrt"]);
    }
    if build.libraries {
        let bitcode = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";
        command.arg(format!("--rocm-device-lib-path={bitcode}"));
    } else {
        command.arg("-nogpulib");
    }
    let result = match command.arg(&input).arg("-o").arg(&output).output() {
        Ok(result) => result,
        Err(error) => {
            skipped("clang-15", &error);
            return None;
        }
    };
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    let object = std::fs::read(&output).expect("code object");
    for file in [input, output] {
        drop(std::fs::remove_file(file));
    }
    Some(object)
}

/// Says that a tool is missing, which in CI is a failure.
fn skipped(tool: &str, error: &std::io::Error) {
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "{tool} cannot be run and CI must have it: {error}");
    eprintln!("skipped: {tool} cannot be run: {error}");
}

/// Assembles text with LLVM. `None`, with a word on stderr, where there is no llvm-mc 15 outside CI.
pub fn assemble(text: &str, target: Target) -> Option<Vec<u32>> {
    let mut child = match Command::new("llvm-mc-15")
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=asm", "-show-encoding"])
        .arg(format!("-mcpu={target}"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
    {
        Ok(child) => child,
        Err(error) => {
            skipped("llvm-mc-15", &error);
            return None;
        }
    };
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), text.as_bytes())
        .expect("assembly text");
    let output = child.wait_with_output().expect("llvm-mc");
    assert!(output.status.success(), "{text}");
    let listing = String::from_utf8(output.stdout).expect("UTF-8");
    let mut words = Vec::new();
    for line in listing.lines() {
        let Some((_, rest)) = line.split_once("encoding: [") else {
            continue;
        };
        let bytes: Vec<u8> = rest
            .trim_end_matches(']')
            .split(',')
            .map(|byte| u8::from_str_radix(byte.trim().trim_start_matches("0x"), 16).expect("hexadecimal"))
            .collect();
        words.extend(
            bytes
                .chunks_exact(4)
                .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])),
        );
    }
    Some(words)
}

/// Host memory that the device can use.
#[derive(Debug)]
pub struct Memory {
    pub words: Vec<u64>,
}

impl Memory {
    pub fn new(bytes: usize) -> Self {
        Self {
            words: vec![0; bytes.div_ceil(8) + 64],
        }
    }

    pub fn of<T: Copy>(values: &[T]) -> Self {
        let mut memory = Self::new(size_of_val(values));
        // SAFETY: plain data into memory that is large enough.
        unsafe {
            std::ptr::copy_nonoverlapping(
                values.as_ptr().cast::<u8>(),
                memory.words.as_mut_ptr().cast(),
                size_of_val(values),
            );
        }
        memory
    }

    pub fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    pub fn bytes(&self) -> u64 {
        (self.words.len() * 8) as u64
    }

    /// Stores a dword as another thread of the host would.
    pub fn poke(&self, index: usize, value: u32) {
        let cell = (self.address() + 4 * index as u64) as *const std::sync::atomic::AtomicU32;
        // SAFETY: an aligned dword of this memory, which the engine accesses by assembly only.
        unsafe { &*cell }.store(value, Ordering::SeqCst);
    }

    pub fn values<T: Copy + Default>(&self, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        assert!(size_of_val(values.as_slice()) <= self.words.len() * 8);
        // SAFETY: plain data out of memory that is large enough.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.words.as_ptr().cast::<u8>(),
                values.as_mut_ptr().cast(),
                size_of_val(values.as_slice()),
            );
        }
        values
    }
}

/// A loaded code object.
#[derive(Debug)]
pub struct Program {
    pub target: Target,
    /// All of it is mapped, the code being somewhere inside.
    pub image: Memory,
    base: u64,
    kernels: HashMap<String, u64>,
    pub space: Arc<AddressSpace>,
    pub code: Arc<CodeCache>,
}

impl Program {
    /// Loads a code object at the level that the environment chooses.
    pub fn load(object: &[u8], target: Target) -> Self {
        Self::load_at(object, target, Level::chosen())
    }

    pub fn load_at(object: &[u8], target: Target, level: Level) -> Self {
        let file = object::File::parse(object).expect("ELF");
        let end = file
            .segments()
            .map(|segment| segment.address() + segment.size())
            .max()
            .expect("segments");
        let mut image = Memory::new(end as usize + 4096 + 256);
        let base = image.address().next_multiple_of(256);
        let shift = (base - image.address()) as usize;
        let bytes = image_bytes(&mut image);
        for segment in file.segments() {
            let data = segment.data().expect("segment data");
            let at = shift + segment.address() as usize;
            bytes[at..at + data.len()].copy_from_slice(data);
        }
        if let Some(relocations) = file.section_by_name(".rela.dyn") {
            for entry in relocations.data().expect("relocations").chunks_exact(24) {
                let field =
                    |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("eight bytes"));
                let (offset, info, addend) = (field(0), field(8), field(16));
                let symbol = (info >> 32) as usize;
                let value = match info as u32 {
                    13 => base + addend,
                    3 => {
                        let symbol = file
                            .dynamic_symbols()
                            .find(|s| s.index().0 == symbol)
                            .expect("symbol");
                        base + symbol.address() + addend
                    }
                    other => panic!("relocation type {other}"),
                };
                let at = shift + offset as usize;
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        let kernels = file
            .dynamic_symbols()
            .filter_map(|symbol| {
                Some((
                    symbol.name().ok()?.strip_suffix(".kd")?.to_owned(),
                    base + symbol.address(),
                ))
            })
            .collect();
        let space = Arc::new(AddressSpace::new());
        space.map(image.address(), image.bytes(), Access::ALL);
        install_fault_handler().expect("fault handler");
        Self {
            target,
            image,
            base,
            kernels,
            space,
            code: Arc::new(CodeCache::new(target, level)),
        }
    }

    /// A kernel named `raw` made of instruction words, with everything that a descriptor can ask for.
    pub fn raw(words: &[u32], target: Target, level: Level) -> Self {
        Self::raw_of(words, target, level, [0x00af_0000 | 0x3ff, 0x1f8d | 15 << 1])
    }

    /// The same with registers `COMPUTE_PGM_RSRC1` and `2`.
    pub fn raw_of(words: &[u32], target: Target, level: Level, [rsrc1, rsrc2]: [u32; 2]) -> Self {
        let mut descriptor = [0u32; 64];
        descriptor[0] = 4096;
        descriptor[4] = 256;
        descriptor[12] = rsrc1;
        descriptor[13] = rsrc2;
        descriptor[14] = 0x7f;
        let all: Vec<u32> = descriptor.iter().chain(words).copied().collect();
        let mut image = Memory::new(4 * all.len() + 8192);
        let base = image.address().next_multiple_of(4096);
        let shift = (base - image.address()) as usize;
        let bytes = image_bytes(&mut image);
        for (word, to) in all.iter().zip(bytes[shift..].chunks_exact_mut(4)) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let space = Arc::new(AddressSpace::new());
        space.map(image.address(), image.bytes(), Access::ALL);
        install_fault_handler().expect("fault handler");
        let kernels = HashMap::from([("raw".to_owned(), base)]);
        Self {
            target,
            image,
            base,
            kernels,
            space,
            code: Arc::new(CodeCache::new(target, level)),
        }
    }

    pub fn share(&self, memory: &Memory) {
        self.space
            .map(memory.address(), memory.bytes(), Access::READ_WRITE);
    }

    pub fn kernel(&self, name: &str) -> (u64, KernelDescriptor) {
        let address = *self
            .kernels
            .get(name)
            .unwrap_or_else(|| panic!("no kernel {name} in {:?}", self.kernels.keys()));
        let at = (address - self.image.address()) as usize;
        let mut bytes = [0; 64];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = self.image.words[(at + i) / 8].to_le_bytes()[(at + i) % 8];
        }
        (address, KernelDescriptor::parse(&bytes))
    }

    /// An address of the loaded image as the code object numbers it.
    pub fn unloaded(&self, pc: u64) -> u64 {
        pc.wrapping_sub(self.base)
    }
}

fn image_bytes(image: &mut Memory) -> &mut [u8] {
    let length = image.words.len() * 8;
    // SAFETY: the same memory as bytes.
    unsafe { std::slice::from_raw_parts_mut(image.words.as_mut_ptr().cast(), length) }
}

/// A kernel argument.
#[derive(Debug, Clone, Copy)]
pub enum Arg {
    Pointer(u64),
    U32(u32),
    F32(f32),
    U64(u64),
    /// Dynamic LDS: the offset of a local pointer argument.
    Local(u32),
}

/// Clocks that count calls.
#[derive(Debug, Default)]
pub struct Ticks(std::sync::atomic::AtomicU64);

impl Clock for Ticks {
    fn shader(&self) -> u64 {
        self.0.fetch_add(100, Ordering::Relaxed)
    }
    fn real(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// A host that remembers messages.
#[derive(Debug, Default)]
pub struct Outside {
    pub messages: Mutex<Vec<(u16, u32)>>,
}

impl Host for Outside {
    fn message(&self, immediate: u16, m0: u32) {
        self.messages.lock().expect("messages").push((immediate, m0));
    }
}

/// Bytes of private memory per lane that the queue provides.
pub const PRIVATE_BYTES: u32 = 16 * 1024;

/// Everything around a dispatch.
#[derive(Debug)]
pub struct Launch<'a> {
    pub program: &'a Program,
    pub kernel: &'a str,
    pub grid: [u32; 3],
    pub workgroup: [u16; 3],
    pub args: Vec<Arg>,
    pub extra_lds: u32,
    pub stop: AtomicBool,
    pub outside: Outside,
}

impl<'a> Launch<'a> {
    pub fn new(program: &'a Program, kernel: &'a str, grid: u32, workgroup: u16) -> Self {
        Self {
            program,
            kernel,
            grid: [grid, 1, 1],
            workgroup: [workgroup, 1, 1],
            args: Vec::new(),
            extra_lds: 0,
            stop: AtomicBool::new(false),
            outside: Outside::default(),
        }
    }

    pub fn arg(mut self, arg: Arg) -> Self {
        self.args.push(arg);
        self
    }

    pub fn buffer(self, memory: &Memory) -> Self {
        self.program.share(memory);
        self.arg(Arg::Pointer(memory.address()))
    }

    pub fn shape(mut self, grid: [u32; 3], workgroup: [u16; 3]) -> Self {
        self.grid = grid;
        self.workgroup = workgroup;
        self
    }

    /// Lays out arguments, then the hidden ones that OpenCL code objects expect.
    fn kernarg(&self, bytes: u32) -> Memory {
        let mut data: Vec<u8> = Vec::new();
        let mut put = |value: &[u8]| {
            data.resize(data.len().next_multiple_of(value.len()), 0);
            data.extend_from_slice(value);
        };
        for arg in &self.args {
            match arg {
                Arg::Pointer(value) | Arg::U64(value) => put(&value.to_le_bytes()),
                Arg::U32(value) | Arg::Local(value) => put(&value.to_le_bytes()),
                Arg::F32(value) => put(&value.to_le_bytes()),
            }
        }
        // Hidden global offsets are zero, and so is everything behind them.
        data.resize(data.len().max(bytes as usize) + 256, 0);
        Memory::of(&data)
    }

    /// Runs every work-group on this thread.
    pub fn run(&self) -> Result<(), Fault> {
        self.run_on(&mut Arena::new())
    }

    pub fn run_on(&self, arena: &mut Arena) -> Result<(), Fault> {
        self.with_dispatch(|dispatch| {
            let [x, y, z] = dispatch.groups();
            for id in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
                let mut outcome = run_group(dispatch, id, arena, 0)?;
                while let GroupOutcome::Yield { group, .. } = outcome {
                    outcome = resume_group(dispatch, group, arena)?;
                }
            }
            Ok(())
        })
    }

    pub fn with_dispatch<R>(&self, body: impl FnOnce(&Dispatch<'_>) -> R) -> R {
        let (kernel_object, descriptor) = self.program.kernel(self.kernel);
        let kernarg = self.kernarg(descriptor.kernarg_bytes);
        self.program.share(&kernarg);
        let waves = self
            .workgroup
            .iter()
            .map(|n| u32::from(*n))
            .product::<u32>()
            .div_ceil(64);
        let wave_bytes = 64 * PRIVATE_BYTES;
        let scratch = Memory::new((waves * wave_bytes) as usize);
        self.program.share(&scratch);
        let packet = self.packet(&descriptor, kernel_object, kernarg.address());
        self.program.share(&packet);
        let queue = Memory::new(256);
        self.program.share(&queue);
        let clock: Arc<dyn Clock> = Arc::new(Ticks::default());
        let dispatch = Dispatch {
            code: &self.program.code,
            space: &self.program.space,
            descriptor,
            kernel_object,
            grid: self.grid,
            workgroup: self.workgroup,
            kernarg: kernarg.address(),
            group_segment_bytes: descriptor.group_segment_bytes + self.extra_lds,
            private_segment_bytes: descriptor.private_segment_bytes,
            dispatch_ptr: packet.address(),
            queue_ptr: queue.address(),
            dispatch_id: 0,
            scratch: Scratch {
                base: scratch.address(),
                wave_bytes,
                descriptor: [
                    scratch.address() as u32,
                    (scratch.address() >> 32) as u32 & 0xffff | 0x8000_0000,
                    scratch.bytes() as u32,
                    0x00ea_7fac,
                ],
            },
            user_data: None,
            apertures: Apertures::default(),
            clock: Some(&clock),
            stop: &self.stop,
            host: &self.outside,
        };
        body(&dispatch)
    }

    /// The 64-byte packet, which OpenCL code reads its sizes from.
    fn packet(&self, descriptor: &KernelDescriptor, kernel_object: u64, kernarg: u64) -> Memory {
        let mut bytes = [0u8; 64];
        bytes[0..2].copy_from_slice(&2u16.to_le_bytes());
        bytes[2..4].copy_from_slice(&3u16.to_le_bytes());
        for (i, n) in self.workgroup.iter().enumerate() {
            bytes[4 + 2 * i..6 + 2 * i].copy_from_slice(&n.to_le_bytes());
        }
        for (i, n) in self.grid.iter().enumerate() {
            bytes[12 + 4 * i..16 + 4 * i].copy_from_slice(&n.to_le_bytes());
        }
        bytes[24..28].copy_from_slice(&descriptor.private_segment_bytes.to_le_bytes());
        bytes[28..32].copy_from_slice(&(descriptor.group_segment_bytes + self.extra_lds).to_le_bytes());
        bytes[32..40].copy_from_slice(&kernel_object.to_le_bytes());
        bytes[40..48].copy_from_slice(&kernarg.to_le_bytes());
        Memory::of(&bytes)
    }
}

/// Processor time that `body` takes on this thread, in seconds.
pub fn seconds(body: impl FnOnce()) -> f64 {
    let now = || {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the pointer is to a timespec.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let start = now();
    body();
    now() - start
}
