//! Properties of agents that never change, for `hsa_agent_get_info` without a hold on the runtime.
//!
//! Programs ask for these all the time. Their values, as far as they have eight bytes at most, are computed once when the
//! runtime starts, and are read as one reads under a sequence lock: a reader that saw another generation of the
//! runtime afterwards ([`generation`]) has read nothing and goes the long way. The memory is used again by later
//! runtimes and never freed, so that reading is harmless at any time, in exit handlers and beside `hsa_shut_down`.

use super::agent;
use crate::entry::Value;
use hansa_core::handle::{self, Kind};
use hansa_core::runtime::{generation, Runtime};
use hansa_plugin_api::hsa::{c_void, hsa_agent_t, hsa_amd_agent_info_t as Amd};
use std::sync::atomic::{fence, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Attributes of the standard, and AMD's first ones.
const RANGES: [u32; 2] = [0, 0xa000];
/// Attributes of each range.
const RANGE: u32 = 32;
const CELLS: usize = RANGES.len() * RANGE as usize;

/// A value and its bytes; no bytes when it is not kept.
#[derive(Debug, Default)]
struct Cell {
    bytes: AtomicU64,
    value: AtomicU64,
}

type Agent = [Cell; CELLS];

static AGENTS: AtomicPtr<Agent> = AtomicPtr::new(std::ptr::null_mut());
/// Agents that there is memory for. Only grows, and after the pointer.
static ROOM: AtomicUsize = AtomicUsize::new(0);

#[inline]
fn cell_of(attribute: u32) -> Option<usize> {
    let range = usize::from(attribute >= RANGES[1]);
    let offset = attribute.wrapping_sub(RANGES[range]);
    (offset < RANGE).then_some(range * RANGE as usize + offset as usize)
}

fn room() -> &'static [Agent] {
    let count = ROOM.load(Ordering::Acquire);
    let first = AGENTS.load(Ordering::Acquire);
    if count == 0 {
        return &[];
    }
    // SAFETY: there are so many, in memory that is never freed: the pointer is stored before the number, and a newer
    // pointer has more.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// Writes the value of an attribute if it is kept. Answers whether it was.
#[inline]
pub(super) fn answer(agent: u64, attribute: u32, value: *mut c_void) -> bool {
    let Some(cell) = cell_of(attribute).filter(|_| !value.is_null()) else {
        return false;
    };
    let before = generation();
    let Some(index) = handle::index(agent, Kind::Agent, before.epoch()) else {
        return false;
    };
    if !before.is_one() || index >= ROOM.load(Ordering::Acquire) {
        return false;
    }
    // SAFETY: there is room for that many agents behind every pointer that is loaded after the number.
    let agent = unsafe { AGENTS.load(Ordering::Acquire).add(index) };
    // SAFETY: as above, in memory that is never freed.
    let kept = unsafe { &(&*agent)[cell] };
    let (bytes, word) = (
        kept.bytes.load(Ordering::Relaxed),
        kept.value.load(Ordering::Relaxed),
    );
    fence(Ordering::Acquire);
    if generation() != before {
        return false;
    }
    let [a, b, c, d, ..] = word.to_le_bytes();
    match bytes {
        1 => put(value, a),
        4 => put(value, u32::from_le_bytes([a, b, c, d])),
        8 => put(value, word),
        _ => return false,
    }
    true
}

#[inline]
fn put<T>(place: *mut c_void, value: T) {
    // SAFETY: the program gave the place for a value of the attribute, which is of this size.
    unsafe { place.cast::<T>().write_unaligned(value) };
}

/// Computes what is kept of the agents of a runtime that nobody can ask yet.
pub(crate) fn keep(runtime: &Runtime) {
    // Readers of the runtime before this one see its generation gone before they see anything of what follows.
    fence(Ordering::Release);
    let count = runtime.agents.len();
    if room().len() < count {
        let fresh: Vec<Agent> = (0..count)
            .map(|_| std::array::from_fn(|_| Cell::default()))
            .collect();
        AGENTS.store(fresh.leak().as_mut_ptr(), Ordering::Release);
        ROOM.store(count, Ordering::Release);
    }
    for (index, cells) in room().iter().enumerate() {
        for attribute in RANGES.into_iter().flat_map(|first| first..first + RANGE) {
            let Some(cell) = cell_of(attribute) else { continue };
            let value = (index < count)
                .then(|| constant(runtime, index, attribute))
                .flatten();
            let (bytes, word) = value.unwrap_or((0, 0));
            cells[cell].value.store(word, Ordering::Relaxed);
            cells[cell].bytes.store(bytes, Ordering::Relaxed);
        }
    }
}

/// Bytes and value of an attribute, if it is one that is kept.
fn constant(runtime: &Runtime, index: usize, attribute: u32) -> Option<(u64, u64)> {
    if Amd(attribute) == Amd::MEMORY_AVAIL {
        return None;
    }
    let agent = hsa_agent_t {
        handle: runtime.agent_handle(index),
    };
    let mut place = [0_u64; 64];
    let mut bytes = 0;
    let value = Value::counted(place.as_mut_ptr().cast(), &mut bytes);
    agent::info(runtime, agent, attribute, value).ok()?;
    matches!(bytes, 1 | 4 | 8).then_some((bytes as u64, place[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_of_a_range_has_a_cell_of_its_own() {
        let mut seen = [false; CELLS];
        for attribute in (0..64).chain(0x3000..0x3010).chain(0x9ff0..0xa200) {
            if let Some(cell) = cell_of(attribute) {
                assert!(!std::mem::replace(&mut seen[cell], true), "{attribute:#x}");
            }
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(cell_of(u32::MAX), None);
    }
}
