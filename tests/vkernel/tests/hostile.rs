//! Requests with numbers that cannot be: each has an answer, as the kernel's has.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_kfd::uapi::memory::{AllocMemoryOfGpu, Svm, ALLOC_GTT, ALLOC_USERPTR, ALLOC_WRITABLE};
use hansa_kfd::uapi::system::{AcquireVm, GetProcessAperturesNew};
use hansa_kfd::uapi::Request;
use hansa_vkernel::{Answer, Errno, Kernel, Machine, Options};
use std::path::Path;
use std::sync::Arc;

struct Program {
    kernel: Arc<Kernel>,
    kfd: i32,
    gpu_id: u32,
}

impl Program {
    fn new() -> Self {
        let kernel = Kernel::new(Machine::vega10(), Options::default(), None).unwrap();
        let open = |path: &str| kernel.open(Path::new(path), true).unwrap();
        let (kfd, render) = (open("/dev/kfd"), open("/dev/dri/renderD128"));
        let gpu_id = kernel.machine.gpus[0].gpu_id;
        let program = Self { kernel, kfd, gpu_id };
        let mut space = AcquireVm {
            drm_fd: render.unsigned_abs(),
            gpu_id,
        };
        program.ask(&mut space).unwrap();
        program
    }

    fn ask<T: Request>(&self, argument: &mut T) -> Answer {
        let at = std::ptr::from_mut(argument).expose_provenance() as u64;
        let which = self.kernel.which(self.kfd).unwrap();
        self.kernel.ioctl(which, self.kfd, T::CODE, at)
    }

    fn allocate(&self, va_addr: u64, size: u64, flags: u32, mmap_offset: u64) -> Answer {
        self.ask(&mut AllocMemoryOfGpu {
            va_addr,
            size,
            gpu_id: self.gpu_id,
            flags: flags | ALLOC_WRITABLE,
            mmap_offset,
            ..AllocMemoryOfGpu::default()
        })
    }
}

const LAST_PAGE: u64 = u64::MAX - 4095;

#[test]
fn sizes_and_addresses_at_the_end_of_all_numbers() {
    let program = Program::new();
    assert_eq!(program.allocate(0, LAST_PAGE, ALLOC_GTT, 0), Err(Errno::NOMEM));
    assert_eq!(program.allocate(LAST_PAGE, 8192, ALLOC_GTT, 0), Err(Errno::INVAL));
    assert_eq!(program.allocate(0, 1 << 47, ALLOC_GTT, 0), Err(Errno::NOMEM));
    let page = std::ptr::from_ref(&program).expose_provenance() as u64 & !4095;
    let user = |size, at| program.allocate(0x1000, size, ALLOC_USERPTR, at);
    assert_eq!(user(LAST_PAGE - 4096, page), Err(Errno::FAULT));
    assert_eq!(user(4096, LAST_PAGE), Err(Errno::FAULT));
    assert_eq!(program.kernel.books().buffers, 0);
    assert_eq!(program.allocate(0x1000, 4096, ALLOC_GTT, 0), Ok(()));
}

#[test]
fn ranges_of_the_process_that_wrap_around() {
    let program = Program::new();
    let mut range = Svm {
        start_addr: LAST_PAGE,
        size: 8192,
        ..Svm::default()
    };
    assert_eq!(program.ask(&mut range), Err(Errno::INVAL));
}

#[test]
fn a_list_that_cannot_be_written_is_a_fault() {
    let program = Program::new();
    let mut apertures = GetProcessAperturesNew {
        kfd_process_device_apertures_ptr: u64::MAX - 8,
        num_of_nodes: 4,
        ..GetProcessAperturesNew::default()
    };
    assert_eq!(program.ask(&mut apertures), Err(Errno::FAULT));
}
