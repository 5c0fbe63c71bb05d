//! Queues: order, barriers, errors, and their end.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use hansa_plugin_api as api;
use hansa_plugin_api::{Allocation, Driver, ErrorCode, QueuePriority, QueueUpdate};
use hansa_vxdna::{NpuSpec, Personality};
use std::sync::atomic::{AtomicBool, Ordering};
use support::design::{loopback, Code};
use support::queue::{barrier, contents, filled, within_a_while, Kernel, SignalBlock, TestQueue};
use support::{Rig, PLAIN};

/// Copies four words through a loop in the shim tile.
struct Copy {
    input: Allocation,
    output: Allocation,
    kernel: Kernel,
}

impl Copy {
    fn new(rig: &Rig) -> Self {
        Self::of(rig, &Code::new(3, false).copy(4, 0, 1).finish())
    }

    fn of(rig: &Rig, code: &[u32]) -> Self {
        let (input, output) = (filled(rig, &[1, 2, 3, 4]), rig.allocate(PLAIN, 16));
        Self {
            input,
            output,
            kernel: Kernel::new(rig, &loopback(), code, &[input, output]),
        }
    }

    fn is_done(&self) -> bool {
        contents(&self.output, 4) == contents(&self.input, 4)
    }
}

fn stuck() -> Vec<u32> {
    // Nothing is ever written to memory.
    Code::new(3, false).wait().finish()
}

/// What an error is: the code of the inactive signal, and words of the message.
fn assert_failed(rig: &Rig, queue: &TestQueue, code: i64, words: &str) {
    let log = rig.host.log.lock().unwrap().join("\n");
    assert_eq!(queue.inactive.value(), code, "{log}");
    assert!(log.contains(words), "{log}");
}

/// The runtime's part: it tells the program, and says so.
fn telling<T>(queue: &TestQueue, run: impl FnOnce() -> T) -> (T, i64) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let told = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                let code = queue.inactive.value();
                if code > 0 {
                    queue.inactive.set(-1);
                    return code;
                }
                std::thread::yield_now();
            }
            0
        });
        let answer = run();
        over.store(true, Ordering::Release);
        (answer, told.join().unwrap())
    })
}

#[test]
fn a_ring_goes_round_and_packets_make_chains() {
    for personality in [Personality::OutOfTree, Personality::Mainline] {
        let rig = Rig::open(&[NpuSpec {
            personality,
            ..NpuSpec::npu1()
        }]);
        let queue = TestQueue::new(&rig);
        let copy = Copy::new(&rig);
        let signal = SignalBlock::new(200);
        for _ in 0..4 {
            let last = (0..50)
                .map(|_| queue.put(&copy.kernel.packet(signal.handle())))
                .max();
            queue.ring(last.unwrap());
        }
        assert_eq!((signal.value(), queue.read_index()), (0, 200));
        assert!(copy.is_done());
        // 50 commands of 44 bytes fit one slot, but for the end of the ring, which is none.
        assert_eq!(rig.system.faults.counts()["EXEC_CMD"], 4);
        rig.assert_no_complaints();
    }
}

#[test]
fn one_wrong_command_of_a_chain_leaves_the_ones_before() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let good: Vec<Copy> = (0..4).map(|_| Copy::new(&rig)).collect();
    let bad = Copy::of(&rig, &Code::new(3, false).unknown().finish());
    let signals: Vec<_> = (0..5).map(|_| SignalBlock::new(1)).collect();
    let order = [&good[0], &good[1], &bad, &good[2], &good[3]];
    let ((), code) = telling(&queue, || {
        let packets = order.iter().zip(&signals);
        let last = packets
            .map(|(copy, signal)| queue.put(&copy.kernel.packet(signal.handle())))
            .max();
        queue.ring(last.unwrap());
    });
    assert_eq!(code, 0x8000_0000);
    let values: Vec<i64> = signals.iter().map(|signal| signal.value()).collect();
    assert_eq!(values, [0, 0, 1, 1, 1]);
    assert_eq!(queue.read_index(), 2);
    assert!(good[0].is_done() && good[1].is_done() && !good[2].is_done());
    assert_failed(
        &rig,
        &queue,
        -1,
        "Packet 2: the device reports an error (state 5)",
    );
    assert!(rig.system.log()[0].contains("command 2: operation 0: operation 77 is not modelled"));
    // Nothing is read any more, and the queue goes.
    queue.submit(&good[3].kernel.packet(0));
    assert!(!good[3].is_done());
    rig.driver.destroy_queue(queue.name).unwrap();
    assert_eq!(rig.system.books().contexts, 0);
}

