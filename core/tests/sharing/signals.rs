//! Signals of several processes.

use super::driver::registered;
use super::other::{numbers, words, Other, Parent};
use super::rig::{is, rig, status, Rig};
use hansa_core::signal::{self, Condition};
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// `HSA_AMD_SIGNAL_IPC`.
const IPC: u64 = 2;

fn shared(rig: Rig, initial: i64) -> (u64, api::IpcName) {
    let signal = rig.signals.create(initial, [].as_slice().into(), IPC).unwrap();
    let name = rig.signals.ipc_export(signal).unwrap();
    (signal, name)
}

fn attach(rig: Rig, parent: &Parent) -> u64 {
    let words = words(&parent.hear());
    rig.signals.ipc_attach(api::IpcName { words }).unwrap()
}

/// Waits for each even value and answers with the next odd one.
pub(crate) fn attach_a_signal(rig: Rig, parent: &Parent) {
    let signal = attach(rig, parent);
    parent.tell(&[signal::load(signal, Ordering::Acquire)]);
    for round in parent.hear() {
        let wanted = round * 2;
        assert_eq!(signal::wait(signal, Condition::Eq, wanted, u64::MAX), wanted);
        signal::store(signal, wanted + 1, Ordering::Release);
    }
    parent.hear();
}

/// Gives a signal and changes it as told.
pub(crate) fn give_a_signal(rig: Rig, parent: &Parent) {
    let (signal, name) = shared(rig, 7);
    parent.tell(&numbers(name.words));
    loop {
        match parent.hear()[..] {
            [0] => signal::destroy(signal).unwrap(),
            [value] => signal::store(signal, value, Ordering::Release),
            _ => unreachable!("the test tells one number"),
        }
        parent.tell(&[]);
    }
}

/// Sleeps until it is killed.
pub(crate) fn sleep_on_a_signal(rig: Rig, parent: &Parent) {
    let signal = attach(rig, parent);
    parent.tell(&[]);
    let seen = signal::wait(signal, Condition::Eq, i64::MIN, u64::MAX);
    unreachable!("nobody stores it, and {seen} was");
}

#[test]
fn two_processes_play_ball_with_a_signal() {
    let (signal, name) = shared(rig(), 7);
    let mut other = Other::start("attach a signal");
    other.tell(&numbers(name.words));
    assert_eq!(other.hear(), [7]);
    let rounds: Vec<i64> = (10..60).collect();
    other.tell(&rounds);
    for round in rounds {
        let thrown = round * 2;
        signal::store(signal, thrown, Ordering::Release);
        let back = signal::wait(signal, Condition::Eq, thrown + 1, 10_000_000_000);
        assert_eq!(back, thrown + 1);
    }
    signal::destroy(signal).unwrap();
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

#[test]
fn a_store_in_another_process_wakes_a_sleeper_that_used_no_processor() {
    let rig = rig();
    let mut other = Other::start("give a signal");
    let words = words(&other.hear());
    let signal = rig.signals.ipc_attach(api::IpcName { words }).unwrap();
    let before = processor_time();
    let teller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        let at = Instant::now();
        other.tell(&[9]);
        other.hear();
        (other, at)
    });
    assert_eq!(signal::wait(signal, Condition::Eq, 9, u64::MAX), 9);
    let used = processor_time() - before;
    let (_other, at) = teller.join().unwrap();
    assert!(used < Duration::from_millis(40), "{used:?} of processor time");
    assert!(at.elapsed() < Duration::from_secs(20), "{:?}", at.elapsed());
    signal::destroy(signal).unwrap();
}

#[test]
fn waits_for_several_signals_and_handlers_wake_for_another_process() {
    extern "C" fn handler(value: i64, seen: *mut std::ffi::c_void) -> bool {
        // SAFETY: the test passes the address of a static signal's handle.
        let seen = unsafe { *seen.cast::<u64>() };
        signal::store(seen, value, Ordering::Release);
        false
    }
    let rig = rig();
    let mut other = Other::start("give a signal");
    let words = words(&other.hear());
    let theirs = rig.signals.ipc_attach(api::IpcName { words }).unwrap();
    let ours = rig.signals.create(0, [].as_slice().into(), 0).unwrap();
    let seen = Box::leak(Box::new(ours));
    let callback = api::SignalHandler {
        function: handler,
        argument: std::ptr::from_mut(seen).cast(),
    };
    rig.signals.on_condition(theirs, 0, 12, callback).unwrap();
    let wait = |value| {
        rig.signals
            .wait_any(&api::WaitList {
                signals: [ours, theirs].as_slice().into(),
                conditions: [0, 0].as_slice().into(),
                values: [77, value].as_slice().into(),
                timeout: 10_000_000_000,
                wait_state: 0,
                reserved: 0,
            })
            .unwrap()
    };
    let teller = std::thread::spawn(move || {
        for value in [11, 12] {
            std::thread::sleep(Duration::from_millis(50));
            other.tell(&[value]);
            other.hear();
        }
        other
    });
    assert_eq!((wait(11).index, wait(12).index), (1, 1));
    assert_eq!(signal::wait(ours, Condition::Eq, 12, 10_000_000_000), 12);
    drop(teller.join().unwrap());
    signal::destroy(theirs).unwrap();
    signal::destroy(ours).unwrap();
}

