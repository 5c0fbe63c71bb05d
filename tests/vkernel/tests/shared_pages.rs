//! What the runtime and devices share all the time: pages in whose place the driver puts kernel memory, and events that
//! several threads wait for.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{AllocFlags, Driver, ErrorCode};
use hansa_vkernel::device::Memory;
use hansa_vkernel::{Errno, Machine, Options};
use std::sync::atomic::Ordering;
use support::{HostPages, Rig};

const BYTES: u64 = 4 << 12;

fn register(rig: &Rig, pages: &HostPages, flags: AllocFlags) -> api::Result<api::Allocation> {
    rig.driver.register_host(&api::HostMemoryRequest {
        address: pages.address,
        bytes: BYTES,
        nodes: api::RSlice::from_slice(&[0]),
        flags: AllocFlags::FINE_GRAIN | flags,
        reserved: 0,
    })
}

fn fill(pages: &HostPages) {
    for offset in (0..BYTES).step_by(8) {
        pages.word(offset).store(value(offset), Ordering::Relaxed);
    }
}

const fn value(offset: u64) -> u64 {
    offset * 0x0101_0101_0101 + 7
}

fn assert_filled(pages: &HostPages, what: &str) {
    for offset in (0..BYTES).step_by(8) {
        assert_eq!(
            pages.word(offset).load(Ordering::Relaxed),
            value(offset),
            "{what}, {offset:#x}"
        );
    }
}

/// Whether the kernel's own memory is at the pages of a process, and not what it holds of the process's.
fn is_kernels(rig: &Rig, pages: &HostPages) -> bool {
    let process = rig.kernel().process();
    let buffer = process.buffers.at(0, pages.address).unwrap();
    buffer.backing.view().is_some()
}

#[test]
fn kernel_memory_takes_the_place_of_disposable_pages() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let before = rig.kernel().books();
    let pages = HostPages::new(BYTES);
    for _ in 0..3 {
        let registered = register(&rig, &pages, AllocFlags::DISPOSABLE).unwrap();
        assert_eq!(registered.device_address, pages.address);
        assert!(is_kernels(&rig, &pages));
        fill(&pages);
        assert_filled(&pages, "registered");
        // Both see what the other stores.
        let memory = Memory::new(rig.kernel(), 0);
        assert_eq!(
            memory.word64(pages.address + 4096 + 16).unwrap(),
            value(4096 + 16)
        );
        memory.store(pages.address + 64, 99).unwrap();
        assert_eq!(pages.word(64).load(Ordering::Relaxed), 99);
        pages.word(64).store(value(64), Ordering::Relaxed);
        assert_eq!(memory.word64(pages.address + 64).unwrap(), value(64));
        rig.driver.deregister_host(registered.handle).unwrap();
        // They are pages again.
        fill(&pages);
        assert_filled(&pages, "deregistered");
        assert_eq!(rig.kernel().books(), before);
    }
    // Who does not say so keeps the pages, and what is in them.
    let registered = register(&rig, &pages, AllocFlags::empty()).unwrap();
    assert!(!is_kernels(&rig, &pages));
    rig.driver.deregister_host(registered.handle).unwrap();
    assert_filled(&pages, "kept");
    rig.assert_no_complaints();
}

/// Without kernel memory the pages are registered as any others.
#[test]
fn what_the_kernel_refuses_once_leaves_the_pages_what_they_are() {
    for request in ["ALLOC_MEMORY_OF_GPU", "MAP_MEMORY_TO_GPU", "mmap render"] {
        for errno in [Errno::NOMEM, Errno::INVAL, Errno::BUSY] {
            let rig = Rig::vega10();
            rig.driver.open().unwrap();
            let before = rig.kernel().books();
            let pages = HostPages::new(BYTES);
            rig.kernel().faults.once(request, errno);
            let registered = register(&rig, &pages, AllocFlags::DISPOSABLE).unwrap();
            assert_eq!(rig.kernel().faults.clear(), 0, "{request} was not called");
            assert!(!is_kernels(&rig, &pages), "{request}");
            fill(&pages);
            assert_filled(&pages, request);
            let memory = Memory::new(rig.kernel(), 0);
            assert_eq!(memory.word64(pages.address + 8).unwrap(), value(8));
            rig.driver.deregister_host(registered.handle).unwrap();
            assert_filled(&pages, request);
            assert_eq!(rig.kernel().books(), before, "{request}");
        }
    }
}

/// What the driver still has when it is closed goes back, and what nobody has any more does not come back.
#[test]
fn a_closed_driver_gives_pages_back() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let pages = HostPages::new(BYTES);
    register(&rig, &pages, AllocFlags::DISPOSABLE).unwrap();
    let gone = HostPages::new(BYTES);
    register(&rig, &gone, AllocFlags::DISPOSABLE).unwrap();
    drop(gone);
    rig.driver.close().unwrap();
    fill(&pages);
    assert_filled(&pages, "closed");
}

fn wait(rig: &Rig, events: &[u32], ages: &[u64], milliseconds: u32) -> api::Result<Vec<u64>> {
    let (events, ages) = (api::RSlice::from_slice(events), api::RSlice::from_slice(ages));
    rig.driver
        .wait_events_since(events, ages, milliseconds)
        .map(Into::into)
}

#[test]
fn everybody_who_waits_for_an_event_is_told_its_age() {
    let rig = Rig::vega10();
    rig.driver.open().unwrap();
    let [one, other] = [rig.signal_event().event, rig.signal_event().event];
    assert_eq!(wait(&rig, &[one, other], &[1, 1], 20).unwrap(), Vec::<u64>::new());
    std::thread::scope(|threads| {
        let sleepers: Vec<_> = (0..3)
            .map(|_| threads.spawn(|| wait(&rig, &[one, other], &[1, 1], 20_000).unwrap()))
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(20));
        rig.driver.set_event(other).unwrap();
        for sleeper in sleepers {
            assert_eq!(sleeper.join().unwrap(), [1, 2]);
        }
    });
    // Who comes late and names the old age does not sleep; who names the new one does.
    assert_eq!(wait(&rig, &[one, other], &[1, 1], 20_000).unwrap(), [1, 2]);
    assert_eq!(wait(&rig, &[one, other], &[1, 2], 20).unwrap(), Vec::<u64>::new());
    rig.driver.set_event(one).unwrap();
    rig.driver.set_event(one).unwrap();
    assert_eq!(wait(&rig, &[one, other], &[1, 2], 20_000).unwrap(), [3, 2]);
    let unknown = wait(&rig, &[77], &[1], 0).unwrap_err();
    assert_eq!(unknown.code, ErrorCode::INVALID_HANDLE);
    rig.assert_no_complaints();
}

#[test]
fn events_of_older_kernels_have_no_ages() {
    for (minor, has) in [(13, false), (14, true)] {
        let options = Options {
            minor,
            ..Options::default()
        };
        let rig = Rig::new(Machine::vega10(), options);
        rig.driver.open().unwrap();
        let event = rig.signal_event().event;
        rig.driver.set_event(event).unwrap();
        match wait(&rig, &[event], &[1], 20_000) {
            Ok(ages) => assert!(has && ages == [2], "1.{minor}: {ages:?}"),
            Err(error) => assert!(
                !has && error.code == ErrorCode::NOT_SUPPORTED,
                "1.{minor}: {error}"
            ),
        }
    }
}
