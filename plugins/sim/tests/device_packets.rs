//! The packet processor: order, barriers, dependencies, indices, signals.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use rig::queue::{BARRIER, BARRIER_AND, BARRIER_OR, INVALID, VENDOR};
use rig::{eventually, never, Rig};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Long enough to see that something does not happen.
const A_WHILE: Duration = Duration::from_millis(30);

#[test]
fn a_barrier_without_dependencies_completes_and_frees_its_slot() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let index = queue.barrier(BARRIER_AND, &[], done.handle());
    done.wait(0);
    assert!(eventually(|| queue.read_index() == index + 1));
    assert_eq!(
        queue.ring.word(0).load(Ordering::Acquire) & 0xffff,
        u64::from(INVALID)
    );
    assert_eq!(rig.host.last_changed.load(Ordering::SeqCst), done.handle());
}

#[test]
fn a_barrier_and_waits_until_each_dependency_has_been_zero() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let dependencies = [rig.signal(1), rig.signal(1)];
    let handles = [dependencies[0].handle(), 0, dependencies[1].handle()];
    queue.barrier(BARRIER_AND, &handles, done.handle());
    dependencies[0].store(0);
    assert!(never(A_WHILE, || done.value() == 0));
    // What was zero once counts, whatever it is now.
    dependencies[0].store(7);
    dependencies[1].store(0);
    done.wait(0);
}

#[test]
fn a_barrier_or_waits_for_one_dependency() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let dependencies = [rig.signal(1), rig.signal(-1)];
    queue.barrier(
        BARRIER_OR,
        &[dependencies[0].handle(), dependencies[1].handle()],
        done.handle(),
    );
    assert!(never(A_WHILE, || done.value() == 0));
    dependencies[1].store(0);
    done.wait(0);
}

#[test]
fn a_barrier_value_compares_the_masked_value() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let watched = rig.signal(0x1200);
    // Greater or equal (3) to 0x34 in the lower eight bits.
    queue.push(&[
        0x0002_0000 | u64::from(VENDOR),
        watched.handle(),
        0x34,
        0xff,
        3,
        0,
        0,
        done.handle(),
    ]);
    assert!(never(A_WHILE, || done.value() == 0));
    watched.store(0x35);
    done.wait(0);
}

#[test]
fn no_packet_passes_a_barrier_that_waits() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let [first, second] = [rig.signal(1), rig.signal(1)];
    let dependency = rig.signal(1);
    queue.barrier(BARRIER_AND, &[dependency.handle()], first.handle());
    queue.barrier(BARRIER_AND, &[], second.handle());
    assert!(never(A_WHILE, || second.value() == 0));
    dependency.store(0);
    second.wait(0);
    assert_eq!(first.value(), 0);
}

#[test]
fn two_queues_do_not_wait_for_each_other() {
    let rig = Rig::new("");
    let [stuck, free] = [rig.queue(0), rig.queue(0)];
    let never_zero = rig.signal(1);
    stuck.barrier(BARRIER_AND, &[never_zero.handle()], 0);
    let done = rig.signal(100);
    for _ in 0..100 {
        free.barrier(BARRIER_AND | BARRIER, &[], done.handle());
    }
    done.wait(0);
}

#[test]
fn a_queue_can_wait_for_another_one() {
    let rig = Rig::new("devices = 2");
    let [a, b] = [rig.queue(0), rig.queue(1)];
    let (start, middle, end) = (rig.signal(1), rig.signal(1), rig.signal(1));
    b.barrier(BARRIER_AND, &[middle.handle()], end.handle());
    a.barrier(BARRIER_AND, &[start.handle()], middle.handle());
    start.store(0);
    end.wait(0);
}

#[test]
fn packets_published_out_of_order_run_in_order() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let [first, second] = [rig.signal(1), rig.signal(1)];
    let barrier = |completion| [u64::from(BARRIER_AND), 0, 0, 0, 0, 0, 0, completion];
    let [a, b] = [queue.reserve(), queue.reserve()];
    queue.publish(b, &barrier(second.handle()));
    queue.ring(b);
    assert!(never(A_WHILE, || second.value() == 0));
    queue.publish(a, &barrier(first.handle()));
    // The doorbell said more than this already: no further ring is needed.
    second.wait(0);
    assert_eq!(first.value(), 0);
}

