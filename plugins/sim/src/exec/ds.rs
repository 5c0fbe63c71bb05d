//! DS: the local data share, and the lane permutations that go through its crossbar.
//!
//! Single-address instructions add a 16-bit offset to the address; two-address ones have two 8-bit offsets
//! in units of the element, or of 64 elements. The sum has 32 bits, so a negative address and an offset can meet inside
//! (compilers fold `array[N - i]` this way). GFX9 needs no M0 for LDS bounds.

use super::atomic::{lane_value, registers, Kind, Rmw};
use super::flat_atomic::lds_atomic;
use super::guard::{Size, Width};
use super::level::{versions, Host};
use super::op::{Flow, Op, Versions};
use super::row::Row;
use super::runs::{join, spread, Miss, Runs};
use super::slot::M0;
use super::vmem::Layout;
use super::wave::Wave;

/// Byte address of a lane with an offset.
#[inline(always)]
fn address_of(wave: &Wave, op: &Op, lane: usize, offset: u64) -> u64 {
    wave.row(op.a).0[lane].wrapping_add(offset as u32).into()
}

/// Fills spare rows by runs: for each of some offsets, the `dwords` of every lane's element. Answers whether that was
/// possible; if not, some rows may have been filled.
#[inline(always)]
fn read_runs<H: Host>(wave: &mut Wave, op: &Op, lanes: u64, dwords: usize, offsets: &[u64]) -> bool {
    if lanes == 0 {
        return false;
    }
    let Some(runs) = Runs::find::<H>(wave, op.a, lanes, 4 * dwords as u32) else {
        return false;
    };
    let Wave {
        v,
        spare,
        env,
        elements,
        ..
    } = wave;
    let low = &v[usize::from(op.a) & 511];
    for (n, offset) in offsets.iter().enumerate() {
        let read = |lane: usize, to: &mut [u32]| {
            let address = low.0[lane].wrapping_add(*offset as u32);
            env.lds.read(address, to).ok_or(Miss::NotByRuns)
        };
        let rows = &mut spare[n * dwords..];
        let done = if dwords == 1 {
            runs.load(&mut rows[0].0, 1, read)
        } else {
            let done = runs.load(&mut elements[..], dwords, read);
            spread(dwords, elements, rows);
            done
        };
        if done.is_err() {
            return false;
        }
    }
    true
}

/// Writes by runs the elements of `dwords` in the registers from `code` on. Answers whether that was possible; if not,
/// some may have been written.
#[inline(always)]
fn write_runs<H: Host>(wave: &mut Wave, op: &Op, lanes: u64, code: u16, dwords: usize, offset: u64) -> bool {
    if lanes == 0 {
        return false;
    }
    let Some(runs) = Runs::to_store::<H>(wave, op.a, lanes, 4 * dwords as u32) else {
        return false;
    };
    let Wave { v, env, elements, .. } = wave;
    let low = &v[usize::from(op.a) & 511];
    let write = |lane: usize, from: &[u32]| {
        let address = low.0[lane].wrapping_add(offset as u32);
        env.lds.write(address, from).ok_or(Miss::NotByRuns)
    };
    let data = |k: u16| &*v[usize::from(code + k) & 511];
    if dwords == 1 {
        runs.store(&data(0).0, 1, write).is_ok()
    } else {
        join(dwords, elements, [data(0), data(1), data(2), data(3)]);
        runs.store(&elements[..], dwords, write).is_ok()
    }
}

/// Fills a spare row from LDS, one element of `width` per lane at its address plus `offset`.
#[inline(always)]
fn read_row(wave: &mut Wave, op: &Op, spare: usize, width: Width, offset: u64) {
    let mut rest = wave.exec();
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize & 63;
        rest &= rest - 1;
        let address = address_of(wave, op, lane, offset);
        wave.spare[spare].0[lane] = match width {
            Width::Byte => wave.env.lds.read8(address),
            Width::Short => wave.env.lds.read16(address),
            Width::Dword => wave.env.lds.read32(address),
        };
    }
}

