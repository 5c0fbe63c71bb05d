//! Memory, signals and queues that are shared, between processes, drivers, addresses and tools, through the services
//! that extensions call, over a driver that lives in the test.

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of a 64-bit machine"
)]
#![expect(
    clippy::cast_possible_wrap,
    reason = "a descriptor in a word is the same bits"
)]
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bells;
mod counted;
mod driver;
mod ends;
mod intercept;
mod locked;
mod memory;
mod other;
mod processor;
mod rig;
mod signals;
mod svm;
mod virtual_memory;
