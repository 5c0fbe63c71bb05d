//! Small allocations share buffers of the kernel; memory and addresses are had apart.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{AllocFlags, Driver, DriverGroups, ErrorCode, ExportKind};
use hansa_vkernel::device::Memory;
use hansa_vkernel::{Errno, GpuSpec, Machine, Options};
use std::sync::atomic::Ordering;
use support::{request_memory, HostPages, Rig};

fn two() -> Rig {
    let rig = Rig::new(Machine::with_gpus(&[GpuSpec::default(); 2]), Options::default());
    rig.driver.open().unwrap();
    rig
}

fn see(handle: api::MemoryHandle, nodes: &[u32]) -> api::MapRequest<'_> {
    api::MapRequest {
        handle,
        nodes: api::RSlice::from_slice(nodes),
        flags: AllocFlags::empty(),
        reserved: 0,
    }
}

#[test]
fn small_allocations_share_buffers_and_do_not_overlap() {
    let rig = two();
    let before = rig.kernel().books();
    let mut made: Vec<_> = (0..1000_u64)
        .map(|i| {
            let bytes = (i % 7 + 1) * 4096;
            let mut request = request_memory(0, bytes);
            request.alignment = 4096 << (i % 3);
            let a = rig.driver.allocate(&request).unwrap();
            assert_eq!(a.bytes, bytes);
            assert_eq!(a.device_address % request.alignment, 0);
            assert_eq!(a.host_address, a.device_address);
            a
        })
        .collect();
    let buffers = rig.kernel().books().buffers - before.buffers;
    assert!((8..16).contains(&buffers), "{buffers}");
    made.sort_by_key(|a| a.device_address);
    for pair in made.windows(2) {
        assert!(pair[0].device_address + pair[0].bytes <= pair[1].device_address);
    }
    // Every second one, and then the rest.
    let (even, odd): (Vec<_>, Vec<_>) = made.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    for (_, a) in even.into_iter().chain(odd) {
        rig.driver.free(a.handle).unwrap();
        assert_eq!(
            rig.driver.free(a.handle).unwrap_err().code,
            ErrorCode::INVALID_HANDLE
        );
    }
    assert_eq!(rig.kernel().books().buffers - before.buffers, 1, "one is kept");
    rig.driver.close().unwrap();
    assert_eq!(rig.kernel().books().buffers, 1, "the event page");
    rig.assert_no_complaints();
}

#[test]
fn holes_are_used_again() {
    let rig = two();
    let make = || rig.driver.allocate(&request_memory(0, 128 << 10)).unwrap();
    let all: Vec<_> = (0..16).map(|_| make()).collect();
    let buffers = rig.kernel().books().buffers;
    for a in &all[4..8] {
        rig.driver.free(a.handle).unwrap();
    }
    // The four are one hole now.
    for _ in 0..2 {
        let a = rig.driver.allocate(&request_memory(0, 256 << 10)).unwrap();
        assert!((all[4].device_address..=all[7].device_address).contains(&a.device_address));
    }
    assert_eq!(rig.kernel().books().buffers, buffers);
}

#[test]
fn what_is_large_or_of_another_kind_has_its_own_buffer() {
    let rig = two();
    let buffers = || rig.kernel().books().buffers;
    rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    let before = buffers();
    rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    assert_eq!(buffers(), before);
    rig.driver.allocate(&request_memory(1, 4096)).unwrap();
    assert_eq!(buffers(), before + 1);
    let mut fine = request_memory(0, 4096);
    fine.flags = AllocFlags::FINE_GRAIN;
    rig.driver.allocate(&fine).unwrap();
    assert_eq!(buffers(), before + 2);
    rig.driver.allocate(&request_memory(0, 1 << 20)).unwrap();
    let mut aligned = request_memory(0, 4096);
    aligned.alignment = 4 << 20;
    let a = rig.driver.allocate(&aligned).unwrap();
    assert_eq!((buffers(), a.device_address % (4 << 20)), (before + 4, 0));
}

#[test]
fn a_peer_sees_a_small_allocation_as_long_as_anyone_wants() {
    let rig = two();
    let a = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    let b = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    let seen = |address| Memory::new(rig.kernel(), 1).read(address, &mut [0; 8]).is_ok();
    assert!(!seen(a.device_address));
    rig.driver.map(&see(a.handle, &[1])).unwrap();
    rig.driver.map(&see(b.handle, &[1])).unwrap();
    assert!(seen(a.device_address) && seen(b.device_address));
    rig.driver.unmap(&see(a.handle, &[1])).unwrap();
    assert!(seen(b.device_address));
}

#[test]
fn a_small_allocation_is_shared_with_its_place() {
    let rig = two();
    rig.driver.allocate(&request_memory(0, 8192)).unwrap();
    let a = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    Memory::new(rig.kernel(), 0)
        .write(a.device_address, &[1, 2, 3, 4])
        .unwrap();
    let shared = rig.driver.export_memory(a.handle, ExportKind::DMA_BUF).unwrap();
    assert_eq!(shared.offset, 8192);
    let b = rig
        .driver
        .import_memory(&api::ImportRequest {
            shared,
            bytes: 4096,
            nodes: api::RSlice::from_slice(&[1]),
        })
        .unwrap();
    let mut bytes = [0; 4];
    Memory::new(rig.kernel(), 1)
        .read(b.device_address, &mut bytes)
        .unwrap();
    assert_eq!(bytes, [1, 2, 3, 4]);
    rig.driver.free(b.handle).unwrap();
}

const READ: u32 = 1;
const WRITE: u32 = 2;

