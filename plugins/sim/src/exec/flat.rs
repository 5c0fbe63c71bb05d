//! FLAT, GLOBAL and SCRATCH: loads and stores by address.
//!
//! GLOBAL addresses are a 64-bit VGPR pair, or an SGPR pair plus a 32-bit VGPR offset. SCRATCH addresses are
//! offsets into the wave's private memory, which interleaves the lanes dword by dword: dword `n` of lane `l` lies
//! `256 n + 4 l` bytes after FLAT_SCRATCH. FLAT addresses are looked up per lane: two 4 GiB apertures stand
//! for LDS and for private memory, everything else is global.

use super::ds::is_early;
use super::guard::{self, Width};
use super::level::{versions, Host};
use super::memory::View;
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::runs::{join, spread, Miss, Runs};
use super::slot::FLAT_SCRATCH;
use super::sop::slot;
use super::vmem::{commit_loaded, load_bytewise, load_each, store_bytewise, store_each, vanished, Layout};
use super::wave::Wave;

/// [`Op::c`] of an instruction without a scalar address, [`Op::a`] of one without a vector address.
pub(crate) const NO_ADDRESS: u16 = u16::MAX;

/// The lane address without the immediate: base plus the low row, and the high row if there is one.
#[inline(always)]
pub(super) fn global_base(wave: &Wave, op: &Op) -> u64 {
    if op.c == NO_ADDRESS {
        op.x
    } else {
        wave.s64(slot(op.c)).wrapping_add(op.x)
    }
}

/// Writes every lane's global address to [`Wave::address`].
#[inline(always)]
pub(crate) fn global_addresses(wave: &mut Wave, op: &Op) {
    let base = global_base(wave, op);
    let low = &wave.v[usize::from(op.a) & 511];
    if op.c == NO_ADDRESS {
        let high = &wave.v[usize::from(op.a + 1) & 511];
        for i in 0..64 {
            wave.address[i] = base.wrapping_add(u64::from(low.0[i]) | u64::from(high.0[i]) << 32);
        }
    } else {
        for i in 0..64 {
            wave.address[i] = base.wrapping_add(low.0[i].into());
        }
    }
}

/// Writes every lane's private address, given its offset in the lane, to [`Wave::address`]. Returns
/// whether all lanes of `lanes` are dword-aligned.
#[inline(always)]
pub(crate) fn private_addresses(wave: &mut Wave, lanes: u64, offset: impl Fn(&Wave, usize) -> u32) -> bool {
    let base = wave.s64(FLAT_SCRATCH);
    let mut aligned = true;
    for lane in 0..64 {
        let offset = offset(wave, lane);
        aligned &= offset & 3 == 0 || lanes >> lane & 1 == 0;
        wave.address[lane] = private_address(base, offset, lane);
    }
    aligned
}

/// Address of a byte of a lane's private memory.
#[inline(always)]
pub(crate) fn private_address(base: u64, offset: u32, lane: usize) -> u64 {
    base.wrapping_add(u64::from(offset & !3) * 64 + 4 * lane as u64 + u64::from(offset & 3))
}

/// The high dword of the addresses of the lanes in `lanes`, if it is one for all; an offset has none.
#[inline(always)]
fn common_top<H: Host>(wave: &Wave, op: &Op, lanes: u64) -> Option<u32> {
    if op.c != NO_ADDRESS {
        return Some(0);
    }
    let high = wave.row(op.a + 1);
    let top = high.0[lanes.trailing_zeros() as usize & 63];
    (H::equal(high, top) & lanes == lanes).then_some(top)
}

/// Where the runs of an access are, and what may be accessed.
struct Place<'a> {
    low: &'a Row,
    top: u32,
    base: u64,
    view: &'a mut View,
}

