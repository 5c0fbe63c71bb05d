//! What lies at an address, for readers that take no lock.
//!
//! A trie over the numbers of pages, shaped like the page tables of processors: three levels of nodes with ten bits each,
//! and leaves with six. A page that an allocation begins at has an entry in its leaf, in place, so that a look-up
//! touches little memory; an address further inside is found by going back to the nearest page before it that has one. Both
//! take a number of steps that does not grow with the number of allocations.
//!
//! Writers, of which there is one at a time, count before and after a change; a reader that saw the count odd or changed
//! meanwhile has read nothing (a sequence lock, as in Linux's `seqlock.h`). What a reader passes through may be taken away
//! and used again at any time, so nodes are never freed, and are only used again on their own level: whatever a reader sees
//! is of the type it expects.
//!
//! Indexes are never freed either, but used again by later runtimes, and an entry has all that programs ask for. So who
//! asks what lies at an address needs no hold on the runtime (`known`): if it is the same one before and after
//! ([`generation`]), the answer is that one's.

use crate::runtime::{generation, Generation};
use crate::words::halves;
use hansa_plugin_api::fork::Lock;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicPtr, AtomicU64, Ordering};

const PAGE_SHIFT: u32 = 12;
const LEAF_BITS: u32 = 6;
const NODE_BITS: u32 = 10;
const ENTRIES: usize = 1 << LEAF_BITS;
const SLOTS: usize = 1 << NODE_BITS;
/// Addresses from here on are not in the index.
const END: u64 = 1 << (PAGE_SHIFT + LEAF_BITS + 3 * NODE_BITS);
/// Times that a reader tries before it leaves it.
const TRIES: u32 = 16;

/// What programs are told of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Where devices see it.
    pub base: u64,
    /// Where the host sees it, or 0.
    pub host_base: u64,
    /// Bytes there are.
    pub bytes: u64,
    /// The program's word.
    pub user_data: u64,
    /// Index of the agent whose region it is from, of 24 bits.
    pub owner: u32,
    /// That region's flags, of 8 bits (`hsa_amd_memory_pool_global_flag_t`).
    pub global_flags: u32,
    /// What it was made with, of 8 bits (`hsa_amd_pointer_info_alloc_flag_t`).
    pub flags: u32,
    /// The kind that programs are told, of 3 bits (`hsa_amd_pointer_type_t`).
    pub kind: u8,
    /// Whether a driver registered it.
    pub registered: bool,
}

/// Facts in words, without the base, which is where the entry stands. Of no bytes when there is none.
#[derive(Debug, Default)]
struct Entry([AtomicU64; 4]);

impl Entry {
    fn set(&self, facts: &Facts) {
        let low = facts.owner << 8 | facts.global_flags & 0xff;
        let high = facts.flags << 4 | u32::from(facts.registered) << 3 | u32::from(facts.kind) & 7;
        let small = u64::from(low) | u64::from(high) << 32;
        for (place, word) in self
            .0
            .iter()
            .zip([facts.bytes, facts.host_base, facts.user_data, small])
        {
            place.store(word, Ordering::Relaxed);
        }
    }

    fn get(&self, base: u64) -> Facts {
        let [bytes, host_base, user_data, small] =
            std::array::from_fn(|index| self.0[index].load(Ordering::Relaxed));
        let [low, high] = halves(small);
        Facts {
            base,
            host_base,
            bytes,
            user_data,
            owner: low >> 8,
            global_flags: low & 0xff,
            flags: high >> 4 & 0xff,
            kind: high.to_le_bytes()[0] & 7,
            registered: high & 8 != 0,
        }
    }

    #[inline]
    fn is_none(&self) -> bool {
        self.0[0].load(Ordering::Relaxed) == 0
    }
}

/// An entry and its page.
type Found<'a> = Option<(u64, &'a Entry)>;

/// A level on the way down to the entry that begins last at or before an address.
trait Level: Default {
    /// Bits of a page's number that are for the levels from here on.
    const BITS: u32;

