//! A driver's life on the virtual kernel: memory, queues, events, faults, sharing, end.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, ErrorCode, EventKind, ExportKind, QueueKind, QueuePriority};
use hansa_vkernel::{GpuSpec, Machine, Options};
use std::sync::atomic::Ordering;
use std::time::Duration;
use support::{
    assert_closed, register, request_memory, ring_bell, within_a_second, HostPages, QueueMemory, Rig,
    INACTIVE, READ_INDEX, WRITE_INDEX,
};

#[test]
fn open_and_close_leave_nothing_and_can_be_done_again() {
    let rig = Rig::vega10();
    for _ in 0..3 {
        rig.driver.open().unwrap();
        rig.driver.close().unwrap();
        assert_closed(&rig, 1);
        assert!(rig.driver.describe().is_err());
    }
    assert_eq!(rig.host.log.lock().unwrap().len(), 0, "{:?}", rig.host.log);
}

#[test]
fn memory_is_seen_by_host_and_device_and_given_back() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let free = rig.driver.available(0).unwrap();
    let before = (rig.kernel().books(), rig.system.mapped_bytes());
    let a = rig.driver.allocate(&request_memory(0, 3 << 20)).unwrap();
    assert_eq!(a.device_address, a.host_address);
    assert_eq!(a.device_address % (2 << 20), 0);
    assert_eq!(rig.driver.available(0).unwrap(), free - (3 << 20));
    let at = std::ptr::with_exposed_provenance_mut::<u8>(usize::try_from(a.host_address).unwrap());
    // SAFETY: three MiB that were just allocated for the host to write.
    unsafe { at.write_bytes(7, 3 << 20) };
    rig.driver.free(a.handle).unwrap();
    assert_eq!(
        rig.driver.free(a.handle).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    assert_eq!((rig.kernel().books(), rig.system.mapped_bytes()), before);
    rig.driver.close().unwrap();
    assert_closed(&rig, 1);
}

#[test]
fn more_than_there_is_is_out_of_resources() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let error = rig.driver.allocate(&request_memory(0, 1 << 40)).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
    assert_eq!(rig.kernel().books(), before);
}

#[test]
fn memory_without_a_large_bar_has_no_host_address() {
    let small = GpuSpec {
        visible: false,
        ..GpuSpec::default()
    };
    let rig = Rig::new(Machine::with_gpus(&[small]), Options::default());
    rig.driver.open().unwrap();
    let a = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    assert_eq!(a.host_address, 0);
    rig.driver.free(a.handle).unwrap();
}

#[test]
fn host_memory_that_overlaps_is_counted() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let pages = HostPages::new(8 * 4096);
    let at = pages.address;
    let all = [(0, 3), (2, 4), (1, 7), (0, 8)];
    let handles: Vec<_> = all
        .map(|(first, count)| {
            register(&rig, at + first * 4096, count * 4096, &[0])
                .unwrap()
                .handle
        })
        .into();
    assert_eq!(
        rig.kernel().books().mapped,
        before.mapped + 3,
        "pages 0 to 2, 3 to 5, 6 and 7"
    );
    for handle in handles {
        rig.driver.deregister_host(handle).unwrap();
    }
    assert_eq!(rig.kernel().books(), before);
    rig.assert_no_complaints();
}

#[test]
fn shared_virtual_memory_is_seen_by_who_may_use_it() {
    let spec = GpuSpec {
        capability: 0x2280 | 1 << 27,
        ..GpuSpec::default()
    };
    let rig = Rig::new(Machine::with_gpus(&[spec, spec]), Options::default());
    rig.driver.open().unwrap();
    let description = rig.driver.describe().unwrap();
    assert!(description.groups.contains(api::DriverGroups::SVM));
    let before = rig.kernel().books();
    let pages = HostPages::new(4 << 12);
    let set = |attribute: u64, value, nodes: &[u32]| {
        let attribute = api::SvmAttribute {
            attribute,
            value,
            nodes: nodes.iter().copied().collect(),
        };
        rig.driver
            .svm_set(pages.address, pages.bytes, api::RSlice::from_slice(&[attribute]))
    };
    set(0, 1, &[]).unwrap();
    set(4, 0, &[1]).unwrap();
    set(0x201, 0, &[0, 1]).unwrap();
    assert_eq!(rig.kernel().books().mapped, before.mapped + 2);
    set(0x202, 0, &[0, 1]).unwrap();
    assert_eq!(rig.kernel().books(), before);
    assert_eq!(set(0x203, 0, &[0]).unwrap_err().code, ErrorCode::INVALID_ARGUMENT);
    assert_eq!(set(0x200, 0, &[7]).unwrap_err().code, ErrorCode::INVALID_ARGUMENT);
    rig.assert_no_complaints();
    let without = Rig::vega10();
    without.driver.open().unwrap();
    assert!(!without
        .driver
        .describe()
        .unwrap()
        .groups
        .contains(api::DriverGroups::SVM));
}

