//! Atomic operations of packets, under the numbers of the second cache.

use super::{Fault, Memory};
use std::sync::atomic::Ordering;

/// The bit of operations that hand nothing back.
const NO_RETURN: u32 = 64;

/// Does a 64-bit operation on memory. Answers whether it is one that is known.
pub(super) fn atomic(
    memory: &Memory<'_>,
    operation: u32,
    address: u64,
    source: u64,
    expected: u64,
) -> Result<bool, Fault> {
    let signed = |value: u64| i64::from_ne_bytes(value.to_ne_bytes());
    let bits = |value: i64| u64::from_ne_bytes(value.to_ne_bytes());
    let new: &dyn Fn(u64) -> u64 = match operation & !NO_RETURN {
        39 => &|_| source,
        40 => &|old| if old == expected { source } else { old },
        47 => &|old| old.wrapping_add(source),
        48 => &|old| old.wrapping_sub(source),
        49 => &|old| bits(signed(old).min(signed(source))),
        50 => &|old| old.min(source),
        51 => &|old| bits(signed(old).max(signed(source))),
        52 => &|old| old.max(source),
        53 => &|old| old & source,
        54 => &|old| old | source,
        55 => &|old| old ^ source,
        _ => return Ok(false),
    };
    memory.change(address, |word| {
        word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| {
            Some(signed(new(bits(old))))
        })
        .unwrap_or_else(|old| old)
    })?;
    Ok(true)
}
