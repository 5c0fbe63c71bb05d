//! Memory of NPUs: both kinds of buffers, sharing, and what is left on the books.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{AllocFlags, AllocRequest, Driver, ErrorCode, ExportKind, ImportRequest, MapRequest};
use hansa_vxdna::{Books, Errno, NpuSpec};
use hansa_xdna::config::Config;
use support::{read, request, write, Rig, HEAP, KERNARG, PLAIN};

fn import(shared: api::SharedHandle, bytes: u64) -> ImportRequest<'static> {
    ImportRequest {
        shared,
        bytes,
        nodes: api::RSlice::from_slice(&[0]),
    }
}

fn close(shared: &api::SharedHandle) {
    let fd = i32::from_ne_bytes(shared.words[0].to_ne_bytes());
    // SAFETY: the export gave the descriptor away.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

#[test]
fn opening_costs_a_file_and_no_memory() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let books = rig.system.books();
    assert_eq!((books.files, books.buffers, books.mapped), (1, 0, 0));
}

#[test]
fn every_bank_gives_zeroed_memory_that_the_host_uses() {
    for spec in [NpuSpec::npu1(), NpuSpec::npu4()] {
        let rig = Rig::open(&[spec]);
        for bank in [KERNARG, HEAP, PLAIN] {
            let made = rig.allocate(bank, 10_000);
            assert_eq!(made.bytes, 12_288);
            assert_eq!(made.host_address, made.device_address);
            assert!(made.host_address.is_multiple_of(4096));
            assert_eq!(read(made.host_address, 3072), vec![0; 3072]);
            write(made.host_address, &[7; 3072]);
            assert_eq!(read(made.host_address, 3072), vec![7; 3072]);
            rig.driver.free(made.handle).unwrap();
            // The heap gives the same place again, and nobody sees what was there.
            let again = rig.allocate(bank, 10_000);
            assert_eq!(read(again.host_address, 3072), vec![0; 3072]);
            rig.driver.free(again.handle).unwrap();
        }
        rig.driver.close().unwrap();
        assert_eq!(rig.system.books(), Books::default());
        rig.assert_no_complaints();
    }
}

#[test]
fn the_heap_is_as_large_as_it_says() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    assert_eq!(rig.driver.available(0).unwrap(), 64 << 20);
    let most = rig.allocate(HEAP, 64 << 20);
    assert_eq!(rig.driver.available(0).unwrap(), 0);
    let error = rig.driver.allocate(&request(0, HEAP, 4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES);
    assert_eq!(
        error.to_string(),
        "The device heap of 67108864 bytes has no room for 4096 more"
    );
    rig.driver.free(most.handle).unwrap();
    assert_eq!(rig.driver.available(0).unwrap(), 64 << 20);
    rig.allocate(HEAP, 4096);
}

