//! Every request of the guest, every message, and every request of the host's library fails once, at every place of a
//! driver's life; and the host answers what cannot be. Nothing is left anywhere, and nothing is believed.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::sys::Errno;
use hansa_plugin_api::{BankKind, Driver, ErrorCode};
use hansa_vkernel::virtio::{GuestBooks, Lie, Shape, UserMemory};
use hansa_vkernel::{Books, Machine, Rule};
use std::sync::atomic::Ordering;
use support::virtio::{word, GuestRig, Sum};
use support::HostPages;

/// All that a driver does, once; it stops at the first error.
fn life(rig: &GuestRig, pages: &HostPages) -> api::Result<()> {
    rig.driver.open()?;
    rig.driver.available(0)?;
    rig.driver.clock_counters(0)?;
    let sum = Sum::new(rig)?;
    sum.run(0);
    let user = rig.register(pages.address, pages.bytes, true)?;
    let scratch = rig.driver.allocate_scratch(&api::ScratchRequest {
        node: 0,
        reserved: 0,
        bytes: 65_536,
    })?;
    let event = rig.driver.create_event(&api::EventRequest {
        kind: api::EventKind::SIGNAL,
        manual_reset: 1,
        node: 0,
        reserved: 0,
    })?;
    rig.driver.set_event(event.event)?;
    let (events, none) = ([event.event], api::RSlice::from_slice(&[]));
    rig.driver
        .wait_events(api::RSlice::from_slice(&events), none, true, 1000)?;
    rig.driver.reset_event(event.event)?;
    rig.driver.destroy_event(event.event)?;
    rig.driver.free(scratch.handle)?;
    rig.driver.deregister_host(user.handle)?;
    sum.end(rig)
}

fn rig() -> GuestRig {
    GuestRig::new(
        Machine::vega10(),
        Shape {
            user_memory: UserMemory::Elsewhere,
            ..Shape::default()
        },
    )
}

/// What a rig has left when its host may have things of which the guest was never told.
fn end_with_the_context(rig: &GuestRig) {
    rig.driver.close().unwrap();
    rig.lasting.end();
    assert_eq!(rig.kernel().complaints(), Vec::<String>::new());
    assert_eq!(rig.guest.books(), GuestBooks::default());
    assert_eq!(rig.kernel().books(), Books::default());
}

/// Lets one call fail once after each number of good ones; answers how often it was made.
fn each_place(call: &str, errno: Errno, pages: &HostPages, end: fn(&GuestRig)) -> u32 {
    for after in 0.. {
        let rig = rig();
        rig.kernel().faults.add(Rule {
            call: call.into(),
            errno,
            after,
            times: 1,
        });
        let outcome = life(&rig, pages);
        end(&rig);
        let unused = rig.kernel().faults.clear();
        if let Err(error) = &outcome {
            assert_ne!(error.code, ErrorCode::PANIC, "{call}, {after}: {error}");
            assert!(!error.message.is_empty());
        }
        if unused == 1 {
            assert!(outcome.is_ok(), "{call}, {after}: {outcome:?}");
            return after;
        }
        // After a failure the same driver starts again, and all is well.
        life(&rig, pages).unwrap_or_else(|error| panic!("{call}, {after}: {error}"));
        rig.end();
    }
    0
}

#[test]
fn every_request_of_the_guest_fails_once_and_nothing_is_left() {
    let pages = HostPages::new(2 * 4096);
    for (call, errno) in [
        ("open /dev/dri/renderD128", Errno::ACCESS),
        ("VERSION", Errno::NODEV),
        ("GETPARAM", Errno::NODEV),
        ("GET_CAPS", Errno::INVAL),
        ("CONTEXT_INIT", Errno::NOMEM),
        ("RESOURCE_CREATE_BLOB", Errno::NOMEM),
        ("RESOURCE_CREATE_BLOB", Errno::INVAL),
        ("MAP", Errno::NOENT),
        ("GEM_CLOSE", Errno::INVAL),
        ("EXECBUFFER", Errno::NOMEM),
        ("EXECBUFFER", Errno::NODEV),
        ("mmap virtio", Errno::NOMEM),
        ("mmap nothing", Errno::NOMEM),
        ("reserve", Errno::NOMEM),
    ] {
        assert_ne!(
            each_place(call, errno, &pages, GuestRig::end),
            0,
            "{call} was never made"
        );
    }
}

#[test]
fn every_message_is_refused_once_and_nothing_is_left() {
    let pages = HostPages::new(2 * 4096);
    for message in [
        "GPU_INFO",
        "OPEN_KFD",
        "GET_VER",
        "GET_SYS_PROP",
        "GET_NODE_PROP",
        "GET_XNACK_MODE",
        "GET_NOD_MEM_PROP",
        "GET_NOD_CACHE_PROP",
        "GET_NOD_IO_LINK_PROP",
        "GET_CLOCK_COUNTERS",
        "MEMORY_ALLOC",
        "MAP_TO_GPU_NODES",
        "UNMAP_TO_GPU",
        "AVAIL_MEM",
        "MAP_MEM_TO_GPU",
        "REG_MEM_WITH_FLAG",
        "DEREG_MEM",
        "MAP_USERPTR",
        "QUEUE_CREATE",
        "EVENT_CREATE",
        "EVENT_SET",
        "EVENT_RESET",
        "EVENT_QUERY_STATE",
    ] {
        let call = format!("host {message}");
        assert_ne!(
            each_place(&call, Errno::NOMEM, &pages, GuestRig::end),
            0,
            "{call} was never made"
        );
    }
}

