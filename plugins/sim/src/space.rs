//! What a device can see: its address space.
//!
//! A device has the host's addresses, but only those that were mapped to it. Mappings may overlap (two threads of
//! a program lock the same page), so each stretch of addresses counts by how many it is mapped, and with what
//! rights. The execution engine gets the result: disjoint ranges, changed without a gap in between.

use crate::exec::{Access, AddressSpace};
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Addresses that are mapped to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First byte.
    pub(crate) start: u64,
    /// First byte after it.
    pub(crate) end: u64,
    /// What the device may do there.
    pub(crate) access: Access,
}

impl Range {
    /// All that a process can have, but the first page.
    pub(crate) const PROCESS: Self = Self {
        start: 0x1000,
        end: 0x7fff_ffff_f000,
        access: Access::ALL,
    };
}

/// A device's address space.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// What the execution engine sees.
    seen: Arc<AddressSpace>,
    stretches: Mutex<BTreeMap<u64, Stretch>>,
}

/// Addresses with the same mappings, from its key in the map to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    end: u64,
    /// Mappings, and how many of them allow what.
    count: u32,
    reading: u32,
    writing: u32,
    executing: u32,
}

impl Stretch {
    fn empty(end: u64) -> Self {
        Self {
            end,
            count: 0,
            reading: 0,
            writing: 0,
            executing: 0,
        }
    }

    fn access(&self) -> Access {
        Access {
            read: self.reading > 0,
            write: self.writing > 0,
            execute: self.executing > 0,
        }
    }

    fn add(&mut self, access: Access) {
        self.count += 1;
        self.reading += u32::from(access.read);
        self.writing += u32::from(access.write);
        self.executing += u32::from(access.execute);
    }

    fn remove(&mut self, access: Access) {
        self.count -= 1;
        self.reading -= u32::from(access.read);
        self.writing -= u32::from(access.write);
        self.executing -= u32::from(access.execute);
    }
}

impl Space {
    /// What the execution engine sees of it.
    pub(crate) fn seen(&self) -> &Arc<AddressSpace> {
        &self.seen
    }

    /// Adds a mapping.
    pub(crate) fn map(&self, range: Range) {
        let mut stretches = self.stretches.lock();
        split(&mut stretches, range.start);
        split(&mut stretches, range.end);
        let mut at = range.start;
        while at < range.end {
            let next = stretches
                .range(at..range.end)
                .next()
                .map_or(range.end, |(start, _)| *start);
            if next > at {
                stretches.insert(at, Stretch::empty(next));
            }
            let Some(stretch) = stretches.get_mut(&at) else {
                break;
            };
            stretch.add(range.access);
            self.seen.map(at, stretch.end - at, stretch.access());
            at = stretch.end;
        }
        join(&mut stretches, range);
    }

    /// Takes a mapping away that was added.
    pub(crate) fn unmap(&self, range: Range) {
        let mut stretches = self.stretches.lock();
        split(&mut stretches, range.start);
        split(&mut stretches, range.end);
        let within: Vec<u64> = stretches
            .range(range.start..range.end)
            .map(|(start, _)| *start)
            .collect();
        for start in within {
            let Some(stretch) = stretches.get_mut(&start) else {
                continue;
            };
            stretch.remove(range.access);
            let (end, access, gone) = (stretch.end, stretch.access(), stretch.count == 0);
            if gone {
                stretches.remove(&start);
                self.seen.unmap(start, end - start);
            } else {
                self.seen.map(start, end - start, access);
            }
        }
        join(&mut stretches, range);
    }
}

/// Makes an address the beginning of a stretch, if it lies within one.
fn split(stretches: &mut BTreeMap<u64, Stretch>, at: u64) {
    let Some((&start, stretch)) = stretches.range_mut(..at).next_back() else {
        return;
    };
    if stretch.end > at && start < at {
        let rest = *stretch;
        stretch.end = at;
        stretches.insert(at, rest);
    }
}

