//! Everything an encoding can do to the operands of a vector operation: absolute value, negation,
//! half and byte selection, cross-lane sources, output multipliers, clamping, denormals.
//!
//! Operations with any of it run on copies of their sources that have been brought into shape here,
//! and hand their result back to be finished here. Plain ones never come this way.

use super::mode::Mode;
use super::op::{flag, Op};
use super::row::Row;
use super::slot::{LITERAL, SCALAR};
use super::wave::Wave;
use super::word::Kind;
use crate::isa::{DstUnused, Mods, Sel};

/// Modifiers, packed into the payload of an [`Op`].
///
/// | bits | meaning |
/// |---|---|
/// | 0-2, 3-5 | negate, absolute value of source n |
/// | 6-7, 8 | output multiplier, clamp |
/// | 9-12 | half selected for source n, for the destination |
/// | 13-14 | 1: SDWA, 2: DPP, 3: packed |
/// | 16-30 | SDWA: destination (3), unused bits (2), source 0 (3), source 1 (3), sign-extend (2) |
/// | 16-33 | DPP: control (9), row mask (4), bank mask (4), bound control (1) |
/// | 0-2, 3-5, 9-11, 16-18 | packed: negate low, negate high, half selected for low, for high |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ext(pub(crate) u64);

const SDWA: u64 = 1 << 13;
const DPP: u64 = 2 << 13;
const PACKED: u64 = 3 << 13;
const FORM: u64 = 3 << 13;

impl Ext {
    /// No modifiers.
    pub(crate) const NONE: Self = Self(0);

    /// Packs the modifiers of an instruction.
    pub(crate) fn new(mods: &Mods) -> Self {
        let mut bits = u64::from(mods.neg & 7)
            | u64::from(mods.abs & 7) << 3
            | u64::from(mods.omod & 3) << 6
            | u64::from(mods.clamp) << 8
            | u64::from(mods.op_sel & 15) << 9;
        if let Some(sdwa) = mods.sdwa {
            let unused = match sdwa.dst_unused {
                DstUnused::Pad => 0,
                DstUnused::Sext => 1,
                DstUnused::Preserve => 2,
            };
            bits |= SDWA
                | sel_bits(sdwa.dst_sel) << 16
                | unused << 19
                | sel_bits(sdwa.src0_sel) << 21
                | sel_bits(sdwa.src1_sel) << 24
                | u64::from(sdwa.src0_sext) << 27
                | u64::from(sdwa.src1_sext) << 28;
        }
        if let Some(dpp) = mods.dpp {
            bits |= DPP
                | u64::from(dpp.ctrl & 511) << 16
                | u64::from(dpp.row_mask & 15) << 25
                | u64::from(dpp.bank_mask & 15) << 29
                | u64::from(dpp.bound_ctrl) << 33;
        }
        Self(bits)
    }

    /// Packs the modifiers of a packed instruction with `sources` sources.
    pub(crate) fn packed(mods: &Mods, sources: usize) -> Self {
        let used = (1u64 << sources) - 1;
        let high = u64::from(mods.op_sel_hi) & used;
        let bits = u64::from(mods.neg_lo) & used
            | (u64::from(mods.neg_hi) & used) << 3
            | u64::from(mods.clamp) << 8
            | (u64::from(mods.op_sel) & used) << 9;
        if bits == 0 && high == used {
            Self::NONE
        } else {
            Self(bits | PACKED | high << 16)
        }
    }

    /// Whether these are the modifiers of a packed instruction.
    fn is_packed(self) -> bool {
        self.0 & FORM == PACKED
    }

