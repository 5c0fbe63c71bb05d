//! Attributes of ranges of shared virtual memory (Linux: `kfd_svm.c`).
//!
//! Ranges with attributes do not overlap; setting some for a part of a range splits it. Memory without a range has the
//! attributes that every range begins with.

use std::collections::BTreeMap;

/// A place that is none.
pub const NOWHERE: u32 = u32::MAX;

/// How a device may use a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It may, and pages may move to it.
    Access,
    /// It may, where the pages are.
    InPlace,
}

/// Attributes of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Where pages should be.
    pub preferred: u32,
    /// Where they were last asked to be.
    pub prefetch: u32,
    /// Flags.
    pub flags: u32,
    /// Logarithm of the pages that move together.
    pub granularity: u32,
    /// Devices that may use it.
    pub uses: BTreeMap<usize, Use>,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            preferred: NOWHERE,
            prefetch: NOWHERE,
            // The host sees it, and it is coherent.
            flags: 3,
            granularity: 9,
            uses: BTreeMap::new(),
        }
    }
}

/// The ranges of a process, by first address, with the address after the last.
#[derive(Debug, Default)]
pub struct Ranges(BTreeMap<u64, (u64, Attributes)>);

impl Ranges {
    /// Makes an address the beginning of a range, if it is inside one.
    fn split(&mut self, at: u64) {
        let Some((&start, &mut (end, ref attributes))) = self.0.range_mut(..at).next_back() else {
            return;
        };
        if end > at {
            let rest = (end, attributes.clone());
            self.0.insert(at, rest);
            if let Some(first) = self.0.get_mut(&start) {
                first.0 = at;
            }
        }
    }

    /// Changes the attributes of everything between two addresses.
    pub fn change(&mut self, start: u64, end: u64, change: impl Fn(&mut Attributes)) {
        self.split(start);
        self.split(end);
        let mut at = start;
        while at < end {
            let next = self.0.range(at..end).next().map_or(end, |(next, _)| *next);
            if next > at {
                self.0.insert(at, (next, Attributes::default()));
            }
            let stop = self.0.get_mut(&at).map_or(end, |(stop, attributes)| {
                change(attributes);
                *stop
            });
            at = stop;
        }
    }

    /// Takes all ranges between two addresses away.
    pub fn remove(&mut self, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        let gone: Vec<u64> = self.0.range(start..end).map(|(at, _)| *at).collect();
        for at in gone {
            self.0.remove(&at);
        }
    }

    /// The attributes that ranges between two addresses have.
    pub fn between(&self, start: u64, end: u64) -> Vec<&Attributes> {
        let before = self
            .0
            .range(..start)
            .next_back()
            .filter(|(_, (stop, _))| *stop > start);
        before
            .into_iter()
            .chain(self.0.range(start..end))
            .map(|(_, (_, attributes))| attributes)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_own_attributes_and_the_rest_keeps_its() {
        let mut ranges = Ranges::default();
        ranges.change(0x1000, 0x5000, |a| a.preferred = 7);
        ranges.change(0x2000, 0x3000, |a| a.granularity = 4);
        ranges.change(0x4000, 0x6000, |a| a.flags = 0);
        let seen: Vec<_> = ranges
            .between(0, 0x10000)
            .iter()
            .map(|a| (a.preferred, a.granularity, a.flags))
            .collect();
        assert_eq!(
            seen,
            [(7, 9, 3), (7, 4, 3), (7, 9, 3), (7, 9, 0), (NOWHERE, 9, 0)]
        );
        assert_eq!(ranges.between(0x2800, 0x2900).len(), 1);
        assert!(ranges.between(0x6000, 0x7000).is_empty());
        ranges.remove(0x2800, 0x5000);
        assert_eq!(ranges.between(0, 0x10000).len(), 3);
    }
}
