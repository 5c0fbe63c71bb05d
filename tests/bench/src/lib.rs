//! Benchmarks that compare two things in one run and print ratios.
//!
//! They know the runtime only as a program does, by its shared library and C functions ([`client`]). `hansa bench`
//! prints them all; nothing here is a test.
#![allow(
    clippy::macro_metavars_in_unsafe,
    reason = "`call!` is for this project's own programs, which vouch for the arguments"
)]

pub mod client;
pub mod kernels;

mod baseline;
mod calls;
mod compute;
mod device;
mod growth;
mod memory;
mod opencl;
pub mod pace;
mod program;
mod report;
mod rivals;
mod scratch;
mod waking;

pub use report::{run, run_beside_amd};