    /// Whether the low, or the high, result takes the high half of a source.
    fn takes_high(self, source: usize, for_high: bool) -> bool {
        self.0 >> (source + if for_high { 16 } else { 9 }) & 1 != 0
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    fn neg(self, source: usize) -> bool {
        self.0 >> source & 1 != 0
    }

    fn abs(self, source: usize) -> bool {
        self.0 >> (3 + source) & 1 != 0
    }

    /// Whether there are no modifiers but negations and absolute values.
    pub(crate) fn is_signs(self) -> bool {
        self.0 < 1 << 6
    }

    /// What negation and absolute value do to the dword with the sign of a source: bits to keep, and then to flip.
    #[inline(always)]
    pub(crate) fn sign_masks(self, source: usize) -> (u32, u32) {
        let mask = |set: bool| u32::from(set) << 31;
        (!mask(self.abs(source)), mask(self.neg(source)))
    }

    fn omod(self) -> u64 {
        self.0 >> 6 & 3
    }

    /// Whether the result is clamped.
    #[inline(always)]
    pub(crate) fn clamp(self) -> bool {
        self.0 >> 8 & 1 != 0
    }

    fn high_half(self, source: usize) -> bool {
        self.0 >> (9 + source) & 1 != 0
    }

    fn is_sdwa(self) -> bool {
        self.0 & FORM == SDWA
    }

    fn is_dpp(self) -> bool {
        self.0 & FORM == DPP
    }

    fn bits(self, at: u32, width: u32) -> u64 {
        self.0 >> at & ((1 << width) - 1)
    }
}

/// SDWA's own numbering of sub-dword parts.
fn sel_bits(sel: Sel) -> u64 {
    match sel {
        Sel::Byte(n) => u64::from(n & 3),
        Sel::Word(n) => 4 + u64::from(n & 1),
        Sel::Dword => 6,
    }
}

/// Brings the sources of `op` into [`Wave::tmp`], two rows each, and returns the lanes to write.
pub(crate) fn fetch(wave: &mut Wave, op: &Op, ext: Ext, kinds: [Kind; 3]) -> u64 {
    let exec = wave.exec();
    let mut lanes = exec;
    if ext.is_none() {
        // Only an instruction without modifiers can have a literal; the payload is one or the other.
        wave.set_s64(LITERAL, op.x);
    }
    let mode = wave.mode();
    for (source, (code, kind)) in [op.a, op.b, op.c].into_iter().zip(kinds).enumerate() {
        for half in 0..kind.rows() {
            let code = code + half as u16;
            let part = 2 * source + half;
            if code >= SCALAR {
                let value = wave.s[usize::from(code - SCALAR) & 511];
                *wave.tmp[part] = Row::splat(value);
            } else {
                *wave.tmp[part] = *wave.v[usize::from(code) & 511];
            }
            if source == 0 && ext.is_dpp() {
                lanes &= permute(&mut wave.tmp[part], ext, exec);
            }
        }
        if kind != Kind::None {
            shape(&mut wave.tmp[2 * source..2 * source + 2], source, kind, ext, mode);
        }
    }
    lanes
}

/// Applies selection, flushing, absolute value and negation to one source.
fn shape(rows: &mut [Box<Row>], source: usize, kind: Kind, ext: Ext, mode: Mode) {
    let [low, high] = rows else {
        unreachable!("a source has two rows")
    };
    if ext.is_sdwa() && source < 2 {
        let sel = ext.bits(21 + 3 * source as u32, 3);
        select(low, sel, ext.bits(27 + source as u32, 1) != 0);
    } else if kind.is_half() && ext.high_half(source) {
        for lane in &mut low.0 {
            *lane >>= 16;
        }
    }
    if ext.is_packed() {
        return shape_packed(low, high, source, kind, ext, mode);
    }
    flush(low, high, kind, mode.flush32_in(), mode.flush64_in());
    let (row, sign) = match kind {
        Kind::B16 | Kind::F16 => (low, 0x8000),
        Kind::B64 | Kind::F64 => (high, 0x8000_0000),
        _ => (low, 0x8000_0000u32),
    };
    if ext.abs(source) {
        for lane in &mut row.0 {
            *lane &= !sign;
        }
    }
    if ext.neg(source) {
        for lane in &mut row.0 {
            *lane ^= sign;
        }
    }
}

/// Selects and negates the two parts of a packed source.
fn shape_packed(low: &mut Row, high: &mut Row, source: usize, kind: Kind, ext: Ext, mode: Mode) {
    let (low_from_high, high_from_high) = (ext.takes_high(source, false), ext.takes_high(source, true));
    let (negate_low, negate_high) = (ext.neg(source), ext.abs(source));
    match kind {
        Kind::PkI16 | Kind::PkF16 => {
            let flip = u32::from(negate_low) << 15 | u32::from(negate_high) << 31;
            let flip = if kind == Kind::PkF16 { flip } else { 0 };
            for lane in &mut low.0 {
                let part = |from_high: bool| if from_high { *lane >> 16 } else { *lane & 0xffff };
                *lane = (part(low_from_high) | part(high_from_high) << 16) ^ flip;
            }
        }
        Kind::PkF32 => {
            for (low, high) in low.0.iter_mut().zip(&mut high.0) {
                let new_low = if low_from_high { *high } else { *low };
                let new_high = if high_from_high { *high } else { *low };
                *low = new_low ^ u32::from(negate_low) << 31;
                *high = new_high ^ u32::from(negate_high) << 31;
            }
        }
        Kind::F32 if negate_low => {
            for lane in &mut low.0 {
                *lane ^= 1 << 31;
            }
        }
        _ => {}
    }
    flush(low, high, kind, mode.flush32_in(), mode.flush64_in());
}

/// Takes part `sel` of each lane.
fn select(row: &mut Row, sel: u64, sign_extend: bool) {
    let (shift, width) = match sel {
        0..=3 => (8 * sel as u32, 8),
        4 | 5 => (16 * (sel as u32 - 4), 16),
        _ => return,
    };
    let up = 32 - width;
    for lane in &mut row.0 {
        let part = (*lane >> shift) << up;
        *lane = if sign_extend {
            (part as i32 >> up) as u32
        } else {
            part >> up
        };
    }
}

/// Turns denormals into zeros of their sign where told.
fn flush(low: &mut Row, high: &mut Row, kind: Kind, flush32: bool, flush64: bool) {
    match kind {
        Kind::F32 if flush32 => {
            for lane in &mut low.0 {
                if *lane & 0x7f80_0000 == 0 {
                    *lane &= 0x8000_0000;
                }
            }
        }
        Kind::F16 if flush64 => {
            for lane in &mut low.0 {
                if *lane & 0x7c00 == 0 {
                    *lane &= 0x8000;
                }
            }
        }
        Kind::F64 if flush64 => {
            for (low, high) in low.0.iter_mut().zip(&mut high.0) {
                if *high & 0x7ff0_0000 == 0 {
                    *high &= 0x8000_0000;
                    *low = 0;
                }
            }
        }
        Kind::PkF16 if flush64 => {
            for lane in &mut low.0 {
                let keep = |part: u32| if part & 0x7c00 == 0 { part & 0x8000 } else { part };
                *lane = keep(*lane & 0xffff) | keep(*lane >> 16) << 16;
            }
        }
        Kind::PkF32 if flush32 => {
            for row in [low, high] {
                for lane in &mut row.0 {
                    if *lane & 0x7f80_0000 == 0 {
                        *lane &= 0x8000_0000;
                    }
                }
            }
        }
        _ => {}
    }
}

/// Lane that lane `lane` reads under DPP control `ctrl`, if there is one.
pub(crate) fn dpp_source(ctrl: u64, lane: usize) -> Option<usize> {
    let (row, within) = (lane & !15, lane & 15);
    let amount = (ctrl & 15) as usize;
    match ctrl {
        0..=0xff => Some(lane & !3 | (ctrl >> (2 * (lane & 3)) & 3) as usize),
        0x101..=0x10f => (within + amount < 16).then(|| lane + amount),
        0x111..=0x11f => (within >= amount).then(|| lane - amount),
        0x121..=0x12f => Some(row | (within + 16 - amount) & 15),
        0x130 => (lane < 63).then(|| lane + 1),
        0x134 => Some((lane + 1) & 63),
        0x138 => (lane > 0).then(|| lane - 1),
        0x13c => Some((lane + 63) & 63),
        0x140 => Some(row | (15 - within)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 => (lane >= 16).then(|| row - 1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row | amount),
        _ => None,
    }
}

/// Permutes a row as DPP says and returns the lanes that may be written.
fn permute(row: &mut Row, ext: Ext, exec: u64) -> u64 {
    let ctrl = ext.bits(16, 9);
    let (row_mask, bank_mask) = (ext.bits(25, 4), ext.bits(29, 4));
    let zero_outside = ext.bits(33, 1) != 0;
    let old = *row;
    let mut lanes = 0u64;
    for lane in 0..64 {
        let source = dpp_source(ctrl, lane).filter(|source| exec >> source & 1 != 0);
        row.0[lane] = source.map_or(0, |source| old.0[source]);
        let enabled = row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane / 4 % 4) & 1 != 0;
        if enabled && (source.is_some() || zero_outside) {
            lanes |= 1 << lane;
        }
    }
    lanes
}

/// Finishes the result in the first two spare rows and writes it to the destination.
pub(crate) fn store(wave: &mut Wave, op: &Op, ext: Ext, kind: Kind, lanes: u64) {
    let mode = wave.mode();
    let [low, high, ..] = &mut wave.spare;
    flush(low, high, kind, mode.flush32_out(), mode.flush64_out());
    let flushed_out = match kind {
        Kind::F32 => mode.flush32_out(),
        _ => mode.flush64_out(),
    };
    let omod = if mode.ieee() || !flushed_out {
        0
    } else {
        ext.omod()
    };
    match kind {
        Kind::F32 | Kind::F16 | Kind::F64 if omod == 0 && !ext.clamp() => {}
        Kind::F32 => {
            for lane in &mut low.0 {
                *lane = finish32(f32::from_bits(*lane), omod, ext.clamp(), mode).to_bits();
            }
        }
        Kind::F16 => {
            for lane in &mut low.0 {
                let value = finish32(
                    super::scalar_float::Half(*lane as u16).wide(),
                    omod,
                    ext.clamp(),
                    mode,
                );
                *lane = super::scalar_float::Half::nearest(value).0.into();
            }
            flush(low, high, kind, false, omod != 0);
        }
        Kind::F64 => {
            for (low, high) in low.0.iter_mut().zip(&mut high.0) {
                let bits = u64::from(*low) | u64::from(*high) << 32;
                let bits = finish64(f64::from_bits(bits), omod, ext.clamp(), mode).to_bits();
                *low = bits as u32;
                *high = (bits >> 32) as u32;
            }
        }
        Kind::PkF16 if ext.clamp() => {
            let clamped = |half: u32| {
                let value = finish32(super::scalar_float::Half(half as u16).wide(), 0, true, mode);
                u32::from(super::scalar_float::Half::nearest(value).0)
            };
            for lane in &mut low.0 {
                *lane = clamped(*lane) | clamped(*lane >> 16) << 16;
            }
        }
        Kind::PkF32 if ext.clamp() => {
            for row in [low, high] {
                for lane in &mut row.0 {
                    *lane = finish32(f32::from_bits(*lane), 0, true, mode).to_bits();
                }
            }
        }
        _ => {}
    }
    place(wave, op, ext, kind);
    wave.commit(op.d, 0, lanes);
    if kind.rows() == 2 {
        wave.commit(op.d + 1, 1, lanes);
    }
}

/// Merges a result into its part of the destination.
fn place(wave: &mut Wave, op: &Op, ext: Ext, kind: Kind) {
    let old = &wave.v[usize::from(op.d) & 511];
    let new = &mut wave.spare[0];
    if ext.is_sdwa() {
        let (sel, unused) = (ext.bits(16, 3), ext.bits(19, 2));
        let (shift, width) = match sel {
            0..=3 => (8 * sel as u32, 8),
            4 | 5 => (16 * (sel as u32 - 4), 16),
            _ => return,
        };
        let part = ((1u32 << width) - 1) << shift;
        for (new, old) in new.0.iter_mut().zip(&old.0) {
            let placed = *new << shift & part;
            *new = match unused {
                0 => placed,
                1 => {
                    let up = 32 - shift - width;
                    ((placed << up) as i32 >> up) as u32
                }
                _ => placed | old & !part,
            };
        }
    } else if kind.is_half() && (ext.high_half(3) || op.e & flag::KEEP_HALF != 0) {
        let high = ext.high_half(3);
        for (new, old) in new.0.iter_mut().zip(&old.0) {
            *new = if high {
                *new << 16 | old & 0xffff
            } else {
                *new & 0xffff | old & 0xffff_0000
            };
        }
    }
}

/// Output multiplier, then clamp. The multiplier turns -0 into +0.
pub(crate) fn finish32(value: f32, omod: u64, clamp: bool, mode: Mode) -> f32 {
    let scaled = match omod {
        1 => value * 2.0 + 0.0,
        2 => value * 4.0 + 0.0,
        3 => {
            let half = value * 0.5;
            if half.abs() < f32::MIN_POSITIVE {
                0.0
            } else {
                half
            }
        }
        _ => value,
    };
    match () {
        () if !clamp => scaled,
        () if scaled.is_nan() => {
            if mode.dx10_clamp() {
                0.0
            } else {
                scaled
            }
        }
        () if scaled > 0.0 => scaled.min(1.0),
        () => 0.0,
    }
}

/// [`finish32`] in double precision.
pub(crate) fn finish64(value: f64, omod: u64, clamp: bool, mode: Mode) -> f64 {
    let scaled = match omod {
        1 => value * 2.0 + 0.0,
        2 => value * 4.0 + 0.0,
        3 => {
            let half = value * 0.5;
            if half.abs() < f64::MIN_POSITIVE {
                0.0
            } else {
                half
            }
        }
        _ => value,
    };
    match () {
        () if !clamp => scaled,
        () if scaled.is_nan() => {
            if mode.dx10_clamp() {
                0.0
            } else {
                scaled
            }
        }
        () if scaled > 0.0 => scaled.min(1.0),
        () => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpp_sources_follow_the_manual() {
        assert_eq!(dpp_source(0b00_01_10_11, 4), Some(7));
        assert_eq!(dpp_source(0x101, 14), Some(15));
        assert_eq!(dpp_source(0x101, 15), None);
        assert_eq!(dpp_source(0x111, 16), None);
        assert_eq!(dpp_source(0x111, 17), Some(16));
        assert_eq!(dpp_source(0x121, 16), Some(31));
        assert_eq!(dpp_source(0x130, 15), Some(16));
        assert_eq!(dpp_source(0x13c, 0), Some(63));
        assert_eq!(dpp_source(0x140, 1), Some(14));
        assert_eq!(dpp_source(0x141, 9), Some(14));
        assert_eq!(dpp_source(0x142, 17), Some(15));
        assert_eq!(dpp_source(0x142, 3), None);
        assert_eq!(dpp_source(0x143, 40), Some(31));
        assert_eq!(dpp_source(0x155, 40), Some(37));
    }

    #[test]
    fn clamp_and_multiplier() {
        let mode = Mode(0x100);
        assert_eq!(finish32(3.0, 0, true, mode), 1.0);
        assert_eq!(finish32(-0.0, 0, true, mode).to_bits(), 0);
        assert_eq!(finish32(f32::NAN, 0, true, mode), 0.0);
        assert!(finish32(f32::NAN, 0, true, Mode(0)).is_nan());
        assert_eq!(finish32(-0.0, 1, false, mode).to_bits(), 0);
        assert_eq!(finish64(0.75, 3, false, mode), 0.375);
    }
}
