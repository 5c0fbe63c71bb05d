//! MUBUF: loads, stores and atomics through a buffer resource descriptor.

use super::atomic::{global_atomic, registers, Kind, Rmw};
use super::buffer::{within, Check, Resource};
use super::ds::is_early;
use super::guard::{self, Width};
use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::slot::M0;
use super::sop::slot;
use super::vmem::{load_bytewise, load_each, refuse, store_bytewise, store_each, vanished, Layout};
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

/// Computes every lane's address and returns the lanes whose `bytes` are all inside the buffer.
#[inline(always)]
pub(crate) fn addresses(wave: &mut Wave, op: &Op, resource: &Resource, bytes: u64) -> u64 {
    place(wave, op, resource, 0);
    inside(wave, op, resource, bytes)
}

/// Writes the address of byte `byte` of every lane's access to [`Wave::address`].
#[inline(always)]
pub(crate) fn place(wave: &mut Wave, op: &Op, resource: &Resource, byte: u32) {
    let (idxen, offen) = (op.x & bits::IDXEN != 0, op.x & bits::OFFEN != 0);
    let immediate = (op.x & 0xfff) + u64::from(byte);
    let scalar = u64::from(wave.s[slot(op.c)]);
    let base = resource.base.wrapping_add(scalar);
    for lane in 0..64 {
        let index = if idxen { wave.row(op.a).0[lane].into() } else { 0 };
        let offset_code = op.a + u16::from(idxen);
        let offset = if offen {
            wave.row(offset_code).0[lane].into()
        } else {
            0
        };
        let index = index + if resource.add_thread_id { lane as u64 } else { 0 };
        let place = resource.offset(index, within(offset + immediate));
        wave.address[lane] = base.wrapping_add(place);
    }
}

/// Goes to byte `byte` of every lane's access, and returns the lanes that have it inside.
#[inline(always)]
fn bytes_inside(wave: &mut Wave, op: &Op, resource: &Resource, byte: u32) -> u64 {
    place(wave, op, resource, byte);
    inside(wave, op, resource, 1)
}

/// Whether a lane's bytes, at [`Wave::address`], may cross a dword of an interleaved buffer: the next byte is then a lane's own,
/// not the neighbour's. Compilers count on it, for they access unaligned private memory in one piece.
#[inline(always)]
fn crosses_dwords(wave: &Wave, op: &Op, resource: &Resource, layout: Layout, lanes: u64) -> bool {
    if !resource.swizzled || layout.width() == Width::Byte {
        return false;
    }
    let start = resource.base.wrapping_add(wave.s[slot(op.c)].into());
    let aligned = |address: &u64| address.wrapping_sub(start) & 3 == 0;
    (0..64).any(|lane| lanes >> lane & 1 != 0 && !aligned(&wave.address[lane]))
}

/// The lanes whose first `bytes` are inside the buffer, when [`addresses`] has been there.
#[inline(always)]
fn inside(wave: &Wave, op: &Op, resource: &Resource, bytes: u64) -> u64 {
    match resource.check(op.x & bits::IDXEN != 0) {
        Check::Never => !0,
        Check::Record => {
            let row = wave.row(op.a);
            lanes_where(|lane| u64::from(row.0[lane]) < resource.records)
        }
        Check::Byte => {
            lanes_where(|lane| wave.address[lane].wrapping_sub(resource.base) + bytes <= resource.records)
        }
    }
}

#[inline(always)]
fn lanes_where(is_so: impl Fn(usize) -> bool) -> u64 {
    (0..64).fold(0, |lanes, lane| lanes | u64::from(is_so(lane)) << lane)
}

/// Goes through the dwords of an access that some lanes have a part of inside: calls `access` with the number of each, and the
/// lanes of `outside` that have it inside, with their addresses. An access that is not checked by bytes has all inside or none.
fn each_dword(
    wave: &mut Wave,
    op: &Op,
    resource: &Resource,
    (outside, dwords): (u64, usize),
    access: impl Fn(&mut Wave, u16, u64) -> Flow,
) -> Flow {
    if outside == 0 || dwords == 1 || resource.check(op.x & bits::IDXEN != 0) != Check::Byte {
        return Flow::Next;
    }
    let pitch = resource.pitch();
    for k in 0..dwords {
        let there = outside & inside(wave, op, resource, 4);
        let flow = access(wave, k as u16, there);
        if flow != Flow::Next {
            return flow;
        }
        for address in wave.address.iter_mut() {
            *address = address.wrapping_add(pitch);
        }
    }
    Flow::Next
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
        offset = within(offset + u64::from(value));
    }
    if offset & 3 != 0 {
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
        return load_to_lds(wave, op, layout, lanes, inside);
    }
    if crosses_dwords(wave, op, &resource, layout, lanes) {
        return load_bytewise(wave, op.d, layout, lanes, |wave, byte| {
            bytes_inside(wave, op, &resource, byte)
        });
    }
    let flow = load_each(wave, op.d, layout, lanes & inside, resource.pitch());
    let outside = lanes & !inside;
    if outside == 0 || flow != Flow::Next {
        return flow;
    }
    for k in 0..layout.dwords() {
        *wave.spare[0] = Row::ZERO;
        if !layout.is_dwords() {
            let old = &wave.v[usize::from(op.d) & 511];
            layout.finish(&mut wave.spare[0], old);
        }
        wave.commit(op.d + k as u16, 0, outside);
    }
    each_dword(
        wave,
        op,
        &resource,
        (outside, layout.dwords()),
        |wave, k, there| load_each(wave, op.d + k, Layout::DWORD, there, 4),
    )
}

/// A load whose data go to LDS at M0 plus the immediate, lane by lane; zeroes from outside the buffer.
fn load_to_lds(wave: &mut Wave, op: &Op, layout: Layout, lanes: u64, inside: u64) -> Flow {
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    if let Err(flow) = super::vmem::check_lanes(wave, lanes & inside, layout.bytes(), false) {
        return flow;
    }
    let mut row = Row::ZERO;
    if let Err(unmapped) = guard::gather(layout.width(), &mut row.0, &wave.address, lanes & inside, 0) {
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
    if crosses_dwords(wave, op, &resource, layout, lanes) {
        return store_bytewise(wave, op.b, layout, lanes, |wave, byte| {
            bytes_inside(wave, op, &resource, byte)
        });
    }
    let flow = store_each(wave, op.b, layout, lanes & inside, resource.pitch());
    let outside = lanes & !inside;
    if flow != Flow::Next {
        return flow;
    }
    each_dword(
        wave,
        op,
        &resource,
        (outside, layout.dwords()),
        |wave, k, there| store_each(wave, op.b + k, Layout::DWORD, there, 4),
    )
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
