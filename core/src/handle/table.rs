//! Objects that programs make and destroy, by handle.
//!
//! A handle has the kind in bits 63:56, the slot's generation in 55:32 and the slot, counted from one, in 31:0. Slots lie
//! in pages that never move, each twice as large as the one before, so that looking one up takes no lock: it
//! loads the object, and then the generation, which changes when an object is taken out. Free slots are used
//! again oldest first, so that a generation comes back only after very many of them.
//!
//! Programs call from exit handlers, when the variables of their thread are gone. `arc_swap` works then; tables that
//! count threads in such variables do not.

use super::{Kind, KIND_SHIFT};
use arc_swap::ArcSwapOption;
use hansa_plugin_api::sync::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// Slots of the first page.
const FIRST: u32 = 32;
/// Pages that hold all slots that a handle can name.
const PAGES: usize = 27;
const GENERATION_SHIFT: u32 = 32;
const GENERATION_MASK: u32 = (1 << (KIND_SHIFT - GENERATION_SHIFT)) - 1;

/// A place for an object.
struct Slot<T> {
    generation: AtomicU32,
    object: ArcSwapOption<T>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            generation: AtomicU32::new(0),
            object: ArcSwapOption::empty(),
        }
    }
}

/// Slots without an object.
#[derive(Debug, Default)]
struct Free {
    slots: VecDeque<u32>,
    /// First slot that was never used.
    next: u32,
}

/// A table of objects that are made and destroyed.
pub struct Table<T> {
    kind: Kind,
    pages: [OnceLock<Box<[Slot<T>]>>; PAGES],
    free: Mutex<Free>,
}

impl<T> std::fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Page of a slot, and place in it.
const fn place(slot: u32) -> (usize, usize) {
    let shifted = slot as usize + FIRST as usize;
    let page = shifted.ilog2() - FIRST.ilog2();
    (page as usize, shifted - ((FIRST as usize) << page))
}

