//! What all vector memory families share: how a lane's data sits in registers and memory, address
//! patterns, and moving data for the lanes of a mask.
//!
//! Most accesses are made by [runs](super::runs) of lanes. Only what is left builds 64 addresses and goes lane by lane.

use super::guard::{self, Unmapped, Width};
use super::guard_pairs;
use super::memory::MemoryReason;
use super::op::Flow;
use super::row::Row;
use super::wave::{Stop, Wave};
use std::ops::Range;

/// How one lane's data sits in memory and registers, packed into bits of [`super::op::Op::e`].
///
/// | bits | meaning |
/// |---|---|
/// | 0-1 | width of an element: byte, short, dword |
/// | 2-4 | dwords |
/// | 5 | sign-extended |
/// | 6-7 | 1: low half of the register only, 2: high half only |
/// | 8 | the other half becomes zero |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout(pub(crate) u16);

impl Layout {
    /// One dword.
    pub(crate) const DWORD: Self = Self(2 | 1 << 2);
    /// Set where registers have an error correcting code, which is one of 32 bits: loading half of one clears the other half.
    /// Compilers count on neither; rocBLAS loads halves into two registers and joins them with `v_or_b32`.
    pub(crate) const CLEARS: u16 = 1 << 8;

    /// The layout that the part of a mnemonic after `load_` or `store_` names.
    pub(crate) fn parse(part: &str) -> Option<Self> {
        let (part, half) = if let Some(part) = part.strip_suffix("_d16_hi") {
            (part, 2)
        } else if let Some(part) = part.strip_suffix("_d16") {
            (part, 1)
        } else {
            (part, 0)
        };
        let bits = match part {
            "ubyte" | "byte" => 0,
            "sbyte" => 1 << 5,
            "ushort" | "short" => 1,
            "sshort" => 1 | 1 << 5,
            "dword" => 2 | 1 << 2,
            "dwordx2" => 2 | 2 << 2,
            "dwordx3" => 2 | 3 << 2,
            "dwordx4" => 2 | 4 << 2,
            _ => return None,
        };
        Some(Self(bits | half << 6))
    }

    /// Width of an element.
    #[inline(always)]
    pub(crate) fn width(self) -> Width {
        match self.0 & 3 {
            0 => Width::Byte,
            1 => Width::Short,
            _ => Width::Dword,
        }
    }

    /// Registers per lane.
    #[inline(always)]
    pub(crate) fn dwords(self) -> usize {
        usize::from((self.0 >> 2 & 7).max(1))
    }

    /// Bytes per lane.
    #[inline(always)]
    pub(crate) fn bytes(self) -> u64 {
        match self.width() {
            Width::Dword => 4 * self.dwords() as u64,
            width => width.bytes(),
        }
    }

    /// Whether an element is whole dwords.
    #[inline(always)]
    pub(crate) fn is_dwords(self) -> bool {
        self.0 & 3 == 2
    }

    /// Whether stores take the high half of the register.
    #[inline(always)]
    fn is_high(self) -> bool {
        self.0 >> 6 & 3 == 2
    }

    /// Turns zero-extended loaded elements into what the register is to hold.
    #[inline(always)]
    pub(crate) fn finish(self, row: &mut Row, old: &Row) {
        if self.0 & 1 << 5 != 0 {
            let up = if self.0 & 3 == 0 { 24 } else { 16 };
            for lane in &mut row.0 {
                *lane = ((*lane << up) as i32 >> up) as u32;
            }
        }
        let kept = if self.0 & Self::CLEARS != 0 { 0 } else { u32::MAX };
        match self.0 >> 6 & 3 {
            1 => {
                for (lane, old) in row.0.iter_mut().zip(&old.0) {
                    *lane = *lane & 0xffff | old & 0xffff_0000 & kept;
                }
            }
            2 => {
                for (lane, old) in row.0.iter_mut().zip(&old.0) {
                    *lane = *lane << 16 | old & 0xffff & kept;
                }
            }
            _ => {}
        }
    }

    /// Zero-extends elements that lie side by side, of less than a dword.
    #[inline(always)]
    pub(crate) fn widen(self, bytes: &[u8; 128], row: &mut Row) {
        if self.width() == Width::Byte {
            for (lane, byte) in row.0.iter_mut().zip(bytes) {
                *lane = u32::from(*byte);
            }
        } else {
            for (lane, short) in row.0.iter_mut().zip(bytes.chunks_exact(2)) {
                *lane = u32::from(u16::from_le_bytes([short[0], short[1]]));
            }
        }
    }