/// `ds_read`.
#[inline(always)]
fn read<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let layout = Layout(op.e);
    if !(layout.is_dwords() && read_runs::<H>(wave, op, lanes, layout.dwords(), &[op.x])) {
        for k in 0..layout.dwords() {
            read_row(wave, op, k, layout.width(), op.x + 4 * k as u64);
        }
    }
    super::vmem::commit_loaded(wave, op.d, layout, lanes);
    Flow::Next
}

/// Whether a write waits until the other waves of the work-group have come as far. The hardware runs them side by side:
/// what one of them reads soon after a barrier it has before another gets to its next write, and programs that keep
/// a value for all waves in LDS leave out the barrier between the two.
#[inline(always)]
pub(super) fn is_early(wave: &Wave, lanes: u64) -> bool {
    wave.leads && lanes != 0
}

/// `ds_write`.
#[inline(always)]
fn write<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let layout = Layout(op.e);
    if layout.is_dwords() && write_runs::<H>(wave, op, lanes, op.b, layout.dwords(), op.x) {
        return Flow::Next;
    }
    for k in 0..layout.dwords() {
        let data = layout.stored(wave.row(op.b + k as u16));
        write_lanes(wave, op, &data, lanes, layout.width(), op.x + 4 * k as u64);
    }
    Flow::Next
}

/// Writes one element of `width` per lane at its address plus `offset`.
#[inline(always)]
fn write_lanes(wave: &mut Wave, op: &Op, data: &Row, lanes: u64, width: Width, offset: u64) {
    let mut rest = lanes;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize & 63;
        rest &= rest - 1;
        let address = address_of(wave, op, lane, offset);
        match width {
            Width::Byte => wave.env.lds.write8(address, data.0[lane]),
            Width::Short => wave.env.lds.write16(address, data.0[lane]),
            Width::Dword => wave.env.lds.write32(address, data.0[lane]),
        }
    }
}

/// The two byte offsets of a two-address instruction. [`Op::e`]: bit 0 says 64-bit elements, bit 1 says
/// units of 64 elements.
#[inline(always)]
fn two_offsets(op: &Op) -> [u64; 2] {
    let unit = (4 << (op.e & 1)) * if op.e & 2 != 0 { 64 } else { 1 };
    [(op.x & 255) * unit, (op.x >> 8 & 255) * unit]
}

/// `ds_read2`.
#[inline(always)]
fn read2<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let dwords = 1 + usize::from(op.e & 1);
    let offsets = two_offsets(op);
    if !read_runs::<H>(wave, op, lanes, dwords, &offsets) {
        for (n, offset) in offsets.into_iter().enumerate() {
            for k in 0..dwords {
                read_row(wave, op, n * dwords + k, Width::Dword, offset + 4 * k as u64);
            }
        }
    }
    for k in 0..2 * dwords {
        wave.commit(op.d + k as u16, k, lanes);
    }
    Flow::Next
}

/// `ds_write2`.
#[inline(always)]
fn write2<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let dwords = 1 + (op.e & 1);
    for (code, offset) in [op.b, op.c].into_iter().zip(two_offsets(op)) {
        if write_runs::<H>(wave, op, lanes, code, dwords.into(), offset) {
            continue;
        }
        for k in 0..dwords {
            let data = *wave.row(code + k);
            write_lanes(wave, op, &data, lanes, Width::Dword, offset + 4 * u64::from(k));
        }
    }
    Flow::Next
}

/// `ds_wrxchg2`: two exchanges, both old values returned.
#[inline(always)]
fn exchange2<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let size = if op.e & 1 != 0 { Size::B64 } else { Size::B32 };
    let dwords = usize::from(registers(size));
    let offsets = two_offsets(op);
    for lane in 0..64 {
        if lanes >> lane & 1 == 0 {
            continue;
        }
        for (n, code) in [op.b, op.c].into_iter().enumerate() {
            let value = lane_value(wave, code, size, lane);
            let address = address_of(wave, op, lane, offsets[n]);
            let old = lds_atomic(wave, Rmw::Swap, size, address, value, 0);
            wave.spare[n * dwords].0[lane] = old as u32;
            if dwords == 2 {
                wave.spare[n * dwords + 1].0[lane] = (old >> 32) as u32;
            }
        }
    }
    for k in 0..2 * dwords {
        wave.commit(op.d + k as u16, k, lanes);
    }
    Flow::Next
}

