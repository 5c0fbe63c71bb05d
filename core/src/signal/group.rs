//! Signal groups: several signals that one call waits for (HSA specification, 2.4.3).

use super::{checked, wait, Block, Condition};
use crate::error::{Error, Result};

/// A group.
#[derive(Clone, Debug)]
pub struct Group {
    signals: Vec<u64>,
    consumers: Vec<usize>,
}

impl Group {
    /// A group of live signals for agents, by index; no agents means all.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for no signals or one that is there twice, or an agent that is;
    /// [`Error::InvalidSignal`].
    pub fn new(signals: &[u64], consumers: Vec<usize>) -> Result<Self> {
        if signals.is_empty() {
            return Err(Error::InvalidArgument("a group has signals"));
        }
        if has_repeats(signals) || has_repeats(&consumers) {
            return Err(Error::InvalidArgument("nothing is in a group twice"));
        }
        for &signal in signals {
            checked(signal)?;
        }
        Ok(Self {
            signals: signals.to_vec(),
            consumers,
        })
    }

    /// The signals, in the order they were given.
    #[must_use]
    pub fn signals(&self) -> &[u64] {
        &self.signals
    }

    /// The agents that may wait; empty for all.
    #[must_use]
    pub fn consumers(&self) -> &[usize] {
        &self.consumers
    }

    /// Waits until a signal satisfies its condition. Answers it and the value that did.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidSignal`] when a signal of the group was destroyed.
    pub fn wait_any(&self, conditions: &[(Condition, i64)]) -> Result<(u64, i64)> {
        let blocks = self.signals.iter().map(|&s| checked(s));
        let blocks: Vec<&Block> = blocks.collect::<Result<_>>()?;
        let mut found = None;
        wait::wait_group(&blocks, u64::MAX, || {
            found = blocks
                .iter()
                .zip(conditions)
                .find_map(|(block, (condition, compare))| {
                    let value = block.value.load(std::sync::atomic::Ordering::Acquire);
                    condition.holds(value, *compare).then(|| (block.handle(), value))
                });
            found.is_some()
        });
        found.ok_or(Error::Failed("the wait ended without a signal"))
    }
}

/// Whether an element is there twice.
pub fn has_repeats<T: PartialEq>(list: &[T]) -> bool {
    list.iter().enumerate().any(|(i, one)| list[..i].contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{create, destroy};

    #[test]
    fn the_first_signal_that_satisfies_ends_the_wait() {
        let (a, b) = (create(5, 0).unwrap(), create(7, 0).unwrap());
        let group = Group::new(&[a, b], Vec::new()).unwrap();
        let none = (Condition::Eq, 0);
        assert_eq!(group.wait_any(&[none, (Condition::Gte, 7)]).unwrap(), (b, 7));
        assert_eq!(group.wait_any(&[(Condition::Ne, 0), none]).unwrap(), (a, 5));
        for signal in [a, b] {
            destroy(signal).unwrap();
        }
    }

    #[test]
    fn a_signal_that_was_destroyed_ends_the_wait() {
        let a = create(0, 0).unwrap();
        let is_refused = || {
            let b = create(0, 0).unwrap();
            let group = Group::new(&[a, b], Vec::new()).unwrap();
            destroy(b).unwrap();
            let waited = group.wait_any(&[(Condition::Ne, 0), (Condition::Gte, i64::MIN)]);
            matches!(waited, Err(Error::InvalidSignal))
        };
        // Another test may get the same handle in between.
        assert!((0..1000).any(|_| is_refused()));
        destroy(a).unwrap();
    }

    #[test]
    fn a_group_has_live_signals_once_each() {
        let a = create(0, 0).unwrap();
        assert!(matches!(Group::new(&[], vec![]), Err(Error::InvalidArgument(_))));
        assert!(matches!(
            Group::new(&[a, a], vec![]),
            Err(Error::InvalidArgument(_))
        ));
        assert!(matches!(
            Group::new(&[a], vec![1, 1]),
            Err(Error::InvalidArgument(_))
        ));
        assert!(matches!(Group::new(&[a, 8], vec![]), Err(Error::InvalidSignal)));
        destroy(a).unwrap();
    }
}
