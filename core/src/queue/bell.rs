//! Doorbells of queues.
//!
//! The program rings with a store to the doorbell's signal, which this library carries out, and so may kernels: they
//! put packets into a queue and store to its doorbell, as OpenCL's scheduler does for `enqueue_kernel`. A kernel looks at the
//! signal's kind (ROCm's device library, `__ockl_hsa_signal_store`): for a doorbell of hardware it stores to the
//! address in the signal. A doorbell that is a function of a driver has no address. It looks like any signal: a kernel
//! stores to its value and raises its event, and the handler thread calls the function.

use super::errors::GONE;
use super::Queue;
use crate::error::Result;
use crate::runtime::Runtime;
use crate::signal::block::{flag, KIND_DOORBELL, KIND_USER};
use crate::signal::{pool, ring, wait, Block, Condition};
use hansa_plugin_api as api;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// What a doorbell holds that looks like any signal, while no device rang it.
pub(super) const QUIET: i64 = i64::MAX;

/// A doorbell that rings nothing yet.
pub(super) fn create() -> Result<&'static Block> {
    pool::create(QUIET, flag::DOORBELL | flag::INTERNAL | flag::SLEEPS)
}

/// Makes it ring what the driver gave.
pub(super) fn connect(doorbell: &Block, to: &api::Doorbell) {
    if to.kind.contains(api::DoorbellKind::NOTIFIER) {
        connect_to_function(doorbell, to.notify as usize as u64, to.context);
        return;
    }
    doorbell.event_mailbox.store(0, Ordering::Relaxed);
    doorbell.event_id.store(0, Ordering::Relaxed);
    let at = i64::from_ne_bytes(to.address.to_ne_bytes());
    doorbell.value.store(at, Ordering::Release);
    doorbell.become_doorbell(KIND_DOORBELL);
}

/// Makes it call a function, an `extern "C" fn(u64, u64)`, with the context and the value.
pub(super) fn connect_to_function(doorbell: &Block, function: u64, context: u64) {
    doorbell.queue.store(context, Ordering::Relaxed);
    doorbell.notify.store(function, Ordering::Release);
    doorbell.become_doorbell(KIND_USER);
}

/// Listens to devices that ring a queue's doorbell, where only this library can hear them.
pub(super) fn listen(runtime: &Arc<Runtime>, queue: &Arc<Queue>) -> Result<()> {
    let dispatches = queue.descriptor.features.load(Ordering::Relaxed) & 1 != 0;
    let Some(device) = queue.device() else {
        return Ok(());
    };
    if !dispatches || device.doorbell.kind.load(Ordering::Relaxed) != KIND_USER {
        return Ok(());
    }
    let later = Arc::downgrade(queue);
    let heard = move |_| later.upgrade().is_some_and(|queue| pass_on(&queue));
    runtime
        .handlers
        .register(device.doorbell, Condition::Ne, QUIET, Box::new(heard))
}

/// Rings for a device. Answers whether to go on listening.
fn pass_on(queue: &Queue) -> bool {
    let Some(device) = queue.device() else {
        return false;
    };
    let alive = device.alive.lock();
    if !*alive {
        return false;
    }
    // Whatever a device stores after this wakes the thread again.
    let value = device.doorbell.value.swap(QUIET, Ordering::AcqRel);
    ring(device.doorbell, value);
    true
}

/// Ends a doorbell whose queue is gone.
pub(super) fn end(doorbell: &'static Block) {
    doorbell.notify.store(0, Ordering::Release);
    let last = match doorbell.kind.load(Ordering::Relaxed) {
        KIND_DOORBELL => 0,
        _ => GONE,
    };
    // Ends the handler, which holds a reference.
    doorbell.value.store(last, Ordering::Release);
    doorbell.become_value();
    wait::changed(doorbell);
    pool::retire(doorbell);
}
