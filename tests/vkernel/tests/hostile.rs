//! Requests with numbers that cannot be: each has an answer, as the kernel's has.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd::uapi::memory::{Svm, ALLOC_GTT, ALLOC_USERPTR};
use hansa_kfd::uapi::system::GetProcessAperturesNew;
use hansa_vkernel::Errno;
use support::program::Program;

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