    /// Puts what of a register goes to memory side by side, where it is less than a dword.
    #[inline(always)]
    pub(crate) fn narrow(self, row: &Row, bytes: &mut [u8; 128]) {
        let row = self.stored(row).0;
        if self.width() == Width::Byte {
            for (byte, lane) in bytes.iter_mut().zip(&row) {
                *byte = *lane as u8;
            }
        } else {
            for (short, lane) in bytes.chunks_exact_mut(2).zip(&row) {
                short.copy_from_slice(&(*lane as u16).to_le_bytes());
            }
        }
    }

    /// The dwords of a lane that are moved in one access each: two where they lie side by side.
    #[inline(always)]
    fn parts(self, pitch: u64) -> impl Iterator<Item = Range<usize>> {
        let (dwords, most) = (self.dwords(), if pitch == 4 { 2 } else { 1 });
        (0..dwords)
            .step_by(most)
            .map(move |first| first..dwords.min(first + most))
    }

    /// What of a register goes to memory.
    #[inline(always)]
    pub(crate) fn stored(self, row: &Row) -> Row {
        let mut out = *row;
        if self.is_high() {
            for lane in &mut out.0 {
                *lane >>= 16;
            }
        }
        out
    }
}

/// Stops the wave at a refused access.
#[cold]
pub(crate) fn refuse(wave: &mut Wave, address: u64, write: bool, reason: MemoryReason) -> Flow {
    wave.stop = Some(Stop::Memory {
        address,
        write,
        reason,
    });
    Flow::Fault
}

/// Stops the wave at an access that the host could not make.
#[cold]
pub(crate) fn vanished(wave: &mut Wave, Unmapped(address): Unmapped, write: bool) -> Flow {
    refuse(wave, address, write, MemoryReason::HostUnmapped)
}

/// Refuses the first lane of `lanes` whose `bytes` at its address may not be accessed.
#[inline(always)]
pub(crate) fn check_lanes(wave: &mut Wave, lanes: u64, bytes: u64, write: bool) -> Result<(), Flow> {
    let (mut least, mut most) = (u64::MAX, 0);
    for (lane, address) in wave.address.iter().enumerate() {
        if lanes >> lane & 1 != 0 {
            least = least.min(*address);
            most = most.max(*address);
        }
    }
    let all = most.wrapping_sub(least).wrapping_add(bytes);
    if most >= least && wave.env.view.check(least, all, write).is_ok() {
        return Ok(());
    }
    check_each_lane(wave, lanes, bytes, write)
}

#[cold]
fn check_each_lane(wave: &mut Wave, lanes: u64, bytes: u64, write: bool) -> Result<(), Flow> {
    for lane in 0..64 {
        if lanes >> lane & 1 != 0 {
            let address = wave.address[lane];
            if let Err((address, reason)) = wave.env.view.check(address, bytes, write) {
                return Err(refuse(wave, address, write, reason));
            }
        }
    }
    Ok(())
}

/// Loads the lanes of `lanes` from [`Wave::address`] into the registers from `code`. Dword `k` of a
/// lane is `k * pitch` bytes further on.
pub(crate) fn load_each(wave: &mut Wave, code: u16, layout: Layout, lanes: u64, pitch: u64) -> Flow {
    if lanes == 0 {
        return Flow::Next;
    }
    if let Err(flow) = check_parts(wave, lanes, layout, pitch, false) {
        return flow;
    }
    for k in layout.parts(pitch) {
        let (displacement, rows) = (k.start as u64 * pitch, &mut wave.spare[k]);
        let loaded = match rows {
            [low, high] => guard_pairs::gather([&mut low.0, &mut high.0], &wave.address, lanes, displacement),
            rows => guard::gather(layout.width(), &mut rows[0].0, &wave.address, lanes, displacement),
        };
        if let Err(unmapped) = loaded {
            return vanished(wave, unmapped, false);
        }
    }
    commit_loaded(wave, code, layout, lanes);
    Flow::Next
}

/// Checks every dword of every lane.
#[inline(always)]
fn check_parts(wave: &mut Wave, lanes: u64, layout: Layout, pitch: u64, write: bool) -> Result<(), Flow> {
    if pitch == 4 || layout.dwords() == 1 {
        check_lanes(wave, lanes, layout.bytes(), write)
    } else {
        check_lanes(wave, lanes, pitch * (layout.dwords() as u64 - 1) + 4, write)
    }
}