/// The atomics. DS compares with its first data and stores its second.
#[inline(always)]
fn atomic<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let kind = Kind(op.e);
    let (operation, size) = (kind.operation(), kind.size());
    let compares = matches!(operation, Rmw::CompareSwap | Rmw::FloatCompareSwap);
    let mut rest = lanes;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize & 63;
        rest &= rest - 1;
        let (first, second) = (
            lane_value(wave, op.b, size, lane),
            lane_value(wave, op.c, size, lane),
        );
        let (data, second) = if compares {
            (second, first)
        } else {
            (first, second)
        };
        let address = address_of(wave, op, lane, op.x);
        let old = lds_atomic(wave, operation, size, address, data, second);
        wave.spare[0].0[lane] = old as u32;
        wave.spare[1].0[lane] = (old >> 32) as u32;
    }
    if kind.returns() {
        for part in 0..registers(size) {
            wave.commit(op.d + part, part.into(), lanes);
        }
    }
    Flow::Next
}

/// The `src2` forms: the second operand comes from LDS at a distance that the offsets give.
#[inline(always)]
fn source2<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let kind = Kind(op.e);
    for lane in 0..64 {
        if lanes >> lane & 1 == 0 {
            continue;
        }
        let a = wave.row(op.a).0[lane];
        // 16-bit signed dword distance: in the address's top half, or in the offset field.
        let distance = if op.x >> 15 & 1 != 0 {
            (a as i32) >> 17
        } else {
            (op.x as i32) << 17 >> 17
        };
        let target = u64::from(a & 0xffff);
        let source = target.wrapping_add_signed(4 * i64::from(distance));
        let data = match kind.size() {
            Size::B32 => wave.env.lds.read32(source).into(),
            Size::B64 => wave.env.lds.read64(source),
        };
        lds_atomic(wave, kind.operation(), kind.size(), target, data, 0);
    }
    Flow::Next
}

/// Lane that `ds_swizzle` reads for `lane`.
fn swizzle_source(offset: u64, lane: usize) -> usize {
    let (group, within) = (lane & 32, lane & 31);
    let field = |at: u32| (offset >> at & 31) as usize;
    if offset >= 0xe000 {
        let mask = field(0);
        let reversed = (within as u8).reverse_bits() as usize >> 3;
        group | reversed >> mask.count_ones() & 31 | within & mask
    } else if offset >= 0xc000 {
        let mask = field(0);
        let amount = if offset >> 10 & 1 != 0 {
            32 - field(5)
        } else {
            field(5)
        };
        group | within & mask | (within + amount) & !mask & 31
    } else if offset & 0x8000 != 0 {
        lane & !3 | (offset >> (2 * (lane & 3)) & 3) as usize
    } else {
        group | ((within & field(0)) | field(5)) ^ field(10)
    }
}

/// `ds_swizzle_b32`.
#[inline(always)]
fn swizzle<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    for lane in 0..64 {
        let source = swizzle_source(op.x, lane) & 63;
        wave.spare[0].0[lane] = if lanes >> source & 1 != 0 {
            wave.row(op.a).0[source]
        } else {
            0
        };
    }
    wave.commit(op.d, 0, lanes);
    Flow::Next
}

/// `ds_permute_b32`: lanes push their data to the lane they name.
#[inline(always)]
fn permute<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    *wave.spare[0] = Row::ZERO;
    for lane in 0..64 {
        if lanes >> lane & 1 != 0 {
            let target = (wave.row(op.a).0[lane].wrapping_add(op.x as u32) >> 2 & 63) as usize;
            wave.spare[0].0[target] = wave.row(op.b).0[lane];
        }
    }
    wave.commit(op.d, 0, lanes);
    Flow::Next
}

