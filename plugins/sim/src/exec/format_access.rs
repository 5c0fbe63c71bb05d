//! Formatted buffer access: `buffer_load_format`, `buffer_store_format`, and the typed forms of MTBUF.
//!
//! The format comes from the resource descriptor, or from the instruction (MTBUF). Loads route
//! components to registers by the descriptor's destination selects. The d16 forms have two 16-bit components per
//! register.

use super::buffer::Resource;
use super::format::{component_sources, Layout, Number};
use super::guard::{self, Width};
use super::level::{versions, Host};
use super::mubuf::{addresses, bits, place, resource};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::scalar_float::Half;
use super::vmem::{check_lanes, vanished};
use super::wave::Wave;
use std::ops::Range;

/// Set in [`Op::e`] for 16-bit registers; bits 0 to 2 are the number of components.
const D16: u16 = 1 << 4;
/// Set for the form that uses the high half of its register.
const HIGH: u16 = 1 << 5;

/// Formats of the access.
fn format(op: &Op, word3: u32) -> (Option<Layout>, Number) {
    let (data, number) = if op.x & bits::TYPED != 0 {
        ((op.x >> 20) as u32 & 15, (op.x >> 24) as u32 & 7)
    } else {
        (word3 >> 15 & 15, word3 >> 12 & 7)
    };
    (Layout::new(data), Number::new(number))
}

/// What a destination select picks from the components.
fn selected(select: u32, components: [u32; 4], one: u32) -> u32 {
    match select & 7 {
        1 => one,
        4..=7 => components[(select as usize & 7) - 4],
        _ => 0,
    }
}

/// A component as 16 bits.
pub(super) fn narrow(number: Number, value: u32) -> u32 {
    if number.is_integer() {
        value & 0xffff
    } else {
        Half::nearest(f32::from_bits(value)).0.into()
    }
}

/// 16 bits as a component.
pub(super) fn widen(number: Number, value: u32) -> u32 {
    match number {
        Number::Uint => value & 0xffff,
        Number::Sint => i32::from(value as u16 as i16) as u32,
        _ => Half(value as u16).wide().to_bits(),
    }
}

/// Goes to the first of the `bytes` that are left of every lane's element, which in an interleaved buffer lie apart, and returns how
/// far after [`Wave::address`] it is. Refuses what may not be accessed.
#[inline(always)]
fn reach(
    wave: &mut Wave,
    op: &Op,
    resource: &Resource,
    bytes: Range<usize>,
    (lanes, write): (u64, bool),
) -> Result<u64, Flow> {
    if resource.swizzled {
        place(wave, op, resource, bytes.start as u32);
        return check_lanes(wave, lanes, 1, write).map(|()| 0);
    }
    if bytes.start == 0 {
        check_lanes(wave, lanes, bytes.end as u64, write)?;
    }
    Ok(bytes.start as u64)
}

/// A formatted load.
#[inline(always)]
fn load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let exec = wave.exec();
    let resource = resource(wave, op);
    let (layout, number) = format(op, resource.word3);
    let count = usize::from(op.e & 7);
    let mut rows = [Row::ZERO; 4];
    if let Some(layout) = layout {
        let bytes = layout.bytes();
        let lanes = exec & addresses(wave, op, &resource, bytes as u64);
        let mut elements = [0u128; 64];
        for byte in 0..bytes {
            let further = match reach(wave, op, &resource, byte..bytes, (lanes, false)) {
                Ok(further) => further,
                Err(flow) => return flow,
            };
            let mut part = Row::ZERO;
            if let Err(unmapped) = guard::gather(Width::Byte, &mut part.0, &wave.address, lanes, further) {
                return vanished(wave, unmapped, false);
            }
            for (element, part) in elements.iter_mut().zip(&part.0) {
                *element |= u128::from(*part) << (8 * byte);
            }
        }
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            let components = layout.decode(number, elements[lane]);
            for (c, row) in rows.iter_mut().enumerate().take(count) {
                row.0[lane] = selected(resource.word3 >> (3 * c), components, number.one());
            }
        }
    }
    if op.e & D16 != 0 {
        let parts = rows;
        for (n, row) in rows.iter_mut().enumerate().take(count.div_ceil(2)) {
            for lane in 0..64 {
                let low = narrow(number, parts[2 * n].0[lane]);
                let high = if 2 * n + 1 < count {
                    narrow(number, parts[2 * n + 1].0[lane])
                } else {
                    0
                };
                let old = wave.row(op.d).0[lane];
                row.0[lane] = match () {
                    () if op.e & HIGH != 0 => low << 16 | old & 0xffff,
                    () if count == 1 => low | old & 0xffff_0000,
                    () => low | high << 16,
                };
            }
        }
    }
    let registers = if op.e & D16 != 0 { count.div_ceil(2) } else { count };
    for (n, row) in rows.into_iter().enumerate().take(registers) {
        *wave.spare[n] = row;
        wave.commit(op.d + n as u16, n, exec);
    }
    Flow::Next
}