#[test]
fn names_that_nobody_gave_or_that_are_stale_are_refused() {
    let rig = rig();
    let refused = |words| status(rig.signals.ipc_attach(api::IpcName { words }));
    assert_eq!(refused([0; 8]), is::INVALID_ARGUMENT);
    assert_eq!(refused([u32::MAX; 8]), is::INVALID_ARGUMENT);
    assert_eq!(refused([1, 2, 3, 4, 5, 6, 7, 8]), is::INVALID_ARGUMENT);
    let (signal, name) = shared(rig, 1);
    for changed in 0..8 {
        let mut words = name.words;
        words[changed] ^= 1;
        assert_eq!(refused(words), is::INVALID_ARGUMENT, "word {changed}");
    }
    signal::destroy(signal).unwrap();
    assert_eq!(refused(name.words), is::INVALID_ARGUMENT);
}

#[test]
fn a_signal_of_one_process_only_has_no_name() {
    let rig = rig();
    let signal = rig.signals.create(1, [].as_slice().into(), 0).unwrap();
    assert_eq!(status(rig.signals.ipc_export(signal)), is::INVALID_ARGUMENT);
    signal::destroy(signal).unwrap();
    assert_eq!(status(rig.signals.ipc_export(signal)), is::INVALID_SIGNAL);
}

#[test]
fn an_attached_signal_outlives_the_process_that_made_it() {
    let rig = rig();
    let mut other = Other::start("give a signal");
    let words = words(&other.hear());
    let name = api::IpcName { words };
    let first = rig.signals.ipc_attach(name).unwrap();
    let second = rig.signals.ipc_attach(name).unwrap();
    assert_ne!(first, second);
    other.kill();
    assert_eq!(status(rig.signals.ipc_attach(name)), is::INVALID_ARGUMENT);
    signal::store(first, 5, Ordering::Release);
    assert_eq!(signal::load(second, Ordering::Acquire), 5);
    let again = rig.signals.ipc_export(second).unwrap();
    let third = rig.signals.ipc_attach(again).unwrap();
    for signal in [first, second, third] {
        assert_eq!(registered(signal).len(), 1);
        signal::destroy(signal).unwrap();
        assert_eq!(registered(signal), []);
    }
}

#[test]
fn a_sleeper_that_is_killed_harms_nobody() {
    let (signal, name) = shared(rig(), 1);
    let mut other = Other::start("sleep on a signal");
    other.tell(&numbers(name.words));
    other.hear();
    std::thread::sleep(Duration::from_millis(20));
    other.kill();
    signal::store(signal, 2, Ordering::Release);
    assert_eq!(signal::wait(signal, Condition::Eq, 2, 0), 2);
    signal::destroy(signal).unwrap();
}

#[test]
fn a_process_that_is_killed_leaves_nothing_behind() {
    let mut other = Other::start("give a signal");
    other.hear();
    let own = format!("{}", other.id());
    other.kill();
    let files = std::fs::read_dir("/dev/shm").map_or_else(|_| Vec::new(), |dir| dir.flatten().collect());
    for file in files {
        let name = file.file_name().into_string().unwrap();
        assert!(!name.contains("hansa") && !name.contains(&own), "{name}");
    }
}

#[test]
fn what_another_process_writes_into_the_page_is_no_danger() {
    let rig = rig();
    let (signal, name) = shared(rig, 1);
    let attached = rig.signals.ipc_attach(name).unwrap();
    let block = signal::checked(attached).unwrap();
    block.kind.store(-1, Ordering::Relaxed);
    block.notify.store(1, Ordering::Relaxed);
    block.references.store(0, Ordering::Relaxed);
    block.flags.store(u32::MAX, Ordering::Relaxed);
    block.waiters.store(u32::MAX, Ordering::Relaxed);
    block.tag.store(0, Ordering::Relaxed);
    signal::store(signal, 4, Ordering::Release);
    assert_eq!(signal::load(attached, Ordering::Acquire), 4);
    assert_eq!(signal::wait(signal, Condition::Eq, 5, 2_000_000), 4);
    assert_eq!(status(rig.signals.ipc_attach(name)), is::INVALID_ARGUMENT);
    signal::destroy(attached).unwrap();
    assert_eq!(signal::load(signal, Ordering::Acquire), 4);
    signal::destroy(signal).unwrap();
    assert_eq!(signal::load(signal, Ordering::Acquire), 0);
}
