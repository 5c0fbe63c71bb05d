//! Predecoded code, kept by address.
//!
//! Code is decoded in chunks of 2 KiB when control first reaches them. Every dword of a chunk is decoded as if an
//! instruction started there, so that a chunk never changes once made and a branch target is an index. What
//! is not code becomes an operation that faults if control gets there. Instructions with no effect
//! are skipped by the link of the one before.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use hansa_plugin_api::sync::RwLock;

use super::affine;
use super::bundle::{self, Together};
use super::control;
use super::fuse::{self, Part};
use super::guard;
use super::hot::{self, Kind};
use super::level::Level;
use super::lower::{blank, lower, Lowered, Place};
use super::memory::AddressSpace;
use super::op::{Handler, Op};
use crate::isa::{decode, Target};

/// Bytes of code in a chunk.
pub(crate) const CHUNK_BYTES: u64 = 2048;
const SLOTS: usize = CHUNK_BYTES as usize / 4;
/// Bytes of the longest instruction.
const LONGEST: usize = 12;

/// A stretch of predecoded code.
pub(crate) struct Chunk {
    /// Its first address.
    pub(crate) base: u64,
    /// One operation per dword, then the links to the next chunk, then operations that belong to earlier
    /// slots.
    pub(crate) ops: Box<[Op]>,
    /// The same with [fused](super::fuse) operations in the place of the first of several.
    pub(crate) fused: Box<[Op]>,
    /// The same with operations on [formulas](super::affine) in the place of those that have one. What such an operation
    /// leaves to lanes is at the same place in `fused`.
    pub(crate) fast: Box<[Op]>,
    /// Prepares for operations on lanes.
    pub(crate) settle: Handler,
    /// Runs `fast`.
    pub(crate) run: hot::Loop,
    /// Runs it for several waves.
    pub(crate) together: bundle::Loop,
    /// Slot of the instruction that each of the last operations belongs to.
    owners: Vec<u16>,
    /// Mnemonics of instructions that cannot be executed, by slot.
    unimplemented: HashMap<u16, &'static str>,
}

/// Operations before those that belong to other slots: every dword, and one link for each way an
/// instruction can reach over the end.
const FIXED: usize = SLOTS + LONGEST / 4;

impl Chunk {
    /// Address of the instruction that operation `index` belongs to.
    pub(crate) fn pc(&self, index: usize) -> u64 {
        let slot = index
            .checked_sub(FIXED)
            .map_or(index, |extra| self.owners[extra].into());
        self.base.wrapping_add(4 * slot as u64)
    }

    /// Whether an operation is the first of an instruction: neither a second one, nor a link to the next chunk.
    pub(crate) fn is_instruction(index: usize) -> bool {
        index < SLOTS
    }

    /// The mnemonic of the instruction at an address, if it is one that cannot be executed.
    pub(crate) fn unimplemented(&self, pc: u64) -> Option<&'static str> {
        let slot = u16::try_from((pc - self.base) / 4).ok()?;
        self.unimplemented.get(&slot).copied()
    }

    /// Decodes the chunk at `base`. Bytes that cannot be read end the code.
    fn decode(target: Target, level: Level, base: u64, space: &AddressSpace) -> Self {
        let (bytes, readable) = fetch(base, space);
        let mut ops = Vec::with_capacity(FIXED + 8);
        let mut owners = Vec::new();
        let mut extra = Vec::new();
        let mut unimplemented = HashMap::new();
        let mut idle = [false; FIXED];
        let mut parts = [None; FIXED];
        let mut shortcuts = [None; FIXED];
        for (slot, idle) in idle.iter_mut().enumerate().take(SLOTS) {
            let at = 4 * slot;
            let pc = base.wrapping_add(at as u64);
            let there = readable[slot..]
                .iter()
                .take(LONGEST / 4)
                .take_while(|there| **there)
                .count();
            if there == 0 {
                ops.push(linked(control::end_of_code, 0, slot));
                continue;
            }
            let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            let illegal = linked(control::illegal, word.into(), slot);
            let Ok(inst) = decode(target, &bytes[at..at + 4 * there]) else {
                ops.push(illegal);
                continue;
            };
            let place = Place {
                pc,
                chunk: base,
                slots: SLOTS as u64,
                level,
                sram_ecc: target.has_sram_ecc(),
            };
            let next = (slot + usize::from(inst.size) / 4) as u16;
            match lower(&inst, place) {
                None => {
                    unimplemented.insert(slot as u16, inst.row.name);
                    ops.push(illegal);
                }
                Some(Lowered::Nothing) => {
                    *idle = true;
                    ops.push(Op {
                        next,
                        together: Together::Once,
                        ..blank(control::idle)
                    });
                }
                Some(Lowered::One(op)) => {
                    parts[slot] = fuse::part(&inst, &op);
                    let formula = affine::handler(&inst, &op, level);
                    shortcuts[slot] = shortcut(inst.row.name, &op, formula);
                    ops.push(Op {
                        next,
                        together: Together::new(&inst, &op, formula.is_some()),
                        ..op
                    });
                }
                Some(Lowered::Evaluated(op)) => {
                    let second = (FIXED + extra.len()) as u16;
                    ops.push(Op {
                        next: second,
                        ..blank(control::evaluate_conditions)
                    });
                    extra.push(Op { next, ..op });
                    owners.push(slot as u16);
                }
            }
        }
        for over in 0..FIXED - SLOTS {
            let link = linked(
                control::next_chunk,
                base.wrapping_add(CHUNK_BYTES + 4 * over as u64),
                SLOTS + over,
            );
            ops.push(Op {
                together: Together::Once,
                ..link
            });
        }
        ops.append(&mut extra);
        skip_idle(&mut ops, &idle);
        let fused = fused(&ops, &parts, level, &mut shortcuts);
        Self {
            base,
            fast: fast(&fused, &shortcuts).into(),
            settle: affine::settler(level),
            run: hot::loops::all()[level as usize],
            together: bundle::loops::all()[level as usize],
            fused: fused.into(),
            ops: ops.into(),
            owners,
            unimplemented,
        }
    }
}

