//! Devices that ring the doorbell of an ordinary queue.

use super::processor::{dispatch, soon, submit, write, Processor};
use super::rig::{rig, Rig};
use hansa_core::queue::{index, Descriptor};
use hansa_core::runtime::current;
use hansa_core::signal::block::flag;
use hansa_core::signal::{pool, Block};
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;

pub(crate) fn create(rig: Rig) -> (u64, &'static Processor) {
    let description = api::QueueDescription {
        engine: 0,
        flags: 0,
        ring_bytes: 16 * 64,
        priority: 1,
        kind: 0,
        private_segment_bytes: u32::MAX,
        cu_mask: api::RSlice::EMPTY,
        sdma_engine: u32::MAX,
        error_handler: api::ROption::RNone,
    };
    let queue = rig.queues.create(rig.gpus[0], &description).unwrap();
    (queue, Processor::of(rig, queue))
}

fn doorbell(queue: u64) -> u64 {
    Descriptor::of(queue).unwrap().doorbell.load(Ordering::Relaxed)
}

#[test]
fn packets_of_devices_and_of_the_program_are_taken() {
    let rig = rig();
    let (queue, processor) = create(rig);
    let mut expected = Vec::new();
    for number in 1..=40 {
        expected.push(number);
        if number % 3 == 0 {
            submit(queue, dispatch(number));
            continue;
        }
        let at = index::add_write(queue, 1, Ordering::Relaxed);
        write(queue, at, dispatch(number));
        processor.ring(doorbell(queue), i64::try_from(at).unwrap());
        soon(|| processor.dispatches() == expected);
    }
    current().unwrap().destroy_queue(queue).unwrap();
}

#[test]
fn a_bell_is_heard_among_many_signals() {
    let rig = rig();
    let others: Vec<_> = (0..600).map(|_| pool::create(0, flag::SLEEPS).unwrap()).collect();
    // Other tests give signals with short numbers back meanwhile.
    let mut short = Vec::new();
    let (queue, processor) = loop {
        let (queue, processor) = create(rig);
        let block = Block::of(doorbell(queue)).unwrap();
        if block.event_id.load(Ordering::Relaxed) > 0xff {
            break (queue, processor);
        }
        short.push(queue);
    };
    let at = index::add_write(queue, 1, Ordering::Relaxed);
    write(queue, at, dispatch(5));
    processor.ring(doorbell(queue), 0);
    soon(|| processor.dispatches() == [5]);
    short.push(queue);
    for queue in short {
        current().unwrap().destroy_queue(queue).unwrap();
    }
    for other in others {
        assert!(pool::retire(other));
    }
}

#[test]
fn a_bell_ends_with_its_queue() {
    let rig = rig();
    let (queue, _) = create(rig);
    let bell = doorbell(queue);
    let block = Block::of(bell).unwrap();
    assert!(block.references.load(Ordering::Relaxed) > 1, "somebody listens");
    current().unwrap().destroy_queue(queue).unwrap();
    // Or another test has its place already.
    soon(|| Block::of(bell).is_some() || block.references.load(Ordering::Relaxed) == 0);
}