fn memory_only(rig: &Rig, bytes: u64) -> api::Result<api::Allocation> {
    let mut request = request_memory(0, bytes);
    request.flags = AllocFlags::MEMORY_ONLY | AllocFlags::HOST_ACCESS;
    rig.driver.allocate(&request)
}

#[test]
fn memory_is_put_at_several_addresses_with_different_access() {
    let rig = two();
    let groups = rig.driver.describe().unwrap().groups;
    assert!(groups.contains(DriverGroups::VIRTUAL_MEMORY));
    let before = rig.kernel().books();
    let bytes = 4 << 20;
    let memory = memory_only(&rig, bytes).unwrap().handle;
    let places = [HostPages::new(bytes), HostPages::new(bytes)];
    let [first, second] = [places[0].address, places[1].address];
    assert_eq!(rig.driver.reserve(first, bytes, 4096).unwrap(), first);
    let put = |address, nodes: &[u32], access| {
        rig.driver
            .map_at(memory, 0, address, bytes, api::RSlice::from_slice(nodes), access)
    };
    put(first, &[], READ | WRITE).unwrap();
    put(first, &[0], READ | WRITE).unwrap();
    put(second, &[0, 1], READ).unwrap();
    places[0].word(4096).store(0x1234, Ordering::Release);
    let read = |gpu, address| {
        let mut word = [0; 8];
        Memory::new(rig.kernel(), gpu)
            .read(address, &mut word)
            .map(|()| u64::from_ne_bytes(word))
    };
    assert_eq!(read(0, first + 4096).unwrap(), 0x1234);
    assert_eq!(read(1, second + 4096).unwrap(), 0x1234);
    assert!(read(1, first).is_err(), "node 1 may not");
    Memory::new(rig.kernel(), 0).write(first, &[7]).unwrap();
    let fault = Memory::new(rig.kernel(), 0).write(second, &[7]).unwrap_err();
    assert!(fault.present, "read-only");
    rig.driver.unmap_at(memory, first, bytes).unwrap();
    assert!(read(0, first).is_err());
    assert_eq!(read(0, second).unwrap(), 7, "the other place stays");
    rig.driver.unmap_at(memory, second, bytes).unwrap();
    rig.driver.unreserve(first, bytes).unwrap();
    rig.driver.free(memory).unwrap();
    assert_eq!(rig.kernel().books(), before);
    rig.assert_no_complaints();
}

#[test]
fn a_part_of_memory_is_put_and_what_is_no_part_is_not() {
    let rig = two();
    let memory = memory_only(&rig, 1 << 20).unwrap();
    let place = HostPages::new(1 << 20);
    let put = |handle, offset, bytes| {
        let nodes = [0];
        let nodes = api::RSlice::from_slice(&nodes);
        rig.driver
            .map_at(handle, offset, place.address, bytes, nodes, READ | WRITE)
    };
    put(memory.handle, 64 << 10, 4096).unwrap();
    Memory::new(rig.kernel(), 0).write(place.address, &[9]).unwrap();
    assert!(Memory::new(rig.kernel(), 0)
        .write(place.address + 4096, &[9])
        .is_err());
    rig.driver.unmap_at(memory.handle, place.address, 4096).unwrap();
    for (offset, bytes) in [(0, (1 << 20) + 4096), (1 << 20, 4096), (u64::MAX, 4096)] {
        let error = put(memory.handle, offset, bytes).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT, "{error}");
    }
    let plain = rig.driver.allocate(&request_memory(0, 1 << 20)).unwrap();
    let error = put(plain.handle, 0, 4096).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_HANDLE, "{error}");
    rig.assert_no_complaints();
}

#[test]
fn putting_memory_somewhere_fails_whole() {
    let rig = two();
    let bytes = 1 << 20;
    let memory = memory_only(&rig, bytes).unwrap().handle;
    let place = HostPages::new(bytes);
    let before = (rig.kernel().books(), rig.system.open_files());
    let put = || {
        let nodes = [0, 1];
        let nodes = api::RSlice::from_slice(&nodes);
        rig.driver.map_at(memory, 0, place.address, bytes, nodes, READ)
    };
    for (call, times) in [
        ("EXPORT_DMABUF", 1),
        ("PRIME_FD_TO_HANDLE", 2),
        ("AMDGPU_GEM_VA", 2),
    ] {
        for after in 0..times {
            for errno in [Errno::NOMEM, Errno::INVAL, Errno::NOSPC] {
                rig.kernel().faults.add(hansa_vkernel::Rule {
                    call: call.into(),
                    errno,
                    after,
                    times: 1,
                });
                let error = put().unwrap_err();
                assert_eq!(error.errno, errno.raw_os_error(), "{call} {after}: {error}");
                let now = (rig.kernel().books(), rig.system.open_files());
                assert_eq!(now, before, "{call} {after}");
                put().unwrap();
                rig.driver.unmap_at(memory, place.address, bytes).unwrap();
            }
        }
    }
    // What could not be taken away is taken away by the next try.
    put().unwrap();
    rig.kernel().faults.once("AMDGPU_GEM_VA", Errno::BUSY);
    assert!(rig.driver.unmap_at(memory, place.address, bytes).is_err());
    rig.driver.unmap_at(memory, place.address, bytes).unwrap();
    assert_eq!((rig.kernel().books(), rig.system.open_files()), before);
    rig.assert_no_complaints();
}

/// A kernel before 1.15.
#[test]
fn an_old_kernel_has_no_addresses_apart() {
    let options = Options {
        minor: 14,
        ..Options::default()
    };
    let rig = Rig::new(Machine::vega10(), options);
    rig.driver.open().unwrap();
    let groups = rig.driver.describe().unwrap().groups;
    assert!(!groups.contains(DriverGroups::VIRTUAL_MEMORY));
}
