//! Operations on formulas with 64 bits, or with carries: what addresses are made by.
//!
//! A carry has to be the same in all lanes, as have the bits that a shift moves from one half to the other. Both follow from
//! the least and the greatest value of a half.

use super::alu::source;
use super::{Numbers, KNOWN};
use crate::exec::level::{versions, Host};
use crate::exec::op::{Flow, Op, Versions};
use crate::exec::slot::{LITERAL, SCALAR};
use crate::exec::sop::slot;
use crate::exec::valu::{is_scalar, SHAPED};
use crate::exec::wave::Wave;
use crate::isa::Inst;

/// The formulas of a source of 64 bits.
#[inline(always)]
fn pair<N: Numbers>(wave: &Wave, op: &Op, code: u16) -> Option<[N; 2]> {
    if !is_scalar(code) {
        return Some([wave.formulas.get(code)?, wave.formulas.get(code + 1)?]);
    }
    let value = if code == SCALAR + LITERAL as u16 {
        op.x
    } else {
        wave.s64(slot(code))
    };
    Some([N::uniform(value as u32), N::uniform((value >> 32) as u32)])
}

/// A mask register's value from a bit that is the same in all lanes.
#[inline(always)]
fn everywhere(bit: u32) -> u64 {
    0u64.wrapping_sub(bit.into())
}

/// Bits 32 and up of a number between two bounds, if that is one answer.
#[inline(always)]
fn above(least: u64, most: u64) -> Option<u32> {
    (least >> 32 == most >> 32).then_some((least >> 32) as u32)
}

/// The sum, and what it carries in every lane.
#[inline(always)]
fn sum<N: Numbers>(a: N, b: N, carry: u32) -> Option<(N, u32)> {
    let ((a_least, a_most), (b_least, b_most)) = (a.range()?, b.range()?);
    let total = |a: u32, b: u32| u64::from(a) + u64::from(b) + u64::from(carry);
    let over = above(total(a_least, b_least), total(a_most, b_most))?;
    Some((a.plus(b).plus(N::uniform(carry)), over))
}

/// An operation that keeps to the signature of handlers but for its failure.
macro_rules! handlers {
    ($($versions:ident, $body:ident, $attempt:ident;)*) => {
        $(
            /// The handler's body.
            #[inline(always)]
            pub(in crate::exec) fn $body<H: Host>(wave: &mut Wave, op: &Op) -> Flow {
                if wave.exec() != !0 {
                    return Flow::ByLanes;
                }
                match $attempt::<H::Numbers>(wave, op) {
                    Some(()) => Flow::Next,
                    None => Flow::ByLanes,
                }
            }

            versions!($versions, $body, [], []);
        )*
    };
}

handlers! {
    add_versions, add, try_add;
    add_carry_versions, add_carry, try_add_carry;
    sum_versions, sum_of_pairs, try_sum;
    scalar_sum_versions, sum_with_scalar, try_scalar_sum;
    shift_left_versions, shift_left, try_shift_left;
    shift_right_versions, shift_right, try_shift_right;
    shift_right_signed_versions, shift_right_signed, try_shift_right_signed;
    multiply_add_versions, multiply_add, try_multiply_add;
}

#[inline(always)]
fn try_add<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let (result, carry) = sum::<N>(source(wave, op, op.a)?, source(wave, op, op.b)?, 0)?;
    wave.formulas.set(op.d, result);
    wave.set_s64(op.f as usize, everywhere(carry));
    Some(())
}

#[inline(always)]
fn try_add_carry<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let carries = wave.s64(op.c.into());
    if carries.wrapping_add(1) > 1 {
        return None;
    }
    let (a, b) = (source::<N>(wave, op, op.a)?, source::<N>(wave, op, op.b)?);
    let (result, carry) = sum::<N>(a, b, carries as u32 & 1)?;
    wave.formulas.set(op.d, result);
    wave.set_s64(op.f as usize, everywhere(carry));
    Some(())
}

/// The two additions that [`fuse::add`](crate::exec::fuse::add) has made one.
#[inline(always)]
fn try_sum<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let [high_d, high_a, high_b] = [0, 16, 32].map(|at| (op.x >> at) as u16);
    let (low, carry) = sum::<N>(source(wave, op, op.a)?, source(wave, op, op.b)?, 0)?;
    let (high, carry) = sum::<N>(source(wave, op, high_a)?, source(wave, op, high_b)?, carry)?;
    wave.formulas.set(op.d, low);
    wave.formulas.set(high_d, high);
    wave.set_s64(op.f as usize, everywhere(carry));
    Some(())
}

/// A sum that is an address.
pub(in crate::exec) struct Sum<N> {
    /// The low halves.
    pub(super) low: N,
    /// All 64 bits in lane 0, where they are the least.
    pub(super) first: u64,
    /// How much more they are where they are most.
    pub(super) spread: u32,
}

