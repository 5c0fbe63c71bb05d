//! Exceptions that the kernel reports of a queue, and the trap handler that tells the kernel of them.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Driver, QueueKind};
use hansa_vkernel::{Errno, GpuSpec, Machine, Options};
use std::sync::atomic::Ordering;
use support::{assert_closed, ring_bell, QueueMemory, Rig, INACTIVE, WRITE_INDEX};

/// A machine whose firmware reports exceptions.
fn with_exceptions(minor: u32) -> Rig {
    let options = Options {
        minor,
        ..Options::default()
    };
    let spec = GpuSpec::named("gfx900:debug").unwrap();
    Rig::new(Machine::with_gpus(&[spec, spec]), options)
}

#[test]
fn the_kernel_reports_exceptions_of_a_queue_in_a_word() {
    let rig = with_exceptions(17);
    rig.driver.open().unwrap();
    let caps = rig.driver.describe().unwrap().nodes[0].caps;
    assert!(caps.contains(api::AgentCaps::DEBUG));
    let event = rig.signal_event();
    let memory = QueueMemory::new(&rig, &[0]);
    memory
        .slots
        .word(INACTIVE)
        .store(memory.signal.address, Ordering::Relaxed);
    let request = api::QueueRequest {
        exception_address: memory.signal.address + 512,
        event: event.event,
        ..memory.request(0, 0, QueueKind::AQL)
    };
    let info = rig.driver.create_queue(&request).unwrap();
    memory.ring.word(0).store(9, Ordering::Release);
    memory.slots.word(WRITE_INDEX).store(1, Ordering::Release);
    ring_bell(&info, 0);
    let waited = rig
        .driver
        .wait_events([event.event][..].into(), [][..].into(), true, 5000);
    assert!(waited.unwrap());
    assert_eq!(memory.signal.word(512).load(Ordering::Acquire), 1 << 19);
    assert_eq!(memory.signal.word(8).load(Ordering::Acquire), 0, "not both");
    rig.driver.destroy_queue(info.queue).unwrap();
    rig.driver.destroy_event(event.event).unwrap();
    memory.end(&rig);
    rig.driver.close().unwrap();
    assert!(rig.kernel().process().runtime.is_none());
    assert_closed(&rig, 2);
}

#[test]
fn a_trap_handler_is_installed_where_exceptions_are_reported() {
    let rig = with_exceptions(17);
    rig.driver.open().unwrap();
    let expected = hansa_kfd::trap_handler::CODE[0].1;
    for gpu in 0..2 {
        let address = rig.kernel().process().trap_handlers[&gpu].address;
        let mut code = vec![0; expected.len()];
        hansa_vkernel::device::Memory::new(rig.kernel(), gpu)
            .read(address, &mut code)
            .unwrap();
        assert_eq!(code, expected);
    }
    rig.driver.close().unwrap();
    assert_closed(&rig, 2);
    let refused = with_exceptions(17);
    refused.kernel().faults.once("SET_TRAP_HANDLER", Errno::INVAL);
    refused.driver.open().unwrap();
    let d = refused.driver.describe().unwrap();
    assert_eq!(d.nodes.len(), 2);
    assert!(d.hidden[0].contains("exceptions of waves"), "{:?}", d.hidden);
}

#[test]
fn exceptions_are_reported_only_where_all_can() {
    let reports = |rig: &Rig| {
        rig.driver.open().unwrap();
        let caps = rig.driver.describe().unwrap().nodes[0].caps;
        caps.contains(api::AgentCaps::DEBUG)
    };
    assert!(!reports(&with_exceptions(12)), "an old kernel");
    let one = [GpuSpec::named("gfx900:debug").unwrap(), GpuSpec::default()];
    assert!(!reports(&Rig::new(Machine::with_gpus(&one), Options::default())));
    for errno in [Errno::BUSY, Errno::EXIST, Errno::NOTTY, Errno::PERM] {
        let rig = with_exceptions(17);
        rig.kernel().faults.once("RUNTIME_ENABLE", errno);
        assert!(!reports(&rig), "{errno}");
        rig.driver.close().unwrap();
        assert!(reports(&rig));
    }
}