#[test]
fn locked_memory_has_an_address_of_its_own() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let pages = HostPages::new(2 << 12);
    let request = api::HostMemoryRequest {
        address: pages.address,
        bytes: pages.bytes,
        nodes: api::RSlice::from_slice(&[0]),
        flags: api::AllocFlags::FINE_GRAIN | api::AllocFlags::OWN_ADDRESS,
        reserved: 0,
    };
    // As often as one likes: each has its own.
    let (one, other) = (
        rig.driver.register_host(&request).unwrap(),
        rig.driver.register_host(&request).unwrap(),
    );
    assert_eq!(one.host_address, pages.address);
    assert_ne!(one.device_address, pages.address);
    assert_ne!(one.device_address, other.device_address);
    rig.driver.deregister_host(one.handle).unwrap();
    rig.driver.deregister_host(other.handle).unwrap();
    assert_eq!(rig.kernel().books(), before);
}

/// Programs unmap locked memory without a word, and the system gives the addresses out again.
#[test]
fn memory_where_forgotten_registrations_were_is_new_memory() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let bytes = 256 << 12;
    let forgotten: Vec<_> = (0..4)
        .map(|_| {
            let pages = HostPages::new(bytes);
            let handle = register(&rig, pages.address, bytes, &[0]).unwrap().handle;
            (pages.address, handle)
        })
        .collect();
    let given: Vec<_> = (0..16)
        .map(|_| rig.driver.allocate(&request_memory(0, bytes)).unwrap())
        .collect();
    let again = |address: u64| {
        given
            .iter()
            .any(|a| a.device_address < address + bytes && address < a.device_address + a.bytes)
    };
    assert!(
        forgotten.iter().any(|(address, _)| again(*address)),
        "the system gave other addresses"
    );
    for (_, handle) in forgotten {
        rig.driver.deregister_host(handle).unwrap();
    }
    for allocation in given {
        rig.driver.free(allocation.handle).unwrap();
    }
    assert_eq!(rig.kernel().books(), before);
    rig.assert_no_complaints();
}

#[test]
fn a_peer_sees_memory_until_it_is_unmapped() {
    let rig = Rig::new(Machine::with_gpus(&[GpuSpec::default(); 3]), Options::default());
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let a = rig.driver.allocate(&request_memory(1, 1 << 20)).unwrap();
    let request = |nodes| api::MapRequest {
        handle: a.handle,
        nodes: api::RSlice::from_slice(nodes),
        flags: api::AllocFlags::empty(),
        reserved: 0,
    };
    rig.driver.map(&request(&[0, 1, 2])).unwrap();
    assert_eq!(rig.kernel().books().mapped, before.mapped + 3);
    rig.driver.unmap(&request(&[2])).unwrap();
    assert_eq!(rig.kernel().books().mapped, before.mapped + 2);
    assert_eq!(
        rig.driver.map(&request(&[9])).unwrap_err().code,
        ErrorCode::INVALID_ARGUMENT
    );
    // The second of two new devices fails: the first is undone.
    rig.driver.unmap(&request(&[0])).unwrap();
    rig.kernel()
        .faults
        .script("MAP_MEMORY_TO_GPU device=12x1+1")
        .unwrap();
    assert_eq!(
        rig.driver.map(&request(&[0, 2])).unwrap_err().code,
        ErrorCode::OUT_OF_RESOURCES
    );
    assert_eq!(rig.kernel().books().mapped, before.mapped + 1);
    rig.driver.free(a.handle).unwrap();
    assert_eq!(rig.kernel().books(), before);
    rig.driver.close().unwrap();
    assert_closed(&rig, 3);
}