#[test]
fn a_heap_grows_as_far_as_it_may() {
    let config = Config {
        heap_bytes: 192 << 20,
        ..Config::default()
    };
    let rig = Rig::closed(&[NpuSpec::npu4()], config);
    rig.driver.open().unwrap();
    let parts: Vec<_> = (0..3).map(|_| rig.allocate(HEAP, 64 << 20)).collect();
    for pair in parts.windows(2) {
        assert_eq!(pair[1].host_address - pair[0].host_address, 64 << 20);
    }
    assert!(parts[0].host_address.is_multiple_of(64 << 20));
    let error = rig.driver.allocate(&request(0, HEAP, 4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
    rig.driver.close().unwrap();
    assert_eq!(rig.system.books(), Books::default());
}

/// A kernel whose heap cannot grow: what there is serves on.
#[test]
fn a_heap_that_may_not_grow_is_full() {
    let config = Config {
        heap_bytes: 128 << 20,
        ..Config::default()
    };
    let rig = Rig::closed(&[NpuSpec::npu1()], config);
    rig.driver.open().unwrap();
    let first = rig.allocate(HEAP, 64 << 20);
    let error = rig.driver.allocate(&request(0, HEAP, 4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
    rig.driver.free(first.handle).unwrap();
    rig.allocate(HEAP, 4096);
}

#[test]
fn host_memory_is_aligned_as_asked() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let wanted = AllocRequest {
        alignment: 1 << 21,
        ..request(0, PLAIN, 8192)
    };
    let made = rig.driver.allocate(&wanted).unwrap();
    assert!(made.host_address.is_multiple_of(1 << 21));
    write(made.host_address, &[1; 2048]);
    rig.driver.close().unwrap();
    assert_eq!(rig.system.books(), Books::default());
}

#[test]
fn what_cannot_be_is_refused() {
    let rig = Rig::open(&[NpuSpec::npu1(), NpuSpec::npu4().at(1)]);
    let code = |request: AllocRequest| rig.driver.allocate(&request).unwrap_err().code;
    assert_eq!(code(request(0, 3, 4096)), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(request(2, PLAIN, 4096)), ErrorCode::INVALID_ARGUMENT);
    assert_eq!(code(request(0, PLAIN, u64::MAX)), ErrorCode::INVALID_ARGUMENT);
    let flagged = AllocRequest {
        flags: AllocFlags::MEMORY_ONLY,
        ..request(0, PLAIN, 4096)
    };
    assert_eq!(code(flagged), ErrorCode::NOT_SUPPORTED);
    let made = rig.allocate(PLAIN, 4096);
    let map = |nodes: &'static [u32]| MapRequest {
        handle: made.handle,
        nodes: api::RSlice::from_slice(nodes),
        flags: AllocFlags::empty(),
        reserved: 0,
    };
    rig.driver.map(&map(&[0])).unwrap();
    assert_eq!(
        rig.driver.map(&map(&[0, 1])).unwrap_err().code,
        ErrorCode::NOT_SUPPORTED
    );
    rig.driver.free(made.handle).unwrap();
    assert_eq!(
        rig.driver.free(made.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!(
        rig.driver.map(&map(&[0])).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
}

#[test]
fn host_memory_is_shared_and_the_heap_is_not() {
    for own_addresses in [false, true] {
        let spec = NpuSpec {
            own_addresses,
            ..NpuSpec::npu4()
        };
        let rig = Rig::open(&[spec]);
        let made = rig.allocate(PLAIN, 8192);
        write(made.host_address, &[1, 2, 3]);
        let shared = rig
            .driver
            .export_memory(made.handle, ExportKind::DMA_BUF)
            .unwrap();
        let whole = rig.driver.import_memory(&import(shared, 0)).unwrap();
        assert_eq!(whole.bytes, 8192);
        assert_eq!(read(whole.host_address, 3), [1, 2, 3]);
        let part = api::SharedHandle { offset: 4, ..shared };
        let second = rig.driver.import_memory(&import(part, 8)).unwrap();
        assert_eq!((second.bytes, read(second.host_address, 2)), (8, vec![2, 3]));
        let error = rig.driver.import_memory(&import(part, 8192)).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT, "{error}");
        close(&shared);
        // The kernel has one handle for all of them; the memory goes with the last.
        rig.driver.free(made.handle).unwrap();
        write(whole.host_address, &[9]);
        assert_eq!(read(second.host_address - 4, 1), [9]);
        rig.driver.free(second.handle).unwrap();
        rig.driver.free(whole.handle).unwrap();
        assert_eq!(rig.system.books().buffers, 0);
        let heap = rig.allocate(HEAP, 4096);
        let error = rig
            .driver
            .export_memory(heap.handle, ExportKind::DMA_BUF)
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED);
        let error = rig
            .driver
            .export_memory(heap.handle, ExportKind::IPC)
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED);
        rig.driver.close().unwrap();
        assert_eq!(rig.system.books(), Books::default());
    }
}

#[test]
fn a_handle_that_the_kernel_keeps_is_given_back_later() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let [first, second] = [0; 2].map(|_| rig.allocate(PLAIN, 4096));
    rig.system.faults.once("GEM_CLOSE", Errno::BUSY);
    rig.driver.free(first.handle).unwrap();
    assert_eq!(rig.system.books().buffers, 2);
    rig.driver.free(second.handle).unwrap();
    assert_eq!(rig.system.books().buffers, 0);
}
