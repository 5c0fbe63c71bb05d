//! How long the same calls take on AMD's runtime and on Hansa, on the same virtual device, and Hansa's time over AMD's.
//!
//! `cargo run --release -p hansa-tests --bin pace`, on a machine that does nothing else.

use std::process::ExitCode;

use hansa_tests::hsa_client::program;
use hansa_tests::kernels::code_objects;
use hansa_tests::side::{is_comparable, Side};

/// Names and microseconds in the client's output.
fn times(text: &str) -> Vec<(&str, f64)> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, time)| Some((name, time.parse().ok()?)))
        .collect()
}

fn main() -> ExitCode {
    if !is_comparable() {
        return ExitCode::FAILURE;
    }
    let texts = [Side::Amd, Side::Kfd].map(|side| side.output("gfx900", &program("pace"), &[code_objects()]));
    let [amds, ours] = [times(&texts[0]), times(&texts[1])];
    for ((name, theirs), (same, ours)) in amds.into_iter().zip(ours) {
        assert_eq!(
            name, same,
            "The client measures the same things in the same order"
        );
        println!(
            "{name:22} AMD's {theirs:12.3} us, Hansa {ours:12.3} us, ratio {:.2}",
            ours / theirs
        );
    }
    ExitCode::SUCCESS
}
