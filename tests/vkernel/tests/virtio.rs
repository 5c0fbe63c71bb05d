//! A driver in a virtual machine: messages to a host whose library stands on the virtual `/dev/kfd`.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_kfd_virtio::discover;
use hansa_plugin_api as api;
use hansa_plugin_api::sys::{Errno, System};
use hansa_plugin_api::{AgentCaps, BankKind, Driver, DriverGroups, ErrorCode};
use hansa_vkernel::virtio::{Guest, Shape, UserMemory};
use hansa_vkernel::{GpuSpec, Kernel, Machine};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use support::virtio::{word, GuestRig, Sum};
use support::{HostPages, Rig};

fn probed(shape: Shape) -> api::Result<Vec<String>> {
    let kernel = Kernel::new(Machine::vega10(), Guest::host_options(), None).unwrap();
    let guest = Guest::new(kernel, shape);
    let seen = Arc::clone(&guest) as Arc<dyn System>;
    let outcome = discover::probe(&seen);
    assert_eq!(guest.books().files, 0);
    assert_eq!(guest.kernel().complaints(), Vec::<String>::new());
    Ok(outcome?)
}

#[test]
fn a_node_that_leads_to_amds_driver_is_found_among_others() {
    let shape = Shape {
        nodes: vec![(128, "i915"), (130, "virtio_gpu")],
        ..Shape::default()
    };
    assert_eq!(probed(shape).unwrap(), ["/dev/dri/renderD130"]);
}

#[test]
fn every_node_that_is_not_used_has_a_reason() {
    let without = |parameter: u64| {
        let mut shape = Shape::default();
        shape.parameters.remove(&parameter);
        shape
    };
    let capset = |capset| Shape {
        capset,
        ..Shape::default()
    };
    let rows = [
        (
            Shape {
                nodes: Vec::new(),
                ..Shape::default()
            },
            "There is no render node",
        ),
        (
            Shape {
                nodes: vec![(128, "amdgpu")],
                ..Shape::default()
            },
            "/dev/dri/renderD128: it belongs to amdgpu",
        ),
        (without(3), "no resources of memory"),
        (without(4), "no memory of the host that can be mapped (hostmem=)"),
        (without(6), "no contexts of other kinds"),
        (without(7), "no compute context (capability set 8 is not in 0x0)"),
        (capset([0, 1, 0, 0, 2, 0]), "compute context is of kind 2"),
        (capset([1, 1, 0, 0, 1, 0]), "speaks format 1"),
    ];
    for (shape, words) in rows {
        let error = probed(shape).unwrap_err();
        assert_eq!(error.code, ErrorCode::NO_DEVICE, "{error}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[test]
fn a_node_that_may_not_be_opened_is_named() {
    let kernel = Kernel::new(Machine::vega10(), Guest::host_options(), None).unwrap();
    let guest = Guest::new(kernel, Shape::default());
    guest.kernel().faults.always("open /dev/dri/*", Errno::ACCESS);
    let seen = Arc::clone(&guest) as Arc<dyn System>;
    let error = api::Error::from(discover::probe(&seen).unwrap_err());
    assert_eq!(error.code, ErrorCode::PERMISSION, "{error}");
    assert_eq!(error.place.as_str(), "/dev/dri/renderD128");
}

/// The same machine, described from the host's messages and from the files of its kernel.
#[test]
fn a_gpu_is_described_as_outside() {
    let specs = [GpuSpec::of_version(90_010), GpuSpec::default()];
    let guest = GuestRig::new(Machine::with_gpus(&specs), Shape::default());
    let outside = Rig::new(Machine::with_gpus(&specs), hansa_vkernel::Options::default());
    guest.driver.open().unwrap();
    outside.driver.open().unwrap();
    let (ours, theirs) = (
        guest.driver.describe().unwrap(),
        outside.driver.describe().unwrap(),
    );
    assert_eq!(ours.nodes.len(), 2);
    assert_eq!(ours.links.len(), theirs.links.len());
    for (a, b) in ours.links.iter().zip(&theirs.links) {
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }
    for (a, b) in ours.nodes.iter().zip(&theirs.nodes) {
        assert!(a.caps.contains(AgentCaps::SHARED_ADDRESSES) && !a.caps.contains(AgentCaps::COOPERATIVE));
        let mut a = a.clone();
        let local = |bank: &api::MemoryBank| bank.kind == BankKind::LOCAL;
        assert!(a
            .banks
            .iter()
            .any(|bank| bank.kind == BankKind::HOST && bank.bytes == 25_276_059_648));
        a.banks.retain(local);
        // What differs is what virtio-gpu cannot do, the place of the node, and what only the graphics driver knows.
        (a.caps, a.dma_engines, a.dma_link_engines) = (b.caps, b.dma_engines, b.dma_link_engines);
        (a.attributes, a.product) = (b.attributes.clone(), b.product.clone());
        assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }
    assert!(ours.groups.contains(DriverGroups::HOST_MEMORY));
    guest.end();
}

#[test]
fn a_sum_runs_through_messages_and_the_hosts_kernel() {
    let rig = GuestRig::vega10();
    for _ in 0..2 {
        rig.driver.open().unwrap();
        let sum = Sum::new(&rig).unwrap();
        for index in 0..70 {
            sum.run(index);
        }
        sum.end(&rig).unwrap();
        rig.driver.close().unwrap();
    }
    rig.end();
}

#[test]
fn an_error_of_a_queue_reaches_its_inactive_signal() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let (sum, other) = (Sum::new(&rig).unwrap(), Sum::new(&rig).unwrap());
    sum.run(0);
    assert_ne!(sum.spoil(1), 0);
    other.run(0);
    rig.end();
}

#[test]
fn queues_of_other_kinds_are_not_supported() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    for kind in [api::QueueKind::DMA, api::QueueKind::COOPERATIVE] {
        let request = api::QueueRequest {
            node: 0,
            kind,
            priority: api::QueuePriority::NORMAL,
            engine: u32::MAX,
            ring_address: 0,
            ring_bytes: 4096,
            descriptor_address: 0,
            write_index_address: 0,
            read_index_address: 0,
            exception_address: 0,
            event: 0,
            percent: 100,
        };
        let error = rig.driver.create_queue(&request).unwrap_err();
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED, "{error}");
    }
    rig.end();
}