impl Place<'_> {
    /// The address of `bytes` from a lane's on, if they may be accessed and the low dword does not run over, as it does
    /// not in a row.
    #[inline(always)]
    fn address(&mut self, lane: usize, bytes: usize, write: bool) -> Result<u64, Miss> {
        let low = self.low.0[lane & 63];
        if u64::from(low) + bytes as u64 > 1 << 32 {
            return Err(Miss::NotByRuns);
        }
        let address = self.base.wrapping_add(u64::from(low) | u64::from(self.top) << 32);
        let checked = self.view.check(address, bytes as u64, write);
        checked.map(|()| address).map_err(|_| Miss::NotByRuns)
    }

    #[inline(always)]
    fn read(&mut self, lane: usize, to: &mut [u32]) -> Result<(), Miss> {
        let address = self.address(lane, size_of_val(to), false)?;
        guard::read(to, address).map_err(Miss::Gone)
    }

    #[inline(always)]
    fn read_bytes(&mut self, lane: usize, to: &mut [u8]) -> Result<(), Miss> {
        let address = self.address(lane, to.len(), false)?;
        guard::read_bytes(to, address).map_err(Miss::Gone)
    }

    #[inline(always)]
    fn write(&mut self, lane: usize, from: &[u32]) -> Result<(), Miss> {
        let address = self.address(lane, size_of_val(from), true)?;
        guard::write(address, from).map_err(Miss::Gone)
    }

    #[inline(always)]
    fn write_bytes(&mut self, lane: usize, from: &[u8]) -> Result<(), Miss> {
        let address = self.address(lane, from.len(), true)?;
        guard::write_bytes(address, from).map_err(Miss::Gone)
    }
}

/// Loads into spare rows by runs.
#[inline(always)]
fn load_runs<H: Host>(wave: &mut Wave, op: &Op, layout: Layout, lanes: u64) -> Result<(), Miss> {
    let runs = Runs::find::<H>(wave, op.a, lanes, layout.bytes() as u32).ok_or(Miss::NotByRuns)?;
    let top = common_top::<H>(wave, op, lanes).ok_or(Miss::NotByRuns)?;
    let base = global_base(wave, op);
    let Wave {
        v,
        spare,
        env,
        elements,
        ..
    } = wave;
    let low = &v[usize::from(op.a) & 511];
    let view = &mut env.view;
    let mut place = Place { low, top, base, view };
    match layout.dwords() {
        1 if layout.is_dwords() => runs.load(&mut spare[0].0, 1, |lane, to| place.read(lane, to)),
        1 => {
            let mut bytes = [0; 128];
            let size = layout.bytes() as usize;
            runs.load(&mut bytes, size, |lane, to| place.read_bytes(lane, to))?;
            layout.widen(&bytes, &mut spare[0]);
            Ok(())
        }
        dwords => {
            runs.load(&mut elements[..], dwords, |lane, to| place.read(lane, to))?;
            spread(dwords, elements, &mut spare[..]);
            Ok(())
        }
    }
}

/// Stores by runs.
#[inline(always)]
fn store_runs<H: Host>(wave: &mut Wave, op: &Op, layout: Layout, lanes: u64) -> Result<(), Miss> {
    let runs = Runs::to_store::<H>(wave, op.a, lanes, layout.bytes() as u32).ok_or(Miss::NotByRuns)?;
    let top = common_top::<H>(wave, op, lanes).ok_or(Miss::NotByRuns)?;
    let base = global_base(wave, op);
    let Wave { v, env, elements, .. } = wave;
    let low = &v[usize::from(op.a) & 511];
    let view = &mut env.view;
    let mut place = Place { low, top, base, view };
    let data = |k: u16| &*v[usize::from(op.b + k) & 511];
    match layout.dwords() {
        1 if layout.is_dwords() => runs.store(&data(0).0, 1, |lane, from| place.write(lane, from)),
        1 => {
            let mut bytes = [0; 128];
            let size = layout.bytes() as usize;
            layout.narrow(data(0), &mut bytes);
            runs.store(&bytes, size, |lane, from| place.write_bytes(lane, from))
        }
        dwords => {
            join(dwords, elements, [data(0), data(1), data(2), data(3)]);
            runs.store(&elements[..], dwords, |lane, from| place.write(lane, from))
        }
    }
}

/// A global load of any layout.
#[inline(always)]
fn global_load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    load_global::<H>(wave, op, Layout(op.e))
}

/// A global load of a dword.
#[inline(always)]
fn global_load_dword<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    load_global::<H>(wave, op, Layout::DWORD)
}

/// A global store of any layout.
#[inline(always)]
fn global_store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    store_global::<H>(wave, op, Layout(op.e))
}

/// A global store of a dword.
#[inline(always)]
fn global_store_dword<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    store_global::<H>(wave, op, Layout::DWORD)
}

/// Loads from global memory.
#[inline(always)]
fn load_global<H: Host>(wave: &mut Wave, op: &Op, layout: Layout) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    match load_runs::<H>(wave, op, layout, lanes) {
        Ok(()) => {
            commit_loaded(wave, op.d, layout, lanes);
            Flow::Next
        }
        Err(Miss::Gone(unmapped)) => vanished(wave, unmapped, false),
        Err(Miss::NotByRuns) => {
            global_addresses(wave, op);
            load_each(wave, op.d, layout, lanes, 4)
        }
    }
}