    /// The last entry whose page is not behind this one, which belongs to this node.
    fn find(&self, page: u64) -> Found<'_>;

    /// The last entry of all; `page` is any of this node's.
    fn last(&self, page: u64) -> Found<'_>;

    fn insert(&self, page: u64, facts: &Facts, stocks: &mut Stocks);

    fn remove(&self, page: u64, stocks: &mut Stocks);

    /// Whether nothing is left, so that it can be used again.
    fn is_empty(&self) -> bool;

    fn stock(stocks: &mut Stocks) -> &mut Stock<Self>;
}

/// The last bit of a list of words that is set before bit `end`.
fn last_before(words: &[AtomicU64], end: usize) -> Option<usize> {
    let mut index = end.div_ceil(64);
    let mut mask = if end.is_multiple_of(64) {
        u64::MAX
    } else {
        (1 << (end % 64)) - 1
    };
    while index > 0 {
        index -= 1;
        let word = words[index].load(Ordering::Relaxed) & mask;
        if word != 0 {
            return Some(64 * index + 63 - word.leading_zeros() as usize);
        }
        mask = u64::MAX;
    }
    None
}

fn set_bit(words: &[AtomicU64], bit: usize, on: bool) {
    let (word, bit) = (&words[bit / 64], 1 << (bit % 64));
    let now = word.load(Ordering::Relaxed);
    word.store(if on { now | bit } else { now & !bit }, Ordering::Relaxed);
}

/// A page's number with other lower bits.
const fn within(page: u64, bits: u32, lower: usize) -> u64 {
    page & !((1 << bits) - 1) | lower as u64
}

/// The lower bits of a number, as an index.
#[expect(clippy::cast_possible_truncation, reason = "at most ten bits")]
const fn lower(number: u64, bits: u32) -> usize {
    number as usize & ((1 << bits) - 1)
}

/// The entries of pages side by side.
#[derive(Debug)]
#[repr(align(64))]
struct Leaf {
    entries: [Entry; ENTRIES],
    /// Which entries there are.
    used: [AtomicU64; ENTRIES / 64],
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            entries: std::array::from_fn(|_| Entry::default()),
            used: [const { AtomicU64::new(0) }; ENTRIES / 64],
        }
    }
}

impl Leaf {
    fn last_in(&self, page: u64, end: usize) -> Found<'_> {
        let slot = last_before(&self.used, end)?;
        Some((within(page, LEAF_BITS, slot), &self.entries[slot]))
    }
}

impl Level for Leaf {
    const BITS: u32 = LEAF_BITS;

    #[inline]
    fn find(&self, page: u64) -> Found<'_> {
        let slot = lower(page, LEAF_BITS);
        let entry = &self.entries[slot];
        if entry.is_none() {
            self.last_in(page, slot)
        } else {
            Some((page, entry))
        }
    }

    fn last(&self, page: u64) -> Found<'_> {
        self.last_in(page, ENTRIES)
    }

    fn insert(&self, page: u64, facts: &Facts, _stocks: &mut Stocks) {
        let slot = lower(page, LEAF_BITS);
        self.entries[slot].set(facts);
        set_bit(&self.used, slot, facts.bytes != 0);
    }

    fn remove(&self, page: u64, stocks: &mut Stocks) {
        self.insert(page, &Facts::default(), stocks);
    }

    fn is_empty(&self) -> bool {
        self.used.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    fn stock(stocks: &mut Stocks) -> &mut Stock<Self> {
        &mut stocks.leaves
    }
}

/// A node: what its slots lead to on the next level.
#[derive(Debug)]
struct Node<T> {
    slots: [AtomicPtr<T>; SLOTS],
    /// Which slots lead anywhere.
    used: [AtomicU64; SLOTS / 64],
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self {
            slots: [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS],
            used: [const { AtomicU64::new(0) }; SLOTS / 64],
        }
    }
}

impl<T: Level> Node<T> {
    /// The slot of a page.
    const fn slot(page: u64) -> usize {
        lower(page >> T::BITS, NODE_BITS)
    }