#[test]
fn memory_that_a_queue_uses_outlives_what_the_program_frees() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let sum = Sum::new(&rig).unwrap();
    let before = rig.kernel().books().buffers;
    for handle in &sum.handles[..2] {
        rig.driver.free(*handle).unwrap();
    }
    assert_eq!(rig.kernel().books().buffers, before);
    rig.driver.destroy_queue(sum.info.queue).unwrap();
    // Descriptor and ring, and the two buffers of the host's library.
    assert_eq!(rig.kernel().books().buffers, before - 4);
    rig.end();
}

#[test]
fn memory_is_seen_by_host_and_device_and_given_back() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let free = rig.driver.available(0).unwrap();
    let before = (rig.kernel().books(), rig.guest.books());
    let a = rig.allocate(BankKind::LOCAL, 3 << 20).unwrap();
    assert_eq!(a.device_address, a.host_address);
    assert_eq!(rig.driver.available(0).unwrap(), free - (3 << 20));
    word(a.host_address + (3 << 20) - 8).store(7, Ordering::Relaxed);
    rig.driver.free(a.handle).unwrap();
    assert_eq!(
        rig.driver.free(a.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!((rig.kernel().books(), rig.guest.books()), before);
    // More than there is leaves nothing either.
    let error = rig.allocate(BankKind::LOCAL, 1 << 34).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
    assert_eq!((rig.kernel().books(), rig.guest.books()), before);
    rig.end();
}

#[test]
fn alignment_beyond_the_hosts_is_kept() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let bank = rig.driver.describe().unwrap().nodes[0].banks.len() - 1;
    let first = rig.allocate(BankKind::HOST, 4096).unwrap();
    let request = api::AllocRequest {
        bank: u32::try_from(bank).unwrap(),
        alignment: 1 << 20,
        ..support::request_memory(0, 4096)
    };
    let aligned = rig.driver.allocate(&request).unwrap();
    assert_eq!(aligned.device_address % (1 << 20), 0);
    assert_ne!(aligned.device_address, first.device_address);
    word(aligned.host_address).store(1, Ordering::Relaxed);
    rig.end();
}

