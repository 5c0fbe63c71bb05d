//! Queues whose packets pass through handlers.

use super::processor::{dispatch, ring, soon, submit, write, Packet, Processor, DISPATCH};
use super::rig::{is, rig, status, Rig};
use hansa_core::queue::{index, Descriptor};
use hansa_core::runtime::current;
use hansa_plugin_api as api;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

/// What a handler of the tests is, and what it has seen.
struct Tool {
    act: fn(&Self, &[Packet]) -> Vec<Packet>,
    seen: Mutex<Vec<(u64, u64)>>,
    number: u64,
}

impl Tool {
    fn new(number: u64, act: fn(&Self, &[Packet]) -> Vec<Packet>) -> &'static Self {
        Box::leak(Box::new(Self {
            act,
            seen: Mutex::new(Vec::new()),
            number,
        }))
    }

    fn handler(&'static self) -> api::InterceptHandler {
        api::InterceptHandler {
            function: handle,
            argument: std::ptr::from_ref(self).cast_mut().cast(),
        }
    }

    /// Index of the program's packet and number of the first packet, for each call.
    fn seen(&self) -> Vec<(u64, u64)> {
        self.seen.lock().unwrap().clone()
    }
}

unsafe extern "C" fn handle(
    packets: *const c_void,
    count: u64,
    index: u64,
    tool: *mut c_void,
    writer: api::PacketWriter,
) {
    // SAFETY: the test registered a tool, which lives for ever.
    let tool = unsafe { &*tool.cast::<Tool>() };
    // SAFETY: the runtime says that there are so many packets.
    let packets = unsafe { std::slice::from_raw_parts(packets.cast::<Packet>(), count as usize) };
    tool.seen.lock().unwrap().push((index, packets[0][4]));
    let out = (tool.act)(tool, packets);
    // SAFETY: as many packets as there are.
    unsafe { (writer.0)(out.as_ptr().cast(), out.len() as u64) };
}

fn request(packets: u32) -> api::InterceptQueueRequest {
    api::InterceptQueueRequest {
        packets,
        kind: 0,
        private_segment_bytes: u32::MAX,
        group_segment_bytes: u32::MAX,
        error_handler: api::ROption::RNone,
    }
}

fn create(rig: Rig) -> (u64, &'static Processor) {
    let queue = rig.queues.intercept_create(rig.gpus[0], &request(16)).unwrap();
    (queue, Processor::of(rig, queue))
}

fn destroy(queue: u64) {
    current().unwrap().destroy_queue(queue).unwrap();
}

#[test]
fn packets_pass_unchanged_without_a_handler() {
    let rig = rig();
    let (queue, processor) = create(rig);
    for number in 0..40 {
        submit(queue, dispatch(number));
    }
    let expected: Vec<Packet> = (0..40).map(dispatch).collect();
    assert_eq!(processor.packets(), expected);
    assert_eq!(index::load_read(queue, Ordering::Acquire), 40);
    destroy(queue);
    // Another test may have a queue there by now.
    let is_gone = || {
        let (queue, _) = create(rig);
        destroy(queue);
        Descriptor::of(queue).is_none()
    };
    assert!((0..100).any(|_| is_gone()));
}

#[test]
fn the_handler_that_was_registered_last_sees_packets_first() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let mark: fn(&Tool, &[Packet]) -> Vec<Packet> = |tool, packets| {
        let marked = |p: &Packet| dispatch(p[4] * 10 + tool.number);
        packets.iter().map(marked).collect()
    };
    let (first, last) = (Tool::new(1, mark), Tool::new(2, mark));
    for tool in [first, last] {
        rig.queues.intercept_register(queue, tool.handler()).unwrap();
    }
    for number in 5..8 {
        submit(queue, dispatch(number));
    }
    assert_eq!(last.seen(), [(0, 5), (1, 6), (2, 7)]);
    assert_eq!(first.seen(), [(0, 52), (1, 62), (2, 72)]);
    assert_eq!(processor.dispatches(), [521, 621, 721]);
    destroy(queue);
}

#[test]
fn a_handler_drops_and_multiplies_packets() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let tool = Tool::new(0, |_, packets| {
        let times = packets[0][4] % 3;
        (0..times).map(|n| dispatch(packets[0][4] * 100 + n)).collect()
    });
    rig.queues.intercept_register(queue, tool.handler()).unwrap();
    for number in 3..6 {
        submit(queue, dispatch(number));
    }
    assert_eq!(processor.dispatches(), [400, 500, 501]);
    destroy(queue);
}

#[test]
fn packets_without_room_wait_and_lose_no_place() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let tool = Tool::new(0, |_, packets| {
        (0..21).map(|n| dispatch(packets[0][4] * 100 + n)).collect()
    });
    rig.queues.intercept_register(queue, tool.handler()).unwrap();
    processor.allow(0);
    let program = std::thread::spawn(move || (0..30).for_each(|number| submit(queue, dispatch(number))));
    let expected: Vec<u64> = (0..30).flat_map(|p| (0..21).map(move |n| p * 100 + n)).collect();
    soon(|| {
        processor.allow(3);
        processor.dispatches().len() == expected.len()
    });
    program.join().unwrap();
    assert_eq!(processor.dispatches(), expected);
    assert!(
        processor.packets().iter().any(|p| p[0] != DISPATCH),
        "there was no retry"
    );
    soon(|| index::load_read(queue, Ordering::Acquire) == 30);
    destroy(queue);
}

