//! Small kernels, which the thread of the program that rings the doorbell runs itself while the pool sleeps.

mod rig;

use rig::kernels::{arguments, Module};
use rig::queue::KERNEL_DISPATCH;
use rig::{eventually, Program, Rig};
use std::arch::asm;
use std::sync::atomic::Ordering;

#[test]
fn a_small_kernel_is_over_when_the_doorbell_was_rung_and_needs_no_thread() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let out = rig.host_memory(4 * 256);
    let kernarg = arguments(&rig, &[out.address()]);
    let program = Program {
        workgroup: [256, 1, 1],
        ..Program::linear(module.kernel("store_id"), kernarg.address(), 256)
    };
    for _ in 0..100 {
        let done = rig.signal(1);
        queue.dispatch(&program, done.handle());
        assert_eq!(done.value(), 0);
    }
    assert!((0..256).all(|id| out.u32(id as usize) == 3 * id + 1));
    assert_eq!(rig.host.running.load(Ordering::SeqCst), 0, "threads of the pool");
}

#[test]
fn a_small_kernel_that_waits_for_the_host_goes_on_in_the_pool() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let (done, flags) = (rig.signal(1), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[flags.address()]);
    let waits = Program::linear(module.kernel("wait_for_host"), kernarg.address(), 1);
    queue.dispatch(&waits, done.handle());
    assert!(eventually(|| flags.u32(0) == 1));
    assert_eq!(done.value(), 1);
    flags.set_u32(1, 1);
    done.wait(0);
    assert_eq!(flags.u32(2), 1);
}

#[test]
fn waves_that_meet_at_barriers_forever_do_not_keep_the_thread_of_the_program() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let (done, flags) = (rig.signal(1), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[flags.address()]);
    let program = Program {
        workgroup: [256, 1, 1],
        group_bytes: 64,
        ..Program::linear(module.kernel("meet_until_host"), kernarg.address(), 256)
    };
    queue.dispatch(&program, done.handle());
    assert!(eventually(|| flags.u32(0) == 1));
    assert_eq!(done.value(), 1);
    flags.set_u32(1, 1);
    done.wait(0);
}

fn set_mxcsr(value: u32) {
    // SAFETY: the values below have no reserved bit.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack)) };
}

/// A program that was compiled with `-ffast-math` flushes denormals, and the threads that it starts inherit that.
#[test]
fn denormals_are_the_kernels_business() {
    const USUAL: u32 = 0x1f80;
    const FLUSHING: u32 = 0x9fc0;
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let most = 4096;
    let out = rig.host_memory(4 * most);
    let kernarg = arguments(&rig, &[out.address()]);
    for items in [64_u32, 4096] {
        for item in 0..most {
            out.set_u32(item, 0x0080_0000);
        }
        let done = rig.signal(1);
        let program = Program {
            header: KERNEL_DISPATCH,
            ..Program::linear(module.kernel("halve"), kernarg.address(), items)
        };
        set_mxcsr(FLUSHING);
        queue.dispatch(&program, done.handle());
        set_mxcsr(USUAL);
        done.wait(0);
        assert!(
            (0..items as usize).all(|item| out.u32(item) == 0x0040_0000),
            "{items} items"
        );
    }
}

/// The system ends a process whose thread faults while it holds the signal back, and kernels may fault.
#[test]
fn a_thread_that_holds_faults_back_runs_no_kernel() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address()]);
    let program = Program::linear(module.kernel("store_id"), kernarg.address(), 64);
    // SAFETY: all-zero is a set of signals.
    let mut signals = unsafe { std::mem::zeroed() };
    // SAFETY: fills in a set.
    unsafe { libc::sigfillset(&raw mut signals) };
    // SAFETY: reads a set; the test's thread is its own.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut()) };
    queue.dispatch(&program, done.handle());
    done.wait(0);
    assert_eq!(rig.host.running.load(Ordering::SeqCst), 1, "threads of the pool");
    assert!((0..64).all(|id| out.u32(id as usize) == 3 * id + 1));
}

/// The table of what a device sees joins neighbours, so the image of a kernel may begin anywhere in what is mapped.
#[test]
fn an_error_names_the_kernel_of_each_of_several_modules() {
    let rig = Rig::new("");
    for module in [0, 1, 2].map(|_| Module::device(&rig)) {
        let queue = rig.queue(0);
        let none = arguments(&rig, &[]);
        queue.dispatch(&Program::linear(module.kernel("illegal"), none.address(), 64), 0);
        assert!(eventually(|| queue.inactive.value() != 0));
    }
    let errors = rig.host.logged(hansa_plugin_api::LogLevel::ERROR);
    let named = errors
        .iter()
        .filter(|error| error.contains("in the kernel illegal of packet 0"));
    assert_eq!(named.count(), 3, "{errors:#?}");
}