#[test]
fn a_design_that_waits_for_ever_is_a_timeout() {
    for personality in [Personality::OutOfTree, Personality::Mainline] {
        let rig = Rig::open(&[NpuSpec {
            personality,
            ..NpuSpec::npu1()
        }]);
        let queue = TestQueue::new(&rig);
        let copy = Copy::of(&rig, &stuck());
        let signal = SignalBlock::new(1);
        let ((), code) = telling(&queue, || queue.submit(&copy.kernel.packet(signal.handle())));
        assert_eq!((code, signal.value()), (0x8000_0000, 1));
        assert_failed(&rig, &queue, -1, "the device reports a timeout (state 8)");
        // Another queue of the device works.
        let second = TestQueue::new(&rig);
        let copy = Copy::new(&rig);
        second.submit(&copy.kernel.packet(0));
        assert!(copy.is_done());
    }
}

#[test]
fn what_a_packet_names_must_be_there() {
    let rig = Rig::open(&[NpuSpec::npu1(), NpuSpec::npu4().at(1)]);
    let copy = Copy::new(&rig);
    let signal = SignalBlock::new(1);
    let foreign = rig.driver.allocate(&support::request(1, PLAIN, 4096)).unwrap();
    let good = copy.kernel.packet(signal.handle());
    let with = |word: usize, value: u64| {
        let mut words = good;
        words[word] = value;
        words
    };
    let arguments = |address: u64, bytes: u64| {
        let list = Box::leak(Box::new([address, bytes]));
        let mut words = with(4, list.as_ptr().expose_provenance() as u64);
        words[3] = words[3] & 0xffff_ffff | 1 << 32;
        words
    };
    let at = copy.input.host_address;
    for (words, code, text) in [
        (
            with(6, 0x1000),
            0x8,
            "the image at 0x1000 is not the start of an allocation of the device heap",
        ),
        (
            with(6, at),
            0x8,
            "is not the start of an allocation of the device heap",
        ),
        (
            with(6, copy.kernel.image.host_address + 4096),
            0x8,
            "is not the start",
        ),
        (with(6, 0), 0x40, "names kernel object"),
        (with(2, at << 32), 0x40, "are in no allocation of the device heap"),
        (with(5, 6), 0x40, "6 bytes of instructions are not whole words"),
        (with(5, 1 << 20), 0x40, "are in no allocation of the device heap"),
        (
            with(4, 8),
            0x40,
            "the packet's arguments: nothing can be read at 0x8",
        ),
        (
            arguments(0x1000, 4),
            0x40,
            "argument 0, 4 bytes at 0x1000, is in no allocation of this NPU's pools",
        ),
        (arguments(at, 8192), 0x40, "argument 0, 8192 bytes"),
        (arguments(foreign.host_address, 4), 0x40, "argument 0, 4 bytes"),
        (with(0, 2), 0x20, "packet type 2 is not one that an NPU executes"),
        (with(0, 4), 0x20, "packet type 4"),
        (with(0, 9 << 16), 0x20, "vendor packet 0x00090000 is not known"),
        (with(1, 0x1238), 0x40, "signal 0x1238 is none"),
    ] {
        let queue = TestQueue::new(&rig);
        rig.host.log.lock().unwrap().clear();
        let ((), seen) = telling(&queue, || queue.submit(&words));
        assert_eq!(seen, code, "{text}: {:?}", rig.host.log);
        assert_failed(&rig, &queue, -1, text);
        assert_eq!(signal.value(), 1, "{text}");
        rig.driver.destroy_queue(queue.name).unwrap();
    }
    assert_eq!(rig.system.log(), Vec::<String>::new());
    rig.assert_no_complaints();
}