/// A barrier packet goes through ring, doorbell, packet processor, signal, mailbox and event.
#[test]
fn a_queue_runs_packets_and_wakes_a_waiter() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[0]);
    let event = rig.signal_event();
    let info = rig
        .driver
        .create_queue(&memory.request(0, 3, QueueKind::AQL))
        .unwrap();
    let signal = &memory.signal;
    signal.word(8).store(1, Ordering::Relaxed);
    signal.word(16).store(event.mailbox, Ordering::Relaxed);
    signal.word(24).store(event.event.into(), Ordering::Relaxed);
    assert!(!rig
        .driver
        .wait_events([event.event][..].into(), [][..].into(), true, 0)
        .unwrap());
    memory.ring.word(56).store(signal.address, Ordering::Relaxed);
    memory.ring.word(0).store(3 | 1 << 8, Ordering::Release);
    memory
        .slots
        .word(3 * 4096 + WRITE_INDEX)
        .store(1, Ordering::Release);
    ring_bell(&info, 0);
    assert!(rig
        .driver
        .wait_events([event.event][..].into(), [][..].into(), true, 5000)
        .unwrap());
    assert_eq!(signal.word(8).load(Ordering::Acquire), 0);
    within_a_second("the read index", || {
        memory.slots.word(3 * 4096 + READ_INDEX).load(Ordering::Acquire) == 1
    });
    rig.driver.destroy_event(event.event).unwrap();
    rig.driver.destroy_queue(info.queue).unwrap();
    assert_eq!(
        rig.driver.destroy_queue(info.queue).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
    memory.end(&rig);
    rig.driver.close().unwrap();
    assert_closed(&rig, 1);
}

/// Every described chip: the kernel's checks of queue buffers since 6.12 are met.
#[test]
fn queues_of_every_chip_pass_the_kernels_checks() {
    for chip in hansa_kfd::chip::CHIPS {
        let t = chip.target;
        let version = u32::from(t.major) * 10_000 + u32::from(t.minor) * 100 + u32::from(t.step);
        let rig = Rig::new(
            Machine::with_gpus(&[GpuSpec::of_version(version); 2]),
            Options::default(),
        );
        rig.driver.open().unwrap();
        assert_eq!(rig.driver.describe().unwrap().nodes[1].name, t.to_string());
        let memory = QueueMemory::new(&rig, &[0, 1]);
        memory.slots.word(5 * 4096 + 40).store(0x55, Ordering::Relaxed);
        let made: Vec<_> = [
            (1, 5, QueueKind::AQL),
            (0, 6, QueueKind::AQL),
            (1, 7, QueueKind::DMA),
        ]
        .into_iter()
        .map(|(node, slot, kind)| {
            let request = memory.request(node, slot, kind);
            rig.driver
                .create_queue(&request)
                .unwrap_or_else(|e| panic!("{t} {kind:?}: {e}"))
        })
        .collect();
        assert_eq!(
            memory.slots.word(5 * 4096 + 40).load(Ordering::Relaxed),
            0x55,
            "contents are kept"
        );
        assert_ne!(made[0].doorbell.address, made[2].doorbell.address);
        let cooperative = rig
            .driver
            .create_queue(&memory.request(0, 8, QueueKind::COOPERATIVE))
            .unwrap();
        rig.driver.destroy_queue(cooperative.queue).unwrap();
        for info in &made {
            rig.driver.destroy_queue(info.queue).unwrap();
        }
        memory.end(&rig);
        rig.driver.close().unwrap();
        assert_closed(&rig, 2);
    }
}

