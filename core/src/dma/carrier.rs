//! Who carries bytes for a device: one of its copy engines, or kernels on its compute units.
//!
//! What the device does not see goes through a buffer in between, and so do copies between ranges that overlap: engine and
//! kernels move a range in no order that one could build on.

use super::engine::Engine;
use super::kernels::Kernels;
use super::rows;
use crate::agent::DeviceRef;
use crate::error::Result;
use crate::memory::shown::ShownPages;
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;

/// Bytes of the buffer in between.
const BETWEEN_BYTES: u64 = 1 << 20;

/// How bytes are moved.
#[derive(Debug)]
pub(super) enum Way {
    /// By a copy engine.
    Engine(Engine),
    /// By compute units.
    Kernels(Kernels),
}

/// Moves bytes for a device.
#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) device: DeviceRef,
    way: Way,
    /// Host memory that the device sees; made at the first use.
    between: Mutex<Option<ShownPages>>,
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Whether two ranges of some bytes share one, and are not the same.
const fn overlap(to: u64, from: u64, bytes: u64) -> bool {
    to != from && to.abs_diff(from) < bytes
}

/// Parts of a range, offset and bytes, so that a copy from one end to the other reads what it has not yet written.
fn parts(to: u64, from: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = bytes.div_ceil(BETWEEN_BYTES);
    (0..count).map(move |i| {
        let i = if to > from { count - 1 - i } else { i };
        let start = i * BETWEEN_BYTES;
        (start, BETWEEN_BYTES.min(bytes - start))
    })
}

impl Carrier {
    pub(super) const fn new(device: DeviceRef, way: Way) -> Self {
        Self {
            device,
            way,
            between: Mutex::new(None),
        }
    }

    /// Takes it down. Nobody copies with it any more.
    pub(super) fn destroy(&self, runtime: &Runtime) {
        match &self.way {
            Way::Engine(engine) => engine.destroy(runtime),
            Way::Kernels(kernels) => kernels.destroy(runtime),
        }
        let between = self.between.lock().take();
        if let Some(between) = between {
            // SAFETY: what used it is gone, and nobody copies.
            unsafe { between.take_back(runtime) };
        }
    }

    /// What is under way may never end; who waits for it is told.
    pub(super) fn fail(&self) {
        match &self.way {
            Way::Engine(engine) => engine.fail(),
            Way::Kernels(kernels) => kernels.fail(),
        }
    }

    /// Whether the device reported an error.
    pub(super) fn has_failed(&self) -> bool {
        match &self.way {
            Way::Engine(engine) => engine.has_failed(),
            Way::Kernels(kernels) => kernels.has_failed(),
        }
    }

    fn move_all(&self, request: &api::CopyRequest) -> Result<()> {
        match &self.way {
            Way::Engine(engine) => engine.run(request),
            Way::Kernels(kernels) => kernels.run(request),
        }
    }

    fn move_range(&self, to: u64, from: u64, bytes: u64) -> Result<()> {
        self.move_all(&api::CopyRequest::linear(self.device.node, to, from, bytes))
    }

    /// Does a copy or fill between places that the device sees; returns when it is done.
    pub(super) fn run(&self, runtime: &Runtime, request: &api::CopyRequest) -> Result<()> {
        let fills = request.flags.contains(api::CopyFlags::FILL);
        if fills || !rows(request).any(|(to, from)| overlap(to, from, request.row_bytes)) {
            return self.move_all(request);
        }
        for (to, from) in rows(request) {
            if !overlap(to, from, request.row_bytes) {
                self.move_range(to, from, request.row_bytes)?;
                continue;
            }
            self.with_buffer(runtime, |buffer| {
                parts(to, from, request.row_bytes).try_for_each(|(offset, bytes)| {
                    self.move_range(buffer, from + offset, bytes)?;
                    self.move_range(to + offset, buffer, bytes)
                })
            })?;
        }
        Ok(())
    }

    /// Copies from host memory that the device does not see.
    ///
    /// # Safety
    ///
    /// `source` must be `bytes` bytes that can be read.
    pub(super) unsafe fn upload(
        &self,
        runtime: &Runtime,
        destination: u64,
        source: u64,
        bytes: u64,
    ) -> Result<()> {
        self.with_buffer(runtime, |buffer| {
            parts(0, 0, bytes).try_for_each(|(offset, part)| {
                // SAFETY: the caller vouches for the source; the buffer has room for a part.
                unsafe {
                    std::ptr::copy_nonoverlapping(pointer(source + offset), pointer(buffer), size(part));
                }
                self.move_range(destination + offset, buffer, part)
            })
        })
    }

    /// Copies to host memory that the device does not see.
    ///
    /// # Safety
    ///
    /// `destination` must be `bytes` bytes that can be written.
    pub(super) unsafe fn download(
        &self,
        runtime: &Runtime,
        destination: u64,
        source: u64,
        bytes: u64,
    ) -> Result<()> {
        self.with_buffer(runtime, |buffer| {
            parts(0, 0, bytes).try_for_each(|(offset, part)| {
                self.move_range(buffer, source + offset, part)?;
                // SAFETY: the caller vouches for the destination; the buffer has a part.
                unsafe {
                    std::ptr::copy_nonoverlapping(pointer(buffer), pointer(destination + offset), size(part));
                }
                Ok(())
            })
        })
    }

    /// Does something with the buffer, which nobody else uses meanwhile.
    fn with_buffer(&self, runtime: &Runtime, act: impl FnOnce(u64) -> Result<()>) -> Result<()> {
        let mut between = self.between.lock();
        let buffer = match &*between {
            Some(between) => between.address,
            None => {
                let made = ShownPages::new(runtime, self.device.driver, size(BETWEEN_BYTES))?;
                between.insert(made).address
            }
        };
        act(buffer as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_do_not_overlap() {
        assert!(!overlap(0x1000, 0x2000, 0x1000));
        assert!(overlap(0x1001, 0x2000, 0x1000));
        assert!(overlap(0x2fff, 0x2000, 0x1000));
        assert!(!overlap(0x2000, 0x2000, 0x1000));
    }

    #[test]
    fn a_copy_upwards_begins_at_the_end() {
        let bytes = 2 * BETWEEN_BYTES + 5;
        let down: Vec<_> = parts(0, 8, bytes).collect();
        assert_eq!(
            down,
            [
                (0, BETWEEN_BYTES),
                (BETWEEN_BYTES, BETWEEN_BYTES),
                (2 * BETWEEN_BYTES, 5)
            ]
        );
        let up: Vec<_> = parts(8, 0, bytes).collect();
        assert!(up.iter().eq(down.iter().rev()));
    }
}
