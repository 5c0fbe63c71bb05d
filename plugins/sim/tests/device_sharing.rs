//! Device memory as buffers: what is shared stays where it is, and is seen by whoever takes it, also when its owner is
//! gone.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{
    Allocation, CopyFlags, CopyRequest, ErrorCode, ExportKind, ImportRequest, RSlice, SharedHandle,
};
use rig::Rig;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

fn export(rig: &Rig, memory: &Allocation) -> (SharedHandle, OwnedFd) {
    let shared = rig
        .driver
        .export_memory(memory.handle, ExportKind::DMA_BUF)
        .expect("device memory can be shared");
    // SAFETY: an export gives its descriptor away.
    let file = unsafe { OwnedFd::from_raw_fd(shared.words[0] as i32) };
    (shared, file)
}

fn request<'a>(shared: SharedHandle, bytes: u64, nodes: &'a [u32]) -> ImportRequest<'a> {
    ImportRequest {
        shared,
        bytes,
        nodes: RSlice::from_slice(nodes),
    }
}

fn fill(rig: &Rig, address: u64, value: u32, bytes: u64) {
    let request = CopyRequest {
        flags: CopyFlags::FILL,
        ..CopyRequest::linear(0, address, value.into(), bytes)
    };
    rig.driver.copy(&request).expect("device memory can be filled");
}

fn first_word(rig: &Rig, address: u64) -> u64 {
    let host = rig.host_memory(4096);
    rig.driver
        .copy(&CopyRequest::linear(0, host.address(), address, 8))
        .expect("device memory can be read");
    host.word(0).load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn shared_memory_is_one_memory_and_outlives_its_owner() {
    let rig = Rig::new("devices = 2\nmemory = \"16 MiB\"");
    let owner = rig.device_memory(0, 3 << 20);
    fill(&rig, owner.device_address, 0x1111_1111, 3 << 20);
    let (shared, file) = export(&rig, &owner);
    assert_eq!(shared.offset, 0);
    assert_eq!(
        first_word(&rig, owner.device_address + 4096),
        0x1111_1111_1111_1111
    );
    let taken = rig.driver.import_memory(&request(shared, 0, &[1])).unwrap();
    assert_eq!(taken.bytes, 3 << 20);
    assert_ne!(taken.device_address, owner.device_address);
    fill(&rig, taken.device_address + (2 << 20), 0x2222_2222, 4096);
    assert_eq!(
        first_word(&rig, owner.device_address + (2 << 20)),
        0x2222_2222_2222_2222
    );
    fill(&rig, owner.device_address, 0x3333_3333, 4096);
    assert_eq!(first_word(&rig, taken.device_address), 0x3333_3333_3333_3333);
    // What is taken costs the device that takes it nothing, and what is freed is free although somebody has it.
    assert_eq!(rig.driver.available(1), Ok(16 << 20));
    rig.driver.free(owner.handle).unwrap();
    assert_eq!(rig.driver.available(0), Ok(16 << 20));
    drop(file);
    assert_eq!(first_word(&rig, taken.device_address), 0x3333_3333_3333_3333);
    let (again, file) = export(&rig, &taken);
    rig.driver.free(taken.handle).unwrap();
    let third = rig
        .driver
        .import_memory(&request(again, 4096, &[0, 1, 0]))
        .unwrap();
    assert_eq!(
        (third.bytes, first_word(&rig, third.device_address)),
        (4096, 0x3333_3333_3333_3333)
    );
    rig.driver.free(third.handle).unwrap();
    assert_eq!(
        rig.driver.free(third.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    drop(file);
}

#[test]
fn new_memory_has_nothing_of_what_was_shared_before() {
    let rig = Rig::new("");
    for _ in 0..3 {
        let memory = rig.device_memory(0, 1 << 20);
        assert_eq!(first_word(&rig, memory.device_address), 0);
        let (_, file) = export(&rig, &memory);
        fill(&rig, memory.device_address, u32::MAX, 1 << 20);
        rig.driver.free(memory.handle).unwrap();
        drop(file);
    }
}

#[test]
fn what_is_no_part_of_a_buffer_is_refused() {
    let rig = Rig::new("");
    let memory = rig.device_memory(0, 8192);
    let (shared, file) = export(&rig, &memory);
    let code = |shared: SharedHandle, bytes, nodes: &[u32]| {
        let result = rig.driver.import_memory(&request(shared, bytes, nodes));
        result.unwrap_err().code
    };
    let at = |offset| SharedHandle { offset, ..shared };
    assert_eq!(code(shared, 8193, &[0]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(shared, u64::MAX, &[0]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(at(8192), 0, &[0]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(at(1 << 40), 0, &[0]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(at(100), 4096, &[0]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(shared, 0, &[1]), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(shared, 0, &[]), ErrorCode::NOT_SUPPORTED);
    let fabric = SharedHandle {
        kind: ExportKind::FABRIC,
        ..shared
    };
    assert_eq!(code(fabric, 0, &[0]), ErrorCode::NOT_SUPPORTED);
    let null = std::fs::File::open("/dev/null").unwrap();
    let mut none = shared;
    none.words[0] = null.as_raw_fd() as u32;
    assert_eq!(code(none, 0, &[0]), ErrorCode::INVALID_ARGUMENT);
    let second = rig.driver.import_memory(&request(at(4096), 0, &[0])).unwrap();
    assert_eq!(second.bytes, 4096);
    drop(file);

    for kind in [ExportKind::IPC, ExportKind::FABRIC] {
        let error = rig.driver.export_memory(memory.handle, kind).unwrap_err();
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED);
    }
    let host = rig.host_memory(4096);
    let error = rig
        .driver
        .export_memory(host.handle(), ExportKind::DMA_BUF)
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::NOT_SUPPORTED);
}
