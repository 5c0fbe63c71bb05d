//! Opening, closing, destroying, forking.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{ErrorCode, HostObject, LogLevel, Plugin};
use hansa_sim::SimPlugin;
use rig::kernels::{arguments, Module};
use rig::queue::BARRIER_AND;
use rig::{eventually, FakeHost, Program, Rig, TestQueue};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[test]
fn a_queue_can_be_destroyed_while_its_kernel_never_ends() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    for kernel in ["forever", "forever_busy"] {
        let queue = rig.queue(0);
        let flags = rig.host_memory(4096);
        let kernarg = arguments(&rig, &[flags.address()]);
        queue.dispatch(
            &Program::linear(module.kernel(kernel), kernarg.address(), 64 * 50),
            0,
        );
        assert!(eventually(|| flags.u32(0) == 1));
        let begun = Instant::now();
        queue.destroy();
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_driver_can_be_closed_while_kernels_run() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queues: Vec<_> = (0..4).map(|_| rig.queue(0)).collect();
    let flags = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[flags.address()]);
    for queue in &queues {
        queue.dispatch(
            &Program::linear(module.kernel("forever"), kernarg.address(), 64 * 10),
            0,
        );
    }
    assert!(eventually(|| flags.u32(0) == 1));
    let host = rig.host;
    rig.close();
    assert!(eventually(|| host.running.load(Ordering::SeqCst) == 0));
}

#[test]
fn a_doorbell_may_be_rung_after_its_queue_is_gone() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let doorbell = queue.doorbell();
    queue.destroy();
    (doorbell.notify)(doorbell.context, 5);
}

#[test]
fn queues_run_out_and_come_back() {
    let rig = Rig::new("queues = 3");
    let queues: Vec<_> = (0..3).map(|_| rig.queue(0)).collect();
    let request = queues[0].request();
    let error = rig.driver.create_queue(&request).unwrap_err();
    assert_eq!(error.code, ErrorCode::OUT_OF_RESOURCES);
    queues.into_iter().for_each(TestQueue::destroy);
    drop(rig.queue(0));
}

#[test]
fn a_child_of_the_process_has_no_device_and_lets_go_of_it() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, flags) = (rig.queue(0), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[flags.address()]);
    let program = Program::linear(module.kernel("forever"), kernarg.address(), 64);
    queue.dispatch(&program, 0);
    assert!(eventually(|| flags.u32(0) == 1));
    // SAFETY: the child calls the driver, which is made for that, and leaves without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let after = rig.driver.after_fork();
        let lost = rig.driver.available(0).unwrap_err().code == ErrorCode::DEVICE_LOST;
        let closed = rig.driver.close().unwrap_err().code == ErrorCode::DEVICE_LOST;
        drop(rig);
        // SAFETY: ends the child without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(!(after.is_ok() && lost && closed))) };
    }
    let mut status = 0;
    // SAFETY: waits for the child from above.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    queue.destroy();
    rig.close();
}

#[test]
fn a_driver_that_is_dropped_without_being_closed_stops() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, flags) = (rig.queue(0), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[flags.address()]);
    queue.dispatch(
        &Program::linear(module.kernel("forever"), kernarg.address(), 64),
        0,
    );
    assert!(eventually(|| flags.u32(0) == 1));
    let host = rig.host;
    assert_eq!(host.running.load(Ordering::SeqCst), 1);
    drop(rig.into_driver());
    assert!(eventually(|| host.running.load(Ordering::SeqCst) == 0));
}

#[test]
fn a_setting_that_cannot_be_used_is_said_and_the_default_holds() {
    let devices = |text: &str| {
        let fake = FakeHost::leaked(text, 1);
        let host: &'static HostObject = Box::leak(Box::new(HostObject::new(fake)));
        let devices = SimPlugin::probe(host.as_ref()).unwrap().devices;
        assert!(SimPlugin::driver(host.as_ref()).is_ok(), "{text}");
        (devices.len(), fake.logged(LogLevel::SETTING))
    };
    let (count, said) = devices("devices = 99");
    assert_eq!(count, 1);
    // By the probe and by the driver: the runtime shows it once.
    assert_eq!(said.len(), 2);
    let form = "devices = 99: expected a whole number from 1 to 64; the default holds";
    assert!(said.iter().all(|line| line == form), "{said:?}");
    let (count, said) = devices("devices = 3\ncolour = 1");
    assert_eq!(count, 3);
    assert!(said[0].starts_with("colour = 1: unknown key"), "{said:?}");
    assert_eq!(devices("devices = 64"), (64, Vec::new()));
}

#[test]
fn a_runtime_without_threads_is_told_so_in_the_log() {
    let rig = Rig::new("");
    rig.host.may_spawn.store(0, Ordering::SeqCst);
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let none = arguments(&rig, &[]);
    let program = Program::linear(module.kernel("empty"), none.address(), 640);
    queue.dispatch(&program, done.handle());
    assert!(!rig.host.logged(LogLevel::ERROR).is_empty());
    // The next packet tries again.
    rig.host.may_spawn.store(1, Ordering::SeqCst);
    queue.dispatch(&program, 0);
    queue.barrier(BARRIER_AND, &[], 0);
    done.wait(0);
}