/// An operation that never goes on to the next.
fn linked(run: Handler, x: u64, slot: usize) -> Op {
    Op {
        x,
        next: slot as u16,
        ..blank(run)
    }
}

/// Points every link at the next operation that does something.
fn skip_idle(ops: &mut [Op], idle: &[bool; FIXED]) {
    let mut target: Vec<u16> = (0..FIXED as u16).collect();
    // Links of idle operations point forward only.
    for slot in (0..SLOTS).rev() {
        if idle[slot] {
            target[slot] = target[usize::from(ops[slot].next)];
        }
    }
    for op in ops {
        if let Some(target) = target.get(usize::from(op.next)) {
            op.next = *target;
        }
    }
}

/// The handler of an operation in [`Chunk::fast`], and its case of the loop, where it is not called like any other.
type Shortcut = (Handler, Kind);

/// The shortcut of an instruction with or without a handler for formulas.
fn shortcut(name: &str, op: &Op, formula: Option<Handler>) -> Option<Shortcut> {
    match formula {
        Some(run) => Some((run, Kind::of_formula(name))),
        None => Some((op.run, Kind::of_scalar(name)?)),
    }
}

/// The operations with those that can be one with their successors replaced, and their shortcuts with them.
fn fused(
    ops: &[Op],
    parts: &[Option<Part>; FIXED],
    level: Level,
    shortcuts: &mut [Option<Shortcut>; FIXED],
) -> Vec<Op> {
    let after = |op: &Op| {
        let next = usize::from(op.next);
        Some((ops.get(next)?, (*parts.get(next)?)?))
    };
    let replaced = |op: &Op, part: Part| {
        let (second, second_part) = after(op)?;
        match (part, second_part) {
            (Part::Low, Part::High) => fuse::add(op, second, level),
            (Part::Splat, Part::Low) => match after(second)? {
                (third, Part::High) => fuse::add_splat(op, second, third, level),
                _ => None,
            },
            _ => None,
        }
    };
    let mut fused = ops.to_vec();
    let places = fused.iter_mut().zip(shortcuts);
    for ((to, shortcut), (op, part)) in places.zip(ops.iter().zip(parts)) {
        if let Some(op) = part.and_then(|part| replaced(op, part)) {
            *shortcut = affine::handler_of_sum(&op, level).map(|run| (run, Kind::of_sum(&op)));
            *to = op;
            to.together = if shortcut.is_some() {
                Together::Once
            } else {
                Together::Not
            };
        }
    }
    fused
}

/// The operations with shortcuts in their places.
fn fast(fused: &[Op], shortcuts: &[Option<Shortcut>; FIXED]) -> Vec<Op> {
    let mut fast = fused.to_vec();
    for (op, shortcut) in fast.iter_mut().zip(shortcuts) {
        if let Some((run, kind)) = *shortcut {
            (op.run, op.kind, op.reads, op.writes) = (run, kind, 0, 0);
        }
    }
    for index in 0..SLOTS {
        let op = &fast[index];
        fast[index].kind = Kind::before(op, &fast[usize::from(op.next)]);
    }
    fast
}