/// `ds_bpermute_b32`: lanes pull from the lane they name.
#[inline(always)]
fn pull<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    wave.refresh_mask(lanes);
    let (addresses, data, mask) = (
        &wave.v[usize::from(op.a) & 511],
        &wave.v[usize::from(op.b) & 511],
        wave.mask(),
    );
    let mut out = Row::ZERO;
    for lane in 0..64 {
        let source = (addresses.0[lane].wrapping_add(op.x as u32) >> 2 & 63) as usize;
        out.0[lane] = data.0[source] & mask.0[source];
    }
    *wave.spare[0] = out;
    wave.commit(op.d, 0, lanes);
    Flow::Next
}

/// `ds_read_addtid_b32`: LDS at M0 plus four times the lane.
#[inline(always)]
fn read_by_lane<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    let start = u64::from(wave.s[M0] & 0xffff) + op.x;
    for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
        wave.spare[0].0[lane] = wave.env.lds.read32(start + 4 * lane as u64);
    }
    wave.commit(op.d, 0, lanes);
    Flow::Next
}

/// `ds_write_addtid_b32`.
#[inline(always)]
fn write_by_lane<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let start = u64::from(wave.s[M0] & 0xffff) + op.x;
    for lane in 0..64 {
        if lanes >> lane & 1 != 0 {
            let value = wave.row(op.b).0[lane];
            wave.env.lds.write32(start + 4 * lane as u64, value);
        }
    }
    Flow::Next
}

/// `ds_append` and `ds_consume` (`e` is 1): a counter at M0 moves by the number of active lanes.
#[inline(always)]
fn count<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = wave.exec();
    if is_early(wave, lanes) {
        return Flow::Lead;
    }
    let address = u64::from(wave.s[M0] & 0xffff) + op.x;
    let old = wave.env.lds.read32(address);
    let active = lanes.count_ones();
    let new = if op.e & 1 != 0 {
        old.wrapping_sub(active)
    } else {
        old.wrapping_add(active)
    };
    wave.env.lds.write32(address, new);
    *wave.spare[0] = Row::splat(old);
    wave.commit(op.d, 0, lanes);
    Flow::Next
}

versions!(read_versions, read, [], []);
versions!(write_versions, write, [], []);
versions!(read2_versions, read2, [], []);
versions!(write2_versions, write2, [], []);
versions!(exchange2_versions, exchange2, [], []);
versions!(atomic_versions, atomic, [], []);
versions!(source2_versions, source2, [], []);
versions!(swizzle_versions, swizzle, [], []);
versions!(permute_versions, permute, [], []);
versions!(pull_versions, pull, [], []);
versions!(read_by_lane_versions, read_by_lane, [], []);
versions!(write_by_lane_versions, write_by_lane, [], []);
versions!(count_versions, count, [], []);

/// The layout that a DS type suffix names.
fn layout(suffix: &str) -> Option<Layout> {
    Layout::parse(match suffix {
        "b8" | "u8" => "ubyte",
        "i8" => "sbyte",
        "b16" | "u16" => "ushort",
        "i16" => "sshort",
        "b32" => "dword",
        "b64" => "dwordx2",
        "b96" => "dwordx3",
        "b128" => "dwordx4",
        "u8_d16" => "ubyte_d16",
        "u8_d16_hi" | "b8_d16_hi" => "ubyte_d16_hi",
        "i8_d16" => "sbyte_d16",
        "i8_d16_hi" => "sbyte_d16_hi",
        "u16_d16" => "short_d16",
        "u16_d16_hi" | "b16_d16_hi" => "short_d16_hi",
        _ => return None,
    })
}

