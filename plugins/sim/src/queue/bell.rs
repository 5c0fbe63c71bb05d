//! Doorbells: what the runtime calls when the write index of a queue moved.
//!
//! A doorbell may be rung by any thread at any time, even while its queue goes away. So a bell is never freed: the
//! queue is taken out of it, and the bell is used for the next one.

#![expect(
    clippy::cast_possible_truncation,
    reason = "addresses and sizes of this process fit its pointers"
)]

use super::Queue;
use arc_swap::ArcSwapOption;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::Doorbell;
use std::ptr;
use std::sync::Arc;

/// A bell of a queue, or of none.
#[derive(Debug, Default)]
struct Bell {
    queue: ArcSwapOption<Queue>,
}

/// Bells without a queue.
static SPARE: Lock<Vec<&'static Bell>> = Lock::new(Vec::new());

/// A queue's bell, for as long as it has one.
#[derive(Debug)]
pub(crate) struct Hung(&'static Bell);

impl Hung {
    /// Gives a queue a bell.
    pub(crate) fn new(queue: &Arc<Queue>) -> Self {
        let spare = SPARE.lock().pop();
        let bell = spare.unwrap_or_else(|| Box::leak(Box::default()));
        bell.queue.store(Some(Arc::clone(queue)));
        Self(bell)
    }

    /// How the runtime rings it.
    pub(crate) fn doorbell(&self) -> Doorbell {
        Doorbell::calling(ring, ptr::from_ref(self.0).expose_provenance() as u64)
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.0.queue.store(None);
        SPARE.lock().push(self.0);
    }
}

extern "C" fn ring(context: u64, value: u64) {
    let bell: *const Bell = ptr::with_exposed_provenance(context as usize);
    // SAFETY: the context is the one that `Hung::doorbell` made of a bell, and bells are never freed.
    let bell = unsafe { &*bell };
    if let Some(queue) = bell.queue.load().as_ref() {
        queue.ring(value);
    }
}