    /// What a slot leads to.
    #[inline]
    fn at(&self, slot: usize) -> Option<&T> {
        let next = self.slots[slot].load(Ordering::Acquire);
        // SAFETY: a slot is null or leads to something of this type that is never freed.
        unsafe { next.as_ref() }
    }

    fn put(&self, slot: usize, next: *mut T) {
        self.slots[slot].store(next, Ordering::Release);
        set_bit(&self.used, slot, !next.is_null());
    }

    #[inline]
    fn find_in(&self, page: u64) -> Found<'_> {
        let slot = Self::slot(page);
        let here = self.at(slot).and_then(|next| next.find(page));
        here.or_else(|| self.last_in(page, slot))
    }

    /// The last entry behind the slots before `end`.
    fn last_in(&self, page: u64, end: usize) -> Found<'_> {
        let slot = last_before(&self.used, end)?;
        let first = within(page >> T::BITS, NODE_BITS, slot) << T::BITS;
        self.at(slot)?.last(first)
    }

    fn insert_in(&self, page: u64, facts: &Facts, stocks: &mut Stocks) {
        let slot = Self::slot(page);
        if let Some(next) = self.at(slot) {
            return next.insert(page, facts, stocks);
        }
        let fresh = T::stock(stocks).take();
        // SAFETY: it is never freed.
        unsafe { fresh.as_ref() }.insert(page, facts, stocks);
        self.put(slot, fresh.as_ptr());
    }

    fn remove_in(&self, page: u64, stocks: &mut Stocks) {
        let slot = Self::slot(page);
        let Some(next) = self.at(slot) else { return };
        next.remove(page, stocks);
        if next.is_empty() {
            let free = NonNull::from(next);
            self.put(slot, std::ptr::null_mut());
            T::stock(stocks).free.push(free);
        }
    }
}

/// The levels of nodes, each with its stock.
macro_rules! levels {
    ($($Node:ident of $Next:ident from $stock:ident;)*) => {
        $(
            type $Node = Node<$Next>;

            impl Level for $Node {
                const BITS: u32 = $Next::BITS + NODE_BITS;

                #[inline]
                fn find(&self, page: u64) -> Found<'_> {
                    self.find_in(page)
                }

                fn last(&self, page: u64) -> Found<'_> {
                    self.last_in(page, SLOTS)
                }

                fn insert(&self, page: u64, facts: &Facts, stocks: &mut Stocks) {
                    self.insert_in(page, facts, stocks);
                }

                fn remove(&self, page: u64, stocks: &mut Stocks) {
                    self.remove_in(page, stocks);
                }

                fn is_empty(&self) -> bool {
                    self.used.iter().all(|word| word.load(Ordering::Relaxed) == 0)
                }

                fn stock(stocks: &mut Stocks) -> &mut Stock<Self> {
                    &mut stocks.$stock
                }
            }
        )*

        /// Everything that slots lead to.
        #[derive(Debug, Default)]
        struct Stocks {
            leaves: Stock<Leaf>,
            $($stock: Stock<$Node>,)*
        }
    };
}

levels! {
    Third of Leaf from thirds;
    Second of Third from seconds;
    Root of Second from roots;
}

/// Nodes of a level that nothing leads to.
#[derive(Debug)]
struct Stock<T> {
    free: Vec<NonNull<T>>,
    /// How many there are in all.
    #[cfg(test)]
    made: usize,
}

impl<T> Default for Stock<T> {
    fn default() -> Self {
        Self {
            free: Vec::new(),
            #[cfg(test)]
            made: 0,
        }
    }
}

// SAFETY: the pointers are to what is made of atomics, and only whoever has the stock to itself uses them.
unsafe impl<T: Send + Sync> Send for Stock<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Stock<T> {}

impl<T: Default> Stock<T> {
    fn take(&mut self) -> NonNull<T> {
        self.free.pop().unwrap_or_else(|| {
            #[cfg(test)]
            {
                self.made += 1;
            }
            NonNull::from(Box::leak(Box::<T>::default()))
        })
    }
}