/// The atomic that an operation and type name.
fn operation(what: &str, ty: &str) -> Option<(Rmw, Size)> {
    let size = if ty.ends_with("64") { Size::B64 } else { Size::B32 };
    let (signed, float) = (ty.starts_with('i'), ty.starts_with('f'));
    let operation = match what {
        "add" if float => Rmw::FloatAdd,
        "add" => Rmw::Add,
        "sub" => Rmw::Sub,
        "rsub" => Rmw::ReverseSub,
        "inc" => Rmw::Inc,
        "dec" => Rmw::Dec,
        "min" if float => Rmw::FloatMin,
        "min" if signed => Rmw::SignedMin,
        "min" => Rmw::UnsignedMin,
        "max" if float => Rmw::FloatMax,
        "max" if signed => Rmw::SignedMax,
        "max" => Rmw::UnsignedMax,
        "and" => Rmw::And,
        "or" => Rmw::Or,
        "xor" => Rmw::Xor,
        "mskor" => Rmw::MaskOr,
        "wrxchg" | "write" => Rmw::Swap,
        "cmpst" if float => Rmw::FloatCompareSwap,
        "cmpst" => Rmw::CompareSwap,
        "wrap" => Rmw::Wrap,
        "condxchg32" => Rmw::ConditionalSwap,
        _ => return None,
    };
    Some((operation, size))
}

/// The handler of a mnemonic, and the payload of [`Op::e`].
pub(crate) fn handler(name: &str) -> Option<(Versions, u16)> {
    let rest = name.strip_prefix("ds_")?;
    match rest {
        "swizzle_b32" => return Some((swizzle_versions::all(), 0)),
        "permute_b32" => return Some((permute_versions::all(), 0)),
        "bpermute_b32" => return Some((pull_versions::all(), 0)),
        "read_addtid_b32" => return Some((read_by_lane_versions::all(), 0)),
        "write_addtid_b32" => return Some((write_by_lane_versions::all(), 0)),
        "append" => return Some((count_versions::all(), 0)),
        "consume" => return Some((count_versions::all(), 1)),
        _ => {}
    }
    let (what, ty) = rest.split_once('_')?;
    let wide = u16::from(ty.ends_with("b64"));
    match what {
        "read2" => return Some((read2_versions::all(), wide)),
        "read2st64" => return Some((read2_versions::all(), wide | 2)),
        "write2" => return Some((write2_versions::all(), wide)),
        "write2st64" => return Some((write2_versions::all(), wide | 2)),
        "wrxchg2" => return Some((exchange2_versions::all(), wide)),
        "wrxchg2st64" => return Some((exchange2_versions::all(), wide | 2)),
        "read" => return Some((read_versions::all(), layout(ty)?.0)),
        "write" if !ty.starts_with("src2") => return Some((write_versions::all(), layout(ty)?.0)),
        _ => {}
    }
    if let Some(ty) = ty.strip_prefix("src2_") {
        let (operation, size) = operation(what, ty)?;
        return Some((source2_versions::all(), Kind::new(operation, size, false).0));
    }
    let (ty, returns) = match ty.strip_prefix("rtn_") {
        Some(ty) => (ty, true),
        None => (ty, false),
    };
    let (operation, size) = operation(what, ty)?;
    Some((atomic_versions::all(), Kind::new(operation, size, returns).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_modes() {
        // Swap neighbours: xor mask 1.
        assert_eq!(swizzle_source(0x041f, 4), 5);
        // Broadcast lane 3 of each 32.
        assert_eq!(swizzle_source(3 << 5, 40), 35);
        // Quad permutation 3,2,1,0.
        assert_eq!(swizzle_source(0x801b, 9), 10);
        // Rotate by one.
        assert_eq!(swizzle_source(0xc000 | 1 << 5, 31), 0);
        assert_eq!(swizzle_source(0xc000 | 1 << 10 | 1 << 5, 32), 63);
        assert_eq!(swizzle_source(0xe000, 1), 16);
    }

    #[test]
    fn mnemonics_have_handlers() {
        for name in [
            "ds_add_rtn_u64",
            "ds_read2st64_b32",
            "ds_write_b8_d16_hi",
            "ds_min_src2_f32",
            "ds_condxchg32_rtn_b64",
        ] {
            assert!(handler(name).is_some(), "{name}");
        }
        assert!(handler("ds_ordered_count").is_none());
    }
}
