//! MUBUF: loads, stores and atomics through a buffer resource descriptor.

use super::atomic::{global_atomic, registers, Kind, Rmw};
use super::buffer::Resource;
use super::guard::{self, Width};
use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::slot::M0;
use super::sop::slot;
use super::vmem::{load_each, refuse, store_each, vanished, Layout};
use super::wave::Wave;

/// Bits of [`Op::x`] above the 12-bit offset.
pub(crate) mod bits {
    /// The address register holds an index.
    pub(crate) const IDXEN: u64 = 1 << 16;
    /// The address register holds an offset.
    pub(crate) const OFFEN: u64 = 1 << 17;
    /// Loaded data go to LDS.
    pub(crate) const LDS: u64 = 1 << 18;
    /// Bits 20 to 23 and 24 to 26 hold data and number format, instead of the descriptor.
    pub(crate) const TYPED: u64 = 1 << 19;
}

/// The descriptor that the instruction names.
#[inline(always)]
pub(crate) fn resource(wave: &Wave, op: &Op) -> Resource {
    let first = op.f as usize;
    Resource::new([0, 1, 2, 3].map(|i| wave.s[(first + i) & 511]))
}

/// Computes every lane's address and returns the lanes that are inside the buffer.
#[inline(always)]
pub(crate) fn addresses(wave: &mut Wave, op: &Op, resource: &Resource, bytes: u64) -> u64 {
    let (idxen, offen) = (op.x & bits::IDXEN != 0, op.x & bits::OFFEN != 0);
    let immediate = op.x & 0xfff;
    let scalar = u64::from(wave.s[slot(op.c)]);
    let base = resource.base.wrapping_add(scalar);
    // With a stride the last dword of a swizzled lane is far away, but it is the record that counts.
    let mut inside = 0;
    for lane in 0..64 {
        let index = if idxen { wave.row(op.a).0[lane].into() } else { 0 };
        let offset_code = op.a + u16::from(idxen);
        let offset = if offen {
            wave.row(offset_code).0[lane].into()
        } else {
            0
        };
        let index = index + if resource.add_thread_id { lane as u64 } else { 0 };
        let place = resource.offset(index, resource.within(offset + immediate));
        inside |= u64::from(resource.contains(index, place, bytes)) << lane;
        wave.address[lane] = base.wrapping_add(place);
    }
    inside
}

/// The address of lane 0 when 64 lanes lie in consecutive dwords: scratch at a uniform offset.
#[inline(always)]
fn scratch_row(wave: &mut Wave, op: &Op, resource: &Resource, lanes: u64) -> Option<u64> {
    if !(resource.swizzled && resource.add_thread_id && resource.index_stride == 64)
        || op.x & (bits::IDXEN | bits::LDS) != 0
    {
        return None;
    }
    let mut offset = op.x & 0xfff;
    if op.x & bits::OFFEN != 0 {
        wave.refresh_mask(lanes);
        let (row, mask) = (wave.row(op.a), wave.mask());
        let value = row.0[lanes.trailing_zeros() as usize];
        if !super::runs::is_linear(row, mask, value, 0) {
            return None;
        }
        offset = resource.within(offset + u64::from(value));
    }
    if offset & 3 != 0 || !resource.contains(63, 0, 4) {
        return None;
    }
    let scalar = u64::from(wave.s[slot(op.c)]);
    Some(resource.base.wrapping_add(scalar).wrapping_add(offset * 64))
}

/// A buffer load.
#[inline(always)]
fn load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    let (layout, resource) = (Layout(op.e), resource(wave, op));
    if layout.is_dwords() {
        if let Some(start) = scratch_row(wave, op, &resource, lanes) {
            let bytes = 256 * layout.dwords() as u64;
            if wave.env.view.check(start, bytes, false).is_ok() {
                for k in 0..layout.dwords() {
                    if let Err(unmapped) = guard::read(&mut wave.spare[k].0, start + 256 * k as u64) {
                        return vanished(wave, unmapped, false);
                    }
                }
                for k in 0..layout.dwords() {
                    wave.commit(op.d + k as u16, k, lanes);
                }
                return Flow::Next;
            }
        }
    }
    let inside = addresses(wave, op, &resource, layout.bytes());
    if op.x & bits::LDS != 0 {
        return load_to_lds(wave, op, layout, lanes & inside);
    }
    let flow = load_each(wave, op.d, layout, lanes & inside, resource.pitch());
    if lanes & !inside != 0 && flow == Flow::Next {
        for k in 0..layout.dwords() {
            *wave.spare[0] = Row::ZERO;
            if !layout.is_dwords() {
                let old = &wave.v[usize::from(op.d) & 511];
                layout.finish(&mut wave.spare[0], old);
            }
            wave.commit(op.d + k as u16, 0, lanes & !inside);
        }
    }
    flow
}

