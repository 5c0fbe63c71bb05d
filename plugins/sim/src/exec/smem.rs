//! SMEM: scalar loads, stores, atomics and clocks.
//!
//! Addresses are a base pair plus an offset; scalar memory ignores the low two bits.

use super::atomic::{host_atomic, Kind, Rmw};
use super::buffer::Resource;
use super::flat::NO_ADDRESS;
use super::guard::{self, Size};
use super::guard_straight;
use super::memory::MemoryReason;
use super::op::{Flow, Handler, Op};
use super::slot::FLAT_SCRATCH;
use super::sop::slot;
use super::vmem::{refuse, vanished};
use super::wave::Wave;

/// Register offset plus immediate.
#[inline(always)]
fn offset(wave: &Wave, op: &Op) -> u64 {
    let register = if op.b == NO_ADDRESS {
        0
    } else {
        u64::from(wave.s[slot(op.b)])
    };
    register.wrapping_add(op.x)
}

/// The address a plain access goes to.
#[inline(always)]
fn plain_address(wave: &Wave, op: &Op) -> u64 {
    wave.s64(slot(op.a)).wrapping_add(offset(wave, op)) & !3
}

/// Loads `count` dwords from `address` to the slots from `to`.
#[inline(always)]
fn load_dwords(wave: &mut Wave, to: usize, count: usize, address: u64) -> Flow {
    if let Err((address, reason)) = wave.env.view.check(address, 4 * count as u64, false) {
        return refuse(wave, address, false, reason);
    }
    let to = to.min(128);
    match guard::read(&mut wave.s[to..to + count], address) {
        Ok(()) => Flow::Next,
        Err(unmapped) => vanished(wave, unmapped, false),
    }
}

/// `s_load` of one, two or four dwords.
#[inline(always)]
pub(super) fn load_few<const N: usize>(wave: &mut Wave, op: &Op) -> Flow {
    let address = plain_address(wave, op);
    if let Err((address, reason)) = wave.env.view.check(address, 4 * N as u64, false) {
        return refuse(wave, address, false, reason);
    }
    // Slots begin with registers, and there are others behind the last.
    let slots = wave.s[slot(op.d).min(128)..].first_chunk_mut::<N>();
    match slots.map(|slots| guard_straight::read(slots, address)) {
        Some(Err(unmapped)) => vanished(wave, unmapped, false),
        _ => Flow::Next,
    }
}

/// `s_load`: the payload of `e` is the number of dwords.
fn load(wave: &mut Wave, op: &Op) -> Flow {
    let address = plain_address(wave, op);
    load_dwords(wave, slot(op.d), op.e.into(), address)
}

/// `s_scratch_load`: offsets count 64 bytes, as every lane has its dword.
fn scratch_load(wave: &mut Wave, op: &Op) -> Flow {
    let address = scratch_address(wave, op);
    load_dwords(wave, slot(op.d), op.e.into(), address)
}

fn scratch_address(wave: &Wave, op: &Op) -> u64 {
    let register = if op.b == NO_ADDRESS {
        0
    } else {
        u64::from(wave.s[slot(op.b)]) * 64
    };
    wave.s64(FLAT_SCRATCH)
        .wrapping_add(wave.s64(slot(op.a)))
        .wrapping_add(register)
        .wrapping_add(op.x)
        & !3
}

/// The descriptor, address, and number of dwords inside the buffer.
fn buffer_place(wave: &Wave, op: &Op, count: usize) -> (u64, usize) {
    let first = slot(op.a);
    let resource = Resource::new([0, 1, 2, 3].map(|i| wave.s[(first + i) & 511]));
    let offset = offset(wave, op) & !3;
    let size = if resource.stride == 0 {
        resource.records
    } else {
        resource.records * resource.stride
    };
    let inside = (size.saturating_sub(offset) / 4).min(count as u64) as usize;
    (resource.base.wrapping_add(offset), inside)
}

/// `s_buffer_load`: what is outside the buffer is zero.
fn buffer_load(wave: &mut Wave, op: &Op) -> Flow {
    let count = usize::from(op.e);
    let (address, inside) = buffer_place(wave, op, count);
    let to = slot(op.d).min(128);
    if inside > 0 {
        if let flow @ Flow::Fault = load_dwords(wave, to, inside, address) {
            return flow;
        }
    }
    wave.s[to + inside..to + count].fill(0);
    Flow::Next
}

/// Stores `count` dwords from the slots from `from`.
fn store_dwords(wave: &mut Wave, from: usize, count: usize, address: u64) -> Flow {
    if let Err((address, reason)) = wave.env.view.check(address, 4 * count as u64, true) {
        return refuse(wave, address, true, reason);
    }
    match guard::write(address, &wave.s[from..from + count]) {
        Ok(()) => Flow::Next,
        Err(unmapped) => vanished(wave, unmapped, true),
    }
}