#[test]
fn a_dispatch_that_nobody_can_run_ends_in_the_inactive_signal() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[0]);
    memory
        .slots
        .word(INACTIVE)
        .store(memory.signal.address, Ordering::Relaxed);
    let info = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .unwrap();
    memory.ring.word(0).store(2 | 1 << 16, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(1, Ordering::Release);
    ring_bell(&info, 0);
    within_a_second("the code", || memory.signal.word(8).load(Ordering::Acquire) == 8);
    rig.driver.destroy_queue(info.queue).unwrap();
}

#[test]
fn a_wild_signal_is_a_memory_fault_that_is_reported() {
    let rig = Rig::new(Machine::with_gpus(&[GpuSpec::default(); 2]), Options::default());
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[1]);
    let info = rig
        .driver
        .create_queue(&memory.request(1, 0, QueueKind::AQL))
        .unwrap();
    memory.ring.word(56).store(0xdead_0000, Ordering::Relaxed);
    memory.ring.word(0).store(3, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(1, Ordering::Release);
    ring_bell(&info, 0);
    within_a_second("the report", || !rig.host.reports.lock().unwrap().is_empty());
    let report = rig.host.reports.lock().unwrap()[0].clone();
    assert_eq!(
        (report.kind, report.node),
        (api::DeviceEventKind::MEMORY_FAULT, 1)
    );
    assert_eq!(report.address & !0xfff, 0xdead_0000);
    assert!(report.flags.contains(api::FaultFlags::PAGE_NOT_PRESENT));
    assert!(report.message.contains("GPU node 2"), "{}", report.message);
    rig.driver.close().unwrap();
}

#[test]
fn a_copy_engine_copies_between_host_and_device() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[0]);
    let info = rig
        .driver
        .create_queue(&memory.request(0, 1, QueueKind::DMA))
        .unwrap();
    let local = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    memory
        .signal
        .word(1024)
        .store(0x1122_3344_5566_7788, Ordering::Relaxed);
    let (from, to) = (memory.signal.address + 1024, local.device_address);
    let words: [u32; 18] = {
        let [fl, fh] = hansa_kfd::event::halves(from);
        let [tl, th] = hansa_kfd::event::halves(to);
        let [sl, sh] = hansa_kfd::event::halves(memory.signal.address + 8);
        let [wl, wh] = hansa_kfd::event::halves(to + 64);
        [
            1, 7, 0, fl, fh, tl, th, 2, wl, wh, 1, 0xaa, 0xbb, 5, sl, sh, 42, 0,
        ]
    };
    for (i, pair) in words.chunks(2).enumerate() {
        let value = u64::from(pair[0]) | u64::from(pair[1]) << 32;
        memory.ring.word(i as u64 * 8).store(value, Ordering::Relaxed);
    }
    memory.slots.word(4096 + WRITE_INDEX).store(68, Ordering::Release);
    ring_bell(&info, 68);
    within_a_second("the fence", || {
        memory.signal.word(8).load(Ordering::Acquire) == 42
    });
    let at = std::ptr::with_exposed_provenance::<u64>(usize::try_from(local.host_address).unwrap());
    // SAFETY: a page of device memory that the host sees.
    assert_eq!(unsafe { at.read_volatile() }, 0x1122_3344_5566_7788);
    // SAFETY: as above.
    assert_eq!(unsafe { at.wrapping_add(8).read_volatile() }, 0xbb_0000_00aa);
    rig.driver.destroy_queue(info.queue).unwrap();
    rig.assert_no_complaints();
}

#[test]
fn updates_reach_the_kernel() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let memory = QueueMemory::new(&rig, &[0]);
    let info = rig
        .driver
        .create_queue(&memory.request(0, 0, QueueKind::AQL))
        .unwrap();
    let update = api::QueueUpdate {
        priority: QueuePriority::HIGH,
        percent: 0,
        cu_mask: api::RSlice::from_slice(&[0xff, 0]),
    };
    rig.driver.update_queue(info.queue, &update).unwrap();
    let id = u32::try_from(info.queue).unwrap();
    let queue = rig.kernel().process().queues.get(id).unwrap().clone();
    assert_eq!((queue.percent, queue.request.queue_priority), (0, 11));
    assert_eq!(queue.cu_mask, [0xff, 0]);
    assert_eq!(
        rig.driver.update_queue(99, &update).unwrap_err().code,
        ErrorCode::INVALID_HANDLE
    );
}

