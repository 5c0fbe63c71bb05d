//! Every request fails once with each plausible errno: the right error, nothing left in the books, and the next
//! call works.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, ErrorCode, EventKind, ExportKind, QueueKind, QueuePriority};
use hansa_vkernel::{Errno, GpuSpec, Machine, Options, Rule};
use support::{register, request_memory, within_a_second, HostPages, Rig};

/// What a kernel answers when it refuses.
const ERRNOS: [Errno; 8] = [
    Errno::NOMEM,
    Errno::INVAL,
    Errno::PERM,
    Errno::BUSY,
    Errno::NODEV,
    Errno::NOSPC,
    Errno::FAULT,
    Errno::IO,
];

fn expected(errno: Errno) -> ErrorCode {
    api::Error::os(errno.raw_os_error(), "", "").code
}

fn rig() -> Rig {
    Rig::new(
        Machine::with_gpus(&[GpuSpec::of_version(110_000), GpuSpec::of_version(90_000)]),
        Options::default(),
    )
}

/// A rig whose driver is open, and whose thread that watches for faults is where it stays: in its wait.
fn open_rig() -> Rig {
    let rig = rig();
    rig.driver.open().unwrap();
    within_a_second("the watch", || {
        rig.kernel().faults.counts().contains_key("WAIT_EVENTS")
    });
    rig
}

/// Everything a program does with a driver, once; answers the first error.
fn everything(rig: &Rig, pages: &[HostPages; 3]) -> api::Result<()> {
    let driver = &rig.driver;
    let nodes = [0, 1];
    let mut undo: Vec<Box<dyn Fn() -> api::Result<()> + '_>> = Vec::new();
    let outcome = (|| {
        driver.available(0)?;
        driver.clock_counters(1)?;
        let a = driver.allocate(&request_memory(0, 1 << 20))?;
        undo.push(Box::new(move || driver.free(a.handle)));
        let map = api::MapRequest {
            handle: a.handle,
            nodes: api::RSlice::from_slice(&[1]),
            flags: api::AllocFlags::empty(),
            reserved: 0,
        };
        driver.map(&map)?;
        driver.unmap(&map)?;
        let shared = driver.export_memory(a.handle, ExportKind::DMA_BUF)?;
        let b = driver.import_memory(&api::ImportRequest {
            shared,
            bytes: 0,
            nodes: api::RSlice::from_slice(&nodes),
        })?;
        undo.push(Box::new(move || driver.free(b.handle)));
        let scratch = driver.allocate_scratch(&api::ScratchRequest {
            node: 0,
            reserved: 0,
            bytes: 1 << 20,
        })?;
        undo.push(Box::new(move || driver.free(scratch.handle)));
        for pages in pages {
            let handle = register(rig, pages.address, pages.bytes, &nodes)?.handle;
            undo.push(Box::new(move || driver.deregister_host(handle)));
        }
        let event = driver.create_event(&api::EventRequest {
            kind: EventKind::SIGNAL,
            manual_reset: 1,
            node: 0,
            reserved: 0,
        })?;
        undo.push(Box::new(move || driver.destroy_event(event.event)));
        driver.set_event(event.event)?;
        driver.wait_events([event.event][..].into(), [][..].into(), true, 0)?;
        driver.reset_event(event.event)?;
        for (slot, kind) in [
            (0, QueueKind::AQL),
            (1, QueueKind::DMA),
            (2, QueueKind::COOPERATIVE),
        ] {
            let at = pages[0].address + slot * 4096;
            let info = driver.create_queue(&api::QueueRequest {
                node: 0,
                kind,
                priority: QueuePriority::NORMAL,
                engine: u32::MAX,
                ring_address: pages[1].address,
                ring_bytes: pages[1].bytes,
                descriptor_address: at,
                write_index_address: at + 56,
                read_index_address: at + 128,
                exception_address: 0,
                event: 0,
                percent: 100,
            })?;
            undo.push(Box::new(move || driver.destroy_queue(info.queue)));
            driver.update_queue(
                info.queue,
                &api::QueueUpdate {
                    priority: QueuePriority::LOW,
                    percent: 50,
                    cu_mask: api::RSlice::from_slice(&[1]),
                },
            )?;
        }
        driver.set_trap_handler(0, a.device_address, 4096, 0, 0)
    })();
    // What fails on the way down is tried once more, as a careful program does.
    let mut down = Ok(());
    for step in undo.iter().rev() {
        if let Err(error) = step() {
            down = down.and(Err(error));
            // The object is gone all the same, or it goes now.
            match step() {
                Ok(()) => {}
                Err(again) => assert_eq!(again.code, ErrorCode::INVALID_HANDLE, "{again}"),
            }
        }
    }
    outcome.and(down)
}

fn fresh_pages() -> [HostPages; 3] {
    [16, 1, 4].map(|pages| HostPages::new(pages * 4096))
}

