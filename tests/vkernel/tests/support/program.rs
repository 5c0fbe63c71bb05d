//! A program that makes requests itself, without a driver.

use hansa_kfd::uapi::memory::{AllocMemoryOfGpu, ALLOC_WRITABLE};
use hansa_kfd::uapi::system::AcquireVm;
use hansa_kfd::uapi::Request;
use hansa_vkernel::{Answer, Errno, Kernel, Machine, Options};
use std::path::Path;
use std::sync::Arc;

pub(crate) struct Program {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) kfd: i32,
    pub(crate) gpu_id: u32,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let kernel = Kernel::new(Machine::vega10(), options, None).unwrap();
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

    pub(crate) fn ask<T: Request>(&self, argument: &mut T) -> Answer {
        let at = std::ptr::from_mut(argument).expose_provenance() as u64;
        let which = self.kernel.which(self.kfd).unwrap();
        self.kernel.ioctl(which, self.kfd, T::CODE, at).map(drop)
    }

    /// A request by its number, with an argument of words.
    pub(crate) fn call(&self, code: u32, words: &mut [u32]) -> Result<i32, Errno> {
        let which = self.kernel.which(self.kfd).unwrap();
        let at = words.as_mut_ptr().expose_provenance() as u64;
        self.kernel.ioctl(which, self.kfd, code, at)
    }

    pub(crate) fn allocate(&self, va_addr: u64, size: u64, flags: u32, mmap_offset: u64) -> Answer {
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