/// Stores to global memory.
#[inline(always)]
fn store_global<H: Host>(wave: &mut Wave, op: &Op, layout: Layout) -> Flow {
    let lanes = wave.exec();
    if lanes == 0 {
        return Flow::Next;
    }
    match store_runs::<H>(wave, op, layout, lanes) {
        Ok(()) => Flow::Next,
        Err(Miss::Gone(unmapped)) => vanished(wave, unmapped, true),
        Err(Miss::NotByRuns) => {
            global_addresses(wave, op);
            store_each(wave, op.b, layout, lanes, 4)
        }
    }
}

/// Lanes by what their flat address means.
pub(crate) struct Segments {
    /// Global memory.
    pub(crate) global: u64,
    /// LDS.
    pub(crate) shared: u64,
    /// Private memory.
    pub(crate) private: u64,
}

/// Sorts lanes by aperture.
#[inline(always)]
pub(crate) fn segments(wave: &Wave, op: &Op, lanes: u64) -> Segments {
    let (shared_top, private_top) = (
        (wave.env.shared_base >> 32) as u32,
        (wave.env.private_base >> 32) as u32,
    );
    let high = wave.row(op.a + 1);
    let (mut any, mut shared, mut private) = (0, 0u64, 0u64);
    for lane in &high.0 {
        any |= u32::from(*lane == shared_top) | u32::from(*lane == private_top);
    }
    if any != 0 {
        for (lane, high) in high.0.iter().enumerate() {
            shared |= u64::from(*high == shared_top) << lane;
            private |= u64::from(*high == private_top) << lane;
        }
    }
    Segments {
        global: lanes & !shared & !private,
        shared: lanes & shared,
        private: lanes & private,
    }
}

/// A flat load.
#[inline(always)]
fn flat_load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let Segments {
        global,
        shared,
        private,
    } = segments(wave, op, lanes);
    if global == lanes {
        return global_load::<H>(wave, op);
    }
    if global != 0 {
        global_addresses(wave, op);
        if let flow @ Flow::Fault = load_each(wave, op.d, Layout(op.e), global, 4) {
            return flow;
        }
    }
    if private != 0 {
        if let flow @ Flow::Fault = private_load(wave, op, private, |wave, lane| wave.row(op.a).0[lane]) {
            return flow;
        }
    }
    if shared != 0 {
        shared_load(wave, op, shared);
    }
    Flow::Next
}

/// A flat store.
#[inline(always)]
fn flat_store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let Segments {
        global,
        shared,
        private,
    } = segments(wave, op, lanes);
    if global == lanes {
        return global_store::<H>(wave, op);
    }
    if is_early(wave, shared) {
        return Flow::Lead;
    }
    if global != 0 {
        global_addresses(wave, op);
        if let flow @ Flow::Fault = store_each(wave, op.b, Layout(op.e), global, 4) {
            return flow;
        }
    }
    if private != 0 {
        if let flow @ Flow::Fault = private_store(wave, op, private, |wave, lane| wave.row(op.a).0[lane]) {
            return flow;
        }
    }
    if shared != 0 {
        shared_store(wave, op, shared);
    }
    Flow::Next
}

/// The offset that a SCRATCH instruction's lane accesses, without the immediate.
#[inline(always)]
fn scratch_offset(wave: &Wave, op: &Op, lane: usize) -> u32 {
    let vector = if op.a == NO_ADDRESS {
        0
    } else {
        wave.row(op.a).0[lane]
    };
    let scalar = if op.c == NO_ADDRESS { 0 } else { wave.s[slot(op.c)] };
    vector.wrapping_add(scalar)
}

/// A scratch load.
#[inline(always)]
fn scratch_load<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    private_load(wave, op, lanes, |wave, lane| scratch_offset(wave, op, lane))
}

/// A scratch store.
#[inline(always)]
fn scratch_store<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    private_store(wave, op, lanes, |wave, lane| scratch_offset(wave, op, lane))
}