/// The packets before a wrong one run, the one behind does not.
#[test]
fn a_wrong_packet_ends_the_queue_where_it_is() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let copies = [0; 2].map(|_| Copy::new(&rig));
    let ((), code) = telling(&queue, || {
        queue.put(&copies[0].kernel.packet(0));
        queue.put(&[2, 0, 0, 0, 0, 0, 0, 0]);
        queue.submit(&copies[1].kernel.packet(0));
    });
    assert_eq!(code, 0x20);
    assert!(copies[0].is_done() && !copies[1].is_done());
    assert_eq!(queue.read_index(), 1);
}

#[test]
fn a_barrier_holds_what_is_behind_it_and_nobody_who_rings() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let copies = [0; 2].map(|_| Copy::new(&rig));
    let (gate, passed, last) = (SignalBlock::new(1), SignalBlock::new(1), SignalBlock::new(1));
    queue.put(&copies[0].kernel.packet(0));
    queue.put(&barrier(&[gate.handle()], passed.handle()));
    // Returns, since the program may open the gate only afterwards.
    queue.submit(&copies[1].kernel.packet(last.handle()));
    assert!(copies[0].is_done() && !copies[1].is_done());
    assert_eq!((passed.value(), queue.read_index()), (1, 1));
    gate.set(0);
    last.wait_for(0);
    assert_eq!(passed.value(), 0);
    assert!(copies[1].is_done());
    // Once more, now that the thread is there.
    gate.set(1);
    support::write(copies[1].output.host_address, &[0; 4]);
    passed.set(1);
    last.set(1);
    queue.put(&barrier(&[gate.handle()], passed.handle()));
    queue.submit(&copies[1].kernel.packet(last.handle()));
    assert_eq!(last.value(), 1);
    gate.set(0);
    last.wait_for(0);
    assert!(copies[1].is_done());
    rig.driver.destroy_queue(queue.name).unwrap();
}

#[test]
fn packets_are_timed_when_somebody_asks() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let copy = Copy::new(&rig);
    let signal = SignalBlock::new(2);
    queue.submit(&copy.kernel.packet(signal.handle()));
    assert_eq!(signal.times(), [0, 0]);
    queue.profile();
    queue.submit(&copy.kernel.packet(signal.handle()));
    let [start, end] = signal.times();
    let now = rig.driver.clock_counters(0).unwrap();
    assert_eq!((now.device, now.system_hz), (now.host, 1_000_000_000));
    assert!(end <= now.device, "{end} {now:?}");
    assert!(start != 0 && start <= end, "{start} {end}");
}

#[test]
fn a_queue_is_destroyed_while_its_command_runs() {
    for personality in [Personality::OutOfTree, Personality::Mainline] {
        let rig = Rig::open(&[NpuSpec {
            personality,
            ..NpuSpec::npu1()
        }]);
        let queue = TestQueue::new(&rig);
        let copy = Copy::new(&rig);
        let signal = SignalBlock::new(1);
        let held = rig.system.hold();
        std::thread::scope(|scope| {
            let ringing = scope.spawn(|| queue.submit(&copy.kernel.packet(signal.handle())));
            within_a_while("the command", || {
                rig.system.faults.counts().contains_key("EXEC_CMD")
            });
            rig.driver.destroy_queue(queue.name).unwrap();
            ringing.join().unwrap();
        });
        drop(held);
        assert_eq!((signal.value(), queue.inactive.value()), (1, 0));
        assert_eq!(rig.system.books().contexts, 0);
        let gone = rig.driver.destroy_queue(queue.name).unwrap_err();
        assert_eq!(gone.code, ErrorCode::INVALID_HANDLE);
        // A bell of a queue that is gone is heard by nobody.
        queue.ring(5);
        assert!(queue.bytes() != 0);
    }
}

#[test]
fn a_queue_is_destroyed_while_a_barrier_holds_it() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let gate = SignalBlock::new(1);
    queue.submit(&barrier(&[gate.handle()], 0));
    rig.driver.destroy_queue(queue.name).unwrap();
    assert_eq!(queue.read_index(), 0);
}

