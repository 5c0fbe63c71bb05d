//! Measures the time from a doorbell to the signal that the waiting host sees: barrier packets and empty kernels,
//! one after the other and after a pause.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "quantiles of short lists"
)]

#[path = "../tests/rig/mod.rs"]
mod rig;

use rig::kernels::{arguments, Module};
use rig::queue::BARRIER_AND;
use rig::{Rig, Signal};
use std::time::{Duration, Instant};

/// Quantiles of a list of times, in microseconds.
fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_nanos() as f64 / 1000.0;
    println!(
        "{what:<36} median {:7.2} us   90% {:7.2} us   99% {:7.2} us   max {:8.2} us",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}

/// Times `count` rounds of `submit`, which completes a signal, each after a pause.
fn measure(signal: &Signal, count: usize, pause: Duration, mut submit: impl FnMut()) -> Vec<Duration> {
    (0..count)
        .map(|_| {
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
            signal.store(1);
            let begun = Instant::now();
            submit();
            while signal.value() != 0 {
                std::hint::spin_loop();
            }
            begun.elapsed()
        })
        .collect()
}

fn main() {
    let rig = Rig::new("");
    let queue = rig.queue(0);
    let signal = rig.signal(0);
    let barrier = || {
        queue.barrier(BARRIER_AND | 1 << 8, &[], signal.handle());
    };
    measure(&signal, 1000, Duration::ZERO, barrier);
    report("barrier", measure(&signal, 100_000, Duration::ZERO, barrier));
    report(
        "barrier after 100 ms",
        measure(&signal, 20, Duration::from_millis(100), barrier),
    );
    let module = Module::device(&rig);
    let none = arguments(&rig, &[]);
    let program = rig::Program::linear(module.kernel("empty"), none.address(), 64);
    let kernel = || {
        queue.dispatch(&program, signal.handle());
    };
    measure(&signal, 1000, Duration::ZERO, kernel);
    report("empty kernel", measure(&signal, 100_000, Duration::ZERO, kernel));
    let mut submits = Vec::new();
    measure(&signal, 30, Duration::from_millis(100), || {
        let begun = Instant::now();
        queue.dispatch(&program, signal.handle());
        submits.push(begun.elapsed());
    });
    report("of that, on the ringing thread", submits);
    report(
        "empty kernel after 100 ms",
        measure(&signal, 30, Duration::from_millis(100), kernel),
    );
}
