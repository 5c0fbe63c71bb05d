//! Private memory: the packet processor asks for it through the inactive signal, and the runtime gives it.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{Allocation, ScratchRequest};
use rig::kernels::{arguments, Module};
use rig::queue::{field, BARRIER, BARRIER_AND};
use rig::{eventually, never, Program, Rig, TestQueue};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Bytes of private memory of a lane of `use_private`.
const LANE_BYTES: u32 = 1040;

/// Word 1 of a buffer descriptor: addresses are interleaved.
const SWIZZLE: u32 = 1 << 31;
/// Word 3: elements of 4 bytes, 64 lanes side by side, the lane's number added, format 32.
const INTERLEAVED: u32 = 0x00ea_7fac;

/// Gives a queue private memory for so many waves, as the runtime's handler does.
fn give(rig: &Rig, queue: &TestQueue, lane_bytes: u32, waves: u32) -> Allocation {
    let wave_bytes = (64 * lane_bytes).next_multiple_of(1024);
    let scratch = rig
        .driver
        .allocate_scratch(&ScratchRequest {
            node: 0,
            reserved: 0,
            bytes: u64::from(wave_bytes * waves),
        })
        .expect("there is memory");
    let descriptor = &queue.descriptor;
    descriptor
        .word(field::SCRATCH_LOCATION)
        .store(scratch.device_address, Ordering::Release);
    let address = scratch.device_address;
    let resource = [
        address as u32,
        (address >> 32) as u32 | SWIZZLE,
        wave_bytes * waves,
        INTERLEAVED,
    ];
    for (index, word) in resource.into_iter().enumerate() {
        descriptor.set_u32(field::SCRATCH_RESOURCE + index, word);
    }
    descriptor.set_u32(field::LANE_BYTES, wave_bytes / 64);
    descriptor.set_u32(field::TMPRING, waves | (wave_bytes / 1024) << 12);
    scratch
}

fn program(module: &Module, kernarg: u64, items: u32) -> Program {
    Program {
        private_bytes: LANE_BYTES,
        ..Program::linear(module.kernel("use_private"), kernarg, items)
    }
}

/// What `use_private` writes for a work-item.
fn expected(id: u32) -> u32 {
    256 * id + 255 * 128
}

#[test]
fn a_dispatch_waits_until_it_has_private_memory() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let out = rig.host_memory(4 * 6400);
    let kernarg = arguments(&rig, &[out.address(), 5]);
    queue.dispatch(&program(&module, kernarg.address(), 6400), done.handle());
    assert!(eventually(|| queue.inactive.value() == 1), "it asks");
    assert!(never(Duration::from_millis(10), || done.value() == 0), "it waits");
    give(&rig, &queue, LANE_BYTES, 8);
    queue.inactive.store(0);
    done.wait(0);
    assert!((0..6400).all(|id| out.u32(id as usize) == expected(id)));
    // There is enough for the next one.
    done.store(1);
    queue.dispatch(&program(&module, kernarg.address(), 64), done.handle());
    done.wait(0);
    assert_eq!(queue.inactive.value(), 0);
}

#[test]
fn a_larger_need_asks_again_and_waits_for_kernels_that_run() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let [waiting, done] = [rig.signal(1), rig.signal(1)];
    let (flags, out) = (rig.host_memory(4096), rig.host_memory(4096));
    let (wait, kernarg) = (
        arguments(&rig, &[flags.address()]),
        arguments(&rig, &[out.address(), 3]),
    );
    give(&rig, &queue, 16, 8);
    let first = Program {
        header: rig::queue::KERNEL_DISPATCH,
        private_bytes: 16,
        ..Program::linear(module.kernel("wait_for_host"), wait.address(), 1)
    };
    queue.dispatch(&first, waiting.handle());
    let second = Program {
        header: rig::queue::KERNEL_DISPATCH,
        ..program(&module, kernarg.address(), 64)
    };
    queue.dispatch(&second, done.handle());
    assert!(eventually(|| flags.u32(0) == 1));
    assert!(never(Duration::from_millis(20), || queue.inactive.value() != 0));
    flags.set_u32(1, 1);
    waiting.wait(0);
    assert!(eventually(|| queue.inactive.value() == 1));
    give(&rig, &queue, LANE_BYTES, 4);
    queue.inactive.store(0);
    done.wait(0);
    assert!((0..64).all(|id| out.u32(id as usize) == expected(id)));
}

#[test]
fn few_waves_with_private_memory_serve_many_groups_of_several_queues() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queues = [rig.queue(0), rig.queue(0)];
    let outs = [rig.host_memory(4 * 12_800), rig.host_memory(4 * 12_800)];
    let kernargs = outs.each_ref().map(|out| arguments(&rig, &[out.address(), 7]));
    let done = rig.signal(2);
    for (queue, kernarg) in queues.iter().zip(&kernargs) {
        give(&rig, queue, LANE_BYTES, 2);
        let program = Program {
            workgroup: [128, 1, 1],
            ..program(&module, kernarg.address(), 12_800)
        };
        queue.dispatch(&program, done.handle());
    }
    done.wait(0);
    for out in &outs {
        assert!((0..12_800).all(|id| out.u32(id as usize) == expected(id)));
    }
}

#[test]
fn a_group_with_more_waves_than_there_is_memory_for_asks() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address(), 7]);
    give(&rig, &queue, LANE_BYTES, 1);
    let program = Program {
        workgroup: [128, 1, 1],
        ..program(&module, kernarg.address(), 128)
    };
    queue.dispatch(&program, done.handle());
    assert!(eventually(|| queue.inactive.value() == 1));
    give(&rig, &queue, LANE_BYTES, 2);
    queue.inactive.store(0);
    done.wait(0);
    assert!((0..128).all(|id| out.u32(id as usize) == expected(id)));
}

#[test]
fn memory_that_was_lent_for_one_dispatch_is_given_back() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let [done, after] = [rig.signal(1), rig.signal(1)];
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address(), 7]);
    give(&rig, &queue, LANE_BYTES, 4);
    queue.descriptor.set_u32(field::PROPERTIES, 1 << 4);
    queue.dispatch(&program(&module, kernarg.address(), 64), done.handle());
    queue.barrier(BARRIER_AND | BARRIER, &[], after.handle());
    done.wait(0);
    assert!(eventually(|| queue.inactive.value() == 0x200));
    assert!(never(Duration::from_millis(10), || after.value() == 0));
    queue.descriptor.set_u32(field::TMPRING, 0);
    queue.descriptor.set_u32(field::PROPERTIES, 0);
    queue.inactive.store(0);
    after.wait(0);
}

#[test]
fn a_queue_that_waits_for_private_memory_can_be_destroyed() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address(), 7]);
    queue.dispatch(&program(&module, kernarg.address(), 64), 0);
    assert!(eventually(|| queue.inactive.value() == 1));
    queue.destroy();
}
