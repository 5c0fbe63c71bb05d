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