/// The same where what is added is one number for all lanes, its low half scalar, and the pair is a number that rises with
/// the lane: how addresses are made.
#[inline(always)]
pub(in crate::exec) fn add_scalar<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<Sum<N>> {
    if wave.exec() != !0 {
        return None;
    }
    let [high_d, high_a, high_b] = [0, 16, 32].map(|at| (op.x >> at) as u16);
    let top = if is_scalar(high_a) {
        wave.s[slot(high_a)]
    } else {
        wave.formulas.get::<N>(high_a)?.value()?
    };
    let addend = u64::from(wave.s[slot(op.a)]) | u64::from(top) << 32;
    let low = wave.formulas.get::<N>(op.b)?;
    let (least, most) = low.rising()?;
    let high = wave.formulas.get::<N>(high_b)?.value()?;
    let (first, over) = addend.overflowing_add(u64::from(least) | u64::from(high) << 32);
    // From the first lane to the last there is one high half.
    let spread = most - least;
    let top = above(first, first.wrapping_add(spread.into()))?;
    let low = low.plus(N::uniform(addend as u32));
    wave.formulas.set(op.d, low);
    wave.formulas.set(high_d, N::uniform(top));
    wave.set_s64(op.f as usize, everywhere(over.into()));
    Some(Sum { low, first, spread })
}

#[inline(always)]
fn try_scalar_sum<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    add_scalar::<N>(wave, op).map(|_| ())
}

#[inline(always)]
fn set_pair<N: Numbers>(wave: &mut Wave, op: &Op, [low, high]: [N; 2]) {
    wave.formulas.set(op.d, low);
    wave.formulas.set(op.d + 1, high);
}

#[inline(always)]
fn try_shift_left<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let left = source::<N>(wave, op, op.a)?.value()? & 63;
    let [low, high] = pair::<N>(wave, op, op.b)?;
    let result = match left {
        0 => [low, high],
        1..=31 => {
            let over = low.monotone(|value| value >> (32 - left))?;
            // The bits that come in find zeros.
            [low.left(left), high.left(left).plus(N::uniform(over))]
        }
        _ => [N::uniform(0), low.left(left - 32)],
    };
    set_pair(wave, op, result);
    Some(())
}

/// The low half of a shift to the right by 1 to 31.
#[inline(always)]
fn low_of_right<N: Numbers>([low, high]: [N; 2], right: u32) -> Option<N> {
    let rest = low.monotone(|value| value >> right)?;
    Some(high.left(32 - right).plus(N::uniform(rest)))
}

#[inline(always)]
fn try_shift_right<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let right = source::<N>(wave, op, op.a)?.value()? & 63;
    let [low, high] = pair::<N>(wave, op, op.b)?;
    let moved = |by: u32| high.monotone(|value| value >> by).map(N::uniform);
    let result = match right {
        0 => [low, high],
        1..=31 => [low_of_right([low, high], right)?, moved(right)?],
        32 => [high, N::uniform(0)],
        _ => [moved(right - 32)?, N::uniform(0)],
    };
    set_pair(wave, op, result);
    Some(())
}

#[inline(always)]
fn try_shift_right_signed<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let right = source::<N>(wave, op, op.a)?.value()? & 63;
    let [low, high] = pair::<N>(wave, op, op.b)?;
    let moved = |by: u32| {
        let result = high.monotone_signed(|value| (value >> by) as u32);
        result.map(N::uniform)
    };
    let result = match right {
        0 => [low, high],
        1..=31 => [low_of_right([low, high], right)?, moved(right)?],
        32 => [high, moved(31)?],
        _ => [moved(right - 32)?, moved(31)?],
    };
    set_pair(wave, op, result);
    Some(())
}

/// `v_mad_u64_u32`.
#[inline(always)]
fn try_multiply_add<N: Numbers>(wave: &mut Wave, op: &Op) -> Option<()> {
    let (a, b) = (source::<N>(wave, op, op.a)?, source::<N>(wave, op, op.b)?);
    let [low, high] = pair::<N>(wave, op, op.c)?;
    let (factor, other) = match a.value() {
        Some(factor) => (factor, b),
        None => (b.value()?, a),
    };
    let (least, most) = other.range()?;
    let [least, most] = [least, most].map(|bound| u64::from(bound) * u64::from(factor));
    let product_high = above(least, most)?;
    let (low_least, low_most) = low.range()?;
    let total = |product: u64, low: u32| u64::from(product as u32) + u64::from(low);
    let carry = above(total(least, low_least), total(most, low_most))?;
    let (high, over) = sum(high, N::uniform(product_high), carry)?;
    set_pair(wave, op, [other.times(factor).plus(low), high]);
    wave.set_s64(op.f as usize, everywhere(over));
    Some(())
}

/// The handler of an instruction.
pub(super) fn handler(inst: &Inst, op: &Op) -> Option<Versions> {
    // Both registers of a result have to be among those that can have a formula.
    if op.e & SHAPED != 0 || usize::from(op.d) + 1 >= KNOWN {
        return None;
    }
    Some(match inst.row.name {
        "v_add_co_u32" => add_versions::all(),
        "v_addc_co_u32" => add_carry_versions::all(),
        "v_lshlrev_b64" => shift_left_versions::all(),
        "v_lshrrev_b64" => shift_right_versions::all(),
        "v_ashrrev_i64" => shift_right_signed_versions::all(),
        "v_mad_u64_u32" => multiply_add_versions::all(),
        _ => return None,
    })
}

/// The handler of a fused addition.
pub(super) fn handler_of_sum(op: &Op) -> Option<Versions> {
    let high_d = op.x as u16;
    if usize::from(op.d.max(high_d)) >= KNOWN {
        return None;
    }
    Some(if is_scalar(op.a) {
        scalar_sum_versions::all()
    } else {
        sum_versions::all()
    })
}