/// AMD's guest finds allocations by their first address only.
#[test]
fn a_part_of_an_allocation_is_known_by_any_address_in_it() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let a = rig.allocate(BankKind::HOST, 8 * 4096).unwrap();
    let before = rig.kernel().books();
    let part = rig.register(a.host_address + 3 * 4096, 2 * 4096, false).unwrap();
    assert_eq!(part.device_address, a.host_address + 3 * 4096);
    assert_eq!(rig.kernel().books(), before);
    rig.driver.deregister_host(part.handle).unwrap();
    assert_eq!(rig.kernel().books(), before);
    // Beyond its end is other memory.
    assert!(rig.register(a.host_address + 7 * 4096, 2 * 4096, false).is_err());
    rig.end();
}

#[test]
fn memory_is_mapped_to_exactly_the_nodes_that_were_named() {
    let rig = GuestRig::new(
        Machine::with_gpus(&[GpuSpec::default(), GpuSpec::default()]),
        Shape::default(),
    );
    rig.driver.open().unwrap();
    let a = rig.allocate(BankKind::LOCAL, 4096).unwrap();
    let before = rig.kernel().books().mapped;
    let request = |nodes: &'static [u32]| api::MapRequest {
        handle: a.handle,
        nodes: api::RSlice::from_slice(nodes),
        flags: api::AllocFlags::empty(),
        reserved: 0,
    };
    rig.driver.map(&request(&[1])).unwrap();
    assert_eq!(rig.kernel().books().mapped, before + 1);
    rig.driver.unmap(&request(&[0])).unwrap();
    assert_eq!(rig.kernel().books().mapped, before);
    rig.driver.unmap(&request(&[1])).unwrap();
    assert_eq!(rig.kernel().books().mapped, before - 1);
    assert_eq!(
        rig.driver.map(&request(&[7])).unwrap_err().code,
        ErrorCode::INVALID_ARGUMENT
    );
    rig.end();
}

#[test]
fn memory_of_the_program_is_seen_where_the_host_has_it() {
    let pages = HostPages::new(4 * 4096);
    let rows = [
        (UserMemory::Same, false, Ok(true)),
        (UserMemory::Same, true, Ok(true)),
        (UserMemory::Elsewhere, true, Ok(false)),
        (UserMemory::Elsewhere, false, Err(ErrorCode::FAILED)),
        (UserMemory::Refused, true, Err(ErrorCode::FAILED)),
    ];
    for (user_memory, own, outcome) in rows {
        let rig = GuestRig::new(
            Machine::vega10(),
            Shape {
                user_memory,
                ..Shape::default()
            },
        );
        rig.driver.open().unwrap();
        let before = (rig.kernel().books(), rig.guest.books());
        let made = rig.register(pages.address, pages.bytes, own);
        match (made, outcome) {
            (Ok(made), Ok(same)) => {
                assert_eq!(made.device_address == pages.address, same, "{user_memory:?}");
                assert_eq!(rig.kernel().books().mapped, before.0.mapped + 1);
                rig.driver.deregister_host(made.handle).unwrap();
            }
            (Err(error), Err(code)) => assert_eq!(error.code, code, "{error}"),
            (made, _) => panic!("{user_memory:?}, {own}: {made:?}"),
        }
        assert_eq!(
            (rig.kernel().books(), rig.guest.books()),
            before,
            "{user_memory:?}"
        );
        rig.end();
    }
}

