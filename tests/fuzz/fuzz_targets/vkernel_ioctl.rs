//! Sequences of requests on the virtual kernel's `/dev/kfd` and render nodes.
//!
//! Arguments are made of words that mean something (a GPU's number, a handle that was answered, an address), because
//! a random word hits nothing. No word is an address of the process by chance: what is no choice is outside of what
//! a process has.
#![no_main]

use hansa_fuzz::Choices;
use hansa_vkernel::{GpuSpec, Kernel, Machine, Options};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// Memory of the program that the requests are about.
#[repr(align(4096))]
struct Pages([u64; 4096]);

const MOST_REQUESTS: u32 = 64;
const WAIT_EVENTS: u8 = 0x0c;
const EXPORT_DMABUF: u8 = 0x24;

struct Program {
    pages: Box<Pages>,
    /// Open files; the first three are the device nodes.
    files: Vec<i32>,
    gpu_ids: Vec<u32>,
    answered: Vec<u64>,
}

impl Program {
    fn word(&mut self, choices: &mut Choices<'_>) -> u64 {
        let pages = std::ptr::from_ref(&*self.pages).expose_provenance() as u64;
        match choices.u8() % 12 {
            0 => 0,
            1 => u64::from(choices.u8()),
            2 => u64::from(choices.u32()) & 0x6fff_ffff,
            3 => u64::from(choices.of(&self.gpu_ids).unwrap_or(0)),
            4 => pages + u64::from(choices.u8() % 8) * 4096,
            5 => choices.of(&self.answered).unwrap_or(0),
            6 => u64::from(choices.of(&self.files).unwrap_or(0).unsigned_abs()),
            7 => choices.u64() | 1 << 63,
            8 => 1 << (choices.u8() % 64) | 1 << (choices.u8() % 64) | 1 << 63,
            9 => u64::from(choices.of(&self.gpu_ids).unwrap_or(0)) | u64::from(choices.u32()) << 32,
            10 => u64::from(choices.u8()) | u64::from(choices.of(&self.gpu_ids).unwrap_or(0)) << 32,
            _ => 4096 << (choices.u8() % 14),
        }
    }

    fn request(&mut self, kernel: &std::sync::Arc<Kernel>, choices: &mut Choices<'_>) {
        let first = choices.u8();
        let file = self.files[usize::from(first % 8).saturating_sub(5)];
        let group = if file == self.files[0] { b'K' } else { b'd' };
        let number = choices.u8();
        let words = usize::from(choices.u8() % 13);
        let mut argument = [0_u64; 16];
        for word in argument.iter_mut().take(words) {
            *word = self.word(choices);
        }
        if number == WAIT_EVENTS {
            // A wait of a millisecond at most.
            argument[2] &= !0xffff_fffe;
        }
        let bytes = u32::from(choices.u8() % 129);
        let code = 3 << 30 | bytes << 16 | u32::from(group) << 8 | u32::from(number);
        let before = argument;
        let Some(which) = kernel.which(file) else {
            panic!("the file is open");
        };
        let at = std::ptr::from_mut(&mut argument).expose_provenance() as u64;
        if kernel.ioctl(which, file, code, at).is_ok() {
            if number == EXPORT_DMABUF && bytes >= 16 && group == b'K' {
                self.files.extend(i32::try_from(argument[1] >> 32));
            }
            let new = argument
                .iter()
                .zip(before)
                .filter(|(now, before)| **now != *before);
            let new: Vec<u64> = new.map(|(now, _)| *now).collect();
            self.answered.extend(new);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let machine = Machine::with_gpus(&[GpuSpec::default(), GpuSpec::of_version(90_402)]);
    let options = Options {
        minor: u32::from(choices.u8() % 20),
        strict_buffers: choices.u8() % 2 == 0,
        ..Options::default()
    };
    let kernel = Kernel::new(machine, options, None).expect("a kernel");
    let files = ["/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"]
        .map(|path| kernel.open(Path::new(path), true).expect("the node is there"));
    let gpu_ids: Vec<u32> = kernel.machine.gpus.iter().map(|gpu| gpu.gpu_id).collect();
    let mut pages = Box::new(Pages([0; 4096]));
    for (index, word) in pages.0.iter_mut().enumerate() {
        *word = u64::from(gpu_ids[index % 2]) | u64::from(gpu_ids[(index + 1) % 2]) << 32;
    }
    let mut program = Program {
        pages,
        files: files.to_vec(),
        gpu_ids,
        answered: Vec::new(),
    };
    for _ in 0..MOST_REQUESTS {
        if choices.is_over() {
            break;
        }
        program.request(&kernel, &mut choices);
    }
    let books = kernel.books();
    assert!(books.mapped <= 2 * books.buffers, "{books:?}");
    drop(kernel);
    for file in program.files {
        // SAFETY: the descriptor was opened above.
        unsafe { libc::close(file) };
    }
});
