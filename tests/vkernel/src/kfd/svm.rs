//! Ranges of the process's memory that GPUs see without a buffer.

use super::memory::{check_range, show, PAGE};
use crate::buffers::{Backing, Buffer};
use crate::kernel::Kernel;
use crate::{user, Answer, Errno};
use hansa_kfd::uapi::memory as uapi;
use hansa_kfd::uapi::memory::Svm;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Attributes of ranges of the process's memory. Access is what has an effect here: the GPU sees the range, as far as it
/// sees nothing there yet.
pub(super) fn svm(kernel: &Arc<Kernel>, at: u64, bytes: usize) -> Answer {
    const HEAD: usize = 24;
    let a: Svm = user::get(at, HEAD.min(bytes))?;
    let count = a.nattr as usize;
    if bytes != HEAD + count * 8
        || a.size == 0
        || !a.start_addr.is_multiple_of(PAGE)
        || !a.size.is_multiple_of(PAGE)
    {
        return Err(Errno::INVAL);
    }
    check_range(a.start_addr, a.size)?;
    if a.op != uapi::SVM_OP_SET_ATTR {
        return Err(Errno::OPNOTSUPP);
    }
    let words = user::words(at + HEAD as u64, count * 2)?;
    let mut process = kernel.process();
    for pair in words.chunks_exact(2) {
        let (kind, value) = (pair[0], pair[1]);
        match kind {
            // A place: the host, nowhere, or a device.
            0 | 1 if value == 0 || value == u32::MAX => {}
            0 | 1 => {
                kernel.gpu(value)?;
            }
            2..=4 => {
                let gpu = kernel.gpu(value)?;
                if !process.spaces.contains_key(&gpu) {
                    return Err(Errno::NODEV);
                }
                let key = (gpu, a.start_addr, a.size);
                if kind == 4 {
                    if let Some(handle) = process.shared_ranges.remove(&key) {
                        let buffer = process.buffers.get(handle)?;
                        buffer.mapped.clear();
                        process.buffers.remove(handle)?;
                        if let Some(executor) = kernel.device.executor() {
                            executor.forget(gpu, a.start_addr, a.size);
                        }
                    }
                } else if !process.buffers.is_taken(gpu, 0, a.start_addr, a.size) {
                    let flags = uapi::ALLOC_USERPTR | uapi::ALLOC_WRITABLE | uapi::ALLOC_EXECUTABLE;
                    let buffer = Buffer {
                        address: a.start_addr,
                        bytes: a.size,
                        gpu,
                        flags,
                        backing: Arc::new(Backing::User(a.start_addr)),
                        mapped: BTreeSet::from([gpu]),
                        imported: false,
                    };
                    show(kernel, gpu, &buffer);
                    let handle = process.buffers.enter(value, buffer);
                    process.shared_ranges.insert(key, handle);
                }
            }
            5 | 6 if value & !0xff == 0 => {}
            7 if value < 64 => {}
            _ => return Err(Errno::INVAL),
        }
    }
    Ok(())
}
