//! Handles of memory without an address.
//!
//! A handle is the first of as many numbers as the memory has bytes, and the numbers of no two of them meet. Programs
//! rely on it, since AMD's runtime takes handles from a range of addresses: HIP 6 keeps them in one map with the
//! addresses of its buffers, looks for an object around a handle, and ends the process when it finds another one's.
//! The kind in bits 63:56 makes that none of these numbers is an address. Numbers are given out in turn, so that a
//! stale handle is not taken for another before all were used.

use crate::handle::{code, of_code, Kind};
use hansa_plugin_api::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Handles are multiples of it, as addresses of pages are.
const STEP: u64 = 4096;
/// One past the last number below the kind.
const END: u64 = 1 << 56;

/// Memory by its first number.
#[derive(Debug)]
struct Numbers<T> {
    /// How many numbers each has, and what it is.
    taken: BTreeMap<u64, (u64, Arc<T>)>,
    /// Where to look next.
    next: u64,
}

impl<T> Numbers<T> {
    /// The first of `count` numbers, from `from` on, that nobody has.
    fn free_from(&self, from: u64, count: u64) -> Option<u64> {
        let mut first = from;
        loop {
            let end = first.checked_add(count).filter(|&end| end <= END)?;
            match self.taken.range(..end).next_back() {
                Some((&other, &(numbers, _))) if other + numbers > first => first = other + numbers,
                _ => return Some(first),
            }
        }
    }
}

/// Objects by handle, each with numbers of its own.
#[derive(Debug)]
pub(super) struct Handles<T> {
    kind: Kind,
    numbers: Mutex<Numbers<T>>,
}

impl<T> Handles<T> {
    /// Nothing yet.
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            numbers: Mutex::new(Numbers {
                taken: BTreeMap::new(),
                next: STEP,
            }),
        }
    }

    /// Puts an object of so many bytes in; `None` when no numbers are left.
    pub(super) fn insert(&self, object: Arc<T>, bytes: u64) -> Option<u64> {
        let count = bytes.max(1).checked_next_multiple_of(STEP)?;
        let mut numbers = self.numbers.lock();
        let first = numbers
            .free_from(numbers.next, count)
            .or_else(|| numbers.free_from(STEP, count))?;
        numbers.next = first + count;
        numbers.taken.insert(first, (count, object));
        Some(of_code(self.kind, first))
    }

    /// The object of a handle, if it is live.
    pub(super) fn get(&self, handle: u64) -> Option<Arc<T>> {
        let first = code(handle, self.kind)?;
        self.numbers
            .lock()
            .taken
            .get(&first)
            .map(|(_, object)| Arc::clone(object))
    }

    /// Takes an object out; its handle is stale from now on.
    pub(super) fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let first = code(handle, self.kind)?;
        let taken = self.numbers.lock().taken.remove(&first);
        taken.map(|(_, object)| object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_two_handles_never_meet() {
        let handles = Handles::new(Kind::VirtualMemory);
        let mut spans = Vec::new();
        for bytes in [1, 4096, 4097, 2 << 20, 8 << 30, 0, 2 << 20] {
            let handle = handles.insert(Arc::new(bytes), bytes).expect("Few are taken");
            for &(other, end) in &spans {
                assert!(handle >= end || handle + bytes.max(1) <= other, "{handle:#x}");
            }
            spans.push((handle, handle + bytes.max(1)));
            assert_eq!(handles.get(handle).as_deref(), Some(&bytes));
            assert_eq!(handles.get(handle + 1), None);
        }
    }

    #[test]
    fn a_handle_comes_back_only_after_all_numbers() {
        let handles = Handles::new(Kind::VirtualMemory);
        let kept = handles.insert(Arc::new('k'), STEP).expect("Nothing is taken");
        let first = handles.insert(Arc::new('a'), STEP).expect("One is taken");
        assert_eq!(handles.remove(first).as_deref(), Some(&'a'));
        assert_eq!(handles.remove(first), None);
        let second = handles.insert(Arc::new('b'), STEP).expect("One is taken");
        assert_ne!(first, second);
        assert_eq!(handles.get(first), None);
        // So much that what is free lies at the start again, and then so much that nothing is.
        let most = handles.insert(Arc::new('c'), END / 2).expect("Most is free");
        assert_eq!(handles.remove(most).as_deref(), Some(&'c'));
        let again = handles
            .insert(Arc::new('d'), END / 2)
            .expect("The half is free again");
        assert_eq!(code(again, Kind::VirtualMemory), Some(4 * STEP));
        assert_eq!(handles.insert(Arc::new('e'), END), None);
        assert_eq!(handles.get(kept).as_deref(), Some(&'k'));
    }
}