#[test]
fn closing_the_driver_ends_its_queues() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let gate = SignalBlock::new(1);
    let copy = Copy::new(&rig);
    queue.submit(&copy.kernel.packet(0));
    queue.submit(&barrier(&[gate.handle()], 0));
    rig.driver.close().unwrap();
    assert_eq!(rig.system.books(), hansa_vxdna::Books::default());
    rig.assert_no_complaints();
}

#[test]
fn a_stopped_queue_goes_on_when_it_may() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let copy = Copy::new(&rig);
    let update = |percent, cu_mask: &'static [u32]| QueueUpdate {
        priority: QueuePriority::HIGH,
        percent,
        cu_mask: api::RSlice::from_slice(cu_mask),
    };
    rig.driver.update_queue(queue.name, &update(0, &[])).unwrap();
    queue.submit(&copy.kernel.packet(0));
    assert!(!copy.is_done());
    rig.driver.update_queue(queue.name, &update(100, &[])).unwrap();
    assert!(copy.is_done());
    let error = rig
        .driver
        .update_queue(queue.name, &update(100, &[1]))
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::NOT_SUPPORTED);
}

/// Another urgency is one of the context, which is made anew for it.
#[test]
fn urgency_is_the_context_s() {
    let rig = Rig::open(&[NpuSpec::npu1()]);
    let queue = TestQueue::new(&rig);
    let copy = Copy::new(&rig);
    for (priority, contexts) in [
        (QueuePriority::NORMAL, 1),
        (QueuePriority::HIGH, 2),
        (QueuePriority::HIGH, 2),
        (QueuePriority::LOW, 3),
    ] {
        let update = QueueUpdate {
            priority,
            percent: 100,
            cu_mask: api::RSlice::from_slice(&[]),
        };
        rig.driver.update_queue(queue.name, &update).unwrap();
        queue.submit(&copy.kernel.packet(0));
        assert_eq!(rig.system.faults.counts()["CREATE_HWCTX"], contexts);
    }
}

/// Several threads write packets and ring, each for its own.
#[test]
fn producers_do_not_disturb_one_another() {
    let rig = Rig::open(&[NpuSpec::npu4()]);
    let queue = TestQueue::new(&rig);
    let copies: Vec<Copy> = (0..4)
        .map(|_| Copy::of(&rig, &Code::new(4, false).copy(4, 0, 1).finish()))
        .collect();
    let signal = SignalBlock::new(4 * 40);
    std::thread::scope(|scope| {
        for copy in &copies {
            scope.spawn(|| {
                for _ in 0..40 {
                    queue.submit(&copy.kernel.packet(signal.handle()));
                }
            });
        }
    });
    signal.wait_for(0);
    assert!(copies.iter().all(Copy::is_done));
    assert_eq!(queue.read_index(), 160);
}

/// What the array is told that it does not have, and code that is none, come back by name.
#[test]
fn the_model_refuses_by_name() {
    for (code, words) in [
        (
            Code::new(4, false).finish(),
            "code for generation 4 on a device of 3",
        ),
        (
            Code::new(3, false).write(0x1_0000, 0).finish(),
            "no register of a Shim tile",
        ),
        (
            Code::new(3, false).write(31 << 25, 0).finish(),
            "no tile at column 31",
        ),
        (
            Code::new(3, false).patch(0x1_d004, 7, 0).finish(),
            "the command has no argument 7",
        ),
        (
            Code::new(3, false).write(0x1_d214, 3).wait().finish(),
            "descriptor 3: the descriptor is not valid",
        ),
        (
            Code::new(3, false).poll(0x1_4000, 1, 1).finish(),
            "operation 0 waits",
        ),
        (vec![1, 2, 3], "code without a header"),
    ] {
        let rig = Rig::open(&[NpuSpec::npu1()]);
        let queue = TestQueue::new(&rig);
        let copy = Copy::of(&rig, &code);
        telling(&queue, || queue.submit(&copy.kernel.packet(0)));
        let log = rig.system.log().join("\n");
        assert!(log.contains(words), "{words}: {log}");
    }
}
