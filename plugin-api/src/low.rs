//! Free addresses below a limit.
//!
//! A device whose address space is smaller than the host's (gfx8 has at most 40 bits) shares only the addresses below its end.
//! `mmap(2)` gives addresses from the top down, and what it is asked for in place of that has to be free, so places are tried one after
//! another: upwards from where the last one was found, and once more from the start.

use std::sync::atomic::{AtomicU64, Ordering};

/// Programs that do not move, and what they allocate first, lie below.
const FIRST: u64 = 4 << 30;
/// Distance of places that are tried, and alignment of those that are found.
const STEP: u64 = 2 << 20;
/// Most places that are tried.
const MOST_TRIES: u32 = 1 << 20;

/// Where to look next.
static NEXT: AtomicU64 = AtomicU64::new(FIRST);

/// Finds `bytes` of addresses that are free below `limit`. `take` takes the range at an address, and answers nothing where it is not
/// free.
pub fn take_below<T>(limit: u64, bytes: u64, mut take: impl FnMut(u64) -> Option<T>) -> Option<T> {
    let step = bytes.checked_next_multiple_of(STEP)?;
    let last = limit.checked_sub(step)?;
    let first = FIRST.min(last / STEP * STEP / 2);
    let mut at = NEXT.load(Ordering::Relaxed);
    let mut has_wrapped = false;
    for _ in 0..MOST_TRIES {
        if at > last || at < first {
            if has_wrapped {
                return None;
            }
            (at, has_wrapped) = (first.next_multiple_of(STEP), true);
        }
        if let Some(taken) = take(at) {
            NEXT.store(at + step, Ordering::Relaxed);
            return Some(taken);
        }
        // Whatever is there may be small.
        at += STEP;
    }
    None
}

/// Takes `bytes` (whole pages) of addresses below `limit`, reserved and not accessible.
#[must_use]
pub fn reserve_below(limit: u64, bytes: usize) -> Option<*mut u8> {
    use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    take_below(limit, bytes as u64, |address| {
        let wished = std::ptr::with_exposed_provenance_mut(usize::try_from(address).ok()?);
        // SAFETY: no existing mapping is touched.
        let found = unsafe { mmap_anonymous(wished, bytes, ProtFlags::empty(), flags) }.ok()?;
        if found == wished {
            return Some(found.cast());
        }
        // Systems before Linux 4.17 take the address as a hint.
        // SAFETY: the range is new and nobody was told of it.
        let _ = unsafe { munmap(found, bytes) };
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_below_the_limit_and_apart() {
        let limit = 1 << 36;
        let bytes = 3 << 20;
        let mut taken: Vec<usize> = (0..5)
            .map(|_| reserve_below(limit, bytes).unwrap().addr())
            .collect();
        taken.sort_unstable();
        assert!(taken[4] + bytes <= 1 << 36);
        assert!(
            taken.windows(2).all(|pair| pair[1] - pair[0] >= bytes),
            "{taken:x?}"
        );
    }

    #[test]
    fn what_is_taken_is_passed_over_and_the_search_ends() {
        let mut tried = Vec::new();
        let found = take_below(16 << 30, 4096, |address| {
            tried.push(address);
            (tried.len() == 3).then_some(address)
        });
        assert_eq!(found, tried.get(2).copied());
        assert_eq!(tried[2] - tried[1], STEP);
        assert_eq!(take_below(8 << 30, 4096, |_| None::<()>), None);
        assert_eq!(take_below(1 << 20, 4096, Some), None);
        assert_eq!(take_below(u64::MAX, u64::MAX, Some), None);
    }
}