/// The components for channels: a store goes backwards through the selects, unless they select nothing at all.
fn through_selects(word3: u32, channels: [u32; 4]) -> [u32; 4] {
    let sources = component_sources(word3);
    if sources == [None; 4] {
        return channels;
    }
    sources.map(|source| source.map_or(0, |channel| channels[channel]))
}

/// A formatted store.
#[inline(always)]
fn store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let exec = wave.exec();
    let resource = resource(wave, op);
    let (Some(layout), number) = format(op, resource.word3) else {
        return Flow::Next;
    };
    let count = usize::from(op.e & 7);
    let bytes = layout.bytes();
    let lanes = exec & addresses(wave, op, &resource, bytes as u64);
    let mut elements = [0u128; 64];
    for (lane, element) in elements.iter_mut().enumerate() {
        let mut components = [0; 4];
        for (c, component) in components.iter_mut().enumerate().take(count) {
            *component = if op.e & D16 != 0 {
                let register = wave.row(op.b + c as u16 / 2).0[lane];
                let high = c % 2 == 1 || op.e & HIGH != 0;
                widen(number, if high { register >> 16 } else { register & 0xffff })
            } else {
                wave.row(op.b + c as u16).0[lane]
            };
        }
        *element = layout.encode(number, through_selects(resource.word3, components));
    }
    for byte in 0..bytes {
        let further = match reach(wave, op, &resource, byte..bytes, (lanes, true)) {
            Ok(further) => further,
            Err(flow) => return flow,
        };
        let part: [u32; 64] = std::array::from_fn(|lane| (elements[lane] >> (8 * byte)) as u32 & 0xff);
        if let Err(unmapped) = guard::scatter(Width::Byte, &part, &wave.address, lanes, further) {
            return vanished(wave, unmapped, true);
        }
    }
    Flow::Next
}

versions!(load_versions, load, [], []);
versions!(store_versions, store, [], []);

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str) -> Option<(Versions, u16)> {
    let rest = name
        .strip_prefix("buffer_")
        .or_else(|| name.strip_prefix("tbuffer_"))?;
    let (direction, part) = rest.split_once("_format_")?;
    let (part, d16) = match part.strip_prefix("d16_") {
        Some(part) => (part, D16),
        None => (part, 0),
    };
    let (part, high) = match part.strip_prefix("hi_") {
        Some(part) => (part, HIGH),
        None => (part, 0),
    };
    let count = ["x", "xy", "xyz", "xyzw"]
        .iter()
        .position(|names| *names == part)? as u16
        + 1;
    let versions = if direction == "load" {
        load_versions::all()
    } else {
        store_versions::all()
    };
    Some((versions, count | d16 | high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_have_handlers() {
        let fields = |name| handler(name).map(|(_, fields)| fields);
        assert_eq!(fields("buffer_load_format_xyz"), Some(3));
        assert_eq!(fields("tbuffer_store_format_d16_xy"), Some(2 | D16));
        assert_eq!(fields("buffer_store_format_d16_hi_x"), Some(1 | D16 | HIGH));
        assert_eq!(fields("buffer_load_dword"), None);
    }

    #[test]
    fn stores_go_backwards_through_selects() {
        assert_eq!(through_selects(0xf2e, [1, 2, 3, 4]), [3, 2, 1, 4]);
        assert_eq!(through_selects(0, [1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(through_selects(4, [1, 2, 3, 4]), [1, 0, 0, 0]);
    }

    #[test]
    fn selects_and_widths() {
        assert_eq!(selected(5, [7, 8, 9, 10], 1), 8);
        assert_eq!((selected(0, [7; 4], 1), selected(1, [7; 4], 1)), (0, 1));
        assert_eq!(narrow(Number::Unorm, 1f32.to_bits()), 0x3c00);
        assert_eq!(widen(Number::Sint, 0xffff), u32::MAX);
    }
}