/// Loads from private memory at `offset` plus the immediate.
#[inline(always)]
fn private_load(wave: &mut Wave, op: &Op, lanes: u64, offset: impl Fn(&Wave, usize) -> u32) -> Flow {
    let layout = Layout(op.e);
    let aligned = private_addresses(wave, lanes, |wave, lane| {
        offset(wave, lane).wrapping_add(op.x as u32)
    });
    if aligned || layout.width() == Width::Byte {
        return load_each(wave, op.d, layout, lanes, 256);
    }
    // Elements that cross a dword of the interleaved memory: byte by byte.
    load_bytewise(wave, op.d, layout, lanes, |wave, byte| {
        private_addresses(wave, lanes, |wave, lane| {
            offset(wave, lane).wrapping_add(op.x as u32).wrapping_add(byte)
        });
        !0
    })
}

/// Stores to private memory at `offset` plus the immediate.
#[inline(always)]
fn private_store(wave: &mut Wave, op: &Op, lanes: u64, offset: impl Fn(&Wave, usize) -> u32) -> Flow {
    let layout = Layout(op.e);
    let aligned = private_addresses(wave, lanes, |wave, lane| {
        offset(wave, lane).wrapping_add(op.x as u32)
    });
    if aligned || layout.width() == Width::Byte {
        return store_each(wave, op.b, layout, lanes, 256);
    }
    store_bytewise(wave, op.b, layout, lanes, |wave, byte| {
        private_addresses(wave, lanes, |wave, lane| {
            offset(wave, lane).wrapping_add(op.x as u32).wrapping_add(byte)
        });
        !0
    })
}

/// Loads from LDS by flat address.
fn shared_load(wave: &mut Wave, op: &Op, lanes: u64) {
    let layout = Layout(op.e);
    for k in 0..layout.dwords() {
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            let address = u64::from(wave.row(op.a).0[lane].wrapping_add(op.x as u32)) + 4 * k as u64;
            wave.spare[k].0[lane] = match layout.width() {
                Width::Byte => wave.env.lds.read8(address),
                Width::Short => wave.env.lds.read16(address),
                Width::Dword => wave.env.lds.read32(address),
            };
        }
    }
    commit_loaded(wave, op.d, layout, lanes);
}

/// Stores to LDS by flat address.
fn shared_store(wave: &mut Wave, op: &Op, lanes: u64) {
    let layout = Layout(op.e);
    for k in 0..layout.dwords() {
        let data = layout.stored(wave.row(op.b + k as u16));
        for lane in 0..64 {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let address = u64::from(wave.row(op.a).0[lane].wrapping_add(op.x as u32)) + 4 * k as u64;
            match layout.width() {
                Width::Byte => wave.env.lds.write8(address, data.0[lane]),
                Width::Short => wave.env.lds.write16(address, data.0[lane]),
                Width::Dword => wave.env.lds.write32(address, data.0[lane]),
            }
        }
    }
}

versions!(global_load_versions, global_load, [], []);
versions!(global_load_dword_versions, global_load_dword, [], []);
versions!(global_store_versions, global_store, [], []);
versions!(global_store_dword_versions, global_store_dword, [], []);
versions!(flat_load_versions, flat_load, [], []);
versions!(flat_store_versions, flat_store, [], []);
versions!(scratch_load_versions, scratch_load, [], []);
versions!(scratch_store_versions, scratch_store, [], []);

/// The handler and layout of a load or store, by mnemonic.
pub(crate) fn handler(name: &str) -> Option<(Versions, Layout)> {
    let (segment, rest) = name.split_once('_')?;
    let (direction, part) = rest.split_once('_')?;
    let layout = Layout::parse(part)?;
    let versions = match (segment, direction) {
        ("global", "load") if layout == Layout::DWORD => global_load_dword_versions::all(),
        ("global", "store") if layout == Layout::DWORD => global_store_dword_versions::all(),
        ("global", "load") => global_load_versions::all(),
        ("global", "store") => global_store_versions::all(),
        ("flat", "load") => flat_load_versions::all(),
        ("flat", "store") => flat_store_versions::all(),
        ("scratch", "load") => scratch_load_versions::all(),
        ("scratch", "store") => scratch_store_versions::all(),
        _ => return None,
    };
    Some((versions, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_memory_interleaves_lanes_by_dword() {
        assert_eq!(private_address(0x1000, 0, 3), 0x100c);
        assert_eq!(private_address(0x1000, 4, 3), 0x110c);
        assert_eq!(private_address(0x1000, 7, 0), 0x1103);
    }

    #[test]
    fn mnemonics_have_handlers() {
        assert!(handler("global_load_dwordx4").is_some());
        assert!(handler("scratch_store_byte_d16_hi").is_some());
        assert!(handler("global_atomic_add").is_none());
    }
}
