//! Kernels: values, shapes, overlap, waiting for the host, many queues.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use hansa_plugin_api::{QueueKind, QueuePriority, QueueUpdate, RSlice};
use rig::kernels::{arguments, Module};
use rig::queue::{BARRIER, BARRIER_AND, KERNEL_DISPATCH};
use rig::{eventually, never, Program, Rig, TestQueue};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[test]
fn every_work_item_runs_once() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let (done, out) = (rig.signal(1), rig.host_memory(4 * 10_000));
    let kernarg = arguments(&rig, &[out.address()]);
    let program = Program::linear(module.kernel("store_id"), kernarg.address(), 10_000);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    assert!((0..10_000).all(|id| out.u32(id as usize) == 3 * id + 1));
    assert_eq!(queue.inactive.value(), 0);
}

#[test]
fn a_grid_has_three_dimensions_and_partial_groups() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let [nx, ny, nz] = [19_u32, 7, 5];
    let (done, out) = (rig.signal(1), rig.host_memory(4 * (nx * ny * nz) as usize));
    let kernarg = arguments(&rig, &[out.address()]);
    let program = Program {
        dimensions: 3,
        workgroup: [8, 3, 2],
        grid: [nx, ny, nz],
        ..Program::linear(module.kernel("store_place"), kernarg.address(), 0)
    };
    queue.dispatch(&program, done.handle());
    done.wait(0);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let expected = x % 8
                    + 16 * (y % 3)
                    + 256 * (z % 2)
                    + 4096 * (x / 8)
                    + 65_536 * (y / 3)
                    + 1_048_576 * (z / 2);
                assert_eq!(out.u32((x + nx * (y + ny * z)) as usize), expected, "{x} {y} {z}");
            }
        }
    }
}

#[test]
fn work_groups_share_group_memory() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let (done, out) = (rig.signal(1), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[out.address()]);
    let program = Program {
        workgroup: [256, 1, 1],
        group_bytes: 1024,
        ..Program::linear(module.kernel("use_group"), kernarg.address(), 2560)
    };
    queue.dispatch(&program, done.handle());
    done.wait(0);
    for group in 0..10 {
        assert_eq!(out.u32(group as usize), 256 * 256 * group + 255 * 128);
    }
}

#[test]
fn code_and_arguments_may_lie_in_device_memory() {
    let rig = Rig::new("devices = 2");
    let module = Module::load(&rig, 1, "device.cl", "gfx900");
    let queue = rig.queue(1);
    let out = rig.device_memory(1, 4096);
    let kernarg = rig.device_memory(1, 4096);
    let (done, host) = (rig.signal(1), rig.host_memory(4096));
    host.word(0).store(out.device_address, Ordering::Release);
    let copy = |to, from| {
        let request = hansa_plugin_api::CopyRequest::linear(1, to, from, 256);
        rig.driver.copy(&request).unwrap();
    };
    copy(kernarg.device_address, host.address());
    let program = Program::linear(module.kernel("store_id"), kernarg.device_address, 64);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    copy(host.address(), out.device_address);
    assert!((0..64).all(|id| host.u32(id) == 3 * id as u32 + 1));
}

#[test]
fn dispatches_overlap_unless_the_barrier_bit_is_set() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    let flags = rig.host_memory(4096);
    let [waiting, free, after] = [rig.signal(1), rig.signal(1), rig.signal(1)];
    let (kernarg, none) = (arguments(&rig, &[flags.address()]), arguments(&rig, &[]));
    let waits = Program {
        header: KERNEL_DISPATCH,
        ..Program::linear(module.kernel("wait_for_host"), kernarg.address(), 1)
    };
    let empty = Program {
        header: KERNEL_DISPATCH,
        ..Program::linear(module.kernel("empty"), none.address(), 64)
    };
    queue.dispatch(&waits, waiting.handle());
    queue.dispatch(&empty, free.handle());
    let index = queue.dispatch(
        &Program {
            header: KERNEL_DISPATCH | BARRIER,
            ..empty
        },
        after.handle(),
    );
    free.wait(0);
    assert!(eventually(|| flags.u32(0) == 1), "the first kernel runs");
    assert!(never(Duration::from_millis(20), || after.value() == 0));
    assert_eq!(
        queue.read_index(),
        0,
        "the slot of a packet that is not over stays"
    );
    flags.set_u32(1, 1);
    after.wait(0);
    assert_eq!((waiting.value(), flags.u32(2)), (0, 1));
    assert!(eventually(|| queue.read_index() == index + 1));
}