#[test]
fn memory_is_shared_through_a_dma_buf() {
    let rig = Rig::new(Machine::with_gpus(&[GpuSpec::default(); 2]), Options::default());
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let a = rig.driver.allocate(&request_memory(0, 1 << 20)).unwrap();
    let shared = rig.driver.export_memory(a.handle, ExportKind::DMA_BUF).unwrap();
    let b = rig
        .driver
        .import_memory(&api::ImportRequest {
            shared,
            bytes: 0,
            nodes: api::RSlice::from_slice(&[0, 1]),
        })
        .unwrap();
    assert_eq!(b.bytes, 1 << 20);
    assert_ne!(b.device_address, a.device_address);
    rig.driver.free(a.handle).unwrap();
    rig.driver.free(b.handle).unwrap();
    assert_eq!(rig.kernel().books(), before);
    assert_eq!(
        rig.driver
            .export_memory(a.handle, ExportKind::DMA_BUF)
            .unwrap_err()
            .code,
        ErrorCode::INVALID_HANDLE
    );
}

/// What a kernel does not have is not supported, and says which version has it.
#[test]
fn an_old_kernel_has_less() {
    let rig = Rig::new(
        Machine::vega10(),
        Options {
            minor: 1,
            ..Options::default()
        },
    );
    rig.driver.open().unwrap();
    let a = rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    for error in [
        rig.driver.available(0).unwrap_err(),
        rig.driver
            .export_memory(a.handle, ExportKind::DMA_BUF)
            .unwrap_err(),
        rig.driver.export_memory(a.handle, ExportKind::IPC).unwrap_err(),
    ] {
        assert_eq!(error.code, ErrorCode::NOT_SUPPORTED, "{error}");
    }
    rig.assert_no_complaints();
}

#[test]
fn events_run_out_cleanly_and_come_back() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let request = api::EventRequest {
        kind: EventKind::SIGNAL,
        manual_reset: 0,
        node: 0,
        reserved: 0,
    };
    let mut events = Vec::new();
    let error = loop {
        match rig.driver.create_event(&request) {
            Ok(event) => events.push(event),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES, "{error}");
    assert_eq!(events.len(), 4095, "one is the driver's own");
    assert!(events.windows(2).all(|pair| pair[0].mailbox != pair[1].mailbox));
    rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    rig.driver.destroy_event(events[17].event).unwrap();
    assert_eq!(
        rig.driver.create_event(&request).unwrap().mailbox,
        events[17].mailbox
    );
    rig.driver.close().unwrap();
    assert_closed(&rig, 1);
}

#[test]
fn an_event_that_is_destroyed_ends_its_waits() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let event = rig
        .driver
        .create_event(&api::EventRequest {
            kind: EventKind::SIGNAL,
            manual_reset: 1,
            node: 0,
            reserved: 0,
        })
        .unwrap()
        .event;
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            rig.driver
                .wait_events([event][..].into(), [][..].into(), true, u32::MAX)
        });
        within_a_second("the waiter", || {
            rig.kernel().process().events.get(event).unwrap().waiters() == 1
        });
        rig.driver.destroy_event(event).unwrap();
        assert!(waiter.join().unwrap().is_err());
    });
}

#[test]
fn clocks_go_on_and_have_a_frequency() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let a = rig.driver.clock_counters(0).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    let b = rig.driver.clock_counters(0).unwrap();
    assert!(b.device > a.device && b.system > a.system && a.system_hz == 1_000_000_000);
    assert_eq!(rig.driver.describe().unwrap().nodes[0].timestamp_hz, 100_000_000);
}

/// A child process has the parent's objects and none of its rights.
#[test]
fn after_a_fork_the_child_gets_a_defined_error() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    rig.driver.allocate(&request_memory(0, 4096)).unwrap();
    rig.driver.after_fork().unwrap();
    let error = rig.driver.allocate(&request_memory(0, 4096)).unwrap_err();
    assert_eq!(error.code, ErrorCode::DEVICE_LOST);
    rig.driver.close().unwrap();
    assert_eq!(rig.system.open_files(), 0);
}