#[test]
fn every_request_of_the_hosts_library_fails_once_and_nothing_is_left() {
    let pages = HostPages::new(2 * 4096);
    for (call, errno) in [
        ("ALLOC_MEMORY_OF_GPU", Errno::NOMEM),
        ("FREE_MEMORY_OF_GPU", Errno::INVAL),
        ("MAP_MEMORY_TO_GPU", Errno::INVAL),
        ("UNMAP_MEMORY_FROM_GPU", Errno::BUSY),
        ("CREATE_QUEUE", Errno::NOMEM),
        ("DESTROY_QUEUE", Errno::INVAL),
        ("CREATE_EVENT", Errno::NOMEM),
    ] {
        assert_ne!(
            each_place(call, errno, &pages, GuestRig::end),
            0,
            "{call} was never made"
        );
    }
}

#[test]
fn a_fence_that_cannot_be_waited_for_ends_the_connection() {
    let pages = HostPages::new(2 * 4096);
    assert_ne!(each_place("poll", Errno::IO, &pages, end_with_the_context), 0);
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let pages = HostPages::new(2 * 4096);
    let far = 1 << 47;
    let rows: &[(&str, Lie, &str)] = &[
        ("OPEN_KFD", Lie::Long(8, 0), "OPEN_KFD was answered with"),
        ("OPEN_KFD", Lie::Long(8, 0x6123), "OPEN_KFD was answered with"),
        ("OPEN_KFD", Lie::Long(8, far), "OPEN_KFD was answered with"),
        ("OPEN_KFD", Lie::Long(16, 0), "OPEN_KFD was answered with"),
        ("OPEN_KFD", Lie::Long(16, u64::MAX), "OPEN_KFD was answered with"),
        ("GET_VER", Lie::Word(8, 2), "interface 2.17"),
        ("GET_SYS_PROP", Lie::Word(8, 1 << 20), "1048576 nodes"),
        ("GET_SYS_PROP", Lie::Word(8, 0), "lists no GPU"),
        ("GET_NODE_PROP", Lie::Length(100), "100 bytes"),
        ("GET_NODE_PROP", Lie::Length(5000), "5000 bytes"),
        ("GET_NOD_MEM_PROP", Lie::Length(424), "424 bytes"),
        ("MEMORY_ALLOC", Lie::Long(8, 0), "MEMORY_ALLOC was answered with"),
        (
            "MEMORY_ALLOC",
            Lie::Long(8, 0x1000),
            "MEMORY_ALLOC was answered with",
        ),
        (
            "MEMORY_ALLOC",
            Lie::Long(8, u64::MAX),
            "MEMORY_ALLOC was answered with",
        ),
        ("MAP_TO_GPU_NODES", Lie::Long(8, 0x5000), "address 0x5000 for"),
        ("MAP_MEM_TO_GPU", Lie::Long(8, 0x5000), "address 0x5000 for"),
        ("QUEUE_CREATE", Lie::Long(48, 0x123), "the doorbell 0x123"),
        ("QUEUE_CREATE", Lie::Long(56, 0x4000), "at 0x4000 of its page"),
        ("MAP_USERPTR", Lie::Long(8, 0), "MAP_USERPTR was answered with"),
        (
            "MAP_USERPTR",
            Lie::Long(8, 0x1001),
            "MAP_USERPTR was answered with",
        ),
        (
            "MAP_USERPTR",
            Lie::Long(8, u64::MAX << 12),
            "MAP_USERPTR was answered with",
        ),
        ("AVAIL_MEM", Lie::Word(4, 0xffff_fff4), "Cannot allocate memory"),
        ("AVAIL_MEM", Lie::Sequence(1), "was the last"),
        ("AVAIL_MEM", Lie::Sequence(-1), "ended without an answer"),
        ("AVAIL_MEM", Lie::Silence, "ended without an answer"),
        ("AVAIL_MEM", Lie::NoFence, "the fence -1"),
        ("AVAIL_MEM", Lie::Shared(2, 5), "error 5 of its own"),
    ];
    for (command, lie, words) in rows {
        let rig = rig();
        rig.guest.lie(*command, *lie);
        let error = life(&rig, &pages).unwrap_err();
        assert!(error.to_string().contains(words), "{command} {lie:?}: {error}");
        assert_eq!(rig.guest.lies_left(), 0);
        end_with_the_context(&rig);
    }
}

#[test]
fn a_connection_that_was_lost_stays_so_and_a_new_one_is_made() {
    let rig = rig();
    rig.driver.open().unwrap();
    rig.guest.lie("AVAIL_MEM", Lie::NoFence);
    for _ in 0..2 {
        assert_eq!(rig.driver.available(0).unwrap_err().code, ErrorCode::DEVICE_LOST);
    }
    rig.driver.close().unwrap();
    rig.driver.open().unwrap();
    assert!(rig.driver.available(0).unwrap() > 0);
    rig.end();
}

#[test]
fn memory_that_is_given_out_is_not_given_again() {
    let rig = rig();
    rig.driver.open().unwrap();
    let first = rig.allocate(BankKind::HOST, 8192).unwrap();
    word(first.host_address).store(42, Ordering::Relaxed);
    for address in [first.device_address, first.device_address + 4096] {
        rig.guest.lie("MEMORY_ALLOC", Lie::Long(8, address));
        let error = rig.allocate(BankKind::HOST, 4096).unwrap_err();
        assert!(
            error.message.contains("MEMORY_ALLOC was answered with"),
            "{error}"
        );
    }
    assert_eq!(word(first.host_address).load(Ordering::Relaxed), 42);
    rig.driver.free(first.handle).unwrap();
    end_with_the_context(&rig);
}
