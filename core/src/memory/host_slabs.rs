//! Small host allocations: places in larger ranges that devices see already.
//!
//! To let devices see host memory costs the kernel more than anything else about a small allocation: it pins the pages and
//! writes them into the tables of each device, and undoes that in the end. So ranges are shown once and cut into places of
//! one size, a power of two of pages; a place that was freed is kept for the next allocation of its size, which gets it zeroed.

use super::host::{page_bytes, HostOptions, Pages};
use crate::runtime::Runtime;
use hansa_plugin_api as api;
use hansa_plugin_api::sync::Mutex;

/// Sizes of places, from one page on, each twice the one before.
const SIZES: usize = 5;
/// Places of a range.
const PLACES: usize = 16;

#[derive(Debug, Default)]
struct Places {
    /// Never given out.
    fresh: Vec<usize>,
    /// Given back, with whatever was written to them.
    used: Vec<usize>,
    ranges: Vec<(Pages, Vec<(usize, api::MemoryHandle)>)>,
}

/// The ranges of a runtime.
#[derive(Debug, Default)]
pub struct HostSlabs {
    sizes: [Mutex<Places>; SIZES],
}

/// The size of place that so many bytes (whole pages) need.
fn size_for(bytes: usize) -> Option<(usize, usize)> {
    let pages = bytes.div_ceil(page_bytes()).next_power_of_two();
    let index = pages.trailing_zeros() as usize;
    (bytes != 0 && index < SIZES).then_some((index, pages * page_bytes()))
}

impl HostSlabs {
    /// Takes zeroed memory that all devices see; `None` for sizes that are not for here, and when there is none.
    pub(crate) fn take(&self, runtime: &Runtime, bytes: usize) -> Option<Pages> {
        let (index, room) = size_for(bytes)?;
        let mut places = self.sizes[index].lock();
        if let Some(address) = places.used.pop() {
            // Under the lock: a shut-down meanwhile would unmap it.
            let memory = std::ptr::with_exposed_provenance_mut::<u8>(address);
            // SAFETY: a place of that size, which nobody has.
            unsafe { memory.write_bytes(0, bytes) };
            return Some(Pages::part(address, bytes));
        }
        if places.fresh.is_empty() {
            let pages = Pages::map(room * PLACES, page_bytes(), HostOptions::default()).ok()?;
            let shown = runtime.register_with_all(pages.address as u64, pages.bytes as u64);
            let Ok(registrations) = shown else {
                // SAFETY: nobody was told of them.
                unsafe { pages.unmap() };
                return None;
            };
            let addresses = (0..PLACES).rev().map(|place| pages.address + place * room);
            places.fresh.extend(addresses);
            places.ranges.push((pages, registrations));
        }
        let address = places.fresh.pop()?;
        Some(Pages::part(address, bytes))
    }

    /// Gives back what [`Self::take`] gave.
    pub(crate) fn give(&self, pages: &Pages) {
        if let Some((index, _)) = size_for(pages.bytes) {
            self.sizes[index].lock().used.push(pages.address);
        }
    }

    /// Takes all ranges from the devices and gives them back to the system. Nobody uses a place any more.
    pub(crate) fn stop(&self, runtime: &Runtime) {
        for places in &self.sizes {
            let places = std::mem::take(&mut *places.lock());
            for (pages, registrations) in places.ranges {
                runtime.deregister(&registrations);
                // SAFETY: devices do not see them any more, and the program's memory ended with the runtime.
                unsafe { pages.unmap() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_next_power_of_two_of_pages() {
        let page = page_bytes();
        assert_eq!(size_for(0), None);
        assert_eq!(size_for(page), Some((0, page)));
        assert_eq!(size_for(3 * page), Some((2, 4 * page)));
        assert_eq!(size_for(16 * page), Some((4, 16 * page)));
        assert_eq!(size_for(17 * page), None);
    }
}