#[test]
fn private_memory_is_given_in_pieces() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let piece = |bytes| {
        rig.driver.allocate_scratch(&api::ScratchRequest {
            node: 0,
            reserved: 0,
            bytes,
        })
    };
    let first = piece(100_000).unwrap();
    let second = piece(4096).unwrap();
    assert!(second.device_address >= first.device_address + first.bytes);
    assert_eq!(first.host_address, 0);
    let before = rig.kernel().books();
    rig.driver.free(first.handle).unwrap();
    let again = piece(65_536).unwrap();
    assert_eq!(again.device_address, first.device_address);
    assert_eq!(rig.kernel().books(), before);
    assert_eq!(
        rig.driver.free(first.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!(piece(1 << 40).unwrap_err().code, ErrorCode::OUT_OF_RESOURCES);
    rig.end();
}

#[test]
fn events_are_raised_lowered_and_waited_for() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let create = |kind, manual_reset| {
        rig.driver.create_event(&api::EventRequest {
            kind,
            manual_reset,
            node: 0,
            reserved: 0,
        })
    };
    let manual = create(api::EventKind::SIGNAL, 1).unwrap();
    let once = create(api::EventKind::SIGNAL, 0).unwrap();
    assert_ne!((manual.event, manual.mailbox), (once.event, once.mailbox));
    let wait = |events: &[u32], all, ms| {
        let none = api::RSlice::from_slice(&[]);
        rig.driver
            .wait_events(api::RSlice::from_slice(events), none, all, ms)
            .unwrap()
    };
    assert!(!wait(&[manual.event, once.event], false, 1));
    rig.driver.set_event(manual.event).unwrap();
    assert!(wait(&[once.event, manual.event], false, 1000));
    assert!(!wait(&[once.event, manual.event], true, 1));
    rig.driver.set_event(once.event).unwrap();
    assert!(wait(&[once.event, manual.event], true, 1000));
    rig.driver.reset_event(manual.event).unwrap();
    assert!(!wait(&[once.event, manual.event], false, 1));
    rig.driver.destroy_event(once.event).unwrap();
    assert_eq!(
        rig.driver.set_event(once.event).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!(
        create(api::EventKind::MEMORY_FAULT, 0).unwrap_err().code,
        ErrorCode::NOT_SUPPORTED
    );
    rig.end();
}

#[test]
fn what_lasts_is_there_for_the_next_driver_and_no_longer_than_the_process() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let bank = rig.driver.describe().unwrap().nodes[0].banks.len() - 1;
    let request = api::AllocRequest {
        bank: u32::try_from(bank).unwrap(),
        flags: api::AllocFlags::LASTING,
        ..support::request_memory(0, 4096)
    };
    let pages: Vec<_> = (0..4).map(|_| rig.driver.allocate(&request).unwrap()).collect();
    let address = pages[0].host_address;
    word(address + 8).store(9, Ordering::Relaxed);
    rig.driver.close().unwrap();
    assert_eq!(word(address + 8).load(Ordering::Relaxed), 9);
    rig.driver.open().unwrap();
    // Several allocations side by side are one range.
    let mapped = rig.kernel().books().mapped;
    let all = rig.register(address, 4 * 4096, false).unwrap();
    assert_eq!(
        (all.device_address, rig.kernel().books().mapped),
        (address, mapped)
    );
    assert!(rig.register(address, 5 * 4096, false).is_err());
    rig.driver.close().unwrap();
    assert_eq!(rig.kernel().complaints(), Vec::<String>::new());
}

#[test]
fn addresses_that_the_process_uses_are_not_taken() {
    let rig = GuestRig::vega10();
    rig.kernel().faults.once("reserve", Errno::EXIST);
    let error = rig.driver.open().unwrap_err();
    assert_eq!(error.errno, Errno::EXIST.raw_os_error(), "{error}");
    // Another context has other addresses.
    rig.driver.open().unwrap();
    rig.end();
}

#[test]
fn clocks_are_those_of_the_device_and_of_the_guest() {
    let rig = GuestRig::vega10();
    rig.driver.open().unwrap();
    let (first, second) = (
        rig.driver.clock_counters(0).unwrap(),
        rig.driver.clock_counters(0).unwrap(),
    );
    assert!(second.device >= first.device && first.device != 0);
    // The recording host's time stands still.
    assert_eq!((first.system, first.system_hz), (0, 1_000_000_000));
    rig.end();
}