/// The index, as readers have it.
#[derive(Debug, Default)]
pub struct Index {
    /// Odd while something changes.
    changes: AtomicU64,
    root: Root,
}

impl Index {
    /// What lies at an address: `Some(None)` is nothing; `None` that there was always something changing.
    #[inline(always)]
    pub fn find(&self, address: u64) -> Option<Option<Facts>> {
        if address >= END {
            return Some(None);
        }
        for _ in 0..TRIES {
            let before = self.changes.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let found = self.root.find(address >> PAGE_SHIFT);
                let found = found.map(|(page, entry)| entry.get(page << PAGE_SHIFT));
                fence(Ordering::Acquire);
                if self.changes.load(Ordering::Relaxed) == before {
                    let inside = |facts: &Facts| address.wrapping_sub(facts.base) < facts.bytes;
                    return Some(found.filter(inside));
                }
            }
            std::hint::spin_loop();
        }
        None
    }
}

/// Indexes that nobody writes to, empty.
static UNUSED: Lock<Vec<Writer>> = Lock::new(Vec::new());
/// The index of the runtime that answers.
static CURRENT: AtomicPtr<Index> = AtomicPtr::new(std::ptr::null_mut());

/// What lies at an address, and in which runtime; `None` when that is nothing or takes a hold on the runtime to say.
#[inline]
pub(crate) fn known(address: u64) -> Option<(Generation, Facts)> {
    let before = generation();
    let current = CURRENT.load(Ordering::Acquire);
    // SAFETY: null or an index, and those are never freed.
    let index = unsafe { current.as_ref() }.filter(|_| before.is_one())?;
    let facts = index.find(address).flatten()?;
    fence(Ordering::Acquire);
    (generation() == before).then_some((before, facts))
}

/// Who changes an index.
#[derive(Debug)]
pub struct Writer {
    index: &'static Index,
    stocks: Stocks,
}

impl Writer {
    /// The writer of an empty index.
    #[must_use]
    pub fn new() -> Self {
        UNUSED.lock().pop().unwrap_or_else(|| Self {
            index: Box::leak(Box::default()),
            stocks: Stocks::default(),
        })
    }

