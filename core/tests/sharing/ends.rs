//! How queues end.

use super::bells::create;
use super::rig::rig;
use hansa_core::queue::Descriptor;
use hansa_core::runtime::current;
use hansa_core::signal::Block;
use std::sync::atomic::Ordering;

/// What the signal of a queue holds whose handler is to end.
const GONE: i64 = i64::MIN;

/// A device that may go on stores to that signal, which is therefore no other one ever.
#[test]
fn a_queue_that_its_driver_keeps_keeps_its_signal() {
    let rig = rig();
    for (refusals, kept) in [(0, false), (1, false), (2, true), (3, true)] {
        let (queue, processor) = create(rig);
        let signal = Descriptor::of(queue)
            .unwrap()
            .inactive_signal
            .load(Ordering::Relaxed);
        processor.refuse(refusals);
        current().unwrap().destroy_queue(queue).unwrap();
        // Another test may have the place of one that was given back.
        let is_its = Block::of(signal).is_some_and(|block| block.value.load(Ordering::Relaxed) == GONE);
        assert_eq!(is_its, kept, "{refusals} refusals");
    }
}
