//! A forked child starts a runtime of its own, and shares signals with its parent like any other process.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use hansa_core::runtime::{current, init, shut_down};
use hansa_core::signal::{self, ipc, Condition};
use std::sync::atomic::Ordering;

const SOON: u64 = 20_000_000_000;

/// What the child does; its exit status says how far it came.
fn child(name: [u32; 8], inherited: u64) -> i32 {
    if current().is_ok() || init(&[]).is_err() {
        return 1;
    }
    let Ok(runtime) = current() else { return 2 };
    let Ok(signal) = ipc::attach(&runtime, name) else {
        return 3;
    };
    if signal == inherited || signal::wait(signal, Condition::Eq, 1, SOON) != 1 {
        return 4;
    }
    let Ok(own) = ipc::create(&runtime, 40, 0) else {
        return 5;
    };
    let Ok(own_name) = ipc::export(&runtime, signal::Block::of(own).unwrap()) else {
        return 6;
    };
    if own_name == name || ipc::attach(&runtime, own_name).is_err() {
        return 7;
    }
    signal::store(signal, 2, Ordering::Release);
    let told = signal::wait(signal, Condition::Eq, 3, SOON);
    if signal::destroy(signal).is_err() || shut_down().is_err() {
        return 8;
    }
    if told == 3 {
        0
    } else {
        9
    }
}

#[test]
fn a_forked_child_attaches_what_its_parent_named() {
    init(&[]).unwrap();
    let runtime = current().unwrap();
    let signal = ipc::create(&runtime, 0, 0).unwrap();
    let name = ipc::export(&runtime, signal::Block::of(signal).unwrap()).unwrap();
    // SAFETY: the child only calls what a forked child may call, and ends with `_exit`.
    let process = unsafe { libc::fork() };
    if process == 0 {
        let code = child(name, signal);
        // SAFETY: ends the child at once, without what the parent registered for its end.
        unsafe { libc::_exit(code) };
    }
    signal::store(signal, 1, Ordering::Release);
    let answered = signal::wait(signal, Condition::Eq, 2, SOON);
    signal::store(signal, 3, Ordering::Release);
    let mut state = 0;
    // SAFETY: waits for the child that was just made.
    assert_eq!(unsafe { libc::waitpid(process, &raw mut state, 0) }, process);
    assert_eq!((libc::WIFEXITED(state), libc::WEXITSTATUS(state)), (true, 0));
    assert_eq!(answered, 2);
    // The child's end leaves the parent's names as they were.
    let again = ipc::attach(&runtime, name).unwrap();
    assert_eq!(signal::load(again, Ordering::Acquire), 3);
    drop(runtime);
    shut_down().unwrap();
}
