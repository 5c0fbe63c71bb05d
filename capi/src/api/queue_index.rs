//! Operations on the indexes of a queue (HSA Runtime PRM 1.2, section 2.5): one atomic each, no lock, no call.
//!
//! They have no status; a pointer that is no live queue is left alone, and reads as 0.

use hansa_core::queue::index;
use hansa_plugin_api::hsa::hsa_queue_t;
use std::sync::atomic::Ordering;

#[inline(always)]
fn handle(queue: *const hsa_queue_t) -> u64 {
    queue.addr() as u64
}

macro_rules! reads {
    ($($operation:ident { $($name:ident $order:ident;)* })*) => {
        $($(pub(crate) unsafe extern "C" fn $name(queue: *const hsa_queue_t) -> u64 {
            index::$operation(handle(queue), Ordering::$order)
        })*)*
    };
}

macro_rules! writes {
    ($($operation:ident { $($name:ident $order:ident;)* })*) => {
        $($(pub(crate) unsafe extern "C" fn $name(queue: *const hsa_queue_t, value: u64) {
            index::$operation(handle(queue), value, Ordering::$order);
        })*)*
    };
}

macro_rules! adds {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(queue: *const hsa_queue_t, value: u64) -> u64 {
            index::add_write(handle(queue), value, Ordering::$order)
        })*
    };
}

macro_rules! compare_exchanges {
    ($($name:ident $order:ident;)*) => {
        $(pub(crate) unsafe extern "C" fn $name(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64 {
            index::cas_write(handle(queue), expected, value, Ordering::$order)
        })*
    };
}

reads! {
    load_read {
        hsa_queue_load_read_index_relaxed Relaxed;
        hsa_queue_load_read_index_scacquire Acquire;
    }
    load_write {
        hsa_queue_load_write_index_relaxed Relaxed;
        hsa_queue_load_write_index_scacquire Acquire;
    }
}
writes! {
    store_write {
        hsa_queue_store_write_index_relaxed Relaxed;
        hsa_queue_store_write_index_screlease Release;
    }
    store_read {
        hsa_queue_store_read_index_relaxed Relaxed;
        hsa_queue_store_read_index_screlease Release;
    }
}
adds! {
    hsa_queue_add_write_index_relaxed Relaxed;
    hsa_queue_add_write_index_scacquire Acquire;
    hsa_queue_add_write_index_screlease Release;
    hsa_queue_add_write_index_scacq_screl AcqRel;
}
compare_exchanges! {
    hsa_queue_cas_write_index_relaxed Relaxed;
    hsa_queue_cas_write_index_scacquire Acquire;
    hsa_queue_cas_write_index_screlease Release;
    hsa_queue_cas_write_index_scacq_screl AcqRel;
}
