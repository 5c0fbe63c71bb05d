//! Queues that several users share.

use super::processor::{dispatch, submit, Processor};
use super::rig::{is, rig, status, Rig};
use hansa_core::queue::{index, Descriptor};
use hansa_core::runtime::current;
use hansa_plugin_api as api;
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

const USE_COUNT: u32 = 2;
const HARDWARE_ID: u32 = 3;

fn acquire(rig: Rig, priority: u32) -> u64 {
    let request = api::CountedQueueRequest {
        priority,
        error_handler: api::ROption::RNone,
    };
    rig.queues.counted_acquire(rig.gpus[1], &request).unwrap()
}

#[test]
fn few_queues_serve_many_users() {
    let rig = rig();
    let names: Vec<u64> = (0..10).map(|_| acquire(rig, 0)).collect();
    let hardware = |name: u64| rig.queues.info(name, HARDWARE_ID).unwrap();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 10);
    let behind: Vec<u64> = names.iter().map(|&name| hardware(name)).collect();
    assert_eq!(behind.iter().collect::<HashSet<_>>().len(), 4);
    let mut counts: Vec<u64> = (0..4)
        .map(|n| rig.queues.info(names[n], USE_COUNT).unwrap())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [2, 2, 3, 3]);

    // The users of one queue take turns in its ring.
    let sharers: Vec<u64> = names
        .iter()
        .copied()
        .filter(|&n| hardware(n) == behind[0])
        .collect();
    for (number, &name) in sharers.iter().enumerate() {
        submit(name, dispatch(number as u64));
    }
    assert_eq!(Processor::of(rig, names[0]).dispatches(), [0, 1, 2]);
    assert_eq!(index::load_write(names[0], Ordering::Acquire), 3);
    assert_eq!(index::load_read(sharers[1], Ordering::Acquire), 3);

    for &name in &names {
        rig.queues.counted_release(name).unwrap();
        assert!(Descriptor::of(name).is_none());
        assert_eq!(status(rig.queues.counted_release(name)), is::ERROR);
    }
    let again = acquire(rig, 0);
    assert!(behind.contains(&hardware(again)));
    assert_eq!(rig.queues.info(again, USE_COUNT).unwrap(), 1);
    rig.queues.counted_release(again).unwrap();
}

#[test]
fn a_user_changes_and_destroys_nothing_of_the_others() {
    let rig = rig();
    let name = acquire(rig, 1);
    assert_eq!(status(rig.queues.set_priority(name, 2)), is::INVALID_QUEUE);
    assert_eq!(
        status(rig.queues.set_cu_mask(name, [1].as_slice().into())),
        is::INVALID_QUEUE
    );
    assert!(current().unwrap().destroy_queue(name).is_err());
    rig.queues.counted_release(name).unwrap();
    assert_eq!(status(rig.queues.counted_release(0)), is::ERROR);
}

#[test]
fn every_user_is_told_of_an_error_by_its_own_name() {
    static TOLD: Mutex<Vec<(u64, usize)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn failed(_status: u32, queue: *mut c_void, data: *mut c_void) {
        TOLD.lock().unwrap().push((queue.addr() as u64, data.addr()));
    }
    let rig = rig();
    let agent = rig.gpus[0];
    let acquire = |data: usize| {
        let handler = api::QueueErrorHandler {
            function: failed,
            argument: std::ptr::without_provenance_mut(data),
        };
        let request = api::CountedQueueRequest {
            priority: 2,
            error_handler: api::ROption::RSome(handler),
        };
        rig.queues.counted_acquire(agent, &request).unwrap()
    };
    let names: Vec<u64> = (0..5).map(acquire).collect();
    rig.queues.counted_release(names[1]).unwrap();
    Processor::of(rig, names[0]).fail(0x40);
    let expected = [(names[0], 0), (names[4], 4)];
    let start = std::time::Instant::now();
    while TOLD.lock().unwrap().len() < 2 {
        assert!(start.elapsed() < std::time::Duration::from_secs(10));
        std::thread::yield_now();
    }
    let mut told = TOLD.lock().unwrap().clone();
    told.sort_by_key(|(_, data)| *data);
    assert_eq!(told, expected);
    // A dead queue is given to nobody.
    let fresh = acquire(9);
    assert_ne!(
        rig.queues.info(fresh, HARDWARE_ID).unwrap(),
        rig.queues.info(names[0], HARDWARE_ID).unwrap()
    );
    for name in [names[0], names[2], names[3], names[4], fresh] {
        rig.queues.counted_release(name).unwrap();
    }
}

#[test]
fn a_tool_is_told_of_queues_that_the_runtime_makes_and_can_intercept_them() {
    static MADE: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
    static SEEN: Mutex<u64> = Mutex::new(0);
    unsafe extern "C" fn pass(
        packets: *const c_void,
        count: u64,
        _index: u64,
        _data: *mut c_void,
        writer: api::PacketWriter,
    ) {
        *SEEN.lock().unwrap() += count;
        // SAFETY: what the runtime showed is passed on.
        unsafe { (writer.0)(packets, count) };
    }
    unsafe extern "C" fn made(queue: *const c_void, agent: u64, _data: *mut c_void) {
        let rig = rig();
        if agent == rig.gpus[0] {
            let queue = queue.addr() as u64;
            MADE.lock().unwrap().push((queue, agent));
            let handler = api::InterceptHandler {
                function: pass,
                argument: std::ptr::null_mut(),
            };
            rig.queues.intercept_register(queue, handler).unwrap();
        }
    }
    let rig = rig();
    let notifier = api::QueueNotifier {
        function: made,
        argument: std::ptr::null_mut(),
    };
    rig.queues.on_create(notifier).unwrap();
    assert_eq!(status(rig.queues.on_create(notifier)), is::ERROR);
    let request = api::CountedQueueRequest {
        priority: 0,
        error_handler: api::ROption::RNone,
    };
    let name = rig.queues.counted_acquire(rig.gpus[0], &request).unwrap();
    submit(name, dispatch(3));
    let made = MADE.lock().unwrap().clone();
    assert!(made.contains(&(Descriptor::of(name).unwrap().handle(), rig.gpus[0])));
    assert_eq!(Processor::of(rig, name).dispatches(), [3]);
    assert_eq!(*SEEN.lock().unwrap(), 1);
    assert!(current().unwrap().destroy_queue(made[0].0).is_err());
    rig.queues.counted_release(name).unwrap();
}