/// Calls of one round that goes well: name and how often.
fn calls() -> Vec<(String, u32)> {
    let rig = open_rig();
    let pages = fresh_pages();
    everything(&rig, &pages).unwrap();
    let before = rig.kernel().faults.counts();
    everything(&rig, &pages).unwrap();
    rig.assert_no_complaints();
    rig.kernel()
        .faults
        .counts()
        .into_iter()
        .map(|(call, count)| {
            let more = count - before.get(&call).copied().unwrap_or(0);
            (call, more)
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[test]
fn each_call_fails_once_with_each_errno_and_the_next_works() {
    let calls = calls();
    let names: Vec<&str> = calls.iter().map(|(call, _)| call.as_str()).collect();
    for needed in [
        "ALLOC_MEMORY_OF_GPU",
        "FREE_MEMORY_OF_GPU",
        "MAP_MEMORY_TO_GPU",
        "UNMAP_MEMORY_FROM_GPU",
        "CREATE_QUEUE",
        "DESTROY_QUEUE",
        "UPDATE_QUEUE",
        "SET_CU_MASK",
        "ALLOC_QUEUE_GWS",
        "CREATE_EVENT",
        "DESTROY_EVENT",
        "SET_EVENT",
        "RESET_EVENT",
        "WAIT_EVENTS",
        "GET_CLOCK_COUNTERS",
        "AVAILABLE_MEMORY",
        "EXPORT_DMABUF",
        "GET_DMABUF_INFO",
        "IMPORT_DMABUF",
        "SET_TRAP_HANDLER",
        "mmap render",
        "mmap nothing",
    ] {
        assert!(names.contains(&needed), "{needed} is not called: {names:?}");
    }
    let rig = open_rig();
    let pages = fresh_pages();
    // Doorbells and what else is made once.
    everything(&rig, &pages).unwrap();
    let before = (rig.kernel().books(), rig.system.open_files());
    let mapped = rig.system.mapped_bytes();
    let mut cells = 0;
    for (call, times) in &calls {
        for errno in ERRNOS {
            for after in 0..*times {
                let name = format!("{call} number {after} with {errno}");
                rig.kernel().faults.add(Rule {
                    call: call.clone(),
                    errno,
                    after,
                    times: 1,
                });
                let outcome = everything(&rig, &pages);
                assert_eq!(rig.kernel().faults.clear(), 0, "{name} was not reached");
                if call == "munmap" {
                    // Address space that the system does not take back is no matter for the program.
                    outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
                } else if let Err(error) = outcome {
                    assert_eq!(error.code, expected(errno), "{name}: {error}");
                    assert_eq!(error.errno, errno.raw_os_error(), "{name}: {error}");
                } else {
                    // Only a failure that has a way around, or a second try, may pass unseen.
                    let may = [
                        "ALLOC_MEMORY_OF_GPU",
                        "FREE_MEMORY_OF_GPU",
                        "UNMAP_MEMORY_FROM_GPU",
                    ];
                    assert!(may.contains(&call.as_str()), "{name} passed unseen");
                }
                let now = (rig.kernel().books(), rig.system.open_files());
                assert_eq!(now, before, "{name}");
                everything(&rig, &pages).unwrap_or_else(|error| panic!("after {name}: {error}"));
                cells += 1;
            }
        }
    }
    assert!(cells > 300, "{cells}");
    rig.assert_no_complaints();
    let now = rig.system.mapped_bytes();
    // What `munmap` refused stays mapped, and nothing else does.
    let refused = calls
        .iter()
        .find(|(call, _)| call == "munmap")
        .map_or(0, |(_, times)| *times);
    assert!(
        now - mapped <= refused as usize * ERRNOS.len() * (16 << 20),
        "{now} {mapped}"
    );
    rig.driver.close().unwrap();
    assert_eq!((rig.kernel().books().queues, rig.kernel().books().events), (0, 0));
}

/// Opening: each call fails with each errno, and the driver opens afterwards.
#[test]
fn each_call_of_opening_fails_and_the_next_try_works() {
    let probe = rig();
    probe.driver.open().unwrap();
    let calls = probe.kernel().faults.counts();
    for (call, times) in calls
        .into_iter()
        .filter(|(call, _)| !call.starts_with("read ") && call != "munmap")
    {
        for errno in ERRNOS {
            for after in 0..times {
                let rig = rig();
                rig.kernel().faults.add(Rule {
                    call: call.clone(),
                    errno,
                    after,
                    times: 1,
                });
                let outcome = rig.driver.open();
                rig.kernel().faults.clear();
                if outcome.is_err() {
                    assert_eq!(rig.kernel().books().queues, 0);
                    rig.driver
                        .open()
                        .unwrap_or_else(|error| panic!("{call} {after} {errno}: {error}"));
                }
                let banks = &rig.driver.describe().unwrap().nodes[0].banks;
                // A list of banks that cannot be read leaves none, and says so.
                assert_eq!(
                    banks.is_empty(),
                    call.contains("mem_banks") && outcome.is_ok() && call.contains("nodes/1")
                );
                if !banks.is_empty() {
                    rig.driver.allocate(&request_memory(0, 4096)).unwrap();
                }
                rig.driver.close().unwrap();
                let books = rig.kernel().books();
                assert!(
                    books.buffers <= 1 && books.events == 0,
                    "{call} {after} {errno}: {books:?}"
                );
                rig.assert_no_complaints();
            }
        }
    }
}

/// Interrupted calls are called again.
#[test]
fn a_storm_of_signals_changes_nothing() {
    let rig = rig();
    rig.kernel().faults.script("*=4x500").unwrap();
    rig.driver.open().unwrap();
    everything(&rig, &fresh_pages()).unwrap();
    rig.driver.close().unwrap();
    rig.assert_no_complaints();
}

/// A kernel that lies is refused.
#[test]
fn a_queue_of_another_major_version_is_not_opened() {
    let rig = rig();
    rig.kernel().faults.always("GET_VERSION", Errno::NOTTY);
    let error = rig.driver.open().unwrap_err();
    assert_eq!(error.errno, Errno::NOTTY.raw_os_error(), "{error}");
    assert_eq!(rig.system.open_files(), 0);
}
