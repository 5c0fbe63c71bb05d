//! Host memory: pages that the runtime maps for system regions.

use crate::error::{Error, Result};
use rustix::mm::{madvise, mprotect, msync, munmap, Advice, MprotectFlags, MsyncFlags, ProtFlags};

/// Allocations of this size and more ask for huge pages when the configuration wants them, and have guard pages.
const HUGE: usize = 2 << 20;

/// Bytes of a page.
#[must_use]
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Rounds up to whole pages.
#[must_use]
pub fn whole_pages(bytes: usize) -> Option<usize> {
    let page = page_bytes();
    Some(bytes.checked_add(page - 1)? & !(page - 1))
}

/// Whether the process has something mapped at every page of a range, which begins with one; no page is touched, and the
/// time depends on the number of mappings and not on that of pages (`msync(2)` without any of its work).
#[must_use]
pub fn is_mapped(address: usize, bytes: usize) -> bool {
    // SAFETY: the call reads and writes nothing of the range.
    unsafe { msync(pointer(address), bytes, MsyncFlags::ASYNC) }.is_ok()
}

/// How host memory is mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// Asks for huge pages where they fit.
    pub huge_pages: bool,
    /// Leaves an inaccessible page at either end of large allocations.
    pub guard_pages: bool,
    /// And of small ones. A process can have 65,530 mappings as Linux comes, which small allocations side by side share
    /// and guard pages part.
    pub guard_small: bool,
    /// Code may run from it.
    pub executable: bool,
}

/// Pages that were mapped, with their guard pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// First usable byte.
    pub address: usize,
    /// Usable bytes.
    pub bytes: usize,
    outer: usize,
    outer_bytes: usize,
    /// A driver's name for them, or 0.
    given: u64,
}

impl Pages {
    /// Maps zeroed pages, committed when they are touched, aligned to `alignment` (a power of two); a driver's are
    /// aligned to pages, since a kernel wants memory of queues to be an allocation of just that size.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfResources`] when the system has none.
    pub fn map(bytes: usize, alignment: usize, options: HostOptions) -> Result<Self> {
        if let Some((address, given)) = super::source::pages(bytes)? {
            return Ok(Self {
                address,
                bytes,
                outer: address,
                outer_bytes: bytes,
                given,
            });
        }
        let gone = || Error::OutOfResources("host memory");
        let page = page_bytes();
        let has_guard = options.guard_pages && (options.guard_small || bytes >= HUGE);
        let guard = if has_guard { page } else { 0 };
        let alignment = if options.huge_pages && bytes >= HUGE {
            alignment.max(HUGE)
        } else {
            alignment
        };
        let slack = if alignment > page { alignment } else { 0 };
        let outer_bytes = bytes
            .checked_add(2 * guard)
            .and_then(|b| b.checked_add(slack))
            .ok_or_else(gone)?;
        let mut usable = ProtFlags::READ | ProtFlags::WRITE;
        if options.executable {
            usable |= ProtFlags::EXEC;
        }
        let first = if guard == 0 { usable } else { ProtFlags::empty() };
        let outer = super::reach::map(outer_bytes, first);
        let outer = outer.map_err(|_| gone())?.expose_provenance();
        let address = (outer + guard).next_multiple_of(alignment.max(page));
        let pages = Self {
            address,
            bytes,
            outer,
            outer_bytes,
            given: 0,
        };
        if guard != 0 {
            let flags = MprotectFlags::from_bits_retain(usable.bits());
            // SAFETY: the middle of the new range, between its guard pages.
            if unsafe { mprotect(pointer(address), bytes, flags) }.is_err() {
                // SAFETY: the range was never given out.
                unsafe { pages.unmap() };
                return Err(gone());
            }
        }
        if options.huge_pages && bytes >= HUGE {
            // SAFETY: advice about pages that were just mapped; a refusal changes nothing.
            let _ = unsafe { madvise(pointer(address), bytes, Advice::LinuxHugepage) };
        }
        Ok(pages)
    }

    /// A part of other pages, which is not unmapped by itself.
    #[must_use]
    pub(crate) const fn part(address: usize, bytes: usize) -> Self {
        Self {
            address,
            bytes,
            outer: 0,
            outer_bytes: 0,
            given: 0,
        }
    }

    /// Whether they are part of others.
    #[must_use]
    pub(crate) const fn is_part(&self) -> bool {
        self.outer_bytes == 0
    }

    /// Unmaps them.
    ///
    /// # Safety
    ///
    /// Nothing may use them any more.
    pub unsafe fn unmap(self) {
        if self.given != 0 {
            super::source::free(self.given);
            return;
        }
        // SAFETY: the caller says so; the range is exactly what `map` mapped.
        let _ = unsafe { munmap(pointer(self.outer), self.outer_bytes) };
    }
}

/// A pointer to an address that was exposed when it was mapped.
fn pointer(address: usize) -> *mut std::ffi::c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the process may touch an address.
    fn is_there(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.lines().any(|line| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let of = |text: &str| usize::from_str_radix(text, 16).unwrap();
            let inside = range.is_some_and(|(start, end)| (of(start)..of(end)).contains(&address));
            inside && line.contains(" rw")
        })
    }

    #[test]
    fn one_page_that_is_missing_among_many_is_noticed_and_none_is_touched() {
        let page = page_bytes();
        let bytes = 1 << 36;
        let pages = Pages::map(bytes, page, HostOptions::default()).unwrap();
        let start = pages.address;
        assert!(is_mapped(start, bytes) && is_mapped(start + bytes - page, page));
        for hole in [start + bytes / 2, start, start + bytes - page] {
            // SAFETY: a page of the range, which nothing uses.
            unsafe { munmap(pointer(hole), page) }.unwrap();
            assert!(!is_mapped(start, bytes) && !is_mapped(hole, page), "{hole:#x}");
        }
        assert!(is_mapped(start + page, bytes / 4));
        let mut resident = vec![0_u8; bytes / 4 / page];
        // SAFETY: a byte for each page of a part of the range that is mapped.
        let asked = unsafe { libc::mincore(pointer(start + page), bytes / 4, resident.as_mut_ptr()) };
        assert!(asked == 0 && resident.iter().all(|page| page & 1 == 0));
        // SAFETY: nothing uses them.
        unsafe { pages.unmap() };
        assert!(!is_mapped(start, bytes));
    }

    #[test]
    fn large_allocations_have_guard_pages_and_small_ones_on_request() {
        let usual = HostOptions {
            guard_pages: true,
            ..HostOptions::default()
        };
        let all = HostOptions {
            guard_small: true,
            ..usual
        };
        let page = page_bytes();
        for (bytes, options, guarded) in [(HUGE, usual, true), (page, all, true), (page, usual, false)] {
            let pages = Pages::map(bytes, page, options).unwrap();
            assert!(is_there(pages.address) && is_there(pages.address + bytes - 1));
            assert_eq!(pages.outer_bytes > pages.bytes, guarded);
            if guarded {
                assert!(!is_there(pages.address - 1) && !is_there(pages.address + bytes));
            }
            // SAFETY: nothing uses them.
            unsafe { pages.unmap() };
        }
    }
}
