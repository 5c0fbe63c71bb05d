//! Small allocations that programs freed, for the next ones that are alike.
//!
//! Most of what a small allocation costs is the way to its driver and back, so a few that were freed are kept, and the last
//! one comes first. Only memory of banks whose driver does not clear what it gives out
//! ([`BankFlags::UNCLEARED`](hansa_plugin_api::BankFlags::UNCLEARED)) is kept, that no other agent was let see, and that
//! has no name in other processes. When a program asks how much is left, or nothing is, all of it goes back.

use super::region::Place;
use super::registry::{Allocation, AllocationKind};
use crate::runtime::Runtime;
use std::sync::Arc;

/// Most allocations that are kept.
const MOST: usize = 16;
/// Most bytes of one.
const MOST_BYTES: u64 = 256 << 10;

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Spares(Vec<Arc<Allocation>>);

impl Spares {
    /// Takes the last one of a region, with these flags and bytes.
    pub(super) fn take(&mut self, region: usize, flags: u32, bytes: u64) -> Option<Arc<Allocation>> {
        let is_alike =
            |spare: &Arc<Allocation>| (spare.bytes, spare.region, spare.flags) == (bytes, region, flags);
        let index = self.0.iter().rposition(is_alike)?;
        Some(self.0.remove(index))
    }

    /// Keeps one, or answers it when there are enough.
    pub(super) fn keep(&mut self, allocation: Arc<Allocation>) -> Option<Arc<Allocation>> {
        if self.0.len() == MOST {
            return Some(allocation);
        }
        self.0.push(allocation);
        None
    }

    /// Takes all.
    pub(super) fn drain(&mut self) -> Vec<Arc<Allocation>> {
        std::mem::take(&mut self.0)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Runtime {
    /// Whether an allocation that is freed, and that nobody else has, may be kept.
    pub(super) fn is_spare(&self, allocation: &mut Allocation) -> bool {
        let uncleared = matches!(
            self.regions[allocation.region].place,
            Place::Bank { uncleared: true, .. }
        );
        uncleared
            && matches!(allocation.kind, AllocationKind::Device { .. })
            && allocation.bytes <= MOST_BYTES
            && allocation.registrations.is_empty()
            && allocation.granted.get_mut().is_empty()
            && allocation.callbacks.are_none()
            && self.exchange.is_empty()
    }

    /// Gives all that is kept back to the drivers. Answers whether there was anything.
    pub(crate) fn give_back_spares(&self) -> bool {
        let spares = self.memory.drain_spares();
        spares.iter().for_each(|spare| self.release(spare));
        !spares.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::operations::empty;

    fn spare(region: usize, flags: u32, bytes: u64, base: u64) -> Arc<Allocation> {
        Arc::new(Allocation {
            bytes,
            base,
            ..empty(region, flags)
        })
    }

    #[test]
    fn the_last_one_that_is_alike_is_taken() {
        let mut spares = Spares::default();
        for (base, (region, flags, bytes)) in [(1, 0, 64), (1, 0, 64), (2, 0, 64), (1, 4, 64), (1, 0, 32)]
            .into_iter()
            .enumerate()
        {
            assert!(spares.keep(spare(region, flags, bytes, base as u64)).is_none());
        }
        let mut base = |region, flags, bytes| spares.take(region, flags, bytes).map(|a| a.base);
        assert_eq!(base(1, 0, 64), Some(1));
        assert_eq!(base(1, 0, 64), Some(0));
        assert_eq!(base(1, 0, 64), None);
        assert_eq!(base(1, 4, 64), Some(3));
        assert_eq!(base(1, 0, 32), Some(4));
        assert_eq!(spares.drain().len(), 1);
        assert_eq!(spares.len(), 0);
    }

    #[test]
    fn not_more_than_enough_are_kept() {
        let mut spares = Spares::default();
        for base in 0..MOST as u64 {
            assert!(spares.keep(spare(0, 0, 64, base)).is_none());
        }
        let back = spares.keep(spare(0, 0, 64, 77));
        assert_eq!(back.map(|back| back.base), Some(77));
        assert_eq!(spares.len(), MOST);
    }
}