#[test]
fn a_ring_is_used_many_times_over() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(10_000);
    for _ in 0..10_000 {
        queue.barrier(BARRIER_AND, &[], done.handle());
    }
    done.wait(0);
    assert!(eventually(|| queue.read_index() == 10_000));
}

#[test]
fn producers_on_several_threads_share_a_queue() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(4000);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    queue.barrier(BARRIER_AND, &[], done.handle());
                }
            });
        }
    });
    done.wait(0);
}

#[test]
fn barriers_carry_times_when_profiling_is_on() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let dependency = rig.signal(1);
    let [untimed, timed] = [rig.signal(1), rig.signal(1)];
    queue.barrier(BARRIER_AND, &[], untimed.handle());
    untimed.wait(0);
    assert_eq!(untimed.times(), [0, 0]);
    queue.profile();
    let before = rig::host::clock();
    queue.barrier(BARRIER_AND, &[dependency.handle()], timed.handle());
    std::thread::sleep(Duration::from_millis(5));
    dependency.store(0);
    timed.wait(0);
    let [start, end] = timed.times();
    assert!(before <= start && start + 5_000_000 <= end && end <= rig::host::clock());
}

#[test]
fn a_completion_signal_raises_its_event() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let mailbox = rig.host_memory(4096);
    done.memory.word(2).store(mailbox.address(), Ordering::Relaxed);
    done.memory.word(3).store(77, Ordering::Release);
    queue.barrier(BARRIER_AND, &[], done.handle());
    done.wait(0);
    assert!(eventually(|| !rig::host::locked(&rig.host.raised).is_empty()));
    assert_eq!(*rig::host::locked(&rig.host.raised), [77]);
    assert_eq!(mailbox.word(0).load(Ordering::Acquire), 77);
}

#[test]
fn a_stopped_queue_reads_nothing_until_it_goes_on() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let done = rig.signal(1);
    let update = |percent| hansa_plugin_api::QueueUpdate {
        priority: hansa_plugin_api::QueuePriority::NORMAL,
        percent,
        cu_mask: hansa_plugin_api::RSlice::from_slice(&[]),
    };
    rig.driver.update_queue(queue.id, &update(0)).unwrap();
    queue.barrier(BARRIER_AND, &[], done.handle());
    assert!(never(A_WHILE, || done.value() == 0));
    rig.driver.update_queue(queue.id, &update(100)).unwrap();
    done.wait(0);
}

#[test]
fn a_waiting_queue_can_be_destroyed() {
    let rig = Rig::new("");
    let never_zero = rig.signal(1);
    for _ in 0..20 {
        let queue = rig.queue(0);
        queue.barrier(BARRIER_AND, &[never_zero.handle()], 0);
        queue.destroy();
    }
}

#[test]
fn a_command_buffer_runs_and_completes() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let (buffer, done) = (rig.host_memory(4096), rig.signal(1));
    // A filler, NOP with three words, ACQUIRE_MEM with seven.
    let commands = [
        0x8000_0000,
        0xc001_1000,
        1,
        2,
        0xc005_5800,
        0x2884_0000,
        !0,
        0xff,
        0,
        0,
        10,
    ];
    for (index, word) in commands.into_iter().enumerate() {
        buffer.set_u32(index, word);
    }
    let words = |count: u64| {
        let address = buffer.address();
        [
            0x0001_0000 | 0xc002_3f00 << 32,
            address,
            count | 1 << 23 | 0xa << 32,
            0,
            0,
            0,
            0,
            done.handle(),
        ]
    };
    queue.push(&words(commands.len() as u64));
    done.wait(0);
    buffer.set_u32(0, 0xc000_3700);
    queue.push(&words(1));
    assert!(eventually(|| queue.inactive.value() == 0x100));
}