#[test]
fn kernels_that_wait_for_the_host_starve_nobody() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let flags: Vec<_> = (0..6).map(|_| rig.host_memory(4096)).collect();
    let kernargs: Vec<_> = flags
        .iter()
        .map(|flags| arguments(&rig, &[flags.address()]))
        .collect();
    let all = rig.signal(6);
    // More waiting kernels than threads.
    let queues: Vec<_> = kernargs
        .iter()
        .map(|kernarg| {
            let queue = rig.queue(0);
            let program = Program::linear(module.kernel("wait_for_host"), kernarg.address(), 1);
            queue.dispatch(&program, all.handle());
            queue
        })
        .collect();
    assert!(eventually(|| flags.iter().all(|flags| flags.u32(0) == 1)));
    let (other, done, out) = (rig.queue(0), rig.signal(1), rig.host_memory(4096));
    let kernarg = arguments(&rig, &[out.address()]);
    other.dispatch(
        &Program::linear(module.kernel("store_id"), kernarg.address(), 640),
        done.handle(),
    );
    done.wait(0);
    for flags in &flags {
        flags.set_u32(1, 1);
    }
    all.wait(0);
    drop(queues);
}

#[test]
fn busy_endless_kernels_starve_nobody() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let flags = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[flags.address()]);
    let program = Program::linear(module.kernel("forever_busy"), kernarg.address(), 64);
    let endless: Vec<_> = (0..3)
        .map(|_| {
            let queue = rig.queue(0);
            queue.dispatch(&program, 0);
            queue
        })
        .collect();
    assert!(eventually(|| flags.u32(0) == 1));
    let (other, done) = (rig.queue(0), rig.signal(1));
    other.dispatch(
        &Program::linear(module.kernel("empty"), kernarg.address(), 640),
        done.handle(),
    );
    done.wait(0);
    endless.into_iter().for_each(TestQueue::destroy);
}

#[test]
fn all_groups_of_a_cooperative_dispatch_meet() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = TestQueue::with(&rig, 0, 64, QueueKind::COOPERATIVE, QueuePriority::NORMAL);
    assert_eq!(rig.driver.allocate_gws(queue.id, 1), Ok(0));
    let (counters, done) = (rig.host_memory(4096), rig.signal(1));
    let groups = 200;
    let kernarg = arguments(&rig, &[counters.address(), groups]);
    let program = Program::linear(module.kernel("meet"), kernarg.address(), 64 * groups as u32);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    assert_eq!((counters.u32(0), counters.u32(1)), (200, 200));
}

#[test]
fn groups_meet_at_the_barrier_of_the_device() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = TestQueue::with(&rig, 0, 64, QueueKind::COOPERATIVE, QueuePriority::NORMAL);
    let (groups, rounds) = (100, 10);
    let counters = rig.host_memory(4096);
    let set = arguments(&rig, &[groups]);
    let kernarg = arguments(&rig, &[counters.address(), groups | rounds << 32]);
    let program = Program {
        workgroup: [128, 1, 1],
        ..Program::linear(
            module.kernel("meet_by_hardware"),
            kernarg.address(),
            128 * groups as u32,
        )
    };
    for _dispatch in 0..3 {
        (0..64).for_each(|slot| counters.set_u32(slot, 0));
        let done = rig.signal(2);
        let set = Program::linear(module.kernel("set_meeting"), set.address(), 1);
        queue.dispatch(&set, done.handle());
        queue.dispatch(&program, done.handle());
        done.wait(0);
        assert!((0..rounds as usize).all(|round| counters.u32(round) == groups as u32));
        assert_eq!(counters.u32(63), 0);
    }
    assert_eq!(queue.inactive.value(), 0);
}

