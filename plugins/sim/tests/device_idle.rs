//! What a driver uses while it does nothing. Threads, files and processor time belong to the process, so this is the
//! only test of its file.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of tests"
)]

mod rig;

use rig::kernels::{arguments, Module};
use rig::queue::BARRIER_AND;
use rig::{eventually, Program, Rig};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Processor time of this process.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[test]
fn a_closed_driver_leaves_nothing_and_an_idle_one_uses_no_processor() {
    let round = || {
        let rig = Rig::new("");
        let module = Module::device(&rig);
        let (queue, done) = (rig.queue(0), rig.signal(1));
        let none = arguments(&rig, &[]);
        queue.dispatch(
            &Program::linear(module.kernel("empty"), none.address(), 640),
            done.handle(),
        );
        done.wait(0);
        drop(queue);
        let host = rig.host;
        rig.close();
        assert!(eventually(|| host.running.load(Ordering::SeqCst) == 0));
    };
    round();
    let before = (threads(), open_files());
    for _ in 0..100 {
        round();
    }
    assert!(
        eventually(|| threads() <= before.0),
        "{} threads, {} before",
        threads(),
        before.0
    );
    assert_eq!(open_files(), before.1);

    let rig = Rig::new("");
    let module = Module::device(&rig);
    let (queue, done) = (rig.queue(0), rig.signal(1));
    let none = arguments(&rig, &[]);
    queue.dispatch(
        &Program::linear(module.kernel("empty"), none.address(), 6400),
        done.handle(),
    );
    done.wait(0);
    std::thread::sleep(Duration::from_millis(50));
    let before = processor_time();
    std::thread::sleep(Duration::from_millis(500));
    let used = processor_time() - before;
    assert!(used < Duration::from_millis(5), "{used:?} in half an idle second");

    // A queue that waits for the host looks from time to time, and that costs little.
    let never_zero = rig.signal(1);
    queue.barrier(BARRIER_AND, &[never_zero.handle()], 0);
    std::thread::sleep(Duration::from_millis(100));
    let before = processor_time();
    std::thread::sleep(Duration::from_millis(500));
    let used = processor_time() - before;
    assert!(
        used < Duration::from_millis(50),
        "{used:?} in half a second of waiting"
    );

    drop(queue);
    rig.close();

    let rig = Rig::new("");
    assert_eq!(
        rig.host.spawned.load(Ordering::SeqCst),
        0,
        "nothing runs before there is work"
    );
    let queue = rig.queue(0);
    for _ in 0..200 {
        let index = queue.barrier(BARRIER_AND, &[], 0);
        assert!(eventually(|| queue.read_index() == index + 1));
    }
    assert_eq!(
        rig.host.spawned.load(Ordering::SeqCst),
        0,
        "barriers take no thread"
    );
}
