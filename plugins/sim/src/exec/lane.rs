//! Vector operations that look across lanes or at masks in ways of their own.

use super::level::{versions, Host};
use super::modifiers::{self, Ext};
use super::op::{Flow, Handler, Op, Versions};
use super::row::Row;
use super::scalar_float::{fma32, fma64, F32, F64};
use super::slot::LITERAL;
use super::sop::slot;
use super::valu::{is_scalar, SHAPED};
use super::wave::Wave;
use super::word::{Kind, Word};

/// A scalar operand, or lane `lane` of a vector one.
#[inline(always)]
fn lane_of(wave: &Wave, code: u16, lane: usize) -> u32 {
    if is_scalar(code) {
        wave.s[slot(code)]
    } else {
        wave.row(code).0[lane & 63]
    }
}

/// `v_readlane_b32`: a lane to a scalar register, whatever EXEC says.
fn read_lane(wave: &mut Wave, op: &Op) -> Flow {
    wave.set_s64(LITERAL, op.x);
    let lane = lane_of(wave, op.b, 0) as usize & 63;
    wave.s[slot(op.d)] = lane_of(wave, op.a, lane);
    Flow::Next
}

/// `v_readfirstlane_b32`: the first active lane, or lane 0.
fn read_first_lane(wave: &mut Wave, op: &Op) -> Flow {
    wave.set_s64(LITERAL, op.x);
    let exec = wave.exec();
    let lane = if exec == 0 {
        0
    } else {
        exec.trailing_zeros() as usize
    };
    wave.s[slot(op.d)] = lane_of(wave, op.a, lane);
    Flow::Next
}

/// `v_writelane_b32`: a scalar to a lane, whatever EXEC says.
fn write_lane(wave: &mut Wave, op: &Op) -> Flow {
    wave.set_s64(LITERAL, op.x);
    let lane = lane_of(wave, op.b, 0) as usize & 63;
    let value = lane_of(wave, op.a, lane);
    wave.v[usize::from(op.d) & 511].0[lane] = value;
    Flow::Next
}

/// `v_swap_b32`: exchanges two registers for the active lanes.
fn swap(wave: &mut Wave, op: &Op) -> Flow {
    let exec = wave.exec();
    *wave.spare[0] = *wave.row(op.a);
    *wave.spare[1] = *wave.row(op.d);
    wave.commit(op.d, 0, exec);
    wave.commit(op.a, 1, exec);
    Flow::Next
}

/// Modifiers of an operation.
#[inline(always)]
fn ext(op: &Op) -> Ext {
    if op.e & SHAPED != 0 {
        Ext(op.x)
    } else {
        Ext::NONE
    }
}

/// `v_mbcnt_lo_u32_b32` and `v_mbcnt_hi_u32_b32`: set bits of source 0 below the lane, plus source 1.
#[inline(always)]
fn count_below(wave: &mut Wave, op: &Op, half: usize) -> Flow {
    let ext = ext(op);
    let lanes = modifiers::fetch(wave, op, ext, [Kind::B32, Kind::B32, Kind::None]);
    for lane in 0..64usize {
        let below = match lane.checked_sub(32 * half) {
            None => 0,
            Some(n) if n >= 32 => !0,
            Some(n) => (1u32 << n) - 1,
        };
        let bits = wave.tmp[0].0[lane] & below;
        wave.spare[0].0[lane] = bits.count_ones().wrapping_add(wave.tmp[2].0[lane]);
    }
    modifiers::store(wave, op, ext, Kind::B32, lanes);
    Flow::Next
}