#[test]
fn many_queues_work_at_once() {
    let rig = Rig::new("devices = 2");
    let modules = [0, 1].map(|node| Module::load(&rig, node, "device.cl", "gfx900"));
    let done = rig.signal(16 * 20 * 2);
    let queues: Vec<_> = (0..16).map(|index| rig.queue(index % 2)).collect();
    let outs: Vec<_> = (0..16).map(|_| rig.host_memory(4 * 640)).collect();
    let kernargs: Vec<_> = outs.iter().map(|out| arguments(&rig, &[out.address()])).collect();
    for _ in 0..20 {
        for (index, queue) in queues.iter().enumerate() {
            let kernel = modules[index % 2].kernel("store_id");
            queue.dispatch(
                &Program::linear(kernel, kernargs[index].address(), 640),
                done.handle(),
            );
            queue.barrier(BARRIER_AND | BARRIER, &[], done.handle());
        }
    }
    done.wait(0);
    for out in &outs {
        assert!((0..640).all(|id| out.u32(id) == 3 * id as u32 + 1));
    }
}

#[test]
fn kernels_carry_times_when_profiling_is_on() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let queue = rig.queue(0);
    queue.profile();
    let (done, out) = (rig.signal(1), rig.host_memory(4 * 6400));
    let kernarg = arguments(&rig, &[out.address(), 20_000]);
    let before = rig::host::clock();
    queue.dispatch(
        &Program::linear(module.kernel("work"), kernarg.address(), 640),
        done.handle(),
    );
    done.wait(0);
    let after = rig::host::clock();
    let [start, end] = done.times();
    assert!(
        before <= start && start < end && end <= after,
        "{before} {start} {end} {after}"
    );
    // Ten waves of 20000 rounds take longer than this on any machine.
    assert!(end - start > 100_000, "{}", end - start);
}

#[test]
fn an_urgent_queue_goes_first() {
    let rig = Rig::with_threads("", 1);
    let module = Module::device(&rig);
    let [low, high] = [QueuePriority::LOW, QueuePriority::HIGH]
        .map(|priority| TestQueue::with(&rig, 0, 64, QueueKind::AQL, priority));
    let out = rig.host_memory(4 * 64 * 1000);
    let kernarg = arguments(&rig, &[out.address(), 3000]);
    let (slow, fast) = (rig.signal(1), rig.signal(1));
    let program = Program::linear(module.kernel("work"), kernarg.address(), 64 * 1000);
    low.dispatch(&program, slow.handle());
    high.dispatch(
        &Program {
            grid: [6400, 1, 1],
            ..program
        },
        fast.handle(),
    );
    fast.wait(0);
    assert_eq!(
        slow.value(),
        1,
        "ten times the work, at low priority, is not done before"
    );
    slow.wait(0);
}

#[test]
fn a_wave_can_raise_an_event() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let kernarg = arguments(&rig, &[42]);
    queue.dispatch(
        &Program::linear(module.kernel("raise"), kernarg.address(), 1),
        done.handle(),
    );
    done.wait(0);
    assert_eq!(*rig::host::locked(&rig.host.raised), [42]);
}

#[test]
fn a_queue_with_half_of_the_compute_units_runs_on_half_of_the_threads() {
    let rig = Rig::with_threads("", 4);
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let update = QueueUpdate {
        priority: QueuePriority::NORMAL,
        percent: 100,
        cu_mask: RSlice::from_slice(&[0xffff, 0xffff]),
    };
    rig.driver.update_queue(queue.id, &update).unwrap();
    let counters = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[counters.address(), 4000]);
    let program = Program::linear(module.kernel("most_at_once"), kernarg.address(), 64 * 200);
    queue.dispatch(&program, done.handle());
    done.wait(0);
    let most = counters.u32(1);
    assert!((1..=2).contains(&most), "{most} work-groups at once");
}
