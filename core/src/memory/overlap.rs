//! Ranges that may overlap, found by an address inside: the program locks what it likes, as often as it likes.

use super::Allocation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Locked memory by where somebody sees it.
#[derive(Debug, Default)]
pub(super) struct Overlapping {
    /// By start, and by order among those that start together.
    ranges: BTreeMap<(u64, u64), Arc<Allocation>>,
    /// How many there have been.
    count: u64,
    /// Bytes of the longest that there has been since there were none: no range that starts further before an address
    /// reaches it.
    longest: u64,
}

impl Overlapping {
    /// Enters a range that starts somewhere.
    pub(super) fn insert(&mut self, start: u64, allocation: Arc<Allocation>) {
        self.longest = self.longest.max(allocation.bytes);
        self.count += 1;
        self.ranges.insert((start, self.count), allocation);
    }

    /// A range that contains an address; of several, the last that starts nearest to it.
    pub(super) fn around(&self, address: u64) -> Option<&Arc<Allocation>> {
        if self.ranges.is_empty() {
            return None;
        }
        let first = address.saturating_sub(self.longest);
        let mut before = self.ranges.range((first, 0)..=(address, u64::MAX)).rev();
        before
            .find(|((start, _), allocation)| address - start < allocation.bytes)
            .map(|(_, allocation)| allocation)
    }

    /// The ranges that start at an address, the last one first.
    pub(super) fn starting_at(&self, address: u64) -> impl Iterator<Item = &Arc<Allocation>> {
        let all = self.ranges.range((address, 0)..=(address, u64::MAX));
        all.rev().map(|(_, allocation)| allocation)
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, start: u64, allocation: &Arc<Allocation>) {
        let mut all = self.ranges.range((start, 0)..=(start, u64::MAX));
        let key = all
            .find(|(_, known)| Arc::ptr_eq(known, allocation))
            .map(|(key, _)| *key);
        if let Some(key) = key {
            self.ranges.remove(&key);
        }
        if self.ranges.is_empty() {
            self.longest = 0;
        }
    }

    /// Takes out all of them.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Arc<Allocation>> {
        self.longest = 0;
        std::mem::take(&mut self.ranges).into_values()
    }

    /// Ranges there are.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::operations::empty;

    fn range(bytes: u64) -> Arc<Allocation> {
        Arc::new(Allocation { bytes, ..empty(0, 0) })
    }

    #[test]
    fn what_lies_behind_a_shorter_range_is_found_in_the_longer_one() {
        let mut ranges = Overlapping::default();
        let (long, short) = (range(1000), range(10));
        ranges.insert(100, Arc::clone(&long));
        ranges.insert(500, Arc::clone(&short));
        let found = |ranges: &Overlapping, address| ranges.around(address).map(|a| a.bytes);
        assert_eq!(found(&ranges, 99), None);
        assert_eq!(found(&ranges, 505), Some(10));
        assert_eq!(found(&ranges, 510), Some(1000));
        assert_eq!(found(&ranges, 1099), Some(1000));
        assert_eq!(found(&ranges, 1100), None);
        ranges.remove(100, &long);
        assert_eq!(found(&ranges, 510), None);
        assert_eq!(found(&ranges, 505), Some(10));
    }

    #[test]
    fn of_ranges_that_start_together_the_last_one_comes_first() {
        let mut ranges = Overlapping::default();
        let all = [range(1), range(2), range(3)];
        for one in &all {
            ranges.insert(7, Arc::clone(one));
        }
        let at = |ranges: &Overlapping| ranges.starting_at(7).map(|a| a.bytes).collect::<Vec<_>>();
        assert_eq!(at(&ranges), [3, 2, 1]);
        ranges.remove(7, &all[1]);
        ranges.remove(7, &all[1]);
        assert_eq!(at(&ranges), [3, 1]);
        assert_eq!(ranges.drain().count(), 2);
        assert_eq!(ranges.len(), 0);
    }
}
