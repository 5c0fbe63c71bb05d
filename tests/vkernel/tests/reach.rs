//! Devices that reach fewer addresses than the host has: gfx8, of which Linux gives a process at most 40 bits, and less on machines
//! with little memory.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api::{
    AllocFlags, Attribute, Driver, ErrorCode, HostMemoryRequest, MapRequest, QueueKind, RSlice,
    ScratchRequest,
};
use hansa_vkernel::{GpuSpec, Machine, Options};
use std::sync::atomic::Ordering;
use support::{request_memory, ring_bell, within_a_second, QueueMemory, Rig, INACTIVE, WRITE_INDEX};

fn fiji(address_bits: u32) -> GpuSpec {
    GpuSpec {
        address_bits,
        ..GpuSpec::of_version(80_003)
    }
}

fn opened(specs: &[GpuSpec]) -> Rig {
    let rig = Rig::new(Machine::with_gpus(specs), Options::default());
    rig.driver.open().unwrap();
    rig
}

#[test]
fn everything_that_a_device_sees_is_where_it_reaches() {
    for bits in [0, 40, 36, 34] {
        let rig = opened(&[fiji(bits)]);
        let end = 1_u64 << if bits == 0 { 40 } else { bits };
        let node = rig.driver.describe().unwrap().nodes[0].clone();
        assert_eq!(node.attribute(Attribute::ADDRESS_END), Some(end));
        assert_eq!(
            (node.group_aperture_hi, node.private_aperture_hi),
            (0x2000_0000, 0x2000_0001)
        );
        let mut taken = Vec::new();
        for bytes in [4096, 256 << 10, 1 << 20, 64 << 20, 1 << 30] {
            let memory = rig.driver.allocate(&request_memory(0, bytes)).unwrap();
            assert!(memory.device_address + memory.bytes <= end, "{bits}: {memory:?}");
            assert_eq!(memory.host_address, memory.device_address);
            taken.push(memory.handle);
        }
        let scratch = rig
            .driver
            .allocate_scratch(&ScratchRequest {
                node: 0,
                reserved: 0,
                bytes: 1 << 20,
            })
            .unwrap();
        assert!(scratch.device_address + scratch.bytes <= end);
        taken.push(scratch.handle);
        for handle in taken {
            rig.driver.free(handle).unwrap();
        }
        rig.driver.close().unwrap();
        support::assert_closed(&rig, 1);
    }
}

#[test]
fn queues_work_there() {
    let rig = opened(&[fiji(36)]);
    let memory = QueueMemory::new(&rig, &[0]);
    memory
        .slots
        .word(INACTIVE)
        .store(memory.signal.address, Ordering::Relaxed);
    let info = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .unwrap();
    // A barrier that waits for nothing, and a packet of no kind, which the queue's signal is told of.
    memory.ring.word(0).store(3, Ordering::Relaxed);
    memory.ring.word(64).store(9, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(2, Ordering::Release);
    ring_bell(&info, 1);
    within_a_second("the error", || {
        memory.signal.word(8).load(Ordering::Acquire) == 0x20
    });
    rig.driver.destroy_queue(info.queue).unwrap();
    memory.end(&rig);
    rig.assert_no_complaints();
}

/// Memory of the program is wherever it is: it gets an address of its own for devices, and cannot be seen at the host's.
#[test]
fn memory_beyond_is_seen_at_another_address_or_not_at_all() {
    let rig = opened(&[fiji(40)]);
    let text = vec![7_u8; 3 * 4096];
    let start = (text.as_ptr().expose_provenance() as u64).next_multiple_of(4096);
    assert!(start > 1 << 40, "the heap of a program that moves");
    let error = support::register(&rig, start, 4096, &[0]).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_ARGUMENT);
    assert!(
        error.to_string().contains("which end at 0x10000000000"),
        "{error}"
    );
    let locked = rig
        .driver
        .register_host(&HostMemoryRequest {
            address: start,
            bytes: 4096,
            nodes: RSlice::from_slice(&[0]),
            flags: AllocFlags::OWN_ADDRESS,
            reserved: 0,
        })
        .unwrap();
    assert!(locked.device_address + 4096 <= 1 << 40, "{locked:?}");
    rig.driver.free(locked.handle).unwrap();
    rig.assert_no_complaints();
}

/// What one device sees, another may be shown later.
#[test]
fn the_shortest_reach_of_a_machine_is_that_of_all() {
    let rig = opened(&[GpuSpec::default(), fiji(36)]);
    let memory = rig.driver.allocate(&request_memory(0, 4 << 20)).unwrap();
    assert!(memory.device_address + memory.bytes <= 1 << 36, "{memory:?}");
    rig.driver
        .map(&MapRequest {
            handle: memory.handle,
            nodes: RSlice::from_slice(&[1]),
            flags: AllocFlags::empty(),
            reserved: 0,
        })
        .unwrap();
    rig.driver.free(memory.handle).unwrap();
    rig.assert_no_complaints();
}

#[test]
fn a_device_that_reaches_next_to_nothing_is_left_out() {
    let rig = opened(&[fiji(32), GpuSpec::default()]);
    let description = rig.driver.describe().unwrap();
    assert_eq!(description.nodes.len(), 1);
    assert_eq!(description.nodes[0].attribute(Attribute::ADDRESS_END), None);
    let reason = description.hidden[0].as_str();
    assert!(
        reason.contains("Node 1") && reason.contains("leaves no room"),
        "{reason}"
    );
}
