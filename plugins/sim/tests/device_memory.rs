//! Memory and copies: budgets, handles, rows, faults.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{CopyFlags, CopyRequest, ErrorCode, MapRequest, MemoryHandle, RSlice};
use rig::{alloc_request, Rig};
use std::sync::atomic::Ordering;

#[test]
fn the_budget_is_spent_given_back_and_kept() {
    let rig = Rig::new("memory = \"16 MiB\"");
    let total = 16 << 20;
    assert_eq!(rig.driver.available(0), Ok(total));
    let first = rig.device_memory(0, 10 << 20);
    assert_eq!(rig.driver.available(0), Ok(6 << 20));
    let error = rig.driver.allocate(&alloc_request(0, 7 << 20)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES);
    assert!(error.message.contains("6291456"), "{}", error.message);
    let small = rig.device_memory(0, 1);
    assert_eq!(small.bytes, 4096);
    rig.driver.free(first.handle).unwrap();
    rig.driver.free(small.handle).unwrap();
    assert_eq!(rig.driver.available(0), Ok(total));
}

#[test]
fn a_handle_is_good_once() {
    let rig = Rig::new("");
    let memory = rig.device_memory(0, 4096);
    rig.driver.free(memory.handle).unwrap();
    assert_eq!(
        rig.driver.free(memory.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    let map = MapRequest {
        handle: MemoryHandle(12345),
        nodes: RSlice::from_slice(&[0]),
        flags: hansa_plugin_api::AllocFlags::empty(),
        reserved: 0,
    };
    assert_eq!(rig.driver.map(&map).unwrap_err().code, ErrorCode::INVALID_HANDLE);
}

#[test]
fn a_node_that_is_none_is_named() {
    let rig = Rig::new("devices = 2");
    let error = rig.driver.allocate(&alloc_request(2, 4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT);
    assert!(error.message.contains("0 to 1"), "{}", error.message);
}

#[test]
fn bytes_go_to_the_device_and_back() {
    let rig = Rig::new("");
    let bytes = 1 << 20;
    let host = rig.host_memory(bytes);
    let back = rig.host_memory(bytes);
    for index in 0..bytes / 8 {
        host.word(index).store(index as u64 * 3, Ordering::Relaxed);
    }
    let device = rig.device_memory(0, bytes as u64);
    let there = CopyRequest::linear(0, device.device_address, host.address(), bytes as u64);
    rig.driver.copy(&there).unwrap();
    let again = CopyRequest::linear(
        0,
        back.address() + 3,
        device.device_address + 3,
        bytes as u64 - 10,
    );
    rig.driver.copy(&again).unwrap();
    let word = |index: usize| back.word(index).load(Ordering::Relaxed);
    assert_eq!(word(0), 0);
    assert!((1..bytes / 8 - 1).all(|index| word(index) == index as u64 * 3));
    assert_eq!(word(bytes / 8 - 1), ((bytes as u64 / 8 - 1) * 3) & 0xff);
}

#[test]
fn new_memory_is_zero() {
    let rig = Rig::new("");
    let host = rig.host_memory(4096);
    for _ in 0..3 {
        let device = rig.device_memory(0, 1 << 20);
        host.word(0).store(u64::MAX, Ordering::Relaxed);
        let read = CopyRequest::linear(0, host.address(), device.device_address + 8192, 8);
        rig.driver.copy(&read).unwrap();
        assert_eq!(host.word(0).load(Ordering::Relaxed), 0);
        let write = CopyRequest {
            flags: CopyFlags::FILL,
            ..CopyRequest::linear(0, device.device_address, 0xffff_ffff, 1 << 20)
        };
        rig.driver.copy(&write).unwrap();
        rig.driver.free(device.handle).unwrap();
    }
}

#[test]
fn rows_and_slices_keep_their_pitches() {
    let rig = Rig::new("");
    let source = rig.host_memory(4096);
    let target = rig.host_memory(4096);
    for index in 0..512 {
        source.word(index).store(index as u64, Ordering::Relaxed);
    }
    let request = CopyRequest {
        rows: 2,
        slices: 2,
        destination_row_pitch: 32,
        destination_slice_pitch: 128,
        source_row_pitch: 80,
        source_slice_pitch: 800,
        ..CopyRequest::linear(0, target.address(), source.address(), 16)
    };
    rig.driver.copy(&request).unwrap();
    let expected = [
        (0, 0),
        (1, 1),
        (4, 10),
        (5, 11),
        (16, 100),
        (17, 101),
        (20, 110),
        (21, 111),
    ];
    for (index, value) in expected {
        assert_eq!(target.word(index).load(Ordering::Relaxed), value, "word {index}");
    }
    let sum: u64 = (0..512)
        .map(|index| target.word(index).load(Ordering::Relaxed))
        .sum();
    assert_eq!(sum, expected.iter().map(|(_, value)| value).sum::<u64>());
}

#[test]
fn a_fill_repeats_its_value_and_stops_where_told() {
    let rig = Rig::new("");
    let target = rig.host_memory(1 << 16);
    let request = CopyRequest {
        flags: CopyFlags::FILL,
        ..CopyRequest::linear(0, target.address() + 4, 0x1122_3344, 40_002)
    };
    rig.driver.copy(&request).unwrap();
    assert_eq!(target.u32(0), 0);
    assert!((1..=10_000).all(|index| target.u32(index) == 0x1122_3344));
    assert_eq!(target.u32(10_001), 0x3344);
    assert_eq!(target.u32(10_002), 0);
}

#[test]
fn a_copy_from_nowhere_is_an_error_with_the_address() {
    let rig = Rig::new("");
    let device = rig.device_memory(0, 4096);
    let gone = rig.device_memory(0, 4096);
    rig.driver.free(gone.handle).unwrap();
    let request = CopyRequest::linear(0, device.device_address, gone.device_address, 64);
    let error = rig.driver.copy(&request).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT);
    let place = format!("{:#x}", gone.device_address);
    assert!(error.message.contains(&place), "{}", error.message);
    let wild = CopyRequest::linear(0, device.device_address, u64::MAX - 16, 64);
    assert_eq!(
        rig.driver.copy(&wild).unwrap_err().code,
        ErrorCode::INVALID_ARGUMENT
    );
}

#[test]
fn an_engine_that_is_none_is_refused_only_when_insisted_on() {
    let rig = Rig::new("");
    let host = rig.host_memory(4096);
    let mut request = CopyRequest::linear(0, host.address(), host.address() + 2048, 64);
    request.engine = 7;
    rig.driver.copy(&request).unwrap();
    request.flags = CopyFlags::ENGINE_ONLY;
    assert_eq!(
        rig.driver.copy(&request).unwrap_err().code,
        ErrorCode::INVALID_ARGUMENT
    );
}

#[test]
fn nothing_is_copied_when_nothing_is_asked_for() {
    let rig = Rig::new("");
    rig.driver.copy(&CopyRequest::linear(0, 0x10, 0x20, 0)).unwrap();
}