impl<T> Table<T> {
    /// An empty table.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            pages: std::array::from_fn(|_| OnceLock::new()),
            free: Mutex::default(),
        }
    }

    /// The slot that a handle names, and the generation that it should have.
    fn slot(&self, handle: u64) -> Option<(u32, &Slot<T>, u32)> {
        if handle >> KIND_SHIFT != self.kind as u64 {
            return None;
        }
        let [low, high] = [handle & u64::from(u32::MAX), handle >> GENERATION_SHIFT];
        let generation = u32::try_from(high & u64::from(GENERATION_MASK)).ok()?;
        let index = u32::try_from(low).ok()?.checked_sub(1)?;
        let (page, at) = place(index);
        let slot = self.pages.get(page)?.get()?.get(at)?;
        Some((index, slot, generation))
    }

    /// Puts an object in; `None` when the table is full.
    pub fn insert(&self, object: Arc<T>) -> Option<u64> {
        let mut free = self.free.lock();
        let index = match free.slots.pop_front() {
            Some(index) => index,
            None => {
                let index = free.next;
                free.next = index.checked_add(1)?;
                index
            }
        };
        let (page, at) = place(index);
        let slots = self.pages.get(page)?.get_or_init(|| {
            let mut slots = Vec::new();
            slots.resize_with((FIRST as usize) << page, Slot::default);
            slots.into()
        });
        drop(free);
        let slot = slots.get(at)?;
        slot.object.store(Some(object));
        let generation = u64::from(slot.generation.load(Ordering::Acquire) & GENERATION_MASK);
        Some(((self.kind as u64) << KIND_SHIFT) | (generation << GENERATION_SHIFT) | (u64::from(index) + 1))
    }

    /// The object behind a handle, if it is of this kind and live.
    pub fn get(&self, handle: u64) -> Option<Arc<T>> {
        let (_, slot, generation) = self.slot(handle)?;
        let object = slot.object.load_full()?;
        // Whoever has the handle got it after the object of this generation was put in. So if the generation is still the
        // same, nothing else was in the slot in between.
        (slot.generation.load(Ordering::Acquire) & GENERATION_MASK == generation).then_some(object)
    }

    /// Takes an object out; its handle is stale from now on.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let (index, slot, generation) = self.slot(handle)?;
        let now = slot.generation.load(Ordering::Acquire);
        if now & GENERATION_MASK != generation || slot.object.load().is_none() {
            return None;
        }
        // Of several that remove it, one does.
        slot.generation
            .compare_exchange(now, now.wrapping_add(1), Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        let object = slot.object.swap(None);
        self.free.lock().slots.push_back(index);
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_object_leaves_a_stale_handle() {
        let table = Table::new(Kind::Executable);
        let first = table.insert(Arc::new(1)).unwrap();
        assert_eq!(table.get(first).as_deref(), Some(&1));
        assert!(table.remove(first).is_some());
        let second = table.insert(Arc::new(2)).unwrap();
        assert_ne!(first, second);
        assert!(table.get(first).is_none());
        assert!(table.remove(first).is_none());
        assert!(table.get(0).is_none());
        assert!(table.get(u64::MAX).is_none());
    }

    #[test]
    fn slots_lie_in_pages_of_doubling_size() {
        assert_eq!(place(0), (0, 0));
        assert_eq!(place(31), (0, 31));
        assert_eq!(place(32), (1, 0));
        assert_eq!(place(95), (1, 63));
        assert_eq!(place(96), (2, 0));
        assert!(place(u32::MAX - FIRST).0 < PAGES);
    }

    #[test]
    fn a_slot_is_used_again_with_another_generation() {
        let table = Table::new(Kind::Reader);
        let handles: Vec<u64> = (0..100)
            .map(|value| table.insert(Arc::new(value)).unwrap())
            .collect();
        for (value, handle) in handles.iter().enumerate() {
            assert_eq!(table.remove(*handle).as_deref(), Some(&value));
        }
        for value in 0..100 {
            let handle = table.insert(Arc::new(value)).unwrap();
            assert!(!handles.contains(&handle));
            assert_eq!(table.get(handle).as_deref(), Some(&value));
        }
        assert!(handles.iter().all(|handle| table.get(*handle).is_none()));
    }

    #[test]
    fn one_of_many_threads_removes_an_object_and_nobody_sees_another_s() {
        let table = &Table::new(Kind::Symbol);
        std::thread::scope(|scope| {
            let handle = table.insert(Arc::new(0)).unwrap();
            let removals: Vec<_> = (0..8)
                .map(|_| scope.spawn(move || table.remove(handle).is_some()))
                .collect();
            let removed = removals
                .into_iter()
                .filter_map(|thread| thread.join().ok().filter(|&yes| yes));
            assert_eq!(removed.count(), 1);
            for thread in 0..4_usize {
                scope.spawn(move || {
                    for round in 0..1000 {
                        let handle = table.insert(Arc::new(thread * 1000 + round)).unwrap();
                        assert_eq!(table.get(handle).as_deref(), Some(&(thread * 1000 + round)));
                        assert!(table.remove(handle).is_some());
                        assert!(table.get(handle).is_none());
                    }
                });
            }
        });
    }

    #[test]
    fn a_thread_without_its_variables_makes_handles() {
        struct Last(Arc<Table<u32>>, Arc<Mutex<Option<u64>>>);
        impl Drop for Last {
            fn drop(&mut self) {
                *self.1.lock() = self.0.insert(Arc::new(5));
            }
        }
        thread_local!(static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) });
        let (table, made) = (Arc::new(Table::new(Kind::Executable)), Arc::new(Mutex::new(None)));
        let last = Last(Arc::clone(&table), Arc::clone(&made));
        std::thread::spawn(move || {
            // Registered first, so dropped after the variables of whatever the table uses.
            LAST.with(|place| place.borrow_mut().replace(last));
            LAST.with(|place| {
                if let Some(last) = &*place.borrow() {
                    last.0.insert(Arc::new(4));
                }
            });
        })
        .join()
        .unwrap();
        let handle = made.lock().expect("an object was put in");
        assert_eq!(table.get(handle).as_deref(), Some(&5));
    }
}
