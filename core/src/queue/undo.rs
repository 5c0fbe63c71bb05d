//! What a creation of a queue has so far, and how it is taken apart when the rest fails.

use super::{scratch, slots, Descriptor};
use crate::memory::host::Pages;
use crate::runtime::Runtime;
use crate::signal::{pool, Block};
use hansa_plugin_api as api;

/// Takes apart what a failed creation had.
pub(super) struct Undo<'a> {
    runtime: &'a Runtime,
    pub(super) ring: Option<Pages>,
    pub(super) registrations: Vec<(usize, api::MemoryHandle)>,
    pub(super) descriptor: Option<&'static Descriptor>,
    pub(super) signals: Vec<&'static Block>,
    pub(super) scratch: Option<(usize, scratch::Scratch)>,
}

impl<'a> Undo<'a> {
    /// Nothing but a ring yet.
    pub(super) const fn new(runtime: &'a Runtime, ring: Pages) -> Self {
        Self {
            runtime,
            ring: Some(ring),
            registrations: Vec::new(),
            descriptor: None,
            signals: Vec::new(),
            scratch: None,
        }
    }

    /// The creation went well.
    pub(super) fn disarm(&mut self) {
        self.ring = None;
        self.descriptor = None;
        self.signals.clear();
    }
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        if let (Some((driver, scratch)), Some(descriptor)) = (self.scratch.take(), self.descriptor) {
            scratch::release(self.runtime, driver, descriptor.handle(), scratch);
        }
        for signal in self.signals.drain(..) {
            pool::retire(signal);
        }
        if let Some(descriptor) = self.descriptor.take() {
            slots::give_back(descriptor);
        }
        self.runtime.deregister(&self.registrations);
        if let Some(ring) = self.ring.take() {
            // SAFETY: the queue was never given out.
            unsafe { ring.unmap() };
        }
    }
}