/// `s_store`.
fn store(wave: &mut Wave, op: &Op) -> Flow {
    let address = plain_address(wave, op);
    store_dwords(wave, slot(op.c), op.e.into(), address)
}

/// `s_scratch_store`.
fn scratch_store(wave: &mut Wave, op: &Op) -> Flow {
    let address = scratch_address(wave, op);
    store_dwords(wave, slot(op.c), op.e.into(), address)
}

/// `s_buffer_store`: what is outside the buffer is dropped.
fn buffer_store(wave: &mut Wave, op: &Op) -> Flow {
    let (address, inside) = buffer_place(wave, op, op.e.into());
    if inside == 0 {
        return Flow::Next;
    }
    store_dwords(wave, slot(op.c), inside, address)
}

/// `s_atomic`.
fn atomic(wave: &mut Wave, op: &Op) -> Flow {
    let address = plain_address(wave, op);
    atomic_at(wave, op, address)
}

/// `s_buffer_atomic`.
fn buffer_atomic(wave: &mut Wave, op: &Op) -> Flow {
    let count = if Kind(op.e).size() == Size::B64 { 2 } else { 1 };
    let (address, inside) = buffer_place(wave, op, count);
    if inside < count {
        return Flow::Next;
    }
    atomic_at(wave, op, address)
}

fn atomic_at(wave: &mut Wave, op: &Op, address: u64) -> Flow {
    let kind = Kind(op.e);
    let (size, data) = (kind.size(), slot(op.c));
    let bytes = if size == Size::B64 { 8 } else { 4 };
    if address & (bytes - 1) != 0 {
        return refuse(wave, address, true, MemoryReason::Misaligned);
    }
    for write in [false, true] {
        if let Err((address, reason)) = wave.env.view.check(address, bytes, write) {
            return refuse(wave, address, write, reason);
        }
    }
    let value = |slot: usize| match size {
        Size::B32 => u64::from(wave.s[slot & 511]),
        Size::B64 => wave.s64(slot),
    };
    let (new, comparand) = (value(data), value(data + bytes as usize / 4));
    match host_atomic(kind.operation(), size, address, new, comparand) {
        Ok(old) => {
            if kind.returns() {
                match size {
                    Size::B32 => wave.s[slot(op.d)] = old as u32,
                    Size::B64 => wave.set_s64(slot(op.d), old),
                }
            }
            Flow::Next
        }
        Err(unmapped) => vanished(wave, unmapped, true),
    }
}

/// `s_memtime`: the shader clock.
fn shader_clock(wave: &mut Wave, op: &Op) -> Flow {
    let now = wave.env.clock.as_ref().map_or(0, |clock| clock.shader());
    wave.set_s64(slot(op.d), now);
    Flow::Next
}

/// `s_memrealtime`: the constant-frequency clock.
fn real_clock(wave: &mut Wave, op: &Op) -> Flow {
    let now = wave.env.clock.as_ref().map_or(0, |clock| clock.real());
    wave.set_s64(slot(op.d), now);
    Flow::Next
}

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str, returns: bool) -> Option<(Handler, u16)> {
    match name {
        "s_memtime" => return Some((shader_clock, 0)),
        "s_memrealtime" => return Some((real_clock, 0)),
        _ => {}
    }
    if let Some((segment, part)) = name.split_once("atomic_") {
        let (operation, size) = Rmw::parse(part)?;
        let handler: Handler = match segment {
            "s_" => atomic,
            "s_buffer_" => buffer_atomic,
            _ => return None,
        };
        return Some((handler, Kind::new(operation, size, returns).0));
    }
    let (what, width) = name.split_once("_dword")?;
    let count = match width {
        "" => 1,
        width => width.strip_prefix('x')?.parse().ok()?,
    };
    let handler: Handler = match what {
        "s_load" => match count {
            1 => load_few::<1>,
            2 => load_few::<2>,
            4 => load_few::<4>,
            _ => load,
        },
        "s_store" => store,
        "s_scratch_load" => scratch_load,
        "s_scratch_store" => scratch_store,
        "s_buffer_load" => buffer_load,
        "s_buffer_store" => buffer_store,
        _ => return None,
    };
    Some((handler, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_have_handlers_with_their_counts() {
        assert_eq!(
            handler("s_load_dwordx16", false).map(|(_, count)| count),
            Some(16)
        );
        assert_eq!(
            handler("s_buffer_store_dword", false).map(|(_, count)| count),
            Some(1)
        );
        assert!(handler("s_atomic_umax_x2", true).is_some());
        assert!(handler("s_atc_probe", false).is_none());
    }
}
