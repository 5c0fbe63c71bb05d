//! Many queues, many producers, few threads: everything completes, in order, with the right values.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use rig::kernels::{arguments, Module};
use rig::queue::{BARRIER, BARRIER_AND, BARRIER_OR, KERNEL_DISPATCH};
use rig::{Program, Rig, Signal, TestQueue};
use std::sync::atomic::Ordering;

/// Numbers that differ from run to run of a test as little as its expectations.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Each producer drives its own queue with kernels that add to its counter, and with barriers.
fn run(threads: u32, producers: u64, packets: u64) {
    let rig = Rig::with_threads("", threads);
    let module = Module::device(&rig);
    let counters = rig.host_memory(4096);
    let gates: Vec<Signal> = (0..producers).map(|_| rig.signal(0)).collect();
    let done = rig.signal(producers as i64);
    let expected: u64 = std::thread::scope(|scope| {
        let rig = &rig;
        let (module, counters, gates, done) = (&module, &counters, &gates, &done);
        let handles: Vec<_> = (0..producers)
            .map(|producer| {
                scope.spawn(move || {
                    let queue = rig.queue(0);
                    let kernarg = arguments(rig, &[counters.address() + 64 * producer]);
                    let mut random = Random(producer + 1);
                    let mut added = 0;
                    for _ in 0..packets {
                        match random.below(4) {
                            0 => {
                                let kind = [BARRIER_AND, BARRIER_OR][random.below(2) as usize];
                                let ordered = BARRIER * random.below(2) as u16;
                                let own = &gates[producer as usize];
                                own.memory.word(1).fetch_add(1, Ordering::SeqCst);
                                // Waits for what another queue completes, which comes to 0 again and again.
                                let other = gates[random.below(producer + 1) as usize].handle();
                                let other = if other == own.handle() { 0 } else { other };
                                queue.barrier(kind | ordered, &[other], own.handle());
                            }
                            kind => {
                                let items = 1 + random.below(300) as u32;
                                let program = Program {
                                    header: KERNEL_DISPATCH | if kind == 1 { BARRIER } else { 0 },
                                    ..Program::linear(module.kernel("count_at"), kernarg.address(), items)
                                };
                                queue.dispatch(&program, 0);
                                added += u64::from(items);
                            }
                        }
                    }
                    queue.barrier(BARRIER_AND | BARRIER, &[], done.handle());
                    done.wait_below(producers as i64);
                    // Its queue goes while others work.
                    let end = rig.signal(1);
                    queue.barrier(BARRIER_AND | BARRIER, &[], end.handle());
                    end.wait(0);
                    let counted = counters.u32(16 * producer as usize);
                    assert_eq!(u64::from(counted), added, "producer {producer}");
                    queue.destroy();
                    added
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().expect("a producer failed"))
            .sum()
    });
    done.wait(0);
    assert!(gates.iter().all(|gate| gate.value() == 0));
    assert!(expected > producers * packets / 4);
    rig.close();
}

#[test]
fn one_thread_serves_many_producers() {
    run(1, 4, 1500);
}

#[test]
fn two_threads_serve_many_producers() {
    run(2, 8, 1500);
}

#[test]
fn more_threads_than_processors_serve_many_producers() {
    run(9, 6, 1500);
}

#[test]
fn a_chain_through_queues_of_two_devices_keeps_its_order() {
    let rig = Rig::new("devices = 2");
    let queues: Vec<_> = (0..6).map(|index| TestQueue::new(&rig, index % 2, 128)).collect();
    let links: Vec<Signal> = (0..600).map(|_| rig.signal(1)).collect();
    let start = rig.signal(1);
    for (index, link) in links.iter().enumerate() {
        let before = if index == 0 { &start } else { &links[index - 1] };
        queues[index % 6].barrier(BARRIER_AND, &[before.handle()], link.handle());
    }
    start.store(0);
    links[599].wait(0);
    assert!(links.iter().all(|link| link.value() == 0));
}

#[test]
fn queues_come_and_go_while_others_work() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let out = rig.host_memory(4 * 64_000);
    let kernarg = arguments(&rig, &[out.address(), 2000]);
    let (busy, done) = (rig.queue(0), rig.signal(1));
    let program = Program::linear(module.kernel("work"), kernarg.address(), 64_000);
    busy.dispatch(&program, done.handle());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for round in 0..40 {
                    let queue = rig.queue(0);
                    // Destroyed with dispatches that have not begun, run, or wait.
                    for _ in 0..round % 5 {
                        queue.dispatch(
                            &Program {
                                header: KERNEL_DISPATCH,
                                ..program
                            },
                            0,
                        );
                    }
                    queue.destroy();
                }
            });
        }
    });
    done.wait(0);
    rig.close();
}

/// Bytes of memory that this process has.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let resident = pages.split(' ').nth(1).expect("the second number");
    4096 * resident.parse::<u64>().expect("a number")
}

#[test]
fn a_grid_of_two_thousand_million_work_items_runs_in_constant_memory() {
    let rig = Rig::new("");
    let module = Module::device(&rig);
    let out = rig.host_memory(4096);
    let kernarg = arguments(&rig, &[out.address()]);
    let queue = rig.queue(0);
    let run = |items: u32| {
        let done = rig.signal(1);
        let program = Program {
            workgroup: [1024, 1, 1],
            ..Program::linear(module.kernel("vast"), kernarg.address(), items)
        };
        queue.dispatch(&program, done.handle());
        let begun = std::time::Instant::now();
        while done.value() != 0 {
            assert!(begun.elapsed().as_secs() < 300, "the grid is not over");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    };
    // A thousandth of it takes as much memory.
    run(1 << 21);
    let before = resident();
    run(1 << 31);
    let more = resident().saturating_sub(before);
    assert_eq!(
        out.u32(0),
        8 * 1024,
        "every eighth of the grid counts a work-group"
    );
    assert!(more < 16 << 20, "{more} bytes more");
    rig.close();
}