#[test]
fn a_queue_goes_away_while_packets_wait() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let tool = Tool::new(0, |_, packets| vec![packets[0]; 40]);
    rig.queues.intercept_register(queue, tool.handler()).unwrap();
    processor.allow(0);
    submit(queue, dispatch(1));
    destroy(queue);
    assert_eq!(processor.packets(), [] as [Packet; 0]);
}

#[test]
fn a_packet_that_is_not_written_yet_is_waited_for() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let first = index::add_write(queue, 2, Ordering::Relaxed);
    write(queue, first + 1, dispatch(2));
    ring(queue, first + 1);
    assert_eq!(processor.dispatches(), [0_u64; 0]);
    write(queue, first, dispatch(1));
    ring(queue, first);
    assert_eq!(processor.dispatches(), [1, 2]);
    destroy(queue);
}

#[test]
fn a_marker_calls_back_and_never_reaches_the_device() {
    static CALLS: Mutex<Vec<(u64, u64, u64)>> = Mutex::new(Vec::new());
    extern "C" fn called(marker: *const Packet, queue: *mut c_void, index: u64) {
        // SAFETY: the runtime shows the packet.
        let data = unsafe { (*marker)[2] };
        CALLS.lock().unwrap().push((data, queue.addr() as u64, index));
    }
    let rig = rig();
    let (queue, processor) = create(rig);
    let tool = Tool::new(0, |_, packets| {
        let function = called as extern "C" fn(*const Packet, *mut c_void, u64) as usize as u64;
        let marker = |data| [0xfe << 16, function, data, 0, 0, 0, 0, 0];
        vec![marker(7), packets[0], packets[0], marker(8)]
    });
    rig.queues.intercept_register(queue, tool.handler()).unwrap();
    submit(queue, dispatch(1));
    assert_eq!(processor.dispatches(), [1, 1]);
    let calls = CALLS.lock().unwrap().clone();
    assert_eq!((calls[0].0, calls[0].2), (7, 0));
    assert_eq!((calls[1].0, calls[1].2), (8, 2));
    assert_ne!(calls[0].1, queue, "the queue is the device's");
    assert!(Descriptor::of(calls[0].1).is_some());
    destroy(queue);
}

#[test]
fn a_device_that_rings_is_heard() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let at = index::add_write(queue, 1, Ordering::Relaxed);
    write(queue, at, dispatch(9));
    let doorbell = Descriptor::of(queue).unwrap().doorbell.load(Ordering::Relaxed);
    processor.ring(doorbell, 0);
    soon(|| processor.dispatches() == [9]);
    destroy(queue);
}

#[test]
fn a_handler_that_submits_to_its_own_queue_is_served_later() {
    static QUEUE: Mutex<u64> = Mutex::new(0);
    let rig = rig();
    let (queue, processor) = create(rig);
    *QUEUE.lock().unwrap() = queue;
    let tool = Tool::new(0, |_, packets| {
        if packets[0][4] == 1 {
            submit(*QUEUE.lock().unwrap(), dispatch(2));
        }
        packets.to_vec()
    });
    rig.queues.intercept_register(queue, tool.handler()).unwrap();
    submit(queue, dispatch(1));
    soon(|| processor.dispatches() == [1, 2]);
    destroy(queue);
}

#[test]
fn an_error_is_reported_for_the_queue_that_the_program_knows() {
    static TOLD: Mutex<Vec<(u32, u64)>> = Mutex::new(Vec::new());
    unsafe extern "C" fn failed(status: u32, queue: *mut c_void, _data: *mut c_void) {
        TOLD.lock().unwrap().push((status, queue.addr() as u64));
    }
    let rig = rig();
    let handler = api::QueueErrorHandler {
        function: failed,
        argument: std::ptr::null_mut(),
    };
    let request = api::InterceptQueueRequest {
        error_handler: api::ROption::RSome(handler),
        ..request(16)
    };
    let queue = rig.queues.intercept_create(rig.gpus[0], &request).unwrap();
    let processor = Processor::of(rig, queue);
    processor.fail(0x20);
    soon(|| *TOLD.lock().unwrap() == [(0x1009, queue)]);
    submit(queue, dispatch(1));
    assert_eq!(processor.dispatches(), [0_u64; 0]);
    destroy(queue);
}

#[test]
fn only_such_queues_take_handlers() {
    let rig = rig();
    let tool = Tool::new(0, |_, packets| packets.to_vec());
    assert_eq!(
        status(rig.queues.intercept_register(0, tool.handler())),
        is::INVALID_QUEUE
    );
    let plain = rig
        .queues
        .create(
            rig.gpus[0],
            &api::QueueDescription {
                engine: 0,
                flags: 0,
                ring_bytes: 16 * 64,
                priority: 1,
                kind: 0,
                private_segment_bytes: u32::MAX,
                cu_mask: [].as_slice().into(),
                sdma_engine: 0,
                error_handler: api::ROption::RNone,
            },
        )
        .unwrap();
    assert_eq!(
        status(rig.queues.intercept_register(plain, tool.handler())),
        is::INVALID_QUEUE
    );
    destroy(plain);
    assert_eq!(
        status(rig.queues.intercept_create(rig.gpus[0], &request(15))),
        is::INVALID_ARGUMENT
    );
}

#[test]
fn profiling_is_turned_on_where_the_device_looks() {
    let rig = rig();
    let (queue, _) = create(rig);
    rig.queues.set_profiling(queue, true).unwrap();
    rig.queues.set_priority(queue, 2).unwrap();
    destroy(queue);
    assert_eq!(status(rig.queues.set_profiling(queue, true)), is::INVALID_QUEUE);
}
