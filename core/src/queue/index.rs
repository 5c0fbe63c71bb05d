//! Operations on the indexes of a queue (HSA specification, 2.8.4): single atomics on the descriptor.

use super::descriptor::{Descriptor, ROLE_SOFT};
use std::sync::atomic::Ordering;

/// The read index; 0 for anything that is no queue.
#[inline]
#[must_use]
pub fn load_read(queue: u64, order: Ordering) -> u64 {
    Descriptor::of(queue).map_or(0, |q| q.read_index.load(order))
}

/// The write index; 0 for anything that is no queue.
#[inline]
#[must_use]
pub fn load_write(queue: u64, order: Ordering) -> u64 {
    Descriptor::of(queue).map_or(0, |q| q.write_index.load(order))
}

/// Sets the write index.
#[inline]
pub fn store_write(queue: u64, value: u64, order: Ordering) {
    if let Some(q) = Descriptor::of(queue) {
        q.write_index.store(value, order);
    }
}

/// Sets the read index of a queue that the program reads; that of a device's queue belongs to the device.
#[inline]
pub fn store_read(queue: u64, value: u64, order: Ordering) {
    if let Some(q) = Descriptor::of(queue) {
        if q.role.load(Ordering::Relaxed) == ROLE_SOFT {
            q.read_index.store(value, order);
        }
    }
}

/// Sets the write index if it is `expected`. Answers the index before.
#[inline]
pub fn cas_write(queue: u64, expected: u64, value: u64, order: Ordering) -> u64 {
    let Some(q) = Descriptor::of(queue) else { return 0 };
    let failure = match order {
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        Ordering::SeqCst => Ordering::SeqCst,
        _ => Ordering::Relaxed,
    };
    match q.write_index.compare_exchange(expected, value, order, failure) {
        Ok(before) | Err(before) => before,
    }
}

/// Adds to the write index. Answers the index before.
#[inline]
pub fn add_write(queue: u64, value: u64, order: Ordering) -> u64 {
    Descriptor::of(queue).map_or(0, |q| q.write_index.fetch_add(value, order))
}
