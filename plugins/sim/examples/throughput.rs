//! Measures what latency does not show: copies against `memcpy`, allocations, launches and work-groups per second.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers for people"
)]

#[path = "../tests/rig/mod.rs"]
mod rig;

use hansa_plugin_api::CopyRequest;
use rig::kernels::{arguments, Module};
use rig::queue::{BARRIER, KERNEL_DISPATCH};
use rig::{Program, Rig};
use std::time::{Duration, Instant};

fn timed(mut body: impl FnMut()) -> Duration {
    body();
    (0..5)
        .map(|_| {
            let begun = Instant::now();
            body();
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn copies(rig: &Rig) {
    for shift in [12, 16, 20, 22, 24, 26, 28] {
        let bytes = 1_usize << shift;
        let device = rig.device_memory(0, bytes as u64);
        let host = vec![1_u8; bytes];
        let mut other = vec![2_u8; bytes];
        let source = host.as_ptr().expose_provenance() as u64;
        let request = CopyRequest::linear(0, device.device_address, source, bytes as u64);
        let rounds = ((64 << 20) / bytes).max(1);
        let ours = timed(|| {
            for _ in 0..rounds {
                rig.driver.copy(&request).expect("memory is there");
            }
        });
        let theirs = timed(|| {
            for _ in 0..rounds {
                other.copy_from_slice(std::hint::black_box(&host));
                std::hint::black_box(&mut other);
            }
        });
        let rate = |time: Duration| (bytes * rounds) as f64 / time.as_secs_f64() / 1e9;
        println!(
            "copy of {:>9} KiB   {:6.1} GB/s   memcpy {:6.1} GB/s   ratio {:.2}",
            bytes >> 10,
            rate(ours),
            rate(theirs),
            rate(ours) / rate(theirs)
        );
        rig.driver.free(device.handle).expect("it is ours");
    }
}

fn allocations(rig: &Rig) {
    for count in [1000, 10_000] {
        let begun = Instant::now();
        let blocks: Vec<_> = (0..count).map(|_| rig.device_memory(0, 4096)).collect();
        let made = begun.elapsed();
        let begun = Instant::now();
        for block in blocks {
            rig.driver.free(block.handle).expect("it is ours");
        }
        println!(
            "{count} allocations        {:7.2} us each to make, {:7.2} us each to free",
            made.as_secs_f64() * 1e6 / f64::from(count),
            begun.elapsed().as_secs_f64() * 1e6 / f64::from(count)
        );
    }
}

fn launches(rig: &Rig) {
    let module = Module::device(rig);
    let queue = rig.queue(0);
    let none = arguments(rig, &[]);
    for (what, header) in [
        ("in order", KERNEL_DISPATCH | BARRIER),
        ("overlapping", KERNEL_DISPATCH),
    ] {
        let signal = rig.signal(1);
        let program = Program {
            header,
            ..Program::linear(module.kernel("empty"), none.address(), 64)
        };
        let count = 100_000;
        let begun = Instant::now();
        for _ in 1..count {
            queue.dispatch(&program, 0);
        }
        queue.dispatch(
            &Program {
                header: KERNEL_DISPATCH | BARRIER,
                ..program
            },
            signal.handle(),
        );
        signal.wait(0);
        let each = begun.elapsed().as_secs_f64() * 1e6 / f64::from(count);
        println!("empty kernels, {what:<12} {each:7.2} us each");
    }
    let signal = rig.signal(1);
    let groups = 1_000_000;
    let begun = Instant::now();
    queue.dispatch(
        &Program::linear(module.kernel("empty"), none.address(), 64 * groups),
        signal.handle(),
    );
    signal.wait(0);
    println!(
        "empty work-groups           {:7.1} ns each",
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(groups)
    );
}

fn main() {
    let rig = Rig::new("");
    copies(&rig);
    allocations(&rig);
    launches(&rig);
}
