//! A queue whose waves stand costs nothing.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api::Driver;
use hansa_vkernel::debug::{exception, mask};
use std::time::Duration;
use support::kernels;
use support::trapping::{rig, Queue};

/// Microseconds that the process has computed. It is the only test of its program.
fn computed() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure has room for the answer.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    assert_eq!(answer, 0);
    // SAFETY: all zeros are a value of it, which the call replaced.
    let usage = unsafe { usage.assume_init() };
    [usage.ru_utime, usage.ru_stime]
        .map(|time| time.tv_sec * 1_000_000 + time.tv_usec)
        .iter()
        .sum()
}

#[test]
fn waves_that_stand_do_not_keep_a_core_busy() {
    for processor in ["gfx900", "gfx1030"] {
        let rig = rig(processor, ":debug");
        let mut queue = Queue::new(&rig);
        queue.dispatch(processor, kernels::ABORT);
        assert!(queue.hears());
        assert_eq!(queue.exceptions(), mask(exception::WAVE_ABORT));
        // One that waits for it.
        queue.dispatch(processor, kernels::ABORT);
        std::thread::sleep(Duration::from_millis(50));
        let before = computed();
        std::thread::sleep(Duration::from_millis(500));
        let spent = computed() - before;
        assert!(
            spent < 100_000,
            "{processor}: {spent} microseconds of half a second"
        );
        queue.end();
        rig.driver.close().unwrap();
    }
}