/// Joins neighbours that an operation on a range left alike.
fn join(stretches: &mut BTreeMap<u64, Stretch>, range: Range) {
    let first = stretches
        .range(..range.start)
        .next_back()
        .map_or(range.start, |(start, _)| *start);
    let starts: Vec<u64> = stretches
        .range(first..=range.end)
        .map(|(start, _)| *start)
        .collect();
    let mut last: Option<u64> = None;
    for start in starts {
        let Some(&stretch) = stretches.get(&start) else {
            continue;
        };
        let before = last.and_then(|last| stretches.get_mut(&last));
        match before {
            Some(before)
                if before.end == start
                    && Stretch {
                        end: before.end,
                        ..stretch
                    } == *before =>
            {
                before.end = stretch.end;
                stretches.remove(&start);
            }
            _ => last = Some(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rw(start: u64, end: u64) -> Range {
        Range {
            start,
            end,
            access: Access::READ_WRITE,
        }
    }

    fn ro(start: u64, end: u64) -> Range {
        Range {
            access: Access::READ,
            ..rw(start, end)
        }
    }

    fn seen(space: &Space) -> Vec<(u64, u64, bool)> {
        space
            .seen
            .mappings()
            .iter()
            .map(|mapping| (mapping.start, mapping.end, mapping.access.write))
            .collect()
    }

    #[test]
    fn overlapping_mappings_become_disjoint() {
        let space = Space::default();
        for range in [rw(10, 20), ro(15, 30), ro(5, 12)] {
            space.map(range);
        }
        assert_eq!(seen(&space), [(5, 10, false), (10, 20, true), (20, 30, false)]);
    }

    #[test]
    fn a_range_mapped_twice_goes_with_the_second_unmap() {
        let space = Space::default();
        space.map(rw(10, 20));
        space.map(rw(10, 20));
        space.unmap(rw(10, 20));
        assert_eq!(seen(&space), [(10, 20, true)]);
        space.unmap(rw(10, 20));
        assert_eq!(seen(&space), []);
    }

    #[test]
    fn the_right_to_write_goes_with_the_mapping_that_gave_it() {
        let space = Space::default();
        space.map(ro(0, 100));
        space.map(rw(40, 60));
        assert!(seen(&space).contains(&(40, 60, true)));
        space.unmap(rw(40, 60));
        assert!(seen(&space).iter().all(|(.., write)| !write));
        let covered: u64 = seen(&space).iter().map(|(start, end, _)| end - start).sum();
        assert_eq!(covered, 100);
    }

    #[test]
    fn stretches_do_not_pile_up() {
        let space = Space::default();
        space.map(rw(0, 1000));
        for start in 0..100 {
            space.map(rw(start * 10, start * 10 + 15));
            space.unmap(rw(start * 10, start * 10 + 15));
        }
        assert_eq!(space.stretches.lock().len(), 1);
    }

    /// Counts for each address, the slow way, what the map has to say.
    #[test]
    fn random_mappings_agree_with_counting() {
        let space = Space::default();
        let mut mapped: Vec<Range> = Vec::new();
        let mut seed = 12345_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            if mapped.len() > 6 {
                let index = usize::try_from(random(mapped.len() as u64)).unwrap();
                space.unmap(mapped.swap_remove(index));
            }
            let start = random(60);
            let end = start + 1 + random(20);
            let range = if random(2) == 0 {
                rw(start, end)
            } else {
                ro(start, end)
            };
            space.map(range);
            mapped.push(range);
            for address in 0..90 {
                let over = |range: &&Range| (range.start..range.end).contains(&address);
                let expected = mapped
                    .iter()
                    .filter(over)
                    .map(|range| range.access.write)
                    .reduce(|a, b| a | b);
                let found = space.seen.find(address).map(|mapping| mapping.access.write);
                assert_eq!(found, expected, "address {address}");
            }
        }
    }
}