/// A load whose data go to LDS at M0 plus the immediate, lane by lane.
fn load_to_lds(wave: &mut Wave, op: &Op, layout: Layout, lanes: u64) -> Flow {
    if let Err(flow) = super::vmem::check_lanes(wave, lanes, layout.bytes(), false) {
        return flow;
    }
    let mut row = Row::ZERO;
    if let Err(unmapped) = guard::gather(layout.width(), &mut row.0, &wave.address, lanes, 0) {
        return vanished(wave, unmapped, false);
    }
    layout.finish(&mut row, &Row::ZERO);
    let base = u64::from(wave.s[M0] & 0xffff) + (op.x & 0xfff);
    for lane in 0..64 {
        if lanes >> lane & 1 != 0 {
            wave.env.lds.write32(base + 4 * lane as u64, row.0[lane]);
        }
    }
    Flow::Next
}

/// A buffer store.
#[inline(always)]
fn store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    let (layout, resource) = (Layout(op.e), resource(wave, op));
    if layout.is_dwords() && lanes == !0 {
        if let Some(start) = scratch_row(wave, op, &resource, lanes) {
            let bytes = 256 * layout.dwords() as u64;
            if let Err((address, reason)) = wave.env.view.check(start, bytes, true) {
                return refuse(wave, address, true, reason);
            }
            for k in 0..layout.dwords() {
                let row = wave.row(op.b + k as u16);
                if let Err(unmapped) = guard::write(start + 256 * k as u64, &row.0) {
                    return vanished(wave, unmapped, true);
                }
            }
            return Flow::Next;
        }
    }
    let inside = addresses(wave, op, &resource, layout.bytes());
    store_each(wave, op.b, layout, lanes & inside, resource.pitch())
}

/// `buffer_store_lds_dword`: a dword of LDS at M0 plus the immediate to memory.
#[inline(always)]
fn store_lds<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let resource = resource(wave, op);
    let lanes = lanes & addresses(wave, op, &resource, 4);
    if let Err(flow) = super::vmem::check_lanes(wave, lanes, 4, true) {
        return flow;
    }
    let base = u64::from(wave.s[M0] & 0xffff) + (op.x & 0xfff);
    let mut row = Row::ZERO;
    for (lane, value) in row.0.iter_mut().enumerate() {
        *value = wave.env.lds.read32(base + 4 * lane as u64);
    }
    match guard::scatter(Width::Dword, &row.0, &wave.address, lanes, 0) {
        Ok(()) => Flow::Next,
        Err(unmapped) => vanished(wave, unmapped, true),
    }
}

/// A buffer atomic.
#[inline(always)]
fn atomic<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    let (kind, resource) = (Kind(op.e), resource(wave, op));
    let inside = addresses(wave, op, &resource, u64::from(registers(kind.size())) * 4);
    let flow = global_atomic(wave, kind, lanes & inside, op.b, op.d);
    if kind.returns() && lanes & !inside != 0 && flow == Flow::Next {
        for part in 0..registers(kind.size()) {
            *wave.spare[0] = Row::ZERO;
            wave.commit(op.d + part, 0, lanes & !inside);
        }
    }
    flow
}

versions!(load_versions, load, [], []);
versions!(store_versions, store, [], []);
versions!(store_lds_versions, store_lds, [], []);
versions!(atomic_versions, atomic, [], []);

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str, returns: bool) -> Option<(Versions, u16)> {
    let rest = name.strip_prefix("buffer_")?;
    if rest == "store_lds_dword" {
        return Some((store_lds_versions::all(), 0));
    }
    let (direction, part) = rest.split_once('_')?;
    match direction {
        "load" => Some((load_versions::all(), Layout::parse(part)?.0)),
        "store" => Some((store_versions::all(), Layout::parse(part)?.0)),
        "atomic" => {
            let (operation, size) = Rmw::parse(part)?;
            Some((atomic_versions::all(), Kind::new(operation, size, returns).0))
        }
        _ => None,
    }
}
