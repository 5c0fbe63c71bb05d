//! Measures the engine: processor time per wave instruction for a few kernels, on one thread.
//!
//! `cargo run --release -p hansa-sim --example engine_speed [KERNEL [LEVEL]]`. Needs clang 15.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "Figures for people"
)]

#[path = "../tests/exec_support/mod.rs"]
mod exec_support;

use std::sync::atomic::{AtomicU64, Ordering};

use exec_support::{compile, seconds, Arg, Build, Launch, Memory, Program};
use hansa_sim::exec::{resume_group, run_group, Arena, Dispatch, GroupOutcome, Host, Level, Step};
use hansa_sim::isa::Target;

/// The kernels of `hansa bench`.
const SOURCE: &str = include_str!("../../../tests/bench/src/kernels/compute.cl");

/// Counts instructions.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Host for Counter {
    fn message(&self, _: u16, _: u32) {}
    fn observes(&self) -> bool {
        true
    }
    fn step(&self, _: &Step<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn every_group(dispatch: &Dispatch<'_>, arena: &mut Arena) {
    let [width, height, _] = dispatch.groups();
    for id in (0..height).flat_map(|y| (0..width).map(move |x| [x, y, 0])) {
        let mut outcome = run_group(dispatch, id, arena, 0).expect("no fault");
        while let GroupOutcome::Yield { group, .. } = outcome {
            outcome = resume_group(dispatch, group, arena).expect("no fault");
        }
    }
}

fn measure(name: &str, level: Level, launch: &Launch<'_>) {
    launch.with_dispatch(|dispatch| {
        let mut arena = Arena::new();
        let counter = Counter::default();
        every_group(
            &Dispatch {
                host: &counter,
                ..*dispatch
            },
            &mut arena,
        );
        let count = counter.0.load(Ordering::Relaxed) as f64;
        let (mut best, mut all, mut runs) = (f64::MAX, 0.0, 0);
        while runs < 5 || all < 0.5 {
            let once = seconds(|| every_group(dispatch, &mut arena));
            (best, all, runs) = (once.min(best), all + once, runs + 1);
        }
        println!(
            "{name:12} {level:?}: {:8.2} ms, {:6.2} M wave instructions, {:5.2} ns each, {:6.1} M/s",
            best * 1e3,
            count / 1e6,
            best / count * 1e9,
            count / best / 1e6
        );
    });
}

fn main() {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let build = Build::new(Target::Gfx900, "-O3");
    let Some(object) = compile(SOURCE, build) else {
        return;
    };
    let wanted_level = std::env::args().nth(2);
    let n = 512u32;
    let ramp: Vec<f32> = (0..1 << 22).map(|i| (i % 97) as f32 * 0.25).collect();
    for level in Level::available() {
        if wanted_level
            .as_ref()
            .is_some_and(|wanted| !format!("{level:?}").eq_ignore_ascii_case(wanted))
        {
            continue;
        }
        let program = Program::load_at(&object, build.target, level);
        let (a, b, c) = (Memory::of(&ramp), Memory::of(&ramp), Memory::new(4 << 22));
        if wanted("matmul") {
            let launch = Launch::new(&program, "multiply", 1, 1)
                .buffer(&a)
                .buffer(&b)
                .buffer(&c);
            measure(
                "matmul",
                level,
                &launch.arg(Arg::U32(n)).shape([n, n, 1], [64, 1, 1]),
            );
        }
        if wanted("square") {
            let launch = Launch::new(&program, "multiply", 1, 1)
                .buffer(&a)
                .buffer(&b)
                .buffer(&c);
            measure(
                "square",
                level,
                &launch.arg(Arg::U32(n)).shape([n, n, 1], [16, 16, 1]),
            );
        }
        if wanted("mandelbrot") {
            let launch = Launch::new(&program, "mandelbrot", 1, 1)
                .buffer(&c)
                .arg(Arg::U32(1024));
            measure(
                "mandelbrot",
                level,
                &launch.arg(Arg::U32(256)).shape([1024, 1024, 1], [64, 1, 1]),
            );
        }
        if wanted("vadd") {
            measure(
                "vadd",
                level,
                &Launch::new(&program, "add", 1 << 22, 256)
                    .buffer(&a)
                    .buffer(&b)
                    .buffer(&c),
            );
        }
        if wanted("reduce") {
            measure(
                "reduce",
                level,
                &Launch::new(&program, "reduce", 1 << 22, 256)
                    .buffer(&a)
                    .buffer(&c),
            );
        }
    }
}