/// The bytes from `base` on, and which dwords of them could be read.
fn fetch(base: u64, space: &AddressSpace) -> (Vec<u8>, Vec<bool>) {
    let wanted = CHUNK_BYTES as usize + LONGEST;
    let mut bytes = vec![0; wanted];
    let mut readable = vec![false; wanted / 4];
    let end = base.saturating_add(wanted as u64);
    let mappings = space.mappings();
    let touched = mappings.partition_point(|mapping| mapping.end <= base);
    for mapping in &mappings[touched..] {
        if mapping.start >= end {
            break;
        }
        if !mapping.access.execute {
            continue;
        }
        // Whole dwords only: instructions are aligned.
        let first = mapping.start.max(base).next_multiple_of(4);
        let last = mapping.end.min(end) & !3;
        if first >= last {
            continue;
        }
        let (from, to) = ((first - base) as usize, (last - base) as usize);
        if guard::read_bytes(&mut bytes[from..to], first).is_ok() {
            readable[from / 4..to / 4].fill(true);
        }
    }
    (bytes, readable)
}

/// The predecoded code of one device, shared by its workers.
pub struct CodeCache {
    target: Target,
    level: Level,
    by_base: RwLock<HashMap<u64, Arc<Chunk>>>,
    /// Counts invalidations, so that workers notice.
    version: AtomicU64,
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeCache")
            .field("target", &self.target)
            .field("level", &self.level)
            .field("chunks", &self.by_base.read().len())
            .finish()
    }
}

impl CodeCache {
    /// An empty cache for code of `target`, executed with the host instructions of `level`, or of the
    /// strongest level the host has if that is weaker.
    #[must_use]
    pub fn new(target: Target, level: Level) -> Self {
        Self {
            target,
            level: level.min(Level::detected()),
            by_base: RwLock::default(),
            version: AtomicU64::new(0),
        }
    }

    /// The processor whose code this is.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Forgets code in a range. To be called when memory that may hold code is written, freed or unmapped;
    /// dispatches that start afterwards decode anew.
    pub fn invalidate(&self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        // An instruction may reach into the next chunk.
        let first = start
            .saturating_sub(CHUNK_BYTES + LONGEST as u64 - 1)
            .next_multiple_of(CHUNK_BYTES);
        let touched = end.saturating_sub(first).div_ceil(CHUNK_BYTES);
        let chunks = self.by_base.read();
        let found = if touched < chunks.len() as u64 {
            (first..end)
                .step_by(CHUNK_BYTES as usize)
                .any(|base| chunks.contains_key(&base))
        } else {
            chunks.keys().any(|base| (first..end).contains(base))
        };
        drop(chunks);
        // Memory without code is freed and written all the time, and nobody has to wait for that.
        if found {
            self.by_base
                .write()
                .retain(|base, _| !(first..end).contains(base));
            self.version.fetch_add(1, Ordering::Release);
        }
    }

    fn chunk(&self, base: u64, space: &AddressSpace) -> Arc<Chunk> {
        if let Some(chunk) = self.by_base.read().get(&base) {
            return Arc::clone(chunk);
        }
        // Two workers may both decode; the first to finish wins.
        let chunk = Arc::new(Chunk::decode(self.target, self.level, base, space));
        let mut chunks = self.by_base.write();
        Arc::clone(chunks.entry(base).or_insert(chunk))
    }
}

/// One worker's short way to chunks it has used before.
#[derive(Default)]
pub(crate) struct ChunkLookup {
    cache: Option<Arc<CodeCache>>,
    version: u64,
    recent: Vec<Option<Arc<Chunk>>>,
}

const RECENT: usize = 256;

impl ChunkLookup {
    /// Starts a run on `cache`, whose code may have been invalidated since the last one.
    pub(crate) fn attach(&mut self, cache: &Arc<CodeCache>) {
        let version = cache.version.load(Ordering::Acquire);
        let same = self.cache.as_ref().is_some_and(|mine| Arc::ptr_eq(mine, cache));
        if !same || self.version != version || self.recent.is_empty() {
            self.recent = vec![None; RECENT];
            self.version = version;
            self.cache = Some(Arc::clone(cache));
        }
    }

    /// The chunk with the code at `pc`. [`ChunkLookup::attach`] must have been called.
    #[inline(always)]
    pub(crate) fn get(&mut self, pc: u64, space: &AddressSpace) -> &Arc<Chunk> {
        let base = pc & !(CHUNK_BYTES - 1);
        let index = (base / CHUNK_BYTES) as usize % RECENT;
        let slot = &mut self.recent[index];
        if slot.as_ref().is_none_or(|chunk| chunk.base != base) {
            let cache = self
                .cache
                .as_ref()
                .unwrap_or_else(|| unreachable!("attach comes first"));
            *slot = Some(cache.chunk(base, space));
        }
        slot.as_ref().unwrap_or_else(|| unreachable!("just filled"))
    }
}