/// `v_div_fmas_f32`: a fused multiply-add that takes back the scaling of `v_div_scale` in the lanes that VCC
/// names: up by 2^64 where the addend, the quotient so far, is at least two, down by it elsewhere.
#[inline(always)]
fn scaled_fma32<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let ext = ext(op);
    let lanes = modifiers::fetch(wave, op, ext, [Kind::F32; 3]);
    let (vcc, mode) = (wave.vcc(), wave.mode());
    for lane in 0..64 {
        let [a, b, c] = [0, 2, 4].map(|i| f32::from_bits(wave.tmp[i].0[lane]));
        let finite = a.is_finite() && b.is_finite() && c.is_finite();
        let result = if finite && vcc >> lane & 1 != 0 {
            let [a, b, c] = [a, b, c].map(|value| u64::from(value.to_bits()));
            let scale = if c >> 23 & 0xff > 127 { 64 } else { -64 };
            F32.fused_scaled(a, b, c, scale, mode.round32()) as u32
        } else {
            fma32(a, b, c, mode.round32()).to_bits()
        };
        wave.spare[0].0[lane] = result;
    }
    modifiers::store(wave, op, ext, Kind::F32, lanes);
    Flow::Next
}

/// `v_div_fmas_f64`.
#[inline(always)]
fn scaled_fma64<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    let ext = ext(op);
    let lanes = modifiers::fetch(wave, op, ext, [Kind::F64; 3]);
    let (vcc, mode) = (wave.vcc(), wave.mode());
    for lane in 0..64 {
        let [a, b, c] = [0, 2, 4].map(|i| f64::pack(wave.tmp[i].0[lane], wave.tmp[i + 1].0[lane]));
        let finite = a.is_finite() && b.is_finite() && c.is_finite();
        let result = if finite && vcc >> lane & 1 != 0 {
            let [a, b, c] = [a, b, c].map(f64::to_bits);
            let scale = if c >> 52 & 0x7ff > 1023 { 128 } else { -128 };
            f64::from_bits(F64.fused_scaled(a, b, c, scale, mode.round64()))
        } else {
            fma64(a, b, c, mode.round64())
        };
        (wave.spare[0].0[lane], wave.spare[1].0[lane]) = result.unpack();
    }
    modifiers::store(wave, op, ext, Kind::F64, lanes);
    Flow::Next
}

#[inline(always)]
fn count_below_low<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    count_below(wave, op, 0)
}

#[inline(always)]
fn count_below_high<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
    count_below(wave, op, 1)
}

/// `v_mqsad_u32_u8`: four masked byte distances onto four dwords.
fn four_sums(wave: &mut Wave, op: &Op) -> Flow {
    let lanes = modifiers::fetch(wave, op, Ext::NONE, [Kind::B64, Kind::B32, Kind::None]);
    let sums: [Row; 4] = std::array::from_fn(|n| {
        if is_scalar(op.c) {
            Row::splat(wave.s[(slot(op.c) + n) & 511])
        } else {
            *wave.row(op.c + n as u16)
        }
    });
    for (n, sum) in sums.iter().enumerate() {
        for lane in 0..64 {
            let window = u64::pack(wave.tmp[0].0[lane], wave.tmp[1].0[lane]) >> (8 * n);
            let distance = super::vop3::masked_distance(window as u32, wave.tmp[2].0[lane]);
            wave.spare[n].0[lane] = sum.0[lane].wrapping_add(distance);
        }
    }
    for n in 0..4 {
        wave.commit(op.d + n as u16, n, lanes);
    }
    Flow::Next
}

versions!(scaled_fma32_versions, scaled_fma32, [], []);
versions!(scaled_fma64_versions, scaled_fma64, [], []);
versions!(count_below_low_versions, count_below_low, [], []);
versions!(count_below_high_versions, count_below_high, [], []);

const fn plain(handler: Handler) -> Versions {
    [handler; 3]
}

/// The rows.
pub(crate) static TABLE: &[(&str, Versions)] = &[
    ("v_readlane_b32", plain(read_lane)),
    ("v_readfirstlane_b32", plain(read_first_lane)),
    ("v_writelane_b32", plain(write_lane)),
    ("v_swap_b32", plain(swap)),
    ("v_mbcnt_lo_u32_b32", count_below_low_versions::all()),
    ("v_mbcnt_hi_u32_b32", count_below_high_versions::all()),
    ("v_div_fmas_f32", scaled_fma32_versions::all()),
    ("v_div_fmas_f64", scaled_fma64_versions::all()),
    ("v_mqsad_u32_u8", plain(four_sums)),
];
