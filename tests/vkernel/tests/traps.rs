//! Waves that trap, on every generation: the driver's own handler runs, the kernel hears what it has to, and the wave stands or
//! goes on.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api::Driver;
use hansa_vkernel::debug::{exception, mask};
use std::time::Duration;
use support::kernels;
use support::trapping::{rig, Queue};
use support::within_a_second;

/// A processor of each generation with an image, and the others whose vector instructions run here.
const PROCESSORS: [&str; 11] = [
    "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1200",
    "gfx1201",
];

/// On each processor a kernel's exception arrives, its wave stands, and other queues go on.
fn reports(kernel: kernels::Kernel, number: u32) {
    for processor in PROCESSORS {
        reports_on(processor, kernel, number);
    }
}

fn reports_on(processor: &str, kernel: kernels::Kernel, number: u32) {
    let rig = rig(processor, ":debug");
    let mut other = Queue::new(&rig);
    let mut queue = Queue::new(&rig);
    queue.dispatch(processor, kernel);
    assert!(queue.hears(), "{processor}: no event");
    assert_eq!(queue.exceptions(), mask(number), "{processor}");
    assert_eq!(other.exceptions(), 0, "{processor}: the other queue");
    other.dispatch(processor, kernels::BREAKPOINT);
    within_a_second("the other queue's kernel", || other.is_done());
    // What follows with the barrier bit waits for what never ends.
    queue.dispatch(processor, kernels::BREAKPOINT);
    std::thread::sleep(Duration::from_millis(20));
    assert!(!queue.is_done(), "{processor}: the wave stands");
    assert_eq!(queue.inactive(), 0, "{processor}: not both");
    let reports = rig.host.reports.lock().unwrap().len();
    assert_eq!(
        reports,
        usize::from(number == exception::WAVE_MEMORY_VIOLATION),
        "{processor}"
    );
    assert_eq!(queue.exceptions(), mask(number), "{processor}: once");
    queue.end();
    other.end();
    rig.driver.close().unwrap();
    rig.assert_no_complaints();
}

#[test]
fn an_abort_is_reported() {
    reports(kernels::ABORT, exception::WAVE_ABORT);
}

#[test]
fn a_trap_of_another_number_is_reported() {
    reports(kernels::TRAP, exception::WAVE_TRAP);
}

#[test]
fn what_is_no_instruction_is_reported() {
    reports(kernels::ILLEGAL, exception::WAVE_ILLEGAL);
}

#[test]
fn wild_accesses_are_reported_by_the_wave_and_by_the_memory() {
    reports(kernels::WILD, exception::WAVE_MEMORY_VIOLATION);
}

#[test]
fn addresses_that_none_can_be_are_reported() {
    reports(kernels::APERTURE, exception::WAVE_APERTURE_VIOLATION);
}

#[test]
fn a_breakpoint_that_nobody_waits_for_is_passed_and_changes_nothing() {
    for processor in PROCESSORS {
        let rig = rig(processor, ":debug");
        let mut queue = Queue::new(&rig);
        for _ in 0..3 {
            queue.dispatch(processor, kernels::BREAKPOINT);
            within_a_second("the kernel", || queue.is_done() || queue.exceptions() != 0);
            assert_eq!(queue.exceptions(), 0, "{processor}");
        }
        queue.end();
        rig.driver.close().unwrap();
        rig.assert_no_complaints();
    }
}

#[test]
fn without_a_handler_the_packet_processor_says_it() {
    for (kernel, code) in [
        (kernels::ABORT, 0x8000_0000),
        (kernels::BREAKPOINT, 0x8000_0000),
        (kernels::ILLEGAL, 0x4000_0000),
    ] {
        for processor in ["gfx900", "gfx1030", "gfx1200"] {
            let rig = rig(processor, "");
            assert!(rig.kernel().process().trap_handlers.is_empty());
            let mut queue = Queue::new(&rig);
            queue.dispatch(processor, kernel);
            within_a_second("the code", || queue.inactive() != 0);
            assert_eq!(queue.inactive(), code, "{processor}");
            queue.end();
            rig.driver.close().unwrap();
            rig.assert_no_complaints();
        }
    }
}