    /// The index.
    #[must_use]
    pub const fn index(&self) -> &'static Index {
        self.index
    }

    /// Makes it the one that [`known`] asks, before there is a new generation.
    pub(crate) fn show(&self) {
        CURRENT.store(std::ptr::from_ref(self.index).cast_mut(), Ordering::Release);
    }

    /// Enters what lies at an address, in place of what began there. What does not begin with a page is not entered.
    pub fn insert(&mut self, facts: &Facts) {
        if facts.bytes != 0 {
            self.change(facts.base, |root, page, stocks| root.insert(page, facts, stocks));
        }
    }

    /// Takes out what begins at an address.
    pub fn remove(&mut self, base: u64) {
        self.change(base, |root, page, stocks| root.remove(page, stocks));
    }

    fn change(&mut self, base: u64, change: impl FnOnce(&Root, u64, &mut Stocks)) {
        if base >= END || !base.is_multiple_of(1 << PAGE_SHIFT) {
            return;
        }
        let changes = &self.index.changes;
        let before = changes.load(Ordering::Relaxed);
        changes.store(before + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        change(&self.index.root, base >> PAGE_SHIFT, &mut self.stocks);
        changes.store(before + 2, Ordering::Release);
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// The next writer of the same index, if that is empty.
    fn next(&mut self) -> Option<Self> {
        self.index.root.is_empty().then(|| Self {
            index: self.index,
            stocks: std::mem::take(&mut self.stocks),
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(next) = self.next() {
            UNUSED.lock().push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const PAGE: u64 = 1 << PAGE_SHIFT;

    fn facts(base: u64, pages: u64) -> Facts {
        Facts {
            base,
            host_base: base ^ 1,
            bytes: pages * PAGE,
            user_data: base.wrapping_mul(3),
            kind: 1,
            owner: 0xff_fff2,
            global_flags: 4,
            flags: 3,
            registered: base.is_multiple_of(2 * PAGE),
        }
    }

    /// Random ranges come and go; every look-up says what an ordered map says.
    #[test]
    fn it_is_an_ordered_map() {
        let mut writer = Writer::new();
        let index = writer.index();
        let mut map: BTreeMap<u64, Facts> = BTreeMap::new();
        let mut random = 0x9e37_79b9_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for turn in 0..60_000 {
            // Few places far apart, so that ranges meet.
            let far = (next(3) << 44) | (next(3) << 32) | (next(2) << 21);
            let base = far + next(700) * PAGE;
            let before = map.range(..=base).next_back().map(|(_, f)| *f);
            let free = before.is_none_or(|f| f.base + f.bytes <= base);
            if turn % 3 == 0 || !free {
                if let Some(gone) = before {
                    map.remove(&gone.base);
                    writer.remove(gone.base);
                }
            } else {
                let end = map.range(base..).next().map_or(END, |(at, _)| *at);
                let new = facts(base, (1 + next(600)).min((end - base) / PAGE));
                map.insert(base, new);
                writer.insert(&new);
            }
            for address in [
                base,
                base + next(4 << 20),
                base.wrapping_sub(1),
                next(u64::MAX >> 33) << 16,
            ] {
                let expected = map.range(..=address).next_back().map(|(_, f)| *f);
                let expected = expected.filter(|f| address - f.base < f.bytes);
                assert_eq!(index.find(address), Some(expected), "{address:#x}");
            }
        }
        assert!(!map.is_empty());
        map.keys().for_each(|base| writer.remove(*base));
        assert!(index.root.is_empty());
        let stocks = &writer.stocks;
        assert_eq!(stocks.leaves.free.len(), stocks.leaves.made);
        assert_eq!(stocks.thirds.free.len(), stocks.thirds.made);
    }

    #[test]
    fn an_index_is_used_again_when_it_is_empty() {
        let mut writer = Writer::new();
        writer.insert(&facts(PAGE, 1));
        assert!(writer.next().is_none());
        writer.remove(PAGE);
        let mut next = writer.next().expect("it is empty");
        std::mem::forget(writer);
        let made = next.stocks.leaves.made;
        assert_eq!(next.stocks.leaves.free.len(), made);
        next.insert(&facts(2 * PAGE, 1));
        assert_eq!(next.stocks.leaves.made, made);
        assert_eq!(next.index().find(2 * PAGE), Some(Some(facts(2 * PAGE, 1))));
        next.remove(2 * PAGE);
    }

    #[test]
    fn what_begins_inside_a_page_or_beyond_the_index_is_not_in_it() {
        let mut writer = Writer::new();
        let index = writer.index();
        for base in [PAGE + 64, END, u64::MAX - PAGE + 1] {
            writer.insert(&facts(base, 1));
            assert_eq!(index.find(base), Some(None));
            writer.remove(base);
        }
        assert_eq!(index.find(u64::MAX), Some(None));
    }

    /// While a thread enters and takes out, another one sees all of an entry or nothing of it.
    #[test]
    fn readers_see_whole_entries() {
        use std::sync::atomic::AtomicBool;
        let mut writer = Writer::new();
        let index = writer.index();
        let stop = AtomicBool::new(false);
        let stays = facts(1 << 40, 4);
        writer.insert(&stays);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for turn in 0..40_000_u64 {
                    let base = ((turn % 5) << (21 + 9 * (turn % 3))) | (PAGE * (turn % 7)) | (1 << 30);
                    writer.insert(&facts(base, 1));
                    writer.remove(base);
                }
                stop.store(true, Ordering::Relaxed);
            });
            while !stop.load(Ordering::Relaxed) {
                if let Some(found) = index.find((1 << 40) + 5000) {
                    assert_eq!(found, Some(stays));
                }
                if let Some(Some(found)) = index.find((1 << 30) + 100) {
                    assert_eq!(found, facts(found.base, 1));
                }
            }
        });
    }
}
