//! Doorbells: what the runtime calls when the write index of a queue moved.
//!
//! A doorbell may be rung by any thread at any time, even while its queue goes away. So a bell is never freed: the
//! queue is taken out of it, and the bell is used for the next one.

use super::Queue;
use arc_swap::ArcSwapOption;
use hansa_plugin_api::fork::Lock;
use hansa_plugin_api::Doorbell;
use std::sync::Arc;

/// A bell of a queue, or of none.
#[derive(Debug, Default)]
struct Bell(ArcSwapOption<Queue>);

/// Bells without a queue.
static SPARE: Lock<Vec<&'static Bell>> = Lock::new(Vec::new());

/// A queue's bell, for as long as it has one.
#[derive(Debug)]
pub(super) struct Hung(&'static Bell);

impl Hung {
    /// Gives a queue a bell.
    pub(super) fn new(queue: &Arc<Queue>) -> Self {
        let spare = SPARE.lock().pop();
        let bell = spare.unwrap_or_else(|| Box::leak(Box::default()));
        bell.0.store(Some(Arc::clone(queue)));
        Self(bell)
    }

    /// How the runtime rings it.
    pub(super) fn doorbell(&self) -> Doorbell {
        Doorbell::calling(ring, std::ptr::from_ref(self.0).expose_provenance() as u64)
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.0 .0.store(None);
        SPARE.lock().push(self.0);
    }
}

/// Rings the bell at `context`. What value was stored does not matter: all packets that were published are served.
extern "C" fn ring(context: u64, _value: u64) {
    let bell = crate::device::pointer(context).cast_const().cast::<Bell>();
    // SAFETY: the context is the one that `Hung::doorbell` made of a bell, and bells are never freed.
    let bell = unsafe { &*bell };
    // Held beyond the guard: the queue may be destroyed while it is served.
    let queue = bell.0.load_full();
    if let Some(queue) = queue {
        queue.ring();
    }
}
