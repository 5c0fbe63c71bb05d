//! What is known of one kernel: its code, and how often each instruction of it ran.

use crate::exec::{guard, AddressSpace};
use crate::isa::Target;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of code before and after the entry that are looked at.
const REACH: u64 = 8 << 20;
/// Bytes at the entry that tell whether the code is still the same.
const MARK: usize = 256;

/// Executions of one instruction.
#[derive(Debug, Default)]
pub(super) struct Hits {
    count: AtomicU64,
    lanes: AtomicU64,
}

/// A kernel.
#[derive(Debug)]
pub(super) struct Record {
    /// Its name, or the address of its descriptor.
    pub(super) name: String,
    /// What its code is for.
    pub(super) target: Target,
    /// Address of its first instruction.
    pub(super) entry: u64,
    /// Address of the first byte of `code`.
    base: u64,
    /// The code around it, with the functions that it calls.
    pub(super) code: Vec<u8>,
    /// For each dword of it.
    hits: Vec<Hits>,
    /// Instructions that ran somewhere else.
    pub(super) elsewhere: AtomicU64,
    pub(super) dispatches: AtomicU64,
    pub(super) groups: AtomicU64,
    pub(super) waves: AtomicU64,
}

impl Record {
    /// A record of the kernel that begins at `entry`, if there is code.
    pub(super) fn new(space: &AddressSpace, target: Target, name: String, entry: u64) -> Option<Self> {
        let mapping = space.find(entry)?;
        let base = mapping.start.max(entry.saturating_sub(REACH)).next_multiple_of(4);
        let bytes = usize::try_from(mapping.end.min(entry.saturating_add(REACH)) - base).ok()?;
        let mut code = vec![0; bytes & !3];
        guard::read_bytes(&mut code, base).ok()?;
        let mut hits = Vec::new();
        hits.resize_with(code.len() / 4, Hits::default);
        Some(Self {
            name,
            target,
            entry,
            base,
            code,
            hits,
            elsewhere: AtomicU64::new(0),
            dispatches: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            waves: AtomicU64::new(0),
        })
    }

    /// Whether memory at the entry still holds this code.
    pub(super) fn is_still_there(&self) -> bool {
        let Some(known) = self.bytes_at(self.entry) else {
            return false;
        };
        let known = &known[..known.len().min(MARK)];
        let mut now = vec![0; known.len()];
        guard::read_bytes(&mut now, self.entry).is_ok() && now == known
    }

    /// The code from an address on.
    pub(super) fn bytes_at(&self, pc: u64) -> Option<&[u8]> {
        let offset = usize::try_from(pc.checked_sub(self.base)?).ok()?;
        self.code.get(offset..)
    }

    /// Counts an instruction that runs on some lanes.
    pub(super) fn count(&self, pc: u64, exec: u64) {
        let slot = pc
            .checked_sub(self.base)
            .and_then(|bytes| usize::try_from(bytes / 4).ok());
        match slot.and_then(|slot| self.hits.get(slot)) {
            Some(hits) => {
                hits.count.fetch_add(1, Ordering::Relaxed);
                hits.lanes.fetch_add(exec.count_ones().into(), Ordering::Relaxed);
            }
            None => {
                self.elsewhere.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Address, executions and lanes of each instruction that ran.
    pub(super) fn executed(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.hits.iter().enumerate().filter_map(|(slot, hits)| {
            let count = hits.count.load(Ordering::Relaxed);
            let pc = self.base + 4 * slot as u64;
            (count > 0).then(|| (pc, count, hits.lanes.load(Ordering::Relaxed)))
        })
    }
}