/// Moves loaded spare rows into their registers.
#[inline(always)]
pub(crate) fn commit_loaded(wave: &mut Wave, code: u16, layout: Layout, lanes: u64) {
    if !layout.is_dwords() {
        let old = &wave.v[usize::from(code) & 511];
        layout.finish(&mut wave.spare[0], old);
    }
    for k in 0..layout.dwords() {
        wave.commit(code + k as u16, k, lanes);
    }
}

/// Stores the lanes of `lanes` from the registers from `code` to [`Wave::address`].
pub(crate) fn store_each(wave: &mut Wave, code: u16, layout: Layout, lanes: u64, pitch: u64) -> Flow {
    if lanes == 0 {
        return Flow::Next;
    }
    if let Err(flow) = check_parts(wave, lanes, layout, pitch, true) {
        return flow;
    }
    for k in layout.parts(pitch) {
        let displacement = k.start as u64 * pitch;
        let first = code + k.start as u16;
        let stored = if k.len() == 2 {
            let rows = [&wave.row(first).0, &wave.row(first + 1).0];
            guard_pairs::scatter(rows, &wave.address, lanes, displacement)
        } else {
            let data = layout.stored(wave.row(first));
            guard::scatter(layout.width(), &data.0, &wave.address, lanes, displacement)
        };
        if let Err(unmapped) = stored {
            return vanished(wave, unmapped, true);
        }
    }
    Flow::Next
}

/// Loads byte by byte what crosses dwords of interleaved memory: `place` goes to a byte of every lane's element, and says which
/// lanes have it. The others get zero.
pub(crate) fn load_bytewise(
    wave: &mut Wave,
    code: u16,
    layout: Layout,
    lanes: u64,
    place: impl Fn(&mut Wave, u32) -> u64,
) -> Flow {
    let mut rows = [Row::ZERO; 4];
    for byte in 0..layout.bytes() as u32 {
        let there = lanes & place(wave, byte);
        if let Err(flow) = check_lanes(wave, there, 1, false) {
            return flow;
        }
        let mut part = Row::ZERO;
        if let Err(unmapped) = guard::gather(Width::Byte, &mut part.0, &wave.address, there, 0) {
            return vanished(wave, unmapped, false);
        }
        for (to, from) in rows[byte as usize / 4].0.iter_mut().zip(&part.0) {
            *to |= from << (8 * (byte & 3));
        }
    }
    for (spare, row) in wave.spare.iter_mut().zip(rows) {
        **spare = row;
    }
    commit_loaded(wave, code, layout, lanes);
    Flow::Next
}

/// Stores byte by byte, like [`load_bytewise`].
pub(crate) fn store_bytewise(
    wave: &mut Wave,
    code: u16,
    layout: Layout,
    lanes: u64,
    place: impl Fn(&mut Wave, u32) -> u64,
) -> Flow {
    for byte in 0..layout.bytes() as u32 {
        let there = lanes & place(wave, byte);
        if let Err(flow) = check_lanes(wave, there, 1, true) {
            return flow;
        }
        let mut part = layout.stored(wave.row(code + byte as u16 / 4));
        for lane in &mut part.0 {
            *lane >>= 8 * (byte & 3);
        }
        if let Err(unmapped) = guard::scatter(Width::Byte, &part.0, &wave.address, there, 0) {
            return vanished(wave, unmapped, true);
        }
    }
    Flow::Next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_name_layouts() {
        let layout = |part| Layout::parse(part).expect(part);
        assert_eq!((layout("dwordx3").dwords(), layout("dwordx3").bytes()), (3, 12));
        assert_eq!((layout("ushort").dwords(), layout("ushort").bytes()), (1, 2));
        let (mut row, old) = (Row::splat(0x80), Row::splat(0x1234_5678));
        let mut alone = row;
        Layout(layout("sbyte_d16_hi").0 | Layout::CLEARS).finish(&mut alone, &old);
        layout("sbyte_d16_hi").finish(&mut row, &old);
        assert_eq!(alone.0, row.0.map(|lane| lane & 0xffff_0000));
        assert_eq!(row.0[9], 0xff80_5678);
        let mut row = Row::splat(0xfff0);
        layout("sshort").finish(&mut row, &old);
        assert_eq!(row.0[0], 0xffff_fff0);
        assert_eq!(layout("short_d16_hi").stored(&old).0[0], 0x1234);
        assert_eq!(Layout::parse("format_x"), None);
    }
}
